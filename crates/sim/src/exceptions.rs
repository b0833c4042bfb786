//! Entering and leaving exceptions (B1.5).

use crate::diagnosis::Snapshot;
use crate::exec::Done;
use crate::fault::{Exit, Fault, Stop};
use crate::machine::Machine;
use crate::system::{cfsr, number};
use crate::timing::Cause;

/// xPSR: the stack was aligned to a multiple of eight.
const MOVED: u32 = 1 << 9;
/// CONTROL: the process stack; floating-point registers are in use.
const PROCESS_STACK: u32 = 2;
const FLOAT_ACTIVE: u32 = 4;

impl Machine {
    pub(crate) fn is_privileged(&self) -> bool {
        self.exception != 0 || self.control & 1 == 0
    }

    fn on_process_stack(&self) -> bool {
        self.exception == 0 && self.control & PROCESS_STACK != 0
    }

    pub(crate) fn stack_pointer(&self, process: bool) -> u32 {
        if process == self.on_process_stack() { self.r[13] } else { self.other_stack }
    }

    pub(crate) fn set_stack_pointer(&mut self, process: bool, value: u32) {
        if process == self.on_process_stack() {
            self.r[13] = value & !3;
        } else {
            self.other_stack = value & !3;
        }
    }

    pub(crate) fn set_control(&mut self, value: u32) {
        let was = self.on_process_stack();
        let kept = if self.exception == 0 { value & PROCESS_STACK } else { self.control & 2 };
        self.control = value & 5 | kept;
        if self.on_process_stack() != was {
            std::mem::swap(&mut self.r[13], &mut self.other_stack);
        }
        self.memory_changed();
    }

    /// The priority of the current execution; lower values are more urgent (B1.5.4).
    fn current_priority(&self) -> i32 {
        let active = self.system.nvic.active_priority();
        let masked =
            if self.basepri == 0 { 256 } else { self.system.nvic.group(i32::from(self.basepri)) };
        let boosted = match (self.faultmask, self.primask) {
            (true, _) => -1,
            (_, true) => 0,
            _ => 256,
        };
        active.min(masked).min(boosted)
    }

    /// Takes the most urgent pending exception if it may interrupt.
    pub(crate) fn take_exceptions(&mut self) -> Result<(), Stop> {
        let Some(next) = self.system.nvic.next(self.current_priority()) else { return Ok(()) };
        // An interrupted IT block is resumed where it was.
        self.enter(next, self.next)
    }

    pub(crate) fn supervisor_call(&mut self) -> Result<(), Stop> {
        if self.system.nvic.priority_of(number::SUPERVISOR_CALL) >= self.current_priority() {
            return self.escalate(Fault::Undefined, self.next);
        }
        self.enter(number::SUPERVISOR_CALL, self.next)
    }

    /// WFI: advances time until something wakes the core.
    pub(crate) fn sleep(&mut self) -> Result<(), Stop> {
        self.memory.look();
        self.catch_up();
        while self.system.nvic.next(256).is_none() {
            let now = self.timing.now();
            if now >= self.max_cycles {
                return Ok(());
            }
            let Some(due) = self.next_event() else { return Err(self.ended(Stop::Sleeps)) };
            // An engine with an event that is overdue must not stop the time.
            let wake = due.max(now + 1).min(self.max_cycles);
            self.timing.stall(wake - now, Cause::Exception as usize);
            self.catch_up();
        }
        Ok(())
    }

    /// Takes a fault of the instruction in `next`.
    pub(crate) fn take_fault(&mut self, fault: Fault) -> Result<(), Stop> {
        let (handler, bits, address) = match fault {
            Fault::Bus(a) => (number::BUS, cfsr::PRECISERR | cfsr::BFARVALID, Some(a)),
            Fault::Protection(a) => (number::MEMORY, cfsr::DACCVIOL | cfsr::MMARVALID, Some(a)),
            Fault::Execute(_) => (number::MEMORY, cfsr::IACCVIOL, None),
            Fault::Unaligned(_) => (number::USAGE, cfsr::UNALIGNED, None),
            Fault::Undefined => (number::USAGE, cfsr::UNDEFINSTR, None),
            Fault::State(_) => (number::USAGE, cfsr::INVSTATE, None),
            Fault::NoCoprocessor => (number::USAGE, cfsr::NOCP, None),
            Fault::DivisionByZero => (number::USAGE, cfsr::DIVBYZERO, None),
        };
        self.system.cfsr |= bits;
        if let Some(address) = address {
            self.system.fault_address = address;
        }
        if self.faulted.is_none() {
            self.faulted = Some(Box::new(Snapshot::take(self, fault)));
        }
        let enabled = self.system.handlers >> (16 + handler - number::MEMORY) & 1 != 0;
        if enabled && self.system.nvic.priority_of(handler) < self.current_priority() {
            return self.enter(handler, self.next);
        }
        self.escalate(fault, self.next)
    }

    fn escalate(&mut self, fault: Fault, back: u32) -> Result<(), Stop> {
        if self.current_priority() <= -1 {
            return Err(Stop::Lockup(fault));
        }
        self.system.hfsr |= 1 << 30;
        self.enter(number::HARD_FAULT, back)
    }

    fn enter(&mut self, exception: u16, back: u32) -> Result<(), Stop> {
        let fault = self.faulted.as_ref().map_or(Fault::Undefined, |s| s.fault);
        let vector = self.memory.word(self.system.vtor.wrapping_add(u32::from(exception) * 4));
        let handler = vector.filter(|v| v & 1 == 1 && !self.memory.bytes(*v).is_empty());
        let Some(handler) = handler else {
            return Err(if (3..=6).contains(&exception) {
                Stop::Fault(fault)
            } else {
                Stop::Fault(Fault::State(vector.unwrap_or(0)))
            });
        };
        if self.push_frame(back).is_err() {
            return Err(Stop::Lockup(fault));
        }
        let process = self.on_process_stack();
        let float = self.control & FLOAT_ACTIVE != 0;
        let code = match (self.exception != 0, process) {
            (true, _) => 0xFFFF_FFF1,
            (false, false) => 0xFFFF_FFF9,
            (false, true) => 0xFFFF_FFFD,
        };
        self.calls.push(back, self.r[13], handler & !1);
        if process {
            std::mem::swap(&mut self.r[13], &mut self.other_stack);
        }
        self.exception = exception;
        self.control &= !(FLOAT_ACTIVE | PROCESS_STACK);
        self.r[14] = if float { code & !0x10 } else { code };
        self.it = 0;
        self.reserved = None;
        self.system.nvic.begin(exception);
        self.next = handler & !1;
        self.memory_changed();
        self.memory.look();
        self.timing.drain(self.chip.timing().exception);
        Ok(())
    }

    fn push_frame(&mut self, back: u32) -> Done {
        let float = self.control & FLOAT_ACTIVE != 0;
        let bytes = if float { 104 } else { 32 };
        let moved = self.r[13] & 4 != 0;
        let base = self.r[13].wrapping_sub(bytes) & !7;
        let status = self.flags()
            | u32::from(self.exception)
            | 1 << 24
            | u32::from(self.it & 3) << 25
            | u32::from(self.it >> 2) << 10
            | if moved { MOVED } else { 0 };
        let [r0, r1, r2, r3] = [self.r[0], self.r[1], self.r[2], self.r[3]];
        let words = [r0, r1, r2, r3, self.r[12], self.r[14], back, status];
        for (i, word) in (0u32..).zip(words) {
            self.write32(base.wrapping_add(4 * i), word)?;
        }
        if float {
            for i in 0..16 {
                self.write32(base.wrapping_add(32 + 4 * i), self.s[i as usize])?;
            }
            self.write32(base.wrapping_add(96), self.fpscr)?;
        }
        self.r[13] = base;
        self.memory.access = Default::default();
        Ok(())
    }

    pub(crate) fn return_from_exception(&mut self, code: u32) -> Result<(), Stop> {
        let leaving = self.exception;
        if !self.system.nvic.is_active(leaving) || code >> 5 != 0xFFFF_FFFF >> 5 {
            return self.take_fault(Fault::State(code));
        }
        if leaving != number::NMI {
            self.faultmask = false;
        }
        self.system.nvic.end(leaving);
        let process = code & 0xF == 0xD;
        self.exception = 0;
        self.control = self.control & !6 | if process { PROCESS_STACK } else { 0 };
        if process {
            std::mem::swap(&mut self.r[13], &mut self.other_stack);
        }
        match self.pop_frame(code) {
            Ok(()) => {}
            Err(Exit::Fault(fault)) => return Err(Stop::Lockup(fault)),
            Err(_) => return Err(Stop::Lockup(Fault::State(code))),
        }
        if (3..=6).contains(&leaving) {
            // The guest handled the fault.
            self.faulted = None;
        }
        self.calls.returned(self.next, self.r[13]);
        self.memory_changed();
        self.memory.look();
        self.timing.drain(self.chip.timing().exception);
        Ok(())
    }

    fn pop_frame(&mut self, code: u32) -> Done {
        let base = self.r[13];
        let float = code & 0x10 == 0;
        let mut words = [0; 8];
        for (i, word) in (0u32..).zip(&mut words) {
            *word = self.read32(base.wrapping_add(4 * i))?;
        }
        let [r0, r1, r2, r3, r12, lr, back, status] = words;
        if float {
            for i in 0..16 {
                self.s[i as usize] = self.read32(base.wrapping_add(32 + 4 * i))?;
            }
            self.fpscr = self.read32(base.wrapping_add(96))?;
            self.control |= FLOAT_ACTIVE;
        }
        [self.r[0], self.r[1], self.r[2], self.r[3]] = [r0, r1, r2, r3];
        (self.r[12], self.r[14], self.next) = (r12, lr, back & !1);
        let bytes = if float { 104 } else { 32 };
        self.r[13] = base.wrapping_add(bytes) | if status & MOVED != 0 { 4 } else { 0 };
        self.set_flags(status);
        self.q = status >> 27 & 1 != 0;
        self.ge = (status >> 16 & 0xF) as u8;
        self.it = (status >> 25 & 3 | (status >> 10 & 0x3F) << 2) as u8;
        self.exception = (status & 0x1FF) as u16;
        if self.exception != 0 {
            self.control &= !PROCESS_STACK;
        }
        self.memory.access = Default::default();
        Ok(())
    }
}
