//! Rounds with planted figures, for the tests of this crate.

use crate::batches::Scale;
use crate::location::{Location, Scatter};
use crate::passes::{Pass, Passes};
use crate::units::{Cycles, Hertz, Nanoseconds};
use cpb_core::message::{ClockDescription, Counters};
use cpb_core::{Algorithm, Claim, CryptoWorkload, Operation, Ticks};
use cpb_record::Machine;
use cpb_record::plan::Plan;
use cpb_record::{
    Batch, Cell, Evidence, Header, Outcome, ProviderRecord, Reading, Record, Round, SCHEMA,
};

/// A nanosecond clock.
pub(crate) fn clock(cost: u64) -> ClockDescription {
    ClockDescription {
        frequency: 1_000_000_000,
        resolution: Ticks(1),
        cost: Ticks(cost),
        reference_cycles: 30_000,
        ..ClockDescription::default()
    }
}

/// The scale for ticks of a clock, without knowledge about sharing.
pub(crate) fn by(clock: &ClockDescription) -> Scale<'_> {
    Scale { clock, alone: None }
}

/// A batch between two readings of the reference chain. Its bursts take half as long as the chain.
pub(crate) fn batch(ticks: u64, before: u64, after: u64) -> Batch {
    let reading = |chain| Reading(chain, chain / 2);
    Batch(ticks, reading(before), reading(after))
}

/// A round whose reference chain takes 30,000 cycles.
pub(crate) fn round(pass: u32, iterations: u32, samples: Vec<Vec<Batch>>) -> Round {
    let workload = CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, 16384).into();
    Round {
        cell: Cell { provider: "openssl".into(), workload, threads: samples.len() as u8 },
        pass,
        at_ms: 0,
        reference_cycles: 30_000,
        iterations,
        output: "00".into(),
        samples,
        latency: Vec::new(),
        latency_max: 0,
        latency_in_flight: None,
        counters: Counters::default(),
    }
}

/// Rounds of operations that take `time` nanoseconds on a core at 3 GHz with `clock(20)`. `noise` is the noise
/// between passes and between batches; in batches it only lengthens.
pub(crate) fn noisy_rounds(seed: u64, passes: u32, time: f64, noise: f64) -> Vec<Round> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = || noise * NoiseKind::Heavy.draw(&mut random);
    (0..passes)
        .map(|pass| {
            let time = time * draw().exp();
            let late = |_| (time * draw().max(0.0).exp() * 100.0) as u64;
            let batches =
                (0..10).map(late).map(|ticks| batch(ticks + 20, 10_020, 10_020)).collect();
            round(pass, 100, vec![batches])
        })
        .collect()
}

/// Twelve rounds of a provider's cell, of operations that take `time` nanoseconds.
pub(crate) fn cell(provider: &str, workload: CryptoWorkload, seed: u64, time: f64) -> Vec<Round> {
    let mut rounds = noisy_rounds(seed, 12, time, 0.002);
    for round in &mut rounds {
        round.cell = Cell { provider: provider.into(), workload: workload.into(), threads: 1 };
    }
    rounds
}

/// Passes with these costs.
pub(crate) fn passes(costs: &[f64]) -> Passes {
    let pass = |(number, &cost): (usize, &f64)| Pass {
        number: number as u32,
        time: Nanoseconds(cost),
        cycles: Some(Cycles(cost * 3.0)),
        time_spread: None,
        cycles_spread: None,
        clock: Some(Hertz(3e9)),
        grain: 0.0,
        operations: 1000,
    };
    let all: Vec<Pass> = costs.iter().enumerate().map(pass).collect();
    let scatter = Scatter::Disturbed;
    Passes { batches: all.len() as u32, scatter, unsteady: 0, crowded: 0, all }
}

/// Kinds of noise between passes, in units of their typical deviation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoiseKind {
    /// Normally distributed.
    Normal,
    /// One pass in ten is ten times as noisy.
    Heavy,
    /// Two modes, as page placement causes.
    Bimodal,
    /// One pass in eight is late by up to ten deviations.
    Late,
}

impl NoiseKind {
    pub(crate) const ALL: [NoiseKind; 4] =
        [NoiseKind::Normal, NoiseKind::Heavy, NoiseKind::Bimodal, NoiseKind::Late];

    pub(crate) fn draw(self, random: &mut fastrand::Rng) -> f64 {
        let normal = normal(random);
        match self {
            NoiseKind::Normal => normal,
            NoiseKind::Heavy if random.u8(..10) == 0 => normal * 10.0,
            NoiseKind::Heavy => normal,
            NoiseKind::Bimodal => normal * 0.3 + if random.bool() { 1.0 } else { -1.0 },
            NoiseKind::Late if random.u8(..8) == 0 => normal + 10.0 * random.f64(),
            NoiseKind::Late => normal,
        }
    }

    /// The location of very many draws.
    pub(crate) fn centre(self) -> f64 {
        let mut random = fastrand::Rng::with_seed(1);
        let draws: Vec<f64> = (0..200_000).map(|_| self.draw(&mut random)).collect();
        Location::of(&draws).map_or(0.0, |location| location.value)
    }
}

/// The Box–Muller transform.
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// A record of cells, given by their rounds.
pub(crate) fn record(cells: impl Iterator<Item = Vec<Round>>) -> Record {
    let cells: Vec<(Cell, Outcome)> =
        cells.map(|rounds| (rounds[0].cell.clone(), Outcome::Measured(rounds))).collect();
    let usual = ["null", "openssl", "openssl:nocrypto", "mbedtls:accel", "mbedtls:c"];
    let measured = cells.iter().map(|(cell, _)| &*cell.provider);
    let available = |clock| ProviderRecord::Available {
        version: "1".into(),
        executor: "CPU".into(),
        claim: Claim::Process,
        options: String::new(),
        clock,
    };
    let header = Header {
        target: String::new(),
        schema: SCHEMA,
        version: "0".into(),
        began: "2026-01-01T00:00:00Z".into(),
        evidence: Evidence::Hardware,
        machine: Machine::default(),
        plan: Plan::read(std::path::Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../plans/default.toml"
        )))
        .unwrap(),
        cpus: vec![0],
        providers: usual
            .into_iter()
            .chain(measured)
            .map(|name| (name.into(), available(clock(20))))
            .collect(),
        kernel: None,
        warnings: Vec::new(),
    };
    Record {
        header,
        checks: Vec::new(),
        cells,
        sources: Vec::new(),
        published: Vec::new(),
        warnings: Vec::new(),
        end: None,
    }
}
