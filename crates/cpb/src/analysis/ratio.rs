//! How two cells compare: pass by pass, so that what slows the machine for a while slows both.
//!
//! The ratio is that of the two cells' locations over the passes they have in common; how sure it
//! is follows from how the two move together from pass to pass.

use crate::analysis::batches::Scale;
use crate::analysis::estimate::{bounds, grain};
use crate::analysis::location::Confidence;
use crate::analysis::no_figure::NoFigure;
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::units::{Interval, Times};
use crate::record::Round;
use serde::Serialize;

/// What the first cell costs in terms of the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Cost of the first divided by cost of the second: above 1 the first is slower.
    pub value: Times,
    /// Contains the truth 95 times of 100; none with fewer than three passes in common.
    pub interval: Option<Interval<Times>>,
    /// Whether the first is faster or slower, 99 times of 100.
    pub verdict: Verdict,
    /// What was compared.
    pub metric: Metric,
    /// In how many passes.
    pub passes: usize,
}

/// What can be said of the first of two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs less.
    Faster,
    /// It costs more.
    Slower,
    /// Nothing: the difference, if any, is below what these passes can tell.
    Indistinguishable,
    /// Nothing, for want of passes.
    Undecided,
}

/// What a ratio was taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Core cycles: both cells know them.
    Cycles,
    /// Wall-clock time.
    Time,
}

impl Ratio {
    /// The same seen from the second cell.
    pub fn inverse(&self) -> Ratio {
        let turn = |times: Times| Times(1.0 / times.0);
        let verdict = match self.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: turn(high), high: turn(low) });
        Ratio { value: turn(self.value), interval, verdict, ..*self }
    }

    /// Multiplied by a number that is exact.
    pub fn scaled(&self, factor: f64) -> (Times, Option<Interval<Times>>) {
        let scale = |times: Times| Times(times.0 * factor);
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: scale(low), high: scale(high) });
        (scale(self.value), interval)
    }

    /// Half of the interval's width as a share of the ratio.
    pub fn precision(&self) -> Option<f64> {
        let interval = self.interval?;
        Some((interval.high.0 - interval.low.0) / 2.0 / self.value.0)
    }
}

/// Compares the rounds of two cells.
///
/// # Errors
/// One of them has no figure, or no pass measured both.
pub fn paired(
    first: &[&Round],
    second: &[&Round],
    first_scale: Scale,
    second_scale: Scale,
) -> Result<Ratio, NoFigure> {
    let first = Passes::of(first.iter().copied(), first_scale)?;
    of(&first, &Passes::of(second.iter().copied(), second_scale)?)
}

/// Compares two cells: in cycles where both know them, else in time.
///
/// # Errors
/// No pass measured both.
pub fn of(first: &Passes, second: &Passes) -> Result<Ratio, NoFigure> {
    let cycles = |pass: &Pass| pass.cycles;
    match compare(first, second, Metric::Cycles, cycles) {
        Some(ratio) if ratio.passes * 2 >= first.all.len().min(second.all.len()) => Ok(ratio),
        _ => time(first, second),
    }
}

/// Compares two cells in wall-clock time.
///
/// # Errors
/// No pass measured both.
pub fn time(first: &Passes, second: &Passes) -> Result<Ratio, NoFigure> {
    compare(first, second, Metric::Time, |pass| Some(pass.time)).ok_or(NoFigure::NoCommonPass)
}

fn compare(
    first: &Passes,
    second: &Passes,
    metric: Metric,
    figure: impl Fn(&Pass) -> Option<f64>,
) -> Option<Ratio> {
    let mut others = second.all.iter().peekable();
    let (mut costs, mut other_costs, mut grains) = (Vec::new(), Vec::new(), Vec::new());
    for pass in &first.all {
        while others.next_if(|other| other.number < pass.number).is_some() {}
        let Some(other) = others.next_if(|other| other.number == pass.number) else { continue };
        if let (Some(cost), Some(other_cost)) = (figure(pass), figure(other)) {
            costs.push((cost, pass.operations));
            other_costs.push((other_cost, other.operations));
            grains.push(pass.grain.hypot(other.grain));
        }
    }
    let others = second.scatter.over_passes(&other_costs)?;
    let location = first.scatter.over_passes(&costs)?.minus(&others);
    let grain = grain(grains.into_iter());
    let within =
        |confidence| location.margin(confidence).map(|margin| bounds(&location, margin, grain));
    let verdict = match within(Confidence::Verdict) {
        None => Verdict::Undecided,
        Some((_, high)) if high < 1.0 => Verdict::Faster,
        Some((low, _)) if low > 1.0 => Verdict::Slower,
        Some(_) => Verdict::Indistinguishable,
    };
    let interval = within(Confidence::Shown);
    Some(Ratio {
        value: Times(location.value.exp()),
        interval: interval.map(|(low, high)| Interval { low: Times(low), high: Times(high) }),
        verdict,
        metric,
        passes: costs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::{Noise, by, clock, noisy_rounds, passes};

    #[test]
    fn a_ratio_is_taken_of_common_passes_and_has_an_inverse() {
        let first = noisy_rounds(1, 12, 2000.0, 0.001);
        let second = &noisy_rounds(2, 14, 1000.0, 0.001)[4..];
        let [first, second]: [Vec<&Round>; 2] = [first.iter().collect(), second.iter().collect()];
        let ratio = paired(&first, &second, by(&clock(20)), by(&clock(20))).unwrap();
        assert_eq!(
            (ratio.passes, ratio.metric, ratio.verdict),
            (8, Metric::Cycles, Verdict::Slower)
        );
        let interval = ratio.interval.unwrap();
        assert!(interval.low.0 < 2.0 && 2.0 < interval.high.0, "{ratio:?}");
        let inverse = paired(&second, &first, by(&clock(20)), by(&clock(20))).unwrap();
        assert!((inverse.value.0 * ratio.value.0 - 1.0).abs() < 1e-9);
        assert_eq!(ratio.inverse().verdict, Verdict::Faster);
        assert_eq!(
            paired(&first[..2], &second[..2], by(&clock(20)), by(&clock(20))),
            Err(NoFigure::NoCommonPass)
        );
    }

    #[test]
    fn a_cell_that_does_not_know_its_cycles_is_compared_in_time() {
        let first = noisy_rounds(1, 12, 2000.0, 0.001);
        let mut second = noisy_rounds(2, 12, 1000.0, 0.001);
        for round in &mut second {
            round.reference_cycles = 0;
        }
        let [first, second]: [Vec<&Round>; 2] = [first.iter().collect(), second.iter().collect()];
        let ratio = paired(&first, &second, by(&clock(20)), by(&clock(20))).unwrap();
        assert_eq!((ratio.metric, ratio.passes), (Metric::Time, 12));
    }

    #[test]
    fn two_passes_decide_nothing() {
        let (first, second) = (passes(&[2.0, 2.0]), passes(&[1.0, 1.0]));
        assert_eq!(of(&first, &second).unwrap().verdict, Verdict::Undecided);
    }

    /// What is asked of a comparison: 1 % is seen 95 times of 100, nothing 5 times at most.
    #[test]
    fn a_planted_percent_is_seen_and_nothing_is_not() {
        for noise in Noise::ALL {
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
                    alarms += u32::from(other != Verdict::Indistinguishable);
                }
                assert!(
                    seen >= 95 && alarms <= 5,
                    "{noise:?} {count}: {seen} seen, {alarms} alarms"
                );
            }
        }
    }
}
