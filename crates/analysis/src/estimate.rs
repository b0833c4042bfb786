//! The figure of a cell: its location over passes, its confidence interval, and the noise of the passes.

use crate::batches::Scale;
use crate::location::{Confidence, Location, median, relative_spread};
use crate::missing::NoFigure;
use crate::passes::{Pass, Passes, grain};
use crate::units::{Cycles, Interval, Nanoseconds, Unit};
use cpb_record::Round;
use serde::Serialize;
use std::collections::BTreeSet;

/// A figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate<U> {
    /// The figure.
    pub value: U,
    /// The 95 % confidence interval; `None` with fewer than three passes.
    pub interval: Option<Interval<U>>,
    /// Relative spread between passes; `None` if there is only one.
    pub between: Option<f64>,
    /// Relative spread of the batches inside a pass; `None` if there is only one.
    pub within: Option<f64>,
}

impl<U: Unit> Estimate<U> {
    /// Half the interval's width as a share of the figure.
    pub fn precision(&self) -> Option<f64> {
        let interval = self.interval?;
        Some((interval.high.number() - interval.low.number()) / 2.0 / self.value.number())
    }

    /// The same estimate in another unit; one of this unit is `factor` of the other.
    pub fn times<V: Unit>(&self, factor: f64) -> Estimate<V> {
        self.convert(|number| number * factor)
    }

    /// `numerator` divided by the estimate, for example a rate from a time. The bounds swap places.
    pub fn under<V: Unit>(&self, numerator: f64) -> Estimate<V> {
        let swapped = self.interval.map(|Interval { low, high }| Interval { low: high, high: low });
        Estimate { interval: swapped, ..*self }.convert(|number| numerator / number)
    }

    fn convert<V: Unit>(&self, convert: impl Fn(f64) -> f64) -> Estimate<V> {
        let convert = |unit: U| V::of(convert(unit.number()));
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: convert(low), high: convert(high) });
        Estimate {
            value: convert(self.value),
            interval,
            between: self.between,
            within: self.within,
        }
    }
}

/// Wall-clock time of an operation.
pub fn time(passes: &Passes) -> Estimate<Nanoseconds> {
    let value = |pass: &Pass| Some((pass.time, pass.time_spread));
    // There is at least one pass, and each pass has a time.
    of(passes, value).unwrap_or_else(|| unreachable!("no passes: {passes:?}"))
}

/// Core cycles of an operation; `None` if they are unknown.
pub fn cycles(passes: &Passes) -> Option<Estimate<Cycles>> {
    if !passes.cycles_known() {
        return None;
    }
    of(passes, |pass| Some((pass.cycles?, pass.cycles_spread)))
}

/// Half the interval's width as a share of the leading figure: cycles if they are known, otherwise time. `None` with
/// fewer than three passes.
pub fn precision(passes: &Passes) -> Option<f64> {
    match cycles(passes) {
        Some(cycles) => cycles.precision(),
        None => time(passes).precision(),
    }
}

/// The progress of a cell, for a run that continues until its rounds suffice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of measured passes.
    pub passes: usize,
    /// The number of passes that gave a figure.
    pub counted: usize,
    /// Half the interval's width as a share of the figure. `None` with fewer than three counted passes.
    pub precision: Option<f64>,
    /// Time of an operation. `None` if no pass counted.
    pub time: Option<Nanoseconds>,
    /// Whether no number of further samples will give a figure.
    pub hopeless: bool,
}

/// The progress of a cell, from its rounds.
pub fn progress(rounds: &[Round], scale: Scale) -> Progress {
    let numbers: BTreeSet<u32> = rounds.iter().map(|round| round.pass).collect();
    let none = Progress {
        passes: numbers.len(),
        counted: 0,
        precision: None,
        time: None,
        hopeless: false,
    };
    match Passes::of(rounds, scale) {
        Ok(passes) => Progress {
            counted: passes.all.len(),
            precision: precision(&passes),
            time: Some(time(&passes).value),
            ..none
        },
        Err(NoFigure::NotReached | NoFigure::AllDiscarded) => none,
        Err(_) => Progress { hopeless: true, ..none },
    }
}

impl Progress {
    /// Whether the figure is at least as precise as `share`. Also true if there will never be a figure.
    pub fn is_narrow(&self, share: f64) -> bool {
        self.hopeless || self.precision.is_some_and(|precision| precision <= share)
    }

    /// Whether so many passes were discarded that the figure is uncertain.
    pub fn is_short(&self) -> bool {
        !self.hopeless && self.counted < ENOUGH.min(self.passes)
    }
}

/// A cell with discarded passes and fewer counted passes than this is measured again if there is time: its interval
/// is more than twice as wide as necessary.
const ENOUGH: usize = 6;

fn of<U: Unit>(
    passes: &Passes,
    value: impl Fn(&Pass) -> Option<(U, Option<f64>)>,
) -> Option<Estimate<U>> {
    let values = passes.all.iter().filter_map(&value);
    let (figures, spreads): (Vec<f64>, Vec<Option<f64>>) =
        values.map(|(figure, spread)| (figure.number(), spread)).unzip();
    let location = passes.location(|pass| value(pass).map(|(figure, _)| figure))?;
    let grain = grain(passes.all.iter().map(|pass| pass.grain));
    let interval =
        location.margin(Confidence::Shown).map(|margin| bounds(&location, margin, grain));
    Some(Estimate {
        value: U::of(location.value.exp()),
        interval: interval.map(|(low, high)| Interval { low: U::of(low), high: U::of(high) }),
        between: relative_spread(&figures),
        within: median(&spreads.into_iter().flatten().collect::<Vec<f64>>()),
    })
}

/// The bounds of a location in logarithms, widened by the clock's resolution: figures that agree only because they
/// were rounded alike are not certain.
pub(crate) fn bounds(location: &Location, margin: f64, grain: f64) -> (f64, f64) {
    let margin = margin.hypot(grain);
    ((location.value - margin).exp(), (location.value + margin).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{by, clock, noisy_rounds};
    use crate::units::BytesPerSecond;
    use cpb_core::message::ClockDescription;

    #[test]
    fn a_planted_time_is_found_and_its_rate_is_the_reciprocal() {
        let passes = Passes::of(&noisy_rounds(1, 20, 2000.0, 0.002), by(&clock(20))).unwrap();
        let time = time(&passes);
        let interval = time.interval.unwrap();
        assert!((time.value.0 / 2000.0 - 1.0).abs() < 0.003, "{time:?}");
        assert!(time.precision().unwrap() < 0.002, "{time:?}");
        assert!((cycles(&passes).unwrap().value.0 / 6000.0 - 1.0).abs() < 0.003);
        let rate: Estimate<BytesPerSecond> = time.under(16.0 * 1e9);
        assert!((rate.value.0 * time.value.0 / 16e9 - 1.0).abs() < 1e-12);
        assert!((rate.interval.unwrap().low.0 * interval.high.0 / 16e9 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_process_only_has_no_interval() {
        let passes = Passes::of(&noisy_rounds(1, 1, 2000.0, 0.002), by(&clock(20))).unwrap();
        assert_eq!((time(&passes).interval, time(&passes).between), (None, None));
        assert!(time(&passes).within.is_some());
        assert_eq!(precision(&passes), None);
    }

    #[test]
    fn a_run_goes_on_until_a_figure_is_precise_or_never_will_be() {
        let rounds = noisy_rounds(1, 20, 2000.0, 0.002);
        let narrow = |rounds: &[Round], clock: &ClockDescription, share| {
            progress(rounds, by(clock)).is_narrow(share)
        };
        assert!(narrow(&rounds, &clock(20), 0.01));
        assert!(!narrow(&rounds, &clock(20), 0.000_01));
        assert!(!narrow(&rounds[..2], &clock(20), 0.5) && !narrow(&[], &clock(20), 0.5));
        let coarse = ClockDescription { resolution: cpb_core::Ticks(100_000), ..clock(20) };
        assert!(narrow(&rounds, &coarse, 0.01));
    }

    #[test]
    fn a_cell_most_of_whose_passes_were_discarded_is_short_of_them() {
        let mut rounds = noisy_rounds(1, 20, 2000.0, 0.002);
        assert!(!progress(&rounds, by(&clock(20))).is_short());
        for round in &mut rounds[..17] {
            for batch in round.samples.iter_mut().flatten() {
                batch.2.0 *= 2;
            }
        }
        let short = progress(&rounds, by(&clock(20)));
        assert_eq!((short.passes, short.counted, short.is_short()), (20, 3, true));
        // Three passes of three are all there are.
        assert!(!progress(&rounds[17..], by(&clock(20))).is_short());
    }

    #[test]
    fn rounding_alike_is_not_certainty() {
        let rounds = noisy_rounds(1, 20, 2000.0, 0.0);
        let coarse = ClockDescription { resolution: cpb_core::Ticks(2_000), ..clock(20) };
        let precision = precision(&Passes::of(&rounds, by(&coarse)).unwrap()).unwrap();
        assert!((0.002..0.004).contains(&precision), "{precision}");
    }
}
