//! `cargo xtask static [--test | --symbols] [TARGET...]`: builds cpb as one static file for each target. The C
//! compiler and linker is zig, which scripts/setup.sh installs into .venv. For a target whose musl is not part of
//! Rust it is Debian's gcc, and the file contains glibc.
//!
//! Files for boards go into dist/. With `--test`, the files that the lab's guests and the tests of other
//! architectures run go into target/static: these are as complete, but faster to build. With `--symbols`, files are
//! built as for boards but keep the names of their functions, for `cargo xtask size`, and stay in cargo's build
//! directory.

use crate::{firmware, tree};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The oldest C library that carried runners support, and the profile that they are built with.
const OLDEST_GLIBC: &str = "2.28";
const CARRIED: &str = "carried";

/// A target, and the prefix of Debian's gcc for it if zig does not build it.
const TARGETS: [(&str, Option<&str>); 4] = [
    ("x86_64-unknown-linux-musl", None),
    ("aarch64-unknown-linux-musl", None),
    ("armv7-unknown-linux-gnueabihf", Some("arm-linux-gnueabihf-")),
    ("riscv64gc-unknown-linux-gnu", Some("riscv64-linux-gnu-")),
];

/// The libraries in the files for boards: all but AWS-LC, which takes a minute for each file and does not support
/// 32-bit Arm.
const STATIC: &str = "openssl,mbedtls,rustcrypto";

/// The largest size of a file for boards in bytes, because a board's flash is small and the connection to it is slow.
/// Decision 24 has what is in the largest one.
const MOST_BYTES: u64 = 18_000_000;

/// The largest size of a file for tests in bytes. These are built fast, and larger.
const MOST_BYTES_IN_TESTS: u64 = 26 << 20;

/// The option for tests' files, and the profile that these are built with.
const FOR_TESTS: &str = "--test";
const FAST: &str = "fast";

/// The option for files with symbols.
const SYMBOLS: &str = "--symbols";

/// The purpose of the files.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Boards,
    Tests,
    Size,
}

impl Purpose {
    /// The largest size of a file in bytes.
    const fn most_bytes(self) -> u64 {
        match self {
            Purpose::Boards => MOST_BYTES,
            Purpose::Tests => MOST_BYTES_IN_TESTS,
            Purpose::Size => u64::MAX,
        }
    }
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
        let most = purpose.most_bytes();
        if size.len() > most {
            let most = most as f64 / 1e6;
            return Err(format!(
                "{}: more than {most:.1} MB; `cargo xtask static --symbols {target}` and `cargo xtask size` show what \
                 is in it",
                built.display()
            ));
        }
    }
    Ok(())
}

/// The folder of the binaries that tests run.
pub(crate) fn for_tests() -> PathBuf {
    tree::target_directory().join("static")
}

/// Builds all of them.
pub(crate) fn build_for_tests() -> Result<(), String> {
    run(&[FOR_TESTS.to_owned()])
}

/// The path of the file with symbols for a target.
pub(crate) fn with_symbols(target: &str) -> PathBuf {
    tree::target_directory().join(target).join("release/cpb")
}

fn build(target: &str, gcc: Option<&str>, purpose: Purpose) -> Result<PathBuf, String> {
    let tests = purpose == Purpose::Tests;
    let profile = if tests { FAST } else { "release" };
    // Every cpb can simulate boards without an operating system, if their firmware was built before.
    let firmware = firmware::images();
    // Names of functions are four fifths of such a file.
    let options = |mut command: Command| {
        if !tests && firmware.is_dir() {
            command.env("CPB_CARRIED_FIRMWARE", &firmware);
        }
        // Asked to remove only debug information, zig's linker removes the symbols as well; asked to remove the
        // symbols, it keeps debug information, so none is made.
        let [strip, debug] = match purpose {
            Purpose::Size => ["none", "line-tables-only"],
            Purpose::Boards | Purpose::Tests => ["symbols", "none"],
        };
        command.args(["--no-default-features", "--features", STATIC, "--profile", profile]);
        // Nothing unwinds through C. Its code is the same without the tables, and without the debug information that
        // zig adds.
        let flags = format!("CFLAGS_{}", target.replace('-', "_"));
        command.env(flags, "-fno-asynchronous-unwind-tables -fno-unwind-tables -g0");
        command.env("CARGO_PROFILE_RELEASE_STRIP", strip);
        command.env("CARGO_PROFILE_RELEASE_DEBUG", debug);
        command
    };
    let runner = carried_runner(target)?;
    let with_runner = |command: Command| {
        let mut command = options(command);
        command.env("CPB_CARRIED_RUNNER", &runner);
        command
    };
    match gcc {
        Some(prefix) => run_to_end(with_runner(with_gcc("cpb", target, prefix)))?,
        None => zigbuild(with_runner(with_zig("cpb", target)))?,
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

/// A statically linked glibc cannot look up names of hosts or users at run time; cpb does not look up any.
fn with_gcc(package: &str, target: &str, prefix: &str) -> Command {
    let variable = target.to_uppercase().replace('-', "_");
    let mut command = Command::new("cargo");
    command.args(["build", "--locked", "--package", package, "--target", target]);
    command.env(format!("CARGO_TARGET_{variable}_LINKER"), format!("{prefix}gcc"));
    command.env(format!("CARGO_TARGET_{variable}_RUSTFLAGS"), "-C target-feature=+crt-static");
    command.current_dir(tree::root());
    command
}

/// Builds the runner that a static cpb for `target` carries to load libraries of the system. It is linked to a glibc
/// of 2018, which current ones also load, and contains no library.
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

/// The folder into which scripts/setup.sh installs zig.
fn programs() -> PathBuf {
    tree::root().join(".venv/bin")
}

fn zigbuild(mut command: Command) -> Result<(), String> {
    if !programs().join("cargo-zigbuild").is_file() {
        return Err(
            "there is no .venv/bin/cargo-zigbuild; `scripts/setup.sh static` installs it".into()
        );
    }
    // It finds zig through the first Python on the path.
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
