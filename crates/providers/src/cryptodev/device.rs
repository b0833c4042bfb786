//! The system calls that the provider makes, and nothing else. This is the one place where tests replace the
//! kernel with something that behaves like the module (`stand_in.rs`).

use core::ffi::{c_int, c_void};
use libc::Ioctl;
use std::io;

/// The module's device node.
pub(super) const PATH: &core::ffi::CStr = c"/dev/crypto";

/// An error of the kernel: a number of errno(3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Errno(pub(super) c_int);

impl core::fmt::Display for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

/// A device that can be opened and sent requests.
pub(super) trait Device: Send + Sync {
    /// open(2): returns a descriptor of a new open file.
    fn open(&self) -> Result<c_int, Errno>;

    /// ioctl(2). Blocks in the kernel until the message is done, and no signal interrupts it. If a driver never
    /// answers, the runner is blocked as well, and the host, which waits outside, ends the cell.
    ///
    /// # Safety
    /// `argument` points to what `request` reads and writes, and every pointer in it to as many bytes as its
    /// lengths say, for the duration of the call.
    unsafe fn ioctl(&self, file: c_int, request: Ioctl, argument: *mut c_void)
    -> Result<(), Errno>;

    /// close(2).
    fn close(&self, file: c_int);
}

/// The kernel's own `/dev/crypto`.
pub(super) struct Node;

impl Device for Node {
    fn open(&self) -> Result<c_int, Errno> {
        // SAFETY: a string that ends with a 0.
        let file = unsafe { libc::open(PATH.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        if file < 0 { Err(last()) } else { Ok(file) }
    }

    #[inline]
    unsafe fn ioctl(
        &self,
        file: c_int,
        request: Ioctl,
        argument: *mut c_void,
    ) -> Result<(), Errno> {
        // SAFETY: as promised by the caller.
        if unsafe { libc::ioctl(file, request, argument) } < 0 { Err(last()) } else { Ok(()) }
    }

    fn close(&self, file: c_int) {
        // SAFETY: `file` came from `open` and is closed once, by the drop of its `File`.
        unsafe { libc::close(file) };
    }
}

#[cold]
fn last() -> Errno {
    Errno(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}
