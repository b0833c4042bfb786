//! `openssl speed` (1.0.2 to 3.x): its progress lines, its tables, and `-mr`.
//!
//! - A progress line has the count and the time: `Doing X for 3s on 16 size blocks: 12 X's in 3.00s`,
//!   later `X ops for`. A table has the rates that follow from them. They are put together.
//! - Without `-elapsed` the time is CPU time in user mode, which says nothing of work in the kernel or
//!   in an engine: a time of 0.00 s, a rate of `infk`. The count is of the nominal time on the clock all
//!   the same, for an alarm ends it, so a cell has a figure where its count was printed.
//! - `-mr` prints bytes a second, and does not tell whether `-elapsed` was given; `-multi` prints the sum
//!   over processes without the heading of its table.
//! - Ciphers are one step of an endless message (phase `update`), hashes and MACs whole ones.

mod doing;
mod machine_readable;

use super::draft::{Draft, flagged, printed};
use super::speed_table::{self, SIZES, SpeedRow};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::Result;
use cpb_record::{FlagKind, Printed, Published, PublishedPath, Quantity, Source};
use doing::Doing;
use std::collections::BTreeMap;

pub(super) const FORMAT: Format =
    Format { name: "openssl", tool: "openssl speed", tells, read, strict: true, one_line: false };

/// The most measurements of one command: all algorithms at six sizes are some hundreds.
const MOST: usize = 2_000;
/// A printed rate that differs by more from its count and time is not of them.
const ROUNDING: f64 = 0.01;
/// Without a command, nothing is known of its options.
const UNTOLD: &str = "the log does not tell whether the command had -elapsed, so its seconds may be CPU \
                      time; import it with --elapsed if it had";
const USER_TIME: &str =
    "CPU time in user mode, not the time on the clock: the command had no -elapsed";
const BY_USER_TIME: &str = "operations divided by CPU time in user mode: no rate";
const NO_TIME: &str = "no time at all";

fn tells(line: &str) -> bool {
    doing::line(line, 0).is_some()
        || speed_table::heading(line).is_some()
        || machine_readable::tells(line)
        || doing::public_heading(line).is_some()
}

/// One call of the command.
#[derive(Debug, Default)]
struct Call {
    /// The line that it begins at.
    line: u32,
    /// As typed, if the log has it.
    command: String,
    /// The machine, by the prompt.
    host: String,
    /// Whether its seconds are the clock's.
    elapsed: bool,
    /// Whether the output tells, if they are not.
    told: bool,
    engine: String,
    processes: Option<u32>,
    version: String,
    /// Compiler and CPU features, as printed.
    build: Vec<String>,
    sizes: Vec<u32>,
    counts: Vec<Doing>,
    rows: Vec<SpeedRow>,
    public: Vec<doing::Public>,
    /// Whether its rows are in bytes a second.
    in_bytes: bool,
}

fn read(text: &Text, options: &Options) -> Result<Draft> {
    let mut calls: Vec<Call> = Vec::new();
    let mut columns = None;
    let mut cut = Vec::new();
    let mut next = Call::default();
    for line in text.lines() {
        let text = line.text.as_ref();
        if next.counts.len() + next.rows.len() + next.public.len() > MOST {
            anyhow::bail!("line {}: more measurements than one command makes", line.number);
        }
        if let Some((host, command)) = doing::command(text) {
            let call = Call::of_command(host, command, line.number);
            keep(&mut calls, std::mem::replace(&mut next, call));
        } else if text.starts_with("You have chosen to measure elapsed time") {
            if !next.is_fresh() {
                keep(&mut calls, std::mem::take(&mut next));
            }
            next.elapsed = true;
        } else if text.to_lowercase().starts_with("engine \"") && !next.is_empty() {
            // The first line of the next call, without its command.
            keep(&mut calls, std::mem::take(&mut next));
            next.property(text);
        } else if let Some(doing) = doing::line(text, line.number) {
            if !next.rows.is_empty() || !next.public.is_empty() {
                keep(&mut calls, std::mem::take(&mut next));
            }
            next.told = true;
            next.counts.push(doing);
        } else if text.starts_with("Doing ") {
            cut.push(line.number);
        } else if let Some(sizes) = speed_table::heading(text) {
            next.sizes = sizes;
        } else if let Some(heading) = doing::public_heading(text) {
            columns = Some(heading);
        } else if let Some(row) = columns.as_ref().and_then(|c| doing::public(text, c, line.number))
        {
            next.public.push(row);
        } else if let Some(row) = speed_table::row(text, line.number) {
            next.rows.push(row);
        } else if machine_readable::line(text, line.number, &mut next) {
        } else if let Some(row) = next.rows.last_mut() {
            let room = next.sizes.len().max(1) - row.rates.len().min(next.sizes.len().max(1));
            row.rates.extend(speed_table::continued(text, line.number).into_iter().take(room));
            next.property(text);
        } else {
            next.property(text);
        }
    }
    keep(&mut calls, next);
    let mut draft = Draft::default();
    for line in cut {
        draft.warn(format!("Line {line} is cut before its end: it gives no figure."));
    }
    let several = calls.len() > 1;
    for (place, mut call) in calls.into_iter().enumerate() {
        call.elapsed |= options.elapsed;
        let table = if several { format!("speed-{}", place + 1) } else { "speed".to_owned() };
        call.add(&mut draft, table)?;
    }
    if draft.cells.is_empty() {
        anyhow::bail!(
            "line 1: no figure of openssl speed is in it: no row, no line 'Doing ...', none of -mr"
        );
    }
    Ok(draft)
}

/// Keeps a call that has something in it.
fn keep(calls: &mut Vec<Call>, call: Call) {
    if !call.is_empty() {
        calls.push(call);
    }
}

impl Call {
    fn of_command(host: &str, command: &str, line: u32) -> Call {
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
            engine: after("-engine").unwrap_or_default().to_owned(),
            processes: after("-multi").and_then(|word| word.parse().ok()),
            ..Call::default()
        }
    }

    /// Whether it has none of what comes after its first lines.
    fn is_fresh(&self) -> bool {
        self.counts.is_empty() && self.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.rows.is_empty() && self.public.is_empty()
    }

    /// What the library says of itself.
    fn property(&mut self, text: &str) {
        if let Some(version) = text.strip_prefix("version:") {
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

    /// Adds its table.
    fn add(self, draft: &mut Draft, table: String) -> Result<()> {
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
        let mut counts: Vec<(&Doing, String)> =
            self.counts.iter().map(|count| (count, algorithms::ours(&count.what))).collect();
        for row in &self.rows {
            let algorithm = algorithms::ours(&row.name);
            for (column, (rate, line)) in row.rates.iter().enumerate() {
                let bytes = self.size(row, column);
                let own = |(count, what): &(&Doing, String)| {
                    self.processes.is_none() && count.bytes == bytes && *what == algorithm
                };
                let count = counts.iter().position(own).map(|place| counts.remove(place).0);
                let rate = match self.in_bytes {
                    true => speed_table::bytes(rate, *line),
                    false => speed_table::figure(rate, *line),
                };
                draft.push(self.cell(&table, &row.name, bytes, count, Some(rate)))?;
            }
        }
        let summed = self.processes.is_some() && !self.rows.is_empty();
        for (count, _) in counts.into_iter().filter(|_| !summed) {
            let matching = self.public.iter().any(|row| row.counted(count));
            if !matching {
                draft.push(self.cell(&table, &count.what, count.bytes, Some(count), None))?;
            }
        }
        for row in &self.public {
            for (name, rate) in &row.rates {
                let count = self.counts.iter().find(|count| row.counts(name, count));
                let rate = printed(Quantity::OperationsPerSecond, rate, row.line);
                let mut cell = self.cell(&table, &row.name, None, count, Some(self.unproven(rate)));
                cell.algorithm = row.algorithm();
                cell.operation = Some(name.clone());
                cell.row = format!("{} {name}", row.name);
                cell.column = String::new();
                draft.push(cell)?;
            }
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "openssl speed times the steady state of a message without end; of hashes and MACs whole \
             messages."
                .to_owned(),
        ];
        if let Some(processes) = self.processes {
            notes.push(format!("The sum of {processes} processes at once."));
        }
        if self.rows.iter().any(|row| self.sizes.len() < row.rates.len()) {
            notes.push("The table has no heading: its sizes are the usual ones.".to_owned());
        }
        notes
    }

    /// The size of a column, by its heading, or the usual ones where there is none.
    fn size(&self, row: &SpeedRow, column: usize) -> Option<u32> {
        if self.sizes.len() >= row.rates.len() {
            return self.sizes.get(column).copied();
        }
        let usual = matches!(row.rates.len(), 5 | 6) && self.sizes.is_empty();
        SIZES.get(column).copied().filter(|_| usual)
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
            operation: Some(operation),
            phase,
            bytes,
            figures: self.figures(bytes, count, rate),
        }
    }

    /// Algorithm, operation and phase of what the command calls `name`.
    fn done(&self, name: &str, bytes: Option<u32>) -> (String, String, Option<String>) {
        if bytes.is_none() {
            let (algorithm, operation) = doing::public_name(name);
            return (algorithm, operation, None);
        }
        let algorithm = algorithms::ours(name);
        let decrypting = self.command.split_whitespace().any(|word| word == "-decrypt");
        let (operation, phase) = if algorithm.starts_with("hmac") {
            ("mac", "message")
        } else if algorithm.starts_with("sha") || algorithm.starts_with("md") {
            ("hash", "message")
        } else if decrypting {
            ("decrypt", "update")
        } else {
            ("encrypt", "update")
        };
        let operation = match self.processes {
            Some(processes) => format!("{operation}, sum of {processes} processes"),
            None => operation.to_owned(),
        };
        (algorithm, operation, Some(phase.to_owned()))
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

    /// The time that a progress line tells.
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

    /// A rate that rests on seconds of which nobody knows what they are.
    fn unproven(&self, rate: Printed) -> Printed {
        if self.elapsed || rate.number().is_none() {
            return rate;
        }
        let why = if self.told { BY_USER_TIME } else { UNTOLD };
        flagged(rate, FlagKind::Unverified, why)
    }
}

/// The first number in a line.
fn number(text: &str) -> u32 {
    let word = text.split_whitespace().find_map(|word| word.parse().ok());
    word.unwrap_or(0)
}
