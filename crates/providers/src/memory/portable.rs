//! Loads for CPUs whose instructions have no file here: volatile reads, which the compiler may neither drop nor
//! merge. How the words are added is up to the compiler. A word wider than the CPU's registers would be split,
//! so that width is not supported.

use super::{Loads, ReadFrom, Widest};

/// What another build would have to reproduce.
pub(super) const OPTIONS: &str =
    "volatile reads, as the compiler turns them into instructions; eight a turn";

trait Word: Copy {
    fn value(self) -> u64;
}

macro_rules! words {
    ($($word:ty),*) => {
        $(impl Word for $word {
            fn value(self) -> u64 {
                self.into()
            }
        })*
    };
}

words!(u8, u16, u32, u64);

/// # Safety
/// The first range is readable, a whole number of blocks, and aligned to `W`.
unsafe fn linear<W: Word>(ReadFrom { first, .. }: ReadFrom) -> u64 {
    let mut sums = [0_u64; 8];
    let (mut p, end) = (first.start.cast::<W>(), first.end.cast::<W>());
    while p < end {
        for (place, sum) in sums.iter_mut().enumerate() {
            // SAFETY: a block is at least eight words of any width, and the caller vouches for whole blocks.
            *sum = sum.wrapping_add(unsafe { p.add(place).read_volatile() }.value());
        }
        // SAFETY: it stays inside the range, or one element behind it.
        p = unsafe { p.add(8) };
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// # Safety
/// The same, for the second address as well.
unsafe fn ping_pong<W: Word>(ReadFrom { first, second }: ReadFrom) -> u64 {
    let mut sums = [0_u64; 8];
    let (mut p, end, mut q) = (first.start.cast::<W>(), first.end.cast::<W>(), second.cast::<W>());
    while p < end {
        for (place, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            // SAFETY: half a block is at least four words of any width, and the caller vouches for whole
            // blocks.
            let (one, other) =
                unsafe { (p.add(place).read_volatile(), q.add(place).read_volatile()) };
            sums[0] = sums[0].wrapping_add(one.value());
            sums[1] = sums[1].wrapping_add(other.value());
        }
        // SAFETY: they stay inside their buffers, or one element behind them.
        (p, q) = unsafe { (p.add(4), q.add(4)) };
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// Loads of the general registers, of 8, 16, 32 and 64 bits.
pub(super) const WORDS: [Option<Loads>; 4] = [
    Some(Loads { linear: linear::<u8>, ping_pong: ping_pong::<u8> }),
    Some(Loads { linear: linear::<u16>, ping_pong: ping_pong::<u16> }),
    Some(Loads { linear: linear::<u32>, ping_pong: ping_pong::<u32> }),
    if size_of::<usize>() >= 8 {
        Some(Loads { linear: linear::<u64>, ping_pong: ping_pong::<u64> })
    } else {
        None
    },
];

/// No vectors are known here.
pub(super) fn vectors() -> Vec<Widest> {
    Vec::new()
}
