//! What the model does with descriptors, tables and registers that no driver would write.

use super::*;
use cpb_drivers::caam::descriptor::{command, header, key, pkha, rsa};
use proptest::prelude::*;

/// Commands of all kinds, with small addresses and lengths, so that some descriptors get far.
fn word() -> impl Strategy<Value = u32> {
    let kind = prop::sample::select(vec![
        command::KEY | class::ONE | 16,
        command::KEY | class::TWO | 32,
        command::LOAD | class::ONE | register::CONTEXT | 16,
        command::LOAD | class::NONE | 1 << 23 | register::INFO_FIFO | 4,
        command::STORE | class::TWO | register::CONTEXT | 32,
        command::FIFO_LOAD | class::ONE | fifo_load::MESSAGE | fifo_load::LAST_1 | 32,
        command::FIFO_LOAD | class::BOTH | fifo_load::MESSAGE_OUT_TO_2 | fifo_load::LAST_BOTH | 64,
        command::FIFO_STORE | fifo_store::MESSAGE | 32,
        command::OPERATION | operation::CLASS_1 | operation::AES | operation::CBC,
        command::OPERATION
            | operation::CLASS_1
            | operation::AES
            | operation::GCM
            | operation::INIT_FINAL,
        command::OPERATION | operation::CLASS_2 | operation::SHA_256 | operation::INIT_FINAL,
        command::OPERATION | operation::DKP | 3 << 16 | 4,
        command::OPERATION | rsa::PUBLIC,
        command::OPERATION | rsa::PRIVATE | rsa::FORM_1,
        command::OPERATION | rsa::PRIVATE | rsa::FORM_2,
        command::OPERATION | rsa::PRIVATE | rsa::FORM_3,
        32 << rsa::LENGTH | 32,
        command::FIFO_LOAD | class::ONE | pkha::N | 32,
        command::FIFO_LOAD | class::ONE | pkha::A | 32,
        command::FIFO_LOAD | class::ONE | pkha::B1 | 32,
        command::FIFO_STORE | pkha::B | 32,
        command::KEY | class::ONE | key::PK_E | 32,
        command::OPERATION | pkha::OPERATION | pkha::POWER,
        command::OPERATION | pkha::OPERATION | pkha::POINT_MULTIPLE,
        command::SEQ_IN_PTR | 64,
        command::SEQ_OUT_PTR | 64,
        command::SEQ_FIFO_LOAD | class::ONE | fifo_load::MESSAGE | 16,
        command::SEQ_FIFO_STORE | fifo_store::MESSAGE | 16,
        command::MOVE,
        command::MATH | 4,
        command::JUMP | 1,
    ]);
    prop_oneof![
        3 => kind.clone(),
        2 => (kind, any::<u32>(), 0u32..32).prop_map(|(word, bits, shift)| word ^ (bits & 1) << shift),
        2 => (0u32..0x1000).prop_map(|address| address & !3),
        1 => any::<u32>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_descriptor_ends_without_a_panic_and_the_next_job_is_right(
        words in prop::collection::vec(word(), 1..63),
        data in prop::collection::vec(any::<u8>(), 0x400),
        layout in 0usize..5,
        shared in 0u32..16,
        start in prop_oneof![3 => Just(0), 1 => 0u32..16],
    ) {
        let mut machine = Machine::new(configurations()[layout]);
        machine.memory.0[0xC00..0x1000].copy_from_slice(&data);
        let format = machine.format;
        let head = command::HEADER | header::ONE | start << header::START | (words.len() as u32 + 1);
        // Sometimes with a shared descriptor, which is then one of the words' own.
        let by_shared = header::SHARED | header::REVERSE | 3 << header::START;
        let head = if shared == 0 { head & !(header::START_MASK << header::START) | by_shared } else { head };
        let bytes: Vec<u8> =
            [head].iter().chain(&words).flat_map(|word| format.bytes(*word)).collect();
        let address = machine.put(&bytes);
        machine.add(0, address);
        machine.settle();
        let (told, _) = machine.remove(0).expect("a finished job");
        prop_assert_eq!(told, address);
        // The descriptor may have written over the rings' entries, but not into the engine.
        machine.works();
    }

    #[test]
    fn any_registers_end_without_a_panic(
        writes in prop::collection::vec(
            (prop_oneof![0u32..0x200, 0x10000u32..0x10080, 0x20000u32..0x20080, 0x80800u32..0x80B00, any::<u32>()],
             prop_oneof![0u32..16, any::<u32>()], 0u64..10_000),
            0..200,
        ),
        memory in prop::collection::vec(any::<u8>(), 4096),
        layout in 0usize..5,
    ) {
        let configuration = Configuration { page: registers::PAGE_64K, decos: 3, ..configurations()[layout] };
        let mut model = Caam::new(TIMING, configuration);
        let mut memory = Flat(memory);
        let mut now = 0;
        for (offset, value, ticks) in writes {
            now += ticks;
            model.advance(now, &mut memory);
            model.write(offset & !3, value, now);
            _ = (model.read(offset & !3), model.interrupts(), model.next_event());
        }
        for _ in 0..5000 {
            let Some(event) = model.next_event() else { break };
            model.advance(event, &mut memory);
        }
    }
}
