//! Work packets: eight words in memory that describe one job.

/// Fields of the first control word.
pub mod control0 {
    /// Raises the channel's interrupt at the end.
    pub const INTERRUPT: u32 = 1;
    /// Decrements the channel's semaphore at the end.
    pub const DECREMENT: u32 = 1 << 1;
    /// Goes on with the packet whose address is in the first word.
    pub const CHAIN: u32 = 1 << 2;
    /// Goes on with the packet behind this one.
    pub const CHAIN_CONTIGUOUS: u32 = 1 << 3;
    /// Copies.
    pub const COPY: u32 = 1 << 4;
    /// Encrypts or decrypts.
    pub const CIPHER: u32 = 1 << 5;
    /// Hashes.
    pub const HASH: u32 = 1 << 6;
    /// Copies a rectangle.
    pub const BLIT: u32 = 1 << 7;
    /// Encrypts rather than decrypts.
    pub const ENCRYPT: u32 = 1 << 8;
    /// Takes the IV from the payload.
    pub const CIPHER_INIT: u32 = 1 << 9;
    /// Takes the key from the fuses.
    pub const OTP_KEY: u32 = 1 << 10;
    /// Takes the key from the payload.
    pub const PAYLOAD_KEY: u32 = 1 << 11;
    /// Begins a hash.
    pub const HASH_INIT: u32 = 1 << 12;
    /// Ends a hash.
    pub const HASH_TERM: u32 = 1 << 13;
    /// Compares the digest with the payload instead of writing it.
    pub const CHECK_HASH: u32 = 1 << 14;
    /// Hashes the output rather than the input.
    pub const HASH_OUTPUT: u32 = 1 << 15;
    /// Fills the destination with the source address as a value.
    pub const FILL: u32 = 1 << 16;
    /// Reverses the bytes of each key word.
    pub const KEY_BYTESWAP: u32 = 1 << 18;
    /// Reverses the words of the key.
    pub const KEY_WORDSWAP: u32 = 1 << 19;
    /// Reverses the bytes of each input word.
    pub const INPUT_BYTESWAP: u32 = 1 << 20;
    /// Reverses the words of each input block.
    pub const INPUT_WORDSWAP: u32 = 1 << 21;
    /// Reverses the bytes of each output word.
    pub const OUTPUT_BYTESWAP: u32 = 1 << 22;
    /// Reverses the words of each output block.
    pub const OUTPUT_WORDSWAP: u32 = 1 << 23;
    /// The tag that the status repeats is in bits 31:24.
    pub const TAG: u32 = 24;
}

/// Fields of the second control word.
pub mod control1 {
    /// AES-128.
    pub const AES_128: u32 = 0;
    /// Mode of the cipher, bits 7:4: electronic codebook.
    pub const ECB: u32 = 0 << 4;
    /// Cipher block chaining.
    pub const CBC: u32 = 1 << 4;
    /// The key slot is in bits 15:8.
    pub const KEY: u32 = 8;
    /// Key slot: the key that is unique to the chip.
    pub const KEY_UNIQUE: u32 = 0xFE;
    /// Key slot: the key in the fuses.
    pub const KEY_OTP: u32 = 0xFF;
    /// The hash is in bits 19:16.
    pub const HASH: u32 = 16;
    /// Hash: SHA-1.
    pub const SHA_1: u32 = 0;
    /// Hash: CRC-32.
    pub const CRC_32: u32 = 1;
    /// Hash: SHA-256.
    pub const SHA_256: u32 = 2;
}

/// The number of key slots.
pub const KEY_SLOTS: usize = 4;

/// Set in a finished packet's status word. Errors and tag are as in the channel's status.
pub const COMPLETE: u32 = 1;

/// A packet as it lies in memory. It fills a cache line, so its maintenance touches nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(32))]
pub struct Packet(pub [u8; Packet::SIZE]);

/// The words of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Words {
    /// The address of the next packet.
    pub next: u32,
    /// See [`control0`].
    pub control0: u32,
    /// See [`control1`].
    pub control1: u32,
    /// The address of the input; for a fill, the value.
    pub source: u32,
    /// The address of the output.
    pub destination: u32,
    /// The number of bytes.
    pub size: u32,
    /// The address of the payload: a key, then an IV; or a digest.
    pub payload: u32,
    /// Written by the engine at the end.
    pub status: u32,
}

impl Packet {
    /// The size in bytes.
    pub const SIZE: usize = 32;

    /// A packet of zeros.
    pub const EMPTY: Packet = Packet([0; Packet::SIZE]);

    /// Writes all words.
    #[inline]
    pub fn set(&mut self, words: &Words) {
        let Words { next, control0, control1, source, destination, size, payload, status } = *words;
        let words = [next, control0, control1, source, destination, size, payload, status];
        for (place, word) in self.0.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads all words.
    pub fn words(&self) -> Words {
        let word = |place: usize| {
            u32::from_le_bytes(core::array::from_fn(|byte| self.0[4 * place + byte]))
        };
        Words {
            next: word(0),
            control0: word(1),
            control1: word(2),
            source: word(3),
            destination: word(4),
            size: word(5),
            payload: word(6),
            status: word(7),
        }
    }
}
