//! Loads where there is no file of this CPU's instructions: volatile reads, which the compiler may neither drop nor merge.
//! How it makes an addition of each is up to it. A word wider than the CPU's registers would be divided, so there is none.

use super::{Loads, ReadFrom, Widest};
use cpb_core::memory_read::Width;

/// What another build would have to repeat.
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
/// The first range can be read, is a whole number of blocks, and is aligned to `W`.
unsafe fn linear<W: Word>(ReadFrom { first, .. }: ReadFrom) -> u64 {
    let mut sums = [0_u64; 8];
    let (mut p, end) = (first.start.cast::<W>(), first.end.cast::<W>());
    while p < end {
        for (place, sum) in sums.iter_mut().enumerate() {
            // SAFETY: a block is eight words of any width at least, and the caller vouches for whole blocks.
            *sum = sum.wrapping_add(unsafe { p.add(place).read_volatile() }.value());
        }
        // SAFETY: it stays inside of the range, or one behind it.
        p = unsafe { p.add(8) };
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// # Safety
/// Likewise, of the second address as well.
unsafe fn ping_pong<W: Word>(ReadFrom { first, second }: ReadFrom) -> u64 {
    let mut sums = [0_u64; 8];
    let (mut p, end, mut q) = (first.start.cast::<W>(), first.end.cast::<W>(), second.cast::<W>());
    while p < end {
        for (place, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            // SAFETY: half a block is four words of any width at least, and the caller vouches for whole blocks.
            let (one, other) =
                unsafe { (p.add(place).read_volatile(), q.add(place).read_volatile()) };
            sums[0] = sums[0].wrapping_add(one.value());
            sums[1] = sums[1].wrapping_add(other.value());
        }
        // SAFETY: they stay inside of their buffers, or one behind them.
        (p, q) = unsafe { (p.add(4), q.add(4)) };
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// Loads of the general registers.
pub(super) fn of_words(width: Width) -> Option<Loads> {
    Some(match width {
        Width::Bits8 => Loads { linear: linear::<u8>, ping_pong: ping_pong::<u8> },
        Width::Bits16 => Loads { linear: linear::<u16>, ping_pong: ping_pong::<u16> },
        Width::Bits32 => Loads { linear: linear::<u32>, ping_pong: ping_pong::<u32> },
        Width::Bits64 if size_of::<usize>() >= 8 => {
            Loads { linear: linear::<u64>, ping_pong: ping_pong::<u64> }
        }
        Width::Bits64 | Width::Widest => return None,
    })
}

/// None is known.
pub(super) fn widest() -> Option<Widest> {
    None
}

/// Likewise.
#[cfg(test)]
pub(super) fn vectors() -> Vec<Widest> {
    Vec::new()
}
