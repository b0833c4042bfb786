//! The system's `ssh`, or a command of the user, as a process. It is started so that it can ask the user for
//! input. Its output is read line by line until the agent runs; then it becomes a pair of streams.

use crate::child::{ended, read_errors};
use crate::transport::ready::wait;
use anyhow::{Context, Result, bail};
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Options for ssh in addition to the user's configuration. A connection that broke silently is noticed
/// within half a minute; nothing is sent for that while there is other traffic.
const OPTIONS: [&str; 12] = [
    "-T",
    "-o",
    "ServerAliveInterval=10",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "PermitLocalCommand=no",
    "-o",
    "RemoteCommand=none",
    "-a",
];

/// The shell makes ssh ignore Ctrl-C, which cpb handles itself. ssh stays in cpb's process group, because
/// only the foreground group may ask on the terminal.
const IGNORING: &str = "trap '' INT QUIT; exec \"$@\"";

/// An agent that receives nothing for this long has lost its host.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// A running ssh. It cannot outlive cpb: see [`crate::lab::parent_death`].
pub(super) struct Ssh {
    destination: String,
    /// What the program is, in words.
    program: &'static str,
    streams: Mutex<Option<Streams>>,
    state: Mutex<ConnectionState>,
    /// The end of its error output.
    errors: Arc<Mutex<String>>,
}

struct Streams {
    input: File,
    output: File,
}

struct ConnectionState {
    child: Child,
    /// A thread that ends when all error output was read.
    reader: JoinHandle<()>,
    /// How it ended, in words.
    ended: Option<String>,
}

impl Ssh {
    /// Starts `command` on the other side.
    pub(super) fn start(destination: &str, command: &str) -> Result<Ssh> {
        let mut ssh = leashed()?;
        ssh.args(["sh", "-c", IGNORING, "sh", "ssh"]).args(OPTIONS);
        // Without a terminal there is no user to ask.
        if File::open("/dev/tty").is_err() {
            ssh.args(["-o", "BatchMode=yes"]);
        }
        ssh.args(["--", destination, command]);
        Ssh::spawn(ssh, destination, "ssh")
    }

    /// Starts the command line `line` with the shell.
    pub(super) fn exec(name: &str, line: &str) -> Result<Ssh> {
        let mut shell = leashed()?;
        shell.args(["sh", "-c", IGNORING, "sh", "sh", "-c", line]);
        Ssh::spawn(shell, name, "the command")
    }

    fn spawn(mut ssh: Command, destination: &str, program: &'static str) -> Result<Ssh> {
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ssh.spawn().with_context(|| format!("cannot start {program}"))?;
        let (Some(output), Some(input), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            bail!("no pipes");
        };
        let errors = Arc::new(Mutex::new(String::new()));
        let tail = Arc::clone(&errors);
        let reader = thread::spawn(move || read_errors(stderr, &tail));
        let streams =
            Streams { input: OwnedFd::from(input).into(), output: OwnedFd::from(output).into() };
        Ok(Ssh {
            destination: destination.to_owned(),
            program,
            streams: Mutex::new(Some(streams)),
            state: Mutex::new(ConnectionState { child, reader, ended: None }),
            errors,
        })
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a line that begins with one of `begins` and skips what a login prints before.
    ///
    /// # Errors
    /// Returns an error if the program ended, if it takes too long, or if `stop` is set.
    pub(super) fn word(
        &self,
        begins: &[&str],
        patience: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<String> {
        const LONGEST: usize = 64 * 1024;
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut input = match &*self.streams.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(streams) => streams.input.try_clone()?,
            None => bail!("the connection is in use as a stream"),
        };
        let (mut line, mut read) = (Vec::new(), 0);
        loop {
            if stop.load(Ordering::Relaxed) {
                bail!("stopped by the user");
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                bail!("{}: its shell stopped answering", self.destination);
            }
            if !wait(&input, PollFlags::IN, Duration::from_millis(50))? {
                continue;
            }
            let mut byte = [0];
            if input.read(&mut byte)? == 0 {
                self.over();
                let ended = self.ended().unwrap_or_default();
                bail!("{}: {ended}", self.destination);
            }
            read += 1;
            if read > LONGEST {
                bail!("{}: its login prints too much text", self.destination);
            }
            if byte[0] != b'\n' {
                line.push(byte[0]);
                continue;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            if begins.iter().any(|begin| text.split(' ').next() == Some(begin)) {
                return Ok(text);
            }
            line.clear();
        }
    }

    /// Sends bytes while nothing else is sent.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let output = match &*self.streams.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(streams) => streams.output.try_clone()?,
            None => return Err(io::ErrorKind::NotConnected.into()),
        };
        (&output).write_all(bytes)
    }

    /// Hands over its streams: first the one to read from, then the one to write to. Closing the latter ends it.
    pub(super) fn streams(&self) -> Result<(File, File)> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Streams { input, output } = streams.context("the connection is in use as a stream")?;
        Ok((input, output))
    }

    /// How it ended; `None` if it is running.
    pub(super) fn ended(&self) -> Option<String> {
        self.state().ended.clone()
    }

    /// Waits for its end after the end of its output, or ends it.
    pub(super) fn over(&self) {
        self.finish(Duration::from_secs(2));
    }

    /// Ends it. The agent notices this and ends as well.
    pub(super) fn end(&self) {
        drop(self.streams.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.finish(Duration::ZERO);
    }

    /// Waits for its end and then ends it, first with SIGTERM, because it may have to restore a terminal.
    fn finish(&self, patience: Duration) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        let Some(pid) = Pid::from_raw(state.child.id().cast_signed()) else { return };
        let begun = Instant::now();
        let mut asked = false;
        let status = loop {
            match state.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) => {}
                Err(_) => break None,
            }
            if begun.elapsed() > patience + Duration::from_secs(1) {
                let _ = state.child.kill();
            } else if begun.elapsed() >= patience && !asked {
                asked = true;
                let _ = kill_process(pid, Signal::TERM);
            }
            thread::sleep(Duration::from_millis(5));
        };
        // Its last messages may still be on their way, and a process that it left behind may hold the pipe open.
        let patience = Instant::now() + Duration::from_secs(1);
        while !state.reader.is_finished() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let how = status.map_or_else(|| "is gone".to_owned(), ended);
        state.ended = Some(in_words(self.program, &how, &errors, &self.destination));
    }
}

/// A command that is killed when this process ends.
fn leashed() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("leash").arg(std::process::id().to_string()).arg("--");
    Ok(command)
}

/// A stream that fails if nothing arrives for a long time.
pub(super) fn watched(stream: impl Read + AsFd) -> impl Read {
    struct Watched<S>(S);
    impl<S: Read + AsFd> Read for Watched<S> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let deadline = Instant::now() + SILENCE;
            while !wait(&self.0, PollFlags::IN, deadline.saturating_duration_since(Instant::now()))?
            {
                if Instant::now() >= deadline {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            self.0.read(buffer)
        }
    }
    Watched(stream)
}

/// The error output at its end, and what to do about it.
fn in_words(program: &str, how: &str, errors: &str, destination: &str) -> String {
    /// The last lines say what is wrong; a changed key comes after many lines of warnings.
    const LINES: usize = 3;
    let said: Vec<String> = errors
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with('@'))
        .collect();
    let last = said[said.len().saturating_sub(LINES)..].join(" ");
    let remedy = (program == "ssh").then(|| remedy(errors, destination)).flatten();
    match (last.is_empty(), remedy) {
        (true, _) => format!("{program} {how}"),
        (false, None) => format!("{program} {how}: {last}"),
        (false, Some(remedy)) => format!("ssh says: {last}\n{remedy}"),
    }
}

fn remedy(errors: &str, destination: &str) -> Option<String> {
    let says = |text: &str| errors.contains(text);
    if says("exec: ssh: not found") || says("exec: line 1: ssh: not found") {
        return Some("install it: sudo apt-get install openssh-client".to_owned());
    }
    if says("IDENTIFICATION HAS CHANGED") {
        return Some(format!(
            "If you know why the machine has another key, remove the old one with `ssh-keygen -R` and the name \
             or address, and accept the new one with `ssh {destination}`."
        ));
    }
    if says("Host key verification failed") {
        return Some(format!(
            "Connect once with `ssh {destination}`, check the key that it shows, and accept it."
        ));
    }
    if says("Permission denied (") {
        return Some(format!(
            "`ssh {destination}` must log in without a password: `ssh-copy-id {destination}` installs your key. \
             cpb can ask for a password only if it runs on a terminal."
        ));
    }
    let unreachable = [
        "Could not resolve hostname",
        "Connection refused",
        "Connection timed out",
        "No route to host",
        "Network is unreachable",
    ];
    unreachable.into_iter().any(says).then(|| {
        format!(
            "Check its name and that it is switched on; `ssh {destination} true` must work first."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_comes_with_a_remedy() {
        let changed = "@@@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\n@@@@@\r\n\
            Offending ED25519 key in /home/x/.ssh/known_hosts:3\r\n\
            Host key for board has changed and you have requested strict checking.\r\n\
            Host key verification failed.\r\n";
        let words = in_words("ssh", "exited with status 255", changed, "root@board");
        assert!(words.starts_with("ssh says: Offending ED25519 key in"), "{words}");
        assert!(
            words.contains("ssh-keygen -R") && !words.contains('@'.to_string().repeat(2).as_str())
        );
        let unknown = "Host key verification failed.\r\n";
        assert!(
            in_words("ssh", "", unknown, "root@board")
                .contains("Connect once with `ssh root@board`")
        );
        let denied = "root@board: Permission denied (publickey,password).\r\n";
        assert!(in_words("ssh", "", denied, "root@board").contains("ssh-copy-id root@board"));
        assert_eq!(in_words("ssh", "exited with status 7", "", "b"), "ssh exited with status 7");
        assert_eq!(
            in_words("ssh", "exited with status 7", "odd\n", "b"),
            "ssh exited with status 7: odd"
        );
    }
}
