//! What stands between a call of Mbed TLS and the engine on NXP's boards: the packets, copies, cache operations and
//! polls that the port in their SDK makes (`port/ksdk` of their Mbed TLS, over the driver `fsl_dcp` 2.1.7), in the same
//! order.
//!
//! The port hashes a message in two packets and a copy of the engine's context around each. It loads a key when
//! another context used the engine last. It polls, checks and clears the engine's state after every packet. It leaves
//! the caches' maintenance of messages to the application; here it is part of the call.

use super::packet::{Words, control0};
use super::registers::{self, CONTEXT_HASH, channel, stat, status};
use super::{
    Cipher, Dcp, Hash, Key, Mode, POLLS, address, blocks, cipher_words, error, hash_words,
};
use cpb_core::{Bus, Data, Error};

/// The port collects this much of a message before it starts the engine.
const BLOCK: usize = 128;
/// The part of the engine's context that belongs to a hash, in bytes.
const RUNNING: usize = 36;

/// A hash between two calls. Zeros are a valid state.
#[derive(Clone)]
#[repr(C)]
pub struct HashState {
    block: [u8; BLOCK],
    running: [u8; RUNNING],
    /// Bytes in `block`.
    held: u32,
    /// Bytes of the message so far.
    total: u32,
    /// Whether the engine has begun.
    begun: u32,
}

impl HashState {
    /// The state before the first byte.
    pub const NEW: HashState =
        HashState { block: [0; BLOCK], running: [0; RUNNING], held: 0, total: 0, begun: 0 };
}

impl<B: Bus> Dcp<'_, B> {
    /// Runs a packet on channel 0 as the port does.
    fn run_as_port(&mut self, words: Words) -> Result<(), Error> {
        let ready = stat::READY;
        // The port asks twice, the second time with interrupts off.
        for _ in 0..2 {
            if self.read(registers::STAT) & ready != 0 {
                self.reset()?;
                return Err(Error::Contract);
            }
        }
        let control0 = words.control0 | control0::DECREMENT;
        self.work.packets[0].set(&Words { control0, ..words });
        let first = address(&self.bus, &self.work.packets[0].0)?;
        self.write(channel(0).packet, first);
        self.bus.clean(&self.work.packets[0].0);
        self.bus.barrier();
        self.write(channel(0).semaphore, 1);
        self.in_flight[0] = 1;
        if (0..POLLS).all(|_| self.read(registers::STAT) & ready != 0) {
            self.reset()?;
            return Err(Error::Timeout);
        }
        let left = self.on_semaphore(0);
        let told = self.read(channel(0).status);
        if left != 0 || told & status::ERRORS != 0 {
            self.reset()?;
            return Err(error(told));
        }
        self.write(registers::STAT + registers::CLEAR, 0xFF);
        if (0..POLLS).all(|_| self.read(registers::STAT) & 0xFF != 0) {
            self.reset()?;
            return Err(Error::Timeout);
        }
        Ok(())
    }

    /// Hashes `message` with the first and last flags of `control0`.
    fn hash_as_port(&mut self, hash: Hash, flags: u32, message: &[u8]) -> Result<(), Error> {
        self.bus.clean(message);
        let payload = address(&self.bus, &self.work.payloads[0].0)?;
        let words = hash_words(hash, address(&self.bus, message)?, message.len(), payload);
        self.bus.barrier();
        self.run_as_port(Words { control0: control0::HASH | flags, ..words })
    }

    /// Where channel 0's hash is in the context buffer.
    fn running(&mut self) -> &mut [u8] {
        let place = registers::context_of(0) + CONTEXT_HASH;
        &mut self.work.context.0[place..][..RUNNING]
    }

    fn restore(&mut self, state: &HashState) {
        self.running().copy_from_slice(&state.running);
        self.bus.clean(&self.work.context.0);
    }

    fn save(&mut self, state: &mut HashState) {
        self.bus.invalidate(&mut self.work.context.0);
        state.running.copy_from_slice(self.running());
    }

    /// Adds to a message.
    ///
    /// # Errors
    /// As for [`Dcp::run`].
    pub fn port_hash_update(
        &mut self,
        hash: Hash,
        state: &mut HashState,
        mut message: &[u8],
    ) -> Result<(), Error> {
        let held = state.held as usize;
        state.total = state.total.wrapping_add(message.len() as u32);
        if held + message.len() <= BLOCK {
            state.block[held..][..message.len()].copy_from_slice(message);
            state.held += message.len() as u32;
            return Ok(());
        }
        let mut flags = 0;
        if state.begun == 0 {
            flags = control0::HASH_INIT;
            state.begun = 1;
        } else {
            self.restore(state);
        }
        if held > 0 {
            let (fill, rest) = message.split_at(BLOCK - held);
            state.block[held..].copy_from_slice(fill);
            self.hash_as_port(hash, flags, &state.block)?;
            (message, flags) = (rest, 0);
        }
        let (whole, rest) = message.split_at(message.len() / 64 * 64);
        if !whole.is_empty() {
            self.hash_as_port(hash, flags, whole)?;
        }
        state.block[..rest.len()].copy_from_slice(rest);
        state.held = rest.len() as u32;
        self.save(state);
        Ok(())
    }

    /// Ends a message.
    ///
    /// # Errors
    /// As for [`Dcp::run`].
    pub fn port_hash_finish(
        &mut self,
        hash: Hash,
        state: &mut HashState,
        digest: &mut [u8],
    ) -> Result<(), Error> {
        if state.total == 0 {
            digest.copy_from_slice(&hash.of_nothing()[..digest.len()]);
            return Ok(());
        }
        let mut flags = control0::HASH_TERM;
        if state.begun == 0 {
            flags |= control0::HASH_INIT;
        } else {
            self.restore(state);
        }
        self.hash_as_port(hash, flags, &state.block[..state.held as usize])?;
        self.digest(0, digest);
        *state = HashState::NEW;
        Ok(())
    }

    /// Notes that `owner` has another key now.
    pub fn forget_owner(&mut self, owner: usize) {
        if self.owner == owner {
            self.owner = 0;
        }
    }

    /// Encrypts or decrypts whole blocks with the key in slot 0, which is loaded if `owner` did not use the engine
    /// last.
    ///
    /// # Errors
    /// As for [`Dcp::cipher`].
    pub fn port_cipher(
        &mut self,
        owner: usize,
        key: &[u8; 16],
        (mode, encrypts): (Mode, bool),
        iv: &[u8; 16],
        data: &mut Data<'_>,
    ) -> Result<(), Error> {
        let (input, output): (&[u8], &[u8]) = match data {
            Data::Apart { input, output } => (input, output),
            Data::InPlace(buffer) => (buffer, buffer),
        };
        blocks(input.len(), output.len())?;
        let size = input.len();
        self.bus.clean(input);
        self.bus.clean(output);
        let places = (address(&self.bus, input)?, address(&self.bus, output)?);
        if self.owner != owner {
            self.load_key(0, key);
            self.owner = owner;
        }
        let payload = match mode {
            Mode::Ecb => 0,
            Mode::Cbc => self.payload(0, [iv, &[]])?,
        };
        let cipher = Cipher { mode, encrypts, key: Key::Slot(0) };
        self.run_as_port(cipher_words(cipher, places, size, payload))?;
        match data {
            Data::Apart { output, .. } => self.bus.invalidate(output),
            Data::InPlace(buffer) => self.bus.invalidate(buffer),
        }
        Ok(())
    }
}
