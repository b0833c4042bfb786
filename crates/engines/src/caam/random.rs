//! The random number generator, and the secure keys that it makes.
//!
//! Its numbers come from a generator with a seed that the configuration states, so that a run can be repeated. They
//! are not fit for secrets.

use super::block::Cipher;
use cpb_drivers::caam::registers::rdsta;

/// The state of the generator.
pub(super) struct Random {
    seed: u64,
    /// As the register tells it: see [`rdsta`].
    pub(super) status: u32,
    /// The keys that encrypt black keys, trusted descriptors' keys, and trusted descriptors.
    pub(super) keys: [[u8; 32]; 3],
}

impl Random {
    pub(super) fn new(seed: u64, status: u32) -> Random {
        let mut random = Random { seed, status, keys: [[0; 32]; 3] };
        if status & rdsta::KEYS != 0 {
            random.make_keys();
        }
        random
    }

    /// Makes the secure keys.
    pub(super) fn make_keys(&mut self) {
        for key in 0..self.keys.len() {
            let bytes = self.bytes(32);
            self.keys[key].copy_from_slice(&bytes);
        }
        self.status |= rdsta::KEYS;
    }

    /// Numbers of SplitMix64.
    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = (0..length.div_ceil(8)).flat_map(|_| {
            self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.seed ^ self.seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            (mixed ^ mixed >> 31).to_le_bytes()
        });
        let mut bytes: Vec<u8> = words.collect();
        bytes.truncate(length);
        bytes
    }

    /// Encrypts a key. `None` if the secure keys have not been made.
    pub(super) fn wrap(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.blocks(key, Cipher::encrypted)
    }

    /// Decrypts a black key. `None` if the secure keys have not been made.
    pub(super) fn unwrap(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.blocks(key, Cipher::decrypted)
    }

    fn blocks(&self, key: &[u8], each: fn(&Cipher, [u8; 16]) -> [u8; 16]) -> Option<Vec<u8>> {
        if self.status & rdsta::KEYS == 0 {
            return None;
        }
        let cipher = Cipher::aes(&self.keys[0]).ok()?;
        Some(key.as_chunks::<16>().0.iter().flat_map(|block| each(&cipher, *block)).collect())
    }
}
