//! All contexts of a device, and their blobs at the start of the flash.

use crate::{BLOB, BlobError, Context, Kek, open, seal};
use core::fmt;

/// The contexts of a device.
pub const CONTEXTS: usize = 4;
/// The bytes of all blobs, which begin at flash offset 0.
pub const BLOBS: usize = CONTEXTS * BLOB;

/// The contexts of a device; `None` is an unused one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyBlobs {
    /// The contexts, by index.
    pub contexts: [Option<Context>; CONTEXTS],
}

/// Contexts that a device cannot have together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextsError {
    /// More than four.
    TooMany(usize),
    /// The regions of two valid contexts, by index, overlap.
    Overlap(usize, usize),
}

impl fmt::Display for ContextsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContextsError::TooMany(count) => {
                write!(f, "{count} regions, but OTFAD has {CONTEXTS} contexts; join neighbours")
            }
            ContextsError::Overlap(first, second) => write!(
                f,
                "regions {first} and {second} overlap, and OTFAD decrypts nothing where regions overlap; \
                 end one where the other starts"
            ),
        }
    }
}

impl core::error::Error for ContextsError {}

/// Blobs that cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// No blob unwraps: the KEK, its scramble or the part is another one, or these bytes are no blobs.
    Kek,
    /// One blob, by index, is wrong, and others are right.
    Blob(usize, BlobError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Kek => f.write_str(
                "no key blob unwraps: the KEK, the scramble or the part is not the one of this image",
            ),
            OpenError::Blob(index, error) => write!(f, "key blob {index}: {error}"),
        }
    }
}

impl core::error::Error for OpenError {}

impl KeyBlobs {
    /// Takes up to four contexts whose valid regions do not overlap.
    ///
    /// # Errors
    /// Returns an error if there are more, or if two overlap.
    pub fn new(contexts: impl IntoIterator<Item = Context>) -> Result<Self, ContextsError> {
        let mut blobs = KeyBlobs { contexts: [const { None }; CONTEXTS] };
        let mut count = 0;
        for context in contexts {
            if let Some(slot) = blobs.contexts.get_mut(count) {
                *slot = Some(context);
            }
            count += 1;
        }
        if count > CONTEXTS {
            return Err(ContextsError::TooMany(count));
        }
        match blobs.overlap() {
            Some((first, second)) => Err(ContextsError::Overlap(first, second)),
            None => Ok(blobs),
        }
    }

    /// The first two valid contexts, by index, whose regions overlap.
    pub fn overlap(&self) -> Option<(usize, usize)> {
        let region = |index: usize| {
            let context = self.contexts[index].as_ref().filter(|context| context.flags.valid);
            context.map(|context| context.region)
        };
        let mut pairs = (0..CONTEXTS).flat_map(|a| (a + 1..CONTEXTS).map(move |b| (a, b)));
        pairs.find(|(a, b)| region(*a).zip(region(*b)).is_some_and(|(a, b)| a.overlaps(&b)))
    }

    /// The bytes for flash offset 0.
    pub fn seal(&self, kek: &Kek) -> [u8; BLOBS] {
        let mut bytes = [0; BLOBS];
        let slots = bytes.chunks_exact_mut(BLOB).zip(&self.contexts).enumerate();
        for (index, (slot, context)) in slots {
            slot.copy_from_slice(&seal(context.as_ref(), index, kek));
        }
        bytes
    }

    /// Opens such bytes. Regions may overlap.
    ///
    /// # Errors
    /// Returns an error if a blob is wrong; the first one, by index, unless none unwraps.
    pub fn open(bytes: &[u8; BLOBS], kek: &Kek) -> Result<Self, OpenError> {
        let mut blobs = KeyBlobs { contexts: [const { None }; CONTEXTS] };
        let mut wrong = None;
        let mut unwrapped = false;
        for (index, blob) in bytes.as_chunks::<BLOB>().0.iter().enumerate() {
            let opened = open(blob, index, kek);
            unwrapped |= opened != Err(BlobError::Wrapping);
            match opened {
                Ok(context) => blobs.contexts[index] = context,
                Err(error) => wrong = wrong.or(Some(OpenError::Blob(index, error))),
            }
        }
        match wrong {
            _ if !unwrapped => Err(OpenError::Kek),
            Some(error) => Err(error),
            None => Ok(blobs),
        }
    }

    /// The context that decrypts an access to `address`. As in the device, `None` if several valid contexts
    /// contain the address.
    pub fn at(&self, address: u32) -> Option<&Context> {
        let mut hits = self
            .contexts
            .iter()
            .flatten()
            .filter(|context| context.flags.valid && context.region.contains(address));
        let hit = hits.next().filter(|_| hits.next().is_none());
        hit.filter(|context| context.flags.decrypts)
    }

    /// Encrypts or decrypts bytes in place, the first of which is at `address`. Bytes outside all regions, or where
    /// regions overlap, stay as they are.
    pub fn apply(&self, address: u32, bytes: &mut [u8]) {
        let mut rest = bytes;
        let mut address = u64::from(address);
        while let (false, Ok(at)) = (rest.is_empty(), u32::try_from(address)) {
            // Up to the next border of a region.
            let borders = self.contexts.iter().flatten().map(|context| context.region);
            let borders = borders.flat_map(|region| [u64::from(region.start()), region.end()]);
            let next = borders.filter(|border| *border > address).min();
            let room = next.map_or(usize::MAX, |next| (next - address) as usize);
            let (piece, behind) = rest.split_at_mut(rest.len().min(room));
            if let Some(context) = self.at(at) {
                context.keystream().apply(at, piece);
            }
            address += piece.len() as u64;
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Flags, Key, PARTS, Region};

    fn kek(byte: u8) -> Kek {
        Kek { key: Key::new([byte; 16]), scramble: None, part: &PARTS[1] }
    }

    fn context(start: u32, end: u64) -> Context {
        let region = Region::new(start, end).expect("a region");
        let key = Key::new([start as u8; 16]);
        Context { region, key, counter: Counter([9; 8]), flags: Flags::ALL }
    }

    #[test]
    fn a_wrong_kek_and_a_damaged_blob_are_told_apart() {
        let blobs = KeyBlobs::new([context(0x400, 0x800)]).expect("one context");
        let bytes = blobs.seal(&kek(1));
        assert_eq!(KeyBlobs::open(&bytes, &kek(1)), Ok(blobs));
        assert_eq!(KeyBlobs::open(&bytes, &kek(2)), Err(OpenError::Kek));
        for index in 0..CONTEXTS {
            let mut damaged = bytes;
            damaged[index * BLOB + 5] ^= 0x10;
            let expected = OpenError::Blob(index, BlobError::Wrapping);
            assert_eq!(KeyBlobs::open(&damaged, &kek(1)), Err(expected));
        }
    }

    #[test]
    fn overlapping_regions_are_refused_and_not_decrypted() {
        let (low, high) = (context(0x400, 0xC00), context(0x800, 0x1000));
        let refused = KeyBlobs::new([low.clone(), high.clone()]);
        assert_eq!(refused, Err(ContextsError::Overlap(0, 1)));
        let unused = Context { flags: Flags { valid: false, ..Flags::ALL }, ..high.clone() };
        assert!(KeyBlobs::new([low.clone(), unused]).is_ok(), "an invalid one is in no way");

        let both = KeyBlobs { contexts: [Some(low), Some(high), None, None] };
        let mut bytes = [0; 0x1400];
        both.apply(0, &mut bytes);
        let changed = |from: usize, to: usize| bytes[from..to].iter().any(|byte| *byte != 0);
        assert!(changed(0x400, 0x800) && changed(0xC00, 0x1000));
        assert!(!changed(0, 0x400) && !changed(0x800, 0xC00) && !changed(0x1000, 0x1400));
    }

    #[test]
    fn five_contexts_are_too_many() {
        let five = (1..6).map(|index| context(index << 10, (u64::from(index) + 1) << 10));
        assert_eq!(KeyBlobs::new(five), Err(ContextsError::TooMany(5)));
    }

    #[test]
    fn bytes_up_to_the_last_address_are_encrypted() {
        let top = KeyBlobs::new([context(0xFFFF_FC00, 1 << 32)]).expect("one context");
        let mut bytes = [0; 0x500];
        top.apply(0xFFFF_FB00, &mut bytes);
        assert_eq!(bytes[..0x100], [0; 0x100]);
        assert!(bytes[0x4F0..].iter().any(|byte| *byte != 0));
    }
}
