//! One key blob: 40 bytes, wrapped to 48 by RFC 3394, in a field of 64.

use crate::{Context, Kek, PLAIN, PlainError};
use aes::Aes128;
use aes::cipher::consts::U40;
use aes_kw::{AesKw, KeyInit};
use core::fmt;
use zeroize::Zeroizing;

/// The bytes of a blob in flash.
pub const BLOB: usize = 64;

/// The bytes of a wrapped context; the rest of a blob is 0.
const WRAPPED: usize = PLAIN + aes_kw::IV_LEN;

/// An error in a blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlobError {
    /// It does not unwrap: it is damaged, or the KEK is not the one that wrapped it.
    Wrapping,
    /// It unwraps, but its content is wrong.
    Content(PlainError),
    /// The bytes after the wrapped ones are not 0.
    Padding,
}

impl fmt::Display for BlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlobError::Wrapping => f.write_str("it does not unwrap: it is damaged"),
            BlobError::Content(error) => error.fmt(f),
            BlobError::Padding => f.write_str("the bytes after its 48 wrapped ones are not 0"),
        }
    }
}

impl core::error::Error for BlobError {}

/// Wraps a context, or an unused one, as the blob at `index`, which is below 4.
pub fn seal(context: Option<&Context>, index: usize, kek: &Kek) -> [u8; BLOB] {
    let mut blob = [0; BLOB];
    let plain = Context::plain(context);
    let wrapped = wrapping(index, kek).wrap_fixed_key::<U40>((&*plain).into());
    blob[..WRAPPED].copy_from_slice(&wrapped);
    reorder(&mut blob, kek);
    blob
}

/// Unwraps the blob at `index`, which is below 4; `None` is an unused context.
///
/// # Errors
/// Returns an error if the blob does not unwrap with this KEK, or if its content or its padding is wrong.
pub fn open(blob: &[u8; BLOB], index: usize, kek: &Kek) -> Result<Option<Context>, BlobError> {
    let mut blob = *blob;
    reorder(&mut blob, kek);
    let mut plain = Zeroizing::new([0; PLAIN]);
    wrapping(index, kek)
        .unwrap_key(&blob[..WRAPPED], &mut *plain)
        .map_err(|_| BlobError::Wrapping)?;
    if blob[WRAPPED..].iter().any(|byte| *byte != 0) {
        return Err(BlobError::Padding);
    }
    Context::parse(&plain).map_err(BlobError::Content)
}

/// The cipher of the blob at `index`. Its round keys are not cleared: the feature of the `aes` crate that clears them
/// would change the code that the provider rustcrypto measures.
fn wrapping(index: usize, kek: &Kek) -> AesKw<Aes128> {
    AesKw::new(kek.for_blob(index).bytes().into())
}

/// Between RFC 3394's order of bytes and the part's.
fn reorder(blob: &mut [u8; BLOB], kek: &Kek) {
    if kek.part.reverses_blobs {
        blob[..WRAPPED].chunks_exact_mut(8).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Flags, Key, PARTS, Region};

    fn context() -> Context {
        let region = Region::new(0x3000_1000, 0x3001_0000).expect("a region");
        let key = Key::new([7; 16]);
        Context { region, key, counter: Counter([9; 8]), flags: Flags::ALL }
    }

    fn kek() -> Kek {
        Kek { key: Key::new([1; 16]), scramble: None, part: &PARTS[1] }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let blob = seal(Some(&context()), 0, &kek());
        assert_eq!(open(&blob, 0, &kek()), Ok(Some(context())));
        for bit in 0..BLOB * 8 {
            let mut changed = blob;
            changed[bit / 8] ^= 1 << (bit % 8);
            let expected = if bit / 8 < WRAPPED { BlobError::Wrapping } else { BlobError::Padding };
            assert_eq!(open(&changed, 0, &kek()), Err(expected), "bit {bit}");
        }
    }

    #[test]
    fn a_wrong_checksum_inside_a_right_wrapping_has_its_own_error() {
        let mut plain = *Context::plain(Some(&context()));
        plain[39] ^= 1;
        let mut blob = [0; BLOB];
        wrapping(0, &kek()).wrap_key(&plain, &mut blob).expect("right lengths");
        assert_eq!(open(&blob, 0, &kek()), Err(BlobError::Content(PlainError::Checksum)));
    }

    #[test]
    fn the_wrapping_is_that_of_rfc_3394() {
        // Section 4.1 wraps 16 bytes; our blobs are longer, so only the cipher is the same.
        let hex = |text: &str| -> [u8; 16] {
            core::array::from_fn(|index| {
                u8::from_str_radix(&text[2 * index..][..2], 16).expect("digits")
            })
        };
        let kek = Kek { key: Key::new(hex("000102030405060708090A0B0C0D0E0F")), ..kek() };
        let mut wrapped = [0; 24];
        wrapping(0, &kek)
            .wrap_key(&hex("00112233445566778899AABBCCDDEEFF"), &mut wrapped)
            .expect("right lengths");
        assert_eq!(wrapped[..16], hex("1FA68B0A8112B447AEF34BD8FB5A7B82"));
        assert_eq!(wrapped[16..], hex("9D3E862371D2CFE50000000000000000")[..8]);
    }
}
