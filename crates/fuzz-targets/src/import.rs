//! Logs of other tools, one target per format.

use crate::record::record;
use cpb_import::Options;
use cpb_record::{Line, Record};

/// Takes any bytes as a log of `format`. The log is rejected with a message that names a line, or gives a
/// record that can be written, read, shown and explained, with a line for every figure.
fn log(format: &str, bytes: &[u8]) {
    let known = cpb_import::format(format).expect("a format");
    let elapsed = bytes.len().is_multiple_of(2);
    let read = match cpb_import::parse(
        "log.txt",
        bytes.to_vec(),
        Some(known),
        &Options { elapsed, direction: None },
    ) {
        Ok(record) => record,
        Err(error) => return assert!(error.to_string().contains("line "), "{error}"),
    };
    for figure in read.published.iter().flat_map(|cell| &cell.figures) {
        assert!(figure.line.is_some(), "{figure:?}");
        assert!(figure.flag.is_some() || figure.number().is_some(), "{figure:?}");
    }
    record(&written(&read));
}

/// The lines of a record's file.
fn written(record: &Record) -> Vec<u8> {
    let mut lines = vec![Line::Cpb(Box::new(record.header.clone()))];
    lines.extend(record.sources.iter().cloned().map(Line::Source));
    lines.extend(record.published.iter().cloned().map(Line::Published));
    let line = |line: &Line| serde_json::to_string(line).expect("a line is data") + "\n";
    lines.iter().map(line).collect::<String>().into_bytes()
}

/// A log of sbc-bench.
pub fn sbc_bench(bytes: &[u8]) {
    log("sbc-bench", bytes);
}

/// A log of openssl.
pub fn openssl(bytes: &[u8]) {
    log("openssl", bytes);
}

/// A log of mbedtls.
pub fn mbedtls(bytes: &[u8]) {
    log("mbedtls", bytes);
}

/// A log of cryptsetup.
pub fn cryptsetup(bytes: &[u8]) {
    log("cryptsetup", bytes);
}

/// A log of wolfcrypt.
pub fn wolfcrypt(bytes: &[u8]) {
    log("wolfcrypt", bytes);
}

/// A log of bench-slope.
pub fn bench_slope(bytes: &[u8]) {
    log("bench-slope", bytes);
}

/// A log of bssl.
pub fn bssl(bytes: &[u8]) {
    log("bssl", bytes);
}

/// A log of google-benchmark.
pub fn google_benchmark(bytes: &[u8]) {
    log("google-benchmark", bytes);
}

/// A log of bencher.
pub fn bencher(bytes: &[u8]) {
    log("bencher", bytes);
}

/// A log of cpb-csv.
pub fn cpb_csv(bytes: &[u8]) {
    log("cpb-csv", bytes);
}
