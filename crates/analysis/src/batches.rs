//! Computes the figures of one operation from raw batches.
//!
//! Each batch includes the cost of one clock reading, and so does each reading of the reference chain; both are
//! subtracted. The chain takes a known number of core cycles, so its time gives the core's effective clock just
//! before and just after the batch. The burst shows whether another thread shared the core.

use crate::location::{Scatter, median};
use crate::missing::NoFigure;
use crate::smt::Alone;
use crate::units::{Cycles, Hertz, Nanoseconds};
use cpb_core::Ticks;
use cpb_core::message::ClockDescription;
use cpb_record::{Batch, Reading, Round};

/// A batch is discarded if its two readings of the reference chain differ by more than this share, because the core's
/// clock changed during the batch or something interrupted a reading. Chosen with `bench/methods.py`: a smaller value
/// loses batches, a larger one admits clock steps.
pub const AGREEMENT: f64 = 0.006;

/// A batch must be at least this many times as long as the shortest interval that the clock resolves.
pub const LEAST_STEPS: u64 = 10;

/// A batch this long is interrupted whenever another program wants the CPU: a time slice of Linux's scheduler lasts
/// some milliseconds (sched(7)). Enough shorter batches are not interrupted.
const SEVERAL_TURNS: Nanoseconds = Nanoseconds(20e6);

/// If a round's thread is off the CPU for more than this share of the round, its long batches count as interrupted.
const OFF_CPU: f64 = 0.03;

/// The figures of one batch, per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Wall-clock time.
    pub time: Nanoseconds,
    /// Core cycles; `None` if the core's clock is unknown.
    pub cycles: Option<Cycles>,
    /// The core's effective clock; `None` if it is not known from the reference chain.
    pub clock: Option<Hertz>,
}

/// The figures of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundFigures {
    /// Figures by thread.
    pub threads: Vec<Vec<Figure>>,
    /// Batches taken, all threads together.
    pub taken: u32,
    /// How many of them were discarded because the clock changed or the reading is impossible.
    pub unsteady: u32,
    /// How many more were discarded because another thread ran on the same core.
    pub crowded: u32,
    /// The clock's shortest interval as a share of a batch.
    pub grain: f64,
}

/// The shortest meaningful interval on `clock`: its resolution, or the cost of a reading.
pub fn least_interval(clock: &ClockDescription) -> u64 {
    clock.resolution.max(clock.cost).0.max(1)
}

/// The duration of `ticks` of `clock`.
pub fn nanoseconds(ticks: f64, clock: &ClockDescription) -> Nanoseconds {
    Nanoseconds(ticks * 1e9 / clock.frequency as f64)
}

/// What is needed to interpret a round's ticks.
#[derive(Clone, Copy)]
pub struct Scale<'a> {
    /// The runner's clock.
    pub clock: &'a ClockDescription,
    /// The threshold for a core that is not shared, derived from the whole run.
    pub alone: Option<Alone>,
}

/// Computes the figures of a round.
///
/// # Errors
/// Returns an error if the batches are too short for the clock, or if the samples contradict themselves.
pub fn normalise(round: &Round, scale: Scale) -> Result<RoundFigures, NoFigure> {
    let Scale { clock, alone } = scale;
    if round.iterations == 0 {
        return Err(NoFigure::Broken("a batch without operations"));
    }
    if clock.frequency == 0 {
        return Err(NoFigure::Broken("a clock without ticks"));
    }
    let least = LEAST_STEPS.saturating_mul(least_interval(clock));
    let all = round.samples.iter().flatten();
    let lengths: Vec<f64> = all.map(|batch| batch.0 as f64).collect();
    let typical = median(&lengths).ok_or(NoFigure::NotReached)?;
    if typical < least as f64 {
        return Err(NoFigure::BelowResolution);
    }
    // Here clock steps are small compared with the random durations. Long batches meet more clock steps and more
    // interruptions, so discarding these batches would bias the rest towards short durations. They are kept, reduced
    // by the share of the round in which the thread was not on a CPU.
    let long = nanoseconds(typical, clock) > SEVERAL_TURNS;
    let (agreement, on_cpu, alone) = match Scatter::of(&round.cell.workload) {
        // With such long batches, the bursts before and after do not show whether the core was shared in between.
        Scatter::Intrinsic => (f64::INFINITY, on_cpu(round), alone.filter(|_| !long)),
        Scatter::Disturbed if long && on_cpu(round) < 1.0 - OFF_CPU => {
            let taken = lengths.len() as u32;
            let threads = vec![];
            return Ok(RoundFigures { threads, taken, unsteady: taken, crowded: 0, grain: 0.0 });
        }
        Scatter::Disturbed => (AGREEMENT, 1.0, alone),
    };
    let holds = |reading: Reading| alone.is_none_or(|a| a.holds(reading.0, reading.1, clock));
    let (mut unsteady, mut crowded) = (0, 0);
    let mut threads = Vec::with_capacity(round.samples.len());
    for samples in &round.samples {
        let mut figures = Vec::with_capacity(samples.len());
        for batch in samples {
            match figure(batch, round, agreement, clock).filter(|_| batch.0 >= least) {
                None => unsteady += 1,
                Some(_) if !(holds(batch.1) && holds(batch.2)) => crowded += 1,
                Some(Figure { time, cycles, clock }) => figures.push(Figure {
                    time: time * on_cpu,
                    cycles: cycles.map(|cycles| cycles * on_cpu),
                    clock,
                }),
            }
        }
        threads.push(figures);
    }
    Ok(RoundFigures {
        threads,
        taken: lengths.len() as u32,
        unsteady,
        crowded,
        grain: least_interval(clock) as f64 / typical,
    })
}

/// The share of a round that its thread was on a CPU, if other programs displaced it. 1 if it gave up the CPU
/// voluntarily, which is part of the operation, or if the count covers several threads.
fn on_cpu(round: &Round) -> f64 {
    let counters = &round.counters;
    let displaced = round.samples.len() == 1 && counters.involuntary > counters.voluntary;
    match displaced && counters.wall_ns > 0 {
        true => (counters.cpu_ns as f64 / counters.wall_ns as f64).min(1.0),
        false => 1.0,
    }
}

/// The figures of one batch. `None` if it is discarded, because its readings differ by more than `agreement`, as a
/// share, or are impossible.
fn figure(
    batch: &Batch,
    round: &Round,
    agreement: f64,
    clock: &ClockDescription,
) -> Option<Figure> {
    let net = |ticks: u64| (Ticks(ticks) - clock.cost).0 as f64;
    let ticks = net(batch.0) / f64::from(round.iterations);
    let time = nanoseconds(ticks, clock);
    if clock.counts_cycles {
        return Some(Figure { time, cycles: Some(Cycles(ticks)), clock: None });
    }
    if round.reference_cycles == 0 {
        return Some(Figure { time, cycles: None, clock: None });
    }
    let (before, after) = (net(batch.1.0), net(batch.2.0));
    let mean = (before + after) / 2.0;
    if before <= 0.0 || after <= 0.0 || (before - after).abs() > agreement * mean {
        return None;
    }
    let cycles_a_tick = f64::from(round.reference_cycles) / mean;
    let effective = Hertz(cycles_a_tick * clock.frequency as f64);
    Some(Figure { time, cycles: Some(Cycles(ticks * cycles_a_tick)), clock: Some(effective) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{batch, by, clock, round};
    use cpb_core::{Algorithm, CryptoWorkload, Operation};

    #[test]
    fn the_cost_of_readings_is_taken_off_and_cycles_follow_the_core() {
        // 100 operations in 200,000 ns at 3 cycles a nanosecond: 30,000 cycles in 10,000 ns.
        let samples = vec![vec![batch(200_020, 10_020, 10_020), batch(100_020, 5_020, 5_020)]];
        let figures = normalise(&round(0, 100, samples), by(&clock(20))).unwrap();
        let [first, second] = figures.threads[0][..] else { panic!("{figures:?}") };
        assert_eq!(first.time, Nanoseconds(2000.0));
        assert_eq!((first.cycles, first.clock), (Some(Cycles(6000.0)), Some(Hertz(3e9))));
        assert_eq!((second.time, second.cycles), (Nanoseconds(1000.0), Some(Cycles(6000.0))));
    }

    #[test]
    fn a_batch_in_which_the_clock_changed_is_discarded_where_the_clock_is_known() {
        let samples = vec![vec![
            batch(200_000, 10_000, 10_059),
            batch(200_000, 10_000, 10_061),
            batch(200_000, 0, 0),
        ]];
        let figures = normalise(&round(0, 100, samples.clone()), by(&clock(0))).unwrap();
        assert_eq!((figures.taken, figures.unsteady), (3, 2));
        let unknown = Round { reference_cycles: 0, ..round(0, 100, samples) };
        let figures = normalise(&unknown, by(&clock(0))).unwrap();
        assert_eq!(figures.unsteady, 0);
        assert!(figures.threads[0].iter().all(|figure| figure.cycles.is_none()));
    }

    #[test]
    fn a_clock_that_counts_cycles_needs_no_chain() {
        let counting = ClockDescription { counts_cycles: true, ..clock(10) };
        let samples = vec![vec![batch(200_010, 0, 0)]];
        let figures = normalise(&round(0, 100, samples), by(&counting)).unwrap();
        assert_eq!(figures.threads[0][0].cycles, Some(Cycles(2000.0)));
    }

    #[test]
    fn what_the_clock_cannot_tell_is_no_figure() {
        let resolution =
            |resolution| ClockDescription { resolution: Ticks(resolution), ..clock(20) };
        let short = || round(0, 1, vec![vec![batch(999, 10_000, 10_000); 3]]);
        assert_eq!(normalise(&short(), by(&resolution(100))), Err(NoFigure::BelowResolution));
        assert!(normalise(&short(), by(&resolution(99))).is_ok());
        let backwards = vec![vec![batch(200_000, 10_000, 10_000), batch(0, 10_000, 10_000)]];
        let figures = normalise(&round(0, 1, backwards), by(&resolution(100))).unwrap();
        assert_eq!((figures.threads[0].len(), figures.unsteady), (1, 1));
        let none = round(0, 0, vec![vec![batch(200_000, 10_000, 10_000)]]);
        assert!(matches!(normalise(&none, by(&clock(0))), Err(NoFigure::Broken(_))));
        assert_eq!(normalise(&round(0, 1, vec![vec![]]), by(&clock(0))), Err(NoFigure::NotReached));
    }

    #[test]
    fn long_batches_of_a_thread_that_was_displaced_are_discarded() {
        let displaced = |ticks, wall_ns, voluntary| {
            let mut round = round(0, 1, vec![vec![batch(ticks, 10_000, 10_000)]]);
            let counters = &mut round.counters;
            (counters.wall_ns, counters.cpu_ns) = (wall_ns, 100_000_000);
            (counters.voluntary, counters.involuntary) = (voluntary, 3);
            normalise(&round, by(&clock(0))).unwrap()
        };
        assert_eq!(displaced(100_000_000, 150_000_000, 0).unsteady, 1);
        assert!(displaced(100_000_000, 150_000_000, 0).threads.is_empty());
        // The thread had the CPU, it waited voluntarily, or it was too short to be displaced for certain.
        for figures in [
            displaced(100_000_000, 101_000_000, 0),
            displaced(100_000_000, 150_000_000, 4),
            displaced(10_000_000, 150_000_000, 0),
        ] {
            assert_eq!((figures.threads[0].len(), figures.unsteady), (1, 0));
        }
    }

    #[test]
    fn of_what_chance_makes_long_the_time_off_the_cpu_is_taken_off() {
        let mut round = round(0, 1, vec![vec![batch(90_000_000, 10_000, 12_000)]]);
        round.cell.workload =
            CryptoWorkload::new(Algorithm::Rsa2048Pkcs1, Operation::GenerateKey, 0).into();
        let counters = &mut round.counters;
        (counters.wall_ns, counters.cpu_ns) = (150_000_000, 100_000_000);
        (counters.voluntary, counters.involuntary) = (0, 3);
        let figures = normalise(&round, by(&clock(0))).unwrap();
        assert_eq!((figures.threads[0][0].time, figures.unsteady), (Nanoseconds(60_000_000.0), 0));
        round.counters.voluntary = 4;
        let figures = normalise(&round, by(&clock(0))).unwrap();
        assert_eq!(figures.threads[0][0].time, Nanoseconds(90_000_000.0));
    }

    #[test]
    fn a_batch_that_had_to_share_the_core_is_discarded() {
        let crowded = |burst| Batch(200_000, Reading(10_000, 5_000), Reading(10_000, burst));
        let round = round(0, 100, vec![vec![crowded(5_000), crowded(5_090), crowded(6_000)]]);
        let clock = clock(0);
        let alone = Alone::of(std::iter::once((&round, &clock)));
        let figures = normalise(&round, Scale { clock: &clock, alone }).unwrap();
        assert_eq!((figures.threads[0].len(), figures.unsteady, figures.crowded), (2, 0, 1));
    }
}
