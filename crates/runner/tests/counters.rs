//! A round counts only events of the operations that it reports as run.

use cpb_core::frame::{self, Decoder, MAX_FRAME};
use cpb_core::measure::Budget;
use cpb_core::message::{Reply, Request, Round};
use cpb_core::{
    Algorithm, CryptoWorkload, Data, Error, Identity, Job, Operation, Progress, Provider, Session,
    Ticks, Unsupported, Workload,
};
use cpb_runner::{Affinity, Offer, pin, serve};
use std::sync::atomic::{AtomicU64, Ordering};

/// A software provider with an engine that raises one interrupt for each operation.
#[derive(Default)]
struct Interrupting {
    interrupts: AtomicU64,
    /// The number of sessions that were opened.
    sessions: AtomicU64,
    /// The number of the session that fails to open, counted from 1.
    fails: u64,
}

impl Provider for Interrupting {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "interrupting", version: "1", executor: "a test", options: "" }
    }

    fn interrupts(&self) -> Option<u64> {
        Some(self.interrupts.load(Ordering::SeqCst))
    }

    fn supports(&self, _: &CryptoWorkload) -> Result<(), Unsupported> {
        Ok(())
    }

    fn session(
        &self,
        _: &CryptoWorkload,
        _: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.sessions.fetch_add(1, Ordering::SeqCst) + 1 == self.fails {
            return Err(Error::Device(5));
        }
        body(&mut Copying { jobs, interrupts: &self.interrupts })
    }
}

struct Copying<'s, 'b> {
    jobs: &'s mut [Job<'b>],
    interrupts: &'s AtomicU64,
}

impl Session for Copying<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if let Data::Apart { input, output } = &mut self.jobs[job].data {
            output.copy_from_slice(input);
        }
        self.interrupts.fetch_add(1, Ordering::SeqCst);
        Ok(Progress::Done)
    }
}

const BUDGET: Budget = Budget {
    warmup: Ticks(20_000),
    batch: Ticks(20_000),
    limit: Ticks(1_000_000_000),
    batches: 3,
    latencies: 5,
    iterations: 0,
    counted: Ticks(0),
};

/// Runs one round in `threads` threads.
fn round(provider: Interrupting, budget: Budget, threads: u8) -> Result<Round, Error> {
    let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 64);
    let workload = Workload::Crypto(workload);
    let mut buffer = Box::new([0; MAX_FRAME]);
    let request = Request::Round { provider: 0, workload, budget, threads };
    let request = frame::encode(&request, &mut buffer).expect("it fits");
    let name = provider.identity().provider.to_owned();
    let offers = [Offer { name, provider: Ok(Box::new(provider)) }];
    // All threads use the same CPU, because a machine may have only one.
    let cpu = *pin::allowed().expect("Linux tells").last().expect("one at least");
    let cpus = vec![cpu; threads.into()];
    let mut output = Vec::new();
    let place = Affinity { cpus: &cpus, latency: Some(3) };
    serve(&offers, place, request, &mut output).expect("memory does not fail");
    let mut decoder = Box::<Decoder>::default();
    let mut ended = None;
    for byte in output {
        let Some(message) = decoder.push(byte) else { continue };
        match frame::parse_reply(message.expect("whole")).expect("known") {
            Reply::Round(round) => ended = Some(Ok(round)),
            Reply::Failed(error) => ended = Some(Err(error)),
            _ => {}
        }
    }
    ended.expect("an answer")
}

#[test]
fn interrupts_are_those_of_the_operations_that_were_counted_in_any_number_of_threads() {
    // Each operation raises one interrupt, including those before and after the counted ones.
    for threads in [1, 2, 3] {
        let counters = round(Interrupting::default(), BUDGET, threads).unwrap().counters;
        assert!(counters.operations > 8 * u64::from(threads), "{counters:?}");
        assert_eq!(counters.interrupts, Some(counters.operations), "{threads} threads");
    }
}

#[test]
fn a_thread_that_fails_before_or_while_the_others_measure_leaves_none_waiting() {
    // Each thread opens two sessions before its work is done: for the first answers, and to measure.
    for fails in 1..=6 {
        let provider = Interrupting { fails, ..Interrupting::default() };
        assert_eq!(round(provider, BUDGET, 3), Err(Error::Device(5)), "session {fails}");
    }
}

#[test]
fn a_round_that_is_to_last_for_what_is_counted_lasts_and_tells_the_machine_s_time() {
    let short = round(Interrupting::default(), BUDGET, 1).unwrap().counters;
    assert_eq!(short.machine, None);
    // Some steps of 10 ms, the granularity of Linux.
    let budget = Budget { counted: Ticks(60_000_000), ..BUDGET };
    for threads in [1, 2] {
        let counters = round(Interrupting::default(), budget, threads).unwrap().counters;
        assert!(counters.wall_ns >= 60_000_000, "{counters:?}");
        assert!(counters.operations > short.operations);
        let machine = counters.machine.expect("Linux tells");
        assert!(machine.busy_ns > 0 && machine.total_ns >= machine.busy_ns, "{machine:?}");
        assert!((1..=u64::from(threads) * counters.wall_ns).contains(&counters.cpu_ns));
    }
}
