//! What stands between a call of Mbed TLS and the engine on NXP's boards: the descriptors, copies and polls that the
//! port in their SDK makes (`port/ksdk` of their Mbed TLS, over the driver `fsl_caam` 2.4.0), in the same order.
//!
//! Each call writes its descriptor to the stack, enters it in a ring of four entries, polls, and searches the output
//! ring for the descriptor's address. A hash keeps up to 64 bytes of a message. What is longer is hashed at once, up
//! to the last whole block, between the loading and the storing of the engine's context.
//!
//! Three things differ. The port leaves the caches' maintenance of messages to the application; here it is part of the
//! call. Results of up to 64 bytes go through lines of the port's own, because the caller's could share a cache line
//! with what the core writes meanwhile. And a stream in counter mode goes on where it was: the port's own ignores what
//! is left of the last block.

mod ring;
mod words;

pub use ring::Memory;

use super::descriptor::operation;
use super::job::{Hash, Span, ccm_blocks};
use super::{address, message, span};
use cpb_core::{Bus, Data, Error, Unsupported};
use ring::Ring;
use words::{Authenticated, Digest, Message};

/// The port collects this much of a message before it starts the engine.
const BLOCK: usize = 64;
/// The longest context of a hash.
const RUNNING: usize = Hash::Sha256.context();
/// The largest length of a command without an extension.
const SHORT: usize = 0xFFFF;
/// The engine takes less associated data than this in CCM.
const CCM_ASSOCIATED: usize = 0xFF00;

/// A hash between two calls.
#[derive(Clone)]
#[repr(C)]
pub struct HashState {
    block: [u8; BLOCK],
    running: [u8; RUNNING],
    /// Bytes in `block`.
    held: u32,
    /// Whether the engine has begun.
    begun: bool,
    hash: Hash,
}

impl HashState {
    /// The state before the first byte.
    pub const fn new(hash: Hash) -> HashState {
        HashState { block: [0; BLOCK], running: [0; RUNNING], held: 0, begun: false, hash }
    }

    /// Which hash it is.
    pub const fn hash(&self) -> Hash {
        self.hash
    }
}

/// A key and a direction.
#[derive(Clone, Copy)]
pub struct Key<'k> {
    /// The bytes.
    pub bytes: &'k [u8],
    /// Whether they encrypt.
    pub encrypts: bool,
}

/// A tag that an authenticated cipher makes or compares.
pub enum Tag<'t> {
    /// Encrypts and makes it.
    Make(&'t mut [u8]),
    /// Decrypts and compares it.
    Compare(&'t [u8]),
}

/// Which authenticated cipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aead {
    /// AES-GCM.
    Gcm,
    /// AES-CCM.
    Ccm,
}

/// The port's ring. The engine has been set up by [`super::Caam::new`], which owns the bus.
pub struct Port<'w> {
    ring: Ring<'w>,
}

impl<'w> Port<'w> {
    /// Sets up the ring whose block is at `base`.
    ///
    /// # Errors
    /// [`Unsupported::Memory`] if no bus master reaches `memory`; [`Error::Timeout`] if the ring does not answer.
    pub fn new(bus: &mut impl Bus, base: u32, memory: &'w mut Memory) -> Result<Self, Error> {
        Ok(Port { ring: Ring::new(bus, base, memory)? })
    }

    /// The number of jobs that ended without an error.
    pub fn finished(&self) -> u64 {
        self.ring.finished
    }

    /// Encrypts or decrypts one block with AES.
    ///
    /// # Errors
    /// [`Unsupported::Memory`] if no bus master reaches a buffer; the error that the engine reports; or
    /// [`Error::Timeout`].
    pub fn ecb(
        &mut self,
        bus: &mut impl Bus,
        key: Key<'_>,
        block: &[u8; 16],
    ) -> Result<[u8; 16], Error> {
        let input = cleaned(bus, block)?;
        let message = Message { input, output: self.small(bus)? };
        let job = words::ecb(cleaned(bus, key.bytes)?, key.encrypts, message);
        self.ring.run(bus, job.bytes())?;
        Ok(self.result(bus))
    }

    /// Encrypts or decrypts whole blocks with AES in CBC.
    ///
    /// # Errors
    /// As for [`Port::ecb`].
    pub fn cbc(
        &mut self,
        bus: &mut impl Bus,
        key: Key<'_>,
        iv: &[u8; 16],
        data: &mut Data<'_>,
    ) -> Result<(), Error> {
        let (input, output) = message(bus, data, false)?;
        let (iv, place) = (cleaned(bus, iv)?.address, cleaned(bus, key.bytes)?);
        let job = words::cbc(place, key.encrypts, iv, Message { input, output });
        self.ring.run(bus, job.bytes())?;
        written(bus, data);
        Ok(())
    }

    /// Encrypts or decrypts whole blocks with DES or, if the key has 24 bytes, triple DES in CBC.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if the message has more than 65,535 bytes; otherwise as for [`Port::ecb`].
    pub fn des_cbc(
        &mut self,
        bus: &mut impl Bus,
        key: Key<'_>,
        iv: &[u8; 8],
        data: &mut Data<'_>,
    ) -> Result<(), Error> {
        let (input, output) = message(bus, data, false)?;
        if input.length > SHORT {
            return Err(Unsupported::Length.into());
        }
        let iv = cleaned(bus, iv)?.address;
        let job = words::des(key.bytes, key.encrypts, Some(iv), Message { input, output });
        self.ring.run(bus, job.bytes())?;
        written(bus, data);
        Ok(())
    }

    /// Encrypts or decrypts one block with DES or, if the key has 24 bytes, triple DES.
    ///
    /// # Errors
    /// As for [`Port::ecb`].
    pub fn des_ecb(
        &mut self,
        bus: &mut impl Bus,
        key: Key<'_>,
        block: &[u8; 8],
    ) -> Result<[u8; 8], Error> {
        let input = cleaned(bus, block)?;
        let message = Message { input, output: self.small(bus)? };
        let job = words::des(key.bytes, key.encrypts, None, message);
        self.ring.run(bus, job.bytes())?;
        Ok(self.result(bus))
    }

    /// Encrypts or decrypts with AES in counter mode, from a block's beginning. Leaves the counter after the message,
    /// and the key stream of its last block, in `counter` and `stream`.
    ///
    /// # Errors
    /// As for [`Port::ecb`].
    pub fn ctr(
        &mut self,
        bus: &mut impl Bus,
        key: &[u8],
        [counter, stream]: [&mut [u8; 16]; 2],
        data: &mut Data<'_>,
    ) -> Result<(), Error> {
        let (input, output) = message(bus, data, false)?;
        let small = self.small(bus)?;
        let first = cleaned(bus, counter)?.address;
        let key = cleaned(bus, key)?;
        let job = words::ctr(key, first, Message { input, output }, [small, small + 16]);
        self.ring.run(bus, job.bytes())?;
        written(bus, data);
        let results: [u8; 32] = self.result(bus);
        counter.copy_from_slice(&results[..16]);
        stream.copy_from_slice(&results[16..]);
        Ok(())
    }

    /// Encrypts and authenticates, or decrypts and compares the tag.
    ///
    /// # Errors
    /// [`Error::Refused`] if the tag is another one; [`Unsupported::Length`] if the engine does not take the length of
    /// a part; otherwise as for [`Port::ecb`].
    pub fn aead(
        &mut self,
        bus: &mut impl Bus,
        (aead, key): (Aead, &[u8]),
        iv: &[u8],
        associated: &[u8],
        data: &mut Data<'_>,
        tag: Tag<'_>,
    ) -> Result<(), Error> {
        let (encrypts, length) = match &tag {
            Tag::Make(tag) => (true, tag.len()),
            Tag::Compare(tag) => (false, tag.len()),
        };
        let (input, output) = message(bus, data, false)?;
        let fits = match aead {
            Aead::Gcm => {
                let tags = matches!(length, 4 | 8 | 12..=16);
                tags && (1..=SHORT).contains(&iv.len()) && associated.len() <= SHORT
            }
            Aead::Ccm => {
                let tags = length.is_multiple_of(2) && (4..=16).contains(&length);
                tags && (7..=13).contains(&iv.len()) && associated.len() < CCM_ASSOCIATED
            }
        };
        if !fits {
            return Err(Unsupported::Length.into());
        }
        let small = self.small(bus)?;
        if let Tag::Compare(tag) = tag {
            self.ring.memory.small.0[..length].copy_from_slice(tag);
            bus.clean(&self.ring.memory.small.0);
        }
        // The command that tells CCM the length has the first two bytes of the data as well.
        let begin = if aead == Aead::Ccm { associated.len().min(2) } else { 0 };
        let (begin, rest) = associated.split_at(begin);
        let mut job = Authenticated {
            key: cleaned(bus, key)?,
            iv: Span::default(),
            associated: cleaned(bus, rest)?,
            message: Message { input, output },
            tag: Span { address: small, length },
            encrypts,
        };
        match aead {
            Aead::Gcm => {
                job.iv = cleaned(bus, iv)?;
                self.ring.run(bus, words::gcm(&job).bytes())?;
            }
            Aead::Ccm => {
                let blocks = ccm_blocks(iv, length, associated.len(), input.length);
                self.ring.run(bus, words::ccm(&job, &blocks, begin).bytes())?;
            }
        }
        written(bus, data);
        if let Tag::Make(tag) = tag {
            tag.copy_from_slice(&self.result::<16>(bus)[..length]);
        }
        Ok(())
    }

    /// Adds to a message.
    ///
    /// # Errors
    /// As for [`Port::ecb`].
    pub fn hash_update(
        &mut self,
        bus: &mut impl Bus,
        state: &mut HashState,
        message: &[u8],
    ) -> Result<(), Error> {
        let held = state.held as usize;
        if held + message.len() <= BLOCK {
            state.block[held..][..message.len()].copy_from_slice(message);
            state.held += message.len() as u32;
            return Ok(());
        }
        let kind = if state.begun { operation::UPDATE } else { operation::INIT };
        let (whole, rest) = message.split_at(message.len() - (held + message.len()) % BLOCK);
        self.hash(bus, state, kind, whole)?;
        let length = state.hash.context();
        state.running[..length].copy_from_slice(&self.result::<RUNNING>(bus)[..length]);
        state.begun = true;
        state.block[..rest.len()].copy_from_slice(rest);
        state.held = rest.len() as u32;
        Ok(())
    }

    /// Ends a message. `digest` is as long as the hash's.
    ///
    /// # Errors
    /// [`Unsupported::Length`] if `digest` has another length; otherwise as for [`Port::ecb`].
    pub fn hash_finish(
        &mut self,
        bus: &mut impl Bus,
        state: &mut HashState,
        digest: &mut [u8],
    ) -> Result<(), Error> {
        if digest.len() != state.hash.length() {
            return Err(Unsupported::Length.into());
        }
        let kind = if state.begun { operation::FINAL } else { operation::INIT_FINAL };
        self.hash(bus, state, kind, &[])?;
        digest.copy_from_slice(&self.result::<32>(bus)[..digest.len()]);
        *state = HashState::new(state.hash);
        Ok(())
    }

    /// Hashes what the state holds, and `message`.
    fn hash(
        &mut self,
        bus: &mut impl Bus,
        state: &HashState,
        kind: u32,
        message: &[u8],
    ) -> Result<(), Error> {
        let ends = matches!(kind, operation::FINAL | operation::INIT_FINAL);
        let length = if ends { state.hash.length() } else { state.hash.context() };
        let result = Span { address: self.small(bus)?, length };
        let held = cleaned(bus, &state.block[..state.held as usize])?;
        let message = cleaned(bus, message)?;
        // A message without bytes is an entry as well.
        let nothing = Span { address: address(bus, &state.block)?, length: 0 };
        let parts = match (held.length, message.length) {
            (0, 0) => [nothing, Span::default()],
            (0, _) => [message, Span::default()],
            _ => [held, message],
        };
        let context = cleaned(bus, &state.running)?.address;
        let job = Digest { hash: state.hash, state: kind, context, parts, result };
        let mut job = words::digest(&job);
        job.place_table(address(bus, job.bytes())?);
        self.ring.run(bus, job.bytes())
    }

    /// Where small results go. The core has nothing to write back there.
    fn small(&mut self, bus: &mut impl Bus) -> Result<u32, Error> {
        let small = &self.ring.memory.small.0;
        bus.clean(small);
        address(bus, small)
    }

    /// The small result.
    fn result<const N: usize>(&mut self, bus: &mut impl Bus) -> [u8; N] {
        let small = &mut self.ring.memory.small.0;
        bus.invalidate(small);
        core::array::from_fn(|at| small[at])
    }
}

/// Where the engine reads a buffer.
fn cleaned(bus: &mut impl Bus, buffer: &[u8]) -> Result<Span, Error> {
    bus.clean(buffer);
    span(bus, buffer)
}

/// Makes the core see what the engine wrote.
fn written(bus: &mut impl Bus, data: &mut Data<'_>) {
    match data {
        Data::Apart { output, .. } => bus.invalidate(output),
        Data::InPlace(buffer) => bus.invalidate(buffer),
    }
}
