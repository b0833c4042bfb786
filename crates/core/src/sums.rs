//! The answers of memory reads: the content of the memory, and its sum.

use crate::material::{self, Part};
use crate::memory_read::{MemoryReadWorkload, Width};

/// Fills buffer number `index` of a working set.
pub fn fill(index: usize, buffer: &mut [u8]) {
    material::fill(Part::Message, index, buffer);
}

/// The sum that one operation must compute: that of all words of the workload's width, little-endian, modulo
/// two to the power of the width. The widest loads count as the 64-bit words that they consist of. The sum is
/// computed from the rule by which memory is filled, without reading memory.
pub fn truth(workload: &MemoryReadWorkload) -> u64 {
    let mut sum: u64 = 0;
    for index in 0..workload.buffers() {
        let mut state = material::seed(Part::Message, index);
        for _ in 0..workload.buffer() / 8 {
            let mut word = [0; 8];
            material::fill_from(&mut state, &mut word);
            sum = sum.wrapping_add(words(workload.width, word));
        }
    }
    sum & workload.width.mask()
}

/// The sum of all words of a width in `bytes`, modulo two to the power of the width. Bytes after the last eight are
/// ignored.
pub fn sum(width: Width, bytes: &[u8]) -> u64 {
    let double_words = bytes.as_chunks().0.iter();
    double_words.fold(0_u64, |sum, word| sum.wrapping_add(words(width, *word))) & width.mask()
}

/// The sum of the words of a width in a double word.
fn words(width: Width, word: [u8; 8]) -> u64 {
    match width {
        Width::Bits8 => word.iter().map(|byte| u64::from(*byte)).sum(),
        Width::Bits16 => added(word.as_chunks().0, |half| u16::from_le_bytes(half).into()),
        Width::Bits32 => added(word.as_chunks().0, |half| u32::from_le_bytes(half).into()),
        Width::Bits64 | Width::Widest => u64::from_le_bytes(word),
    }
}

fn added<const N: usize>(words: &[[u8; N]], value: fn([u8; N]) -> u64) -> u64 {
    words.iter().map(|word| value(*word)).sum()
}

#[cfg(test)]
#[path = "sums_tests.rs"]
mod tests;
