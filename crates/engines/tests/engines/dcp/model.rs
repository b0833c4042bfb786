//! What the model of the DCP does with packets and registers that no driver would write.

use super::TIMING;
use cpb_drivers::dcp::packet::control0;
use cpb_drivers::dcp::registers::channel;
use cpb_engines::dcp::{Dcp as Model, Fuses};
use cpb_engines::{Engine, Memory};
use proptest::prelude::*;

#[test]
fn channels_take_turns_and_one_of_high_priority_goes_first() {
    let order = |priority: u32| {
        let mut model = Model::new(TIMING, Fuses::default());
        let mut memory = Flat(vec![0; 4096]);
        model.write(0x00, 0x3080_0000, 0);
        model.write(0x20, 0xF | priority << 8, 0);
        // A copy of four bytes for each channel, twice.
        for number in 0..4 {
            let at = 256 * number;
            let words = [
                0,
                control0::COPY | control0::DECREMENT | control0::CHAIN_CONTIGUOUS,
                0,
                0,
                2048,
                4,
                0,
                0,
            ];
            for (place, word) in words.iter().chain(&words).enumerate() {
                memory.0[at + 4 * place..][..4].copy_from_slice(&word.to_le_bytes());
            }
            model.write(channel(number).packet, at as u32, 0);
        }
        (0..4).for_each(|number| model.write(channel(number).semaphore, 2, 0));
        let mut order = Vec::new();
        let mut left = [2; 4];
        while let Some(event) = model.next_event() {
            model.advance(event, &mut memory);
            for (number, left) in left.iter_mut().enumerate() {
                let now = model.read(channel(number).semaphore) >> 16;
                if now < *left {
                    order.push(number);
                    *left = now;
                }
            }
        }
        order
    };
    assert_eq!(order(0), [0, 1, 2, 3, 0, 1, 2, 3]);
    // Channel 0 has begun already. After channel 2, channel 3 is next.
    assert_eq!(order(0b0100), [0, 2, 2, 3, 0, 1, 3, 1]);
}

/// Memory from address 0 on.
struct Flat(Vec<u8>);

impl Memory for Flat {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), cpb_engines::BusError> {
        let from = self.0.get(address as usize..).and_then(|from| from.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(cpb_engines::BusError { address })?);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), cpb_engines::BusError> {
        let to = self.0.get_mut(address as usize..).and_then(|to| to.get_mut(..bytes.len()));
        to.ok_or(cpb_engines::BusError { address })?.copy_from_slice(bytes);
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_packets_and_registers_end_without_a_panic(
        memory in prop::collection::vec(any::<u8>(), 512),
        writes in prop::collection::vec((0u32..0x440, any::<u32>(), 0u64..10_000), 0..200),
        controls in prop::collection::vec(any::<u32>(), 8),
    ) {
        let mut memory = Flat(memory);
        for (packet, control) in controls.iter().enumerate() {
            // Small addresses and sizes, so that some packets get through.
            let words = [32 * (packet as u32 + 1), *control & !control0::BLIT, control >> 7 & 0xF00F3, 64, 256, control & 0x70, 320];
            for (place, word) in words.iter().enumerate() {
                memory.0[32 * packet + 4 * place..][..4].copy_from_slice(&word.to_le_bytes());
            }
        }
        let mut model = Model::new(TIMING, Fuses::default());
        model.write(0, 0x3080_0000, 0);
        model.write(0x20, 0xF, 0);
        model.write(channel(0).semaphore, 8, 0);
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
