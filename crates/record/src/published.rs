//! What somebody else printed: tables of documents, digitised cell by cell.
//!
//! A published table has no rounds. It keeps each figure's characters as they stand in the document,
//! and algorithms and paths as text: a table may name what cpb itself cannot measure. A cell that
//! cannot be read, or is not what it claims to be, is kept with a flag, and nothing is computed from
//! it.

use super::Cores;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table, figure or listing of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// What the record's lines call it, in one word.
    pub table: String,
    /// Title of the document.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// When, as far as the document tells: a date, a year, or nothing.
    pub date: String,
    /// Which table of it.
    pub place: String,
    /// What ran the operations, by [`Published::provider`].
    pub paths: BTreeMap<String, PublishedPath>,
    /// What to know before its figures are used, each a sentence.
    pub notes: Vec<String>,
    /// The cores that ran its operations, where a log tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Box<Cores>>,
}

/// A path, as far as its document tells; empty: not told.
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

/// One cell of a published table: what was measured, and what was printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The [`Source::table`] that it stands in.
    pub table: String,
    /// The row's heading.
    pub row: String,
    /// The column's heading; empty where each column is a quantity of its own.
    pub column: String,
    /// The machine.
    pub machine: String,
    /// Clock of its core in hertz, where the document tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_hz: Option<u64>,
    /// The path that ran it: one of its source's.
    pub provider: String,
    /// The algorithm, in cpb's spelling where it has one.
    pub algorithm: String,
    /// What was done with it, and under which conditions; none: not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Which part was timed, in cpb's words; none: not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Message length in bytes; none where there is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// What was printed.
    pub figures: Vec<Printed>,
}

/// One printed figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// What it counts, and its unit.
    pub quantity: Quantity,
    /// Its characters as printed, without the unit.
    pub printed: String,
    /// What is wrong with it, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
    /// The line of the file that it was read from; none of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What a printed figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Operations done in the nominal time.
    Operations,
    /// How long the measurement was to take on the clock, in seconds.
    NominalSeconds,
    /// What the tool said it took, in seconds.
    StatedSeconds,
    /// Thousands of bytes a second.
    KilobytesPerSecond,
    /// 1024 bytes a second.
    KibibytesPerSecond,
    /// Millions of bytes a second.
    MegabytesPerSecond,
    /// Core cycles for each byte.
    CyclesPerByte,
    /// Core clock.
    Megahertz,
    /// Thousands of bytes a second for each megahertz of the core.
    KilobytesPerSecondAndMegahertz,
    /// Bytes a second.
    BytesPerSecond,
    /// 1024 · 1024 bytes a second.
    MebibytesPerSecond,
    /// Nanoseconds for each byte.
    NanosecondsPerByte,
    /// Nanoseconds for one operation.
    NanosecondsPerOperation,
    /// Operations a second.
    OperationsPerSecond,
    /// Core cycles for one operation.
    CyclesPerOperation,
    /// What the tool said it took, in microseconds.
    StatedMicroseconds,
}

impl Quantity {
    /// All of them.
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
    /// What sort of thing.
    pub kind: FlagKind,
    /// It, in words.
    pub why: String,
}

/// Sorts of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagKind {
    /// Some of its characters cannot be read.
    Illegible,
    /// It can be read, but the reading may be wrong.
    Doubtful,
    /// It is legible and no figure: it is not what its heading says, or repeats another.
    Unused,
    /// The document has no figure there.
    Blank,
    /// It can be read, but no clock stands behind it, or nobody knows which: infinite, of no time at
    /// all, of the CPU's time instead of the clock's.
    Unverified,
}

impl FlagKind {
    /// All of them.
    pub const ALL: [FlagKind; 5] = [
        FlagKind::Illegible,
        FlagKind::Doubtful,
        FlagKind::Unused,
        FlagKind::Blank,
        FlagKind::Unverified,
    ];

    /// Its word.
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
    /// The number, if it has no flag and is one.
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

    /// How long one operation took on the clock, in nanoseconds. A count of operations is preferred,
    /// being raw; then cycles at the stated clock, which a benchmark's loop takes no part in; then a
    /// time; then a rate. None that no machine could take: below a picosecond, or above two weeks.
    pub fn nanoseconds(&self) -> Option<f64> {
        let bytes = f64::from(self.bytes?);
        let counted = || {
            let fine = self.number(Quantity::StatedMicroseconds).map(|time| time / 1e6);
            let stated = fine.or_else(|| self.number(Quantity::StatedSeconds));
            let seconds = stated.or_else(|| self.number(Quantity::NominalSeconds))?;
            Some(seconds * 1e9 / self.number(Quantity::Operations)?)
        };
        let cycles = || {
            let cycles = self.number(Quantity::CyclesPerByte)? * bytes;
            Some(cycles * 1e9 / self.core_hz? as f64)
        };
        let timed = || {
            let each = || Some(self.number(Quantity::NanosecondsPerByte)? * bytes);
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
            Some(bytes * 1e9 / rates.into_iter().find_map(rate)?)
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
    fn nothing_follows_from_a_figure_with_a_flag_or_from_none() {
        let mut flagged = cell(&[(Quantity::MegabytesPerSecond, "0.5")]);
        flagged.figures[0].flag = Some(Flag { kind: FlagKind::Doubtful, why: "cut".into() });
        assert_eq!(flagged.nanoseconds(), None);
        for text in ["1e-300", "1e300", "inf", "NaN", "227:", "", "-", "0.00", "-1"] {
            assert_eq!(cell(&[(Quantity::MegabytesPerSecond, text)]).nanoseconds(), None, "{text}");
        }
    }
}
