//! OPERATION: starts an accelerator, or derives a split key.
//!
//! Protocols other than these and RSA are not modelled: their descriptors end with an error.

use super::accelerator::Active;
use super::aead::{Ccm, Gcm};
use super::block::Block;
use super::class::Product;
use super::deco::Job;
use super::digest::{self, Algorithm, Digest};
use super::fault::Fault;
use super::place::{Cursor, Output};
use cpb_drivers::caam::descriptor::{IMMEDIATE, class, command, key, operation, rsa};
use cpb_drivers::caam::registers::rdsta;
use cpb_drivers::caam::status::{ccb, cha, deco};

/// How many random bytes a job can have at most, so that it cannot use up the host's memory (assumed).
const RANDOM_DATA: usize = 16 << 20;

/// Where a derived key comes from or goes to.
mod place {
    pub(super) const IMMEDIATE: u32 = 0;
    pub(super) const SEQUENCE: u32 = 1;
    pub(super) const POINTER: u32 = 2;
    pub(super) const TABLE: u32 = 3;
}

impl Job<'_> {
    pub(super) fn operation(&mut self, word: u32) -> Result<(), Fault> {
        match word & operation::TYPE {
            operation::CLASS_1 => self.class_1(word),
            operation::CLASS_2 => self.class_2(word),
            operation::PROTOCOL if word & 0xF0 << 16 == operation::DKP => self.derive(word),
            operation::PROTOCOL
                if matches!(word & operation::ALGORITHM, rsa::PUBLIC | rsa::PRIVATE) =>
            {
                self.rsa(word)
            }
            operation::PROTOCOL | operation::DECAPSULATE | operation::ENCAPSULATE => {
                Err(Fault::Deco(deco::PROTOCOL))
            }
            operation::PUBLIC_KEY => self.public_key(word),
            _ => Err(Fault::Deco(deco::OPERATION)),
        }
    }

    fn class_1(&mut self, word: u32) -> Result<(), Fault> {
        let configuration = self.configuration;
        let algorithm = word & operation::ALGORITHM;
        let (identity, exists) = match algorithm {
            operation::AES => (cha::AES, configuration.aes.is_some()),
            operation::DES | operation::TRIPLE_DES => (cha::DES, configuration.des),
            operation::RNG => (cha::RNG, configuration.rng),
            operation::CRC => (cha::CRC, false),
            _ => return Err(Fault::Deco(deco::OPERATION)),
        };
        if !exists {
            return Err(Fault::Cha(identity, ccb::NO_CHA));
        }
        if self.class1.registers.done || self.class1.active.is_some() {
            return Err(Fault::Cha(identity, ccb::NOT_RESET));
        }
        if algorithm == operation::RNG {
            return self.random(word);
        }
        self.count_bytes(word, operation::CLASS_1);
        let registers = &mut self.class1.registers;
        let mut product = Product { output: &mut Vec::new(), rounds: 0.0 };
        let mode = word & operation::MODE_MASK & !operation::DECRYPT_KEY;
        let active = match (algorithm, mode) {
            (operation::AES, operation::GCM) => Active::Gcm(Box::new(Gcm::new(word, registers)?)),
            (operation::AES, operation::CCM) => {
                Active::Ccm(Box::new(Ccm::new(word, registers, &mut product)?))
            }
            _ => {
                let has_xts = configuration.aes.is_some_and(|version| version >= 4);
                Active::Block(Box::new(Block::new(word, registers, has_xts)?))
            }
        };
        self.time.compute += self.timing.aes_round * product.rounds;
        self.class1.active = Some(active);
        Ok(())
    }

    fn class_2(&mut self, word: u32) -> Result<(), Fault> {
        let digests = operation::MD5..=operation::SHA_512;
        if !digests.contains(&(word & operation::ALGORITHM)) {
            // AES as class 2, and CRC.
            return Err(Fault::Cha(cha::NONE, ccb::NO_CHA));
        }
        let algorithm = self.digest_of(word)?;
        if self.class2.registers.done || self.class2.active.is_some() {
            return Err(Fault::Cha(cha::MD, ccb::NOT_RESET));
        }
        self.count_bytes(word, operation::CLASS_2);
        let digest = Digest::new(word, algorithm, &mut self.class2.registers)?;
        self.time.compute += self.block_time(algorithm) * digest.derived as f64;
        self.class2.active = Some(Active::Digest(Box::new(digest)));
        Ok(())
    }

    fn digest_of(&self, word: u32) -> Result<Algorithm, Fault> {
        let Some(version) = self.configuration.md else {
            return Err(Fault::Cha(cha::MD, ccb::NO_CHA));
        };
        Algorithm::of(word, version > 0).ok_or(Fault::Cha(cha::MD, ccb::MODE))
    }

    /// The protocol that derives a split key (DKP). It leaves the key in class 2's key register, writes it to the
    /// destination, and puts a KEY command in its own place, so that the next job need not derive it again.
    ///
    /// Where the key goes into a sequence or a table, or where its source is longer than it, the model leaves descriptor
    /// and memory as they are: the next job derives the same key again.
    fn derive(&mut self, word: u32) -> Result<(), Fault> {
        if self.configuration.era < 6 {
            return Err(Fault::Deco(deco::PROTOCOL));
        }
        let algorithm = self.digest_of(word)?;
        let length = word & operation::DKP_LENGTH;
        let source = word >> operation::DKP_SOURCE & 3;
        let destination = word >> operation::DKP_DESTINATION & 3;
        let begin = self.next;
        let mut pointer = 0;
        let key = match source {
            place::IMMEDIATE => self.immediate(length as usize)?,
            place::SEQUENCE => self.read_sequence(length)?,
            _ => {
                pointer = self.pointer()?;
                let mut cursor = Cursor::new(pointer, source == place::TABLE);
                self.read(&mut cursor, length)?
            }
        };
        // The room for the derived key, which the descriptor goes on behind.
        let words = (2 * algorithm.running()).div_ceil(4);
        if destination == place::IMMEDIATE {
            self.next = self.next.max(begin + words);
            if self.next > self.end {
                return Err(Fault::Deco(deco::PROTOCOL_SIZE));
            }
        }
        let (key, blocks) = digest::split_key(algorithm, &key);
        self.time.compute += self.block_time(algorithm) * blocks as f64;
        let command = command::KEY | class::TWO | key::SPLIT | key.len() as u32;
        if (source, destination) == (place::POINTER, place::POINTER) {
            self.outputs.push(Output { index: self.index, address: pointer, bytes: key.clone() });
            self.leave(self.format.bytes(command).to_vec());
        } else if destination == place::IMMEDIATE && self.next == begin + words {
            self.leave([&self.format.bytes(command | IMMEDIATE)[..], &key].concat());
        }
        self.class2.registers.key = key;
        self.class2.registers.is_split = true;
        Ok(())
    }

    /// Puts other words in the place of the command that runs, in memory: the next job has them.
    fn leave(&mut self, bytes: Vec<u8>) {
        self.time.commands += self.timing.register_word * bytes.len().div_ceil(4) as f64;
        let is_shared = self.index < self.job_at;
        let [job, shared] = self.addresses;
        let (descriptor, place) =
            if is_shared { (shared, self.index) } else { (job, self.index - self.job_at) };
        // A descriptor in the buffer alone is nowhere.
        if descriptor != 0 {
            let address = descriptor.wrapping_add(4 * place as u64);
            self.outputs.push(Output { index: self.index, address, bytes });
        }
    }

    /// The time of a block of a digest.
    pub(super) fn block_time(&self, algorithm: Algorithm) -> f64 {
        match algorithm {
            Algorithm::Md5 => self.timing.md5_block,
            Algorithm::Sha1 => self.timing.sha1_block,
            Algorithm::Sha224 | Algorithm::Sha256 => self.timing.sha256_block,
            Algorithm::Sha384 | Algorithm::Sha512 => self.timing.sha512_block,
        }
    }

    /// OPERATION of the random number generator.
    pub(super) fn random(&mut self, fields: u32) -> Result<(), Fault> {
        let handle = fields >> operation::MODE & 3;
        if handle > 1 {
            return Err(Fault::Cha(cha::RNG, ccb::MODE));
        }
        let instantiated = rdsta::INSTANTIATED << handle;
        let is_instantiated = self.random.status & instantiated != 0;
        let not_yet = Fault::Cha(cha::RNG, ccb::RNG_NOT_INSTANTIATED);
        match fields & operation::STATE {
            operation::INIT => {
                if is_instantiated {
                    return Err(Fault::Cha(cha::RNG, ccb::RNG_INSTANTIATE));
                }
                let resistance = fields & operation::CHECK_ICV != 0;
                let resistance =
                    if resistance { rdsta::PREDICTION_RESISTANCE << handle } else { 0 };
                self.random.status |= instantiated | resistance;
            }
            operation::FINAL if is_instantiated => {}
            operation::INIT_FINAL if is_instantiated => {
                self.random.status &= !(instantiated | rdsta::PREDICTION_RESISTANCE << handle);
            }
            operation::UPDATE if is_instantiated => {
                if fields & operation::RNG_SECURE_KEYS == 0 {
                    self.generates = Some(fields);
                } else if self.random.status & rdsta::KEYS != 0 {
                    return Err(Fault::Cha(cha::RNG, ccb::RNG_SECURE_KEY));
                } else {
                    self.random.make_keys();
                }
            }
            _ => return Err(not_yet),
        }
        Ok(())
    }

    /// Random numbers for the descriptor: none before it has started the generator, and fewer than it asks for if they
    /// are too many, so that it expires.
    pub(super) fn random_bytes(&mut self, length: usize) -> Vec<u8> {
        let Some(fields) = self.generates else { return Vec::new() };
        let length = length.min(RANDOM_DATA - self.random_data);
        self.random_data += length;
        self.time.compute += self.timing.random_word * length.div_ceil(4) as f64;
        let mut bytes = self.random.bytes(length);
        for byte in &mut bytes {
            // How the engine makes bytes odd, or not zero, is assumed.
            if fields & operation::RNG_ODD_PARITY != 0 {
                *byte ^= u8::from(byte.count_ones().is_multiple_of(2));
            }
            if fields & operation::RNG_NOT_ZERO != 0 {
                *byte = (*byte).max(1);
            }
        }
        bytes
    }
}
