//! wolfCrypt's `benchmark`, as text and as comma-separated values (`-csv`).
//!
//! `AES-256-CBC-enc  1065 MiB took 1.003 seconds, 1062.162 MiB/s Cycles per byte = 2.07`, in English or Japanese,
//! with KiB to GiB depending on the size, or kB to GB with `-base10`. CSV values are scaled in the same way but have
//! no unit: their heading says MB/s and means MiB/s or another scale. If there are cycles, the unit follows from the
//! clock that they imply; otherwise it is unknown. On x86, cycles are those of the time-stamp counter. Time is
//! CLOCK_REALTIME, so one step of NTP distorts a row.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_record::{FlagKind, Printed, Quantity};

pub(super) const FORMAT: Format = Format {
    name: "wolfcrypt",
    tool: "wolfCrypt's benchmark",
    tells: |line| {
        line.starts_with("wolfCrypt Benchmark")
            || line.starts_with("Algorithm,MB/s,")
            || (took(line, 0).is_some() && !line.starts_with("Did "))
    },
    read,
    strict: true,
    one_line: false,
};

/// Plausible core clocks, in hertz. A rate times its cycles is one of these if the unit is right.
const CLOCKS: std::ops::Range<f64> = 8e6..8e9;
const COUNTER: &str = "from the time-stamp counter on x86, which is not the core's clock";
const NO_UNIT: &str = "the unit is not printed: MiB/s, or the one that suited this row";

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let table =
        Table { name: "benchmark".into(), provider: "wolfcrypt".into(), ..Table::default() };
    let mut draft = Draft::default();
    let (mut bytes, mut version, mut columns) = (None, String::new(), Vec::new());
    for line in text.lines() {
        let text = line.text.as_ref();
        if let Some(rest) = text.strip_prefix("wolfCrypt Benchmark (block bytes ") {
            bytes = rest.split(',').next().and_then(|bytes| bytes.parse().ok());
        } else if let Some(number) = text.strip_prefix("wolfSSL version ") {
            version = format!("wolfSSL {number}");
        } else if text.starts_with("Algorithm,") {
            columns = text.split(',').map(str::to_owned).collect();
        } else if let Some((name, figures)) = took(text, line.number) {
            draft.push(table.cell(&name, "", done(&name, bytes), figures))?;
        } else if let Some((name, figures)) = commas(text, &columns, line.number) {
            draft.push(table.cell(&name, "", done(&name, bytes), figures))?;
        }
    }
    if draft.cells.is_empty() {
        bail!("line 1: found no row such as 'SHA-256 210 MiB took 1.024 seconds, 205.133 MiB/s'");
    }
    draft.sources.push(table.source(
        FORMAT.tool,
        &version,
        "its rows".into(),
        &["Times use CLOCK_REALTIME: a step of the clock during the run spoils a row."],
    ));
    Ok(draft)
}

/// Parses a row of text: the name is before the count; the time, the rate and the cycles follow.
fn took(text: &str, line: u32) -> Option<(String, Vec<Printed>)> {
    let (head, tail) = text.split_once(", ")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let unit = words.iter().position(|word| is_unit(word))?;
    let name = words[..unit.checked_sub(1)?].join(" ");
    words[unit - 1].parse::<f64>().ok()?;
    if words[unit] == "ops" {
        let rate = tail.split(", ").find_map(|part| part.trim().strip_suffix(" ops/sec"))?;
        return Some((name, vec![printed(Quantity::OperationsPerSecond, rate.trim(), line)]));
    }
    let seconds = words[unit + 1..].iter().find(|word| word.parse::<f64>().is_ok())?;
    let mut rest = tail.split_whitespace();
    let (rate, per) = (rest.next()?, rest.next()?);
    let mut figures = vec![printed(Quantity::StatedSeconds, seconds, line)];
    figures.push(match quantity(per) {
        Some(quantity) => printed(quantity, rate, line),
        // There is no quantity for gigabytes.
        None => scaled(rate, per, line)?,
    });
    if let Some(cycles) = tail.rsplit_once('=').map(|(_, cycles)| cycles.trim()) {
        let cycles = cycles.split_whitespace().next().unwrap_or_default();
        figures.push(flagged(
            printed(Quantity::CyclesPerByte, cycles, line),
            FlagKind::Unverified,
            COUNTER,
        ));
    }
    Some((name, figures))
}

fn is_unit(word: &str) -> bool {
    matches!(word, "bytes" | "KiB" | "MiB" | "GiB" | "kB" | "KB" | "MB" | "GB" | "ops")
}

fn quantity(per_second: &str) -> Option<Quantity> {
    Some(match per_second.trim_end_matches(',') {
        "bytes/s" | "B/s" => Quantity::BytesPerSecond,
        "KiB/s" => Quantity::KibibytesPerSecond,
        "MiB/s" => Quantity::MebibytesPerSecond,
        "kB/s" | "KB/s" => Quantity::KilobytesPerSecond,
        "MB/s" => Quantity::MegabytesPerSecond,
        _ => return None,
    })
}

/// Converts GiB/s to MiB/s and GB/s to MB/s.
fn scaled(rate: &str, per_second: &str, line: u32) -> Option<Printed> {
    let rate: f64 = rate.parse().ok()?;
    let (quantity, factor) = match per_second.trim_end_matches(',') {
        "GiB/s" => (Quantity::MebibytesPerSecond, 1024.0),
        "GB/s" => (Quantity::MegabytesPerSecond, 1000.0),
        _ => return None,
    };
    Some(printed(quantity, &format!("{}", rate * factor), line))
}

/// Parses a row of CSV, using the heading above it.
fn commas(text: &str, columns: &[String], line: u32) -> Option<(String, Vec<Printed>)> {
    let fields: Vec<&str> = text.trim_end_matches(',').split(',').collect();
    let of = |name: &str| {
        let place = columns.iter().position(|column| column.trim() == name)?;
        fields.get(place).copied().filter(|field| field.parse::<f64>().is_ok())
    };
    let name = fields.first().filter(|name| !name.is_empty())?;
    if let Some(rate) = of("ops/sec") {
        let names: Vec<&str> =
            fields.iter().copied().take_while(|field| !field.contains('.')).collect();
        return Some((names.join(" "), vec![printed(Quantity::OperationsPerSecond, rate, line)]));
    }
    let rate = of("MB/s")?;
    let cycles = of("Cycles per byte");
    let implied =
        cycles.and_then(|cycles| cycles.parse::<f64>().ok()).zip(rate.parse::<f64>().ok());
    let fits =
        |unit: f64| implied.is_some_and(|(cycles, rate)| CLOCKS.contains(&(rate * unit * cycles)));
    let units =
        [(Quantity::MebibytesPerSecond, 1024.0 * 1024.0), (Quantity::KibibytesPerSecond, 1024.0)];
    let unit = units.into_iter().find(|(_, unit)| fits(*unit));
    let mut figures = vec![match unit {
        Some((quantity, _)) => printed(quantity, rate, line),
        None => flagged(
            printed(Quantity::MebibytesPerSecond, rate, line),
            FlagKind::Unverified,
            NO_UNIT,
        ),
    }];
    if let Some(cycles) = cycles {
        figures.push(flagged(
            printed(Quantity::CyclesPerByte, cycles, line),
            FlagKind::Unverified,
            COUNTER,
        ));
    }
    Some(((*name).to_owned(), figures))
}

/// `AES-256-CBC-enc`, `SHA-256 SW`, `CHA-POLY`, `ECDSA [ SECP256R1] 256 sign`.
fn done(name: &str, bytes: Option<u32>) -> Done {
    let words: Vec<&str> =
        name.split_whitespace().filter(|word| !matches!(*word, "SW" | "HW")).collect();
    let name = words.join(" ");
    let (base, operation) = match name.rsplit_once('-') {
        Some((base, "enc")) => (base, "encrypt"),
        Some((base, "dec")) => (base, "decrypt"),
        _ => (name.as_str(), ""),
    };
    if words.len() > 1 {
        let operation = words.last().copied().unwrap_or_default().to_owned();
        let algorithm = algorithms::ours(&words[..words.len() - 1].join(" "));
        return Done { algorithm, operation, ..Done::default() };
    }
    let algorithm = algorithms::ours(base);
    let (operation, phase) = match operation {
        "" if algorithm.starts_with("hmac") => ("mac", ""),
        "" if algorithm.starts_with("sha") => ("hash", ""),
        "" if algorithm.contains("poly1305") => ("encrypt", "message"),
        known if algorithm.ends_with("gcm") || algorithm.ends_with("ccm") => (known, "message"),
        known if algorithm.ends_with("cbc") || algorithm.ends_with("ctr") => (known, "update"),
        known => (known, ""),
    };
    Done { algorithm, operation: operation.to_owned(), phase, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_both_languages_and_all_units_are_read() {
        for (text, quantity) in [
            (
                "SHA-256  210 MiB took 1.024 seconds,  205.133 MiB/s Cycles per byte =  12.07",
                Quantity::MebibytesPerSecond,
            ),
            (
                "SHA-256  225 MiB を 1.003 秒で処理,  224.371 MiB/s 1バイトあたりのサイクル数 =  11.03",
                Quantity::MebibytesPerSecond,
            ),
            ("SHA-256  225 MB took 1.019 seconds,  221.257 MB/s", Quantity::MegabytesPerSecond),
            ("SHA-256 SW  25 KiB took 1.019 seconds,  24.5 KiB/s", Quantity::KibibytesPerSecond),
        ] {
            let (_, figures) = took(text, 1).expect(text);
            assert_eq!(
                (figures[1].quantity, figures[1].number().is_some()),
                (quantity, true),
                "{text}"
            );
        }
        let ecdsa = "ECDSA [      SECP256R1]   256     sign      2300 ops took 1.018 sec, avg 0.443 ms,  2259.006 ops/sec, 2341750228 cycles  1018152.3 Cycles/op";
        let (name, figures) = took(ecdsa, 1).expect("a row");
        assert_eq!(figures[0].printed, "2259.006");
        assert_eq!(done(&name, None).operation, "sign");
        let (_, figures) = took("AES 2 GiB took 1.0 seconds, 2.000 GiB/s", 1).expect("a row");
        assert_eq!(figures[1].number(), Some(2048.0));
        assert!(took("Did 5 things, and more", 1).is_none());
    }

    #[test]
    fn the_unit_of_comma_separated_values_is_what_the_clock_allows() {
        let columns: Vec<String> =
            ["Algorithm", "MB/s", "Cycles per byte", ""].map(str::to_owned).to_vec();
        let unit = |text| commas(text, &columns, 1).expect(text).1[0].clone();
        assert_eq!(
            unit("AES-128-CBC-enc,219.408573,11.284145,").quantity,
            Quantity::MebibytesPerSecond
        );
        // 168 MHz.
        assert_eq!(unit("AES-128-CBC-enc,912.5,180.0,").quantity, Quantity::KibibytesPerSecond);
        assert!(unit("AES-128-CBC-enc,219.408573,").flag.is_some());
    }
}
