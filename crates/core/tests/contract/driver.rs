//! The smallest driver of an engine with a queue, for any bus: it shows what happens to a job in each call of
//! the contract. It can be made to omit a step, so that tests show why the step is needed.

use crate::device::{CAUSE, CHAIN, DONE, Descriptor, GO, LINE, STATUS};
use cpb_core::{
    Bus, Completion, CryptoWorkload, Data, DmaAddress, Error, Finished, Identity, Job, Meaning,
    Notice, Progress, Provider, Session, Unsupported,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// How long the driver waits for an interrupt.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1);

/// A step that the driver omits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Forgotten {
    CleanMessage,
    CleanDescriptor,
    Barrier,
    Doorbell,
    Invalidate,
}

/// The provider.
pub(crate) struct Driver<B> {
    pub(crate) bus: RefCell<B>,
    pub(crate) forgets: Option<Forgotten>,
}

impl<B: Bus> Provider for Driver<B> {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "driver", version: "1", executor: "channel", options: "" }
    }

    fn supports(&self, _workload: &CryptoWorkload) -> Result<(), Unsupported> {
        Ok(())
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        _keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut bus = self.bus.borrow_mut();
        body(&mut Channel {
            bus: &mut *bus,
            forgets: self.forgets,
            // A single operation is also the last one.
            notice: workload.dispatch.notice,
            descriptors: vec![Descriptor::default(); jobs.len()],
            memory: vec![[0; 20]; jobs.len()],
            jobs,
            linked: Vec::new(),
            running: VecDeque::new(),
            finished: VecDeque::new(),
        })
    }
}

struct Channel<'s, 'b, B> {
    bus: &'s mut B,
    forgets: Option<Forgotten>,
    notice: Notice,
    jobs: &'s mut [Job<'b>],
    descriptors: Vec<Descriptor>,
    /// The memory from which the device reads them.
    memory: Vec<[u8; 20]>,
    /// Jobs of the chain being built, jobs of the running chain, and finished jobs.
    linked: Vec<usize>,
    running: VecDeque<usize>,
    finished: VecDeque<usize>,
}

impl<B: Bus> Session for Channel<'_, '_, B> {
    fn build(&mut self, job: usize) -> Result<(), Error> {
        let Data::Apart { input, output } = &self.jobs[job].data else {
            return Err(Unsupported::Mode.into());
        };
        if self.forgets != Some(Forgotten::CleanMessage) {
            self.bus.clean(input);
        }
        self.descriptors[job] = Descriptor {
            source: address(self.bus, input)?,
            destination: address(self.bus, output)?,
            length: input.len() as u32,
            ..Descriptor::default()
        };
        Ok(())
    }

    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        self.collect()?;
        if !self.running.is_empty() {
            return Ok(Progress::Full);
        }
        self.linked.push(job);
        Ok(Progress::Queued)
    }

    fn start_all(&mut self) -> Result<(), Error> {
        let count = self.linked.len();
        for (place, &job) in self.linked.iter().enumerate() {
            let next = self.linked.get(place + 1);
            let next = next.map_or(Ok(0), |next| address(self.bus, &self.memory[*next]))?;
            let interrupts = self.notice == Notice::Each || place + 1 == count;
            let descriptor = Descriptor { next, interrupts, ..self.descriptors[job] };
            self.memory[job] = descriptor.bytes();
            if self.forgets != Some(Forgotten::CleanDescriptor) {
                self.bus.clean(&self.memory[job]);
            }
        }
        if self.forgets != Some(Forgotten::Barrier) {
            self.bus.barrier();
        }
        if let Some(first) = self.linked.first() {
            let first = address(self.bus, &self.memory[*first])?;
            self.bus.write(CHAIN, first);
        }
        if self.forgets != Some(Forgotten::Doorbell) {
            self.bus.write(GO, count as u32);
        }
        self.running.extend(self.linked.drain(..));
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        self.collect()?;
        while self.finished.is_empty() {
            if self.running.is_empty() {
                return Ok(None);
            }
            self.wait()?;
        }
        let job = self.finished.pop_front();
        Ok(job.map(|job| Completion { job, result: self.look(job) }))
    }

    fn complete_all(&mut self) -> Result<Finished, Error> {
        while !self.running.is_empty() {
            self.wait()?;
        }
        let mut all = Finished { jobs: 0, result: Ok(()) };
        while let Some(job) = self.finished.pop_front() {
            all = Finished { jobs: all.jobs + 1, result: all.result.and(self.look(job)) };
        }
        Ok(all)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs[job].data.output())
    }
}

impl<B: Bus> Channel<'_, '_, B> {
    fn wait(&mut self) -> Result<(), Error> {
        self.bus.wait_for_interrupt(LINE, PATIENCE)?;
        self.bus.write(CAUSE, 1);
        self.collect()
    }

    /// Removes what the device has done from the running chain.
    fn collect(&mut self) -> Result<(), Error> {
        let done = self.bus.read(DONE);
        self.bus.write(DONE, done);
        self.finished.extend(self.running.drain(..done as usize));
        match self.bus.read(STATUS) {
            0 => Ok(()),
            status => Err(error(status)),
        }
    }

    /// Makes the CPU see what the device wrote for `job`.
    fn look(&mut self, job: usize) -> Result<(), Error> {
        match &mut self.jobs[job].data {
            Data::Apart { output, .. } if self.forgets != Some(Forgotten::Invalidate) => {
                self.bus.invalidate(output);
            }
            _ => {}
        }
        Ok(())
    }
}

fn address(bus: &impl Bus, buffer: &[u8]) -> Result<u32, Error> {
    let DmaAddress(address) = bus.dma_address(buffer).ok_or(Unsupported::Memory)?;
    Ok(address)
}

/// The meaning of a status according to the device's manual: the reason is in its low byte.
pub(crate) fn error(status: u32) -> Error {
    let meaning = match status as u8 {
        1 => Meaning::Descriptor,
        2 => Meaning::Read,
        3 => Meaning::Write,
        4 => Meaning::Key,
        5 => Meaning::Length,
        6 => Meaning::Hardware,
        7 => return Error::Refused,
        _ => Meaning::Undocumented,
    };
    Error::Engine { code: status, meaning }
}
