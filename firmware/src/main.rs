//! cpb's runner for boards with a Cortex-M7: the loop, the checks and the frames of every other
//! runner, over a UART.
//!
//! From here: [`startup`] brings the image to where it runs, a board's folder sets up clocks, memory
//! and UART, [`serve`] answers the host.

#![no_std]
#![no_main]
#![cfg_attr(feature = "solo", allow(dead_code, reason = "it asks nobody and lends no buffers"))]

extern crate alloc;

mod allocator;
#[cfg_attr(feature = "imxrt1060-evk", path = "../boards/imxrt1060-evk/board.rs")]
#[cfg_attr(feature = "imxrt1170-evk", path = "../boards/imxrt1170-evk/board.rs")]
#[cfg_attr(feature = "mps2-an500", path = "../boards/mps2-an500/board.rs")]
mod board;
mod clock;
#[cfg(feature = "imxrt")]
mod imxrt;
mod mbedtls;
mod memory;
#[cfg(not(feature = "solo"))]
mod serve;
#[cfg(feature = "solo")]
mod solo;
mod startup;

use cortex_m::peripheral::{DCB, DWT};

/// Called by the startup code when the image is where it runs.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    allocator::init();
    // SAFETY: this is the only place that takes the core's peripherals, and it runs once.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    let cycle_counter = counts(&mut core.DCB, &mut core.DWT);
    let (board, clock) = board::Board::start(&mut core);
    #[cfg(not(feature = "solo"))]
    serve::serve(board, &clock, serve::Core { id: core.CPUID.base.read(), cycle_counter });
    #[cfg(feature = "solo")]
    solo::run(board, &clock, cycle_counter);
}

/// Whether the core's cycle counter counts. Every Cortex-M7 that we know of has one, QEMU's has not.
fn counts(dcb: &mut DCB, dwt: &mut DWT) -> bool {
    dcb.enable_trace();
    DWT::unlock();
    dwt.enable_cycle_counter();
    let before = DWT::cycle_count();
    cortex_m::asm::delay(100);
    DWT::cycle_count() != before
}

/// Of the UART, in bits a second, as the image was built.
const BAUD: u32 = {
    let digits = env!("CPB_BAUD").as_bytes();
    let (mut baud, mut place) = (0, 0);
    while place < digits.len() {
        baud = 10 * baud + (digits[place] - b'0') as u32;
        place += 1;
    }
    baud
};

/// A bug, for the host sees nothing but silence: a debugger stops here.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        cortex_m::asm::bkpt();
    }
}
