//! `cargo xtask static [--guest | --test] [TARGET...]`: cpb as one static file for each target. The C
//! compiler and linker is zig, which scripts/setup.sh installs into .venv, or Debian's gcc for a target
//! whose musl Rust does not ship: that file has glibc inside.
//!
//! Into dist/ go complete binaries, to be copied to boards. With `--guest`, what the lab's guests
//! need goes into target/lab: Mbed TLS is there for right answers, OpenSSL, which takes four times
//! as long to build, is not. With `--test`, what the tests of other architectures run goes into
//! target/static: complete, but built fast.

use crate::tree;
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

/// What a file may have: a board's flash is small, and so is the line to it.
const MOST_BYTES: u64 = 20 << 20;

/// What the files are for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Boards,
    Guests,
    Tests,
}

impl Purpose {
    /// What a command line has for it.
    const OPTIONS: [(&str, Purpose); 2] =
        [("--guest", Purpose::Guests), ("--test", Purpose::Tests)];

    fn folder(self) -> PathBuf {
        match self {
            Purpose::Boards => tree::root().join("dist"),
            Purpose::Guests => guests(),
            Purpose::Tests => for_tests(),
        }
    }

    /// Cargo's options for it, and the profile among them.
    fn options(self) -> (&'static [&'static str], &'static str) {
        match self {
            Purpose::Boards => (&["--release"], "release"),
            Purpose::Guests => {
                (&["--profile", "guest", "--no-default-features", "--features", "mbedtls"], "guest")
            }
            Purpose::Tests => (&["--profile", "guest"], "guest"),
        }
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let option = |argument: &String| {
        Purpose::OPTIONS.iter().find(|(name, _)| name == argument).map(|(_, purpose)| *purpose)
    };
    let purpose = arguments.iter().find_map(option).unwrap_or(Purpose::Boards);
    let known: Vec<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
    let named: Vec<&str> = arguments
        .iter()
        .filter(|argument| option(argument).is_none())
        .map(String::as_str)
        .collect();
    if let Some(unknown) = named.iter().find(|name| !known.contains(name)) {
        return Err(format!("there is no target `{unknown}`; there are: {}", known.join(", ")));
    }
    // Guests are booted on the first two only.
    let usual = if purpose == Purpose::Guests { &known[..2] } else { &known[..] };
    let targets = if named.is_empty() { usual } else { &named[..] };
    for (target, prefix) in TARGETS.iter().filter(|(target, _)| targets.contains(target)) {
        let began = Instant::now();
        let built = build(target, *prefix, purpose)?;
        let size = fs::metadata(&built).map_err(|error| format!("{}: {error}", built.display()))?;
        let (megabytes, seconds) = (size.len() as f64 / 1e6, began.elapsed().as_secs_f64());
        println!("{}: {megabytes:.1} MB, in {seconds:.0} s", built.display());
        if size.len() > MOST_BYTES {
            return Err(format!(
                "{}: more than {} MiB: what got in?",
                built.display(),
                MOST_BYTES >> 20
            ));
        }
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

/// The folder of the binaries that tests run by `qemu-user`.
pub(crate) fn for_tests() -> PathBuf {
    tree::target_directory().join("static")
}

/// Builds them all.
pub(crate) fn build_for_tests() -> Result<(), String> {
    run(&["--test".to_owned()])
}

fn build(target: &str, gcc: Option<&str>, purpose: Purpose) -> Result<PathBuf, String> {
    let (options, profile) = purpose.options();
    // Names of functions are four fifths of such a file.
    let options = |mut command: Command| {
        command.args(options).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
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
    let folder = purpose.folder();
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
