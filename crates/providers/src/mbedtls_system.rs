//! The installed Mbed TLS, 2.28 or 3, through its generic functions for ciphers and digests and its functions
//! for key pairs and generators. The generic contexts point to those of the algorithms, which the library
//! allocates in the size that its build gives them.
//!
//! It has no switch for the CPU's extensions.

mod contexts;
mod ffi;
mod library;
mod shared;

use crate::loaded::{Library, unavailable};
use crate::{Boxed, Implementation, Unavailable};
use contexts::{Cipher, Digest};
use core::ffi::{CStr, c_char};
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Phase, Placement, Provider, Unsupported,
};
use cpb_mbedtls::Sha;
use cpb_mbedtls::aeads::AesCcm;
use cpb_mbedtls::ciphers::Chacha20;
use cpb_mbedtls::macs::{Cmac, Hmac, Poly1305};
use cpb_mbedtls::types::{CipherInfo, MdInfo};
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use library::Installed;

pub(crate) const ENTRY: Implementation = Implementation {
    name: "mbedtls-system",
    environment: Vec::new,
    executors: None,
    open: |_| open(),
};

/// The names that the dynamic linker knows it by, newest first: 3.6 to 3.2, and 2.28.
const NAMES: [&CStr; 6] = [
    c"libmbedcrypto.so.16",
    c"libmbedcrypto.so.15",
    c"libmbedcrypto.so.14",
    c"libmbedcrypto.so.13",
    c"libmbedcrypto.so.12",
    c"libmbedcrypto.so.7",
];

/// Functions that are always needed. Without any other function, some algorithms are missing.
const NEEDED: [&CStr; 5] = [
    c"mbedtls_version_get_number",
    c"mbedtls_version_get_string",
    c"mbedtls_version_check_feature",
    c"mbedtls_cipher_setup",
    c"mbedtls_md_setup",
];

/// Build options that decide what executes.
const FEATURES: [&CStr; 8] = [
    c"MBEDTLS_HAVE_ASM",
    c"MBEDTLS_AESNI_C",
    c"MBEDTLS_AESCE_C",
    c"MBEDTLS_PADLOCK_C",
    c"MBEDTLS_AES_FEWER_TABLES",
    c"MBEDTLS_ECP_NIST_OPTIM",
    c"MBEDTLS_RSA_NO_CRT",
    c"MBEDTLS_THREADING_C",
];

/// Parts that a build may leave out of a module.
const LEFT_OUT_ALONE: [&str; 2] = ["rsa_rsassa_pss", "rsa_gen"];

struct MbedTls {
    version: String,
    executor: String,
    options: String,
    /// Whether it is 3.0 or newer.
    third: bool,
    missing: Vec<&'static CStr>,
}

fn open() -> Result<Boxed, Unavailable> {
    let installed = Library::open(&NAMES).map_err(|missing| {
        unavailable(format!(
            "no libmbedcrypto of Mbed TLS 2.28 or 3 (Debian's packages libmbedcrypto7, \
             libmbedcrypto16): {}",
            missing.detail
        ))
    })?;
    let mut missing = installed.fill(ffi::SLOTS);
    for functions in library::TABLES {
        missing.extend(installed.fill(functions));
    }
    let file = installed.file();
    if let Some(needed) = NEEDED.iter().find(|name| missing.contains(name)) {
        let name = needed.to_string_lossy();
        return Err(unavailable(format!(
            "{file} has no {name}: it is not Mbed TLS, or was built without it"
        )));
    }
    let mut text: [c_char; 32] = [0; 32];
    // SAFETY: the text is longer than what version.h says is written, NUL included.
    let (number, version) = unsafe {
        ffi::mbedtls_version_get_string(text.as_mut_ptr());
        (ffi::mbedtls_version_get_number(), CStr::from_ptr(text.as_ptr()))
    };
    let has = |feature: &&CStr| {
        // SAFETY: a C string.
        unsafe { ffi::mbedtls_version_check_feature(feature.as_ptr()) == 0 }
    };
    let built: Vec<_> = FEATURES.into_iter().filter(has).map(CStr::to_string_lossy).collect();
    // SAFETY: takes no pointer; returns 0 if it is missing.
    let aes = unsafe { ffi::mbedtls_aesni_has_support(ffi::MBEDTLS_AESNI_AES) != 0 };
    let executor = match (aes, has(&FEATURES[2])) {
        (true, _) => "AES instructions",
        (false, true) => "what the library finds in the CPU",
        (false, false) => "plain C",
    };
    let third = number >> 24 >= 3;
    library::is_third(third);
    Ok(Box::new(MbedTls {
        version: version.to_string_lossy().into_owned(),
        executor: executor.to_owned(),
        options: format!("{file}; built with {}", built.join(" ")),
        third,
        missing,
    }))
}

/// The part of the library that computes an algorithm.
#[derive(Clone, Copy)]
enum Part {
    Cipher(*const CipherInfo),
    Digest(*const MdInfo),
    Cmac,
    Hmac(Sha),
    Ccm,
    Chacha20,
    Poly1305,
}

impl MbedTls {
    /// Whether the library has all functions of a module that are used here.
    fn has_module(&self, module: &str) -> bool {
        let of_it = |name: &&CStr| {
            let name = name.to_str().unwrap_or_default();
            let of = |module: &str| {
                let name = name.strip_prefix("mbedtls_").and_then(|name| name.strip_prefix(module));
                name.is_some_and(|rest| rest.starts_with('_'))
            };
            of(module) && LEFT_OUT_ALONE.iter().all(|part| *part == module || !of(part))
        };
        !self.missing.iter().any(of_it)
    }

    fn part(&self, algorithm: Algorithm) -> Option<Part> {
        let there = |name: &CStr| !self.missing.contains(&name);
        // SAFETY: names are C strings; what is found is constant.
        unsafe {
            let cipher = |name: &CStr| ffi::mbedtls_cipher_info_from_string(name.as_ptr());
            let digest = |name: &CStr| ffi::mbedtls_md_info_from_string(name.as_ptr());
            let name = name(algorithm);
            match algorithm {
                Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
                    there(c"mbedtls_ccm_setkey").then_some(Part::Ccm)
                }
                // The generic function would begin with counter 0.
                Algorithm::Chacha20 => there(c"mbedtls_chacha20_setkey").then_some(Part::Chacha20),
                Algorithm::Poly1305 => there(c"mbedtls_poly1305_starts").then_some(Part::Poly1305),
                Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => {
                    let cipher = cipher(name?);
                    let there = there(c"mbedtls_cipher_cmac_starts") && !cipher.is_null();
                    there.then_some(Part::Cmac)
                }
                _ => match algorithm.shape().kind {
                    Kind::Hash => Some(digest(name?)).filter(|d| !d.is_null()).map(Part::Digest),
                    Kind::Mac => Some(digest(name?))
                        .filter(|d| !d.is_null())
                        .and(hmac(algorithm))
                        .map(Part::Hmac),
                    _ => Some(cipher(name?)).filter(|c| !c.is_null()).map(Part::Cipher),
                },
            }
        }
    }
}

/// Whether `shared` handles an algorithm.
fn is_shared(algorithm: Algorithm) -> bool {
    algorithm.has_key_pairs() || algorithm.shape().kind == Kind::Generator
}

/// The digest that an HMAC is based on.
fn hmac(algorithm: Algorithm) -> Option<Sha> {
    Some(match algorithm {
        Algorithm::HmacSha1 => Sha::Sha1,
        Algorithm::HmacSha256 => Sha::Sha256,
        Algorithm::HmacSha512 => Sha::Sha512,
        _ => return None,
    })
}

/// The library's name of a cipher or digest; for a MAC, of what it is based on.
fn name(algorithm: Algorithm) -> Option<&'static CStr> {
    Some(match algorithm {
        Algorithm::Aes128Cbc => c"AES-128-CBC",
        Algorithm::Aes192Cbc => c"AES-192-CBC",
        Algorithm::Aes256Cbc => c"AES-256-CBC",
        Algorithm::Aes128Ecb | Algorithm::Aes128Cmac => c"AES-128-ECB",
        Algorithm::Aes192Ecb => c"AES-192-ECB",
        Algorithm::Aes256Ecb | Algorithm::Aes256Cmac => c"AES-256-ECB",
        Algorithm::Aes128Ctr => c"AES-128-CTR",
        Algorithm::Aes192Ctr => c"AES-192-CTR",
        Algorithm::Aes256Ctr => c"AES-256-CTR",
        Algorithm::Aes128Xts => c"AES-128-XTS",
        Algorithm::Aes256Xts => c"AES-256-XTS",
        Algorithm::Aes128Gcm => c"AES-128-GCM",
        Algorithm::Aes192Gcm => c"AES-192-GCM",
        Algorithm::Aes256Gcm => c"AES-256-GCM",
        Algorithm::Chacha20Poly1305 => c"CHACHA20-POLY1305",
        Algorithm::Camellia256Cbc => c"CAMELLIA-256-CBC",
        Algorithm::TripleDesCbc => c"DES-EDE3-CBC",
        Algorithm::DesCbc => c"DES-CBC",
        Algorithm::TripleDesEcb => c"DES-EDE3-ECB",
        Algorithm::DesEcb => c"DES-ECB",
        Algorithm::Md5 => c"MD5",
        Algorithm::Sha1 | Algorithm::HmacSha1 => c"SHA1",
        Algorithm::Sha224 => c"SHA224",
        Algorithm::Sha256 | Algorithm::HmacSha256 => c"SHA256",
        Algorithm::Sha384 => c"SHA384",
        Algorithm::Sha512 | Algorithm::HmacSha512 => c"SHA512",
        Algorithm::Sha3_256 => c"SHA3-256",
        Algorithm::Sha3_512 => c"SHA3-512",
        _ => return None,
    })
}

impl Provider for MbedTls {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: ENTRY.name,
            version: &self.version,
            executor: &self.executor,
            options: &self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        if is_shared(workload.algorithm) {
            return shared::supports(self, workload);
        }
        let part = self.part(workload.algorithm).ok_or(Unsupported::Algorithm)?;
        let kind = workload.algorithm.shape().kind;
        if !matches!(part, Part::Cipher(_)) || workload.message.is_multiple_of(16) {
            return Ok(());
        }
        // cipher.h, `mbedtls_cipher_update`: in place only whole blocks, except for an AEAD.
        if workload.placement == Placement::InPlace && kind != Kind::Aead {
            return Err(Unsupported::Mode);
        }
        // gcm.h of 2.28, `mbedtls_gcm_update`: all parts of a message except the last are whole blocks.
        let whole = !self.third && workload.algorithm != Algorithm::Chacha20Poly1305;
        if workload.phase == Phase::Update && kind == Kind::Aead && whole {
            return Err(Unsupported::Length);
        }
        Ok(())
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: Body<'_>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        keys_fit(workload.algorithm, keys)?;
        let jobs = RawJobs::new(workload, keys, jobs)?;
        if is_shared(workload.algorithm) {
            return shared::open(workload, keys, &jobs, body);
        }
        match self.part(workload.algorithm).ok_or(Unsupported::Algorithm)? {
            Part::Cipher(info) => run(Cipher::open(info, workload)?, workload, keys, &jobs, body),
            Part::Digest(info) => run(Digest::open(info, workload)?, workload, keys, &jobs, body),
            Part::Cmac => run(Cmac::<Installed>::open(workload)?, workload, keys, &jobs, body),
            Part::Hmac(digest) => {
                run(Hmac::<Installed>::open(digest, workload)?, workload, keys, &jobs, body)
            }
            Part::Ccm => run(AesCcm::<Installed>::open(workload), workload, keys, &jobs, body),
            Part::Chacha20 => {
                run(Chacha20::<Installed>::open(workload), workload, keys, &jobs, body)
            }
            Part::Poly1305 => {
                run(Poly1305::<Installed>::open(workload), workload, keys, &jobs, body)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::Operation;

    fn without(missing: &[&'static CStr]) -> MbedTls {
        let (version, executor, options) = Default::default();
        MbedTls { version, executor, options, third: true, missing: missing.to_vec() }
    }

    #[test]
    fn a_function_that_is_missing_costs_its_module() {
        let lacking = without(&[c"mbedtls_ecp_gen_keypair", c"mbedtls_rsa_rsassa_pss_sign_ext"]);
        for (module, had) in [
            ("ecp", false),
            ("ecdsa", true),
            ("md", true),
            ("rsa", true),
            ("rsa_gen", true),
            ("rsa_rsassa_pss", false),
        ] {
            assert_eq!(lacking.has_module(module), had, "{module}");
        }
    }

    #[test]
    fn what_was_left_out_of_a_build_is_another_thing_than_what_mbed_tls_has_not() {
        let lacking = without(&[c"mbedtls_ecdsa_sign", c"mbedtls_entropy_func"]);
        let sign = |algorithm| CryptoWorkload::new(algorithm, Operation::Sign, 32);
        for (algorithm, reason) in [
            (Algorithm::EcdsaP256, Unsupported::BuildOption),
            (Algorithm::Rsa2048Pss, Unsupported::BuildOption),
            (Algorithm::Ed25519, Unsupported::Algorithm),
        ] {
            assert_eq!(lacking.supports(&sign(algorithm)), Err(reason), "{algorithm}");
        }
    }
}
