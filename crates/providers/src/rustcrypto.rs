//! The RustCrypto crates, which find out at run time which of the CPU's instructions they may use.

use crate::context::{Context, Lengths, run};
use crate::lengths::keys_fit;
use crate::raw_jobs::{RawJob, RawJobs, software_supports};
use crate::{Entry, Unavailable, Variants};
use aes::cipher::common::InnerIvInit;
use aes::cipher::consts::{U12, U16};
use aes::cipher::inout::InOutBuf;
use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, IvState, KeyInit, SetIvState, StreamCipher, StreamCipherCoreWrapper,
};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadCore, AeadInOut};
use chacha20poly1305::ChaCha20Poly1305;
use core::slice;
use cpb_core::algorithm::MAX_DIGEST;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Phase, Provider, Session, Unsupported,
};
use hmac::{HmacReset, Mac};
use sha1::Sha1;
use sha2::digest::FixedOutputReset;
use sha2::{Digest, Sha256, Sha512};

pub(crate) const ENTRY: Entry = Entry {
    name: "rustcrypto",
    about: "the RustCrypto crates, with the CPU instructions that they find",
    environment: Vec::new,
    loads: false,
    variants: Variants::None,
    open: |_| open(),
};

struct RustCrypto {
    executor: String,
}

// One signature for all entries: this one is always here.
#[allow(clippy::unnecessary_wraps)]
fn open() -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
    let found = features();
    let executor = match found.is_empty() {
        true => "plain Rust".to_owned(),
        false => found.join(" "),
    };
    Ok(Box::new(RustCrypto { executor }))
}

/// Those of the CPU's extensions that the crates look for and find.
fn features() -> Vec<&'static str> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    let looked_for = [
        ("aes", is_x86_feature_detected!("aes")),
        ("vaes", is_x86_feature_detected!("vaes")),
        ("pclmulqdq", is_x86_feature_detected!("pclmulqdq")),
        ("sha", is_x86_feature_detected!("sha")),
        ("ssse3", is_x86_feature_detected!("ssse3")),
        ("avx2", is_x86_feature_detected!("avx2")),
    ];
    #[cfg(target_arch = "aarch64")]
    let looked_for = [
        ("aes", std::arch::is_aarch64_feature_detected!("aes")),
        ("pmull", std::arch::is_aarch64_feature_detected!("pmull")),
        ("sha2", std::arch::is_aarch64_feature_detected!("sha2")),
        ("sha3", std::arch::is_aarch64_feature_detected!("sha3")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    let looked_for: [(&str, bool); 0] = [];
    looked_for.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;

impl Provider for RustCrypto {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: ENTRY.name,
            version: env!("CPB_RUSTCRYPTO_VERSION"),
            executor: &self.executor,
            options: env!("CPB_RUSTCRYPTO_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        let update = workload.phase == Phase::Update;
        match workload.algorithm.shape().kind {
            // A message is one call.
            Kind::Aead if update => Err(Unsupported::Phase),
            // What is left of a block is not kept from part to part here.
            Kind::StreamCipher if update && !workload.message.is_multiple_of(16) => {
                Err(Unsupported::Length)
            }
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

/// An algorithm's way to open a session.
type Open = fn(&CryptoWorkload, &[&[u8]], &RawJobs<'_>, Body<'_>) -> Result<(), Error>;

fn session_of(algorithm: Algorithm) -> Option<Open> {
    Some(match algorithm {
        Algorithm::Aes128Cbc => cbc::<Aes128>,
        Algorithm::Aes192Cbc => cbc::<Aes192>,
        Algorithm::Aes256Cbc => cbc::<Aes256>,
        Algorithm::Aes128Ctr => serve::<Ctr<Aes128>>,
        Algorithm::Aes192Ctr => serve::<Ctr<Aes192>>,
        Algorithm::Aes256Ctr => serve::<Ctr<Aes256>>,
        Algorithm::Aes128Gcm => serve::<Aead<AesGcm<Aes128, U12>>>,
        Algorithm::Aes192Gcm => serve::<Aead<AesGcm<Aes192, U12>>>,
        Algorithm::Aes256Gcm => serve::<Aead<AesGcm<Aes256, U12>>>,
        Algorithm::Chacha20Poly1305 => serve::<Aead<ChaCha20Poly1305>>,
        Algorithm::Sha1 => serve::<Hash<Sha1>>,
        Algorithm::Sha256 => serve::<Hash<Sha256>>,
        Algorithm::Sha512 => serve::<Hash<Sha512>>,
        Algorithm::HmacSha256 => serve::<HmacSha256>,
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
    run(context, workload.phase, keys, jobs, body)
}

fn cbc<C>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
{
    match Lengths::of(workload).decrypts {
        true => serve::<Decrypt<C>>(workload, keys, jobs, body),
        false => serve::<Encrypt<C>>(workload, keys, jobs, body),
    }
}

fn no_length<T>(_: T) -> Error {
    Unsupported::Length.into()
}

/// The message of a job, to read and to write.
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

/// Writes a digest.
#[inline]
fn give(digest: &[u8], job: &RawJob) {
    debug_assert!(digest.len() <= MAX_DIGEST);
    // SAFETY: the output of a hash or MAC is as long as its digest.
    unsafe { digest.as_ptr().copy_to_nonoverlapping(job.output, digest.len()) };
}

/// The 16 bytes of an IV of AES.
#[inline]
fn iv(job: &RawJob) -> &Array<u8, U16> {
    // SAFETY: valid for 16 bytes; an array of bytes has no alignment.
    unsafe { &*job.iv.cast() }
}

macro_rules! cbc_context {
    ($name:ident, $mode:ident, $needs:ident, $run:ident) => {
        /// CBC in one direction.
        struct $name<C: $needs> {
            mode: cbc::$mode<C>,
            lengths: Lengths,
        }

        impl<C: $needs + BlockSizeUser<BlockSize = U16> + KeyInit> Keyed for $name<C> {
            fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
                let cipher = C::new_from_slice(key).map_err(no_length)?;
                let mode = cbc::$mode::inner_iv_init(cipher, &Array::default());
                Ok($name { mode, lengths })
            }
        }

        impl<C: $needs + BlockSizeUser<BlockSize = U16> + KeyInit> Context for $name<C> {
            #[inline]
            fn key(&mut self, key: &[u8]) -> Result<(), Error> {
                *self = Self::new(key, self.lengths)?;
                Ok(())
            }

            #[inline]
            fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
                self.mode.set_iv(iv(job));
                Ok(())
            }

            #[inline]
            fn part(&mut self, job: &RawJob) -> Result<(), Error> {
                let (blocks, _) = message(job, &self.lengths).into_chunks::<U16>();
                self.mode.$run(blocks);
                Ok(())
            }

            fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
                Ok(())
            }
        }
    };
}
cbc_context!(Encrypt, Encryptor, BlockCipherEncrypt, encrypt_blocks_inout);
cbc_context!(Decrypt, Decryptor, BlockCipherDecrypt, decrypt_blocks_inout);

type Counter<C> = ctr::CtrCore<C, ctr::flavors::Ctr128BE>;

struct Ctr<C> {
    cipher: C,
    counter: Array<u8, U16>,
    lengths: Lengths,
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> Keyed for Ctr<C> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        let cipher = C::new_from_slice(key).map_err(no_length)?;
        Ok(Ctr { cipher, counter: Array::default(), lengths })
    }
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> Context for Ctr<C> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        self.counter = *iv(job);
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let core = Counter::<&C>::inner_iv_init(&self.cipher, &self.counter);
        let mut stream = StreamCipherCoreWrapper::from_core(core);
        stream.try_apply_keystream_inout(message(job, &self.lengths)).map_err(no_length)?;
        self.counter = stream.get_core().iv_state();
        Ok(())
    }

    fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }
}

struct Aead<A> {
    cipher: A,
    lengths: Lengths,
}

impl<A: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit> Keyed for Aead<A> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Aead { cipher: A::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl<A: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit> Context for Aead<A> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: nonce, associated data and tag have the session's lengths; arrays of bytes have no
        // alignment.
        let (nonce, associated, tag) = unsafe {
            let nonce = &*job.iv.cast::<Array<u8, U12>>();
            let associated = slice::from_raw_parts(job.associated, self.lengths.associated);
            (nonce, associated, &mut *job.tag.cast::<Array<u8, U16>>())
        };
        let message = message(job, &self.lengths);
        if self.lengths.decrypts {
            let done = self.cipher.decrypt_inout_detached(nonce, associated, message, tag);
            return done.map_err(|_| Error::Refused);
        }
        *tag = self.cipher.encrypt_inout_detached(nonce, associated, message).map_err(no_length)?;
        Ok(())
    }

    fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }
}

struct Hash<D> {
    digest: D,
    lengths: Lengths,
}

impl<D: Digest + FixedOutputReset> Keyed for Hash<D> {
    fn new(_key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Hash { digest: D::new(), lengths })
    }
}

impl<D: Digest + FixedOutputReset> Context for Hash<D> {
    fn key(&mut self, _key: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // Ready since it was opened, or since the last digest.
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        Digest::update(&mut self.digest, input(job, &self.lengths));
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        give(&self.digest.finalize_reset(), job);
        Ok(())
    }
}

struct HmacSha256 {
    mac: HmacReset<Sha256>,
    lengths: Lengths,
}

impl Keyed for HmacSha256 {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(HmacSha256 { mac: HmacReset::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl Context for HmacSha256 {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // Ready since it has its key, or since the last one.
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        Mac::update(&mut self.mac, input(job, &self.lengths));
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        give(&self.mac.finalize_reset().into_bytes(), job);
        Ok(())
    }
}
