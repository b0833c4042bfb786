//! The memories of the accelerator for public keys.
//!
//! A, B and N have four quarters of 128 bytes, in which a number's least significant byte is first; E has one number.

use cpb_drivers::caam::descriptor::pkha;
use num_bigint::BigUint;

/// The largest number in bytes: RSA of 4096 bits (Linux's driver: `CAAM_RSA_MAX_INPUT_SIZE`).
pub(super) const BYTES: usize = 512;

/// The size of a quarter of a memory (NXP's driver: quadrants of registers of 4096 bits).
pub(super) const QUARTER: usize = BYTES / 4;

/// A memory of numbers.
pub(super) struct Numbers {
    pub(super) bytes: [u8; BYTES],
    pub(super) size: usize,
}

impl Numbers {
    pub(super) const EMPTY: Numbers = Numbers { bytes: [0; BYTES], size: 0 };

    /// The number of `size` bytes that begins in a quarter. It has no more bytes than the last one that was put.
    pub(super) fn number(&self, quarter: usize, size: usize) -> BigUint {
        let (from, size) = (quarter * QUARTER, size.min(self.size));
        BigUint::from_bytes_le(&self.bytes[from..BYTES.min(from + size)])
    }

    /// Puts a number's bytes into a quarter, the least significant first. `None` if there is no room.
    pub(super) fn put(
        &mut self,
        quarter: usize,
        bytes: impl ExactSizeIterator<Item = u8>,
    ) -> Option<()> {
        let (from, size) = (quarter * QUARTER, bytes.len());
        let place = self.bytes.get_mut(from..from + size)?;
        place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        self.size = size;
        Some(())
    }
}

/// The accelerator's memories.
pub(super) struct Memories {
    pub(super) a: Numbers,
    pub(super) b: Numbers,
    pub(super) n: Numbers,
    pub(super) e: Vec<u8>,
}

impl Memories {
    pub(super) const EMPTY: Memories =
        Memories { a: Numbers::EMPTY, b: Numbers::EMPTY, n: Numbers::EMPTY, e: Vec::new() };

    /// The memory and the quarter that a FIFO command names by its type, and whether it is a quarter alone.
    pub(super) fn named(&mut self, kind: u32) -> Option<(&mut Numbers, usize, bool)> {
        let quarter = (kind >> pkha::TYPE_SHIFT & 3) as usize;
        Some(match kind {
            pkha::A => (&mut self.a, 0, false),
            pkha::B => (&mut self.b, 0, false),
            pkha::N => (&mut self.n, 0, false),
            pkha::A0..pkha::B0 => (&mut self.a, quarter, true),
            pkha::B0..pkha::N => (&mut self.b, quarter, true),
            _ => return None,
        })
    }

    /// A memory by its number in a copy.
    pub(super) fn numbered(&mut self, number: u32) -> Option<&mut Numbers> {
        Some(match number {
            pkha::REGISTER_A => &mut self.a,
            pkha::REGISTER_B => &mut self.b,
            pkha::REGISTER_N => &mut self.n,
            _ => return None,
        })
    }
}
