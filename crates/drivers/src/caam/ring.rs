//! A job ring: where the driver hands descriptors over, and where the engine reports their ends.
//!
//! Each job has a slot of its own with a descriptor and a payload. Jobs are entered in the input ring in order; the
//! engine reports them in the output ring in the order in which they end.

use super::descriptor::Format;
use super::job::{DESCRIPTOR, InPlace};
use super::registers::{self, jr, jrcfg, jrcr, jrint};
use super::{Completion, POLLS, address, error};
use crate::queue::PATIENCE;
use cpb_core::{Bus, Error, Interrupt, Meaning, Unsupported};

/// Bytes of a payload.
pub(super) const PAYLOAD: usize = 64;

/// A job's descriptor and payload, in cache lines of their own.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Slot {
    descriptor: [[u8; 4]; DESCRIPTOR],
    pub(super) payload: [u8; PAYLOAD],
}

/// Whole cache lines.
#[repr(C, align(32))]
pub(in crate::caam) struct Lines<T>(pub(in crate::caam) T);

/// The memory of a ring of `N` jobs. It must be where a bus master can reach it.
#[repr(C)]
pub struct RingMemory<const N: usize> {
    input: Lines<[[u8; 4]; N]>,
    output: Lines<[[u8; 8]; N]>,
    slots: [Slot; N],
    jobs: [u16; N],
}

impl<const N: usize> RingMemory<N> {
    /// Nothing but zeros.
    pub const EMPTY: RingMemory<N> = {
        assert!(N >= 1 && N <= registers::RING_ENTRIES as usize);
        RingMemory {
            input: Lines([[0; 4]; N]),
            output: Lines([[0; 8]; N]),
            slots: [Slot { descriptor: [[0; 4]; DESCRIPTOR], payload: [0; PAYLOAD] }; N],
            jobs: [0; N],
        }
    };
}

/// A ring's place among the engine's registers, and its interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The address of the ring's block.
    pub base: u32,
    /// The ring's interrupt line.
    pub line: Interrupt,
}

/// A job ring.
pub struct JobRing<'w> {
    place: Place,
    input: &'w mut [[u8; 4]],
    output: &'w mut [[u8; 8]],
    pub(super) slots: &'w mut [Slot],
    /// The job in each slot.
    jobs: &'w mut [u16],
    /// Where the next job is entered, and where the next end is reported.
    next: usize,
    oldest: usize,
    /// Jobs entered since the last doorbell, and jobs in flight.
    entered: usize,
    in_flight: usize,
    /// How many times as long as usual a job may take.
    pub(super) patience: u32,
    /// Jobs that ended without an error so far, and interrupts so far.
    pub(super) finished: u64,
    pub(super) interrupts: u64,
}

impl<'w> JobRing<'w> {
    /// A ring that has not been set up.
    pub(super) fn new<const N: usize>(place: Place, memory: &'w mut RingMemory<N>) -> Self {
        let RingMemory { input: Lines(input), output: Lines(output), slots, jobs } = memory;
        JobRing {
            place,
            input,
            output,
            slots,
            jobs,
            next: 0,
            oldest: 0,
            entered: 0,
            in_flight: 0,
            patience: 1,
            finished: 0,
            interrupts: 0,
        }
    }

    /// The number of jobs that it holds.
    pub fn length(&self) -> usize {
        self.slots.len()
    }

    /// Jobs that were handed over and not taken back.
    pub fn in_flight(&self) -> usize {
        self.in_flight + self.entered
    }

    fn read(&self, bus: &mut impl Bus, register: u32) -> u32 {
        bus.read(self.place.base + register)
    }

    fn write(&self, bus: &mut impl Bus, register: u32, value: u32) {
        bus.write(self.place.base + register, value);
    }

    /// Flushes the ring: jobs in work end, all others are given up. Then sets it up anew.
    ///
    /// # Errors
    /// As for [`set_up`].
    pub(super) fn reset(&mut self, bus: &mut impl Bus) -> Result<(), Error> {
        set_up(bus, self.place.base, self.input, self.output)?;
        (self.next, self.oldest, self.entered, self.in_flight) = (0, 0, 0, 0);
        Ok(())
    }

    /// Chooses how ends are noticed from now on.
    pub(super) fn notice(&self, bus: &mut impl Bus, how: Completion) {
        let configuration = match how {
            Completion::Polling => jrcfg::MASKED,
            Completion::Interrupt => 0,
            Completion::Coalesced { count, timer } => {
                let count = u32::from(count) << jrcfg::COUNT;
                jrcfg::COALESCE | count | u32::from(timer) << jrcfg::TIMER
            }
        };
        self.write(bus, jr::JRCFGR_LS, configuration);
        self.write(bus, jr::JRINTR, jrint::DONE);
    }

    /// Lets `write` make the descriptor of a slot.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if it has more words than any of this driver's.
    #[inline]
    pub(super) fn lay(
        &mut self,
        bus: &mut impl Bus,
        slot: usize,
        write: impl FnOnce(&mut [[u8; 4]]) -> InPlace<'_>,
    ) -> Result<(), Error> {
        let words = &mut self.slots[slot].descriptor;
        let length = write(words).finish_in_place().map_err(Unsupported::from)?;
        bus.clean(self.slots[slot].descriptor[..length].as_flattened());
        Ok(())
    }

    /// Enters the job of a slot in the input ring. The caller knows that there is room.
    #[inline]
    pub(super) fn enter(&mut self, bus: &mut impl Bus, slot: usize, job: u16) -> Result<(), Error> {
        let first = address(bus, self.slots[slot].descriptor.as_flattened())?;
        self.jobs[slot] = job;
        self.enter_at(bus, first);
        Ok(())
    }

    /// Enters the descriptor at a bus address in the input ring.
    pub(super) fn enter_at(&mut self, bus: &mut impl Bus, first: u32) {
        self.input[self.next] = Format::RT1170.bytes(first);
        bus.clean(&self.input[self.next]);
        self.next = if self.next + 1 == self.length() { 0 } else { self.next + 1 };
        self.entered += 1;
    }

    /// The doorbell: the engine takes what was entered.
    pub(super) fn start(&mut self, bus: &mut impl Bus) {
        if self.entered > 0 {
            bus.barrier();
            self.write(bus, jr::IRJAR, self.entered as u32);
            self.in_flight += core::mem::take(&mut self.entered);
        }
    }

    /// Waits until at least `least` jobs have ended, and returns how many have.
    ///
    /// # Errors
    /// [`Error::Timeout`], or the ring's own error. The ring has been reset then.
    pub(super) fn wait(
        &mut self,
        bus: &mut impl Bus,
        least: usize,
        how: Completion,
    ) -> Result<usize, Error> {
        for _ in 0..POLLS.saturating_mul(self.patience) {
            let ended = self.read(bus, jr::ORSFR) as usize;
            if ended >= least {
                return Ok(ended);
            }
            if how != Completion::Polling {
                if bus.wait_for_interrupt(self.place.line, PATIENCE * self.patience).is_err() {
                    break;
                }
                self.interrupts += 1;
                self.write(bus, jr::JRINTR, jrint::DONE);
            }
        }
        Err(self.give_up(bus, how))
    }

    /// Resets the ring, and says why.
    #[cold]
    fn give_up(&mut self, bus: &mut impl Bus, how: Completion) -> Error {
        let interrupt = self.read(bus, jr::JRINTR);
        if let Err(error) = self.reset(bus) {
            return error;
        }
        self.notice(bus, how);
        if interrupt & jrint::ERROR != 0 {
            return Error::Engine { code: interrupt, meaning: Meaning::Hardware };
        }
        Error::Timeout
    }

    /// Takes the oldest end that was reported: its slot if it is one of this ring's, and its status. The caller has
    /// waited for it, and tells the engine with [`JobRing::removed`].
    pub(super) fn take(&mut self, bus: &mut impl Bus) -> Result<(Option<usize>, u32), Error> {
        let entry = &mut self.output[self.oldest];
        bus.invalidate(entry);
        let [first, status] = [0, 4].map(|at| {
            let word = core::array::from_fn(|byte| entry[at + byte]);
            Format::RT1170.word(word)
        });
        self.oldest = if self.oldest + 1 == self.length() { 0 } else { self.oldest + 1 };
        self.in_flight = self.in_flight.saturating_sub(1);
        self.finished += u64::from(status == 0);
        let slots = address(bus, self.slots[0].descriptor.as_flattened())?;
        let slot = (first.wrapping_sub(slots) as usize) / size_of::<Slot>();
        Ok(((slot < self.length()).then_some(slot), status))
    }

    /// Tells the engine that ends were taken.
    pub(super) fn removed(&self, bus: &mut impl Bus, count: usize) {
        self.write(bus, jr::ORJRR, count as u32);
    }

    /// The job in a slot.
    pub(super) fn job(&self, slot: usize) -> u16 {
        self.jobs[slot]
    }

    /// Runs the job of a slot alone and waits for it.
    ///
    /// # Errors
    /// The error that the engine reports, or [`Error::Timeout`].
    pub(super) fn run(
        &mut self,
        bus: &mut impl Bus,
        slot: usize,
        how: Completion,
    ) -> Result<(), Error> {
        if self.in_flight() > 0 {
            return Err(Error::Contract);
        }
        self.enter(bus, slot, 0)?;
        self.finish_alone(bus, how)
    }

    /// Starts the one job that was entered and waits for it.
    pub(super) fn finish_alone(
        &mut self,
        bus: &mut impl Bus,
        how: Completion,
    ) -> Result<(), Error> {
        self.start(bus);
        self.wait(bus, 1, how)?;
        let (_, status) = self.take(bus)?;
        self.removed(bus, 1);
        if status == 0 { Ok(()) } else { Err(error(status)) }
    }
}

/// Flushes the ring whose block is at `base`, and tells the engine where its two halves are.
///
/// # Errors
/// [`Error::Timeout`] if the ring does not halt; [`Unsupported::Memory`] if no bus master reaches its memory.
pub(super) fn set_up(
    bus: &mut impl Bus,
    base: u32,
    input: &[[u8; 4]],
    output: &[[u8; 8]],
) -> Result<(), Error> {
    let length = input.len() as u32;
    let places = (address(bus, input.as_flattened())?, address(bus, output.as_flattened())?);
    bus.write(base + jr::JRCFGR_LS, jrcfg::MASKED);
    bus.write(base + jr::JRCR, jrcr::RESET);
    if (0..POLLS).all(|_| bus.read(base + jr::JRINTR) & jrint::HALT != jrint::HALTED) {
        return Err(Error::Timeout);
    }
    bus.write(base + jr::JRCR, jrcr::RESET);
    if (0..POLLS).all(|_| bus.read(base + jr::JRCR) & jrcr::RESET != 0) {
        return Err(Error::Timeout);
    }
    // What the core wrote there must not be written back over what the engine writes.
    bus.clean(output.as_flattened());
    bus.barrier();
    for (register, at, size) in [(jr::IRBAR, places.0, jr::IRSR), (jr::ORBAR, places.1, jr::ORSR)] {
        // The upper half comes first.
        bus.write(base + register, 0);
        bus.write(base + register + 4, at);
        bus.write(base + size, length);
    }
    Ok(())
}

impl From<super::descriptor::Rule> for Unsupported {
    fn from(_: super::descriptor::Rule) -> Unsupported {
        Unsupported::Length
    }
}
