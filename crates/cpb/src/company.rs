//! Detects other cpbs that measure on the same CPUs.
//!
//! Each cpb keeps a locked file for every CPU that it measures on, in a folder of the system's temporary
//! folder, and looks for files of other cpbs from pass to pass. The lock ends with its process: the file of a
//! killed process is ignored, and the next cpb removes it.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder for the files of all users.
const FOLDER: &str = "cpb-measuring";

/// The most that is read of another cpb's file.
const LONGEST: u64 = 32;

/// The name of a file: `cpu3-1234` is the file of CPU 3 and process 1234.
fn name(cpu: usize, process: u32) -> String {
    format!("cpu{cpu}-{process}")
}

/// A cpb's registration among those that measure on the same CPUs, until this is dropped.
pub struct Company {
    folder: PathBuf,
    cpus: Vec<usize>,
    /// This process's files, locked as long as they are open.
    own: Vec<(PathBuf, File)>,
    /// The files of other processes that were already reported.
    known: HashSet<String>,
}

impl Company {
    /// Registers this cpb for `cpus`. If no file can be written, it still looks for others.
    pub fn join(cpus: &[usize], since: &str) -> Company {
        Company::join_in(&std::env::temp_dir().join(FOLDER), cpus, since)
    }

    fn join_in(folder: &Path, cpus: &[usize], since: &str) -> Company {
        if fs::create_dir(folder).is_ok() {
            // As for /tmp itself: everyone may write, and only its owner may remove a file.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o1777));
        }
        let own = cpus.iter().filter_map(|cpu| locked(folder, *cpu, since));
        Company {
            folder: folder.to_owned(),
            cpus: cpus.to_vec(),
            own: own.collect(),
            known: HashSet::new(),
        }
    }

    /// The cpbs that have appeared since the last call, each in a sentence that says what to do.
    pub fn newcomers(&mut self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut words = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let Some((cpu, process)) = path.file_name().and_then(|name| parsed(name.to_str()?))
            else {
                continue;
            };
            let own = process == std::process::id();
            let name = name(cpu, process);
            if own || !self.cpus.contains(&cpu) || self.known.contains(&name) {
                continue;
            }
            if let Some(since) = measuring(&path) {
                words.push(format!(
                    "Another cpb, process {process}, has been measuring on CPU {cpu} since {since}: this \
                     spoils the figures of both. Run them one after the other, or choose another CPU with --cpu."
                ));
                self.known.insert(name);
            }
        }
        words.sort();
        words
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        for (path, _) in &self.own {
            let _ = fs::remove_file(path);
        }
        // The last cpb removes the folder; this fails as long as it holds other files.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Creates this process's file for a CPU. The file is locked before it gets its name, so that no other
/// process takes it for the file of a killed process.
fn locked(folder: &Path, cpu: usize, since: &str) -> Option<(PathBuf, File)> {
    let name = name(cpu, std::process::id());
    let unnamed = folder.join(format!(".{name}"));
    let path = folder.join(name);
    // A file of an earlier process with this number. The file is always created, never opened: in a folder
    // that everyone may write, an existing one may be a link.
    let _ = fs::remove_file(&unnamed);
    let mut file = File::options().write(true).create_new(true).open(&unnamed).ok()?;
    file.try_lock().ok()?;
    writeln!(file, "{since}").ok()?;
    fs::rename(&unnamed, &path).ok()?;
    Some((path, file))
}

/// CPU and process from a file's name.
fn parsed(name: &str) -> Option<(usize, u32)> {
    let (cpu, process) = name.strip_prefix("cpu")?.split_once('-')?;
    Some((cpu.parse().ok()?, process.parse().ok()?))
}

/// Since when the owner of a file has been measuring; `None` if it no longer measures.
fn measuring(path: &Path) -> Option<String> {
    // Neither follows a link nor waits for the other end of a pipe.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = file.take(LONGEST).read_to_string(&mut text);
            let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
            let since: String = text.chars().filter(|c| known(*c)).collect();
            Some(if since.is_empty() { "an unknown time".to_owned() } else { since })
        }
        Ok(()) => {
            let _ = fs::remove_file(path);
            None
        }
        // Some file systems do not support locks.
        Err(TryLockError::Error(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINCE: &str = "2026-01-01T00:00:00Z";

    #[test]
    fn others_of_the_same_cpu_are_named_once_and_those_that_are_gone_are_not() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join(FOLDER);
        let mut company = Company::join_in(&folder, &[3], SINCE);
        assert_eq!(company.newcomers(), Vec::<String>::new(), "it is no company of its own");
        // As other processes would: one that is running, one on another CPU, one that was killed.
        let other = |name: &str| {
            let file = File::create(folder.join(name)).expect("a file");
            fs::write(folder.join(name), format!("{SINCE}\n")).expect("room");
            file
        };
        let here = other("cpu3-1");
        let elsewhere = other("cpu2-1");
        here.lock().expect("a lock");
        elsewhere.lock().expect("a lock");
        drop(other("cpu3-2"));
        // Files that any user may have put there.
        let made = std::process::Command::new("mkfifo").arg(folder.join("cpu3-3")).status();
        assert!(made.expect("mkfifo").success());
        std::os::unix::fs::symlink("/dev/zero", folder.join("cpu3-4")).expect("a link");
        let words = company.newcomers();
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(
            words[0].contains("process 1, has been measuring on CPU 3 since 2026-01-01T00:00:00Z")
        );
        assert_eq!(company.newcomers(), Vec::<String>::new(), "each is named once");
        assert!(!folder.join("cpu3-2").exists(), "what was left behind is removed");
    }

    #[test]
    fn the_last_one_leaves_nothing_behind() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join(FOLDER);
        let company = Company::join_in(&folder, &[0, 1], SINCE);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 2);
        drop(company);
        assert!(!folder.exists());
    }
}
