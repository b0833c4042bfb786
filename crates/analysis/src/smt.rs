//! Detects whether another thread ran on the same core (SMT) during a batch.
//!
//! On a virtual machine that thread belongs to another guest and does not show in the load. It does not slow the
//! reference chain, because a chain of dependent instructions leaves most of a core idle. But it takes execution
//! units from the burst, and from every operation that needs them. On a core that is not shared the burst takes a
//! fixed number of cycles, so the ratio of the burst's time to the chain's has a sharp lower edge. Crowded readings
//! are at least a fifth above it. The edge is a property of the core and is determined from the run itself.

use crate::evidence_policy::{Metric, meaningful};
use cpb_core::message::ClockDescription;
use cpb_record::{Outcome, Record, Round};

/// The share of readings that must have had the core alone. If fewer had, the machine is permanently crowded, and
/// nothing is discarded.
const ALONE: f64 = 0.2;

/// How far above the edge the ratio may be. On a core that is not shared, readings scatter by 0.3 %.
const ROOM: f64 = 0.02;

/// The highest ratio of the burst's time to the chain's on a core that is not shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone(f64);

impl Alone {
    /// Determines the threshold from all rounds of a run on the same cores; `None` if no reading has a burst.
    pub fn of<'a>(
        rounds: impl Iterator<Item = (&'a Round, &'a ClockDescription)>,
    ) -> Option<Alone> {
        let mut ratios: Vec<f64> = rounds
            .flat_map(|(round, clock)| {
                let batches = round.samples.iter().flatten();
                batches.filter_map(|batch| ratio(batch.1.0, batch.1.1, clock))
            })
            .collect();
        let place = (ratios.len() as f64 * ALONE) as usize;
        let (_, edge, _) =
            (!ratios.is_empty()).then(|| ratios.select_nth_unstable_by(place, f64::total_cmp))?;
        Some(Alone(*edge * (1.0 + ROOM)))
    }

    /// Determines the threshold from a whole record. `None` where noise means nothing: no thread shares the execution
    /// units of an emulated core, whose burst takes as long as the emulator needs for it.
    pub fn of_record(record: &Record) -> Option<Alone> {
        meaningful(Metric::Noise, record.header.evidence).ok()?;
        let measured = record.cells.iter().filter_map(|(cell, outcome)| match outcome {
            Outcome::Measured(rounds) => Some((record.clock(&cell.provider)?, rounds)),
            Outcome::NotMeasured(_) => None,
        });
        Alone::of(measured.flat_map(|(clock, rounds)| rounds.iter().map(move |r| (r, clock))))
    }

    /// Whether the core was not shared during a reading with these ticks.
    pub fn holds(&self, chain: u64, burst: u64, clock: &ClockDescription) -> bool {
        ratio(chain, burst, clock).is_none_or(|ratio| ratio <= self.0)
    }
}

/// The ratio of the burst's time to the chain's; `None` if either is missing.
fn ratio(chain: u64, burst: u64, clock: &ClockDescription) -> Option<f64> {
    let net = |ticks: u64| ticks.checked_sub(clock.cost.0).filter(|ticks| *ticks > 0);
    Some(net(burst)? as f64 / net(chain)? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, clock, round};
    use cpb_record::{Batch, Evidence, Reading};

    fn rounds(bursts: impl Iterator<Item = u64>) -> Vec<Round> {
        let batch = |burst| Batch(200_000, Reading(10_020, burst), Reading(10_020, burst));
        vec![round(0, 100, vec![bursts.map(batch).collect()])]
    }

    fn alone(rounds: &[Round]) -> Option<Alone> {
        let clock = clock(20);
        Alone::of(rounds.iter().map(|round| (round, &clock)))
    }

    #[test]
    fn a_core_that_is_often_shared_is_told_from_a_core_alone() {
        let mixed = (0..100).map(|n| if n % 4 == 0 { 5_020 + n / 10 } else { 7_000 + 10 * n });
        let alone = alone(&rounds(mixed)).unwrap();
        assert!(alone.holds(10_020, 5_030, &clock(20)));
        assert!(alone.holds(20_020, 10_030, &clock(20)), "at half the clock");
        assert!(!alone.holds(10_020, 5_200, &clock(20)));
    }

    #[test]
    fn a_core_that_is_nearly_always_shared_is_taken_as_it_is() {
        let shared = (0..100).map(|n| if n % 10 == 0 { 5_020 } else { 7_020 });
        assert!(alone(&rounds(shared)).unwrap().holds(10_020, 7_020, &clock(20)));
    }

    #[test]
    fn without_a_burst_nothing_is_known_and_all_holds() {
        assert_eq!(alone(&rounds([0, 0].into_iter())), None);
        assert_eq!(alone(&[]), None);
        let some = alone(&rounds([5_020].into_iter())).unwrap();
        assert!(some.holds(0, 0, &clock(20)));
    }

    #[test]
    fn no_thread_shares_an_emulated_core() {
        let mut record = fixtures::record(std::iter::once(rounds([5_020, 7_020].into_iter())));
        assert!(Alone::of_record(&record).is_some());
        record.header.evidence = Evidence::Emulated;
        assert_eq!(Alone::of_record(&record), None);
    }
}
