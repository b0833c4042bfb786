//! A runner on a board, reached over a serial line.
//!
//! The line exists whether or not a device answers. A conversation begins by waiting until the line is quiet,
//! and it ends when the host gives up or the device goes away.

use super::conversation::{Conversation, Peer};
use super::ready::wait;
use super::{Affinity, Launch, RunnerError, Timeouts};
use cpb_core::Error;
use rustix::event::PollFlags;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{self, ControlModes, OptionalActions, QueueSelector};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default bits per second of the firmware.
pub const BAUD: u32 = 115_200;

/// A line this long without a byte is quiet: many times the duration of a byte at 9600 baud.
const QUIET: Duration = Duration::from_millis(50);

/// The longest wait for a line to become quiet after a round that was given up.
const CHATTER: Duration = Duration::from_secs(2);

/// A serial line with a board at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Serial {
    /// The device file.
    pub device: PathBuf,
    /// Bits per second.
    pub baud: u32,
}

impl Launch for Serial {
    fn start(&self, _: &Affinity, timeouts: &Timeouts) -> Result<Conversation, RunnerError> {
        let name = self.device.display();
        let state = Arc::new(LineState::default());
        let opened = open(&self.device, self.baud)
            .and_then(|file| ends(file, &state).map_err(|error| words(&error)));
        let (replies, requests, file) = opened.map_err(|error| RunnerError {
            error: Error::Crashed,
            detail: format!("{name}: {error}"),
            again: false,
        })?;
        let peer = FarBoard { name: name.to_string(), file: Some(file), state: Arc::clone(&state) };
        Conversation::begin(requests, replies, Box::new(peer), timeouts).map_err(|lost| {
            RunnerError {
                detail: format!("{name}: {}", why_no_runner(&lost, &state, self.baud)),
                ..lost
            }
        })
    }

    fn serving(&self, _: &str) -> Arc<dyn Launch> {
        Arc::new(self.clone())
    }

    fn shared(&self) -> Option<String> {
        Some(self.device.display().to_string())
    }
}

/// Opens a terminal device as a transparent line at `baud`.
fn open(device: &Path, baud: u32) -> Result<File, String> {
    // Without O_NONBLOCK, the open call may wait for a modem's carrier.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(device, flags, Mode::empty());
    let file = File::from(file.map_err(|error| words(&error.into()))?);
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| "another program has locked it".to_owned())?;
    let mut settings = termios::tcgetattr(&file).map_err(|error| words(&error.into()))?;
    settings.make_raw();
    // 8 data bits through make_raw; no parity, one stop bit, no modem control, no flow control.
    settings.control_modes.remove(
        ControlModes::PARENB | ControlModes::CSTOPB | ControlModes::CRTSCTS | ControlModes::HUPCL,
    );
    settings.control_modes.insert(ControlModes::CREAD | ControlModes::CLOCAL);
    let set = settings
        .set_speed(baud)
        .and_then(|()| termios::tcsetattr(&file, OptionalActions::Now, &settings));
    set.map_err(|error| format!("at {baud} baud: {}", words(&error.into())))?;
    Ok(file)
}

/// An error of a device, for people.
fn words(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => "no such device; is the board plugged in?".to_owned(),
        Some(Errno::ACCESS) => {
            "permission denied; on Debian, add the user to the group dialout".to_owned()
        }
        Some(Errno::NOTTY) => "it is not a serial line".to_owned(),
        Some(Errno::IO | Errno::NXIO | Errno::NODEV) => {
            "the device is gone; was it unplugged?".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Both ends of a quiet line, and the line itself.
fn ends(file: File, state: &Arc<LineState>) -> io::Result<(Replies, Requests, File)> {
    quiet(&file)?;
    let replies = Replies { file: file.try_clone()?, state: Arc::clone(state) };
    Ok((replies, Requests { file: file.try_clone()? }, file))
}

/// Waits until nothing arrives any more, and discards what arrived.
fn quiet(file: &File) -> Result<(), Errno> {
    let deadline = Instant::now() + CHATTER;
    while wait(file, PollFlags::IN, QUIET)? && Instant::now() < deadline {
        termios::tcflush(file, QueueSelector::IFlush)?;
    }
    Ok(())
}

/// The state of the line.
#[derive(Default)]
struct LineState {
    /// The conversation is over.
    over: AtomicBool,
    /// The device went away.
    gone: AtomicBool,
    /// The number of bytes that arrived.
    received: AtomicU64,
}

/// Reads until the conversation is over or the device is gone.
struct Replies {
    file: File,
    state: Arc<LineState>,
}

impl Read for Replies {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = wait(&self.file, PollFlags::IN, QUIET)?;
            if self.state.over.load(Ordering::Relaxed) {
                return Ok(0);
            }
            if !ready {
                continue;
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(count @ 1..) => {
                    self.state.received.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                // Reading from an unplugged device ends, or fails with EIO.
                end => {
                    self.state.gone.store(true, Ordering::Relaxed);
                    return end;
                }
            }
        }
    }
}

/// Writes at the line's speed.
struct Requests {
    file: File,
}

impl Write for Requests {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// Longer than any frame takes at 9600 baud.
        const STUCK: Duration = Duration::from_secs(10);
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !wait(&self.file, PollFlags::OUT, STUCK)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The board at the other end, as far as it can be observed.
struct FarBoard {
    name: String,
    /// Holds the lock.
    file: Option<File>,
    state: Arc<LineState>,
}

impl Peer for FarBoard {
    /// Ends the conversation. The board itself cannot be stopped: it may still be working, and its late
    /// answer is skipped before the next conversation.
    fn kill(&mut self, _: Error) {
        self.state.over.store(true, Ordering::Relaxed);
        if let Some(file) = self.file.take() {
            // The reader keeps the device open for a moment, and the lock belongs to the open file.
            _ = rustix::fs::flock(&file, FlockOperation::Unlock);
        }
    }

    fn is_gone(&self) -> bool {
        self.state.gone.load(Ordering::Relaxed)
    }

    fn gone(&mut self) -> RunnerError {
        self.kill(Error::Crashed);
        let detail = format!("{}: the device is gone; was it unplugged?", self.name);
        RunnerError { error: Error::Crashed, detail, again: false }
    }
}

impl Drop for FarBoard {
    fn drop(&mut self) {
        self.kill(Error::Crashed);
    }
}

/// What is wrong at the other end, judged by what arrived from there.
fn why_no_runner(lost: &RunnerError, state: &LineState, baud: u32) -> String {
    match (lost.error, state.received.load(Ordering::Relaxed)) {
        (Error::Timeout, 0) => format!(
            "{}, and not a single byte arrived; does the board run cpb's firmware, and is this its line?",
            lost.detail
        ),
        (Error::Timeout, bytes) => format!(
            "{}, but {bytes} bytes arrived that are not frames; does the board run cpb's firmware, built for \
             {baud} baud?",
            lost.detail
        ),
        _ => lost.detail.clone(),
    }
}
