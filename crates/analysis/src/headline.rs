//! One answer for many tasks: the path that is best most often, and the exceptions where another one is better.
//!
//! Each task at each of its sizes is a *case*. A path wins a case if the advice for that size names it, alone or with
//! paths that cannot be told apart. The answer is the path that wins most cases. If one path wins clearly more cases
//! at small sizes and another one at large sizes, the answer is both, with the sizes.

use crate::explain::{Costs, Explained};
use crate::units::Nanoseconds;

/// Two paths must win more cases than one path by this share of all cases; otherwise a switch is not worthwhile.
const WORTH_A_SWITCH: f64 = 0.125;

/// A task at a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Case<'a> {
    /// Index of the task.
    pub task: usize,
    /// Message length in bytes.
    pub bytes: u32,
    /// The paths to take; if there are several, they cannot be told apart.
    pub best: Vec<&'a str>,
    /// The time of each path.
    pub times: Vec<(&'a str, Nanoseconds)>,
}

/// A path for a range of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Main<'a> {
    /// The path.
    pub path: &'a str,
    /// The smallest measured size of the range.
    pub least: u32,
    /// The largest measured size of the range.
    pub largest: u32,
}

/// Sizes of a task at which another path is better than the main one.
#[derive(Clone, Debug, PartialEq)]
pub struct Exception<'a> {
    /// Index of the task.
    pub task: usize,
    /// The paths to take instead.
    pub take: Vec<&'a str>,
    /// The smallest measured size.
    pub least: u32,
    /// The largest measured size.
    pub largest: u32,
    /// Whether these are all sizes of the task.
    pub everywhere: bool,
    /// The largest factor by which the other path is faster; `None` if the main path was not measured there.
    pub gain: Option<f64>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline<'a> {
    /// One path, or two by ascending size.
    pub mains: Vec<Main<'a>>,
    /// The number of cases that they win.
    pub won: usize,
    /// The number of all cases.
    pub cases: usize,
    /// Where other paths are better, the greatest gain first.
    pub exceptions: Vec<Exception<'a>>,
}

/// The cases of several tasks. `task` is an index into `tasks`.
pub fn cases<'a>(tasks: &[&'a Explained]) -> Vec<Case<'a>> {
    let mut all = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let mut sizes: Vec<u32> =
            task.paths.iter().flat_map(|costs| &costs.sizes).map(|cost| cost.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for bytes in sizes {
            let advice =
                task.advice.iter().find(|advice| (advice.least..=advice.largest).contains(&bytes));
            let Some(advice) = advice else { continue };
            let is_right =
                |costs: &&Costs| task.wrong.iter().all(|wrong| wrong.provider != costs.provider);
            let times = task.paths.iter().filter(is_right).filter_map(|costs| {
                let cost = costs.sizes.iter().find(|cost| cost.bytes == bytes)?;
                Some((costs.provider.as_str(), cost.time.value))
            });
            let times: Vec<(&str, Nanoseconds)> = times.collect();
            // If only one path was measured there is nothing to win.
            if times.len() > 1 {
                let best = advice.take.iter().map(String::as_str).collect();
                all.push(Case { task: place, bytes, best, times });
            }
        }
    }
    all
}

/// The answer for these cases. `None` if `cases` is empty.
pub fn of<'a>(cases: &[Case<'a>]) -> Option<Headline<'a>> {
    let mut sizes: Vec<u32> = cases.iter().map(|case| case.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let range = |sizes: &[u32]| (sizes[0], sizes[sizes.len() - 1]);
    let (path, won) = best(cases, range(sizes.get(..).filter(|sizes| !sizes.is_empty())?));
    let (least, largest) = range(&sizes);
    let mut mains = vec![Main { path, least, largest }];
    let mut most = won;
    let needed = won as f64 + (WORTH_A_SWITCH * cases.len() as f64).max(2.0);
    for at in 1..sizes.len() {
        let ranges = [range(&sizes[..at]), range(&sizes[at..])];
        let [(small, won_small), (large, won_large)] = ranges.map(|range| best(cases, range));
        let won = won_small + won_large;
        if small != large && won > most && won as f64 >= needed {
            most = won;
            mains = [(small, ranges[0]), (large, ranges[1])]
                .map(|(path, (least, largest))| Main { path, least, largest })
                .to_vec();
        }
    }
    let exceptions = exceptions(cases, &mains);
    Some(Headline { mains, won: most, cases: cases.len(), exceptions })
}

/// The path that wins most cases within these sizes, and their number. If several do, the one named first.
fn best<'a>(cases: &[Case<'a>], (least, largest): (u32, u32)) -> (&'a str, usize) {
    let mut wins: Vec<(&str, usize)> = Vec::new();
    for case in cases.iter().filter(|case| (least..=largest).contains(&case.bytes)) {
        for path in &case.best {
            match wins.iter_mut().find(|(known, _)| known == path) {
                Some((_, count)) => *count += 1,
                None => wins.push((path, 1)),
            }
        }
    }
    wins.into_iter().rev().max_by_key(|(_, count)| *count).unwrap_or_default()
}

fn exceptions<'a>(cases: &[Case<'a>], mains: &[Main<'a>]) -> Vec<Exception<'a>> {
    let mut found: Vec<Exception<'a>> = Vec::new();
    // Whether the preceding case belongs to the last exception.
    let mut open = false;
    for case in cases {
        let main = mains.iter().rfind(|main| main.least <= case.bytes).map_or("", |main| main.path);
        if case.best.contains(&main) {
            open = false;
            continue;
        }
        let time = |path: &str| case.times.iter().find(|(name, _)| *name == path).map(|(_, t)| *t);
        let gain = case.best.first().and_then(|best| Some(time(main)? / time(best)?));
        match found.last_mut().filter(|last| open && last.task == case.task) {
            // The path that was better at the preceding size, if it is as good as the others here.
            Some(last) if last.take.iter().any(|path| case.best.contains(path)) => {
                last.take.retain(|path| case.best.contains(path));
                last.largest = case.bytes;
                last.gain = last.gain.zip(gain).map(|(one, other)| one.max(other));
            }
            _ => found.push(Exception {
                task: case.task,
                take: case.best.clone(),
                least: case.bytes,
                largest: case.bytes,
                everywhere: false,
                gain,
            }),
        }
        open = true;
    }
    for exception in &mut found {
        let sizes = cases.iter().filter(|case| case.task == exception.task).map(|case| case.bytes);
        let inside = |bytes: u32| (exception.least..=exception.largest).contains(&bytes);
        exception.everywhere = sizes.clone().all(inside);
    }
    let worth = |exception: &Exception<'_>| exception.gain.unwrap_or(f64::INFINITY);
    found.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u32; 4] = [16, 256, 1024, 16384];

    /// A task, given the time of each path at each of [`SIZES`]; times within 3 % tie.
    fn task(place: usize, paths: &[(&'static str, [f64; 4])]) -> Vec<Case<'static>> {
        let case = |(at, bytes): (usize, &u32)| {
            let times: Vec<_> = paths
                .iter()
                .filter(|(_, times)| times[at] > 0.0)
                .map(|(name, times)| (*name, Nanoseconds(times[at])))
                .collect();
            let least = times.iter().map(|(_, time)| time.0).fold(f64::INFINITY, f64::min);
            let best = times.iter().filter(|(_, time)| time.0 < 1.03 * least);
            Case { task: place, bytes: *bytes, best: best.map(|(name, _)| *name).collect(), times }
        };
        SIZES.iter().enumerate().map(case).collect()
    }

    #[test]
    fn one_path_for_everything_has_no_exceptions() {
        let cases = task(0, &[("a", [1.0; 4]), ("b", [2.0; 4])]);
        let headline = of(&cases).unwrap();
        assert_eq!(headline.mains, [Main { path: "a", least: 16, largest: 16384 }]);
        assert_eq!((headline.won, headline.cases, headline.exceptions.len()), (4, 4, 0));
        assert!(of(&[]).is_none());
    }

    #[test]
    fn exceptions_are_named_with_their_sizes_and_the_greatest_gain_comes_first() {
        let mut cases = task(0, &[("a", [1.0; 4]), ("b", [2.0; 4])]);
        cases.extend(task(1, &[("a", [1.0, 1.0, 1.5, 1.8]), ("b", [2.0, 2.0, 1.0, 1.0])]));
        cases.extend(task(2, &[("a", [3.0; 4]), ("b", [1.0; 4])]));
        cases.extend(task(3, &[("a", [1.0; 4]), ("b", [1.01; 4])]));
        cases.extend(task(4, &[("a", [1.0; 4]), ("b", [2.0; 4])]));
        let headline = of(&cases).unwrap();
        assert_eq!((headline.mains[0].path, headline.won, headline.cases), ("a", 14, 20));
        let told: Vec<_> = headline
            .exceptions
            .iter()
            .map(|e| (e.task, e.take.clone(), e.least, e.largest, e.everywhere, e.gain))
            .collect();
        let expected = [
            (2, vec!["b"], 16, 16384, true, Some(3.0)),
            (1, vec!["b"], 1024, 16384, false, Some(1.8)),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn two_paths_are_named_where_the_best_one_changes_with_the_size() {
        let paths = [("small", [1.0, 1.0, 3.0, 3.0]), ("large", [2.0, 2.0, 1.0, 1.0])];
        let mut cases = task(0, &paths);
        cases.extend(task(1, &paths));
        cases.extend(task(2, &[("small", [1.0; 4]), ("large", [2.0; 4])]));
        let headline = of(&cases).unwrap();
        let mains = [
            Main { path: "small", least: 16, largest: 256 },
            Main { path: "large", least: 1024, largest: 16384 },
        ];
        assert_eq!((headline.mains.as_slice(), headline.won), (&mains[..], 10));
        assert_eq!((headline.exceptions[0].task, headline.exceptions[0].least), (2, 1024));
    }

    #[test]
    fn a_single_task_at_odds_is_no_reason_for_a_switch() {
        let mut cases = Vec::new();
        for place in 0..6 {
            cases.extend(task(place, &[("a", [1.0; 4]), ("b", [2.0; 4])]));
        }
        cases.extend(task(6, &[("a", [3.0, 3.0, 1.0, 1.0]), ("b", [1.0; 4])]));
        assert_eq!(of(&cases).unwrap().mains.len(), 1);
    }

    #[test]
    fn a_main_path_that_cannot_do_a_task_leaves_it_to_another_without_a_gain() {
        let mut cases = task(0, &[("a", [1.0; 4]), ("b", [2.0; 4])]);
        cases.extend(task(1, &[("b", [1.0, 1.0, 0.0, 0.0]), ("c", [2.0; 4])]));
        let headline = of(&cases).unwrap();
        let gains: Vec<_> = headline.exceptions.iter().map(|e| (e.take[0], e.gain)).collect();
        assert_eq!(gains, [("b", None), ("c", None)]);
    }
}
