//! The process that serves an engine's model to a QEMU: `cpb engine`, beside it.

use super::definition;
use crate::child::ended;
use anyhow::{Context, Result, bail};
use cpb_record::EngineCount;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What it prints once QEMU can connect.
pub const READY: &str = "ready";

/// What it is asked for its counts with; the answer is a line of JSON.
pub const COUNTS: &str = "counts";

/// A running engine. It ends with its QEMU, and with the thread that started it; dropping this kills it.
pub(super) struct EngineProcess {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl EngineProcess {
    /// Starts it, and waits until its socket is there.
    pub(super) fn start(engine: &definition::Engine, socket: &Path) -> Result<EngineProcess> {
        if !cfg!(feature = "engine-server") {
            bail!("this cpb was built without models of engines; use one built by `make run`");
        }
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("leash").arg(std::process::id().to_string()).arg("--");
        command.arg(std::env::current_exe()?).args(arguments(engine)).arg(socket);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // cpb handles Ctrl-C in the terminal.
        command.process_group(0);
        let mut process = command.spawn().context("cannot start the engine")?;
        let (Some(orders), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("no pipes");
        };
        let mut started = EngineProcess { process, orders, answers: BufReader::new(answers) };
        match started.answer()?.as_str() {
            READY => Ok(started),
            other => bail!("the engine answered `{other}`"),
        }
    }

    /// What it has done so far.
    pub(super) fn counts(&mut self) -> Result<EngineCount> {
        writeln!(self.orders, "{COUNTS}").context("the engine is gone")?;
        self.orders.flush()?;
        let answer = self.answer()?;
        serde_json::from_str(&answer).with_context(|| format!("the engine answered `{answer}`"))
    }

    /// A descriptor that is readable once it has ended.
    pub(super) fn watch(&self) -> Result<OwnedFd> {
        let process = Pid::from_child(&self.process);
        Ok(pidfd_open(process, PidfdFlags::empty())?)
    }

    /// How it ended, in words.
    pub(super) fn how_it_ended(&mut self) -> String {
        self.process.wait().map_or_else(|error| error.to_string(), ended)
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line).context("the engine does not answer")? == 0 {
            bail!("the engine is gone");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // It may have ended with its QEMU.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The command line of `cpb engine` without its socket.
fn arguments(engine: &definition::Engine) -> Vec<OsString> {
    let definition::Engine { model: definition::Model::Caam, rings, job_us, .. } = engine;
    let mut words: Vec<OsString> = vec!["engine".into()];
    words.extend(["--rings".into(), rings.to_string().into()]);
    words.extend(["--job-us".into(), job_us.to_string().into()]);
    if let Some(chip) = &engine.times_of {
        words.extend(["--times-of".into(), chip.into()]);
    }
    words.extend(engine.long_pointers.then(|| "--long-pointers".into()));
    if let Some(path) = &engine.faults {
        words.extend(["--faults".into(), path.into()]);
    }
    if let Some(path) = &engine.record {
        words.extend(["--record".into(), path.into()]);
    }
    words
}
