//! What Linux counts while a thread runs: its CPU time, context switches and page faults, and, if the machine
//! allows it, the CPU's own cycle and instruction counters. Also what Linux counts for the whole machine.

use crate::perf::HardwareCounters;
use cpb_core::message::{Counters, CpuTime, Retired};
use cpb_core::{Claim, Provider};
use cpb_providers::interrupts;
use std::time::Instant;

/// Counts for the calling thread from [`ThreadCounters::start`] to [`ThreadCounters::stop`].
pub(crate) struct ThreadCounters {
    begin: Instant,
    cpu_ns: u64,
    usage: libc::rusage,
    hardware: Option<HardwareCounters>,
}

impl ThreadCounters {
    pub(crate) fn start() -> Self {
        let hardware = HardwareCounters::start();
        ThreadCounters { usage: usage(), hardware, cpu_ns: cpu_ns(), begin: Instant::now() }
    }

    pub(crate) fn stop(self) -> Counters {
        let wall_ns = self.begin.elapsed().as_nanos() as u64;
        let cpu_ns = cpu_ns().saturating_sub(self.cpu_ns);
        let (before, after) = (&self.usage, usage());
        let hardware = self.hardware.and_then(HardwareCounters::stop);
        let since = |now: libc::c_long, then: libc::c_long| (now - then).max(0) as u32;
        Counters {
            operations: 0,
            wall_ns,
            cpu_ns,
            user_ns: nanoseconds(after.ru_utime).saturating_sub(nanoseconds(before.ru_utime)),
            system_ns: nanoseconds(after.ru_stime).saturating_sub(nanoseconds(before.ru_stime)),
            voluntary: since(after.ru_nvcsw, before.ru_nvcsw),
            involuntary: since(after.ru_nivcsw, before.ru_nivcsw),
            faults: since(after.ru_minflt, before.ru_minflt),
            cycles: hardware.map(|(cycles, _)| cycles),
            instructions: hardware.map(|(_, instructions)| instructions),
            interrupts: None,
            jobs: None,
            retired: None,
            steps: None,
            stack: None,
            machine: None,
        }
    }
}

/// Counts that belong to no thread. They are read while all threads wait, before and after their work.
pub(crate) struct SharedCounters {
    interrupts: Option<u64>,
    jobs: Option<u64>,
    machine: Option<CpuTime>,
}

impl SharedCounters {
    /// Reads the interrupts of the provider's engine, or for software those of all engines, which should be
    /// idle meanwhile. If `machine` is set, also reads the CPU time of the whole machine, which takes too
    /// long for short rounds.
    pub(crate) fn read(provider: &dyn Provider, machine: bool) -> Self {
        let machine = if machine { cpu_time() } else { None };
        let engines = || match provider.claim() {
            // Only its own lines: those of another engine would prove the wrong thing.
            Claim::Engine | Claim::Unknown => None,
            Claim::Process | Claim::Kernel | Claim::Fallback => interrupts::of_engines(),
        };
        let interrupts = provider.interrupts().or_else(engines);
        SharedCounters { interrupts, jobs: provider.jobs(), machine }
    }

    /// Adds what happened between `self` and `after` to the threads' counts. A count that went backwards, for
    /// example because a device was unplugged, is dropped.
    pub(crate) fn add_to(&self, counters: &mut Counters, after: &SharedCounters) {
        let interrupts = after.interrupts.zip(self.interrupts);
        counters.interrupts = interrupts.and_then(|(now, then)| now.checked_sub(then));
        let jobs = after.jobs.zip(self.jobs);
        counters.jobs = jobs.and_then(|(now, then)| now.checked_sub(then));
        counters.machine = after.machine.zip(self.machine).and_then(|(now, then)| {
            Some(CpuTime {
                busy_ns: now.busy_ns.checked_sub(then.busy_ns)?,
                softirq_ns: now.softirq_ns.checked_sub(then.softirq_ns)?,
                // Linux may decrease idle time when a CPU is switched off.
                total_ns: now.total_ns.checked_sub(then.total_ns)?,
            })
        });
    }
}

/// The whole machine's CPU time since it booted.
fn cpu_time() -> Option<CpuTime> {
    // SAFETY: sysconf takes a number and has no other effect.
    let ticks = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    parse_cpu_time(&std::fs::read_to_string("/proc/stat").ok()?, ticks)
}

/// Parses the first line of /proc/stat, in units of 1/`ticks` s: user, nice, system, idle, iowait, irq,
/// softirq, steal. Guest time, which follows, is already part of user time (proc_stat(5)).
fn parse_cpu_time(text: &str, ticks: u64) -> Option<CpuTime> {
    let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let fields: Vec<u64> = numbers.map_while(|number| number.parse().ok()).collect();
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = fields.as_slice() else {
        return None;
    };
    let busy = user + nice + system + irq + softirq;
    let ns = |count: u64| count.checked_mul(1_000_000_000)?.checked_div(ticks);
    Some(CpuTime {
        busy_ns: ns(busy)?,
        softirq_ns: ns(softirq)?,
        total_ns: ns(busy + idle + iowait + steal)?,
    })
}

/// The sum for threads that ran at the same time.
pub(crate) fn sum(all: &[Counters]) -> Counters {
    let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    let Some((first, rest)) = all.split_first() else { return Counters::default() };
    rest.iter().fold(*first, |total, one| Counters {
        operations: total.operations + one.operations,
        wall_ns: total.wall_ns.max(one.wall_ns),
        cpu_ns: total.cpu_ns + one.cpu_ns,
        user_ns: total.user_ns + one.user_ns,
        system_ns: total.system_ns + one.system_ns,
        voluntary: total.voluntary + one.voluntary,
        involuntary: total.involuntary + one.involuntary,
        faults: total.faults + one.faults,
        cycles: add(total.cycles, one.cycles),
        instructions: add(total.instructions, one.instructions),
        interrupts: None,
        jobs: None,
        retired: total.retired.zip(one.retired).map(|(total, one)| Retired {
            operations: total.operations + one.operations,
            user: total.user + one.user,
            kernel: add(total.kernel, one.kernel),
            cpu: add(total.cpu, one.cpu),
        }),
        steps: None,
        stack: None,
        machine: None,
    })
}

/// CPU time of the calling thread up to now. Unlike that of [`usage`], it is not in coarse steps.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours; every thread has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn usage() -> libc::rusage {
    // SAFETY: rusage is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `usage` is ours; RUSAGE_THREAD exists since Linux 2.6.26.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_time_is_read_from_its_first_line() {
        let text = "cpu  100 20 300 4000 50 6 7 8 90 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let ms = 10_000_000;
        let expected =
            CpuTime { busy_ns: 433 * ms, softirq_ns: 7 * ms, total_ns: (433 + 4058) * ms };
        assert_eq!(parse_cpu_time(text, 100), Some(expected));
    }

    #[test]
    fn a_text_that_is_not_that_of_linux_tells_nothing() {
        for text in ["", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 x 6 7 8"] {
            assert_eq!(parse_cpu_time(text, 100), None, "{text:?}");
        }
        assert_eq!(parse_cpu_time("cpu 1 2 3 4 5 6 7 8", 0), None);
        let huge = "cpu 18446744073709551 0 0 0 0 0 0 0";
        assert_eq!(parse_cpu_time(huge, 100), None);
    }

    #[test]
    fn a_count_that_went_backwards_is_none() {
        let time = |busy_ns| Some(CpuTime { busy_ns, softirq_ns: 0, total_ns: 100 });
        let read =
            |interrupts, busy| SharedCounters { interrupts, jobs: None, machine: time(busy) };
        let mut counters = Counters::default();
        read(Some(5), 1).add_to(&mut counters, &read(Some(12), 3));
        assert_eq!(counters.interrupts, Some(7));
        assert_eq!(counters.machine.map(|time| (time.busy_ns, time.total_ns)), Some((2, 0)));
        for (before, after) in [(Some(5), Some(4)), (None, Some(4)), (Some(5), None)] {
            read(before, 3).add_to(&mut counters, &read(after, 1));
            assert_eq!((counters.interrupts, counters.machine), (None, None));
        }
    }

    #[test]
    fn this_machine_s_time_goes_on() {
        let before = cpu_time().expect("Linux has /proc/stat");
        assert!(before.busy_ns > 0 && before.total_ns > before.busy_ns);
        assert!(before.softirq_ns < before.busy_ns);
    }
}
