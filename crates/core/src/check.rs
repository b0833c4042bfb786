//! The known-answer check: only a provider with right answers gets figures.

mod random;
mod round_trip;

pub use random::DISTINCT_FROM;

use crate::Lengths;
use crate::algorithm::{Algorithm, Kind, Operation};
use crate::error::{Error, Unsupported};
use crate::provider::{Data, Job, Progress, Provider, Session};
use crate::tls_record;
use crate::workload::{CryptoWorkload, Phase, Placement};
use serde::{Deserialize, Serialize};

/// One known answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case<'a> {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What is done.
    pub operation: Operation,
    /// The key; empty for a hash, the seed for a generator, the private or public key of a pair.
    pub key: &'a [u8],
    /// IV, nonce or initial counter block.
    pub iv: &'a [u8],
    /// Associated data; a record's header; for a key-pair operation that draws at random, the other key of
    /// the pair.
    pub associated: &'a [u8],
    /// The input. For a generator only its length counts: it is the number of bytes requested.
    pub input: &'a [u8],
    /// The tag of an AEAD: expected from Encrypt, given to Decrypt. Signatures and encapsulations are handled
    /// in the same way.
    pub tag: &'a [u8],
    /// The required answer.
    pub answer: Answer<'a>,
}

/// The required outcome of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Answer<'a> {
    /// These bytes.
    Output(&'a [u8]),
    /// The tag is forged: [`Error::Refused`].
    Refusal,
    /// The length is not possible: [`Unsupported::Length`], before anything is written.
    NoSuchLength,
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Finding {
    /// This many ways of running the case (phase, placement) gave the right answer.
    Right(u8),
    /// The answer cannot be known: see [`Provider::repeats`]. In this many ways every byte requested was
    /// written, with different content each time.
    Distinct(u8),
    /// The case cannot be run by this provider.
    Unsupported(Unsupported),
    /// The answer was wrong or missing in this phase and placement.
    Wrong {
        /// Phase that was tried.
        phase: Phase,
        /// Placement that was tried.
        placement: Placement,
        /// What went wrong. [`Error::WrongAnswer`] stands for wrong bytes, a wrong tag, or a forgery or
        /// impossible length that was accepted.
        error: Error,
    },
    /// The answer is drawn at random. In this many ways the counterpart accepted it and rejected a tampered
    /// one, and the next answer was different.
    RoundTrip(u8),
}

/// Runs `case` in every phase and placement that `provider` supports and that produces an answer to check.
/// `scratch` must hold at least input, output and tag. A generator needs four times the answer's length, and
/// an operation that draws with a key pair needs two pairs, tags and secrets.
pub fn check(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Finding {
    if case.operation == Operation::Random {
        return random::check(provider, case, scratch);
    }
    if case.algorithm.draws(case.operation) {
        return round_trip::check(provider, case, scratch);
    }
    let mut right = 0;
    // The reason for the simplest way is the most informative.
    let mut unsupported = None;
    for phase in [Phase::Message, Phase::MessageWithKey, Phase::Update] {
        for &placement in Placement::ALL {
            match check_one(provider, case, phase, placement, scratch) {
                Ok(()) => right += 1,
                Err(Error::Unsupported(reason)) => _ = unsupported.get_or_insert(reason),
                Err(error) => {
                    return Finding::Wrong { phase, placement, error };
                }
            }
        }
    }
    let reason = unsupported.unwrap_or(Unsupported::Algorithm);
    if right > 0 { Finding::Right(right) } else { Finding::Unsupported(reason) }
}

fn check_one(
    provider: &dyn Provider,
    case: &Case<'_>,
    phase: Phase,
    placement: Placement,
    scratch: &mut [u8],
) -> Result<(), Error> {
    let shape = case.algorithm.shape();
    // An update alone writes a cipher's output, but no tag, digest or MAC, and it cannot reject a forgery.
    let shows = shape.digest == 0 && !matches!(case.answer, Answer::Refusal);
    if phase == Phase::Update && !shows {
        return Err(Unsupported::Phase.into());
    }
    if placement == Placement::InPlace && shape.digest != 0 {
        return Err(Unsupported::Mode.into());
    }
    let (message, associated) = match shape.kind {
        Kind::Record => {
            let Case { operation, associated, input, .. } = *case;
            (
                tls_record::message(operation, associated, input.len())
                    .ok_or(Unsupported::Length)?,
                0,
            )
        }
        _ => (case.input.len(), case.associated.len()),
    };
    let workload = CryptoWorkload {
        phase,
        placement,
        associated: associated as u32,
        ..CryptoWorkload::new(case.algorithm, case.operation, message as u32)
    };
    let Lengths { output: length, tag: tag_length, .. } = workload.lengths();
    let supported = provider.supports(&workload);
    if case.answer == Answer::NoSuchLength {
        return refused_length(provider, &workload, supported);
    }
    supported?;
    if case.tag.len() != tag_length {
        return Err(Unsupported::Length.into());
    }

    let (output, rest) = scratch.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
    // Make every byte wrong at first, so that a provider that writes nothing is not right by chance.
    output.fill(0);
    if let Answer::Output(right) = case.answer {
        for (byte, right) in output.iter_mut().zip(right) {
            *byte = !right;
        }
    }
    let (tag, rest) = rest.split_at_mut_checked(tag_length).ok_or(Unsupported::Memory)?;
    tag.copy_from_slice(case.tag);
    let writes_tag = matches!(case.operation, Operation::Encrypt | Operation::Sign);
    if writes_tag {
        tag.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let data = match placement {
        Placement::InPlace => {
            output.copy_from_slice(case.input);
            Data::InPlace(output)
        }
        Placement::Apart => {
            let input = rest.get_mut(..case.input.len()).ok_or(Unsupported::Memory)?;
            input.copy_from_slice(case.input);
            Data::Apart { input, output }
        }
    };
    let job = Job { key: 0, iv: case.iv, associated: case.associated, data, tag };
    let mut jobs = [job];
    let ran = provider.session(&workload, &[case.key], &mut jobs, &mut |session| once(session, 0));

    let [job] = &jobs;
    match (case.answer, ran) {
        (Answer::Refusal, Err(Error::Refused)) => Ok(()),
        (Answer::Refusal, Ok(())) => Err(Error::WrongAnswer),
        (_, Err(error)) => Err(error),
        (Answer::Output(right), Ok(())) => {
            let tag_shows = writes_tag && phase != Phase::Update;
            let tag_right = !tag_shows || *job.tag == *case.tag;
            if job.data.output() == right && tag_right { Ok(()) } else { Err(Error::WrongAnswer) }
        }
        (Answer::NoSuchLength, Ok(())) => Err(Error::WrongAnswer),
    }
}

/// An impossible length must be rejected by `supports`, and also by `session` for callers that did not ask
/// first.
fn refused_length(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    supported: Result<(), Unsupported>,
) -> Result<(), Error> {
    match supported {
        Ok(()) => return Err(Error::WrongAnswer),
        Err(Unsupported::Length) => {}
        Err(other) => return Err(other.into()),
    }
    match provider.session(workload, &[], &mut [], &mut |_| Ok(())) {
        Err(Error::Unsupported(Unsupported::Length)) => Ok(()),
        _ => Err(Error::WrongAnswer),
    }
}

/// Runs one job to its end, untimed.
pub fn once(session: &mut dyn Session, job: usize) -> Result<(), Error> {
    session.build(job)?;
    match session.submit(job)? {
        Progress::Done => Ok(()),
        Progress::Queued => {
            session.start_all()?;
            let completion = session.complete()?.ok_or(Error::Contract)?;
            if completion.job != job {
                return Err(Error::Contract);
            }
            completion.result
        }
        Progress::Full => Err(Error::Contract),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
