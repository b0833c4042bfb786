//! The installed libcrypto, 1.1.1 or 3.x, as applications get it: with the system's openssl.cnf, and on request
//! through one of its engines or providers by name.
//!
//! `openssl-system:engine=afalg` is the path of an application that hands its AES to the kernel. The engine
//! asks the kernel for an algorithm and cannot name a driver. Which driver the kernel took is found out by the
//! driver's number of users.

mod engine;
mod generator;
mod key;
mod mac;

use super::ffi::{self, Libcrypto, Loaded};
use super::{Source, evp_name, lacks, session};
use crate::interrupts::Lines;
use crate::loaded::{Library, unavailable};
use crate::{Implementation, Unavailable};
use core::ffi::{CStr, c_char, c_int, c_ulong};
use core::ptr;
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, Error, Identity, Job, Kind, Provider, Session, Unsupported,
};
use cpb_session::raw_jobs::software_supports;
use engine::Engine;
use std::ffi::CString;

pub(crate) const ENTRY: Implementation = Implementation {
    name: "openssl-system",
    environment: Vec::new,
    executors: None,
    open: |variant| Ok(Box::new(open(variant)?)),
};

/// The names that the dynamic linker knows it by, newest first.
const NAMES: [&CStr; 2] = [c"libcrypto.so.3", c"libcrypto.so.1.1"];

/// Functions that every libcrypto has. Without any other function, some algorithms are missing.
const NEEDED: [&CStr; 7] = [
    c"OPENSSL_init_crypto",
    c"OpenSSL_version",
    c"OpenSSL_version_num",
    c"EVP_CIPHER_CTX_new",
    c"EVP_CipherInit_ex",
    c"EVP_MD_CTX_new",
    c"EVP_DigestInit_ex",
];

/// OpenSSL 1.1.1 and 3.0, in the format of `OpenSSL_version_num`.
const OLDEST: c_ulong = 0x1010_1000;
const WITH_PROVIDERS: c_ulong = 0x3000_0000;

/// libcrypto as it is installed.
struct System {
    provider: String,
    version: String,
    executor: String,
    options: String,
    source: Source<Loaded>,
    engine: Option<Engine>,
}

// SAFETY: the source's engine belongs to libcrypto, which locks it, and lives as long as the process.
unsafe impl Send for System {}
// SAFETY: as above.
unsafe impl Sync for System {}

fn open(variant: &str) -> Result<System, Unavailable> {
    let wanted = Wanted::parse(variant)?;
    let library = Library::open(&NAMES).map_err(|missing| {
        unavailable(format!(
            "no libcrypto of OpenSSL 1.1.1 or 3 (Debian's packages libssl3, libssl1.1): {}",
            missing.detail
        ))
    })?;
    let missing = library.fill(ffi::loaded::SLOTS);
    // Without functions of these tables, algorithms are missing in 1.1.1 only, or not at all.
    for slots in [generator::SLOTS, key::SLOTS, mac::SLOTS, policy::SLOTS] {
        library.fill(slots);
    }
    let file = library.file();
    if let Some(needed) = NEEDED.iter().find(|name| missing.contains(name)) {
        let name = needed.to_string_lossy();
        return Err(unavailable(format!("{file} has no {name}: it is not OpenSSL's libcrypto")));
    }
    // SAFETY: takes no pointers.
    let number = unsafe { Loaded::OpenSSL_version_num() };
    let version = version(number);
    if number < OLDEST {
        return Err(unavailable(format!("{file} is OpenSSL {version}, older than 1.1.1")));
    }
    // SAFETY: takes no settings; called before anything else of libcrypto.
    if unsafe { Loaded::OPENSSL_init_crypto(ffi::OPENSSL_INIT_LOAD_CONFIG, ptr::null()) } != 1 {
        return Err(unavailable(format!("{file} does not initialise: {}", complaint())));
    }
    let mut source = Source { by_name: number < WITH_PROVIDERS, ..Source::new() };
    let mut engine = None;
    match &wanted {
        Wanted::Itself => {}
        Wanted::Provider(_) if number < WITH_PROVIDERS => {
            let detail = format!("{file} is OpenSSL {version}; providers came with 3.0");
            return Err(unavailable(detail));
        }
        Wanted::Provider(name) => source.properties = Some(load_provider(name, &file)?),
        Wanted::Engine(name) => {
            let loaded = Engine::load(&library, name)?;
            source = Source { engine: loaded.handle(), by_name: true, ..source };
            engine = Some(loaded);
        }
    }
    let mut options = vec![file, text(Loaded::OpenSSL_version, ffi::OPENSSL_CFLAGS)];
    options.push(text(Loaded::OpenSSL_version, ffi::OPENSSL_PLATFORM));
    if number >= WITH_PROVIDERS && !missing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|name| name.to_string_lossy()).collect();
        options.push(format!("lacks {}", missing.join(", ")));
    }
    let settings = text(Loaded::OPENSSL_info, ffi::OPENSSL_INFO_CPU_SETTINGS);
    let settings = if settings.is_empty() { "CPU settings unknown".to_owned() } else { settings };
    let executor = match (&engine, &wanted) {
        (Some(engine), _) => engine.executor(),
        (None, Wanted::Provider(name)) => format!("provider {name}; {settings}"),
        (None, _) => settings,
    };
    let provider = match variant {
        "" => ENTRY.name.to_owned(),
        variant => format!("{}:{variant}", ENTRY.name),
    };
    Ok(System { provider, version, executor, options: options.join("; "), source, engine })
}

/// What the system's openssl.cnf may demand.
// C names stay as the headers spell them.
#[allow(non_snake_case)]
mod policy {
    use super::ffi::OSSL_LIB_CTX;
    use core::ffi::c_int;
    use core::ptr;

    crate::loaded::c_functions! { loaded:
        /// openssl/evp.h of 3.0 and newer.
        fn EVP_default_properties_is_fips_enabled(context: *mut OSSL_LIB_CTX) -> c_int;
    }

    /// Whether only implementations that FIPS 140 approves may be used.
    pub(super) fn wants_fips() -> bool {
        // SAFETY: null means the default context.
        unsafe { EVP_default_properties_is_fips_enabled(ptr::null_mut()) == 1 }
    }
}

/// Whose implementations to use.
enum Wanted {
    Itself,
    Engine(String),
    Provider(String),
}

impl Wanted {
    fn parse(variant: &str) -> Result<Wanted, Unavailable> {
        let plain = |name: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !name.is_empty() && name.chars().all(allowed)
        };
        match variant.split_once('=') {
            None if variant.is_empty() => Ok(Wanted::Itself),
            Some(("engine", name)) if plain(name) => Ok(Wanted::Engine(name.to_owned())),
            Some(("provider", name)) if plain(name) => Ok(Wanted::Provider(name.to_owned())),
            _ => Err(unavailable(format!(
                "`{variant}` names neither an engine (`engine=NAME`, such as afalg) nor a provider \
                 (`provider=NAME`, such as legacy)"
            ))),
        }
    }
}

/// Loads one of OpenSSL 3's providers. Returns the property that selects its implementations.
fn load_provider(name: &str, file: &str) -> Result<&'static CStr, Unavailable> {
    let c_name = c_string(name)?;
    // SAFETY: null means the default context; the name is a C string. The provider stays loaded for ever.
    if unsafe { Loaded::OSSL_PROVIDER_load(ptr::null_mut(), c_name.as_ptr()) }.is_null() {
        let detail = format!("{file} has no provider {name}: {}", complaint());
        return Err(unavailable(detail));
    }
    // Leaked once in a process, because every fetch needs it.
    Ok(Box::leak(c_string(&format!("provider={name}"))?.into_boxed_c_str()))
}

fn c_string(text: &str) -> Result<CString, Unavailable> {
    CString::new(text).map_err(|_| unavailable(format!("`{text}` is not a valid name")))
}

/// `OPENSSL_VERSION_NUMBER`: 0xMNNFFPPS before OpenSSL 3 (PP counts letters), 0xMNN00PP0 since.
fn version(number: c_ulong) -> String {
    let field = |shift: u32, bits: u32| (number >> shift) & ((1 << bits) - 1);
    let (major, minor) = (field(28, 4), field(20, 8));
    if major >= 3 {
        return format!("{major}.{minor}.{}", field(4, 8));
    }
    let letter = match field(4, 8) as u8 {
        0 => String::new(),
        count => char::from(b'a' + count - 1).to_string(),
    };
    format!("{major}.{minor}.{}{letter}", field(12, 8))
}

/// What a function that explains itself says about `what`. Empty if it does not know.
fn text(tell: unsafe fn(c_int) -> *const c_char, what: c_int) -> String {
    // SAFETY: returns null or a static C string for every argument.
    unsafe {
        let text = tell(what);
        match text.is_null() {
            true => String::new(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        }
    }
}

/// The first error in libcrypto's queue, in its own words. Empties the queue.
fn complaint() -> String {
    let mut words: [c_char; 256] = [0; 256];
    // SAFETY: the buffer has the stated length, and what is written ends with a NUL.
    unsafe {
        let code = Loaded::ERR_get_error();
        Loaded::ERR_clear_error();
        if code == 0 {
            return "libcrypto does not say why".to_owned();
        }
        Loaded::ERR_error_string_n(code, words.as_mut_ptr(), words.len());
        CStr::from_ptr(words.as_ptr()).to_string_lossy().into_owned()
    }
}

impl System {
    /// Whether it is older than OpenSSL 3, with other functions for MACs, generators and key pairs.
    fn is_older(&self) -> bool {
        self.engine.is_none() && self.source.by_name
    }

    /// Whether the source of this provider's implementations has an algorithm.
    fn has(&self, algorithm: Algorithm) -> bool {
        let kind = algorithm.shape().kind;
        match (&self.engine, kind) {
            (Some(engine), _) => engine.has(kind, evp_name(algorithm)),
            (None, Kind::Mac) if self.is_older() => mac::has(self.source, algorithm),
            (None, Kind::Generator) if self.is_older() => generator::has(algorithm),
            (None, Kind::Signature | Kind::KeyAgreement) if self.is_older() => key::has(algorithm),
            (None, _) => self.source.has(algorithm),
        }
    }
}

impl Provider for System {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: &self.provider,
            version: &self.version,
            executor: &self.executor,
            options: &self.options,
        }
    }

    fn claim(&self) -> Claim {
        self.engine.as_ref().map_or(Claim::Process, |engine| engine.claim)
    }

    fn interrupts(&self) -> Option<u64> {
        self.engine.as_ref()?.interrupts.as_ref().and_then(Lines::count)
    }

    fn jobs(&self) -> Option<u64> {
        self.engine.as_ref()?.jobs.as_ref()?.count()
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        match self.has(workload.algorithm) {
            true => software_supports(workload),
            false if self.engine.is_some() => Err(Unsupported::Algorithm),
            false if policy::wants_fips() => Err(Unsupported::Policy),
            false => Err(lacks(workload.algorithm, Unsupported::Algorithm)),
        }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        match workload.algorithm.shape().kind {
            Kind::Mac if self.is_older() => mac::session(self.source, workload, keys, jobs, body),
            Kind::Generator if self.is_older() => generator::session(workload, keys, jobs, body),
            Kind::Signature | Kind::KeyAgreement if self.is_older() => {
                key::session(workload, keys, jobs, body)
            }
            _ => session(self.source, workload, keys, jobs, body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_are_read_as_openssl_writes_them() {
        assert_eq!(version(0x1010_117f), "1.1.1w");
        assert_eq!(version(0x1010_1000), "1.1.1");
        assert_eq!(version(0x3000_0130), "3.0.19");
        assert_eq!(version(0x3060_0030), "3.6.3");
    }

    #[test]
    fn what_is_no_name_is_answered_with_how_one_is_written() {
        for wrong in ["legacy", "engine=", "provider=legacy,fips=yes", "engine=../x", "cipher=x"] {
            let told = Wanted::parse(wrong).err().expect("refused");
            assert!(told.detail.contains("engine=NAME"), "{}", told.detail);
        }
    }
}
