//! The names of all providers, in the order in which reports show them, and the kind of each.
//!
//! This module contains data only: reading a record, planning a run or drawing a report needs names but no
//! library. The providers crate knows what a name stands for and whether it is in this build.

use crate::algorithm::{Algorithm, Kind};
pub use crate::copy::MEMCPY;
use crate::error::Error;
pub use crate::null::NULL;
use crate::workload::Workload;
use core::fmt::{self, Display};

/// The name of a provider, or of an interface to several providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name as a user types it: `library` or `library:variant`, or `interface`.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Where its code is.
    pub kind: Provision,
    /// What may follow the name.
    pub variants: Variants,
}

/// Where a provider's code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provision {
    /// In cpb itself.
    Linked,
    /// In a library installed on the system. A statically linked program cannot load it.
    Installed,
    /// In the kernel, behind an interface.
    Kernel,
}

/// What may follow a provider's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variants {
    /// Nothing: the entry is one provider.
    None,
    /// An executor that only the machine can name. Each is a separate provider, `interface:executor`.
    Found,
    /// The name alone is a provider, and so is `name:what` for anything the library can be told to use.
    Told,
}

/// The interface whose executors the kernel chooses: one for each of the kernel's algorithms.
pub const CRYPTODEV: &str = "cryptodev";

/// An operation of that interface that computes nothing: the interface's floor.
pub const CRYPTODEV_FLOOR: &str = "cryptodev:null";

/// The interface to the kernel's drivers from inside the kernel, by cpb's own module.
pub const KERNEL: &str = "kernel";

/// The null cipher of that interface: its floor.
pub const KERNEL_FLOOR: &str = "kernel:null";

/// OpenSSL with separate calls for cipher and MAC. For records only, which OpenSSL otherwise processes in one
/// pass.
pub const TWO_CALLS: &str = "openssl:two-calls";

/// A C library that the user provides.
pub const C_LIBRARY: &str = "library";

/// The provider that reads memory.
pub const MEMORY: &str = "memory";

/// All providers and interfaces.
pub const LIST: &[Entry] = &[
    linked(NULL, "does nothing: the harness overhead (floor)"),
    linked("openssl", "OpenSSL, with the CPU's crypto instructions"),
    linked(
        "openssl:nocrypto",
        "OpenSSL without the CPU's crypto instructions; vector instructions on",
    ),
    linked("openssl:scalar", "OpenSSL without any of the CPU's extensions"),
    linked(TWO_CALLS, "OpenSSL: CBC and HMAC as two calls, where it could use a single pass"),
    linked("mbedtls:accel", "Mbed TLS, with the CPU's AES instructions"),
    linked("mbedtls:c", "Mbed TLS, plain C"),
    linked("aws-lc", "AWS-LC, with the CPU's extensions"),
    linked("aws-lc:c", "the same without the CPU's extensions"),
    linked("rustcrypto", "the RustCrypto crates, with the CPU's extensions"),
    linked("rustcrypto:soft", "the same without the CPU's extensions"),
    Entry {
        variants: Variants::Told,
        ..installed("openssl-system", "the installed libcrypto; also :engine=NAME, :provider=NAME")
    },
    installed("mbedtls-system", "the installed Mbed TLS, through its generic functions"),
    installed("libgcrypt", "the installed libgcrypt, with the CPU's extensions"),
    installed("libgcrypt:c", "the same without the CPU's extensions"),
    installed("nettle", "the installed Nettle, with the CPU's extensions"),
    installed("nettle:c", "the same without the CPU's extensions"),
    installed(
        "wolfssl-system",
        "the installed wolfSSL, through its OpenSSL compatibility functions",
    ),
    Entry {
        variants: Variants::Told,
        ..installed(C_LIBRARY, "a C library of your own: library:FILE (docs/own-library.md)")
    },
    interface("af_alg", "the kernel's crypto through AF_ALG sockets"),
    interface(CRYPTODEV, "the kernel's crypto through /dev/crypto; the kernel picks the driver"),
    interface(KERNEL, "the kernel's crypto from inside it, by cpb's module: queues kept full"),
    linked(MEMCPY, "copies memory and computes nothing: the limit set by memory"),
    linked(MEMORY, "reads memory, with loads from 8 bits to the widest vector"),
];

const fn linked(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, kind: Provision::Linked, variants: Variants::None }
}

const fn installed(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, kind: Provision::Installed, variants: Variants::None }
}

const fn interface(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, kind: Provision::Kernel, variants: Variants::Found }
}

/// A provider requested by name.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'n> {
    /// The provider's entry.
    pub entry: &'static Entry,
    /// The variant that was named; empty if none was.
    pub variant: &'n str,
}

impl Choice<'_> {
    /// Whether this names an interface without an executor, and so stands for all its executors.
    pub fn is_interface(&self) -> bool {
        self.entry.is_interface() && self.variant.is_empty()
    }
}

impl Entry {
    /// Whether the entry stands for executors that only the machine can name.
    pub fn is_interface(&self) -> bool {
        self.variants == Variants::Found
    }

    /// Whether the provider is a library installed on the system.
    pub fn is_installed(&self) -> bool {
        self.kind == Provision::Installed
    }
}

/// Finds the entry, or `interface:executor`, that `name` stands for. An executor that has a name is not
/// necessarily present on this machine.
pub fn find(name: &str) -> Option<Choice<'_>> {
    if let Some(entry) = LIST.iter().find(|entry| entry.name == name) {
        return Some(Choice { entry, variant: "" });
    }
    let (interface, variant) = name.split_once(':')?;
    let has_variants = |entry: &&Entry| entry.name == interface && entry.variants != Variants::None;
    let entry = LIST.iter().find(has_variants)?;
    (!variant.is_empty()).then_some(Choice { entry, variant })
}

/// The index in [`LIST`] of `name`, or of its interface; `usize::MAX` for a foreign runner's provider.
pub fn place(name: &str) -> usize {
    let entry = find(name).map(|choice| choice.entry.name);
    let place = entry.and_then(|name| LIST.iter().position(|entry| entry.name == name));
    place.unwrap_or(usize::MAX)
}

/// Whether the provider called `name` computes what it is asked for. A provider that does not is a floor: the
/// harness's ([`NULL`]) or an interface's. A floor has no answers to check and wins no comparison.
pub fn computes(name: &str) -> bool {
    ![NULL, CRYPTODEV_FLOOR, KERNEL_FLOOR].contains(&name)
}

/// Whether the provider called `name` is meant for `algorithm`. Copying is all that [`MEMCPY`] does, and no
/// other provider copies; [`TWO_CALLS`] exists only for comparison with the single call. Such a mismatch is
/// not a gap and is not reported.
pub fn is_for(name: &str, algorithm: Algorithm) -> bool {
    let kind = algorithm.shape().kind;
    match name {
        MEMORY => false,
        MEMCPY => kind == Kind::Copy,
        TWO_CALLS => kind == Kind::Record,
        _ => find(name).is_none() || kind != Kind::Copy,
    }
}

/// Whether the provider called `name` may read memory: [`MEMORY`] does, and a foreign runner must be asked.
pub fn reads_memory(name: &str) -> bool {
    name == MEMORY || find(name).is_none()
}

/// Whether the provider called `name` is meant for `workload`.
pub fn is_for_workload(name: &str, workload: &Workload) -> bool {
    match workload {
        Workload::Crypto(workload) => is_for(name, workload.algorithm),
        Workload::MemoryRead(_) => reads_memory(name),
    }
}

/// An error in words, as the provider called `name` means it: the codes of the kernel's interfaces are Linux's.
pub fn error_words(name: &str, error: Error) -> impl fmt::Display {
    let is_kernel = find(name).is_some_and(|choice| choice.entry.kind == Provision::Kernel);
    fmt::from_fn(move |f| match error {
        Error::Device(code) if is_kernel => match ERRNO.iter().find(|known| known.0 == code) {
            Some((code, name, meaning)) => {
                write!(f, "error {code} from the kernel, {name}: {meaning}")
            }
            None => write!(f, "error {code} from the kernel"),
        },
        error => error.fmt(f),
    })
}

/// What a driver or the kernel's crypto API answers with (Linux, `include/uapi/asm-generic/errno*.h`), and what the API
/// and drivers mean by it (`Documentation/crypto`, and `drivers/crypto/caam/error.c` for EINVAL and EIO).
const ERRNO: [(i32, &str, &str); 11] = [
    (5, "EIO", "the device or its transfer failed"),
    (11, "EAGAIN", "try again"),
    (12, "ENOMEM", "not enough memory"),
    (13, "EACCES", "not permitted"),
    (16, "EBUSY", "the device is busy"),
    (19, "ENODEV", "the device is gone"),
    (22, "EINVAL", "the driver or its device does not accept the request"),
    (28, "ENOSPC", "the queue is full"),
    (74, "EBADMSG", "the authentication tag does not verify"),
    (110, "ETIMEDOUT", "the device did not answer"),
    (126, "ENOKEY", "there is no key"),
];

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_is_there_once_and_is_found() {
        let names: BTreeSet<&str> = LIST.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), LIST.len());
        for (place, entry) in LIST.iter().enumerate() {
            let found = find(entry.name).expect("its own name");
            assert_eq!((found.entry, found.variant, super::place(entry.name)), (entry, "", place));
        }
    }

    #[test]
    fn only_interfaces_and_what_can_be_told_have_variants() {
        let found = find("af_alg:ctr-aes-aesni").expect("an executor");
        assert_eq!((found.entry.name, found.variant), ("af_alg", "ctr-aes-aesni"));
        assert!(found.entry.is_interface() && !found.is_interface());
        assert_eq!(find("openssl-system:engine=afalg").map(|it| it.variant), Some("engine=afalg"));
        assert!(
            find("af_alg:").is_none() && find("openssl:fast").is_none() && find("mine").is_none()
        );
        assert!(place("af_alg:x") == place("af_alg") && place("mine") == usize::MAX);
    }

    #[test]
    fn floors_compute_nothing() {
        assert!(!computes(NULL) && !computes(CRYPTODEV_FLOOR) && computes("cryptodev:cbc(aes)"));
        assert!(!computes(KERNEL_FLOOR) && computes("kernel:cbc-aes-aesni"));
    }
}
