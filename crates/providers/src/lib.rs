//! What cpb can measure: one file a provider, one line in [`LIST`].
//!
//! Foreign names, FFI and `unsafe` stay inside a provider's own file.

extern crate alloc;

pub mod af_alg;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod context;
#[cfg(target_os = "linux")]
mod cryptodev;
#[cfg(any(feature = "mbedtls", feature = "rustcrypto"))]
mod draw;
mod evp;
pub mod interrupts;
pub mod kernel_crypto;
mod key_der;
mod key_pairs;
#[cfg(not(all(
    feature = "openssl",
    feature = "mbedtls",
    feature = "aws-lc",
    feature = "rustcrypto"
)))]
mod left_out;
mod lengths;
mod libgcrypt;
mod loaded;
#[cfg(feature = "mbedtls")]
mod mbedtls;
mod mbedtls_system;
mod memcpy;
mod nettle;
mod null;
mod openssl;
mod raw_jobs;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
mod wolfssl;

use cpb_core::{Algorithm, Kind, Provider, Unsupported};

/// A provider that a runner can be started for.
pub struct Entry {
    /// Its name as a user types it, `library` or `library:variant`; `interface` where the variants
    /// are found at run time.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Environment variables its runner must be started with: some libraries read their switches
    /// once, when they are loaded.
    pub environment: fn() -> Vec<(&'static str, &'static str)>,
    /// Whether it loads a library of the system's, which a statically linked program cannot.
    pub loads: bool,
    /// What else stands behind its name.
    pub variants: Variants,
    /// Starts it. The text is the variant that was asked for, else empty.
    pub open: fn(&str) -> Result<Box<dyn Provider + Send + Sync>, Unavailable>,
}

impl Entry {
    /// Whether it stands for executors that only this machine can name.
    pub fn is_interface(&self) -> bool {
        matches!(self.variants, Variants::Found(_))
    }
}

/// What a provider's name may be followed by.
#[derive(Clone, Copy)]
pub enum Variants {
    /// Nothing: the entry is one provider.
    None,
    /// It is an interface with executors that only this machine can name: each is a provider of its
    /// own, `interface:executor`. Names those that are here, without the interface's own name; may
    /// make the kernel load modules.
    Found(fn() -> Vec<String>),
    /// It is a provider, and so is `name:what` for whatever it can be told to use.
    Told,
}

/// A provider that was asked for by name.
#[derive(Clone, Copy)]
pub struct Choice<'n> {
    /// Its entry.
    pub entry: &'static Entry,
    /// The variant that was named; empty where none was.
    pub variant: &'n str,
}

impl Choice<'_> {
    /// Starts it.
    ///
    /// # Errors
    /// What is missing here.
    pub fn open(&self) -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
        (self.entry.open)(self.variant)
    }

    /// Whether this names an interface and none of its executors, and so all of them.
    pub fn is_interface(&self) -> bool {
        self.entry.is_interface() && self.variant.is_empty()
    }

    /// The names of all that it stands for: itself, or an interface's executors on this machine. An
    /// interface without any stands for itself, to say what is missing.
    pub fn expand(&self) -> Vec<String> {
        let name = self.entry.name;
        let here = match self.entry.variants {
            Variants::Found(variants) if self.variant.is_empty() => Some(variants()),
            _ => None,
        };
        match (here, self.variant) {
            (Some(here), _) if !here.is_empty() => {
                here.iter().map(|variant| format!("{name}:{variant}")).collect()
            }
            (_, "") => vec![name.to_owned()],
            (_, variant) => vec![format!("{name}:{variant}")],
        }
    }
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
    openssl::linked::EXTENSIONS,
    #[cfg(feature = "openssl")]
    openssl::linked::NOCRYPTO,
    #[cfg(feature = "openssl")]
    openssl::linked::SCALAR,
    #[cfg(feature = "openssl")]
    openssl::two_calls::ENTRY,
    #[cfg(not(feature = "openssl"))]
    left_out::entry("openssl"),
    #[cfg(not(feature = "openssl"))]
    left_out::entry("openssl:nocrypto"),
    #[cfg(not(feature = "openssl"))]
    left_out::entry("openssl:scalar"),
    #[cfg(not(feature = "openssl"))]
    left_out::entry(TWO_CALLS),
    #[cfg(feature = "mbedtls")]
    mbedtls::ACCEL,
    #[cfg(feature = "mbedtls")]
    mbedtls::C,
    #[cfg(not(feature = "mbedtls"))]
    left_out::entry("mbedtls:accel"),
    #[cfg(not(feature = "mbedtls"))]
    left_out::entry("mbedtls:c"),
    #[cfg(feature = "aws-lc")]
    aws_lc::EXTENSIONS,
    #[cfg(feature = "aws-lc")]
    aws_lc::C,
    #[cfg(not(feature = "aws-lc"))]
    left_out::entry("aws-lc"),
    #[cfg(not(feature = "aws-lc"))]
    left_out::entry("aws-lc:c"),
    #[cfg(feature = "rustcrypto")]
    rustcrypto::EXTENSIONS,
    #[cfg(feature = "rustcrypto")]
    rustcrypto::SOFT,
    #[cfg(not(feature = "rustcrypto"))]
    left_out::entry("rustcrypto"),
    #[cfg(not(feature = "rustcrypto"))]
    left_out::entry("rustcrypto:soft"),
    openssl::system::ENTRY,
    mbedtls_system::ENTRY,
    libgcrypt::FEATURES,
    libgcrypt::C,
    nettle::FEATURES,
    nettle::C,
    wolfssl::ENTRY,
    af_alg::ENTRY,
    #[cfg(target_os = "linux")]
    cryptodev::ENTRY,
    memcpy::ENTRY,
];

/// The provider that does nothing: its figures are the harness's own floor.
pub use cpb_core::null::NULL;

/// The provider that only copies: the memory's own bound.
pub use cpb_core::copy::MEMCPY;

/// The interface whose executors the kernel picks: it has one for each of the kernel's algorithms.
pub const CRYPTODEV: &str = "cryptodev";

/// Whether the provider called `name` computes what it is asked for. One that does not is a floor,
/// the harness's ([`NULL`]) or an interface's: it has no answers to check and wins no comparison.
pub fn computes(name: &str) -> bool {
    #[cfg(target_os = "linux")]
    if name == cryptodev::FLOOR_NAME {
        return false;
    }
    name != NULL
}

/// OpenSSL's cipher and MAC by two calls: for records only, which it otherwise makes in one pass.
pub const TWO_CALLS: &str = "openssl:two-calls";

/// Whether the provider called `name` is for such algorithms at all: what copies has no others, and
/// nobody else copies; two calls are what one call is held against. That is no gap and not worth a word.
pub fn is_for(name: &str, algorithm: Algorithm) -> bool {
    let kind = algorithm.shape().kind;
    match name {
        MEMCPY => kind == Kind::Copy,
        TWO_CALLS => kind == Kind::Record,
        _ => find(name).is_none() || kind != Kind::Copy,
    }
}

/// What `name` asks for: an entry, or `interface:executor`. That an executor has a name does not say
/// that it is here.
pub fn find(name: &str) -> Option<Choice<'_>> {
    if let Some(entry) = LIST.iter().find(|entry| entry.name == name) {
        return Some(Choice { entry, variant: "" });
    }
    let (interface, variant) = name.split_once(':')?;
    let has_variants =
        |entry: &&Entry| entry.name == interface && !matches!(entry.variants, Variants::None);
    let entry = LIST.iter().find(has_variants)?;
    (!variant.is_empty()).then_some(Choice { entry, variant })
}

/// The place of `name`, or of the interface it is reached by, in [`LIST`]; beyond all for a name of
/// another build's.
pub fn place(name: &str) -> usize {
    let entry = find(name).map(|choice| choice.entry.name);
    let place = entry.and_then(|name| LIST.iter().position(|entry| entry.name == name));
    place.unwrap_or(usize::MAX)
}
