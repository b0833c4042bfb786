//! The agent: it runs on the other machine, takes the host's orders and starts the programs they name. In a
//! guest it is reached over TCP, over ssh through [`channels`](crate::remote::channels). While a round is
//! timed the agent sends nothing and sleeps.

use super::protocol::{About, Answer, End, Listed, Order, PORT, READY, read_line, write_line};
use crate::child::{ended, read_errors, why_not_started};
use crate::probe;
use crate::self_runner;
use crate::transport::Affinity;
use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::Shutdown;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// This program, even if its file has been removed (proc(5)).
const OWN: &str = "/proc/self/exe";

/// Serves forever.
///
/// # Errors
/// Returns an error if the port cannot be bound.
pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))
        .with_context(|| format!("cannot listen on port {PORT}"))?;
    println!("{READY}");
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        // An answer consists of many small frames, and the host waits for the last one.
        let _ = stream.set_nodelay(true);
        thread::spawn(move || converse(OwnedFd::from(stream).into()));
    }
    Ok(())
}

/// Takes one order, over a socket of any kind, and returns when the program that it started has ended.
pub fn converse(stream: File) {
    if let Err(error) = take_order(stream) {
        eprintln!("cpb agent: {error:#}");
    }
}

fn take_order(mut stream: File) -> Result<()> {
    let order = match read_line(&mut stream).map(|line| serde_json::from_str::<Order>(&line)) {
        Ok(Ok(order)) => order,
        Ok(Err(error)) => {
            let refused =
                format!("not an order that cpb {} understands: {error}", env!("CARGO_PKG_VERSION"));
            return write_line(&mut stream, &Answer::Refused(refused));
        }
        // The host only checked that the agent is there.
        Err(_) => return Ok(()),
    };
    match order {
        Order::About { cpu } => write_line(&mut stream, &Answer::About(Box::new(about(cpu)))),
        Order::Runner { provider, cpus, latency } => {
            let place = Affinity { cpus, latency };
            let runner = self_runner::runner(Path::new(OWN), &provider);
            let mut command = Command::new(&runner.path);
            command.args(runner.arguments).args(place.arguments()).envs(runner.environment);
            // An agent that has lost its host has nothing left to measure.
            hand_over(stream, command, true)
        }
        Order::Exec { command } => {
            let Some((program, arguments)) = command.split_first() else {
                return write_line(
                    &mut stream,
                    &Answer::Refused("the order names no command".to_owned()),
                );
            };
            let mut command = Command::new(program);
            command.args(arguments);
            hand_over(stream, command, false)
        }
    }
}

fn about(cpu: usize) -> About {
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cpus: cpb_runner::pin::allowed().unwrap_or_default(),
        machine: probe::machine(Path::new("/"), cpu),
        providers: Listed::own(),
        usual: cpb_providers::kernel_crypto::usual(Path::new("/")),
        kernel: cpb_providers::af_alg::survey().of_known_algorithms(),
    }
}

/// Starts a command with the connection as its input and output, and waits for its end. A runner is killed
/// when the host hangs up.
fn hand_over(mut stream: File, mut command: Command, runner: bool) -> Result<()> {
    let input = OwnedFd::from(stream.try_clone()?);
    let output = OwnedFd::from(stream.try_clone()?);
    command.stdin(input).stdout(output.try_clone()?).process_group(0);
    match runner {
        true => command.stderr(Stdio::piped()),
        false => command.stderr(output),
    };
    // Before the command can write anything.
    write_line(&mut stream, &Answer::Started)?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let how = why_not_started(Path::new(command.get_program()), &error);
            return say_end(stream, &End { status: Some(127), how, last: String::new() });
        }
    };
    // Dropping the command closes its copies of the connection.
    drop(command);
    let errors = child.stderr.take();
    let tail = Mutex::new(String::new());
    let status = thread::scope(|scope| -> Result<_> {
        scope.spawn(|| errors.map(|errors| read_errors(errors, &tail)));
        if runner {
            let process = Pid::from_raw(child.id().cast_signed()).context("no process")?;
            let process = pidfd_open(process, PidfdFlags::empty())?;
            if hung_up_before_end(&stream, process.as_fd())? {
                child.kill()?;
            }
        }
        Ok(child.wait()?)
    })?;
    let errors = tail.lock().map(|tail| tail.trim().to_owned()).unwrap_or_default();
    let last = errors.lines().last().unwrap_or_default().to_owned();
    say_end(stream, &End { status: status.code(), how: ended(status), last })
}

/// Waits until the process ends or the host hangs up. Returns whether the host hung up.
fn hung_up_before_end(stream: &File, process: impl AsFd) -> Result<bool> {
    loop {
        let mut events =
            [PollFd::new(&process, PollFlags::IN), PollFd::new(stream, PollFlags::RDHUP)];
        match poll(&mut events, None) {
            Ok(_) if events[0].revents().contains(PollFlags::IN) => return Ok(false),
            Ok(_) if !events[1].revents().is_empty() => return Ok(true),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn say_end(mut stream: File, end: &End) -> Result<()> {
    // The host may have hung up; then the answer is not needed.
    let _ = stream.write_all(&[0]);
    let _ = write_line(&mut stream, end);
    let _ = rustix::net::shutdown(&stream, Shutdown::Write);
    Ok(())
}
