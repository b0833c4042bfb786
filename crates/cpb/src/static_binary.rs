//! Finds static cpbs, for machines without one: guests of the lab and boards.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The target that this cpb itself was built for, if it is static.
fn own_target() -> Option<String> {
    let architecture = match std::env::consts::ARCH {
        "arm" => "armv7",
        "riscv64" => "riscv64gc",
        other => other,
    };
    let library = match (cfg!(target_env = "musl"), cfg!(target_arch = "arm")) {
        (true, _) => "musl",
        (false, true) => "gnueabihf",
        (false, false) => "gnu",
    };
    cfg!(target_feature = "crt-static").then(|| format!("{architecture}-unknown-linux-{library}"))
}

/// The static cpb for `target`: in `folder` if given; otherwise this cpb, or the file beside it or in
/// `./dist`. `or_else` is what a user can do besides building it.
///
/// # Errors
/// Returns an error if it does not exist.
pub fn find(target: &str, folder: Option<PathBuf>, or_else: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find cpb's own executable")?;
    let folders = match folder {
        Some(folder) => vec![folder],
        None if own_target().is_some_and(|own| own == target) => return Ok(own),
        None => own.parent().map(Path::to_owned).into_iter().chain(["dist".into()]).collect(),
    };
    let name = format!("cpb-{target}");
    match folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => {
            let folders: Vec<String> =
                folders.iter().map(|folder| folder.display().to_string()).collect();
            bail!(
                "there is no {name} in {}; build it with `make static` in cpb's sources ({or_else})",
                folders.join(" or ")
            )
        }
    }
}
