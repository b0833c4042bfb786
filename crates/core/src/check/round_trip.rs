//! The check of answers that are drawn at random. An answer is right if its counterpart, itself shown to be
//! right by known answers, accepts it and rejects a tampered one, and if the next answer is different.

use super::{Case, Finding, once};
use crate::Lengths;
use crate::algorithm::{Kind, Operation};
use crate::error::{Error, Unsupported};
use crate::provider::{Data, Job, Provider};
use crate::public_key::parts;
use crate::workload::{CryptoWorkload, Phase, Placement};

pub(super) fn check(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Finding {
    let outcome = match case.operation {
        Operation::Sign => sign(provider, case, scratch),
        Operation::Encapsulate => encapsulate(provider, case, scratch),
        _ => generate(provider, case, scratch),
    };
    match outcome {
        Ok(()) => Finding::RoundTrip(1),
        Err(Error::Unsupported(reason)) => Finding::Unsupported(reason),
        Err(error) => Finding::Wrong { phase: Phase::Message, placement: Placement::Apart, error },
    }
}

fn sign(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Result<(), Error> {
    let run = Run { provider, case };
    let length = case.algorithm.lengths(Operation::Sign, 0).tag;
    let [first, second] = split(scratch, [length, length])?;
    run.job(Operation::Sign, case.key, case.input, &mut [], first)?;
    run.job(Operation::Sign, case.key, case.input, &mut [], second)?;
    different(first, second)?;
    run.verified(case.associated, case.input, first)?;
    run.verified(case.associated, case.input, second)
}

fn encapsulate(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Result<(), Error> {
    let run = Run { provider, case };
    let Lengths { output, tag, .. } = case.algorithm.lengths(Operation::Encapsulate, 0);
    let [first, second, again, first_tag, second_tag] =
        split(scratch, [output, output, output, tag, tag])?;
    run.job(Operation::Encapsulate, case.key, &[], first, first_tag)?;
    run.job(Operation::Encapsulate, case.key, &[], second, second_tag)?;
    different(first, second)?;
    different(first_tag, second_tag)?;
    run.job(Operation::Decapsulate, case.associated, &[], again, first_tag)?;
    same(first, again)?;
    // FIPS 203 rejects no encapsulation: a tampered one yields a different secret.
    first_tag[0] ^= 1;
    run.job(Operation::Decapsulate, case.associated, &[], again, first_tag)?;
    different(first, again)
}

/// Generates one pair and compares it with the timed pair, because an RSA pair takes seconds. A timed round
/// checks that two generated pairs differ.
fn generate(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Result<(), Error> {
    let run = Run { provider, case };
    let parts = parts(case.algorithm).ok_or(Unsupported::Algorithm)?;
    let length = parts.private + parts.public;
    let (pair, rest) = scratch.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
    pair.fill(0);
    run.job(Operation::GenerateKey, &[], &[], pair, &mut [])?;
    let (private, public) = pair.split_at(parts.private);
    let peer = case.algorithm.timed_public_key();
    let peer_private = case.algorithm.timed_private_key();
    different(private, peer_private)?;
    different(public, peer)?;
    match case.algorithm.shape().kind {
        Kind::Signature => {
            let digest = [0x5a; 64];
            let length = case.algorithm.fixed_message(Operation::Sign).unwrap_or(0);
            let digest = digest.get(..length).ok_or(Unsupported::Memory)?;
            let [signature] = split(rest, [parts.signature])?;
            run.job(Operation::Sign, private, digest, &mut [], signature)?;
            run.verified(public, digest, signature)?;
            refused(run.job(Operation::Verify, peer, digest, &mut [], signature))
        }
        Kind::KeyAgreement => {
            let [ours, theirs] = split(rest, [parts.secret, parts.secret])?;
            run.job(Operation::KeyAgreement, private, peer, ours, &mut [])?;
            run.job(Operation::KeyAgreement, peer_private, public, theirs, &mut [])?;
            same(ours, theirs)
        }
        _ => {
            let [sent, received, tag] =
                split(rest, [parts.secret, parts.secret, parts.encapsulation])?;
            run.job(Operation::Encapsulate, public, &[], sent, tag)?;
            run.job(Operation::Decapsulate, private, &[], received, tag)?;
            same(sent, received)
        }
    }
}

/// The provider under test and its case.
struct Run<'a> {
    provider: &'a dyn Provider,
    case: &'a Case<'a>,
}

impl Run<'_> {
    fn job(
        &self,
        operation: Operation,
        key: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let workload = CryptoWorkload::new(self.case.algorithm, operation, input.len() as u32);
        self.provider.supports(&workload)?;
        if key.len() != workload.lengths().key {
            return Err(Unsupported::Length.into());
        }
        let data = Data::Apart { input, output };
        let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag }];
        self.provider.session(&workload, &[key], &mut jobs, &mut |session| once(session, 0))
    }

    /// Checks that a signature is accepted, and rejected for another digest.
    fn verified(&self, public: &[u8], digest: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        self.job(Operation::Verify, public, digest, &mut [], signature)?;
        let mut other = [0; 64];
        let other = other.get_mut(..digest.len()).ok_or(Unsupported::Length)?;
        other.copy_from_slice(digest);
        if let Some(first) = other.first_mut() {
            *first ^= 1;
        }
        refused(self.job(Operation::Verify, public, other, &mut [], signature))
    }
}

/// Splits memory into consecutive pieces.
fn split<const N: usize>(
    mut memory: &mut [u8],
    lengths: [usize; N],
) -> Result<[&mut [u8]; N], Error> {
    let mut pieces = [(); N].map(|()| <&mut [u8]>::default());
    for (piece, length) in pieces.iter_mut().zip(lengths) {
        let (first, rest) = memory.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
        first.fill(0);
        *piece = first;
        memory = rest;
    }
    Ok(pieces)
}

fn same(one: &[u8], other: &[u8]) -> Result<(), Error> {
    if one == other { Ok(()) } else { Err(Error::WrongAnswer) }
}

fn different(one: &[u8], other: &[u8]) -> Result<(), Error> {
    if one != other { Ok(()) } else { Err(Error::WrongAnswer) }
}

fn refused(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(Error::Refused) => Ok(()),
        Ok(()) => Err(Error::WrongAnswer),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "round_trip_tests.rs"]
mod tests;
