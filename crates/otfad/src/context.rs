//! A context, and the 40 bytes that a key blob wraps.

use crate::{Counter, Key, REGION, Region};
use core::fmt;
use crc::{CRC_32_MPEG_2, Crc, Table};
use zeroize::Zeroizing;

/// The bytes that are wrapped: key, counter, start, end with flags, fill, checksum.
pub const PLAIN: usize = 40;

/// The part that the checksum covers.
const CHECKED: usize = 32;
/// Bits of the end's word that are always ones.
const END_ONES: u32 = 0x3F8;
const VALID: u32 = 1 << 0;
const DECRYPTS: u32 = 1 << 1;
const LOCKED: u32 = 1 << 2;

const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_MPEG_2);

/// What the device does in a context's region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// VLD: the context is in use.
    pub valid: bool,
    /// ADE: reads are decrypted. Otherwise, they are passed on as they are.
    pub decrypts: bool,
    /// RO: the context's registers cannot be changed until the next reset.
    pub locked: bool,
}

impl Flags {
    /// A valid context that decrypts and is locked.
    pub const ALL: Flags = Flags { valid: true, decrypts: true, locked: true };

    const fn bits(self) -> u32 {
        (if self.valid { VALID } else { 0 })
            | (if self.decrypts { DECRYPTS } else { 0 })
            | (if self.locked { LOCKED } else { 0 })
    }
}

/// A region of flash, and how it is decrypted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// Where.
    pub region: Region,
    /// The AES key.
    pub key: Key,
    /// The constant part of the counter blocks.
    pub counter: Counter,
    /// Whether it is valid, decrypts, and is locked.
    pub flags: Flags,
}

/// An error in the 40 bytes of a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlainError {
    /// The checksum does not belong to the bytes before it.
    Checksum,
    /// An address ends before its start or has bits that should be different, so no tool wrote it.
    Region,
}

impl fmt::Display for PlainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PlainError::Checksum => {
                "its CRC is wrong, although it was unwrapped with the right key"
            }
            PlainError::Region => "its region is not one that OTFAD has",
        })
    }
}

impl core::error::Error for PlainError {}

impl Context {
    /// Whether reads in its region are decrypted.
    pub const fn is_active(&self) -> bool {
        self.flags.valid && self.flags.decrypts
    }

    /// The bytes that are wrapped, for a context or for an unused one. Words are little-endian.
    pub fn plain(context: Option<&Context>) -> Zeroizing<[u8; PLAIN]> {
        let mut plain = Zeroizing::new([0; PLAIN]);
        if let Some(context) = context {
            plain[..16].copy_from_slice(context.key.bytes());
            plain[16..24].copy_from_slice(&context.counter.0);
            plain[24..28].copy_from_slice(&context.region.start().to_le_bytes());
            let end = context.region.last() & !(REGION - 1) | END_ONES | context.flags.bits();
            plain[28..32].copy_from_slice(&end.to_le_bytes());
        }
        // The four bytes of fill stay 0.
        let checksum = CRC.checksum(&plain[..CHECKED]);
        plain[36..].copy_from_slice(&checksum.to_le_bytes());
        plain
    }

    /// Parses such bytes; `None` is an unused context, whose bytes are all 0. The fill is ignored.
    ///
    /// # Errors
    /// Returns an error if the checksum or the region is wrong.
    pub fn parse(plain: &[u8; PLAIN]) -> Result<Option<Context>, PlainError> {
        if CRC.checksum(&plain[..CHECKED]) != word(plain, 36) {
            return Err(PlainError::Checksum);
        }
        if plain[..CHECKED].iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let (start, end) = (word(plain, 24), word(plain, 28));
        let last = end | (REGION - 1);
        let region = Region::new(start, u64::from(last) + 1).map_err(|_| PlainError::Region)?;
        if end & END_ONES != END_ONES {
            return Err(PlainError::Region);
        }
        let is_set = |bit| end & bit != 0;
        let flags =
            Flags { valid: is_set(VALID), decrypts: is_set(DECRYPTS), locked: is_set(LOCKED) };
        let mut context =
            Context { region, key: Key::new([0; 16]), counter: Counter([0; 8]), flags };
        context.key.bytes_mut().copy_from_slice(&plain[..16]);
        context.counter.0.copy_from_slice(&plain[16..24]);
        Ok(Some(context))
    }
}

fn word(plain: &[u8; PLAIN], at: usize) -> u32 {
    u32::from_le_bytes([plain[at], plain[at + 1], plain[at + 2], plain[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        let region = Region::new(0x3000_1000, 0x3001_0000).expect("a region");
        let key = Key::new(core::array::from_fn(|index| index as u8));
        Context { region, key, counter: Counter([0xC0; 8]), flags: Flags::ALL }
    }

    #[test]
    fn the_words_are_little_endian_and_the_end_has_its_flags() {
        let plain = Context::plain(Some(&context()));
        assert_eq!(plain[24..28], [0x00, 0x10, 0x00, 0x30]);
        assert_eq!(plain[28..32], [0xFF, 0xFF, 0x00, 0x30]);
        let passing = Flags { decrypts: false, ..Flags::ALL };
        let plain = Context::plain(Some(&Context { flags: passing, ..context() }));
        assert_eq!(plain[28..32], [0xFD, 0xFF, 0x00, 0x30]);
    }

    #[test]
    fn an_unused_context_is_zeros_with_their_checksum() {
        let plain = Context::plain(None);
        assert_eq!(plain[..36], [0; 36]);
        assert_eq!(Context::parse(&plain), Ok(None));
    }

    #[test]
    fn the_checksum_covers_all_but_the_fill() {
        let plain = Context::plain(Some(&context()));
        for bit in 0..PLAIN * 8 {
            let mut changed = *plain;
            changed[bit / 8] ^= 1 << (bit % 8);
            let is_fill = (CHECKED..36).contains(&(bit / 8));
            let expected = if is_fill { Ok(Some(context())) } else { Err(PlainError::Checksum) };
            assert_eq!(Context::parse(&changed), expected, "bit {bit}");
        }
    }

    #[test]
    fn a_region_with_a_right_checksum_may_still_be_wrong() {
        for (at, byte) in [(24, 0x01), (28, 0x07), (31, 0x2F)] {
            let mut plain = *Context::plain(Some(&context()));
            plain[at] = byte;
            let checksum = CRC.checksum(&plain[..CHECKED]);
            plain[36..].copy_from_slice(&checksum.to_le_bytes());
            assert_eq!(Context::parse(&plain), Err(PlainError::Region), "byte {at}");
        }
    }
}
