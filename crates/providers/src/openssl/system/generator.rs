//! `RAND_DRBG`, the generator of OpenSSL 1.1.1 whose entropy can be given: AES-256-CTR with a derivation
//! function. Generators with HMAC came with 3.0.

// C names stay as the headers spell them.
#![allow(non_camel_case_types, non_snake_case)]

use crate::loaded::c_functions;
use crate::openssl::ffi::Loaded;
use crate::openssl::{last_error, succeeded};
use core::ffi::{c_int, c_long, c_uchar, c_uint, c_void};
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Phase, Progress, Session, Unsupported};
use cpb_session::Body;
use cpb_session::lengths::{REQUEST, SEED, keys_fit};
use cpb_session::raw_jobs::RawJobs;

/// `RAND_DRBG`, opaque to Rust.
#[repr(C)]
pub(crate) struct RAND_DRBG {
    _data: [u8; 0],
}

/// Gives entropy or a nonce: its address and its length.
type Give =
    unsafe extern "C" fn(*mut RAND_DRBG, *mut *mut c_uchar, c_int, usize, usize, c_int) -> usize;
type GiveNonce =
    unsafe extern "C" fn(*mut RAND_DRBG, *mut *mut c_uchar, c_int, usize, usize) -> usize;

c_functions! { loaded:
    // openssl/rand_drbg.h
    fn RAND_DRBG_new(kind: c_int, flags: c_uint, parent: *mut RAND_DRBG) -> *mut RAND_DRBG;
    fn RAND_DRBG_free(generator: *mut RAND_DRBG);
    fn RAND_DRBG_set_callbacks(generator: *mut RAND_DRBG, entropy: Give, entropy_used: *mut c_void, nonce: GiveNonce, nonce_used: *mut c_void) -> c_int;
    fn RAND_DRBG_set_ex_data(generator: *mut RAND_DRBG, index: c_int, data: *mut c_void) -> c_int;
    fn RAND_DRBG_get_ex_data(generator: *const RAND_DRBG, index: c_int) -> *mut c_void;
    /// 0: no number of requests makes it want new entropy.
    fn RAND_DRBG_set_reseed_interval(generator: *mut RAND_DRBG, requests: c_int) -> c_int;
    /// 0: no passage of time does.
    fn RAND_DRBG_set_reseed_time_interval(generator: *mut RAND_DRBG, seconds: c_long) -> c_int;
    fn RAND_DRBG_instantiate(generator: *mut RAND_DRBG, personal: *const c_uchar, length: usize) -> c_int;
    fn RAND_DRBG_uninstantiate(generator: *mut RAND_DRBG) -> c_int;
    fn RAND_DRBG_generate(generator: *mut RAND_DRBG, output: *mut c_uchar, length: usize, resist_prediction: c_int, additional: *const c_uchar, additional_length: usize) -> c_int;
}

/// openssl/obj_mac.h: `NID_aes_256_ctr`.
const AES_256_CTR: c_int = 906;

/// The place where a generator keeps our pointer. Each kind of object counts its own places, and the first one
/// exists without being requested.
const PLACE: c_int = 0;

/// Bytes of entropy input; the rest of a seed is the nonce.
const ENTROPY: usize = 32;

/// Whether the library has it.
pub(super) fn has(algorithm: Algorithm) -> bool {
    algorithm == Algorithm::CtrDrbgAes256 && Generator::new().is_ok()
}

/// Opens a session, as [`cpb_core::Provider::session`] does.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: Body<'_>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = RawJobs::new(workload, keys, jobs)?;
    let mut session = Seeded { generator: Generator::new()?, keys, jobs, phase: workload.phase };
    session.seed(session.jobs.job(0)?.key)?;
    body(&mut session)
}

struct Generator(*mut RAND_DRBG);

impl Generator {
    fn new() -> Result<Generator, Error> {
        // SAFETY: takes numbers; null means that no parent feeds it.
        let generator = Generator(unsafe { RAND_DRBG_new(AES_256_CTR, 0, ptr::null_mut()) });
        if generator.0.is_null() {
            last_error::<Loaded>();
            return Err(Unsupported::BuildOption.into());
        }
        // SAFETY: the generator is live, and what it is given does not need to be returned. There is nothing to
        // give later.
        unsafe {
            let none = ptr::null_mut();
            succeeded::<Loaded>(RAND_DRBG_set_callbacks(
                generator.0,
                give_entropy,
                none,
                give_nonce,
                none,
            ))?;
            succeeded::<Loaded>(RAND_DRBG_set_reseed_interval(generator.0, 0))?;
            succeeded::<Loaded>(RAND_DRBG_set_reseed_time_interval(generator.0, 0))?;
        }
        Ok(generator)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // SAFETY: we own it, null is allowed, and nothing uses it afterwards.
        unsafe { RAND_DRBG_free(self.0) };
    }
}

/// Gives a part of the key that a generator points to.
///
/// # Safety
/// Before the generator is instantiated, it was made to point to a key of at least [`SEED`] bytes.
unsafe fn give(
    generator: *mut RAND_DRBG,
    output: *mut *mut c_uchar,
    from: usize,
    to: usize,
) -> usize {
    // SAFETY: as promised by the caller; the bytes are only read.
    unsafe {
        let key = RAND_DRBG_get_ex_data(generator, PLACE).cast::<c_uchar>();
        if key.is_null() {
            return 0;
        }
        output.write(key.add(from));
    }
    to - from
}

unsafe extern "C" fn give_entropy(
    generator: *mut RAND_DRBG,
    output: *mut *mut c_uchar,
    _strength: c_int,
    _least: usize,
    _most: usize,
    _resists: c_int,
) -> usize {
    // SAFETY: called while the generator is instantiated.
    unsafe { give(generator, output, 0, ENTROPY) }
}

unsafe extern "C" fn give_nonce(
    generator: *mut RAND_DRBG,
    output: *mut *mut c_uchar,
    _strength: c_int,
    _least: usize,
    _most: usize,
) -> usize {
    // SAFETY: as above.
    unsafe { give(generator, output, ENTROPY, SEED) }
}

struct Seeded<'a> {
    generator: Generator,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
}

impl Seeded<'_> {
    /// Starts again, with entropy input, nonce, and the rest of the key as the personalisation string.
    #[inline]
    fn seed(&self, key: usize) -> Result<(), Error> {
        let key = self.keys.get(key).ok_or(Error::Contract)?;
        let (seed, personal) = key.split_at_checked(SEED).ok_or(Unsupported::Length)?;
        let generator = self.generator.0;
        // SAFETY: the generator is live, and the seed and the string are read during the calls.
        unsafe {
            let seed = seed.as_ptr().cast_mut().cast();
            succeeded::<Loaded>(RAND_DRBG_uninstantiate(generator))?;
            succeeded::<Loaded>(RAND_DRBG_set_ex_data(generator, PLACE, seed))?;
            let status = RAND_DRBG_instantiate(generator, personal.as_ptr(), personal.len());
            succeeded::<Loaded>(status)
        }
    }

    #[inline]
    fn generate(&self, output: *mut u8) -> Result<(), Error> {
        let mut done = 0;
        while done < self.jobs.message {
            let length = REQUEST.min(self.jobs.message - done);
            // SAFETY: the generator is live; the output has the message's length.
            succeeded::<Loaded>(unsafe {
                let output = output.add(done);
                RAND_DRBG_generate(self.generator.0, output, length, 0, ptr::null(), 0)
            })?;
            done += length;
        }
        Ok(())
    }
}

impl Session for Seeded<'_> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        if self.phase != Phase::Message {
            self.seed(job.key)?;
        }
        if self.phase != Phase::Setup {
            self.generate(job.output)?;
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
