//! Sessions of digests, and of MACs that are based on them.

use super::{ffi, succeeded};
use core::ffi::{c_int, c_uint};
use core::ptr;
use cpb_core::{Error, Unsupported};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

pub(super) struct Digest {
    handle: *mut ffi::gcry_md_handle,
    lengths: Lengths,
}

impl Digest {
    pub(super) fn open(digest: c_int, flags: c_uint, lengths: Lengths) -> Result<Digest, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written, or stays null if the library has no such digest.
        let status = unsafe { ffi::gcry_md_open(&mut handle, digest, flags) };
        if status != 0 || handle.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        Ok(Digest { handle, lengths })
    }
}

// SAFETY of all calls below: the handle is live; the job's pointers are valid for the session's lengths.
impl Context for Digest {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        if key.is_empty() {
            return Ok(());
        }
        // SAFETY: as above; the key is read during the call.
        match unsafe { ffi::gcry_md_setkey(self.handle, key.as_ptr(), key.len()) } & 0xffff {
            // In FIPS mode a key must have 14 bytes or more.
            ffi::GPG_ERR_INV_VALUE => Err(Unsupported::Policy.into()),
            code => succeeded(code),
        }
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above. The key stays set.
        unsafe { ffi::gcry_md_reset(self.handle) };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe { ffi::gcry_md_write(self.handle, job.input, self.lengths.message) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; 0 stands for the only digest that was opened. The result has that digest's length,
        // which is the output's length.
        unsafe {
            let digest = ffi::gcry_md_read(self.handle, 0);
            if digest.is_null() {
                return Err(Error::Device(0));
            }
            ptr::copy_nonoverlapping(digest, job.output, self.lengths.digest);
        }
        Ok(())
    }
}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { ffi::gcry_md_close(self.handle) };
    }
}
