//! The machine: the core's registers, the memories, the devices, and the main loop.

use crate::calls::Calls;
use crate::chip::Chip;
use crate::console::Console;
use crate::device::Devices;
use crate::diagnosis::Snapshot;
use crate::exec::condition_holds;
use crate::fault::{Exit, Stop};
use crate::insn::{Insn, Op, watch};
use crate::measure::Measure;
use crate::memory::Memory;
use crate::memory::cache_ports::more_for_many;
use crate::pages::{Code, Pages};
use crate::system::System;
use crate::timing::{Cause, Scoreboard};
use cpb_engines::Engine;
use cpb_otfad::Kek;

/// The number of newest instructions whose addresses are kept.
pub(crate) const HISTORY: usize = 16;

/// The outcome of a branch, for the scoreboard.
#[derive(Clone, Copy, Default)]
pub(crate) struct Went {
    pub(crate) branched: bool,
    pub(crate) taken: bool,
    pub(crate) hit: bool,
    pub(crate) on_flags: bool,
}

/// A chip running a program.
pub struct Machine {
    /// R0 to R15. Register 16 is never read, and 17 is always zero. The array has room for every 8-bit index.
    pub(crate) r: [u32; 256],
    /// N is bit 31 of this word.
    pub(crate) n: u32,
    /// Z is set if this is zero.
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
    /// The address of the next instruction.
    pub(crate) next: u32,
    pub(crate) went: Went,
    /// Whether a branch was taken that may have left a function.
    pub(crate) returned: bool,
    /// IPSR: the exception being handled, or 0.
    pub(crate) exception: u16,
    pub(crate) primask: bool,
    pub(crate) faultmask: bool,
    pub(crate) basepri: u8,
    pub(crate) control: u32,
    /// The stack pointer that is not in R13.
    pub(crate) other_stack: u32,
    /// The exclusive monitor.
    pub(crate) reserved: Option<u32>,
    pub(crate) memory: Memory,
    pub(crate) system: System,
    pub(crate) devices: Devices,
    pub(crate) timing: Scoreboard,
    pub(crate) chip: Chip,
    /// The fused key of key blobs.
    pub(crate) kek: Option<Kek>,
    pub(crate) console: Console,
    pub(crate) calls: Calls,
    pub(crate) measure: Measure,
    pub(crate) history: [u32; HISTORY],
    /// The number of instructions executed.
    pub(crate) instructions: u64,
    pub(crate) max_cycles: u64,
    /// The state at the first fault that was passed to a handler.
    pub(crate) faulted: Option<Box<Snapshot>>,
    /// Decoded instructions. Empty while they are running.
    code: Code,
    pub(crate) pages: Pages,
}

impl Machine {
    /// A chip after reset, with its memories zeroed.
    pub fn new(chip: Chip) -> Self {
        let timing = Scoreboard::new(chip.timing());
        let (mut memory, devices) = (Memory::new(&chip), Devices::new(&chip));
        if devices.has_engines() {
            memory.expect_engines();
        }
        Machine {
            r: [0; 256],
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
            memory,
            system: System::new(),
            devices,
            timing,
            chip,
            kek: None,
            console: Console::default(),
            calls: Calls::default(),
            measure: Measure::default(),
            history: [u32::MAX; HISTORY],
            instructions: 0,
            max_cycles: u64::MAX,
            faulted: None,
            code: Code::default(),
            pages: Pages::default(),
        }
    }

    /// Cycles since reset.
    pub fn cycles(&self) -> u64 {
        self.timing.now()
    }

    /// Instructions since reset.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Counts since reset: registers loaded from memories, registers stored to them, and reads and writes
    /// over the bus that bypassed the caches.
    pub fn accesses(&self) -> [u64; 4] {
        let [bus_reads, bus_writes] = self.memory.on_bus;
        [self.memory.reads, self.memory.writes, bus_reads, bus_writes]
    }

    /// Returns a core register, 0 to 15.
    pub fn register(&self, number: usize) -> u32 {
        if number == 15 { self.next } else { self.r[number & 15] }
    }

    /// Sets a core register, 0 to 15.
    pub fn set_register(&mut self, number: usize, value: u32) {
        if number == 15 {
            self.next = value & !1;
        } else {
            self.r[number & 15] = value;
        }
    }

    /// Connects an engine's registers at `base`, and its interrupt lines to these interrupt numbers. It answers
    /// instead of a device that the chip's file has at these addresses.
    pub fn attach(&mut self, base: u32, size: u32, interrupts: &[u16], engine: Box<dyn Engine>) {
        self.devices.attach(base, size, interrupts, engine);
        self.memory.expect_engines();
    }

    /// Limits the cycles of a run.
    pub fn set_max_cycles(&mut self, cycles: u64) {
        self.max_cycles = cycles;
    }

    /// Sets where the guest's output goes and its input comes from.
    pub fn set_console(&mut self, console: Console) {
        self.console = console;
    }

    /// The additional measurements, mutable.
    pub fn measure_mut(&mut self) -> &mut Measure {
        &mut self.measure
    }

    /// The additional measurements.
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

    /// The bytes of memory from `address` on, regardless of protection.
    pub fn memory_at(&self, address: u32) -> &[u8] {
        self.memory.bytes(address)
    }

    /// Runs until something ends it.
    pub fn run(&mut self) -> Stop {
        self.memory.look();
        // Taken out of the machine, so that an instruction is executed without being copied.
        let mut code = std::mem::take(&mut self.code);
        let stop = if self.measure.profiles() || self.memory.checker.is_some() {
            self.go::<true>(&mut code)
        } else {
            self.go::<false>(&mut code)
        };
        self.code = code;
        self.console.flush();
        stop
    }

    fn go<const WATCH: bool>(&mut self, code: &mut Code) -> Stop {
        loop {
            if self.timing.now() >= self.memory.undisturbed
                && let Err(stop) = self.look_around(code)
            {
                return stop;
            }
            if let Err(exit) = self.step::<WATCH>(code)
                && let Err(stop) = self.leave(exit, code)
            {
                return stop;
            }
        }
    }

    #[inline(always)]
    fn step<const WATCH: bool>(&mut self, code: &mut Code) -> Result<(), Exit> {
        let pc = self.next;
        if !self.pages.are_near(pc) {
            self.go_far(pc, code)?;
        }
        let insn = code.at(self.pages.place(pc));
        let size = u32::from(insn.size);
        self.r[15] = pc.wrapping_add(4);
        self.next = pc.wrapping_add(size);
        self.history[self.instructions as usize & (HISTORY - 1)] = pc;
        let spent = if WATCH {
            self.memory.note_instruction(pc);
            self.timing.spent()
        } else {
            [0; _]
        };
        if self.it | insn.watched == 0 {
            self.execute(insn)?;
        } else {
            self.execute_watched(insn)?;
        }
        self.timing.issue(pc, size, &insn.cost, self.memory.access.address);
        if insn.cost.rest == 0 {
            self.account_memory();
        } else {
            self.account_rest(insn);
        }
        self.instructions += 1;
        if WATCH {
            self.measure.profile(pc, &spent, &self.timing, &self.calls);
        }
        Ok(())
    }

    #[inline(always)]
    fn account_memory(&mut self) {
        if self.memory.access.more {
            self.timing.memory(&std::mem::take(&mut self.memory.access));
        }
    }

    /// The effects that only few instructions have.
    #[inline(always)]
    fn account_rest(&mut self, insn: &Insn) {
        self.timing.finish(&insn.cost);
        let more = match insn.op {
            Op::Ldm => more_for_many(&self.memory.access, insn.imm.count_ones()),
            _ => 0,
        };
        self.account_memory();
        if insn.op == Op::Ldm {
            self.timing.stall(u64::from(more), Cause::Cache as usize);
            self.loaded_many(insn.imm);
        }
        if self.went.branched {
            self.branched();
        }
    }

    /// Sets the times at which the registers of a load multiple arrive.
    fn loaded_many(&mut self, list: u32) {
        for (index, register) in (0..15u8).filter(|r| list >> r & 1 != 0).enumerate() {
            self.timing.loaded(register, index as u32);
        }
    }

    #[inline(always)]
    fn branched(&mut self) {
        let went = std::mem::take(&mut self.went);
        self.timing.branched(went.taken, went.hit, went.on_flags);
        if self.returned {
            self.returned = false;
            self.calls.returned(self.next, self.r[13]);
            self.measure.leave(self.next, self.r[13], &self.timing, self.instructions + 1);
        }
    }

    /// Executes an instruction with additional actions or in an IT block.
    #[inline(never)]
    fn execute_watched(&mut self, insn: &Insn) -> Result<(), Exit> {
        if insn.watched & watch::TIMED != 0 {
            let (pc, r) = (self.here(), &self.r);
            self.measure.enter(pc, r[13], r[14], &self.timing, self.instructions);
        }
        let done = if self.it == 0 {
            self.execute_plainly(insn)
        } else {
            self.execute_conditionally(*insn)
        };
        if insn.watched & watch::STACK != 0 {
            self.r[13] &= !3;
        }
        done
    }

    /// A second copy of the interpreter, for the less frequent callers.
    #[inline(never)]
    fn execute_plainly(&mut self, insn: &Insn) -> Result<(), Exit> {
        self.execute(insn)
    }

    /// Executes an instruction in an IT block (A7.3.2). If the condition does not hold, it has no effect.
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
        self.execute_plainly(&insn).inspect_err(|_| self.it = old)
    }

    /// Handles an instruction that did not complete normally.
    fn leave(&mut self, exit: Exit, code: &mut Code) -> Result<(), Stop> {
        let here = self.here();
        let unfinished = std::mem::take(&mut self.memory.access);
        match exit {
            Exit::Pending => {
                self.decode_at(here, code);
                self.next = here;
                return Ok(());
            }
            Exit::Fault(fault) => {
                self.next = here;
                return self.take_fault(fault);
            }
            Exit::Reset => return Err(Stop::Exit(0)),
            Exit::Unknown => return Err(Stop::UnknownInstruction(self.opcode(here))),
            Exit::Unmodelled(address) => return Err(Stop::Unmodelled(address)),
            Exit::Arithmetic(bits) => return Err(Stop::UnknownArithmetic(bits)),
            _ => {}
        }
        let insn = code.at(self.pages.place(here));
        self.timing.issue(here, u32::from(insn.size), &insn.cost, unfinished.address);
        self.timing.finish(&insn.cost);
        if unfinished.more {
            self.timing.memory(&unfinished);
        }
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

    /// Checks for changes between instructions.
    #[cold]
    fn look_around(&mut self, code: &mut Code) -> Result<(), Stop> {
        self.memory.undisturbed = u64::MAX;
        if self.timing.now() >= self.max_cycles {
            return Err(self.ended(Stop::MaxCycles));
        }
        if let Some(stop) = self.console.stop.take() {
            return Err(self.ended(stop));
        }
        self.catch_up();
        self.check_code(code);
        self.forget_stale(code);
        self.take_exceptions()?;
        self.timing.set_back();
        let due = self.next_event().unwrap_or(u64::MAX);
        let due = due.min(self.max_cycles).min(self.timing.due());
        // An earlier time may have been requested in the meantime.
        self.memory.undisturbed = due.min(self.memory.undisturbed);
        let newest = self.history[self.instructions.wrapping_sub(1) as usize & (HISTORY - 1)];
        if self.next == newest && self.loops_for_ever() {
            return Err(self.ended(Stop::Loops));
        }
        Ok(())
    }

    /// Performs what the timer and the engines have to do by the current cycle, and raises their interrupts.
    pub(crate) fn catch_up(&mut self) {
        let now = self.timing.now();
        if self.system.systick.tick(now) {
            self.system.nvic.pend(crate::system::number::SYS_TICK);
        }
        self.devices.advance(now, &mut self.memory);
        self.devices.raise(&mut self.system.nvic);
    }

    /// The cycle of the next change that the core does not cause; `None` if nothing is due.
    pub(crate) fn next_event(&self) -> Option<u64> {
        let timer = self.system.systick.due();
        timer.into_iter().chain(self.devices.next_event()).min()
    }

    /// Whether a branch to itself that was just executed can never end.
    fn loops_for_ever(&self) -> bool {
        let branch = self.opcode(self.next);
        let to_itself = branch == 0xE7FE || branch == 0xF7FF_BFFE;
        to_itself && self.next_event().is_none()
    }

    /// If a guest ends in a fault handler, the reason is that fault.
    pub(crate) fn ended(&self, stop: Stop) -> Stop {
        match &self.faulted {
            Some(snapshot) if (3..=6).contains(&self.exception) => Stop::Fault(snapshot.fault),
            _ => stop,
        }
    }

    /// Called when the MPU, the privilege or the caches have changed.
    pub(crate) fn memory_changed(&mut self) {
        self.memory.forget_windows();
        self.pages.forget();
    }
}
