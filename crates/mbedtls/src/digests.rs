//! Hash functions.

use crate::types::*;
use crate::{Has, Held, Linked, succeeded};
use core::marker::PhantomData;
use cpb_core::{CryptoWorkload, Error};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

/// The functions of a hash. Hash functions differ in the names of the library's functions and in how a
/// message begins and ends.
///
/// # Safety
/// For all functions: the context must be initialised, the input must have the given length, and the output
/// must have the digest's length.
#[allow(clippy::missing_safety_doc, reason = "one for all")]
pub trait Hash<L: Has<Self::Context>> {
    /// The library's context.
    type Context;

    /// Begins a message.
    unsafe fn starts(context: *mut Self::Context) -> c_int;

    /// Processes the next part of the message.
    unsafe fn update(context: *mut Self::Context, input: *const u8, length: usize) -> c_int;

    /// Writes the digest.
    unsafe fn finish(context: *mut Self::Context, output: *mut u8) -> c_int;
}

/// Declares a hash function for libraries that implement `$bound`.
macro_rules! hash {
    (
        $(#[$about:meta])* $Hash:ident: $bound:ident, $Context:ident, $starts:ident($($begin:expr)?), $update:ident,
        $finish:ident($($end:expr)?)
    ) => {
        $(#[$about])*
        pub struct $Hash;

        impl<L: $bound> $crate::digests::Hash<L> for $Hash {
            type Context = $Context;

            #[inline]
            unsafe fn starts(context: *mut $Context) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe { L::$starts(context $(, $begin)?) }
            }

            #[inline]
            unsafe fn update(context: *mut $Context, input: *const u8, length: usize) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe { L::$update(context, input, length) }
            }

            #[inline]
            unsafe fn finish(context: *mut $Context, output: *mut u8) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe { L::$finish(context, output $(, $end)?) }
            }
        }
    };
}
pub(crate) use hash;

hash!(
    /// MD5
    Md5: Linked, Md5Context, md5_starts(), md5_update, md5_finish()
);
hash!(
    /// SHA-1
    Sha1: Linked, Sha1Context, sha1_starts(), sha1_update, sha1_finish()
);
hash!(
    /// SHA-224
    Sha224: Linked, Sha256Context, sha256_starts(1), sha256_update, sha256_finish()
);
hash!(
    /// SHA-256
    Sha256: Linked, Sha256Context, sha256_starts(0), sha256_update, sha256_finish()
);
hash!(
    /// SHA-384
    Sha384: Linked, Sha512Context, sha512_starts(1), sha512_update, sha512_finish()
);
hash!(
    /// SHA-512
    Sha512: Linked, Sha512Context, sha512_starts(0), sha512_update, sha512_finish()
);

/// A digest of messages or of a stream.
pub struct Digest<L: Has<H::Context>, H: Hash<L>> {
    context: Held<L, H::Context>,
    length: usize,
    hash: PhantomData<H>,
}

impl<L: Has<H::Context>, H: Hash<L>> Digest<L, H> {
    /// Creates the digest for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let length = Lengths::of(workload).message;
        Digest { context: Held::new(), length, hash: PhantomData }
    }
}

impl<L: Has<H::Context>, H: Hash<L>> Context for Digest<L, H> {
    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { H::starts(self.context.get()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { H::update(self.context.get(), job.input, self.length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { H::finish(self.context.get(), job.output) })
    }
}
