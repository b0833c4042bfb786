//! Algorithms and operations: one standard spelling each, used in code, plans, records and reports.

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What sort of thing an algorithm is: it decides which fields of a job have a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Block cipher mode that takes whole blocks only (no padding), with an IV.
    BlockCipher,
    /// Cipher mode for any length, with an initial counter block.
    StreamCipher,
    /// Authenticated encryption with associated data.
    Aead,
    /// Hash function, no key.
    Hash,
    /// Message authentication code.
    Mac,
    /// Deterministic random bit generator: the key is its seed, the message what is asked of it.
    Generator,
    /// None: the message is moved as it is.
    Copy,
}

/// The lengths an algorithm fixes, in bytes; 0 where it has no such part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// What sort of algorithm.
    pub kind: Kind,
    /// Key length.
    pub key: usize,
    /// IV, nonce or initial counter block.
    pub iv: usize,
    /// Message lengths must be a multiple of this (1: any length).
    pub block: usize,
    /// Authentication tag of an AEAD.
    pub tag: usize,
    /// Length of a digest or MAC.
    pub digest: usize,
}

/// The largest `Shape::key` of any algorithm.
pub const MAX_KEY: usize = 64;
/// The largest `Shape::iv` of any algorithm.
pub const MAX_IV: usize = 16;
/// The largest `Shape::tag` of any algorithm.
pub const MAX_TAG: usize = 16;
/// The largest `Shape::digest` of any algorithm.
pub const MAX_DIGEST: usize = 64;

macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $kind:ident, key $key:literal, iv $iv:literal,
        block $block:literal, tag $tag:literal, digest $digest:literal;)*) => {
        /// A cryptographic algorithm with all its parameters fixed.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Algorithm { $($(#[$doc])* $variant,)* }

        impl Algorithm {
            /// Every algorithm, in the order reports show them.
            pub const ALL: &'static [Algorithm] = &[$(Algorithm::$variant,)*];

            /// The one spelling.
            pub const fn name(self) -> &'static str {
                match self { $(Algorithm::$variant => $name,)* }
            }

            /// The lengths it fixes.
            pub const fn shape(self) -> Shape {
                match self {
                    $(Algorithm::$variant => Shape {
                        kind: Kind::$kind, key: $key, iv: $iv, block: $block, tag: $tag, digest: $digest,
                    },)*
                }
            }
        }
    };
}

// Lengths: FIPS 197 and SP 800-38A (AES, CBC, CTR), SP 800-38D with the 96-bit IV and 128-bit tag
// that protocols use (GCM), RFC 8439 (ChaCha20-Poly1305), FIPS 180-4 (SHA), RFC 2104 with a key as
// long as the digest, as RFC 2104 section 3 advises (HMAC), SP 800-90A with 256 bits of entropy and a
// nonce of half as many (DRBGs): a key is the entropy input, the nonce, and the personalisation string,
// if there is one.
algorithms! {
    /// AES-128 in cipher block chaining mode.
    Aes128Cbc = "aes-128-cbc", BlockCipher, key 16, iv 16, block 16, tag 0, digest 0;
    /// AES-192 in cipher block chaining mode.
    Aes192Cbc = "aes-192-cbc", BlockCipher, key 24, iv 16, block 16, tag 0, digest 0;
    /// AES-256 in cipher block chaining mode.
    Aes256Cbc = "aes-256-cbc", BlockCipher, key 32, iv 16, block 16, tag 0, digest 0;
    /// AES-128 in counter mode.
    Aes128Ctr = "aes-128-ctr", StreamCipher, key 16, iv 16, block 1, tag 0, digest 0;
    /// AES-192 in counter mode.
    Aes192Ctr = "aes-192-ctr", StreamCipher, key 24, iv 16, block 1, tag 0, digest 0;
    /// AES-256 in counter mode.
    Aes256Ctr = "aes-256-ctr", StreamCipher, key 32, iv 16, block 1, tag 0, digest 0;
    /// AES-128 in Galois/counter mode.
    Aes128Gcm = "aes-128-gcm", Aead, key 16, iv 12, block 1, tag 16, digest 0;
    /// AES-192 in Galois/counter mode.
    Aes192Gcm = "aes-192-gcm", Aead, key 24, iv 12, block 1, tag 16, digest 0;
    /// AES-256 in Galois/counter mode.
    Aes256Gcm = "aes-256-gcm", Aead, key 32, iv 12, block 1, tag 16, digest 0;
    /// ChaCha20 with Poly1305.
    Chacha20Poly1305 = "chacha20-poly1305", Aead, key 32, iv 12, block 1, tag 16, digest 0;
    /// SHA-1.
    Sha1 = "sha-1", Hash, key 0, iv 0, block 1, tag 0, digest 20;
    /// SHA-256.
    Sha256 = "sha-256", Hash, key 0, iv 0, block 1, tag 0, digest 32;
    /// SHA-512.
    Sha512 = "sha-512", Hash, key 0, iv 0, block 1, tag 0, digest 64;
    /// HMAC with SHA-256.
    HmacSha256 = "hmac-sha-256", Mac, key 32, iv 0, block 1, tag 0, digest 32;
    /// HMAC_DRBG with SHA-256, without prediction resistance.
    HmacDrbgSha256 = "hmac-drbg-sha-256", Generator, key 48, iv 0, block 1, tag 0, digest 0;
    /// HMAC_DRBG with SHA-512, without prediction resistance.
    HmacDrbgSha512 = "hmac-drbg-sha-512", Generator, key 48, iv 0, block 1, tag 0, digest 0;
    /// CTR_DRBG with AES-256 and the derivation function, without prediction resistance.
    CtrDrbgAes256 = "ctr-drbg-aes-256", Generator, key 48, iv 0, block 1, tag 0, digest 0;
    /// The C library's copying of memory: what bounds all others.
    Memcpy = "memcpy", Copy, key 0, iv 0, block 1, tag 0, digest 0;
}

impl Algorithm {
    /// The operations that make sense for it.
    pub const fn operations(self) -> &'static [Operation] {
        match self.shape().kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::Aead => {
                &[Operation::Encrypt, Operation::Decrypt]
            }
            Kind::Hash => &[Operation::Hash],
            Kind::Mac => &[Operation::Mac],
            Kind::Generator => &[Operation::Random],
            Kind::Copy => &[Operation::Copy],
        }
    }

    /// Bytes of output for a message of `message` bytes, without the tag.
    pub const fn output_length(self, message: usize) -> usize {
        match self.shape().kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::Aead | Kind::Generator | Kind::Copy => {
                message
            }
            Kind::Hash | Kind::Mac => self.shape().digest,
        }
    }
}

macro_rules! named {
    ($(#[$outer:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $type { $($(#[$doc])* $variant,)* }

        impl $type {
            /// Every value, in the order reports show them.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// The one spelling.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }

        $crate::algorithm::by_name!($type);
    };
}

/// Display, parsing and serialisation of an enum that has `ALL` and `name`: a name where people
/// read it (JSON, TOML), its place in `ALL` on the wire.
macro_rules! by_name {
    ($type:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = $crate::algorithm::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let known = Self::ALL.iter().find(|known| known.name() == text);
                known.copied().ok_or($crate::algorithm::UnknownName)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.name())
                } else {
                    serializer.serialize_u8(*self as u8)
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Name;
                impl de::Visitor<'_> for Name {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("one of")?;
                        for (index, known) in $type::ALL.iter().enumerate() {
                            let separator = if index == 0 { " " } else { ", " };
                            write!(f, "{separator}{known}")?;
                        }
                        Ok(())
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
                    }
                }
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(Name)
                } else {
                    let index = u8::deserialize(deserializer)?;
                    let known = $type::ALL.get(usize::from(index)).copied();
                    known.ok_or_else(|| {
                        de::Error::invalid_value(de::Unexpected::Unsigned(index.into()), &Name)
                    })
                }
            }
        }
    };
}
pub(crate) use {by_name, named};

by_name!(Algorithm);

/// A name that is none of the known ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownName;

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a known name")
    }
}

impl core::error::Error for UnknownName {}

named! {
    /// What is done with an algorithm: the words of the PSA Crypto API, and Copy for memory's bound.
    Operation {
        /// Encrypt a message.
        Encrypt = "encrypt",
        /// Decrypt a message; for an AEAD the tag is verified.
        Decrypt = "decrypt",
        /// Digest of a message.
        Hash = "hash",
        /// MAC of a message.
        Mac = "mac",
        /// Sign a digest.
        Sign = "sign",
        /// Verify a signature.
        Verify = "verify",
        /// Derive a shared secret from one's own private and the peer's public key.
        KeyAgreement = "key-agreement",
        /// Key encapsulation: make a secret and its ciphertext.
        Encapsulate = "encapsulate",
        /// Key decapsulation: get the secret back.
        Decapsulate = "decapsulate",
        /// Make a key or a key pair.
        GenerateKey = "generate-key",
        /// Produce random bytes.
        Random = "random",
        /// Move the message and do nothing else: the memory's own bound.
        Copy = "copy",
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn every_algorithm_is_found_by_its_own_name_and_has_an_operation() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert!(!algorithm.operations().is_empty());
            let shape = algorithm.shape();
            assert!(shape.key <= MAX_KEY && shape.iv <= MAX_IV);
            assert!(shape.tag <= MAX_TAG && shape.digest <= MAX_DIGEST && shape.block >= 1);
        }
        assert_eq!("aes-128-cbd".parse::<Algorithm>(), Err(UnknownName));
    }
}
