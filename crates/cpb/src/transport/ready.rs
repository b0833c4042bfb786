//! Waits for a stream, with a timeout.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::time::Duration;

/// Waits until `stream` can be read or written. Returns false if it cannot within `time`.
///
/// # Errors
/// Returns the error of the system call.
pub(crate) fn wait(stream: &impl AsFd, what: PollFlags, time: Duration) -> Result<bool, Errno> {
    let mut polled = [PollFd::new(stream, what)];
    let time = Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&time)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}
