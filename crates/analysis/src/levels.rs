//! Cells whose passes lie on two levels.
//!
//! What a process draws at its start (the addresses of its stack, its heap and its libraries) may select one of two
//! speeds for its lifetime. The figure of such a cell lies somewhere between the two, depending on the draws of a
//! run, and so its scatter between runs comes from the draws. Only the levels can be compared.

use crate::location::{deviation, median};
use crate::uncertain::Uncertain;
use serde::Serialize;

/// Levels closer than this, as a share, count as ordinary noise.
const LEAST_APART: f64 = 0.02;

/// Levels must be this many times as far apart as the typical deviation of passes on one of them.
const CLEAR: f64 = 5.0;

/// No level is known more precisely than this, as a share.
const GRAIN: f64 = 0.002;

/// The share of passes, from the lowest on, that are considered. Disturbances lengthen passes, so the highest ones
/// say nothing about levels. A single low pass may be a level; a single high pass may not.
const LOOKED_AT: f64 = 0.8;

/// With fewer passes, no levels are reported.
const LEAST_PASSES: usize = 5;

/// Two levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The logarithm of the lower level.
    pub low: Uncertain,
    /// The logarithm of the upper level.
    pub high: Uncertain,
    /// The levels as shown in reports.
    pub found: Found,
}

/// Two levels, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The share by which the upper level is above the lower one.
    pub apart: f64,
    /// The share of the considered passes that are on the upper level.
    pub upper: f64,
}

/// Finds two levels in passes' costs, all above 0. `None` if the costs lie on one level, or are too few.
pub fn of(costs: impl Iterator<Item = f64>) -> Option<Levels> {
    let mut logs: Vec<f64> = costs.map(f64::ln).collect();
    if logs.len() < LEAST_PASSES {
        return None;
    }
    logs.sort_unstable_by(f64::total_cmp);
    logs.truncate((logs.len() as f64 * LOOKED_AT).ceil() as usize);
    let gap = |place: usize| logs[place] - logs[place - 1];
    let split = (1..logs.len() - 1).max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
    let (low, high) = logs.split_at(split);
    let [below, above] = [median(low)?, median(high)?];
    let about =
        |level: &[f64], middle: f64| level.iter().map(move |log| log - middle).collect::<Vec<_>>();
    let distances = [about(low, below), about(high, above)].concat();
    let scatter = deviation(&distances).max(GRAIN);
    if gap(split) < LEAST_APART.ln_1p() || gap(split) < CLEAR * scatter {
        return None;
    }
    let level = |middle: f64, count: usize| {
        Uncertain::single(middle).scattered(scatter / (count as f64).sqrt(), logs.len() - 2)
    };
    Some(Levels {
        low: level(below, low.len()),
        high: level(above, high.len()),
        found: Found {
            apart: (above - below).exp_m1(),
            upper: high.len() as f64 / logs.len() as f64,
        },
    })
}

/// The difference between two figures' logarithms, the second minus the first. If either lies on two levels, it is the
/// smallest difference between their levels. There may be more than two levels, and each run may have met different
/// ones.
pub fn difference(
    first: (&Uncertain, Option<&Levels>),
    second: (&Uncertain, Option<&Levels>),
) -> Uncertain {
    let levels = |(figure, levels): (&Uncertain, Option<&Levels>)| match levels {
        None => vec![figure.clone()],
        Some(levels) => vec![levels.low.clone(), levels.high.clone()],
    };
    let (firsts, seconds) = (levels(first), levels(second));
    let all = firsts.iter().flat_map(|one| {
        seconds.iter().map(move |other| Uncertain::sum([(1.0, other), (-1.0, one)]))
    });
    let least = all.min_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
    least.unwrap_or_else(|| Uncertain::sum([(1.0, second.0), (-1.0, first.0)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::NoiseKind;

    fn costs(seed: u64, count: u64, apart: f64, noise: NoiseKind) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut cost = |_| {
            let level = if random.bool() { 1.0 + apart } else { 1.0 };
            level * (0.002 * noise.draw(&mut random)).exp()
        };
        (0..count).map(&mut cost).collect()
    }

    #[test]
    fn two_levels_are_found_with_their_distance() {
        let mut found = 0;
        for seed in 0..100 {
            if let Some(levels) = of(costs(seed, 14, 0.09, NoiseKind::Normal).into_iter()) {
                assert!((levels.found.apart - 0.09).abs() < 0.01, "{levels:?}");
                found += 1;
            }
        }
        assert!(found >= 95, "{found}");
    }

    /// Cycles of libgcrypt's AES-256-CBC decryption of 64 bytes, in passes of two runs a minute apart. The runs'
    /// figures are 18 % apart, although nothing had changed.
    #[test]
    fn runs_that_drew_other_levels_differ_in_nothing_else() {
        let first =
            [65.1, 65.7, 65.7, 65.7, 65.8, 66.0, 66.6, 67.3, 71.7, 78.1, 79.3, 81.6, 87.9, 122.7];
        let second = [
            65.8, 77.6, 77.7, 77.8, 78.1, 78.3, 78.5, 78.8, 81.6, 83.2, 83.4, 84.3, 87.1, 87.4,
            130.1,
        ];
        let figure = |costs: &[f64]| {
            let numbered: Vec<(u32, f64)> = (0..).zip(costs.iter().copied()).collect();
            Uncertain::planted(&numbered).ln(1.0, 0.0).apart()
        };
        let levels = [&first[..], &second].map(|costs| of(costs.iter().copied()).unwrap());
        assert!(
            levels.iter().all(|levels| (0.17..0.22).contains(&levels.found.apart)),
            "{levels:?}"
        );
        let [one, other] = [&first[..], &second].map(figure);
        assert!(other.value - one.value > 0.1);
        let difference = difference((&one, Some(&levels[0])), (&other, Some(&levels[1])));
        assert!(difference.value.abs() < 0.01, "{difference:?}");
    }

    #[test]
    fn noise_has_one_level() {
        for noise in [NoiseKind::Normal, NoiseKind::Heavy, NoiseKind::Late] {
            let levels = |seed: &u64| of(costs(*seed, 14, 0.0, noise).into_iter()).is_some();
            let found = (0..200).filter(levels).count();
            assert!(found <= 30, "{noise:?}: {found}");
        }
        assert_eq!(of([1.0, 1.1].into_iter()), None);
        assert_eq!(of(std::iter::empty()), None);
        assert_eq!(of([1.0; 9].into_iter()), None);
    }
}
