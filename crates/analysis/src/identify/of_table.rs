//! What a published table or another tool's log shows of each core. Its figures are text.

use super::of_record::{clock, place, told};
use super::{Observed, Rates};
use crate::units::{BytesPerSecond, Hertz};
use cpb_record::{ClockReading, Cores, Published, Record, Source, When};

/// The operation and phase to which the constants apply: a stream, with nothing else running. If a log does not state
/// the direction, it is taken to be encryption. If it was decryption, it is faster than any core encrypts.
const OPERATION: &str = "encrypt";
const PHASE: &str = "update";

/// The cores of a table: those that a log names, or those that its rows name.
pub(super) fn observed(record: &Record, source: &Source) -> Vec<Observed> {
    let cells = record.published.iter().filter(|cell| cell.table == source.table);
    let cells: Vec<&Published> = cells.filter(|cell| key(cell).is_some()).collect();
    let tool = tool(source);
    let mut found = match source.cores.as_deref() {
        Some(cores) if !cells.is_empty() => {
            vec![Observed { tool, ..of_cores(record, source, cores, &cells) }]
        }
        Some(_) => Vec::new(),
        None => {
            let rows = cells.chunk_by(|a, b| who(a) == who(b));
            rows.map(|cells| Observed { tool: tool.clone(), ..of_rows(record, cells) }).collect()
        }
    };
    for core in found.iter_mut().filter(|core| core.architecture.is_empty()) {
        let mut words = source.paths.values().map(|path| path.options.as_str());
        if words.any(names_x86) || names_x86(&core.reported) {
            X86.clone_into(&mut core.architecture);
        }
    }
    found
}

/// The architecture of a log that does not name it, but has other words that only x86 has.
const X86: &str = "x86";

/// Whether a build's options or a processor's name are of an x86. OpenSSL prints `CPUINFO: OPENSSL_ia32cap=...`, and
/// options such as `-DOPENSSL_IA32_SSE2`.
fn names_x86(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    let mut parts = words.split(|c: char| !c.is_ascii_alphanumeric());
    words.contains("openssl_ia32")
        || parts.any(|part| ["x86", "intel", "epyc", "ryzen"].contains(&part))
}

/// One of the cores that a log names.
fn of_cores(record: &Record, source: &Source, cores: &Cores, cells: &[&Published]) -> Observed {
    let machine = told(&record.header.machine, &[]);
    let name = [cores.name.trim(), cores.revision.trim()].join(" ");
    // What the system reports for the whole machine does not apply to one of several clusters.
    let alone = record.sources.iter().filter(|source| source.cores.is_some()).count() == 1;
    let reported = match cores.name.trim_matches([' ', '-']) {
        "" if cores.others.is_empty() && alone => record.header.machine.cpu.clone(),
        "" => String::new(),
        _ => name.trim().to_owned(),
    };
    let listed = Some(cores.features.clone()).filter(|features| !features.is_empty());
    let measured = |when| clock(cores.fastest(when).and_then(ClockReading::measured)?);
    let measured_clocks: Vec<Hertz> =
        [When::Before, When::After].into_iter().filter_map(measured).collect();
    // The clock that the system reported while OpenSSL ran is more accurate than the highest clock that it allows.
    let stated = match measured_clocks.is_empty() {
        true => cores.context.reported_khz.or(cores.stated_khz),
        false => cores.stated_khz.or(cores.context.reported_khz),
    };
    let (rates, apart) = rates(cells);
    Observed {
        place: match cores.cpus.is_empty() {
            true => source.table.clone(),
            false => place(&cores.cpus.iter().map(|cpu| *cpu as usize).collect::<Vec<usize>>()),
        },
        reported,
        features: listed.or(machine.features.clone()),
        stated_clock: stated.and_then(clock),
        measured_clocks,
        elsewhere: match cores.pinned {
            Some(false) => cores.others.clone(),
            _ => Vec::new(),
        },
        rates,
        apart,
        context: cores.context.clone(),
        ..machine
    }
}

/// What all rows of one core have in common: machine, clock and path.
fn who(cell: &Published) -> (&str, Option<u64>, &str) {
    (&cell.machine, cell.core_hz, &cell.provider)
}

/// The core of some rows of a table, which name their machine and perhaps a core and a clock.
fn of_rows(record: &Record, cells: &[&Published]) -> Observed {
    let first = cells.first();
    let machine = first.map_or("", |cell| cell.machine.as_str());
    let clock = first.and_then(|cell| cell.core_hz);
    let (rates, apart) = rates(cells);
    Observed {
        place: machine.split(", ").next().unwrap_or_default().to_owned(),
        reported: machine.rsplit_once(", ").map_or("", |(_, core)| core).to_owned(),
        measured_clocks: clock.map(|hz| Hertz(hz as f64)).into_iter().collect(),
        rates,
        apart,
        stated_clock: None,
        ..told(&record.header.machine, &[])
    }
}

/// Rates by key and size, and how far apart rows of the same key are at long messages. If there are several, the
/// highest counts, because disturbances make a run slower.
fn rates(cells: &[&Published]) -> (Rates, f64) {
    let (mut highest, mut lowest) = (Rates::default(), Rates::default());
    for cell in cells {
        let (Some(bits), Some(bytes), Some(time)) = (key(cell), cell.bytes, cell.nanoseconds())
        else {
            continue;
        };
        let rate = f64::from(bytes) * 1e9 / time;
        let of = |rates: &Rates, more: fn(f64, f64) -> f64| {
            let known = rates.at(bits, bytes).map_or(rate, |known| more(known.0, rate));
            BytesPerSecond(known)
        };
        highest.insert(bits, bytes, of(&highest, f64::max));
        lowest.insert(bits, bytes, of(&lowest, f64::min));
    }
    let apart = |bits| Some(highest.of_long(bits)? / lowest.of_long(bits)? - 1.0);
    let apart = [128, 192, 256].into_iter().filter_map(apart).fold(0.0, f64::max);
    (highest, apart)
}

/// The key length, if a cell is AES-CBC encryption of a stream.
fn key(cell: &Published) -> Option<u16> {
    let encrypts = cell.operation.as_deref().is_none_or(|operation| operation == OPERATION);
    let of_stream = encrypts && cell.phase.as_deref() == Some(PHASE);
    match cell.algorithm.as_str() {
        "aes-128-cbc" if of_stream => Some(128),
        "aes-192-cbc" if of_stream => Some(192),
        "aes-256-cbc" if of_stream => Some(256),
        _ => None,
    }
}

/// The tool that computed the figures, with its options if they name an engine.
fn tool(source: &Source) -> String {
    let Some(path) = source.paths.values().next() else { return String::new() };
    match path.options.contains("engine") {
        true => format!("{}, {}", path.version, path.options),
        false => path.version.clone(),
    }
}
