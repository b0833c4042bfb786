//! Which path to take at which sizes, and why.
//!
//! Advice is a few ranges of sizes. A path is kept for as many measured sizes, in ascending order, as it costs at
//! most some percent more than the fastest path there (its *loss*). So two paths that alternate within that loss do
//! not make five ranges. A variant that costs the same as its library at every size counts as one path with the
//! library.

use crate::comparison::is_variant_of;
use crate::crossover::{Contest, Pair, Side, Standing};
use crate::fit::{Fit, NoFit, Shape};
use crate::paths::Path;
use crate::ratio::{TIE, Verdict};
use crate::units::{Bytes, Nanoseconds};
use serde::Serialize;
use std::collections::BTreeMap;

/// A slower path is mentioned if it saves at least this share of the CPU time that the path to take uses.
const WORTH: f64 = 0.5;

/// The loss that advice allows, as a share of the fastest path's cost.
pub const LOSS: f64 = 0.01;

/// Between two sizes, linear interpolation is no basis for advice if either path may lose this share or more.
pub const STAKE: f64 = 0.1;

/// The 95 % interval of a path's loss may exceed the allowed loss by this much, so that noise alone does not start a
/// new range.
const DOUBT: f64 = 0.02;

/// Advice for one range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The smallest measured size in the range.
    pub least: u32,
    /// The largest measured size in the range.
    pub largest: u32,
    /// Where the range begins. `None` means at the smallest measured size.
    pub from: Option<Border>,
    /// Where the range ends. `None` means at the largest measured size.
    pub to: Option<Border>,
    /// The paths to take. If there are several, any of them is suitable; the first one has the smallest loss.
    pub take: Vec<String>,
    /// The largest loss of any of these paths at a measured size of the range, as a share of the fastest path's cost.
    pub loss: f64,
    /// The reason for the advice.
    pub reason: Reason,
    /// Paths that may be faster than these; the noise does not allow a decision over the whole range.
    pub rivals: Vec<Rival>,
    /// A slower path that uses much less CPU time.
    pub spares: Option<Spares>,
}

/// Where one range ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Border {
    /// The size at which the paths of both ranges would cost the same if costs were linear between the measured
    /// sizes.
    pub bytes: Bytes,
    /// The largest measured size below the border.
    pub low: u32,
    /// The smallest measured size above the border.
    pub high: u32,
    /// Whether the best path between these two sizes is unknown. Each path then costs at least [`STAKE`] more than
    /// the other one at the other one's size, and `bytes` is a guess.
    pub open: bool,
}

/// A path that may be faster than the one to take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Name of the provider.
    pub provider: String,
    /// The largest share of the other path's time that it may save. `None` if the noise is unknown.
    pub gain: Option<f64>,
}

/// Why a path is recommended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No other path was measured on this range.
    Only,
    /// It is faster than the next best path on this range, by these factors.
    Faster {
        /// The next best path.
        than: String,
        /// The smallest factor.
        least: f64,
        /// The largest factor.
        most: f64,
    },
    /// Its fixed cost per operation is lower than that of the path for larger sizes.
    Fixed {
        /// The path for larger sizes.
        than: String,
        /// The fixed cost of the recommended path.
        own: Nanoseconds,
        /// The fixed cost of the path for larger sizes.
        other: Nanoseconds,
    },
    /// Its cost per byte is lower than that of the path for smaller sizes.
    PerByte {
        /// The path for smaller sizes.
        than: String,
        /// The cost per byte of the recommended path.
        own: Nanoseconds,
        /// The cost per byte of the path for smaller sizes.
        other: Nanoseconds,
    },
    /// The named paths cost the same for all practical purposes.
    Tie,
}

/// A path that is slower than the one to take and uses less CPU time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spares {
    /// Name of the provider.
    pub provider: String,
    /// Its time divided by that of the path to take.
    pub slower: f64,
    /// The share of a core that it leaves free in that time.
    pub free: f64,
}

/// Two paths of a task, and which is faster at which sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathPair {
    /// One path.
    pub first: String,
    /// The other.
    pub second: String,
    /// The sizes at which both were measured.
    pub sizes: Vec<Bytes>,
    /// Which path is faster at which sizes.
    pub contest: Contest,
    /// The size at which the two fits cross. `None` if they do not cross or are not lines.
    pub by_fits: Option<Bytes>,
    #[serde(skip)]
    pair: Pair,
}

impl PathPair {
    /// The provider on a side.
    pub fn name(&self, side: Side) -> &str {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }
}

/// All pairs of paths that were measured at a common size.
pub fn compare(paths: &[Path], fits: &[Result<Fit, NoFit>]) -> Vec<PathPair> {
    let times: Vec<_> = paths.iter().map(Path::times).collect();
    let cycles: Vec<_> = paths.iter().map(Path::cycles).collect();
    let mut all = Vec::new();
    for first in 0..paths.len() {
        for second in first + 1..paths.len() {
            let known = !cycles[first].is_empty() && !cycles[second].is_empty();
            let costs = if known { &cycles } else { &times };
            let Some(pair) = Pair::of(&costs[first], &costs[second]) else { continue };
            all.push(PathPair {
                first: paths[first].provider.clone(),
                second: paths[second].provider.clone(),
                sizes: pair.sizes().collect(),
                contest: pair.contest(),
                by_fits: by_fits(&fits[first], &fits[second]),
                pair,
            });
        }
    }
    all
}

fn by_fits(first: &Result<Fit, NoFit>, second: &Result<Fit, NoFit>) -> Option<Bytes> {
    let line = |fit: &Result<Fit, NoFit>| match fit {
        Ok(fit) if fit.shape == Shape::Line => fit.lines.first().cloned(),
        _ => None,
    };
    let (first, second) = (line(first)?, line(second)?);
    let bytes =
        (first.fixed.value - second.fixed.value) / (second.per_byte.value - first.per_byte.value);
    (bytes.is_finite() && bytes > 0.0).then_some(Bytes(bytes))
}

/// How `one` compares with `other` at a size. `None` if they were not compared there.
pub(crate) fn standing(
    compared: &[PathPair],
    one: &str,
    other: &str,
    bytes: u32,
) -> Option<Standing> {
    compared.iter().find_map(|pair| match (pair.first.as_str(), pair.second.as_str()) {
        names if names == (one, other) => pair.pair.at(bytes.into()),
        names if names == (other, one) => pair.pair.at(bytes.into()).map(Standing::inverse),
        _ => None,
    })
}

/// The variants that cost the same as their library at every size, as (variant, library).
pub fn same(paths: &[Path], compared: &[PathPair]) -> Vec<(String, String)> {
    let names = || paths.iter().map(|path| path.provider.as_str());
    let costs_the_same = |variant: &str, library: &str| {
        let pair = compared.iter().find(|pair| {
            let names = [pair.first.as_str(), pair.second.as_str()];
            names == [variant, library] || names == [library, variant]
        });
        pair.is_some_and(|pair| {
            let mut all = pair.sizes.iter().filter_map(|bytes| pair.pair.at(*bytes));
            all.all(|at| at.ratio.ln().abs() <= TIE.ln_1p())
        })
    };
    let library = |variant: &str| {
        names().find(|library| is_variant_of(variant, library) && costs_the_same(variant, library))
    };
    names().filter_map(|name| Some((name.to_owned(), library(name)?.to_owned()))).collect()
}

/// The paths to take, by ascending size, if a path may cost up to `loss` more than the fastest, as a share of the
/// fastest path's cost. Empty if no size was measured.
pub fn advise(
    paths: &[Path],
    fits: &[Result<Fit, NoFit>],
    compared: &[PathPair],
    loss: f64,
) -> Vec<Advice> {
    let same = same(paths, compared);
    let is_same = |path: &Path| same.iter().any(|(variant, _)| *variant == path.provider);
    let contest = Contestants {
        places: (0..paths.len()).filter(|place| !is_same(&paths[*place])).collect(),
        paths,
        compared,
        loss,
    };
    let ranges = contest.ranges();
    let mut advice: Vec<Advice> = ranges
        .iter()
        .enumerate()
        .map(|(place, range)| Advice {
            least: range.sizes[0],
            largest: range.sizes[range.sizes.len() - 1],
            from: None,
            to: None,
            take: range.take.iter().map(|path| paths[*path].provider.clone()).collect(),
            loss: contest.most_lost(range),
            reason: contest.reason(fits, &ranges, place),
            rivals: contest.rivals(range),
            spares: contest.spares(range),
        })
        .collect();
    for place in 1..advice.len() {
        let border = contest.border(&ranges[place - 1], &ranges[place]);
        advice[place - 1].to = Some(border);
        advice[place].from = Some(border);
    }
    advice
}

/// The losses that a verdict may allow, in ascending order.
const LOSSES: [f64; 5] = [LOSS, 0.03, 0.1, 0.2, 0.3];

/// A verdict should have at most this many ranges, because a summary has two lines.
const FEW: usize = 2;

/// Advice in at most two ranges, with the smallest allowed loss that achieves it; if none does, in as few ranges as
/// possible.
pub fn verdict(paths: &[Path], fits: &[Result<Fit, NoFit>], compared: &[PathPair]) -> Vec<Advice> {
    let all = LOSSES.map(|loss| advise(paths, fits, compared, loss));
    let few = all.iter().find(|advice| advice.len() <= FEW);
    let fewest = || all.iter().min_by_key(|advice| advice.len());
    few.or_else(fewest).cloned().unwrap_or_default()
}

/// The paths that advice chooses from.
struct Contestants<'a> {
    /// Indices into `paths`, ascending.
    places: Vec<usize>,
    paths: &'a [Path],
    compared: &'a [PathPair],
    loss: f64,
}

/// Consecutive measured sizes at which the same paths are suitable, and these paths.
struct Range {
    sizes: Vec<u32>,
    take: Vec<usize>,
}

impl Contestants<'_> {
    fn time(&self, path: usize, size: u32) -> Option<Nanoseconds> {
        let points = &self.paths[path].points;
        points.iter().find(|point| point.bytes == size).map(|point| Nanoseconds(point.time.value))
    }

    fn fastest(&self, size: u32) -> Option<usize> {
        let times = self.places.iter().filter_map(|path| Some((*path, self.time(*path, size)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(path, _)| path)
    }

    /// How a path compares with another at a size.
    fn standing(&self, path: usize, other: usize, size: u32) -> Option<Standing> {
        let [one, other] = [path, other].map(|path| self.paths[path].provider.as_str());
        standing(self.compared, one, other, size)
    }

    /// A path's loss at a size, as a share of the fastest path's cost. `None` if the path was not measured there.
    fn lost(&self, path: usize, size: u32) -> Option<f64> {
        let fastest = self.fastest(size)?;
        if fastest == path {
            return Some(0.0);
        }
        Some((self.standing(path, fastest, size)?.ratio - 1.0).max(0.0))
    }

    /// The suitable paths at a size: the fastest one, and those within the allowed loss.
    fn will_do(&self, size: u32) -> Vec<usize> {
        let Some(fastest) = self.fastest(size) else { return Vec::new() };
        let near = |path: &usize| {
            self.standing(*path, fastest, size).is_some_and(|at| {
                let surely = at.bounds.is_some_and(|(_, high)| high <= 1.0 + self.loss + DOUBT);
                at.ratio <= 1.0 + self.loss && surely
            })
        };
        self.places.iter().copied().filter(|path| *path == fastest || near(path)).collect()
    }

    /// The sizes that advice is based on, ascending: those at which most paths were measured, and other sizes between
    /// them at which the fastest paths of both neighbours were measured.
    fn sizes(&self) -> Vec<u32> {
        let points = self.places.iter().flat_map(|path| &self.paths[*path].points);
        let mut measured: BTreeMap<u32, usize> = BTreeMap::new();
        for point in points {
            *measured.entry(point.bytes).or_default() += 1;
        }
        let most = measured.values().copied().max().unwrap_or(0);
        let full = |(size, count): (&u32, &usize)| (*count == most).then_some(*size);
        let rests = |size: u32| {
            let below = measured.range(..size).rev().find_map(full);
            let above = measured.range(size + 1..).find_map(full);
            let here = |neighbour| {
                self.fastest(neighbour).is_some_and(|path| self.time(path, size).is_some())
            };
            [below, above].into_iter().flatten().all(here)
        };
        let sizes = measured.iter().filter(|(size, count)| **count == most || rests(**size));
        sizes.map(|(size, _)| *size).collect()
    }

    /// Divides the sizes into as few ranges as possible.
    fn ranges(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for size in self.sizes() {
            let will_do = self.will_do(size);
            let common = |range: &Range| -> Vec<usize> {
                range.take.iter().copied().filter(|path| will_do.contains(path)).collect()
            };
            match ranges.last_mut().map(|range| (common(range), range)) {
                Some((take, range)) if !take.is_empty() => {
                    range.take = take;
                    range.sizes.push(size);
                }
                _ => ranges.push(Range { sizes: vec![size], take: will_do }),
            }
        }
        for range in &mut ranges {
            let all =
                |path: usize| range.sizes.iter().filter_map(|n| self.lost(path, *n)).sum::<f64>();
            let mut lost: Vec<(usize, f64)> =
                range.take.iter().map(|path| (*path, all(*path))).collect();
            lost.sort_by(|a, b| a.1.total_cmp(&b.1));
            range.take = lost.into_iter().map(|(path, _)| path).collect();
        }
        ranges
    }

    fn most_lost(&self, range: &Range) -> f64 {
        let of = |path: &usize| {
            range.sizes.iter().filter_map(|size| self.lost(*path, *size)).fold(0.0, f64::max)
        };
        range.take.iter().map(of).fold(0.0, f64::max)
    }

    /// Paths that may be faster on a range: slower at none of its sizes for certain, and undecided at one at least. A
    /// tie is not a rival, because it is known to lose little.
    fn rivals(&self, range: &Range) -> Vec<Rival> {
        let Some(&own) = range.take.first() else { return Vec::new() };
        let others = self.places.iter().filter(|path| !range.take.contains(path));
        let rival = |path: &usize| {
            let all: Option<Vec<Standing>> =
                range.sizes.iter().map(|size| self.standing(*path, own, *size)).collect();
            let all = all?;
            let open = all.iter().all(|at| at.verdict != Verdict::Slower)
                && all.iter().any(|at| at.verdict == Verdict::Unknown);
            let gains = all.iter().map(|at| Some(1.0 - at.bounds?.0));
            let gain =
                gains.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max));
            open.then(|| Rival { provider: self.paths[*path].provider.clone(), gain })
        };
        others.filter_map(rival).collect()
    }

    /// The border between two neighbouring ranges.
    fn border(&self, small: &Range, large: &Range) -> Border {
        let (low, high) = (small.sizes[small.sizes.len() - 1], large.sizes[0]);
        let difference =
            |size| Some(self.time(small.take[0], size)? - self.time(large.take[0], size)?);
        let [from, to] = [low, high].map(Bytes::from);
        let lost = |taken: usize, best: usize, size| {
            self.time(taken, size).zip(self.time(best, size)).map_or(0.0, |(a, b)| a / b - 1.0)
        };
        let (below, above) = (small.take[0], large.take[0]);
        let open = lost(above, below, low).min(lost(below, above, high)) >= STAKE;
        let bytes = match (difference(low), difference(high)) {
            (Some(below), Some(above)) if below.0 < 0.0 && above.0 > 0.0 => {
                Bytes(from.0 + below / (below - above) * (to - from).0)
            }
            // The next range's path is already faster here, by less than the allowed loss.
            (Some(below), _) if below.0 >= 0.0 => from,
            _ => to,
        };
        Border { bytes, low, high, open }
    }

    fn reason(&self, fits: &[Result<Fit, NoFit>], ranges: &[Range], place: usize) -> Reason {
        let range = &ranges[place];
        let [own] = range.take[..] else { return Reason::Tie };
        // At a border with another path the reason is a cost, if both paths' costs are lines.
        let line = |path: usize| match &fits[path] {
            Ok(fit) if fit.shape == Shape::Line => fit.lines.first(),
            _ => None,
        };
        let neighbour = |place: Option<usize>| Some(ranges.get(place?)?.take[0]);
        let name = |path: usize| self.paths[path].provider.clone();
        if let Some(larger) = neighbour(place.checked_add(1))
            && let Some((line, other)) = line(own).zip(line(larger))
            && line.fixed.value < other.fixed.value
        {
            let (own, other) = (line.fixed.value, other.fixed.value);
            return Reason::Fixed { than: name(larger), own, other };
        }
        if let Some(smaller) = neighbour(place.checked_sub(1))
            && let Some((line, other)) = line(own).zip(line(smaller))
            && line.per_byte.value < other.per_byte.value
        {
            let (own, other) = (line.per_byte.value, other.per_byte.value);
            return Reason::PerByte { than: name(smaller), own, other };
        }
        let ratios = |path: usize| -> Option<(f64, f64)> {
            let times = |size: &u32| Some(self.time(path, *size)? / self.time(own, *size)?);
            let ratios: Vec<f64> = range.sizes.iter().filter_map(times).collect();
            let least = ratios.iter().copied().reduce(f64::min)?;
            Some((least, ratios.iter().copied().fold(least, f64::max)))
        };
        let others = self.places.iter().filter(|path| **path != own);
        let next = others
            .filter_map(|path| Some((*path, ratios(*path)?)))
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0));
        match next {
            None => Reason::Only,
            Some((path, (least, most))) => Reason::Faster { than: name(path), least, most },
        }
    }

    /// The slower path that leaves most of the CPU free at the largest size of a range.
    fn spares(&self, range: &Range) -> Option<Spares> {
        let [own] = range.take[..] else { return None };
        let size = *range.sizes.last()?;
        let at = |path: usize| {
            let point = self.paths[path].points.iter().find(|point| point.bytes == size)?;
            Some((Nanoseconds(point.time.value), point.cpu?))
        };
        let (own_time, own_cpu) = at(own)?;
        let cheaper = self.places.iter().filter_map(|path| {
            let (time, cpu) = at(*path)?;
            (cpu.total.0 < (1.0 - WORTH) * own_cpu.total.0).then(|| Spares {
                provider: self.paths[*path].provider.clone(),
                slower: time / own_time,
                free: 1.0 - cpu.share(time),
            })
        });
        cheaper.max_by(|a, b| a.free.total_cmp(&b.free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Point;
    use crate::uncertain::Uncertain;

    /// A path measured at some sizes, each to 0.1 %.
    fn path(name: &str, costs: &[(u32, f64)]) -> Path {
        let point = |&(bytes, cost): &(u32, f64)| Point {
            bytes,
            time: Uncertain::single(cost).scattered(0.001 * cost, 20),
            cycles: None,
            instructions: None,
            levels: None,
            cpu: None,
            latency: None,
        };
        Path { provider: name.to_owned(), points: costs.iter().map(point).collect() }
    }

    fn advised(paths: &[Path], loss: f64) -> Vec<Advice> {
        let fits = vec![Err(NoFit::FewSizes); paths.len()];
        advise(paths, &fits, &compare(paths, &fits), loss)
    }

    /// Real case: five ranges between 610 and 884 B, alternating between a library and a variant with the same code.
    #[test]
    fn paths_that_take_turns_within_a_percent_are_one_range() {
        let sizes = [16, 64, 256, 1024, 4096];
        let costs = |odd: f64| -> Vec<(u32, f64)> {
            (0..)
                .zip(sizes)
                .map(|(n, size)| (size, 100.0 * if n % 2 == 0 { 1.0 } else { odd }))
                .collect()
        };
        let advice = advised(&[path("a", &costs(1.004)), path("b", &costs(0.996))], LOSS);
        assert_eq!(advice.len(), 1, "{advice:?}");
        assert!(advice[0].loss < 0.015 && advice[0].take.len() == 2, "{advice:?}");
        // A path that loses more than allowed starts a range, unless a larger loss is allowed.
        let turned: Vec<(u32, f64)> = costs(0.94).into_iter().map(|(n, c)| (n, 1.05 * c)).collect();
        let paths = [path("a", &costs(1.08)), path("b", &turned)];
        assert_eq!(advised(&paths, LOSS).len(), 5);
        assert_eq!(advised(&paths, 0.2).len(), 1);
    }

    #[test]
    fn a_variant_that_costs_what_its_library_does_is_one_path_with_it() {
        let costs = [(16, 100.0), (64, 200.0)];
        let paths = [
            path("openssl", &costs),
            path("openssl:nocrypto", &[(16, 99.0), (64, 201.0)]),
            path("nettle", &[(16, 150.0), (64, 400.0)]),
        ];
        let advice = advised(&paths, LOSS);
        assert_eq!(advice[0].take, ["openssl"]);
        let Reason::Faster { than, .. } = &advice[0].reason else { panic!("{advice:?}") };
        assert_eq!(than, "nettle");
        let fits = vec![Err(NoFit::FewSizes); 3];
        let same = same(&paths, &compare(&paths, &fits));
        assert_eq!(same, [("openssl:nocrypto".to_owned(), "openssl".to_owned())]);
    }

    /// Two slow paths measured at one additional size are not the best ones there.
    #[test]
    fn a_size_that_the_fastest_was_not_measured_at_has_no_advice_of_its_own() {
        let advice = advised(
            &[
                path("fast", &[(16, 10.0), (1024, 100.0)]),
                path("slow", &[(16, 50.0), (700, 400.0), (1024, 500.0)]),
                path("slower", &[(16, 60.0), (700, 350.0), (1024, 600.0)]),
            ],
            LOSS,
        );
        let [only] = &advice[..] else { panic!("{advice:?}") };
        assert_eq!((only.take[0].as_str(), only.least, only.largest), ("fast", 16, 1024));
    }

    #[test]
    fn ranges_leave_no_size_between_them_without_advice() {
        let small = path("small", &[(16, 10.0), (64, 40.0), (256, 160.0)]);
        let large = path("large", &[(16, 50.0), (64, 55.0), (256, 70.0)]);
        let advice = advised(&[small, large], LOSS);
        let [first, second] = &advice[..] else { panic!("{advice:?}") };
        assert_eq!((first.take[0].as_str(), second.take[0].as_str()), ("small", "large"));
        let border = first.to.unwrap();
        assert_eq!((border.low, border.high, second.from), (64, 256, Some(border)));
        // 15 less at 64 bytes, 90 more at 256.
        assert!((border.bytes.0 - (64.0 + 192.0 * 15.0 / 105.0)).abs() < 1e-9, "{border:?}");
        assert!(border.open, "a third or more is at stake: {border:?}");
    }

    #[test]
    fn a_gap_in_which_one_of_the_paths_loses_little_is_no_open_question() {
        let small = path("small", &[(16, 10.0), (512, 95.0), (640, 140.0)]);
        let large = path("large", &[(16, 50.0), (512, 100.0), (640, 110.0)]);
        let advice = advised(&[small, large], LOSS);
        let border = advice[0].to.unwrap();
        assert_eq!((border.low, border.high, border.open), (512, 640, false), "{border:?}");
    }
}
