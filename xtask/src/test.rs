//! `cargo xtask test`: runs check, builds the guests' and boards' binaries and the boards' images, runs every Rust
//! test and every script test, and reports what was skipped and how long each part took.
//!
//! With `CPB_CI` set, a skip is a failure unless `.ci/allowed-skips` names it.

use crate::cargo_output::{self, Line};
use crate::parts::Parts;
use crate::skips::{self, Skip};
use crate::{check, firmware, scripts, static_build, tree};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<Skip>,
}

pub(crate) fn run(_arguments: &[String]) -> Result<(), String> {
    let root = tree::root();
    let skip_log = tree::target_directory().join("skipped-tests.tsv");
    fs::write(&skip_log, "").map_err(|e| format!("cannot write {}: {e}", skip_log.display()))?;
    let mut tally = Tally::default();

    let mut parts = Parts::default();

    let checked = parts.run("check", check::run_all);
    tally.failed.extend(checked.failed);
    let unchecked = checked.skipped.iter().map(|(n, r)| Skip::new(n, r));
    tally.skipped.extend(unchecked);

    if let Err(error) = parts.run("static", static_build::build_for_tests) {
        println!("{error}");
        tally.failed.push("static (no binaries for guests and boards)".to_owned());
    }

    if let Err(error) = parts.run("firmware", firmware::build_all) {
        println!("{error}");
        tally.failed.push("firmware (no images)".to_owned());
    }

    let built = parts.run("cargo test", || cargo_test(&root, &skip_log, &mut tally));
    parts.divide(["cargo test, building", "cargo test, running"], built);

    let scripts = parts.run("scripts", || scripts::run_all(&root, &skip_log));
    tally.passed += scripts.passed;
    tally.failed.extend(scripts.failed);
    tally.skipped.extend(scripts.skipped);

    if tally.passed + tally.failed.len() == 0 {
        tally.failed.push("no test ran at all".to_owned());
    }
    let log = fs::read_to_string(&skip_log).map_err(|e| format!("{}: {e}", skip_log.display()))?;
    tally.take_skips_from(&log);

    let allowed = fs::read_to_string(root.join(".ci/allowed-skips")).unwrap_or_default();
    account_for_skips(&mut tally, &skips::parse_allowed(&allowed)?);
    println!("\n== time\n{}", parts.table().trim_end());
    close(&tally)
}

impl Tally {
    /// Subtracts tests that wrote to the skip log. They were counted as passed, because they returned without
    /// failing.
    fn take_skips_from(&mut self, log: &str) {
        let logged = skips::parse_log(log);
        let whole = logged.iter().filter(|skip| !skip.is_partial()).count();
        self.passed = self.passed.saturating_sub(whole);
        self.skipped.extend(logged);
    }

    fn read(&mut self, line: &str) {
        match cargo_output::parse(line) {
            Some(Line::Summary { passed }) => self.passed += passed,
            Some(Line::Failed { name }) => self.failed.push(name.to_owned()),
            Some(Line::Ignored { name, reason }) => self.skipped.push(Skip::new(name, reason)),
            None => {}
        }
    }
}

/// Runs the Rust tests and passes on their output as they print it. Returns the time until the first of them ran.
fn cargo_test(root: &Path, skip_log: &Path, tally: &mut Tally) -> Duration {
    let start = Instant::now();
    let spawned = Command::new("cargo")
        .args(["test", "--workspace", "--no-fail-fast"])
        .env("CPB_SKIP_LOG", skip_log)
        // The lab's tests boot guests only if this names a folder with binaries for them.
        .env("CPB_LAB_BINARIES", static_build::for_tests())
        // Tests of other architectures also run binaries from a folder.
        .env("CPB_STATIC_BINARIES", static_build::for_tests())
        // An older OpenSSL is loaded from where scripts/setup.sh installed it.
        .env("CPB_OPENSSL_1_1_1", root.join(".venv/openssl-1.1.1/libcrypto.so.1.1"))
        // The firmware's tests inspect images in this folder.
        .env("CPB_FIRMWARE_IMAGES", firmware::images())
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            tally.failed.push(format!("cargo test ({error})"));
            return start.elapsed();
        }
    };
    let mut built = None;
    let failed_before = tally.failed.len();
    if let Some(output) = child.stdout.take() {
        // Read as bytes, because a test may print text that is not UTF-8.
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            // Cargo's own messages about the build are on standard error.
            built.get_or_insert_with(|| start.elapsed());
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally.read(&line);
        }
    }
    // A test binary that does not compile, or that crashes, reports no failed test.
    let status = child.wait();
    if tally.failed.len() == failed_before && !status.as_ref().is_ok_and(|s| s.success()) {
        tally.failed.push(format!("cargo test ({status:?})"));
    }
    built.unwrap_or_else(|| start.elapsed())
}

fn account_for_skips(tally: &mut Tally, allowed: &[Skip]) {
    if !tally.skipped.is_empty() {
        println!("\n== skipped");
        for skip in &tally.skipped {
            println!("SKIPPED: {}: {}", skip.name, skip.reason);
        }
    }
    if std::env::var_os("CPB_CI").is_none() {
        return;
    }
    for idle in skips::needless(&tally.skipped, allowed) {
        println!("note: .ci/allowed-skips allows {}, which was not skipped", idle.name);
    }
    let forbidden: Vec<String> = skips::forbidden(&tally.skipped, allowed)
        .iter()
        .map(|skip| format!("{} (skipped; .ci/allowed-skips does not name it)", skip.name))
        .collect();
    tally.failed.extend(forbidden);
}

fn close(tally: &Tally) -> Result<(), String> {
    if !tally.failed.is_empty() {
        println!("\n== failed");
        for name in &tally.failed {
            println!("FAILED: {name}");
        }
    }
    println!(
        "\n{} passed, {} failed, {} skipped",
        tally.passed,
        tally.failed.len(),
        tally.skipped.len()
    );
    if tally.failed.is_empty() { Ok(()) } else { Err("not everything passed".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_output_adds_up_and_names_what_did_not_pass() {
        let mut tally = Tally::default();
        for line in [
            "test a ... ok",
            "test b ... FAILED",
            "test c ... ignored, slow",
            "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out",
            "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        ] {
            tally.read(line);
        }
        assert_eq!(tally.passed, 5);
        assert_eq!(tally.failed, ["b"]);
        assert_eq!(tally.skipped, [Skip::new("c", "slow")]);
    }

    #[test]
    fn a_test_in_the_skip_log_did_not_pass_but_one_with_a_missing_part_did() {
        let mut tally = Tally { passed: 3, ..Tally::default() };
        tally.take_skips_from("tests::guest\tno qemu\nsuite::answers#cryptodev\tno device\n");
        assert_eq!(tally.passed, 2);
        assert_eq!(tally.skipped.len(), 2);
    }
}
