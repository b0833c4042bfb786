//! AES-128 in counter mode, with the system address as the counter.

use crate::{Context, Counter, Key};
use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use core::fmt;
use zeroize::Zeroize;

/// The bytes of a block.
const BLOCK: usize = 16;

/// The stream of one context, by address. It does not know the context's region.
pub struct Keystream {
    cipher: Aes128,
    /// The counter block without the address.
    counter: [u8; BLOCK],
}

impl fmt::Debug for Keystream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keystream(..)")
    }
}

impl Keystream {
    /// The stream of a key and a counter.
    pub fn new(key: &Key, Counter(words): Counter) -> Self {
        let mut counter = [0; BLOCK];
        counter[..8].copy_from_slice(&words);
        for index in 0..4 {
            counter[8 + index] = words[index] ^ words[4 + index];
        }
        Keystream { cipher: Aes128::new(key.bytes().into()), counter }
    }

    /// The 16 bytes of the stream around `address`, from the multiple of 16 at or below it: CTR0, CTR1, CTR0 XOR CTR1
    /// and the address (big-endian, low four bits 0), encrypted.
    pub fn block(&self, address: u32) -> [u8; BLOCK] {
        let mut block = self.counter;
        block[12..].copy_from_slice(&(address & !0xF).to_be_bytes());
        let mut block = Array::from(block);
        self.cipher.encrypt_block(&mut block);
        block.into()
    }

    /// Encrypts or decrypts bytes in place, the first of which is at `address`. Addresses wrap at 4 GiB.
    pub fn apply(&self, address: u32, bytes: &mut [u8]) {
        let within = address as usize % BLOCK;
        let (head, rest) = bytes.split_at_mut(bytes.len().min((BLOCK - within) % BLOCK));
        let mut stream = self.block(address);
        head.iter_mut().zip(&stream[within..]).for_each(|(byte, key)| *byte ^= key);
        let mut address = address.wrapping_add(head.len() as u32);
        for piece in rest.chunks_mut(BLOCK) {
            stream = self.block(address);
            piece.iter_mut().zip(&stream).for_each(|(byte, key)| *byte ^= key);
            address = address.wrapping_add(BLOCK as u32);
        }
        stream.zeroize();
    }
}

impl Context {
    /// The stream of this context.
    pub fn keystream(&self) -> Keystream {
        Keystream::new(&self.key, self.counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Keystream {
        Keystream::new(&Key::new([3; 16]), Counter([1, 2, 3, 4, 5, 6, 7, 8]))
    }

    #[test]
    fn the_counter_block_is_both_words_their_xor_and_the_address() {
        let mut expected =
            Array::from([1, 2, 3, 4, 5, 6, 7, 8, 4, 4, 4, 12, 0x30, 0x00, 0x12, 0x30]);
        Aes128::new(&[3; 16].into()).encrypt_block(&mut expected);
        assert_eq!(stream().block(0x3000_123D), <[u8; 16]>::from(expected));
    }

    #[test]
    fn any_piece_is_the_same_part_of_the_stream() {
        let mut whole = [0; 100];
        stream().apply(0x3000_0000, &mut whole);
        for from in 0..40 {
            for to in from..=whole.len() {
                let mut piece = [0; 100];
                stream().apply(0x3000_0000 + from as u32, &mut piece[from..to]);
                assert_eq!(piece[from..to], whole[from..to], "{from}..{to}");
            }
        }
    }

    #[test]
    fn a_flipped_bit_of_ciphertext_flips_that_bit_of_plaintext_alone() {
        let plain: [u8; 64] = core::array::from_fn(|index| index as u8);
        for bit in 0..plain.len() * 8 {
            let (mut text, mut expected) = (plain, plain);
            stream().apply(0x400, &mut text);
            text[bit / 8] ^= 1 << (bit % 8);
            stream().apply(0x400, &mut text);
            expected[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(text, expected, "bit {bit}");
        }
    }
}
