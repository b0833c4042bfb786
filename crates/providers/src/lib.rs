//! What cpb can measure: one file a provider, one line in [`LIST`].
//!
//! Foreign names, FFI and `unsafe` stay inside a provider's own file.

#[cfg(feature = "mbedtls")]
mod mbedtls;
mod null;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(any(feature = "openssl", feature = "mbedtls"))]
mod raw_jobs;

use cpb_core::{Provider, Unsupported};

/// A provider that a runner can be started for.
pub struct Entry {
    /// Its name as a user types it, `library` or `library:variant`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Environment variables its runner must be started with: some libraries read their switches
    /// once, when they are loaded.
    pub environment: fn() -> Vec<(&'static str, &'static str)>,
    /// Starts it.
    pub open: fn() -> Result<Box<dyn Provider + Send + Sync>, Unavailable>,
}

/// Why a provider cannot run here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable {
    /// What sort of thing is missing.
    pub reason: Unsupported,
    /// It, by its name, and what would bring it.
    pub detail: String,
}

/// All providers, in the order reports show them.
pub const LIST: &[Entry] = &[
    null::ENTRY,
    #[cfg(feature = "openssl")]
    openssl::EXTENSIONS,
    #[cfg(feature = "openssl")]
    openssl::NOCRYPTO,
    #[cfg(feature = "openssl")]
    openssl::SCALAR,
    #[cfg(feature = "mbedtls")]
    mbedtls::ACCEL,
    #[cfg(feature = "mbedtls")]
    mbedtls::C,
];

/// The provider that does nothing: its figures are the harness's own floor.
pub const NULL: &str = null::ENTRY.name;

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    LIST.iter().find(|entry| entry.name == name)
}
