//! Authentication codes.

use crate::types::*;
use crate::{Functions, Held, Sha, succeeded};
use cpb_core::{CryptoWorkload, Error, Unsupported};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

// cipher.h: mbedtls_cipher_type_t
const CIPHER_AES_128_ECB: c_int = 2;
const CIPHER_AES_256_ECB: c_int = 4;

/// HMAC.
pub struct Hmac<L: Functions> {
    context: Held<L, MdContext>,
    /// Whether setting the key has begun a message.
    begun: bool,
    length: usize,
}

impl<L: Functions> Hmac<L> {
    /// Creates the MAC for a workload.
    ///
    /// # Errors
    /// Returns an error if the library was built without the digest.
    pub fn open(digest: Sha, workload: &CryptoWorkload) -> Result<Self, Error> {
        let context = hmac(digest)?;
        Ok(Hmac { context, begun: false, length: Lengths::of(workload).message })
    }
}

/// A context for HMAC with a digest.
pub(crate) fn hmac<L: Functions>(digest: Sha) -> Result<Held<L, MdContext>, Error> {
    let mut context = Held::<L, MdContext>::new();
    // SAFETY: see the crate documentation.
    unsafe {
        let info = L::md_info_from_type(L::md_type(digest));
        if info.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        succeeded(L::md_setup(context.get(), info, 1))?;
    }
    Ok(context)
}

impl<L: Functions> Context for Hmac<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.begun = true;
        // SAFETY: see the crate documentation; the key may have any length.
        succeeded(unsafe { L::md_hmac_starts(self.context.get(), key.as_ptr(), key.len()) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        if core::mem::take(&mut self.begun) {
            return Ok(());
        }
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::md_hmac_reset(self.context.get()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::md_hmac_update(self.context.get(), job.input, self.length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation; the output has the MAC's length.
        succeeded(unsafe { L::md_hmac_finish(self.context.get(), job.output) })
    }
}

/// CMAC with AES, through the library's cipher layer, the only one that has it. Setting a second key in a
/// context leaks the memory of the first, so each key gets a new context in the same place.
pub struct Cmac<L: Functions> {
    context: Held<L, CipherContext>,
    info: *const CipherInfo,
    /// Whether setting the key has begun a message.
    begun: bool,
    length: usize,
}

impl<L: Functions> Cmac<L> {
    /// Creates the MAC for a workload.
    ///
    /// # Errors
    /// Returns an error if the library was built without the cipher.
    pub fn open(workload: &CryptoWorkload) -> Result<Self, Error> {
        let short = workload.algorithm.shape().key == 16;
        let cipher = if short { CIPHER_AES_128_ECB } else { CIPHER_AES_256_ECB };
        // SAFETY: takes a number.
        let info = unsafe { L::cipher_info_from_type(cipher) };
        if info.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        let length = Lengths::of(workload).message;
        Ok(Cmac { context: Held::new(), info, begun: false, length })
    }
}

impl<L: Functions> Context for Cmac<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.begun = true;
        self.context.renew();
        let context = self.context.get();
        // SAFETY: see the crate documentation.
        unsafe {
            succeeded(L::cipher_setup(context, self.info))?;
            succeeded(L::cipher_cmac_starts(context, key.as_ptr(), key.len() * 8))
        }
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        if core::mem::take(&mut self.begun) {
            return Ok(());
        }
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::cipher_cmac_reset(self.context.get()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::cipher_cmac_update(self.context.get(), job.input, self.length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation; the output has the MAC's length.
        succeeded(unsafe { L::cipher_cmac_finish(self.context.get(), job.output) })
    }
}

/// Poly1305. A key may be used for one message only, so it is set for each message.
pub struct Poly1305<L: Functions> {
    context: Held<L, Poly1305Context>,
    length: usize,
}

impl<L: Functions> Poly1305<L> {
    /// Creates the MAC for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        Poly1305 { context: Held::new(), length: Lengths::of(workload).message }
    }
}

impl<L: Functions> Context for Poly1305<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::poly1305_starts(self.context.get(), key.as_ptr()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::poly1305_update(self.context.get(), job.input, self.length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation; the output has the MAC's length.
        succeeded(unsafe { L::poly1305_finish(self.context.get(), job.output) })
    }
}
