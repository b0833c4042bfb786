//! Which path to take, at which sizes, and why.

use crate::analysis::crossover::{Contest, Crossing, Pair, Side};
use crate::analysis::fit::{Fit, NoFit, Shape};
use crate::analysis::paths::Path;
use serde::Serialize;

/// A path that leaves at least this share of what the fastest uses of the CPU is worth a word.
const WORTH: f64 = 0.5;

/// What to do with a range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The least measured size that it holds for.
    pub least: u32,
    /// And the largest.
    pub largest: u32,
    /// From where on: the crossover before it; none: from the least measured size on.
    pub from: Option<f64>,
    /// Up to where: the crossover after it; none: the largest measured size.
    pub to: Option<f64>,
    /// The path to take; several cannot be told apart.
    pub take: Vec<String>,
    /// Why.
    pub reason: Reason,
    /// A path that is slower and costs the CPU much less.
    pub spares: Option<Spares>,
}

/// Why a path is recommended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// There is no other.
    Only,
    /// It is so many times as fast as the next best on this range.
    Faster {
        /// The next best.
        than: String,
        /// At least so many times.
        least: f64,
        /// At most.
        most: f64,
    },
    /// An operation's fixed cost is less than the rival's, and sizes here are small.
    Fixed {
        /// The path that is taken at larger sizes.
        than: String,
        /// Its own fixed cost in nanoseconds.
        own: f64,
        /// The other's.
        other: f64,
    },
    /// A byte costs less, and sizes here are large.
    PerByte {
        /// The path that is taken at smaller sizes.
        than: String,
        /// Its own cost of a byte in nanoseconds.
        own: f64,
        /// The other's.
        other: f64,
    },
    /// Those named cannot be told apart.
    Tie,
}

/// A path that is slower than the one that is taken, and leaves more of the CPU to others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spares {
    /// Which.
    pub provider: String,
    /// It takes so many times as long.
    pub slower: f64,
    /// And leaves this share of a core free meanwhile.
    pub free: f64,
}

/// Two paths of a task, and where which is faster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// One path.
    pub first: String,
    /// The other.
    pub second: String,
    /// The measured sizes that both have.
    pub sizes: Vec<f64>,
    /// Who wins where.
    pub contest: Contest,
    /// Where the two fits cross: a check of the crossover; none where they do not, or are no lines.
    pub by_fits: Option<f64>,
    #[serde(skip)]
    pair: Pair,
}

impl Compared {
    /// The provider on a side.
    pub fn name(&self, side: Side) -> &str {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }

    /// The crossing from path `small` to path `large`, if there is one between two sizes.
    fn crossing(&self, small: &str, large: &str, between: (f64, f64)) -> Option<&Crossing> {
        let below = match (self.first.as_str(), self.second.as_str()) {
            pair if pair == (small, large) => Side::First,
            pair if pair == (large, small) => Side::Second,
            _ => return None,
        };
        let Contest::Crosses(crossings) = &self.contest else { return None };
        crossings.iter().find(|crossing| {
            let inside = |bytes| (between.0..=between.1).contains(&bytes);
            crossing.below == below && crossing.bytes.is_some_and(inside)
        })
    }
}

/// All pairs of paths that have a size in common.
pub fn compare(paths: &[Path], fits: &[Result<Fit, NoFit>]) -> Vec<Compared> {
    let times: Vec<_> = paths.iter().map(Path::times).collect();
    let cycles: Vec<_> = paths.iter().map(Path::cycles).collect();
    let mut all = Vec::new();
    for first in 0..paths.len() {
        for second in first + 1..paths.len() {
            let known = !cycles[first].is_empty() && !cycles[second].is_empty();
            let costs = if known { &cycles } else { &times };
            let Some(pair) = Pair::of(&costs[first], &costs[second]) else { continue };
            all.push(Compared {
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

fn by_fits(first: &Result<Fit, NoFit>, second: &Result<Fit, NoFit>) -> Option<f64> {
    let line = |fit: &Result<Fit, NoFit>| match fit {
        Ok(fit) if fit.shape == Shape::Line => fit.lines.first().cloned(),
        _ => None,
    };
    let (first, second) = (line(first)?, line(second)?);
    let bytes = (first.fixed.value.0 - second.fixed.value.0)
        / (second.per_byte.value.0 - first.per_byte.value.0);
    (bytes.is_finite() && bytes > 0.0).then_some(bytes)
}

/// What to take, by ascending size; nothing if no size was measured, or there is no choice.
pub fn advise(paths: &[Path], fits: &[Result<Fit, NoFit>], compared: &[Compared]) -> Vec<Advice> {
    if paths.len() < 2 {
        return Vec::new();
    }
    let mut sizes: Vec<u32> =
        paths.iter().flat_map(|path| &path.points).map(|point| point.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut classes: Vec<(Vec<u32>, Vec<usize>)> = Vec::new();
    for size in sizes {
        let best = best(paths, compared, size);
        match classes.last_mut() {
            Some((sizes, known)) if *known == best => sizes.push(size),
            _ => classes.push((vec![size], best)),
        }
    }
    let mut advice: Vec<Advice> = classes
        .iter()
        .enumerate()
        .map(|(place, (sizes, best))| Advice {
            least: sizes[0],
            largest: sizes[sizes.len() - 1],
            from: None,
            to: None,
            take: best.iter().map(|path| paths[*path].provider.clone()).collect(),
            reason: reason(paths, fits, &classes, place),
            spares: spares(paths, sizes, best),
        })
        .collect();
    for place in 1..advice.len() {
        let (small, large) = (&advice[place - 1], &advice[place]);
        let ([small_path], [large_path]) = (small.take.as_slice(), large.take.as_slice()) else {
            continue;
        };
        let between = (small.largest.into(), large.least.into());
        let crossing =
            compared.iter().find_map(|pair| pair.crossing(small_path, large_path, between));
        let bytes = crossing.and_then(|crossing| crossing.bytes);
        advice[place - 1].to = bytes;
        advice[place].from = bytes;
    }
    advice
}

fn time(path: &Path, size: u32) -> Option<f64> {
    path.points.iter().find(|point| point.bytes == size).map(|point| point.time.value)
}

/// The fastest path at a size, and those that cannot be told from it; places in ascending order.
fn best(paths: &[Path], compared: &[Compared], size: u32) -> Vec<usize> {
    let fastest = (0..paths.len())
        .filter_map(|path| Some((path, time(&paths[path], size)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((fastest, _)) = fastest else { return Vec::new() };
    let equal = |path: usize| {
        let names = [&paths[path].provider, &paths[fastest].provider];
        let pair = compared.iter().find(|pair| {
            [&pair.first, &pair.second] == names || [&pair.second, &pair.first] == names
        });
        pair.is_some_and(|pair| {
            let place = pair.sizes.iter().position(|bytes| *bytes == f64::from(size));
            place.is_some_and(|place| pair.pair.faster_at(place).is_none())
        })
    };
    (0..paths.len())
        .filter(|path| *path == fastest || (time(&paths[*path], size).is_some() && equal(*path)))
        .collect()
}

fn reason(
    paths: &[Path],
    fits: &[Result<Fit, NoFit>],
    classes: &[(Vec<u32>, Vec<usize>)],
    place: usize,
) -> Reason {
    let (sizes, best) = &classes[place];
    let [own] = best[..] else { return Reason::Tie };
    // At a border with another path it is the costs that say why; the line's, if there is one.
    let line = |path: usize| match &fits[path] {
        Ok(fit) if fit.shape == Shape::Line => fit.lines.first(),
        _ => None,
    };
    let neighbour = |place: Option<usize>| match place.and_then(|place| classes.get(place)) {
        Some((_, best)) if best.len() == 1 => Some(best[0]),
        _ => None,
    };
    if let Some(larger) = neighbour(place.checked_add(1))
        && let Some((line, other)) = line(own).zip(line(larger))
        && line.fixed.value.0 < other.fixed.value.0
    {
        let (own, other) = (line.fixed.value.0, other.fixed.value.0);
        return Reason::Fixed { than: paths[larger].provider.clone(), own, other };
    }
    if let Some(smaller) = neighbour(place.checked_sub(1))
        && let Some((line, other)) = line(own).zip(line(smaller))
        && line.per_byte.value.0 < other.per_byte.value.0
    {
        let (own, other) = (line.per_byte.value.0, other.per_byte.value.0);
        return Reason::PerByte { than: paths[smaller].provider.clone(), own, other };
    }
    let ratios = |path: &Path| -> Option<(f64, f64)> {
        let ratios: Vec<f64> = sizes
            .iter()
            .filter_map(|size| Some(time(path, *size)? / time(&paths[own], *size)?))
            .collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        Some((least, ratios.iter().copied().fold(least, f64::max)))
    };
    let others = paths.iter().enumerate().filter(|(path, _)| *path != own);
    let next = others
        .filter_map(|(_, path)| Some((path, ratios(path)?)))
        .min_by(|a, b| a.1.0.total_cmp(&b.1.0));
    match next {
        None => Reason::Only,
        Some((path, (least, most))) => Reason::Faster { than: path.provider.clone(), least, most },
    }
}

/// At the largest of `sizes`.
fn spares(paths: &[Path], sizes: &[u32], best: &[usize]) -> Option<Spares> {
    let [own] = best[..] else { return None };
    let size = *sizes.last()?;
    let at = |path: &Path| {
        let point = path.points.iter().find(|point| point.bytes == size)?;
        Some((point.time.value, point.cpu?))
    };
    let (own_time, own_cpu) = at(&paths[own])?;
    let cheaper = paths.iter().filter_map(|path| {
        let (time, cpu) = at(path)?;
        (cpu.total.0 < (1.0 - WORTH) * own_cpu.total.0).then(|| Spares {
            provider: path.provider.clone(),
            slower: time / own_time,
            free: 1.0 - cpu.share(time),
        })
    });
    cheaper.max_by(|a, b| a.free.total_cmp(&b.free))
}
