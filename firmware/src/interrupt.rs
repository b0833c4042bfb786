//! Interrupts of engines: one handler for all lines, which notes the line and masks it.

use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::{NVIC, SCB};
use cpb_core::Interrupt;

/// The line whose interrupt was taken, plus one; 0 if none was.
static TAKEN: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
struct Line(u16);

// SAFETY: the number is one of the chip's, which its driver got from the board.
unsafe impl InterruptNumber for Line {
    fn number(self) -> u16 {
        self.0
    }
}

/// Handles every interrupt: it notes which one came and masks it. The driver clears the cause.
pub(crate) unsafe extern "C" fn interrupted() {
    // SAFETY: reads the number of the exception that is handled. External interrupts begin at 16.
    let number = unsafe { (*SCB::PTR).icsr.read() & 0x1ff } as u16 - 16;
    NVIC::mask(Line(number));
    TAKEN.store(u32::from(number) + 1, Ordering::Release);
}

/// Lets one interrupt of a line through.
pub(crate) fn let_through(Interrupt(number): Interrupt) {
    TAKEN.store(0, Ordering::Relaxed);
    // What is left of the last interrupt, whose handler ended before its cause was cleared. A line that is raised
    // becomes pending again.
    NVIC::unpend(Line(number));
    // SAFETY: the handler masks it again when it comes.
    unsafe { NVIC::unmask(Line(number)) };
}

/// Whether the interrupt has been handled.
pub(crate) fn was_taken(Interrupt(number): Interrupt) -> bool {
    TAKEN.load(Ordering::Acquire) == u32::from(number) + 1
}

/// Masks a line whose interrupt did not come.
pub(crate) fn hold(Interrupt(number): Interrupt) {
    NVIC::mask(Line(number));
}
