//! Reads the folders and files in which the kernel describes itself. All file accesses of this module go
//! through here, so that a test can count them: on an emulated or slow core each takes milliseconds.

use std::fs;
use std::path::{Path, PathBuf};

/// The entries of a folder, sorted by name. Empty if it cannot be listed.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    count();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The folders in a folder, and whether it contains a file called `file`. The kernel returns the kind of each
/// entry with its name, so no entry is accessed.
pub(super) fn folders(folder: &Path, file: &str) -> (Vec<PathBuf>, bool) {
    count();
    let (mut folders, mut has_file) = (Vec::new(), false);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(entry.path()),
            Ok(_) => has_file |= entry.file_name() == file,
            Err(_) => {}
        }
    }
    folders.sort();
    (folders, has_file)
}

/// The links in a folder. Empty if it cannot be listed.
pub(super) fn links(folder: &Path) -> Vec<PathBuf> {
    count();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    let mut paths: Vec<PathBuf> = entries.filter(is_link).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The content of a file. Empty if it cannot be read.
pub(super) fn read(file: &Path) -> Vec<u8> {
    count();
    fs::read(file).unwrap_or_default()
}

/// The content of a file, as text.
pub(super) fn text(file: &Path) -> String {
    String::from_utf8_lossy(&read(file)).into_owned()
}

/// Where a path leads after all links are followed. `None` if it leads nowhere.
pub(super) fn followed(path: &Path) -> Option<PathBuf> {
    count();
    path.canonicalize().ok()
}

/// The last part of a path.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(not(test))]
fn count() {}

#[cfg(test)]
pub(super) use counted::{count, so_far};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local!(static ACCESSES: Cell<usize> = const { Cell::new(0) });

    pub(in super::super) fn count() {
        ACCESSES.set(ACCESSES.get() + 1);
    }

    /// How many accesses this thread has made.
    pub(in super::super) fn so_far() -> usize {
        ACCESSES.get()
    }
}
