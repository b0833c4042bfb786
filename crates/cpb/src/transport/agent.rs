//! A runner on another machine, reached over a connection to the agent there: a guest of the lab, or a
//! machine that ssh reaches.

use super::conversation::{Conversation, Peer};
use super::{Affinity, Launch, RunnerError, Timeouts};
use crate::agent::protocol::{About, End, Order};
use anyhow::Result;
use cpb_core::Error;
use rustix::net::Shutdown;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A machine with cpb's agent.
pub trait AgentHost: fmt::Debug + Send + Sync {
    /// Gives an order to the agent. Returns the connection to what it starts, and what that depends on.
    ///
    /// # Errors
    /// Returns an error if the machine cannot be reached, or if its agent refuses.
    fn order(&self, order: &Order, patience: Duration) -> Result<(File, Box<dyn Lifeline>)>;

    /// The current description of the machine.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    fn about(&self, cpu: usize, patience: Duration) -> Result<About>;

    /// Why it cannot be reached any more; `None` if it can.
    fn lost(&self) -> Option<String> {
        None
    }
}

/// What a runner on another machine depends on.
pub trait Lifeline: Send {
    /// Its name.
    fn name(&self) -> String;

    /// What happened to it; `None` if it is not gone.
    fn gone(&self) -> Option<String>;

    /// A runner on it hangs.
    fn hung(&self) {}
}

/// A provider on another machine.
#[derive(Clone, Debug)]
pub struct Inside {
    /// The machine.
    pub machine: Arc<dyn AgentHost>,
    /// The provider's name.
    pub provider: String,
}

impl Launch for Inside {
    fn start(&self, affinity: &Affinity, timeouts: &Timeouts) -> Result<Conversation, RunnerError> {
        let order = Order::Runner {
            provider: self.provider.clone(),
            cpus: affinity.cpus.clone(),
            latency: affinity.latency,
        };
        let (stream, lifeline) = self.machine.order(&order, timeouts.answer).map_err(|error| {
            RunnerError { error: Error::Crashed, detail: format!("{error:#}"), again: false }
        })?;
        let lost = |error: io::Error| RunnerError {
            error: Error::Crashed,
            detail: format!("no connection to {}: {error}", lifeline.name()),
            again: false,
        };
        let rest = Arc::default();
        let requests = stream.try_clone().map_err(lost)?;
        let replies =
            Listening { stream: stream.try_clone().map_err(lost)?, rest: Arc::clone(&rest) };
        let peer = RemoteProcess { stream, lifeline, rest };
        Conversation::begin(requests, replies, Box::new(peer), timeouts)
    }

    fn serving(&self, provider: &str) -> Arc<dyn Launch> {
        Arc::new(Inside { provider: provider.to_owned(), ..self.clone() })
    }

    fn lost(&self) -> Option<String> {
        self.machine.lost()
    }
}

/// The runner on the other machine.
struct RemoteProcess {
    stream: File,
    lifeline: Box<dyn Lifeline>,
    /// The bytes after the last frame.
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Peer for RemoteProcess {
    /// A runner that hangs takes its guest along: a driver that waits for its device forever cannot be killed
    /// and blocks every other user of that device. The agent kills any other runner.
    fn kill(&mut self, why: Error) {
        if why == Error::Timeout {
            self.lifeline.hung();
        }
        self.hang_up();
    }

    fn is_gone(&self) -> bool {
        self.lifeline.gone().is_some()
    }

    fn gone(&mut self) -> RunnerError {
        // The agent's report comes before the end of the stream; a machine that is gone sends none.
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if let Some(detail) = self.lifeline.gone() {
                return RunnerError { error: Error::Crashed, detail, again: false };
            }
            if let Some(End { how, last, .. }) = self.end() {
                let separator = if last.is_empty() { "" } else { ": " };
                let detail = format!("it {how}{separator}{last}");
                return RunnerError { error: Error::Crashed, detail, again: true };
            }
            thread::sleep(Duration::from_millis(5));
        }
        let detail = format!("{} closed the connection", self.lifeline.name());
        RunnerError { error: Error::Crashed, detail, again: true }
    }
}

impl RemoteProcess {
    fn end(&self) -> Option<End> {
        serde_json::from_slice(&self.rest.lock().ok()?).ok()
    }

    fn hang_up(&self) {
        // The agent may have done so already.
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Both);
    }
}

impl Drop for RemoteProcess {
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// Reads, and keeps what came after the last NUL: this is not a frame, but at the end the agent's report.
struct Listening {
    stream: File,
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Read for Listening {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// A longer text is not a report of the agent.
        const LONGEST: usize = 16 * 1024;
        let count = self.stream.read(buffer)?;
        if let Ok(mut rest) = self.rest.lock() {
            let new = &buffer[..count];
            match new.iter().rposition(|byte| *byte == 0) {
                Some(last) => {
                    rest.clear();
                    rest.extend(&new[last + 1..]);
                }
                None => rest.extend(new),
            }
            rest.truncate(LONGEST);
        }
        Ok(count)
    }
}
