//! What cpb can measure. Each provider is one file and one line in [`LIST`], and its name is in the
//! [catalogue](cpb_core::catalog).
//!
//! Foreign names, FFI and `unsafe` stay inside a provider's own file.

extern crate alloc;

pub mod af_alg;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod c_library;
#[cfg(target_os = "linux")]
mod cryptodev;
mod evp;
mod evp_pkey;
pub mod interrupts;
#[cfg(target_os = "linux")]
mod kernel;
pub mod kernel_crypto;
mod key_der;
mod key_pairs;
mod libgcrypt;
mod loaded;
#[cfg(feature = "mbedtls")]
mod mbedtls;
mod mbedtls_system;
mod memcpy;
mod memory;
mod nettle;
mod null;
mod openssl;
#[cfg(any(feature = "mbedtls", feature = "rustcrypto"))]
mod rng;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
mod wolfssl;

use cpb_core::catalog::{self, Choice};
use cpb_core::{Provider, Unsupported};

/// The implementation behind a name of the [catalogue](cpb_core::catalog) in this build.
pub struct Implementation {
    /// The name.
    pub name: &'static str,
    /// The environment variables that its runner must be started with. Some libraries read their switches only
    /// once, when they are loaded.
    pub environment: fn() -> Vec<(&'static str, &'static str)>,
    /// For an interface, lists the executors on this machine, without the interface's own name. This may make
    /// the kernel load modules.
    pub executors: Option<fn() -> Vec<String>>,
    /// Starts it. The text is the requested variant, or empty.
    pub open: fn(&str) -> Result<Boxed, Unavailable>,
}

/// A provider that was started.
pub type Boxed = Box<dyn Provider + Send + Sync>;

fn implementation(entry: &catalog::Entry) -> Option<&'static Implementation> {
    LIST.iter().find(|known| known.name == entry.name)
}

/// The environment variables that a runner for such a provider must be started with.
pub fn environment(entry: &catalog::Entry) -> Vec<(&'static str, &'static str)> {
    implementation(entry).map(|known| (known.environment)()).unwrap_or_default()
}

/// Starts a provider.
///
/// # Errors
/// Returns an error that says what is missing if the provider cannot run here.
pub fn open(choice: &Choice<'_>) -> Result<Boxed, Unavailable> {
    let Some(known) = implementation(choice.entry) else {
        let detail = "left out when this cpb was built; a complete build has it (`make static`)";
        return Err(Unavailable { reason: Unsupported::BuildOption, detail: detail.to_owned() });
    };
    (known.open)(choice.variant)
}

/// The names of all providers that a choice stands for: itself, or an interface's executors on this machine. An
/// interface without executors stands for itself, so that its error says what is missing.
pub fn expand(choice: &Choice<'_>) -> Vec<String> {
    let name = choice.entry.name;
    if !choice.variant.is_empty() {
        return vec![format!("{name}:{}", choice.variant)];
    }
    let executors = implementation(choice.entry).and_then(|known| known.executors);
    let here = executors.map(|executors| executors()).unwrap_or_default();
    match here.is_empty() {
        true => vec![name.to_owned()],
        false => here.iter().map(|variant| format!("{name}:{variant}")).collect(),
    }
}

/// Why a provider cannot run here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable {
    /// The kind of thing that is missing.
    pub reason: Unsupported,
    /// The name of what is missing, and what would provide it.
    pub detail: String,
}

/// The providers of the catalogue that are in this build.
const LIST: &[Implementation] = &[
    null::ENTRY,
    #[cfg(feature = "openssl")]
    openssl::linked::EXTENSIONS,
    #[cfg(feature = "openssl")]
    openssl::linked::NOCRYPTO,
    #[cfg(feature = "openssl")]
    openssl::linked::SCALAR,
    #[cfg(feature = "openssl")]
    openssl::two_calls::ENTRY,
    #[cfg(feature = "mbedtls")]
    mbedtls::ACCEL,
    #[cfg(feature = "mbedtls")]
    mbedtls::C,
    #[cfg(feature = "aws-lc")]
    aws_lc::EXTENSIONS,
    #[cfg(feature = "aws-lc")]
    aws_lc::C,
    #[cfg(feature = "rustcrypto")]
    rustcrypto::EXTENSIONS,
    #[cfg(feature = "rustcrypto")]
    rustcrypto::SOFT,
    openssl::system::ENTRY,
    mbedtls_system::ENTRY,
    libgcrypt::FEATURES,
    libgcrypt::C,
    nettle::FEATURES,
    nettle::C,
    wolfssl::ENTRY,
    c_library::ENTRY,
    af_alg::ENTRY,
    #[cfg(target_os = "linux")]
    cryptodev::ENTRY,
    #[cfg(target_os = "linux")]
    kernel::ENTRY,
    memcpy::ENTRY,
    memory::ENTRY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_in_the_catalogue() {
        for known in LIST {
            let choice = catalog::find(known.name).expect(known.name);
            assert_eq!((choice.entry.name, choice.variant), (known.name, ""));
            assert_eq!(known.executors.is_some(), choice.entry.is_interface(), "{}", known.name);
        }
    }
}
