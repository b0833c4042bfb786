//! The RustCrypto crates, which find out at run time which of the CPU's extensions they may use. They run with
//! those that they find, and with none.

mod aeads;
mod ciphers;
mod digests;
mod features;
mod key_pairs;

use crate::{Boxed, Implementation, Unavailable};
use aeads::Aead;
use aes::cipher::array::{Array, ArraySize};
use aes::cipher::consts::{U12, U16};
use aes::cipher::inout::InOutBuf;
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use camellia::Camellia256;
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use ciphers::{Chacha20, Ctr, Ecb, Xts, cbc};
use cmac::Cmac;
use core::slice;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Phase, Provider, Session, Unsupported,
};
use cpb_session::context::{Context, Lengths, run};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJob, RawJobs, software_supports};
use des::{Des, TdesEde3};
use digests::{Hash, Mac, OneTimeMac};
use hmac::HmacReset;
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_256, Sha3_512};

pub(crate) const EXTENSIONS: Implementation = Implementation {
    name: "rustcrypto",
    environment: Vec::new,
    executors: None,
    open: |_| open("rustcrypto"),
};

pub(crate) const SOFT: Implementation = Implementation {
    name: "rustcrypto:soft",
    environment: features::switch,
    executors: None,
    open: |_| open("rustcrypto:soft"),
};

struct RustCrypto {
    name: &'static str,
    executor: String,
}

// All entries have the same signature, but this provider is always available.
#[allow(clippy::unnecessary_wraps)]
fn open(name: &'static str) -> Result<Boxed, Unavailable> {
    let found = features::found();
    let executor = match found.is_empty() {
        true => "plain Rust".to_owned(),
        false => found.join(" "),
    };
    Ok(Box::new(RustCrypto { name, executor }))
}

type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;

impl Provider for RustCrypto {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: env!("CPB_RUSTCRYPTO_VERSION"),
            executor: &self.executor,
            options: env!("CPB_RUSTCRYPTO_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        let aead = workload.algorithm.shape().tag > 0;
        // What is left of a block is not kept between parts here.
        let block = match workload.algorithm {
            Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => 16,
            Algorithm::Poly1305 => 16,
            _ => 1,
        };
        match workload.phase {
            // A message is one call.
            Phase::Update if aead => Err(Unsupported::Phase),
            Phase::Update if !workload.message.is_multiple_of(block) => Err(Unsupported::Length),
            _ => session_of(workload.algorithm).map(|_| ()).ok_or(Unsupported::Algorithm),
        }
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
        let open = session_of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
        open(workload, keys, &jobs, body)
    }
}

/// How an algorithm opens a session.
type Opener = fn(&CryptoWorkload, &[&[u8]], &RawJobs<'_>, Body<'_>) -> Result<(), Error>;

fn session_of(algorithm: Algorithm) -> Option<Opener> {
    Some(match algorithm {
        Algorithm::Aes128Cbc => cbc::<Aes128>,
        Algorithm::Aes192Cbc => cbc::<Aes192>,
        Algorithm::Aes256Cbc => cbc::<Aes256>,
        Algorithm::Aes128Ecb => serve::<Ecb<Aes128>>,
        Algorithm::Aes192Ecb => serve::<Ecb<Aes192>>,
        Algorithm::Aes256Ecb => serve::<Ecb<Aes256>>,
        Algorithm::Aes128Ctr => serve::<Ctr<Aes128>>,
        Algorithm::Aes192Ctr => serve::<Ctr<Aes192>>,
        Algorithm::Aes256Ctr => serve::<Ctr<Aes256>>,
        Algorithm::Aes128Xts => serve::<Xts<Aes128>>,
        Algorithm::Aes256Xts => serve::<Xts<Aes256>>,
        Algorithm::Aes128Gcm => serve::<Aead<AesGcm<Aes128, U12>>>,
        Algorithm::Aes192Gcm => serve::<Aead<AesGcm<Aes192, U12>>>,
        Algorithm::Aes256Gcm => serve::<Aead<AesGcm<Aes256, U12>>>,
        Algorithm::Aes128Ccm => serve::<Aead<Ccm<Aes128, U16, U12>>>,
        Algorithm::Aes192Ccm => serve::<Aead<Ccm<Aes192, U16, U12>>>,
        Algorithm::Aes256Ccm => serve::<Aead<Ccm<Aes256, U16, U12>>>,
        Algorithm::Chacha20Poly1305 => serve::<Aead<ChaCha20Poly1305>>,
        Algorithm::Chacha20 => serve::<Chacha20>,
        Algorithm::Camellia256Cbc => cbc::<Camellia256>,
        Algorithm::TripleDesCbc => cbc::<TdesEde3>,
        Algorithm::DesCbc => cbc::<Des>,
        Algorithm::TripleDesEcb => serve::<Ecb<TdesEde3>>,
        Algorithm::DesEcb => serve::<Ecb<Des>>,
        Algorithm::Md5 => serve::<Hash<Md5>>,
        Algorithm::Sha1 => serve::<Hash<Sha1>>,
        Algorithm::Sha224 => serve::<Hash<Sha224>>,
        Algorithm::Sha256 => serve::<Hash<Sha256>>,
        Algorithm::Sha384 => serve::<Hash<Sha384>>,
        Algorithm::Sha512 => serve::<Hash<Sha512>>,
        Algorithm::Sha3_256 => serve::<Hash<Sha3_256>>,
        Algorithm::Sha3_512 => serve::<Hash<Sha3_512>>,
        Algorithm::HmacSha1 => serve::<Mac<HmacReset<Sha1>>>,
        Algorithm::HmacSha256 => serve::<Mac<HmacReset<Sha256>>>,
        Algorithm::HmacSha512 => serve::<Mac<HmacReset<Sha512>>>,
        Algorithm::Aes128Cmac => serve::<Mac<Cmac<Aes128>>>,
        Algorithm::Aes256Cmac => serve::<Mac<Cmac<Aes256>>>,
        Algorithm::Poly1305 => serve::<OneTimeMac>,
        pairs if key_pairs::has(pairs) => key_pairs::serve,
        _ => return None,
    })
}

/// A context that begins with a key.
trait Keyed: Context + Sized {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error>;
}

fn serve<C: Keyed>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    // A hash has no key.
    let key = keys.get(jobs.job(0)?.key).copied().unwrap_or_default();
    let context = C::new(key, Lengths::of(workload))?;
    run(context, workload, keys, jobs, body)
}

fn no_length<T>(_: T) -> Error {
    Unsupported::Length.into()
}

/// The message of a job, for reading and writing.
#[inline]
fn message<'j>(job: &'j RawJob, lengths: &Lengths) -> InOutBuf<'j, 'j, u8> {
    // SAFETY: both are valid for the message's length, and the same place or apart.
    unsafe { InOutBuf::from_raw(job.input, job.output, lengths.message) }
}

/// The input of a job.
#[inline]
fn input<'j>(job: &'j RawJob, lengths: &Lengths) -> &'j [u8] {
    // SAFETY: valid for the message's length, and nothing is written meanwhile.
    unsafe { slice::from_raw_parts(job.input, lengths.message) }
}

/// A part of a job, with the length that its algorithm has.
///
/// # Safety
/// It is valid for `N` bytes, and nothing writes to it meanwhile.
#[inline]
unsafe fn fixed<'j, N: ArraySize>(part: *const u8) -> &'j Array<u8, N> {
    // SAFETY: as promised by the caller; an array of bytes has no alignment.
    unsafe { &*part.cast() }
}
