//! What to measure next, so that advice also holds between the measured sizes.
//!
//! Between two measured sizes the fastest path may be one that is fastest at neither, because costs are not linear
//! there (see [`crossover`](crate::crossover)). So a gap between two sizes is *contested* if several paths are near
//! the fastest at one of its ends. A contested gap is halved for these paths until it is narrow. A gap in which the
//! advice changes from one path to another is halved further. If noise hides which of the two is faster, both get
//! more passes.

use crate::explain::{Costs, Explained, explain};
use crate::paths::Subject;
use crate::ratio::Verdict;
use cpb_core::Workload;
use cpb_record::{Cell, Outcome, Record};
use std::collections::{BTreeSet, HashSet};

/// A contested gap is halved while the larger size is more than this many times the smaller.
const NEAR: f64 = 1.3;

/// A path is near the fastest at a size if its additional cost is at most that of this many bytes there, and at most
/// the fastest path's cost. This is the smallest of the tried values without regret (decision 17).
const REACH: f64 = 64.0;

/// Sizes in a contested gap are multiples of this, because partial blocks behave differently.
const STEP: u32 = 16;

/// A gap in which the advice changes is halved while the larger size is more than this many times the smaller.
const CLOSE: f64 = 1.05;

/// The cells to measure next. Empty if there is nothing more to find out.
pub fn wanted(record: &Record) -> Vec<Cell> {
    let explanation = explain([record], None);
    let without =
        record.cells.iter().filter(|(_, outcome)| matches!(outcome, Outcome::NotMeasured(_)));
    let lost: HashSet<&Cell> = without.map(|(cell, _)| cell).collect();
    let tasks: Vec<Contested<'_>> =
        explanation.tasks.iter().filter_map(|task| Contested::of(task, &lost)).collect();
    // Gaps, on which all advice depends, come before measurements that make the advice more precise.
    let tiers = [0, 1, 2].map(|tier| {
        let cells = tasks.iter().flat_map(|task| match tier {
            0 => task.gaps(),
            1 => task.borders(),
            _ => task.noise(),
        });
        let mut seen = HashSet::new();
        cells.filter(|cell| seen.insert(cell.clone())).collect::<Vec<Cell>>()
    });
    tiers.into_iter().find(|cells| !cells.is_empty()).unwrap_or_default()
}

/// A task whose paths can be compared.
struct Contested<'a> {
    task: &'a Explained,
    workload: Workload,
    /// The paths, without variants that cost the same as their library.
    paths: Vec<&'a Costs>,
    lost: &'a HashSet<&'a Cell>,
}

impl<'a> Contested<'a> {
    /// Returns `None` if the task's paths are not compared.
    fn of(task: &'a Explained, lost: &'a HashSet<&'a Cell>) -> Option<Contested<'a>> {
        let (Subject::Measured(workload @ Workload::Crypto(_)), Ok(_)) =
            (&task.subject, &task.pairs)
        else {
            return None;
        };
        let is_same =
            |costs: &&Costs| task.same.iter().any(|(variant, _)| *variant == costs.provider);
        let paths = task.paths.iter().filter(|costs| !is_same(costs)).collect();
        task.subject.has_sizes().then_some(Contested { task, workload: *workload, paths, lost })
    }

    /// The middles of contested gaps, for the paths that contest them.
    fn gaps(&self) -> Vec<Cell> {
        let sizes = self.sizes();
        let mut cells = Vec::new();
        for (low, high) in sizes.iter().zip(sizes.iter().skip(1)) {
            let (Some(middle), true) = (self.middle(*low, *high, STEP), wider(*low, *high, NEAR))
            else {
                continue;
            };
            cells.extend(self.cells(self.contenders(*low, *high), middle));
        }
        cells
    }

    /// The middles of gaps in which the advice changes.
    fn borders(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for pair in self.task.advice.windows(2) {
            let (low, high) = (pair[0].largest, pair[1].least);
            if let (Some(middle), true) = (self.middle(low, high, 1), wider(low, high, CLOSE)) {
                cells.extend(self.cells([pair[0].take[0].as_str(), &pair[1].take[0]], middle));
            }
        }
        cells
    }

    /// The ends of gaps in which the advice changes, if it is unknown there which path is faster.
    fn noise(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for pair in self.task.advice.windows(2) {
            let (small, large) = (pair[0].take[0].as_str(), pair[1].take[0].as_str());
            for size in [pair[0].largest, pair[1].least] {
                if self.task.standing(small, large, size) == Some(Verdict::Unknown) {
                    cells.extend(self.cells([small, large], size));
                }
            }
        }
        cells
    }

    /// The sizes at which at least two paths were measured.
    fn sizes(&self) -> BTreeSet<u32> {
        let all = self.paths.iter().flat_map(|costs| &costs.sizes).map(|cost| cost.bytes);
        all.filter(|size| {
            self.paths.iter().filter(|costs| time(costs, *size).is_some()).count() > 1
        })
        .collect()
    }

    /// The paths that were measured at both ends of a gap and are near the fastest at one of them.
    fn contenders(&self, low: u32, high: u32) -> Vec<&str> {
        let both = |costs: &&&Costs| Some((time(costs, low)?, time(costs, high)?));
        let times: Vec<(&str, (f64, f64))> = self
            .paths
            .iter()
            .filter_map(|costs| Some((costs.provider.as_str(), both(&costs)?)))
            .collect();
        let least = |end: fn(&(f64, f64)) -> f64| {
            times.iter().map(|(_, times)| end(times)).fold(f64::INFINITY, f64::min)
        };
        let (least_low, least_high) = (least(|times| times.0), least(|times| times.1));
        let near = |time: f64, least: f64, size: u32| {
            time <= least * (1.0 + (REACH / f64::from(size)).min(1.0))
        };
        times
            .iter()
            .filter(|(_, (at_low, at_high))| {
                near(*at_low, least_low, low) || near(*at_high, least_high, high)
            })
            .map(|(name, _)| *name)
            .collect()
    }

    /// The multiple of the block size nearest to the geometric middle of a gap. `None` if no multiple lies inside the
    /// gap.
    fn middle(&self, low: u32, high: u32, step: u32) -> Option<u32> {
        let step = step.max(self.task.subject.block() as u32);
        let middle = (f64::from(low) * f64::from(high)).sqrt() / f64::from(step);
        let inside = |size: &u32| low < *size && *size < high;
        [middle.round(), middle.ceil(), middle.floor()]
            .map(|n| n as u32 * step)
            .into_iter()
            .find(inside)
    }

    /// The cells of these paths at a size, if there are at least two. A single path tells nothing.
    fn cells<'b>(&self, paths: impl IntoIterator<Item = &'b str>, message: u32) -> Vec<Cell> {
        let cell = |provider: &str| Cell {
            provider: provider.to_owned(),
            workload: self.workload.with_size(message),
            threads: self.task.threads,
        };
        let can = |cell: &Cell| cell.workload.valid().is_ok() && !self.lost.contains(cell);
        let cells: Vec<Cell> = paths.into_iter().map(cell).filter(can).collect();
        if cells.len() < 2 { Vec::new() } else { cells }
    }
}

fn time(costs: &Costs, size: u32) -> Option<f64> {
    costs.sizes.iter().find(|cost| cost.bytes == size).map(|cost| cost.time.value.0)
}

fn wider(low: u32, high: u32, times: f64) -> bool {
    f64::from(high) > times * f64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{noisy_rounds, record};
    use cpb_core::{Algorithm, CryptoWorkload, Operation, Unsupported};
    use cpb_record::{NotMeasuredReason, Round};

    const PLANNED: [u32; 4] = [16, 256, 4096, 16384];

    fn cell(name: &str, size: u32) -> Cell {
        let workload = CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, size).into();
        Cell { provider: name.into(), workload, threads: 1 }
    }

    /// An engine that is faster from 1500 bytes on, but whose driver uses a slower method above 2 KiB.
    fn cost(cell: &Cell) -> f64 {
        let bytes = f64::from(cell.workload.size());
        match cell.provider.as_str() {
            "openssl" => 100.0 + 20.0 * bytes,
            _ if bytes < 2048.0 => 28_600.0 + bytes,
            _ => 28_600.0 + 2.0 * bytes,
        }
    }

    fn measure(record: &mut Record, cells: Vec<Cell>, first: u32, noise: f64) {
        measure_at(record, cells, first, noise, cost);
    }

    fn measure_at(
        record: &mut Record,
        cells: Vec<Cell>,
        first: u32,
        noise: f64,
        cost: impl Fn(&Cell) -> f64,
    ) {
        for cell in cells {
            let mut rounds: Vec<Round> =
                noisy_rounds(u64::from(first + cell.workload.size()), 8, cost(&cell), noise);
            for round in &mut rounds {
                round.pass += first;
                round.cell = cell.clone();
            }
            match record.cells.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, Outcome::Measured(known))) => known.extend(rounds),
                _ => record.cells.push((cell, Outcome::Measured(rounds))),
            }
        }
    }

    fn planned() -> Vec<Cell> {
        let both = |size| ["openssl", "mbedtls:c"].map(|name| cell(name, size));
        PLANNED.into_iter().flat_map(both).collect()
    }

    #[test]
    fn a_crossover_is_closed_in_on_and_then_left_alone() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        let mut steps = Vec::new();
        loop {
            let wanted = wanted(&record);
            if wanted.is_empty() {
                break;
            }
            assert!(wanted.iter().all(|cell| cell.workload.size() % 16 == 0));
            steps.push(wanted.iter().map(|cell| cell.workload.size()).max().unwrap());
            assert!(steps.len() < 12, "{steps:?}");
            measure(&mut record, wanted, 100 * steps.len() as u32, 0.001);
        }
        assert!(!steps.is_empty());
        let explanation = explain([&record], None);
        let borders: Vec<_> =
            explanation.tasks[0].advice.iter().filter_map(|advice| advice.from).collect();
        // At 1500 bytes, and back again where the engine's driver uses its slower method: 1583.
        let near = borders.iter().find(|border| (1400.0..1600.0).contains(&border.bytes.0));
        let near = near.unwrap_or_else(|| panic!("{borders:?} after {steps:?}"));
        assert!(near.low <= 1500 && 1500 <= near.high, "{near:?}");
        assert!(f64::from(near.high) <= CLOSE * f64::from(near.low) + 16.0, "{near:?}");
    }

    /// Real case: dense sizes showed a path that is fastest only at 320 to 640 bytes.
    #[test]
    fn a_gap_is_contested_by_paths_that_are_fastest_at_neither_end() {
        let mut record = record(std::iter::empty());
        let cost = |cell: &Cell| {
            let bytes = f64::from(cell.workload.size());
            match cell.provider.as_str() {
                "openssl" => 100.0 + bytes,
                "mbedtls:accel" if (300.0..700.0).contains(&bytes) => 110.0 + 0.7 * bytes,
                "mbedtls:accel" => 110.0 + 1.1 * bytes,
                _ => 1000.0 + 10.0 * bytes,
            }
        };
        let all = |size| ["openssl", "mbedtls:accel", "mbedtls:c"].map(|name| cell(name, size));
        measure_at(
            &mut record,
            [64, 256, 1024].into_iter().flat_map(all).collect(),
            0,
            0.001,
            cost,
        );
        let first = wanted(&record);
        let sizes: BTreeSet<u32> = first.iter().map(|cell| cell.workload.size()).collect();
        assert!(sizes.contains(&512), "{sizes:?}");
        assert!(first.iter().all(|cell| cell.provider != "mbedtls:c"), "{first:?}");
    }

    #[test]
    fn a_size_that_a_path_cannot_do_is_not_asked_for_again() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        let first = wanted(&record);
        assert!(!first.is_empty());
        let why = Outcome::NotMeasured(NotMeasuredReason::Unsupported(Unsupported::Length));
        record.cells.extend(first.iter().map(|cell| (cell.clone(), why.clone())));
        assert!(!wanted(&record).iter().any(|cell| first.contains(cell)));
    }

    #[test]
    fn nothing_is_asked_for_where_a_crossover_means_nothing() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        record.header.evidence = cpb_record::Evidence::Emulated;
        assert_eq!(wanted(&record), []);
    }
}
