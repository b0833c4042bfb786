//! The location of a few noisy values, and its uncertainty.
//!
//! The location is a weighted mean of the sorted values. The lowest tenth does not count, the next tenth counts
//! fully, and from two tenths on the weight falls linearly to zero at seven tenths. Disturbances of a pass (another
//! process, the core's other thread, an interrupt) lengthen it and never shorten it, so high values say little. The
//! lowest value may come from a disturbed reading of the clock. The upper end of the weights has no step, because a
//! fresh process gets fresh pages: at some sizes its speed is then one of two, and a median or a cut between the two
//! jumps as their proportion changes.
//!
//! The method was chosen by experiment: five runs of the default plan, 37 to 58 passes each, on a virtual machine
//! with two busy cores. Figures in cycles had a standard deviation between runs of 0.13 % in the ninetieth of a
//! hundred cells; with the median 0.22 %, with a trimmed mean 0.21 %, with the plain mean 1.7 %. Of 530 differences
//! of 1 % planted between halves of a run, 18 to 29 passes each, it found 489 with 3 false alarms, and a trimmed mean
//! 443 with 2.
//!
//! Its error is the jackknife's (Tukey 1958), and the interval Student's t. Both are closed-form, so the same record
//! always gives the same result, and they hold for few values and several kinds of noise: see the tests below.

use cpb_core::{CryptoWorkload, Workload};

/// Shares of the sorted values. A value counts fully from the first share on, less from the second on, and not at all
/// from the third on.
const COUNTS: (f64, f64, f64) = (0.1, 0.2, 0.7);

/// Fewer values than this have no interval, because two values say next to nothing about their spread.
pub const LEAST: usize = 3;

/// Scales the median absolute deviation to the standard deviation of normal noise.
const NORMAL: f64 = 1.4826;

/// Why readings of the same thing differ, which determines the ones to trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// They were disturbed, which lengthens them, so the low ones are trusted.
    Disturbed,
    /// The operation's duration itself is random, so all count equally.
    Intrinsic,
}

impl Scatter {
    /// The kind of scatter of a workload.
    pub fn of(workload: &Workload) -> Scatter {
        let random = |it: &CryptoWorkload| it.algorithm.has_random_duration(it.operation);
        match workload.crypto().is_some_and(random) {
            true => Scatter::Intrinsic,
            false => Scatter::Disturbed,
        }
    }

    /// The location of the batches of one pass. `None` if `batches` is empty.
    pub fn within_pass(self, batches: &[f64]) -> Option<f64> {
        match self {
            Scatter::Disturbed => lower_quartile(batches),
            Scatter::Intrinsic => mean(batches),
        }
    }

    /// The location of the passes' costs per operation, all above 0, each with its number of operations. `None` if
    /// `costs` is empty. It is a logarithm, so that inverting a time gives the rate's location and bounds, and
    /// inverting a ratio gives those of the inverse ratio.
    pub fn over_passes(self, costs: &[(f64, u32)]) -> Option<Location> {
        match self {
            Scatter::Disturbed => {
                Location::of(&costs.iter().map(|(cost, _)| cost.ln()).collect::<Vec<f64>>())
            }
            Scatter::Intrinsic => Location::of_mean(costs),
        }
    }
}

/// The confidence of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// 95 %, shown next to figures in reports.
    Shown,
    /// 99 %, required for a verdict. A report contains dozens of comparisons; with 95 %, some would be false alarms
    /// in every run.
    Verdict,
}

/// A location and its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The weighted mean.
    pub value: f64,
    /// How much each value, in the order given, moves the mean, scaled so that the variance is that of a plain mean's
    /// values (Tukey's pseudo-values minus their mean).
    influences: Vec<f64>,
    /// The number of values that count.
    counted: usize,
}

impl Location {
    /// The location of some values. `None` if `values` is empty.
    pub fn of(values: &[f64]) -> Option<Location> {
        let count = values.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
        let weights = weights(count);
        let counted = weights.iter().filter(|weight| **weight > 0.0).count();
        let ranked = order.iter().zip(&weights);
        let value = ranked.map(|(place, weight)| values[*place] * weight).sum::<f64>();
        let influences =
            if count < LEAST { vec![0.0; count] } else { influences(values, &order, value) };
        (count > 0).then_some(Location { value, influences, counted })
    }

    /// The logarithm of the weighted mean of some values above 0. `None` if `values` is empty. The weights are
    /// necessary because a pass ends when its time is over: passes with long operations have few of them, so a mean
    /// with equal weights would be too long.
    fn of_mean(values: &[(f64, u32)]) -> Option<Location> {
        let count = values.len();
        let weight =
            mean(&values.iter().map(|(_, weight)| f64::from(*weight)).collect::<Vec<_>>())?;
        let weighted = |&(value, own): &(f64, u32)| value * f64::from(own) / weight;
        let mean = mean(&values.iter().map(weighted).collect::<Vec<_>>())?;
        // How far a value moves the logarithm of the mean, to first order.
        let influence = |&(value, own): &(f64, u32)| match count < LEAST {
            true => 0.0,
            false => (value / mean - 1.0) * f64::from(own) / weight,
        };
        let influences = values.iter().map(influence).collect();
        Some(Location { value: mean.ln(), influences, counted: count })
    }

    /// The difference between this location and another one of the same number of values, taken in pairs. A
    /// disturbance that affects both values of a pair equally does not add to the uncertainty.
    pub fn minus(&self, other: &Location) -> Location {
        let pairs = self.influences.iter().zip(&other.influences);
        Location {
            value: self.value - other.value,
            influences: pairs.map(|(own, others)| own - others).collect(),
            counted: self.counted.min(other.counted),
        }
    }

    /// Each value's contribution to the error, in the order given; the standard error is the root of the sum of their
    /// squares. All are zero with fewer than [`LEAST`] values.
    pub fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        let count = self.influences.len();
        let scale = ((count * count.saturating_sub(1)).max(1) as f64).sqrt();
        self.influences.iter().map(move |influence| influence / scale)
    }

    /// Degrees of freedom of the error; `None` with fewer than [`LEAST`] values.
    pub fn freedom(&self) -> Option<usize> {
        self.counted.checked_sub(1).filter(|_| self.influences.len() >= LEAST)
    }

    /// Half the width of the interval; `None` with fewer than [`LEAST`] values.
    pub fn margin(&self, confidence: Confidence) -> Option<f64> {
        let squares: f64 = self.errors().map(|error| error.powi(2)).sum();
        Some(squares.sqrt() * student(self.freedom()?, confidence))
    }
}

/// The weights of `count` sorted values; their sum is 1.
fn weights(count: usize) -> Vec<f64> {
    let (from, falling, to) = COUNTS;
    let weight = |rank: usize| match (rank as f64 + 0.5) / count as f64 {
        share if share < from => 0.0,
        share => ((to - share) / (to - falling)).clamp(0.0, 1.0),
    };
    let weights: Vec<f64> = (0..count).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The difference between the mean of all, `value`, and the mean without each value, times the number of remaining
/// values.
fn influences(values: &[f64], order: &[usize], value: f64) -> Vec<f64> {
    let count = values.len();
    let weights = weights(count - 1);
    // Without the value of one rank, lower values keep their weights and higher values take those of the preceding
    // rank.
    let mut above: f64 = (1..count).map(|rank| values[order[rank]] * weights[rank - 1]).sum();
    let mut below = 0.0;
    let mut influences = vec![0.0; count];
    for (rank, &place) in order.iter().enumerate() {
        influences[place] = (count - 1) as f64 * (value - below - above);
        if let Some(weight) = weights.get(rank) {
            below += values[place] * weight;
            above -= values[order[rank + 1]] * weight;
        }
    }
    let mean = influences.iter().sum::<f64>() / count as f64;
    influences.iter_mut().for_each(|influence| *influence -= mean);
    influences
}

/// The median. `None` if `values` is empty.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    Some(match lower {
        Some(lower) if below.len() == values.len() / 2 && values.len().is_multiple_of(2) => {
            (lower + upper) / 2.0
        }
        _ => upper,
    })
}

/// The arithmetic mean. `None` if `values` is empty.
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The lower quartile; the lowest of up to four values. `None` if `values` is empty.
pub fn lower_quartile(values: &[f64]) -> Option<f64> {
    Some(sorted(values)[values.len().checked_sub(1)? / 4])
}

/// The value below which a share of the values lies. `None` if `values` is empty.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share.clamp(0.0, 1.0) * last as f64).round() as usize])
}

/// The typical deviation of values from their median, as a share of it: the median absolute deviation, scaled. `None`
/// for fewer than two values.
pub fn relative_spread(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some(NORMAL * median(&deviations)? / middle)
}

/// The typical distance of values from 0: their median absolute value, scaled to the standard deviation of normal
/// noise. 0 if `values` is empty.
pub fn deviation(values: &[f64]) -> f64 {
    let distances: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    NORMAL * median(&distances).unwrap_or(0.0)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Two-sided quantile of Student's t distribution.
pub(crate) fn student(freedom: usize, confidence: Confidence) -> f64 {
    // Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10.
    const SHOWN: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    const VERDICT: [f64; 10] =
        [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169];
    let (table, normal) = match confidence {
        Confidence::Shown => (SHOWN, 1.959_964),
        Confidence::Verdict => (VERDICT, 2.575_829),
    };
    if let Some(quantile) = freedom.checked_sub(1).and_then(|place| table.get(place)) {
        return *quantile;
    }
    // Equation 26.7.5 there: correct to 0.1 % from ten degrees of freedom on.
    let (n, x) = (freedom as f64, f64::powi);
    let z: f64 = normal;
    z + (x(z, 3) + z) / (4.0 * n)
        + (5.0 * x(z, 5) + 16.0 * x(z, 3) + 3.0 * z) / (96.0 * n * n)
        + (3.0 * x(z, 7) + 19.0 * x(z, 5) + 17.0 * x(z, 3) - 15.0 * z) / (384.0 * x(n, 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::NoiseKind;

    #[test]
    fn the_middle_is_found_for_even_and_odd_counts() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(&[2.0, 1.0]), Some(1.5));
    }

    #[test]
    fn a_quarter_of_the_values_does_not_exceed_the_lower_quartile() {
        assert_eq!(lower_quartile(&[]), None);
        assert_eq!(lower_quartile(&[3.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(lower_quartile(&[5.0, 4.0, 3.0, 2.0, 1.0]), Some(2.0));
        assert_eq!(lower_quartile(&(0..100).map(f64::from).collect::<Vec<_>>()), Some(24.0));
    }

    #[test]
    fn late_passes_move_nothing() {
        let calm: Vec<f64> = (0..20).map(|value| 100.0 + f64::from(value) * 0.01).collect();
        let mut hit = calm.clone();
        for late in &mut hit[15..] {
            *late *= 10.0;
        }
        assert_eq!(Location::of(&calm).unwrap().value, Location::of(&hit).unwrap().value);
    }

    /// Searches in which each try succeeds with the same probability, as in searches for primes: the mean is the
    /// expected value.
    #[test]
    fn what_is_left_to_chance_is_neither_shortened_nor_surer_than_it_is() {
        let mut random = fastrand::Rng::with_seed(5);
        // The pass lasts until its time is over, which is that of this many operations.
        let mut pass = |operations: f64| {
            let (mut taken, mut all) = (Vec::new(), 0.0);
            while all < operations {
                let search = -(1.0 - random.f64()).ln();
                taken.push(search);
                all += search;
            }
            (Scatter::Intrinsic.within_pass(&taken).unwrap(), taken.len() as u32)
        };
        for (passes, operations) in [(20, 1.0), (20, 8.0), (60, 1.0), (60, 8.0)] {
            let (mut inside, mut all) = (0, 0.0);
            for _ in 0..2000 {
                let costs: Vec<(f64, u32)> = (0..passes).map(|_| pass(operations)).collect();
                let location = Scatter::Intrinsic.over_passes(&costs).unwrap();
                let margin = location.margin(Confidence::Shown).unwrap();
                inside += u32::from(location.value.abs() <= margin);
                all += location.value.exp();
            }
            assert!((all / 2000.0 - 1.0).abs() < 0.03, "{passes} of {operations}: {all}");
            assert!(inside >= 1800, "{passes} of {operations}: {inside}");
        }
    }

    #[test]
    fn two_values_have_no_interval_and_equal_ones_have_none_of_width() {
        assert_eq!(Location::of(&[]), None);
        assert_eq!(Location::of(&[1.0, 2.0]).unwrap().margin(Confidence::Shown), None);
        assert!(Location::of(&[1.0; 5]).unwrap().margin(Confidence::Shown).unwrap() < 1e-12);
    }

    #[test]
    fn what_disturbs_both_of_a_pair_does_not_blur_their_difference() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let common = random.f64();
            first.push(2.0 + common + 0.001 * random.f64());
            second.push(1.0 + common);
        }
        let [first, second] = [first, second].map(|values| Location::of(&values).unwrap());
        let difference = first.minus(&second);
        assert!((difference.value - 1.0).abs() < 0.002, "{difference:?}");
        assert!(difference.margin(Confidence::Verdict).unwrap() < 0.002, "{difference:?}");
        assert!(first.margin(Confidence::Verdict).unwrap() > 0.05);
    }

    #[test]
    fn quantiles_of_student_join_without_a_step() {
        for confidence in [Confidence::Shown, Confidence::Verdict] {
            let all: Vec<f64> = (1..200).map(|freedom| student(freedom, confidence)).collect();
            assert!(all.windows(2).all(|pair| pair[1] < pair[0]), "{all:?}");
        }
        assert!((student(11, Confidence::Shown) - 2.201).abs() < 0.001);
        assert!((student(30, Confidence::Verdict) - 2.750).abs() < 0.001);
    }

    /// An interval contains the truth as often as its confidence promises, with realistic noise.
    #[test]
    fn intervals_hold_what_they_promise() {
        for passes in [3, 5, 10, 20, 60] {
            for noise in NoiseKind::ALL {
                let mut random = fastrand::Rng::with_seed(7 + passes as u64);
                let truth = noise.centre();
                let mut inside = [0; 2];
                for _ in 0..2000 {
                    let values: Vec<f64> = (0..passes).map(|_| noise.draw(&mut random)).collect();
                    let location = Location::of(&values).unwrap();
                    for (place, confidence) in
                        [Confidence::Shown, Confidence::Verdict].into_iter().enumerate()
                    {
                        let margin = location.margin(confidence).unwrap();
                        inside[place] += u32::from((location.value - truth).abs() <= margin);
                    }
                }
                assert!(inside[0] >= 1800, "{noise:?}, {passes} passes: {inside:?}");
                assert!(inside[1] >= 1900, "{noise:?}, {passes} passes: {inside:?}");
            }
        }
    }
}
