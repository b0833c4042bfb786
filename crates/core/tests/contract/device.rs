//! A bus with one device: a channel that runs chains of descriptors, like the DCP.
//!
//! The CPU's cache is modelled according to the contract. The device sees only what was cleaned and then
//! ordered by a barrier. The CPU sees what the device wrote once it has invalidated its copy. A descriptor is
//! a [`Descriptor`]: 20 bytes, little-endian.

use crate::fake::World;
use cpb_core::{Bus, DmaAddress, Error, Interrupt};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// The first descriptor of the chain.
pub(crate) const CHAIN: u32 = 0x4000_0000;
/// The doorbell: the number of descriptors of the chain to run.
pub(crate) const GO: u32 = CHAIN + 4;
/// The number of descriptors that have been run. Writing a number subtracts it.
pub(crate) const DONE: u32 = CHAIN + 8;
/// The error that stopped the channel; 0 if none.
pub(crate) const STATUS: u32 = CHAIN + 12;
/// 1 if the interrupt is raised; writing 1 clears it.
pub(crate) const CAUSE: u32 = CHAIN + 16;
/// The device's interrupt.
pub(crate) const LINE: Interrupt = Interrupt(50);
/// The value of [`STATUS`] if the channel cannot read.
pub(crate) const CANNOT_READ: u32 = 0x0001_0002;

/// A job as the device sees it, in the order of its words.
#[derive(Clone, Copy, Default)]
pub(crate) struct Descriptor {
    pub(crate) next: u32,
    /// Whether the interrupt is raised when this descriptor is done.
    pub(crate) interrupts: bool,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) length: u32,
}

impl Descriptor {
    pub(crate) fn bytes(&self) -> [u8; 20] {
        let flags = u32::from(self.interrupts);
        let words = [self.next, flags, self.source, self.destination, self.length];
        core::array::from_fn(|place| words[place / 4].to_le_bytes()[place % 4])
    }

    fn of(bytes: &[u8]) -> Self {
        let word =
            |place: usize| u32::from_le_bytes(core::array::from_fn(|byte| bytes[4 * place + byte]));
        Descriptor {
            next: word(0),
            interrupts: word(1) == 1,
            source: word(2),
            destination: word(3),
            length: word(4),
        }
    }
}

/// The bus and the device.
pub(crate) struct Board<'w> {
    world: &'w World,
    /// The engine's time for a descriptor, in ticks.
    service: u64,
    /// The descriptor at which it stops, counted from 0, and the status with which it stops.
    stops: Option<(u32, u32)>,
    /// What DMA masters see.
    memory: HashMap<u32, u8>,
    /// What the CPU has cleaned since the last barrier.
    cleaned: Vec<(u32, Vec<u8>)>,
    /// The next descriptor to run, and the end times of the descriptors that were started.
    chain: u32,
    running: VecDeque<u64>,
    run: u32,
    done: u32,
    status: u32,
    raised: bool,
    /// How often the interrupt was raised.
    pub(crate) interrupts: u32,
}

impl<'w> Board<'w> {
    pub(crate) fn new(world: &'w World, service: u64, stops: Option<(u32, u32)>) -> Self {
        Board {
            world,
            service,
            stops,
            memory: HashMap::new(),
            cleaned: Vec::new(),
            chain: 0,
            running: VecDeque::new(),
            run: 0,
            done: 0,
            status: 0,
            raised: false,
            interrupts: 0,
        }
    }

    /// Applies everything that the device has done by now.
    fn advance(&mut self) {
        while self.running.front().is_some_and(|end| *end <= self.world.time()) {
            self.running.pop_front();
            let planted = self.stops.filter(|(order, _)| *order == self.run);
            self.run += 1;
            let ran = match planted {
                Some((_, status)) => Err(status),
                None => self.run_one().ok_or(CANNOT_READ),
            };
            match ran {
                Ok(descriptor) => {
                    self.done += 1;
                    self.chain = descriptor.next;
                    self.raise(descriptor.interrupts);
                }
                Err(status) => {
                    self.status = status;
                    self.running.clear();
                    self.raise(true);
                }
            }
        }
    }

    fn run_one(&mut self) -> Option<Descriptor> {
        let descriptor = Descriptor::of(&self.dma_read(self.chain, 20)?);
        let message = self.dma_read(descriptor.source, descriptor.length)?;
        let addresses = descriptor.destination..;
        self.memory.extend(addresses.zip(message.iter().map(|byte| !byte)));
        Some(descriptor)
    }

    fn dma_read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        (0..length).map(|offset| self.memory.get(&address.wrapping_add(offset)).copied()).collect()
    }

    fn raise(&mut self, raise: bool) {
        self.interrupts += u32::from(raise && !self.raised);
        self.raised |= raise;
    }
}

impl Bus for Board<'_> {
    fn read(&mut self, address: u32) -> u32 {
        self.world.spend(1);
        self.advance();
        match address {
            DONE => self.done,
            STATUS => self.status,
            CAUSE => self.raised.into(),
            _ => panic!("nothing to be read at {address:#x}"),
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        self.world.spend(1);
        self.advance();
        match address {
            CHAIN => self.chain = value,
            GO => {
                assert!(self.running.is_empty(), "a chain is not started over a running one");
                let now = self.world.time();
                self.running.extend((1..=u64::from(value)).map(|job| now + job * self.service));
            }
            DONE => self.done -= value,
            CAUSE => self.raised &= value & 1 == 0,
            _ => panic!("nothing to be written at {address:#x}"),
        }
    }

    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress> {
        Some(DmaAddress(buffer.as_ptr() as usize as u32))
    }

    fn clean(&mut self, buffer: &[u8]) {
        let address = self.dma_address(buffer);
        self.cleaned.extend(address.map(|DmaAddress(address)| (address, buffer.to_vec())));
    }

    fn invalidate(&mut self, buffer: &mut [u8]) {
        let address = self.dma_address(buffer).map(|DmaAddress(address)| address);
        let length = buffer.len() as u32;
        if let Some(bytes) = address.and_then(|address| self.dma_read(address, length)) {
            buffer.copy_from_slice(&bytes);
        }
    }

    fn barrier(&mut self) {
        for (address, bytes) in self.cleaned.drain(..) {
            self.memory.extend((address..).zip(bytes));
        }
    }

    fn wait_for_interrupt(&mut self, line: Interrupt, limit: Duration) -> Result<(), Error> {
        assert_eq!(line, LINE);
        let end = self.world.time() + limit.as_nanos() as u64;
        loop {
            self.advance();
            if self.raised {
                return Ok(());
            }
            match self.running.front() {
                Some(next) if *next <= end => self.world.wait_until(*next),
                _ => break,
            }
        }
        self.world.wait_until(end);
        Err(Error::Timeout)
    }
}
