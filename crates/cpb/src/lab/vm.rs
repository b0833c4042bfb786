//! One QEMU process, from start to end.

use super::definition::Definition;
use super::image::Image;
use super::tools;
use crate::agent::protocol::{PORT, READY};
use crate::child::{ended, read_errors};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of attempts to find a port that no other program takes in the meantime.
const PORTS: usize = 5;

/// How much of the console's output is kept.
const KEPT: usize = 32 * 1024;

/// A running QEMU. Dropping this kills it.
pub struct Vm {
    process: OwnedFd,
    port: u16,
    shared: Arc<Shared>,
    keyboard: Mutex<Option<ChildStdin>>,
}

/// What the threads that watch QEMU know.
#[derive(Default)]
struct Shared {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Default)]
struct Now {
    /// The end of the console's output.
    console: String,
    ready: bool,
    /// How it ended.
    ended: Option<ExitStatus>,
    /// The end of QEMU's own output.
    errors: String,
}

impl Shared {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Vm {
    /// Starts QEMU and waits until the agent answers. `screen`: whether to show the console and run a shell on it.
    ///
    /// # Errors
    /// Returns an error if QEMU does not start, if the guest does not come up in time, or if `stop` is set.
    pub fn boot(guest: &Definition, image: &Image, screen: bool, stop: &AtomicBool) -> Result<Vm> {
        for _ in 0..PORTS {
            let port = free_port()?;
            let vm = Vm::start(guest, image, screen, port)?;
            match vm.wait_until_ready(Duration::from_secs(guest.boot_seconds), stop) {
                Ok(()) => return Ok(vm),
                Err(error) => {
                    if !vm.shared.now().errors.contains("Could not set up host forwarding") {
                        return Err(error.context(format!("the guest {} did not boot", guest.name)));
                    }
                }
            }
        }
        bail!("found no free port for the guest {}", guest.name)
    }

    fn start(guest: &Definition, image: &Image, screen: bool, port: u16) -> Result<Vm> {
        let mut command = command(guest, image, screen, port)?;
        let shared = Arc::new(Shared::default());
        let keeper_shared = Arc::clone(&shared);
        let (sender, receiver) = channel();
        // The kernel kills QEMU together with the thread that started it, so that thread must stay.
        thread::spawn(move || keep(&mut command, &keeper_shared, &sender, screen));
        let (process, keyboard) =
            receiver.recv().context("the thread that watches QEMU is gone")??;
        Ok(Vm { process, port, shared, keyboard: Mutex::new(Some(keyboard)) })
    }

    fn wait_until_ready(&self, patience: Duration, stop: &AtomicBool) -> Result<()> {
        let deadline = Instant::now() + patience;
        let mut now = self.shared.now();
        loop {
            if now.ready {
                return Ok(());
            }
            if let Some(status) = now.ended {
                bail!("QEMU {}{}", ended(status), last_words(&now));
            }
            if stop.load(Ordering::Relaxed) {
                bail!("stopped by the user");
            }
            if Instant::now() >= deadline {
                let words = last_words(&now);
                bail!("its agent did not answer in {} s{words}", patience.as_secs());
            }
            let slice = Duration::from_millis(50);
            now = self
                .shared
                .changed
                .wait_timeout(now, slice)
                .map_or_else(|e| e.into_inner().0, |r| r.0);
        }
    }

    /// Connects to its agent.
    pub(super) fn connect(&self, patience: Duration) -> Result<TcpStream> {
        let address = (Ipv4Addr::LOCALHOST, self.port).into();
        let stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Kills QEMU and waits until it is gone.
    pub fn kill(&self) {
        // It may have ended already.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
        self.wait(Duration::from_secs(10));
    }

    /// Waits until QEMU ends, no longer than `patience`, and returns how it ended.
    pub fn wait(&self, patience: Duration) -> Option<String> {
        let now = self.shared.now();
        let waited =
            self.shared.changed.wait_timeout_while(now, patience, |now| now.ended.is_none());
        let now = waited.map_or_else(|e| e.into_inner().0, |r| r.0);
        now.ended.map(|status| format!("QEMU {}{}", ended(status), last_words(&now)))
    }

    /// Types on the console.
    pub(super) fn type_in(&self, bytes: &[u8]) -> Result<()> {
        let mut keyboard = self.keyboard.lock().unwrap_or_else(PoisonError::into_inner);
        let keyboard = keyboard.as_mut().context("the console is closed")?;
        keyboard.write_all(bytes)?;
        Ok(keyboard.flush()?)
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(guest: &Definition, image: &Image, screen: bool, port: u16) -> Result<Command> {
    let qemu = tools::find(&guest.qemu.program, &guest.qemu.package)?;
    // The kernel ends on the first panic, and QEMU exits instead of rebooting.
    let words = format!(
        "console={} quiet panic=-1 random.trust_cpu=on {} {}",
        guest.console,
        if screen { "cpb.shell" } else { "" },
        guest.command_line
    );
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("leash").arg(std::process::id().to_string()).arg("--").arg(qemu);
    command.args(&guest.qemu.arguments).args([
        "-nodefaults",
        "-no-user-config",
        "-no-reboot",
        "-display",
        "none",
        "-chardev",
        "stdio,id=console,signal=off",
        "-serial",
        "chardev:console",
    ]);
    // The guest can reach nothing; on the host, only cpb can reach the guest.
    command
        .arg("-netdev")
        .arg(format!("user,id=host,restrict=on,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:{PORT}"));
    command.arg("-kernel").arg(&image.kernel).arg("-initrd").arg(&image.initramfs);
    command.arg("-append").arg(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // cpb handles Ctrl-C in the terminal.
    command.process_group(0);
    Ok(command)
}

/// A port of this machine that is free at this moment. QEMU reports it if the port is taken by then.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Starts QEMU, reports it to `sender`, and stays until it ends.
fn keep(
    command: &mut Command,
    shared: &Shared,
    sender: &Sender<Result<(OwnedFd, ChildStdin)>>,
    screen: bool,
) {
    let mut start = || {
        let mut child = command.spawn().context("cannot start QEMU")?;
        let process = Pid::from_raw(child.id().cast_signed()).context("no process")?;
        // The process ID cannot be reused before the process is waited for.
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(keyboard), Some(console), Some(errors)) = pipes else { bail!("no pipes") };
        Ok((child, process, keyboard, console, errors))
    };
    let (mut child, process, keyboard, console, errors) = match start() {
        Ok(started) => started,
        Err(error) => {
            let _ = sender.send(Err(error));
            return;
        }
    };
    // If the receiver is gone, its end of the keyboard is closed, and QEMU is killed below.
    if let Err(unwanted) = sender.send(Ok((process, keyboard))) {
        drop(unwanted);
        let _ = child.kill();
    }
    let tail = Mutex::new(String::new());
    let status = thread::scope(|scope| {
        scope.spawn(|| read_errors(errors, &tail));
        scope.spawn(|| read_console(console, shared, screen));
        child.wait()
    });
    let mut now = shared.now();
    now.errors = tail.into_inner().unwrap_or_default();
    now.ended = status.ok();
    shared.changed.notify_all();
}

fn read_console(mut console: impl Read, shared: &Shared, screen: bool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = console.read(&mut bytes) {
        if screen {
            let mut terminal = std::io::stdout();
            let _ = terminal.write_all(&bytes[..count]).and_then(|()| terminal.flush());
        }
        let mut now = shared.now();
        now.console.push_str(&String::from_utf8_lossy(&bytes[..count]));
        // Includes the end of the line, so that later output begins on a new line.
        let said = now.console.split_once(READY).is_some_and(|(_, rest)| rest.contains('\n'));
        if !now.ready && said {
            now.ready = true;
            shared.changed.notify_all();
        }
        let excess = now.console.len().saturating_sub(KEPT);
        let cut = (excess..=now.console.len()).find(|at| now.console.is_char_boundary(*at));
        now.console.drain(..cut.unwrap_or(0));
    }
}

/// The last output of QEMU and of the console, for a message.
fn last_words(now: &Now) -> String {
    const LINES: usize = 6;
    let readable = |line: &&str| !line.trim().is_empty();
    let printable = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let mut lines: Vec<String> =
        now.console.lines().filter(readable).rev().take(LINES).map(printable).collect();
    lines.reverse();
    lines.extend(now.errors.lines().filter(readable).map(printable));
    if lines.is_empty() {
        String::new()
    } else {
        format!("; its last output:\n  {}", lines.join("\n  "))
    }
}
