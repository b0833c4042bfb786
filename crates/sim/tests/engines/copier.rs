//! A small engine for the tests: it copies bytes and adds one to each.

use cpb_engines::{Engine, Memory};
use std::cell::RefCell;
use std::rc::Rc;

pub(crate) const SOURCE: u32 = 0x00;
pub(crate) const TARGET: u32 = 0x04;
pub(crate) const COUNT: u32 = 0x08;
/// The cycles that a job takes.
pub(crate) const TICKS: u32 = 0x0C;
/// Any write starts a job.
pub(crate) const START: u32 = 0x10;
/// 1 after a job, 3 if it reached no memory, until it is written.
pub(crate) const STATUS: u32 = 0x14;

/// The times of a job: when it was started, and when it was performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) started: u64,
    pub(crate) performed: u64,
    pub(crate) delayed: u64,
}

/// The jobs so far, readable from outside.
pub(crate) type Jobs = Rc<RefCell<Vec<Job>>>;

#[derive(Default)]
pub(crate) struct Copier {
    registers: [u32; 6],
    done: Option<u64>,
    jobs: Jobs,
}

impl Copier {
    pub(crate) fn new(jobs: &Jobs) -> Self {
        Copier { jobs: Rc::clone(jobs), ..Copier::default() }
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn copy(&self, memory: &mut dyn Memory) -> Result<(), cpb_engines::BusError> {
        let mut bytes = vec![0; self.register(COUNT) as usize];
        memory.read(u64::from(self.register(SOURCE)), &mut bytes)?;
        bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        memory.write(u64::from(self.register(TARGET)), &bytes)
    }
}

impl Engine for Copier {
    fn name(&self) -> &'static str {
        "copier"
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.registers.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) {
        match offset {
            START => {
                self.done = Some(now + u64::from(self.register(TICKS)));
                self.jobs.borrow_mut().push(Job { started: now, ..Job::default() });
            }
            STATUS => self.registers[5] = 0,
            _ => self.registers[offset as usize / 4] = value,
        }
    }

    fn advance(&mut self, now: u64, memory: &mut dyn Memory) {
        if self.done.is_none_or(|done| now < done) {
            return;
        }
        self.done = None;
        self.registers[5] = if self.copy(memory).is_ok() { 1 } else { 3 };
        if let Some(job) = self.jobs.borrow_mut().last_mut() {
            job.performed = now;
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.done
    }

    fn interrupts(&self) -> u32 {
        self.register(STATUS) & 1
    }

    fn delay(&mut self, ticks: u64) {
        self.done = self.done.map(|done| done + ticks);
        if let Some(job) = self.jobs.borrow_mut().last_mut() {
            job.delayed += ticks;
        }
    }
}
