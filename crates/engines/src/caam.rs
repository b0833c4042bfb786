//! The CAAM of the i.MX RT1170 and its relatives: job rings, descriptor controllers, AES, DES, message digests,
//! random numbers and public keys.
//!
//! Register, descriptor and status layouts are those stated in `cpb_drivers::caam`. Where the documents are silent, the
//! model's choice is marked "assumed". Not modelled: protocols other than RSA's and the one that derives keys, trusted
//! descriptors, secure memory, blobs, the queue interface, and what jobs share with each other. A descriptor that uses
//! them ends with an error.

mod accelerator;
mod aead;
mod block;
mod class;
mod control;
mod curve;
mod deco;
mod digest;
mod fault;
mod fifo;
mod global;
mod load;
mod memories;
mod modular;
mod operation;
mod pkha;
mod place;
mod planted;
mod random;
mod ring;
mod rsa;
mod transfer;

use crate::{Engine, Memory};
use cpb_drivers::caam::descriptor::{Format, WORDS};
use cpb_drivers::caam::registers::{RINGS, jrcfg_ms, mcfgr, ring_error};
use cpb_drivers::caam::status;
use deco::{Finished, Job};
use global::Global;
use planted::Inverted;
pub use planted::{Planted, PlantedFault};
use random::Random;
use ring::{Halt, Ring};
use std::collections::VecDeque;

/// What the engine consists of. It tells software by its version registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// Words in registers, rings, descriptors and tables have their most significant byte first. The registers' values
    /// then reach the owner with their bytes reversed.
    pub big_endian: bool,
    /// The upper word of 64-bit pointers and registers is first. The master configuration can exchange the words of
    /// pointers, but not those of registers (assumed).
    pub high_word_first: bool,
    /// Pointers of 64 bits are possible. Software turns them on in the master configuration.
    pub long_pointers: bool,
    /// The distance of register blocks: `PAGE_64K` or `PAGE_4K` of `cpb_drivers::caam::registers`.
    pub page: u32,
    /// The number of job rings, 1 to 4.
    pub rings: usize,
    /// The number of descriptor controllers, 1 to 16.
    pub decos: usize,
    /// The era, which says which features there are.
    pub era: u8,
    /// The version of AES: 3, or 4 with XTS.
    pub aes: Option<u8>,
    /// Whether there is DES.
    pub des: bool,
    /// The version of message digests: 0, or from 1 on with SHA-384 and SHA-512.
    pub md: Option<u8>,
    /// Whether there are random numbers.
    pub rng: bool,
    /// The version of public keys.
    pub pk: Option<u8>,
    /// The module's version register, upper half.
    pub version: u32,
    /// Bits of the master configuration that a boot loader set, beside those after power-on. Linux's driver has 64-bit pointers only if
    /// they are turned on when it starts.
    pub mcfgr: u32,
    /// The random number generator's status register after power-on: 0, or what a boot loader left.
    pub rdsta: u32,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Configuration {
    /// The i.MX RT1170: little-endian, upper word first, 64 KiB blocks, four rings and one controller (NXP's register
    /// header). Its era and the accelerators' versions are assumed: no public document states the values that its
    /// version registers read. NXP's driver gives SHA-384 and SHA-512 to the engine.
    pub const RT1170: Configuration = Configuration {
        big_endian: false,
        high_word_first: true,
        long_pointers: false,
        page: cpb_drivers::caam::registers::PAGE_64K,
        rings: 4,
        decos: 1,
        era: 8,
        aes: Some(3),
        des: true,
        md: Some(2),
        rng: true,
        pk: Some(1),
        version: 0x0A16_0301,
        mcfgr: 0,
        rdsta: 0,
        seed: 0,
    };

    /// An engine for a guest of QEMU, as Linux's driver knows those of i.MX and Layerscape: little-endian, blocks of
    /// 4 KiB, and a random number generator that a boot loader has made ready (both state handles with prediction
    /// resistance, and the secure keys).
    pub const GUEST: Configuration = Configuration {
        big_endian: false,
        high_word_first: false,
        long_pointers: false,
        page: cpb_drivers::caam::registers::PAGE_4K,
        rings: 1,
        decos: 1,
        era: 8,
        aes: Some(4),
        des: true,
        md: Some(2),
        rng: true,
        pk: Some(1),
        version: 0x0A16_0301,
        mcfgr: 0,
        rdsta: 0xC000_0033,
        seed: 0,
    };

    /// How words and pointers lie in memory.
    pub const fn format(&self, long_pointers: bool) -> Format {
        let Configuration { big_endian, high_word_first, .. } = *self;
        Format { big_endian, long_pointers, high_word_first }
    }

    /// The same with pointers of 64 bits, which a boot loader has turned on.
    pub const fn with_long_pointers(self) -> Configuration {
        Configuration { long_pointers: true, mcfgr: mcfgr::LONG_POINTERS, ..self }
    }

    fn rings(&self) -> usize {
        self.rings.clamp(1, RINGS)
    }

    fn decos(&self) -> usize {
        self.decos.clamp(1, 16)
    }
}

/// The time that each step takes, in ticks of the owner's clock.
///
/// A job takes `ring_entry`, the words of its descriptors, its commands and register loads, then the larger one of
/// all transfers and all computing (assumed: they overlap completely), and `finish`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Timing {
    /// From the moment a controller is free until an entry of the input ring has been fetched.
    pub ring_entry: f64,
    /// Fetching a word of a descriptor.
    pub descriptor_word: f64,
    /// Running a command, beside what it moves and computes.
    pub command: f64,
    /// Loading or storing a word of a key, a context or another register.
    pub register_word: f64,
    /// Reading an entry of a scatter-gather table.
    pub table_entry: f64,
    /// Starting a transfer of data; a scatter-gather table starts one for each entry.
    pub dma_start: f64,
    /// A beat of eight bytes.
    pub dma_beat: f64,
    /// A round of AES: a block takes 10, 12 or 14 by the key's size.
    pub aes_round: f64,
    /// A round of DES: a block takes 16, and with triple DES 48.
    pub des_round: f64,
    /// A block of MD5.
    pub md5_block: f64,
    /// A block of SHA-1.
    pub sha1_block: f64,
    /// A block of SHA-224 or SHA-256.
    pub sha256_block: f64,
    /// A block of SHA-384 or SHA-512.
    pub sha512_block: f64,
    /// A word of random numbers.
    pub random_word: f64,
    /// A product of two 32-bit words in a public-key operation.
    pub word_product: f64,
    /// From the last result until the output ring and its registers show the end.
    pub finish: f64,
    /// As [`Timing::finish`], but the controller goes on with the next job meanwhile (assumed: no document tells where
    /// a job spends the time that its work does not explain).
    pub latency: f64,
    /// The unit of the coalescing timer: 64 clocks of the engine.
    pub coalescing: f64,
}

/// What jobs add to the statistics.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    commands: u32,
    bytes: u64,
    encrypts: bool,
    has_cipher: bool,
    has_digest: bool,
}

/// Where a job came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Ring(usize),
    /// Software wrote the descriptor into the controller's buffer.
    Software,
}

/// A job in a controller.
struct Running {
    origin: Origin,
    /// When the next step is done; `None` if it never is.
    due: Option<u64>,
    /// The address of the descriptor, and what the job came to; `None` until it has been fetched.
    work: Option<(u64, Finished)>,
    fault: Option<PlantedFault>,
}

/// A job whose results are written, and whose end the output ring will show.
struct Ending {
    ring: usize,
    due: u64,
    fault: Option<PlantedFault>,
    address: u64,
    status: u32,
}

/// The model.
pub struct Caam {
    configuration: Configuration,
    timing: Timing,
    global: Global,
    random: Random,
    rings: Vec<Ring>,
    decos: Vec<Option<Running>>,
    /// In the order in which they are due.
    endings: VecDeque<Ending>,
    /// The ring that had its turn last.
    last: usize,
    totals: Totals,
    planted: Option<Planted>,
}

/// What the engine has done since power-on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Jobs that ended without an error.
    pub finished: u64,
    /// Jobs that ended with an error status.
    pub failed: u64,
    /// Commands of their descriptors.
    pub commands: u64,
    /// Bytes that were loaded for accelerators.
    pub bytes: u64,
    /// The most jobs that a ring had at a time: waiting, at work, or finished and not yet removed.
    pub deepest: u32,
}

impl Caam {
    /// The engine after power-on.
    pub fn new(timing: Timing, configuration: Configuration) -> Caam {
        Caam {
            configuration,
            timing,
            global: Global::new(&configuration),
            random: Random::new(configuration.seed, configuration.rdsta),
            rings: vec![Ring::default(); configuration.rings()],
            decos: (0..configuration.decos()).map(|_| None).collect(),
            endings: VecDeque::new(),
            last: configuration.rings() - 1,
            totals: Totals::default(),
            planted: None,
        }
    }

    /// What it has done so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Plants a fault in jobs that have not begun yet, instead of one that was planted before.
    pub fn plant(&mut self, planted: Planted) {
        self.planted = Some(planted);
    }

    /// As if its power had been off and on. What it has done still counts.
    pub fn power_on(&mut self) {
        let Caam { totals, planted, .. } = *self;
        *self = Caam { totals, planted, ..Caam::new(self.timing, self.configuration) };
    }

    /// How words and pointers of a ring's jobs lie in memory. The overrides' exact effect is assumed: one inverts the
    /// byte order, the other the order of the words of a pointer.
    fn format(&self, ring: Option<usize>) -> Format {
        let overrides = ring.map_or(0, |ring| self.rings[ring].configuration[0]);
        let has = |bit: u32| overrides & bit != 0;
        let enabled = self.global.mcfgr & mcfgr::LONG_POINTERS != 0;
        let transposed = self.global.mcfgr & mcfgr::TRANSPOSE != 0;
        let big_endian = self.configuration.big_endian != has(jrcfg_ms::PLATFORM_ENDIAN_OVERRIDE);
        let transposed = transposed != has(jrcfg_ms::DOUBLE_WORD_SWAP_OVERRIDE);
        Format {
            big_endian,
            long_pointers: self.configuration.long_pointers && enabled,
            high_word_first: big_endian != transposed,
        }
    }

    /// Resets everything but the random number generator, whose keys last until power-off.
    fn reset(&mut self) {
        self.rings.fill(Ring::default());
        self.decos.iter_mut().for_each(|deco| *deco = None);
        self.endings.clear();
        self.global.reset(&self.configuration);
    }

    /// Gives each free controller a job of the next ring that has one.
    fn next_turn(&mut self, now: u64) {
        for number in 0..self.decos.len() {
            if self.decos[number].is_some() || (number == 0 && self.global.is_granted()) {
                continue;
            }
            let rings = self.rings.len();
            let in_turn = (1..=rings).map(|step| (self.last + step) % rings);
            let Some(ring) = in_turn.into_iter().find(|&ring| self.rings[ring].is_ready()) else {
                continue;
            };
            self.last = ring;
            self.rings[ring].in_flight += 1;
            let due = Some(later(now, self.timing.ring_entry));
            let fault = self.planted.as_mut().and_then(Planted::begin);
            let origin = Origin::Ring(ring);
            self.decos[number] = Some(Running { origin, due, work: None, fault });
        }
    }

    /// Fetches a job and computes it. Its results are written at the end.
    fn begin(&mut self, running: &mut Running, memory: &mut dyn Memory) {
        let Origin::Ring(number) = running.origin else { return };
        let format = self.format(Some(number));
        let ring = &mut self.rings[number];
        let size = 4 * format.pointer_words() as u64;
        let entry_at = size * u64::from(ring.read_index);
        let place = ring.input(&self.configuration).wrapping_add(entry_at);
        ring.read_index = (ring.read_index + 1) % ring.input_size.max(1);
        ring.pending = ring.pending.saturating_sub(1);
        let flushes = ring.halt == Halt::Flushing;
        let mut entry = [0; 8];
        let read = memory.read(place, &mut entry[..size as usize]);
        let word = |at: usize| format.word(core::array::from_fn(|byte| entry[at + byte]));
        let address = if size == 8 { format.address([word(0), word(4)]) } else { word(0).into() };
        self.global.counters.dequeued += 1;
        let finished = if flushes {
            Finished { status: status::deco_error(0, status::deco::RESET), ..Finished::default() }
        } else if let Err(error) = read {
            let status = status::deco_error(0, status::deco::DMA);
            Finished { status, failed_at: Some(error.address), ..Finished::default() }
        } else {
            let Caam { configuration, timing, random, .. } = self;
            let mut inverted;
            let memory: &mut dyn Memory = if running.fault == Some(PlantedFault::Descriptor) {
                inverted = Inverted { memory, address };
                &mut inverted
            } else {
                memory
            };
            Job::new(memory, configuration, timing, random, format, number as u32).run(address)
        };
        let time = finished.time + self.timing.finish;
        running.due = running.due.map(|due| later(due, time));
        if running.fault == Some(PlantedFault::NeverEnds) {
            running.due = None;
        }
        running.work = Some((address, finished));
    }

    /// Runs the descriptor in controller 0's buffer.
    fn begin_buffer(&mut self, running: &mut Running, memory: &mut dyn Memory) {
        let format = self.format(None);
        let buffer: [u32; WORDS] = self.global.buffer;
        let Caam { configuration, timing, random, .. } = self;
        let job = Job::new(memory, configuration, timing, random, format, 0);
        let finished = job.run_buffer(buffer);
        running.due = running.due.map(|due| later(due, finished.time));
        running.work = Some((0, finished));
    }

    /// Writes the results of a job.
    fn end(
        &mut self,
        running: &Running,
        address: u64,
        job: Finished,
        now: u64,
        memory: &mut dyn Memory,
    ) {
        let Finished { mut status, outputs, counts, mut failed_at, .. } = job;
        for output in outputs {
            if let Err(error) = memory.write(output.address, &output.bytes) {
                failed_at = Some(error.address);
                if status & status::SOURCE == 0 {
                    status = status::deco_error(output.index, status::deco::DMA);
                }
                break;
            }
        }
        if let Some(address) = failed_at {
            self.global.fault_address = address;
        }
        let is_good = status == status::GOOD;
        self.totals.finished += u64::from(is_good);
        self.totals.failed += u64::from(!is_good);
        self.totals.commands += u64::from(counts.commands);
        self.totals.bytes += counts.bytes;
        self.global.counters.add(&counts);
        let Origin::Ring(ring) = running.origin else {
            self.global.end_buffer(status);
            return;
        };
        let due = later(now, self.timing.latency);
        self.endings.push_back(Ending { ring, due, fault: running.fault, address, status });
    }

    /// Writes a job's entry of the output ring.
    fn report(&mut self, ending: &Ending, memory: &mut dyn Memory) {
        let Ending { ring: number, due, fault, address, status } = *ending;
        let format = self.format(Some(number));
        let ring = &mut self.rings[number];
        let mut entry = Vec::new();
        if format.long_pointers {
            entry.extend(format.long(address).map(|word| format.bytes(word)).concat());
        } else {
            entry.extend(format.bytes(address as u32));
        }
        entry.extend(format.bytes(status));
        let at = entry.len() as u64 * u64::from(ring.write_index);
        ring.in_flight -= 1;
        let place = ring.output(&self.configuration).wrapping_add(at);
        if fault != Some(PlantedFault::OutputRing) && memory.write(place, &entry).is_ok() {
            ring.finish(status, due, &self.timing);
        } else {
            ring.error(ring_error::OUTPUT);
        }
        ring.try_halt();
    }

    /// Performs one step of the job in controller `number`.
    fn step(&mut self, number: usize, now: u64, memory: &mut dyn Memory) {
        let Some(mut running) = self.decos[number].take() else { return };
        match (running.work.take(), running.origin) {
            (Some((address, job)), _) => {
                self.end(&running, address, job, now, memory);
                self.next_turn(now);
            }
            (None, Origin::Ring(_)) => {
                self.begin(&mut running, memory);
                self.decos[number] = Some(running);
            }
            (None, Origin::Software) => {
                self.begin_buffer(&mut running, memory);
                self.decos[number] = Some(running);
            }
        }
    }

    /// The controller whose step is due first.
    fn next_step(&self) -> Option<(u64, usize)> {
        let decos = self.decos.iter().enumerate();
        decos.filter_map(|(number, deco)| Some((deco.as_ref()?.due?, number))).min()
    }
}

pub(crate) fn later(now: u64, ticks: f64) -> u64 {
    now.saturating_add(ticks.round() as u64)
}

impl Engine for Caam {
    fn name(&self) -> &'static str {
        "CAAM"
    }

    fn read(&mut self, offset: u32) -> u32 {
        let value = self.register(offset);
        if self.configuration.big_endian { value.swap_bytes() } else { value }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) {
        let value = if self.configuration.big_endian { value.swap_bytes() } else { value };
        self.set_register(offset, value, now);
        self.next_turn(now);
    }

    fn advance(&mut self, now: u64, memory: &mut dyn Memory) {
        loop {
            let step = self.next_step().filter(|(due, _)| *due <= now);
            let ending = self.endings.front().map(|ending| ending.due).filter(|due| *due <= now);
            match (step, ending) {
                (Some((due, number)), end) if end.is_none_or(|end| due < end) => {
                    self.step(number, due, memory);
                }
                (_, Some(due)) => {
                    if let Some(ending) = self.endings.pop_front() {
                        self.report(&ending, memory);
                    }
                    // A place of the output ring may be free again.
                    self.next_turn(due);
                }
                _ => break,
            }
        }
        for ring in &mut self.rings {
            ring.update_interrupt(now, &self.timing);
        }
    }

    fn next_event(&self) -> Option<u64> {
        let timers = self.rings.iter().filter_map(|ring| ring.timer(&self.timing));
        let endings = self.endings.front().map(|ending| ending.due);
        timers.chain(self.next_step().map(|(due, _)| due)).chain(endings).min()
    }

    /// A line for each job ring.
    fn interrupts(&self) -> u32 {
        let lines = self.rings.iter().enumerate();
        lines.fold(0, |lines, (number, ring)| lines | u32::from(ring.line()) << number)
    }

    fn delay(&mut self, ticks: u64) {
        for running in self.decos.iter_mut().flatten() {
            running.due = running.due.map(|due| due.saturating_add(ticks));
        }
    }
}
