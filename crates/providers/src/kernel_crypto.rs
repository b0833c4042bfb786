//! What Linux says of its own crypto: which drivers there are, and in which words.
//!
//! `/proc/crypto` is readable by all and says most; NETLINK_CRYPTO adds each driver's flags. Both
//! are asked, neither is changed. Templates such as `cbc(aes-generic)` are listed from their first
//! use on only.

mod listing;
mod netlink;

pub use listing::parse;
pub use netlink::{Reported, parse_dump};

use crate::interrupts::Wiring;
use cpb_core::Algorithm;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One implementation of one algorithm, as the kernel lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// The algorithm in the kernel's spelling: `cbc(aes)`.
    pub name: String,
    /// The implementation: `cbc-aes-aesni`.
    pub driver: String,
    /// The module it is in; none if it is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Of several, the kernel takes the one with the highest.
    pub priority: i32,
    /// The kernel's type: `skcipher`, `aead`, `ahash`, `shash`, `rng`, ...; `larval` for a name whose
    /// implementation is still being tested.
    pub kind: String,
    /// Whether it may return before it is done; none where the type has no such thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<bool>,
    /// For other drivers only: nobody else can have it.
    pub internal: bool,
    /// Whether it has passed the kernel's test of it.
    pub selftest: Selftest,
    /// How many things in the kernel use it now.
    pub references: u32,
    /// Shortest and longest key, in bytes, where the kernel lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bytes: Option<(u32, u32)>,
    /// `CRYPTO_ALG_*` of `include/linux/crypto.h`, where NETLINK_CRYPTO answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u32>,
}

/// What became of the kernel's own test of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selftest {
    /// It passed, or the kernel was built without tests.
    Passed,
    /// Not passed: it failed, or it still runs.
    #[default]
    Unknown,
}

/// `CRYPTO_ALG_NEED_FALLBACK`: the driver hands what it cannot do to another one.
pub const NEEDS_FALLBACK: u32 = 0x100;
/// `CRYPTO_ALG_KERN_DRIVER_ONLY`: instructions of the CPU could not do the same from user space.
pub const KERNEL_DRIVER_ONLY: u32 = 0x1000;
/// `CRYPTO_ALG_ALLOCATES_MEMORY`: requests may allocate memory; dm-crypt refuses such a driver.
pub const ALLOCATES_MEMORY: u32 = 0x1_0000;

impl Driver {
    /// Whether the kernel is still testing it.
    pub fn is_larval(&self) -> bool {
        self.kind == "larval"
    }

    /// Which of AF_ALG's types reaches it, if any.
    pub fn af_alg_type(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "skcipher" | "lskcipher" | "ablkcipher" | "givcipher" | "blkcipher" => Some("skcipher"),
            "aead" => Some("aead"),
            "ahash" | "shash" => Some("hash"),
            "rng" => Some("rng"),
            _ => None,
        }
    }

    /// Whether it computes this algorithm, with keys of its length.
    pub fn runs(&self, algorithm: Algorithm) -> bool {
        let key = algorithm.shape().key as u32;
        let takes = |(least, most)| key == 0 || (least..=most).contains(&key);
        kernel_name(algorithm).is_some_and(|(_, name)| name == self.name)
            && generator(algorithm).is_none_or(|driver| driver == self.driver)
            && self.key_bytes.is_none_or(takes)
    }

    /// Whether it computes any algorithm that has a name here. All others are listed only.
    pub fn runs_any(&self) -> bool {
        Algorithm::ALL.iter().any(|algorithm| self.runs(*algorithm))
    }
}

/// The AF_ALG type of an algorithm, and the kernel's spelling of it; none that the kernel does not have.
pub fn kernel_name(algorithm: Algorithm) -> Option<(&'static str, &'static str)> {
    Some(match algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            ("skcipher", "cbc(aes)")
        }
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            ("skcipher", "ecb(aes)")
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            ("skcipher", "ctr(aes)")
        }
        Algorithm::Aes128Xts | Algorithm::Aes256Xts => ("skcipher", "xts(aes)"),
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => ("aead", "gcm(aes)"),
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => ("aead", "ccm(aes)"),
        Algorithm::Chacha20Poly1305 => ("aead", "rfc7539(chacha20,poly1305)"),
        Algorithm::Chacha20 => ("skcipher", "chacha20"),
        Algorithm::Camellia256Cbc => ("skcipher", "cbc(camellia)"),
        Algorithm::TripleDesCbc => ("skcipher", "cbc(des3_ede)"),
        Algorithm::DesCbc => ("skcipher", "cbc(des)"),
        Algorithm::Md5 => ("hash", "md5"),
        Algorithm::Sha1 => ("hash", "sha1"),
        Algorithm::Sha224 => ("hash", "sha224"),
        Algorithm::Sha256 => ("hash", "sha256"),
        Algorithm::Sha384 => ("hash", "sha384"),
        Algorithm::Sha512 => ("hash", "sha512"),
        Algorithm::Sha3_256 => ("hash", "sha3-256"),
        Algorithm::Sha3_512 => ("hash", "sha3-512"),
        Algorithm::HmacSha1 => ("hash", "hmac(sha1)"),
        Algorithm::HmacSha256 => ("hash", "hmac(sha256)"),
        Algorithm::HmacSha512 => ("hash", "hmac(sha512)"),
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => ("hash", "cmac(aes)"),
        // Whatever it computes: see `generator`.
        Algorithm::HmacDrbgSha256 | Algorithm::HmacDrbgSha512 | Algorithm::CtrDrbgAes256 => {
            ("rng", "stdrng")
        }
        // The kernel's takes its key as the message's first bytes, and not in all versions.
        Algorithm::Poly1305 => return None,
        // To copy is nothing for a kernel, and for key pairs it has no interface here.
        _ => return None,
    })
}

/// Of all that are called `stdrng`, the driver that computes `algorithm` (`drbg_fill_array` of
/// crypto/drbg.c). An engine's generator, `jitterentropy_rng` and those with prediction resistance,
/// which wait for entropy at each request, are none of our algorithms.
fn generator(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::HmacDrbgSha256 => Some("drbg_nopr_hmac_sha256"),
        Algorithm::HmacDrbgSha512 => Some("drbg_nopr_hmac_sha512"),
        Algorithm::CtrDrbgAes256 => Some("drbg_nopr_ctr_aes256"),
        _ => None,
    }
}

/// Every `(AF_ALG type, name)` that [`kernel_name`] gives, each once, in the order of algorithms.
pub fn kernel_names() -> Vec<(&'static str, &'static str)> {
    let mut names: Vec<_> =
        Algorithm::ALL.iter().filter_map(|algorithm| kernel_name(*algorithm)).collect();
    names.dedup();
    names
}

/// All drivers of the running kernel, `root` being where its `proc` is: `/`, or a copy for a test.
/// NETLINK_CRYPTO is asked for `/` alone. Empty where the kernel has no crypto to list.
pub fn drivers(root: &Path) -> Vec<Driver> {
    let text = std::fs::read(root.join("proc/crypto")).unwrap_or_default();
    let mut drivers = parse(&String::from_utf8_lossy(&text));
    if root == Path::new("/") {
        join(&mut drivers, netlink::dump().unwrap_or_default());
    }
    drivers
}

/// Adds what NETLINK_CRYPTO reported: flags for those that are listed, and those that are not.
pub fn join(drivers: &mut Vec<Driver>, reported: Vec<Reported>) {
    for Reported { driver: reported, flags } in reported {
        let same = |known: &&mut Driver| {
            (&known.driver, &known.name) == (&reported.driver, &reported.name)
        };
        match drivers.iter_mut().find(same) {
            Some(known) => known.flags = Some(flags),
            None => drivers.push(Driver { flags: Some(flags), ..reported }),
        }
    }
}

/// Of those that run `name` for everyone, in the order in which the kernel prefers them.
pub fn candidates<'d>(drivers: &'d [Driver], name: &str) -> Vec<&'d Driver> {
    let usable = |driver: &&Driver| driver.name == name && !driver.internal && !driver.is_larval();
    let mut found: Vec<&Driver> = drivers.iter().filter(usable).collect();
    // A stable sort: of equals the kernel takes the one registered last, which it lists first.
    found.sort_by_key(|driver| core::cmp::Reverse(driver.priority));
    found
}

/// Those among [`candidates`] that can be measured: what they compute has a name here.
pub fn executors<'d>(drivers: &'d [Driver], name: &str) -> Vec<&'d Driver> {
    let mut found = candidates(drivers, name);
    found.retain(|driver| driver.runs_any());
    found
}

/// The drivers that somebody who names none wants to know about: of each algorithm the one that the
/// kernel prefers, and every one that belongs to a device.
pub fn usual(root: &Path) -> Vec<String> {
    let wiring = Wiring::current(root);
    let mut usual = Vec::new();
    for (_, name) in kernel_names() {
        for (place, driver) in executors(wiring.drivers(), name).into_iter().enumerate() {
            let wanted = place == 0 || !wiring.devices(driver).is_empty();
            if wanted && !usual.contains(&driver.driver) {
                usual.push(driver.driver.clone());
            }
        }
    }
    usual
}

#[cfg(test)]
#[path = "kernel_crypto/tests.rs"]
mod tests;
