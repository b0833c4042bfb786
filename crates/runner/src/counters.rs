//! What Linux counts while a thread runs: its CPU time, context switches, page faults, and where
//! the machine lets us, the CPU's own cycle and instruction counters.

use crate::perf::HardwareCounters;
use cpb_core::message::Counters;
use std::time::Instant;

/// Counts for the calling thread from [`ThreadCounters::start`] to [`ThreadCounters::stop`].
pub(crate) struct ThreadCounters {
    begin: Instant,
    usage: libc::rusage,
    hardware: Option<HardwareCounters>,
}

impl ThreadCounters {
    pub(crate) fn start() -> Self {
        let hardware = HardwareCounters::start();
        ThreadCounters { usage: usage(), hardware, begin: Instant::now() }
    }

    pub(crate) fn stop(self) -> Counters {
        let wall_ns = self.begin.elapsed().as_nanos() as u64;
        let (before, after) = (&self.usage, usage());
        let hardware = self.hardware.and_then(HardwareCounters::stop);
        let since = |now: libc::c_long, then: libc::c_long| (now - then).max(0) as u32;
        Counters {
            wall_ns,
            user_ns: nanoseconds(after.ru_utime).saturating_sub(nanoseconds(before.ru_utime)),
            system_ns: nanoseconds(after.ru_stime).saturating_sub(nanoseconds(before.ru_stime)),
            voluntary: since(after.ru_nvcsw, before.ru_nvcsw),
            involuntary: since(after.ru_nivcsw, before.ru_nivcsw),
            faults: since(after.ru_minflt, before.ru_minflt),
            cycles: hardware.map(|(cycles, _)| cycles),
            instructions: hardware.map(|(_, instructions)| instructions),
        }
    }
}

/// The sum for threads that ran at the same time.
pub(crate) fn sum(all: &[Counters]) -> Counters {
    let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    let Some((first, rest)) = all.split_first() else { return Counters::default() };
    rest.iter().fold(*first, |total, one| Counters {
        wall_ns: total.wall_ns.max(one.wall_ns),
        user_ns: total.user_ns + one.user_ns,
        system_ns: total.system_ns + one.system_ns,
        voluntary: total.voluntary + one.voluntary,
        involuntary: total.involuntary + one.involuntary,
        faults: total.faults + one.faults,
        cycles: add(total.cycles, one.cycles),
        instructions: add(total.instructions, one.instructions),
    })
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
