//! Loads of x86-64. Each load is the memory operand of an addition, so one instruction reads a word and adds it
//! to one of eight sums. A block is eight loads, and the next block begins eight words further on. With two
//! buffers, it begins four words further on in each.

use super::{Loads, ReadFrom, Widest};
use core::arch::asm;

/// What another build would have to reproduce.
pub(super) const OPTIONS: &str = "eight loads a turn, each added to a sum of its own";

/// Eight sums.
type Sums = [u64; 8];

macro_rules! words {
    ($linear:ident, $ping_pong:ident, $width:literal, $operand:literal, $size:literal) => {
        words!(@one $linear, $width, [
            concat!("add {s0", $operand, "}, ", $size, " ptr [{p} + 0*", $width, "]"),
            concat!("add {s1", $operand, "}, ", $size, " ptr [{p} + 1*", $width, "]"),
            concat!("add {s2", $operand, "}, ", $size, " ptr [{p} + 2*", $width, "]"),
            concat!("add {s3", $operand, "}, ", $size, " ptr [{p} + 3*", $width, "]"),
            concat!("add {s4", $operand, "}, ", $size, " ptr [{p} + 4*", $width, "]"),
            concat!("add {s5", $operand, "}, ", $size, " ptr [{p} + 5*", $width, "]"),
            concat!("add {s6", $operand, "}, ", $size, " ptr [{p} + 6*", $width, "]"),
            concat!("add {s7", $operand, "}, ", $size, " ptr [{p} + 7*", $width, "]"),
        ], "8");
        words!(@one $ping_pong, $width, [
            concat!("add {s0", $operand, "}, ", $size, " ptr [{p} + 0*", $width, "]"),
            concat!("add {s1", $operand, "}, ", $size, " ptr [{q} + 0*", $width, "]"),
            concat!("add {s2", $operand, "}, ", $size, " ptr [{p} + 1*", $width, "]"),
            concat!("add {s3", $operand, "}, ", $size, " ptr [{q} + 1*", $width, "]"),
            concat!("add {s4", $operand, "}, ", $size, " ptr [{p} + 2*", $width, "]"),
            concat!("add {s5", $operand, "}, ", $size, " ptr [{q} + 2*", $width, "]"),
            concat!("add {s6", $operand, "}, ", $size, " ptr [{p} + 3*", $width, "]"),
            concat!("add {s7", $operand, "}, ", $size, " ptr [{q} + 3*", $width, "]"),
        ], "4");
    };
    (@one $name:ident, $width:literal, [$($load:expr,)*], $step:literal) => {
        /// # Safety
        /// The first range is readable and a whole number of blocks. If there is a second address, as many
        /// bytes are readable from there on.
        unsafe fn $name(ReadFrom { first, second }: ReadFrom) -> u64 {
            let mut sums: Sums = [0; 8];
            let [s0, s1, s2, s3, s4, s5, s6, s7] = &mut sums;
            // SAFETY: it only reads memory, which the caller vouches for.
            unsafe {
                asm!(
                    "2:",
                    $($load,)*
                    concat!("add {p}, ", $step, "*", $width),
                    concat!("add {q}, ", $step, "*", $width),
                    "cmp {p}, {end}",
                    "jb 2b",
                    p = inout(reg) first.start => _,
                    q = inout(reg) second => _,
                    end = in(reg) first.end,
                    s0 = inout(reg) *s0, s1 = inout(reg) *s1, s2 = inout(reg) *s2, s3 = inout(reg) *s3,
                    s4 = inout(reg) *s4, s5 = inout(reg) *s5, s6 = inout(reg) *s6, s7 = inout(reg) *s7,
                    options(nostack, readonly),
                );
            }
            sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
        }
    };
}

words!(linear_8, ping_pong_8, "1", ":l", "byte");
words!(linear_16, ping_pong_16, "2", ":x", "word");
words!(linear_32, ping_pong_32, "4", ":e", "dword");
words!(linear_64, ping_pong_64, "8", ":r", "qword");

/// Vectors: registers 0 to 3 add words of the first buffer, and 10 to 13 words of the second. A linear read
/// uses 0 to 7.
macro_rules! vectors {
    ($linear:ident, $ping_pong:ident, $width:literal, $clear:literal,
     $first:literal, $second:literal, $gather:literal, $store:literal, $leave:literal) => {
        vectors!(@one $linear, $width, $clear, $gather, $store, $leave, "8", [
            ".irp i,0,1,2,3,4,5,6,7", $first, ".endr",
        ]);
        vectors!(@one $ping_pong, $width, $clear, $gather, $store, $leave, "4", [
            ".irp i,0,1,2,3", $first, $second, ".endr",
        ]);
    };
    (@one $name:ident, $width:literal, $clear:literal, $gather:literal, $store:literal, $leave:literal,
     $step:literal, [$($load:literal,)*]) => {
        /// # Safety
        /// The CPU has these instructions. The first range is readable and a whole number of blocks. If there
        /// is a second address, as many bytes are readable from there on. Both addresses are multiples of the
        /// vectors' length.
        unsafe fn $name(ReadFrom { first, second }: ReadFrom) -> u64 {
            let mut sums: Sums = [0; 8];
            // SAFETY: it reads memory that the caller vouches for, and writes one vector to `sums`, which has
            // the length of the longest vector.
            unsafe {
                asm!(
                    ".irp i,0,1,2,3,4,5,6,7,10,11,12,13", $clear, ".endr",
                    "2:",
                    $($load,)*
                    concat!("add {p}, ", $step, "*", $width),
                    concat!("add {q}, ", $step, "*", $width),
                    "cmp {p}, {end}",
                    "jb 2b",
                    ".irp i,1,2,3,4,5,6,7,10,11,12,13", $gather, ".endr",
                    $store,
                    $leave,
                    p = inout(reg) first.start => _,
                    q = inout(reg) second => _,
                    end = in(reg) first.end,
                    sums = in(reg) sums.as_mut_ptr(),
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _,
                    options(nostack),
                );
            }
            sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
        }
    };
}

vectors!(
    linear_128,
    ping_pong_128,
    "16",
    "pxor xmm\\i, xmm\\i",
    "paddq xmm\\i, xmmword ptr [{p} + \\i*16]",
    "paddq xmm1\\i, xmmword ptr [{q} + \\i*16]",
    "paddq xmm0, xmm\\i",
    "movdqu xmmword ptr [{sums}], xmm0",
    ""
);
vectors!(
    linear_256,
    ping_pong_256,
    "32",
    "vpxor xmm\\i, xmm\\i, xmm\\i",
    "vpaddq ymm\\i, ymm\\i, ymmword ptr [{p} + \\i*32]",
    "vpaddq ymm1\\i, ymm1\\i, ymmword ptr [{q} + \\i*32]",
    "vpaddq ymm0, ymm0, ymm\\i",
    "vmovdqu ymmword ptr [{sums}], ymm0",
    "vzeroupper"
);
vectors!(
    linear_512,
    ping_pong_512,
    "64",
    "vpxor xmm\\i, xmm\\i, xmm\\i",
    "vpaddq zmm\\i, zmm\\i, zmmword ptr [{p} + \\i*64]",
    "vpaddq zmm1\\i, zmm1\\i, zmmword ptr [{q} + \\i*64]",
    "vpaddq zmm0, zmm0, zmm\\i",
    "vmovdqu64 zmmword ptr [{sums}], zmm0",
    "vzeroupper"
);

/// Loads of the general registers, of 8, 16, 32 and 64 bits.
pub(super) const WORDS: [Option<Loads>; 4] = [
    Some(Loads { linear: linear_8, ping_pong: ping_pong_8 }),
    Some(Loads { linear: linear_16, ping_pong: ping_pong_16 }),
    Some(Loads { linear: linear_32, ping_pong: ping_pong_32 }),
    Some(Loads { linear: linear_64, ping_pong: ping_pong_64 }),
];

/// All vectors that this CPU has, widest first.
pub(super) fn vectors() -> Vec<Widest> {
    let mut vectors = Vec::new();
    if is_x86_feature_detected!("avx512f") {
        let loads = Loads { linear: linear_512, ping_pong: ping_pong_512 };
        vectors.push(Widest { name: "AVX-512", bits: 512, loads });
    }
    if is_x86_feature_detected!("avx2") {
        let loads = Loads { linear: linear_256, ping_pong: ping_pong_256 };
        vectors.push(Widest { name: "AVX2", bits: 256, loads });
    }
    let loads = Loads { linear: linear_128, ping_pong: ping_pong_128 };
    vectors.push(Widest { name: "SSE2", bits: 128, loads });
    vectors
}
