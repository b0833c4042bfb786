//! A runner in a guest of the lab, asked over a connection to the guest's agent.

use super::conversation::{self, Conversation};
use super::{Lost, Patience, Place};
use crate::agent::{End, Order};
use crate::lab::guest::Guest;
use crate::lab::vm::Vm;
use cpb_core::Error;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A provider of a guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// The guest.
    pub guest: Arc<Guest>,
    /// The provider's name.
    pub provider: String,
}

impl Inside {
    /// Starts a runner in the guest, which is booted if it does not run, and shakes hands.
    ///
    /// # Errors
    /// The guest does not boot, or the runner does not answer.
    pub fn start(&self, place: &Place, patience: &Patience) -> Result<Conversation, Lost> {
        let order = Order::Runner {
            provider: self.provider.clone(),
            cpus: place.cpus.clone(),
            latency: place.latency,
        };
        let (stream, vm, _) = self.guest.order(&order, patience.answer).map_err(|error| Lost {
            error: Error::Crashed,
            detail: format!("{error:#}"),
            again: false,
        })?;
        let lost = |error: io::Error| Lost {
            error: Error::Crashed,
            detail: format!("no connection to the guest: {error}"),
            again: false,
        };
        let rest = Arc::default();
        let requests = stream.try_clone().map_err(lost)?;
        let replies =
            Listening { stream: stream.try_clone().map_err(lost)?, rest: Arc::clone(&rest) };
        let name = self.guest.name().to_owned();
        let peer = conversation::Peer::Inside(Peer { name, stream, vm, rest });
        Conversation::begin(requests, replies, peer, patience)
    }
}

/// The runner in the guest.
pub(super) struct Peer {
    /// The guest's name.
    name: String,
    stream: TcpStream,
    vm: Arc<Vm>,
    /// What came after the last frame.
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Peer {
    /// Whoever hangs takes its guest along: a driver that waits for its device for ever cannot be
    /// killed, and holds up whoever uses that device next. The agent kills any other.
    pub(super) fn kill(&mut self, why: Error) {
        if why == Error::Timeout {
            self.vm.kill();
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Whether its guest is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.vm.wait(Duration::ZERO).is_some()
    }

    pub(super) fn gone(&mut self) -> Lost {
        // The agent's last word comes before the stream's end; a QEMU that dies has none.
        let patience = Instant::now() + Duration::from_secs(1);
        while Instant::now() < patience {
            if let Some(how) = self.vm.wait(Duration::from_millis(5)) {
                let detail = format!("the guest {} is gone: {how}", self.name);
                return Lost { error: Error::Crashed, detail, again: false };
            }
            if let Some(End { how, last, .. }) = self.end() {
                let separator = if last.is_empty() { "" } else { ": " };
                let detail = format!("it {how}{separator}{last}");
                return Lost { error: Error::Crashed, detail, again: true };
            }
        }
        let detail = format!("the guest {} hung up", self.name);
        Lost { error: Error::Crashed, detail, again: true }
    }

    fn end(&self) -> Option<End> {
        serde_json::from_slice(&self.rest.lock().ok()?).ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Reads, and keeps what came after the last NUL: no frame, and at the end the agent's last word.
struct Listening {
    stream: TcpStream,
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
