extern crate std;
use super::*;
use crate::memory_read::{BLOCK, Pattern};
use proptest::prelude::*;
use proptest::sample::select;
use std::vec;

proptest! {
    /// Compares the content of memory, added up word by word, with the rule.
    #[test]
    fn the_truth_is_the_sum_of_what_memory_is_filled_with(
        width in select(Width::ALL),
        pattern in select(Pattern::ALL),
        blocks in 1_u32..20,
    ) {
        let read = MemoryReadWorkload::new(width, pattern, blocks * BLOCK);
        let mut all = vec![];
        for index in 0..read.buffers() {
            let mut buffer = vec![0; read.buffer()];
            fill(index, &mut buffer);
            all.extend(buffer);
        }
        prop_assert_eq!(all.len(), read.bytes as usize);
        let bytes = match width {
            Width::Bits8 => 1,
            Width::Bits16 => 2,
            Width::Bits32 => 4,
            Width::Bits64 | Width::Widest => 8,
        };
        let words = all.chunks(bytes).map(|word| {
            word.iter().rev().fold(0_u128, |value, byte| value << 8 | u128::from(*byte))
        });
        let sum = words.sum::<u128>() % (1 << (8 * bytes));
        prop_assert_eq!(u128::from(truth(&read)), sum);
    }
}

/// The values were computed by another program from the definition of SplitMix64.
#[test]
fn the_truth_is_known() {
    for (id, sum) in KNOWN {
        assert_eq!(truth(&id.parse().unwrap()), sum, "{id}");
    }
}

const KNOWN: [(&str, u64); 6] = [
    ("memory-read/8-bit/linear/4096", 0x8),
    ("memory-read/16-bit/linear/4096", 0x16ed),
    ("memory-read/32-bit/ping-pong/16384", 0x60cb6c92),
    ("memory-read/64-bit/linear/16384", 0x900eacca481584a6),
    ("memory-read/64-bit/ping-pong/16384", 0xa1a06db1bf2b02fd),
    ("memory-read/widest/ping-pong/16384", 0xa1a06db1bf2b02fd),
];
