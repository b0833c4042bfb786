//! Selects the cpb for a machine by what `uname` says there and by the header of the file.

use crate::static_binary;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An architecture.
struct Architecture {
    /// Its names in `uname -m`.
    names: &'static [&'static str],
    /// The target that a cpb for it is built for.
    target: &'static str,
    /// The machines in the header of ELF files (`e_machine`, elf(5)) that it can run.
    runs: &'static [u16],
}

const ARM: u16 = 40;
const AARCH64: u16 = 183;

const KINDS: [Architecture; 4] = [
    Architecture { names: &["x86_64"], target: "x86_64-unknown-linux-musl", runs: &[62, 3] },
    Architecture {
        names: &["aarch64", "arm64"],
        target: "aarch64-unknown-linux-musl",
        runs: &[AARCH64, ARM],
    },
    // A 64-bit core reports armv8l to a 32-bit program.
    Architecture {
        names: &["armv7l", "armv8l"],
        target: "armv7-unknown-linux-gnueabihf",
        runs: &[ARM],
    },
    Architecture { names: &["riscv64"], target: "riscv64gc-unknown-linux-gnu", runs: &[243] },
];

/// The cpb for a machine whose `uname -s` and `uname -m` are known: `named`, or the static one.
///
/// # Errors
/// Returns an error if cpb does not support the machine, if the static cpb is missing, or if `named` is for
/// another architecture.
pub(super) fn find(
    remote: &str,
    (system, machine): (&str, &str),
    named: Option<&Path>,
) -> Result<PathBuf> {
    let kind = KINDS.iter().find(|kind| system == "Linux" && kind.names.contains(&machine));
    let Some(kind) = kind else {
        let names: Vec<&str> = KINDS.iter().flat_map(|kind| kind.names).copied().collect();
        bail!(
            "{remote} is {system} {machine}, which is not supported; cpb runs on Linux on {}",
            names.join(", ")
        );
    };
    let path = match named {
        Some(path) => path.to_owned(),
        None => static_binary::find(kind.target, None, "--runner FILE can supply one")
            .with_context(|| {
                format!("{remote} is {system} {machine}, and the cpb to run there is missing")
            })?,
    };
    match header(&path)? {
        Some(header) if kind.runs.contains(&header) => Ok(path),
        Some(header) => bail!(
            "{} is a program for {}, but {remote} is {machine}: use a cpb for {}",
            path.display(),
            called(header),
            kind.target
        ),
        None => bail!(
            "{} is not a program for Linux; over ssh --runner takes a static cpb built for {}",
            path.display(),
            kind.target
        ),
    }
}

/// The machine in an ELF file's header; `None` for other files. All of [`KINDS`] are little-endian.
fn header(path: &Path) -> Result<Option<u16>> {
    let mut head = [0; 20];
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let whole = file.read_exact(&mut head).is_ok();
    Ok((whole && head.starts_with(b"\x7fELF")).then(|| u16::from_le_bytes([head[18], head[19]])))
}

fn called(header: u16) -> String {
    let known = [(62, "x86_64"), (3, "x86"), (AARCH64, "aarch64"), (ARM, "arm"), (243, "riscv64")];
    let known = known.into_iter().find(|(number, _)| *number == header);
    known.map_or_else(|| format!("another CPU (ELF machine {header})"), |(_, name)| name.to_owned())
}

/// Its SHA-256, computed by the system's program: the host calls no crypto library.
pub(super) fn hash(path: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(path).output();
    let output =
        output.context("cannot start sha256sum, which is needed to verify the copied cpb")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // If the file's name contains a backslash, another one precedes the hash.
    let hash = text.trim_start_matches('\\').get(..64).map(str::to_owned);
    hash.filter(|_| output.status.success()).with_context(|| {
        format!("sha256sum {}: {}", path.display(), String::from_utf8_lossy(&output.stderr).trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_gets_a_program_that_it_can_run_or_a_word_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let elf = |name: &str, machine: u16| {
            let mut head = vec![0; 64];
            head[..4].copy_from_slice(b"\x7fELF");
            head[18..20].copy_from_slice(&machine.to_le_bytes());
            let path = folder.path().join(name);
            std::fs::write(&path, head).unwrap();
            path
        };
        let (arm, riscv) = (elf("arm", ARM), elf("riscv", 243));
        let find = |machine, file: &Path| find("board", ("Linux", machine), Some(file));
        assert_eq!(find("aarch64", &arm).unwrap(), arm, "a 64-bit core runs 32-bit programs");
        assert_eq!(find("riscv64", &riscv).unwrap(), riscv);
        let words = |machine, file: &Path| find(machine, file).unwrap_err().to_string();
        assert!(words("armv7l", &riscv).contains("is a program for riscv64, but board is armv7l"));
        assert!(
            words("armv6l", &arm)
                .contains("board is Linux armv6l, which is not supported; cpb runs on Linux on")
        );
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        assert!(words("aarch64", &script).contains("is not a program for Linux"));
    }
}
