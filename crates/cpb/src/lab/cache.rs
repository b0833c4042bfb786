//! The cache folder of the lab: each folder in it is there as a whole or not at all, and one cpb at a time fills it.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The file in a folder that is written last: a folder without it is not used.
pub(super) const COMPLETE: &str = "complete";

/// The cache, and a lock on its folder `name`, because another cpb may use it.
pub(super) fn locked(name: &str) -> Result<(PathBuf, File)> {
    let folder = self::folder()?;
    let to_write = || {
        format!(
            "the lab keeps kernels in {}; choose another folder with CPB_LAB_CACHE",
            folder.display()
        )
    };
    fs::create_dir_all(&folder).with_context(to_write)?;
    let path = folder.join(format!("{name}.lock"));
    let lock = File::create(&path).with_context(to_write)?;
    lock.lock().with_context(|| path.display().to_string())?;
    Ok((folder, lock))
}

/// Makes the folder `name` of the cache completely or not at all: `fill` fills a partial one beside it, with an apt in
/// another one.
pub(super) fn filled(
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&Path, &Path) -> Result<()>,
) -> Result<()> {
    let prepared = folder.join(name);
    let partial = folder.join(format!("{name}.partial"));
    let apt_folder = folder.join(format!("{name}.apt"));
    let clean = || [&partial, &apt_folder].into_iter().try_for_each(|folder| remove(folder));
    // Left by a cpb that was killed while it prepared.
    clean()?;
    let filled = fill(&partial, &apt_folder)
        .with_context(|| format!("cannot prepare {}", prepared.display()));
    if filled.is_ok() {
        remove(&prepared)?;
        fs::rename(&partial, &prepared).with_context(|| prepared.display().to_string())?;
    }
    clean()?;
    filled
}

/// Removes a folder if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Where it is.
pub(super) fn folder() -> Result<PathBuf> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CPB_LAB_CACHE")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("cpb/lab")))
        .or_else(|| Some(variable("HOME")?.join(".cache/cpb/lab")))
        .context("no folder for the lab's kernels: set CPB_LAB_CACHE")
}
