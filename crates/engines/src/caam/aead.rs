//! AES of class 1 in the modes that authenticate what they encrypt: GCM and CCM.

use super::block::{Cipher, increment, xor};
use super::class::{Chunk, Kind, Product, Registers, compare};
use super::fault::Fault;
use cpb_drivers::caam::descriptor::operation;
use cpb_drivers::caam::status::{ccb, cha};

const SEQUENCE: Fault = Fault::Cha(cha::AES, ccb::SEQUENCE);

/// Pads `rest` with zeros to a whole block, if there is any.
fn padded(rest: &mut Vec<u8>) -> Option<[u8; 16]> {
    if rest.is_empty() {
        return None;
    }
    rest.resize(16, 0);
    let block = core::array::from_fn(|place| rest[place]);
    rest.clear();
    Some(block)
}

/// Takes the whole blocks out of `rest`.
fn whole_blocks(rest: &mut Vec<u8>) -> Vec<[u8; 16]> {
    let whole: Vec<u8> = rest.drain(..rest.len() / 16 * 16).collect();
    whole.as_chunks::<16>().0.to_vec()
}

/// The context of GCM: the hash (at the end the tag), the counter, the first counter, and the lengths of associated
/// data and message in bytes. Only the tag's place is public; the others are assumed.
mod gcm_context {
    pub(super) const COUNTER: usize = 16;
    pub(super) const FIRST: usize = 32;
    pub(super) const LENGTHS: usize = 48;
}

/// GCM at work. The time of its hash is that of AES, with which it overlaps (assumed).
pub(super) struct Gcm {
    cipher: Cipher,
    /// The hash's key.
    h: u128,
    hash: u128,
    counter: [u8; 16],
    first: [u8; 16],
    aad_length: u64,
    message_length: u64,
    rest: Vec<u8>,
    phase: Kind,
    has_state: bool,
    encrypts: bool,
    ends: bool,
    checks: bool,
    finished: bool,
}

impl Gcm {
    /// `fields` are of [`operation`].
    pub(super) fn new(fields: u32, registers: &Registers) -> Result<Gcm, Fault> {
        let cipher = Cipher::aes(&registers.key)?;
        let block = |at: usize| core::array::from_fn(|place| registers.context[at + place]);
        let length = |at: usize| {
            u64::from_be_bytes(core::array::from_fn(|place| registers.context[at + place]))
        };
        Ok(Gcm {
            h: u128::from_be_bytes(cipher.encrypted([0; 16])),
            cipher,
            hash: u128::from_be_bytes(block(0)),
            counter: block(gcm_context::COUNTER),
            first: block(gcm_context::FIRST),
            aad_length: length(gcm_context::LENGTHS),
            message_length: length(gcm_context::LENGTHS + 8),
            rest: Vec::new(),
            phase: Kind::Iv,
            has_state: fields & operation::INIT == 0,
            encrypts: fields & operation::ENCRYPT != 0,
            ends: fields & operation::FINAL != 0,
            checks: fields & operation::CHECK_ICV != 0,
            finished: false,
        })
    }

    fn absorb(&mut self, block: [u8; 16]) {
        self.hash = multiply(self.hash ^ u128::from_be_bytes(block), self.h);
    }

    /// Takes data in. Returns whether the accelerator is done.
    pub(super) fn feed(
        &mut self,
        chunk: &Chunk,
        registers: &mut Registers,
        product: &mut Product<'_>,
    ) -> Result<bool, Fault> {
        if chunk.kind != self.phase {
            self.advance(chunk.kind, product)?;
        }
        match chunk.kind {
            // An IV begins a message even in the state FINAL: NXP's driver has it so.
            Kind::Iv => self.rest.extend_from_slice(&chunk.bytes),
            Kind::Aad => {
                self.aad_length = self.aad_length.wrapping_add(chunk.bytes.len() as u64);
                self.rest.extend_from_slice(&chunk.bytes);
                for block in whole_blocks(&mut self.rest) {
                    self.absorb(block);
                }
            }
            Kind::Message => self.message(&chunk.bytes, product),
            Kind::Icv => {
                self.save(registers);
                return self.check(&chunk.bytes, registers).map(|()| true);
            }
        }
        if chunk.last {
            self.advance(Kind::Icv, product)?;
            self.finish(product);
        }
        self.save(registers);
        Ok(chunk.last && !self.checks)
    }

    /// Ends the phase and begins that of `kind`.
    fn advance(&mut self, kind: Kind, product: &mut Product<'_>) -> Result<(), Fault> {
        if (kind as u8) < self.phase as u8 {
            return Err(SEQUENCE);
        }
        if self.phase == Kind::Iv {
            self.begin()?;
        }
        if self.phase == Kind::Aad
            && let Some(block) = padded(&mut self.rest)
        {
            self.absorb(block);
        }
        if self.phase == Kind::Message && kind != Kind::Message {
            self.end_of_message(product);
        }
        self.phase = kind;
        Ok(())
    }

    /// Makes the first counter of the IV. Without an IV, the message goes on from the context.
    fn begin(&mut self) -> Result<(), Fault> {
        let iv = core::mem::take(&mut self.rest);
        if iv.is_empty() {
            return if self.has_state { Ok(()) } else { Err(SEQUENCE) };
        }
        self.hash = 0;
        if iv.len() == 12 {
            self.first = [0; 16];
            self.first[..12].copy_from_slice(&iv);
            self.first[15] = 1;
        } else {
            for part in iv.chunks(16) {
                let mut block = [0; 16];
                block[..part.len()].copy_from_slice(part);
                self.absorb(block);
            }
            self.absorb((8 * iv.len() as u128).to_be_bytes());
            self.first = self.hash.to_be_bytes();
        }
        (self.hash, self.aad_length, self.message_length) = (0, 0, 0);
        self.counter = self.first;
        increment(&mut self.counter[12..]);
        Ok(())
    }

    fn message(&mut self, bytes: &[u8], product: &mut Product<'_>) {
        self.rest.extend_from_slice(bytes);
        for block in whole_blocks(&mut self.rest) {
            self.crypt(&block, product);
        }
    }

    fn crypt(&mut self, input: &[u8], product: &mut Product<'_>) {
        let mut output = input.to_vec();
        xor(&mut output, &self.cipher.encrypted(self.counter));
        increment(&mut self.counter[12..]);
        product.rounds += self.cipher.rounds();
        let mut block = [0; 16];
        block[..input.len()].copy_from_slice(if self.encrypts { &output } else { input });
        self.absorb(block);
        self.message_length = self.message_length.wrapping_add(input.len() as u64);
        product.output.append(&mut output);
    }

    fn end_of_message(&mut self, product: &mut Product<'_>) {
        let rest = core::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.crypt(&rest, product);
        }
    }

    /// Computes the tag, if the state says so.
    fn finish(&mut self, product: &mut Product<'_>) {
        if self.ends && !self.finished {
            let lengths = u128::from(self.aad_length) << 67 | u128::from(self.message_length) << 3;
            self.absorb(lengths.to_be_bytes());
            self.hash ^= u128::from_be_bytes(self.cipher.encrypted(self.first));
            product.rounds += self.cipher.rounds();
            self.finished = true;
        }
    }

    fn check(&mut self, icv: &[u8], registers: &mut Registers) -> Result<(), Fault> {
        if self.ends {
            let (mut output, rounds) = (Vec::new(), 0.0);
            self.finish(&mut Product { output: &mut output, rounds });
            self.save(registers);
        }
        if self.checks {
            compare(icv, &self.hash.to_be_bytes(), registers.icv_size, cha::AES)
        } else {
            Err(SEQUENCE)
        }
    }

    fn save(&self, registers: &mut Registers) {
        let context = &mut registers.context;
        context[..16].copy_from_slice(&self.hash.to_be_bytes());
        context[gcm_context::COUNTER..][..16].copy_from_slice(&self.counter);
        context[gcm_context::FIRST..][..16].copy_from_slice(&self.first);
        context[gcm_context::LENGTHS..][..8].copy_from_slice(&self.aad_length.to_be_bytes());
        context[gcm_context::LENGTHS + 8..][..8]
            .copy_from_slice(&self.message_length.to_be_bytes());
    }
}

/// The product in the field of GHASH (SP 800-38D, 6.3).
fn multiply(x: u128, y: u128) -> u128 {
    let (mut product, mut factor) = (0, y);
    for bit in (0..128).rev() {
        if x >> bit & 1 != 0 {
            product ^= factor;
        }
        factor = factor >> 1 ^ if factor & 1 != 0 { 0xE1 << 120 } else { 0 };
    }
    product
}

/// The context of CCM: B0 (then the code), the first counter (then the counter), and the encrypted code. The last
/// holds the encrypted first counter until the end, which is assumed.
mod ccm_context {
    pub(super) const COUNTER: usize = 16;
    pub(super) const ICV: usize = 32;
}

/// CCM at work.
pub(super) struct Ccm {
    cipher: Cipher,
    mac: [u8; 16],
    counter: [u8; 16],
    /// The encrypted first counter.
    mask: [u8; 16],
    rest: Vec<u8>,
    phase: Kind,
    aad_started: bool,
    encrypts: bool,
    ends: bool,
    checks: bool,
}

impl Ccm {
    /// `fields` are of [`operation`].
    pub(super) fn new(
        fields: u32,
        registers: &Registers,
        product: &mut Product<'_>,
    ) -> Result<Ccm, Fault> {
        let cipher = Cipher::aes(&registers.key)?;
        let block = |at: usize| core::array::from_fn(|place| registers.context[at + place]);
        let mut ccm = Ccm {
            cipher,
            mac: block(0),
            counter: block(ccm_context::COUNTER),
            mask: block(ccm_context::ICV),
            rest: Vec::new(),
            phase: Kind::Iv,
            aad_started: false,
            encrypts: fields & operation::ENCRYPT != 0,
            ends: fields & operation::FINAL != 0,
            checks: fields & operation::CHECK_ICV != 0,
        };
        if fields & operation::INIT != 0 {
            ccm.mac = ccm.cipher.encrypted(ccm.mac);
            ccm.mask = ccm.cipher.encrypted(ccm.counter);
            ccm.count();
            product.rounds += 2.0 * ccm.cipher.rounds();
        }
        Ok(ccm)
    }

    /// The counter's width is in its first byte (SP 800-38C, A.3).
    fn count(&mut self) {
        let width = usize::from(self.counter[0] & 7) + 1;
        increment(&mut self.counter[16 - width..]);
    }

    fn absorb(&mut self, block: [u8; 16], product: &mut Product<'_>) {
        xor(&mut self.mac, &block);
        self.mac = self.cipher.encrypted(self.mac);
        product.rounds += self.cipher.rounds();
    }

    /// Takes data in. Returns whether the accelerator is done.
    pub(super) fn feed(
        &mut self,
        chunk: &Chunk,
        registers: &mut Registers,
        product: &mut Product<'_>,
    ) -> Result<bool, Fault> {
        if chunk.kind != self.phase {
            self.advance(chunk.kind, product)?;
        }
        match chunk.kind {
            Kind::Iv => return Err(SEQUENCE),
            Kind::Aad => {
                self.rest.extend_from_slice(&chunk.bytes);
                // Longer lengths than 65,279 bytes have another code, which the accelerator does not know.
                if !self.aad_started && self.rest.len() >= 2 {
                    self.aad_started = true;
                    if self.rest[0] == 0xFF && self.rest[1] >= 0xFE {
                        return Err(Fault::Cha(cha::AES, ccb::CCM_AAD));
                    }
                }
                for block in whole_blocks(&mut self.rest) {
                    self.absorb(block, product);
                }
            }
            Kind::Message => {
                self.rest.extend_from_slice(&chunk.bytes);
                for block in whole_blocks(&mut self.rest) {
                    self.crypt(&block, product);
                }
            }
            Kind::Icv => {
                self.save(registers);
                if !self.checks {
                    return Err(SEQUENCE);
                }
                let code = self.code();
                compare(&chunk.bytes, &code, registers.icv_size, cha::AES)?;
                return Ok(true);
            }
        }
        if chunk.last {
            self.advance(Kind::Icv, product)?;
        }
        self.save(registers);
        Ok(chunk.last && !self.checks)
    }

    fn advance(&mut self, kind: Kind, product: &mut Product<'_>) -> Result<(), Fault> {
        if (kind as u8) < self.phase as u8 {
            return Err(SEQUENCE);
        }
        if self.phase == Kind::Aad
            && let Some(block) = padded(&mut self.rest)
        {
            self.absorb(block, product);
        }
        if self.phase == Kind::Message {
            let rest = core::mem::take(&mut self.rest);
            if !rest.is_empty() {
                self.crypt(&rest, product);
            }
        }
        self.phase = kind;
        Ok(())
    }

    fn crypt(&mut self, input: &[u8], product: &mut Product<'_>) {
        let mut output = input.to_vec();
        xor(&mut output, &self.cipher.encrypted(self.counter));
        product.rounds += self.cipher.rounds();
        self.count();
        let mut block = [0; 16];
        block[..input.len()].copy_from_slice(if self.encrypts { input } else { &output });
        self.absorb(block, product);
        product.output.append(&mut output);
    }

    fn code(&self) -> [u8; 16] {
        let mut code = self.mac;
        xor(&mut code, &self.mask);
        code
    }

    fn save(&self, registers: &mut Registers) {
        let ends = self.ends && self.phase == Kind::Icv;
        let context = &mut registers.context;
        context[..16].copy_from_slice(&self.mac);
        context[ccm_context::COUNTER..][..16].copy_from_slice(&self.counter);
        let icv = if ends { self.code() } else { self.mask };
        context[ccm_context::ICV..][..16].copy_from_slice(&icv);
    }
}
