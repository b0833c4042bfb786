extern crate std;
use super::*;
use crate::workload::Workload;
use proptest::prelude::*;
use proptest::sample::select;
use std::string::ToString;
use std::vec;

/// Any read whose parts exist, sensible or not.
pub(crate) fn any_read() -> impl Strategy<Value = MemoryReadWorkload> {
    let parts = (
        select(Width::ALL),
        select(Pattern::ALL),
        any::<u32>(),
        select(Region::ALL),
        select(Cache::ALL),
    );
    parts.prop_map(|(width, pattern, bytes, region, cache)| MemoryReadWorkload {
        width,
        pattern,
        bytes,
        region,
        cache,
    })
}

proptest! {
    #[test]
    fn an_id_parses_back_to_the_workload(read in any_read()) {
        let id = read.to_string();
        prop_assert_eq!(id.parse(), Ok(read));
        prop_assert_eq!(id.parse(), Ok(Workload::MemoryRead(read)));
        prop_assert!(id.parse::<crate::CryptoWorkload>().is_err());
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "memory-read/.{0,60}") {
        let _ = text.parse::<Workload>();
    }

    /// What is in memory, added up word by word, against what the rule says.
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

/// Computed by another program from the definition of SplitMix64.
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

#[test]
fn the_usual_parts_are_left_out_of_an_id() {
    for id in [
        "memory-read/8-bit/linear/4096",
        "memory-read/widest/ping-pong/16384/flash",
        "memory-read/32-bit/linear/4096/cache-invalidated",
        "memory-read/32-bit/ping-pong/4096/flash/cache-disabled",
    ] {
        assert_eq!(id.parse::<Workload>().unwrap().to_string(), id);
    }
    for wrong in ["memory-read", "memory-read/", "memory-read/8-bit/linear", "memory-read/8/linear/1"]
    {
        assert!(wrong.parse::<Workload>().is_err(), "{wrong}");
    }
}

#[test]
fn a_working_set_is_whole_blocks() {
    let valid = |bytes| MemoryReadWorkload::new(Width::Bits8, Pattern::Linear, bytes).valid();
    assert_eq!([512, 4096, 1 << 26].map(valid), [Ok(()); 3]);
    let no_length = Err(crate::Unsupported::Length);
    assert_eq!([0, 256, 4095, u32::MAX].map(valid), [no_length; 4]);
}
