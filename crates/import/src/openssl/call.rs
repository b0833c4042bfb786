//! One call of the command, with its output as figures.

use super::super::algorithms;
use super::super::draft::{Draft, flagged, printed};
use super::super::speed_table::{self, SIZES, SpeedRow};
use super::super::text::Line;
use super::VERSION;
use super::doing::{self, Doing};
use super::public::{KeyOperation, PublicRow};
use anyhow::Result;
use cpb_core::{Operation, Phase};
use cpb_record::{FlagKind, Printed, Published, PublishedPath, Quantity, Source};
use std::collections::{BTreeMap, HashSet};

/// A printed rate that differs from its count and time by more than this share does not belong to them.
const ROUNDING: f64 = 0.01;
/// The flag on times if the log does not contain the command, so that its options are unknown.
const UNTOLD: &str = "the log does not show whether the command had -elapsed, so its seconds may be CPU time; if \
                      they are wall-clock time, use --elapsed";
const USER_TIME: &str = "CPU time in user mode, not wall-clock time: the command had no -elapsed; if it had, use \
     --elapsed";
const BY_USER_TIME: &str = "operations divided by CPU time in user mode, which is not a rate";
const NO_TIME: &str = "no time at all";

/// One call of the command.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The line at which it begins.
    pub(super) line: u32,
    /// The command as typed, if the log contains it.
    pub(super) command: String,
    /// The machine, according to the shell prompt.
    pub(super) host: String,
    /// Whether its seconds are wall-clock time.
    pub(super) elapsed: bool,
    /// Whether the output would show it if they are not.
    pub(super) told: bool,
    pub(super) engine: String,
    pub(super) processes: Option<u32>,
    /// The direction of ciphers; `None` if unknown.
    pub(super) direction: Option<Operation>,
    pub(super) version: String,
    /// Compiler and CPU features, as printed.
    pub(super) build: Vec<String>,
    pub(super) sizes: Vec<u32>,
    pub(super) counts: Vec<Doing>,
    pub(super) rows: Vec<SpeedRow>,
    pub(super) public: Vec<PublicRow>,
    /// Whether its rows are in bytes a second.
    pub(super) in_bytes: bool,
    /// Whether the log has its tables before its progress.
    pub(super) tables_first: bool,
}

impl Call {
    pub(super) fn of_command(host: &str, command: &str, line: u32) -> Call {
        let words: Vec<&str> = command.split_whitespace().collect();
        let after = |option: &str| {
            let place = words.iter().position(|word| *word == option)?;
            words.get(place + 1).copied()
        };
        Call {
            line,
            command: command.to_owned(),
            host: host.to_owned(),
            elapsed: words.contains(&"-elapsed"),
            told: true,
            engine: after("-engine")
                .filter(|name| !is_variable(name))
                .unwrap_or_default()
                .to_owned(),
            direction: match words.contains(&"-decrypt") {
                true => Some(Operation::Decrypt),
                false if words.iter().any(|word| is_variable(word)) => None,
                false => Some(Operation::Encrypt),
            },
            processes: after("-multi").and_then(|word| word.parse().ok()),
            ..Call::default()
        }
    }

    /// Whether it has only its first lines so far.
    pub(super) fn is_fresh(&self) -> bool {
        self.counts.is_empty() && self.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.rows.is_empty() && self.public.is_empty()
    }

    pub(super) fn has_table(&self) -> bool {
        !self.rows.is_empty() || !self.public.is_empty()
    }

    /// Whether it has tables and no progress so far.
    pub(super) fn lacks_progress(&self) -> bool {
        self.has_table() && self.counts.is_empty()
    }

    /// Whether the first line with progress among `lines` is of a measurement in its tables.
    pub(super) fn has_progress_in(&self, lines: &[Line<'_>]) -> bool {
        /// A call prints fewer lines before its progress.
        const FIRST_LINES: usize = 20;
        let lines = lines.iter().take(FIRST_LINES);
        let mut doing = lines.filter_map(|line| doing::line(&line.text, line.number));
        doing.next().is_some_and(|first| self.has(&first))
    }

    /// Whether its tables have this measurement, with the same rate as far as rates are known.
    pub(super) fn has(&self, doing: &Doing) -> bool {
        let Some(bytes) = doing.bytes else {
            let key = KeyOperation::of(&doing.what);
            return self.public.iter().flat_map(|row| &row.rates).any(|(_, own, _)| own.is(&key));
        };
        let algorithm = algorithms::ours(&doing.what);
        let rows = self.rows.iter().filter(|row| algorithms::ours(&row.name) == algorithm);
        rows.into_iter().any(|row| {
            let column = self.sizes(row, &[]).iter().position(|size| *size == bytes);
            column.and_then(|column| row.rates.get(column)).is_some_and(|(rate, line)| {
                let rate = speed_table::figure(rate, *line).number().map(|rate| rate * 1e3);
                let near = |(one, other): (f64, f64)| (one / other - 1.0).abs() <= ROUNDING;
                rate.zip(doing.rate(bytes)).is_none_or(near)
            })
        })
    }

    /// Reads a property of the library.
    pub(super) fn property(&mut self, text: &str) {
        if let Some(version) = text.strip_prefix(VERSION) {
            self.version = format!("OpenSSL {}", version.trim());
        } else if text.starts_with("OpenSSL ") && self.version.is_empty() {
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            self.version = words.join(" ");
        } else if let Some(name) = text.strip_prefix("engine ").or(text.strip_prefix("Engine ")) {
            let name = name.split('"').nth(1).unwrap_or_default();
            if !name.is_empty() {
                name.clone_into(&mut self.engine);
            }
        } else if text.starts_with("Forked child") {
            self.processes = Some(self.processes.unwrap_or(0).max(1 + number(text)));
        } else if text.starts_with("compiler:") || text.starts_with("CPUINFO:") {
            self.build.push(text.to_owned());
        }
    }

    fn provider(&self) -> String {
        match self.engine.as_str() {
            "" => "openssl".to_owned(),
            engine => format!("openssl:{engine}"),
        }
    }

    /// Adds its table to the draft.
    pub(super) fn add(self, draft: &mut Draft, table: String) -> Result<()> {
        let provider = self.provider();
        let lines = self.counts.iter().map(|count| count.line);
        let lines = lines.chain(self.rows.iter().map(|row| row.line));
        let lines = lines.chain(self.public.iter().map(|row| row.line));
        let first =
            lines.min().map_or(self.line, |first| if self.line > 0 { self.line } else { first });
        let mut options = vec![self.command.clone()];
        options.extend(self.build.iter().cloned());
        options.retain(|words| !words.is_empty());
        let path = PublishedPath {
            version: self.version.clone(),
            executor: self.engine.clone(),
            options: options.join("; "),
        };
        draft.sources.push(Source {
            table: table.clone(),
            title: String::new(),
            publisher: "openssl speed".to_owned(),
            date: String::new(),
            place: format!("from line {first}"),
            paths: BTreeMap::from([(provider, path)]),
            notes: self.notes(),
            cores: None,
        });
        let timed = self.counts.iter().any(|count| !count.nominal.is_empty());
        if !self.elapsed && timed && self.processes.is_none() {
            draft.warn(
                "The command is not known to have had -elapsed: cpb divides the nominal time on the clock by the counts, \
                 and does not use the rates. If other programs ran, such a figure is too slow.",
            );
        }
        let mut counts = Counts::of(&self.counts);
        for row in &self.rows {
            let algorithm = algorithms::ours(&row.name);
            let sizes = self.sizes(row, &counts.sizes(&algorithm));
            self.check(row, !sizes.is_empty(), draft);
            for (column, (rate, line)) in row.rates.iter().enumerate() {
                let bytes = sizes.get(column).copied();
                let count = bytes.filter(|_| self.processes.is_none());
                let count = count.and_then(|bytes| counts.take(&algorithm, bytes));
                let rate = match self.in_bytes {
                    true => speed_table::bytes(rate, *line),
                    false => speed_table::figure(rate, *line),
                };
                draft.push(self.cell(&table, &row.name, bytes, count, Some(rate)))?;
            }
        }
        self.add_counts(draft, &table, counts.left())?;
        let keys = || self.counts.iter().filter(|count| count.bytes.is_none());
        let mut keys: Vec<_> = keys().map(|count| (KeyOperation::of(&count.what), count)).collect();
        for row in &self.public {
            self.add_public(draft, &table, row, &mut keys)?;
        }
        Ok(())
    }

    /// Adds counts without a table, unless they come from several processes: then only the sum of all is a figure.
    fn add_counts(&self, draft: &mut Draft, table: &str, counts: Vec<&Doing>) -> Result<()> {
        let summed = !self.rows.is_empty() || !self.public.is_empty();
        if summed && self.processes.is_some() {
            return Ok(());
        }
        // Without a table, the same measurement again shows that there were several processes.
        let mut seen = HashSet::new();
        let again = self.counts.iter().find(|count| !seen.insert((&count.what, count.bytes)));
        let first = self.counts.first().filter(|_| self.processes.is_some());
        if let Some(count) = again.or(first).filter(|_| !summed) {
            draft.warn(format!(
                "Line {} and others are of several processes (-multi). The log has only stderr, but the sum of all \
                 processes is on stdout, so these lines give no figure.",
                count.line
            ));
            return Ok(());
        }
        for count in counts {
            let key = count.bytes.is_none().then(|| KeyOperation::of(&count.what));
            let in_table = key.as_ref().is_some_and(|key| {
                self.public.iter().flat_map(|row| &row.rates).any(|(_, own, _)| own.is(key))
            });
            if !in_table {
                draft.push(self.cell(table, &count.what, count.bytes, Some(count), None))?;
            }
        }
        Ok(())
    }

    /// Adds a row of public-key operations, with their counts.
    fn add_public(
        &self,
        draft: &mut Draft,
        table: &str,
        row: &PublicRow,
        counts: &mut Vec<(KeyOperation, &Doing)>,
    ) -> Result<()> {
        for (column, key, rate) in &row.rates {
            // Several curves have the same number of bits, and a progress line does not name the curve. So the count
            // must give this rate.
            let own = |(own, count): &(KeyOperation, &Doing)| {
                let by_count = count.operations_per_second();
                let fits = |by_count: f64| {
                    rate.parse::<f64>().is_ok_and(|rate| (rate / by_count - 1.0).abs() < ROUNDING)
                };
                own.is(key) && by_count.is_none_or(fits)
            };
            let place = counts.iter().position(own).filter(|_| self.processes.is_none());
            let count = place.map(|place| counts.remove(place).1);
            let rate = self.unproven(printed(Quantity::OperationsPerSecond, rate, row.line));
            let mut cell = self.cell(table, &row.name, None, count, Some(rate));
            cell.algorithm.clone_from(&key.algorithm);
            cell.operation = self.summed(Some(key.operation));
            cell.row = format!("{} {column}", row.name);
            cell.column = String::new();
            draft.push(cell)?;
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "openssl speed times steps of one endless message for ciphers, and whole messages for hashes and MACs."
                .to_owned(),
        ];
        if let Some(processes) = self.processes {
            notes.push(format!("The sum of {processes} parallel processes."));
        }
        if self.rows.iter().any(|row| self.sizes.len() < row.rates.len()) {
            notes.push(
                "The table has no heading: its sizes are those of the progress lines, or the usual ones.".to_owned(),
            );
        }
        let names = self.rows.iter().map(|row| &row.name);
        let counted = self.counts.iter().filter(|count| count.bytes.is_some());
        let mut names = names.chain(counted.map(|count| &count.what));
        if self.direction.is_none() && names.any(|name| one_way(&algorithms::ours(name)).is_none())
        {
            notes.push(
                "The log has no command, so the direction of ciphers is unknown; set it with --direction."
                    .to_owned(),
            );
        }
        notes
    }

    /// Adds a warning if a row is cut, or if the sizes of its columns are unknown.
    fn check(&self, row: &SpeedRow, named: bool, draft: &mut Draft) {
        let SpeedRow { name, line, rates, .. } = row;
        let (rates, sizes) = (rates.len(), self.sizes.len());
        if rates < sizes {
            draft.warn(format!("Line {line}: {name} is cut off: it has {rates} of {sizes} rates."));
        } else if !named {
            draft.warn(format!(
                "Line {line}: no heading names the sizes of the {rates} rates of {name}, so they give no figure."
            ));
        }
    }

    /// The sizes of a row's columns: from the heading, from the progress lines, or the usual ones. Empty if unknown.
    fn sizes(&self, row: &SpeedRow, counted: &[u32]) -> Vec<u32> {
        match row.rates.len() {
            rates if self.sizes.len() >= rates => self.sizes.clone(),
            rates if counted.len() == rates => counted.to_vec(),
            5 | 6 if self.sizes.is_empty() => SIZES.to_vec(),
            _ => Vec::new(),
        }
    }

    fn cell(
        &self,
        table: &str,
        name: &str,
        bytes: Option<u32>,
        count: Option<&Doing>,
        rate: Option<Printed>,
    ) -> Published {
        let (algorithm, operation, phase) = self.done(name, bytes);
        Published {
            table: table.to_owned(),
            row: name.to_owned(),
            column: bytes.map(|bytes| format!("{bytes} bytes")).unwrap_or_default(),
            machine: self.host.clone(),
            core_hz: None,
            provider: self.provider(),
            algorithm,
            operation,
            phase,
            bytes,
            figures: self.figures(bytes, count, rate),
        }
    }

    /// The algorithm, operation and phase that the command calls `name`.
    fn done(&self, name: &str, bytes: Option<u32>) -> (String, Option<String>, Option<String>) {
        if bytes.is_none() {
            let key = KeyOperation::of(name);
            return (key.algorithm, self.summed(Some(key.operation)), None);
        }
        let algorithm = algorithms::ours(name);
        let (operation, phase) = match one_way(&algorithm) {
            Some(operation) => (Some(operation), Phase::Message),
            None => (self.direction, Phase::Update),
        };
        (algorithm, self.summed(operation.map(Operation::name)), Some(phase.to_string()))
    }

    /// The operation, with a note if several processes ran it.
    fn summed(&self, operation: Option<&str>) -> Option<String> {
        let sum = self.processes.map(|processes| format!("sum of {processes} processes"));
        let words: Vec<&str> = operation.into_iter().chain(sum.as_deref()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    fn figures(
        &self,
        bytes: Option<u32>,
        count: Option<&Doing>,
        rate: Option<Printed>,
    ) -> Vec<Printed> {
        let mut figures = Vec::new();
        if let Some(count) = count {
            figures.push(printed(Quantity::Operations, &count.count, count.line));
            if !count.nominal.is_empty() {
                let (nominal, line) = (&count.nominal, count.announced);
                figures.push(printed(Quantity::NominalSeconds, nominal, line));
            }
            figures.push(self.seconds(count));
        }
        if let Some(rate) = rate {
            let by_count = count.zip(bytes).and_then(|(count, bytes)| count.rate(bytes));
            let rate = self.unproven(rate);
            let own = rate.number().map(|number| match rate.quantity {
                Quantity::KilobytesPerSecond => number * 1e3,
                _ => number,
            });
            figures.push(match own.zip(by_count) {
                Some((own, by_count)) if (own / by_count - 1.0).abs() > ROUNDING => {
                    let why = format!("its count and time give {:.2} kB/s", by_count / 1e3);
                    flagged(rate, FlagKind::Doubtful, why)
                }
                _ => rate,
            });
        }
        figures
    }

    /// The time in a progress line.
    fn seconds(&self, count: &Doing) -> Printed {
        let seconds = printed(Quantity::StatedSeconds, &count.stated, count.line);
        let sound = seconds.number().is_some();
        if !self.elapsed {
            let why = if self.told { USER_TIME } else { UNTOLD };
            flagged(seconds, FlagKind::Unverified, why)
        } else if !sound {
            flagged(seconds, FlagKind::Unverified, NO_TIME)
        } else {
            seconds
        }
    }

    /// Flags a rate that was computed from seconds of an unknown kind.
    fn unproven(&self, rate: Printed) -> Printed {
        if self.elapsed || rate.number().is_none() {
            return rate;
        }
        let why = if self.told { BY_USER_TIME } else { UNTOLD };
        flagged(rate, FlagKind::Unverified, why)
    }
}

/// The operation of an algorithm with only one direction. `None` for a cipher.
fn one_way(algorithm: &str) -> Option<Operation> {
    match algorithm {
        _ if algorithm.starts_with("hmac") => Some(Operation::Mac),
        _ if algorithm.starts_with("sha") || algorithm.starts_with("md") => Some(Operation::Hash),
        _ => None,
    }
}

/// Progress lines with a message, by algorithm and size, until a row takes them; and all others.
struct Counts<'a> {
    sized: BTreeMap<(String, u32), Vec<&'a Doing>>,
    others: Vec<&'a Doing>,
}

impl<'a> Counts<'a> {
    fn of(counts: &'a [Doing]) -> Counts<'a> {
        let mut sized: BTreeMap<_, Vec<&Doing>> = BTreeMap::new();
        let mut others = Vec::new();
        for count in counts.iter().rev() {
            match count.bytes {
                Some(bytes) => {
                    sized.entry((algorithms::ours(&count.what), bytes)).or_default().push(count);
                }
                None => others.push(count),
            }
        }
        Counts { sized, others }
    }

    /// The sizes of an algorithm, ascending.
    fn sizes(&self, algorithm: &str) -> Vec<u32> {
        let (first, last) = ((algorithm.to_owned(), 0), (algorithm.to_owned(), u32::MAX));
        self.sized.range(first..=last).map(|((_, bytes), _)| *bytes).collect()
    }

    /// Removes and returns the first count that no row has taken.
    fn take(&mut self, algorithm: &str, bytes: u32) -> Option<&'a Doing> {
        self.sized.get_mut(&(algorithm.to_owned(), bytes))?.pop()
    }

    /// All counts that no row has taken, in the order of their lines.
    fn left(self) -> Vec<&'a Doing> {
        let mut left: Vec<&Doing> = self.sized.into_values().flatten().chain(self.others).collect();
        left.sort_by_key(|count| count.line);
        left
    }
}

/// Whether the shell puts something else in the place of a word.
fn is_variable(word: &str) -> bool {
    word.contains(['$', '`'])
}

/// The first number in a line.
fn number(text: &str) -> u32 {
    let word = text.split_whitespace().find_map(|word| word.parse().ok());
    word.unwrap_or(0)
}
