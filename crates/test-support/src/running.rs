//! Runs a command, reads its output, and sends it signals while it runs.

use crate::{Lab, Ran, nobody_left, signal};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Stdio};

/// A running command whose output is read.
pub struct Running {
    /// The command, which leads a process group.
    pub child: Child,
    stderr: BufReader<ChildStderr>,
    /// Its output on standard error so far.
    pub said: String,
    /// The variable, as `NAME=value`, that identifies the command and the processes that it starts: see
    /// [`nobody_left`].
    pub mark: String,
}

impl Running {
    /// Starts `cpb LINE`, with only these faults of a rigged runner.
    pub fn start(lab: &Lab, line: &str, faults: &str) -> Running {
        Running::start_with(lab, line, &[("RIGGED", faults)])
    }

    /// The same with environment variables.
    pub fn start_with(lab: &Lab, line: &str, variables: &[(&str, &str)]) -> Running {
        let name = "CPB_TEST_MARK";
        let value = format!("{}-{}", std::process::id(), fastrand::u64(..));
        let mut command = lab.process(line);
        command.env(name, &value).envs(variables.iter().copied());
        // A new process group, like that of a shell's job.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("cpb starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Running { child, stderr, said: String::new(), mark: format!("{name}={value}") }
    }

    /// Waits until it has printed `count` lines that begin with `begin`.
    pub fn wait_for(&mut self, begin: &str, count: usize) {
        while self.said.lines().filter(|line| line.starts_with(begin)).count() < count {
            let read = self.stderr.read_line(&mut self.said).expect("what is said is text");
            assert!(read > 0, "it ended before that: {}", self.said);
        }
    }

    /// Sends a signal only to the command.
    pub fn signal(&self, name: &str) {
        signal(name, &self.child.id().to_string());
    }

    /// Sends a signal to the process group, as a terminal does.
    pub fn signal_group(&self, name: &str) {
        signal(name, &format!("-{}", self.child.id()));
    }

    /// Waits until it exits. None of its runners may be left then.
    pub fn end(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.said).expect("what is said is text");
        let output = self.child.wait_with_output().expect("a child of ours");
        nobody_left(&self.mark);
        Ran { stderr: self.said, ..Ran::from(output) }
    }
}
