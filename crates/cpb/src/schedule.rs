//! The order in which cells are measured, and how much of each at a time.
//!
//! A *pass* measures every cell once, in a new random order, with new runner processes. Drift therefore
//! affects all cells alike, and what differs from process to process (such as the location of its pages) is
//! drawn anew in each pass. Providers of one workload are neighbours, so that their ratio is taken close in
//! time.

use cpb_core::measure::Budget;
use cpb_core::{Operation, Workload};
use cpb_record::Cell;
use fastrand::Rng;
use std::time::Duration;

/// Batches of one cell in one pass. Passes differ more than batches of a pass, so many passes with few
/// batches give more information in the same time. The median of three batches is normally one that was not
/// interrupted.
pub const BATCHES: u16 = 3;

/// The least number of batches that a record can hold of a cell, given enough time.
pub const CELL_BATCHES: u64 = 512;

/// The most batches that a record holds altogether, however long the run: some tens of MiB.
pub const RECORD_BATCHES: u64 = 400_000;

/// A workload all of whose cells are known this well is measured only in some of the passes (see [`due`]), so
/// that the time is spent where figures still spread.
pub const SETTLED_PRECISION: f64 = 0.002;

/// The first pass in which settled workloads may be left out, because the spread of few passes is unreliable.
pub const SETTLED_FROM: u32 = 12;

/// A cell that costs this many times as much as the fastest of its workload will not be recommended. In a run
/// that gives advice it is measured like a settled one ...
pub const BEHIND: f64 = 2.0;

/// ... once this many of its passes counted.
pub const BEHIND_FROM: usize = 4;

/// A settled workload takes part in one of this many passes.
const SETTLED: u32 = 4;

/// How much of one cell is measured in one pass; each round determines how many operations make a batch. The
/// warm-up is long because the core's predictors go on learning: the speed of a small operation changes by up
/// to a fifth for half a millisecond and more. `bench/methods.py` tries other values.
pub const BUDGET: Budget<Duration> = Budget {
    warmup: Duration::from_micros(800),
    batch: Duration::from_micros(200),
    limit: Duration::from_millis(20),
    batches: BATCHES,
    latencies: 32,
    iterations: 0,
    counted: Duration::ZERO,
};

/// The same for a guest without hardware virtualisation. There one operation of a kernel interface takes as
/// long as a whole batch elsewhere. Counts of operations and interrupts need many operations, and times mean
/// nothing.
pub const SLOW_BUDGET: Budget<Duration> = Budget {
    warmup: Duration::from_millis(4),
    batch: Duration::from_millis(8),
    limit: Duration::from_millis(200),
    ..BUDGET
};

/// The warm-up of operations that use the result of their counterpart. Before the clock starts, the round
/// signs what it will verify, or encapsulates what it will decapsulate; if that multiplies in 512-bit
/// vectors, an Intel core is slower for milliseconds (docs/decisions/0015-a-chain-that-agrees.md).
const AFTER_THE_COUNTERPART: Duration = Duration::from_millis(5);

/// `budget` for one workload.
pub fn budget_of(workload: &Workload, budget: Budget<Duration>) -> Budget<Duration> {
    let warmup = match workload.crypto().map(|workload| workload.operation) {
        Some(Operation::Verify | Operation::Decapsulate) => {
            budget.warmup.max(AFTER_THE_COUNTERPART)
        }
        _ => budget.warmup,
    };
    Budget { warmup, ..budget }
}

/// Whether a settled workload is measured in this pass anyway. The set of these workloads differs from pass to pass.
pub fn due(workload: usize, pass: u32) -> bool {
    (workload as u32).wrapping_add(pass).is_multiple_of(SETTLED)
}

/// The order in which the cells of a pass are measured, as indices into `cells`.
pub fn order(cells: &[Cell], rng: &mut Rng) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (index, cell) in cells.iter().enumerate() {
        let place = *places.entry((cell.workload, cell.threads)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(index);
    }
    rng.shuffle(&mut groups);
    groups.iter_mut().for_each(|group| rng.shuffle(group));
    groups.concat()
}

/// The most passes that a record with this many cells can hold, if it holds `batches` altogether.
pub fn most_passes(cells: usize, batches: u64) -> u32 {
    let batches = (batches / cells.max(1) as u64).max(CELL_BATCHES);
    (batches / u64::from(BATCHES)) as u32
}

/// The remaining time of a run.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// The total time.
    pub budget: Duration,
    /// The time used so far, including earlier segments of a resumed run.
    pub used: Duration,
}

impl Time {
    /// Whether another pass fits, if it takes as long as the last one. A pass that would exceed the budget by
    /// more than half of its own duration is not begun.
    pub fn fits(&self, last: Duration) -> bool {
        self.used + last / 2 < self.budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::{Algorithm, CryptoWorkload};

    fn cells() -> Vec<Cell> {
        let workload = |size| CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, size).into();
        let sizes = [16, 1024, 16384];
        let cell = |provider: &str, size| Cell {
            provider: provider.into(),
            workload: workload(size),
            threads: 1,
        };
        ["a", "b", "c"].iter().flat_map(|who| sizes.map(|size| cell(who, size))).collect()
    }

    #[test]
    fn an_order_has_every_cell_once_and_a_workload_s_providers_side_by_side() {
        let cells = cells();
        let mut rng = Rng::with_seed(7);
        let mut orders = std::collections::HashSet::new();
        for _ in 0..50 {
            let order = order(&cells, &mut rng);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..9).collect::<Vec<_>>());
            for group in order.chunks(3) {
                assert!(group.iter().all(|i| cells[*i].workload == cells[group[0]].workload));
            }
            orders.insert(order);
        }
        assert!(orders.len() > 40, "orders hardly vary: {}", orders.len());
    }

    #[test]
    fn what_works_on_its_counterpart_s_outcome_warms_up_for_longer() {
        let warmup = |operation, given| {
            let workload = CryptoWorkload::new(Algorithm::Rsa2048Pkcs1, operation, 32).into();
            budget_of(&workload, Budget { warmup: Duration::from_micros(given), ..BUDGET }).warmup
        };
        assert_eq!(warmup(Operation::Verify, 800), Duration::from_millis(5));
        assert_eq!(warmup(Operation::Verify, 6_000), Duration::from_millis(6));
        assert_eq!(warmup(Operation::Sign, 800), Duration::from_micros(800));
    }

    #[test]
    fn a_settled_workload_takes_part_in_a_quarter_of_all_passes() {
        for workload in 0..10 {
            assert_eq!((0..40).filter(|pass| due(workload, *pass)).count(), 10);
        }
    }

    #[test]
    fn a_pass_is_begun_if_most_of_it_fits() {
        let time = |used| Time { budget: Duration::from_secs(20), used: Duration::from_secs(used) };
        assert!(time(0).fits(Duration::ZERO));
        assert!(time(19).fits(Duration::from_secs(1)));
        assert!(!time(19).fits(Duration::from_secs(3)));
        assert!(!time(20).fits(Duration::ZERO));
    }
}
