//! What one packet computes.

use super::{Fuses, Timing};
use crate::Memory;
use aes::Aes128;
use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use cpb_drivers::dcp::packet::{KEY_SLOTS, Words, control0, control1};
use cpb_drivers::dcp::registers::{CONTEXT_HASH, status};

/// Memory is read and written in pieces, so that a packet of 4 GiB is refused at the end of memory instead of being
/// allocated.
const PIECE: usize = 4096;

/// The bits that an error sets in the channel's status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault(pub(super) u32);

impl Fault {
    pub(super) const SETUP: Fault = Fault(status::SETUP);
    pub(super) const PACKET: Fault = Fault(status::PACKET);
    const SOURCE: Fault = Fault(status::SOURCE);
    const DESTINATION: Fault = Fault(status::DESTINATION);

    /// An error with a code. Which of the bits goes with it is assumed.
    pub(super) const fn code(code: u32) -> Fault {
        Fault(status::SETUP | code << status::CODE)
    }
}

/// Bytes that the end of a packet writes.
pub(super) enum Output {
    Bytes { address: u32, bytes: Vec<u8>, fault: Fault },
    Fill { address: u32, value: [u8; 4], size: u32 },
}

impl Output {
    pub(super) fn write(&self, memory: &mut dyn Memory) -> Result<(), Fault> {
        match self {
            Output::Bytes { address, bytes, fault } => {
                memory.write((*address).into(), bytes).map_err(|_| *fault)
            }
            Output::Fill { address, value, size } => {
                let pattern: Vec<u8> = value.iter().copied().cycle().take(PIECE).collect();
                for offset in (0..*size).step_by(PIECE) {
                    let length = PIECE.min((*size - offset) as usize);
                    let place = u64::from(*address) + u64::from(offset);
                    memory.write(place, &pattern[..length]).map_err(|_| Fault::DESTINATION)?;
                }
                Ok(())
            }
        }
    }
}

/// What a channel keeps from one packet to the next: a chaining block and a hash. In the context buffer it is 13
/// words: the block, eight words of the hash, and the number of bytes hashed (the order of the words is assumed;
/// drivers only save and restore them).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct State {
    chaining: [u8; 16],
    hash: [u32; 8],
    hashed: u32,
}

impl State {
    const SIZE: usize = 52;

    fn of(bytes: &[u8; State::SIZE]) -> State {
        let word = |place: usize| {
            u32::from_le_bytes(core::array::from_fn(|byte| bytes[CONTEXT_HASH + 4 * place + byte]))
        };
        State {
            chaining: core::array::from_fn(|place| bytes[place]),
            hash: core::array::from_fn(word),
            hashed: word(8),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let words = self.hash.iter().chain([&self.hashed]).flat_map(|word| word.to_le_bytes());
        self.chaining.into_iter().chain(words).collect()
    }
}

/// A packet's work, with everything that it needs.
pub(super) struct Job<'j> {
    pub(super) memory: &'j mut dyn Memory,
    pub(super) words: &'j Words,
    pub(super) keys: &'j [[u8; 16]; KEY_SLOTS],
    pub(super) fuses: &'j Fuses,
    pub(super) timing: &'j Timing,
    /// The channel's place in the context buffer, if contexts are switched.
    pub(super) context: Option<u64>,
    pub(super) state: State,
    pub(super) time: f64,
    pub(super) outputs: Vec<Output>,
    /// Whether a digest was compared and is another one.
    pub(super) mismatch: bool,
}

impl Job<'_> {
    fn has(&self, bits: u32) -> bool {
        self.words.control0 & bits != 0
    }

    /// Computes everything; what is to be written waits in `outputs`.
    pub(super) fn run(&mut self) -> Result<(), Fault> {
        let invalid = Fault::code(status::INVALID_MODE);
        let (copies, ciphers) = (self.has(control0::COPY), self.has(control0::CIPHER));
        let fills = self.has(control0::FILL);
        if self.has(control0::BLIT) || (copies && ciphers) || (fills && !copies) {
            return Err(invalid);
        }
        let hashes = self.has(control0::HASH);
        if fills && hashes {
            return Err(invalid);
        }
        let keeps_context = hashes || self.is_chained_cipher();
        if keeps_context {
            self.load_context()?;
        }
        if fills {
            self.fill();
            return Ok(());
        }
        let input = if copies || ciphers || hashes { self.input()? } else { Vec::new() };
        let mut output = Vec::new();
        if ciphers {
            output = self.cipher(&input)?;
        } else if copies {
            output.clone_from(&input);
            self.time += self.timing.word * input.len().div_ceil(4) as f64;
        }
        if hashes {
            let hashed = if self.has(control0::HASH_OUTPUT) { &output } else { &input };
            self.hash(hashed)?;
        }
        if copies || ciphers {
            let (address, fault) = (self.words.destination, Fault::DESTINATION);
            self.outputs.push(Output::Bytes { address, bytes: output, fault });
        }
        if keeps_context {
            self.store_context();
        }
        Ok(())
    }

    fn is_chained_cipher(&self) -> bool {
        self.has(control0::CIPHER) && self.words.control1 & 0xF0 == control1::CBC
    }

    fn load_context(&mut self) -> Result<(), Fault> {
        let Some(place) = self.context else { return Ok(()) };
        let mut bytes = [0; State::SIZE];
        let read = self.memory.read(place, &mut bytes);
        read.map_err(|_| Fault::code(status::CONTEXT_ERROR))?;
        self.state = State::of(&bytes);
        self.time += self.timing.context;
        Ok(())
    }

    fn store_context(&mut self) {
        let Some(place) = self.context else { return };
        self.time += self.timing.context;
        self.outputs.push(Output::Bytes {
            address: place as u32,
            bytes: self.state.bytes(),
            fault: Fault::code(status::CONTEXT_ERROR),
        });
    }

    fn input(&mut self) -> Result<Vec<u8>, Fault> {
        let mut input = Vec::new();
        let mut piece = [0; PIECE];
        while input.len() < self.words.size as usize {
            let length = PIECE.min(self.words.size as usize - input.len());
            let place = u64::from(self.words.source) + input.len() as u64;
            self.memory.read(place, &mut piece[..length]).map_err(|_| Fault::SOURCE)?;
            input.extend_from_slice(&piece[..length]);
        }
        Ok(input)
    }

    fn payload(&mut self, offset: usize, bytes: &mut [u8]) -> Result<(), Fault> {
        self.time += self.timing.payload;
        let place = u64::from(self.words.payload) + offset as u64;
        let read = self.memory.read(place, bytes);
        read.map_err(|_| Fault::code(status::PAYLOAD_ERROR))
    }

    fn fill(&mut self) {
        let Words { destination: address, source, size, .. } = *self.words;
        self.time += self.timing.word * f64::from(size.div_ceil(4));
        self.outputs.push(Output::Fill { address, value: source.to_le_bytes(), size });
    }

    fn key(&mut self) -> Result<[u8; 16], Fault> {
        let slot = self.words.control1 >> control1::KEY & 0xFF;
        let mut key = if self.has(control0::PAYLOAD_KEY) {
            let mut key = [0; 16];
            self.payload(0, &mut key)?;
            key
        } else if self.has(control0::OTP_KEY) {
            match slot {
                control1::KEY_OTP => self.fuses.otp,
                control1::KEY_UNIQUE => self.fuses.unique,
                _ => return Err(Fault::SETUP),
            }
        } else {
            *self.keys.get(slot as usize).ok_or(Fault::SETUP)?
        };
        swap(&mut key, self.has(control0::KEY_BYTESWAP), self.has(control0::KEY_WORDSWAP));
        Ok(key)
    }

    fn cipher(&mut self, input: &[u8]) -> Result<Vec<u8>, Fault> {
        let chains = match self.words.control1 & 0xFF {
            0 => false,
            control1::CBC => true,
            _ => return Err(Fault::code(status::INVALID_MODE)),
        };
        if input.is_empty() || !input.len().is_multiple_of(16) {
            return Err(Fault::SETUP);
        }
        let aes = Aes128::new(&self.key()?.into());
        if chains && self.has(control0::CIPHER_INIT) {
            let mut iv = [0; 16];
            self.payload(if self.has(control0::PAYLOAD_KEY) { 16 } else { 0 }, &mut iv)?;
            self.state.chaining = iv;
        }
        let mut output = Vec::with_capacity(input.len());
        for block in input.chunks_exact(16) {
            let mut block: [u8; 16] = core::array::from_fn(|place| block[place]);
            swap(
                &mut block,
                self.has(control0::INPUT_BYTESWAP),
                self.has(control0::INPUT_WORDSWAP),
            );
            let mut result = self.cipher_block(&aes, block, chains);
            swap(
                &mut result,
                self.has(control0::OUTPUT_BYTESWAP),
                self.has(control0::OUTPUT_WORDSWAP),
            );
            output.extend_from_slice(&result);
        }
        self.time += self.timing.aes_block * (input.len() / 16) as f64;
        Ok(output)
    }

    fn cipher_block(&mut self, aes: &Aes128, block: [u8; 16], chains: bool) -> [u8; 16] {
        let encrypts = self.has(control0::ENCRYPT);
        let chaining = if chains { self.state.chaining } else { [0; 16] };
        let mut work = Block::<Aes128>::from(if encrypts { xor(block, chaining) } else { block });
        if encrypts {
            aes.encrypt_block(&mut work);
        } else {
            aes.decrypt_block(&mut work);
        }
        let result: [u8; 16] = work.into();
        let result = if encrypts { result } else { xor(result, chaining) };
        self.state.chaining = if encrypts { result } else { block };
        result
    }

    fn hash(&mut self, message: &[u8]) -> Result<(), Fault> {
        let select = self.words.control1 >> control1::HASH & 0xF;
        let ends = self.has(control0::HASH_TERM);
        if select > control1::SHA_256 {
            return Err(Fault::code(status::INVALID_MODE));
        }
        if !ends && !message.len().is_multiple_of(64) {
            return Err(Fault::SETUP);
        }
        if self.has(control0::HASH_INIT) {
            self.state.hashed = 0;
            self.state.hash = match select {
                control1::SHA_1 => SHA_1,
                control1::CRC_32 => [u32::MAX, 0, 0, 0, 0, 0, 0, 0],
                _ => SHA_256,
            };
        }
        self.state.hashed = self.state.hashed.wrapping_add(message.len() as u32);
        if select == control1::CRC_32 {
            self.state.hash[0] =
                message.iter().fold(self.state.hash[0], |sum, byte| crc(sum, *byte));
            self.time += self.timing.word * message.len().div_ceil(4) as f64;
        } else {
            let padded = if ends { self.padded(message) } else { message.to_vec() };
            self.compress(select, &padded);
        }
        if ends { self.digest(select) } else { Ok(()) }
    }

    /// The rest of a message with its padding (FIPS 180-4, 5.1.1). The engine cannot hash a message of no bytes:
    /// it adds no padding then (assumed; its result is not public).
    fn padded(&self, rest: &[u8]) -> Vec<u8> {
        let mut padded = rest.to_vec();
        if self.state.hashed == 0 {
            return padded;
        }
        padded.push(0x80);
        padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
        padded.extend((u64::from(self.state.hashed) * 8).to_be_bytes());
        padded
    }

    fn compress(&mut self, select: u32, message: &[u8]) {
        let (blocks, _) = message.as_chunks::<64>();
        if select == control1::SHA_1 {
            let mut state = core::array::from_fn(|place| self.state.hash[place]);
            sha1::block_api::compress(&mut state, blocks);
            self.state.hash[..5].copy_from_slice(&state);
            self.time += self.timing.sha1_block * blocks.len() as f64;
        } else {
            sha2::block_api::compress256(&mut self.state.hash, blocks);
            self.time += self.timing.sha256_block * blocks.len() as f64;
        }
    }

    /// Writes or compares the digest. Its last byte is first in memory.
    fn digest(&mut self, select: u32) -> Result<(), Fault> {
        let words = match select {
            control1::SHA_1 => 5,
            control1::CRC_32 => 1,
            _ => 8,
        };
        let bytes = self.state.hash[..words].iter().flat_map(|word| word.to_be_bytes());
        let mut digest: Vec<u8> = bytes.collect();
        digest.reverse();
        if self.has(control0::CHECK_HASH) {
            let mut expected = vec![0; digest.len()];
            self.payload(0, &mut expected)?;
            self.mismatch = expected != digest;
            return Ok(());
        }
        self.time += self.timing.payload;
        let (address, fault) = (self.words.payload, Fault::code(status::PAYLOAD_ERROR));
        self.outputs.push(Output::Bytes { address, bytes: digest, fault });
        Ok(())
    }
}

/// Initial values: FIPS 180-4, 5.3.1 and 5.3.3.
const SHA_1: [u32; 8] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0];
const SHA_256: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// CRC-32/MPEG-2: polynomial 0x04C11DB7, not reflected.
fn crc(sum: u32, byte: u8) -> u32 {
    (0..8).fold(sum ^ u32::from(byte) << 24, |sum, _| {
        if sum >> 31 != 0 { sum << 1 ^ 0x04c1_1db7 } else { sum << 1 }
    })
}

fn xor(one: [u8; 16], other: [u8; 16]) -> [u8; 16] {
    core::array::from_fn(|place| one[place] ^ other[place])
}

/// Reverses the bytes of each word, the words, or both.
fn swap(block: &mut [u8; 16], bytes: bool, words: bool) {
    if bytes {
        block.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    }
    if words {
        let old = *block;
        let moved = block.chunks_exact_mut(4).zip(old.chunks_exact(4).rev());
        moved.for_each(|(to, from)| to.copy_from_slice(from));
    }
}
