//! Nettle's key pairs, through libhogweed. Keys are read before the clock starts, except for the peer's key in
//! an agreement. New pairs are written out after the clock has stopped.

mod curve25519;
mod curves;
mod numbers;
mod rsa;

use super::hogweed::{self as ffi, Curve};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::slice;
use cpb_core::public_key::{Parts, parts};
use cpb_core::{Algorithm, CryptoWorkload, Error, Lengths, Operation, Phase, Unsupported};
use cpb_session::Body;
use cpb_session::context::Memory;
use cpb_session::raw_jobs::{RawJob, RawJobs};
use cpb_session::submit::Submit;
use rsa::Padding;

/// Whether the library has an algorithm with key pairs: it has no ML-DSA and no ML-KEM.
pub(super) fn has(algorithm: Algorithm) -> bool {
    Scheme::of(algorithm).is_some()
}

/// How the library represents an algorithm.
#[derive(Clone, Copy)]
enum Scheme {
    /// The modulus's length in bytes, and the padding.
    Rsa(usize, Padding),
    Curve(unsafe fn() -> *const Curve),
    Ed25519,
    X25519,
}

impl Scheme {
    fn of(algorithm: Algorithm) -> Option<Scheme> {
        Some(match algorithm {
            Algorithm::Rsa2048Pkcs1 => Scheme::Rsa(256, Padding::Pkcs1),
            Algorithm::Rsa3072Pkcs1 => Scheme::Rsa(384, Padding::Pkcs1),
            Algorithm::Rsa4096Pkcs1 => Scheme::Rsa(512, Padding::Pkcs1),
            Algorithm::Rsa2048Pss => Scheme::Rsa(256, Padding::Pss),
            Algorithm::Rsa3072Pss => Scheme::Rsa(384, Padding::Pss),
            Algorithm::Rsa4096Pss => Scheme::Rsa(512, Padding::Pss),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Scheme::Curve(ffi::nettle_get_secp_256r1),
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => Scheme::Curve(ffi::nettle_get_secp_384r1),
            Algorithm::Ed25519 => Scheme::Ed25519,
            Algorithm::X25519 => Scheme::X25519,
            _ => return None,
        })
    }
}

/// Opens a session.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let CryptoWorkload { algorithm, operation, phase, .. } = *workload;
    let lengths = workload.lengths();
    let scheme = Scheme::of(algorithm).ok_or(Unsupported::Algorithm)?;
    let parts = parts(algorithm).ok_or(Unsupported::Algorithm)?;
    let key = keys.first().copied().unwrap_or_default();
    if operation != Operation::GenerateKey && key.len() != lengths.key {
        return Err(Unsupported::Length.into());
    }
    let open = Open { operation, phase, key, parts, lengths, jobs };
    match scheme {
        Scheme::Rsa(modulus, padding) => rsa::serve(&open, modulus, padding, body),
        Scheme::Curve(curve) => curves::serve(&open, curve, body),
        Scheme::Ed25519 => curve25519::serve_ed25519(&open, body),
        Scheme::X25519 => curve25519::serve_x25519(&open, body),
    }
}

/// What all sessions of this module share.
struct Open<'a> {
    operation: Operation,
    phase: Phase,
    key: &'a [u8],
    parts: Parts,
    lengths: Lengths,
    jobs: &'a RawJobs<'a>,
}

/// The parts of a job.
struct Buffers<'j> {
    input: &'j [u8],
    output: &'j mut [u8],
    tag: &'j mut [u8],
}

impl Open<'_> {
    /// Hands `body` a session that applies `run` to each job. A private RSA key is blinded anew in each
    /// operation, so all operations cost the same.
    fn run(
        &self,
        body: Body<'_>,
        mut run: impl FnMut(Buffers<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let run = |job: &RawJob| run(self.buffers(job));
        body(&mut Submit { jobs: self.jobs, period: 1, run })
    }

    #[inline]
    fn buffers<'j>(&self, job: &'j RawJob) -> Buffers<'j> {
        let Lengths { input, output, tag, .. } = self.lengths;
        // SAFETY: `RawJobs` checked that they have the workload's lengths. They are borrowed as long as the job
        // is, they do not overlap, and one job is worked on at a time.
        unsafe {
            Buffers {
                input: slice::from_raw_parts(job.input, input),
                output: slice::from_raw_parts_mut(job.output, output),
                tag: slice::from_raw_parts_mut(job.tag, tag),
            }
        }
    }
}

/// The library's own generator, Yarrow-256, which a session seeds from the system before the clock starts.
/// Drawing from it while the clock runs is part of the time, as with every library that draws random numbers
/// itself. GnuTLS instead has a generator that is based on Nettle's ChaCha.
struct Random(Memory);

impl Random {
    fn new() -> Result<Random, Error> {
        let mut seed = [0; 32];
        // SAFETY: the length is that of the buffer.
        let got = unsafe { libc::getrandom(seed.as_mut_ptr().cast(), seed.len(), 0) };
        if usize::try_from(got) != Ok(seed.len()) {
            return Err(Error::Device(0));
        }
        let mut memory = Memory::new(ffi::YARROW);
        let context = memory.pointer();
        // SAFETY: there is room. The generator counts no sources, and copies the seed.
        unsafe {
            ffi::nettle_yarrow256_init(context, 0, ptr::null_mut());
            ffi::nettle_yarrow256_seed(context, seed.len(), seed.as_ptr());
        }
        Ok(Random(memory))
    }

    /// The context that [`random`] takes.
    #[inline]
    fn context(&mut self) -> *mut c_void {
        self.0.pointer()
    }

    #[inline]
    fn fill(&mut self, output: &mut [u8]) {
        // SAFETY: it was seeded, and the length is that of the output.
        unsafe { random(self.context(), output.len(), output.as_mut_ptr()) };
    }
}

/// The function that the library calls, with the context of a [`Random`].
unsafe extern "C" fn random(context: *mut c_void, length: usize, output: *mut u8) {
    // SAFETY: as promised by the caller.
    unsafe { ffi::nettle_yarrow256_random(context, length, output) };
}

/// For functions that may refuse what they are given: a key or a signature.
#[inline]
fn taken(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(Error::Refused) }
}

/// For functions that must succeed. The library has no error codes.
#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(Error::Device(status)) }
}
