//! The check of a generator.
//!
//! A generator that repeats is compared with its known answer: the output of the second request, as printed
//! by NIST. If a generator adds its own entropy, no answer can be known. The check is then that every byte
//! requested is written, with different content each time.

use super::{Answer, Case, Finding, once};
use crate::error::{Error, Unsupported};
use crate::provider::{Data, Job, Provider};
use crate::workload::{CryptoWorkload, Phase, Placement};

/// How many requests are made to a generator without known answers. A byte that never changed is taken as not
/// written; the chance of an error is 2^-64.
const REQUESTS: u8 = 8;

/// The shortest output whose repetition counts as an error: shorter ones may be equal by chance.
pub const DISTINCT_FROM: usize = 8;

/// `scratch` must hold the output four times.
pub(super) fn check(provider: &dyn Provider, case: &Case<'_>, scratch: &mut [u8]) -> Finding {
    let length = case.input.len();
    let workload = CryptoWorkload::new(case.algorithm, case.operation, length as u32);
    let outcome = provider.supports(&workload).map_err(Error::from).and_then(|()| {
        let Answer::Output(right) = case.answer else { return Err(Unsupported::Mode.into()) };
        let (output, rest) = scratch.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
        if provider.repeats(&workload) {
            known(provider, &workload, case.key, right, output).map(|()| Finding::Right(1))
        } else {
            fresh(provider, &workload, case.key, output, rest).map(|()| Finding::Distinct(1))
        }
    });
    match outcome {
        Ok(finding) => finding,
        Err(Error::Unsupported(reason)) => Finding::Unsupported(reason),
        Err(error) => Finding::Wrong { phase: Phase::Message, placement: Placement::Apart, error },
    }
}

fn known(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    seed: &[u8],
    right: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    for (byte, right) in output.iter_mut().zip(right) {
        *byte = !right;
    }
    // A request has a length but no content, so the answer's own bytes serve as input.
    request(provider, workload, seed, right, output, 2)?;
    if output == right { Ok(()) } else { Err(Error::WrongAnswer) }
}

fn fresh(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    seed: &[u8],
    output: &mut [u8],
    rest: &mut [u8],
) -> Result<(), Error> {
    let length = output.len();
    let (before, rest) = rest.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
    let (written, rest) = rest.split_at_mut_checked(length).ok_or(Unsupported::Memory)?;
    let nothing = rest.get(..length).ok_or(Unsupported::Memory)?;
    written.fill(0);
    for number in 0..REQUESTS {
        let left_alone = if number.is_multiple_of(2) { 0 } else { 0xff };
        output.fill(left_alone);
        request(provider, workload, seed, nothing, output, 1)?;
        for (written, byte) in written.iter_mut().zip(output.iter()) {
            *written |= u8::from(*byte != left_alone);
        }
        if number > 0 && length >= DISTINCT_FROM && before == output {
            return Err(Error::WrongAnswer);
        }
        before.copy_from_slice(output);
    }
    if written.iter().all(|written| *written == 1) { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// Seeds the generator and makes `times` requests. The last answer counts.
fn request(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    seed: &[u8],
    input: &[u8],
    output: &mut [u8],
    times: u8,
) -> Result<(), Error> {
    let data = Data::Apart { input, output };
    let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }];
    provider.session(workload, &[seed], &mut jobs, &mut |session| {
        (0..times).try_for_each(|_| once(session, 0))
    })
}

#[cfg(test)]
#[path = "random_tests.rs"]
mod tests;
