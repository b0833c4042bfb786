//! The interrupt pin, through an eventfd.
//!
//! An eventfd tells that the pin went up, and cannot tell that it went down. QEMU lets the guest see it up until the
//! guest's next access of the device, then down, and sends an unmask. If the engine's line is up still, it must be told
//! again, or the guest loses the interrupt. A handler's first access is a read of the cause, so telling it at once would
//! interrupt most handlers twice. The model therefore waits a little, and tells it only if the line is up even then.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long a handler has to acknowledge (measured with Linux's driver: at once gives 1.12 to 1.6 interrupts a job,
/// 200 microseconds 1.00 to 1.02, three milliseconds 1.07).
const GRACE: Duration = Duration::from_micros(200);

/// The pin.
#[derive(Default)]
pub(crate) struct Pin {
    event: Option<File>,
    is_up: bool,
    again_at: Option<Instant>,
    /// How often the line went up.
    pub(crate) rises: u64,
}

impl Pin {
    /// Connects it, or disconnects it.
    pub(crate) fn connect(&mut self, event: Option<File>) {
        self.event = event;
        if self.is_up {
            self.tell();
        }
    }

    /// The state of the engine's line now.
    pub(crate) fn set(&mut self, up: bool) {
        if up && !self.is_up {
            self.rises += 1;
            self.tell();
        }
        self.is_up = up;
    }

    /// QEMU has shown it down to the guest.
    pub(crate) fn unmask(&mut self, now: Instant) {
        if self.is_up {
            self.again_at = Some(now + GRACE);
        }
    }

    /// When it has something to do.
    pub(crate) fn next_event(&self) -> Option<Instant> {
        self.again_at
    }

    /// Does what is due.
    pub(crate) fn advance(&mut self, now: Instant) {
        if self.again_at.is_some_and(|at| at <= now) {
            self.again_at = None;
            if self.is_up {
                self.tell();
            }
        }
    }

    fn tell(&mut self) {
        if let Some(event) = &mut self.event {
            // It fails only if QEMU is gone, which ends the server.
            let _ = event.write_all(&1_u64.to_ne_bytes());
        }
    }
}
