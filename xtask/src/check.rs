//! `cargo xtask check [NAME...]`: all checks of the source that do not run it, or only the steps whose names contain
//! one of the given names.
//!
//! All steps run, even if earlier ones fail. Each prints one line; failed steps print their whole output.

use crate::{circles, firmware, links, tree, type_names, units, words};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The runner's clock code is separate for each architecture; these targets compile all of it.
const CLOCK_TARGETS: &[&str] = &[
    "aarch64-unknown-linux-gnu",
    "armv7-unknown-linux-gnueabihf",
    "i686-unknown-linux-gnu",
    "riscv64gc-unknown-linux-gnu",
];

const ADVISORY_DATABASE: &str = "https://github.com/RustSec/advisory-db";

struct Step {
    name: String,
    action: Action,
}

enum Action {
    Run(Command),
    Call(fn(&Path) -> Verdict),
}

enum Verdict {
    Passed,
    /// The output of the step.
    Failed(String),
    Skipped(&'static str),
}

impl From<Result<(), String>> for Verdict {
    fn from(checked: Result<(), String>) -> Self {
        checked.map_or_else(Verdict::Failed, |()| Verdict::Passed)
    }
}

/// The names of the failed steps, and the names and reasons of those that could not run.
#[derive(Default)]
pub(crate) struct CheckedSteps {
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<(String, String)>,
}

pub(crate) fn run(names: &[String]) -> Result<(), String> {
    let outcome = run_those(names)?;
    if outcome.failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", outcome.failed.join(", ")))
    }
}

/// Runs every step and prints how each one went.
pub(crate) fn run_all() -> CheckedSteps {
    run_those(&[]).unwrap_or_default()
}

/// Runs the steps whose names contain one of `names`, or all steps. Returns an error if no step has such a name.
fn run_those(names: &[String]) -> Result<CheckedSteps, String> {
    let root = tree::root();
    let mut steps = steps(&root);
    let known: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
    steps.retain(|step| names.is_empty() || names.iter().any(|name| step.name.contains(name)));
    if steps.is_empty() {
        return Err(format!("there is no such step; there are: {}", known.join(", ")));
    }
    let mut outcome = CheckedSteps::default();
    for step in steps {
        print!("{:<42} ", step.name);
        let _ = std::io::stdout().flush();
        let start = Instant::now();
        let verdict = match step.action {
            Action::Run(command) => finish(command),
            Action::Call(check) => check(&root),
        };
        let seconds = start.elapsed().as_secs_f64();
        match verdict {
            Verdict::Passed => println!("ok     {seconds:6.1} s"),
            Verdict::Failed(output) => {
                println!("FAILED {seconds:6.1} s\n{}", output.trim_end());
                outcome.failed.push(step.name);
            }
            Verdict::Skipped(reason) => {
                println!("skipped: {reason}");
                outcome.skipped.push((step.name, reason.to_owned()));
            }
        }
    }
    Ok(outcome)
}

fn finish(mut command: Command) -> Verdict {
    match command.output() {
        Ok(output) if output.status.success() => Verdict::Passed,
        Ok(output) => Verdict::Failed(format!(
            "{}{}{} by: {command:?}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            output.status
        )),
        Err(error) => Verdict::Failed(format!(
            "could not start {command:?}: {error}\n`make setup` installs it"
        )),
    }
}

fn steps(root: &Path) -> Vec<Step> {
    let mut steps = vec![
        step("check::lockfile", cargo(root, "metadata --locked --format-version 1")),
        step("check::format", cargo(root, "fmt --all --check")),
        step("check::lints", cargo(root, "clippy --workspace --all-targets -- -D warnings")),
        step("check::documentation", documentation(root)),
    ];
    if root.join("fuzz/Cargo.toml").is_file() {
        let folder = root.join("fuzz");
        steps.push(step("check::fuzz::format", cargo(&folder, "fmt --check")));
        let mut clippy = cargo(&folder, "clippy --bins -- -D warnings");
        // Nothing is linked in this step, so libfuzzer-sys does not need its C++ compiler.
        clippy.env("CUSTOM_LIBFUZZER_PATH", "./libfuzzer.a");
        steps.push(step("check::fuzz::lints", clippy));
    }
    let folder = root.join("firmware");
    steps.push(step("check::firmware::format", cargo(&folder, "fmt --check")));
    for board in firmware::boards() {
        let lints =
            format!("clippy --locked --no-default-features --features {board} -- -D warnings");
        steps.push(step(&format!("check::firmware::{board}"), cargo(&folder, &lints)));
    }
    steps.push(step(
        "check::no_std",
        cargo(
            root,
            "build --package cpb-core --no-default-features --target thumbv7em-none-eabihf",
        ),
    ));
    if has_features(&root.join("crates/runner/Cargo.toml")) {
        for target in CLOCK_TARGETS {
            let build =
                format!("build --package cpb-runner --lib --no-default-features --target {target}");
            steps.push(step(&format!("check::clocks::{target}"), cargo(root, &build)));
        }
    }
    steps.push(step(
        "check::dependencies",
        cargo(root, "deny --log-level error check bans licenses sources"),
    ));
    steps.push(call("check::advisories", advisories));
    steps.push(call("check::circles", |root| circles::check(root).into()));
    steps.push(call("check::type-names", |root| type_names::check(root).into()));
    steps.push(call("check::units", |root| units::check(root).into()));
    steps.push(call("check::words", |root| words::check(root).into()));
    steps.push(call("check::links", |root| links::check(root).into()));
    steps.push(step("check::spelling", from_venv(root, "typos", "")));
    steps
        .push(step("check::python::format", from_venv(root, "ruff", "format --no-cache --diff .")));
    steps.push(step("check::python::lints", from_venv(root, "ruff", "check --no-cache .")));
    steps
}

fn step(name: &str, command: Command) -> Step {
    Step { name: name.to_owned(), action: Action::Run(command) }
}

fn call(name: &str, check: fn(&Path) -> Verdict) -> Step {
    Step { name: name.to_owned(), action: Action::Call(check) }
}

/// `cargo` as found on the path. Unlike the one in `$CARGO`, it understands `+toolchain`.
fn cargo(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

fn documentation(root: &Path) -> Command {
    let mut command = cargo(root, "doc --workspace --no-deps --document-private-items");
    // Private items are documented, so links to them are valid.
    command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    command
}

/// Checks for known vulnerabilities, if their database can be reached.
fn advisories(root: &Path) -> Verdict {
    let reachable = Command::new("timeout")
        .args(["20", "git", "ls-remote", ADVISORY_DATABASE, "HEAD"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .is_ok_and(|output| output.status.success());
    if reachable {
        finish(cargo(root, "deny --log-level error check advisories"))
    } else {
        Verdict::Skipped("github.com/RustSec/advisory-db cannot be reached")
    }
}

/// A checker that scripts/setup.sh installed into .venv, or otherwise the one on the path.
fn from_venv(root: &Path, program: &str, arguments: &str) -> Command {
    let installed = root.join(".venv/bin").join(program);
    let mut command =
        if installed.is_file() { Command::new(installed) } else { Command::new(program) };
    command.args(arguments.split_whitespace()).current_dir(root);
    command
}

/// Whether a package has features, so that a build without the default ones differs.
fn has_features(manifest: &Path) -> bool {
    std::fs::read_to_string(manifest)
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "[features]"))
}
