//! Key pairs and generators. Each session has its own contexts, because a library that was built without
//! MBEDTLS_THREADING does not lock them.

use super::library::{DRAW, ENTROPY, Installed, more, number};
use super::{MbedTls, ffi};
use core::ffi::{CStr, c_int};
use cpb_core::check::once;
use cpb_core::{Algorithm, CryptoWorkload, Data, Error, Job, Kind, Operation, Phase, Unsupported};
use cpb_mbedtls::generators::{CtrDrbg, HmacDrbg};
use cpb_mbedtls::key_pairs::{RSA_PKCS_V15, curve, rsa_padding};
use cpb_mbedtls::limits::has;
use cpb_mbedtls::public_key::{Random, key_pair};
use cpb_mbedtls::types::CtrDrbgContext;
use cpb_mbedtls::{Functions, Held, Sha, succeeded};
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::lengths::{REQUEST, SEED};
use cpb_session::raw_jobs::RawJobs;

/// Checks whether the installed library supports an algorithm with key pairs, or a generator.
pub(super) fn supports(mbedtls: &MbedTls, workload: &CryptoWorkload) -> Result<(), Unsupported> {
    let algorithm = workload.algorithm;
    let pairs = algorithm.has_key_pairs();
    if !has(algorithm) {
        return Err(Unsupported::Algorithm);
    }
    let padding = rsa_padding(algorithm);
    let needed: &[&str] = match algorithm {
        Algorithm::CtrDrbgAes256 => &["ctr_drbg"],
        Algorithm::EcdsaP256 | Algorithm::EcdsaP384 => &["mpi", "ecp", "ecdsa"],
        Algorithm::EcdhP256 | Algorithm::EcdhP384 | Algorithm::X25519 => &["mpi", "ecp", "ecdh"],
        _ if workload.operation == Operation::GenerateKey => &["mpi", "rsa", "rsa_gen"],
        _ if padding == Some(RSA_PKCS_V15) => &["mpi", "rsa", "md"],
        _ if padding.is_some() => &["mpi", "rsa", "rsa_rsassa_pss", "md"],
        _ => &["md", "hmac_drbg"],
    };
    let random: &[&str] = if pairs { &["entropy", "ctr_drbg"] } else { &[] };
    let modules = needed.iter().chain(random).all(|module| mbedtls.has_module(module));
    let there = |curve: c_int| {
        // SAFETY: takes a number.
        unsafe { !more::ecp_curve_info_from_grp_id(curve).is_null() }
    };
    let by_pkcs1 = padding == Some(RSA_PKCS_V15);
    let parts = curve(algorithm).is_none_or(there)
        && (!by_pkcs1 || !left_out(c"MBEDTLS_PKCS1_V15"))
        && digest(algorithm).is_none_or(|name| number(name) != 0);
    match modules && parts {
        false => Err(Unsupported::BuildOption),
        true if algorithm.shape().kind == Kind::Generator => hands_out(workload),
        true => Ok(()),
    }
}

/// Whether an option was left out of the build, if the build reports its options.
fn left_out(option: &CStr) -> bool {
    // SAFETY: a C string. Builds that do not report options return another number.
    unsafe { ffi::mbedtls_version_check_feature(option.as_ptr()) == -1 }
}

/// Checks whether a generator returns as many bytes at once as `workload` wants. The limit is 1024 bytes unless
/// the build sets another one (MBEDTLS_CTR_DRBG_MAX_REQUEST, MBEDTLS_HMAC_DRBG_MAX_REQUEST), which only trying
/// shows. A sequence of smaller requests would return other bytes.
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

/// The library's name of the digest that RSA signs or that a generator is based on.
fn digest(algorithm: Algorithm) -> Option<&'static CStr> {
    Some(match algorithm {
        Algorithm::HmacDrbgSha512 => c"SHA512",
        Algorithm::HmacDrbgSha256 => c"SHA256",
        other if rsa_padding(other).is_some() => c"SHA256",
        _ => return None,
    })
}

/// Opens a session for `workload`, which must be supported.
pub(super) fn open(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::HmacDrbgSha256 => {
            run(HmacDrbg::<Installed>::open(Sha::Sha256, workload)?, workload, keys, jobs, body)
        }
        Algorithm::HmacDrbgSha512 => {
            run(HmacDrbg::<Installed>::open(Sha::Sha512, workload)?, workload, keys, jobs, body)
        }
        Algorithm::CtrDrbgAes256 => {
            run(CtrDrbg::<Installed>::open(workload), workload, keys, jobs, body)
        }
        _ => {
            let mut generator = FedGenerator::new()?;
            let random = Random { draw: DRAW, source: generator.generator.get().cast() };
            key_pair::<Installed>(random, workload, keys, jobs, body)
        }
    }
}

/// The source of random numbers: the library's CTR_DRBG, fed by its own entropy, as in its example programs.
/// Drawing is part of an operation's time, and so is new entropy after every 10000 requests
/// (MBEDTLS_CTR_DRBG_RESEED_INTERVAL).
struct FedGenerator {
    generator: Held<Installed, CtrDrbgContext>,
    // Freed after the generator, which points to it.
    _entropy: Held<Installed, more::EntropyContext>,
}

impl FedGenerator {
    fn new() -> Result<Self, Error> {
        let mut entropy = Held::<Installed, more::EntropyContext>::new();
        let mut generator = Held::<Installed, CtrDrbgContext>::new();
        // SAFETY: both are initialised and stay where they are; null means no personalisation.
        succeeded(unsafe {
            let (source, none) = (entropy.get().cast(), core::ptr::null());
            Installed::ctr_drbg_seed(generator.get(), ENTROPY, source, none, 0)
        })?;
        Ok(FedGenerator { generator, _entropy: entropy })
    }
}
