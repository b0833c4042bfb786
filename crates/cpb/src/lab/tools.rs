//! Programs of the host that the lab needs, and a clear message if one is missing.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of `program`; the error names Debian's package that contains it. Also searches folders that are
/// only in root's path.
pub(super) fn find(program: &str, package: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let mut candidates = folders.map(|folder| folder.join(program));
    match candidates.find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => bail!(
            "the lab needs {program}, which is not installed; on Debian or Ubuntu:\n  \
             sudo apt-get install {package}"
        ),
    }
}

/// Runs a command to its end, without a terminal, and returns its output.
pub(super) fn run(command: &mut Command) -> Result<String> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_owned();
    let program = program.to_string_lossy();
    // The user reads the messages, and cpb parses some of them.
    command.env("LC_ALL", "C").stdin(std::process::Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
        bail!("{program} failed ({}): {}\n{}", output.status, arguments.join(" "), errors.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
