//! Sessions of message authentication codes that are not based on a digest.

use super::{ffi, succeeded};
use core::ffi::c_int;
use core::ptr;
use cpb_core::{Error, Unsupported};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

pub(super) struct Mac {
    handle: *mut ffi::gcry_mac_handle,
    lengths: Lengths,
}

impl Mac {
    pub(super) fn open(mac: c_int, lengths: Lengths) -> Result<Mac, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written, or stays null if the library has no such MAC. Null means that it
        // belongs to no context.
        let status = unsafe { ffi::gcry_mac_open(&mut handle, mac, 0, ptr::null_mut()) };
        if status != 0 || handle.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        Ok(Mac { handle, lengths })
    }
}

// SAFETY of all calls below: the handle is live; the job's pointers are valid for the session's lengths.
impl Context for Mac {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key is read during the call.
        succeeded(unsafe { ffi::gcry_mac_setkey(self.handle, key.as_ptr(), key.len()) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above. The key stays set.
        succeeded(unsafe { ffi::gcry_mac_ctl(self.handle, ffi::GCRYCTL_RESET, ptr::null_mut(), 0) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded(unsafe { ffi::gcry_mac_write(self.handle, job.input, self.lengths.message) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let mut length = self.lengths.digest;
        // SAFETY: as above; the output has room for a whole code.
        succeeded(unsafe { ffi::gcry_mac_read(self.handle, job.output, &mut length) })
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { ffi::gcry_mac_close(self.handle) };
    }
}
