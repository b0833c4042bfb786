//! The descriptor controller (DECO): fetches a descriptor and runs its commands.
//!
//! The buffer of 64 words holds the shared descriptor first, if there is one, and the job descriptor behind it. A
//! status word's index counts from the buffer's beginning (assumed for jobs with a shared descriptor).

use super::accelerator::{Active, Class};
use super::class::{Chunk, Product};
use super::fault::Fault;
use super::memories::Memories;
use super::place::{Output, Sequence, Store};
use super::random::Random;
use super::{Configuration, Counts, Timing};
use crate::{BusError, Memory};
use cpb_drivers::caam::descriptor::{Format, WORDS, command, header, operation};
use cpb_drivers::caam::status::{self, cha, deco};
use std::collections::VecDeque;

/// How many commands a job may run before its watchdog expires (assumed: the watchdog's time is not public).
const COMMANDS: u32 = 4096;

/// The time of a job so far, in ticks.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Time {
    /// Fetching descriptors and running commands, and loading registers.
    pub(super) commands: f64,
    /// Moving data.
    pub(super) dma: f64,
    /// Accelerators.
    pub(super) compute: f64,
}

/// What a job came to.
#[derive(Debug, Default)]
pub(super) struct Finished {
    pub(super) status: u32,
    pub(super) outputs: Vec<Output>,
    pub(super) time: f64,
    pub(super) counts: Counts,
    /// The address of a failed transfer.
    pub(super) failed_at: Option<u64>,
}

/// A job in a controller, with everything that it needs.
pub(super) struct Job<'j> {
    pub(super) memory: &'j mut dyn Memory,
    pub(super) configuration: &'j Configuration,
    pub(super) timing: &'j Timing,
    pub(super) random: &'j mut Random,
    pub(super) format: Format,
    /// Which ring it came from.
    pub(super) source: u32,
    pub(super) buffer: [u32; WORDS],
    /// Where the job descriptor begins in the buffer, and where descriptors are in memory: the job's, the shared.
    pub(super) job_at: usize,
    pub(super) addresses: [u64; 2],
    /// The descriptor that runs: its end in the buffer.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The command that runs, and the next one.
    pub(super) index: usize,
    pub(super) next: usize,
    pub(super) subroutine: Option<usize>,
    /// Whether it came from another job descriptor.
    jumped: bool,
    pub(super) class1: Class,
    pub(super) class2: Class,
    pub(super) public_keys: Box<Memories>,
    pub(super) output_fifo: VecDeque<u8>,
    /// Input without an entry in the info FIFO.
    pub(super) input_fifo: VecDeque<u8>,
    /// Entries of the info FIFO that wait for data.
    pub(super) info: VecDeque<u32>,
    /// Data for MOVE: for the controller, and what was loaded last for an accelerator.
    pub(super) for_deco: VecDeque<u8>,
    pub(super) recent: VecDeque<u8>,
    pub(super) makes_info: bool,
    pub(super) stores: VecDeque<Store>,
    pub(super) outputs: Vec<Output>,
    pub(super) sequence_in: Sequence,
    pub(super) sequence_out: Sequence,
    pub(super) math: [u64; 4],
    pub(super) flags: u32,
    pub(super) protocol_override: u32,
    /// The random number generator's operation, once it generates.
    pub(super) generates: Option<u32>,
    pub(super) time: Time,
    pub(super) counts: Counts,
    /// Entries of tables, bytes of data and random bytes so far.
    pub(super) table_entries: u32,
    pub(super) data: u64,
    pub(super) random_data: usize,
    /// Products of words in public-key operations so far.
    pub(super) products: f64,
    failed_at: Option<u64>,
}

impl<'j> Job<'j> {
    pub(super) fn new(
        memory: &'j mut dyn Memory,
        configuration: &'j Configuration,
        timing: &'j Timing,
        random: &'j mut Random,
        format: Format,
        source: u32,
    ) -> Job<'j> {
        Job {
            memory,
            configuration,
            timing,
            random,
            format,
            source,
            buffer: [0; WORDS],
            job_at: 0,
            addresses: [0; 2],
            begin: 0,
            end: 0,
            index: 0,
            next: 0,
            subroutine: None,
            jumped: false,
            class1: Class::new(64),
            class2: Class::new(128),
            public_keys: Box::new(Memories::EMPTY),
            output_fifo: VecDeque::new(),
            input_fifo: VecDeque::new(),
            info: VecDeque::new(),
            for_deco: VecDeque::new(),
            recent: VecDeque::new(),
            makes_info: true,
            stores: VecDeque::new(),
            outputs: Vec::new(),
            sequence_in: Sequence::default(),
            sequence_out: Sequence::default(),
            math: [0; 4],
            flags: 0,
            protocol_override: 0,
            generates: None,
            time: Time::default(),
            counts: Counts::default(),
            table_entries: 0,
            data: 0,
            random_data: 0,
            products: 0.0,
            failed_at: None,
        }
    }

    /// Runs the descriptor at `address`.
    pub(super) fn run(mut self, address: u64) -> Finished {
        let mut done = self.fetch(address).and_then(|()| self.descriptors());
        while let Err(Fault::Jump(target)) = done {
            done = self.follow(target);
        }
        self.finished(done)
    }

    /// Goes on with the job descriptor at `target`, which must not have a shared one.
    fn follow(&mut self, target: u64) -> Result<(), Fault> {
        let word = self.fetch_words(target, 0, 1)?[0];
        let kind = word >> command::SHIFT << command::SHIFT;
        if kind != command::HEADER || word & header::SHARED != 0 {
            return Err(Fault::Deco(deco::JUMP));
        }
        self.jumped = true;
        self.fetch(target)?;
        self.descriptors()
    }

    /// Runs the descriptor that software wrote into the buffer.
    pub(super) fn run_buffer(mut self, buffer: [u32; WORDS]) -> Finished {
        self.buffer = buffer;
        let done = self.descriptors();
        self.finished(done)
    }

    fn finished(mut self, done: Result<(), Fault>) -> Finished {
        let jumped = if self.jumped { status::JUMPED } else { 0 };
        let status = match done.and_then(|()| self.settle()) {
            Ok(()) => status::GOOD,
            Err(Fault::Deco(error)) => status::deco_error(self.index, error) | jumped,
            Err(Fault::Cha(cha, error)) => status::ccb_error(self.index, cha, error) | jumped,
            Err(Fault::Halt(status)) => status,
            // A descriptor that software runs cannot jump to others (assumed).
            Err(Fault::Jump(_)) => status::deco_error(self.index, deco::JUMP),
        };
        let Time { commands, dma, compute } = self.time;
        Finished {
            status,
            outputs: self.outputs,
            // Data is moved while accelerators work on what has arrived (assumed: the overlap is complete).
            time: commands + dma.max(compute),
            counts: self.counts,
            failed_at: self.failed_at,
        }
    }

    /// Waits at the end of a job for accelerators and output. What never comes makes the watchdog expire.
    fn settle(&mut self) -> Result<(), Fault> {
        self.pump()?;
        let is_idle = self.class1.active.is_none() && self.class2.active.is_none();
        if is_idle && self.stores.is_empty() { Ok(()) } else { Err(Fault::Deco(deco::WATCHDOG)) }
    }

    pub(super) fn dma_fault(&mut self, error: BusError) -> Fault {
        self.failed_at = Some(error.address);
        Fault::Deco(deco::DMA)
    }

    /// Fetches the descriptor at `address` and its shared descriptor.
    fn fetch(&mut self, address: u64) -> Result<(), Fault> {
        self.addresses[0] = address;
        let word = self.fetch_words(address, 0, 1)?[0];
        self.check_header(word)?;
        let length = (word & header::LENGTH) as usize;
        let mut job = self.fetch_words(address, 0, length)?;
        let mut at = 0;
        if word & header::SHARED != 0 {
            let pointer = self.format.pointer_words();
            let shared = (word >> header::START & header::START_MASK) as usize;
            if job.len() < 1 + pointer || shared == 0 || shared + job.len() > WORDS {
                return Err(Fault::Deco(deco::HEADER));
            }
            let place =
                if pointer == 2 { self.format.address([job[1], job[2]]) } else { job[1].into() };
            self.addresses[1] = place;
            let words = self.fetch_words(place, 0, shared)?;
            let first = words[0];
            let kind = first >> command::SHIFT << command::SHIFT;
            if kind != command::SHARED_HEADER
                || first & header::ONE == 0
                || (first & header::SHARED_LENGTH) as usize != shared
            {
                return Err(Fault::Deco(deco::SHARED_HEADER));
            }
            self.buffer[..shared].copy_from_slice(&words);
            at = shared;
        }
        self.job_at = at;
        job.truncate(WORDS - at);
        self.buffer[at..at + job.len()].copy_from_slice(&job);
        Ok(())
    }

    fn check_header(&mut self, word: u32) -> Result<(), Fault> {
        let kind = word >> command::SHIFT << command::SHIFT;
        let length = (word & header::LENGTH) as usize;
        let is_right = kind == command::HEADER
            && word & header::ONE != 0
            && word & header::ZERO == 0
            && (1..=WORDS).contains(&length);
        if !is_right {
            return Err(Fault::Deco(deco::HEADER));
        }
        match word & header::DO_NOT_RUN {
            0 => Ok(()),
            _ => Err(Fault::Deco(deco::DO_NOT_RUN)),
        }
    }

    fn fetch_words(&mut self, address: u64, from: usize, to: usize) -> Result<Vec<u32>, Fault> {
        let mut bytes = vec![0; 4 * (to - from)];
        let read = self.memory.read(address.wrapping_add(4 * from as u64), &mut bytes);
        read.map_err(|error| self.dma_fault(error))?;
        if to > 1 {
            self.time.commands += self.timing.descriptor_word * (to - from) as f64;
        }
        let words = bytes.as_chunks::<4>().0;
        Ok(words.iter().map(|bytes| self.format.word(*bytes)).collect())
    }

    /// Runs the job descriptor and the shared one, in the order that the header says.
    fn descriptors(&mut self) -> Result<(), Fault> {
        let at = self.job_at;
        let word = self.buffer[at];
        self.index = at;
        self.check_header(word)?;
        let end = at + (word & header::LENGTH) as usize;
        if end > WORDS {
            return Err(Fault::Deco(deco::HEADER));
        }
        if at == 0 {
            let start = (word >> header::START & header::START_MASK) as usize;
            return self.commands(0, start.max(1), end);
        }
        let start = at + 1 + self.format.pointer_words();
        let shared_start = (self.buffer[0] >> header::START & header::START_MASK) as usize;
        if word & header::REVERSE != 0 {
            self.commands(at, start, end)?;
            self.commands(0, shared_start.max(1), at)
        } else {
            self.commands(0, shared_start.max(1), at)?;
            self.commands(at, start, end)
        }
    }

    fn commands(&mut self, begin: usize, start: usize, end: usize) -> Result<(), Fault> {
        (self.begin, self.end, self.next) = (begin, end, start);
        if start > end {
            self.index = begin;
            return Err(Fault::Deco(deco::HEADER));
        }
        while self.next < self.end {
            self.index = self.next;
            self.counts.commands += 1;
            if self.counts.commands > COMMANDS {
                return Err(Fault::Deco(deco::WATCHDOG));
            }
            self.time.commands += self.timing.command;
            let word = self.word()?;
            self.command(word)?;
            self.pump()?;
        }
        Ok(())
    }

    /// The next word of the descriptor.
    pub(super) fn word(&mut self) -> Result<u32, Fault> {
        if self.next >= self.end {
            return Err(Fault::Deco(deco::HEADER));
        }
        self.next += 1;
        Ok(self.buffer[self.next - 1])
    }

    /// The next pointer of the descriptor.
    pub(super) fn pointer(&mut self) -> Result<u64, Fault> {
        let first = self.word()?;
        if !self.format.long_pointers {
            return Ok(first.into());
        }
        Ok(self.format.address([first, self.word()?]))
    }

    /// The next bytes of the descriptor.
    pub(super) fn immediate(&mut self, length: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        for _ in 0..length.div_ceil(4) {
            bytes.extend(self.format.bytes(self.word()?));
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    fn command(&mut self, word: u32) -> Result<(), Fault> {
        match word >> command::SHIFT << command::SHIFT {
            command::KEY => self.key(word, false),
            command::SEQ_KEY => self.key(word, true),
            command::LOAD => self.load(word, false),
            command::SEQ_LOAD => self.load(word, true),
            command::FIFO_LOAD => self.fifo_load(word, false),
            command::SEQ_FIFO_LOAD => self.fifo_load(word, true),
            command::STORE => self.store(word, false),
            command::SEQ_STORE => self.store(word, true),
            command::FIFO_STORE => self.fifo_store(word, false),
            command::SEQ_FIFO_STORE => self.fifo_store(word, true),
            command::MOVE => self.move_data(word, false),
            command::MOVE_LEN => self.move_data(word, true),
            command::OPERATION => self.operation(word),
            command::JUMP => self.jump(word),
            command::MATH => self.math(word),
            command::MATH_IMMEDIATE => self.math_immediate(word),
            command::SEQ_IN_PTR => self.seq_ptr(word, true),
            command::SEQ_OUT_PTR => self.seq_ptr(word, false),
            // Trusted descriptors are not modelled.
            command::SIGNATURE => Err(Fault::Deco(deco::SIGNATURE)),
            _ => Err(Fault::Deco(deco::COMMAND)),
        }
    }

    /// Lets data flow: from the FIFOs to accelerators, and from these to memory.
    pub(super) fn pump(&mut self) -> Result<(), Fault> {
        self.pump_info()?;
        self.pump_class1()?;
        self.pump_class2()?;
        self.drain();
        Ok(())
    }

    fn pump_class1(&mut self) -> Result<(), Fault> {
        while let Some(mut active) = self.class1.active.take() {
            let Some(chunk) = self.class1.queue.pop_front() else {
                self.class1.active = Some(active);
                return Ok(());
            };
            let mut output = Vec::new();
            let mut product = Product { output: &mut output, rounds: 0.0 };
            let registers = &mut self.class1.registers;
            let mut is_des = false;
            let done = match &mut active {
                Active::Block(block) => {
                    is_des = block.is_des();
                    block.feed(&chunk, registers, &mut product)
                }
                Active::Gcm(gcm) => gcm.feed(&chunk, registers, &mut product),
                Active::Ccm(ccm) => ccm.feed(&chunk, registers, &mut product),
                Active::Digest(_) => Err(Fault::Cha(cha::NONE, status::ccb::NO_CHA)),
            };
            let round = if is_des { self.timing.des_round } else { self.timing.aes_round };
            self.time.compute += round * product.rounds;
            self.output_fifo.extend(&output);
            if let Some(last) = chunk.snoop {
                let kind = chunk.kind;
                self.class2.queue.push_back(Chunk { kind, bytes: output, last, snoop: None });
            }
            match done {
                Ok(true) => self.class1.registers.done = true,
                Ok(false) => self.class1.active = Some(active),
                // Output that was computed before the error is written all the same.
                Err(fault) => {
                    self.drain();
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    fn pump_class2(&mut self) -> Result<(), Fault> {
        while let Some(Active::Digest(mut digest)) = self.class2.active.take() {
            let Some(chunk) = self.class2.queue.pop_front() else {
                self.class2.active = Some(Active::Digest(digest));
                return Ok(());
            };
            let (done, blocks) = digest.feed(&chunk, &mut self.class2.registers)?;
            self.time.compute += self.block_time(digest.algorithm()) * blocks as f64;
            if done {
                self.class2.registers.done = true;
            } else {
                self.class2.active = Some(Active::Digest(digest));
            }
        }
        Ok(())
    }

    /// The job's bytes count for the statistics as its operations say.
    pub(super) fn count_bytes(&mut self, fields: u32, class: u32) {
        self.counts.encrypts |= fields & operation::ENCRYPT != 0;
        self.counts.has_cipher |= class == operation::CLASS_1;
        self.counts.has_digest |= class == operation::CLASS_2;
    }
}
