//! Key pairs and generators, by the sessions of the Mbed TLS that cpb is linked with. Each session has its
//! contexts for itself: a library that was built without MBEDTLS_THREADING locks none.

use super::contexts::succeeded;
use super::key_pairs::has;
use super::{MbedTls, library};
use core::ffi::CStr;
use cpb_core::check::once;
use cpb_core::{Algorithm, Data, Job, Kind};

include!("../mbedtls/context.rs");
include!("../mbedtls/generator.rs");
include!("../mbedtls/public_key.rs");

/// Whether the installed library has an algorithm with key pairs, or a generator.
pub(super) fn supports(mbedtls: &MbedTls, workload: &CryptoWorkload) -> Result<(), Unsupported> {
    let algorithm = workload.algorithm;
    let pairs = algorithm.has_key_pairs();
    if pairs && !has(algorithm) {
        return Err(Unsupported::Algorithm);
    }
    let padding = rsa_padding(algorithm);
    let needed: &[&str] = match algorithm {
        Algorithm::CtrDrbgAes256 => &["ctr_drbg"],
        Algorithm::EcdsaP256 | Algorithm::EcdsaP384 => &["mpi", "ecp", "ecdsa"],
        Algorithm::EcdhP256 | Algorithm::EcdhP384 | Algorithm::X25519 => &["mpi", "ecp", "ecdh"],
        _ if workload.operation == Operation::GenerateKey => &["mpi", "rsa", "rsa_gen"],
        _ if padding == Some(ffi::RSA_PKCS_V15) => &["mpi", "rsa", "md"],
        _ if padding.is_some() => &["mpi", "rsa", "rsa_rsassa_pss", "md"],
        _ => &["md", "hmac_drbg"],
    };
    let random: &[&str] = if pairs { &["entropy", "ctr_drbg"] } else { &[] };
    let modules = needed.iter().chain(random).all(|module| mbedtls.has_module(module));
    let there = |curve: c_int| {
        // SAFETY: takes a number.
        unsafe { !library::ecp_curve_info_from_grp_id(curve).is_null() }
    };
    let by_pkcs1 = padding == Some(ffi::RSA_PKCS_V15);
    let parts = curve(algorithm).is_none_or(there)
        && (!by_pkcs1 || !left_out(c"MBEDTLS_PKCS1_V15"))
        && digest(algorithm).is_none_or(|name| number(name) != 0);
    match modules && parts {
        false => Err(Unsupported::BuildOption),
        true if algorithm.shape().kind == Kind::Generator => hands_out(workload),
        true => Ok(()),
    }
}

/// Whether an option was left out of the build, if the build tells.
fn left_out(option: &CStr) -> bool {
    // SAFETY: a C string. Builds that do not tell answer with another number.
    unsafe { ffi::mbedtls_version_check_feature(option.as_ptr()) == -1 }
}

/// Whether a generator hands out as much at once as `workload` wants: 1024 bytes, unless the build says
/// otherwise (MBEDTLS_CTR_DRBG_MAX_REQUEST, MBEDTLS_HMAC_DRBG_MAX_REQUEST), which only trying shows. Smaller
/// requests, one after the other, would have other outputs.
fn hands_out(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    const SURELY: usize = 1024;
    let length = REQUEST.min(workload.message as usize);
    if length <= SURELY || workload.phase == Phase::Setup {
        return Ok(());
    }
    let workload = CryptoWorkload::new(workload.algorithm, Operation::Random, length as u32);
    let (input, mut output) = (vec![0; length], vec![0; length]);
    let data = Data::Apart { input: &input, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }];
    let keys: &[&[u8]] = &[&[0; SEED]];
    let tried = RawJobs::new(&workload, keys, &mut jobs)
        .and_then(|jobs| open(&workload, keys, &jobs, &mut |session| once(session, 0)));
    tried.map_err(|_| Unsupported::Length)
}

/// The library's name of the digest that RSA signs, or that a generator is made of.
fn digest(algorithm: Algorithm) -> Option<&'static CStr> {
    Some(match algorithm {
        Algorithm::HmacDrbgSha512 => c"SHA512",
        Algorithm::HmacDrbgSha256 => c"SHA256",
        other if rsa_padding(other).is_some() => c"SHA256",
        _ => return None,
    })
}

/// The library's number of a digest; 0 if it has none of that name.
fn number(name: &CStr) -> c_int {
    // SAFETY: a C string; what is found is constant, and may be null.
    unsafe { library::md_get_type(ffi::mbedtls_md_info_from_string(name.as_ptr())) }
}

/// Opens a session for `workload`, which is supported.
pub(super) fn open(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let sha = digest(workload.algorithm).map_or(0, number);
    match workload.algorithm {
        Algorithm::HmacDrbgSha256 | Algorithm::HmacDrbgSha512 => {
            hmac_drbg(workload, keys, jobs, sha, body)
        }
        Algorithm::CtrDrbgAes256 => ctr_drbg(workload, keys, jobs, body),
        _ => {
            let mut random = Random::new()?;
            let source = random.generator.get().cast();
            let given = Given { draw: library::ctr_drbg_random, source, sha_256: sha };
            key_pair(given, workload, keys, jobs, body)
        }
    }
}

/// Where random numbers come from: the library's CTR_DRBG, fed by its own entropy, as its example programs
/// have it. What it takes to draw is part of an operation's time, and so is new entropy after each 10000
/// requests (MBEDTLS_CTR_DRBG_RESEED_INTERVAL).
struct Random {
    generator: Context<library::CtrDrbgContext>,
    // Freed after the generator, which points to it.
    _entropy: Context<library::EntropyContext>,
}

impl Random {
    fn new() -> Result<Self, Error> {
        let uninit = library::EntropyContext::uninit();
        let mut entropy = Context::new(uninit, library::entropy_init, library::entropy_free);
        let uninit = library::CtrDrbgContext::uninit();
        let mut generator = Context::new(uninit, library::ctr_drbg_init, library::ctr_drbg_free);
        // SAFETY: see the top of context.rs; null is no personalisation.
        succeeded(unsafe {
            let (source, none) = (entropy.get().cast(), core::ptr::null());
            library::ctr_drbg_seed(generator.get(), library::entropy_func, source, none, 0)
        })?;
        Ok(Random { generator, _entropy: entropy })
    }
}
