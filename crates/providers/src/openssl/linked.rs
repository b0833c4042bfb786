//! The libcrypto that cpb was linked with, in three runners: with all CPU extensions, with the crypto
//! instructions masked, and with everything masked.
//!
//! libcrypto reads its mask only once, when it is loaded, so each variant needs its own process. What libcrypto
//! made of the mask is read back and is part of the identity.

use super::{Source, ffi, lacks, session};
use crate::{Boxed, Implementation, Unavailable};
use core::ffi::CStr;
use core::ptr;
use cpb_core::{CryptoWorkload, Error, Identity, Job, Kind, Provider, Session, Unsupported};
use cpb_session::raw_jobs::software_supports;

pub(crate) const EXTENSIONS: Implementation = Implementation {
    name: "openssl",
    environment: Vec::new,
    executors: None,
    open: |_| open("openssl"),
};

pub(crate) const NOCRYPTO: Implementation = Implementation {
    name: "openssl:nocrypto",
    environment: || mask(Mask::Crypto),
    executors: None,
    open: |_| open("openssl:nocrypto"),
};

pub(crate) const SCALAR: Implementation = Implementation {
    name: "openssl:scalar",
    environment: || mask(Mask::Everything),
    executors: None,
    open: |_| open("openssl:scalar"),
};

enum Mask {
    Crypto,
    Everything,
}

/// The variable that libcrypto reads, and its value.
///
/// On x86-64 it has five 64-bit words (crypto/cpuid.c of OpenSSL 3.6), and a word that is not given is cleared.
/// `~` clears bits; a plain number replaces the word. On Arm (crypto/armcap.c) and RISC-V (crypto/riscvcap.c)
/// the value replaces what the library would find out by itself.
fn mask(mask: Mask) -> Vec<(&'static str, &'static str)> {
    let value = |crypto, everything| match mask {
        Mask::Crypto => crypto,
        Mask::Everything => everything,
    };
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        // Word 0: AES-NI (57), PCLMULQDQ (33). Word 1: SHA-NI (29), GFNI (40), VAES (41),
        // VPCLMULQDQ (42). Word 2: SHA512 (32), SM3 (33), SM4 (34). The rest stays as it is.
        let crypto = "~0x200000200000000:~0x70020000000:~0x700000000:~0:~0";
        vec![("OPENSSL_ia32cap", value(crypto, "0:0:0:0:0"))]
    } else if cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
        // 1 is NEON (crypto/arm_arch.h). The crypto instructions have separate bits.
        vec![("OPENSSL_armcap", value("1", "0"))]
    } else if cfg!(target_arch = "riscv64") {
        // Without the vector extension, which most CPUs lack.
        vec![("OPENSSL_riscvcap", value("rv64gc_zba_zbb_zbs", "rv64gc"))]
    } else {
        Vec::new()
    }
}

/// libcrypto, loaded in this process.
struct OpenSsl {
    name: &'static str,
    executor: String,
}

fn open(name: &'static str) -> Result<Boxed, Unavailable> {
    Ok(Box::new(OpenSsl { name, executor: start()? }))
}

/// Initialises the library, and returns what it makes of the CPU.
pub(super) fn start() -> Result<String, Unavailable> {
    // SAFETY: takes no settings; called before anything else of libcrypto.
    if unsafe { ffi::OPENSSL_init_crypto(ffi::OPENSSL_INIT_NO_LOAD_CONFIG, ptr::null()) } != 1 {
        let detail = "libcrypto does not initialise".to_owned();
        return Err(Unavailable { reason: Unsupported::Device, detail });
    }
    // SAFETY: null or a static C string.
    let settings = unsafe {
        let settings = ffi::OPENSSL_info(ffi::OPENSSL_INFO_CPU_SETTINGS);
        (!settings.is_null()).then(|| CStr::from_ptr(settings))
    };
    let settings = settings.map_or("CPU settings unknown".into(), CStr::to_string_lossy);
    Ok(settings.into_owned())
}

impl Provider for OpenSsl {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: env!("CPB_OPENSSL_VERSION"),
            executor: &self.executor,
            options: env!("CPB_OPENSSL_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        let copies = workload.algorithm.shape().kind == Kind::Copy;
        if !copies && !Source::<ffi::Linked>::new().has(workload.algorithm) {
            return Err(lacks(workload.algorithm, Unsupported::BuildOption));
        }
        software_supports(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        session(Source::<ffi::Linked>::new(), workload, keys, jobs, body)
    }
}
