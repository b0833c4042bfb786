//! A runner as a local process, asked over its standard input and output.

use super::{Description, Lost, Runner, Seen};
use crate::vectors::OwnedCase;
use cpb_core::check::Finding;
use cpb_core::frame::{self, Decoder, FrameError, MAX_FRAME};
use cpb_core::measure::Budget;
use cpb_core::message::{ClockDescription, Reply, Request};
use cpb_core::{CryptoWorkload, Error, Identity, Ticks, Unsupported, Workload};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How to start a runner for one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The provider's name.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments; where to measure is put behind them.
    pub arguments: Vec<OsString>,
    /// Variables it needs.
    pub environment: Vec<(String, String)>,
    /// The provider's number in that runner.
    pub provider: u8,
}

impl Source {
    fn command(&self, place: &Place) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if !place.cpus.is_empty() {
            let list: Vec<String> = place.cpus.iter().map(usize::to_string).collect();
            command.arg("--cpus").arg(list.join(","));
        }
        if let Some(latency) = place.latency {
            command.arg("--latency").arg(latency.to_string());
        }
        // What the user's shell sets for libcrypto must not change what a name means.
        for entry in cpb_providers::LIST {
            for (variable, _) in (entry.environment)() {
                command.env_remove(variable);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Where a runner is to measure.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The CPUs of a round's threads.
    pub cpus: Vec<usize>,
    /// Cycles of a multiplication on them, if an earlier runner found out.
    pub latency: Option<u32>,
}

/// What the host may wait for, and when it stops waiting.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Longest wait for an answer that needs no long work.
    pub answer: Duration,
    /// Set when the user wants to stop.
    pub stop: Arc<AtomicBool>,
}

/// A running runner.
pub struct Process {
    child: Child,
    requests: ChildStdin,
    replies: Receiver<Result<Vec<u8>, FrameError>>,
    /// The end of what it wrote to standard error.
    errors: Arc<Mutex<String>>,
    /// Ends when it has written all of that.
    reader: JoinHandle<()>,
    frame: Box<[u8; MAX_FRAME]>,
    clock: ClockDescription,
    patience: Patience,
}

impl Process {
    /// Starts a runner and shakes hands.
    ///
    /// # Errors
    /// It cannot be started, or does not answer as a runner of this version.
    pub fn start(source: &Source, place: &Place, patience: &Patience) -> Result<Process, Lost> {
        let mut command = source.command(place);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A process group of its own: Ctrl-C in the terminal is for the host to act on.
        command.process_group(0);
        let lost = |detail| Lost { error: Error::Crashed, detail };
        let mut child = command
            .spawn()
            .map_err(|error| lost(format!("cannot start {}: {error}", source.program.display())))?;
        let (Some(requests), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(lost("no pipes".to_owned()));
        };
        let (sender, replies) = channel();
        thread::spawn(move || read_frames(stdout, &sender));
        let errors = Arc::new(Mutex::new(String::new()));
        let tail = Arc::clone(&errors);
        let reader = thread::spawn(move || read_errors(stderr, &tail));
        let mut process = Process {
            child,
            requests,
            replies,
            errors,
            reader,
            frame: Box::new([0; MAX_FRAME]),
            clock: ClockDescription::default(),
            patience: patience.clone(),
        };
        process.send(&Request::Hello)?;
        process.clock = process.wait(Duration::ZERO, |reply| match reply {
            Reply::Hello(hello) => Some(hello.clock),
            _ => None,
        })?;
        Ok(process)
    }

    fn send(&mut self, request: &Request<'_>) -> Result<(), Lost> {
        let sent = frame::encode(request, &mut self.frame)
            .map_err(|error| error.to_string())
            .and_then(|frame| self.requests.write_all(frame).map_err(|error| error.to_string()));
        sent.map_err(|_| self.lost())
    }

    /// Waits for replies until `wanted` takes one. `work` is how long the answer may take beyond
    /// the usual patience.
    fn wait<T>(
        &mut self,
        work: Duration,
        mut wanted: impl FnMut(Reply<'_>) -> Option<T>,
    ) -> Result<T, Lost> {
        let deadline = Instant::now() + self.patience.answer + work;
        loop {
            // Whoever talks on and on without the answer has no more time than who is silent.
            if Instant::now() >= deadline {
                let waited = (self.patience.answer + work).as_secs_f32();
                return Err(self.kill(Error::Timeout, format!("no answer for {waited:.1} s")));
            }
            // In slices, so that a user's wish to stop is seen.
            let slice = Duration::from_millis(50).min(deadline - Instant::now());
            let message = match self.replies.recv_timeout(slice) {
                Ok(Ok(message)) => message,
                Ok(Err(error)) => return Err(self.kill(Error::Contract, error.to_string())),
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost()),
                Err(RecvTimeoutError::Timeout) => {
                    if self.patience.stop.load(Ordering::Relaxed) {
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
                    return Err(self.kill(error, "the answer to a question".to_owned()));
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
    ) -> Result<T, Lost> {
        self.send(request)?;
        self.wait(work, wanted)
    }

    fn kill(&mut self, error: Error, detail: String) -> Lost {
        // It may be gone already; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
        Lost { error, detail }
    }

    /// Why it is gone.
    fn lost(&mut self) -> Lost {
        // Its pipe is closed, so it ends; what holds it up beyond that is killed.
        let patience = Instant::now() + Duration::from_secs(1);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < patience => thread::sleep(Duration::from_millis(5)),
                _ => break None,
            }
        };
        let how = status.map_or("closed its output".to_owned(), ended);
        // Its last words may still be on their way; a child of its own may hold the pipe open.
        while status.is_some() && !self.reader.is_finished() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let errors = self.errors.lock().map(|tail| tail.trim().to_owned()).unwrap_or_default();
        let last = errors.lines().last().unwrap_or_default();
        let separator = if last.is_empty() { "" } else { ": " };
        let _ = self.child.kill();
        Lost { error: Error::Crashed, detail: format!("it {how}{separator}{last}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Stateless and about to be forgotten: no need to ask it to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Runner for Process {
    fn describe(&mut self, provider: u8) -> Result<Option<Description>, Lost> {
        let clock = self.clock;
        self.ask(&Request::Describe { provider }, Duration::ZERO, |reply| match reply {
            Reply::Description(Identity { provider, version, executor, options }) => {
                Some(Some(Description::Available {
                    provider: provider.to_owned(),
                    version: version.to_owned(),
                    executor: executor.to_owned(),
                    options: options.to_owned(),
                    clock,
                }))
            }
            Reply::Unavailable { reason, detail } => {
                Some(Some(Description::Unavailable { reason, detail: detail.to_owned() }))
            }
            Reply::Absent => Some(None),
            _ => None,
        })
    }

    fn check(&mut self, provider: u8, case: &OwnedCase) -> Result<Finding, Lost> {
        let request = Request::Check { provider, case: case.borrowed() };
        self.ask(&request, Duration::ZERO, |reply| match reply {
            Reply::Finding(finding) => Some(finding),
            Reply::Failed(Error::Unsupported(reason)) => Some(Finding::Unsupported(reason)),
            _ => None,
        })
    }

    fn supports(
        &mut self,
        provider: u8,
        workload: &CryptoWorkload,
    ) -> Result<Result<(), Unsupported>, Lost> {
        let workload = Workload::Crypto(*workload);
        let request = Request::Supports { provider, workload };
        self.ask(&request, Duration::ZERO, |reply| match reply {
            Reply::Supports(answer) => Some(answer),
            Reply::Failed(Error::Unsupported(reason)) => Some(Err(reason)),
            _ => None,
        })
    }

    fn round(
        &mut self,
        provider: u8,
        workload: &CryptoWorkload,
        budget: &Budget,
        threads: u8,
    ) -> Result<Result<Seen, Error>, Lost> {
        let work = longest(workload, budget, threads);
        let request = Request::Round {
            provider,
            workload: Workload::Crypto(*workload),
            budget: *budget,
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
            Reply::Latencies { buckets, max, .. } => {
                buckets.iter().for_each(|(index, count)| seen.latency.add_many(*index, *count));
                seen.latency.max = seen.latency.max.max(max);
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

/// How long a round may take beyond the usual patience: what it was given, and the untimed work on
/// long messages (making, checking, a few operations) at the pace of a slow core.
fn longest(workload: &CryptoWorkload, budget: &Budget, threads: u8) -> Duration {
    const SLOW_BYTES_PER_SECOND: f64 = 2e6;
    const UNTIMED_OPERATIONS: f64 = 12.0;
    let Ticks(given) = budget.warmup + budget.limit + budget.limit;
    let jobs = match workload.data {
        cpb_core::DataSet::Same => 1.0,
        cpb_core::DataSet::Unique { chunks } => f64::from(chunks),
    };
    let bytes = f64::from(workload.message) * jobs * UNTIMED_OPERATIONS * f64::from(threads);
    Duration::from_nanos(given) + Duration::from_secs_f64(bytes / SLOW_BYTES_PER_SECOND)
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}{}", signal_name(signal)),
        (None, None) => "ended".to_owned(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (SIGSEGV, a bad memory access)",
        libc::SIGILL => " (SIGILL, an instruction that this CPU does not have)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL, perhaps out of memory)",
        _ => "",
    }
}

/// Passes whole frames on until the pipe ends, and word of a runner of another version. Other bytes
/// that are no frame are noise: the frames around them count.
fn read_frames(mut stdout: impl Read, sender: &Sender<Result<Vec<u8>, FrameError>>) {
    let mut decoder = Box::new(Decoder::default());
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stdout.read(&mut bytes) {
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

/// Keeps the last few lines.
fn read_errors(mut stderr: impl Read, tail: &Mutex<String>) {
    const KEPT: usize = 2000;
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        let Ok(mut tail) = tail.lock() else { return };
        tail.push_str(&String::from_utf8_lossy(&bytes[..count]));
        let excess = tail.len().saturating_sub(KEPT);
        let cut = (excess..=tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or(0);
        tail.drain(..cut);
    }
}
