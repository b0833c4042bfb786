//! The CAAM as a provider: whole messages through descriptors of the driver's own, without any library around it.
//!
//! A job in flight has a slot of the ring. Queued jobs are entered in the ring and start when the loop rings the
//! doorbell.

use super::job::{self, Cipher, Hash, HmacKey, Mode, Places, Span, Task};
use super::ring::PAYLOAD;
use super::{Caam, Completion as How, RANDOM, address, error, message, public_key, span};
use crate::queue;
use core::cell::RefCell;
use cpb_core::{
    Algorithm, Bus, Claim, Completion, CryptoWorkload, Data, Error, Finished, Identity, Job,
    KeyUse, Kind, Operation, Phase, Progress, Provider, Session, Unsupported,
};

/// Where a payload holds CCM's blocks, and where the tag.
const BLOCKS: core::ops::Range<usize> = 0..32;
const TAG: core::ops::Range<usize> = 32..PAYLOAD;

/// AES's key comes first in that of encrypt-then-MAC.
const CIPHER_KEY: usize = 16;

/// Associated data of more bytes has a longer prefix in CCM (SP 800-38C, A.2.2), which the engine does not have.
const CCM_ASSOCIATED: u32 = 0xFEFF;

/// The provider.
pub struct CaamProvider<'p, 'w, B> {
    caam: &'p RefCell<Caam<'w, B>>,
    how: How,
    options: &'p str,
}

impl<'p, 'w, B: Bus> CaamProvider<'p, 'w, B> {
    /// The provider for an engine. `options` says what a reader needs to repeat the build.
    pub fn new(caam: &'p RefCell<Caam<'w, B>>, how: How, options: &'p str) -> Self {
        CaamProvider { caam, how, options }
    }
}

fn task(workload: &CryptoWorkload) -> Result<Task, Unsupported> {
    let encrypts = workload.operation == Operation::Encrypt;
    let cipher = |cipher, mode| Task::Cipher { cipher, mode, encrypts };
    // The states of an HMAC are derived once if all messages have the same key.
    let key = match (workload.keys, workload.phase) {
        (KeyUse::Reused, Phase::Message) => HmacKey::Split,
        _ => HmacKey::Plain,
    };
    Ok(match workload.algorithm {
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            cipher(Cipher::Aes, Mode::Ecb)
        }
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            cipher(Cipher::Aes, Mode::Cbc)
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            cipher(Cipher::Aes, Mode::Ctr)
        }
        Algorithm::DesCbc => cipher(Cipher::Des, Mode::Cbc),
        Algorithm::TripleDesCbc => cipher(Cipher::TripleDes, Mode::Cbc),
        Algorithm::DesEcb => cipher(Cipher::Des, Mode::Ecb),
        Algorithm::TripleDesEcb => cipher(Cipher::TripleDes, Mode::Ecb),
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            Task::Gcm { encrypts }
        }
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            Task::Ccm { encrypts }
        }
        Algorithm::Aes128CbcHmacSha1Etm => Task::EncryptThenMac { hash: Hash::Sha1, key, encrypts },
        Algorithm::Aes128CbcHmacSha256Etm => {
            Task::EncryptThenMac { hash: Hash::Sha256, key, encrypts }
        }
        Algorithm::Sha1 => Task::Hash(Hash::Sha1),
        Algorithm::Sha224 => Task::Hash(Hash::Sha224),
        Algorithm::Sha256 => Task::Hash(Hash::Sha256),
        // What the engine's generator computes, by the commit of Linux's driver caamprng.c, which cites the manual.
        Algorithm::HashDrbgSha256 => Task::Random,
        Algorithm::HmacSha1 => hmac(workload.phase, Hash::Sha1, key),
        Algorithm::HmacSha256 => hmac(workload.phase, Hash::Sha256, key),
        _ => return Err(Unsupported::Algorithm),
    })
}

fn hmac(phase: Phase, hash: Hash, key: HmacKey) -> Task {
    if phase == Phase::Setup { Task::DeriveKey(hash) } else { Task::Hmac(hash, key) }
}

/// The longest message of a job: the length of a FIFO STORE has 32 bits, that of a table's entry 30.
const LONGEST: u32 = 1 << 29;

impl<B: Bus> Provider for CaamProvider<'_, '_, B> {
    fn identity(&self) -> Identity<'_> {
        let (provider, executor) = match self.how {
            How::Polling => ("caam", "CAAM, polled"),
            How::Interrupt => ("caam-interrupts", "CAAM, by interrupt"),
            How::Coalesced { .. } => ("caam-coalesced", "CAAM, by coalesced interrupts"),
        };
        Identity { provider, version: env!("CARGO_PKG_VERSION"), executor, options: self.options }
    }

    fn claim(&self) -> Claim {
        Claim::Engine
    }

    fn interrupts(&self) -> Option<u64> {
        Some(self.caam.borrow().interrupts())
    }

    fn jobs(&self) -> Option<u64> {
        Some(self.caam.borrow().finished())
    }

    fn ring(&self) -> usize {
        self.caam.borrow().ring.length()
    }

    fn repeats(&self, workload: &CryptoWorkload) -> bool {
        // The generator seeds itself.
        workload.algorithm.shape().kind != Kind::Generator
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()?;
        if public_key::has(workload.algorithm) {
            return public_key::supports(workload, self.ring());
        }
        let task = task(workload)?;
        let derives = matches!(task, Task::DeriveKey(_));
        // A generator's key is its seed, which only the engine gives. Every other job loads its key, which only HMAC's
        // is derived from.
        if task == Task::Random && workload.phase != Phase::Message {
            return Err(Unsupported::Phase);
        }
        if workload.phase == Phase::Update || (workload.phase == Phase::Setup && !derives) {
            return Err(Unsupported::Phase);
        }
        let shape = workload.algorithm.shape();
        let nothing = workload.message == 0 && workload.phase != Phase::Setup;
        let is_authenticated = matches!(task, Task::Gcm { .. } | Task::Ccm { .. });
        let needs_data = !matches!(shape.kind, Kind::Hash | Kind::Mac) && !is_authenticated;
        let too_long = workload.message > LONGEST
            || (task == Task::Random && workload.message as usize > RANDOM)
            || (matches!(task, Task::Ccm { .. }) && workload.associated > CCM_ASSOCIATED);
        if (nothing && needs_data) || too_long {
            return Err(Unsupported::Length);
        }
        queue::dispatched(workload.dispatch, self.ring(), derives)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        if public_key::has(workload.algorithm) {
            return public_key::session(self.caam, self.how, workload, keys, jobs, body);
        }
        let task = task(workload)?;
        let (length, any) = (workload.algorithm.shape().key, workload.algorithm.takes_any_key());
        let plain = matches!(task, Task::Hmac(_, HmacKey::Plain));
        let hmac = |key: &[u8]| any && !(plain && key.len() > Hash::Sha256.block());
        let seed = |key: &[u8]| task == Task::Random && key.len() >= length;
        let takes_key = |key: &[u8]| key.len() == length || hmac(key) || seed(key);
        queue::accepted(workload, keys, jobs, self.ring(), takes_key)?;
        let caam = &mut *self.caam.borrow_mut();
        keys.iter().for_each(|key| caam.bus.clean(key));
        if task == Task::Random {
            caam.instantiate(How::Polling)?;
        }
        let split = match (task, keys.first()) {
            (Task::Hmac(hash, HmacKey::Split), Some(key)) => {
                Some(caam.derive_key(hash, key, How::Polling)?)
            }
            (Task::EncryptThenMac { hash, key: HmacKey::Split, .. }, Some(key)) => {
                let key = key.get(CIPHER_KEY..).ok_or(Unsupported::Length)?;
                Some(caam.derive_key(hash, key, How::Polling)?)
            }
            _ => None,
        };
        caam.ring.notice(&mut caam.bus, self.how);
        let mut queue = Queue { caam, task, how: self.how, keys, split, jobs };
        let result = body(&mut queue);
        let busy = queue.caam.ring.in_flight() > 0;
        caam.ring.notice(&mut caam.bus, How::Polling);
        // Nothing writes to the jobs' buffers any more.
        if busy { result.and(caam.reset()) } else { result }
    }
}

struct Queue<'q, 'b, 'w, B> {
    caam: &'q mut Caam<'w, B>,
    task: Task,
    how: How,
    keys: &'q [&'q [u8]],
    /// Where the states of the first key's HMAC are, if they were derived.
    split: Option<Span>,
    jobs: &'q mut [Job<'b>],
}

impl<B: Bus> Session for Queue<'_, '_, '_, B> {
    fn build(&mut self, job: usize) -> Result<(), Error> {
        if matches!(self.task, Task::DeriveKey(_)) {
            return Ok(());
        }
        let slot = self.slot(job);
        let places = self.places(job, slot)?;
        let Caam { ring, bus, .. } = &mut *self.caam;
        let task = self.task;
        ring.lay(bus, slot, |words| job::descriptor(task, &places, words))
    }

    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if let Task::DeriveKey(hash) = self.task {
            self.caam.derive_key(hash, self.keys[self.jobs[job].key], self.how)?;
            return Ok(Progress::Done);
        }
        let Caam { ring, bus, .. } = &mut *self.caam;
        // If slots go around, the descriptor of the next job is written before that job is submitted.
        let room = if self.jobs.len() > ring.length() { ring.length() - 1 } else { ring.length() };
        if ring.in_flight() >= room {
            return Ok(Progress::Full);
        }
        let slot = job % ring.length();
        ring.enter(bus, slot, job as u16)?;
        Ok(Progress::Queued)
    }

    fn start_all(&mut self) -> Result<(), Error> {
        let Caam { ring, bus, .. } = &mut *self.caam;
        ring.start(bus);
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        let Caam { ring, bus, .. } = &mut *self.caam;
        if ring.in_flight() == 0 {
            return Ok(None);
        }
        ring.wait(bus, 1, self.how)?;
        let (job, result) = self.take()?;
        self.caam.ring.removed(&mut self.caam.bus, 1);
        Ok(Some(Completion { job, result }))
    }

    fn complete_all(&mut self) -> Result<Finished, Error> {
        let Caam { ring, bus, .. } = &mut *self.caam;
        let count = ring.in_flight();
        let mut all = Finished { jobs: count, result: Ok(()) };
        if count == 0 {
            return Ok(all);
        }
        ring.wait(bus, count, self.how)?;
        for _ in 0..count {
            let (_, result) = self.take()?;
            all.result = all.result.and(result);
        }
        self.caam.ring.removed(&mut self.caam.bus, count);
        Ok(all)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs[job].data.output())
    }
}

impl<B: Bus> Queue<'_, '_, '_, B> {
    fn slot(&self, job: usize) -> usize {
        job % self.caam.ring.length()
    }

    /// Where the parts of a job are. The engine reads them where they are. CCM's blocks and tags are in the slot's payload:
    /// a tag that the engine writes could share a cache line with what the core writes.
    fn places(&mut self, number: usize, slot: usize) -> Result<Places, Error> {
        let (job, Caam { ring, bus, .. }) = (&self.jobs[number], &mut *self.caam);
        if self.task == Task::Random {
            let output = job.data.output();
            bus.clean(output);
            let Span { address: output, length } = span(bus, output)?;
            return Ok(Places { input: Span { address: 0, length }, output, ..Places::default() });
        }
        let key = self.keys.get(job.key).copied().unwrap_or_default();
        let reads_only = matches!(self.task, Task::Hash(_) | Task::Hmac(..));
        let (input, output) = message(bus, &job.data, reads_only)?;
        let mut places = Places { input, output, ..Places::default() };
        let (cipher_key, mac_key) = match self.task {
            Task::EncryptThenMac { .. } => key.split_at(CIPHER_KEY),
            Task::Hmac(..) => (&[][..], key),
            _ => (key, &[][..]),
        };
        places.key = span(bus, cipher_key)?;
        places.mac_key = match self.split {
            Some(split) => split,
            None => span(bus, mac_key)?,
        };
        if job.iv.is_empty() {
            return Ok(places);
        }
        if !job.associated.is_empty() {
            bus.clean(job.associated);
            places.associated = span(bus, job.associated)?;
        }
        bus.clean(job.iv);
        places.iv = span(bus, job.iv)?;
        if job.tag.is_empty() {
            return Ok(places);
        }
        let payload = &mut ring.slots[slot].payload;
        let first = address(bus, payload)?;
        if matches!(self.task, Task::Ccm { .. }) {
            let (associated, length) = (job.associated.len(), input.length);
            payload[BLOCKS].copy_from_slice(&job::ccm_blocks(
                job.iv,
                job.tag.len(),
                associated,
                length,
            ));
            places.iv = Span { address: first, length: BLOCKS.len() };
        }
        payload[TAG][..job.tag.len()].copy_from_slice(job.tag);
        bus.clean(payload);
        places.tag = Span { address: first + TAG.start as u32, length: job.tag.len() };
        Ok(places)
    }

    /// Takes one end that was reported. The core then sees what the engine wrote.
    fn take(&mut self) -> Result<(usize, Result<(), Error>), Error> {
        let Caam { ring, bus, .. } = &mut *self.caam;
        let (slot, status) = ring.take(bus)?;
        let slot = slot.ok_or(Error::Contract)?;
        let number = usize::from(ring.job(slot));
        let job = &mut self.jobs[number];
        match &mut job.data {
            Data::Apart { output, .. } => bus.invalidate(output),
            Data::InPlace(buffer) => bus.invalidate(buffer),
        }
        if writes_tag(self.task) {
            let payload = &mut ring.slots[slot].payload;
            bus.invalidate(payload);
            job.tag.copy_from_slice(&payload[TAG][..job.tag.len()]);
        }
        Ok((number, if status == 0 { Ok(()) } else { Err(error(status)) }))
    }
}

/// Whether jobs end with a tag.
fn writes_tag(task: Task) -> bool {
    match task {
        Task::Gcm { encrypts } | Task::Ccm { encrypts } => encrypts,
        Task::EncryptThenMac { encrypts, .. } => encrypts,
        _ => false,
    }
}
