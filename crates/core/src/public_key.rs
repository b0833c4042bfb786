//! Algorithms with key pairs: the lengths of their parts, the encodings, and the pairs used in timed rounds.
//!
//! Every encoding has a fixed length, so a job's buffers do too:
//!
//! | part | encoding |
//! |---|---|
//! | RSA, public | n, e (4 bytes), big-endian |
//! | RSA, private | n, e, d, p, q, d mod (p-1), d mod (q-1), 1/q mod p, big-endian |
//! | P-256, P-384, public | the uncompressed point: 4, x, y (SEC 1, 2.3.3) |
//! | P-256, P-384, private | the scalar, big-endian |
//! | Ed25519, X25519 | as in RFC 8032 and RFC 7748 |
//! | ML-KEM-768, ML-DSA-65, private | the seed: d and z of FIPS 203, xi of FIPS 204 |
//! | ECDSA signature | r, s, big-endian (IEEE P1363), not DER |
//!
//! A generated pair is the private key followed by the public key.

use crate::algorithm::{Algorithm, Operation};

/// The lengths of the parts of an algorithm with key pairs, in bytes; 0 if it has no such part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// Private key.
    pub private: usize,
    /// Public key.
    pub public: usize,
    /// The digest that is signed; `None` if messages are signed.
    pub digest: Option<usize>,
    /// Signature.
    pub signature: usize,
    /// The secret that both sides end up with.
    pub secret: usize,
    /// The encapsulation of the secret.
    pub encapsulation: usize,
}

/// The length of the signed messages in timed rounds, for algorithms that hash the message themselves.
const MESSAGE: usize = 32;

/// Bytes of an RSA key's public exponent.
pub const RSA_EXPONENT: usize = 4;

/// How many numbers a private RSA key has. The first two form the public key.
pub const RSA_NUMBERS: usize = 8;

/// The lengths of the numbers, in order, for a modulus of `modulus` bytes.
pub const fn rsa_lengths(modulus: usize) -> [usize; RSA_NUMBERS] {
    let half = modulus / 2;
    [modulus, RSA_EXPONENT, modulus, half, half, half, half, half]
}

/// The numbers of an RSA key, as many as `key` contains.
pub fn rsa_numbers(modulus: usize, mut key: &[u8]) -> impl Iterator<Item = &[u8]> {
    rsa_lengths(modulus).into_iter().map_while(move |length| key.split_off(..length))
}

/// The places of the numbers of an RSA key, as many as `key` has room for.
pub fn rsa_places(modulus: usize, mut key: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    rsa_lengths(modulus).into_iter().map_while(move |length| key.split_off_mut(..length))
}

const NONE: Parts =
    Parts { private: 0, public: 0, digest: None, signature: 0, secret: 0, encapsulation: 0 };

const fn rsa(bits: usize) -> Parts {
    let modulus = bits / 8;
    Parts {
        private: 2 * modulus + RSA_EXPONENT + 5 * (modulus / 2),
        public: modulus + RSA_EXPONENT,
        digest: Some(32),
        signature: modulus,
        ..NONE
    }
}

const fn curve(bits: usize) -> Parts {
    Parts { private: bits / 8, public: 1 + bits / 4, ..NONE }
}

/// The parts of `algorithm`; `None` if it has no key pairs.
pub const fn parts(algorithm: Algorithm) -> Option<Parts> {
    let (p256, p384) = (curve(256), curve(384));
    Some(match algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => rsa(2048),
        Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => rsa(3072),
        Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => rsa(4096),
        Algorithm::EcdsaP256 => Parts { digest: Some(32), signature: 64, ..p256 },
        Algorithm::EcdsaP384 => Parts { digest: Some(48), signature: 96, ..p384 },
        Algorithm::Ed25519 => Parts { private: 32, public: 32, signature: 64, ..NONE },
        // FIPS 204, table 2.
        Algorithm::MlDsa65 => Parts { private: 32, public: 1952, signature: 3309, ..NONE },
        Algorithm::EcdhP256 => Parts { secret: 32, ..p256 },
        Algorithm::EcdhP384 => Parts { secret: 48, ..p384 },
        Algorithm::X25519 => Parts { private: 32, public: 32, secret: 32, ..NONE },
        // FIPS 203, table 3.
        Algorithm::MlKem768 => {
            Parts { private: 64, public: 1184, secret: 32, encapsulation: 1088, ..NONE }
        }
        _ => return None,
    })
}

impl Algorithm {
    /// The length of the message in a timed operation of an algorithm with key pairs: the digest, the peer's
    /// public key, or nothing. It is not varied.
    pub const fn fixed_message(self, operation: Operation) -> Option<usize> {
        let Some(parts) = parts(self) else { return None };
        Some(match operation {
            Operation::Sign | Operation::Verify => match parts.digest {
                Some(digest) => digest,
                None => MESSAGE,
            },
            Operation::KeyAgreement => parts.public,
            _ => 0,
        })
    }

    /// Whether an operation accepts a message of `message` bytes. The block size of a cipher is not
    /// considered.
    pub(crate) fn takes(self, operation: Operation, message: usize) -> bool {
        let signs = matches!(operation, Operation::Sign | Operation::Verify);
        match (self.fixed_message(operation), parts(self)) {
            (Some(_), Some(Parts { digest: None, .. })) if signs => true,
            (Some(fixed), _) => message == fixed,
            (None, _) => (self.shortest()..=self.longest()).contains(&message),
        }
    }

    /// Whether an operation draws something at random, so that its output differs each time. A round trip
    /// then shows whether it is right. ECDSA and ML-DSA also have deterministic signing, but libraries draw
    /// at random unless configured otherwise.
    pub const fn draws(self, operation: Operation) -> bool {
        match operation {
            Operation::GenerateKey | Operation::Encapsulate => true,
            Operation::Sign => !matches!(
                self,
                Algorithm::Rsa2048Pkcs1
                    | Algorithm::Rsa3072Pkcs1
                    | Algorithm::Rsa4096Pkcs1
                    | Algorithm::Ed25519
            ),
            _ => false,
        }
    }

    /// Whether the duration of an operation varies at random: primes are searched for, ML-DSA repeats until a
    /// signature fits, and a private RSA key is blinded anew from time to time. The mean is then the
    /// meaningful figure; the minimum of many is not.
    pub const fn has_random_duration(self, operation: Operation) -> bool {
        let rsa = matches!(
            self,
            Algorithm::Rsa2048Pkcs1
                | Algorithm::Rsa3072Pkcs1
                | Algorithm::Rsa4096Pkcs1
                | Algorithm::Rsa2048Pss
                | Algorithm::Rsa3072Pss
                | Algorithm::Rsa4096Pss
        );
        match operation {
            Operation::GenerateKey => rsa,
            Operation::Sign => rsa || matches!(self, Algorithm::MlDsa65),
            _ => false,
        }
    }

    /// Whether all correct implementations give the same output. They do not if something is drawn at random,
    /// or if the input (a signature, an encapsulation) was.
    pub const fn foretold(self, operation: Operation) -> bool {
        match operation {
            Operation::Verify => !self.draws(Operation::Sign),
            Operation::Decapsulate => false,
            other => !self.draws(other),
        }
    }

    /// The key of a timed operation, private or public. The pair was published with known answers
    /// (`vectors/README.md`). Empty if the operation needs no key, or if the algorithm has no key pairs.
    pub const fn timed_key(self, operation: Operation) -> &'static [u8] {
        match operation {
            Operation::Verify | Operation::Encapsulate => self.timed_public_key(),
            Operation::GenerateKey => &[],
            _ => self.timed_private_key(),
        }
    }

    /// Whether a pair for timed rounds is available: the program may have been built without the large ones.
    pub const fn has_timed_pair(self) -> bool {
        !timed_pair(self).is_empty()
    }

    /// The private key of the timed pair.
    pub const fn timed_private_key(self) -> &'static [u8] {
        halves(self).0
    }

    /// The public key of the timed pair. In an agreement it is also the peer's key: the pair agrees with
    /// itself.
    pub const fn timed_public_key(self) -> &'static [u8] {
        halves(self).1
    }
}

const fn timed_pair(algorithm: Algorithm) -> &'static [u8] {
    macro_rules! pair {
        ($name:literal) => {
            include_bytes!(concat!("../../../vectors/key-pairs/", $name))
        };
    }
    #[cfg(feature = "every-key-pair")]
    match algorithm {
        Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => return pair!("rsa-3072"),
        Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => return pair!("rsa-4096"),
        Algorithm::MlDsa65 => return pair!("ml-dsa-65"),
        Algorithm::MlKem768 => return pair!("ml-kem-768"),
        _ => {}
    }
    match algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => pair!("rsa-2048"),
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => pair!("p-256"),
        Algorithm::EcdsaP384 | Algorithm::EcdhP384 => pair!("p-384"),
        Algorithm::Ed25519 => pair!("ed25519"),
        Algorithm::X25519 => pair!("x25519"),
        _ => &[],
    }
}

/// The two keys of the timed pair; empty if the algorithm has no timed pair.
const fn halves(algorithm: Algorithm) -> (&'static [u8], &'static [u8]) {
    match parts(algorithm) {
        Some(parts) if algorithm.has_timed_pair() => timed_pair(algorithm).split_at(parts.private),
        _ => (&[], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_with_key_pairs_has_parts_and_a_pair_of_their_length() {
        let there = Algorithm::ALL.iter().filter(|algorithm| algorithm.has_timed_pair()).count();
        assert_eq!(there, if cfg!(feature = "every-key-pair") { 14 } else { 8 });
        for &algorithm in Algorithm::ALL {
            let parts = parts(algorithm);
            assert_eq!(parts.is_some(), algorithm.has_key_pairs(), "{algorithm}");
            let Some(parts) = parts.filter(|_| algorithm.has_timed_pair()) else { continue };
            assert_eq!(timed_pair(algorithm).len(), parts.private + parts.public, "{algorithm}");
            for &operation in algorithm.operations() {
                let lengths = algorithm.lengths(operation, 0);
                assert_eq!(algorithm.timed_key(operation).len(), lengths.key);
                assert!(lengths.output + lengths.tag > 0, "{algorithm} {operation}");
            }
        }
    }

    #[test]
    fn an_rsa_pair_says_its_modulus_twice() {
        let all = [Algorithm::Rsa2048Pkcs1, Algorithm::Rsa3072Pss, Algorithm::Rsa4096Pkcs1];
        for algorithm in all.into_iter().filter(|algorithm| algorithm.has_timed_pair()) {
            let public = algorithm.timed_public_key();
            assert!(algorithm.timed_key(Operation::Sign).starts_with(public));
            let modulus = public.len() - RSA_EXPONENT;
            assert_eq!(modulus, algorithm.lengths(Operation::Sign, 32).tag);
            let private = algorithm.timed_private_key();
            assert_eq!(rsa_lengths(modulus).iter().sum::<usize>(), private.len());
            assert_eq!(rsa_numbers(modulus, private).count(), RSA_NUMBERS);
            assert_eq!(rsa_numbers(modulus, public).count(), 2);
        }
    }
}
