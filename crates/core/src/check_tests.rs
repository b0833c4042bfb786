extern crate std;
use super::*;
use crate::provider::{Completion, Identity};
use std::vec;
use std::vec::Vec;

/// The fault that a provider has, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// Correct, but uses a queue.
    Queues,
    WrongByte,
    WrongTag,
    WritesNothing,
    TakesForgery,
    RefusesGoodTag,
    /// `supports` accepts any length, `session` rejects impossible ones.
    PromisesAnyLength,
    /// `supports` rejects an impossible length, `session` accepts it.
    TakesAnyLength,
    BreaksInPlace,
    BreaksUpdate,
    SupportsNothing,
    LacksUpdate,
    /// Claims that it can hash in place.
    PromisesAll,
    CompletesAnother,
    CompletesNothing,
}

/// A toy: the output is the inverted input, and the tag is the sum of the bytes of output or digest and of
/// the other parts.
struct Toy(Fault);

struct ToySession<'s, 'b> {
    fault: Fault,
    workload: CryptoWorkload,
    jobs: &'s mut [Job<'b>],
    queued: bool,
    started: bool,
}

const KEY: [u8; 16] = [7; 16];
const IV: [u8; 16] = [5; 16];
const PLAIN: [u8; 16] = [0x0f; 16];
const CIPHER: [u8; 16] = [0xf0; 16];

fn tag(ciphertext: &[u8], associated: &[u8]) -> [u8; 16] {
    let sum = ciphertext.iter().chain(associated);
    [sum.fold(1, |sum: u8, byte| sum.wrapping_add(*byte)); 16]
}

impl Provider for Toy {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "toy", version: "1", executor: "none", options: "" }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        match self.0 {
            Fault::SupportsNothing => Err(Unsupported::BuildOption),
            Fault::LacksUpdate if workload.phase == Phase::Update => Err(Unsupported::Phase),
            Fault::PromisesAnyLength | Fault::PromisesAll => Ok(()),
            _ => workload.valid(),
        }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        _keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.0 {
            Fault::TakesAnyLength => {}
            Fault::PromisesAnyLength => workload.valid()?,
            _ => self.supports(workload)?,
        }
        body(&mut ToySession {
            fault: self.0,
            workload: *workload,
            jobs,
            queued: false,
            started: false,
        })
    }
}

impl ToySession<'_, '_> {
    fn work(&mut self) -> Result<(), Error> {
        let workload = self.workload;
        let job = &mut self.jobs[0];
        if self.fault == Fault::WritesNothing {
            return Ok(());
        }
        let input = match &job.data {
            Data::Apart { input, .. } => input.to_vec(),
            Data::InPlace(buffer) => buffer.to_vec(),
        };
        let inverted: Vec<u8> = input.iter().map(|byte| !byte).collect();
        let ciphertext = match workload.operation {
            Operation::Decrypt => &input,
            _ => &inverted,
        };
        let mut right = tag(ciphertext, job.associated);
        let output = match &mut job.data {
            Data::Apart { output, .. } => output,
            Data::InPlace(buffer) => buffer,
        };
        if workload.operation == Operation::Hash {
            output.fill(right[0]);
        } else {
            output.copy_from_slice(&inverted);
        }
        let broken = match self.fault {
            Fault::WrongByte => true,
            Fault::BreaksInPlace => workload.placement == Placement::InPlace,
            Fault::BreaksUpdate => workload.phase == Phase::Update,
            _ => false,
        };
        if broken {
            output[output.len() - 1] ^= 1;
        }
        if job.tag.is_empty() || workload.phase == Phase::Update {
            return Ok(());
        }
        if self.fault == Fault::WrongTag {
            right[15] ^= 1;
        }
        if workload.operation == Operation::Encrypt {
            job.tag.copy_from_slice(&right);
            return Ok(());
        }
        let refused = match self.fault {
            Fault::TakesForgery => false,
            Fault::RefusesGoodTag => true,
            _ => *job.tag != right,
        };
        if refused { Err(Error::Refused) } else { Ok(()) }
    }
}

impl Session for ToySession<'_, '_> {
    fn submit(&mut self, _job: usize) -> Result<Progress, Error> {
        match self.fault {
            Fault::Queues | Fault::CompletesAnother | Fault::CompletesNothing => {
                self.queued = true;
                Ok(Progress::Queued)
            }
            _ => self.work().map(|()| Progress::Done),
        }
    }

    fn start_all(&mut self) -> Result<(), Error> {
        self.started = self.queued;
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        if !self.started || self.fault == Fault::CompletesNothing {
            return Ok(None);
        }
        (self.queued, self.started) = (false, false);
        Ok(Some(Completion {
            job: usize::from(self.fault == Fault::CompletesAnother),
            result: self.work(),
        }))
    }
}

fn cipher(operation: Operation) -> Case<'static> {
    let (input, output) = match operation {
        Operation::Encrypt => (&PLAIN, &CIPHER),
        _ => (&CIPHER, &PLAIN),
    };
    Case {
        algorithm: Algorithm::Aes128Cbc,
        operation,
        key: &KEY,
        iv: &IV,
        associated: &[],
        input,
        tag: &[],
        answer: Answer::Output(output),
    }
}

/// A tag over [`CIPHER`] and the associated data [1, 2, 3].
const TAG: [u8; 16] = [7; 16];

fn aead(operation: Operation) -> Case<'static> {
    Case {
        algorithm: Algorithm::Aes128Gcm,
        iv: &IV[..12],
        associated: &[1, 2, 3],
        tag: &TAG,
        ..cipher(operation)
    }
}

fn forgery() -> Case<'static> {
    Case { tag: &[8; 16], answer: Answer::Refusal, ..aead(Operation::Decrypt) }
}

fn impossible() -> Case<'static> {
    Case { input: &PLAIN[..15], answer: Answer::NoSuchLength, ..cipher(Operation::Encrypt) }
}

fn digest() -> Case<'static> {
    Case {
        algorithm: Algorithm::Sha256,
        operation: Operation::Hash,
        key: &[],
        iv: &[],
        answer: Answer::Output(&[1; 32]),
        ..cipher(Operation::Encrypt)
    }
}

fn found(fault: Fault, case: Case<'_>) -> Finding {
    check(&Toy(fault), &case, &mut [0; 64])
}

const fn wrong(phase: Phase, placement: Placement, error: Error) -> Finding {
    Finding::Wrong { phase, placement, error }
}

/// The way that is tried first.
const WRONG_ANSWER: Finding = wrong(Phase::Message, Placement::Apart, Error::WrongAnswer);

#[test]
fn the_toy_tag_is_the_one_in_the_cases() {
    assert_eq!(tag(&CIPHER, &[1, 2, 3]), TAG);
}

#[test]
fn a_right_provider_is_right_in_every_way_that_shows() {
    for fault in [Fault::None, Fault::Queues] {
        for operation in [Operation::Encrypt, Operation::Decrypt] {
            assert_eq!(found(fault, cipher(operation)), Finding::Right(6));
            assert_eq!(found(fault, aead(operation)), Finding::Right(6));
        }
        // An update rejects nothing; a hash has no key, no update with a visible result, and no placement.
        assert_eq!(found(fault, forgery()), Finding::Right(4));
        assert_eq!(found(fault, digest()), Finding::Right(1));
        assert_eq!(found(fault, impossible()), Finding::Right(6));
    }
}

#[test]
fn one_wrong_byte_is_a_wrong_answer() {
    for case in [cipher(Operation::Encrypt), aead(Operation::Decrypt), digest()] {
        assert_eq!(found(Fault::WrongByte, case), WRONG_ANSWER);
    }
}

#[test]
fn a_wrong_tag_is_a_wrong_answer() {
    assert_eq!(found(Fault::WrongTag, aead(Operation::Encrypt)), WRONG_ANSWER);
    let refused = wrong(Phase::Message, Placement::Apart, Error::Refused);
    assert_eq!(found(Fault::WrongTag, aead(Operation::Decrypt)), refused);
}

#[test]
fn a_forgery_that_is_taken_is_a_wrong_answer() {
    assert_eq!(found(Fault::TakesForgery, forgery()), WRONG_ANSWER);
}

#[test]
fn a_good_tag_that_is_refused_is_found_out() {
    let refused = wrong(Phase::Message, Placement::Apart, Error::Refused);
    assert_eq!(found(Fault::RefusesGoodTag, forgery()), Finding::Right(4));
    assert_eq!(found(Fault::RefusesGoodTag, aead(Operation::Decrypt)), refused);
}

#[test]
fn an_impossible_length_must_be_turned_down_by_supports_and_by_session() {
    assert_eq!(found(Fault::PromisesAnyLength, impossible()), WRONG_ANSWER);
    assert_eq!(found(Fault::TakesAnyLength, impossible()), WRONG_ANSWER);
}

#[test]
fn what_is_broken_in_place_only_is_found_there() {
    let expected = wrong(Phase::Message, Placement::InPlace, Error::WrongAnswer);
    assert_eq!(found(Fault::BreaksInPlace, cipher(Operation::Encrypt)), expected);
}

#[test]
fn what_is_broken_in_updates_only_is_found_there() {
    let expected = wrong(Phase::Update, Placement::Apart, Error::WrongAnswer);
    assert_eq!(found(Fault::BreaksUpdate, aead(Operation::Encrypt)), expected);
}

#[test]
fn what_cannot_be_run_is_unsupported_with_the_providers_reason() {
    for case in [cipher(Operation::Encrypt), impossible()] {
        assert_eq!(
            found(Fault::SupportsNothing, case),
            Finding::Unsupported(Unsupported::BuildOption)
        );
    }
    assert_eq!(found(Fault::LacksUpdate, cipher(Operation::Encrypt)), Finding::Right(4));
}

#[test]
fn a_queue_that_completes_nothing_or_another_job_breaks_the_contract() {
    let expected = wrong(Phase::Message, Placement::Apart, Error::Contract);
    for fault in [Fault::CompletesNothing, Fault::CompletesAnother] {
        assert_eq!(found(fault, cipher(Operation::Encrypt)), expected);
    }
}

#[test]
fn writing_nothing_is_wrong_even_if_the_answer_is_all_zeros() {
    let zeros = vec![0; 16];
    let case = Case { answer: Answer::Output(&zeros), ..cipher(Operation::Decrypt) };
    assert_eq!(found(Fault::WritesNothing, case), WRONG_ANSWER);
    let sealed =
        Case { tag: &zeros, input: &[], answer: Answer::Output(&[]), ..aead(Operation::Encrypt) };
    assert_eq!(found(Fault::WritesNothing, sealed), WRONG_ANSWER);
}

#[test]
fn a_case_with_a_tag_of_another_length_cannot_be_run() {
    for operation in [Operation::Encrypt, Operation::Decrypt] {
        let case = Case { tag: &TAG[..12], ..aead(operation) };
        let expected = Finding::Unsupported(Unsupported::Length);
        assert_eq!(found(Fault::None, case), expected);
    }
}

#[test]
fn a_digest_has_no_place_to_overwrite_whatever_the_provider_says() {
    let found = found(Fault::PromisesAll, digest());
    assert!(matches!(found, Finding::Right(_)), "{found:?}");
}

#[test]
fn a_case_that_is_longer_than_the_scratch_space_cannot_be_run() {
    let case = cipher(Operation::Encrypt);
    for length in [0, 15, 31] {
        let found = check(&Toy(Fault::None), &case, &mut vec![0; length]);
        let expected =
            if length < 16 { Finding::Unsupported(Unsupported::Memory) } else { Finding::Right(3) };
        assert_eq!(found, expected);
    }
}
