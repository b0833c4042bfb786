//! The message size from which another path is the faster one.
//!
//! At a size at which both paths were measured, one is faster, or they tie, or the verdict is unknown. Between two
//! such sizes nothing was measured, and the costs of software are not linear there: a partial block, a vector loop
//! that begins at 256 bytes or a lookup table costs up to 165 % more than the line through the neighbours predicts
//! (`bench/dense_truth.py`). So the interval of a crossover extends from the last size at which one path is certainly
//! faster to the first size at which the other one is. The estimate is the size at which straight lines would meet.
//! Only measurements in between (`cpb run --refine`) make the interval smaller.

use crate::fit::Sized;
use crate::ratio::Verdict;
use crate::uncertain::Uncertain;
use crate::units::{Bytes, Times};
use serde::Serialize;

/// Two single readings that differ by less than this share cannot be told apart, because their noise is unknown and
/// tables of this kind repeat to some percent.
pub const SINGLE: f64 = 0.05;

/// One of two paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The first path.
    First,
    /// The second path.
    Second,
}

impl Side {
    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// A size at which the faster path changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// The message length at which both would cost the same if costs were linear between the measured sizes.
    pub bytes: Bytes,
    /// The largest measured size at which the path below is certainly faster.
    pub low: Bytes,
    /// The smallest measured size above `low` at which the other path is certainly faster.
    pub high: Bytes,
    /// The path that is faster below the crossing.
    pub below: Side,
}

/// How two paths compare at the sizes at which both were measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contest {
    /// The same path is faster at every size.
    Never {
        /// The faster path.
        faster: Side,
    },
    /// The faster path changes, at these crossings in ascending order.
    Crosses(Vec<Crossing>),
    /// One path is faster at some sizes; at the others they tie or the verdict is unknown.
    Partly {
        /// The faster path.
        faster: Side,
        /// The sizes at which it is certainly faster.
        sure: Vec<Bytes>,
    },
    /// The paths tie at every size.
    Tie,
    /// The faster path is unknown at every size, and they do not tie at all of them.
    Unknown,
}

/// Two paths at the sizes at which both were measured, in one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// By ascending size.
    sizes: Vec<SizeStanding>,
}

/// Two paths at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SizeStanding {
    bytes: Bytes,
    /// Cost of the first path minus that of the second.
    difference: f64,
    /// How the first path compares with the second.
    standing: Standing,
}

/// How one path compares with another at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The verdict on the path.
    pub verdict: Verdict,
    /// Its cost divided by the other's.
    pub ratio: f64,
    /// The 95 % interval of the ratio. `None` if the noise is unknown.
    pub bounds: Option<(f64, f64)>,
}

impl Standing {
    /// How the first of two costs compares with the second.
    fn of(first: &Uncertain, second: &Uncertain) -> Standing {
        let ratio = first.value / second.value;
        if first.is_single() || second.is_single() {
            let verdict = match ratio {
                ratio if ratio > 1.0 + SINGLE => Verdict::Slower,
                ratio if ratio < 1.0 / (1.0 + SINGLE) => Verdict::Faster,
                _ => Verdict::Unknown,
            };
            return Standing { verdict, ratio, bounds: None };
        }
        let log = Uncertain::sum([(1.0, &first.ln(1.0, 0.0)), (-1.0, &second.ln(1.0, 0.0))]);
        let interval = log.map::<Times>(f64::exp).interval;
        let bounds = interval.map(|interval| (interval.low.0, interval.high.0));
        Standing { verdict: Verdict::of(&log), ratio, bounds }
    }

    /// How the other path compares with this one.
    pub fn inverse(self) -> Standing {
        Standing {
            verdict: self.verdict.inverse(),
            ratio: 1.0 / self.ratio,
            bounds: self.bounds.map(|(low, high)| (1.0 / high, 1.0 / low)),
        }
    }
}

impl Pair {
    /// From two paths' sizes in ascending order. `None` if they have no size in common.
    pub fn of(first: &[Sized], second: &[Sized]) -> Option<Pair> {
        let at = |one: &Sized| {
            let other = second.iter().find(|other| other.bytes == one.bytes)?;
            Some(SizeStanding {
                bytes: one.bytes,
                difference: one.cost.value - other.cost.value,
                standing: Standing::of(&one.cost, &other.cost),
            })
        };
        let sizes: Vec<SizeStanding> = first.iter().filter_map(at).collect();
        (!sizes.is_empty()).then_some(Pair { sizes })
    }

    /// The sizes at which both paths were measured.
    pub fn sizes(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.sizes.iter().map(|at| at.bytes)
    }

    /// How the first path compares with the second at a size. `None` if either was not measured there.
    pub fn at(&self, bytes: Bytes) -> Option<Standing> {
        self.sizes.iter().find(|at| at.bytes == bytes).map(|at| at.standing)
    }

    /// Which path is faster at which sizes.
    pub fn contest(&self) -> Contest {
        let decided: Vec<(usize, Side)> =
            self.sizes.iter().enumerate().filter_map(|(n, at)| Some((n, side(at)?))).collect();
        let Some(&(_, faster)) = decided.first() else {
            let tie = self.sizes.iter().all(|at| at.standing.verdict == Verdict::Tie);
            return if tie { Contest::Tie } else { Contest::Unknown };
        };
        let changes = decided.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        let crossings: Vec<Crossing> = changes
            .map(|pair| Crossing {
                bytes: self.zero(pair[0].0, pair[1].0),
                low: self.sizes[pair[0].0].bytes,
                high: self.sizes[pair[1].0].bytes,
                below: pair[0].1,
            })
            .collect();
        if !crossings.is_empty() {
            Contest::Crosses(crossings)
        } else if decided.len() == self.sizes.len() {
            Contest::Never { faster }
        } else {
            let sure = decided.iter().map(|(place, _)| self.sizes[*place].bytes);
            Contest::Partly { faster, sure: sure.collect() }
        }
    }

    /// The size at which linear costs meet between two places at which different paths are faster. If they meet
    /// several times, the last one.
    fn zero(&self, from: usize, to: usize) -> Bytes {
        let mut zeros = self.sizes[from..=to].windows(2).filter_map(|pair| {
            let [low, high] = pair else { return None };
            let changes = (low.difference > 0.0) != (high.difference > 0.0);
            let share = low.difference / (low.difference - high.difference);
            changes.then_some(Bytes(low.bytes.0 + share * (high.bytes - low.bytes).0))
        });
        zeros.next_back().unwrap_or(self.sizes[from].bytes)
    }
}

fn side(at: &SizeStanding) -> Option<Side> {
    match at.standing.verdict {
        Verdict::Faster => Some(Side::First),
        Verdict::Slower => Some(Side::Second),
        Verdict::Tie | Verdict::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 6] = [16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0];

    fn path(seed: u64, noise: f64, cost: impl Fn(f64) -> f64) -> Vec<Sized> {
        let mut random = fastrand::Rng::with_seed(seed);
        let sized = |bytes: f64| {
            let values: Vec<(u32, f64)> = (0..20)
                .map(|pass| (pass, cost(bytes) * (1.0 + noise * (random.f64() - 0.5))))
                .collect();
            Sized { bytes: Bytes(bytes), cost: Uncertain::planted(&values) }
        };
        SIZES.map(sized).to_vec()
    }

    fn single(cost: impl Fn(f64) -> f64) -> Vec<Sized> {
        let sized = |bytes| Sized { bytes: Bytes(bytes), cost: Uncertain::single(cost(bytes)) };
        SIZES.map(sized).to_vec()
    }

    fn contest(first: &[Sized], second: &[Sized]) -> Contest {
        Pair::of(first, second).unwrap().contest()
    }

    #[test]
    fn a_crossover_lies_between_the_sizes_at_which_different_paths_are_faster() {
        for seed in 0..200 {
            // Equal at 1500 bytes.
            let software = path(2 * seed, 0.02, |bytes| 100.0 + 20.0 * bytes);
            let engine = path(2 * seed + 1, 0.02, |bytes| 28_600.0 + bytes);
            let Contest::Crosses(found) = contest(&software, &engine) else { panic!() };
            let [crossing] = found[..] else { panic!("{found:?}") };
            assert_eq!((crossing.low, crossing.high), (Bytes(1024.0), Bytes(4096.0)), "{found:?}");
            assert_eq!(crossing.below, Side::First);
            assert!((crossing.bytes.0 / 1500.0 - 1.0).abs() < 0.03, "{found:?}");
        }
    }

    /// Dense sizes put the crossover of AES-256-CTR between two libraries at 34 bytes; lines through 16 and 1024
    /// bytes predicted 20 to 21.
    #[test]
    fn what_is_no_line_between_the_sizes_does_not_leave_the_interval() {
        // The second path processes single blocks below 256 bytes, and eight at a time from there on.
        let stepped = |bytes: f64| 40.0 + if bytes < 256.0 { 2.0 * bytes } else { 0.3 * bytes };
        let straight = |bytes: f64| 100.0 + 0.5 * bytes;
        let Contest::Crosses(found) = contest(&single(straight), &single(stepped)) else {
            panic!()
        };
        for crossing in &found {
            let (low, high) = (crossing.low.0, crossing.high.0);
            let sides = [low, high].map(|bytes| stepped(bytes) < straight(bytes));
            assert_ne!(sides[0], sides[1], "{crossing:?}");
        }
        // Both changes are inside: at 40 bytes and at 256.
        assert!(found.iter().any(|c| c.low.0 <= 40.0 && 40.0 <= c.high.0), "{found:?}");
        assert!(found.iter().any(|c| c.low.0 < 256.0 && 256.0 <= c.high.0), "{found:?}");
    }

    #[test]
    fn a_path_that_is_slower_at_every_size_is_never_faster() {
        let [fast, slow] = [1.0, 1.05].map(|f| path(1, 0.01, move |bytes| f * (100.0 + bytes)));
        assert_eq!(contest(&fast, &slow), Contest::Never { faster: Side::First });
        assert_eq!(contest(&slow, &fast), Contest::Never { faster: Side::Second });
    }

    #[test]
    fn a_tie_is_known_and_want_of_knowledge_is_none() {
        let [one, same] = [1, 2].map(|seed| path(seed, 0.02, |bytes| 100.0 + bytes));
        assert_eq!(contest(&one, &same), Contest::Tie);
        let [one, same] = [1, 2].map(|seed| path(seed, 0.9, |bytes| 100.0 + bytes));
        assert_eq!(contest(&one, &same), Contest::Unknown);
    }

    #[test]
    fn what_the_last_sizes_do_not_decide_is_no_crossover() {
        // The costs meet at the largest size, within its noise.
        let small = path(3, 0.02, |bytes| 100.0 + 1.0 * bytes);
        let large = path(4, 0.02, |bytes| 8_292.0 + 0.5 * bytes);
        let Contest::Partly { faster, sure } = contest(&small, &large) else { panic!() };
        assert_eq!((faster, sure), (Side::First, SIZES[..5].iter().copied().map(Bytes).collect()));
    }

    #[test]
    fn of_single_readings_that_differ_by_some_percent_nothing_is_known() {
        let (one, other) = (single(|bytes| 100.0 + bytes), single(|bytes| 103.0 + bytes));
        assert_eq!(contest(&one, &other), Contest::Unknown);
        let slow = single(|bytes| 200.0 + 2.0 * bytes);
        assert_eq!(contest(&one, &slow), Contest::Never { faster: Side::First });
        assert_eq!(contest(&one[..1], &slow[..1]), Contest::Never { faster: Side::First });
        assert!(Pair::of(&one[..1], &slow[1..]).is_none());
    }

    /// Seven sizes of a published table had no verdict because no line described one of the paths.
    #[test]
    fn a_poor_fit_is_no_noise() {
        let odd = single(|bytes| 5.0 * bytes.sqrt() * (1.0 + (bytes / 64.0) % 3.0));
        let slow = SIZES.map(Bytes).map(|bytes| {
            let cost = odd.iter().find(|sized| sized.bytes == bytes).unwrap().cost.value;
            Sized { bytes, cost: Uncertain::single(5.0 * cost) }
        });
        assert_eq!(contest(&odd, &slow), Contest::Never { faster: Side::First });
    }

    #[test]
    fn two_changes_are_two_crossings() {
        let one = single(|bytes| if bytes < 1000.0 { 100.0 + bytes } else { 5_000.0 });
        let two = single(|bytes| match bytes {
            bytes if bytes < 100.0 => 1_000.0,
            bytes if bytes < 2_000.0 => 200.0,
            _ => 50_000.0,
        });
        let Contest::Crosses(found) = contest(&one, &two) else { panic!() };
        let below: Vec<Side> = found.iter().map(|crossing| crossing.below).collect();
        assert_eq!(below, [Side::First, Side::Second]);
    }
}
