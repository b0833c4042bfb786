//! What one of cpb's own records shows of the core that it measured. For tables and logs, see [`super::of_table`].

use super::{Observed, of_table};
use crate::summary::{Figures, Summary, summarise};
use crate::units::{BytesPerSecond, Hertz};
use cpb_core::{Algorithm, CryptoWorkload, Operation, Phase};
use cpb_record::{Evidence, ProviderRecord, Record};
use cpb_record::{Machine, evidence};

/// The providers whose ratio gives the gain from the extension. The constants apply to the rates of the first.
const WITH: &str = "openssl";
const WITHOUT: &str = "openssl:nocrypto";

/// AES-CBC by key length.
const KEYS: [(u16, Algorithm); 3] =
    [(128, Algorithm::Aes128Cbc), (192, Algorithm::Aes192Cbc), (256, Algorithm::Aes256Cbc)];

/// The cores of a record in which AES-CBC was measured, each with what is known about it.
pub fn observed(record: &Record) -> Vec<Observed> {
    if record.published.is_empty() && record.sources.is_empty() {
        return vec![measured(record)];
    }
    record.sources.iter().flat_map(|source| of_table::observed(record, source)).collect()
}

/// What a machine reports of a core before anything is measured.
pub fn told(machine: &Machine, cpus: &[usize]) -> Observed {
    let architecture = [&machine.kernel_architecture, &machine.architecture];
    let architecture = architecture.into_iter().find(|word| !word.is_empty());
    Observed {
        place: place(cpus),
        reported: machine.cpu.clone(),
        architecture: architecture.cloned().unwrap_or_default(),
        // An empty list means that the system does not report features.
        features: Some(machine.features.clone()).filter(|features| !features.is_empty()),
        stated_clock: clock(machine.state.frequency_limits_khz.1),
        emulated: evidence::emulated(machine),
        ..Observed::default()
    }
}

/// CPU numbers in short form: `cpu0-cpu3, cpu8`; empty if `cpus` is empty.
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

/// A clock given in kilohertz. `None` if it is 0, which means unknown.
pub(super) fn clock(khz: u64) -> Option<Hertz> {
    (khz > 0).then_some(Hertz(khz as f64 * 1e3))
}

/// The core of a run of cpb.
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
    // All at one clock: the cycles of each, at the clock of the longest key.
    let clock = KEYS.iter().rev().find_map(|(_, algorithm)| {
        let figures = of_largest(&summary, WITH, *algorithm, Phase::Update)?;
        Some(Hertz(figures.rate?.value.0 * figures.cycles_per_byte?.value.0))
    });
    observed.measured_clocks.extend(clock);
    for (bits, algorithm) in KEYS {
        for (workload, figures) in cells(&summary, WITH, algorithm, Phase::Update) {
            let by_cycles = clock.zip(figures.cycles_per_byte);
            let by_cycles = by_cycles.map(|(clock, cost)| BytesPerSecond(clock.0 / cost.value.0));
            let rate = by_cycles.or(figures.rate.map(|rate| rate.value));
            observed.rates.insert(bits, workload.message, rate.unwrap_or_default());
        }
    }
    observed.unmasked = gain(&summary);
    observed
}

/// How many times as fast AES-256 is with the crypto instructions, for a stream if it was measured, otherwise for
/// messages.
fn gain(summary: &Summary) -> Option<f64> {
    [Phase::Update, Phase::Message].into_iter().find_map(|phase| {
        let with = of_largest(summary, WITH, Algorithm::Aes256Cbc, phase)?;
        let without = of_largest(summary, WITHOUT, Algorithm::Aes256Cbc, phase)?;
        match (with.cycles_per_byte, without.cycles_per_byte) {
            (Some(with), Some(without)) => Some(without.value / with.value),
            _ => Some(with.rate?.value / without.rate?.value),
        }
    })
}

/// The figures of encryption in one thread, by size.
fn cells<'a>(
    summary: &'a Summary,
    provider: &'a str,
    algorithm: Algorithm,
    phase: Phase,
) -> impl Iterator<Item = (&'a CryptoWorkload, &'a Figures)> {
    let rows = summary.cells.iter().filter_map(|row| Some((row.workload.crypto()?, row)));
    let its = rows.filter(move |(workload, row)| {
        row.provider == provider
            && row.threads == 1
            && (workload.algorithm, workload.operation, workload.phase)
                == (algorithm, Operation::Encrypt, phase)
    });
    its.filter_map(|(workload, row)| Some((workload, &**row.figures.measured()?)))
}

/// The figures of the largest message.
fn of_largest<'a>(
    summary: &'a Summary,
    provider: &'a str,
    algorithm: Algorithm,
    phase: Phase,
) -> Option<&'a Figures> {
    let all = cells(summary, provider, algorithm, phase);
    all.max_by_key(|(workload, _)| workload.message).map(|(_, figures)| figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::identify::cores::Cores;
    use crate::identify::{Implied, Misfit, identify};
    use cpb_record::State;
    use cpb_record::{Evidence, Round};

    /// A core at 3 GHz with these cycles per block, by key length. A call takes 200 cycles more, and the library
    /// without the instructions takes ten times as long.
    fn run(blocks: [(Algorithm, f64); 3], machine: Machine) -> Record {
        let cell = |provider: &str, algorithm, bytes: u32, cycles: f64| -> Vec<Round> {
            let workload = CryptoWorkload {
                phase: Phase::Update,
                ..CryptoWorkload::new(algorithm, Operation::Encrypt, bytes)
            };
            let seed = u64::from(bytes) + algorithm.to_string().len() as u64;
            let mut rounds = fixtures::noisy_rounds(seed, 20, cycles / 3.0, 0.001);
            for round in &mut rounds {
                round.cell.provider = provider.to_owned();
                round.cell.workload = workload.into();
            }
            rounds
        };
        let cells = blocks.into_iter().flat_map(|(algorithm, block)| {
            [16, 16_384].into_iter().flat_map(move |bytes| {
                let cycles = block * f64::from(bytes / 16) + 200.0;
                [("openssl", cycles), ("openssl:nocrypto", cycles * 10.0)]
                    .map(|(provider, cycles)| cell(provider, algorithm, bytes, cycles))
            })
        });
        let mut record = fixtures::record(cells);
        record.header.machine = machine;
        record
    }

    const LIKE_A53: [(Algorithm, f64); 3] =
        [(Algorithm::Aes128Cbc, 21.1), (Algorithm::Aes192Cbc, 28.1), (Algorithm::Aes256Cbc, 34.1)];

    fn board() -> Machine {
        Machine {
            architecture: "aarch64".into(),
            cpu: "Cortex-A72 r0p3".into(),
            features: vec!["aes".into()],
            state: State { frequency_limits_khz: (600_000, 3_600_000), ..State::default() },
            ..Machine::default()
        }
    }

    #[test]
    fn a_run_on_an_arm_board_names_its_core_finds_its_clock_and_what_the_extension_gains() {
        let observed = observed(&run(LIKE_A53, board()));
        let [core] = &observed[..] else { panic!("{observed:?}") };
        let found = identify(core, &Cores::load());
        let Implied::Named(name) = &found.implied else { panic!("{found:?}") };
        assert_eq!(name.family, "Cortex-A53 or A55");
        let near =
            |clock: Option<Hertz>| clock.is_some_and(|clock| (clock.0 / 3e9 - 1.0).abs() < 0.01);
        let implied = found.implied_clock.map(|(low, _)| low);
        assert!(near(found.measured_clock) && near(implied), "{found:?}");
        let [
            Misfit::Extension { listed: true, gain, agree: Some(true) },
            Misfit::AnotherCore { .. },
            Misfit::StatedClock { stated: Hertz(3.6e9), measured: true, .. },
        ] = found.verdicts[..]
        else {
            panic!("{:?}", found.verdicts)
        };
        assert!((gain - 10.0).abs() < 0.1, "{gain}");
    }

    #[test]
    fn of_an_emulated_run_nothing_is_named_and_no_clock_shown() {
        let mut record = run(LIKE_A53, board());
        record.header.evidence = Evidence::Emulated;
        let found = identify(&observed(&record)[0], &Cores::load());
        let Implied::NotApplicable { why } = &found.implied else { panic!("{found:?}") };
        assert!(why.contains("clocks mean"), "{why}");
        assert_eq!((found.measured_clock, found.verdicts.len()), (None, 0));
    }

    #[test]
    fn numbers_of_cpus_are_written_as_ranges() {
        for (cpus, words) in [
            (&[][..], ""),
            (&[3], "cpu3"),
            (&[0, 1, 2, 3], "cpu0-cpu3"),
            (&[0, 5, 6, 9], "cpu0, cpu5-cpu6, cpu9"),
        ] {
            assert_eq!(place(cpus), words);
        }
    }
}
