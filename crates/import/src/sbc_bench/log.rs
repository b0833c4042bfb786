//! Parses the lines of a log, part by part.

use super::super::speed_table::{self, SpeedRow};
use super::super::text::Text;
use super::clock;
use super::context::Besides;
use cpb_record::Machine;
use cpb_record::{ClockReading, When};

/// A log.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// sbc-bench's version: v0.9.72.
    pub(super) version: String,
    /// The machine's name in the first line.
    pub(super) board: String,
    /// The date as printed.
    pub(super) date: String,
    /// The kernel's line: Linux 6.1.15 (k1) 05/16/24 _riscv64_ (8 CPU).
    kernel: String,
    host: String,
    architecture: String,
    /// The number of CPUs.
    pub(super) cpus: Option<u32>,
    /// Clocks, by their CPUs.
    pub(super) groups: Vec<Group>,
    /// CPUs on which the memory benchmark ran, with their core's name; one per cluster.
    pub(super) runs: Vec<(u32, String)>,
    /// The list of CPUs.
    pub(super) topology: Vec<Cpu>,
    /// How OpenSSL was run.
    pub(super) way: Option<Way>,
    /// The library with its version.
    pub(super) openssl: String,
    /// The sizes of the columns.
    pub(super) sizes: Vec<u32>,
    /// The rows of the table.
    pub(super) rows: Vec<SpeedRow>,
    /// Rows repeated in the summary at the end.
    repeated: Vec<SpeedRow>,
    features: Vec<String>,
    model: String,
    /// The highest clock that lscpu reports, in kHz.
    pub(super) max_khz: Option<u64>,
    /// The guess about the SoC.
    pub(super) soc: String,
    /// Names in the device tree.
    pub(super) compatible: Vec<String>,
    /// Additional measurements.
    pub(super) besides: Besides,
    /// Problems that the log itself reports.
    findings: Vec<String>,
    /// Throttling and under-voltage, as reported by a Raspberry Pi's firmware.
    firmware: Option<u32>,
    /// The first line that exceeded a limit.
    cut: Option<u32>,
}

/// CPUs whose clock was measured together.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) cpus: Vec<u32>,
    pub(super) name: String,
    pub(super) clocks: Vec<ClockReading>,
}

/// A line of the topology.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cpu {
    pub(super) number: u32,
    pub(super) max_khz: Option<u64>,
    /// The core's type; empty if unknown.
    pub(super) name: String,
    pub(super) revision: String,
}

/// How OpenSSL was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Pinned, once per cluster.
    EachCluster,
    /// Twice, not pinned.
    Twice,
}

/// Whether a line appears only in logs of this tool.
pub(super) fn tells(line: &str) -> bool {
    line.starts_with("sbc-bench v")
        || line.starts_with("Cpufreq OPP:")
        || line.starts_with("Checking cpufreq OPP")
        || line.starts_with("CPU sysfs topology (clusters,")
        || line.starts_with("Executing benchmark twice on cluster")
        || line.starts_with("Executing benchmark on each cluster individually")
        || line.starts_with("System health while running")
        || line.starts_with("OpenSSL results (")
}

/// The highest number of rows, clocks and CPUs that are kept: several times that of the largest machine.
const MOST: usize = 1024;

/// Adds to a list unless it is full. `cut` is the first line that was dropped.
fn keep<T>(list: &mut Vec<T>, one: T, cut: &mut Option<u32>, line: u32) {
    match list.len() < MOST {
        true => list.push(one),
        false => *cut = cut.or(Some(line)),
    }
}

/// Findings that are not problems.
const FINE: [&str; 4] = [
    "Measured clockspeed not lower",
    "No swapping",
    "Background activity (%system) OK",
    "No throttling",
];

/// The part of the log that a line may belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Other,
    Topology,
    Compatible,
    Findings,
    Firmware,
    Summary,
}

impl Log {
    /// Reads all lines.
    pub(super) fn read(text: &Text) -> Log {
        let mut log = Log::default();
        let mut part = Part::Other;
        for line in text.lines() {
            part = log.line(&line.text, line.number, part);
        }
        if log.rows.is_empty() {
            log.rows = std::mem::take(&mut log.repeated);
        }
        log
    }

    /// Reads a line, and returns the part that it is in.
    fn line(&mut self, text: &str, number: u32, part: Part) -> Part {
        if text.starts_with("###") && !text.starts_with("####") {
            return Part::Summary;
        }
        if part != Part::Summary {
            self.besides.line(text);
        }
        let listed = match part {
            Part::Topology => self.cpu(text, number),
            Part::Compatible => self.compatible_with(text),
            Part::Findings => self.finding(text),
            Part::Firmware => self.firmware(text),
            Part::Other | Part::Summary => false,
        };
        if listed {
            return part;
        }
        if let Some(row) = speed_table::row(text, number) {
            let name = row.name.to_lowercase();
            if name.starts_with("aes") || name.starts_with("chacha") {
                let rows = if part == Part::Summary { &mut self.repeated } else { &mut self.rows };
                keep(rows, row, &mut self.cut, number);
            }
            return part;
        }
        let next = self.heading(text, number);
        // The summary extends to the end of the file.
        if part == Part::Summary { part } else { next }
    }

    fn heading(&mut self, text: &str, number: u32) -> Part {
        if let Some(sizes) = speed_table::heading(text) {
            self.sizes = sizes;
        } else if let Some((cpus, name)) = clock::group(text) {
            let group = Group { cpus, name, clocks: Vec::new() };
            keep(&mut self.groups, group, &mut self.cut, number);
        } else if let Some(mut reading) = clock::reading(text, When::Before, number) {
            reading.when = self.when();
            if self.groups.is_empty() {
                self.groups.push(Group::default());
            }
            if let Some(group) = self.groups.last_mut() {
                if let Some(cpu) = clock::only_cpu(text).filter(|_| group.cpus.is_empty()) {
                    group.cpus = vec![cpu];
                }
                keep(&mut group.clocks, reading, &mut self.cut, number);
            }
        } else if let Some(rest) = text.strip_prefix("sbc-bench ") {
            self.first_line(rest);
        } else if let Some(rest) = text.strip_prefix("Executing benchmark ") {
            self.executing(rest, number);
        } else if text.starts_with("CPU sysfs topology") && self.topology.is_empty() {
            return Part::Topology;
        } else if text.starts_with("Results validation") {
            return Part::Findings;
        } else if text.starts_with("Querying ThreadX on RPi for thermal") {
            return Part::Firmware;
        } else if text.starts_with("OpenSSL results") && text.contains("measured individually") {
            self.way = self.way.or(Some(Way::EachCluster));
        } else if text.starts_with("WARNING:") {
            self.find(text.trim_start_matches("WARNING:"));
        } else if let Some((name, value)) = text.split_once(':') {
            return self.named(name.trim(), value.trim());
        } else {
            self.unnamed(text);
        }
        Part::Other
    }

    /// Clocks are measured before the benchmarks, and once more after them.
    fn when(&self) -> When {
        let again =
            |group: &Group| self.groups.iter().filter(|other| other.cpus == group.cpus).count() > 1;
        let after = !self.rows.is_empty() || self.groups.last().is_some_and(again);
        if after { When::After } else { When::Before }
    }

    /// `v0.9.72 Radxa Dragon Q6A (Mon, 29 Sep 2025 11:57:42 +0000)`, or with `--` before the date.
    fn first_line(&mut self, rest: &str) {
        let (version, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if !version.starts_with('v') || !self.version.is_empty() {
            return;
        }
        self.version = version.to_owned();
        let (board, date) = match rest.rsplit_once(" (") {
            Some((board, date)) if date.ends_with(')') => (board, date.trim_end_matches(')')),
            _ => rest.split_once("-- ").unwrap_or((rest, "")),
        };
        // If there is no board, the date follows the version.
        let (board, date) = match board.trim_start().strip_prefix('(') {
            Some(only) if date.is_empty() => ("", only.trim_end_matches(')')),
            _ => (board, date),
        };
        let board = board.split_whitespace().collect::<Vec<_>>().join(" ");
        // How sbc-bench was called is not part of the machine's name.
        self.board = board.trim_end_matches(" extensive").to_owned();
        self.date = date.trim().to_owned();
    }

    fn executing(&mut self, rest: &str, number: u32) {
        if rest.starts_with("on each cluster") {
            self.way = Some(Way::EachCluster);
        } else if rest.starts_with("twice") {
            self.way = Some(Way::Twice);
        } else if let Some(rest) = rest.strip_prefix("on cpu") {
            let (cpu, name) = rest.split_once('(').unwrap_or((rest, ""));
            if let Ok(cpu) = cpu.trim().trim_end_matches(':').parse() {
                let name = name.trim_end_matches([':', ' ']).trim_end_matches(')');
                keep(&mut self.runs, (cpu, name.to_owned()), &mut self.cut, number);
            }
        }
    }

    fn named(&mut self, name: &str, value: &str) -> Part {
        let once = |field: &mut String| {
            if field.is_empty() {
                value.clone_into(field);
            }
        };
        match name {
            "Flags" | "Features" if self.features.is_empty() => {
                self.features = value.split_whitespace().map(str::to_owned).collect();
            }
            "Architecture" => once(&mut self.architecture),
            "Model name" if value != "-" => once(&mut self.model),
            "CPU(s)" => self.cpus = self.cpus.or(value.parse().ok()),
            "CPU max MHz" => self.max_khz = self.max_khz.max(clock::megahertz(value)),
            "SoC guess" => {
                once(&mut self.soc);
                if value.contains("guess flawed") {
                    self.find(value);
                }
            }
            "DT compat" => {
                self.compatible.push(value.to_owned());
                return Part::Compatible;
            }
            _ => self.unnamed(&format!("{name}: {value}")),
        }
        Part::Other
    }

    fn unnamed(&mut self, text: &str) {
        let library = text.starts_with("OpenSSL ") || text.starts_with("LibreSSL ");
        if library && self.openssl.is_empty() && self.rows.is_empty() {
            let mut words = text.split([' ', '(', ',']).filter(|word| !word.is_empty());
            let name = words.next().unwrap_or_default();
            let number = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            self.openssl = [name, number.unwrap_or_default()].join(" ").trim_end().to_owned();
        } else if text.starts_with("Linux ") && text.ends_with(" CPU)") && self.kernel.is_empty() {
            self.kernel_line(text);
        }
    }

    /// The output of vcgencmd get_throttled, in binary: bits 0 to 3 are the current state, 16 to 19 the state since
    /// the start.
    fn firmware(&mut self, text: &str) -> bool {
        self.firmware = self.firmware.or(u32::from_str_radix(text, 2).ok());
        text.is_empty()
    }

    /// `Linux 6.1.15 (k1) 05/16/24 _riscv64_ (8 CPU)`.
    fn kernel_line(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        self.kernel = words.by_ref().take(2).collect::<Vec<_>>().join(" ");
        for word in words {
            if let Some(host) = word.strip_prefix('(').and_then(|word| word.strip_suffix(')')) {
                host.clone_into(&mut self.host);
            } else if let Some(name) = word.strip_prefix('_').and_then(|w| w.strip_suffix('_')) {
                name.clone_into(&mut self.architecture);
            } else if let Some(number) = word.strip_prefix('(') {
                self.cpus = number.parse().ok();
            }
        }
    }

    /// Parses `  4        0        4      691    2400   Cortex-A78 / r1p1`: CPU, cluster, policy, lowest and highest
    /// clock, core.
    fn cpu(&mut self, text: &str, line: u32) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [number, _, _, _, max, core @ ..] = words.as_slice() else {
            // Its own heading takes two lines.
            return self.topology.is_empty() && !text.is_empty();
        };
        let Ok(number) = number.parse() else {
            return self.topology.is_empty();
        };
        let core = core.join(" ");
        let (name, revision) = core.split_once(" / ").unwrap_or((&core, ""));
        let name = if name == "-" { "" } else { name };
        let cpu = Cpu {
            number,
            max_khz: clock::megahertz(max),
            name: name.to_owned(),
            revision: revision.to_owned(),
        };
        keep(&mut self.topology, cpu, &mut self.cut, line);
        true
    }

    fn compatible_with(&mut self, text: &str) -> bool {
        let listed =
            text.contains(',') && !text.contains([' ', ':']) && self.compatible.len() < MOST;
        if listed {
            self.compatible.push(text.to_owned());
        }
        listed
    }

    fn finding(&mut self, text: &str) -> bool {
        if text.starts_with(['#', '|']) || text.ends_with(':') {
            return false;
        }
        if !text.is_empty() && !FINE.iter().any(|fine| text.starts_with(fine)) {
            self.find(text);
        }
        true
    }

    fn find(&mut self, words: &str) {
        let words =
            words.split("->").next().unwrap_or_default().trim().trim_end_matches(['.', '!']);
        if self.findings.len() < MOST
            && !words.is_empty()
            && !self.findings.iter().any(|known| known == words)
        {
            self.findings.push(words.to_owned());
        }
    }

    /// The tool with its version.
    pub(super) fn tool(&self) -> String {
        format!("sbc-bench {}", self.version).trim_end().to_owned()
    }

    /// The machine's name.
    pub(super) fn called(&self) -> &str {
        let known = [&self.board, &self.soc, &self.host].into_iter().find(|name| !name.is_empty());
        known.map_or("a machine", String::as_str)
    }

    /// The machine.
    pub(super) fn machine(&self) -> Machine {
        let cpu = if self.soc.is_empty() { &self.model } else { &self.soc };
        Machine {
            name: self.host.clone(),
            architecture: self.architecture.clone(),
            cpu: cpu.clone(),
            core: self.model.clone(),
            features: self.features.clone(),
            cpus: self.cpus.unwrap_or_default() as usize,
            board: self.board.clone(),
            kernel: self.kernel.clone(),
            ..Machine::default()
        }
    }

    /// When it began, RFC 3339; empty if unknown.
    pub(super) fn began(&self) -> String {
        let stamp = jiff::fmt::rfc2822::parse(&self.date).map(|date| date.timestamp());
        stamp.map(|stamp| stamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
    }

    /// Problems with the figures that the log itself reports.
    pub(super) fn warnings(&self) -> Vec<String> {
        let cut = |line| {
            format!(
                "Line {line} exceeds the limit of {MOST} lines of its kind: it and \
            further ones are left out."
            )
        };
        let findings = self.findings.iter().map(|words| format!("sbc-bench says: {words}."));
        let mut warnings: Vec<String> = self.cut.map(cut).into_iter().chain(findings).collect();
        let bits = self.firmware.unwrap_or_default();
        for (bit, words) in [
            (0, "The supply voltage was too low at the end."),
            (1, "The firmware limited the clock at the end."),
            (2, "The firmware throttled at the end."),
            (16, "The supply voltage was too low at some time."),
            (17, "The firmware limited the clock at some time."),
            (18, "The firmware throttled at some time."),
        ] {
            if bits & 1 << bit != 0 {
                warnings.push(words.to_owned());
            }
        }
        warnings
    }
}
