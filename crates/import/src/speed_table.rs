//! The table that `openssl speed` prints: a heading of sizes, and a row of rates for each algorithm.
//!
//! Rates above 10,000 are in thousands of bytes and end in `k`; others are in bytes (apps/speed.c, print_result).
//! Each has two decimals, so one with fewer was cut. A time of zero gives `infk`.

use super::draft::{flagged, printed};
use cpb_record::{FlagKind, Printed, Quantity};

/// The sizes of OpenSSL 1.1.0 and later.
pub(super) const SIZES: [u32; 6] = [16, 64, 256, 1024, 8192, 16384];

/// Rates above this are printed in thousands.
const PLAIN: f64 = 10_000.0;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpeedRow {
    /// The algorithm as printed.
    pub(super) name: String,
    /// The rates, column by column, as printed, each with its line.
    pub(super) rates: Vec<(String, u32)>,
    /// The text in parentheses after it.
    pub(super) label: Option<String>,
    /// The line number.
    pub(super) line: u32,
}

/// The sizes in a heading, or `None` if the line is not a heading.
pub(super) fn heading(text: &str) -> Option<Vec<u32>> {
    let mut words = text.strip_prefix("type")?.split_whitespace();
    let mut sizes = Vec::new();
    while let Some(word) = words.next() {
        sizes.push(word.parse().ok()?);
        if !words.next()?.starts_with("byte") {
            return None;
        }
    }
    (!sizes.is_empty()).then_some(sizes)
}

/// Whether a line begins like a heading but is not one.
pub(super) fn is_cut_heading(text: &str) -> bool {
    let size =
        |text: &str| text.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok());
    heading(text).is_none() && text.strip_prefix("type ").is_some_and(size)
}

/// A row, or `None` if the line is not one: a name followed only by rates.
pub(super) fn row(text: &str, line: u32) -> Option<SpeedRow> {
    let text = unlisted(text);
    let (text, label) = match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        Some((text, label)) => (text, Some(label.trim().to_owned())),
        None => (text, None),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let named = words.iter().position(|word| !rates(word).is_empty())?;
    let name = words[..named].join(" ");
    let mut all = Vec::new();
    for (place, word) in words[named..].iter().enumerate() {
        match rates(word) {
            found if !found.is_empty() => all.extend(found.into_iter().map(|rate| (rate, line))),
            // The last rate may be cut anywhere.
            _ if named + place + 1 == words.len() && number(word) => {
                all.push(((*word).to_owned(), line));
            }
            _ => return None,
        }
    }
    let sound = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.ends_with(':');
    sound.then_some(SpeedRow { name, rates: all, label, line })
}

/// Removes the marks of a Markdown list item, which sbc-bench writes in its reviews.
fn unlisted(text: &str) -> &str {
    match text.trim().strip_prefix("* `").and_then(|text| text.strip_suffix('`')) {
        Some(item) => item,
        None => text,
    }
}

/// The rates in a line that contains nothing else, because a page or a document broke a row.
pub(super) fn continued(text: &str, line: u32) -> Vec<(String, u32)> {
    let words: Vec<Vec<String>> = text.split_whitespace().map(rates).collect();
    if words.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    words.into_iter().flatten().map(|rate| (rate, line)).collect()
}

/// The rates in a word: one, several that were joined, or none.
pub(super) fn rates(word: &str) -> Vec<String> {
    let one = |text: &str| {
        let number = text.strip_suffix('k').unwrap_or(text);
        let sign = number.trim_start_matches('-');
        let decimals = sign.split_once('.');
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let rate = decimals.is_some_and(|(a, b)| digits(a) && digits(b) && b.len() == 2);
        rate || (matches!(sign, "inf" | "nan") && text.ends_with('k'))
    };
    let parts: Vec<&str> = word.split_inclusive('k').collect();
    if !parts.is_empty() && parts.iter().all(|part| one(part)) {
        parts.into_iter().map(str::to_owned).collect()
    } else {
        Vec::new()
    }
}

fn number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// A rate in bytes a second, as `-mr` prints it.
pub(super) fn bytes(rate: &str, line: u32) -> Printed {
    printed(Quantity::BytesPerSecond, rate, line)
}

/// A rate as a figure, flagged if it is not a valid number.
pub(super) fn figure(rate: &str, line: u32) -> Printed {
    let (characters, quantity) = match rate.strip_suffix('k') {
        Some(thousands) => (thousands, Quantity::KilobytesPerSecond),
        None => (rate, Quantity::BytesPerSecond),
    };
    let figure = printed(quantity, characters, line);
    let whole = rates(rate).len() == 1;
    match characters.parse::<f64>() {
        _ if !whole => flagged(figure, FlagKind::Illegible, "it was cut off"),
        Ok(number) if !number.is_finite() => {
            flagged(figure, FlagKind::Unverified, "infinite: bytes divided by zero time")
        }
        Ok(number) if number <= 0.0 => {
            flagged(figure, FlagKind::Unverified, "a rate cannot be negative or zero")
        }
        Ok(number) if quantity == Quantity::BytesPerSecond && number > PLAIN => flagged(
            figure,
            FlagKind::Illegible,
            "it was cut off: a number this large is printed in thousands",
        ),
        Ok(_) => figure,
        Err(_) => flagged(figure, FlagKind::Illegible, "it is not a number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_rows_are_told_from_other_lines() {
        let six = "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes";
        assert_eq!(heading(six), Some(SIZES.to_vec()));
        assert_eq!(heading("type           4096 bytes"), Some(vec![4096]));
        for other in ["type", "type of thing", "types 16 bytes", "type 16 bytes 64"] {
            assert_eq!(heading(other), None, "{other}");
        }
        let found = row("aes-128-cbc      28353.13k    39013.35k (Cortex-A55)", 7).expect("a row");
        assert_eq!(found.name, "aes-128-cbc");
        assert_eq!(found.rates, [("28353.13k".into(), 7), ("39013.35k".into(), 7)]);
        assert_eq!((found.label.as_deref(), found.line), (Some("Cortex-A55"), 7));
        let item =
            row("  * `aes-256-cbc  169779.88k   520421.38k (Cortex-A520)`", 1).expect("a row");
        assert_eq!(
            (item.name.as_str(), item.label.as_deref()),
            ("aes-256-cbc", Some("Cortex-A520"))
        );
        let spaced = row("aes-128 cbc  921326.93k  infk", 1).expect("a row");
        assert_eq!((spaced.name.as_str(), spaced.rates.len()), ("aes-128 cbc", 2));
        for other in [
            "1024k: 3.27 3.27",
            "22: 574 100 559",
            "C copy : 1013.8 MB/s (0.7%)",
            "Total Scores: 1.24,1.23",
            "",
            "16.00k",
        ] {
            assert_eq!(row(other, 1), None, "{other}");
        }
    }

    #[test]
    fn rates_that_are_none_are_flagged_and_those_that_grew_together_are_parted() {
        let kind = |rate: &str| figure(rate, 1).flag.map(|flag| flag.kind);
        assert_eq!(kind("28353.13k"), None);
        assert_eq!(kind("9999.99"), None);
        assert_eq!(figure("9999.99", 1).quantity, Quantity::BytesPerSecond);
        for none in ["infk", "-infk", "nank", "-12.50k", "0.00", "0.00k"] {
            assert_eq!(kind(none), Some(FlagKind::Unverified), "{none}");
        }
        for cut in ["28353.13", "28353.1", "28", ""] {
            assert_eq!(kind(cut), Some(FlagKind::Illegible), "{cut}");
        }
        let grown = row("md5 1234567.89k12345678.90kinfk", 1).expect("a row");
        let rates: Vec<&str> = grown.rates.iter().map(|(rate, _)| rate.as_str()).collect();
        assert_eq!(rates, ["1234567.89k", "12345678.90k", "infk"]);
        assert_eq!(continued("2968780.80k", 3), [("2968780.80k".into(), 3)]);
        assert!(continued("8192 2968780.80k", 3).is_empty() && continued("", 3).is_empty());
    }
}
