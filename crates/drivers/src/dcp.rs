//! NXP's DCP (data co-processor) of the i.MX RT10xx: AES-128, SHA-1, SHA-256, CRC-32, copies and fills.
//!
//! The engine reads work packets from memory. A channel runs a chain of them; its semaphore counts those that are
//! left. [`Dcp`] sets the engine up and runs packets; [`provider`] offers it to the timed loop.

pub mod packet;
pub mod port;
pub mod provider;
pub mod registers;

use crate::queue::{PATIENCE, POLLS, address};
use cpb_core::{Bus, Error, Interrupt, Meaning, Unsupported};
use packet::{Packet, Words, control0, control1};
use registers::{CHANNELS, channel, ctrl, stat, status};

/// The number of packets that can be in flight.
pub const QUEUE: usize = 64;

/// A key, an IV or a digest in memory. It fills a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Payload([u8; 32]);

/// The engine's context buffer.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Context([u8; registers::CONTEXT_SIZE.next_multiple_of(32)]);

/// The memory that driver and engine share, in lines of its own. It must be where a bus master can reach it.
pub struct Work {
    context: Context,
    packets: [Packet; QUEUE],
    payloads: [Payload; QUEUE],
}

impl Work {
    /// Nothing but zeros.
    pub const EMPTY: Work = Work {
        context: Context([0; registers::CONTEXT_SIZE.next_multiple_of(32)]),
        packets: [Packet::EMPTY; QUEUE],
        payloads: [Payload([0; 32]); QUEUE],
    };
}

/// How the driver learns that a packet is finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    /// It reads the engine's registers until they say so.
    Polling,
    /// It waits for the engine's interrupt.
    Interrupt,
}

/// A hash of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hash {
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// CRC-32 with the polynomial 0x04C11DB7, begun with ones, neither reflected nor inverted.
    Crc32,
}

impl Hash {
    /// The length of a digest in bytes.
    pub const fn length(self) -> usize {
        match self {
            Hash::Sha1 => 20,
            Hash::Sha256 => 32,
            Hash::Crc32 => 4,
        }
    }

    const fn select(self) -> u32 {
        match self {
            Hash::Sha1 => control1::SHA_1 << control1::HASH,
            Hash::Sha256 => control1::SHA_256 << control1::HASH,
            Hash::Crc32 => control1::CRC_32 << control1::HASH,
        }
    }

    /// The digest of the empty message, which the engine cannot compute (FIPS 180-4).
    const fn of_nothing(self) -> [u8; 32] {
        match self {
            Hash::Sha1 => [
                0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60,
                0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
            Hash::Sha256 => [
                0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f,
                0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b,
                0x78, 0x52, 0xb8, 0x55,
            ],
            Hash::Crc32 => {
                let mut ones = [0; 32];
                let mut place = 0;
                while place < 4 {
                    ones[place] = 0xff;
                    place += 1;
                }
                ones
            }
        }
    }
}

/// A mode of AES-128.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Electronic codebook.
    Ecb,
    /// Cipher block chaining.
    Cbc,
}

/// Where a packet finds its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// In a slot of the engine, 0 to 3.
    Slot(u8),
    /// In the payload, before the IV.
    Payload,
}

/// The engine with its bus and its memory.
pub struct Dcp<'w, B> {
    bus: B,
    base: u32,
    line: Interrupt,
    work: &'w mut Work,
    /// The key in slot 0, which a reset of the engine forgets.
    key: Option<[u8; 16]>,
    /// The slots that have a key, one bit each.
    loaded: u8,
    /// Who loaded that key through [`port`]; 0 if it was loaded otherwise.
    owner: usize,
    /// Interrupts so far.
    interrupts: u64,
    /// Packets that the engine took off its semaphores so far.
    finished: u64,
    /// By channel, the packets that were on its semaphore when it was last read.
    in_flight: [u32; CHANNELS],
}

impl<'w, B: Bus> Dcp<'w, B> {
    /// Sets up the engine at `base`, whose interrupts are merged on `line`.
    ///
    /// # Errors
    /// [`Unsupported::Memory`] if no bus master reaches `work`; [`Error::Timeout`] if the engine does not come out of
    /// its reset.
    pub fn new(bus: B, base: u32, line: Interrupt, work: &'w mut Work) -> Result<Self, Error> {
        let mut dcp = Dcp {
            bus,
            base,
            line,
            work,
            key: None,
            loaded: 0,
            owner: 0,
            interrupts: 0,
            finished: 0,
            in_flight: [0; CHANNELS],
        };
        dcp.reset()?;
        Ok(dcp)
    }

    /// The bus.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    fn read(&mut self, register: u32) -> u32 {
        self.bus.read(self.base + register)
    }

    fn write(&mut self, register: u32, value: u32) {
        self.bus.write(self.base + register, value);
    }

    /// Stops whatever the engine does, and makes it ready.
    ///
    /// # Errors
    /// As for [`Dcp::new`].
    pub fn reset(&mut self) -> Result<(), Error> {
        let context = address(&self.bus, &self.work.context.0)?;
        self.in_flight = [0; CHANNELS];
        self.loaded = 0;
        self.write(
            registers::CTRL,
            ctrl::RESET | ctrl::CLOCK_GATE | ctrl::HAS_CRYPTO | ctrl::HAS_SHA,
        );
        self.write(
            registers::CTRL,
            ctrl::HAS_CRYPTO | ctrl::HAS_SHA | ctrl::GATHER_RESIDUAL_WRITES,
        );
        self.write(registers::STAT + registers::CLEAR, 0xFF);
        for number in 0..CHANNELS {
            self.write(channel(number).status + registers::CLEAR, 0xFF);
        }
        if (0..POLLS).all(|_| self.read(registers::CTRL) & ctrl::RESET != 0) {
            return Err(Error::Timeout);
        }
        let works = ctrl::GATHER_RESIDUAL_WRITES | ctrl::SWITCH_CONTEXT | ctrl::INTERRUPTS;
        self.write(registers::CTRL, works);
        self.write(registers::CHANNELCTRL, registers::MERGE_CHANNEL_0 | ((1 << CHANNELS) - 1));
        self.write(registers::CONTEXT, context);
        // What the core wrote to the buffer must not be written back over what the engine writes.
        self.bus.clean(&self.work.context.0);
        if let Some(key) = self.key {
            self.load_key(0, &key);
        }
        Ok(())
    }

    /// Loads a key into a slot of the engine, 0 to 3.
    pub fn load_key(&mut self, slot: u8, key: &[u8; 16]) {
        self.write(registers::KEY, u32::from(slot & 3) << 4);
        for word in key.chunks_exact(4) {
            let word = core::array::from_fn(|byte| word[byte]);
            self.write(registers::KEYDATA, u32::from_le_bytes(word));
        }
        self.loaded |= 1 << (slot & 3);
        if slot == 0 {
            (self.key, self.owner) = (Some(*key), 0);
        }
    }

    /// Makes `count` packets, of which the first is at `first`, run on a channel that is idle.
    fn start(&mut self, number: usize, first: u32, count: u32) {
        self.bus.barrier();
        self.write(channel(number).packet, first);
        self.write(channel(number).semaphore, count);
        self.in_flight[number] = count;
    }

    /// The value of a channel's semaphore. What it lost since it was last read has been finished.
    fn on_semaphore(&mut self, number: usize) -> u32 {
        let now = self.read(channel(number).semaphore) >> 16 & 0xFF;
        self.finished += u64::from(self.in_flight[number].saturating_sub(now));
        self.in_flight[number] = now;
        now
    }

    /// The number of packets that the engine has finished, by the count of its semaphores.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// The number of packets that a channel has left. An error that stopped it is returned, and the engine is reset.
    fn left(&mut self, number: usize) -> Result<u32, Error> {
        let now = self.on_semaphore(number);
        if now == 0 || self.read(registers::STAT) & stat::READY << number != 0 {
            return Ok(now);
        }
        // It may have finished between the two reads.
        let now = self.on_semaphore(number);
        let status = self.read(channel(number).status);
        if now == 0 && status & status::ERRORS == 0 {
            return Ok(0);
        }
        self.reset()?;
        Err(error(status))
    }

    /// Waits until a channel has at most `most` packets left.
    fn wait(&mut self, number: usize, most: u32, how: Completion) -> Result<(), Error> {
        for _ in 0..POLLS {
            let left = self.left(number)?;
            if left <= most {
                return if left == 0 { self.ended(number) } else { Ok(()) };
            }
            if how == Completion::Interrupt {
                let raised = self.bus.wait_for_interrupt(self.line, PATIENCE);
                if raised.is_err() {
                    break;
                }
                self.interrupts += 1;
                self.write(registers::STAT + registers::CLEAR, ctrl::INTERRUPTS);
            }
        }
        self.reset()?;
        Err(Error::Timeout)
    }

    /// Looks at the status of a channel that has nothing left: a wrong digest stops nothing.
    fn ended(&mut self, number: usize) -> Result<(), Error> {
        let status = self.read(channel(number).status);
        if status & status::ERRORS == 0 {
            return Ok(());
        }
        self.reset()?;
        Err(error(status))
    }

    /// Runs one packet on channel 0 and waits for it. The caller has cleaned what the packet points to.
    ///
    /// # Errors
    /// The error that the engine reports, or [`Error::Timeout`].
    pub fn run(&mut self, words: Words, how: Completion) -> Result<(), Error> {
        let interrupt = if how == Completion::Interrupt { control0::INTERRUPT } else { 0 };
        let control0 = words.control0 | control0::DECREMENT | interrupt;
        let first = self.lay(&Words { control0, ..words })?;
        self.run_at(first, how)
    }

    /// Writes a packet as it is and returns its address.
    ///
    /// # Errors
    /// [`Unsupported::Memory`] if no bus master reaches it.
    pub fn lay(&mut self, words: &Words) -> Result<u32, Error> {
        self.work.packets[0].set(words);
        self.bus.clean(&self.work.packets[0].0);
        address(&self.bus, &self.work.packets[0].0)
    }

    /// Runs the packet at a bus address on channel 0, with the semaphore at 1, and waits for it.
    ///
    /// # Errors
    /// As for [`Dcp::run`].
    pub fn run_at(&mut self, first: u32, how: Completion) -> Result<(), Error> {
        self.start(0, first, 1);
        self.wait(0, 0, how)
    }

    /// The address of a payload, after it has been written.
    fn payload(&mut self, place: usize, parts: [&[u8]; 2]) -> Result<u32, Error> {
        let payload = &mut self.work.payloads[place].0;
        let [first, second] = parts;
        payload[..first.len()].copy_from_slice(first);
        payload[first.len()..][..second.len()].copy_from_slice(second);
        self.bus.clean(&self.work.payloads[place].0);
        address(&self.bus, &self.work.payloads[place].0)
    }

    /// Copies a digest out of a payload. The engine writes it with its last byte first.
    fn digest(&mut self, place: usize, digest: &mut [u8]) {
        self.bus.invalidate(&mut self.work.payloads[place].0);
        let reversed = self.work.payloads[place].0[..digest.len()].iter().rev();
        digest.iter_mut().zip(reversed).for_each(|(to, from)| *to = *from);
    }

    /// Hashes a message in one packet.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if `digest` has another length than the hash, [`Unsupported::Memory`] if no bus master
    /// reaches the message; otherwise as for [`Dcp::run`].
    pub fn hash(
        &mut self,
        hash: Hash,
        message: &[u8],
        digest: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        if digest.len() != hash.length() {
            return Err(Unsupported::Length.into());
        }
        if message.is_empty() {
            digest.copy_from_slice(&hash.of_nothing()[..digest.len()]);
            return Ok(());
        }
        self.bus.clean(message);
        let payload = self.payload(0, [&[], &[]])?;
        let words = hash_words(hash, address(&self.bus, message)?, message.len(), payload);
        self.run(words, how)?;
        self.digest(0, digest);
        Ok(())
    }

    /// Encrypts or decrypts whole blocks with AES-128. `iv` is ignored in ECB mode.
    ///
    /// # Errors
    /// [`Unsupported::Length`] unless input and output have the same length, a multiple of 16 and not 0;
    /// [`Unsupported::Memory`] if no bus master reaches them; [`Meaning::Key`] if the slot has no key since the last
    /// reset; otherwise as for [`Dcp::run`].
    pub fn cipher(
        &mut self,
        cipher: Cipher,
        iv: &[u8; 16],
        input: &[u8],
        output: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        blocks(input.len(), output.len())?;
        if let Key::Slot(slot) = cipher.key
            && self.loaded >> (slot & 3) & 1 == 0
        {
            // The engine would take whatever is in the slot.
            return Err(Error::Engine { code: 0, meaning: Meaning::Key });
        }
        self.bus.clean(input);
        self.bus.clean(output);
        let payload = self.payload(0, [iv, &[]])?;
        let places = (address(&self.bus, input)?, address(&self.bus, output)?);
        self.run(cipher_words(cipher, places, input.len(), payload), how)?;
        self.bus.invalidate(output);
        Ok(())
    }

    /// Copies `input` to `output`.
    ///
    /// # Errors
    /// [`Unsupported::Length`] unless both have the same length, which is not 0; otherwise as for [`Dcp::cipher`].
    pub fn copy(&mut self, input: &[u8], output: &mut [u8], how: Completion) -> Result<(), Error> {
        if input.len() != output.len() || input.is_empty() {
            return Err(Unsupported::Length.into());
        }
        self.bus.clean(input);
        self.bus.clean(output);
        let places = (address(&self.bus, input)?, address(&self.bus, output)?);
        self.run(copy_words(places, input.len()), how)?;
        self.bus.invalidate(output);
        Ok(())
    }

    /// Fills `output`, a number of whole words, with the bytes of `value`, the lowest first.
    ///
    /// # Errors
    /// [`Unsupported::Length`] unless the length is a multiple of 4 and not 0; otherwise as for [`Dcp::cipher`].
    pub fn fill(&mut self, value: u32, output: &mut [u8], how: Completion) -> Result<(), Error> {
        if output.is_empty() || !output.len().is_multiple_of(4) {
            return Err(Unsupported::Length.into());
        }
        self.bus.clean(output);
        let places = (value, address(&self.bus, output)?);
        let words = copy_words(places, output.len());
        self.run(Words { control0: words.control0 | control0::FILL, ..words }, how)?;
        self.bus.invalidate(output);
        Ok(())
    }
}

/// What a packet does with AES.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cipher {
    /// The mode.
    pub mode: Mode,
    /// Whether it encrypts.
    pub encrypts: bool,
    /// Where its key is.
    pub key: Key,
}

fn cipher_words(
    cipher: Cipher,
    (source, destination): (u32, u32),
    size: usize,
    payload: u32,
) -> Words {
    let Cipher { mode, encrypts, key } = cipher;
    let (key0, key1) = match key {
        Key::Slot(slot) => (0, u32::from(slot & 3) << control1::KEY),
        Key::Payload => (control0::PAYLOAD_KEY, 0),
    };
    let (init, select) = match mode {
        Mode::Ecb => (0, control1::ECB),
        Mode::Cbc => (control0::CIPHER_INIT, control1::CBC),
    };
    Words {
        control0: control0::CIPHER | init | key0 | if encrypts { control0::ENCRYPT } else { 0 },
        control1: control1::AES_128 | select | key1,
        source,
        destination,
        size: size as u32,
        payload,
        ..Words::default()
    }
}

fn hash_words(hash: Hash, source: u32, size: usize, payload: u32) -> Words {
    Words {
        control0: control0::HASH | control0::HASH_INIT | control0::HASH_TERM,
        control1: hash.select(),
        source,
        size: size as u32,
        payload,
        ..Words::default()
    }
}

fn copy_words((source, destination): (u32, u32), size: usize) -> Words {
    Words { control0: control0::COPY, source, destination, size: size as u32, ..Words::default() }
}

/// Whether AES accepts these lengths.
fn blocks(input: usize, output: usize) -> Result<(), Error> {
    let whole = input == output && input != 0 && input.is_multiple_of(16);
    if whole { Ok(()) } else { Err(Unsupported::Length.into()) }
}

/// The meaning of a channel's status.
pub fn error(status: u32) -> Error {
    let meaning = match status >> status::CODE & 0xFF {
        status::NEXT_IS_ZERO | status::NO_CHAIN | status::INVALID_MODE => Meaning::Descriptor,
        status::CONTEXT_ERROR | status::PAYLOAD_ERROR => Meaning::Read,
        0 if status & status::HASH_MISMATCH != 0 => return Error::Refused,
        0 if status & status::SETUP != 0 => Meaning::Descriptor,
        0 if status & (status::PACKET | status::SOURCE) != 0 => Meaning::Read,
        0 if status & (status::DESTINATION | status::PAGE_FAULT) != 0 => Meaning::Write,
        _ => Meaning::Undocumented,
    };
    Error::Engine { code: status, meaning }
}
