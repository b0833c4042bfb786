//! The descriptors of this driver: a whole message in one job.

use super::descriptor::{
    Descriptor, Format, class, fifo_load, fifo_store, key, operation, register,
};

/// Words of the longest descriptor here.
pub(super) const DESCRIPTOR: usize = 32;

/// What the engine does for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// A cipher without authentication.
    Cipher {
        /// Which one.
        cipher: Cipher,
        /// Its mode.
        mode: Mode,
        /// Whether it encrypts.
        encrypts: bool,
    },
    /// AES-GCM with an IV of 12 bytes.
    Gcm {
        /// Whether it encrypts.
        encrypts: bool,
    },
    /// AES-CCM with a nonce of 12 bytes. The payload has B0 and the first counter block.
    Ccm {
        /// Whether it encrypts.
        encrypts: bool,
    },
    /// A digest.
    Hash(Hash),
    /// HMAC.
    Hmac(Hash, HmacKey),
    /// AES-CBC and HMAC over associated data, IV and ciphertext, in one pass.
    EncryptThenMac {
        /// The digest of the HMAC.
        hash: Hash,
        /// How its key is given.
        key: HmacKey,
        /// Whether it encrypts.
        encrypts: bool,
    },
    /// Derives the split key of an HMAC, in place.
    DeriveKey(Hash),
    /// Random bytes of state handle 0: as many as the message has.
    Random,
}

/// A cipher of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cipher {
    /// AES with keys of 16, 24 or 32 bytes.
    Aes,
    /// DES.
    Des,
    /// Triple DES with three keys.
    TripleDes,
}

/// A mode of a cipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Electronic codebook.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Counter; AES only.
    Ctr,
}

/// A digest of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hash {
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
}

impl Hash {
    /// The length of a digest in bytes.
    pub const fn length(self) -> usize {
        match self {
            Hash::Sha1 => 20,
            Hash::Sha224 => 28,
            Hash::Sha256 => 32,
        }
    }

    /// The length of a block in bytes: all of them have the same.
    pub const fn block(self) -> usize {
        64
    }

    /// The length of a context in bytes: the state and the number of bytes so far.
    pub const fn context(self) -> usize {
        match self {
            Hash::Sha1 => 28,
            Hash::Sha224 | Hash::Sha256 => 40,
        }
    }

    /// The length of a split key in bytes: the inner and the outer state.
    pub const fn split_key(self) -> usize {
        match self {
            Hash::Sha1 => 40,
            Hash::Sha224 | Hash::Sha256 => 64,
        }
    }

    pub(super) const fn algorithm(self) -> u32 {
        match self {
            Hash::Sha1 => operation::SHA_1,
            Hash::Sha224 => operation::SHA_224,
            Hash::Sha256 => operation::SHA_256,
        }
    }
}

/// How the key of an HMAC is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HmacKey {
    /// As it is: the engine derives the two states in each job.
    Plain,
    /// As the two states, which [`Task::DeriveKey`] made.
    Split,
}

impl Cipher {
    pub(super) const fn algorithm(self) -> u32 {
        match self {
            Cipher::Aes => operation::AES,
            Cipher::Des => operation::DES,
            Cipher::TripleDes => operation::TRIPLE_DES,
        }
    }

    /// The length of a block in bytes.
    pub const fn block(self) -> usize {
        match self {
            Cipher::Aes => 16,
            Cipher::Des | Cipher::TripleDes => 8,
        }
    }
}

impl Mode {
    pub(super) const fn bits(self) -> u32 {
        match self {
            Mode::Ecb => operation::ECB,
            Mode::Cbc => operation::CBC,
            Mode::Ctr => operation::CTR,
        }
    }
}

/// A range that the engine reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Span {
    /// Its bus address.
    pub address: u32,
    /// Its length in bytes.
    pub length: usize,
}

/// Where the parts of a job are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Places {
    /// The cipher's key.
    pub key: Span,
    /// The MAC's key.
    pub mac_key: Span,
    /// IV or nonce; for CCM, B0 and the first counter block.
    pub iv: Span,
    /// Associated data.
    pub associated: Span,
    /// The message.
    pub input: Span,
    /// The result, as long as the message; for a digest, the digest.
    pub output: u32,
    /// The tag.
    pub tag: Span,
}

/// The message, or what stands for it, is the last data of class 1.
const LAST_OF_1: u32 = class::ONE | fifo_load::LAST_1 | fifo_load::FLUSH_1;
/// CCM's associated data begins with its length in two bytes (SP 800-38C, A.2.2).
const CCM_PREFIX: usize = 2;
/// Where CCM's encrypted tag is in the context.
const CCM_TAG: usize = 32;

/// A descriptor in the words of a slot.
pub(super) type InPlace<'m> = Descriptor<&'m mut [[u8; 4]]>;

/// Writes the descriptor of a job.
#[inline]
pub fn descriptor<'m>(task: Task, places: &Places, words: &'m mut [[u8; 4]]) -> InPlace<'m> {
    let mut job = Descriptor::job_in(words, Format::RT1170);
    match task {
        Task::Cipher { cipher, mode, encrypts } => {
            load_key(&mut job, class::ONE, places.key);
            let offset = if mode == Mode::Ctr { 16 } else { 0 };
            load_context(&mut job, offset, places.iv);
            let kind = operation::CLASS_1 | cipher.algorithm() | mode.bits();
            job.operation(kind | direction(encrypts));
            load(&mut job, fifo_load::MESSAGE | LAST_OF_1, places.input);
            store_message(&mut job, places);
        }
        Task::Gcm { encrypts } => gcm(&mut job, places, encrypts),
        Task::Ccm { encrypts } => ccm(&mut job, places, encrypts),
        Task::Hash(hash) => {
            let kind = operation::CLASS_2 | hash.algorithm();
            job.operation(kind | operation::INIT_FINAL | operation::ENCRYPT);
            digest(&mut job, hash, places);
        }
        Task::Hmac(hash, key) => {
            load_mac_key(&mut job, key, places.mac_key);
            job.operation(hmac(hash, key) | operation::ENCRYPT);
            digest(&mut job, hash, places);
        }
        Task::EncryptThenMac { hash, key, encrypts } => {
            load_key(&mut job, class::ONE, places.key);
            load_mac_key(&mut job, key, places.mac_key);
            load_context(&mut job, 0, places.iv);
            encrypt_then_mac(&mut job, places, hmac(hash, key), encrypts);
        }
        Task::DeriveKey(hash) => {
            let algorithm = operation::DKP | hash.algorithm() & 0xF << 16;
            let in_place = 2 << operation::DKP_SOURCE | 2 << operation::DKP_DESTINATION;
            let Span { address, length } = places.mac_key;
            job.operation(operation::PROTOCOL | algorithm | in_place | length as u32);
            job.pointer(address.into());
        }
        Task::Random => {
            job.operation(operation::CLASS_1 | operation::RNG);
            let length = places.input.length as u32;
            job.fifo_store(fifo_store::RANDOM, places.output.into(), length);
        }
    }
    job
}

const fn direction(encrypts: bool) -> u32 {
    if encrypts { operation::ENCRYPT } else { 0 }
}

fn hmac(hash: Hash, key: HmacKey) -> u32 {
    let mode = match key {
        HmacKey::Plain => operation::HMAC,
        HmacKey::Split => operation::HMAC_SPLIT,
    };
    operation::CLASS_2 | hash.algorithm() | mode | operation::INIT_FINAL
}

#[inline]
fn load_key(job: &mut InPlace<'_>, class: u32, Span { address, length }: Span) {
    job.key(class, address.into(), length);
}

fn load_mac_key(job: &mut InPlace<'_>, how: HmacKey, place: Span) {
    let destination = match how {
        HmacKey::Plain => key::REGISTER,
        HmacKey::Split => key::SPLIT,
    };
    load_key(job, class::TWO | destination, place);
}

/// Loads class 1's context, unless the mode has none.
#[inline]
fn load_context(job: &mut InPlace<'_>, offset: usize, Span { address, length }: Span) {
    if length > 0 {
        job.load(class::ONE | register::CONTEXT, offset, address.into(), length);
    }
}

#[inline]
fn load(job: &mut InPlace<'_>, kind: u32, Span { address, length }: Span) {
    job.fifo_load(kind, address.into(), length as u32);
}

#[inline]
fn store_message(job: &mut InPlace<'_>, places: &Places) {
    let length = places.input.length as u32;
    if length > 0 {
        job.fifo_store(fifo_store::MESSAGE, places.output.into(), length);
    }
}

fn digest(job: &mut InPlace<'_>, hash: Hash, places: &Places) {
    load(job, class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2, places.input);
    job.store(class::TWO | register::CONTEXT, 0, places.output.into(), hash.length());
}

fn gcm(job: &mut InPlace<'_>, places: &Places, encrypts: bool) {
    load_key(job, class::ONE, places.key);
    let check = if encrypts { operation::ENCRYPT } else { operation::CHECK_ICV };
    job.operation(
        operation::CLASS_1 | operation::AES | operation::GCM | operation::INIT_FINAL | check,
    );
    let parts = [
        (fifo_load::IV, places.iv),
        (fifo_load::AAD, places.associated),
        (fifo_load::MESSAGE, places.input),
    ];
    let last = parts.iter().rposition(|(_, part)| part.length > 0);
    for (at, (kind, part)) in parts.into_iter().enumerate() {
        if part.length > 0 {
            let ends = if encrypts && Some(at) == last { fifo_load::LAST_1 } else { 0 };
            load(job, class::ONE | kind | fifo_load::FLUSH_1 | ends, part);
        }
    }
    store_message(job, places);
    authenticate_1(job, places.tag, 0, encrypts);
}

/// Stores the tag from class 1's context, or lets the engine compare it.
fn authenticate_1(job: &mut InPlace<'_>, tag: Span, offset: usize, encrypts: bool) {
    if encrypts {
        job.store(class::ONE | register::CONTEXT, offset, tag.address.into(), tag.length);
    } else {
        load(job, fifo_load::ICV | LAST_OF_1, tag);
    }
}

fn ccm(job: &mut InPlace<'_>, places: &Places, encrypts: bool) {
    load_key(job, class::ONE, places.key);
    load_context(job, 0, places.iv);
    let check = if encrypts { operation::ENCRYPT } else { operation::CHECK_ICV };
    job.operation(
        operation::CLASS_1 | operation::AES | operation::CCM | operation::INIT_FINAL | check,
    );
    if places.associated.length > 0 {
        let prefix = (places.associated.length as u16).to_be_bytes();
        const { assert!(size_of::<u16>() == CCM_PREFIX) };
        job.fifo_load_immediate(class::ONE | fifo_load::AAD, &prefix);
        load(job, class::ONE | fifo_load::AAD | fifo_load::FLUSH_1, places.associated);
    }
    let ends = if encrypts { fifo_load::LAST_1 } else { 0 };
    load(job, class::ONE | fifo_load::MESSAGE | fifo_load::FLUSH_1 | ends, places.input);
    store_message(job, places);
    authenticate_1(job, places.tag, CCM_TAG, encrypts);
}

/// Encrypts, and authenticates what comes out; or authenticates what is decrypted.
fn encrypt_then_mac(job: &mut InPlace<'_>, places: &Places, mac: u32, encrypts: bool) {
    let check = if encrypts { operation::ENCRYPT } else { operation::CHECK_ICV };
    job.operation(mac | check);
    let cipher = operation::CLASS_1 | operation::AES | operation::CBC;
    job.operation(cipher | operation::INIT_FINAL | direction(encrypts));
    // What only class 2 reads is a message for it, too.
    for part in [places.associated, places.iv] {
        if part.length > 0 {
            load(job, class::TWO | fifo_load::MESSAGE, part);
        }
    }
    let kind = if encrypts { fifo_load::MESSAGE_OUT_TO_2 } else { fifo_load::MESSAGE };
    load(job, class::BOTH | kind | fifo_load::LAST_BOTH, places.input);
    store_message(job, places);
    let Span { address, length } = places.tag;
    if encrypts {
        job.store(class::TWO | register::CONTEXT, 0, address.into(), length);
    } else {
        load(job, class::TWO | fifo_load::ICV | fifo_load::LAST_2, places.tag);
    }
}

/// CCM's first block and first counter block (SP 800-38C, A.2.1 and A.3), for a nonce of 7 to 13 bytes, a tag of at
/// least 4, and a message whose length fits into what the nonce leaves.
pub fn ccm_blocks(nonce: &[u8], tag: usize, associated: usize, message: usize) -> [u8; 32] {
    let length_field = 15 - nonce.len();
    let mut blocks = [0; 32];
    let (first, counter) = blocks.split_at_mut(16);
    // The length ends the block; if it has fewer bytes than here, the nonce covers the upper ones.
    first[12..].copy_from_slice(&(message as u32).to_be_bytes());
    first[0] =
        (u8::from(associated > 0) << 6) | (((tag - 2) / 2) as u8 * 8) | (length_field - 1) as u8;
    first[1..][..nonce.len()].copy_from_slice(nonce);
    counter[0] = (length_field - 1) as u8;
    counter[1..][..nonce.len()].copy_from_slice(nonce);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SP 800-38C, example 3 has this nonce and these lengths but a tag of 8 bytes: flags 5A instead of 7A.
    #[test]
    fn the_blocks_of_ccm_hold_lengths_and_nonce() {
        let nonce: [u8; 12] = core::array::from_fn(|at| 0x10 + at as u8);
        let blocks = ccm_blocks(&nonce, 16, 20, 24);
        assert_eq!(
            (blocks[0], &blocks[1..13], &blocks[13..16]),
            (0x7A, &nonce[..], &[0, 0, 24][..])
        );
        assert_eq!(ccm_blocks(&nonce, 8, 20, 24)[0], 0x5A);
        assert_eq!((blocks[16], &blocks[17..29], &blocks[29..]), (2, &nonce[..], &[0; 3][..]));
    }

    #[test]
    fn no_descriptor_is_longer_than_its_place() {
        let span = Span { address: 0x2000_0000, length: 0x1_0000 };
        let places = Places {
            key: span,
            mac_key: span,
            iv: span,
            associated: span,
            input: span,
            output: 0,
            tag: span,
        };
        for encrypts in [true, false] {
            for task in [
                Task::Gcm { encrypts },
                Task::Ccm { encrypts },
                Task::EncryptThenMac { hash: Hash::Sha256, key: HmacKey::Plain, encrypts },
                Task::Cipher { cipher: Cipher::Aes, mode: Mode::Ctr, encrypts },
            ] {
                let mut words = [[0; 4]; DESCRIPTOR];
                assert!(
                    descriptor(task, &places, &mut words).finish_in_place().is_ok(),
                    "{task:?}"
                );
            }
        }
    }
}
