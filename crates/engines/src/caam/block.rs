//! Block ciphers of class 1: AES and DES in the modes ECB, CBC, CTR, XTS, CMAC and XCBC-MAC.

use super::class::{Chunk, Kind, Product, Registers};
use super::fault::Fault;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use cpb_drivers::caam::descriptor::operation;
use cpb_drivers::caam::status::{ccb, cha};
use des::{Des, TdesEde2, TdesEde3};

/// A cipher with its key.
pub(super) enum Cipher {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
    Des(Des),
    TripleDes2(TdesEde2),
    TripleDes3(TdesEde3),
}

macro_rules! each {
    ($cipher:expr, $method:ident, $block:expr) => {
        match $cipher {
            Cipher::Aes128(cipher) => cipher.$method($block.try_into().expect("16 bytes")),
            Cipher::Aes192(cipher) => cipher.$method($block.try_into().expect("16 bytes")),
            Cipher::Aes256(cipher) => cipher.$method($block.try_into().expect("16 bytes")),
            Cipher::Des(cipher) => cipher.$method($block.try_into().expect("8 bytes")),
            Cipher::TripleDes2(cipher) => cipher.$method($block.try_into().expect("8 bytes")),
            Cipher::TripleDes3(cipher) => cipher.$method($block.try_into().expect("8 bytes")),
        }
    };
}

impl Cipher {
    /// AES with a key of 16, 24 or 32 bytes.
    pub(super) fn aes(key: &[u8]) -> Result<Cipher, Fault> {
        let wrong = |_| Fault::Cha(cha::AES, ccb::KEY_SIZE);
        Ok(match key.len() {
            16 => Cipher::Aes128(Aes128::new_from_slice(key).map_err(wrong)?),
            24 => Cipher::Aes192(Aes192::new_from_slice(key).map_err(wrong)?),
            _ => Cipher::Aes256(Aes256::new_from_slice(key).map_err(wrong)?),
        })
    }

    /// DES with a key of 8 bytes, triple DES with one of 16 or 24.
    fn des(key: &[u8], triple: bool) -> Result<Cipher, Fault> {
        let wrong = |_| Fault::Cha(cha::DES, ccb::KEY_SIZE);
        Ok(match (triple, key.len()) {
            (false, _) => Cipher::Des(Des::new_from_slice(key).map_err(wrong)?),
            (true, 16) => Cipher::TripleDes2(TdesEde2::new_from_slice(key).map_err(wrong)?),
            (true, _) => Cipher::TripleDes3(TdesEde3::new_from_slice(key).map_err(wrong)?),
        })
    }

    pub(super) fn encrypt(&self, block: &mut [u8]) {
        each!(self, encrypt_block, block);
    }

    fn decrypt(&self, block: &mut [u8]) {
        each!(self, decrypt_block, block);
    }

    /// Encrypts a block of AES.
    pub(super) fn encrypted(&self, mut block: [u8; 16]) -> [u8; 16] {
        self.encrypt(&mut block);
        block
    }

    /// Decrypts a block of AES.
    pub(super) fn decrypted(&self, mut block: [u8; 16]) -> [u8; 16] {
        self.decrypt(&mut block);
        block
    }

    fn size(&self) -> usize {
        if matches!(self, Cipher::Aes128(_) | Cipher::Aes192(_) | Cipher::Aes256(_)) {
            16
        } else {
            8
        }
    }

    /// The rounds of a block.
    pub(super) fn rounds(&self) -> f64 {
        match self {
            Cipher::Aes128(_) => 10.0,
            Cipher::Aes192(_) => 12.0,
            Cipher::Aes256(_) => 14.0,
            Cipher::Des(_) => 16.0,
            Cipher::TripleDes2(_) | Cipher::TripleDes3(_) => 48.0,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Ctr,
    Xts,
    Cmac,
    Xcbc,
}

/// A block cipher at work.
pub(super) struct Block {
    cipher: Cipher,
    /// The second key of XTS.
    tweak_cipher: Option<Cipher>,
    tweak: Option<[u8; 16]>,
    mode: Mode,
    encrypts: bool,
    ends: bool,
    /// In the state FINAL alone, the last counter stays (`fsl_caam`, for the next call with the same block).
    keeps_counter: bool,
    checks: bool,
    cha: u32,
    rest: Vec<u8>,
    /// Bytes of the message so far.
    done: u64,
}

/// Where XTS has the lower half of the sector's number, the sector's size, and the upper half of the number
/// (Linux's descriptors for xts).
const XTS_SECTOR: usize = 0x20;
const XTS_SIZE: usize = 0x28;
const XTS_SECTOR_UPPER: usize = 0x30;

/// Where XCBC-MAC keeps its second and third key (NXP's driver names this order; the places are assumed).
const XCBC_KEYS: [usize; 2] = [16, 32];

/// Where CMAC keeps the encrypted zero block, from which its subkeys come (the place is assumed).
const CMAC_L: usize = 16;

impl Block {
    /// `fields` are of [`operation`].
    pub(super) fn new(
        fields: u32,
        registers: &mut Registers,
        has_xts: bool,
    ) -> Result<Block, Fault> {
        let is_aes = fields & operation::ALGORITHM == operation::AES;
        let cha = if is_aes { cha::AES } else { cha::DES };
        let aai = fields & operation::MODE_MASK & !(operation::CHECK_ODD | operation::DECRYPT_KEY);
        let mode = match if is_aes {
            fields & operation::MODE_MASK & !operation::DECRYPT_KEY
        } else {
            aai
        } {
            operation::ECB => Mode::Ecb,
            operation::CBC => Mode::Cbc,
            operation::CTR if is_aes => Mode::Ctr,
            operation::XTS if is_aes && has_xts => Mode::Xts,
            operation::CMAC if is_aes => Mode::Cmac,
            operation::XCBC_MAC if is_aes => Mode::Xcbc,
            // The sixteen counter widths: their low bits are the width in bytes. All have the same effect until the
            // counter overflows, where the model always carries on (assumed).
            ctr if is_aes && ctr >> operation::MODE < 0x10 => Mode::Ctr,
            _ => return Err(Fault::Cha(cha, ccb::MODE)),
        };
        let key = &registers.key;
        let (cipher, tweak_cipher) = if mode == Mode::Xts {
            if key.len() != 32 && key.len() != 64 {
                return Err(Fault::Cha(cha, ccb::KEY_SIZE));
            }
            let (first, second) = key.split_at(key.len() / 2);
            (Cipher::aes(first)?, Some(Cipher::aes(second)?))
        } else if is_aes {
            (Cipher::aes(key)?, None)
        } else {
            if fields & operation::CHECK_ODD != 0
                && key.iter().any(|byte| byte.count_ones().is_multiple_of(2))
            {
                return Err(Fault::Cha(cha, ccb::PARITY));
            }
            let triple = fields & operation::ALGORITHM == operation::TRIPLE_DES;
            (Cipher::des(key, triple)?, None)
        };
        let begins = fields & operation::INIT != 0;
        if matches!(mode, Mode::Cmac | Mode::Xcbc) && begins {
            registers.context[..16].fill(0);
        }
        let cipher =
            if mode == Mode::Xcbc { xcbc_keys(cipher, begins, registers)? } else { cipher };
        Ok(Block {
            cipher,
            tweak_cipher,
            tweak: None,
            mode,
            encrypts: fields & operation::ENCRYPT != 0,
            ends: fields & operation::FINAL != 0,
            keeps_counter: fields & operation::STATE == operation::FINAL,
            checks: fields & operation::CHECK_ICV != 0,
            cha,
            rest: Vec::new(),
            done: 0,
        })
    }

    /// Whether it is DES or triple DES.
    pub(super) fn is_des(&self) -> bool {
        self.cha == cha::DES
    }

    fn is_mac(&self) -> bool {
        matches!(self.mode, Mode::Cmac | Mode::Xcbc)
    }

    /// Takes data in. Returns whether the accelerator is done.
    pub(super) fn feed(
        &mut self,
        chunk: &Chunk,
        registers: &mut Registers,
        product: &mut Product<'_>,
    ) -> Result<bool, Fault> {
        match chunk.kind {
            Kind::Message => self.rest.extend_from_slice(&chunk.bytes),
            Kind::Icv if self.is_mac() && self.checks => {
                return registers.compare(&chunk.bytes, self.cha).map(|()| true);
            }
            _ => return Err(Fault::Cha(self.cha, ccb::SEQUENCE)),
        }
        let size = self.cipher.size();
        let mut whole = self.rest.len() / size * size;
        let keeps = match self.mode {
            Mode::Cmac | Mode::Xcbc => self.ends,
            Mode::Ctr => self.keeps_counter,
            _ => false,
        };
        if keeps && whole == self.rest.len() {
            // The last block is treated in another way.
            whole = whole.saturating_sub(size);
        }
        let mut data: Vec<u8> = self.rest.drain(..whole).collect();
        for block in data.chunks_exact_mut(size) {
            self.block(block, registers);
        }
        product.rounds += self.cipher.rounds() * (whole / size) as f64;
        if !self.is_mac() {
            product.output.extend_from_slice(&data);
        }
        if chunk.last {
            self.finish(registers, product)?;
        }
        Ok(chunk.last && !(self.checks && self.is_mac()))
    }

    fn block(&mut self, block: &mut [u8], registers: &mut Registers) {
        let context = &mut registers.context;
        match self.mode {
            Mode::Ecb if self.encrypts => self.cipher.encrypt(block),
            Mode::Ecb => self.cipher.decrypt(block),
            Mode::Cbc if self.encrypts => {
                let size = block.len();
                xor(block, &context[..size]);
                self.cipher.encrypt(block);
                context[..size].copy_from_slice(block);
            }
            Mode::Cbc => {
                let input = block.to_vec();
                self.cipher.decrypt(block);
                xor(block, &context[..input.len()]);
                context[..input.len()].copy_from_slice(&input);
            }
            Mode::Ctr => {
                let mut stream = [0; 16];
                stream.copy_from_slice(&context[16..32]);
                self.cipher.encrypt(&mut stream);
                xor(block, &stream);
                increment(&mut context[16..32]);
            }
            Mode::Xts => self.xts_block(block, context),
            Mode::Cmac | Mode::Xcbc => {
                if self.done == 0 && self.mode == Mode::Cmac {
                    self.subkey(context);
                }
                xor(&mut context[..16], block);
                self.cipher.encrypt(&mut context[..16]);
            }
        }
        self.done += block.len() as u64;
    }

    /// Sectors of the stated size follow each other; each has a number of its own.
    fn xts_block(&mut self, block: &mut [u8], context: &mut [u8]) {
        let mut size = [0; 8];
        size.copy_from_slice(&context[XTS_SIZE..XTS_SIZE + 8]);
        let size = u64::from_be_bytes(size);
        let begins = self.done == 0 || (size > 0 && self.done.is_multiple_of(size));
        if begins {
            if self.done > 0 {
                let sector = &mut context[XTS_SECTOR..XTS_SECTOR + 8];
                for byte in sector {
                    *byte = byte.wrapping_add(1);
                    if *byte != 0 {
                        break;
                    }
                }
            }
            let mut tweak = [0; 16];
            tweak[..8].copy_from_slice(&context[XTS_SECTOR..XTS_SECTOR + 8]);
            tweak[8..].copy_from_slice(&context[XTS_SECTOR_UPPER..XTS_SECTOR_UPPER + 8]);
            self.tweak = self.tweak_cipher.as_ref().map(|cipher| cipher.encrypted(tweak));
        }
        let tweak = self.tweak.unwrap_or_default();
        xor(block, &tweak);
        if self.encrypts {
            self.cipher.encrypt(block);
        } else {
            self.cipher.decrypt(block);
        }
        xor(block, &tweak);
        let number = u128::from_le_bytes(tweak);
        let reduced = if number >> 127 != 0 { 0x87 } else { 0 };
        self.tweak = Some((number << 1 ^ reduced).to_le_bytes());
    }

    /// The encrypted zero block of CMAC. It begins a message, or was restored with the context.
    fn subkey(&self, context: &mut [u8]) {
        context[CMAC_L..CMAC_L + 16].copy_from_slice(&self.cipher.encrypted([0; 16]));
    }

    fn finish(
        &mut self,
        registers: &mut Registers,
        product: &mut Product<'_>,
    ) -> Result<(), Fault> {
        let context = &mut registers.context;
        match self.mode {
            Mode::Ctr if !self.rest.is_empty() => {
                let mut stream = [0; 16];
                stream.copy_from_slice(&context[16..32]);
                self.cipher.encrypt(&mut stream);
                xor(&mut self.rest, &stream);
                product.output.append(&mut self.rest);
                product.rounds += self.cipher.rounds();
                if !self.keeps_counter {
                    increment(&mut context[16..32]);
                }
                Ok(())
            }
            Mode::Cmac if self.ends => {
                let double = |block: [u8; 16]| {
                    let number = u128::from_be_bytes(block);
                    (number << 1 ^ if number >> 127 != 0 { 0x87 } else { 0 }).to_be_bytes()
                };
                let mut subkey = double(self.cipher.encrypted([0; 16]));
                if self.rest.len() != 16 {
                    subkey = double(subkey);
                    self.rest.push(0x80);
                    self.rest.resize(16, 0);
                }
                xor(&mut context[..16], &self.rest);
                xor(&mut context[..16], &subkey);
                self.cipher.encrypt(&mut context[..16]);
                product.rounds += self.cipher.rounds();
                self.rest.clear();
                Ok(())
            }
            Mode::Xcbc if self.ends => {
                let is_whole = self.rest.len() == 16;
                if !is_whole {
                    self.rest.push(0x80);
                    self.rest.resize(16, 0);
                }
                let at = XCBC_KEYS[usize::from(!is_whole)];
                let key: Vec<u8> = context[at..at + 16].to_vec();
                xor(&mut context[..16], &self.rest);
                xor(&mut context[..16], &key);
                self.cipher.encrypt(&mut context[..16]);
                product.rounds += self.cipher.rounds();
                self.rest.clear();
                Ok(())
            }
            _ if self.rest.is_empty() => Ok(()),
            _ => Err(Fault::Cha(self.cha, ccb::DATA_SIZE)),
        }
    }
}

/// The cipher of XCBC-MAC (RFC 3566, 4). A message's beginning derives three keys: the first one takes the place of
/// the key, the others go into the context. Later jobs bring all three along.
fn xcbc_keys(cipher: Cipher, begins: bool, registers: &mut Registers) -> Result<Cipher, Fault> {
    if registers.key.len() != 16 {
        return Err(Fault::Cha(cha::AES, ccb::KEY_SIZE));
    }
    if !begins {
        return Ok(cipher);
    }
    for (at, number) in XCBC_KEYS.into_iter().zip([2, 3]) {
        registers.context[at..at + 16].copy_from_slice(&cipher.encrypted([number; 16]));
    }
    registers.key = cipher.encrypted([1; 16]).to_vec();
    Cipher::aes(&registers.key)
}

/// Adds `other` to `block`, bit by bit, as far as both go.
pub(super) fn xor(block: &mut [u8], other: &[u8]) {
    for (byte, other) in block.iter_mut().zip(other) {
        *byte ^= other;
    }
}

/// Counts a big-endian counter up.
pub(super) fn increment(counter: &mut [u8]) {
    for byte in counter.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return;
        }
    }
}
