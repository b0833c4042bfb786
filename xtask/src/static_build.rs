//! `cargo xtask static [--test | --symbols] [TARGET...]`: cpb as one static file for each target. The C compiler
//! and linker is zig, which scripts/setup.sh installs into .venv, or Debian's gcc for a target whose musl
//! Rust does not ship: that file has glibc inside.
//!
//! Into dist/ go those to be copied to boards. With `--test`, those that the lab's guests and the tests
//! of other architectures run go into target/static: as complete, but built fast. With `--symbols`, they are as for
//! boards but with the names of their functions, for `cargo xtask size`, and stay in cargo's build directory.

use crate::{firmware, tree};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The C library that carried runners ask for at least, and the profile that they are built in.
const OLDEST_GLIBC: &str = "2.28";
const CARRIED: &str = "carried";

/// A target, and the prefix of Debian's gcc for it where zig does not build it.
const TARGETS: [(&str, Option<&str>); 4] = [
    ("x86_64-unknown-linux-musl", None),
    ("aarch64-unknown-linux-musl", None),
    ("armv7-unknown-linux-gnueabihf", Some("arm-linux-gnueabihf-")),
    ("riscv64gc-unknown-linux-gnu", Some("riscv64-linux-gnu-")),
];

/// What is linked into the files for boards: all but AWS-LC, which takes a minute for each of them, and is
/// not for 32-bit Arm.
const STATIC: &str = "openssl,mbedtls,rustcrypto";

/// What a file may have: a board's flash is small, and so is the line to it.
const MOST_BYTES: u64 = 20 << 20;

/// What a command line has for tests' files, and the profile that these are built in.
const FOR_TESTS: &str = "--test";
const FAST: &str = "fast";

/// What a command line has for files with symbols.
const SYMBOLS: &str = "--symbols";

/// What the files are for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Boards,
    Tests,
    Size,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (purpose, named) = match arguments.split_first() {
        Some((first, rest)) if first == FOR_TESTS => (Purpose::Tests, rest),
        Some((first, rest)) if first == SYMBOLS => (Purpose::Size, rest),
        _ => (Purpose::Boards, arguments),
    };
    let known: Vec<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    if let Some(unknown) = named.iter().find(|name| !known.contains(name)) {
        return Err(format!("there is no target `{unknown}`; there are: {}", known.join(", ")));
    }
    let targets = if named.is_empty() { &known } else { &named };
    for (target, prefix) in TARGETS.iter().filter(|(target, _)| targets.contains(target)) {
        let began = Instant::now();
        let built = build(target, *prefix, purpose)?;
        let size = fs::metadata(&built).map_err(|error| format!("{}: {error}", built.display()))?;
        let (megabytes, seconds) = (size.len() as f64 / 1e6, began.elapsed().as_secs_f64());
        println!("{}: {megabytes:.1} MB, in {seconds:.0} s", built.display());
        if purpose != Purpose::Size && size.len() > MOST_BYTES {
            return Err(format!(
                "{}: more than {} MiB: what got in?",
                built.display(),
                MOST_BYTES >> 20
            ));
        }
    }
    Ok(())
}

/// The folder of the binaries that tests run.
pub(crate) fn for_tests() -> PathBuf {
    tree::target_directory().join("static")
}

/// Builds them all.
pub(crate) fn build_for_tests() -> Result<(), String> {
    run(&[FOR_TESTS.to_owned()])
}

/// Where the file with symbols for a target is.
pub(crate) fn with_symbols(target: &str) -> PathBuf {
    tree::target_directory().join(target).join("release/cpb")
}

fn build(target: &str, gcc: Option<&str>, purpose: Purpose) -> Result<PathBuf, String> {
    let tests = purpose == Purpose::Tests;
    let profile = if tests { FAST } else { "release" };
    // Boards without an operating system are simulated wherever cpb is, if their firmware was built before.
    let firmware = firmware::images();
    // Names of functions are four fifths of such a file.
    let options = |mut command: Command| {
        if !tests && firmware.is_dir() {
            command.env("CPB_CARRIED_FIRMWARE", &firmware);
        }
        // With "debuginfo", zig's linker drops the symbols as well.
        command.args(["--no-default-features", "--features", STATIC, "--profile", profile]).env(
            "CARGO_PROFILE_RELEASE_STRIP",
            if purpose == Purpose::Size { "none" } else { "symbols" },
        );
        command
    };
    match gcc {
        Some(prefix) => run_to_end(options(with_gcc("cpb", target, prefix)))?,
        None => {
            let mut command = options(with_zig("cpb", target));
            command.env("CPB_CARRIED_RUNNER", carried_runner(target)?);
            zigbuild(command)?;
        }
    }
    let built = tree::target_directory().join(target).join(profile).join("cpb");
    if purpose == Purpose::Size {
        return Ok(built);
    }
    let folder = if tests { for_tests() } else { tree::root().join("dist") };
    let wanted = folder.join(format!("cpb-{target}"));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::copy(&built, &wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    Ok(wanted)
}

/// A glibc inside a program may look up no names of hosts or users at run time: cpb looks up none. Nor
/// does such a cpb carry a runner: what loads no library of the system measures none.
fn with_gcc(package: &str, target: &str, prefix: &str) -> Command {
    let variable = target.to_uppercase().replace('-', "_");
    let mut command = Command::new("cargo");
    command.args(["build", "--locked", "--package", package, "--target", target]);
    command.env(format!("CARGO_TARGET_{variable}_LINKER"), format!("{prefix}gcc"));
    command.env(format!("CARGO_TARGET_{variable}_RUSTFLAGS"), "-C target-feature=+crt-static");
    command.current_dir(tree::root());
    command
}

/// The runner that a static cpb for `target` carries, for the libraries of its system: linked to a
/// glibc of 2018, which those of today load as well, and without any library of its own.
fn carried_runner(target: &str) -> Result<PathBuf, String> {
    let with_glibc = target.replace("musl", "gnu");
    let mut command = with_zig("cpb-runner", &format!("{with_glibc}.{OLDEST_GLIBC}"));
    command.args(["--bin", "cpb-runner", "--no-default-features", "--profile", CARRIED]);
    zigbuild(command)?;
    Ok(tree::target_directory().join(with_glibc).join(CARRIED).join("cpb-runner"))
}

fn with_zig(package: &str, target: &str) -> Command {
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
    run_to_end(command)
}

fn run_to_end(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}")),
    }
}
