//! The key that encrypts key blobs, and how the parts differ.

use crate::Key;
use core::fmt;

/// A part with OTFAD, as far as parts differ (SPSDK 3.12, `data/devices`, feature `otfad` of each).
#[derive(PartialEq, Eq, Debug)]
pub struct Part {
    /// Its name: `imxrt1170`.
    pub name: &'static str,
    /// The address of the flash behind its first FlexSPI, for the CPU.
    pub flash: u32,
    /// Whether it boots by an image vector table. The others have a container of another form.
    pub has_vector_table: bool,
    /// Whether it reads the scramble mask from the last bit to the first.
    pub reverses_mask: bool,
    /// Whether it reads each eight bytes of a wrapped blob from the last to the first.
    pub reverses_blobs: bool,
}

/// The known parts.
pub const PARTS: [Part; 3] = [
    Part {
        name: "imxrt1010",
        flash: 0x6000_0000,
        has_vector_table: true,
        reverses_mask: false,
        reverses_blobs: false,
    },
    Part {
        name: "imxrt1170",
        flash: 0x3000_0000,
        has_vector_table: true,
        reverses_mask: false,
        reverses_blobs: false,
    },
    Part {
        name: "imxrt1180",
        flash: 0x2800_0000,
        has_vector_table: false,
        reverses_mask: true,
        reverses_blobs: true,
    },
];

impl Part {
    /// The part with this name.
    pub fn named(name: &str) -> Option<&'static Part> {
        PARTS.iter().find(|part| part.name == name)
    }
}

/// Fuses that change the KEK for each blob, so that a wrapped key of one blob says nothing about another. Both values
/// are as fused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scramble {
    /// XORed with one word of the KEK.
    pub mask: u32,
    /// Two bits for each blob, from the lowest on: the word.
    pub align: u8,
}

impl fmt::Debug for Scramble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scramble(..)")
    }
}

/// The key encryption key in the fuses of a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kek {
    /// The key as fused.
    pub key: Key,
    /// The scramble, if the part's fuses enable it.
    pub scramble: Option<Scramble>,
    /// The part.
    pub part: &'static Part,
}

impl Kek {
    /// The key that wraps the blob at `index`, which is below 4.
    pub fn for_blob(&self, index: usize) -> Key {
        let mut key = self.key.clone();
        if let Some(Scramble { mask, align }) = self.scramble {
            let mask = if self.part.reverses_mask { mask.reverse_bits() } else { mask };
            let word = usize::from(align >> (2 * (index & 3)) & 3);
            let bytes = key.bytes_mut()[4 * word..][..4].iter_mut();
            bytes.zip(mask.to_le_bytes()).for_each(|(byte, mask)| *byte ^= mask);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_changes_the_word_that_the_alignment_names() {
        let part = &PARTS[1];
        let scramble = Some(Scramble { mask: 0x0403_0201, align: 0b11_00_10_01 });
        let kek = Kek { key: Key::new([0; 16]), scramble, part };
        for (index, word) in [1, 2, 0, 3].into_iter().enumerate() {
            let mut expected = [0; 16];
            expected[4 * word..][..4].copy_from_slice(&[1, 2, 3, 4]);
            assert_eq!(kek.for_blob(index).bytes(), &expected, "blob {index}");
        }
        let plain = Kek { scramble: None, ..kek };
        assert_eq!(plain.for_blob(2).bytes(), &[0; 16]);
    }

    #[test]
    fn a_part_may_read_the_mask_backwards() {
        let part = Part::named("imxrt1180").expect("a part");
        let scramble = Some(Scramble { mask: 1, align: 0 });
        let kek = Kek { key: Key::new([0; 16]), scramble, part };
        assert_eq!(kek.for_blob(0).bytes()[..4], [0, 0, 0, 0x80]);
    }
}
