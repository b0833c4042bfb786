//! What a record of cpb's own knows of the core that it measured. Tables and logs: [`super::of_table`].

use super::{Observed, of_table};
use crate::analysis::summary::{Figures, Summary, summarise};
use crate::machine::{self, Machine};
use crate::record::{Evidence, ProviderRecord, Record};
use cpb_core::{Algorithm, CryptoWorkload, Operation, Phase};

/// Providers whose ratio says what the extension gains, and whose rates the constants are of.
const WITH: &str = "openssl";
const WITHOUT: &str = "openssl:nocrypto";

/// AES-CBC by the length of its key.
const KEYS: [(u16, Algorithm); 3] =
    [(128, Algorithm::Aes128Cbc), (192, Algorithm::Aes192Cbc), (256, Algorithm::Aes256Cbc)];

/// The cores of a record whose AES-CBC was measured, each with what is known of it.
pub fn observed(record: &Record) -> Vec<Observed> {
    if record.published.is_empty() && record.sources.is_empty() {
        return vec![measured(record)];
    }
    record.sources.iter().flat_map(|source| of_table::observed(record, source)).collect()
}

/// What a machine tells of a core before anything is measured.
pub fn told(machine: &Machine, cpus: &[usize]) -> Observed {
    let architecture = [&machine.kernel_architecture, &machine.architecture];
    let architecture = architecture.into_iter().find(|word| !word.is_empty());
    Observed {
        place: place(cpus),
        reported: machine.cpu.clone(),
        architecture: architecture.cloned().unwrap_or_default(),
        // A system that lists none tells nothing.
        features: Some(machine.features.clone()).filter(|features| !features.is_empty()),
        stated_hz: hz(machine.state.frequency_limits_khz.1),
        emulated: machine::emulated(machine),
        ..Observed::default()
    }
}

/// Numbers of CPUs as they are written: `cpu0-cpu3, cpu8`; empty of none.
pub(super) fn place(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut().filter(|(_, last)| last + 1 == *cpu) {
            Some((_, last)) => *last = *cpu,
            None => ranges.push((*cpu, *cpu)),
        }
    }
    let words = ranges.iter().map(|(first, last)| match first == last {
        true => format!("cpu{first}"),
        false => format!("cpu{first}-cpu{last}"),
    });
    words.collect::<Vec<String>>().join(", ")
}

/// Thousands of hertz as hertz; 0 is none.
pub(super) fn hz(khz: u64) -> Option<f64> {
    (khz > 0).then_some(khz as f64 * 1e3)
}

/// A run of cpb's.
fn measured(record: &Record) -> Observed {
    let header = &record.header;
    let mut observed = told(&header.machine, header.cpus.get(..1).unwrap_or_default());
    if header.evidence == Evidence::Emulated {
        observed.emulated.get_or_insert_with(|| "nothing proves the contrary".to_owned());
        return observed;
    }
    if let Some(ProviderRecord::Available { version, .. }) = header.providers.get(WITH) {
        observed.tool = format!("OpenSSL {version}");
    }
    let summary = summarise(record);
    // All at one clock: what each takes in cycles, at the clock of the longest.
    let clock = KEYS.iter().rev().find_map(|(_, algorithm)| {
        let figures = of_largest(&summary, WITH, *algorithm)?;
        Some(figures.rate?.value.0 * figures.cycles_per_byte?.value.0)
    });
    observed.measured_hz.extend(clock);
    for (bits, algorithm) in KEYS {
        for (workload, figures) in cells(&summary, WITH, algorithm) {
            let by_cycles = clock.zip(figures.cycles_per_byte).map(|(hz, cost)| hz / cost.value.0);
            let rate = by_cycles.or(figures.rate.map(|rate| rate.value.0));
            observed.rates.insert(bits, workload.message, rate.unwrap_or_default());
        }
    }
    observed.unmasked = gain(&summary);
    observed
}

/// How many times as fast AES-256 is with the crypto instructions.
fn gain(summary: &Summary) -> Option<f64> {
    let with = of_largest(summary, WITH, Algorithm::Aes256Cbc)?;
    let without = of_largest(summary, WITHOUT, Algorithm::Aes256Cbc)?;
    match (with.cycles_per_byte, without.cycles_per_byte) {
        (Some(with), Some(without)) => Some(without.value.0 / with.value.0),
        _ => Some(with.rate?.value.0 / without.rate?.value.0),
    }
}

/// The figures of a stream's encryption, in one thread, by size.
fn cells<'a>(
    summary: &'a Summary,
    provider: &'a str,
    algorithm: Algorithm,
) -> impl Iterator<Item = (&'a CryptoWorkload, &'a Figures)> {
    let rows = summary.cells.iter().filter(move |row| {
        let workload = &row.workload;
        row.provider == provider
            && row.threads == 1
            && (workload.algorithm, workload.operation, workload.phase)
                == (algorithm, Operation::Encrypt, Phase::Update)
    });
    rows.filter_map(|row| Some((&row.workload, &**row.figures.measured()?)))
}

/// Those of the largest message.
fn of_largest<'a>(
    summary: &'a Summary,
    provider: &'a str,
    algorithm: Algorithm,
) -> Option<&'a Figures> {
    let all = cells(summary, provider, algorithm);
    all.max_by_key(|(workload, _)| workload.message).map(|(_, figures)| figures)
}
