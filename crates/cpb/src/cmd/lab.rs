//! `cpb lab`: guests with an accelerator, in QEMU.

use super::{DONE, FAILED, INTERRUPTED, output};
use crate::agent::protocol::{End, Order};
use crate::lab::definition::Definition;
use crate::lab::guest::Guest;
use crate::lab::image;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use cpb_report::wrap;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Longest wait for the agent's answer to an order.
const ANSWER: Duration = Duration::from_secs(60);

/// Ctrl-], which ends `cpb lab up`, as in telnet.
const HANG_UP: u8 = 0x1d;

#[derive(Args)]
#[command(after_help = "Examples:
  cpb lab list                             list the guests
  cpb lab up x86_64-6.1                    boot one, with a shell on its console
  cpb lab run x86_64-6.1 -- cpb list       run a command in one
  cpb run --target lab:x86_64-6.1          measure in one

A guest is a Debian kernel in an emulated machine with an accelerator. apt
fetches its package once, without root, into ~/.cache/cpb/lab. A guest of this
machine's architecture runs this cpb; others need a static cpb, which
`make static` builds.

Environment:
  CPB_LAB_CACHE     folder for kernels [default: ~/.cache/cpb/lab]
  CPB_LAB_BINARIES  folder of the static cpb [default: the folder of this cpb,
                    or ./dist]
  CPB_LAB_MIRROR    mirror of Debian [default: the mirrors in apt's sources]")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the guests, and which kernels have been fetched
    List,
    /// Boot a guest, with a shell on its console
    Up {
        /// A guest from `cpb lab list`, or a file like lab/*.toml
        guest: String,
    },
    /// Boot a guest, run a command in it, and shut it down
    Run {
        /// A guest from `cpb lab list`, or a file like lab/*.toml
        guest: String,
        /// Program and arguments
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Fetch the newest kernel for a guest
    Fetch {
        /// Guests from `cpb lab list`, or files like lab/*.toml
        #[arg(required = true)]
        guests: Vec<String>,
    },
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    match arguments.command {
        Action::List => list(),
        Action::Up { guest } => up(&guest),
        Action::Run { guest, command } => run_command(&guest, command),
        Action::Fetch { guests } => {
            for guest in guests {
                let release = image::renew(&Definition::find(&guest)?, &say)?;
                output::print(&format!("{guest}: Linux {release}\n"))?;
            }
            Ok(DONE)
        }
    }
}

/// Reports a step that takes time.
pub(super) fn say(what: &str) {
    output::say(&format!("lab: {what}"));
}

fn list() -> Result<u8> {
    let mut text = String::new();
    for guest in Definition::all()? {
        let fetched =
            image::fetched(&guest).map_or("not fetched".to_owned(), |r| format!("Linux {r}"));
        writeln!(text, "{:<16} {fetched}", guest.name)?;
        for line in wrap(&guest.reason, 80 - 17) {
            writeln!(text, "{:16} {line}", "")?;
        }
    }
    output::print(&text)?;
    Ok(DONE)
}

/// Set by the first Ctrl-C or SIGTERM.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// Boots a guest. Returns `None` if the user stops it before it is up.
fn boot(name: &str, screen: bool, stop: &Arc<AtomicBool>) -> Result<Option<Arc<Guest>>> {
    match Guest::boot(name, screen, stop, &say) {
        Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
        booted => booted.map(Some),
    }
}

fn up(name: &str) -> Result<u8> {
    let stop = stop_on_signals()?;
    let Some(guest) = boot(name, true, &stop)? else { return Ok(INTERRUPTED) };
    let vm = guest.vm()?;
    let terminal = Raw::set()?;
    if terminal.is_some() {
        say("a shell on the guest's console; Ctrl-] ends it\r");
    } else {
        say("the guest runs until Ctrl-C or the end of standard input");
    }
    let hung_up = Arc::new(AtomicBool::new(false));
    let (keyboard, typist) = (Arc::clone(&guest), Arc::clone(&hung_up));
    let is_terminal = terminal.is_some();
    thread::spawn(move || {
        let mut bytes = [0; 256];
        while let Ok(count @ 1..) = io::stdin().read(&mut bytes) {
            let typed = &bytes[..count];
            let end = typed.iter().position(|byte| is_terminal && *byte == HANG_UP);
            if keyboard.type_in(&typed[..end.unwrap_or(count)]).is_err() || end.is_some() {
                break;
            }
        }
        typist.store(true, Ordering::Relaxed);
    });
    while vm.wait(Duration::from_millis(100)).is_none() {
        if stop.load(Ordering::Relaxed) || hung_up.load(Ordering::Relaxed) {
            vm.kill();
        }
    }
    drop(terminal);
    Ok(if stop.load(Ordering::Relaxed) { INTERRUPTED } else { DONE })
}

/// A terminal in raw mode, until this is dropped.
struct Raw(Termios);

impl Raw {
    /// Returns `None` if standard input is not a terminal.
    fn set() -> Result<Option<Raw>> {
        if !isatty(io::stdin()) {
            return Ok(None);
        }
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Some(Raw(before)))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn run_command(name: &str, command: Vec<String>) -> Result<u8> {
    let stop = stop_on_signals()?;
    let Some(guest) = boot(name, false, &stop)? else { return Ok(INTERRUPTED) };
    let (stream, vm, _) = guest.order(&Order::Exec { command }, ANSWER)?;
    let input = stream.try_clone()?;
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut &input);
        let _ = input.shutdown(Shutdown::Write);
    });
    let output = thread::spawn(move || relay(stream));
    while !output.is_finished() {
        if stop.load(Ordering::Relaxed) {
            vm.kill();
            return Ok(INTERRUPTED);
        }
        if let Some(how) = vm.wait(Duration::from_millis(20)) {
            // The last output may still be on its way.
            thread::sleep(Duration::from_millis(100));
            if !output.is_finished() {
                anyhow::bail!("the guest is gone: {how}");
            }
        }
    }
    let end = output.join().ok().context("the command's output was lost")??;
    if let Some(count) = vm.counts() {
        say(&format!("engine, {}", cpb_report::engine_count(&count)));
    }
    match end.status {
        Some(status) => {
            if status == 127 && !end.how.starts_with("exited") {
                output::say(&format!("the command {}", end.how));
            }
            Ok(u8::try_from(status).unwrap_or(FAILED))
        }
        None => {
            output::say(&format!("the command {}", end.how));
            Ok(FAILED)
        }
    }
}

/// Prints the output of the command. The last NUL precedes the agent's report on how the command ended.
fn relay(mut stream: TcpStream) -> Result<End> {
    let mut kept: Vec<u8> = Vec::new();
    let mut bytes = [0; 16 * 1024];
    let mut terminal = io::stdout();
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            break;
        }
        kept.extend(&bytes[..count]);
        let known = kept.iter().rposition(|byte| *byte == 0).unwrap_or(kept.len());
        terminal.write_all(&kept[..known])?;
        terminal.flush()?;
        kept.drain(..known);
    }
    let end = kept.strip_prefix(&[0]).context("the guest closed the connection")?;
    serde_json::from_slice(end).context("the guest closed the connection")
}
