//! Mbed TLS's `benchmark` program, and NXP's variant of it for microcontrollers.
//!
//! A line is `AES-CBC-256 : 691984 KiB/s, 3 cycles/byte`, or `ECDSA-secp256r1 : 4044 sign/s`. Messages have 1024
//! bytes (BUFSIZE). The original counts cycles with a time-stamp counter, or with microseconds on CPUs without one, in
//! whole numbers: these are kept but not used. NXP's variant prints two decimals, writes `KB/s` for KiB/s, ends lines
//! with CR LF, and prints the core's clock as `fsys=`.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_record::{FlagKind, Printed, Quantity};

pub(super) const FORMAT: Format = Format {
    name: "mbedtls",
    tool: "Mbed TLS's benchmark",
    tells: |line| figures(line, 0).is_some(),
    read,
    strict: true,
    one_line: false,
};

/// BUFSIZE in programs/test/benchmark.c.
const MESSAGE: u32 = 1024;
/// The highest number of lines about implementations that a variant prints first.
const MOST: usize = 32;
const WHOLE: &str = "a whole number, from a counter that is not the core's clock";

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let mut table =
        Table { name: "benchmark".into(), provider: "mbedtls".into(), ..Table::default() };
    let mut draft = Draft::default();
    let (mut nxp, mut version) = (false, String::new());
    let mut preamble = Vec::new();
    for line in text.lines() {
        if let Some(clock) = line.text.strip_prefix("fsys=") {
            table.core_hz = clock.trim().parse().ok();
        } else if let Some((name, figures, operation)) = figures(&line.text, line.number) {
            nxp |= line.text.contains(" KB/s");
            draft.push(table.cell(&name, "", done(&name, operation), figures))?;
        } else if line.text.to_lowercase().starts_with("mbed tls version")
            || line.text.starts_with("mbedTLS version")
        {
            let number = line.text.rsplit(' ').next().unwrap_or_default();
            version = format!("Mbed TLS {number}");
        } else if let Some((name, _)) = line.text.split_once(" : Feature Not Supported") {
            draft.warn(format!("{}: not supported there.", name.trim()));
        } else if draft.cells.is_empty() && preamble.len() < MOST && line.text.contains(':') {
            preamble.push(line.text.into_owned());
        }
    }
    if draft.cells.is_empty() {
        bail!("line 1: found no line such as 'AES-CBC-256 : 691984 KiB/s, 3 cycles/byte'");
    }
    let tool = if nxp { "Mbed TLS's benchmark, NXP's variant" } else { "Mbed TLS's benchmark" };
    let mut notes = vec!["The same message of 1024 bytes, again and again.".to_owned()];
    if nxp {
        notes.push("KB/s is KiB/s; the engine was selected at compile time.".to_owned());
    }
    notes.extend(preamble);
    let mut source = table.source(tool, &version, "the list of algorithms".into(), &[]);
    source.notes = notes;
    draft.sources.push(source);
    Ok(draft)
}

/// The name, the figures and the operation in a line.
fn figures(text: &str, line: u32) -> Option<(String, Vec<Printed>, Option<String>)> {
    let (name, rest) = text.split_once(" :")?;
    let mut words = rest.split_whitespace();
    let (number, unit) = (words.next()?, words.next()?.trim_end_matches(','));
    number.parse::<f64>().ok()?;
    if !matches!(unit, "KiB/s" | "KB/s") {
        // `2100 ephemeral handshake/s`: the unit is the operation.
        let operation = rest.split_once(number)?.1.trim().split(',').next()?.trim();
        let operation = operation.strip_suffix("/s")?;
        let known = ["sign", "verify", "private", "public", "handshake"];
        if !known.iter().any(|known| operation.ends_with(known)) {
            return None;
        }
        let rate = printed(Quantity::OperationsPerSecond, number, line);
        return Some((name.trim().to_owned(), vec![rate], Some(operation.to_owned())));
    }
    let mut figures = vec![printed(Quantity::KibibytesPerSecond, number, line)];
    if let Some(cycles) = words.next().filter(|cycles| cycles.parse::<f64>().is_ok()) {
        let figure = printed(Quantity::CyclesPerByte, cycles, line);
        figures.push(if cycles.contains('.') {
            figure
        } else {
            flagged(figure, FlagKind::Unverified, WHOLE)
        });
    }
    Some((name.trim().to_owned(), figures, None))
}

fn done(name: &str, operation: Option<String>) -> Done {
    let algorithm = algorithms::ours(name);
    if let Some(operation) = operation {
        return Done { algorithm, operation, ..Done::default() };
    }
    let lower = name.to_lowercase();
    let (operation, phase) = if lower.contains("drbg") {
        ("random", "")
    } else if lower.contains("cmac") || lower.contains("hmac") || lower.starts_with("poly") {
        ("mac", "message")
    } else if ["md", "sha", "ripemd"].iter().any(|hash| lower.starts_with(hash)) {
        ("hash", "message")
    } else if lower.contains("gcm") || lower.contains("ccm") || lower.contains("poly1305") {
        ("encrypt", "message")
    } else {
        ("encrypt", "update")
    };
    Done { algorithm, operation: operation.to_owned(), phase, bytes: Some(MESSAGE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_variants_are_read() {
        let (name, all, _) =
            figures("AES-CBC-256 :  691984 KiB/s,  3 cycles/byte", 1).expect("a line");
        assert_eq!((name.as_str(), all.len()), ("AES-CBC-256", 2));
        assert!(all[0].flag.is_none() && all[1].flag.is_some());
        let (_, all, _) =
            figures("AES-CBC-128 :  2429.53 KB/s,   38.35 cycles/byte", 1).expect("a line");
        assert!(all.iter().all(|figure| figure.flag.is_none()));
        let (_, _, operation) =
            figures("ECDHE-secp256r1 :  21 ephemeral handshake/s", 1).expect("one");
        assert_eq!(operation.as_deref(), Some("ephemeral handshake"));
        for other in [
            "C copy : 1013.8 MB/s",
            "AES: HW accelerated",
            "ECDSA-brainpoolP512r1 :",
            "a : b c",
            "",
        ] {
            assert!(figures(other, 1).is_none(), "{other}");
        }
    }
}
