//! The Linux clock used for measuring: CLOCK_MONOTONIC_RAW, which no time service adjusts.

use crate::chain::Chain;
use cpb_core::message::ClockDescription;
use cpb_core::{Clock, Reference, Ticks};

/// The target duration of one reading of the reference chain: long compared with the clock's cost, short
/// compared with a batch and with the time between interrupts. `bench/` has the experiment.
const REFERENCE: Ticks = Ticks(10_000);

/// CLOCK_MONOTONIC_RAW in nanoseconds, with the core's clock from a confirmed [`Chain`].
#[derive(Debug)]
pub struct MonotonicRaw {
    resolution: Ticks,
    cost: Ticks,
    chain: Option<Chain>,
}

impl MonotonicRaw {
    /// Measures the clock's own cost and resolution and the core's clock. Must be called on the CPU that will
    /// be measured. `latency` is the latency of a multiplication that an earlier process found on this CPU.
    /// Without it, the two chains are run, which takes one millisecond, or ten if they disagree.
    pub fn new(latency: Option<u32>) -> Self {
        let mut steps: Vec<u64> = (0..200).map(|_| elapsed(&|| ()).0).collect();
        steps.sort_unstable();
        let resolution = steps.iter().copied().find(|step| *step > 0).unwrap_or(1);
        MonotonicRaw {
            resolution: Ticks(resolution),
            cost: cost(),
            chain: latency
                .or_else(|| Chain::latency(elapsed))
                .map(|latency| Chain::new(latency, REFERENCE, Ticks(resolution), elapsed)),
        }
    }

    /// What a host needs to know to interpret the ticks.
    pub fn describe(&self) -> ClockDescription {
        ClockDescription {
            frequency: self.frequency(),
            resolution: self.resolution,
            cost: self.cost,
            reference_cycles: self.reference_cycles(),
            multiply_latency: self.chain.as_ref().map_or(0, |chain| chain.multiply_latency() as u8),
            counts_cycles: false,
        }
    }
}

impl Clock for MonotonicRaw {
    #[inline]
    fn now(&self) -> Ticks {
        now()
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        self.resolution.max(self.cost)
    }

    fn reference(&self) -> Option<Reference> {
        self.chain.as_ref().map(|chain| chain.reference(elapsed))
    }

    fn reference_cycles(&self) -> u32 {
        self.chain.as_ref().map_or(0, Chain::cycles)
    }
}

/// The cost of a reading, from many in a row: a single reading is limited by the clock's steps, and an error
/// of ten nanoseconds is a thousandth of a reference chain. The minimum of several rows is used, because an
/// interrupt or a thread on the same core can only lengthen a row.
fn cost() -> Ticks {
    const ROWS: u64 = 20;
    const READINGS: u64 = 100;
    let readings = || (1..READINGS).for_each(|_| _ = std::hint::black_box(now()));
    let row = |_| elapsed(&readings).0;
    Ticks((0..ROWS).map(row).min().unwrap_or_default().div_ceil(READINGS))
}

fn elapsed(work: &dyn Fn()) -> Ticks {
    let start = now();
    work();
    now() - start
}

#[inline]
fn now() -> Ticks {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a local timespec. The clock exists since Linux 2.6.28. If the call failed, the time
    // would stay 0 and no figure would result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut time) };
    Ticks(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_readings_cost_something() {
        let clock = MonotonicRaw::new(None);
        let (first, second) = (clock.now(), clock.now());
        assert!(second >= first && first > Ticks(0));
        assert!(clock.resolution() > Ticks(0));
    }
}
