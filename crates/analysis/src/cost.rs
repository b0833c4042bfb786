//! The CPU cost of an operation, and of a load of many operations.
//!
//! An operation uses the CPU for as long as it takes, except for the time in which it sleeps while something else
//! works: the round's wall-clock time minus its CPU time. Only an operation that gives up the CPU voluntarily sleeps.
//! Otherwise, a round has less CPU time than wall-clock time because other programs took the CPU away. That is
//! neither a cost of the operation nor a saving.

use crate::uncertain::Bounded;
use crate::units::{
    Bytes, BytesPerSecond, Interval, Nanoseconds, OperationsPerSecond, SecondsPerMegabyte,
};
use cpb_record::Round;
use serde::Serialize;

/// An operation with this many voluntary context switches or more counts as one that sleeps. An engine's operation
/// makes about one; interrupt coalescing reduces that.
const SLEEPS: f64 = 0.02;

/// CPU time of an operation in the calling thread. The work of kernel threads and interrupts is not included; as far
/// as the system reports it, it is in [`Cpu::softirq`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cpu {
    /// Total time in user mode and in the kernel.
    #[serde(rename = "total_ns")]
    pub total: Nanoseconds,
    /// Time in user mode.
    #[serde(rename = "user_ns")]
    pub user: Nanoseconds,
    /// Time in the kernel.
    #[serde(rename = "system_ns")]
    pub system: Nanoseconds,
    /// Time in the kernel's deferred work after interrupts, on any CPU and for any program; `None` if it was not
    /// counted.
    #[serde(rename = "softirq_ns")]
    pub softirq: Option<Nanoseconds>,
}

impl Cpu {
    /// From rounds in which an operation takes `time` in one thread. `None` if the system counted nothing.
    pub fn of(rounds: &[Round], time: Nanoseconds) -> Option<Cpu> {
        let sum = |part: fn(&Round) -> u64| rounds.iter().map(|r| part(r) as f64).sum::<f64>();
        let operations = sum(|round| round.counters.operations);
        let wall = sum(|round| round.counters.wall_ns);
        let cpu = sum(|round| round.counters.cpu_ns);
        if operations == 0.0 || cpu == 0.0 {
            return None;
        }
        let sleeps = sum(|round| round.counters.voluntary.into()) >= SLEEPS * operations;
        let asleep = if sleeps { (wall - cpu).max(0.0) / operations } else { 0.0 };
        let total = (time.0 - asleep).max(0.0);
        // The harness itself makes hardly any system calls.
        let system = (sum(|round| round.counters.system_ns) / operations).min(total);
        let softirqs = rounds
            .iter()
            .map(|round| round.counters.machine.map(|machine| machine.softirq_ns as f64))
            .collect::<Option<Vec<f64>>>();
        Some(Cpu {
            total: Nanoseconds(total),
            user: Nanoseconds(total - system),
            system: Nanoseconds(system),
            softirq: softirqs.map(|all| Nanoseconds(all.iter().sum::<f64>() / operations)),
        })
    }

    /// The share of a core that is busy while operations of `time` follow each other.
    pub fn share(&self, time: Nanoseconds) -> f64 {
        self.total / time
    }

    /// CPU seconds per megabyte (1,000,000 bytes), for messages of this length.
    pub fn seconds_per_megabyte(&self, bytes: Bytes) -> SecondsPerMegabyte {
        SecondsPerMegabyte(self.total.0 / 1e9 * 1e6 / bytes.0)
    }
}

/// The cost of a path at a measured size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredCost {
    /// Message length.
    pub bytes: Bytes,
    /// Time of an operation.
    pub time: Bounded<Nanoseconds>,
    /// CPU time of an operation, if known.
    pub cpu: Option<Nanoseconds>,
    /// The time that 99 % of operations do not exceed.
    pub p99: Option<Nanoseconds>,
}

/// The cost of a path at any size between measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Time of an operation; its latency, if operations do not wait for each other. At a size that was not measured,
    /// the interval covers what dense measurements found between two measured sizes; see [`MORE`].
    #[serde(rename = "time_ns")]
    pub time: Bounded<Nanoseconds>,
    /// The time that 99 % of operations do not exceed.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanoseconds>,
    /// CPU time of an operation.
    #[serde(rename = "cpu_ns")]
    pub cpu: Option<Nanoseconds>,
    /// The measured sizes on either side. `None` if the size itself was measured.
    pub between: Option<(Bytes, Bytes)>,
}

/// At a size that was not measured, an operation may cost as much as this many bytes more than the straight line
/// through its neighbours predicts, and at most twice the line. In software, partial blocks and vector loops that are
/// not full cost that much: of 26,198 estimates from ten runs on an AMD EPYC, 97.3 % contain the figure of a dense
/// record (`bench/dense_truth.py`).
pub const MORE: Bytes = Bytes(1024.0);

/// It may cost as much as this many bytes less, but not less than the cheaper neighbour.
pub const LESS: Bytes = Bytes(128.0);

/// The cost of an operation on `bytes`, given the costs at ascending sizes. `None` outside the measured sizes.
pub fn at(costs: &[MeasuredCost], bytes: Bytes) -> Option<Cost> {
    let cost =
        |at: MeasuredCost, between| Cost { time: at.time, p99: at.p99, cpu: at.cpu, between };
    if let Some(at) = costs.iter().find(|at| at.bytes == bytes) {
        return Some(cost(*at, None));
    }
    let above = costs.iter().position(|at| at.bytes > bytes)?;
    let (low, high) = (costs.get(above.checked_sub(1)?)?, costs[above]);
    let share = (bytes - low.bytes) / (high.bytes - low.bytes);
    let mix = |low: Nanoseconds, high: Nanoseconds| Nanoseconds(low.0 + share * (high - low).0);
    let line = mix(low.time.value, high.time.value).0;
    // Between close neighbours costs may even fall, but a partial block always costs something.
    let slope = |from: &MeasuredCost, to: &MeasuredCost| {
        (to.time.value - from.time.value).0 / (to.bytes - from.bytes).0
    };
    let overall = costs.first().zip(costs.last()).map_or(0.0, |(first, last)| slope(first, last));
    let per_byte = slope(low, &high).max(overall).max(0.0);
    let margin = [low.time, high.time].into_iter().filter_map(|time| {
        let interval = time.interval?;
        Some((interval.high - interval.low).0 / 2.0 / time.value.0)
    });
    let noise = 1.0 + margin.fold(0.0, f64::max);
    let least = low.time.value.0.min(high.time.value.0);
    let interval = Interval {
        low: Nanoseconds((line - LESS.0 * per_byte).max(least) / noise),
        high: Nanoseconds((line + (MORE.0 * per_byte).min(line)) * noise),
    };
    let between = MeasuredCost {
        bytes,
        time: Bounded { value: Nanoseconds(line), interval: Some(interval) },
        cpu: low.cpu.zip(high.cpu).map(|(low, high)| mix(low, high)),
        p99: low.p99.zip(high.p99).map(|(low, high)| mix(low, high)),
    };
    Some(cost(between, Some((low.bytes, high.bytes))))
}

/// The part of a path's capacity that a load of operations per second uses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// The share of the path's time that the load takes; above 1 the path cannot keep up.
    pub busy: f64,
    /// The share of one core's time. `None` if CPU time is unknown.
    pub cpu: Option<f64>,
    /// The highest rate that one caller can reach.
    pub most: OperationsPerSecond,
    /// The load in bytes per second.
    #[serde(rename = "bytes_per_second")]
    pub rate: BytesPerSecond,
}

impl Cost {
    /// The resources that operations at this `rate` on messages of `bytes` take.
    pub fn load(&self, bytes: Bytes, rate: OperationsPerSecond) -> Load {
        Load {
            busy: self.time.value.0 * rate.0 / 1e9,
            cpu: self.cpu.map(|cpu| cpu.0 * rate.0 / 1e9),
            most: OperationsPerSecond(1e9 / self.time.value.0),
            rate: BytesPerSecond(bytes.0 * rate.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::round;
    use cpb_core::message::{Counters, CpuTime};

    #[test]
    fn what_an_operation_sleeps_is_no_cost_of_the_cpu() {
        // 1000 operations of 100 µs, each asleep for 80 µs, and 20 ms of harness.
        let counters = Counters {
            operations: 1000,
            wall_ns: 120_000_000,
            cpu_ns: 40_000_000,
            user_ns: 25_000_000,
            system_ns: 15_000_000,
            voluntary: 1000,
            machine: Some(CpuTime { busy_ns: 0, softirq_ns: 2_000_000, total_ns: 0 }),
            ..Counters::default()
        };
        let rounds = [cpb_record::Round { counters, ..round(0, 1, Vec::new()) }];
        let time = Nanoseconds(100_000.0);
        let cpu = Cpu::of(&rounds, time).unwrap();
        assert_eq!((cpu.total.0, cpu.user.0, cpu.system.0), (20_000.0, 5_000.0, 15_000.0));
        assert_eq!(cpu.softirq, Some(Nanoseconds(2_000.0)));
        assert_eq!(cpu.share(time), 0.2);
        assert!((cpu.seconds_per_megabyte(Bytes(1000.0)).0 - 0.02).abs() < 1e-12);
        assert_eq!(Cpu::of(&[round(0, 1, Vec::new())], time), None);
    }

    #[test]
    fn what_other_programs_took_makes_an_operation_no_cheaper() {
        let counters = Counters {
            operations: 1000,
            wall_ns: 300_000_000,
            cpu_ns: 110_000_000,
            user_ns: 110_000_000,
            involuntary: 90,
            voluntary: 2,
            ..Counters::default()
        };
        let rounds = [cpb_record::Round { counters, ..round(0, 1, Vec::new()) }];
        let time = Nanoseconds(100_000.0);
        let cpu = Cpu::of(&rounds, time).unwrap();
        assert_eq!((cpu.total, cpu.share(time)), (time, 1.0));
    }

    #[test]
    fn a_load_between_two_sizes_takes_what_lies_between_them() {
        let time = |ns| Bounded { value: Nanoseconds(ns), interval: None };
        let measured = |bytes, ns, cpu| MeasuredCost {
            bytes: Bytes(bytes),
            time: time(ns),
            cpu: Some(Nanoseconds(cpu)),
            p99: None,
        };
        let costs = [measured(64.0, 10_000.0, 4_000.0), measured(1024.0, 20_000.0, 6_000.0)];
        let at = |bytes| at(&costs, Bytes(bytes));
        let cost = at(544.0).unwrap();
        let load = cost.load(Bytes(544.0), OperationsPerSecond(50_000.0));
        assert_eq!((cost.time.value.0, load.busy, load.cpu), (15_000.0, 0.75, Some(0.25)));
        assert_eq!(cost.between, Some((Bytes(64.0), Bytes(1024.0))));
        // A partial block may cost more than the line predicts, and no message less than a shorter one.
        let interval = cost.time.interval.unwrap();
        assert!(interval.low.0 >= 10_000.0 && interval.low.0 < 14_000.0, "{interval:?}");
        assert!(interval.high.0 > 25_000.0 && interval.high.0 <= 30_000.0, "{interval:?}");
        assert_eq!(at(1025.0), None);
        assert_eq!(at(16.0), None);
        let cost = at(64.0).unwrap();
        let load = cost.load(Bytes(64.0), OperationsPerSecond(200_000.0));
        assert_eq!((cost.between, load.busy), (None, 2.0));
    }
}
