//! Selects a guest's kernel modules: those that it loads, and their dependencies.

use super::tools;
use anyhow::{Context, Result};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The content of `modules.dep`: for each module its file and the files of its dependencies, as written there.
struct Dependencies {
    by_name: HashMap<String, (String, Vec<String>)>,
}

impl Dependencies {
    /// modules.dep(5): `FILE: FILE FILE ...`, with all dependencies of a module on its line.
    fn parse(text: &str) -> Dependencies {
        let line = |line: &str| {
            let (file, needs) = line.split_once(':')?;
            let needs = needs.split_whitespace().map(str::to_owned).collect();
            Some((module_name(file), (file.to_owned(), needs)))
        };
        Dependencies { by_name: text.lines().filter_map(line).collect() }
    }

    /// The files of `wanted` and of their dependencies. Unknown names are skipped, because the kernel may
    /// have them built in.
    fn files(&self, wanted: &[String]) -> BTreeSet<String> {
        let known = wanted.iter().filter_map(|name| self.by_name.get(&module_name(name)));
        known.flat_map(|(file, needs)| std::iter::once(file).chain(needs)).cloned().collect()
    }
}

/// A module's name in the kernel: `-` in a file's name becomes `_`.
fn module_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

/// Copies the modules in `wanted` and their dependencies from the kernel unpacked in `from` to
/// `to`/lib/modules, ready for modprobe. Returns the kernel's release.
pub(super) fn pick(from: &Path, to: &Path, wanted: &[String]) -> Result<String> {
    let depmod = tools::find("depmod", "kmod")?;
    // Where /lib is a link to /usr/lib, newer packages use the latter.
    let usr = from.join("usr");
    let base = if from.join("lib/modules").is_dir() { from } else { usr.as_path() };
    let all = base.join("lib/modules");
    let release = only_name(&all)?;
    tools::run(Command::new(&depmod).arg("-b").arg(base).arg(&release))?;
    let text = fs::read_to_string(all.join(&release).join("modules.dep"))?;

    let folder = to.join("lib/modules").join(&release);
    fs::create_dir_all(&folder)?;
    // modprobe reads from these files which modules are built in. Not every package has all of them.
    for name in ["modules.order", "modules.builtin", "modules.builtin.modinfo"] {
        let from = all.join(&release).join(name);
        if from.is_file() {
            fs::copy(from, folder.join(name)).context(name)?;
        }
    }
    for file in Dependencies::parse(&text).files(wanted) {
        let copy = folder.join(&file);
        fs::create_dir_all(copy.parent().unwrap_or(&folder))?;
        fs::copy(all.join(&release).join(&file), &copy).with_context(|| file.clone())?;
        if file.ends_with(".xz") {
            // Decompressed here, so that the guest needs no tool for it.
            tools::run(Command::new(tools::find("xz", "xz-utils")?).arg("-d").arg(&copy))?;
        }
    }
    tools::run(Command::new(&depmod).arg("-b").arg(to).arg(&release))?;
    Ok(release)
}

fn only_name(folder: &Path) -> Result<String> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
        .map(|e| e.path())
        .collect();
    names.sort();
    let name = names.pop().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.with_context(|| format!("{} is empty", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_with_all_it_needs_whatever_dashes_it_is_written_with() {
        let text = "kernel/crypto/crypto_engine.ko:\n\
                    kernel/drivers/crypto/virtio/virtio_crypto.ko: kernel/crypto/crypto_engine.ko \
                    kernel/drivers/virtio/virtio.ko\n\
                    kernel/arch/x86/crypto/aesni-intel.ko: kernel/crypto/cryptd.ko\n\
                    kernel/net/tls.ko.xz:\n";
        let dependencies = Dependencies::parse(text);
        let files = dependencies
            .files(&["virtio_crypto", "aesni_intel", "tls", "built_in"].map(str::to_owned));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        assert_eq!(
            files,
            [
                "kernel/arch/x86/crypto/aesni-intel.ko",
                "kernel/crypto/cryptd.ko",
                "kernel/crypto/crypto_engine.ko",
                "kernel/drivers/crypto/virtio/virtio_crypto.ko",
                "kernel/drivers/virtio/virtio.ko",
                "kernel/net/tls.ko.xz",
            ]
        );
    }
}
