//! What a host says of its kernel's crypto: which drivers there are, and the way to each.

extern crate std;

use super::kernel_name;
use crate::algorithm::Algorithm;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::string::String;
use std::vec::Vec;

/// What a kernel's crypto offers to programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSurvey {
    /// AF_ALG itself.
    pub af_alg: Availability,
    /// Every driver, those of an algorithm together, in the order in which the kernel prefers them.
    pub drivers: Vec<SurveyedDriver>,
    /// Whom the kernel takes for the algorithms that cpb knows.
    pub choices: Vec<KernelChoice>,
}

impl KernelSurvey {
    /// The part about algorithms that cpb knows: what a record keeps.
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

/// A driver and the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyedDriver {
    /// What the kernel lists.
    #[serde(flatten)]
    pub driver: Driver,
    /// Whether AF_ALG reaches it.
    pub reach: Availability,
    /// The devices behind it; none for software.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The lines of `/proc/interrupts` of these devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
}

/// What the kernel makes of an algorithm's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelChoice {
    /// The algorithm in the kernel's spelling.
    pub name: String,
    /// The driver that it lists with the highest priority.
    pub preferred: String,
    /// The driver that it took when AF_ALG asked for the name; none if it took none.
    pub taken: Option<String>,
    /// Whether it took software although it prefers, and lists, a driver with a device.
    pub fell_back: bool,
}

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

/// What stands between a program and a driver of the kernel's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "detail")]
pub enum Availability {
    /// Nothing: it was bound.
    Reachable,
    /// It is not here; this is missing.
    Absent(String),
    /// The kernel has it and lists it, and does not give it to AF_ALG: bound by name it does not
    /// exist. Linux 7.2 and later do so with accelerators.
    Policy,
    /// The kernel lists it and gives AF_ALG others of its sort, and bound by name it does not exist:
    /// what it is made of, such as the cipher below a mode, could not be loaded.
    NotSetUp,
    /// This user may not.
    Permission(String),
    /// It failed the kernel's own test.
    SelftestFailed,
    /// The kernel is still testing it.
    InTest,
    /// No type of AF_ALG's reaches it: for use within the kernel.
    KernelOnly,
    /// Bound, it gave this errno.
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
