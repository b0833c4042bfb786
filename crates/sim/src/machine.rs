//! The machine: the core's registers, memories, devices, and the loop that runs them.

use crate::calls::Calls;
use crate::chip::Chip;
use crate::console::Console;
use crate::device::Devices;
use crate::diagnosis::Snapshot;
use crate::exec::condition_holds;
use crate::fault::{Exit, Stop};
use crate::insn::{Insn, Op};
use crate::measure::Measure;
use crate::memory::{Memory, PAGE};
use crate::system::System;
use crate::timing::{Access, Scoreboard};

/// Instructions on a page.
pub(crate) const PER_PAGE: usize = (PAGE / 2) as usize;
/// How many of the newest instructions' addresses are kept.
pub(crate) const HISTORY: usize = 16;

/// What a branch did, for the scoreboard.
#[derive(Clone, Copy, Default)]
pub(crate) struct Went {
    pub(crate) branched: bool,
    pub(crate) taken: bool,
    pub(crate) hit: bool,
    pub(crate) on_flags: bool,
}

/// A chip that runs a program.
pub struct Machine {
    /// R0 to R15; 16 is written and never read, 17 is zero.
    pub(crate) r: [u32; 32],
    /// N is bit 31 of this.
    pub(crate) n: u32,
    /// Z is this being zero.
    pub(crate) z: u32,
    pub(crate) c: bool,
    pub(crate) v: bool,
    pub(crate) q: bool,
    pub(crate) ge: u8,
    /// ITSTATE (A7.3.3).
    pub(crate) it: u8,
    /// S0 to S31.
    pub(crate) s: [u32; 32],
    pub(crate) fpscr: u32,
    /// Where to go on.
    pub(crate) next: u32,
    pub(crate) went: Went,
    /// A branch that may have left a function was taken.
    pub(crate) returned: bool,
    /// IPSR: the exception that is being handled, or 0.
    pub(crate) exception: u16,
    pub(crate) primask: bool,
    pub(crate) faultmask: bool,
    pub(crate) basepri: u8,
    pub(crate) control: u32,
    /// The stack pointer that R13 is not.
    pub(crate) other_stack: u32,
    /// The exclusive monitor.
    pub(crate) reserved: Option<u32>,
    pub(crate) memory: Memory,
    pub(crate) system: System,
    pub(crate) devices: Devices,
    pub(crate) timing: Scoreboard,
    pub(crate) chip: Chip,
    pub(crate) console: Console,
    pub(crate) calls: Calls,
    pub(crate) measure: Measure,
    pub(crate) history: [u32; HISTORY],
    /// Instructions that were executed.
    pub(crate) instructions: u64,
    pub(crate) max_cycles: u64,
    /// The state at the first fault that a handler was given.
    pub(crate) faulted: Option<Box<Snapshot>>,
    deadline: u64,
    /// Decoded pages, one behind the other.
    pub(crate) code: Vec<Insn>,
    /// Where the current page begins in it.
    pub(crate) page: usize,
    pub(crate) page_base: u32,
    /// The region of the page, where fetching from it takes time.
    pub(crate) fetched_region: usize,
    pub(crate) fetched_line: u32,
    pub(crate) cacheable: bool,
}

impl Machine {
    /// A chip after reset, its memories zero.
    pub fn new(chip: Chip) -> Self {
        let timing = Scoreboard::new(chip.timing());
        Machine {
            r: [0; 32],
            n: 0,
            z: 1,
            c: false,
            v: false,
            q: false,
            ge: 0,
            it: 0,
            s: [0; 32],
            fpscr: 0,
            next: 0,
            went: Went::default(),
            returned: false,
            exception: 0,
            primask: false,
            faultmask: false,
            basepri: 0,
            control: 0,
            other_stack: 0,
            reserved: None,
            memory: Memory::new(&chip),
            system: System::new(),
            devices: Devices::new(&chip),
            timing,
            chip,
            console: Console::default(),
            calls: Calls::default(),
            measure: Measure::default(),
            history: [u32::MAX; HISTORY],
            instructions: 0,
            max_cycles: u64::MAX,
            faulted: None,
            deadline: 0,
            code: vec![Insn::new(Op::Pending, 2); PER_PAGE],
            page: 0,
            page_base: u32::MAX,
            fetched_region: 0,
            fetched_line: u32::MAX,
            cacheable: false,
        }
    }

    /// Cycles since reset.
    pub fn cycles(&self) -> u64 {
        self.timing.now
    }

    /// Instructions since reset.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Registers loaded from memories, and stored to them, since reset.
    pub fn accesses(&self) -> [u64; 2] {
        [self.memory.reads, self.memory.writes]
    }

    /// A core register: 0 to 15.
    pub fn register(&self, number: usize) -> u32 {
        if number == 15 { self.next } else { self.r[number & 15] }
    }

    /// Sets a core register: 0 to 15.
    pub fn set_register(&mut self, number: usize, value: u32) {
        if number == 15 {
            self.next = value & !1;
        } else {
            self.r[number & 15] = value;
        }
    }

    /// Bounds a run.
    pub fn set_max_cycles(&mut self, cycles: u64) {
        self.max_cycles = cycles;
    }

    /// Where the guest's output goes and its input comes from.
    pub fn set_console(&mut self, console: Console) {
        self.console = console;
    }

    /// What is measured beside the totals.
    pub fn measure_mut(&mut self) -> &mut Measure {
        &mut self.measure
    }

    /// What was measured.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// The scoreboard.
    pub fn timing(&self) -> &Scoreboard {
        &self.timing
    }

    /// The chip.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// Bytes of memory from an address on, whatever protects them.
    pub fn memory_at(&self, address: u32) -> &[u8] {
        self.memory.bytes(address)
    }

    /// Runs until something ends it.
    pub fn run(&mut self) -> Stop {
        self.memory.attention = true;
        let stop = if self.measure.profiles() { self.go::<true>() } else { self.go::<false>() };
        self.console.flush();
        stop
    }

    fn go<const PROFILE: bool>(&mut self) -> Stop {
        loop {
            if (self.memory.attention || self.timing.now >= self.deadline)
                && let Err(stop) = self.look_around()
            {
                return stop;
            }
            if let Err(exit) = self.step::<PROFILE>()
                && let Err(stop) = self.leave(exit)
            {
                return stop;
            }
        }
    }

    #[inline(always)]
    fn step<const PROFILE: bool>(&mut self) -> Result<(), Exit> {
        let pc = self.next;
        if pc & !(PAGE - 1) != self.page_base {
            self.turn_page(pc)?;
        }
        let insn = self.code[self.page + ((pc >> 1) as usize & (PER_PAGE - 1))];
        let size = u32::from(insn.size);
        self.r[15] = pc.wrapping_add(4);
        self.next = pc.wrapping_add(size);
        self.history[self.instructions as usize & (HISTORY - 1)] = pc;
        self.memory.at(self.timing.now);
        if self.fetched_region != 0 && pc >> 5 != self.fetched_line {
            self.fetch_line(pc);
        }
        if insn.marked && insn.op != Op::Pending {
            self.measure.enter(pc, self.r[13], self.r[14], &self.timing, self.instructions);
        }
        let spent = if PROFILE { self.timing.spent } else { [0; _] };
        if self.it == 0 {
            self.execute(&insn)?;
        } else {
            self.execute_conditionally(insn)?;
        }
        self.timing.issue(pc, size, &insn.cost, &self.memory.access);
        if insn.op == Op::Ldm {
            self.loaded_many(insn.imm);
        }
        if self.memory.access.stored | self.memory.access.wait | self.memory.access.posted != 0
            || self.memory.access.unaligned
        {
            self.memory.access = Access::default();
        }
        self.instructions += 1;
        if self.went.branched {
            self.branched();
        }
        if PROFILE {
            self.measure.profile(pc, &spent, &self.timing, &self.calls);
        }
        Ok(())
    }

    /// Which register of a load multiple comes when.
    fn loaded_many(&mut self, list: u32) {
        for (index, register) in (0..15u8).filter(|r| list >> r & 1 != 0).enumerate() {
            self.timing.loaded(register, index as u32);
        }
    }

    #[inline(always)]
    fn branched(&mut self) {
        let went = std::mem::take(&mut self.went);
        self.timing.branched(self.next, went.taken, went.hit, went.on_flags);
        if self.returned {
            self.returned = false;
            self.calls.returned(self.next, self.r[13]);
            self.measure.leave(self.next, self.r[13], &self.timing, self.instructions);
        }
    }

    /// In an IT block (A7.3.2): where the condition does not hold, the instruction only passes.
    #[inline(never)]
    fn execute_conditionally(&mut self, mut insn: Insn) -> Result<(), Exit> {
        if insn.op == Op::Pending {
            return Err(Exit::Pending);
        }
        let (condition, old) = (self.it >> 4, self.it);
        self.it = if old & 7 == 0 { 0 } else { old & 0xE0 | old << 1 & 0x1F };
        if insn.quiet_in_it {
            insn.s = false;
        }
        // BKPT always executes.
        if !condition_holds(condition, self) && insn.op != Op::Bkpt {
            return Ok(());
        }
        self.execute(&insn).inspect_err(|_| self.it = old)
    }

    /// After an instruction that did not end as usual.
    fn leave(&mut self, exit: Exit) -> Result<(), Stop> {
        let here = self.here();
        let unfinished = std::mem::take(&mut self.memory.access);
        match exit {
            Exit::Pending => {
                self.decode_at(here);
                self.next = here;
                return Ok(());
            }
            Exit::Fault(fault) => {
                self.next = here;
                return self.take_fault(fault);
            }
            Exit::Stop(stop) => return Err(stop),
            Exit::Unknown => return Err(Stop::UnknownInstruction(self.opcode(here))),
            Exit::Arithmetic(bits) => return Err(Stop::UnknownArithmetic(bits)),
            _ => {}
        }
        let insn = self.code[self.page + ((here >> 1) as usize & (PER_PAGE - 1))];
        self.timing.issue(here, u32::from(insn.size), &insn.cost, &unfinished);
        self.instructions += 1;
        self.it = if self.it & 7 == 0 { 0 } else { self.it & 0xE0 | self.it << 1 & 0x1F };
        match exit {
            Exit::Breakpoint(0xAB) => self.semihosting(),
            Exit::Breakpoint(number) => Err(self.ended(Stop::Breakpoint(number))),
            Exit::SupervisorCall => self.supervisor_call(),
            Exit::Wait => self.sleep(),
            Exit::ExceptionReturn(code) => self.return_from_exception(code),
            _ => Ok(()),
        }
    }

    /// Between instructions, where something may have changed.
    #[cold]
    fn look_around(&mut self) -> Result<(), Stop> {
        self.memory.attention = false;
        self.forget_stale();
        if self.timing.now >= self.max_cycles {
            return Err(self.ended(Stop::MaxCycles));
        }
        if let Some(stop) = self.console.stop.take() {
            return Err(self.ended(stop));
        }
        if self.system.systick.tick(self.timing.now) {
            self.system.nvic.pend(crate::system::number::SYS_TICK);
        }
        self.devices.raise(&mut self.system.nvic);
        self.take_exceptions()?;
        self.deadline = self.system.systick.due().unwrap_or(u64::MAX).min(self.max_cycles);
        let newest = self.history[self.instructions.wrapping_sub(1) as usize & (HISTORY - 1)];
        if self.next == newest && self.loops_for_ever() {
            return Err(self.ended(Stop::Loops));
        }
        Ok(())
    }

    /// Whether a branch to itself, just executed, can never end.
    fn loops_for_ever(&self) -> bool {
        let branch = self.opcode(self.next);
        let to_itself = branch == 0xE7FE || branch == 0xF7FF_BFFE;
        to_itself && self.system.systick.due().is_none() && !self.system.nvic.any_enabled()
    }

    /// A guest that ends in a handler of faults ended by that fault.
    pub(crate) fn ended(&self, stop: Stop) -> Stop {
        match &self.faulted {
            Some(snapshot) if (3..=6).contains(&self.exception) => Stop::Fault(snapshot.fault),
            _ => stop,
        }
    }

    /// The MPU, the privilege or the caches changed.
    pub(crate) fn memory_changed(&mut self) {
        self.memory.forget_windows();
        self.page_base = u32::MAX;
    }
}
