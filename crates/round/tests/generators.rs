//! Rounds of random bytes: a generator that fails while it is timed gives no figure.

use cpb_core::measure::Budget;
use cpb_core::{
    Algorithm, Clock, CryptoWorkload, Data, Error, Identity, Job, Operation, Phase, Progress,
    Provider, Session, Ticks, Unsupported,
};
use cpb_round::{Plan, Seen, run};
use std::cell::Cell;

/// The behaviour of its answers: of the first ones, and of those that are timed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// Each is the seed's byte, incremented with each request.
    Repeats,
    /// The same, but starting from a different value in each session.
    IsFresh,
    /// Claims that it repeats, but does not.
    OnlyClaimsToRepeat,
    /// Gives the same answer to each request.
    IsStuck,
    /// Gives the same answer, although it claims to have its own entropy.
    IsStuckAndClaimsEntropy,
    /// Does not write the middle of the output.
    LeavesAGap,
}

struct Counter {
    way: Way,
    sessions: Cell<u8>,
}

struct Open<'s, 'b> {
    way: Way,
    seed: u8,
    requests: u8,
    jobs: &'s mut [Job<'b>],
    with_key: bool,
}

impl Provider for Counter {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "counter", version: "1", executor: "none", options: "" }
    }

    fn repeats(&self, _: &CryptoWorkload) -> bool {
        !matches!(self.way, Way::IsFresh | Way::IsStuckAndClaimsEntropy | Way::LeavesAGap)
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
        self.sessions.set(self.sessions.get() + 64);
        let another = matches!(self.way, Way::IsFresh | Way::OnlyClaimsToRepeat | Way::LeavesAGap);
        let seed = keys[0][0] | 1;
        let seed = if another { seed.wrapping_add(self.sessions.get()) } else { seed };
        let with_key = workload.phase == Phase::MessageWithKey;
        body(&mut Open { way: self.way, seed, requests: 0, jobs, with_key })
    }
}

impl Session for Open<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let Data::Apart { output, .. } = &mut self.jobs[job].data else {
            return Err(Error::Contract);
        };
        let stuck = matches!(self.way, Way::IsStuck | Way::IsStuckAndClaimsEntropy);
        if !stuck && !self.with_key {
            self.requests = (self.requests + 1) % 32;
        }
        let byte = self.seed.wrapping_add(2 * self.requests);
        let (length, gap) = (output.len(), self.way == Way::LeavesAGap);
        for (place, output) in output.iter_mut().enumerate() {
            if !gap || place < length / 4 || place >= length / 2 {
                *output = byte;
            }
        }
        Ok(Progress::Done)
    }
}

/// A clock that advances by one tick at each reading.
struct Count(Cell<u64>);

impl Clock for Count {
    fn now(&self) -> Ticks {
        self.0.set(self.0.get() + 1);
        Ticks(self.0.get())
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}

fn round(way: Way, phase: Phase) -> Result<Seen, Error> {
    let plain = CryptoWorkload::new(Algorithm::HmacDrbgSha256, Operation::Random, 256);
    let workload = CryptoWorkload { phase, ..plain };
    let budget = Budget {
        warmup: Ticks(0),
        batch: Ticks(10),
        limit: Ticks(1000),
        batches: 2,
        latencies: 0,
        iterations: 5,
        counted: Ticks(0),
    };
    let plan = Plan {
        provider: &Counter { way, sessions: Cell::new(0) },
        workload: &workload.into(),
        budget: &budget,
        clock: &Count(Cell::new(0)),
        computes: true,
        counting: false,
        memory: None,
    };
    run(plan, &mut |_| ())
}

#[test]
fn a_generator_that_repeats_has_a_checksum_and_one_that_does_not_has_none() {
    for phase in [Phase::Message, Phase::MessageWithKey] {
        let output = |way| round(way, phase).map(|seen| seen.output);
        let first = output(Way::Repeats).expect("a round");
        assert_ne!(first, 0);
        assert_eq!(output(Way::Repeats), Ok(first));
        assert_eq!(output(Way::IsFresh), Ok(0));
    }
}

#[test]
fn answers_that_come_again_or_are_not_whole_are_wrong() {
    for (way, phase) in [
        (Way::OnlyClaimsToRepeat, Phase::Message),
        (Way::OnlyClaimsToRepeat, Phase::MessageWithKey),
        (Way::IsStuck, Phase::Message),
        (Way::IsStuckAndClaimsEntropy, Phase::Message),
        (Way::IsStuckAndClaimsEntropy, Phase::MessageWithKey),
        (Way::LeavesAGap, Phase::Message),
    ] {
        let error = round(way, phase).map(|seen| seen.output);
        assert_eq!(error, Err(Error::WrongAnswer), "{way:?} {phase}");
    }
}
