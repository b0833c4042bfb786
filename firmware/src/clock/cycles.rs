//! The core's own cycle counter: DWT CYCCNT (ARMv7-M Architecture Reference Manual, C1.8).

use core::cell::Cell;
use cortex_m::peripheral::{DCB, DWT};
use cpb_core::{Clock, Ticks};

/// The cycle counter, extended to 64 bits by its readings. It wraps around every 4 seconds at 996 MHz, and no
/// batch takes that long.
pub(crate) struct CycleCounter {
    frequency: u64,
    /// The number of observed turns, and the last reading.
    seen: Cell<(u32, u32)>,
}

impl CycleCounter {
    /// Starts it. `frequency` is the core's clock in hertz.
    pub(crate) fn start(dcb: &mut DCB, dwt: &mut DWT, frequency: u64) -> Self {
        dcb.enable_trace();
        // On a Cortex-M7 its registers are locked until the lock access register is written.
        DWT::unlock();
        dwt.set_cycle_count(0);
        dwt.enable_cycle_counter();
        CycleCounter { frequency, seen: Cell::new((0, 0)) }
    }
}

impl Clock for CycleCounter {
    #[inline]
    fn now(&self) -> Ticks {
        // Wait until all earlier memory accesses and instructions have completed.
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
        let low = DWT::cycle_count();
        let (turns, last) = self.seen.get();
        let turns = turns.wrapping_add(u32::from(low < last));
        self.seen.set((turns, low));
        Ticks(u64::from(turns) << 32 | u64::from(low))
    }

    fn frequency(&self) -> u64 {
        self.frequency
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}
