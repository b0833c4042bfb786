//! A runner as a local process, reached over its standard input and output.

use super::Launch;
use super::conversation::{Conversation, Peer};
use super::{Affinity, RunnerError, Timeouts};
use crate::child::{ended, read_errors, why_not_started};
use cpb_core::Error;
use cpb_core::catalog;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A program that is a runner, and how it is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its arguments; the CPUs to measure on are appended.
    pub arguments: Vec<OsString>,
    /// Variables it needs.
    pub environment: Vec<(String, String)>,
}

impl Launch for Program {
    fn start(&self, affinity: &Affinity, timeouts: &Timeouts) -> Result<Conversation, RunnerError> {
        let mut command = self.command(affinity);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own process group, because cpb handles Ctrl-C in the terminal.
        command.process_group(0);
        let lost = |detail| RunnerError { error: Error::Crashed, detail, again: true };
        let mut child =
            command.spawn().map_err(|error| lost(why_not_started(&self.path, &error)))?;
        let (Some(requests), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(lost("no pipes".to_owned()));
        };
        let errors = Arc::new(Mutex::new(String::new()));
        let tail = Arc::clone(&errors);
        let reader = thread::spawn(move || read_errors(stderr, &tail));
        let peer = RunnerProcess { child, errors, reader };
        Conversation::begin(requests, stdout, Box::new(peer), timeouts)
    }

    fn serving(&self, provider: &str) -> Arc<dyn Launch> {
        Arc::new(Program { arguments: vec!["runner".into(), provider.into()], ..self.clone() })
    }
}

impl Program {
    fn command(&self, affinity: &Affinity) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).args(affinity.arguments());
        // The user's settings for libcrypto must not change the meaning of a name.
        for entry in catalog::LIST {
            for (variable, _) in cpb_providers::environment(entry) {
                command.env_remove(variable);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// How long to wait for a killed process.
const LAST: Duration = Duration::from_secs(2);

/// The running process.
struct RunnerProcess {
    child: Child,
    /// The end of its error output.
    errors: Arc<Mutex<String>>,
    /// A thread that ends when all error output was read.
    reader: JoinHandle<()>,
}

impl Peer for RunnerProcess {
    /// Kills it and what it started: a foreign runner may be a script that runs the program.
    fn kill(&mut self, _: Error) {
        // It may have ended already; then there is nothing to kill.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed())
            && matches!(self.child.try_wait(), Ok(None))
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        // A process that waits in the kernel for an engine that never answers does not receive the signal. It
        // is left behind, and the run continues without it.
        let deadline = Instant::now() + LAST;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn killed_words(&self) -> &'static str {
        ", so it was stopped"
    }

    /// Why it ended.
    fn gone(&mut self) -> RunnerError {
        // Its pipe is closed, so it should end; otherwise it is killed.
        let deadline = Instant::now() + Duration::from_secs(1);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => break None,
            }
        };
        let how = status.map_or("closed its output".to_owned(), ended);
        // Its last messages may still be on their way, and a child process may hold the pipe open.
        while status.is_some() && !self.reader.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let errors = self.errors.lock().map(|tail| tail.trim().to_owned()).unwrap_or_default();
        let last = errors.lines().last().unwrap_or_default();
        let separator = if last.is_empty() { "" } else { ": " };
        self.kill(Error::Crashed);
        RunnerError {
            error: Error::Crashed,
            detail: format!("it {how}{separator}{last}"),
            again: true,
        }
    }
}

impl Drop for RunnerProcess {
    fn drop(&mut self) {
        // It is stateless and no longer needed, so it need not be asked to stop.
        self.kill(Error::Crashed);
    }
}
