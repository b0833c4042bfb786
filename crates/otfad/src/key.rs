//! Keys and counters.

use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// An AES-128 key. It is never printed, and its memory is cleared when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 16]);

impl Key {
    /// The key with these bytes. The caller clears its own copy.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Key(bytes)
    }

    /// The bytes, in the order of FIPS 197.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) const fn bytes_mut(&mut self) -> &mut [u8; 16] {
        &mut self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

/// The 64 bits of a context that are not an address in its counter blocks, in the order of the blob: CTR0, CTR1. They
/// may be known, but a pair of key and counter must not be used for two images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter(pub [u8; 8]);

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::format;

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::new([0xAB; 16]);
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
