//! The clock of a Cortex-M7: its cycle counter or, if it has none, SysTick.

use cpb_core::message::ClockDescription;
use cpb_core::{Clock, Ticks};

#[cfg(feature = "imxrt")]
pub(crate) mod cycles;
#[cfg(not(feature = "imxrt"))]
pub(crate) mod systick;

/// What a host needs to know about a clock. `counts_cycles` is whether its ticks are core cycles.
pub(crate) fn describe(clock: &impl Clock, counts_cycles: bool) -> ClockDescription {
    /// Consecutive readings per row, and rows. The minimum of all rows is the one that nothing else
    /// lengthened.
    const READINGS: u64 = 32;
    const ROWS: usize = 4;
    let row = |_| {
        let start = clock.now();
        (1..READINGS).for_each(|_| _ = core::hint::black_box(clock.now()));
        (clock.now() - start).0
    };
    let cost = (0..ROWS).map(row).min().unwrap_or_default().div_ceil(READINGS);
    ClockDescription {
        frequency: clock.frequency(),
        resolution: clock.resolution(),
        cost: Ticks(cost),
        reference_cycles: 0,
        multiply_latency: 0,
        counts_cycles,
    }
}
