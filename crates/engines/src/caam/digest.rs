//! Message digests of class 2: MD5, SHA-1 and SHA-2, and HMAC with each of them.
//!
//! Between jobs, the context holds the running digest and, behind it, the number of bytes so far in eight bytes. That
//! number is big-endian and counts HMAC's first block (assumed; drivers only save and restore it).

use super::class::{Chunk, Kind, Registers};
use super::fault::Fault;
use cpb_drivers::caam::descriptor::operation;
use cpb_drivers::caam::status::{ccb, cha};

/// A hash function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    /// That of [`operation`]; of the protocol that derives keys, too.
    pub(super) fn of(fields: u32, has_sha512: bool) -> Option<Algorithm> {
        Some(match fields >> 16 & 0xF {
            0 => Algorithm::Md5,
            1 => Algorithm::Sha1,
            2 => Algorithm::Sha224,
            3 => Algorithm::Sha256,
            4 if has_sha512 => Algorithm::Sha384,
            5 if has_sha512 => Algorithm::Sha512,
            _ => return None,
        })
    }

    /// The size of a block in bytes.
    pub(super) fn block(self) -> usize {
        if matches!(self, Algorithm::Sha384 | Algorithm::Sha512) { 128 } else { 64 }
    }

    /// The size of the running digest in bytes.
    pub(super) fn running(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => 20,
            Algorithm::Sha224 | Algorithm::Sha256 => 32,
            Algorithm::Sha384 | Algorithm::Sha512 => 64,
        }
    }

    /// The size of the digest in bytes.
    pub(super) fn digest(self) -> usize {
        match self {
            Algorithm::Sha224 => 28,
            Algorithm::Sha384 => 48,
            other => other.running(),
        }
    }

    /// The initial state: RFC 1321, 3.3; FIPS 180-4, 5.3.
    fn initial(self) -> Vec<u8> {
        const SHA_1: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
        const SHA_224: [u32; 8] = [
            0xc105_9ed8,
            0x367c_d507,
            0x3070_dd17,
            0xf70e_5939,
            0xffc0_0b31,
            0x6858_1511,
            0x64f9_8fa7,
            0xbefa_4fa4,
        ];
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
        const SHA_384: [u64; 8] = [
            0xcbbb_9d5d_c105_9ed8,
            0x629a_292a_367c_d507,
            0x9159_015a_3070_dd17,
            0x152f_ecd8_f70e_5939,
            0x6733_2667_ffc0_0b31,
            0x8eb4_4a87_6858_1511,
            0xdb0c_2e0d_64f9_8fa7,
            0x47b5_481d_befa_4fa4,
        ];
        const SHA_512: [u64; 8] = [
            0x6a09_e667_f3bc_c908,
            0xbb67_ae85_84ca_a73b,
            0x3c6e_f372_fe94_f82b,
            0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1,
            0x9b05_688c_2b3e_6c1f,
            0x1f83_d9ab_fb41_bd6b,
            0x5be0_cd19_137e_2179,
        ];
        match self {
            Algorithm::Md5 => SHA_1[..4].iter().flat_map(|word| word.to_le_bytes()).collect(),
            Algorithm::Sha1 => SHA_1.iter().flat_map(|word| word.to_be_bytes()).collect(),
            Algorithm::Sha224 => SHA_224.iter().flat_map(|word| word.to_be_bytes()).collect(),
            Algorithm::Sha256 => SHA_256.iter().flat_map(|word| word.to_be_bytes()).collect(),
            Algorithm::Sha384 => SHA_384.iter().flat_map(|word| word.to_be_bytes()).collect(),
            Algorithm::Sha512 => SHA_512.iter().flat_map(|word| word.to_be_bytes()).collect(),
        }
    }

    /// Takes whole blocks into `state`.
    fn compress(self, state: &mut [u8], blocks: &[u8]) {
        let (small, large) = (blocks.as_chunks::<64>().0, blocks.as_chunks::<128>().0);
        match self {
            Algorithm::Md5 => {
                let mut words = words(state, u32::from_le_bytes);
                small.iter().for_each(|block| md5(&mut words, block));
                store(state, &words, u32::to_le_bytes);
            }
            Algorithm::Sha1 => {
                let mut words = words(state, u32::from_be_bytes);
                sha1::block_api::compress(&mut words, small);
                store(state, &words, u32::to_be_bytes);
            }
            Algorithm::Sha224 | Algorithm::Sha256 => {
                let mut words = words(state, u32::from_be_bytes);
                sha2::block_api::compress256(&mut words, small);
                store(state, &words, u32::to_be_bytes);
            }
            Algorithm::Sha384 | Algorithm::Sha512 => {
                let mut words = words(state, u64::from_be_bytes);
                sha2::block_api::compress512(&mut words, large);
                store(state, &words, u64::to_be_bytes);
            }
        }
    }

    /// What is behind the last bytes of a message of `length` bytes.
    fn padding(self, length: u64) -> Vec<u8> {
        let (block, field) = (self.block() as u64, self.block() / 8);
        let mut padding = vec![0x80];
        let used = (length % block + 1 + field as u64) % block;
        padding.resize(1 + ((block - used) % block) as usize, 0);
        let bits = u128::from(length) << 3;
        match self {
            Algorithm::Md5 => padding.extend((bits as u64).to_le_bytes()),
            _ if field == 8 => padding.extend((bits as u64).to_be_bytes()),
            _ => padding.extend(bits.to_be_bytes()),
        }
        padding
    }
}

fn words<const BYTES: usize, const WORDS: usize, W>(
    state: &[u8],
    of: impl Fn([u8; BYTES]) -> W,
) -> [W; WORDS] {
    core::array::from_fn(|word| of(core::array::from_fn(|byte| state[BYTES * word + byte])))
}

fn store<const BYTES: usize, W: Copy>(
    state: &mut [u8],
    words: &[W],
    to: impl Fn(W) -> [u8; BYTES],
) {
    for (place, word) in state.chunks_exact_mut(BYTES).zip(words) {
        place.copy_from_slice(&to(*word));
    }
}

/// A hash that is being computed.
#[derive(Clone, Debug)]
pub(super) struct Hash {
    algorithm: Algorithm,
    state: Vec<u8>,
    length: u64,
    rest: Vec<u8>,
    /// Blocks computed so far.
    pub(super) blocks: u64,
}

impl Hash {
    pub(super) fn new(algorithm: Algorithm) -> Hash {
        Hash::from(algorithm, algorithm.initial(), 0)
    }

    /// From a running digest.
    pub(super) fn from(algorithm: Algorithm, state: Vec<u8>, length: u64) -> Hash {
        Hash { algorithm, state, length, rest: Vec::new(), blocks: 0 }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let block = self.algorithm.block();
        let whole = self.rest.len() / block * block;
        self.algorithm.compress(&mut self.state, &self.rest[..whole]);
        self.rest.drain(..whole);
        self.blocks += (whole / block) as u64;
    }

    pub(super) fn finish(&mut self) -> Vec<u8> {
        let padding = self.algorithm.padding(self.length);
        self.update(&padding);
        self.state[..self.algorithm.digest()].to_vec()
    }
}

/// The split key of HMAC: the running digests after the inner and the outer block. Also returns the number of blocks
/// that it took. A key that is longer than a block is hashed first.
pub(super) fn split_key(algorithm: Algorithm, key: &[u8]) -> (Vec<u8>, u64) {
    let mut blocks = 2;
    let mut block = key.to_vec();
    if key.len() > algorithm.block() {
        let mut hash = Hash::new(algorithm);
        hash.update(key);
        block = hash.finish();
        blocks += hash.blocks;
    }
    block.resize(algorithm.block(), 0);
    let half = |pad: u8| {
        let mut state = algorithm.initial();
        let block: Vec<u8> = block.iter().map(|byte| byte ^ pad).collect();
        algorithm.compress(&mut state, &block);
        state
    };
    ([half(0x36), half(0x5C)].concat(), blocks)
}

/// A digest at work.
pub(super) struct Digest {
    hash: Hash,
    /// The outer state of HMAC.
    outer: Option<Vec<u8>>,
    ends: bool,
    checks: bool,
    /// The number of blocks that deriving the key's states took.
    pub(super) derived: u64,
}

impl Digest {
    /// `fields` are of [`operation`].
    pub(super) fn new(
        fields: u32,
        algorithm: Algorithm,
        registers: &mut Registers,
    ) -> Result<Digest, Fault> {
        let (begins, ends) = (fields & operation::INIT != 0, fields & operation::FINAL != 0);
        let size = algorithm.running();
        let mut derived = 0;
        let keyed = match fields & operation::MODE_MASK {
            0 => false,
            operation::HMAC => {
                if registers.key.len() > algorithm.block() && !registers.is_split {
                    return Err(Fault::Cha(cha::MD, ccb::KEY_SIZE));
                }
                if !registers.is_split && (begins || ends) {
                    (registers.key, derived) = split_key(algorithm, &registers.key);
                    registers.is_split = true;
                }
                true
            }
            operation::HMAC_SPLIT => true,
            _ => return Err(Fault::Cha(cha::MD, ccb::MODE)),
        };
        let split = &registers.key;
        if keyed && (begins || ends) && (!registers.is_split || split.len() < 2 * size) {
            return Err(Fault::Cha(cha::MD, ccb::KEY_SIZE));
        }
        let hash = if !begins {
            let state = registers.context[..size].to_vec();
            let length = core::array::from_fn(|place| registers.context[size + place]);
            Hash::from(algorithm, state, u64::from_be_bytes(length))
        } else if keyed {
            Hash::from(algorithm, split[..size].to_vec(), algorithm.block() as u64)
        } else {
            Hash::new(algorithm)
        };
        let outer = (keyed && ends).then(|| split[size..2 * size].to_vec());
        Ok(Digest { hash, outer, ends, checks: fields & operation::CHECK_ICV != 0, derived })
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.hash.algorithm
    }

    /// Takes data in. Returns whether the accelerator is done, and the number of blocks.
    pub(super) fn feed(
        &mut self,
        chunk: &Chunk,
        registers: &mut Registers,
    ) -> Result<(bool, u64), Fault> {
        let before = self.hash.blocks;
        if chunk.kind == Kind::Icv {
            return match self.checks {
                true => registers.compare(&chunk.bytes, cha::MD).map(|()| (true, 0)),
                false => Err(Fault::Cha(cha::MD, ccb::SEQUENCE)),
            };
        }
        self.hash.update(&chunk.bytes);
        if chunk.last {
            self.finish(registers)?;
        }
        Ok((chunk.last && !self.checks, self.hash.blocks - before))
    }

    fn finish(&mut self, registers: &mut Registers) -> Result<(), Fault> {
        let algorithm = self.hash.algorithm;
        if !self.ends {
            if !self.hash.rest.is_empty() {
                return Err(Fault::Cha(cha::MD, ccb::DATA_SIZE));
            }
            let size = algorithm.running();
            registers.context[..size].copy_from_slice(&self.hash.state);
            registers.context[size..][..8].copy_from_slice(&self.hash.length.to_be_bytes());
            return Ok(());
        }
        let mut digest = self.hash.finish();
        if let Some(outer) = self.outer.take() {
            let mut hash = Hash::from(algorithm, outer, algorithm.block() as u64);
            hash.update(&digest);
            digest = hash.finish();
            self.hash.blocks += hash.blocks;
        }
        registers.context[..digest.len()].copy_from_slice(&digest);
        Ok(())
    }
}

/// RFC 1321, 3.4.
fn md5(state: &mut [u32; 4], block: &[u8; 64]) {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let message: [u32; 16] = words(block, u32::from_le_bytes);
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (f, word) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (d & b | !d & c, 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let constant = (f64::from(step as u32 + 1).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(f).wrapping_add(constant).wrapping_add(message[word % 16]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(new);
    }
}
