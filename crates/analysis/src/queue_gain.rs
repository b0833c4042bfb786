//! What an executor gains from messages in flight: its rates at several depths of the queue, each as a ratio to its own
//! rate with one message at a time, and what the depth costs in latency.
//!
//! A ratio within one executor means something on an emulated CPU as well: both its parts are as slow as the emulator.

use crate::evidence_policy::{Metric, meaningful};
use crate::execution;
use crate::latency::{self, Latency};
use crate::measured::{Measured, measured};
use crate::passes::Passes;
use crate::ratio::{self, Ratio};
use crate::steps::{self, StepCosts};
use crate::units::{Interval, Times};
use cpb_core::{Build, CryptoWorkload, Depth, Dispatch, Notice, Workload};
use cpb_record::{Evidence, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A depth is enough if it reaches this share of the full queue's rate.
pub const ENOUGH: f64 = 0.9;

/// A loop that has its CPU for at least this share of the time waits for nothing.
const NEVER_WAITS: f64 = 0.98;

/// A machine whose CPUs together are busy for at most this share of one waits for its engine.
const WAITS: f64 = 0.9;

/// The rates of one executor at one task, by how many messages are in flight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueGain {
    /// The machine.
    pub machine: String,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// Who computes: the driver's name.
    pub executor: String,
    /// The provider whose rate with one message at a time is 1.
    pub provider: String,
    /// The task, one message at a time, with a size of 0.
    pub workload: Workload,
    /// Message lengths, ascending.
    pub sizes: Vec<u32>,
    /// The ways to dispatch, beginning with one message at a time, then deeper ones; at last, other interfaces to the
    /// same executor.
    pub ways: Vec<Way>,
    /// For each size with a full queue, the depth that is enough.
    pub enough: Vec<Enough>,
}

/// A provider and a way to dispatch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Way {
    /// The provider.
    pub provider: String,
    /// The most messages in flight; `None`: as many as the queue holds.
    pub in_flight: Option<u16>,
    /// Whether requests are built before the clock starts.
    pub built_before: bool,
    /// Whether only the last completion is noticed.
    pub notices_last: bool,
    /// One for each size; `None` where it was not measured.
    pub cells: Vec<Option<AtSize>>,
}

/// One way at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtSize {
    /// Rate divided by the reference's. `None` if there is no reference.
    pub gain: Option<Times>,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval<Times>>,
    /// Interrupts per operation of the executor's engine.
    pub interrupts_per_operation: Option<f64>,
    /// Context switches per operation.
    pub switches_per_operation: Option<f64>,
    /// From submission to completion, with as many in flight. `None` if times mean nothing.
    pub latency: Option<Latency>,
    /// Where the time goes; `None` with more than one in flight, and if it was not told.
    pub steps: Option<StepCosts>,
}

/// The depth that is enough at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Enough {
    /// Message length.
    pub bytes: u32,
    /// What the full queue gains.
    pub gain: Ratio,
    /// The least measured depth that is known to reach [`ENOUGH`] of the full queue's rate; `None` if none is.
    pub in_flight: Option<u16>,
    /// What limits the full queue; `None` if it is not known.
    pub limit: Option<Limit>,
}

/// What limits the rate of a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The CPU: the loop that sends never waits.
    Cpu,
    /// The engine: CPUs are idle while it works.
    Engine,
}

/// All of a record, in its order.
pub fn of(record: &Record) -> Vec<QueueGain> {
    let cells = measured(record);
    let mut found: Vec<QueueGain> = Vec::new();
    for deep in cells.iter().filter(|cell| cell.is_deep()) {
        let (provider, task) = (&deep.cell.provider, task_of(deep.workload));
        let same = |known: &QueueGain| (&known.provider, known.workload) == (provider, task.into());
        if !found.iter().any(same) {
            let of_executor = |cell: &&Measured<'_>| {
                task_of(cell.workload) == task && cell.executor == deep.executor
            };
            let cells: Vec<&Measured<'_>> = cells.iter().filter(of_executor).collect();
            found.push(Executor { record, provider, cells }.gain(task));
        }
    }
    found
}

/// The cells of one executor at one task, by any interface, and the provider whose queue is filled.
struct Executor<'r> {
    record: &'r Record,
    provider: &'r str,
    cells: Vec<&'r Measured<'r>>,
}

impl Executor<'_> {
    fn gain(&self, task: CryptoWorkload) -> QueueGain {
        let sizes: BTreeSet<u32> = self.cells.iter().map(|cell| cell.workload.message).collect();
        let sizes: Vec<u32> = sizes.into_iter().collect();
        QueueGain {
            machine: self.record.header.machine.label(),
            evidence: self.record.header.evidence,
            executor: self.cells.first().map_or_else(String::new, |cell| cell.executor.to_owned()),
            provider: self.provider.to_owned(),
            workload: task.into(),
            enough: sizes.iter().filter_map(|size| self.enough(*size)).collect(),
            ways: self
                .ways()
                .map(|(provider, dispatch)| self.way(provider, dispatch, &sizes))
                .collect(),
            sizes,
        }
    }

    /// The ways of this provider, shallow queues first, then other providers with one message at a time: their deeper
    /// queues have a table of their own.
    fn ways(&self) -> impl Iterator<Item = (&str, Dispatch)> {
        let ways = self.cells.iter().map(|cell| (&*cell.cell.provider, cell.workload.dispatch));
        let shown = ways.filter(|(provider, dispatch)| {
            *provider == self.provider || *dispatch == Dispatch::SERIAL
        });
        let ordered: BTreeMap<_, _> =
            shown.map(|way| ((way.0 != self.provider, way.0, order(way.1)), way)).collect();
        ordered.into_values()
    }

    fn at(&self, provider: &str, dispatch: Dispatch, size: u32) -> Option<&Measured<'_>> {
        let is_it = |cell: &&&Measured<'_>| {
            cell.cell.provider == provider
                && (cell.workload.dispatch, cell.workload.message) == (dispatch, size)
        };
        self.cells.iter().find(is_it).copied()
    }

    /// One message at a time by the provider whose queue is filled.
    fn reference(&self, size: u32) -> Option<&Passes> {
        self.at(self.provider, Dispatch::SERIAL, size)?.passes.as_ref()
    }

    fn way(&self, provider: &str, dispatch: Dispatch, sizes: &[u32]) -> Way {
        Way {
            provider: provider.to_owned(),
            in_flight: match dispatch.depth {
                Depth::Jobs(jobs) => Some(jobs),
                Depth::Ring => None,
            },
            built_before: dispatch.build == Build::Before,
            notices_last: dispatch.notice == Notice::Last,
            cells: sizes
                .iter()
                .map(|size| Some(self.at_size(self.at(provider, dispatch, *size)?)))
                .collect(),
        }
    }

    fn at_size(&self, measured: &Measured<'_>) -> AtSize {
        let Measured { cell, workload, rounds, passes, .. } = measured;
        let ratio = self.reference(workload.message).zip(passes.as_ref());
        let ratio = ratio.and_then(|(one, this)| ratio::time(one, this).ok());
        let execution = execution::of(self.record, cell, rounds);
        let clock = self.record.clock(&cell.provider);
        let clock =
            clock.filter(|_| meaningful(Metric::Latency, self.record.header.evidence).is_ok());
        let latency = clock.and_then(|clock| match measured.is_deep() {
            true => latency::in_flight(*rounds, clock).ok(),
            false => latency::of(*rounds, clock).ok(),
        });
        AtSize {
            gain: ratio.map(|ratio| ratio.value),
            interval: ratio.and_then(|ratio| ratio.interval),
            interrupts_per_operation: execution.as_ref().and_then(|it| it.interrupts_per_operation),
            switches_per_operation: execution.and_then(|it| Some(it.switches?.all())),
            latency,
            steps: self.steps(measured),
        }
    }

    fn steps(&self, measured: &Measured<'_>) -> Option<StepCosts> {
        let clock = self.record.clock(&measured.cell.provider)?;
        steps::of(measured.rounds, clock, self.record.header.evidence)
    }

    /// What limits this cell, if it can be told from how busy the CPUs are.
    fn limit(&self, measured: &Measured<'_>) -> Option<Limit> {
        let Measured { cell, rounds, .. } = measured;
        let execution = execution::of(self.record, cell, rounds)?;
        let cpu = execution.cpu.measured()?;
        let all = self.record.header.machine.cpus as f64;
        if cpu.own >= NEVER_WAITS
            || cpu.machine.is_some_and(|busy| all == 1.0 && busy >= NEVER_WAITS)
        {
            return Some(Limit::Cpu);
        }
        cpu.machine.is_some_and(|busy| busy * all <= WAITS).then_some(Limit::Engine)
    }

    /// `None` if the full queue was not measured at this size, or there is no reference.
    fn enough(&self, size: u32) -> Option<Enough> {
        let (mut full, mut shallow, mut limit) = (None, Vec::new(), None);
        let own = |cell: &&&Measured<'_>| {
            cell.cell.provider == self.provider && cell.workload.message == size
        };
        for cell in self.cells.iter().filter(own) {
            match cell.workload.dispatch.depth {
                Depth::Ring if full.is_none() => {
                    full = cell.passes.as_ref();
                    limit = self.limit(cell);
                }
                Depth::Ring => {}
                Depth::Jobs(jobs) => shallow.extend(cell.passes.as_ref().map(|it| (jobs, it))),
            }
        }
        let full = full?;
        let reaches = |passes: &Passes| {
            let share = ratio::time(full, passes).ok().and_then(|share| share.interval);
            share.is_some_and(|share| share.low.0 >= ENOUGH)
        };
        let enough = shallow.iter().filter(|(_, passes)| reaches(passes)).map(|(jobs, _)| *jobs);
        Some(Enough {
            bytes: size,
            gain: ratio::time(self.reference(size)?, full).ok()?,
            in_flight: enough.min(),
            limit,
        })
    }
}

/// What a workload is about, whatever its size and dispatch.
fn task_of(workload: &CryptoWorkload) -> CryptoWorkload {
    CryptoWorkload { message: 0, dispatch: Dispatch::SERIAL, ..*workload }
}

/// Shallow queues first; of equal depth, the plain way first.
fn order(dispatch: Dispatch) -> u32 {
    let depth = match dispatch.depth {
        Depth::Jobs(jobs) => u32::from(jobs),
        Depth::Ring => 1 << 16,
    };
    let before = u32::from(dispatch.build == Build::Before);
    let last = u32::from(dispatch.notice == Notice::Last);
    depth * 4 + before * 2 + last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::ratio::Verdict;
    use cpb_core::message::CpuTime;
    use cpb_core::{Algorithm, Operation};
    use cpb_record::{Outcome, Round};

    const DEEP: fn(u16) -> Dispatch =
        |depth| Dispatch { depth: Depth::Jobs(depth), ..Dispatch::SERIAL };

    /// A cell whose operations take so many nanoseconds.
    fn cell(provider: &str, size: u32, dispatch: Dispatch, time: f64) -> Vec<Round> {
        let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, size);
        let workload = CryptoWorkload { dispatch, ..workload };
        let seed = u64::from(size) + u64::from(order(dispatch)) + provider.len() as u64;
        fixtures::cell(provider, workload, seed, time)
    }

    fn planted() -> Record {
        let cells = [
            cell("openssl", 16, Dispatch::SERIAL, 1000.0),
            cell("openssl", 16, Dispatch::ALL_AT_ONCE, 250.0),
            cell("openssl", 16, DEEP(64), 260.0),
            cell("openssl", 16, DEEP(8), 300.0),
            cell("openssl", 16384, Dispatch::SERIAL, 10_000.0),
            cell("openssl", 16384, Dispatch::ALL_AT_ONCE, 10_000.0),
            // The same executor by another way, and one with a queue that nothing is compared with.
            cell("mbedtls:c", 16, Dispatch::SERIAL, 2000.0),
        ];
        fixtures::record(cells.into_iter())
    }

    #[test]
    fn a_planted_gain_is_found_with_the_depth_that_is_enough() {
        let [found] = &of(&planted())[..] else { panic!() };
        assert_eq!((&*found.provider, &found.sizes[..]), ("openssl", &[16, 16384][..]));
        let [small, large] = &found.enough[..] else { panic!("{found:?}") };
        let interval = small.gain.interval.expect("twelve passes");
        assert!(interval.low.0 <= 4.0 && 4.0 <= interval.high.0, "{interval:?}");
        assert_eq!((small.bytes, small.in_flight), (16, Some(64)), "8 reach only 83 %");
        assert_eq!(small.gain.verdict, Verdict::Slower, "of one message at a time");
        assert_eq!((large.bytes, large.gain.verdict), (16384, Verdict::Tie));
        assert_eq!(large.in_flight, Some(1), "a queue gains nothing");
    }

    #[test]
    fn a_loop_that_never_waits_is_the_limit_and_one_that_waits_is_not() {
        for (own, busy, limit) in [
            (0.99, 0.99, Some(Limit::Cpu)),
            (0.3, 0.8, Some(Limit::Engine)),
            // Interrupts take the rest of the only CPU.
            (0.3, 0.99, Some(Limit::Cpu)),
            (0.9, 0.95, None),
        ] {
            let mut record = planted();
            record.header.machine.cpus = 1;
            for (_, outcome) in &mut record.cells {
                let Outcome::Measured(rounds) = outcome else { continue };
                for counters in rounds.iter_mut().map(|round| &mut round.counters) {
                    let ns = |share: f64| (share * 1e9) as u64;
                    (counters.operations, counters.wall_ns) = (1000, ns(1.0));
                    counters.cpu_ns = ns(own);
                    let (busy_ns, total_ns) = (ns(busy), ns(1.0));
                    counters.machine = Some(CpuTime { busy_ns, softirq_ns: 0, total_ns });
                }
            }
            let [found] = &of(&record)[..] else { panic!() };
            assert_eq!(found.enough[0].limit, limit, "{own} {busy}");
            // Of two CPUs together this is at least one.
            record.header.machine.cpus = 2;
            let [found] = &of(&record)[..] else { panic!() };
            let limit = limit.filter(|_| own >= NEVER_WAITS);
            assert_eq!(found.enough[0].limit, limit, "{own} {busy} of two");
        }
    }

    #[test]
    fn ways_are_in_the_order_of_their_depth_and_other_interfaces_come_last() {
        let [found] = &of(&planted())[..] else { panic!() };
        let ways: Vec<_> = found.ways.iter().map(|way| (&*way.provider, way.in_flight)).collect();
        let own = [Some(1), Some(8), Some(64), None].map(|depth| ("openssl", depth));
        assert_eq!(ways, [&own[..], &[("mbedtls:c", Some(1))]].concat());
        let share = found.ways[4].cells[0].and_then(|cell| cell.gain).expect("a ratio");
        assert!((share.0 - 0.5).abs() < 0.02, "{share:?}");
        assert_eq!(found.ways[1].cells[1], None, "not measured at this size");
    }

    #[test]
    fn without_a_reference_there_are_counts_and_no_gain() {
        let cells = [cell("openssl", 16, DEEP(8), 300.0), cell("openssl", 16, DEEP(2), 500.0)];
        let [found] = &of(&fixtures::record(cells.into_iter()))[..] else { panic!() };
        assert!(found.enough.is_empty());
        assert!(
            found.ways.iter().flat_map(|way| &way.cells).flatten().all(|cell| cell.gain.is_none())
        );
        assert!(
            of(&fixtures::record([cell("openssl", 16, Dispatch::SERIAL, 1e3)].into_iter()))
                .is_empty()
        );
    }
}
