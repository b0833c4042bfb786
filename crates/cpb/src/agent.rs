//! The agent on another machine: takes orders of the host, and what it says and is told. In a guest
//! it is reached over TCP, over ssh by [`channels`](crate::remote::channels).
//!
//! A connection begins with one line of JSON from the host, an [`Order`], and one back, an
//! [`Answer`]. After [`Answer::Started`] the connection is the standard input and output of what was
//! started, and nothing else goes over it until that ends: then come a NUL, which no frame contains,
//! and one line that says how it ended, an [`End`]. Nothing is sent while a round is timed, and the
//! agent sleeps.

use crate::own;
use crate::probe;
use crate::transport::Place;
use crate::transport::process::{ended, read_errors};
use anyhow::{Context, Result, anyhow};
use cpb_core::catalog;
use cpb_record::Machine;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::Shutdown;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// Where it listens, in the guest.
pub const PORT: u16 = 7000;

/// What it prints on the console when it can be reached.
pub const READY: &str = "cpb agent ready";

/// This program, even if its file has been removed (proc(5)).
const OWN: &str = "/proc/self/exe";

/// The longest line that is taken for an order or an answer.
const LONGEST: usize = 256 * 1024;

/// The host's wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Tell about the guest, with the state of this CPU.
    About {
        /// The CPU.
        cpu: usize,
    },
    /// Start a runner for a provider.
    Runner {
        /// Its name.
        provider: String,
        /// The CPUs to measure on.
        cpus: Vec<usize>,
        /// See [`Place`].
        latency: Option<u32>,
    },
    /// Start a command.
    Exec {
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Order::About`].
    About(Box<About>),
    /// It runs, and has the connection from here on.
    Started,
    /// Why not.
    Refused(String),
}

/// A machine, told by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of its cpb.
    pub version: String,
    /// The CPUs that its cpb may use.
    pub cpus: Vec<usize>,
    /// The machine that it sees, and its state.
    pub machine: Machine,
    /// The providers of its cpb, which may be built with fewer than the host's.
    pub providers: Vec<Listed>,
    /// The executors that are looked at where nobody names any.
    pub usual: Vec<String>,
    /// What its kernel's crypto offers.
    pub kernel: cpb_core::kernel::KernelSurvey,
}

/// A provider of a cpb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Whether it is an interface to many executors.
    pub interface: bool,
}

impl Answer {
    /// What a machine says of itself, if its cpb is of this version.
    ///
    /// # Errors
    /// It is not, or this is another answer. `machine` is its name.
    pub fn about(self, machine: &str) -> Result<About> {
        match self {
            Answer::About(about) if about.version == env!("CARGO_PKG_VERSION") => Ok(*about),
            Answer::About(about) => Err(anyhow!(
                "the cpb on {machine} is {}, this is {}: `make static` builds it anew",
                about.version,
                env!("CARGO_PKG_VERSION")
            )),
            other => Err(anyhow!("the agent on {machine} answers {other:?}")),
        }
    }
}

impl Listed {
    /// Those of this cpb.
    pub fn own() -> Vec<Listed> {
        let listed = |entry: &catalog::Entry| Listed {
            name: entry.name.to_owned(),
            interface: entry.is_interface(),
        };
        catalog::LIST.iter().map(listed).collect()
    }
}

/// How what was started came to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// That in words.
    pub how: String,
    /// The last line it wrote to standard error.
    pub last: String,
}

/// Serves for ever.
///
/// # Errors
/// The port cannot be had.
pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))
        .with_context(|| format!("cannot listen on port {PORT}"))?;
    println!("{READY}");
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        // An answer is many small frames, and the host waits for the last.
        let _ = stream.set_nodelay(true);
        thread::spawn(move || converse(OwnedFd::from(stream).into()));
    }
    Ok(())
}

/// Takes one order, over a socket of any kind, and stays until what it started has ended.
pub fn converse(stream: File) {
    if let Err(error) = take_order(stream) {
        eprintln!("cpb agent: {error:#}");
    }
}

fn take_order(mut stream: File) -> Result<()> {
    let order = match read_line(&mut stream).map(|line| serde_json::from_str::<Order>(&line)) {
        Ok(Ok(order)) => order,
        Ok(Err(error)) => {
            let refused = format!("not an order for cpb {}: {error}", env!("CARGO_PKG_VERSION"));
            return write_line(&mut stream, &Answer::Refused(refused));
        }
        // The host looked whether somebody is there.
        Err(_) => return Ok(()),
    };
    match order {
        Order::About { cpu } => write_line(&mut stream, &Answer::About(Box::new(about(cpu)))),
        Order::Runner { provider, cpus, latency } => {
            let place = Place { cpus, latency };
            let runner = own::runner(Path::new(OWN), &provider);
            let mut command = Command::new(&runner.path);
            command.args(runner.arguments).args(place.arguments()).envs(runner.environment);
            // Whoever has lost its host has nobody left to measure for.
            hand_over(stream, command, true)
        }
        Order::Exec { command } => {
            let Some((program, arguments)) = command.split_first() else {
                return write_line(&mut stream, &Answer::Refused("no command".to_owned()));
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

/// Starts a command with the connection as its input and output, and waits for its end. A runner is
/// killed when the host hangs up.
fn hand_over(mut stream: File, mut command: Command, runner: bool) -> Result<()> {
    let input = OwnedFd::from(stream.try_clone()?);
    let output = OwnedFd::from(stream.try_clone()?);
    command.stdin(input).stdout(output.try_clone()?).process_group(0);
    match runner {
        true => command.stderr(Stdio::piped()),
        false => command.stderr(output),
    };
    // Before the command can write a word of its own.
    write_line(&mut stream, &Answer::Started)?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let how = own::why_not(Path::new(command.get_program()), &error);
            return say_end(stream, &End { status: Some(127), how, last: String::new() });
        }
    };
    // Its copies of the connection are closed with it.
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

/// Waits for the process's end, or the host's hanging up: whether it is the latter.
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
    // The host may have hung up; then nobody wants to know.
    let _ = stream.write_all(&[0]);
    let _ = write_line(&mut stream, end);
    let _ = rustix::net::shutdown(&stream, Shutdown::Write);
    Ok(())
}

/// Gives an order over a connection, which has a time-out: what comes of it.
///
/// # Errors
/// No answer, or none of this version's.
pub fn ask(stream: &mut (impl Read + Write), order: &Order) -> Result<Answer> {
    write_line(stream, order)?;
    serde_json::from_str(&read_line(stream)?).context(
        "the cpb there was built from another source than this one; `make static` builds it anew",
    )
}

/// Reads up to a line's end and no byte further.
fn read_line(stream: &mut impl Read) -> Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LONGEST {
        stream.read_exact(&mut byte)?;
        if byte[0] == b'\n' {
            return Ok(String::from_utf8(line)?);
        }
        line.push(byte[0]);
    }
    anyhow::bail!("more than {LONGEST} bytes without a line's end")
}

/// Writes a value as one line of JSON.
fn write_line(stream: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    Ok(())
}
