//! Runs the `cpb` command as a process, in its own folder.

use crate::turn::Turn;
use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The largest file whose content [`Lab::content`] returns, in bytes.
const LARGEST_COMPARED: u64 = 16 << 20;

/// Arguments for one provider, one cell and little time.
pub const SHORT: &str = "run -a sha-256 -s 16 -p mbedtls:c --budget 0.3s";

/// Far longer than anything in the tests takes, so that a command that hangs fails its test.
const PATIENCE: Duration = Duration::from_secs(120);

/// A working directory for commands, removed with its contents. `lab!()` creates one whose commands run next to those
/// of other tests; `lab!(alone)` creates one that waits until no other test of the program has one.
///
/// This is a macro because Cargo gives the path of `cpb` only to the tests of its own crate, at compile time.
#[macro_export]
macro_rules! lab {
    () => {
        $crate::Lab::new(env!("CARGO_BIN_EXE_cpb"))
    };
    (alone) => {
        $crate::Lab::alone(env!("CARGO_BIN_EXE_cpb"))
    };
}

/// A working directory for commands, removed with its contents.
pub struct Lab {
    program: &'static str,
    folder: TempDir,
    /// The temporary folder for its commands, so that they do not see the cpb processes of other tests on the same
    /// CPU.
    temporary: TempDir,
    _turn: Turn,
}

/// How a command ended.
pub struct Ran {
    /// Exit status; `None` if a signal ended the command.
    pub status: Option<i32>,
    /// Everything that it wrote to standard output.
    pub stdout: String,
    /// Everything that it wrote to standard error.
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

impl Ran {
    /// All output, for a failed assertion.
    pub fn all(&self) -> String {
        format!("status {:?}\n{}\n{}", self.status, self.stdout, self.stderr)
    }
}

impl Lab {
    /// A folder whose commands run next to those of other tests. `program` is the path of `cpb`.
    pub fn new(program: &'static str) -> Lab {
        Lab::with(program, Turn::shared())
    }

    /// A folder for a test that judges its measurements or that loads the machine. Waits until no other test of this
    /// program has one, and makes other tests wait.
    pub fn alone(program: &'static str) -> Lab {
        Lab::with(program, Turn::alone())
    }

    /// Another folder for the same test, in any of its threads, while this one exists.
    pub fn another(&self) -> Lab {
        Lab::with(self.program, Turn::within())
    }

    fn with(program: &'static str, turn: Turn) -> Lab {
        let [folder, temporary] = [(); 2].map(|()| TempDir::new().expect("a temporary folder"));
        Lab { program, folder, temporary, _turn: turn }
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in it, and creates the folders that it needs.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(&path, content).expect("a file");
        path
    }

    /// Writes an executable shell script.
    pub fn script(&self, name: &str, lines: &str) -> PathBuf {
        let source = self.write(&format!("{name}.source"), format!("#!/bin/sh\n{lines}\n"));
        let path = self.path(name);
        // Copied by another process. If this process had a script open for writing, a child that another test starts
        // at that moment would inherit the open file, and executing the script would fail with "Text file busy".
        let copied = std::process::Command::new("cp").arg(&source).arg(&path).status();
        assert!(copied.expect("cp").success());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        fs::remove_file(source).expect("a file of ours");
        path
    }

    /// `cpb` with the arguments in `line`, which are separated by spaces.
    pub fn cpb(&self, line: &str) -> Command {
        Command::from_std(self.process(line))
    }

    /// The same for a test that interacts with the process while it runs.
    pub fn process(&self, line: &str) -> std::process::Command {
        let mut command = std::process::Command::new(self.program);
        command.args(line.split_whitespace());
        self.settle(&mut command);
        command
    }

    /// Runs a shell command line in which `cpb` is the command under test.
    pub fn shell(&self, line: &str) -> Ran {
        let folder = Path::new(self.program).parent().expect("the program is in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![folder.to_owned()];
        folders.extend(std::env::split_paths(&path));
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(line);
        self.settle(&mut command);
        command.env("PATH", std::env::join_paths(folders).expect("a path"));
        Command::from_std(command).timeout(PATIENCE).output().expect("a shell").into()
    }

    /// Removes the variables of the caller's environment that change what cpb prints.
    fn settle(&self, command: &mut std::process::Command) {
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "RIGGED", "TERM"] {
            command.env_remove(name);
        }
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command.env("TMPDIR", self.temporary.path());
    }

    /// Runs `cpb` until it exits.
    pub fn run(&self, line: &str) -> Ran {
        self.run_with(line, &[])
    }

    /// The same with environment variables.
    pub fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.cpb(line);
        command.envs(variables.iter().copied()).timeout(PATIENCE);
        command.output().expect("cpb starts").into()
    }

    /// A short record, from a run that must succeed.
    pub fn record(&self, name: &str) -> PathBuf {
        let ran = self.run(&format!("{SHORT} -o {name}"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        self.path(name)
    }

    /// Every file below the folder with its content; folders have no content. A large file has its size and the time of
    /// its last change instead, because sparse files of a gigabyte take seconds to read.
    pub fn content(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.insert(path, None);
                } else {
                    let about = entry.metadata().expect("a file");
                    let content = match about.len() {
                        0..=LARGEST_COMPARED => fs::read(&path).expect("a file"),
                        bytes => format!("{bytes} {:?}", about.modified()).into_bytes(),
                    };
                    found.insert(path, Some(content));
                }
            }
        }
        found
    }

    /// `text` without the parts that differ between machines.
    pub fn redact(&self, text: &str) -> String {
        let folder = self.folder.path().display().to_string();
        text.replace(&folder, "FOLDER").replace(self.program, "PROGRAM")
    }
}

/// The lines of a record as JSON.
pub fn lines(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record).expect("a record");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The contents of the lines of one kind: `round`, `without`, `check`, `warning`, `end`.
pub fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter_map(|line| line.get(kind)).collect()
}

/// The lines of one kind that belong to `provider`.
pub fn of<'a>(lines: &'a [Value], kind: &str, provider: &str) -> Vec<&'a Value> {
    let mut found = of_kind(lines, kind);
    found.retain(|line| line["provider"] == provider);
    found
}

/// Sends a signal to a process, or to a process group if its number has a minus sign.
pub fn signal(name: &str, process: &str) {
    let line = format!("kill -s {name} -- {process}");
    let status = std::process::Command::new("sh").arg("-c").arg(&line).status();
    assert!(status.expect("a shell").success(), "{line}");
}

/// The processes whose environment contains `mark`.
pub fn marked(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holds = |number: &u32| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    numbers.filter(holds).collect()
}

/// Waits until no process is marked with `mark`, because a killed process takes a moment to disappear.
pub fn nobody_left(mark: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !marked(mark).is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", marked(mark));
        std::thread::sleep(Duration::from_millis(5));
    }
}
