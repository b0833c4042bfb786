// Sessions of one variant of Mbed TLS. Included by ../mbedtls.rs once a variant, where `library` is
// that variant, and by the firmware's for the version that it has. Each function opens a context and
// gives `body` a closure that runs one job.
//
// SAFETY, for every call into C below: contexts are boxed and stay where they were initialised
// until they are freed; keys have the algorithm's length; a job's pointers are valid for the
// lengths in `jobs`, which `RawJobs::new` compared with the buffers themselves.

use super::ffi;
use super::Body;
use crate::raw_jobs::{RawJob, RawJobs};
use alloc::boxed::Box;
use core::ffi::c_int;
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Progress, Session, Unsupported};

/// Opens a session for `workload`, unless it is a generator's.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            cbc(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            ctr(workload, keys, jobs, body)
        }
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            gcm(workload, keys, jobs, body)
        }
        Algorithm::Chacha20Poly1305 => chachapoly(workload, keys, jobs, body),
        Algorithm::Sha1 => sha1(workload, jobs, body),
        Algorithm::Sha256 => sha256(workload, jobs, body),
        Algorithm::Sha512 => sha512(workload, jobs, body),
        Algorithm::HmacSha256 => hmac(workload, keys, jobs, ffi::MD_SHA256, body),
        Algorithm::HmacDrbgSha256
        | Algorithm::HmacDrbgSha512
        | Algorithm::CtrDrbgAes256
        | Algorithm::Memcpy => {
            Err(Unsupported::Algorithm.into())
        }
    }
}

/// A context in its box, freed when it is dropped.
struct Context<T> {
    context: Box<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Context<T> {
    fn new(
        uninit: T,
        init: unsafe extern "C" fn(*mut T),
        free: unsafe extern "C" fn(*mut T),
    ) -> Self {
        let mut context = Box::new(uninit);
        // SAFETY: room for a context, in its final place.
        unsafe { init(&mut *context) };
        Context { context, free }
    }

    #[inline]
    fn get(&mut self) -> *mut T {
        &mut *self.context
    }
}

impl<T> Drop for Context<T> {
    fn drop(&mut self) {
        // SAFETY: was initialised in `new`, is freed once.
        unsafe { (self.free)(self.get()) };
    }
}

fn bits(key: &[u8]) -> core::ffi::c_uint {
    key.len() as core::ffi::c_uint * 8
}

/// The first 16 bytes at `iv`.
///
/// # Safety
/// They are there.
#[inline]
unsafe fn block(iv: *const u8) -> [u8; 16] {
    // SAFETY: as promised by the caller; bytes need no alignment.
    unsafe { iv.cast::<[u8; 16]>().read() }
}

fn aes_context() -> Context<library::AesContext> {
    Context::new(library::AesContext::uninit(), library::aes_init, library::aes_free)
}

fn cbc(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let (mode, set_key): (c_int, unsafe extern "C" fn(_, _, _) -> c_int) =
        match workload.operation {
            Operation::Decrypt => (ffi::DECRYPT, library::aes_setkey_dec),
            _ => (ffi::ENCRYPT, library::aes_setkey_enc),
        };
    let mut aes = aes_context();
    // SAFETY: see the top of this file.
    succeeded(unsafe { set_key(aes.get(), keys[0].as_ptr(), bits(keys[0])) })?;
    // SAFETY: the IV of this algorithm is a block.
    let mut iv = unsafe { block(jobs.job(0)?.iv) };
    let run = |job: &RawJob| {
        // SAFETY: see the top of this file.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                let key = keys[job.key];
                succeeded(set_key(aes.get(), key.as_ptr(), bits(key)))?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            if phase != Phase::Update {
                iv = block(job.iv);
            }
            let iv = iv.as_mut_ptr();
            succeeded(library::aes_crypt_cbc(aes.get(), mode, length, iv, job.input, job.output))
        }
    };
    body(&mut Submit { jobs, run })
}

fn ctr(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let mut aes = aes_context();
    // SAFETY: see the top of this file.
    succeeded(unsafe { library::aes_setkey_enc(aes.get(), keys[0].as_ptr(), bits(keys[0])) })?;
    // SAFETY: the initial counter of this algorithm is a block.
    let mut counter = unsafe { block(jobs.job(0)?.iv) };
    let (mut offset, mut stream) = (0, [0; 16]);
    let run = |job: &RawJob| {
        // SAFETY: see the top of this file.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                let key = keys[job.key];
                succeeded(library::aes_setkey_enc(aes.get(), key.as_ptr(), bits(key)))?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            if phase != Phase::Update {
                counter = block(job.iv);
                offset = 0;
            }
            let (counter, stream) = (counter.as_mut_ptr(), stream.as_mut_ptr());
            let (input, output) = (job.input, job.output);
            succeeded(library::aes_crypt_ctr(
                aes.get(), length, &mut offset, counter, stream, input, output,
            ))
        }
    };
    body(&mut Submit { jobs, run })
}

fn gcm(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length, associated) = (workload.phase, jobs.message, jobs.associated);
    let shape = workload.algorithm.shape();
    let decrypts = workload.operation == Operation::Decrypt;
    let mode = if decrypts { ffi::DECRYPT } else { ffi::ENCRYPT };
    let mut gcm = Context::new(library::GcmContext::uninit(), library::gcm_init, library::gcm_free);
    let set_key = |gcm: &mut Context<library::GcmContext>, key: &[u8]| {
        // SAFETY: see the top of this file.
        succeeded(unsafe {
            library::gcm_setkey(gcm.get(), ffi::CIPHER_ID_AES, key.as_ptr(), bits(key))
        })
    };
    set_key(&mut gcm, keys[0])?;
    if phase == Phase::Update {
        let job = jobs.job(0)?;
        // SAFETY: see the top of this file.
        unsafe {
            let (iv, aad) = (job.iv, job.associated);
            succeeded(library::gcm_begin(gcm.get(), mode, iv, shape.iv, aad, associated))?;
        }
    }
    let run = |job: &RawJob| {
        if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
            set_key(&mut gcm, keys[job.key])?;
        }
        let (input, output) = (job.input, job.output);
        // SAFETY: see the top of this file.
        succeeded(unsafe {
            match phase {
                Phase::Setup => 0,
                Phase::Update => {
                    let mut written = 0;
                    library::gcm_update(gcm.get(), input, length, output, length, &mut written)
                }
                _ if decrypts => library::gcm_auth_decrypt(
                    gcm.get(), length, job.iv, shape.iv, job.associated, associated, job.tag,
                    shape.tag, input, output,
                ),
                _ => library::gcm_crypt_and_tag(
                    gcm.get(), mode, length, job.iv, shape.iv, job.associated, associated, input,
                    output, shape.tag, job.tag,
                ),
            }
        })
    };
    body(&mut Submit { jobs, run })
}

fn chachapoly(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length, associated) = (workload.phase, jobs.message, jobs.associated);
    let decrypts = workload.operation == Operation::Decrypt;
    let mode = if decrypts { ffi::CHACHAPOLY_DECRYPT } else { ffi::CHACHAPOLY_ENCRYPT };
    let mut chachapoly = Context::new(
        library::ChachapolyContext::uninit(),
        library::chachapoly_init,
        library::chachapoly_free,
    );
    // SAFETY: see the top of this file.
    succeeded(unsafe { library::chachapoly_setkey(chachapoly.get(), keys[0].as_ptr()) })?;
    if phase == Phase::Update {
        let job = jobs.job(0)?;
        // SAFETY: see the top of this file.
        unsafe {
            let context = chachapoly.get();
            succeeded(library::chachapoly_starts(context, job.iv, mode))?;
            succeeded(library::chachapoly_update_aad(context, job.associated, associated))?;
        }
    }
    let run = |job: &RawJob| {
        let context = chachapoly.get();
        let (input, output) = (job.input, job.output);
        // SAFETY: see the top of this file.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                succeeded(library::chachapoly_setkey(context, keys[job.key].as_ptr()))?;
            }
            succeeded(match phase {
                Phase::Setup => 0,
                Phase::Update => library::chachapoly_update(context, length, input, output),
                _ if decrypts => library::chachapoly_auth_decrypt(
                    context, length, job.iv, job.associated, associated, job.tag, input, output,
                ),
                _ => library::chachapoly_encrypt_and_tag(
                    context, length, job.iv, job.associated, associated, input, output, job.tag,
                ),
            })
        }
    };
    body(&mut Submit { jobs, run })
}

/// A hash function: the three differ in the names of their functions alone.
macro_rules! hash {
    ($name:ident, $Context:ident, $init:ident, $free:ident, $starts:expr, $update:ident, $finish:ident) => {
        fn $name(
            workload: &CryptoWorkload,
            jobs: &RawJobs<'_>,
            body: Body<'_>,
        ) -> Result<(), Error> {
            let (phase, length) = (workload.phase, jobs.message);
            let mut hash =
                Context::new(library::$Context::uninit(), library::$init, library::$free);
            // SAFETY: see the top of this file.
            succeeded(unsafe { $starts(hash.get()) })?;
            let run = |job: &RawJob| {
                let context = hash.get();
                // SAFETY: see the top of this file.
                unsafe {
                    if phase == Phase::Update {
                        return succeeded(library::$update(context, job.input, length));
                    }
                    succeeded($starts(context))?;
                    succeeded(library::$update(context, job.input, length))?;
                    succeeded(library::$finish(context, job.output))
                }
            };
            body(&mut Submit { jobs, run })
        }
    };
}

hash!(sha1, Sha1Context, sha1_init, sha1_free, library::sha1_starts, sha1_update, sha1_finish);
hash!(
    sha256, Sha256Context, sha256_init, sha256_free, |context| library::sha256_starts(context, 0),
    sha256_update, sha256_finish
);
hash!(
    sha512, Sha512Context, sha512_init, sha512_free, |context| library::sha512_starts(context, 0),
    sha512_update, sha512_finish
);

fn hmac(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    digest: c_int,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let mut md = Context::new(library::MdContext::uninit(), library::md_init, library::md_free);
    // SAFETY: see the top of this file; the info is static in the library.
    unsafe {
        let info = library::md_info_from_type(digest);
        if info.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        succeeded(library::md_setup(md.get(), info, 1))?;
        succeeded(library::md_hmac_starts(md.get(), keys[0].as_ptr(), keys[0].len()))?;
    }
    let run = |job: &RawJob| {
        let context = md.get();
        // SAFETY: see the top of this file.
        unsafe {
            match phase {
                Phase::Message => succeeded(library::md_hmac_reset(context))?,
                Phase::MessageWithKey | Phase::Setup => {
                    let key = keys[job.key];
                    succeeded(library::md_hmac_starts(context, key.as_ptr(), key.len()))?;
                }
                Phase::Update => {}
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            succeeded(library::md_hmac_update(context, job.input, length))?;
            if phase == Phase::Update {
                return Ok(());
            }
            succeeded(library::md_hmac_finish(context, job.output))
        }
    };
    body(&mut Submit { jobs, run })
}

/// A session whose whole work is one function of the job.
struct Submit<'a, F> {
    jobs: &'a RawJobs<'a>,
    run: F,
}

impl<F: FnMut(&RawJob) -> Result<(), Error>> Session for Submit<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        (self.run)(self.jobs.job(job)?)?;
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// 0 is success; a tag that does not fit is a refusal; all else an error.
#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        ffi::ERR_GCM_AUTH_FAILED | ffi::ERR_CHACHAPOLY_AUTH_FAILED => Err(Error::Refused),
        code => Err(Error::Device(code)),
    }
}
