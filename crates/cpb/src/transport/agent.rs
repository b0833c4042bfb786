//! A runner on another machine, asked over a connection to the agent there: a guest of the lab, or a
//! machine that ssh leads to.

use super::conversation::{self, Conversation};
use super::{Lost, Patience, Place};
use crate::agent::{End, Order};
use crate::lab::guest::Guest;
use crate::lab::vm::Vm;
use crate::remote::Remote;
use anyhow::Result;
use cpb_core::Error;
use rustix::net::Shutdown;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A provider of another machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// The machine.
    pub machine: Afar,
    /// The provider's name.
    pub provider: String,
}

/// Another machine with cpb's agent on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Afar {
    /// A guest, which is booted again if it dies.
    Guest(Arc<Guest>),
    /// A machine that ssh leads to, as long as it does.
    Remote(Arc<Remote>),
}

impl Afar {
    /// Gives an order to the agent: the connection to what it starts, and what that depends on.
    fn order(&self, order: &Order, patience: Duration) -> Result<(File, Lifeline)> {
        match self {
            Afar::Guest(guest) => {
                let (stream, vm, _) = guest.order(order, patience)?;
                let name = guest.name().to_owned();
                Ok((OwnedFd::from(stream).into(), Lifeline::Vm { name, vm }))
            }
            Afar::Remote(remote) => {
                let (stream, _) = remote.order(order, patience)?;
                Ok((stream, Lifeline::Connection(Arc::clone(remote))))
            }
        }
    }
}

/// What a runner on another machine cannot outlive.
enum Lifeline {
    Vm { name: String, vm: Arc<Vm> },
    Connection(Arc<Remote>),
}

impl Lifeline {
    /// What became of it, if it is gone.
    fn gone(&self) -> Option<String> {
        match self {
            Lifeline::Vm { name, vm } => {
                let how = vm.wait(Duration::ZERO)?;
                Some(format!("the guest {name} is gone: {how}"))
            }
            Lifeline::Connection(remote) => remote.lost(),
        }
    }

    fn name(&self) -> String {
        match self {
            Lifeline::Vm { name, .. } => format!("the guest {name}"),
            Lifeline::Connection(remote) => remote.name().to_owned(),
        }
    }
}

impl Inside {
    /// Starts a runner on the machine and shakes hands.
    ///
    /// # Errors
    /// The machine cannot be reached, or the runner does not answer.
    pub fn start(&self, place: &Place, patience: &Patience) -> Result<Conversation, Lost> {
        let order = Order::Runner {
            provider: self.provider.clone(),
            cpus: place.cpus.clone(),
            latency: place.latency,
        };
        let (stream, lifeline) = self.machine.order(&order, patience.answer).map_err(|error| {
            Lost { error: Error::Crashed, detail: format!("{error:#}"), again: false }
        })?;
        let lost = |error: io::Error| Lost {
            error: Error::Crashed,
            detail: format!("no connection to {}: {error}", lifeline.name()),
            again: false,
        };
        let rest = Arc::default();
        let requests = stream.try_clone().map_err(lost)?;
        let replies =
            Listening { stream: stream.try_clone().map_err(lost)?, rest: Arc::clone(&rest) };
        let peer = conversation::Peer::Inside(Peer { stream, lifeline, rest });
        Conversation::begin(requests, replies, peer, patience)
    }
}

/// The runner on the other machine.
pub(super) struct Peer {
    stream: File,
    lifeline: Lifeline,
    /// What came after the last frame.
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Peer {
    /// Whoever hangs takes its guest along: a driver that waits for its device for ever cannot be
    /// killed, and holds up whoever uses that device next. The agent kills any other.
    pub(super) fn kill(&mut self, why: Error) {
        if let (Error::Timeout, Lifeline::Vm { vm, .. }) = (why, &self.lifeline) {
            vm.kill();
        }
        self.hang_up();
    }

    /// Whether what it depends on is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.lifeline.gone().is_some()
    }

    pub(super) fn gone(&mut self) -> Lost {
        // The agent's last word comes before the stream's end; a machine that is gone has none.
        let patience = Instant::now() + Duration::from_secs(1);
        while Instant::now() < patience {
            if let Some(detail) = self.lifeline.gone() {
                return Lost { error: Error::Crashed, detail, again: false };
            }
            if let Some(End { how, last, .. }) = self.end() {
                let separator = if last.is_empty() { "" } else { ": " };
                let detail = format!("it {how}{separator}{last}");
                return Lost { error: Error::Crashed, detail, again: true };
            }
            thread::sleep(Duration::from_millis(5));
        }
        let detail = format!("{} hung up", self.lifeline.name());
        Lost { error: Error::Crashed, detail, again: true }
    }

    fn end(&self) -> Option<End> {
        serde_json::from_slice(&self.rest.lock().ok()?).ok()
    }

    fn hang_up(&self) {
        // It may have done so first.
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Both);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// Reads, and keeps what came after the last NUL: no frame, and at the end the agent's last word.
struct Listening {
    stream: File,
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Read for Listening {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// More is no word of the agent's.
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
