//! MPS2 with application note AN500: a Cortex-M7 in an FPGA, and QEMU's model of it, which shows that the
//! firmware works but says nothing about time. Registers of the UART: Cortex-M System Design Kit (Arm DDI
//! 0479), "APB UART"; addresses and clock: application note AN500, and hw/arm/mps2.c of QEMU.

use crate::BAUD;
use crate::clock::systick::{self, SysTick};

/// The name on the command line and in records.
pub(crate) const NAME: &str = "mps2-an500";

/// The frequency of the core and its peripherals, in hertz.
const FREQUENCY: u32 = 25_000_000;

/// UART 0.
const UART: u32 = 0x4000_4000;
const DATA: u32 = UART;
/// Bit 0: the transmitter is full; bit 1: the receiver has a byte.
const STATE: u32 = UART + 0x4;
/// Bit 0: transmit; bit 1: receive.
const CONTROL: u32 = UART + 0x8;
/// Clock cycles of one bit, at least 16.
const DIVISOR: u32 = UART + 0x10;

/// Whether the clock's ticks are core cycles. SysTick counts at the core's clock, but a core in QEMU has no
/// clock. This image can distinguish the FPGA from QEMU only by the counter that QEMU lacks.
pub(crate) const COUNTS_CYCLES: bool = false;

fn read(address: u32) -> u32 {
    // SAFETY: one of the UART's registers, on a board that has it.
    unsafe { (address as *const u32).read_volatile() }
}

fn write(address: u32, value: u32) {
    // SAFETY: as in `read`; it changes only the UART.
    unsafe { (address as *mut u32).write_volatile(value) }
}

/// The board, set up.
pub(crate) struct Board;

impl Board {
    /// Sets up the UART and starts the clock.
    pub(crate) fn start(core: &mut cortex_m::Peripherals) -> (Board, SysTick) {
        write(DIVISOR, (FREQUENCY / BAUD).max(16));
        write(CONTROL, 0b11);
        let clock = SysTick::start(&mut core.SYST, FREQUENCY.into());
        // SAFETY: the only handler that can run now is `tick`, whose data is atomic.
        unsafe { cortex_m::interrupt::enable() };
        (Board, clock)
    }

    /// Waits for a byte.
    pub(crate) fn read(&mut self) -> u8 {
        while read(STATE) & 0b10 == 0 {}
        read(DATA) as u8
    }

    /// Sends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            while read(STATE) & 0b01 != 0 {}
            write(DATA, u32::from(*byte));
        }
    }
}

/// SysTick's handler.
pub(crate) unsafe extern "C" fn tick() {
    systick::turned();
}

/// What data from flash passes through on its way to the core.
pub(crate) fn flash() -> &'static str {
    "the core's loads"
}
