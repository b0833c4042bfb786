//! The scoreboard of a Cortex-M7: when each instruction issues, and why it had to wait.
//!
//! Issue is in order, two instructions per cycle. `now` is the cycle in which the newest instruction issued.
//! For each register and each stage that may need it, the scoreboard has the first cycle in which an
//! instruction that needs it there can issue. The rules for each instruction are in `cost.rs`, with their
//! sources.

mod cost;
mod fetch;
pub(crate) mod latency;
mod predictor;
mod store_buffer;

pub use cost::Cost;
pub(crate) use cost::cost;
pub use predictor::Predictor;

use crate::chip::Timing;
use cost::{FLAGS, early, rest, stage, unit};
use fetch::Fetch;
use store_buffer::StoreBuffer;

/// The reason why cycles passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cause {
    /// One or two instructions issued.
    Issue,
    /// An operand was not ready, or a unit was busy.
    Dependency,
    /// The next instruction had not been fetched yet.
    Fetch,
    /// A branch was mispredicted.
    Branch,
    /// A line was filled into a first-level cache.
    Cache,
    /// An access went to the bus: an uncacheable address, or a device.
    Bus,
    /// Serial flash was read.
    Flash,
    /// The store buffer was full, or an access was unaligned.
    Store,
    /// Registers were stacked or restored for an exception, or the core slept.
    Exception,
}

/// The number of [`Cause`]s.
pub const CAUSES: usize = 9;

/// Their names, in the order of [`Cause`].
pub const CAUSE_NAMES: [&str; CAUSES] =
    ["issue", "dependency", "fetch", "branch", "cache", "bus", "flash", "store", "exception"];

/// An instruction's accesses to memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// The address of the last read or write. For a read behind the bus, one that stands for its place in the cache: see
    /// `memory/cache_ports.rs`.
    pub(crate) address: u32,
    /// Whether any of the following fields is relevant, that is, the access was not an aligned load from
    /// tightly coupled memory.
    pub(crate) more: bool,
    /// Whether an address was not a multiple of the access's size.
    pub(crate) unaligned: bool,
    /// The bytes of a store, or 0.
    pub(crate) stored: u32,
    /// Cycles that a read waits for the bus.
    pub(crate) wait: u32,
    /// Cycles for which a write, or the write-back of a line, occupies the bus without the core waiting.
    pub(crate) posted: u32,
    /// The cause of the wait, a [`Cause`].
    pub(crate) cause: usize,
}

impl Access {
    /// Records that the bus may be occupied or waited for.
    pub(crate) fn note_bus(&mut self) {
        self.more |= self.wait | self.posted != 0;
    }
}

/// The scoreboard.
///
/// The simulator spends most of its time here. [`Scoreboard::issue`] uses lookups and comparisons and almost
/// no branches, because the host could not predict them.
pub struct Scoreboard {
    /// Stands still in a stall, so the times of results need not be adjusted.
    clock: Clock,
    /// Cycles in which it stood still, or by which it was set back.
    stalled: i64,
    /// For each register and stage, the time from which a result can be used.
    ready: [[Clock; 4]; REGISTERS],
    /// The units that the newest instruction occupies, or [`FULL`].
    occupied: u16,
    busy_until: Clock,
    /// The time at which flags were last set, on a clock that does not stand still.
    flags_at: i64,
    bus_free: u64,
    fetch: Fetch,
    stores: StoreBuffer,
    /// Cycles in which an instruction issued.
    issued: u64,
    /// Cycles by [`Cause`]. Those of issue and of dependencies are computed from the rest.
    waited: [u64; CAUSES],
    /// The branch predictor.
    pub predictor: Predictor,
    rules: Timing,
}

/// No other instruction can issue in the same cycle.
const FULL: u16 = u16::MAX;

/// A time in cycles without stalls. The type is small, so that the host adds and stores four values at once.
/// The clock is therefore set back from time to time.
type Clock = i32;

/// The value at which the clock is set back. No wait is so long that the sum exceeds the type.
const FURTHEST: Clock = 1 << 29;

/// Rows of the scoreboard, so many that every 8-bit value is a valid register * 4 + stage.
const REGISTERS: usize = 64;

impl Scoreboard {
    /// An idle core at cycle 0.
    pub fn new(rules: Timing) -> Self {
        Scoreboard {
            clock: 0,
            stalled: 0,
            ready: [[0; 4]; _],
            occupied: FULL,
            busy_until: 0,
            flags_at: 0,
            bus_free: 0,
            fetch: Fetch::default(),
            stores: StoreBuffer::new(&rules),
            issued: 0,
            waited: [0; CAUSES],
            predictor: Predictor::new(),
            rules,
        }
    }

    /// The cycle in which the newest instruction issued, or in which its stall ended.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.time() as u64
    }

    #[inline(always)]
    fn time(&self) -> i64 {
        i64::from(self.clock) + self.stalled
    }

    /// Cycles by [`Cause`].
    pub fn spent(&self) -> [u64; CAUSES] {
        let mut spent = self.waited;
        spent[Cause::Issue as usize] = self.issued;
        // Every cycle has exactly one cause, and the others are counted.
        spent[Cause::Dependency as usize] = self.now() - spent.iter().sum::<u64>();
        spent
    }

    /// Issues the instruction at `pc` of `size` bytes, after its effect is known. `address` is its last
    /// memory access.
    #[inline(always)]
    pub(crate) fn issue(&mut self, pc: u32, size: u32, cost: &Cost, address: u32) {
        let fetched = self.fetch.at(pc, size, self.clock);
        let [a, b] = cost.sources.map(|source| self.ready.as_flattened()[usize::from(source)]);
        let mut operands = a.max(b).max(self.busy_until);
        if cost.rest & rest::SOURCES != 0 {
            let [c, d] = cost.further.map(|source| self.ready.as_flattened()[usize::from(source)]);
            operands = operands.max(c).max(d);
        }
        // Two loads issue together if they are from different banks, which have one bit each.
        let bank = unit::with_bank(address);
        let fits = self.occupied & cost.excludes & bank == 0;
        let soonest = self.clock + Clock::from(!fits);
        let mut at = operands.max(soonest);
        if fetched > at {
            self.waited[self.fetch.cause] += (fetched - self.clock - 1) as u64;
            at = fetched;
        }
        let older = at != self.clock;
        self.issued += u64::from(older);
        self.occupied = if older { cost.units & bank } else { FULL };
        self.clock = at;
        self.deliver(at, older, cost);
    }

    #[inline(always)]
    fn deliver(&mut self, at: Clock, older: bool, cost: &Cost) {
        // A shift may run early from either slot, other operations only from the older one.
        let slots = if older { early::OLDER | early::SHIFT } else { early::SHIFT };
        let early = cost.early & slots != 0 && self.there_early(cost) <= at;
        let row = if early { latency::EARLY } else { cost.latency };
        self.enter(cost.result, row, at);
    }

    /// The time at which the address generation or the shifter could use all operands.
    #[inline(always)]
    fn there_early(&self, cost: &Cost) -> Clock {
        let times = self.ready.as_flattened();
        let [a, b] = cost.sources.map(|source| times[usize::from(source | stage::EARLY)]);
        a.max(b)
    }

    /// Applies the parts of a row that few instructions have, for the instruction that was just issued.
    #[inline(always)]
    pub(crate) fn finish(&mut self, cost: &Cost) {
        let at = self.clock;
        if cost.rest & rest::FLAGS != 0 {
            self.flags_at = i64::from(at) + self.stalled;
            self.enter(FLAGS, latency::ALU, at);
        }
        if cost.rest & rest::SECOND != 0 {
            self.enter(cost.second, cost.latency, at);
        }
        if cost.rest & rest::MOVED != 0 {
            self.enter(cost.moved, latency::EARLY, at);
        }
        if cost.rest & rest::BUSY != 0 {
            self.busy_until = at + 1 + Clock::from(cost.busy);
        }
    }

    /// Sets a register's row of times.
    #[inline(always)]
    fn enter(&mut self, register: u8, row: u8, at: Clock) {
        let [a, b, c, d] = latency::TABLE[usize::from(row & 15)];
        self.ready[usize::from(register & 63)] = [at + a, at + b, at + c, at + d];
    }

    /// Sets the times for register number `index` of a load multiple, which loads two per cycle.
    pub(crate) fn loaded(&mut self, register: u8, index: u32) {
        self.enter(register, latency::LOAD, self.clock + index as Clock / 2);
    }

    /// Applies the memory access of the newest instruction, if it has [`Access::more`].
    pub(crate) fn memory(&mut self, access: &Access) {
        if access.wait | access.posted != 0 {
            return self.bus(access);
        }
        if access.stored == 0 {
            self.stall(u64::from(self.rules.unaligned_load), Cause::Store as usize);
        } else {
            let now = self.now();
            let room = self.stores.push(now, access, &self.rules);
            self.stall(room.saturating_sub(now), Cause::Store as usize);
        }
    }

    #[inline(never)]
    fn bus(&mut self, access: &Access) {
        if access.unaligned && access.stored == 0 {
            self.stall(u64::from(self.rules.unaligned_load), Cause::Store as usize);
        }
        if access.wait != 0 {
            let free = self.bus_free.saturating_sub(self.now());
            self.stall(free + u64::from(access.wait), access.cause);
            self.bus_free = self.now();
        }
        if access.posted != 0 {
            // Writes are queued. The core waits while the queue is longer than the buffer.
            let begin = self.bus_free.max(self.now());
            self.bus_free = begin + u64::from(access.posted);
            let depth = u64::from(self.rules.store_buffer) * u64::from(access.posted);
            let late = self.bus_free.saturating_sub(self.now() + depth);
            self.stall(late, access.cause);
        }
    }

    /// Nothing issues for `cycles` after the newest instruction, and its results are delayed as well.
    pub(crate) fn stall(&mut self, cycles: u64, cause: usize) {
        if cycles == 0 {
            return;
        }
        self.waited[cause] += cycles;
        self.fetch.set_back(cycles as i64);
        self.stalled += cycles as i64;
        self.occupied = FULL;
    }

    /// The instruction fetch waits `cycles` for memory.
    pub(crate) fn fetch_waits(&mut self, cycles: u32, cause: usize) {
        let begin = self.bus_free.max(self.now());
        self.fetch.delay(begin as i64 - self.stalled, cycles, cause);
        self.bus_free = begin + u64::from(cycles);
    }

    /// Applies an issued branch. `hit` is whether it was predicted correctly.
    #[inline(always)]
    pub(crate) fn branched(&mut self, taken: bool, hit: bool, on_flags: bool) {
        if !hit {
            let known_early = on_flags && self.time() >= self.flags_at + 3;
            let rules = &self.rules;
            let penalty = if known_early { rules.mispredict_early } else { rules.mispredict };
            self.fetch.restart(self.clock + 1 + penalty as Clock, Cause::Branch as usize);
        } else if taken {
            self.fetch.go();
        }
    }

    /// The cycle by which [`Scoreboard::set_back`] must be called.
    pub(crate) fn due(&self) -> u64 {
        self.now() + (FURTHEST - self.clock).max(0) as u64
    }

    /// Sets the clock back if its value has become too large for its type.
    pub(crate) fn set_back(&mut self) {
        if self.clock < FURTHEST {
            return;
        }
        self.clock -= FURTHEST;
        self.stalled += i64::from(FURTHEST);
        self.ready = self.ready.map(|row| row.map(|when| (when - FURTHEST).max(0)));
        self.busy_until = (self.busy_until - FURTHEST).max(0);
        self.fetch.set_back(i64::from(FURTHEST));
    }

    /// Waits until everything before is complete: exceptions, ISB.
    pub(crate) fn drain(&mut self, cycles: u32) {
        self.stall(u64::from(cycles), Cause::Exception as usize);
        self.fetch.restart(self.clock + 1, Cause::Exception as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, decode};

    /// A multiplication, a sum that waits for it, a load, a store, and a mispredicted branch.
    fn run(board: &mut Scoreboard) -> Vec<u64> {
        let begun = board.now();
        let codes = [(0xFB02, 0xF103), (0x4408, 0), (0x6809, 0), (0x6008, 0), (0xE7FE, 0)];
        let places = (0x100u32..).step_by(4).zip(codes.into_iter().cycle().take(30));
        let issued = places.map(|(pc, (first, second))| {
            let insn = decode::decode(pc, first, second);
            board.issue(pc, u32::from(insn.size), &insn.cost, pc);
            board.finish(&insn.cost);
            match insn.op {
                Op::StrI => {
                    let wait = board.now() as u32 % 3;
                    let access = Access { more: true, stored: 1, wait, ..Access::default() };
                    board.memory(&access);
                }
                Op::B => board.branched(true, pc % 8 == 0, false),
                _ => {}
            }
            board.set_back();
            board.now() - begun
        });
        issued.collect()
    }

    #[test]
    fn a_clock_that_is_set_back_tells_the_same_cycles() {
        let rules = crate::Chip::named("imxrt1060").expect("a built-in chip").timing();
        let mut board = Scoreboard::new(rules.clone());
        let expected = run(&mut board);
        for early in 0..40 {
            let mut late = Scoreboard::new(rules.clone());
            late.clock = FURTHEST - early;
            late.stalled = -i64::from(late.clock);
            late.fetch.set_back(late.stalled);
            late.ready = [[late.clock; 4]; REGISTERS];
            assert_eq!(run(&mut late), expected, "{early} cycles before it is set back");
            assert!(late.clock < 1000, "it was never set back: {}", late.clock);
        }
    }
}
