//! From which message size on another path is the faster one.
//!
//! The difference of two paths' costs is known, with its error, at the sizes that both were measured
//! at; in between it is taken to run straight, as costs do that are a fixed part and one for each
//! byte. A path is the faster one where 0 lies outside the difference's 95 % interval. What is left
//! between a stretch where one path is faster and a stretch where the other is contains the crossover:
//! that stretch is its 95 % interval (Fieller 1954). It is as wide as it has to be, and reaches past
//! the measured sizes where these do not decide.

use crate::analysis::fit::Sized;
use crate::analysis::location::Confidence;
use crate::analysis::uncertain::Uncertain;
use serde::Serialize;

/// Two single readings that differ by less than this share are called a tie: nothing is known of
/// their noise, and tables of this kind repeat to some percent.
pub const TIE: f64 = 0.05;

/// One of two paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The first that was given.
    First,
    /// The second.
    Second,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// Where one path stops and another begins to be the faster one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Message length in bytes at which both cost the same; none if the measured sizes do not reach
    /// that far.
    pub bytes: Option<f64>,
    /// The 95 % interval: from where on the smaller sizes' path is no longer sure to be faster; none:
    /// from below the measured sizes on.
    pub low: Option<f64>,
    /// From where on the other is sure to be; none: beyond the measured sizes.
    pub high: Option<f64>,
    /// Who is faster below.
    pub below: Side,
}

/// How two paths compare over the measured sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contest {
    /// One is faster at each size.
    Never {
        /// Which.
        faster: Side,
    },
    /// The faster one changes, by ascending size. One of several stretches without a decision at
    /// either end is a crossing without a bound there.
    Crosses(Vec<Crossing>),
    /// One is faster on some stretch and they cannot be told apart on the rest.
    Partly {
        /// Which.
        faster: Side,
        /// The stretches of sizes in bytes on which it is sure to be.
        sure: Vec<(f64, f64)>,
    },
    /// They cannot be told apart at any size.
    Tie,
}

/// Two paths at the sizes that both were measured at, in one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Ascending sizes, and how much more the first costs than the second.
    differences: Vec<(f64, Uncertain)>,
    /// What takes the place of a margin where nothing is known of errors.
    ties: Vec<f64>,
}

/// A stretch of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    from: f64,
    to: f64,
    faster: Option<Side>,
}

impl Pair {
    /// Of two paths by ascending size; none if they have no size in common.
    pub fn of(first: &[Sized], second: &[Sized]) -> Option<Pair> {
        let mut pair = Pair { differences: Vec::new(), ties: Vec::new() };
        for one in first {
            let Some(other) = second.iter().find(|other| other.bytes == one.bytes) else {
                continue;
            };
            let difference = Uncertain::sum([(1.0, &one.cost), (-1.0, &other.cost)]);
            pair.differences.push((one.bytes, difference));
            pair.ties.push(TIE * one.cost.value.min(other.cost.value));
        }
        (!pair.differences.is_empty()).then_some(pair)
    }

    /// Who is faster at the size of this place; none if that cannot be told.
    pub fn faster_at(&self, place: usize) -> Option<Side> {
        let last = self.differences.len() - 1;
        if last == 0 {
            let (_, difference) = &self.differences[0];
            let margin = difference.margin(Confidence::Shown).unwrap_or(self.ties[0]);
            return side(difference.value, margin);
        }
        let (bracket, share) = if place == 0 { (0, 0.0) } else { (place - 1, 1.0) };
        let (difference, margin) = self.between(bracket, share);
        side(difference, margin)
    }

    /// The sizes of the places.
    pub fn sizes(&self) -> impl Iterator<Item = f64> + '_ {
        self.differences.iter().map(|(bytes, _)| *bytes)
    }

    /// Who wins where.
    pub fn contest(&self) -> Contest {
        let stretches = self.stretches();
        let decided: Vec<(usize, Side)> = stretches
            .iter()
            .enumerate()
            .filter_map(|(place, stretch)| Some((place, stretch.faster?)))
            .collect();
        let Some(&(_, winner)) = decided.first() else { return Contest::Tie };
        let mut crossings: Vec<Crossing> = decided
            .windows(2)
            .filter(|pair| pair[0].1 != pair[1].1)
            .map(|pair| {
                let (low, high) = (stretches[pair[0].0].to, stretches[pair[1].0].from);
                let bytes = self.zero(low, high);
                Crossing { bytes, low: Some(low), high: Some(high), below: pair[0].1 }
            })
            .collect();
        // At the ends there may be a crossing that the sizes just do not decide: the difference has
        // changed its sign, and is not sure to.
        let (first, last) = (stretches[0], stretches[stretches.len() - 1]);
        if first.faster.is_none()
            && let Some(bytes) = self.zero(first.from, first.to)
        {
            let below = winner.other();
            let crossing = Crossing { bytes: Some(bytes), low: None, high: Some(first.to), below };
            crossings.insert(0, crossing);
        }
        if last.faster.is_none()
            && let Some(bytes) = self.zero(last.from, last.to)
            && let Some(&(_, below)) = decided.last()
        {
            let crossing = Crossing { bytes: Some(bytes), low: Some(last.from), high: None, below };
            crossings.push(crossing);
        }
        if !crossings.is_empty() {
            Contest::Crosses(crossings)
        } else if decided.len() == stretches.len() {
            Contest::Never { faster: winner }
        } else {
            let sure = decided.iter().map(|(place, _)| stretches[*place]);
            Contest::Partly { faster: winner, sure: sure.map(|s| (s.from, s.to)).collect() }
        }
    }

    /// The size between two at which both paths cost the same, if there is one.
    fn zero(&self, from: f64, to: f64) -> Option<f64> {
        let mut zeros = self.differences.windows(2).filter_map(|pair| {
            let [(left, low), (right, high)] = pair else { return None };
            let changes = (low.value > 0.0) != (high.value > 0.0);
            let share = low.value / (low.value - high.value);
            changes.then_some(left + share * (right - left))
        });
        zeros.rfind(|zero| (from..=to).contains(zero))
    }

    /// The difference at a share of the way through a bracket, and its margin.
    fn between(&self, bracket: usize, share: f64) -> (f64, f64) {
        let [(_, low), (_, high)] = &self.differences[bracket..bracket + 2] else {
            unreachable!("a bracket is between two sizes")
        };
        let difference = Uncertain::sum([(1.0 - share, low), (share, high)]);
        let margin = difference
            .margin(Confidence::Shown)
            .unwrap_or_else(|| (1.0 - share) * self.ties[bracket] + share * self.ties[bracket + 1]);
        (difference.value, margin)
    }

    /// All stretches of sizes by who is faster, ascending, neighbours with the same answer joined.
    fn stretches(&self) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = Vec::new();
        let mut add = |stretch: Stretch| match all.last_mut() {
            Some(last) if last.faster == stretch.faster => last.to = stretch.to,
            _ => all.push(stretch),
        };
        if self.differences.len() == 1 {
            let bytes = self.differences[0].0;
            add(Stretch { from: bytes, to: bytes, faster: self.faster_at(0) });
            return all;
        }
        for (bracket, pair) in self.differences.windows(2).enumerate() {
            let (from, to) = (pair[0].0, pair[1].0);
            let size = |share: f64| from + share * (to - from);
            // The difference runs straight and its margin is convex. So it is outside the margin on at
            // most two stretches of a bracket, each at an end of it.
            let [start, end] = [0.0, 1.0].map(|share| {
                let (difference, margin) = self.between(bracket, share);
                side(difference, margin)
            });
            if start.is_some() && start == end {
                add(Stretch { from, to, faster: start });
                continue;
            }
            let sure_to = start.map(|_| size(self.edge(bracket, 0.0, 1.0, start)));
            let sure_from = end.map(|_| size(self.edge(bracket, 1.0, 0.0, end)));
            if let Some(edge) = sure_to {
                add(Stretch { from, to: edge, faster: start });
            }
            let middle = (sure_to.unwrap_or(from), sure_from.unwrap_or(to));
            add(Stretch { from: middle.0, to: middle.1, faster: None });
            if let Some(edge) = sure_from {
                add(Stretch { from: edge, to, faster: end });
            }
        }
        all
    }

    /// How far from one share of a bracket towards another the same side is faster: by bisection.
    fn edge(&self, bracket: usize, inside: f64, outside: f64, faster: Option<Side>) -> f64 {
        let (mut inside, mut outside) = (inside, outside);
        for _ in 0..50 {
            let middle = (inside + outside) / 2.0;
            let (difference, margin) = self.between(bracket, middle);
            if side(difference, margin) == faster {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }
}

/// Who is faster, by how much more the first costs; none within the margin.
fn side(difference: f64, margin: f64) -> Option<Side> {
    match difference {
        d if d > margin => Some(Side::Second),
        d if d < -margin => Some(Side::First),
        _ => None,
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
            Sized { bytes, cost: Uncertain::planted(&values) }
        };
        SIZES.map(sized).to_vec()
    }

    fn single(cost: impl Fn(f64) -> f64) -> Vec<Sized> {
        SIZES.map(|bytes| Sized { bytes, cost: Uncertain::single(cost(bytes)) }).to_vec()
    }

    fn contest(first: &[Sized], second: &[Sized]) -> Contest {
        Pair::of(first, second).unwrap().contest()
    }

    #[test]
    fn a_planted_crossover_lies_in_its_interval() {
        let mut inside = 0;
        for seed in 0..200 {
            // Equal at 1500 bytes.
            let software = path(2 * seed, 0.02, |bytes| 100.0 + 20.0 * bytes);
            let engine = path(2 * seed + 1, 0.02, |bytes| 28_600.0 + bytes);
            let Contest::Crosses(found) = contest(&software, &engine) else { panic!() };
            let [Crossing { bytes: Some(bytes), low: Some(low), high: Some(high), below }] =
                found[..]
            else {
                panic!("{found:?}")
            };
            assert_eq!(below, Side::First);
            assert!(low <= bytes && bytes <= high && high - low < 60.0, "{found:?}");
            inside += u32::from((low..=high).contains(&1500.0));
        }
        assert!((180..=198).contains(&inside), "{inside}");
    }

    #[test]
    fn a_path_that_is_slower_at_every_size_is_never_faster() {
        let [fast, slow] = [1.0, 1.05].map(|f| path(1, 0.01, move |bytes| f * (100.0 + bytes)));
        assert_eq!(contest(&fast, &slow), Contest::Never { faster: Side::First });
        assert_eq!(contest(&slow, &fast), Contest::Never { faster: Side::Second });
    }

    #[test]
    fn paths_that_cost_the_same_tie_and_ends_that_are_not_decided_have_no_bound() {
        let [one, same] = [1, 2].map(|seed| path(seed, 0.02, |bytes| 100.0 + bytes));
        assert!(matches!(contest(&one, &same), Contest::Tie | Contest::Partly { .. }));
        // They meet at the largest size, within its noise.
        let small = path(3, 0.02, |bytes| 100.0 + 1.0 * bytes);
        let large = path(4, 0.02, |bytes| 8_292.0 + 0.5 * bytes);
        match contest(&small, &large) {
            Contest::Crosses(found) => {
                assert_eq!((found[0].below, found[0].high), (Side::First, None), "{found:?}");
            }
            Contest::Partly { faster, sure } => {
                assert_eq!((faster, sure[0].0), (Side::First, 16.0));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn single_readings_within_some_percent_tie() {
        let (one, other) = (single(|bytes| 100.0 + bytes), single(|bytes| 103.0 + bytes));
        assert_eq!(contest(&one, &other), Contest::Tie);
        let slow = single(|bytes| 200.0 + 2.0 * bytes);
        assert_eq!(contest(&one, &slow), Contest::Never { faster: Side::First });
        assert_eq!(contest(&one[..1], &slow[..1]), Contest::Never { faster: Side::First });
        assert!(Pair::of(&one[..1], &slow[1..]).is_none());
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
