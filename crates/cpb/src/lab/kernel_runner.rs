//! cpb's own module for a guest's kernel: built by this machine's compiler from the sources that cpb carries (`lab/kmod`),
//! with the headers that were fetched with the kernel.

use super::{cache, tools};
use crate::library;
use anyhow::{Context, Result, bail};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// Where a guest has the module.
pub(super) const PLACE: &str = "lib/modules/cpb_runner.ko";

/// The folder of the headers in a prepared folder, laid out as in a system's root.
const HEADERS: &str = "headers";

/// Where packages have headers, and the programs that build with them, which the former refer to by relative links.
const KEPT: [&str; 2] = ["usr/src", "usr/lib"];

/// Keeps the headers in `tree`, where their packages are unpacked, in the prepared folder `to`.
pub(super) fn keep_headers(tree: &Path, to: &Path) -> Result<()> {
    let headers = to.join(HEADERS);
    for folder in KEPT.map(Path::new) {
        fs::create_dir_all(headers.join(folder))?;
        for entry in
            fs::read_dir(tree.join(folder)).with_context(|| folder.display().to_string())?
        {
            let name = entry?.file_name();
            // The rest of usr/lib belongs to other packages.
            if name.to_string_lossy().starts_with("linux-") {
                let [from, to] = [tree, &headers].map(|root| root.join(folder).join(&name));
                fs::rename(&from, to).with_context(|| from.display().to_string())?;
            }
        }
    }
    Ok(())
}

/// The module for Linux `release`, built if that has not been done.
///
/// # Errors
/// Returns an error with the first thing that the build complained of.
pub(super) fn built(prepared: &Path, release: &str) -> Result<Vec<u8>> {
    let sources = library::kernel_runner()
        .iter()
        .map(|source| Ok((source.name, source.text()?)))
        .collect::<Result<Vec<_>>>()?;
    let mut hasher = DefaultHasher::new();
    (release, &sources).hash(&mut hasher);
    let name = format!("cpb_runner-{:016x}", hasher.finish());
    let module = prepared.join(&name).with_extension("ko");
    if !module.is_file() {
        let work = prepared.join(format!("{name}.work"));
        cache::remove(&work)?;
        fs::create_dir_all(&work)?;
        for (name, text) in &sources {
            fs::write(work.join(name), text)?;
        }
        let [make, _] = [tools::find("make", "make")?, tools::find("gcc", "gcc")?];
        if let Err(error) = build(&make, &prepared.join(HEADERS), release, &work) {
            cache::remove(&work)?;
            bail!("cpb's module does not build for Linux {release}: {}", first(&error));
        }
        fs::rename(work.join("cpb_runner.ko"), &module)?;
        cache::remove(&work)?;
    }
    fs::read(&module).with_context(|| module.display().to_string())
}

fn build(make: &Path, headers: &Path, release: &str, work: &Path) -> Result<()> {
    let sources = headers.join("usr/src");
    let kernel = sources.join(format!("linux-headers-{release}"));
    find_common(&kernel.join("Makefile"), &sources)?;
    let mut command = Command::new(make);
    command.arg("-C").arg(&kernel).arg(format!("M={}", work.display()));
    // The compiler that is here, not one of the name that the kernel was built with; no signature, and no types for BPF,
    // which would take another tool.
    let not = ["CONFIG_MODULE_SIG_ALL=", "CONFIG_DEBUG_INFO_BTF_MODULES="];
    tools::run(command.args(["CC=gcc", "HOSTCC=gcc"]).args(not).arg("modules"))?;
    let strip = tools::find("strip", "binutils")?;
    tools::run(Command::new(strip).arg("--strip-debug").arg(work.join("cpb_runner.ko")))?;
    Ok(())
}

/// The headers' Makefile includes the common one from where a package has it; here it is in `sources`.
fn find_common(makefile: &Path, sources: &Path) -> Result<()> {
    let text = fs::read_to_string(makefile).with_context(|| makefile.display().to_string())?;
    let common = text.split(['/', '\n']).find(|part| part.ends_with("-common"));
    let common = common.with_context(|| format!("{} is not Debian's", makefile.display()))?;
    let found = sources.join(common).join("Makefile");
    Ok(fs::write(makefile, format!("include {}\n", found.display()))?)
}

/// The first line of an error that tells what is wrong.
fn first(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let telling =
        |line: &&str| line.to_lowercase().contains("error:") || line.contains("not found");
    text.lines().find(telling).or(text.lines().last()).unwrap_or_default().trim().to_owned()
}
