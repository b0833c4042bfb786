//! Sessions of ciphers, authenticated or not.

use super::{ffi, succeeded};
use core::ffi::{c_int, c_uint};
use core::ptr;
use cpb_core::{CryptoWorkload, Error, Unsupported};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

/// `GCRY_CIPHER_MODE_CTR`, whose counter has a separate function.
pub(super) const CTR: c_int = 6;
/// `GCRY_CIPHER_MODE_CCM`, which needs a message's length before the message.
pub(super) const CCM: c_int = 8;

pub(super) struct Cipher {
    handle: *mut ffi::gcry_cipher_handle,
    mode: c_int,
    iv: usize,
    lengths: Lengths,
    /// The status of setting a weak key, which is set all the same.
    weak: c_uint,
}

impl Cipher {
    pub(super) fn open(
        cipher: c_int,
        mode: c_int,
        workload: &CryptoWorkload,
    ) -> Result<Cipher, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written, or stays null if the library has no such cipher.
        let status = unsafe { ffi::gcry_cipher_open(&mut handle, cipher, mode, 0) };
        if status != 0 || handle.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        // Half of the DES keys for which NIST publishes answers are weak.
        // SAFETY: the handle is live. Without a pointer, the length is the switch.
        let allowed = unsafe {
            let allow = ffi::GCRYCTL_SET_ALLOW_WEAK_KEY;
            ffi::gcry_cipher_ctl(handle, allow, ptr::null_mut(), 1)
        };
        let weak = if allowed == 0 { ffi::GPG_ERR_WEAK_KEY } else { 0 };
        let iv = workload.algorithm.shape().iv;
        Ok(Cipher { handle, mode, iv, lengths: Lengths::of(workload), weak })
    }

    /// States the lengths of message, associated data and tag.
    #[inline]
    fn state_lengths(&self) -> Result<(), Error> {
        let Lengths { message, associated, tag, .. } = self.lengths;
        let mut lengths = [message as u64, associated as u64, tag as u64];
        let (pointer, size) = (lengths.as_mut_ptr().cast(), size_of_val(&lengths));
        // SAFETY: the handle is live; three numbers of 64 bits, read during the call.
        succeeded(unsafe {
            ffi::gcry_cipher_ctl(self.handle, ffi::GCRYCTL_SET_CCM_LENGTHS, pointer, size)
        })
    }
}

// SAFETY of all calls below: the handle is live; the job's pointers are valid for the session's lengths.
impl Context for Cipher {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key is read during the call.
        match unsafe { ffi::gcry_cipher_setkey(self.handle, key.as_ptr(), key.len()) } & 0xffff {
            code if code == self.weak => Ok(()),
            // A version that cannot be told to accept it.
            ffi::GPG_ERR_WEAK_KEY => Err(Unsupported::Policy.into()),
            code => succeeded(code),
        }
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        if self.iv == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe {
            if self.mode == CTR {
                return succeeded(ffi::gcry_cipher_setctr(self.handle, job.iv, self.iv));
            }
            succeeded(ffi::gcry_cipher_setiv(self.handle, job.iv, self.iv))?;
            if self.mode == CCM {
                self.state_lengths()?;
            }
            if self.lengths.associated == 0 {
                return Ok(());
            }
            let length = self.lengths.associated;
            succeeded(ffi::gcry_cipher_authenticate(self.handle, job.associated, length))
        }
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.message;
        // A null input stands for the bytes of the output.
        let apart = !ptr::eq(job.input, job.output);
        let (input, there) = if apart { (job.input, length) } else { (ptr::null(), 0) };
        if length == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => ffi::gcry_cipher_decrypt(self.handle, job.output, length, input, there),
                false => ffi::gcry_cipher_encrypt(self.handle, job.output, length, input, there),
            }
        })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.tag;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => ffi::gcry_cipher_checktag(self.handle, job.tag, length),
                false => ffi::gcry_cipher_gettag(self.handle, job.tag, length),
            }
        })
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { ffi::gcry_cipher_close(self.handle) };
    }
}
