//! The cost of a path at any size: time(n) = fixed + n * per_byte.
//!
//! The line is fitted so that its relative error at the measured sizes is small (a weight of 1/time², less for
//! uncertain sizes), and so that one outlier does not bend it (Huber's weights). If a line is off by more than
//! [`TOLERANCE`] somewhere, two lines are tried, as for a driver that takes another path from some size on. If these
//! do not fit either, the fit is called poor and no cost is read from it.
//!
//! An interval combines the uncertainty of the passes and the scatter of the sizes about the line. For single
//! readings, that scatter is the only source.

use crate::location::{Confidence, deviation};
use crate::uncertain::{Bounded, Uncertain};
use crate::units::{Bytes, BytesPerSecond, Cycles, Nanoseconds};
use serde::Serialize;

/// A line describes a path if it is off by at most this share at every size.
pub const TOLERANCE: f64 = 0.05;
/// Two lines must be off by at most this share of the error of one line.
const BETTER: f64 = 1.0 / 3.0;
/// A line needs two sizes, and one more shows whether the costs are linear.
pub const LEAST_SIZES: usize = 3;
/// Two lines need four sizes, and one more.
const LEAST_SIZES_OF_TWO: usize = 5;
/// No size counts as more accurate than this share, because caches and alignment differ from size to size.
const TRUST: f64 = 0.01;
/// Residuals larger than this many typical ones are weighted less (Huber 1964: 95 % efficient on normal noise).
const HUBER: f64 = 1.345;

/// One size of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// Message length.
    pub bytes: Bytes,
    /// Time or cycles of an operation.
    pub cost: Uncertain,
}

/// The costs of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The shape of the costs.
    pub shape: Shape,
    /// One line, or two; empty if the fit is poor.
    pub lines: Vec<Line>,
    /// The size at which the best fit is off most.
    pub worst_bytes: Bytes,
    /// How far the best fit is off at that size, as a share.
    pub worst: f64,
}

/// The shape of a path's costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One line.
    Line,
    /// Two lines, with a change somewhere between two sizes.
    Switch {
        /// The largest size of the first line.
        after: Bytes,
        /// The smallest size of the second line.
        before: Bytes,
    },
    /// Neither one line nor two.
    Poor,
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFit {
    /// Fewer than [`LEAST_SIZES`] sizes.
    FewSizes,
}

/// Fixed cost and cost per byte.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The smallest size in the fit.
    pub from: Bytes,
    /// The largest size in the fit.
    pub to: Bytes,
    /// Cost of an operation that does not depend on its size.
    #[serde(rename = "fixed_ns")]
    pub fixed: Bounded<Nanoseconds>,
    /// The same in core cycles, if known.
    #[serde(rename = "fixed_cycles")]
    pub fixed_cycles: Option<Bounded<Cycles>>,
    /// Cost per byte.
    #[serde(rename = "ns_per_byte")]
    pub per_byte: Bounded<Nanoseconds>,
    /// The rate of infinitely long messages. `None` if the cost per byte may be zero.
    #[serde(rename = "asymptotic_bytes_per_second")]
    pub rate: Option<Bounded<BytesPerSecond>>,
    /// The size at which half of that rate is reached; `None` if there is no fixed cost.
    #[serde(rename = "half_rate_bytes")]
    pub half_rate: Option<Bounded<Bytes>>,
    /// The line itself, for computations.
    #[serde(skip)]
    raw: Raw,
}

impl Line {
    /// Cost of an operation at a size.
    pub fn at(&self, bytes: Bytes) -> Nanoseconds {
        Nanoseconds(self.raw.at(bytes))
    }
}

/// Fits a path's times, in nanoseconds, by ascending size. `cycles` are the same costs in cycles, or empty.
///
/// # Errors
/// Returns an error if there are too few sizes.
pub fn of(times: &[Sized], cycles: &[Sized]) -> Result<Fit, NoFit> {
    if times.len() < LEAST_SIZES {
        return Err(NoFit::FewSizes);
    }
    let one = Solved::of(times);
    let (place, worst) = one.worst(times);
    let single =
        Fit { shape: Shape::Line, lines: Vec::new(), worst_bytes: times[place].bytes, worst };
    if worst <= TOLERANCE {
        return Ok(Fit { lines: vec![one.line(times, cycles)], ..single });
    }
    let splits = if times.len() < LEAST_SIZES_OF_TWO { 0..0 } else { 2..times.len() - 1 };
    let tried = splits.map(|at| {
        let (small, large) = times.split_at(at);
        let both = [Solved::of(small), Solved::of(large)];
        let worst = [both[0].worst(small), both[1].worst(large)];
        let worst = match worst {
            [(place, off), (_, other)] if off >= other => (place, off),
            [_, (place, off)] => (at + place, off),
        };
        (at, both, worst)
    });
    let best = tried.min_by(|a, b| a.2.1.total_cmp(&b.2.1));
    match best {
        Some((at, [small, large], (place, off))) if off <= TOLERANCE && off <= worst * BETTER => {
            let of_cycles = if cycles.is_empty() { (cycles, cycles) } else { cycles.split_at(at) };
            let lines =
                vec![small.line(&times[..at], of_cycles.0), large.line(&times[at..], of_cycles.1)];
            let shape = Shape::Switch { after: times[at - 1].bytes, before: times[at].bytes };
            Ok(Fit { shape, lines, worst_bytes: times[place].bytes, worst: off })
        }
        _ => Ok(Fit { shape: Shape::Poor, ..single }),
    }
}

/// The sizes of a path with single readings, with the scatter about its line as their error. Unchanged if there is no
/// line, or none that is close to them.
pub fn with_scatter(times: &[Sized]) -> Vec<Sized> {
    if times.len() < LEAST_SIZES {
        return times.to_vec();
    }
    let solved = Solved::of(times);
    if solved.worst(times).1 > TOLERANCE {
        return times.to_vec();
    }
    let scattered = |sized: &Sized| Sized {
        cost: sized.cost.scattered(solved.scatter * sized.cost.value, times.len() - 2),
        ..*sized
    };
    times.iter().map(scattered).collect()
}

/// A line, in nanoseconds or in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Raw {
    fixed: f64,
    per_byte: f64,
}

impl Raw {
    fn at(&self, bytes: Bytes) -> f64 {
        self.fixed + self.per_byte * bytes.0
    }
}

/// A line, and the contribution of each size's cost to its two parameters.
struct Solved {
    raw: Raw,
    fixed: Vec<f64>,
    per_byte: Vec<f64>,
    /// Typical share by which sizes are off; 0 for two sizes.
    scatter: f64,
}

impl Solved {
    /// Iteratively reweighted least squares.
    fn of(sizes: &[Sized]) -> Solved {
        let trusted: Vec<f64> = sizes
            .iter()
            .map(|sized| {
                let value = sized.cost.value;
                1.0 / (value.powi(2) * (TRUST.powi(2) + (sized.cost.error() / value).powi(2)))
            })
            .collect();
        let mut weights = trusted.clone();
        let mut solved = least_squares(sizes, &weights);
        for _ in 0..30 {
            let off = solved.off(sizes);
            let typical = deviation(&off).max(TRUST);
            for ((weight, trusted), off) in weights.iter_mut().zip(&trusted).zip(&off) {
                *weight = trusted * (HUBER * typical / off.abs()).min(1.0);
            }
            let next = least_squares(sizes, &weights);
            let done =
                (next.raw.per_byte - solved.raw.per_byte).abs() <= 1e-9 * solved.raw.per_byte.abs();
            solved = next;
            if done {
                break;
            }
        }
        let off = solved.off(sizes);
        let squares: f64 = off.iter().map(|off| off.powi(2)).sum();
        let freedom = sizes.len().saturating_sub(2);
        solved.scatter = if freedom > 0 { (squares / freedom as f64).sqrt() } else { 0.0 };
        solved
    }

    /// The share by which each size is off the line.
    fn off(&self, sizes: &[Sized]) -> Vec<f64> {
        sizes.iter().map(|s| (s.cost.value - self.raw.at(s.bytes)) / s.cost.value).collect()
    }

    /// The index of the size that is off most, and its share.
    fn worst(&self, sizes: &[Sized]) -> (usize, f64) {
        let off = self.off(sizes).into_iter().map(f64::abs).enumerate();
        off.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    fn line(&self, times: &[Sized], cycles: &[Sized]) -> Line {
        let freedom = times.len().saturating_sub(2).max(1);
        let scattered = |sizes: &[Sized]| -> Vec<Uncertain> {
            // A line through two single readings misses neither, which says nothing of their noise.
            let unknown = sizes.len() < 3 && sizes.iter().all(|sized| sized.cost.is_single());
            let cost = |sized: &Sized| match unknown {
                true => sized.cost.clone(),
                false => sized.cost.scattered(self.scatter * sized.cost.value, freedom),
            };
            sizes.iter().map(cost).collect()
        };
        let costs = scattered(times);
        let sum = |factors: &[f64], costs: &[Uncertain]| {
            Uncertain::sum(factors.iter().copied().zip(costs))
        };
        let per_byte = sum(&self.per_byte, &costs);
        let Raw { fixed, per_byte: slope } = self.raw;
        // If the interval of a slope contains 0, no rate follows from it: a report once showed 11,557 MB/s ±100 %.
        let of_two = times.len() < 3 && times.iter().all(|sized| sized.cost.is_single());
        let costs_bytes =
            !of_two && slope > 0.0 && per_byte.margin(Confidence::Shown).is_none_or(|m| m < slope);
        // Half of the rate is reached where the bytes cost as much as all the rest. To first order:
        let half = (costs_bytes && fixed > 0.0).then(|| {
            let size = fixed / slope;
            let parts = self.fixed.iter().zip(&self.per_byte);
            let factors: Vec<f64> = parts.map(|(f, b)| (f - size * b) / slope).collect();
            sum(&factors, &costs).about(size)
        });
        Line {
            from: times.first().map_or(Bytes(0.0), |sized| sized.bytes),
            to: times.last().map_or(Bytes(0.0), |sized| sized.bytes),
            fixed: sum(&self.fixed, &costs).bounded(),
            fixed_cycles: (!cycles.is_empty()).then(|| {
                let solved = Solved::of(cycles);
                sum(&solved.fixed, &scattered(cycles)).bounded()
            }),
            per_byte: per_byte.bounded(),
            rate: costs_bytes.then(|| rate(&per_byte)),
            half_rate: half.map(|half| half.bounded()),
            raw: self.raw,
        }
    }
}

/// The rate that follows from a cost per byte that is certainly above 0.
fn rate(per_byte: &Uncertain) -> Bounded<BytesPerSecond> {
    per_byte.map(|ns| 1e9 / ns)
}

/// The weighted line through sizes of which at least two differ, and the contribution of each cost to it.
fn least_squares(sizes: &[Sized], weights: &[f64]) -> Solved {
    let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
        sizes.iter().zip(weights).map(|(sized, weight)| weight * term(sized.bytes.0)).sum()
    };
    let all = sum(&|_| 1.0);
    let middle = sum(&|bytes| bytes) / all;
    let width = sum(&|bytes| (bytes - middle).powi(2));
    let per_byte: Vec<f64> = sizes
        .iter()
        .zip(weights)
        .map(|(sized, weight)| weight * (sized.bytes.0 - middle) / width)
        .collect();
    let fixed: Vec<f64> =
        weights.iter().zip(&per_byte).map(|(weight, b)| weight / all - middle * b).collect();
    let dot = |factors: &[f64]| -> f64 {
        factors.iter().zip(sizes).map(|(factor, sized)| factor * sized.cost.value).sum()
    };
    let raw = Raw { fixed: dot(&fixed), per_byte: dot(&per_byte) };
    Solved { raw, fixed, per_byte, scatter: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::NoiseKind;

    fn single(points: &[(f64, f64)]) -> Vec<Sized> {
        let sized = |&(bytes, cost): &(f64, f64)| Sized {
            bytes: Bytes(bytes),
            cost: Uncertain::single(cost),
        };
        points.iter().map(sized).collect()
    }

    fn noisy(seed: u64, centre: f64, cost: impl Fn(f64) -> f64) -> Vec<Sized> {
        let mut random = fastrand::Rng::with_seed(seed);
        let sizes = [16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0];
        let sized = |bytes: f64| {
            let mut draw =
                |_| cost(bytes) * (1.0 + 0.001 * (NoiseKind::Late.draw(&mut random) - centre));
            let values: Vec<(u32, f64)> = (0..20).map(|pass| (pass, draw(pass))).collect();
            Sized { bytes: Bytes(bytes), cost: Uncertain::planted(&values) }
        };
        sizes.map(sized).to_vec()
    }

    #[test]
    fn planted_costs_are_found_and_lie_within_their_intervals() {
        // Disturbances only lengthen: a cost is the location of its noise, not the mean.
        let centre = NoiseKind::Late.centre();
        let mut inside = 0;
        for seed in 0..200 {
            let fit = of(&noisy(seed, centre, |bytes| 700.0 + 2.5 * bytes), &[]).unwrap();
            assert_eq!(fit.shape, Shape::Line);
            let line = &fit.lines[0];
            assert!((line.fixed.value.0 / 700.0 - 1.0).abs() < 0.005, "{line:?}");
            assert!((line.half_rate.unwrap().value.0 / 280.0 - 1.0).abs() < 0.01, "{line:?}");
            let holds = |low: f64, high: f64, truth: f64| low <= truth && truth <= high;
            let (fixed, bytes) = (line.fixed.interval.unwrap(), line.per_byte.interval.unwrap());
            inside += u32::from(holds(fixed.low.0, fixed.high.0, 700.0));
            inside += u32::from(holds(bytes.low.0, bytes.high.0, 2.5));
            let rate = line.rate.unwrap().interval.unwrap();
            assert!(rate.low.0 < rate.high.0);
        }
        assert!(inside >= 380, "{inside} of 400");
    }

    #[test]
    fn a_path_that_is_switched_at_a_size_has_two_lines() {
        let cost = |bytes: f64| match bytes {
            bytes if bytes <= 1024.0 => 100.0 + 10.0 * bytes,
            bytes => 9_000.0 + 1.0 * bytes,
        };
        let fit = of(&noisy(1, 0.0, cost), &[]).unwrap();
        assert_eq!(fit.shape, Shape::Switch { after: Bytes(1024.0), before: Bytes(4096.0) });
        assert!((fit.lines[0].per_byte.value.0 - 10.0).abs() < 0.05, "{fit:?}");
        assert!((fit.lines[1].fixed.value.0 / 9_000.0 - 1.0).abs() < 0.01, "{fit:?}");
    }

    #[test]
    fn what_no_line_describes_is_called_poor() {
        let fit = of(&noisy(1, 0.0, |bytes| 100.0 * bytes.sqrt()), &[]).unwrap();
        assert_eq!((fit.shape, fit.lines.len()), (Shape::Poor, 0));
        assert!(fit.worst > TOLERANCE);
        let bent = single(&[(16.0, 85.0), (1024.0, 152.0), (16384.0, 820.0)]);
        assert_eq!(of(&bent, &[]).unwrap().shape, Shape::Poor);
    }

    #[test]
    fn one_odd_size_does_not_bend_the_line_and_is_named() {
        let mut points: Vec<(f64, f64)> =
            (4..=14).map(|n| f64::from(1 << n)).map(|bytes| (bytes, 700.0 + 2.5 * bytes)).collect();
        points[5].1 *= 1.5;
        let fit = of(&single(&points), &[]).unwrap();
        assert_eq!((fit.shape, fit.worst_bytes), (Shape::Poor, Bytes(512.0)));
    }

    #[test]
    fn two_sizes_are_no_fit_and_single_readings_have_the_scatter_for_an_interval() {
        assert_eq!(of(&single(&[(16.0, 1.0), (64.0, 2.0)]), &[]), Err(NoFit::FewSizes));
        let points = [(16.0, 117.0), (64.0, 163.5), (256.0, 359.0), (1024.0, 1123.0)];
        let fit = of(&single(&points), &[]).unwrap();
        let interval = fit.lines[0].fixed.interval.unwrap();
        assert!(interval.low.0 < 100.0 && 100.0 < interval.high.0, "{fit:?}");
        assert_eq!(with_scatter(&single(&points[..2])), single(&points[..2]));
        assert!(with_scatter(&single(&points))[0].cost.error() > 0.0);
    }

    #[test]
    fn a_line_through_two_single_readings_has_no_interval() {
        let cost = |bytes: f64| if bytes < 100.0 { 500.0 + 1.37 * bytes } else { 9_000.0 + bytes };
        let sizes = [16.0, 64.0, 256.0, 1024.0, 8192.0, 16384.0];
        let fit = of(&single(&sizes.map(|bytes| (bytes, cost(bytes)))), &[]).unwrap();
        let [first, second] = fit.lines.as_slice() else { panic!("{fit:?}") };
        assert_eq!((first.fixed.interval, first.per_byte.interval), (None, None), "{fit:?}");
        assert!(second.fixed.interval.is_some(), "{fit:?}");
    }

    #[test]
    fn bytes_that_cost_nothing_have_no_rate() {
        let fit = of(&single(&[(16.0, 50.0), (64.0, 50.0), (256.0, 49.9)]), &[]).unwrap();
        assert_eq!((fit.lines[0].rate, fit.lines[0].half_rate), (None, None));
    }
}
