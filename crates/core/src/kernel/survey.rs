//! What a host reports about its kernel's crypto: the drivers, and how to reach each.

extern crate std;

use super::kernel_name;
use crate::algorithm::Algorithm;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::string::String;
use std::vec::Vec;

/// What a kernel's crypto offers to user-space programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSurvey {
    /// AF_ALG itself.
    pub af_alg: Availability,
    /// All drivers, grouped by algorithm and sorted by the kernel's preference.
    pub drivers: Vec<SurveyedDriver>,
    /// The drivers that the kernel chooses for the algorithms that cpb knows.
    pub choices: Vec<KernelChoice>,
}

impl KernelSurvey {
    /// Keeps only the algorithms that cpb knows, for the record.
    #[must_use]
    pub fn of_known_algorithms(mut self) -> KernelSurvey {
        let known = |name: &str| {
            let mut names = Algorithm::ALL.iter().filter_map(|algorithm| kernel_name(*algorithm));
            names.any(|(_, its)| its == name)
        };
        self.drivers.retain(|one| known(&one.driver.name));
        self
    }
}

/// A driver and how it can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyedDriver {
    /// The kernel's entry for the driver.
    #[serde(flatten)]
    pub driver: Driver,
    /// Whether AF_ALG reaches it.
    pub reach: Availability,
    /// The devices behind it; empty for software.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The lines of `/proc/interrupts` of these devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
}

/// How the kernel resolves an algorithm's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelChoice {
    /// The algorithm, as the kernel spells it.
    pub name: String,
    /// The listed driver with the highest priority.
    pub preferred: String,
    /// The driver that the kernel chose when AF_ALG asked for the name; `None` if it chose none.
    pub taken: Option<String>,
    /// Whether the kernel chose software although it lists a driver with a device at a higher priority.
    pub fell_back: bool,
}

/// One implementation of one algorithm, as the kernel lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// The algorithm, as the kernel spells it: `cbc(aes)`.
    pub name: String,
    /// The implementation: `cbc-aes-aesni`.
    pub driver: String,
    /// The driver's module; `None` if it is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// If there are several drivers, the kernel chooses the one with the highest priority.
    pub priority: i32,
    /// The kernel's type: `skcipher`, `aead`, `ahash`, `shash`, `rng`, ...; `larval` for a name whose
    /// implementation is still being tested.
    pub kind: String,
    /// Whether it may return before it is done; `None` if the type makes no such distinction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<bool>,
    /// Whether only other drivers can use it.
    pub internal: bool,
    /// Whether it has passed the kernel's self-test.
    pub selftest: Selftest,
    /// How many users within the kernel it has at present.
    pub references: u32,
    /// Shortest and longest key, in bytes, if the kernel lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bytes: Option<(u32, u32)>,
    /// `CRYPTO_ALG_*` of `include/linux/crypto.h`, if NETLINK_CRYPTO is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u32>,
}

/// The result of the kernel's self-test of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selftest {
    /// It passed, or the kernel was built without tests.
    Passed,
    /// Not passed: it failed or is still running.
    #[default]
    Unknown,
}

/// `CRYPTO_ALG_NEED_FALLBACK`: the driver hands what it does not support to another driver.
pub const NEEDS_FALLBACK: u32 = 0x100;
/// `CRYPTO_ALG_KERN_DRIVER_ONLY`: user-space programs have no CPU instructions for the same operation.
pub const KERNEL_DRIVER_ONLY: u32 = 0x1000;
/// `CRYPTO_ALG_ALLOCATES_MEMORY`: requests may allocate memory; dm-crypt refuses such a driver.
pub const ALLOCATES_MEMORY: u32 = 0x1_0000;

impl Driver {
    /// Whether the kernel is still testing it.
    pub fn is_larval(&self) -> bool {
        self.kind == "larval"
    }

    /// The AF_ALG type that reaches it; `None` if no type does.
    pub fn af_alg_type(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "skcipher" | "lskcipher" | "ablkcipher" | "givcipher" | "blkcipher" => Some("skcipher"),
            "aead" => Some("aead"),
            "ahash" | "shash" => Some("hash"),
            "rng" => Some("rng"),
            _ => None,
        }
    }

    /// Whether it computes this algorithm with keys of the algorithm's length.
    pub fn runs(&self, algorithm: Algorithm) -> bool {
        let key = algorithm.shape().key as u32;
        let takes = |(least, most)| key == 0 || (least..=most).contains(&key);
        kernel_name(algorithm).is_some_and(|(_, name)| name == self.name)
            && generator(algorithm).is_none_or(|driver| driver == self.driver)
            && self.key_bytes.is_none_or(takes)
    }

    /// Whether it computes any algorithm that cpb knows. All other drivers are listed only.
    pub fn runs_any(&self) -> bool {
        Algorithm::ALL.iter().any(|algorithm| self.runs(*algorithm))
    }
}

/// The driver, among all those called `stdrng`, that computes `algorithm` (`drbg_fill_array` of
/// crypto/drbg.c). An engine's generator, `jitterentropy_rng`, and the generators with prediction resistance,
/// which wait for entropy at each request, match none of cpb's algorithms.
fn generator(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::HashDrbgSha256 => Some("drbg_nopr_sha256"),
        Algorithm::HmacDrbgSha256 => Some("drbg_nopr_hmac_sha256"),
        Algorithm::HmacDrbgSha512 => Some("drbg_nopr_hmac_sha512"),
        Algorithm::CtrDrbgAes256 => Some("drbg_nopr_ctr_aes256"),
        _ => None,
    }
}

/// Whether a program can reach a driver of the kernel, and if not, what prevents it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "detail")]
pub enum Availability {
    /// A program can use it: binding succeeded.
    Reachable,
    /// It is not present; the named item is missing.
    Absent(String),
    /// The kernel lists it but does not offer it to AF_ALG: binding it by name fails as if it did not exist.
    /// Linux 7.2 and later do this with accelerators.
    Policy,
    /// The kernel lists it and offers others of its type to AF_ALG, but binding it by name fails as if it did
    /// not exist: a component, such as the cipher below a mode, could not be loaded.
    NotSetUp,
    /// This user lacks the permission.
    Permission(String),
    /// It failed the kernel's self-test.
    SelftestFailed,
    /// The kernel is still testing it.
    InTest,
    /// No AF_ALG type reaches it: for use within the kernel only.
    KernelOnly,
    /// Binding it failed with this errno.
    Failed(i32),
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Availability::Reachable => f.write_str("reachable"),
            Availability::Absent(missing) => write!(f, "absent: {missing}"),
            Availability::Policy => f.write_str(
                "present, but unreachable by policy: the kernel lists it and does not let AF_ALG \
                 have it",
            ),
            Availability::NotSetUp => f.write_str(
                "listed, but the kernel cannot set it up: a driver that it builds on is not there",
            ),
            Availability::Permission(what) => write!(f, "permission denied: {what}"),
            Availability::SelftestFailed => {
                f.write_str("failed the kernel's self-test (see dmesg)")
            }
            Availability::InTest => f.write_str("the kernel is still testing it"),
            Availability::KernelOnly => f.write_str("for use within the kernel only"),
            Availability::Failed(errno) => {
                write!(f, "failed: {}", std::io::Error::from_raw_os_error(*errno))
            }
        }
    }
}
