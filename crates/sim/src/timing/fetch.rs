//! Instruction fetch: eight bytes a cycle into a queue of four such blocks, ahead of issue and
//! along predicted branches.
//!
//! Source: Cortex-M7 Technical Reference Manual, prefetch unit (64-bit fetches, a queue of four).
//! That narrow instructions hide a taken branch, and wide ones cannot share its cycle with its
//! target, as jnk0le's notes have it, follows from these two figures.

use super::{Cause, Clock};

const QUEUE: usize = 4;

/// All times are by the scoreboard's clock; those long before a stall are negative.
pub(super) struct Fetch {
    block: u32,
    /// When the newest block can issue.
    ready: Clock,
    /// When issue began with each of the last four blocks.
    begun: [Clock; QUEUE],
    turn: usize,
    /// Why the newest block is late, a [`Cause`].
    pub(super) cause: usize,
}

/// No instruction is in this block, nor in the one behind it.
const NONE: u32 = u32::MAX - 1;

impl Default for Fetch {
    fn default() -> Self {
        let cause = Cause::Fetch as usize;
        Fetch { block: u32::MAX, ready: 0, begun: [0; QUEUE], turn: 0, cause }
    }
}

impl Fetch {
    /// When the instruction of `size` bytes at `pc` is there.
    #[inline(always)]
    pub(super) fn at(&mut self, pc: u32, size: u32, now: Clock) -> Clock {
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
    fn next(&mut self, now: Clock) {
        let free = self.begun[self.turn & (QUEUE - 1)];
        self.begun[self.turn & (QUEUE - 1)] = now;
        self.turn += 1;
        self.ready = free.max(self.ready + 1);
        if self.ready <= now {
            self.cause = Cause::Fetch as usize;
        }
    }

    /// Goes on at a predicted branch's target.
    #[inline(always)]
    pub(super) fn go(&mut self) {
        self.block = NONE;
    }

    /// Begins anew at a target that is there at time `ready`.
    pub(super) fn restart(&mut self, ready: Clock, cause: usize) {
        self.block = NONE;
        self.ready = ready - 1;
        self.begun = [0; QUEUE];
        self.cause = cause;
    }

    /// Memory makes the next block wait.
    pub(super) fn delay(&mut self, begin: i64, cycles: u32, cause: usize) {
        let ready = i64::from(self.ready).max(begin) + i64::from(cycles);
        self.ready = near(ready);
        self.cause = cause;
    }

    /// The clock is so many cycles earlier than it would be: a stall, in which fetching goes on.
    pub(super) fn set_back(&mut self, cycles: i64) {
        self.ready = near(i64::from(self.ready) - cycles);
        self.begun = self.begun.map(|begun| near(i64::from(begun) - cycles));
    }
}

/// As far from zero as a clock can tell with room to add to.
const LIMIT: i64 = 1 << 30;

/// A time that a clock can hold.
fn near(time: i64) -> Clock {
    time.clamp(-LIMIT, LIMIT) as Clock
}
