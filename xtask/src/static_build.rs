//! `cargo xtask static [--guest] [TARGET...]`: cpb as one static file for each target, by zig as the
//! C compiler and linker, which scripts/setup.sh installs into .venv.
//!
//! Into dist/ go complete binaries, to be copied to boards. With `--guest`, what the lab's guests
//! need goes into target/lab: Mbed TLS is there for right answers, OpenSSL, which takes four times
//! as long to build, is not.

use crate::tree;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The C library that carried runners ask for at least, and the profile that they are built in.
const OLDEST_GLIBC: &str = "2.28";
const CARRIED: &str = "carried";

const TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let guest = arguments.iter().any(|argument| argument == "--guest");
    let named: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| *argument != "--guest").collect();
    if let Some(unknown) = named.iter().find(|name| !TARGETS.contains(name)) {
        return Err(format!("there is no target `{unknown}`; there are: {}", TARGETS.join(", ")));
    }
    let targets = if named.is_empty() { TARGETS.to_vec() } else { named };
    let folder = if guest { guests() } else { tree::root().join("dist") };
    for target in targets {
        let began = Instant::now();
        let built = build(target, guest, &folder)?;
        let size = fs::metadata(&built).map_err(|error| format!("{}: {error}", built.display()))?;
        let (megabytes, seconds) = (size.len() as f64 / 1e6, began.elapsed().as_secs_f64());
        println!("{}: {megabytes:.1} MB, in {seconds:.0} s", built.display());
    }
    Ok(())
}

/// The folder of the guests' binaries.
pub(crate) fn guests() -> PathBuf {
    tree::target_directory().join("lab")
}

/// Builds them all.
pub(crate) fn build_guests() -> Result<(), String> {
    run(&["--guest".to_owned()])
}

fn build(target: &str, guest: bool, folder: &Path) -> Result<PathBuf, String> {
    let mut command = command("cpb", target);
    command.env("CPB_CARRIED_RUNNER", carried_runner(target)?);
    let profile = match guest {
        true => {
            command.args(["--profile", "guest", "--no-default-features", "--features", "mbedtls"]);
            "guest"
        }
        false => {
            // Names of functions are four fifths of such a file, and a board's flash is small.
            command.arg("--release").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
            "release"
        }
    };
    zigbuild(command)?;
    let built = tree::target_directory().join(target).join(profile).join("cpb");
    let wanted = folder.join(format!("cpb-{target}"));
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::copy(&built, &wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    Ok(wanted)
}

/// The runner that a static cpb for `target` carries, for the libraries of its system: linked to a
/// glibc of 2018, which those of today load as well, and without any library of its own.
fn carried_runner(target: &str) -> Result<PathBuf, String> {
    let with_glibc = target.replace("musl", "gnu");
    let mut command = command("cpb-runner", &format!("{with_glibc}.{OLDEST_GLIBC}"));
    command.args(["--bin", "cpb-runner", "--no-default-features", "--profile", CARRIED]);
    zigbuild(command)?;
    Ok(tree::target_directory().join(with_glibc).join(CARRIED).join("cpb-runner"))
}

fn command(package: &str, target: &str) -> Command {
    let mut command = Command::new(programs().join("cargo-zigbuild"));
    command.args(["zigbuild", "--locked", "--package", package, "--target", target]);
    command
}

/// Where scripts/setup.sh installs zig.
fn programs() -> PathBuf {
    tree::root().join(".venv/bin")
}

fn zigbuild(mut command: Command) -> Result<(), String> {
    if !programs().join("cargo-zigbuild").is_file() {
        return Err(
            "there is no .venv/bin/cargo-zigbuild; `scripts/setup.sh static` installs it".into()
        );
    }
    // It finds zig through the Python that is first on the path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    command.env("PATH", path).current_dir(tree::root());
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}")),
    }
}
