//! The scoreboard of a Cortex-M7: when each instruction issues, and why it waited.
//!
//! In order, two a cycle. `now` is the cycle in which the newest instruction issued; each register
//! has, for each stage that may want it, the cycle from which on an instruction that wants it there
//! can issue. The rules of each instruction are in `cost.rs`, with their sources.

mod cost;
mod fetch;
pub(crate) mod latency;
mod predictor;
mod store_buffer;

pub use cost::Cost;
pub(crate) use cost::cost;
pub use predictor::Predictor;

use crate::chip::Timing;
use crate::insn::NOWHERE;
use cost::{FLAGS, early, unit};
use fetch::Fetch;
use store_buffer::StoreBuffer;

/// Why cycles passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cause {
    /// One or two instructions issued.
    Issue,
    /// An operand was not ready, or a unit was busy.
    Dependency,
    /// The next instruction was not fetched yet.
    Fetch,
    /// A branch went another way than predicted.
    Branch,
    /// A line was filled into a first-level cache.
    Cache,
    /// An access went to the bus: not cacheable, or a device.
    Bus,
    /// Serial flash was read.
    Flash,
    /// The store buffer was full, or an access was unaligned.
    Store,
    /// Registers were stacked or restored for an exception, or the core slept.
    Exception,
}

/// How many [`Cause`]s there are.
pub const CAUSES: usize = 9;

/// Their names, in the order of [`Cause`].
pub const CAUSE_NAMES: [&str; CAUSES] =
    ["issue", "dependency", "fetch", "branch", "cache", "bus", "flash", "store", "exception"];

/// What an instruction did to memory, beyond what a tightly coupled memory does without delay.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// Where the last byte was read or written.
    pub(crate) address: u32,
    /// Cycles that a read waits for the bus.
    pub(crate) wait: u32,
    /// Cycles for which a write, or a line written back, keeps the bus without anyone waiting.
    pub(crate) posted: u32,
    /// A store's bytes, or 0.
    pub(crate) stored: u32,
    /// An address was not a multiple of the access's size.
    pub(crate) unaligned: bool,
    /// Why it waited, a [`Cause`].
    pub(crate) cause: usize,
}

/// The scoreboard.
pub struct Scoreboard {
    /// The cycle in which the newest instruction issued.
    pub now: u64,
    /// Cycles by [`Cause`].
    pub spent: [u64; CAUSES],
    ready: [u64; 256],
    occupied: u16,
    bank: u32,
    busy_until: u64,
    bus_free: u64,
    flags_at: u64,
    fetch: Fetch,
    stores: StoreBuffer,
    /// The branch predictor.
    pub predictor: Predictor,
    rules: Timing,
}

/// Nothing can share the cycle any more.
const FULL: u16 = u16::MAX;

impl Scoreboard {
    /// An idle core at cycle 0.
    pub fn new(rules: Timing) -> Self {
        Scoreboard {
            now: 0,
            spent: [0; CAUSES],
            ready: [0; 256],
            occupied: FULL,
            bank: u32::MAX,
            busy_until: 0,
            bus_free: 0,
            flags_at: 0,
            fetch: Fetch::default(),
            stores: StoreBuffer::new(&rules),
            predictor: Predictor::new(),
            rules,
        }
    }

    /// Issues the instruction at `pc` of `size` bytes, after what it did is known.
    #[inline(always)]
    pub(crate) fn issue(&mut self, pc: u32, size: u32, cost: &Cost, access: &Access) {
        let fetched = self.fetch.at(pc, size, self.now);
        let [a, b, c, d] = cost.sources.map(|source| self.ready[usize::from(source)]);
        let operands = a.max(b).max(c.max(d)).max(self.busy_until);
        let need = operands.max(fetched);
        let loads = cost.units & unit::LOAD != 0;
        let bank = access.address >> 2 & 1;
        let fits = self.occupied & cost.excludes == 0 && !(loads && bank == self.bank);
        let at = if fits && need <= self.now {
            self.occupied = FULL;
            self.now
        } else {
            let at = need.max(self.now + 1);
            if at > self.now + 1 {
                self.waited(at - self.now - 1, fetched > operands);
            }
            self.spent[Cause::Issue as usize] += 1;
            self.now = at;
            self.occupied = cost.units;
            self.bank = if loads { bank } else { u32::MAX };
            at
        };
        self.deliver(at, cost);
        if cost.busy != 0 {
            self.busy_until = at + 1 + u64::from(cost.busy);
        }
        if access.wait | access.posted | access.stored | u32::from(access.unaligned) != 0 {
            self.memory(access);
        }
    }

    #[inline(always)]
    fn deliver(&mut self, at: u64, cost: &Cost) {
        let [a, b, ..] = cost.sources;
        let (a, b) = (self.ready[usize::from(a | 1)], self.ready[usize::from(b | 1)]);
        // A shift may run early from either slot, the others from the older one.
        let slot = cost.early == early::SHIFT || self.occupied != FULL;
        let early = cost.early != early::NEVER && slot && a.max(b) <= at;
        let row = if early { latency::EARLY } else { cost.latency };
        let when = latency::TABLE[usize::from(row & 15)].map(|cycles| at + cycles);
        for result in cost.results {
            self.enter(result, when);
        }
        if cost.moved != NOWHERE {
            self.enter(cost.moved, latency::TABLE[usize::from(latency::EARLY)].map(|c| at + c));
        }
        if cost.flags {
            self.flags_at = at;
            self.enter(FLAGS, [at + 1, at + 2, at + 1, at]);
        }
    }

    #[inline(always)]
    fn enter(&mut self, register: u8, when: [u64; 4]) {
        let slot = usize::from(register & 63) * 4;
        self.ready[slot..slot + 4].copy_from_slice(&when);
    }

    #[cold]
    fn waited(&mut self, cycles: u64, for_fetch: bool) {
        let cause = if for_fetch { self.fetch.cause } else { Cause::Dependency as usize };
        self.spent[cause] += cycles;
    }

    /// A register of a load multiple: the `index`th, two a cycle.
    pub(crate) fn loaded(&mut self, register: u8, index: u32) {
        let at = self.now + u64::from(index / 2);
        self.enter(register, latency::TABLE[usize::from(latency::LOAD)].map(|c| at + c));
    }

    fn memory(&mut self, access: &Access) {
        if access.unaligned && access.stored == 0 {
            self.stall(u64::from(self.rules.unaligned_load), Cause::Store as usize);
        }
        if access.stored != 0 && access.wait == 0 && access.posted == 0 {
            let until = self.stores.push(self.now, access, &self.rules);
            self.stall(until.saturating_sub(self.now), Cause::Store as usize);
        }
        if access.wait != 0 {
            let free = self.bus_free.saturating_sub(self.now);
            self.stall(free + u64::from(access.wait), access.cause);
            self.bus_free = self.now;
        }
        if access.posted != 0 {
            // Writes queue: the core waits where the queue is longer than the buffer is deep.
            let begin = self.bus_free.max(self.now);
            self.bus_free = begin + u64::from(access.posted);
            let depth = u64::from(self.rules.store_buffer) * u64::from(access.posted);
            let late = self.bus_free.saturating_sub(self.now + depth);
            self.stall(late, access.cause);
        }
    }

    /// Nothing issues for `cycles` after the newest instruction; what it delivers comes later too.
    pub(crate) fn stall(&mut self, cycles: u64, cause: usize) {
        if cycles == 0 {
            return;
        }
        for when in &mut self.ready {
            *when += if *when > self.now { cycles } else { 0 };
        }
        self.busy_until = self.busy_until.max(self.now) + cycles;
        self.spent[cause] += cycles;
        self.now += cycles;
        self.occupied = FULL;
    }

    /// The instruction fetch waits `cycles` for memory.
    pub(crate) fn fetch_waits(&mut self, cycles: u32, cause: usize) {
        let begin = self.bus_free.max(self.now);
        self.fetch.delay(begin, u64::from(cycles), cause);
        self.bus_free = begin + u64::from(cycles);
    }

    /// A branch at `pc` was issued; `hit` says whether its way was predicted.
    #[inline(always)]
    pub(crate) fn branched(&mut self, target: u32, taken: bool, hit: bool, on_flags: bool) {
        if !hit {
            let known_early = on_flags && self.now >= self.flags_at + 3;
            let rules = &self.rules;
            let penalty = if known_early { rules.mispredict_early } else { rules.mispredict };
            self.fetch.restart(self.now + 1 + u64::from(penalty), Cause::Branch as usize, target);
        } else if taken {
            self.fetch.go(target);
        }
    }

    /// Everything before is over: exceptions, ISB.
    pub(crate) fn drain(&mut self, cycles: u32, target: u32) {
        self.stall(u64::from(cycles), Cause::Exception as usize);
        self.fetch.restart(self.now + 1, Cause::Exception as usize, target);
    }
}
