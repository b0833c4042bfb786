//! Instruction fetch: eight bytes per cycle into a queue of four such blocks, ahead of issue and along
//! predicted branches.
//!
//! Source: Cortex-M7 Technical Reference Manual, prefetch unit (64-bit fetches, a queue of four).
//! Two observations in jnk0le's notes follow from these figures: 16-bit instructions hide a taken branch, and
//! 32-bit ones cannot issue in the same cycle as the branch's target.

use super::{Cause, Clock};

const QUEUE: usize = 4;

/// All times are on the scoreboard's clock. Times long before a stall are negative.
pub(super) struct Fetch {
    block: u32,
    /// The time at which the newest block can issue.
    ready: Clock,
    /// The time at which each of the last four blocks began to issue.
    begun: [Clock; QUEUE],
    turn: usize,
    /// Why the newest block is late: a [`Cause`].
    pub(super) cause: usize,
}

/// A block that contains no instruction, and neither does the next one.
const NONE: u32 = u32::MAX - 1;

impl Default for Fetch {
    fn default() -> Self {
        let cause = Cause::Fetch as usize;
        Fetch { block: u32::MAX, ready: 0, begun: [0; QUEUE], turn: 0, cause }
    }
}

impl Fetch {
    /// The time at which the instruction of `size` bytes at `pc` is available.
    #[inline(always)]
    pub(super) fn at(&mut self, pc: u32, size: u32, now: Clock) -> Clock {
        let block = pc.wrapping_add(size - 1) >> 3;
        if block != self.block {
            // At a branch target, the instruction may begin in the previous block.
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

    /// Continues at a predicted branch's target.
    #[inline(always)]
    pub(super) fn go(&mut self) {
        self.block = NONE;
    }

    /// Restarts at a target that is available at time `ready`.
    pub(super) fn restart(&mut self, ready: Clock, cause: usize) {
        self.block = NONE;
        self.ready = ready - 1;
        self.begun = [0; QUEUE];
        self.cause = cause;
    }

    /// Delays the next block because of memory.
    pub(super) fn delay(&mut self, begin: i64, cycles: u32, cause: usize) {
        let ready = i64::from(self.ready).max(begin) + i64::from(cycles);
        self.ready = near(ready);
        self.cause = cause;
    }

    /// Sets the clock back by this many cycles because of a stall, during which fetching continues.
    pub(super) fn set_back(&mut self, cycles: i64) {
        self.ready = near(i64::from(self.ready) - cycles);
        self.begun = self.begun.map(|begun| near(i64::from(begun) - cycles));
    }
}

/// The largest distance from zero that a clock value can have with room for additions.
const LIMIT: i64 = 1 << 30;

/// Limits a time to the range of a clock.
fn near(time: i64) -> Clock {
    time.clamp(-LIMIT, LIMIT) as Clock
}
