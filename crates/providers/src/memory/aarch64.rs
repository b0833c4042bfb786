//! Loads of AArch64. A block is eight loads: all are issued, and then the words are added to sums. With two
//! buffers, four loads come from each.

use super::{Loads, ReadFrom, Widest};
use core::arch::asm;

/// What another build would have to reproduce.
pub(super) const OPTIONS: &str =
    "eight loads a turn, each added to a sum of its own; four sums with two buffers";

/// Loads go to registers 0 to 7, or with two buffers to 0 to 3 and 20 to 23. The sums are in 10 to 17.
macro_rules! loads {
    ($linear:ident, $ping_pong:ident, $width:literal, $clear:literal, $first:literal, $second:literal,
     $add:literal, $add_second:literal, $gather:literal, $sum:literal) => {
        loads!(@one $linear, $width, $clear, $gather, $sum, "8", [
            ".irp i,0,1,2,3,4,5,6,7", $first, ".endr",
            ".irp i,0,1,2,3,4,5,6,7", $add, ".endr",
        ]);
        loads!(@one $ping_pong, $width, $clear, $gather, $sum, "4", [
            ".irp i,0,1,2,3", $first, $second, ".endr",
            ".irp i,0,1,2,3", $add, $add_second, ".endr",
        ]);
    };
    (@one $name:ident, $width:literal, $clear:literal, $gather:literal, $sum:literal, $step:literal,
     [$($load:literal,)*]) => {
        /// # Safety
        /// The first range is readable and a whole number of blocks. If there is a second address, as many
        /// bytes are readable from there on.
        unsafe fn $name(ReadFrom { first, second }: ReadFrom) -> u64 {
            let sum: u64;
            // SAFETY: it only reads memory, which the caller vouches for.
            unsafe {
                asm!(
                    ".irp i,0,1,2,3,4,5,6,7", $clear, ".endr",
                    "2:",
                    $($load,)*
                    concat!("add {p}, {p}, #", $step, "*", $width),
                    concat!("add {q}, {q}, #", $step, "*", $width),
                    "cmp {p}, {end}",
                    "b.lo 2b",
                    ".irp i,1,2,3,4,5,6,7", $gather, ".endr",
                    $sum,
                    p = inout(reg) first.start => _,
                    q = inout(reg) second => _,
                    end = in(reg) first.end,
                    sum = lateout(reg) sum,
                    out("x0") _, out("x1") _, out("x2") _, out("x3") _,
                    out("x4") _, out("x5") _, out("x6") _, out("x7") _,
                    out("x10") _, out("x11") _, out("x12") _, out("x13") _,
                    out("x14") _, out("x15") _, out("x16") _, out("x17") _,
                    out("x20") _, out("x21") _, out("x22") _, out("x23") _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                    out("v10") _, out("v11") _, out("v12") _, out("v13") _,
                    out("v14") _, out("v15") _, out("v16") _, out("v17") _,
                    out("v20") _, out("v21") _, out("v22") _, out("v23") _,
                    options(nostack, readonly),
                );
            }
            sum
        }
    };
}

loads!(
    linear_8,
    ping_pong_8,
    "1",
    "mov x1\\i, xzr",
    "ldrb w\\i, [{p}, #\\i*1]",
    "ldrb w2\\i, [{q}, #\\i*1]",
    "add x1\\i, x1\\i, x\\i",
    "add x1\\i, x1\\i, x2\\i",
    "add x10, x10, x1\\i",
    "mov {sum}, x10"
);
loads!(
    linear_16,
    ping_pong_16,
    "2",
    "mov x1\\i, xzr",
    "ldrh w\\i, [{p}, #\\i*2]",
    "ldrh w2\\i, [{q}, #\\i*2]",
    "add x1\\i, x1\\i, x\\i",
    "add x1\\i, x1\\i, x2\\i",
    "add x10, x10, x1\\i",
    "mov {sum}, x10"
);
loads!(
    linear_32,
    ping_pong_32,
    "4",
    "mov x1\\i, xzr",
    "ldr w\\i, [{p}, #\\i*4]",
    "ldr w2\\i, [{q}, #\\i*4]",
    "add x1\\i, x1\\i, x\\i",
    "add x1\\i, x1\\i, x2\\i",
    "add x10, x10, x1\\i",
    "mov {sum}, x10"
);
loads!(
    linear_64,
    ping_pong_64,
    "8",
    "mov x1\\i, xzr",
    "ldr x\\i, [{p}, #\\i*8]",
    "ldr x2\\i, [{q}, #\\i*8]",
    "add x1\\i, x1\\i, x\\i",
    "add x1\\i, x1\\i, x2\\i",
    "add x10, x10, x1\\i",
    "mov {sum}, x10"
);
loads!(
    linear_128,
    ping_pong_128,
    "16",
    "movi v1\\i\\().2d, #0",
    "ldr q\\i, [{p}, #\\i*16]",
    "ldr q2\\i, [{q}, #\\i*16]",
    "add v1\\i\\().2d, v1\\i\\().2d, v\\i\\().2d",
    "add v1\\i\\().2d, v1\\i\\().2d, v2\\i\\().2d",
    "add v10.2d, v10.2d, v1\\i\\().2d",
    "addp d10, v10.2d\nfmov {sum}, d10"
);

/// Loads of the general registers, of 8, 16, 32 and 64 bits.
pub(super) const WORDS: [Option<Loads>; 4] = [
    Some(Loads { linear: linear_8, ping_pong: ping_pong_8 }),
    Some(Loads { linear: linear_16, ping_pong: ping_pong_16 }),
    Some(Loads { linear: linear_32, ping_pong: ping_pong_32 }),
    Some(Loads { linear: linear_64, ping_pong: ping_pong_64 }),
];

/// The vectors of every AArch64 core.
pub(super) fn vectors() -> Vec<Widest> {
    let loads = Loads { linear: linear_128, ping_pong: ping_pong_128 };
    vec![Widest { name: "NEON", bits: 128, loads }]
}
