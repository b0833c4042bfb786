//! Compares two cells, and derives a verdict.
//!
//! The error of the difference between two cells' costs follows from their passes. Passes that measured both cells
//! are adjacent in time: a disturbance of such a pass affects both, so its two errors are subtracted before they are
//! squared. A pass that measured only one of the cells adds its error.
//!
//! *Faster* and *slower* require a 99 % interval that excludes 1. A *tie* is a claim as well: it requires a 95 %
//! interval within [`TIE`]. Everything else is *unknown*.

use crate::location::Confidence;
use crate::missing::NoFigure;
use crate::passes::{Pass, Passes};
use crate::uncertain::{Bounded, Uncertain};
use crate::units::{Interval, Times, Unit};
use serde::Serialize;

/// Costs tie if their ratio is known to lie within this share of 1, in either direction. No reader would choose by
/// less, and builds of one library differ by as much.
pub const TIE: f64 = 0.03;

/// The cost of the first cell compared with the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Cost of the first divided by the cost of the second: above 1 the first is slower.
    pub value: Times,
    /// The 95 % confidence interval. `None` if a cell has fewer than three passes.
    pub interval: Option<Interval<Times>>,
    /// The verdict on the first cell.
    pub verdict: Verdict,
    /// The factor by which the number of passes would have to grow for a verdict other than unknown, if the noise
    /// stays the same. `None` if there is a verdict, or if there are too few passes for an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<f64>,
    /// What the ratio was computed from.
    pub metric: Basis,
    /// Number of passes of the cell that has fewer.
    pub passes: usize,
}

/// The verdict on the first of two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs less, with 99 % confidence.
    Faster,
    /// It costs more, with 99 % confidence.
    Slower,
    /// Their costs differ by less than [`TIE`], with 95 % confidence.
    Tie,
    /// None of these, because the interval is too wide or missing.
    Unknown,
}

/// What a ratio was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Core cycles; both cells know them.
    Cycles,
    /// Wall-clock time.
    Time,
    /// Instructions, of the whole CPU if known. For two emulated runs, whose times mean nothing.
    Instructions,
}

impl Verdict {
    /// The verdict for the logarithm of a ratio.
    pub fn of(log: &Uncertain) -> Verdict {
        let beyond = |margin: f64| log.value.abs() > margin;
        match log.margin(Confidence::Verdict) {
            Some(margin) if beyond(margin) && log.value > 0.0 => Verdict::Slower,
            Some(margin) if beyond(margin) => Verdict::Faster,
            _ if is_tie(log) => Verdict::Tie,
            _ => Verdict::Unknown,
        }
    }

    /// The verdict from the other cell's point of view.
    pub fn inverse(self) -> Verdict {
        match self {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        }
    }
}

/// Whether the 95 % interval of a ratio, given as its logarithm, lies within [`TIE`] of 1.
pub(crate) fn is_tie(log: &Uncertain) -> bool {
    let margin = log.margin(Confidence::Shown);
    margin.is_some_and(|margin| log.value.abs() + margin <= TIE.ln_1p())
}

/// See [`Ratio::needs`]. An error is inversely proportional to the root of the number of passes.
pub(crate) fn needs(log: &Uncertain) -> Option<f64> {
    if Verdict::of(log) != Verdict::Unknown {
        return None;
    }
    let (shown, verdict) = (log.margin(Confidence::Shown)?, log.margin(Confidence::Verdict)?);
    let room = TIE.ln_1p() - log.value.abs();
    let (apart, tie) = ((verdict / log.value.abs()).powi(2), (shown / room).powi(2));
    Some(if room > 0.0 { apart.min(tie) } else { apart })
}

impl Ratio {
    /// The ratio from the second cell's point of view.
    pub fn inverse(&self) -> Ratio {
        let turn = |times: Times| Times(1.0 / times.0);
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: turn(high), high: turn(low) });
        Ratio { value: turn(self.value), interval, verdict: self.verdict.inverse(), ..*self }
    }

    /// Multiplies the ratio by an exact number.
    pub fn scaled(&self, factor: f64) -> (Times, Option<Interval<Times>>) {
        let scale = |times: Times| Times(times.0 * factor);
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: scale(low), high: scale(high) });
        (scale(self.value), interval)
    }

    /// Half the interval's width as a share of the ratio.
    pub fn precision(&self) -> Option<f64> {
        let interval = self.interval?;
        Some((interval.high.0 - interval.low.0) / 2.0 / self.value.0)
    }
}

/// Compares two cells, in cycles if both know them, otherwise in time.
///
/// # Errors
/// Returns an error if either cell has no pass.
pub fn of(first: &Passes, second: &Passes) -> Result<Ratio, NoFigure> {
    if first.cycles_known() && second.cycles_known() {
        compare(first, second, Basis::Cycles, |pass| pass.cycles)
    } else {
        time(first, second)
    }
}

/// Compares two cells in wall-clock time.
///
/// # Errors
/// Returns an error if either cell has no pass.
pub fn time(first: &Passes, second: &Passes) -> Result<Ratio, NoFigure> {
    compare(first, second, Basis::Time, |pass| Some(pass.time))
}

fn compare<U: Unit>(
    first: &Passes,
    second: &Passes,
    metric: Basis,
    figure: impl Fn(&Pass) -> Option<U>,
) -> Result<Ratio, NoFigure> {
    let cost = |passes: &Passes| passes.cost(&figure).ok_or(NoFigure::NotReached);
    let passes = first.all.len().min(second.all.len());
    Ok(of_costs(&cost(first)?, &cost(second)?, metric, passes))
}

/// Compares two costs, such as sums of several cells' costs; `passes` is the number of passes of the cell that has fewest.
pub(crate) fn of_costs(
    first: &Uncertain,
    second: &Uncertain,
    metric: Basis,
    passes: usize,
) -> Ratio {
    let log = Uncertain::sum([(1.0, &first.ln(1.0, 0.0)), (-1.0, &second.ln(1.0, 0.0))]);
    let Bounded { value, interval } = log.map(f64::exp);
    Ratio { value, interval, verdict: Verdict::of(&log), needs: needs(&log), metric, passes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NoiseKind, by, clock, noisy_rounds, passes};
    use cpb_record::Round;

    #[test]
    fn a_ratio_is_taken_of_all_passes_and_has_an_inverse() {
        let first = noisy_rounds(1, 12, 2000.0, 0.001);
        let second = &noisy_rounds(2, 14, 1000.0, 0.001)[4..];
        let [first, second]: [Vec<&Round>; 2] = [first.iter().collect(), second.iter().collect()];
        let ratio = compared(&first, &second);
        assert_eq!(
            (ratio.passes, ratio.metric, ratio.verdict),
            (10, Basis::Cycles, Verdict::Slower)
        );
        let interval = ratio.interval.unwrap();
        assert!(interval.low.0 < 2.0 && 2.0 < interval.high.0, "{ratio:?}");
        let inverse = compared(&second, &first);
        assert!((inverse.value.0 * ratio.value.0 - 1.0).abs() < 1e-9);
        assert_eq!(ratio.inverse().verdict, Verdict::Faster);
        // The first has twelve passes, and the second shares eight of them.
        assert!(ratio.interval.is_some());
    }

    #[test]
    fn a_cell_that_does_not_know_its_cycles_is_compared_in_time() {
        let first = noisy_rounds(1, 12, 2000.0, 0.001);
        let mut second = noisy_rounds(2, 12, 1000.0, 0.001);
        for round in &mut second {
            round.reference_cycles = 0;
        }
        let [first, second]: [Vec<&Round>; 2] = [first.iter().collect(), second.iter().collect()];
        let ratio = compared(&first, &second);
        assert_eq!((ratio.metric, ratio.passes), (Basis::Time, 12));
    }

    fn compared(first: &[&Round], second: &[&Round]) -> Ratio {
        let clock = clock(20);
        let [first, second] =
            [first, second].map(|rounds| Passes::of(rounds.iter().copied(), by(&clock)).unwrap());
        of(&first, &second).unwrap()
    }

    #[test]
    fn two_passes_decide_nothing() {
        let (first, second) = (passes(&[2.0, 2.0]), passes(&[1.0, 1.0]));
        assert_eq!(of(&first, &second).unwrap().verdict, Verdict::Unknown);
    }

    /// Seen on a busy host: `=309` MB/s next to `=10244`, because only three of twenty passes were common to both.
    #[test]
    fn want_of_evidence_is_no_tie() {
        let numbered = |numbers: &[u32], cost: f64| {
            let costs: Vec<f64> =
                numbers.iter().map(|n| cost * (1.0 + 0.1 * f64::from(n % 3))).collect();
            let mut passes = passes(&costs);
            for (pass, number) in passes.all.iter_mut().zip(numbers) {
                pass.number = *number;
            }
            passes
        };
        let slow = numbered(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 33.0);
        let fast = numbered(&[8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], 1.0);
        let ratio = of(&slow, &fast).unwrap();
        assert_eq!((ratio.verdict, ratio.needs), (Verdict::Slower, None), "{ratio:?}");
        // Three noisy passes each: the verdict is unknown, and the number of passes needed is reported.
        let noisy = |cost: f64| passes(&[cost, 1.2 * cost, 1.5 * cost]);
        let ratio = of(&noisy(1.0), &noisy(1.0)).unwrap();
        assert_eq!(ratio.verdict, Verdict::Tie, "the same noise in both: {ratio:?}");
        let other = passes(&[1.3, 1.0, 1.4]);
        let ratio = of(&noisy(1.0), &other).unwrap();
        assert_eq!(ratio.verdict, Verdict::Unknown, "{ratio:?}");
        assert!(ratio.needs.unwrap() > 10.0, "{ratio:?}");
    }

    #[test]
    fn a_tie_is_sure_to_be_within_its_bounds() {
        let log = |value: f64, error: f64| Uncertain::single(value).scattered(error, 1000);
        assert_eq!(Verdict::of(&log(0.0, 0.01)), Verdict::Tie);
        assert_eq!(Verdict::of(&log(0.02, 0.01)), Verdict::Unknown);
        assert_eq!(Verdict::of(&log(0.0, 0.02)), Verdict::Unknown);
        assert_eq!(Verdict::of(&log(0.02, 0.005)), Verdict::Slower);
        assert_eq!(Verdict::of(&log(-0.02, 0.005)), Verdict::Faster);
        assert_eq!(Verdict::of(&Uncertain::single(0.0)), Verdict::Unknown);
        assert_eq!(needs(&Uncertain::single(0.0)), None);
        // Twice the error that would make it a tie.
        let wide = log(0.0, 0.03);
        assert!((needs(&wide).unwrap() - (1.962 * 0.03 / TIE.ln_1p()).powi(2)).abs() < 0.01);
    }

    /// The requirement on a comparison: it detects a difference of 1 % in 95 of 100 cases, and a false difference in
    /// at most 5.
    #[test]
    fn a_planted_percent_is_seen_and_nothing_is_not() {
        for noise in NoiseKind::ALL {
            for count in [10, 20, 60] {
                let (mut seen, mut alarms) = (0, 0);
                for seed in 0..100 {
                    let mut random = fastrand::Rng::with_seed(seed * 1000 + count);
                    let mut draw = |centre: f64| -> Passes {
                        let value = |_| centre * (0.001 * noise.draw(&mut random)).exp();
                        passes(&(0..count).map(value).collect::<Vec<f64>>())
                    };
                    let (base, same, slow) = (draw(1000.0), draw(1000.0), draw(1010.0));
                    seen += u32::from(of(&slow, &base).unwrap().verdict == Verdict::Slower);
                    let other = of(&same, &base).unwrap().verdict;
                    alarms += u32::from(other != Verdict::Tie);
                }
                assert!(
                    seen >= 95 && alarms <= 5,
                    "{noise:?} {count}: {seen} seen, {alarms} alarms"
                );
            }
        }
    }
}
