//! NXP's CAAM (cryptographic acceleration and assurance module) of the i.MX RT1170 and of many i.MX and Layerscape
//! processors: AES, DES, SHA, HMAC, random numbers and public keys.
//!
//! The engine fetches job descriptors from a ring in memory. A descriptor is a small program of up to 64 words that
//! loads keys, contexts and data, starts an operation, and stores the results. [`Caam`] sets up the engine and one of
//! its rings and runs jobs; [`provider`] offers it to the timed loop. [`port`] is what stands between Mbed TLS and the
//! engine on NXP's boards, through another ring.

pub mod descriptor;
pub mod job;
pub mod port;
pub mod provider;
mod public_key;
pub mod registers;
pub mod ring;
pub mod status;

use crate::queue::{POLLS, address};
use cpb_core::{Bus, Data, Error, Meaning, Unsupported};
use descriptor::{Descriptor, Format, SgtEntry, class, fifo_load, operation, register, sgt};
use job::{Hash, Places, Span, Task};
use registers::{mcfgr, rdsta};
use ring::{JobRing, Place, RingMemory};

/// The master configuration after a reset (NXP's driver fsl_caam writes it).
const MCFGR_RESET: u32 = 0x0008_2300;

/// How the driver learns that a job has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    /// It reads the ring's registers until they say so.
    Polling,
    /// It waits for the ring's interrupt, which comes with every job that ends.
    Interrupt,
    /// It waits for the ring's interrupt, which comes when enough jobs have ended, or when one has waited long enough.
    Coalesced {
        /// So many jobs.
        count: u8,
        /// So long: in units of 64 engine clocks.
        timer: u16,
    },
}

/// The engine's first block and the ring to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// The engine's base address.
    pub base: u32,
    /// The ring.
    pub ring: Place,
}

/// The number of parts that [`Caam::hash`] takes.
pub const PARTS: usize = 4;

/// The most random bytes of one job.
const RANDOM: usize = 0xFFFF;

/// A split key, or a table of message parts.
type Buffer = ring::Lines<[u8; 64]>;

const _: () = assert!(PARTS * sgt::SIZE <= 64);

/// The memory that driver and engine share, for a ring of `N` jobs. It must be where a bus master can reach it.
#[repr(C)]
pub struct Work<const N: usize> {
    ring: RingMemory<N>,
    split_key: Buffer,
    table: Buffer,
}

impl<const N: usize> Work<N> {
    /// Nothing but zeros.
    pub const EMPTY: Work<N> = Work {
        ring: RingMemory::EMPTY,
        split_key: ring::Lines([0; 64]),
        table: ring::Lines([0; 64]),
    };
}

/// The engine with its bus, one of its rings, and its memory.
pub struct Caam<'w, B> {
    bus: B,
    base: u32,
    ring: JobRing<'w>,
    split_key: &'w mut Buffer,
    table: &'w mut Buffer,
}

impl<'w, B: Bus> Caam<'w, B> {
    /// Resets the engine and sets up the ring.
    ///
    /// # Errors
    /// [`Unsupported::Memory`] if no bus master reaches `work`; [`Error::Timeout`] if the ring does not answer.
    pub fn new<const N: usize>(
        bus: B,
        Addresses { base, ring }: Addresses,
        work: &'w mut Work<N>,
    ) -> Result<Self, Error> {
        let Work { ring: memory, split_key, table } = work;
        let ring = JobRing::new(ring, memory);
        let mut caam = Caam { bus, base, ring, split_key, table };
        // As NXP's driver does it.
        caam.bus.write(base + registers::MCFGR, mcfgr::RESET);
        caam.bus.write(base + registers::MCFGR, mcfgr::RESET | mcfgr::DMA_RESET);
        caam.bus.write(base + registers::MCFGR, MCFGR_RESET);
        caam.reset()?;
        Ok(caam)
    }

    /// The bus.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// Flushes the ring and sets it up anew. Afterwards the engine writes to no job's memory.
    ///
    /// # Errors
    /// As for [`Caam::new`].
    pub fn reset(&mut self) -> Result<(), Error> {
        self.ring.reset(&mut self.bus)?;
        self.ring.notice(&mut self.bus, Completion::Polling);
        Ok(())
    }

    /// The number of jobs that ended without an error, as the output ring reported them.
    pub fn finished(&self) -> u64 {
        self.ring.finished
    }

    /// Interrupts so far.
    pub fn interrupts(&self) -> u64 {
        self.ring.interrupts
    }

    /// Runs a descriptor alone, and waits for it. The caller has cleaned what it points to.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if it has too many words; [`Error::Contract`] if jobs are in flight; the error that the
    /// engine reports; or [`Error::Timeout`].
    pub fn run(&mut self, mut job: Descriptor, how: Completion) -> Result<(), Error> {
        let words = job.finish().map_err(Unsupported::from)?;
        self.run_alone(how, |place| Descriptor::copied(words, place, Format::RT1170))
    }

    /// Runs the descriptor that `write` makes alone, and waits for it.
    fn run_alone(
        &mut self,
        how: Completion,
        write: impl FnOnce(&mut [[u8; 4]]) -> job::InPlace<'_>,
    ) -> Result<(), Error> {
        if self.ring.in_flight() > 0 {
            return Err(Error::Contract);
        }
        self.ring.notice(&mut self.bus, how);
        self.ring.lay(&mut self.bus, 0, write)?;
        self.ring.run(&mut self.bus, 0, how)
    }

    /// Runs the descriptor at a bus address, and waits for it.
    ///
    /// # Errors
    /// As for [`Caam::run`].
    pub fn run_at(&mut self, first: u32, how: Completion) -> Result<(), Error> {
        if self.ring.in_flight() > 0 {
            return Err(Error::Contract);
        }
        self.ring.notice(&mut self.bus, how);
        self.ring.enter_at(&mut self.bus, first);
        self.ring.finish_alone(&mut self.bus, how)
    }

    /// Hashes up to [`PARTS`] parts as one message, through a scatter-gather table.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if there are more parts, or if `digest` has another length than the hash;
    /// [`Unsupported::Memory`] if no bus master reaches them; otherwise as for [`Caam::run`].
    pub fn hash(
        &mut self,
        hash: Hash,
        parts: &[&[u8]],
        digest: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        if digest.len() != hash.length() || parts.len() > PARTS {
            return Err(Unsupported::Length.into());
        }
        let table = self.gather(parts)?;
        self.bus.clean(digest);
        let mut job = Descriptor::job(Format::RT1170);
        let kind = operation::CLASS_2 | hash.algorithm() | operation::INIT_FINAL;
        job.operation(kind | operation::ENCRYPT);
        let source = if total > 0 { descriptor::SGT } else { 0 };
        let message = class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2 | source;
        job.fifo_load(message, table.into(), total as u32);
        let output = address(&self.bus, digest)?.into();
        job.store(class::TWO | register::CONTEXT, 0, output, digest.len());
        self.run(job, how)?;
        self.bus.invalidate(digest);
        Ok(())
    }

    /// Writes a table of the parts that are not empty, and returns its address.
    fn gather(&mut self, parts: &[&[u8]]) -> Result<u32, Error> {
        let used = parts.iter().filter(|part| !part.is_empty());
        let last = used.clone().count();
        for (at, (place, part)) in self.table.0.chunks_exact_mut(sgt::SIZE).zip(used).enumerate() {
            self.bus.clean(part);
            let ends = if at + 1 == last { sgt::FINAL } else { 0 };
            let (length, address) = (part.len() as u32 | ends, address(&self.bus, part)?);
            let entry = SgtEntry { address: address.into(), length, offset: 0 };
            place.copy_from_slice(&entry.bytes(Format::RT1170));
        }
        self.bus.clean(&self.table.0);
        address(&self.bus, &self.table.0)
    }

    /// Fills `output` with random numbers of state handle 0, which is instantiated first if that has not been done.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if `output` is empty or longer than 65,535 bytes; [`Unsupported::Memory`] if no bus
    /// master reaches it; otherwise as for [`Caam::run`].
    pub fn random(&mut self, output: &mut [u8], how: Completion) -> Result<(), Error> {
        if output.is_empty() || output.len() > RANDOM {
            return Err(Unsupported::Length.into());
        }
        self.instantiate(how)?;
        self.bus.clean(output);
        let Span { address, length } = span(&self.bus, output)?;
        let input = Span { address: 0, length };
        let places = Places { input, output: address, ..Places::default() };
        self.run_alone(how, |words| job::descriptor(Task::Random, &places, words))?;
        self.bus.invalidate(output);
        Ok(())
    }

    /// Instantiates state handle 0 of the generator, which the engine seeds itself, unless that has been done.
    ///
    /// # Errors
    /// As for [`Caam::run`].
    pub fn instantiate(&mut self, how: Completion) -> Result<(), Error> {
        if self.bus.read(self.base + registers::RDSTA) & rdsta::INSTANTIATED != 0 {
            return Ok(());
        }
        let mut job = Descriptor::job(Format::RT1170);
        job.operation(operation::CLASS_1 | operation::RNG | operation::INIT);
        self.run(job, how)
    }

    /// Derives the two states of an HMAC from its key, and returns where they are. They stay there until the next key
    /// is derived.
    ///
    /// # Errors
    /// As for [`Caam::run`].
    pub fn derive_key(&mut self, hash: Hash, key: &[u8], how: Completion) -> Result<Span, Error> {
        let mut digest = ring::Lines([0; 64]);
        let key = if key.len() > hash.block() {
            // RFC 2104, section 2.
            self.hash(hash, &[key], &mut digest.0[..hash.length()], how)?;
            &digest.0[..hash.length()]
        } else {
            key
        };
        self.split_key.0[..key.len()].copy_from_slice(key);
        self.bus.clean(&self.split_key.0);
        let address = address(&self.bus, &self.split_key.0)?;
        let mac_key = Span { address, length: key.len() };
        let places = Places { mac_key, ..Places::default() };
        self.run_alone(how, |words| job::descriptor(Task::DeriveKey(hash), &places, words))?;
        self.bus.invalidate(&mut self.split_key.0);
        Ok(Span { address, length: hash.split_key() })
    }
}

/// Where a buffer is for the engine.
fn span(bus: &impl Bus, buffer: &[u8]) -> Result<Span, Error> {
    // An empty buffer may be anywhere.
    let address = if buffer.is_empty() { 0 } else { address(bus, buffer)? };
    Ok(Span { address, length: buffer.len() })
}

/// Input and output of a message for the engine, cleaned.
fn message(bus: &mut impl Bus, data: &Data<'_>, reads_only: bool) -> Result<(Span, u32), Error> {
    match data {
        Data::Apart { input, output } => {
            bus.clean(input);
            // Lines that the core wrote earlier must not be written back over the result.
            bus.clean(output);
            Ok((span(bus, input)?, span(bus, output)?.address))
        }
        Data::InPlace(_) if reads_only => Err(Unsupported::Mode.into()),
        Data::InPlace(buffer) => {
            bus.clean(buffer);
            let place = span(bus, buffer)?;
            Ok((place, place.address))
        }
    }
}

/// The meaning of a job's status word, which is not 0.
pub fn error(word: u32) -> Error {
    use status::{ccb, cha, deco};
    let meaning = match word & status::SOURCE {
        _ if status::is_mismatch(word) => return Error::Refused,
        status::CCB if word >> status::CHA & 0xF == cha::PK => match word & 0xF {
            ccb::DATA_SIZE | ccb::PK_A_SIZE | ccb::PK_B_SIZE => Meaning::Length,
            ccb::KEY_SIZE | ccb::PK_ZERO | ccb::PK_EVEN => Meaning::Key,
            ccb::MODE | ccb::SEQUENCE | ccb::NO_CHA => Meaning::Descriptor,
            ccb::HARDWARE => Meaning::Hardware,
            _ => Meaning::Undocumented,
        },
        status::CCB => match word & 0xF {
            ccb::DATA_SIZE => Meaning::Length,
            ccb::KEY_SIZE | ccb::PARITY => Meaning::Key,
            ccb::MODE | ccb::SEQUENCE | ccb::CCM_AAD | ccb::COMBINATION | ccb::NO_CHA => {
                Meaning::Descriptor
            }
            ccb::HARDWARE | ccb::NOT_RESET => Meaning::Hardware,
            _ => Meaning::Undocumented,
        },
        status::DECO | status::RING => match word & status::ERROR_MASK {
            // The word does not tell a transfer's direction.
            deco::DMA | deco::FRAME | deco::SGT_NULL => Meaning::Read,
            deco::KEY | deco::NO_SECURE_KEY => Meaning::Key,
            deco::SGT_LENGTH => Meaning::Length,
            deco::RESET | deco::FAIL_MODE | deco::WATCHDOG | deco::RING_CONTROL | deco::BURSTER => {
                Meaning::Hardware
            }
            deco::COMMAND..=deco::CONTEXT | deco::DO_NOT_RUN..=deco::PROTOCOL_SIZE => {
                Meaning::Descriptor
            }
            _ => Meaning::Undocumented,
        },
        _ => Meaning::Undocumented,
    };
    Error::Engine { code: word, meaning }
}
