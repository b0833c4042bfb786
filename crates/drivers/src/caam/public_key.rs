//! Operations with key pairs: RSA by the engine's protocols, and curves by its accelerator for public keys.
//!
//! An operation of ECDSA or ECDH is several jobs, one after the other, as NXP's driver offers them. Nothing is queued.

mod accelerator;
mod curve;
mod ecdsa;
mod rsa;

use super::{Caam, Completion as How};
use crate::queue;
use core::cell::RefCell;
use cpb_core::{
    Algorithm, Bus, CryptoWorkload, Data, Error, Job, Operation, Phase, Progress, Session,
    Unsupported,
};
use curve::Curve;

/// How many times as long as a message's job one of these may take. RSA of 4096 bits takes 0.2 s if a product of 32-bit
/// words takes a clock.
const PATIENCE: u32 = 8;

fn is_rsa(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1)
}

/// The curve of an algorithm, in memory that the engine reaches.
fn curve(algorithm: Algorithm) -> Option<Curve> {
    Some(match algorithm {
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => curve::P_256,
        Algorithm::EcdsaP384 | Algorithm::EcdhP384 => curve::P_384,
        _ => return None,
    })
}

/// Whether an algorithm has key pairs and the driver offers it.
pub(super) fn has(algorithm: Algorithm) -> bool {
    is_rsa(algorithm) || curve(algorithm).is_some()
}

/// Whether a workload of an algorithm that [`has`] names can run.
pub(super) fn supports(workload: &CryptoWorkload, ring: usize) -> Result<(), Unsupported> {
    if is_rsa(workload.algorithm) && workload.operation == Operation::GenerateKey {
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
    let curve = curve(workload.algorithm);
    let caam = &mut *caam.borrow_mut();
    caam.ring.patience = PATIENCE;
    let result = opened(caam, curve, how, workload.operation, key, jobs, body);
    caam.ring.patience = 1;
    result
}

fn opened<B: Bus>(
    caam: &mut Caam<'_, B>,
    curve: Option<Curve>,
    how: How,
    operation: Operation,
    key: &[u8],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    // A key is read before the clock starts.
    if let (Some(curve), Operation::Verify) = (&curve, operation) {
        caam.point_of(curve, key, how)?;
    }
    body(&mut AtOnce { caam, curve, how, operation, key, jobs })
}

/// A session whose jobs run as soon as they are submitted.
struct AtOnce<'q, 'b, 'w, B> {
    caam: &'q mut Caam<'w, B>,
    /// `None` for RSA.
    curve: Option<Curve>,
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
        match (&self.curve, self.operation) {
            (None, Operation::Sign) => caam.sign_rsa(key, input, tag, how)?,
            (None, _) => caam.verify_rsa(key, input, tag, how)?,
            (Some(curve), Operation::Sign) => caam.sign(curve, key, input, tag, how)?,
            (Some(curve), Operation::Verify) => caam.verify(curve, key, input, tag, how)?,
            (Some(curve), Operation::KeyAgreement) => {
                caam.agree(curve, key, input, output, how)?;
            }
            (Some(curve), _) => caam.generate(curve, output, how)?,
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs[job].data.output())
    }
}
