//! Figures that others published: tables of documents, digitised cell by cell.
//!
//! A published table has no rounds. It keeps each figure's characters as printed, and stores algorithms and paths as
//! text, because a table may name algorithms that cpb cannot measure. A cell that cannot be read, or is not what it
//! claims to be, is kept with a flag and excluded from all computations.

use super::Cores;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table, figure or listing of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// A one-word name for it, used by the record's lines.
    pub table: String,
    /// Title of the document.
    pub title: String,
    /// Its publisher.
    pub publisher: String,
    /// When it was published, as precisely as the document says: a date, a year, or nothing.
    pub date: String,
    /// Which table of the document.
    pub place: String,
    /// What ran the operations, keyed by [`Published::provider`].
    pub paths: BTreeMap<String, PublishedPath>,
    /// What to know before using its figures; each note is a sentence.
    pub notes: Vec<String>,
    /// The cores that ran its operations, if a log names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Box<Cores>>,
}

/// A path, as far as its document describes it. An empty field is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublishedPath {
    /// Library and version.
    pub version: String,
    /// What ran the operation.
    pub executor: String,
    /// Compiler, flags, settings.
    pub options: String,
}

/// One cell of a published table: the conditions and the printed figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The [`Source::table`] that it is in.
    pub table: String,
    /// The row's heading.
    pub row: String,
    /// The column's heading; empty if each column is a quantity instead.
    pub column: String,
    /// The machine.
    pub machine: String,
    /// Clock of the machine's core in hertz, if the document states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_hz: Option<u64>,
    /// The path that ran it: a key of [`Source::paths`].
    pub provider: String,
    /// The algorithm, in cpb's spelling if cpb has it.
    pub algorithm: String,
    /// The operation and its conditions; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The phase that was timed, in cpb's words; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Message length in bytes; `None` if there is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// The printed figures.
    pub figures: Vec<Printed>,
}

/// One printed figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// What it counts, and its unit.
    pub quantity: Quantity,
    /// Its characters as printed, without the unit.
    pub printed: String,
    /// What is wrong with it, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
    /// The line of the file that it was read from; `None` for a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What a printed figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Operations completed in the nominal time.
    Operations,
    /// How long the measurement was meant to take, in seconds.
    NominalSeconds,
    /// How long it took according to the tool, in seconds.
    StatedSeconds,
    /// Thousands of bytes a second.
    KilobytesPerSecond,
    /// 1024 bytes a second.
    KibibytesPerSecond,
    /// Millions of bytes a second.
    MegabytesPerSecond,
    /// Core cycles per byte.
    CyclesPerByte,
    /// Core clock.
    Megahertz,
    /// Thousands of bytes a second per megahertz of the core's clock.
    KilobytesPerSecondAndMegahertz,
    /// Bytes a second.
    BytesPerSecond,
    /// 1024 · 1024 bytes a second.
    MebibytesPerSecond,
    /// Nanoseconds per byte.
    NanosecondsPerByte,
    /// Nanoseconds per operation.
    NanosecondsPerOperation,
    /// Operations a second.
    OperationsPerSecond,
    /// Core cycles per operation.
    CyclesPerOperation,
    /// How long the measurement took according to the tool, in microseconds.
    StatedMicroseconds,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Quantity; 16] = [
        Quantity::Operations,
        Quantity::NominalSeconds,
        Quantity::StatedSeconds,
        Quantity::KilobytesPerSecond,
        Quantity::KibibytesPerSecond,
        Quantity::MegabytesPerSecond,
        Quantity::CyclesPerByte,
        Quantity::Megahertz,
        Quantity::KilobytesPerSecondAndMegahertz,
        Quantity::BytesPerSecond,
        Quantity::MebibytesPerSecond,
        Quantity::NanosecondsPerByte,
        Quantity::NanosecondsPerOperation,
        Quantity::OperationsPerSecond,
        Quantity::CyclesPerOperation,
        Quantity::StatedMicroseconds,
    ];

    /// A short heading with the unit.
    pub fn heading(self) -> &'static str {
        match self {
            Quantity::Operations => "operations",
            Quantity::NominalSeconds => "for s",
            Quantity::StatedSeconds => "in s",
            Quantity::KilobytesPerSecond => "kB/s",
            Quantity::KibibytesPerSecond => "KiB/s",
            Quantity::MegabytesPerSecond => "MB/s",
            Quantity::CyclesPerByte => "cycles/byte",
            Quantity::Megahertz => "MHz",
            Quantity::KilobytesPerSecondAndMegahertz => "kB/s/MHz",
            Quantity::BytesPerSecond => "B/s",
            Quantity::MebibytesPerSecond => "MiB/s",
            Quantity::NanosecondsPerByte => "ns/byte",
            Quantity::NanosecondsPerOperation => "ns/operation",
            Quantity::OperationsPerSecond => "operations/s",
            Quantity::CyclesPerOperation => "cycles/operation",
            Quantity::StatedMicroseconds => "in µs",
        }
    }
}

/// What is wrong with a printed figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// The kind of problem.
    pub kind: FlagKind,
    /// The problem, in words.
    pub why: String,
}

/// Kinds of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagKind {
    /// Some of its characters cannot be read.
    Illegible,
    /// It can be read, but the reading may be wrong.
    Doubtful,
    /// It is legible but not usable: it is not what its heading says, or it repeats another figure.
    Unused,
    /// The document has no figure there.
    Blank,
    /// It can be read, but its clock is missing or unknown: the figure is infinite, was measured over no time at all,
    /// or uses CPU time instead of wall-clock time.
    Unverified,
}

impl FlagKind {
    /// All kinds.
    pub const ALL: [FlagKind; 5] = [
        FlagKind::Illegible,
        FlagKind::Doubtful,
        FlagKind::Unused,
        FlagKind::Blank,
        FlagKind::Unverified,
    ];

    /// The flag's name.
    pub fn word(self) -> &'static str {
        match self {
            FlagKind::Illegible => "illegible",
            FlagKind::Doubtful => "doubtful",
            FlagKind::Unused => "not used",
            FlagKind::Blank => "blank",
            FlagKind::Unverified => "unverified",
        }
    }
}

impl Printed {
    /// The number, or `None` if it has a flag or is not a positive finite number.
    pub fn number(&self) -> Option<f64> {
        let number: f64 = self.printed.parse().ok()?;
        (self.flag.is_none() && number.is_finite() && number > 0.0).then_some(number)
    }
}

impl Published {
    /// The number printed for `quantity`, if it has no flag.
    pub fn number(&self, quantity: Quantity) -> Option<f64> {
        self.figures.iter().find(|printed| printed.quantity == quantity)?.number()
    }

    /// The wall-clock time of one operation, in nanoseconds.
    ///
    /// A count of operations is preferred, because it is raw data. Next come cycles at the stated clock, which do not
    /// depend on the benchmark's loop; then a time; then a rate. Without a message length, figures per byte are not
    /// used. Returns `None` if the time is implausible: below a picosecond, or above two weeks.
    pub fn nanoseconds(&self) -> Option<f64> {
        let bytes = self.bytes.map(f64::from);
        let counted = || {
            let fine = self.number(Quantity::StatedMicroseconds).map(|time| time / 1e6);
            let stated = fine.or_else(|| self.number(Quantity::StatedSeconds));
            let seconds = stated.or_else(|| self.number(Quantity::NominalSeconds))?;
            Some(seconds * 1e9 / self.number(Quantity::Operations)?)
        };
        let cycles = || {
            let cycles = self.number(Quantity::CyclesPerByte)? * bytes?;
            Some(cycles * 1e9 / self.core_hz? as f64)
        };
        let timed = || {
            let each = || Some(self.number(Quantity::NanosecondsPerByte)? * bytes?);
            let rate = || Some(1e9 / self.number(Quantity::OperationsPerSecond)?);
            self.number(Quantity::NanosecondsPerOperation).or_else(each).or_else(rate)
        };
        let rates = [
            (Quantity::BytesPerSecond, 1.0),
            (Quantity::KilobytesPerSecond, 1e3),
            (Quantity::KibibytesPerSecond, 1024.0),
            (Quantity::MegabytesPerSecond, 1e6),
            (Quantity::MebibytesPerSecond, 1024.0 * 1024.0),
        ];
        let rate = || {
            let rate = |(quantity, factor)| Some(self.number(quantity)? * factor);
            Some(bytes? * 1e9 / rates.into_iter().find_map(rate)?)
        };
        let time = counted().or_else(cycles).or_else(timed).or_else(rate)?;
        (1e-3..1e15).contains(&time).then_some(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(figures: &[(Quantity, &str)]) -> Published {
        let printed = |(quantity, printed): &(Quantity, &str)| Printed {
            quantity: *quantity,
            printed: (*printed).into(),
            flag: None,
            line: None,
        };
        Published {
            table: "t".into(),
            row: String::new(),
            column: String::new(),
            machine: String::new(),
            core_hz: Some(500_000_000),
            provider: String::new(),
            algorithm: "des-cbc".into(),
            operation: None,
            phase: None,
            bytes: Some(1000),
            figures: figures.iter().map(printed).collect(),
        }
    }

    #[test]
    fn the_time_of_an_operation_follows_from_whatever_was_printed() {
        let cases: [&[(Quantity, &str)]; 9] = [
            &[(Quantity::Operations, "1500"), (Quantity::NominalSeconds, "3")],
            &[
                (Quantity::Operations, "1500"),
                (Quantity::NominalSeconds, "4"),
                (Quantity::StatedSeconds, "3.00"),
            ],
            &[(Quantity::NanosecondsPerOperation, "2e6")],
            &[(Quantity::NanosecondsPerByte, "2000")],
            &[(Quantity::OperationsPerSecond, "500")],
            &[(Quantity::BytesPerSecond, "500000")],
            &[(Quantity::CyclesPerByte, "1000.0"), (Quantity::KilobytesPerSecond, "1")],
            &[(Quantity::MegabytesPerSecond, "0.5")],
            &[(Quantity::KibibytesPerSecond, "488.28125")],
        ];
        for figures in cases {
            assert_eq!(cell(figures).nanoseconds(), Some(2e6), "{figures:?}");
        }
    }

    #[test]
    fn without_a_message_what_is_by_operation_still_counts() {
        let time =
            |figures: &[(Quantity, &str)]| Published { bytes: None, ..cell(figures) }.nanoseconds();
        assert_eq!(time(&[(Quantity::OperationsPerSecond, "500")]), Some(2e6));
        assert_eq!(time(&[(Quantity::MegabytesPerSecond, "0.5")]), None);
        assert_eq!(time(&[(Quantity::CyclesPerByte, "1000")]), None);
    }

    #[test]
    fn nothing_follows_from_a_figure_with_a_flag_or_from_none() {
        let mut flagged = cell(&[(Quantity::MegabytesPerSecond, "0.5")]);
        flagged.figures[0].flag = Some(Flag { kind: FlagKind::Doubtful, why: "cut".into() });
        assert_eq!(flagged.nanoseconds(), None);
        for text in ["1e-300", "1e300", "inf", "NaN", "227:", "", "-", "0.00", "-1"] {
            assert_eq!(cell(&[(Quantity::MegabytesPerSecond, text)]).nanoseconds(), None, "{text}");
        }
    }
}
