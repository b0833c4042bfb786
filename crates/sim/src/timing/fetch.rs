//! Instruction fetch: eight bytes a cycle into a queue of four such blocks, ahead of issue and
//! along predicted branches.
//!
//! Source: Cortex-M7 Technical Reference Manual, prefetch unit (64-bit fetches, a queue of four).
//! That narrow instructions hide a taken branch, and wide ones cannot share its cycle with its
//! target, as jnk0le's notes have it, follows from these two figures.

use super::Cause;

const QUEUE: usize = 4;

pub(super) struct Fetch {
    block: u32,
    /// When the newest block can issue.
    ready: u64,
    /// When issue began with each of the last four blocks.
    begun: [u64; QUEUE],
    turn: usize,
    /// Why the newest block is late, a [`Cause`].
    pub(super) cause: usize,
}

impl Default for Fetch {
    fn default() -> Self {
        let cause = Cause::Fetch as usize;
        Fetch { block: u32::MAX, ready: 0, begun: [0; QUEUE], turn: 0, cause }
    }
}

impl Fetch {
    /// When the instruction of `size` bytes at `pc` is there.
    #[inline(always)]
    pub(super) fn at(&mut self, pc: u32, size: u32, now: u64) -> u64 {
        let block = pc.wrapping_add(size - 1) >> 3;
        if block != self.block {
            // At a branch's target the instruction may begin in the block before.
            if block != self.block.wrapping_add(1) && pc >> 3 != block {
                self.next(now);
            }
            self.block = block;
            self.next(now);
        }
        self.ready
    }

    #[inline(always)]
    fn next(&mut self, now: u64) {
        let free = self.begun[self.turn & (QUEUE - 1)];
        self.begun[self.turn & (QUEUE - 1)] = now;
        self.turn += 1;
        let ready = self.ready + 1;
        if ready >= free {
            self.ready = ready;
        } else {
            self.ready = free;
        }
        if self.ready <= now {
            self.cause = Cause::Fetch as usize;
        }
    }

    /// Goes on at a predicted branch's target.
    #[inline(always)]
    pub(super) fn go(&mut self, _target: u32) {
        self.block = u32::MAX - 1;
    }

    /// Begins anew at a target that is there at cycle `ready`.
    pub(super) fn restart(&mut self, ready: u64, cause: usize, _target: u32) {
        self.block = u32::MAX - 1;
        self.ready = ready - 1;
        self.begun = [0; QUEUE];
        self.cause = cause;
    }

    /// Memory makes the next block wait.
    pub(super) fn delay(&mut self, begin: u64, cycles: u64, cause: usize) {
        self.ready = self.ready.max(begin) + cycles;
        self.cause = cause;
    }
}
