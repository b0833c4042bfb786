//! cpb's runner for boards with a Cortex-M7. It uses the same loop, checks and frames as every other runner,
//! over a UART.
//!
//! Read next: [`startup`] copies the image to where it runs, the board's folder sets up clocks, memory and
//! UART, and [`serve`] answers the host.

#![no_std]
#![no_main]
#![cfg_attr(
    feature = "solo",
    allow(dead_code, reason = "solo runs without a host and lends no buffers")
)]

extern crate alloc;

mod allocator;
#[cfg_attr(feature = "imxrt1060-evk", path = "../boards/imxrt1060-evk/board.rs")]
#[cfg_attr(feature = "imxrt1170-evk", path = "../boards/imxrt1170-evk/board.rs")]
#[cfg_attr(feature = "mps2-an500", path = "../boards/mps2-an500/board.rs")]
mod board;
#[cfg(feature = "imxrt")]
mod bus;
mod clock;
#[cfg(all(code_in_flash, not(feature = "solo")))]
mod cold;
#[cfg_attr(feature = "imxrt1060-evk", path = "engine/dcp.rs")]
#[cfg_attr(feature = "imxrt1170-evk", path = "engine/caam.rs")]
#[cfg(feature = "imxrt")]
mod engine;
#[cfg(feature = "imxrt")]
mod flash_configuration;
#[cfg(feature = "imxrt")]
mod imxrt;
#[cfg(feature = "imxrt")]
mod interrupt;
mod mbedtls;
mod memory;
mod memory_reads;
#[cfg(not(feature = "solo"))]
mod serve;
#[cfg(feature = "solo")]
mod solo;
mod startup;

use alloc::boxed::Box;
use alloc::vec::Vec;
use cortex_m::peripheral::{DCB, DWT};
use cpb_core::Provider;
use cpb_core::null::Null;

/// Called by the startup code once the image is where it runs.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    allocator::init();
    // SAFETY: this is the only place that takes the core's peripherals, and it runs once.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    let cycle_counter = counts(&mut core.DCB, &mut core.DWT);
    let (board, clock) = board::Board::start(&mut core);
    // Interrupts and engines use it as long as the image runs.
    let clock = &*Box::leak(Box::new(clock));
    let mbedtls = mbedtls::MbedTls::new();
    let copies = mbedtls.copies();
    let reads = memory_reads::Reads::new(board::flash());
    #[allow(unused_mut, reason = "only some chips have an engine")]
    let mut providers: Vec<&dyn Provider> = alloc::vec![&Null, &mbedtls, &copies, &reads];
    #[cfg(feature = "imxrt")]
    let engine = engine::start(core.SCB, clock);
    // An engine that does not answer is not listed.
    #[cfg(feature = "imxrt")]
    let ways = engine.map(|engine| engine::ways(engine, mbedtls.options()));
    #[cfg(feature = "imxrt")]
    let through = mbedtls::ThroughEngine { software: &mbedtls };
    #[cfg(feature = "imxrt")]
    if let Ok(ways) = &ways {
        providers.push(&through);
        providers.extend(ways.iter().map(|way| way as &dyn Provider));
    }
    #[cfg(all(code_in_flash, not(feature = "solo")))]
    let cold = cold::Cold::new(&mbedtls);
    #[cfg(all(code_in_flash, not(feature = "solo")))]
    providers.push(&cold);
    #[cfg(not(feature = "solo"))]
    serve::serve(
        board,
        clock,
        serve::Core { id: core.CPUID.base.read(), cycle_counter },
        &providers,
    );
    #[cfg(feature = "solo")]
    solo::run(board, clock, cycle_counter, mbedtls.identity(), &providers);
}

/// Whether the core's cycle counter works. Every known Cortex-M7 has one; QEMU's does not.
fn counts(dcb: &mut DCB, dwt: &mut DWT) -> bool {
    dcb.enable_trace();
    DWT::unlock();
    dwt.enable_cycle_counter();
    let before = DWT::cycle_count();
    cortex_m::asm::delay(100);
    DWT::cycle_count() != before
}

/// The UART's speed in bits per second, set when the image is built.
const BAUD: u32 = {
    let digits = env!("CPB_BAUD").as_bytes();
    let (mut baud, mut place) = (0, 0);
    while place < digits.len() {
        baud = 10 * baud + (digits[place] - b'0') as u32;
        place += 1;
    }
    baud
};

/// A panic is a bug. The host only sees that no answer comes; a debugger stops here.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        cortex_m::asm::bkpt();
    }
}
