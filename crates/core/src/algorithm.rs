//! Algorithms and operations. Each has one standard name, used in code, plans, records and reports.

use crate::tls_record;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The kind of an algorithm. It decides which fields of a job are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Block cipher mode that takes whole blocks only (no padding), with an IV if it has one.
    BlockCipher,
    /// Cipher mode for any length, with an initial counter block.
    StreamCipher,
    /// Cipher mode for a whole disk sector of at least one block, with a tweak.
    SectorCipher,
    /// Authenticated encryption with associated data.
    Aead,
    /// Protection of a TLS record, whose MAC is encrypted with the message: see [`tls_record`].
    Record,
    /// Hash function, no key.
    Hash,
    /// Message authentication code.
    Mac,
    /// Deterministic random bit generator: the key is its seed, the message length the number of bytes
    /// requested.
    Generator,
    /// No computation: the message is copied unchanged.
    Copy,
    /// Digital signature with a key pair. For this kind and the next two, [`Lengths`](crate::Lengths) gives
    /// the lengths of the parts.
    Signature,
    /// Agreement on a secret, from one's own private key and the peer's public key.
    KeyAgreement,
    /// Encapsulation of a secret for the owner of a public key.
    KeyEncapsulation,
}

/// The lengths that an algorithm fixes, in bytes. A length is 0 if the algorithm has no such part, or if it
/// depends on the operation, as with key pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The kind of algorithm.
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

impl Shape {
    /// The shape of an algorithm that fixes no length.
    const fn any_length(kind: Kind) -> Shape {
        Shape { kind, key: 0, iv: 0, block: 1, tag: 0, digest: 0 }
    }
}

/// The largest `Shape::key` of any algorithm.
pub const MAX_KEY: usize = 64;
/// The largest `Shape::iv` of any algorithm.
pub const MAX_IV: usize = 16;
/// The largest `Shape::tag` of any algorithm.
pub const MAX_TAG: usize = 32;
/// The largest `Shape::digest` of any algorithm.
pub const MAX_DIGEST: usize = 64;

macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $kind:ident $(, $part:ident $length:literal)*;)*) => {
        /// A cryptographic algorithm with all its parameters fixed.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Algorithm { $($(#[$doc])* $variant,)* }

        impl Algorithm {
            /// Every algorithm, in the order reports show them.
            pub const ALL: &'static [Algorithm] = &[$(Algorithm::$variant,)*];

            /// The standard name.
            pub const fn name(self) -> &'static str {
                match self { $(Algorithm::$variant => $name,)* }
            }

            /// The lengths that the algorithm fixes.
            pub const fn shape(self) -> Shape {
                match self {
                    $(Algorithm::$variant => Shape { $($part: $length,)* ..Shape::any_length(Kind::$kind) },)*
                }
            }
        }
    };
}

// Sources of the lengths: FIPS 197 and SP 800-38A (AES, ECB, CBC, CTR), IEEE 1619 (XTS: two keys in one), SP
// 800-38D with the 96-bit IV and 128-bit tag that protocols use (GCM), SP 800-38C with the lengths of RFC
// 6655 for TLS (CCM), RFC 8439 (ChaCha20, whose 32-bit counter comes first, Poly1305, and the two combined),
// RFC 3713 (Camellia), SP 800-67 (DES and 3DES, whose keys include their parity bits), RFC 1321 (MD5), FIPS
// 180-4 (SHA), FIPS 202 (SHA-3), RFC 2104 with a key as long as the digest, as its section 3 advises (HMAC),
// SP 800-38B (CMAC), SP 800-90A with 256 bits of entropy and a 128-bit nonce (DRBGs). The key of a DRBG is
// the entropy input, the nonce, and the personalisation string if there is one. The key of a TLS record is
// AES's key followed by HMAC's, and so is that of encrypt-then-MAC, which combines the two as IPsec does (RFC
// 4303, section 3.3.2.1), with whole tags.
algorithms! {
    /// AES-128 in cipher block chaining mode.
    Aes128Cbc = "aes-128-cbc", BlockCipher, key 16, iv 16, block 16;
    /// AES-192 in cipher block chaining mode.
    Aes192Cbc = "aes-192-cbc", BlockCipher, key 24, iv 16, block 16;
    /// AES-256 in cipher block chaining mode.
    Aes256Cbc = "aes-256-cbc", BlockCipher, key 32, iv 16, block 16;
    /// AES-128 block by block.
    Aes128Ecb = "aes-128-ecb", BlockCipher, key 16, block 16;
    /// AES-192 block by block.
    Aes192Ecb = "aes-192-ecb", BlockCipher, key 24, block 16;
    /// AES-256 block by block.
    Aes256Ecb = "aes-256-ecb", BlockCipher, key 32, block 16;
    /// AES-128 in counter mode.
    Aes128Ctr = "aes-128-ctr", StreamCipher, key 16, iv 16;
    /// AES-192 in counter mode.
    Aes192Ctr = "aes-192-ctr", StreamCipher, key 24, iv 16;
    /// AES-256 in counter mode.
    Aes256Ctr = "aes-256-ctr", StreamCipher, key 32, iv 16;
    /// AES-128 for sectors: XTS.
    Aes128Xts = "aes-128-xts", SectorCipher, key 32, iv 16;
    /// AES-256 for sectors: XTS.
    Aes256Xts = "aes-256-xts", SectorCipher, key 64, iv 16;
    /// AES-128 in Galois/counter mode.
    Aes128Gcm = "aes-128-gcm", Aead, key 16, iv 12, tag 16;
    /// AES-192 in Galois/counter mode.
    Aes192Gcm = "aes-192-gcm", Aead, key 24, iv 12, tag 16;
    /// AES-256 in Galois/counter mode.
    Aes256Gcm = "aes-256-gcm", Aead, key 32, iv 12, tag 16;
    /// AES-128 in counter mode with CBC-MAC.
    Aes128Ccm = "aes-128-ccm", Aead, key 16, iv 12, tag 16;
    /// AES-192 in counter mode with CBC-MAC.
    Aes192Ccm = "aes-192-ccm", Aead, key 24, iv 12, tag 16;
    /// AES-256 in counter mode with CBC-MAC.
    Aes256Ccm = "aes-256-ccm", Aead, key 32, iv 12, tag 16;
    /// ChaCha20 with Poly1305.
    Chacha20Poly1305 = "chacha20-poly1305", Aead, key 32, iv 12, tag 16;
    /// A TLS record: AES-128 in cipher block chaining mode over a message and its HMAC with SHA-1.
    Aes128CbcHmacSha1Tls = "aes-128-cbc-hmac-sha-1-tls", Record, key 36, iv 16;
    /// AES-128 in cipher block chaining mode, then HMAC with SHA-1 over associated data, IV and ciphertext.
    Aes128CbcHmacSha1Etm = "aes-128-cbc-hmac-sha-1-etm", Aead, key 36, iv 16, block 16, tag 20;
    /// AES-128 in cipher block chaining mode, then HMAC with SHA-256 over associated data, IV and ciphertext.
    Aes128CbcHmacSha256Etm = "aes-128-cbc-hmac-sha-256-etm", Aead, key 48, iv 16, block 16, tag 32;
    /// ChaCha20 alone.
    Chacha20 = "chacha20", StreamCipher, key 32, iv 16;
    /// Camellia-256 in cipher block chaining mode.
    Camellia256Cbc = "camellia-256-cbc", BlockCipher, key 32, iv 16, block 16;
    /// Triple DES with three keys in cipher block chaining mode: for old devices only.
    TripleDesCbc = "3des-cbc", BlockCipher, key 24, iv 8, block 8;
    /// DES in cipher block chaining mode: broken, but still found in engines.
    DesCbc = "des-cbc", BlockCipher, key 8, iv 8, block 8;
    /// Triple DES with three keys, block by block.
    TripleDesEcb = "3des-ecb", BlockCipher, key 24, block 8;
    /// DES block by block.
    DesEcb = "des-ecb", BlockCipher, key 8, block 8;
    /// MD5: broken, but still found in engines.
    Md5 = "md5", Hash, digest 16;
    /// SHA-1.
    Sha1 = "sha-1", Hash, digest 20;
    /// SHA-224.
    Sha224 = "sha-224", Hash, digest 28;
    /// SHA-256.
    Sha256 = "sha-256", Hash, digest 32;
    /// SHA-384.
    Sha384 = "sha-384", Hash, digest 48;
    /// SHA-512.
    Sha512 = "sha-512", Hash, digest 64;
    /// SHA3-256.
    Sha3_256 = "sha3-256", Hash, digest 32;
    /// SHA3-512.
    Sha3_512 = "sha3-512", Hash, digest 64;
    /// HMAC with SHA-1.
    HmacSha1 = "hmac-sha-1", Mac, key 20, digest 20;
    /// HMAC with SHA-256.
    HmacSha256 = "hmac-sha-256", Mac, key 32, digest 32;
    /// HMAC with SHA-512.
    HmacSha512 = "hmac-sha-512", Mac, key 64, digest 64;
    /// CMAC with AES-128.
    Aes128Cmac = "aes-128-cmac", Mac, key 16, digest 16;
    /// CMAC with AES-256.
    Aes256Cmac = "aes-256-cmac", Mac, key 32, digest 16;
    /// Poly1305. A key may be used for one message only, so every phase sets a key for each message.
    Poly1305 = "poly1305", Mac, key 32, digest 16;
    /// Hash_DRBG with SHA-256, without prediction resistance.
    HashDrbgSha256 = "hash-drbg-sha-256", Generator, key 48;
    /// HMAC_DRBG with SHA-256, without prediction resistance.
    HmacDrbgSha256 = "hmac-drbg-sha-256", Generator, key 48;
    /// HMAC_DRBG with SHA-512, without prediction resistance.
    HmacDrbgSha512 = "hmac-drbg-sha-512", Generator, key 48;
    /// CTR_DRBG with AES-256 and the derivation function, without prediction resistance.
    CtrDrbgAes256 = "ctr-drbg-aes-256", Generator, key 48;
    /// The C library's memory copy: the upper bound for all others.
    Memcpy = "memcpy", Copy;
    /// RSA-2048, PKCS #1 v1.5 signatures of SHA-256 digests.
    Rsa2048Pkcs1 = "rsa-2048-pkcs1", Signature;
    /// RSA-3072, PKCS #1 v1.5 signatures of SHA-256 digests.
    Rsa3072Pkcs1 = "rsa-3072-pkcs1", Signature;
    /// RSA-4096, PKCS #1 v1.5 signatures of SHA-256 digests.
    Rsa4096Pkcs1 = "rsa-4096-pkcs1", Signature;
    /// RSA-2048, PSS signatures of SHA-256 digests, with a salt of the digest's length.
    Rsa2048Pss = "rsa-2048-pss", Signature;
    /// RSA-3072, PSS signatures of SHA-256 digests, with a salt of the digest's length.
    Rsa3072Pss = "rsa-3072-pss", Signature;
    /// RSA-4096, PSS signatures of SHA-256 digests, with a salt of the digest's length.
    Rsa4096Pss = "rsa-4096-pss", Signature;
    /// ECDSA on NIST's P-256, of SHA-256 digests.
    EcdsaP256 = "ecdsa-p256", Signature;
    /// ECDSA on NIST's P-384, of SHA-384 digests.
    EcdsaP384 = "ecdsa-p384", Signature;
    /// Ed25519.
    Ed25519 = "ed25519", Signature;
    /// ML-DSA-65, with an empty context.
    MlDsa65 = "ml-dsa-65", Signature;
    /// Diffie-Hellman on NIST's P-256.
    EcdhP256 = "ecdh-p256", KeyAgreement;
    /// Diffie-Hellman on NIST's P-384.
    EcdhP384 = "ecdh-p384", KeyAgreement;
    /// X25519.
    X25519 = "x25519", KeyAgreement;
    /// ML-KEM-768.
    MlKem768 = "ml-kem-768", KeyEncapsulation;
}

impl Algorithm {
    /// The operations that are valid for the algorithm.
    pub const fn operations(self) -> &'static [Operation] {
        match self.shape().kind {
            Kind::BlockCipher
            | Kind::StreamCipher
            | Kind::SectorCipher
            | Kind::Aead
            | Kind::Record => &[Operation::Encrypt, Operation::Decrypt],
            Kind::Hash => &[Operation::Hash],
            Kind::Mac => &[Operation::Mac],
            Kind::Generator => &[Operation::Random],
            Kind::Copy => &[Operation::Copy],
            // PSS and PKCS #1 v1.5 use the same key pairs, so generating them is measured once.
            Kind::Signature => match self {
                Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => {
                    &[Operation::Sign, Operation::Verify]
                }
                _ => &[Operation::Sign, Operation::Verify, Operation::GenerateKey],
            },
            Kind::KeyAgreement => &[Operation::KeyAgreement, Operation::GenerateKey],
            Kind::KeyEncapsulation => {
                &[Operation::Encapsulate, Operation::Decapsulate, Operation::GenerateKey]
            }
        }
    }

    /// Bytes of output, without the tag, for a message of `message` bytes. Only for algorithms without key
    /// pairs; [`Algorithm::lengths`] covers all algorithms.
    pub const fn output_length(self, message: usize) -> usize {
        match self.shape().kind {
            Kind::Hash | Kind::Mac => self.shape().digest,
            Kind::Record => tls_record::length(message),
            _ => message,
        }
    }

    /// The shortest message that the algorithm accepts, in bytes.
    pub const fn shortest(self) -> usize {
        match self.shape().kind {
            // IEEE 1619, section 5.1: a data unit has 128 bits or more.
            Kind::SectorCipher => 16,
            Kind::Generator => 1,
            _ => 0,
        }
    }

    /// The longest message that the algorithm accepts, in bytes; `usize::MAX` if no practical message is too
    /// long.
    pub const fn longest(self) -> usize {
        match self {
            // SP 800-38C, section A.1: with a nonce of 12 bytes, the message length has 3 bytes.
            Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => (1 << 24) - 1,
            // IEEE 1619, section 5.1: a data unit has at most 2^20 blocks.
            Algorithm::Aes128Xts | Algorithm::Aes256Xts => 16 << 20,
            Algorithm::Aes128CbcHmacSha1Tls => tls_record::LONGEST,
            _ => usize::MAX,
        }
    }

    /// Whether a message can be continued over several calls. CCM encodes the message length in its first
    /// block, and a sector is always processed as a whole.
    pub const fn goes_on(self) -> bool {
        match self.shape().kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::Hash | Kind::Mac => true,
            // Further calls agree with the same peer.
            Kind::KeyAgreement => true,
            // No library has streams of encrypt-then-MAC.
            Kind::Aead => !matches!(
                self,
                Algorithm::Aes128Ccm
                    | Algorithm::Aes192Ccm
                    | Algorithm::Aes256Ccm
                    | Algorithm::Aes128CbcHmacSha1Etm
                    | Algorithm::Aes128CbcHmacSha256Etm
            ),
            Kind::SectorCipher | Kind::Record | Kind::Generator | Kind::Copy => false,
            Kind::Signature | Kind::KeyEncapsulation => false,
        }
    }

    /// Whether an operation rejects input that was forged, or damaged by an earlier operation.
    pub const fn refuses(self, operation: Operation) -> bool {
        matches!(self.shape().kind, Kind::Aead | Kind::Record)
            && matches!(operation, Operation::Decrypt)
    }

    /// Whether the algorithm also accepts keys of other lengths than `Shape::key`, as HMAC does.
    pub const fn takes_any_key(self) -> bool {
        matches!(self, Algorithm::HmacSha1 | Algorithm::HmacSha256 | Algorithm::HmacSha512)
    }

    /// Whether the algorithm uses key pairs.
    pub const fn has_key_pairs(self) -> bool {
        matches!(self.shape().kind, Kind::Signature | Kind::KeyAgreement | Kind::KeyEncapsulation)
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

            /// The standard name.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }

        $crate::algorithm::by_name!($type);
    };
}

/// Implements Display, parsing and serialisation for an enum with `ALL` and `name`. Human-readable formats
/// (JSON, TOML) use the name, the wire format the index in `ALL`.
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

/// A name that is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownName;

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a known name")
    }
}

impl core::error::Error for UnknownName {}

named! {
    /// What is done with an algorithm, in the terms of the PSA Crypto API, plus Copy for the memory's bound.
    Operation {
        /// Encrypt a message.
        Encrypt = "encrypt",
        /// Decrypt a message; for an AEAD the tag is verified.
        Decrypt = "decrypt",
        /// Digest of a message.
        Hash = "hash",
        /// MAC of a message.
        Mac = "mac",
        /// Sign a digest, or a message if the algorithm does the hashing itself.
        Sign = "sign",
        /// Verify a signature.
        Verify = "verify",
        /// Derive a shared secret from one's own private key and the peer's public key.
        KeyAgreement = "key-agreement",
        /// Key encapsulation: create a secret and its ciphertext.
        Encapsulate = "encapsulate",
        /// Key decapsulation: recover the secret.
        Decapsulate = "decapsulate",
        /// Generate a key or a key pair.
        GenerateKey = "generate-key",
        /// Produce random bytes.
        Random = "random",
        /// Copy the message and do nothing else: the memory's own bound.
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
