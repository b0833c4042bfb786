//! What an operation costs the CPU, and what a load of many costs.
//!
//! An operation uses the CPU for as long as it takes, but for the time in which it sleeps while
//! something else works: a round's wall-clock time less its CPU time. Only an operation that gives
//! the CPU up of its own accord sleeps. Without that, a round has less CPU time than it lasted because
//! other programs took the CPU away, and that is no cost of theirs nor a gain of ours.

use crate::analysis::units::{BytesPerSecond, Nanoseconds};
use crate::record::Round;
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

/// What a path costs at a size: measured, or between two sizes that were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// Message length in bytes.
    pub bytes: f64,
    /// Time of an operation in nanoseconds.
    pub time: f64,
    /// CPU time of it, where it is known.
    pub cpu: Option<f64>,
    /// What 99 of 100 operations do not exceed, in nanoseconds.
    pub p99: Option<f64>,
}

/// What a load of so many operations a second takes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Time of an operation: its latency, if none waits for another.
    #[serde(rename = "time_ns")]
    pub time: Nanoseconds,
    /// What 99 of 100 operations do not exceed.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanoseconds>,
    /// Share of the path's time that the load takes; above 1 it cannot keep up.
    pub busy: f64,
    /// Share of one core's time; none where CPU time is not known.
    pub cpu: Option<f64>,
    /// The most operations a second that one caller gets.
    pub most: f64,
    /// Bytes a second of this load.
    #[serde(rename = "bytes_per_second")]
    pub rate: BytesPerSecond,
}

/// What `rate` operations a second on messages of `bytes` take, by costs at ascending sizes; none
/// beyond the measured sizes.
pub fn load(costs: &[At], bytes: f64, rate: f64) -> Option<Load> {
    let at = between(costs, bytes)?;
    Some(Load {
        time: Nanoseconds(at.time),
        p99: at.p99.map(Nanoseconds),
        busy: at.time * rate / 1e9,
        cpu: at.cpu.map(|cpu| cpu * rate / 1e9),
        most: 1e9 / at.time,
        rate: BytesPerSecond(bytes * rate),
    })
}

/// Straight between two measured sizes.
fn between(costs: &[At], bytes: f64) -> Option<At> {
    if let Some(at) = costs.iter().find(|at| at.bytes == bytes) {
        return Some(*at);
    }
    let above = costs.iter().position(|at| at.bytes > bytes)?;
    let (low, high) = (costs.get(above.checked_sub(1)?)?, costs[above]);
    let share = (bytes - low.bytes) / (high.bytes - low.bytes);
    let mix = |low: f64, high: f64| low + share * (high - low);
    Some(At {
        bytes,
        time: mix(low.time, high.time),
        cpu: low.cpu.zip(high.cpu).map(|(low, high)| mix(low, high)),
        p99: low.p99.zip(high.p99).map(|(low, high)| mix(low, high)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::round;
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
        let rounds = [crate::record::Round { counters, ..round(0, 1, Vec::new()) }];
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
        let rounds = [crate::record::Round { counters, ..round(0, 1, Vec::new()) }];
        let cpu = Cpu::of(&rounds, 100_000.0).unwrap();
        assert_eq!((cpu.total.0, cpu.share(100_000.0)), (100_000.0, 1.0));
    }

    #[test]
    fn a_load_between_two_sizes_takes_what_lies_between_them() {
        let at = |bytes, time, cpu| At { bytes, time, cpu: Some(cpu), p99: None };
        let costs = [at(64.0, 10_000.0, 4_000.0), at(1024.0, 20_000.0, 6_000.0)];
        let load = super::load(&costs, 544.0, 50_000.0).unwrap();
        assert_eq!((load.time.0, load.busy, load.cpu), (15_000.0, 0.75, Some(0.25)));
        assert_eq!(super::load(&costs, 1025.0, 1.0), None);
        assert_eq!(super::load(&costs, 16.0, 1.0), None);
        assert_eq!(super::load(&costs, 64.0, 200_000.0).unwrap().busy, 2.0);
    }
}
