//! Numbers for people: three significant digits and a unit.

use cpb_analysis::units::{BytesPerSecond, Hertz, Nanoseconds};
use cpb_core::{Workload, memory_read};
use cpb_record::Evidence;

/// The content of a table's algorithm column; the family's name if the workload has no algorithm.
pub(crate) fn algorithm(workload: &Workload) -> String {
    match workload {
        Workload::Crypto(workload) => workload.algorithm.to_string(),
        _ => memory_read::FAMILY.to_owned(),
    }
}

/// The content of a table's operation column; for memory reads, how wide loads are, and their order.
pub(crate) fn operation(workload: &Workload) -> String {
    match workload {
        Workload::Crypto(workload) => workload.operation.to_string(),
        Workload::MemoryRead(read) => format!("{} {}", read.width, read.pattern),
        _ => String::new(),
    }
}

/// Three significant digits; whole numbers above.
pub(crate) fn short(value: f64) -> String {
    significant(value, 3)
}

/// This many significant digits, and all digits before the decimal point.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    let exponent = if value > 0.0 { value.log10().floor() as i32 } else { 0 };
    let decimals = (digits - 1 - exponent).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    // 9.999 is 10.0, not 10.00.
    let grown = text.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
    if grown as i32 > digits && decimals > 0 { format!("{value:.*}", decimals - 1) } else { text }
}

/// How often something happens per operation: two decimals.
pub(crate) fn count(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value < 0.005 => "<0.01".to_owned(),
        value if value < 9.995 => format!("{value:.2}"),
        value => short(value),
    }
}

/// A share of a whole, in percent without decimals.
pub(crate) fn share(value: f64) -> String {
    match value * 100.0 {
        0.0 => "0%".to_owned(),
        percent if percent < 0.995 => "<1%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

/// A large number in at most six characters: whole up to 9,999, then in thousands and millions.
pub(crate) fn large(value: f64) -> String {
    match value {
        value if value < 9_999.5 => format!("{value:.0}"),
        value if value < 999_500.0 => format!("{}k", short(value / 1e3)),
        value => format!("{}M", short(value / 1e6)),
    }
}

/// Half of an interval as a share, rounded up: ±0.2%. Without an interval: ±?.
pub(crate) fn margin(share: Option<f64>) -> String {
    share.map_or_else(|| "±?".to_owned(), |share| format!("±{}", percent(share)))
}

/// A share in percent, rounded up.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // Rounding errors of binary fractions must not cause another step.
    let up = |steps: f64| (percent * steps - 1e-6).ceil().max(0.0) / steps;
    if percent < 0.1 {
        format!("{:.2}%", up(100.0).max(0.01))
    } else if percent < 10.0 {
        format!("{:.1}%", up(10.0))
    } else {
        format!("{:.0}%", up(1.0))
    }
}

/// Decimal megabytes per second, bare.
pub(crate) fn megabytes(rate: BytesPerSecond) -> String {
    short(rate.0 / 1e6)
}

/// A time in the unit that gives the shortest number.
pub(crate) fn time(time: Nanoseconds) -> String {
    let (value, unit) = match time.0 {
        ns if ns >= 0.9995e9 => (ns / 1e9, "s"),
        ns if ns >= 0.9995e6 => (ns / 1e6, "ms"),
        ns if ns >= 0.9995e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    format!("{} {unit}", short(value))
}

/// A clock in the unit that gives the shortest number.
pub(crate) fn hertz(clock: Hertz) -> String {
    if clock.0 >= 0.9995e9 {
        format!("{} GHz", short(clock.0 / 1e9))
    } else {
        format!("{} MHz", short(clock.0 / 1e6))
    }
}

/// A number with spaces between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A kind of evidence in one word.
pub(crate) fn evidence_word(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Hardware => "measured",
        Evidence::Emulated => "emulated",
        Evidence::Simulated => "simulated",
        Evidence::Published => "published",
        Evidence::Imported => "imported",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        let cases = [
            (15312.4, "15312"),
            (312.4, "312"),
            (31.24, "31.2"),
            (2.0604, "2.06"),
            (0.31234, "0.312"),
            (0.000_001_234, "0.000001"),
            (9.999, "10.0"),
            (99.96, "100"),
            (0.9999, "1.00"),
            (0.0, "0.00"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn margins_are_rounded_up_and_never_nothing() {
        let cases = [
            (0.0, "0.01%"),
            (0.000_151, "0.02%"),
            (0.002, "0.2%"),
            (0.0301, "3.1%"),
            (0.12, "12%"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(margin(None), "±?");
    }

    #[test]
    fn counts_and_shares_are_short_and_nothing_is_nothing() {
        let cases = [
            (0.0, "0", "0%"),
            (0.004, "<0.01", "<1%"),
            (0.005, "0.01", "<1%"),
            (1.0, "1.00", "100%"),
            (3.277, "3.28", "328%"),
            (9.996, "10.0", "1000%"),
        ];
        for (value, as_count, as_share) in cases {
            assert_eq!((count(value), share(value)), (as_count.into(), as_share.into()), "{value}");
        }
        let cases =
            [(8101.4, "8101"), (9999.7, "10.0k"), (43_298.0, "43.3k"), (5_591_286.0, "5.59M")];
        for (value, text) in cases {
            assert_eq!(large(value), text);
        }
    }

    #[test]
    fn times_and_clocks_have_their_unit() {
        assert_eq!(time(Nanoseconds(41.23)), "41.2 ns");
        assert_eq!(time(Nanoseconds(999.9)), "1.00 µs");
        assert_eq!(time(Nanoseconds(1_500_000.0)), "1.50 ms");
        assert_eq!(hertz(Hertz(600e6)), "600 MHz");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
