//! What a kernel error means: to a user who wants the device, and to a measurement.

use super::device::Errno;
use super::session::Transform;
use super::{FLOOR, NULL_CIPHER, TRANSFORMS};
use crate::Unavailable;
use cpb_core::{Error, Unsupported};

/// Why the device cannot be opened.
pub(super) fn cannot_open(error: Errno) -> Unavailable {
    let (reason, detail) = match error.0 {
        libc::ENOENT | libc::ENXIO | libc::ENODEV => (
            Unsupported::Device,
            "no /dev/crypto: the kernel module cryptodev is not loaded (modprobe cryptodev); \
             neither Linux nor Debian includes it: build it for this kernel from \
             github.com/cryptodev-linux/cryptodev-linux"
                .to_owned(),
        ),
        libc::EACCES | libc::EPERM => (
            Unsupported::Permission,
            "/dev/crypto exists, but this user may not read and write it (use chmod or a udev rule)"
                .to_owned(),
        ),
        _ => (Unsupported::Device, format!("/dev/crypto cannot be opened: {error}")),
    };
    Unavailable { reason, detail }
}

/// Why a session could not be made, for reasons other than the algorithm.
pub(super) fn no_session(transform: &Transform, error: Errno) -> Unavailable {
    let (reason, detail) = match error.0 {
        libc::ENOTTY | libc::ENOSYS => (
            Unsupported::Device,
            format!(
                "/dev/crypto does not belong to the module cryptodev: it does not support sessions ({error})"
            ),
        ),
        libc::EACCES | libc::EPERM => (
            Unsupported::Permission,
            format!(
                "/dev/crypto can be opened, but cannot create a session for {}: {error}",
                transform.name
            ),
        ),
        _ => (
            Unsupported::Device,
            format!("/dev/crypto cannot create a session for {}: {error}", transform.name),
        ),
    };
    Unavailable { reason, detail }
}

/// Why a variant is not available although the device is.
pub(super) fn nothing_offered(variant: &str) -> Unavailable {
    let known = TRANSFORMS.iter().map(|transform| transform.name).collect::<Vec<_>>();
    let detail = match variant {
        "" => "the kernel has none of the algorithms that cpb measures".to_owned(),
        FLOOR => format!(
            "the kernel has no {}: CONFIG_CRYPTO_NULL, modprobe crypto_null",
            NULL_CIPHER.name
        ),
        name if known.contains(&name) => {
            format!("the kernel has no {name} that the module cryptodev could use")
        }
        name => format!("cryptodev has no {name}; it has {}, {FLOOR}", known.join(", ")),
    };
    Unavailable { reason: Unsupported::Algorithm, detail }
}

/// The error for a session that could be made when the provider was opened but cannot be made now.
pub(super) fn no_such(error: Errno) -> Error {
    match error.0 {
        libc::ENOENT => Unsupported::Algorithm.into(),
        _ => failed(error),
    }
}

/// What a kernel error means to a measurement. There is no retry: an interrupted request may have done its
/// work, a message in place would be encrypted twice, and two attempts would be timed as one.
/// be timed as one.
#[cold]
pub(super) fn failed(error: Errno) -> Error {
    match error.0 {
        libc::EBADMSG => Error::Refused,
        libc::ETIMEDOUT => Error::Timeout,
        libc::ENOMEM => Unsupported::Memory.into(),
        libc::EACCES | libc::EPERM => Unsupported::Permission.into(),
        libc::ENODEV | libc::ENXIO => Unsupported::Device.into(),
        code => Error::Device(code),
    }
}
