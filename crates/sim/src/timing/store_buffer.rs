//! The store buffer: stores wait here for their bank, and the core waits when the buffer is full.
//!
//! Source: jnk0le's notes: five stores deep. Bytes, halfwords and unaligned words occupy their bank for four
//! cycles, because a word is read, modified and written.

use super::Access;
use crate::chip::Timing;

const SLOTS: usize = 16;

pub(super) struct StoreBuffer {
    done: [u64; SLOTS],
    turn: usize,
    bank: [u64; 2],
    depth: usize,
}

impl StoreBuffer {
    pub(super) fn new(rules: &Timing) -> Self {
        let depth = (rules.store_buffer as usize).clamp(1, SLOTS);
        StoreBuffer { done: [0; SLOTS], turn: 0, bank: [0; 2], depth }
    }

    /// Takes a store at cycle `now`. Returns the cycle at which there was room for it.
    pub(super) fn push(&mut self, now: u64, access: &Access, rules: &Timing) -> u64 {
        let room = self.done[self.turn & (SLOTS - 1)];
        let begin = now.max(room);
        let whole = access.stored >= 4 && !access.unaligned;
        let cycles = if whole { access.stored.div_ceil(8) } else { rules.partial_store };
        let bank = (access.address >> 2 & 1) as usize;
        let finished = self.bank[bank].max(begin) + u64::from(cycles);
        self.bank[bank] = finished;
        if access.stored > 4 {
            self.bank[bank ^ 1] = finished;
        }
        self.done[self.turn & (SLOTS - 1)] = finished;
        self.turn = if self.turn + 1 < self.depth { self.turn + 1 } else { 0 };
        room
    }
}
