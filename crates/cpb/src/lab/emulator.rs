//! The QEMU that runs a guest: the installed one, or, if that is too old, a newer one of Debian's, unpacked in the cache
//! folder and started by the dynamic linker of its own C library. Nothing is installed.

use super::cache::{self, COMPLETE};
use super::definition::Qemu;
use super::packages::{Apt, Origin};
use super::tools;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a QEMU is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulator {
    /// The program, and the arguments that come before all others.
    words: Vec<OsString>,
    /// Where it finds parts of itself, if that is not a place of the system.
    modules: Option<PathBuf>,
}

impl Emulator {
    /// The words that start it.
    pub(super) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Sets what it needs in the environment.
    pub(super) fn prepare(&self, command: &mut Command) {
        if let Some(modules) = &self.modules {
            command.env("QEMU_MODULE_DIR", modules);
        }
    }

    fn installed(path: PathBuf) -> Emulator {
        Emulator { words: vec![path.into()], modules: None }
    }

    /// The one that was unpacked into `root`.
    fn unpacked(root: &Path, program: &str) -> Result<Emulator> {
        let folders = fs::read_dir(root.join("usr/lib")).with_context(|| "no libraries")?;
        let folders: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
        let linker = |folder: &PathBuf| {
            let entries = fs::read_dir(folder).ok()?.flatten();
            let is_linker = |name: &str| name.starts_with("ld-linux");
            let mut linkers =
                entries.filter(|entry| is_linker(&entry.file_name().to_string_lossy()));
            Some((folder.clone(), linkers.next()?.path()))
        };
        let (libraries, linker) =
            folders.iter().find_map(linker).context("its packages contain no dynamic linker")?;
        let words = vec![
            linker.into(),
            "--library-path".into(),
            libraries.clone().into(),
            root.join("usr/bin").join(program).into(),
            "-L".into(),
            root.join("usr/share/qemu").into(),
        ];
        Ok(Emulator { words, modules: Some(libraries.join("qemu")) })
    }
}

/// The QEMU for a guest. Fetches one if the installed one is missing or too old and the guest says from where. `say`
/// reports what takes time.
///
/// # Errors
/// Returns an error if no suitable QEMU is installed and none can be fetched.
pub(super) fn prepare(qemu: &Qemu, say: &dyn Fn(&str)) -> Result<Emulator> {
    let installed = tools::find(&qemu.program, &qemu.package);
    let Some(least) = &qemu.least else { return installed.map(Emulator::installed) };
    if let Some(path) = installed.ok().filter(|path| is_new_enough(path, least)) {
        return Ok(Emulator::installed(path));
    }
    let told = format!("this guest needs QEMU {least} or later");
    fetched(qemu, say).with_context(|| told)
}

/// The version that `path` says it has is `least` or later.
fn is_new_enough(path: &Path, least: &str) -> bool {
    let told = tools::run(Command::new(path).arg("--version")).unwrap_or_default();
    let version = told.split_whitespace().skip_while(|word| *word != "version").nth(1);
    version.is_some_and(|version| numbers(version) >= numbers(least))
}

/// The numbers of a version: `11.1.3` and `10.1`.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|number| number.parse().ok()).collect()
}

/// The one in the cache; fetches it first if it is not there.
fn fetched(qemu: &Qemu, say: &dyn Fn(&str)) -> Result<Emulator> {
    let Some(release) = qemu.suites.last() else {
        bail!("the guest's file names no suites to fetch it from; install it");
    };
    let architecture =
        tools::run(Command::new(tools::find("dpkg", "dpkg")?).arg("--print-architecture"))?;
    let architecture = architecture.trim().to_owned();
    let name = format!("{}-{release}-{architecture}", qemu.package);
    let (folder, _lock) = cache::locked(&name)?;
    let prepared = folder.join(&name);
    let root = prepared.join("root");
    if !prepared.join(COMPLETE).is_file() {
        cache::filled(&folder, &name, |partial, apt_folder| {
            let origin = Origin { architecture: &architecture, suites: &qemu.suites };
            let apt = Apt::update(apt_folder, &origin)?;
            let closure = apt.closure(&qemu.package, release)?;
            let megabytes = closure.bytes as f64 / 1e6;
            say(&format!(
                "fetching {} from {release}: {} packages, {megabytes:.0} MB",
                qemu.package,
                closure.packages.len()
            ));
            apt.unpack(&closure.packages, &partial.join("root"))?;
            Ok(fs::write(partial.join(COMPLETE), "")?)
        })?;
    }
    Emulator::unpacked(&root, &qemu.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, least, enough) in [
            ("11.1.3", "10.1", true),
            ("10.1.0", "10.1", true),
            ("10.0.13", "10.1", false),
            ("7.2.22", "10.1", false),
            ("", "10.1", false),
        ] {
            assert_eq!(numbers(version) >= numbers(least), enough, "{version}");
        }
    }
}
