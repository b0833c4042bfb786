//! Sessions of libcrypto's random bit generators. Their entropy is the key: one of the library's generators,
//! which returns the bytes that it was given, replaces the system's.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, last_error, succeeded};
use core::ffi::{CStr, c_uint};
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{Algorithm, Error, Phase, Progress, Session, Unsupported};
use cpb_session::lengths::{REQUEST, SEED};
use cpb_session::raw_jobs::RawJobs;

/// Bits of strength of all of them (SP 800-57 part 1, table 3).
const STRENGTH: c_uint = 256;

/// A generator and what feeds it. They are freed in this order.
pub(super) struct GeneratorSession<'a, L: Libcrypto> {
    library: PhantomData<L>,
    context: *mut ffi::EVP_RAND_CTX,
    source: *mut ffi::EVP_RAND_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
}

/// libcrypto's names of the generator, and of the parameter that says what it is based on.
fn names(algorithm: Algorithm) -> (&'static CStr, &'static CStr) {
    match algorithm {
        Algorithm::CtrDrbgAes256 => (c"CTR-DRBG", c"cipher"),
        Algorithm::HashDrbgSha256 => (c"HASH-DRBG", c"digest"),
        _ => (c"HMAC-DRBG", c"digest"),
    }
}

/// Returns a context of the generator called `name`, fed by `parent`. Null if the library has no such
/// generator.
fn context<L: Libcrypto>(
    source: &Source<L>,
    name: &CStr,
    parent: *mut ffi::EVP_RAND_CTX,
) -> *mut ffi::EVP_RAND_CTX {
    // SAFETY: the name is a C string; null means the default context and no properties. The new context keeps
    // what was fetched, so we can free our own reference.
    unsafe {
        let fetched = L::EVP_RAND_fetch(ptr::null_mut(), name.as_ptr(), source.properties());
        let context = match fetched.is_null() {
            true => ptr::null_mut(),
            false => L::EVP_RAND_CTX_new(fetched, parent),
        };
        L::EVP_RAND_free(fetched);
        context
    }
}

impl<'a, L: Libcrypto> GeneratorSession<'a, L> {
    pub(super) fn open(
        implementations: Source<L>,
        algorithm: Algorithm,
        phase: Phase,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let (name, part) = names(algorithm);
        if keys.is_empty() || keys.iter().any(|key| key.len() < SEED) {
            return Err(Unsupported::Length.into());
        }
        let source = context(&implementations, c"TEST-RAND", ptr::null_mut());
        let context =
            if source.is_null() { source } else { context(&implementations, name, source) };
        let session = GeneratorSession { library: PhantomData, context, source, keys, jobs, phase };
        if context.is_null() {
            last_error::<L>();
            return Err(Unsupported::BuildOption.into());
        }
        let (mut strength, mut never, mut derive) = (STRENGTH, 0_u64, 1);
        // SAFETY: names and values are C strings and numbers that live during the calls, which copy them. Each
        // array has the end that an array of parameters needs.
        unsafe {
            let end = L::OSSL_PARAM_construct_end();
            let strong = L::OSSL_PARAM_construct_uint(c"strength".as_ptr(), &mut strength);
            succeeded::<L>(L::EVP_RAND_CTX_set_params(source, [strong, end].as_ptr()))?;
            succeeded::<L>(L::EVP_RAND_instantiate(source, 0, 0, ptr::null(), 0, ptr::null()))?;
            let text = |key: &CStr, value: &CStr| {
                L::OSSL_PARAM_construct_utf8_string(key.as_ptr(), value.as_ptr().cast_mut(), 0)
            };
            let number =
                |key: &CStr, value: &mut u64| L::OSSL_PARAM_construct_uint64(key.as_ptr(), value);
            let derivation = c"use_derivation_function".as_ptr();
            let params = [
                text(part, evp_name(algorithm)),
                text(c"mac", c"HMAC"),
                L::OSSL_PARAM_construct_int(derivation, &mut derive),
                // The source has nothing more to give.
                number(c"reseed_requests", &mut never),
                number(c"reseed_time_interval", &mut never),
                end,
            ];
            succeeded::<L>(L::EVP_RAND_CTX_set_params(context, params.as_ptr()))?;
        }
        session.seed(keys[session.jobs.job(0)?.key])?;
        Ok(session)
    }

    /// Starts again, with entropy input, nonce, and the rest of the key as the personalisation string.
    fn seed(&self, key: &[u8]) -> Result<(), Error> {
        const ENTROPY: usize = STRENGTH as usize / 8;
        let (fixed, personal) = key.split_at_checked(SEED).ok_or(Unsupported::Length)?;
        let (entropy, nonce) = fixed.split_at_checked(ENTROPY).ok_or(Unsupported::Length)?;
        // SAFETY: both contexts are live; parameters are copied during the call, and the
        // personalisation string is read during it.
        unsafe {
            let bytes = |key: &CStr, bytes: &[u8]| {
                let pointer = bytes.as_ptr().cast_mut().cast();
                L::OSSL_PARAM_construct_octet_string(key.as_ptr(), pointer, bytes.len())
            };
            let params = [
                bytes(c"test_entropy", entropy),
                bytes(c"test_nonce", nonce),
                L::OSSL_PARAM_construct_end(),
            ];
            succeeded::<L>(L::EVP_RAND_CTX_set_params(self.source, params.as_ptr()))?;
            succeeded::<L>(L::EVP_RAND_uninstantiate(self.context))?;
            let (personal, length) = (personal.as_ptr(), personal.len());
            succeeded::<L>(L::EVP_RAND_instantiate(
                self.context,
                STRENGTH,
                0,
                personal,
                length,
                ptr::null(),
            ))
        }
    }

    #[inline]
    fn generate(&self, output: *mut u8) -> Result<(), Error> {
        let mut done = 0;
        while done < self.jobs.message {
            let length = REQUEST.min(self.jobs.message - done);
            // SAFETY: the context is live; the output has the message's length.
            succeeded::<L>(unsafe {
                let output = output.add(done);
                L::EVP_RAND_generate(self.context, output, length, STRENGTH, 0, ptr::null(), 0)
            })?;
            done += length;
        }
        Ok(())
    }
}

impl<L: Libcrypto> Session for GeneratorSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        if self.phase != Phase::Message {
            self.seed(self.keys[job.key])?;
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

impl<L: Libcrypto> Drop for GeneratorSession<'_, L> {
    fn drop(&mut self) {
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_RAND_CTX_free(self.context);
            L::EVP_RAND_CTX_free(self.source);
        }
    }
}
