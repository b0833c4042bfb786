//! A toy that signs, agrees and encapsulates by adding bytes: correct, or wrong in each way that the check
//! looks for.

extern crate std;
use super::*;
use crate::algorithm::Algorithm;
use crate::check::Answer;
use crate::provider::{Identity, Progress, Session};
use std::cell::Cell;
use std::vec;

/// What is wrong with the toy.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    DrawsNothing,
    TakesEverything,
    TakesNothing,
    LosesSecrets,
}

/// The value of a key, private or public, is its last byte. The timed pair has the value [`TIMED`].
struct Toy {
    fault: Fault,
    drawn: Cell<u8>,
}

const TIMED: u8 = 77;

fn worth(algorithm: Algorithm, key: &[u8]) -> u8 {
    if key == algorithm.timed_private_key() || key == algorithm.timed_public_key() {
        return TIMED;
    }
    key.last().copied().unwrap_or(0)
}

struct Open<'s, 'b> {
    toy: &'s Toy,
    algorithm: Algorithm,
    operation: Operation,
    key: u8,
    jobs: &'s mut [Job<'b>],
}

impl Provider for Toy {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "toy", version: "1", executor: "none", options: "" }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        let key = worth(workload.algorithm, keys[0]);
        let (algorithm, operation) = (workload.algorithm, workload.operation);
        body(&mut Open { toy: self, algorithm, operation, key, jobs })
    }
}

impl Session for Open<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let fault = self.toy.fault;
        if fault != Fault::DrawsNothing {
            self.toy.drawn.set(self.toy.drawn.get() + 1);
        }
        let (drawn, key) = (self.toy.drawn.get(), self.key);
        let Job { data, tag, .. } = &mut self.jobs[job];
        let Data::Apart { input, output } = data else { return Err(Unsupported::Mode.into()) };
        let first = input.first().copied().unwrap_or(0);
        // A signature is the drawn byte, followed by its sum with the key and the digest's first byte.
        let signature = drawn.wrapping_add(key).wrapping_add(first);
        match self.operation {
            Operation::GenerateKey => output.fill(drawn),
            Operation::Sign => {
                tag[0] = drawn;
                tag[1] = signature;
            }
            Operation::Verify => {
                let fits = tag[1] == tag[0].wrapping_add(key).wrapping_add(first);
                let taken = match fault {
                    Fault::TakesEverything => true,
                    Fault::TakesNothing => false,
                    _ => fits,
                };
                return if taken { Ok(Progress::Done) } else { Err(Error::Refused) };
            }
            Operation::KeyAgreement if fault == Fault::LosesSecrets => output.fill(drawn),
            Operation::KeyAgreement => {
                output.fill(key.wrapping_add(worth(self.algorithm, input)));
            }
            Operation::Encapsulate => {
                output.fill(drawn);
                tag.fill(drawn.wrapping_add(key));
            }
            Operation::Decapsulate if fault == Fault::LosesSecrets => output.fill(drawn),
            _ => output.fill(tag[0].wrapping_sub(key)),
        }
        Ok(Progress::Done)
    }
}

fn found(fault: Fault, algorithm: Algorithm, operation: Operation) -> Finding {
    let toy = Toy { fault, drawn: Cell::new(7) };
    let private = vec![9; algorithm.lengths(operation, 0).key];
    let public = vec![9; parts(algorithm).map_or(0, |parts| parts.public.max(parts.private))];
    let other = match operation {
        Operation::Sign => &public[..parts(algorithm).map_or(0, |parts| parts.public)],
        _ => &public[..parts(algorithm).map_or(0, |parts| parts.private)],
    };
    let input = vec![3; algorithm.fixed_message(operation).unwrap_or(0)];
    let case = Case {
        algorithm,
        operation,
        key: &private,
        iv: &[],
        associated: other,
        input: &input,
        tag: &[],
        answer: Answer::Output(&[]),
    };
    check(&toy, &case, &mut vec![0; 12 * 1024])
}

const DRAWING: [(Algorithm, Operation); 5] = [
    (Algorithm::EcdsaP256, Operation::Sign),
    (Algorithm::EcdsaP256, Operation::GenerateKey),
    (Algorithm::EcdhP256, Operation::GenerateKey),
    (Algorithm::MlKem768, Operation::Encapsulate),
    (Algorithm::MlKem768, Operation::GenerateKey),
];

#[test]
fn what_draws_rightly_comes_back() {
    for (algorithm, operation) in DRAWING {
        assert_eq!(found(Fault::None, algorithm, operation), Finding::RoundTrip(1));
    }
}

#[test]
fn what_draws_nothing_is_wrong() {
    // For pairs a timed round finds this fault, because it generates two.
    let twice = DRAWING.iter().filter(|(_, operation)| *operation != Operation::GenerateKey);
    for (algorithm, operation) in twice {
        assert_eq!(found(Fault::DrawsNothing, *algorithm, *operation), wrong(Error::WrongAnswer));
    }
}

#[test]
fn a_counterpart_that_takes_everything_or_nothing_shows() {
    for operation in [Operation::Sign, Operation::GenerateKey] {
        let found = |fault| found(fault, Algorithm::EcdsaP256, operation);
        assert_eq!(found(Fault::TakesEverything), wrong(Error::WrongAnswer));
        assert_eq!(found(Fault::TakesNothing), wrong(Error::Refused));
    }
}

#[test]
fn a_secret_that_the_other_side_does_not_get_shows() {
    for (algorithm, operation) in &DRAWING[2..] {
        assert_eq!(found(Fault::LosesSecrets, *algorithm, *operation), wrong(Error::WrongAnswer));
    }
}

fn wrong(error: Error) -> Finding {
    Finding::Wrong { phase: Phase::Message, placement: Placement::Apart, error }
}
