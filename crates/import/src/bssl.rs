//! `bssl speed` of BoringSSL and AWS-LC: lines such as `Did 4453000 AES-128-GCM (16 bytes) seal operations in
//! 1000029us (4452870.9 ops/sec): 71.2 MB/s`, or `-json`.
//!
//! Figures are computed from the count and the microseconds; the other printed numbers follow from them. AWS-LC
//! writes `EVP-AES-128-GCM Encrypt (16 bytes)`. The name of the time differs between help (`timeInMicroseconds`) and
//! output (`microseconds`). An AEAD operation processes a whole message with its tag.

use super::draft::{Done, Draft, Table, printed};
use super::json::{self, Bounded, Lines};
use super::text::{Text, printable};
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_record::Quantity;
use serde::Deserialize;
use serde_json::Number;

pub(super) const FORMAT: Format = Format {
    name: "bssl",
    tool: "bssl speed",
    tells: |line| line.contains("\"numCalls\"") || did(line, 0).is_some(),
    read,
    strict: true,
    one_line: true,
};

/// One measurement.
struct Did {
    what: String,
    bytes: Option<u32>,
    count: String,
    microseconds: String,
    line: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    description: String,
    num_calls: Number,
    #[serde(alias = "timeInMicroseconds")]
    microseconds: Number,
    #[serde(default)]
    bytes_per_call: Option<u32>,
}

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let table = Table { name: "speed".into(), provider: "bssl".into(), ..Table::default() };
    let mut draft = Draft::default();
    let all: Vec<Did> = if text.whole().trim_start().starts_with('[') {
        let entries: Bounded<Entry> = json::read(text)?;
        let mut lines = Lines::new(text);
        let of = |entry: Entry| Did {
            line: lines.of(&entry.description),
            what: printable(&entry.description),
            bytes: entry.bytes_per_call.filter(|bytes| *bytes > 0),
            count: entry.num_calls.to_string(),
            microseconds: entry.microseconds.to_string(),
        };
        entries.0.into_iter().map(of).collect()
    } else {
        text.check_lines()?;
        text.lines().filter_map(|line| did(&line.text, line.number)).collect()
    };
    if all.is_empty() {
        bail!("line 1: found no measurement: no line 'Did ...', no entry with numCalls");
    }
    for Did { what, bytes, count, microseconds, line } in all {
        let (name, done) = done(&what, bytes);
        let figures = vec![
            printed(Quantity::Operations, &count, line),
            printed(Quantity::StatedMicroseconds, &microseconds, line),
        ];
        let column = done.bytes.map(|bytes| format!("{bytes} bytes")).unwrap_or_default();
        draft.push(table.cell(&name, &column, done, figures))?;
    }
    draft.sources.push(table.source(FORMAT.tool, "", "its measurements".into(), &[]));
    Ok(draft)
}

/// Parses a line of text.
fn did(text: &str, line: u32) -> Option<Did> {
    let (count, rest) = text.strip_prefix("Did ")?.split_once(' ')?;
    let (what, rest) = rest.split_once(" operations in ")?;
    let microseconds = rest.split_once("us ")?.0;
    let number = |text: &str| text.parse::<f64>().is_ok();
    (number(count) && number(microseconds)).then(|| Did {
        what: what.to_owned(),
        bytes: bytes(what),
        count: count.to_owned(),
        microseconds: microseconds.to_owned(),
        line,
    })
}

/// The size in `… (16 bytes) …`.
fn bytes(what: &str) -> Option<u32> {
    let (_, rest) = what.split_once('(')?;
    rest.split_once(" bytes").or(rest.split_once(" byte"))?.0.parse().ok()
}

/// What is measured, without the size, and its name in cpb.
fn done(what: &str, bytes: Option<u32>) -> (String, Done) {
    let (before, after) = match what.split_once('(').zip(what.split_once(')')) {
        Some(((before, _), (_, after))) => (before.trim(), after.trim()),
        None => (what.trim(), ""),
    };
    let name = [before, after].join(" ").trim().to_owned();
    let words: Vec<&str> = name.split_whitespace().collect();
    let last = words.last().map(|word| word.to_lowercase()).unwrap_or_default();
    let (operation, known) = match last.as_str() {
        "seal" | "encrypt" => ("encrypt".to_owned(), true),
        "open" | "decrypt" => ("decrypt".to_owned(), true),
        "sign" | "signing" => ("sign".to_owned(), true),
        "verify" | "hash" => (last.clone(), true),
        _ => (String::new(), false),
    };
    let kept = if known { &words[..words.len() - 1] } else { &words[..] };
    let algorithm = algorithms::ours(&kept.join(" "));
    let operation = match operation.as_str() {
        "" if algorithm.starts_with("sha") => "hash".to_owned(),
        "" if algorithm.starts_with("hmac") => "mac".to_owned(),
        _ => operation,
    };
    let aead = algorithm.ends_with("gcm") || algorithm.ends_with("poly1305");
    let hash = operation == "hash";
    let phase = if bytes.is_some() && (aead || hash) { "message" } else { "" };
    (name, Done { algorithm, operation, phase, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_words_are_understood() {
        for (text, algorithm, operation, size) in [
            (
                "Did 4453000 EVP-AES-128-GCM Encrypt (16 bytes) operations in 1000029us (4452870.9 ops/sec): 71.2 MB/s",
                "aes-128-gcm",
                "encrypt",
                Some(16),
            ),
            (
                "Did 9 AES-256-GCM (1350 bytes) seal operations in 1000us (9.0 ops/sec): 1.0 MB/s",
                "aes-256-gcm",
                "encrypt",
                Some(1350),
            ),
            (
                "Did 9 SHA-256 (256 bytes) operations in 1000us (9.0 ops/sec): 1.0 MB/s",
                "sha-256",
                "hash",
                Some(256),
            ),
            ("Did 9 RSA 2048 signing operations in 1000us (9.0 ops/sec)", "rsa-2048", "sign", None),
        ] {
            let did = did(text, 1).expect(text);
            let (_, done) = done(&did.what, did.bytes);
            assert_eq!(
                (done.algorithm.as_str(), done.operation.as_str(), done.bytes),
                (algorithm, operation, size)
            );
        }
        assert!(did("Did not finish", 1).is_none());
    }
}
