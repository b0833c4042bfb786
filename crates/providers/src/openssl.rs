//! OpenSSL's libcrypto through its EVP interface: the one that cpb was linked with (`linked.rs`), and the
//! installed one (`system.rs`). The sessions are the same for both; which library they call is fixed at compile
//! time.

mod cipher;
pub(crate) mod ffi;
mod generator;
mod hash;
#[cfg(feature = "openssl")]
pub(crate) mod linked;
mod mac;
mod public_key;
mod record;
pub(crate) mod system;
#[cfg(feature = "openssl")]
pub(crate) mod two_calls;

use cipher::CipherSession;
use core::ffi::{CStr, c_char, c_int};
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Kind, Session, Unsupported};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::RawJobs;
use ffi::Libcrypto;
use generator::GeneratorSession;
use hash::HashSession;
use mac::{MacSession, mac_name};
use record::RecordSession;

/// Where a session gets its implementations of algorithms.
#[derive(Clone, Copy)]
struct Source<L: Libcrypto> {
    library: PhantomData<L>,
    /// The properties that a fetched implementation must have, as EVP_set_default_properties(7) spells them.
    properties: Option<&'static CStr>,
    /// The engine that must provide it; null for the library's own implementation.
    engine: *mut ffi::ENGINE,
    /// Whether ciphers and digests are found by name: before OpenSSL 3, and for engines.
    by_name: bool,
}

impl<L: Libcrypto> Source<L> {
    /// What the library takes by default.
    fn new() -> Self {
        Source { library: PhantomData, properties: None, engine: ptr::null_mut(), by_name: false }
    }

    fn properties(&self) -> *const c_char {
        self.properties.map_or(ptr::null(), CStr::as_ptr)
    }

    /// Null if the library has no cipher of that name.
    fn cipher(&self, name: &CStr) -> *mut ffi::EVP_CIPHER {
        // SAFETY: C strings; a null context is the default one. What is found by name lives for ever, and
        // freeing it does nothing.
        unsafe {
            match self.by_name {
                true => L::EVP_get_cipherbyname(name.as_ptr()).cast_mut(),
                false => L::EVP_CIPHER_fetch(ptr::null_mut(), name.as_ptr(), self.properties()),
            }
        }
    }

    /// Null if the library has no digest of that name.
    fn digest(&self, name: &CStr) -> *mut ffi::EVP_MD {
        // SAFETY: as above.
        unsafe {
            match self.by_name {
                true => L::EVP_get_digestbyname(name.as_ptr()).cast_mut(),
                false => L::EVP_MD_fetch(ptr::null_mut(), name.as_ptr(), self.properties()),
            }
        }
    }

    /// Null if the library has no MAC of that name.
    fn mac(&self, name: &CStr) -> *mut ffi::EVP_MAC {
        // SAFETY: as above.
        unsafe { L::EVP_MAC_fetch(ptr::null_mut(), name.as_ptr(), self.properties()) }
    }

    /// Whether the library has an algorithm: builds leave out Camellia and broken algorithms. For a MAC it
    /// checks the kind of MAC; for a generator, what feeds it.
    fn has(&self, algorithm: Algorithm) -> bool {
        let name = evp_name(algorithm);
        // SAFETY: names are C strings; what was fetched is freed, and null is allowed.
        let found = unsafe {
            match algorithm.shape().kind {
                Kind::BlockCipher
                | Kind::StreamCipher
                | Kind::SectorCipher
                | Kind::Aead
                | Kind::Record => {
                    let cipher = self.cipher(name);
                    L::EVP_CIPHER_free(cipher);
                    !cipher.is_null()
                }
                Kind::Hash => {
                    let digest = self.digest(name);
                    L::EVP_MD_free(digest);
                    !digest.is_null()
                }
                Kind::Mac => {
                    let mac = self.mac(mac_name(algorithm).0);
                    L::EVP_MAC_free(mac);
                    !mac.is_null()
                }
                Kind::Generator => {
                    let name = c"TEST-RAND".as_ptr();
                    let generator = L::EVP_RAND_fetch(ptr::null_mut(), name, self.properties());
                    L::EVP_RAND_free(generator);
                    !generator.is_null()
                }
                Kind::Signature | Kind::KeyAgreement | Kind::KeyEncapsulation => {
                    public_key::is_here(*self, algorithm)
                }
                Kind::Copy => false,
            }
        };
        // Empties the error queue, so that the next caller finds only its own errors.
        last_error::<L>();
        found
    }
}

/// Opens a session for a workload that is supported, as [`cpb_core::Provider::session`] does.
fn session<L: Libcrypto>(
    source: Source<L>,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = RawJobs::new(workload, keys, jobs)?;
    let (algorithm, phase) = (workload.algorithm, workload.phase);
    match algorithm.shape().kind {
        Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher | Kind::Aead => {
            body(&mut CipherSession::open(source, workload, keys, jobs)?)
        }
        Kind::Record => body(&mut RecordSession::open(source, workload, keys, jobs)?),
        Kind::Hash => body(&mut HashSession::open(source, algorithm, phase, jobs)?),
        Kind::Mac => body(&mut MacSession::open(source, algorithm, phase, keys, jobs)?),
        Kind::Generator => body(&mut GeneratorSession::open(source, algorithm, phase, keys, jobs)?),
        Kind::Copy => Err(Unsupported::Algorithm.into()),
        Kind::Signature | Kind::KeyAgreement | Kind::KeyEncapsulation => {
            public_key::session(source, workload, keys, &jobs, body)
        }
    }
}

/// Why a libcrypto lacks an algorithm. The reason is `usually`, except for records: a libcrypto has them if the
/// CPU has the AES instructions of x86 and they are not masked.
fn lacks(algorithm: Algorithm, usually: Unsupported) -> Unsupported {
    if algorithm.shape().kind == Kind::Record { Unsupported::Device } else { usually }
}

/// libcrypto's name of an algorithm (the digest's for an HMAC, the cipher's for a CMAC or a generator).
fn evp_name(algorithm: Algorithm) -> &'static CStr {
    match algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes128Cmac => c"AES-128-CBC",
        Algorithm::Aes192Cbc => c"AES-192-CBC",
        Algorithm::Aes256Cbc | Algorithm::Aes256Cmac => c"AES-256-CBC",
        Algorithm::Aes128Ecb => c"AES-128-ECB",
        Algorithm::Aes192Ecb => c"AES-192-ECB",
        Algorithm::Aes256Ecb => c"AES-256-ECB",
        Algorithm::Aes128Ctr => c"AES-128-CTR",
        Algorithm::Aes192Ctr => c"AES-192-CTR",
        Algorithm::Aes256Ctr | Algorithm::CtrDrbgAes256 => c"AES-256-CTR",
        Algorithm::Aes128Xts => c"AES-128-XTS",
        Algorithm::Aes256Xts => c"AES-256-XTS",
        Algorithm::Aes128Gcm => c"AES-128-GCM",
        Algorithm::Aes192Gcm => c"AES-192-GCM",
        Algorithm::Aes256Gcm => c"AES-256-GCM",
        Algorithm::Aes128Ccm => c"AES-128-CCM",
        Algorithm::Aes192Ccm => c"AES-192-CCM",
        Algorithm::Aes256Ccm => c"AES-256-CCM",
        Algorithm::Chacha20Poly1305 => c"ChaCha20-Poly1305",
        Algorithm::Aes128CbcHmacSha1Tls => c"AES-128-CBC-HMAC-SHA1",
        Algorithm::Chacha20 => c"ChaCha20",
        Algorithm::Camellia256Cbc => c"CAMELLIA-256-CBC",
        Algorithm::TripleDesCbc => c"DES-EDE3-CBC",
        Algorithm::DesCbc => c"DES-CBC",
        Algorithm::TripleDesEcb => c"DES-EDE3",
        Algorithm::DesEcb => c"DES-ECB",
        Algorithm::Md5 => c"MD5",
        Algorithm::Sha1 | Algorithm::HmacSha1 => c"SHA1",
        Algorithm::Sha224 => c"SHA224",
        Algorithm::Sha256
        | Algorithm::HmacSha256
        | Algorithm::HashDrbgSha256
        | Algorithm::HmacDrbgSha256 => c"SHA256",
        Algorithm::Sha384 => c"SHA384",
        Algorithm::Sha512 | Algorithm::HmacSha512 | Algorithm::HmacDrbgSha512 => c"SHA512",
        Algorithm::Sha3_256 => c"SHA3-256",
        Algorithm::Sha3_512 => c"SHA3-512",
        Algorithm::Poly1305 => c"POLY1305",
        // No library has it: a copy is not libcrypto's, key pairs are not opened by a name, and encrypt-then-MAC would
        // need the MAC's key apart from the cipher's.
        _ => c"none",
    }
}

/// 1 is success. Anything else is an error, whose code comes from libcrypto's queue.
#[inline]
fn succeeded<L: Libcrypto>(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(last_error::<L>()) }
}

#[cold]
fn last_error<L: Libcrypto>() -> Error {
    // SAFETY: take no pointers; the queue belongs to the thread.
    let code = unsafe {
        let code = L::ERR_get_error();
        L::ERR_clear_error();
        code
    };
    Error::Device(code as i32)
}
