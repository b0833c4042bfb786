//! From reset to `main`: the vector table, the copying of the image to where it runs, and the painting of the
//! stack.

use crate::board;
use core::arch::global_asm;

/// The value that fills the stack before it is used.
pub(crate) const PAINT: u32 = 0x5ac3_5ac3;

unsafe extern "C" {
    static __stack_top: u32;
    fn reset();
}

/// An entry of the vector table.
#[repr(C)]
union Vector {
    stack: *const u32,
    handler: unsafe extern "C" fn(),
    none: usize,
}

// SAFETY: it is constant, and only the CPU reads it.
unsafe impl Sync for Vector {}

/// The number of interrupt lines with a handler: more than the engines of these chips have.
const LINES: usize = 96;

/// The system exceptions (ARMv7-M Architecture Reference Manual, B1.5.2).
#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: ([Vector; 16], [Vector; LINES]) = (
    [
        Vector { stack: &raw const __stack_top },
        Vector { handler: reset },
        Vector { handler: fault }, // NMI
        Vector { handler: fault }, // HardFault
        Vector { handler: fault }, // MemManage
        Vector { handler: fault }, // BusFault
        Vector { handler: fault }, // UsageFault
        Vector { none: 0 },
        Vector { none: 0 },
        Vector { none: 0 },
        Vector { none: 0 },
        Vector { handler: fault }, // SVCall
        Vector { handler: fault }, // DebugMonitor
        Vector { none: 0 },
        Vector { handler: fault }, // PendSV
        Vector { handler: board::tick },
    ],
    [const { Vector { handler: INTERRUPT } }; LINES],
);

/// The handler of every interrupt.
#[cfg(feature = "imxrt")]
const INTERRUPT: unsafe extern "C" fn() = crate::interrupt::interrupted;
#[cfg(not(feature = "imxrt"))]
const INTERRUPT: unsafe extern "C" fn() = fault;

/// A fault cannot be recovered from. The host sees that no answer comes.
unsafe extern "C" fn fault() {
    loop {
        cortex_m::asm::bkpt();
    }
}

// VTOR (0xE000ED08) and CPACR (0xE000ED88): ARMv7-M Architecture Reference Manual, B3.2. The code runs from
// flash before anything else is in place, so it calls nothing and uses no memory except what it writes.
global_asm!(
    ".section .startup, \"ax\"",
    ".global reset",
    ".type reset, %function",
    ".thumb_func",
    "reset:",
    "cpsid i",
    "ldr r0, =0xe000ed08",
    "ldr r1, =__vectors",
    "str r1, [r0]",
    "ldr r0, =__stack_top",
    "msr msp, r0",
    "ldr r0, =0xe000ed88",
    "ldr r1, [r0]",
    "orr r1, r1, #0x00f00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    // From, to, end. Data that is already at its place is not copied.
    "ldr r4, =__copies",
    "ldr r5, =__copies_end",
    "2: cmp r4, r5",
    "bhs 4f",
    "ldmia r4!, {{r0, r1, r2}}",
    "cmp r0, r1",
    "beq 2b",
    "3: cmp r1, r2",
    "bhs 2b",
    "ldr r3, [r0], #4",
    "str r3, [r1], #4",
    "b 3b",
    "4: ldr r1, =__bss",
    "ldr r2, =__bss_end",
    "movs r3, #0",
    "5: cmp r1, r2",
    "bhs 6f",
    "str r3, [r1], #4",
    "b 5b",
    "6: ldr r1, =__stack",
    "ldr r2, =__stack_top",
    "ldr r3, ={paint}",
    "7: cmp r1, r2",
    "bhs 8f",
    "str r3, [r1], #4",
    "b 7b",
    "8: dsb",
    "isb",
    "ldr r0, =main",
    "blx r0",
    "b .",
    ".ltorg",
    paint = const PAINT,
);
