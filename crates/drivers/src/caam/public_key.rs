//! Operations with key pairs: RSA by the engine's protocols, and curves by its accelerator for public keys.
//!
//! One operation of ECDSA or ECDH is several jobs, one after the other, as NXP's driver offers them. They are not queued.

mod accelerator;
mod curve;
mod rsa;

use super::{Caam, Completion as How};
use crate::queue;
use accelerator::NUMBER;
use core::cell::RefCell;
use cpb_core::{
    Algorithm, Bus, CryptoWorkload, Data, Error, Job, Operation, Phase, Progress, Session,
    Unsupported,
};
use curve::Curve;

/// How many times as long as a message's job one of these may take: RSA of 4096 bits, if a product of 32-bit words takes a
/// clock, is 0.2 s.
const PATIENCE: u32 = 8;

/// What the engine computes with a key pair.
enum Pair {
    Rsa,
    Curve(Curve),
}

fn pair(algorithm: Algorithm) -> Option<Pair> {
    Some(match algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => Pair::Rsa,
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Pair::Curve(curve::P_256),
        Algorithm::EcdsaP384 | Algorithm::EcdhP384 => Pair::Curve(curve::P_384),
        _ => return None,
    })
}

/// Whether an algorithm has key pairs and the driver offers it.
pub(super) fn has(algorithm: Algorithm) -> bool {
    pair(algorithm).is_some()
}

/// Whether a workload of an algorithm that [`has`] names can run.
pub(super) fn supports(workload: &CryptoWorkload, ring: usize) -> Result<(), Unsupported> {
    let is_rsa = matches!(pair(workload.algorithm), Some(Pair::Rsa));
    if is_rsa && workload.operation == Operation::GenerateKey {
        return Err(Unsupported::Algorithm);
    }
    if workload.phase != Phase::Message {
        return Err(Unsupported::Phase);
    }
    queue::dispatched(workload.dispatch, ring, true)
}

/// A session of an algorithm that [`has`] names. The caller has asked [`supports`].
pub(super) fn session<B: Bus>(
    caam: &RefCell<Caam<'_, B>>,
    how: How,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    let lengths = workload.lengths();
    let fits = |job: &Job<'_>| {
        let (input, output) = match &job.data {
            Data::Apart { input, output } => (input.len(), output.len()),
            Data::InPlace(_) => return false,
        };
        (input, output, job.tag.len()) == (lengths.input, lengths.output, lengths.tag)
    };
    let key = keys.first().copied().unwrap_or_default();
    if key.len() != lengths.key || !jobs.iter().all(fits) {
        return Err(Unsupported::Length.into());
    }
    let pair = pair(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let caam = &mut *caam.borrow_mut();
    caam.ring.patience = PATIENCE;
    let result = opened(caam, pair, how, workload.operation, key, jobs, body);
    caam.ring.patience = 1;
    result
}

fn opened<B: Bus>(
    caam: &mut Caam<'_, B>,
    pair: Pair,
    how: How,
    operation: Operation,
    key: &[u8],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    // A key is read before the clock starts.
    if let (Pair::Curve(curve), Operation::Verify) = (&pair, operation) {
        caam.point_of(curve, key, how)?;
    }
    body(&mut AtOnce { caam, pair, how, operation, key, jobs })
}

/// A session whose jobs run as soon as they are submitted.
struct AtOnce<'q, 'b, 'w, B> {
    caam: &'q mut Caam<'w, B>,
    pair: Pair,
    how: How,
    operation: Operation,
    key: &'q [u8],
    jobs: &'q mut [Job<'b>],
}

impl<B: Bus> Session for AtOnce<'_, '_, '_, B> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let AtOnce { caam, key, how, .. } = self;
        let (key, how) = (*key, *how);
        let Job { data, tag, .. } = &mut self.jobs[job];
        let Data::Apart { input, output } = data else { return Err(Unsupported::Mode.into()) };
        match (&self.pair, self.operation) {
            (Pair::Rsa, Operation::Sign) => caam.sign_rsa(key, input, tag, how)?,
            (Pair::Rsa, _) => caam.verify_rsa(key, input, tag, how)?,
            (Pair::Curve(curve), Operation::Sign) => caam.sign(curve, key, input, tag, how)?,
            (Pair::Curve(curve), Operation::Verify) => caam.verify(curve, key, input, tag, how)?,
            (Pair::Curve(curve), Operation::KeyAgreement) => {
                caam.agree(curve, key, input, output, how)?;
            }
            (Pair::Curve(curve), _) => caam.generate(curve, output, how)?,
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs[job].data.output())
    }
}

/// Whether a number is not zero.
fn is_positive(number: &[u8]) -> bool {
    number.iter().any(|byte| *byte != 0)
}

/// Whether a number is from 1 to what is below `end`, which is as long.
fn is_within(number: &[u8], end: &[u8]) -> bool {
    is_positive(number) && number < end
}

const _: () = assert!(NUMBER >= 48 + 8, "random numbers for the longest order");
