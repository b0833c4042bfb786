//! Sessions of algorithms with key pairs. Keys are read before the clock starts, except for the peer's key in
//! an agreement. A new pair is written out after the clock has stopped.

use super::Body;
use crate::rng;
use aes::cipher::Array;
use core::convert::Infallible;
use core::slice;
use cpb_session::raw_jobs::{RawJob, RawJobs};

use cpb_core::public_key::parts;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Lengths, Operation, Phase, Progress, Session, Unsupported,
};
use ed25519_dalek::{Signer, Verifier};
use ml_dsa::{Keypair, MlDsa65};
use ml_kem::{
    Decapsulate, DecapsulationKey768, Encapsulate, EncapsulationKey768, Generate, KeyExport,
};
use p256::ecdsa::signature::hazmat::{PrehashVerifier, RandomizedPrehashSigner};
use p256::elliptic_curve::sec1::ToSec1Point;
use rand_core::{TryCryptoRng, TryRng};
use x25519_dalek::StaticSecret;

/// Whether there is a crate for it. RSA is left out: the released crate (0.9) is for older versions of the
/// other crates, and leaks keys by its timing (RUSTSEC-2023-0071).
pub(super) fn has(algorithm: Algorithm) -> bool {
    work_of(algorithm).is_some()
}

/// The function that runs an algorithm's sessions.
type WorkOf = fn(&Work<'_>, Body<'_>) -> Result<(), Error>;

fn work_of(algorithm: Algorithm) -> Option<WorkOf> {
    Some(match algorithm {
        Algorithm::EcdsaP256 => ecdsa_p256,
        Algorithm::EcdsaP384 => ecdsa_p384,
        Algorithm::EcdhP256 => ecdh_p256,
        Algorithm::EcdhP384 => ecdh_p384,
        Algorithm::Ed25519 => ed25519,
        Algorithm::X25519 => x25519,
        Algorithm::MlDsa65 => ml_dsa_65,
        Algorithm::MlKem768 => ml_kem_768,
        _ => return None,
    })
}

/// Opens a session.
pub(super) fn serve(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let lengths = workload.lengths();
    let key = keys.first().copied().unwrap_or_default();
    if workload.operation != Operation::GenerateKey && key.len() != lengths.key {
        return Err(Unsupported::Length.into());
    }
    let work = work_of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    work(&Work { workload, key, lengths, jobs }, body)
}

/// What a session works on.
struct Work<'a> {
    workload: &'a CryptoWorkload,
    key: &'a [u8],
    lengths: Lengths,
    jobs: &'a RawJobs<'a>,
}

/// The parts of a job.
struct Parts<'j> {
    input: &'j [u8],
    output: &'j mut [u8],
    tag: &'j mut [u8],
}

impl Work<'_> {
    /// Hands `body` a session whose entire work is a function of the job.
    fn run(
        &self,
        body: Body<'_>,
        run: impl FnMut(Parts<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        body(&mut Submit { work: self, run })
    }

    /// The same for making pairs: each job gets the last pair.
    fn make<P>(
        &self,
        body: Body<'_>,
        make: impl Fn() -> P,
        write: impl Fn(&P, &mut [u8], &mut [u8]),
    ) -> Result<(), Error> {
        let mut made = None;
        self.run(body, |_| {
            made = Some(make());
            Ok(())
        })?;
        let lengths = parts(self.workload.algorithm).ok_or(Unsupported::Algorithm)?;
        let Some(pair) = made else { return Ok(()) };
        for job in self.jobs.all() {
            let (private, public) = self.parts(job).output.split_at_mut(lengths.private);
            write(&pair, private, public);
        }
        Ok(())
    }

    #[inline]
    fn parts<'j>(&self, job: &'j RawJob) -> Parts<'j> {
        let Lengths { output, tag, .. } = self.lengths;
        // SAFETY: `RawJobs` checked that the parts have the workload's lengths. They are borrowed as long as
        // the job is, they do not overlap, and one job is worked on at a time.
        unsafe {
            Parts {
                input: slice::from_raw_parts(job.input, self.jobs.message),
                output: slice::from_raw_parts_mut(job.output, output),
                tag: slice::from_raw_parts_mut(job.tag, tag),
            }
        }
    }
}

struct Submit<'a, F> {
    work: &'a Work<'a>,
    run: F,
}

impl<F: FnMut(Parts<'_>) -> Result<(), Error>> Session for Submit<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.work.jobs.job(job)?;
        (self.run)(self.work.parts(job))?;
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.work.jobs.output(job)
    }
}

/// The error for what a crate refuses because of its content: a key or a signature.
fn refused<E>(_: E) -> Error {
    Error::Refused
}

/// Random bytes for crates that want them from their caller. Not secret.
struct RandomBytes;

impl TryRng for RandomBytes {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        rng::fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        rng::fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, output: &mut [u8]) -> Result<(), Infallible> {
        rng::fill(output);
        Ok(())
    }
}

// The crates require this. The keys are only timed, and are not secret.
impl TryCryptoRng for RandomBytes {}

/// One of NIST's curves. Their crates differ only in their names.
macro_rules! nist_curve {
    ($curve:ident, $ecdsa:ident, $ecdh:ident, $generate:ident) => {
        fn $ecdsa(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
            use $curve::ecdsa::{Signature, SigningKey, VerifyingKey};
            match work.workload.operation {
                Operation::Sign => {
                    let key = SigningKey::from_slice(work.key).map_err(refused)?;
                    work.run(body, |job| {
                        let signature: Signature = key
                            .sign_prehash_with_rng(&mut RandomBytes, job.input)
                            .map_err(|_| Error::Device(0))?;
                        job.tag.copy_from_slice(&signature.to_bytes());
                        Ok(())
                    })
                }
                Operation::Verify => {
                    let key = VerifyingKey::from_sec1_bytes(work.key).map_err(refused)?;
                    work.run(body, |job| {
                        let signature = Signature::from_slice(job.tag).map_err(refused)?;
                        key.verify_prehash(job.input, &signature).map_err(refused)
                    })
                }
                _ => $generate(work, body),
            }
        }

        fn $ecdh(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
            use $curve::{PublicKey, SecretKey};
            if work.workload.operation == Operation::GenerateKey {
                return $generate(work, body);
            }
            let key = SecretKey::from_slice(work.key).map_err(refused)?;
            let read = |peer: &[u8]| PublicKey::from_sec1_bytes(peer).map_err(refused);
            work.agree(body, read, |peer, output| {
                let secret = key.diffie_hellman(peer);
                output.copy_from_slice(secret.raw_secret_bytes());
                Ok(())
            })
        }

        fn $generate(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
            let make = || {
                let secret = $curve::SecretKey::generate_from_rng(&mut RandomBytes);
                let public = secret.public_key();
                (secret, public)
            };
            work.make(body, make, |(secret, public), private, written| {
                private.copy_from_slice(&secret.to_bytes());
                written.copy_from_slice(public.to_sec1_point(false).as_bytes());
            })
        }
    };
}
nist_curve!(p256, ecdsa_p256, ecdh_p256, generate_p256);
nist_curve!(p384, ecdsa_p384, ecdh_p384, generate_p384);

impl Work<'_> {
    /// Runs an agreement: the peer's key is read each time, or once for all operations.
    fn agree<P>(
        &self,
        body: Body<'_>,
        read: impl Fn(&[u8]) -> Result<P, Error>,
        agree: impl Fn(&P, &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.workload.phase == Phase::Update {
            let peer = read(self.parts(self.jobs.job(0)?).input)?;
            return self.run(body, |job| agree(&peer, job.output));
        }
        self.run(body, |job| agree(&read(job.input)?, job.output))
    }
}

fn ed25519(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
    use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
    match work.workload.operation {
        Operation::Sign => {
            let key = SigningKey::try_from(work.key).map_err(refused)?;
            work.run(body, |job| {
                job.tag.copy_from_slice(&key.sign(job.input).to_bytes());
                Ok(())
            })
        }
        Operation::Verify => {
            let key = VerifyingKey::try_from(work.key).map_err(refused)?;
            work.run(body, |job| {
                let signature = Signature::from_slice(job.tag).map_err(refused)?;
                key.verify(job.input, &signature).map_err(refused)
            })
        }
        _ => {
            let make = || SigningKey::generate(&mut RandomBytes);
            work.make(body, make, |key, private, public| {
                private.copy_from_slice(key.as_bytes());
                public.copy_from_slice(key.verifying_key().as_bytes());
            })
        }
    }
}

fn x25519(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
    use x25519_dalek::PublicKey;
    if work.workload.operation == Operation::GenerateKey {
        let make = || {
            let secret = StaticSecret::random_from_rng(&mut RandomBytes);
            let public = PublicKey::from(&secret);
            (secret, public)
        };
        return work.make(body, make, |(secret, public), private, written| {
            private.copy_from_slice(secret.as_bytes());
            written.copy_from_slice(public.as_bytes());
        });
    }
    let key = StaticSecret::from(<[u8; 32]>::try_from(work.key).map_err(refused)?);
    let read = |peer: &[u8]| <[u8; 32]>::try_from(peer).map(PublicKey::from).map_err(refused);
    work.agree(body, read, |peer, output| {
        let secret = key.diffie_hellman(peer);
        // RFC 7748, section 6.1: a peer can make it 0, so this is checked.
        if !secret.was_contributory() {
            return Err(Error::Refused);
        }
        output.copy_from_slice(secret.as_bytes());
        Ok(())
    })
}

fn ml_dsa_65(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
    use ml_dsa::{Signature, SigningKey, VerifyingKey};
    type Key = SigningKey<MlDsa65>;
    // The context of every signature.
    const CONTEXT: &[u8] = &[];
    match work.workload.operation {
        Operation::Sign => {
            let key = Key::from_seed(work.key.try_into().map_err(refused)?);
            work.run(body, |job| {
                let signature = key
                    .expanded_key()
                    .sign_randomized(job.input, CONTEXT, &mut RandomBytes)
                    .map_err(|_| Error::Device(0))?;
                job.tag.copy_from_slice(&signature.encode());
                Ok(())
            })
        }
        Operation::Verify => {
            let key = VerifyingKey::<MlDsa65>::decode(work.key.try_into().map_err(refused)?);
            work.run(body, |job| {
                let signature = Signature::try_from(&*job.tag).map_err(refused)?;
                match key.verify_with_context(job.input, CONTEXT, &signature) {
                    true => Ok(()),
                    false => Err(Error::Refused),
                }
            })
        }
        _ => {
            let make = || Key::generate_from_rng(&mut RandomBytes);
            work.make(body, make, |key, private, public| {
                private.copy_from_slice(key.as_seed());
                public.copy_from_slice(&key.verifying_key().encode());
            })
        }
    }
}

fn ml_kem_768(work: &Work<'_>, body: Body<'_>) -> Result<(), Error> {
    match work.workload.operation {
        Operation::Encapsulate => {
            let key = work.key.try_into().map_err(refused)?;
            let key = EncapsulationKey768::new(key).map_err(refused)?;
            work.run(body, |job| {
                let (encapsulation, secret) = key.encapsulate_with_rng(&mut RandomBytes);
                job.tag.copy_from_slice(&encapsulation);
                job.output.copy_from_slice(&secret);
                Ok(())
            })
        }
        Operation::Decapsulate => {
            let key = DecapsulationKey768::from_seed(Array::try_from(work.key).map_err(refused)?);
            work.run(body, |job| {
                let secret = key.decapsulate_slice(job.tag).map_err(refused)?;
                job.output.copy_from_slice(&secret);
                Ok(())
            })
        }
        _ => {
            let make = || DecapsulationKey768::generate_from_rng(&mut RandomBytes);
            work.make(body, make, |key, private, public| {
                private.copy_from_slice(&key.to_bytes());
                public.copy_from_slice(&key.encapsulation_key().to_bytes());
            })
        }
    }
}
