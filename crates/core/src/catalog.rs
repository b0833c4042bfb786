//! Every provider by name, in the order in which reports show them, and what sort of thing each is.
//!
//! This is data: whoever reads a record, plans a run or draws a report needs names and no library. What a name stands
//! for, and whether it is in this build, is the business of the crate of providers.

use crate::algorithm::{Algorithm, Kind};
pub use crate::copy::MEMCPY;
pub use crate::null::NULL;
use crate::workload::Workload;

/// A provider's name, or that of an interface to several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As a user types it: `library` or `library:variant`, or `interface`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Where its code is.
    pub kind: Provision,
    /// What its name may be followed by.
    pub variants: Variants,
}

/// Where a provider's code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provision {
    /// In cpb itself.
    Linked,
    /// In a library of the system's, which a statically linked program cannot load.
    Installed,
    /// In the kernel, behind an interface.
    Kernel,
}

/// What a provider's name may be followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variants {
    /// Nothing: the entry is one provider.
    None,
    /// An executor that only the machine can name: each is a provider of its own, `interface:executor`.
    Found,
    /// It is a provider, and so is `name:what` for whatever it can be told to use.
    Told,
}

/// The interface whose executors the kernel picks: it has one for each of the kernel's algorithms.
pub const CRYPTODEV: &str = "cryptodev";

/// An operation of that interface that computes nothing: its floor.
pub const CRYPTODEV_FLOOR: &str = "cryptodev:null";

/// OpenSSL's cipher and MAC by two calls: for records only, which it otherwise makes in one pass.
pub const TWO_CALLS: &str = "openssl:two-calls";

/// The provider that reads memory.
pub const MEMORY: &str = "memory";

/// All of them.
pub const LIST: &[Entry] = &[
    linked(NULL, "does nothing: the harness's own floor"),
    linked("openssl", "OpenSSL, with the CPU's crypto instructions"),
    linked("openssl:nocrypto", "OpenSSL, crypto instructions masked, vector instructions on"),
    linked("openssl:scalar", "OpenSSL, every extension masked"),
    linked(TWO_CALLS, "OpenSSL: CBC and HMAC as two calls, for what it also does in one pass"),
    linked("mbedtls:accel", "Mbed TLS, with the CPU's AES instructions"),
    linked("mbedtls:c", "Mbed TLS, plain C"),
    linked("aws-lc", "AWS-LC, with the CPU's extensions"),
    linked("aws-lc:c", "the same, every extension switched off"),
    linked("rustcrypto", "the RustCrypto crates, with the CPU's extensions"),
    linked("rustcrypto:soft", "the same, every extension switched off"),
    Entry {
        variants: Variants::Told,
        ..installed(
            "openssl-system",
            "the libcrypto that is installed here; also :engine=NAME, :provider=NAME",
        )
    },
    installed("mbedtls-system", "the Mbed TLS that is installed here, by its generic functions"),
    installed("libgcrypt", "the libgcrypt that is installed here, with the CPU's extensions"),
    installed("libgcrypt:c", "the same, every extension switched off"),
    installed("nettle", "the Nettle that is installed here, with the CPU's extensions"),
    installed("nettle:c", "the same, every extension switched off"),
    installed(
        "wolfssl-system",
        "the wolfSSL that is installed here, by its functions for OpenSSL's programs",
    ),
    interface("af_alg", "the kernel's crypto through AF_ALG sockets"),
    interface(CRYPTODEV, "the kernel's crypto through /dev/crypto; the kernel picks the driver"),
    linked(MEMCPY, "copies and computes nothing: the memory's own bound"),
    linked(MEMORY, "reads memory, by loads of 8 bits to the widest vector"),
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

/// A provider that was asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'n> {
    /// Its entry.
    pub entry: &'static Entry,
    /// The variant that was named; empty where none was.
    pub variant: &'n str,
}

impl Choice<'_> {
    /// Whether this names an interface and none of its executors, and so all of them.
    pub fn is_interface(&self) -> bool {
        self.entry.is_interface() && self.variant.is_empty()
    }
}

impl Entry {
    /// Whether it stands for executors that only the machine can name.
    pub fn is_interface(&self) -> bool {
        self.variants == Variants::Found
    }

    /// Whether it is a library of the system's.
    pub fn is_installed(&self) -> bool {
        self.kind == Provision::Installed
    }
}

/// What `name` asks for: an entry, or `interface:executor`. That an executor has a name does not say
/// that it is here.
pub fn find(name: &str) -> Option<Choice<'_>> {
    if let Some(entry) = LIST.iter().find(|entry| entry.name == name) {
        return Some(Choice { entry, variant: "" });
    }
    let (interface, variant) = name.split_once(':')?;
    let has_variants = |entry: &&Entry| entry.name == interface && entry.variants != Variants::None;
    let entry = LIST.iter().find(has_variants)?;
    (!variant.is_empty()).then_some(Choice { entry, variant })
}

/// The place of `name`, or of the interface it is reached by, in [`LIST`]; beyond all for a foreign runner's.
pub fn place(name: &str) -> usize {
    let entry = find(name).map(|choice| choice.entry.name);
    let place = entry.and_then(|name| LIST.iter().position(|entry| entry.name == name));
    place.unwrap_or(usize::MAX)
}

/// Whether the provider called `name` computes what it is asked for. One that does not is a floor,
/// the harness's ([`NULL`]) or an interface's: it has no answers to check and wins no comparison.
pub fn computes(name: &str) -> bool {
    ![NULL, CRYPTODEV_FLOOR].contains(&name)
}

/// Whether the provider called `name` is for such algorithms at all: what copies has no others, and
/// nobody else copies; two calls are what one call is held against. That is no gap and not worth a word.
pub fn is_for(name: &str, algorithm: Algorithm) -> bool {
    let kind = algorithm.shape().kind;
    match name {
        MEMORY => false,
        MEMCPY => kind == Kind::Copy,
        TWO_CALLS => kind == Kind::Record,
        _ => find(name).is_none() || kind != Kind::Copy,
    }
}

/// Whether the provider called `name` may read memory: [`MEMORY`] does, and a foreign runner's has to say.
pub fn reads_memory(name: &str) -> bool {
    name == MEMORY || find(name).is_none()
}

/// Whether the provider called `name` is for such workloads at all.
pub fn is_for_workload(name: &str, workload: &Workload) -> bool {
    match workload {
        Workload::Crypto(workload) => is_for(name, workload.algorithm),
        Workload::MemoryRead(_) => reads_memory(name),
    }
}

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
    }
}
