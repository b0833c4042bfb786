//! Sessions through the library's generic functions. Their contexts point to those of the algorithms, which the
//! library allocates itself.

use super::ffi;
use super::library::Installed;
use core::ffi::c_int;
use cpb_core::{CryptoWorkload, Error, Kind};
use cpb_mbedtls::types::{CipherContext, CipherInfo, MdContext, MdInfo};
use cpb_mbedtls::{Functions, Held, succeeded};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

// SAFETY of all calls below: contexts are initialised, stay where they are, and hold a key before they are
// used; keys have the algorithm's length, and the job's pointers are valid for the session's lengths.

fn bits(key: &[u8]) -> c_int {
    key.len() as c_int * 8
}

pub(super) struct Cipher {
    context: Held<Installed, CipherContext>,
    /// Bytes in each call: ECB takes a block. 0 stands for the whole message.
    step: usize,
    iv: usize,
    lengths: Lengths,
}

impl Cipher {
    pub(super) fn open(
        info: *const CipherInfo,
        workload: &CryptoWorkload,
    ) -> Result<Cipher, Error> {
        let shape = workload.algorithm.shape();
        let step = if shape.kind == Kind::BlockCipher && shape.iv == 0 { shape.block } else { 0 };
        let mut context = Held::<Installed, _>::new();
        // SAFETY: as above.
        unsafe {
            succeeded(Installed::cipher_setup(context.get(), info))?;
            if shape.kind == Kind::BlockCipher && shape.iv > 0 {
                let none = ffi::MBEDTLS_PADDING_NONE;
                succeeded(ffi::mbedtls_cipher_set_padding_mode(context.get(), none))?;
            }
        }
        Ok(Cipher { context, step, iv: shape.iv, lengths: Lengths::of(workload) })
    }
}

impl Context for Cipher {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let operation =
            if self.lengths.decrypts { ffi::MBEDTLS_DECRYPT } else { ffi::MBEDTLS_ENCRYPT };
        let context = self.context.get();
        // SAFETY: as above.
        succeeded(unsafe {
            ffi::mbedtls_cipher_setkey(context, key.as_ptr(), bits(key), operation)
        })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: as above.
        unsafe {
            if self.iv > 0 {
                succeeded(ffi::mbedtls_cipher_set_iv(context, job.iv, self.iv))?;
            }
            succeeded(ffi::mbedtls_cipher_reset(context))?;
            if self.lengths.tag > 0 {
                // Also called without associated data, because it begins the message.
                let (associated, length) = (job.associated, self.lengths.associated);
                succeeded(ffi::mbedtls_cipher_update_ad(context, associated, length))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        let step = if self.step == 0 { length } else { self.step };
        let (mut at, mut written) = (0, 0);
        while at < length {
            let (input, output) = (job.input.wrapping_add(at), job.output.wrapping_add(at));
            // SAFETY: as above; an ECB message is whole blocks.
            succeeded(unsafe {
                ffi::mbedtls_cipher_update(context, input, step, output, &mut written)
            })?;
            at += step;
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, tag) = (self.context.get(), self.lengths.tag);
        let (mut written, end) = (0, job.output.wrapping_add(self.lengths.message));
        // SAFETY: as above; without padding nothing is written at the end.
        unsafe {
            succeeded(ffi::mbedtls_cipher_finish(context, end, &mut written))?;
            match (tag, self.lengths.decrypts) {
                (0, _) => Ok(()),
                (_, true) => succeeded(ffi::mbedtls_cipher_check_tag(context, job.tag, tag)),
                (_, false) => succeeded(ffi::mbedtls_cipher_write_tag(context, job.tag, tag)),
            }
        }
    }
}

/// A hash.
pub(super) struct Digest {
    context: Held<Installed, MdContext>,
    lengths: Lengths,
}

impl Digest {
    pub(super) fn open(info: *const MdInfo, workload: &CryptoWorkload) -> Result<Digest, Error> {
        let mut context = Held::<Installed, _>::new();
        // SAFETY: as above.
        succeeded(unsafe { Installed::md_setup(context.get(), info, 0) })?;
        Ok(Digest { context, lengths: Lengths::of(workload) })
    }
}

impl Context for Digest {
    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_md_starts(self.context.get()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_md_update(context, job.input, length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; the output has the digest's length.
        succeeded(unsafe { ffi::mbedtls_md_finish(self.context.get(), job.output) })
    }
}
