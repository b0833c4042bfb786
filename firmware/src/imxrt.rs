//! The common parts of the i.MX RT boards: the memory map for the caches, and the UART.

use crate::BAUD;
use crate::memory::{MEMORY, Region};
use cortex_m::Peripherals;
use cortex_m::peripheral::MPU;
use imxrt_hal::lpuart::{Baud, Direction, Lpuart, ReadData, ReadFlags, Status, Watermark};

/// The frequency of the crystal that clocks the UART, in hertz.
const CRYSTAL: u32 = imxrt_hal::ccm::XTAL_OSCILLATOR_HZ;

/// The permissions and attributes of a region: fields AP, TEX, C, B and XN of MPU_RASR (ARMv7-M Architecture
/// Reference Manual, B3.5).
#[derive(Clone, Copy)]
struct Attributes(u32);

const NO_ACCESS: u32 = 0 << 24;
const READ_WRITE: u32 = 0b011 << 24;
const READ_ONLY: u32 = 0b110 << 24;
const NEVER_EXECUTE: u32 = 1 << 28;
/// Write-back, allocate on read and write.
const CACHED: u32 = 0b001 << 19 | 1 << 17 | 1 << 16;
const NOT_CACHED: u32 = 0b001 << 19;
const DEVICE: u32 = 0b010 << 19;
const STRONGLY_ORDERED: u32 = 0;

/// The address range of all peripherals of these chips.
const PERIPHERALS: Region = Region { start: 0x4000_0000, size: 512 << 20 };

/// Sets up the MPU, which determines what is cached, and turns the caches on. Region 0 forbids access to
/// addresses without memory, even speculatively (Arm erratum 1013783 of the Cortex-M7).
pub(crate) fn set_up_memory(core: &mut Peripherals) {
    let regions = [
        (MEMORY.flash, Attributes(READ_ONLY | CACHED)),
        (MEMORY.itcm, Attributes(READ_WRITE | CACHED)),
        (MEMORY.dtcm, Attributes(READ_WRITE | CACHED | NEVER_EXECUTE)),
        (MEMORY.ocram, Attributes(READ_WRITE | CACHED | NEVER_EXECUTE)),
        (MEMORY.ocram_nc, Attributes(READ_WRITE | NOT_CACHED | NEVER_EXECUTE)),
        (PERIPHERALS, Attributes(READ_WRITE | DEVICE | NEVER_EXECUTE)),
    ];
    let nothing = Attributes(NO_ACCESS | STRONGLY_ORDERED | NEVER_EXECUTE);
    region(&mut core.MPU, 0, 0, 32, nothing);
    let mut number = 1;
    for (Region { mut start, mut size }, attributes) in regions {
        // Split into parts that begin at a multiple of their size, because the MPU rounds a region's start
        // down to one.
        while size > 0 {
            let bits = start.trailing_zeros().min(size.ilog2());
            region(&mut core.MPU, number, start, bits, attributes);
            (start, size) = (start + (1 << bits), size - (1 << bits));
            number += 1;
        }
    }
    cortex_m::asm::dmb();
    // SAFETY: everything that the image uses is in one of the regions. Bit 0: enable.
    unsafe { core.MPU.ctrl.write(1) };
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
}

/// Sets region `number` to 2^`bits` bytes from `start`, which must be a multiple of that size.
fn region(mpu: &mut MPU, number: u32, start: u32, bits: u32, Attributes(attributes): Attributes) {
    // SAFETY: the MPU is off, or has a region for the running code and keeps it.
    unsafe {
        mpu.rnr.write(number);
        mpu.rbar.write(start);
        mpu.rasr.write(attributes | (bits - 1) << 1 | 1);
    }
}

/// A UART with its pins and clock set up, clocked by the crystal.
pub(crate) struct Uart(Lpuart);

impl Uart {
    pub(crate) fn new(mut uart: Lpuart) -> Self {
        // Computed at compile time: the search takes millions of cycles.
        const DIVISORS: Baud = Baud::compute(CRYSTAL, BAUD);
        uart.disable(|uart| {
            uart.set_baud(&DIVISORS);
            uart.enable_fifo(Watermark::tx(0));
            uart.enable_fifo(Watermark::rx(core::num::NonZeroU32::MIN));
            uart.set_parity(None);
        });
        uart.set_enable(Direction::Tx, true);
        uart.set_enable(Direction::Rx, true);
        Uart(uart)
    }

    /// Waits for a byte.
    pub(crate) fn read(&mut self) -> u8 {
        loop {
            let data: ReadData = self.0.read_data();
            if !data.flags().contains(ReadFlags::RXEMPT) {
                return data.into();
            }
            // Bytes arrived while none were read. Until this is cleared, no more are received.
            if self.0.status().contains(Status::OVERRUN) {
                self.0.clear_status(Status::OVERRUN);
            }
        }
    }

    /// Sends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            while !self.0.status().contains(Status::TRANSMIT_EMPTY) {}
            self.0.write_byte(*byte);
        }
    }
}
