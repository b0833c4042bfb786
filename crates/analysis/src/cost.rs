//! What an operation costs the CPU, and what a load of many costs.
//!
//! An operation uses the CPU for as long as it takes, but for the time in which it sleeps while
//! something else works: a round's wall-clock time less its CPU time. Only an operation that gives
//! the CPU up of its own accord sleeps. Without that, a round has less CPU time than it lasted because
//! other programs took the CPU away, and that is no cost of theirs nor a gain of ours.

use crate::uncertain::Bounded;
use crate::units::{BytesPerSecond, Interval, Nanoseconds};
use cpb_record::Round;
use serde::Serialize;

/// Voluntary context switches an operation from which on it counts as one that sleeps: an engine's
/// makes about one; interrupts coalesce some.
const SLEEPS: f64 = 0.02;

/// CPU time of an operation, all of it by the thread that asked for it; what kernel threads and
/// interrupts do beside it is in [`Cpu::softirq`] as far as the system tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cpu {
    /// In user mode and in the kernel together.
    #[serde(rename = "total_ns")]
    pub total: Nanoseconds,
    /// The part in user mode.
    #[serde(rename = "user_ns")]
    pub user: Nanoseconds,
    /// The part in the kernel.
    #[serde(rename = "system_ns")]
    pub system: Nanoseconds,
    /// In the kernel's deferred work after interrupts, on any CPU and for any program; none where it
    /// was not counted.
    #[serde(rename = "softirq_ns")]
    pub softirq: Option<Nanoseconds>,
}

impl Cpu {
    /// Of rounds in which an operation takes `time` nanoseconds in one thread; none if the system
    /// counted nothing.
    pub fn of(rounds: &[Round], time: f64) -> Option<Cpu> {
        let sum = |part: fn(&Round) -> u64| rounds.iter().map(|r| part(r) as f64).sum::<f64>();
        let operations = sum(|round| round.counters.operations);
        let wall = sum(|round| round.counters.wall_ns);
        let cpu = sum(|round| round.counters.cpu_ns);
        if operations == 0.0 || cpu == 0.0 {
            return None;
        }
        let sleeps = sum(|round| round.counters.voluntary.into()) >= SLEEPS * operations;
        let asleep = if sleeps { (wall - cpu).max(0.0) / operations } else { 0.0 };
        let total = (time - asleep).max(0.0);
        // The harness around the operations hardly enters the kernel.
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

    /// Share of a core that is busy while operations of `time` nanoseconds follow each other.
    pub fn share(&self, time: f64) -> f64 {
        self.total.0 / time
    }

    /// CPU seconds for each megabyte (1,000,000 bytes), of messages of so many bytes.
    pub fn seconds_per_megabyte(&self, bytes: f64) -> f64 {
        self.total.0 / 1e9 * 1e6 / bytes
    }
}

/// What a path costs at a measured size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredCost {
    /// Message length in bytes.
    pub bytes: f64,
    /// Time of an operation in nanoseconds.
    pub time: Bounded<Nanoseconds>,
    /// CPU time of it, where it is known.
    pub cpu: Option<f64>,
    /// What 99 of 100 operations do not exceed, in nanoseconds.
    pub p99: Option<f64>,
}

/// What a path costs at any size between measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Time of an operation: its latency, if none waits for another. The interval of a size that was not
    /// measured holds what dense measurements found between the same sizes; see [`MORE`].
    #[serde(rename = "time_ns")]
    pub time: Bounded<Nanoseconds>,
    /// What 99 of 100 operations do not exceed.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanoseconds>,
    /// CPU time of an operation.
    #[serde(rename = "cpu_ns")]
    pub cpu: Option<Nanoseconds>,
    /// The measured sizes on either side. `None`: the size was measured.
    pub between: Option<(f64, f64)>,
}

/// An operation on a size that was not measured may cost as much as this many bytes more than the straight line
/// through its neighbours says, and at most twice that. So much do partial blocks and vector loops that are not
/// filled cost software: of 26,198 estimates of ten runs on an AMD EPYC, 97.3 % hold what a dense record has there
/// (`bench/dense_truth.py`).
pub const MORE: f64 = 1024.0;

/// And as many bytes less, but no less than the smaller of its neighbours.
pub const LESS: f64 = 128.0;

/// The cost of an operation on `bytes`, by costs at ascending sizes. `None` beyond the measured sizes.
pub fn at(costs: &[MeasuredCost], bytes: f64) -> Option<Cost> {
    let cost = |at: MeasuredCost, between| Cost {
        time: at.time,
        p99: at.p99.map(Nanoseconds),
        cpu: at.cpu.map(Nanoseconds),
        between,
    };
    if let Some(at) = costs.iter().find(|at| at.bytes == bytes) {
        return Some(cost(*at, None));
    }
    let above = costs.iter().position(|at| at.bytes > bytes)?;
    let (low, high) = (costs.get(above.checked_sub(1)?)?, costs[above]);
    let share = (bytes - low.bytes) / (high.bytes - low.bytes);
    let mix = |low: f64, high: f64| low + share * (high - low);
    let line = mix(low.time.value.0, high.time.value.0);
    // Between close neighbours costs may even fall; what a partial block costs does not.
    let slope = |from: &MeasuredCost, to: &MeasuredCost| {
        (to.time.value.0 - from.time.value.0) / (to.bytes - from.bytes)
    };
    let overall = costs.first().zip(costs.last()).map_or(0.0, |(first, last)| slope(first, last));
    let per_byte = slope(low, &high).max(overall).max(0.0);
    let margin = [low.time, high.time].into_iter().filter_map(|time| {
        let interval = time.interval?;
        Some((interval.high.0 - interval.low.0) / 2.0 / time.value.0)
    });
    let noise = 1.0 + margin.fold(0.0, f64::max);
    let least = low.time.value.0.min(high.time.value.0);
    let interval = Interval {
        low: Nanoseconds((line - LESS * per_byte).max(least) / noise),
        high: Nanoseconds((line + (MORE * per_byte).min(line)) * noise),
    };
    let between = MeasuredCost {
        bytes,
        time: Bounded { value: Nanoseconds(line), interval: Some(interval) },
        cpu: low.cpu.zip(high.cpu).map(|(low, high)| mix(low, high)),
        p99: low.p99.zip(high.p99).map(|(low, high)| mix(low, high)),
    };
    Some(cost(between, Some((low.bytes, high.bytes))))
}

/// What a load of so many operations a second takes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Share of the path's time that the load takes; above 1 it cannot keep up.
    pub busy: f64,
    /// Share of one core's time. `None` where CPU time is not known.
    pub cpu: Option<f64>,
    /// The most operations a second that one caller gets.
    pub most: f64,
    /// Bytes a second of this load.
    #[serde(rename = "bytes_per_second")]
    pub rate: BytesPerSecond,
}

impl Cost {
    /// What `rate` operations a second on messages of `bytes` take.
    pub fn load(&self, bytes: f64, rate: f64) -> Load {
        Load {
            busy: self.time.value.0 * rate / 1e9,
            cpu: self.cpu.map(|cpu| cpu.0 * rate / 1e9),
            most: 1e9 / self.time.value.0,
            rate: BytesPerSecond(bytes * rate),
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
        // 1000 operations of 100 µs, asleep for 80 of them, and 20 ms of harness.
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
        let cpu = Cpu::of(&rounds, 100_000.0).unwrap();
        assert_eq!((cpu.total.0, cpu.user.0, cpu.system.0), (20_000.0, 5_000.0, 15_000.0));
        assert_eq!(cpu.softirq, Some(Nanoseconds(2_000.0)));
        assert_eq!(cpu.share(100_000.0), 0.2);
        assert!((cpu.seconds_per_megabyte(1000.0) - 0.02).abs() < 1e-12);
        assert_eq!(Cpu::of(&[round(0, 1, Vec::new())], 100.0), None);
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
        let cpu = Cpu::of(&rounds, 100_000.0).unwrap();
        assert_eq!((cpu.total.0, cpu.share(100_000.0)), (100_000.0, 1.0));
    }

    #[test]
    fn a_load_between_two_sizes_takes_what_lies_between_them() {
        let time = |ns| Bounded { value: Nanoseconds(ns), interval: None };
        let measured =
            |bytes, ns, cpu| MeasuredCost { bytes, time: time(ns), cpu: Some(cpu), p99: None };
        let costs = [measured(64.0, 10_000.0, 4_000.0), measured(1024.0, 20_000.0, 6_000.0)];
        let cost = at(&costs, 544.0).unwrap();
        let load = cost.load(544.0, 50_000.0);
        assert_eq!((cost.time.value.0, load.busy, load.cpu), (15_000.0, 0.75, Some(0.25)));
        assert_eq!(cost.between, Some((64.0, 1024.0)));
        // A partial block may cost more than the line says, and no message less than a shorter one.
        let interval = cost.time.interval.unwrap();
        assert!(interval.low.0 >= 10_000.0 && interval.low.0 < 14_000.0, "{interval:?}");
        assert!(interval.high.0 > 25_000.0 && interval.high.0 <= 30_000.0, "{interval:?}");
        assert_eq!(at(&costs, 1025.0), None);
        assert_eq!(at(&costs, 16.0), None);
        let cost = at(&costs, 64.0).unwrap();
        assert_eq!((cost.between, cost.load(64.0, 200_000.0).busy), (None, 2.0));
    }
}
