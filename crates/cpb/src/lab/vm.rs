//! One QEMU process, from start to end.

use super::definition::Definition;
use super::engine::EngineProcess;
use super::image::Image;
use super::{device_tree, tools};
use crate::agent::protocol::{PORT, READY};
use crate::child::{ended, read_errors};
use anyhow::{Context, Result, bail};
use cpb_record::EngineCount;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

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
    /// The engine beside QEMU, if there is one.
    engine: Option<EngineProcess>,
    /// How the engine ended, if it ended before QEMU, which is no use without it.
    engine_ended: Option<String>,
}

impl Now {
    /// How the machine ended, if it has.
    fn how(&self) -> Option<String> {
        let qemu = self.ended?;
        let words = last_words(self);
        Some(match &self.engine_ended {
            Some(engine) => format!("the engine beside QEMU {engine}{words}"),
            None => format!("QEMU {}{words}", ended(qemu)),
        })
    }
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
        let shared = Arc::new(Shared::default());
        let keeper_shared = Arc::clone(&shared);
        let (sender, receiver) = channel();
        let (guest, image) = (guest.clone(), image.clone());
        // The kernel kills QEMU together with the thread that started it, so that thread must stay.
        thread::spawn(move || {
            let start = || Started::new(&guest, &image, screen, port);
            keep(start, &keeper_shared, &sender, screen);
        });
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
            if let Some(how) = now.how() {
                bail!("{how}");
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
        now.how()
    }

    /// What the engine beside it has done so far. `None` without an engine, or once it has ended.
    pub fn counts(&self) -> Option<EngineCount> {
        self.shared.now().engine.as_mut()?.counts().ok()
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

/// A QEMU that has been started, with what is beside it.
struct Started {
    qemu: Child,
    engine: Option<EngineProcess>,
    /// The engine's socket and the device tree are in it.
    _folder: TempDir,
}

impl Started {
    fn new(guest: &Definition, image: &Image, screen: bool, port: u16) -> Result<Started> {
        let folder = TempDir::with_prefix("cpb-lab-").context("cannot make a folder")?;
        let mut command = command(guest, image, screen, port)?;
        let mut engine = None;
        if let Some(definition) = &guest.engine {
            let socket = folder.path().join("engine");
            engine = Some(EngineProcess::start(definition, &socket)?);
            // In the first slot, and so on the pin's first interrupt line.
            let device = json!({
                "driver": "vfio-user-pci", "addr": "1",
                "socket": { "type": "unix", "path": socket },
            });
            command.arg("-device").arg(device.to_string());
        }
        if !guest.device_tree.is_empty() {
            let blob = folder.path().join("device-tree");
            fs::write(&blob, device_tree(guest, image, &folder)?)?;
            command.arg("-dtb").arg(blob);
        }
        let qemu = command.spawn().context("cannot start QEMU")?;
        Ok(Started { qemu, engine, _folder: folder })
    }
}

/// The device tree of the guest's machine. QEMU makes one that fits its arguments, and says it when asked.
fn device_tree(guest: &Definition, image: &Image, folder: &TempDir) -> Result<Vec<u8>> {
    let own = folder.path().join("own-device-tree");
    let mut command = Command::new(&image.emulator.words()[0]);
    image.emulator.prepare(&mut command);
    command.args(&image.emulator.words()[1..]).args(["-nodefaults", "-no-user-config"]);
    command.args(["-display", "none", "-netdev", "user,id=host,restrict=on"]);
    let mut is_machine = false;
    for word in &guest.qemu.arguments {
        let mut word = OsString::from(word);
        if is_machine {
            word.push(",dumpdtb=");
            word.push(&own);
        }
        is_machine = word == "-machine";
        command.arg(word);
    }
    tools::run(&mut command).context("QEMU does not tell its device tree")?;
    device_tree::with(&fs::read(&own).context("QEMU's device tree")?, &guest.device_tree)
}

fn command(guest: &Definition, image: &Image, screen: bool, port: u16) -> Result<Command> {
    // The kernel ends on the first panic, and QEMU exits instead of rebooting.
    let words = format!(
        "console={} quiet panic=-1 random.trust_cpu=on {} {} {}",
        guest.console,
        if screen { "cpb.shell" } else { "" },
        guest
            .engine
            .as_ref()
            .map(|engine| format!("cpb.engine={:#x}", engine.address))
            .unwrap_or_default(),
        guest.command_line
    );
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("leash").arg(std::process::id().to_string()).arg("--");
    image.emulator.prepare(&mut command);
    command.args(image.emulator.words());
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
    start: impl FnOnce() -> Result<Started>,
    shared: &Shared,
    sender: &Sender<Result<(OwnedFd, ChildStdin)>>,
    screen: bool,
) {
    let start = || {
        let mut started = start()?;
        let child = &mut started.qemu;
        let process = Pid::from_raw(child.id().cast_signed()).context("no process")?;
        // The process ID cannot be reused before the process is waited for.
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(keyboard), Some(console), Some(errors)) = pipes else { bail!("no pipes") };
        Ok((started, process, keyboard, console, errors))
    };
    let (mut started, process, keyboard, console, errors) = match start() {
        Ok(started) => started,
        Err(error) => {
            let _ = sender.send(Err(error));
            return;
        }
    };
    let watched = started.engine.as_ref().and_then(|engine| engine.watch().ok());
    let watched = watched.zip(process.try_clone().ok());
    // If the receiver is gone, its end of the keyboard is closed, and QEMU is killed below.
    if let Err(unwanted) = sender.send(Ok((process, keyboard))) {
        drop(unwanted);
        let _ = started.qemu.kill();
    }
    shared.now().engine = started.engine.take();
    let tail = Mutex::new(String::new());
    let status = thread::scope(|scope| {
        scope.spawn(|| read_errors(errors, &tail));
        scope.spawn(|| read_console(console, shared, screen));
        if let Some((engine, qemu)) = &watched {
            scope.spawn(|| end_with_the_engine(engine, qemu, shared));
        }
        started.qemu.wait()
    });
    let mut now = shared.now();
    now.errors = tail.into_inner().unwrap_or_default();
    now.ended = status.ok();
    shared.changed.notify_all();
}

/// Kills QEMU if the engine beside it ends first: the guest would wait for it in vain.
fn end_with_the_engine(engine: &OwnedFd, qemu: &OwnedFd, shared: &Shared) {
    let mut events = [engine, qemu].map(|process| PollFd::new(process, PollFlags::IN));
    while poll(&mut events, None).is_err() {}
    if !events[1].revents().is_empty() {
        return;
    }
    let mut now = shared.now();
    now.engine_ended = now.engine.as_mut().map(EngineProcess::how_it_ended);
    // It may have ended meanwhile.
    let _ = pidfd_send_signal(qemu, Signal::KILL);
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
/// What the kernel marks the beginning of a report of its own fault with (kernel/panic.c), on the line after the one
/// that often tells the reason.
const CUT_HERE: &str = "[ cut here ]";

fn last_words(now: &Now) -> String {
    const LINES: usize = 6;
    let readable = |line: &&str| !line.trim().is_empty();
    let printable = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let console: Vec<String> = now.console.lines().filter(readable).map(printable).collect();
    let cut = console.iter().rposition(|line| line.contains(CUT_HERE));
    // The end of a report is registers and code.
    let from = cut.map_or(console.len().saturating_sub(LINES), |cut| cut.saturating_sub(1));
    let mut lines: Vec<String> = console.into_iter().skip(from).take(LINES).collect();
    lines.extend(now.errors.lines().filter(readable).map(printable));
    if lines.is_empty() {
        String::new()
    } else {
        format!("; its last output:\n  {}", lines.join("\n  "))
    }
}
