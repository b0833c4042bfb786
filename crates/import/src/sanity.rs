//! Checks whether figures are plausible: by units, by clocks, by comparison.
//!
//! An impossible figure gets a flag and is never used in computations. An unusual one only causes a warning, because
//! the log is right more often than a rule.

use super::draft::Draft;
use cpb_record::{ClockReading, Cores, Flag, FlagKind, Printed, Published, Quantity, When};
use std::collections::{BTreeSet, HashMap};

/// Clocks that differ by more than this share are not the same.
const ONE_CLOCK: f64 = 0.03;
/// A benchmark's loop takes some percent in addition to the counted cycles. A larger difference means another clock.
const LOOP: f64 = 0.1;
/// A rate may fall by this share from one length to a longer one, because of another cache or another path.
const FALL: f64 = 0.05;
/// Allowed noise in two rules: a longer message takes no less time, and AES with a longer key takes more rounds.
const NOISE: f64 = 0.03;
/// Faster than any machine even if all its cores use their crypto instructions, in bytes a second.
const FASTEST: f64 = 1e12;
/// No algorithm takes fewer cycles per byte than this.
const FEWEST_CYCLES: f64 = 0.01;

/// Flags impossible figures and adds warnings.
pub(super) fn check(draft: &mut Draft) {
    let mut warnings = Vec::new();
    for cell in &mut draft.cells {
        impossible(cell);
        warnings.extend(implied_clock(cell));
    }
    for source in &draft.sources {
        if let Some(cores) = &source.cores {
            warnings.extend(clocks(cores, &source.table));
        }
    }
    warnings.extend(lengths(&draft.cells));
    warnings.extend(keys(&draft.cells));
    for warning in warnings {
        draft.warn(warning);
    }
}

/// Flags impossible figures.
fn impossible(cell: &mut Published) {
    for figure in cell.figures.iter_mut().filter(|figure| figure.flag.is_none()) {
        let rate = bytes_per_second(figure);
        let cycles = figure.number().filter(|_| figure.quantity == Quantity::CyclesPerByte);
        let why = if rate.is_some_and(|rate| rate > FASTEST) {
            "faster than any machine: the unit is wrong, or nothing was computed"
        } else if cycles.is_some_and(|cycles| cycles < FEWEST_CYCLES) {
            "fewer cycles than any machine takes"
        } else {
            continue;
        };
        figure.flag = Some(Flag { kind: FlagKind::Doubtful, why: why.to_owned() });
    }
}

fn bytes_per_second(figure: &Printed) -> Option<f64> {
    let factor = match figure.quantity {
        Quantity::BytesPerSecond => 1.0,
        Quantity::KilobytesPerSecond => 1e3,
        Quantity::KibibytesPerSecond => 1024.0,
        Quantity::MegabytesPerSecond => 1e6,
        Quantity::MebibytesPerSecond => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(figure.number()? * factor)
}

/// Checks that the rate times the cycles per byte is the stated clock.
fn implied_clock(cell: &Published) -> Option<String> {
    let stated = cell.core_hz? as f64;
    let rate = cell.figures.iter().find_map(bytes_per_second)?;
    let implied = rate * cell.number(Quantity::CyclesPerByte)?;
    let off = (implied / stated - 1.0).abs() > LOOP;
    off.then(|| {
        format!(
            "{}: rate and cycles imply a clock of {:.0} MHz, but {:.0} MHz are stated: the unit or the \
             clock is wrong.",
            cell.row,
            implied / 1e6,
            stated / 1e6
        )
    })
}

/// Compares the clocks that were stated, measured before, and measured after.
fn clocks(cores: &Cores, table: &str) -> Vec<String> {
    let apart = |one: u64, other: u64| (one as f64 / other as f64 - 1.0).abs() > ONE_CLOCK;
    let of = |when| cores.fastest(when).and_then(ClockReading::measured);
    let mhz = |khz: u64| khz / 1000;
    let (before, after) = (of(When::Before), of(When::After));
    let mut warnings = Vec::new();
    if let Some((before, after)) = before.zip(after).filter(|(one, other)| apart(*one, *other)) {
        warnings.push(format!(
            "{table}: the core ran at {} MHz before the figures and at {} MHz after them, so the clock \
             of the figures is unknown.",
            mhz(before),
            mhz(after)
        ));
    } else if let Some((stated, measured)) =
        cores.stated_khz.zip(before.or(after)).filter(|(one, other)| apart(*one, *other))
    {
        warnings.push(format!(
            "{table}: the system claims {} MHz, but {} MHz were measured.",
            mhz(stated),
            mhz(measured)
        ));
    }
    warnings
}

/// Compares the cells of one row by length: a longer message takes longer, and its rate does not fall far.
fn lengths(cells: &[Published]) -> Vec<String> {
    let mut warnings = Vec::new();
    for pair in cells.windows(2) {
        let [one, other] = pair else { continue };
        let same = one.row == other.row && one.table == other.table;
        let (Some(short), Some(long)) = (one.bytes, other.bytes) else { continue };
        let (Some(before), Some(after)) = (one.nanoseconds(), other.nanoseconds()) else {
            continue;
        };
        if !same || short >= long {
            continue;
        }
        let rate = |bytes: u32, time: f64| f64::from(bytes) / time;
        let fell = rate(long, after) < rate(short, before) * (1.0 - FALL);
        if after < before * (1.0 - NOISE) {
            warnings.push(format!(
                "{} ({}): {long} bytes took less time than {short}: one of the two is disturbed.",
                one.algorithm, one.table
            ));
        } else if fell {
            warnings.push(format!(
                "{} ({}): the rate falls from {short} to {long} bytes: another internal path, or a disturbance.",
                one.algorithm, one.table
            ));
        }
    }
    warnings
}

/// Checks that AES-128 is at least as fast as AES-192, and AES-192 as AES-256, in one mode on one core.
fn keys(cells: &[Published]) -> Vec<String> {
    let at = |cell: &Published, algorithm: String| {
        (algorithm, cell.table.clone(), cell.column.clone(), cell.operation.clone(), cell.bytes)
    };
    let aes = || cells.iter().filter(|cell| cell.algorithm.starts_with("aes-"));
    let mut times = HashMap::new();
    for cell in aes() {
        if let Some(time) = cell.nanoseconds() {
            times.entry(at(cell, cell.algorithm.clone())).or_insert(time);
        }
    }
    let mut warnings = BTreeSet::new();
    for cell in aes() {
        for (shorter, longer) in [("aes-128-", "aes-192-"), ("aes-192-", "aes-256-")] {
            let Some(mode) = cell.algorithm.strip_prefix(shorter) else { continue };
            let twin = times.get(&at(cell, format!("{longer}{mode}")));
            let both = twin.and_then(|twin| cell.nanoseconds().map(|time| (time, *twin)));
            if both.is_some_and(|(time, twin)| time > twin * (1.0 + NOISE)) {
                warnings.insert(format!(
                    "{shorter}{mode} ({}) is slower than {longer}{mode}: they were not run under the same conditions.",
                    cell.table
                ));
            }
        }
    }
    warnings.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::draft::{Done, Table, printed};
    use super::*;

    /// Algorithm, length, figures.
    type Cell<'a> = (&'a str, u32, &'a [(Quantity, &'a str)]);

    fn draft(cells: &[Cell<'_>], core_hz: Option<u64>) -> Draft {
        let table = Table { name: "t".into(), core_hz, ..Table::default() };
        let mut draft = Draft::default();
        for (algorithm, bytes, figures) in cells {
            let figures =
                figures.iter().map(|(quantity, text)| printed(*quantity, text, 1)).collect();
            let done =
                Done { algorithm: (*algorithm).into(), bytes: Some(*bytes), ..Done::default() };
            draft.push(table.cell(algorithm, "", done, figures)).expect("room");
        }
        check(&mut draft);
        draft
    }

    #[test]
    fn a_clock_that_rate_and_cycles_do_not_give_is_named() {
        let figures =
            |rate| [(Quantity::KibibytesPerSecond, rate), (Quantity::CyclesPerByte, "10")];
        let right = draft(&[("sha-256", 1024, &figures("9600"))], Some(98_000_000));
        assert!(right.warnings.is_empty(), "{:?}", right.warnings);
        let wrong = draft(&[("sha-256", 1024, &figures("9600"))], Some(600_000_000));
        assert!(
            wrong.warnings[0].contains("98 MHz, but 600 MHz are stated"),
            "{:?}",
            wrong.warnings
        );
    }

    #[test]
    fn what_no_machine_does_is_flagged_and_what_is_odd_is_said() {
        let rate = |text| [(Quantity::MebibytesPerSecond, text)];
        let absurd = draft(&[("sha-256", 1024, &rate("9600000000"))], None);
        assert!(absurd.cells[0].figures[0].flag.is_some());
        let falls =
            draft(&[("sha-256", 1024, &rate("900")), ("sha-256", 8192, &rate("700"))], None);
        assert!(falls.warnings[0].contains("the rate falls"), "{:?}", falls.warnings);
        let less = draft(&[("sha-256", 1024, &rate("9")), ("sha-256", 8192, &rate("700"))], None);
        assert!(less.warnings[0].contains("less time"), "{:?}", less.warnings);
        let keys =
            draft(&[("aes-128-cbc", 64, &rate("9")), ("aes-192-cbc", 64, &rate("10"))], None);
        assert!(keys.warnings[0].contains("slower than aes-192-cbc"), "{:?}", keys.warnings);
        let fine =
            draft(&[("aes-128-cbc", 64, &rate("10")), ("aes-192-cbc", 64, &rate("9"))], None);
        assert!(fine.warnings.is_empty());
    }
}
