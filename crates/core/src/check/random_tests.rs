//! A toy generator that counts: correct, or wrong in each way that the check looks for.

extern crate std;
use super::*;
use crate::algorithm::{Algorithm, Operation};
use crate::provider::{Identity, Progress, Session};
use std::cell::Cell;

/// How it behaves, rightly or wrongly.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// Its first byte is the seed's, incremented at each request.
    Repeats,
    RepeatsWrongly,
    /// The same, but starting from a different value each time.
    IsFresh,
    IsStuck,
    StopsShort,
    WritesNothing,
    Fails,
}

struct Counter {
    way: Way,
    sessions: Cell<u8>,
}

struct Open<'s, 'b> {
    way: Way,
    next: u8,
    jobs: &'s mut [Job<'b>],
}

impl Provider for Counter {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "counter", version: "1", executor: "none", options: "" }
    }

    fn repeats(&self, _: &CryptoWorkload) -> bool {
        matches!(self.way, Way::Repeats | Way::RepeatsWrongly)
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
        self.sessions.set(self.sessions.get() + 1);
        let fresh = if self.repeats(workload) { 0 } else { self.sessions.get() * 16 };
        body(&mut Open { way: self.way, next: keys[0][0] + fresh, jobs })
    }
}

impl Session for Open<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let Data::Apart { output, .. } = &mut self.jobs[job].data else {
            return Err(Error::Contract);
        };
        let last = output.len() - 1;
        match self.way {
            Way::Repeats | Way::IsFresh => output.fill(self.next),
            Way::RepeatsWrongly => output.fill(self.next ^ 1),
            Way::IsStuck => output.fill(0x55),
            Way::StopsShort => output[..last].fill(self.next),
            Way::WritesNothing => {}
            Way::Fails => return Err(Error::Device(5)),
        }
        self.next += 1;
        Ok(Progress::Done)
    }
}

fn found(way: Way, length: usize) -> Finding {
    let right = std::vec![4; length];
    let case = Case {
        algorithm: Algorithm::HmacDrbgSha256,
        operation: Operation::Random,
        key: &[3; 48],
        iv: &[],
        associated: &[],
        input: &right,
        tag: &[],
        answer: Answer::Output(&right),
    };
    let mut scratch = [0; 1024];
    crate::check::check(&Counter { way, sessions: Cell::new(0) }, &case, &mut scratch)
}

#[test]
fn a_generator_that_repeats_is_held_against_the_second_answer() {
    assert_eq!(found(Way::Repeats, 128), Finding::Right(1));
    let wrong =
        |error| Finding::Wrong { phase: Phase::Message, placement: Placement::Apart, error };
    assert_eq!(found(Way::RepeatsWrongly, 128), wrong(Error::WrongAnswer));
    for (way, error) in [
        (Way::IsStuck, Error::WrongAnswer),
        (Way::StopsShort, Error::WrongAnswer),
        (Way::WritesNothing, Error::WrongAnswer),
        (Way::Fails, Error::Device(5)),
    ] {
        assert_eq!(found(way, 128), wrong(error), "{way:?}");
    }
}

#[test]
fn one_that_does_not_writes_every_byte_and_never_the_same_ones() {
    assert_eq!(found(Way::IsFresh, 128), Finding::Distinct(1));
    // One or two bytes may repeat by chance.
    assert_eq!(found(Way::IsFresh, 1), Finding::Distinct(1));
    assert_eq!(found(Way::IsStuck, DISTINCT_FROM - 1), Finding::Distinct(1));
    assert_ne!(found(Way::IsStuck, DISTINCT_FROM), Finding::Distinct(1));
    assert_eq!(found(Way::IsFresh, 257), Finding::Unsupported(Unsupported::Memory));
}
