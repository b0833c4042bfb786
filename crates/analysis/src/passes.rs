//! One figure per pass. Each pass starts new runner processes, so a pass, not a batch, is the unit of repetition.
//!
//! Inside a pass the lower quartile of its batches counts; of three, the shortest. The batches share what the process
//! drew at its start, and any other influence on one (an interrupt, a burst of work on the core's other thread)
//! lengthens it and never shortens it. If the duration of the operation itself is random, all batches count equally.
//! With several threads, the combined rate is the sum of their rates.

use crate::batches::{self, Figure, Scale};
use crate::location::{Location, Scatter, median, relative_spread};
use crate::missing::NoFigure;
use crate::uncertain::Uncertain;
use crate::units::{Cycles, Hertz, Nanoseconds, Unit};
use cpb_record::Round;

/// The figures of one pass of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The pass's number.
    pub number: u32,
    /// The time that a thread takes for an operation.
    pub time: Nanoseconds,
    /// The same in core cycles, if known.
    pub cycles: Option<Cycles>,
    /// Relative spread of the batches, in time.
    pub time_spread: Option<f64>,
    /// Relative spread of the batches, in cycles.
    pub cycles_spread: Option<f64>,
    /// The core's effective clock.
    pub clock: Option<Hertz>,
    /// The clock's shortest interval as a share of a batch.
    pub grain: f64,
    /// The number of operations in the pass.
    pub operations: u32,
}

/// All passes of one cell that gave a figure, by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// The passes; at least one.
    pub all: Vec<Pass>,
    /// Why they differ.
    pub scatter: Scatter,
    /// Batches taken.
    pub batches: u32,
    /// How many of them were discarded because the core's clock changed.
    pub unsteady: u32,
    /// How many of them were discarded because another thread ran on the same core.
    pub crowded: u32,
}

impl Passes {
    /// Computes the passes from a cell's rounds, in any order.
    ///
    /// # Errors
    /// Returns the reason if no pass gave a figure.
    pub fn of<'a>(
        rounds: impl IntoIterator<Item = &'a Round>,
        scale: Scale,
    ) -> Result<Passes, NoFigure> {
        let mut rounds: Vec<&Round> = rounds.into_iter().collect();
        rounds.sort_by_key(|round| round.pass);
        let scatter =
            rounds.first().map_or(Scatter::Disturbed, |round| Scatter::of(&round.cell.workload));
        let mut passes = Passes { all: Vec::new(), scatter, batches: 0, unsteady: 0, crowded: 0 };
        let mut refusal = None;
        for rounds in rounds.chunk_by(|a, b| a.pass == b.pass) {
            match passes.pass(rounds, scale) {
                Ok(pass) => passes.all.push(pass),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        if passes.all.is_empty() {
            return Err(refusal.unwrap_or(NoFigure::NotReached));
        }
        Ok(passes)
    }

    /// The location of a figure, in logarithms, over the passes that have it; `None` if none has it.
    pub fn location<U: Unit>(&self, figure: impl Fn(&Pass) -> Option<U>) -> Option<Location> {
        let cost = |pass: &Pass| Some((figure(pass)?.number(), pass.operations));
        self.scatter.over_passes(&self.all.iter().filter_map(cost).collect::<Vec<_>>())
    }

    /// The same location with its error by pass.
    pub fn cost<U: Unit>(&self, figure: impl Fn(&Pass) -> Option<U>) -> Option<Uncertain> {
        let location = self.location(&figure)?;
        let known = self.all.iter().filter(|pass| figure(pass).is_some());
        let grain = grain(self.all.iter().map(|pass| pass.grain));
        Some(Uncertain::of_passes(&location, known.map(|pass| pass.number), grain))
    }

    /// Whether at least half of the passes know the core's cycles. A figure from few passes would not represent the
    /// cell.
    pub fn cycles_known(&self) -> bool {
        self.all.iter().filter(|pass| pass.cycles.is_some()).count() * 2 >= self.all.len()
    }

    fn pass(&mut self, rounds: &[&Round], scale: Scale) -> Result<Pass, NoFigure> {
        let mut threads: Vec<Vec<Figure>> = Vec::new();
        let (mut grain, mut operations): (f64, u32) = (0.0, 0);
        for round in rounds {
            let figures = batches::normalise(round, scale)?;
            self.batches += figures.taken;
            self.unsteady += figures.unsteady;
            self.crowded += figures.crowded;
            grain = grain.max(figures.grain);
            let kept = figures.threads.iter().map(Vec::len).sum::<usize>() as u32;
            operations = operations.saturating_add(kept.saturating_mul(round.iterations));
            threads.resize_with(threads.len().max(figures.threads.len()), Vec::new);
            for (thread, figures) in threads.iter_mut().zip(figures.threads) {
                thread.extend(figures);
            }
        }
        let pass = Pass {
            number: rounds[0].pass,
            time: together(&threads, self.scatter, |figure| Some(figure.time))
                .ok_or(NoFigure::AllDiscarded)?,
            cycles: together(&threads, self.scatter, |figure| figure.cycles),
            time_spread: spread(&threads, |figure| Some(figure.time)),
            cycles_spread: spread(&threads, |figure| figure.cycles),
            clock: together(&threads, self.scatter, |figure| figure.clock),
            grain,
            operations,
        };
        Ok(pass)
    }
}

/// The harmonic mean of the threads' figures: its rate, times the number of threads, is the combined rate. `None` if a
/// thread has no figure.
fn together<U: Unit>(
    threads: &[Vec<Figure>],
    scatter: Scatter,
    figure: impl Fn(&Figure) -> Option<U>,
) -> Option<U> {
    let mut rates = 0.0;
    for thread in threads {
        let values =
            thread.iter().map(|one| Some(figure(one)?.number())).collect::<Option<Vec<f64>>>()?;
        rates += 1.0 / scatter.within_pass(&values)?;
    }
    (rates > 0.0).then(|| U::of(threads.len() as f64 / rates))
}

/// The median of the threads' spreads.
fn spread<U: Unit>(threads: &[Vec<Figure>], figure: impl Fn(&Figure) -> Option<U>) -> Option<f64> {
    let spreads: Vec<f64> = threads
        .iter()
        .filter_map(|thread| {
            let known = thread.iter().filter_map(|one| Some(figure(one)?.number()));
            relative_spread(&known.collect::<Vec<f64>>())
        })
        .collect();
    median(&spreads)
}

/// The uncertainty from rounding to the clock's resolution: the standard deviation of a uniform distribution one step
/// wide, as a share of a typical batch.
pub(crate) fn grain(grains: impl Iterator<Item = f64>) -> f64 {
    median(&grains.collect::<Vec<f64>>()).unwrap_or(0.0) / 12f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, by, clock, round};

    #[test]
    fn a_pass_is_the_lower_quartile_of_its_batches_whichever_round_they_are_in() {
        let batch = |ticks| fixtures::batch(ticks, 10_000, 10_000);
        let rounds = [
            round(1, 100, vec![vec![batch(300_000)]]),
            round(0, 100, vec![vec![batch(100_000), batch(900_000)]]),
            round(0, 100, vec![vec![batch(200_000)]]),
        ];
        let passes = Passes::of(&rounds, by(&clock(0))).unwrap();
        let times: Vec<(u32, f64)> = passes.all.iter().map(|p| (p.number, p.time.0)).collect();
        assert_eq!(times, [(0, 1000.0), (1, 3000.0)]);
        assert_eq!((passes.batches, passes.unsteady), (4, 0));
        assert_eq!(passes.all[0].cycles, Some(Cycles(3000.0)));
    }

    #[test]
    fn the_rate_of_threads_is_the_sum_of_their_rates() {
        let thread = |ticks| vec![fixtures::batch(ticks, 10_000, 10_000)];
        let passes =
            Passes::of(&[round(0, 100, vec![thread(100_000), thread(300_000)])], by(&clock(0)))
                .unwrap();
        let time = passes.all[0].time.0;
        assert!((2.0 / time - (1.0 / 1000.0 + 1.0 / 3000.0)).abs() < 1e-12, "{time}");
    }

    #[test]
    fn a_pass_whose_batches_are_all_discarded_gives_nothing_and_the_others_do() {
        let unsteady = || round(0, 100, vec![vec![fixtures::batch(100_000, 10_000, 12_000)]]);
        let steady = || round(1, 100, vec![vec![fixtures::batch(100_000, 10_000, 10_000)]]);
        assert_eq!(Passes::of(&[unsteady()], by(&clock(0))), Err(NoFigure::AllDiscarded));
        let passes = Passes::of(&[unsteady(), steady()], by(&clock(0))).unwrap();
        assert_eq!((passes.all.len(), passes.batches, passes.unsteady), (1, 2, 1));
        assert_eq!(Passes::of(&[], by(&clock(0))), Err(NoFigure::NotReached));
    }
}
