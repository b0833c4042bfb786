//! Files that a command writes: a file is written completely or not at all, and replaced only on request.

use anyhow::{Context, Result, bail};
use cpb_record::foreign;
use cpb_report::ascii;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Asks on a terminal whether an existing file may be replaced; refuses elsewhere.
///
/// # Errors
/// Returns an error if the file may not be replaced.
pub(super) fn may_replace(path: &Path, overwrite: bool) -> Result<()> {
    if overwrite || !is_file(path) {
        return Ok(());
    }
    let named = path.display();
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let question = format!("{named} exists; replace it? [y/N] ");
        eprint!("{}", ascii::shown(&foreign::plain(&question)));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).context("cannot read the answer")?;
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
    }
    bail!("{named} already exists; choose another file, or replace it with --overwrite")
}

/// Writes a file under a temporary name in the same folder and renames it when it is complete. A path that is
/// not a regular file, such as a device, is written directly.
///
/// # Errors
/// Returns an error if the file cannot be written; nothing is left behind, and an existing file is unchanged.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let content = content.as_ref();
    let written = match path.exists() && !is_file(path) {
        true => fs::write(path, content),
        false => replace(path, content),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // If the path is a link, its target is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let partial = beside(&path);
    let whole = || {
        let mut file = File::options().write(true).create_new(true).open(&partial)?;
        if let Ok(before) = path.metadata() {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(content)?;
        // Some file systems report only now that they are full.
        file.sync_all()?;
        fs::rename(&partial, &path)
    };
    whole().inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// A name in the same folder that no other process uses.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_with_what_it_may_and_through_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").expect("room");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink(&file, &link).expect("a link");
        assert!(may_replace(&link, true).is_ok() && may_replace(folder.path(), false).is_ok());
        write(&link, "after").expect("room");
        assert_eq!(fs::read_to_string(&file).expect("a text"), "after");
        assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }
}
