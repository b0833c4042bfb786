//! SysTick: a 24-bit counter that counts down and raises an exception at the end of each turn.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cpb_core::{Clock, Ticks};

/// Ticks of one turn.
const TURN: u32 = 1 << 24;

/// The number of completed turns.
static TURNS: AtomicU32 = AtomicU32::new(0);

/// SysTick at the processor's clock.
pub(crate) struct SysTick {
    frequency: u64,
    /// The last reading.
    last: Cell<u64>,
}

impl SysTick {
    /// Starts it. `frequency` is the processor's clock in hertz.
    pub(crate) fn start(syst: &mut SYST, frequency: u64) -> Self {
        syst.set_clock_source(SystClkSource::Core);
        syst.set_reload(TURN - 1);
        syst.clear_current();
        syst.enable_interrupt();
        syst.enable_counter();
        SysTick { frequency, last: Cell::new(0) }
    }
}

/// Must be called by the SysTick exception.
pub(crate) fn turned() {
    TURNS.store(TURNS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

impl Clock for SysTick {
    fn now(&self) -> Ticks {
        loop {
            let before = TURNS.load(Ordering::Acquire);
            cortex_m::asm::dsb();
            let left = SYST::get_current();
            cortex_m::asm::dsb();
            // A turn that ended between the two readings would be counted wrongly.
            if TURNS.load(Ordering::Acquire) != before {
                continue;
            }
            let now = u64::from(before) * u64::from(TURN) + u64::from(TURN - 1 - left);
            // An emulator under load raises the exception some time after its counter wraps around.
            let late = if now < self.last.get() { u64::from(TURN) } else { 0 };
            self.last.set(now + late);
            return Ticks(now + late);
        }
    }

    fn frequency(&self) -> u64 {
        self.frequency
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}
