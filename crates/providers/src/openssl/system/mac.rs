//! Message authentication codes of OpenSSL 1.1.1, before `EVP_MAC`: HMAC and CMAC have separate functions, and
//! Poly1305 is a signature made with its key.

// C names stay as the headers spell them.
#![allow(non_camel_case_types, non_snake_case, clippy::upper_case_acronyms)]

use crate::loaded::c_functions;
use crate::openssl::ffi::{ENGINE, EVP_CIPHER, EVP_MD, EVP_MD_CTX, EVP_PKEY};
use crate::openssl::ffi::{Libcrypto, Loaded};
use crate::openssl::{Source, evp_name, last_error, succeeded};
use core::ffi::{c_int, c_uchar, c_uint, c_void};
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Session, Unsupported};
use cpb_session::context::{Context, Lengths, run};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJob, RawJobs};

/// `HMAC_CTX`, opaque to Rust.
#[repr(C)]
pub(crate) struct HMAC_CTX {
    _data: [u8; 0],
}

/// `CMAC_CTX`, opaque to Rust.
#[repr(C)]
pub(crate) struct CMAC_CTX {
    _data: [u8; 0],
}

/// openssl/obj_mac.h: `NID_poly1305`.
const EVP_PKEY_POLY1305: c_int = 1061;

c_functions! { loaded:
    // openssl/hmac.h. A null key and a null digest keep the current ones.
    fn HMAC_CTX_new() -> *mut HMAC_CTX;
    fn HMAC_CTX_free(context: *mut HMAC_CTX);
    fn HMAC_Init_ex(context: *mut HMAC_CTX, key: *const c_void, length: c_int, digest: *const EVP_MD, engine: *mut ENGINE) -> c_int;
    fn HMAC_Update(context: *mut HMAC_CTX, data: *const c_uchar, length: usize) -> c_int;
    fn HMAC_Final(context: *mut HMAC_CTX, code: *mut c_uchar, length: *mut c_uint) -> c_int;

    // openssl/cmac.h. The same applies.
    fn CMAC_CTX_new() -> *mut CMAC_CTX;
    fn CMAC_CTX_free(context: *mut CMAC_CTX);
    fn CMAC_Init(context: *mut CMAC_CTX, key: *const c_void, length: usize, cipher: *const EVP_CIPHER, engine: *mut ENGINE) -> c_int;
    fn CMAC_Update(context: *mut CMAC_CTX, data: *const c_void, length: usize) -> c_int;
    fn CMAC_Final(context: *mut CMAC_CTX, code: *mut c_uchar, length: *mut usize) -> c_int;

    // openssl/evp.h
    fn EVP_PKEY_new_raw_private_key(kind: c_int, engine: *mut ENGINE, key: *const c_uchar, length: usize) -> *mut EVP_PKEY;
    fn EVP_MD_CTX_reset(context: *mut EVP_MD_CTX) -> c_int;
    fn EVP_DigestSignInit(context: *mut EVP_MD_CTX, key_context: *mut *mut c_void, digest: *const EVP_MD, engine: *mut ENGINE, key: *mut EVP_PKEY) -> c_int;
    fn EVP_DigestSignFinal(context: *mut EVP_MD_CTX, code: *mut c_uchar, length: *mut usize) -> c_int;
}

/// Whether the library has it.
pub(super) fn has(source: Source<Loaded>, algorithm: Algorithm) -> bool {
    let lengths = Lengths { message: 0, associated: 0, tag: 0, digest: 0, decrypts: false };
    let key = [1; cpb_core::algorithm::MAX_KEY];
    let key = &key[..algorithm.shape().key];
    let here = Mac::open(source, algorithm, lengths).and_then(|mut mac| mac.key(key)).is_ok();
    // Empties the error queue, so that the next caller finds only its own errors.
    last_error::<Loaded>();
    here
}

/// Opens a session, as [`cpb_core::Provider::session`] does.
pub(super) fn session(
    source: Source<Loaded>,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = &RawJobs::new(workload, keys, jobs)?;
    let mac = Mac::open(source, workload.algorithm, Lengths::of(workload))?;
    run(mac, workload, keys, jobs, body)
}

/// A context of libcrypto, and what it is based on.
enum Of {
    Digest(*mut HMAC_CTX, *const EVP_MD),
    Cipher(*mut CMAC_CTX, *const EVP_CIPHER),
    Key(*mut EVP_MD_CTX),
}

struct Mac {
    of: Of,
    lengths: Lengths,
}

impl Mac {
    fn open(source: Source<Loaded>, algorithm: Algorithm, lengths: Lengths) -> Result<Mac, Error> {
        let name = evp_name(algorithm);
        // SAFETY: take no arguments.
        let of = unsafe {
            match algorithm {
                Algorithm::Poly1305 => Of::Key(Loaded::EVP_MD_CTX_new()),
                Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => {
                    Of::Cipher(CMAC_CTX_new(), source.cipher(name))
                }
                _ => Of::Digest(HMAC_CTX_new(), source.digest(name)),
            }
        };
        let mac = Mac { of, lengths };
        let there = match mac.of {
            Of::Digest(context, digest) => !context.is_null() && !digest.is_null(),
            Of::Cipher(context, cipher) => !context.is_null() && !cipher.is_null(),
            Of::Key(context) => !context.is_null(),
        };
        if there { Ok(mac) } else { Err(Unsupported::BuildOption.into()) }
    }
}

// SAFETY of all calls below: the context is live, and has its key before it is used; the job's pointers are
// valid for the session's lengths.
impl Context for Mac {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (pointer, none) = (key.as_ptr(), ptr::null_mut());
        // SAFETY: as above; digest and cipher live for ever. A context that signs holds a reference to its key.
        succeeded::<Loaded>(unsafe {
            match self.of {
                Of::Digest(context, digest) => {
                    HMAC_Init_ex(context, pointer.cast(), key.len() as c_int, digest, none)
                }
                Of::Cipher(context, cipher) => {
                    CMAC_Init(context, pointer.cast(), key.len(), cipher, none)
                }
                Of::Key(context) => {
                    let length = key.len();
                    let key =
                        EVP_PKEY_new_raw_private_key(EVP_PKEY_POLY1305, none, pointer, length);
                    EVP_MD_CTX_reset(context);
                    let status = match key.is_null() {
                        true => 0,
                        false => {
                            let digest = ptr::null();
                            EVP_DigestSignInit(context, ptr::null_mut(), digest, none, key)
                        }
                    };
                    Loaded::EVP_PKEY_free(key);
                    status
                }
            }
        })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        let (same, none) = (ptr::null(), ptr::null_mut());
        // SAFETY: as above.
        succeeded::<Loaded>(unsafe {
            match self.of {
                Of::Digest(context, _) => HMAC_Init_ex(context, same, 0, ptr::null(), none),
                Of::Cipher(context, _) => CMAC_Init(context, same, 0, ptr::null(), none),
                // The key is good for one message, and has just been set.
                Of::Key(_) => 1,
            }
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.message;
        // SAFETY: as above.
        succeeded::<Loaded>(unsafe {
            match self.of {
                Of::Digest(context, _) => HMAC_Update(context, job.input, length),
                Of::Cipher(context, _) => CMAC_Update(context, job.input.cast(), length),
                Of::Key(context) => Loaded::EVP_DigestUpdate(context, job.input.cast(), length),
            }
        })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let mut length = self.lengths.digest;
        // SAFETY: as above; the output has the code's length.
        succeeded::<Loaded>(unsafe {
            match self.of {
                Of::Digest(context, _) => HMAC_Final(context, job.output, ptr::null_mut()),
                Of::Cipher(context, _) => CMAC_Final(context, job.output, &mut length),
                Of::Key(context) => EVP_DigestSignFinal(context, job.output, &mut length),
            }
        })
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        // SAFETY: we own it, null is allowed, and nothing uses it afterwards.
        unsafe {
            match self.of {
                Of::Digest(context, _) => HMAC_CTX_free(context),
                Of::Cipher(context, _) => CMAC_CTX_free(context),
                Of::Key(context) => Loaded::EVP_MD_CTX_free(context),
            }
        }
    }
}
