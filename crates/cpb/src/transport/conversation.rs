//! The host's side of the conversation with a runner, over any two streams.

use super::{BoardIdentity, Description, RunnerError, Seen, Timeouts};
use crate::vectors::OwnedCase;
use cpb_core::check::Finding;
use cpb_core::frame::{self, Decoder, FrameError, MAX_FRAME};
use cpb_core::measure::Budget;
use cpb_core::message::{ClockDescription, Reply, Request};
use cpb_core::{DataSet, Error, Identity, Operation, Ticks, Unsupported, Workload};
use cpb_record::{NO_ANSWER, ProviderRecord};
use std::io::{Read, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A runner that answers.
pub struct Conversation {
    requests: Box<dyn Write + Send>,
    replies: Receiver<Result<Vec<u8>, FrameError>>,
    peer: Box<dyn Peer>,
    frame: Box<[u8; MAX_FRAME]>,
    clock: ClockDescription,
    board: Option<BoardIdentity>,
    timeouts: Timeouts,
    /// Why cpb ended it, which is also the reason why later requests fail.
    ended: Option<RunnerError>,
}

/// The other end of a conversation. Dropping it ends it.
pub trait Peer: Send {
    /// Ends it if it has not ended.
    fn kill(&mut self, why: Error);

    /// Whether the machine that it ran on is gone.
    fn is_gone(&self) -> bool {
        false
    }

    /// What [`Peer::kill`] does to it, in words that follow the reason.
    fn killed_words(&self) -> &'static str {
        ""
    }

    /// What happened to it after it closed its stream.
    fn gone(&mut self) -> RunnerError;
}

impl Conversation {
    /// Shakes hands with the runner that reads `requests` and writes `replies`.
    ///
    /// # Errors
    /// Returns an error if it does not answer as a runner of this version.
    pub fn begin(
        requests: impl Write + Send + 'static,
        replies: impl Read + Send + 'static,
        peer: Box<dyn Peer>,
        timeouts: &Timeouts,
    ) -> Result<Conversation, RunnerError> {
        let (sender, receiver) = channel();
        thread::spawn(move || read_frames(replies, &sender));
        let mut conversation = Conversation {
            requests: Box::new(requests),
            replies: receiver,
            peer,
            frame: Box::new([0; MAX_FRAME]),
            clock: ClockDescription::default(),
            board: None,
            timeouts: timeouts.clone(),
            ended: None,
        };
        conversation.send(&Request::Hello)?;
        let hello = conversation.wait(Duration::ZERO, |reply| match reply {
            Reply::Hello(hello) => Some((hello.clock, hello.board.map(BoardIdentity::from))),
            _ => None,
        })?;
        (conversation.clock, conversation.board) = hello;
        Ok(conversation)
    }

    fn send(&mut self, request: &Request<'_>) -> Result<(), RunnerError> {
        let sent = frame::encode(request, &mut self.frame)
            .map_err(|error| error.to_string())
            .and_then(|frame| self.requests.write_all(frame).map_err(|error| error.to_string()));
        sent.map_err(|_| self.gone())
    }

    /// Waits for replies until `wanted` accepts one. `work` is how long the answer may take beyond the usual time.
    fn wait<T>(
        &mut self,
        work: Duration,
        mut wanted: impl FnMut(Reply<'_>) -> Option<T>,
    ) -> Result<T, RunnerError> {
        let deadline = Instant::now() + self.timeouts.answer + work;
        loop {
            // The deadline also applies to a runner that keeps sending other frames.
            if Instant::now() >= deadline {
                let waited = (self.timeouts.answer + work).as_secs_f32();
                let killed = self.peer.killed_words();
                let detail = format!("{NO_ANSWER}{waited:.1} s{killed}");
                return Err(self.kill(Error::Timeout, detail));
            }
            // In slices, so that the user can stop the wait.
            let slice = Duration::from_millis(50).min(deadline - Instant::now());
            let message = match self.replies.recv_timeout(slice) {
                Ok(Ok(message)) => message,
                Ok(Err(error)) => return Err(self.kill(Error::Contract, error.to_string())),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) => {
                    if self.timeouts.stop.load(Ordering::Relaxed) {
                        let stopped = "stopped by the user".to_owned();
                        return Err(self.kill(Error::Timeout, stopped));
                    }
                    continue;
                }
            };
            let reply = match frame::parse_reply(&message) {
                Ok(reply) => reply,
                Err(error) => return Err(self.kill(Error::Contract, error.to_string())),
            };
            let failed = if let Reply::Failed(error) = &reply { Some(*error) } else { None };
            match (wanted(reply), failed) {
                (Some(answer), _) => return Ok(answer),
                (None, Some(error)) => {
                    return Err(self.kill(error, "the runner answered with an error".to_owned()));
                }
                (None, None) => {}
            }
        }
    }

    fn ask<T>(
        &mut self,
        request: &Request<'_>,
        work: Duration,
        wanted: impl FnMut(Reply<'_>) -> Option<T>,
    ) -> Result<T, RunnerError> {
        self.send(request)?;
        self.wait(work, wanted)
    }

    fn kill(&mut self, error: Error, detail: String) -> RunnerError {
        self.peer.kill(error);
        // A runner that hangs once costs its whole timeout; it is not tried again.
        let lost = RunnerError { error, detail, again: error != Error::Timeout };
        self.ended = Some(lost.clone());
        lost
    }

    /// Why it does not answer.
    fn gone(&mut self) -> RunnerError {
        self.ended.clone().unwrap_or_else(|| self.peer.gone())
    }

    /// The board that it runs on, if it has no operating system.
    pub fn board(&self) -> Option<&BoardIdentity> {
        self.board.as_ref()
    }

    /// Whether the machine that it ran on is gone, through no fault of the runner.
    pub fn is_gone(&self) -> bool {
        self.peer.is_gone()
    }
}

/// The requests of the host.
impl Conversation {
    /// Its description of provider number `provider`; `None` after the last one.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub fn describe(&mut self, provider: u8) -> Result<Option<Description>, RunnerError> {
        let clock = self.clock;
        self.ask(&Request::Describe { provider }, Duration::ZERO, |reply| match reply {
            Reply::Description { identity, claim } => {
                let Identity { provider, version, executor, options } = identity;
                let state = ProviderRecord::Available {
                    version: version.to_owned(),
                    executor: executor.to_owned(),
                    claim,
                    options: options.to_owned(),
                    clock,
                };
                Some(Some(Description { provider: provider.to_owned(), state }))
            }
            Reply::Unavailable { provider, reason, detail } => {
                let state = ProviderRecord::Unavailable { reason, detail: detail.to_owned() };
                Some(Some(Description { provider: provider.to_owned(), state }))
            }
            Reply::Absent => Some(None),
            _ => None,
        })
    }

    /// Tries one known answer.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub fn check(&mut self, provider: u8, case: &OwnedCase) -> Result<Finding, RunnerError> {
        let case = case.borrowed();
        let request = Request::Check { provider, case };
        self.ask(&request, by_large_keys(case.operation), |reply| match reply {
            Reply::Finding(finding) => Some(finding),
            Reply::Failed(Error::Unsupported(reason)) => Some(Finding::Unsupported(reason)),
            _ => None,
        })
    }

    /// Asks whether it can measure `workload`.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub fn supports(
        &mut self,
        provider: u8,
        workload: &Workload,
    ) -> Result<Result<(), Unsupported>, RunnerError> {
        let request = Request::Supports { provider, workload: *workload };
        self.ask(&request, Duration::ZERO, |reply| match reply {
            Reply::Supports(answer) => Some(answer),
            Reply::Failed(Error::Unsupported(reason)) => Some(Err(reason)),
            _ => None,
        })
    }

    /// Measures `workload` once, in `threads` threads. A round is stateless: everything is opened at its
    /// start and closed at its end. The inner error is the provider's; the runner continues after it.
    ///
    /// # Errors
    /// Returns an error if it does not answer: the runner is lost, and this round with it.
    pub fn round(
        &mut self,
        provider: u8,
        workload: &Workload,
        budget: &Budget<Duration>,
        threads: u8,
    ) -> Result<Result<Seen, Error>, RunnerError> {
        let work = longest(workload, budget, threads);
        let request = Request::Round {
            provider,
            workload: *workload,
            budget: in_ticks(budget, self.clock.frequency),
            threads,
        };
        let mut seen = Seen {
            samples: vec![Vec::new(); threads.into()],
            reference_cycles: self.clock.reference_cycles,
            ..Seen::default()
        };
        self.ask(&request, work, |reply| match reply {
            Reply::Samples { thread, samples } => {
                seen.samples.get_mut(usize::from(thread))?.extend(samples);
                None
            }
            Reply::Latencies { in_flight, buckets, max, .. } => {
                let times = if in_flight { &mut seen.latency_in_flight } else { &mut seen.latency };
                buckets.iter().for_each(|(index, count)| times.add_many(*index, *count));
                times.max = times.max.max(max);
                None
            }
            Reply::Round(round) => {
                seen.round = round;
                Some(Ok(std::mem::take(&mut seen)))
            }
            Reply::Failed(error) => Some(Err(error)),
            _ => None,
        })
    }
}

/// Converts a budget for a runner whose clock has this frequency, in hertz.
fn in_ticks(budget: &Budget<Duration>, frequency: u64) -> Budget {
    const NANOSECONDS: u128 = 1_000_000_000;
    let ticks = |time: Duration| {
        let ticks = time.as_nanos().saturating_mul(frequency.into()) / NANOSECONDS;
        Ticks(ticks.try_into().unwrap_or(u64::MAX))
    };
    Budget {
        warmup: ticks(budget.warmup),
        batch: ticks(budget.batch),
        limit: ticks(budget.limit),
        batches: budget.batches,
        latencies: budget.latencies,
        iterations: budget.iterations,
        counted: ticks(budget.counted),
    }
}

/// How long a round may take beyond the usual time: its budget, and the untimed work on long messages
/// (creating and checking them, a few operations) at the speed of a slow core.
fn longest(workload: &Workload, budget: &Budget<Duration>, threads: u8) -> Duration {
    const SLOW_BYTES_PER_SECOND: f64 = 2e6;
    const UNTIMED_OPERATIONS: f64 = 12.0;
    let given = budget.warmup + 2 * budget.limit + budget.counted;
    let jobs = match workload.crypto().map(|workload| workload.data) {
        Some(DataSet::Unique { chunks }) => f64::from(chunks),
        Some(DataSet::Same) | None => 1.0,
    };
    let slowest = workload.crypto().map(|workload| by_large_keys(workload.operation));
    let bytes = f64::from(workload.size()) * jobs * UNTIMED_OPERATIONS * f64::from(threads);
    given
        + Duration::from_secs_f64(bytes / SLOW_BYTES_PER_SECOND)
        + slowest.unwrap_or_default() * threads.into()
}

/// How long the slowest operations of a round may take. Generating an RSA-4096 key pair takes seconds, and
/// occasionally many. A slow core needs a tenth of a second for a signature, of which a batch may have dozens
/// ([`period`](cpb_core::Session::period)).
fn by_large_keys(operation: Operation) -> Duration {
    let slow = matches!(operation, Operation::GenerateKey | Operation::Sign);
    Duration::from_secs(if slow { 60 } else { 0 })
}

/// Passes on whole frames until the stream ends, and reports a runner of another version. Other bytes between
/// frames are noise and are skipped.
fn read_frames(mut replies: impl Read, sender: &Sender<Result<Vec<u8>, FrameError>>) {
    let mut decoder = Box::new(Decoder::default());
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = replies.read(&mut bytes) {
        for byte in &bytes[..count] {
            let message = match decoder.push(*byte) {
                Some(Ok(message)) => Ok(message.to_vec()),
                Some(Err(error @ FrameError::Version(_))) => Err(error),
                _ => continue,
            };
            if sender.send(message).is_err() {
                return;
            }
        }
    }
}
