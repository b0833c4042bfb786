//! A bus with one engine, whose memory is the test's own.
//!
//! The engine sees only what the driver cleaned, and the driver sees what the engine wrote once it has invalidated
//! its copy, so a forgotten step of cache maintenance gives a wrong answer here, too.

use cpb_core::{Bus, Clock, DmaAddress, Error, Interrupt, Ticks};
use cpb_engines::{BusError, Engine, Memory};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// Ticks of a register access.
const ACCESS: u64 = 10;

/// The time, shared by bus and clock. A tick is a nanosecond.
#[derive(Clone, Default)]
pub(crate) struct Time(Rc<Cell<u64>>);

impl Time {
    fn now(&self) -> u64 {
        self.0.get()
    }

    fn spend(&self, ticks: u64) {
        self.0.set(self.0.get().saturating_add(ticks));
    }
}

impl Clock for Time {
    fn now(&self) -> Ticks {
        self.spend(1);
        Ticks(self.0.get())
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}

/// What bus masters see.
#[derive(Default)]
pub(crate) struct Dram {
    bytes: HashMap<u32, u8>,
    /// Pages of buffers that a driver asked the address of: only there is memory.
    known: RefCell<HashSet<u32>>,
    /// Addresses at which nothing answers although there is memory.
    pub(crate) broken: Option<Range<u64>>,
}

impl Dram {
    fn answers(&self, address: u64) -> Result<u32, BusError> {
        let broken = self.broken.as_ref().is_some_and(|range| range.contains(&address));
        let known =
            u32::try_from(address).map(|address| self.known.borrow().contains(&(address >> 12)));
        if known == Ok(true) && !broken { Ok(address as u32) } else { Err(BusError { address }) }
    }
}

impl Memory for Dram {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        for (place, byte) in (address..).zip(bytes) {
            *byte = self.bytes.get(&self.answers(place)?).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        for (place, byte) in (address..).zip(bytes) {
            let place = self.answers(place)?;
            self.bytes.insert(place, *byte);
        }
        Ok(())
    }
}

/// The bus and its engine.
pub(crate) struct Board<E> {
    pub(crate) engine: E,
    pub(crate) memory: Dram,
    pub(crate) time: Time,
    base: u32,
    cleaned: Vec<(u32, Vec<u8>)>,
    /// How often the driver waited for an interrupt that came.
    pub(crate) waited: u32,
}

impl<E: Engine> Board<E> {
    pub(crate) fn new(engine: E, base: u32) -> Self {
        let (memory, time) = (Dram::default(), Time::default());
        Board { engine, memory, time, base, cleaned: Vec::new(), waited: 0 }
    }

    fn advance(&mut self) {
        self.time.spend(ACCESS);
        self.engine.advance(self.time.now(), &mut self.memory);
    }
}

impl<E: Engine> Bus for Board<E> {
    fn read(&mut self, address: u32) -> u32 {
        self.advance();
        self.engine.read(address - self.base)
    }

    fn write(&mut self, address: u32, value: u32) {
        self.advance();
        self.engine.write(address - self.base, value, self.time.now());
    }

    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress> {
        let address = buffer.as_ptr() as usize as u32;
        let last = address.wrapping_add(buffer.len().max(1) as u32 - 1);
        self.memory.known.borrow_mut().extend(address >> 12..=last >> 12);
        Some(DmaAddress(address))
    }

    fn clean(&mut self, buffer: &[u8]) {
        self.cleaned.push((buffer.as_ptr() as usize as u32, buffer.to_vec()));
    }

    fn invalidate(&mut self, buffer: &mut [u8]) {
        for (place, byte) in (buffer.as_ptr() as usize as u32..).zip(buffer) {
            *byte = self.memory.bytes.get(&place).copied().unwrap_or(*byte);
        }
    }

    fn barrier(&mut self) {
        for (address, bytes) in self.cleaned.drain(..) {
            self.memory.bytes.extend((address..).zip(bytes));
        }
    }

    fn wait_for_interrupt(&mut self, _line: Interrupt, limit: Duration) -> Result<(), Error> {
        let end = self.time.now() + limit.as_nanos() as u64;
        while self.engine.interrupts() == 0 {
            let Some(event) = self.engine.next_event().filter(|event| *event <= end) else {
                return Err(Error::Timeout);
            };
            self.time.spend(event.saturating_sub(self.time.now()));
            self.engine.advance(event, &mut self.memory);
        }
        self.waited += 1;
        Ok(())
    }
}
