//! Branch prediction.
//!
//! The branch prediction of the Cortex-M7 (a branch target cache, its size and its rule) is not public. This
//! is the simplest scheme that predicts loops and returns: two bits per branch, with a first guess by
//! direction; the last target of an indirect branch; and a stack for returns.

const ENTRIES: usize = 2048;
const RETURNS: usize = 8;

#[derive(Clone, Copy)]
struct Entry {
    /// 0 if not seen yet, otherwise from 1 (strongly not taken) to 4 (strongly taken).
    counter: u8,
    target: u32,
}

/// The branch predictor.
pub struct Predictor {
    entries: Box<[Entry; ENTRIES]>,
    returns: [u32; RETURNS],
    top: usize,
    /// The number of mispredicted branches.
    pub missed: u64,
}

impl Predictor {
    pub(crate) fn new() -> Self {
        let entries = Box::new([Entry { counter: 0, target: 0 }; ENTRIES]);
        Predictor { entries, returns: [0; RETURNS], top: 0, missed: 0 }
    }

    #[inline(always)]
    fn entry(&mut self, pc: u32) -> &mut Entry {
        &mut self.entries[(pc >> 1) as usize & (ENTRIES - 1)]
    }

    /// Predicts a conditional branch at `pc`. Returns whether `taken` was predicted.
    #[inline(always)]
    pub(crate) fn conditional(&mut self, pc: u32, target: u32, taken: bool) -> bool {
        let entry = self.entry(pc);
        if entry.counter == 0 {
            entry.counter = if target <= pc { 3 } else { 2 };
        }
        let expected = entry.counter >= 3;
        entry.counter = if taken { 4.min(entry.counter + 1) } else { 1.max(entry.counter - 1) };
        self.missed += u64::from(expected != taken);
        expected == taken
    }

    /// Predicts an indirect branch at `pc`. Returns whether the target is the same as last time.
    pub(crate) fn indirect(&mut self, pc: u32, target: u32) -> bool {
        let entry = self.entry(pc);
        let hit = entry.target == target;
        entry.target = target;
        self.missed += u64::from(!hit);
        hit
    }

    pub(crate) fn call(&mut self, back: u32) {
        self.top = (self.top + 1) % RETURNS;
        self.returns[self.top] = back;
    }

    /// Predicts a return. Returns whether `target` follows the newest call.
    pub(crate) fn back(&mut self, target: u32) -> bool {
        let hit = self.returns[self.top] == target;
        self.top = (self.top + RETURNS - 1) % RETURNS;
        self.missed += u64::from(!hit);
        hit
    }
}
