//! The DCP as a provider: whole messages through packets of the driver's own, without any library around it.
//!
//! A job in flight has a packet and a payload of its own. Queued jobs are linked to a chain when the loop rings the
//! doorbell, and up to four chains are in flight, one on each channel.

use super::packet::{Packet, Words, control0};
use super::registers::CHANNELS;
use super::{
    Cipher, Completion as How, Dcp, Hash, Key, Mode, QUEUE, address, cipher_words, copy_words,
    hash_words,
};
use crate::queue;
use core::cell::RefCell;
use cpb_core::{
    Algorithm, Bus, Claim, Completion, CryptoWorkload, Data, Error, Finished, Identity, Job,
    Notice, Operation, Phase, Progress, Provider, Session, Unsupported,
};
use heapless::{Deque, Vec};

/// The provider.
pub struct DcpProvider<'p, 'w, B> {
    dcp: &'p RefCell<Dcp<'w, B>>,
    how: How,
    options: &'p str,
}

impl<'p, 'w, B: Bus> DcpProvider<'p, 'w, B> {
    /// The provider for an engine. `options` says what a reader needs to repeat the build.
    pub fn new(dcp: &'p RefCell<Dcp<'w, B>>, how: How, options: &'p str) -> Self {
        DcpProvider { dcp, how, options }
    }
}

/// What the engine does for a job.
#[derive(Clone, Copy)]
enum Task {
    Cipher(Cipher),
    Hash(Hash),
    Copy,
    /// Loads a key, which needs no packet.
    LoadKey,
}

fn task(workload: &CryptoWorkload) -> Result<Task, Unsupported> {
    let mode = match workload.algorithm {
        Algorithm::Aes128Ecb => Mode::Ecb,
        Algorithm::Aes128Cbc => Mode::Cbc,
        Algorithm::Sha1 => return Ok(Task::Hash(Hash::Sha1)),
        Algorithm::Sha256 => return Ok(Task::Hash(Hash::Sha256)),
        Algorithm::Memcpy => return Ok(Task::Copy),
        _ => return Err(Unsupported::Algorithm),
    };
    // A slot keeps the key as long as all messages use it.
    let key = match (workload.phase, workload.keys) {
        (Phase::Setup, _) => return Ok(Task::LoadKey),
        (Phase::Message, cpb_core::KeyUse::Reused) => Key::Slot(0),
        _ => Key::Payload,
    };
    Ok(Task::Cipher(Cipher { mode, encrypts: workload.operation == Operation::Encrypt, key }))
}

impl<B: Bus> Provider for DcpProvider<'_, '_, B> {
    fn identity(&self) -> Identity<'_> {
        let (provider, executor) = match self.how {
            How::Polling => ("dcp", "DCP, polled"),
            How::Interrupt => ("dcp-interrupts", "DCP, by interrupt"),
        };
        Identity { provider, version: env!("CARGO_PKG_VERSION"), executor, options: self.options }
    }

    fn claim(&self) -> Claim {
        Claim::Engine
    }

    fn interrupts(&self) -> Option<u64> {
        Some(self.dcp.borrow().interrupts)
    }

    fn jobs(&self) -> Option<u64> {
        Some(self.dcp.borrow().finished)
    }

    fn ring(&self) -> usize {
        QUEUE
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()?;
        let task = task(workload)?;
        if workload.phase == Phase::Update {
            return Err(Unsupported::Phase);
        }
        // The engine needs at least one block or byte. A hash of nothing would be the driver's constant.
        if workload.message == 0 && workload.phase != Phase::Setup {
            return Err(Unsupported::Length);
        }
        queue::dispatched(workload.dispatch, QUEUE, matches!(task, Task::LoadKey))
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        let length = workload.algorithm.shape().key;
        queue::accepted(workload, keys, jobs, QUEUE, |key| key.len() == length)?;
        let mut dcp = self.dcp.borrow_mut();
        let task = task(workload)?;
        if let (Task::Cipher(Cipher { key: Key::Slot(slot), .. }), Some(key)) = (task, keys.first())
        {
            dcp.load_key(slot, &whole(key)?);
        }
        let mut queue = Queue {
            dcp: &mut dcp,
            task,
            how: self.how,
            notice: workload.dispatch.notice,
            keys,
            jobs,
            linked: Vec::new(),
            chains: [const { Deque::new() }; CHANNELS],
            oldest: 0,
            next: 0,
        };
        let result = body(&mut queue);
        let busy = queue.chains.iter().any(|chain| !chain.is_empty());
        // Nothing writes to the jobs' buffers any more.
        if busy { result.and(dcp.reset()) } else { result }
    }
}

/// The packet and payload of a job.
fn slot(job: usize) -> usize {
    job % QUEUE
}

/// A key or an IV of 16 bytes.
fn whole(bytes: &[u8]) -> Result<[u8; 16], Error> {
    bytes.try_into().map_err(|_| Unsupported::Length.into())
}

struct Queue<'q, 'b, 'w, B> {
    dcp: &'q mut Dcp<'w, B>,
    task: Task,
    how: How,
    notice: Notice,
    keys: &'q [&'q [u8]],
    jobs: &'q mut [Job<'b>],
    /// Jobs that were submitted since the last doorbell.
    linked: Vec<u16, QUEUE>,
    /// The jobs in flight, by channel.
    chains: [Deque<u16, QUEUE>; CHANNELS],
    /// The channel of the oldest chain, and the channel for the next one. They go around.
    oldest: usize,
    next: usize,
}

impl<B: Bus> Session for Queue<'_, '_, '_, B> {
    fn build(&mut self, job: usize) -> Result<(), Error> {
        let bus = &mut self.dcp.bus;
        let (size, places) = match &self.jobs[job].data {
            Data::Apart { input, output } => {
                bus.clean(input);
                // Lines that the core wrote earlier must not be written back over the result.
                if !matches!(self.task, Task::Hash(_)) {
                    bus.clean(output);
                }
                (input.len(), (address(bus, input)?, address(bus, output)?))
            }
            Data::InPlace(buffer) => {
                bus.clean(buffer);
                let place = address(bus, buffer)?;
                (buffer.len(), (place, place))
            }
        };
        let words = match self.task {
            Task::Cipher(cipher) => {
                let job_of = &self.jobs[job];
                let payload = match cipher.key {
                    Key::Payload => {
                        self.dcp.payload(slot(job), [self.keys[job_of.key], job_of.iv])?
                    }
                    Key::Slot(_) => self.dcp.payload(slot(job), [job_of.iv, &[]])?,
                };
                cipher_words(cipher, places, size, payload)
            }
            Task::Hash(hash) => {
                let payload = self.dcp.payload(slot(job), [&[], &[]])?;
                hash_words(hash, places.0, size, payload)
            }
            Task::Copy => copy_words(places, size),
            Task::LoadKey => Words::default(),
        };
        self.dcp.work.packets[slot(job)].set(&words);
        Ok(())
    }

    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if matches!(self.task, Task::LoadKey) {
            let key = whole(self.keys[self.jobs[job].key])?;
            self.dcp.load_key(0, &key);
            return Ok(Progress::Done);
        }
        let in_flight: usize = self.chains.iter().map(|chain| chain.len()).sum();
        // If packets go around, the one of the next job is built before that job is submitted.
        let packets = if self.jobs.len() > QUEUE { QUEUE - 1 } else { QUEUE };
        let no_packet = in_flight + self.linked.len() == packets;
        if no_packet || !self.chains[self.next].is_empty() {
            return Ok(Progress::Full);
        }
        // There is room: no more jobs are linked than there are packets.
        _ = self.linked.push(job as u16);
        Ok(Progress::Queued)
    }

    fn start_all(&mut self) -> Result<(), Error> {
        let count = self.linked.len();
        let Some(&head) = self.linked.first() else { return Ok(()) };
        for place in 0..count {
            let packet = slot(self.linked[place].into());
            let (next, chain) = match self.linked.get(place + 1) {
                Some(next) => (self.packet(*next)?, control0::CHAIN),
                None => (0, 0),
            };
            let raises =
                self.how == How::Interrupt && (self.notice == Notice::Each || place + 1 == count);
            let interrupt = if raises { control0::INTERRUPT } else { 0 };
            self.link(packet, next, control0::DECREMENT | chain | interrupt);
        }
        let first = self.packet(head)?;
        self.dcp.start(self.next, first, count as u32);
        for job in core::mem::take(&mut self.linked) {
            // There is room: the chain was empty.
            _ = self.chains[self.next].push_back(job);
        }
        self.next = (self.next + 1) % CHANNELS;
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        let channel = self.oldest;
        let in_flight = self.chains[channel].len();
        if in_flight == 0 {
            return Ok(None);
        }
        let waited = self.dcp.wait(channel, in_flight as u32 - 1, self.how);
        self.forget_if_failed(&waited);
        waited?;
        let job = self.take(channel);
        Ok(job.map(|job| Completion { job, result: self.finish(job) }))
    }

    fn complete_all(&mut self) -> Result<Finished, Error> {
        let mut all = Finished { jobs: 0, result: Ok(()) };
        while !self.chains[self.oldest].is_empty() {
            let channel = self.oldest;
            let waited = self.dcp.wait(channel, 0, self.how);
            self.forget_if_failed(&waited);
            waited?;
            while let Some(job) = self.chains[channel].pop_front() {
                let result = self.finish(usize::from(job));
                all = Finished { jobs: all.jobs + 1, result: all.result.and(result) };
            }
            self.oldest = (channel + 1) % CHANNELS;
        }
        Ok(all)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs[job].data.output())
    }
}

impl<B: Bus> Queue<'_, '_, '_, B> {
    fn packet(&self, job: u16) -> Result<u32, Error> {
        address(&self.dcp.bus, &self.dcp.work.packets[slot(job.into())].0)
    }

    /// Completes a packet for its place in a chain.
    fn link(&mut self, packet: usize, next: u32, control: u32) {
        let Packet(bytes) = &mut self.dcp.work.packets[packet];
        bytes[..4].copy_from_slice(&next.to_le_bytes());
        let own = u32::from_le_bytes(core::array::from_fn(|byte| bytes[4 + byte]));
        let kept = own & !(control0::CHAIN | control0::INTERRUPT);
        bytes[4..8].copy_from_slice(&(kept | control).to_le_bytes());
        self.dcp.bus.clean(&self.dcp.work.packets[packet].0);
    }

    /// The oldest job of a channel, which has finished.
    fn take(&mut self, channel: usize) -> Option<usize> {
        let job = self.chains[channel].pop_front();
        if self.chains[channel].is_empty() {
            self.oldest = (channel + 1) % CHANNELS;
        }
        job.map(usize::from)
    }

    /// A failure resets the engine, so nothing is in flight any more.
    fn forget_if_failed(&mut self, waited: &Result<(), Error>) {
        if waited.is_err() {
            self.chains.iter_mut().for_each(Deque::clear);
            (self.oldest, self.next) = (0, 0);
        }
    }

    /// Makes the core see what the engine wrote for a job.
    fn finish(&mut self, job: usize) -> Result<(), Error> {
        let output = match &mut self.jobs[job].data {
            Data::Apart { output, .. } => &mut **output,
            Data::InPlace(buffer) => &mut **buffer,
        };
        match self.task {
            Task::Hash(hash) => self.dcp.digest(slot(job), &mut output[..hash.length()]),
            _ => self.dcp.bus.invalidate(output),
        }
        Ok(())
    }
}
