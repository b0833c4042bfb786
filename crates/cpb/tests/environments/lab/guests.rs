//! Helpers for tests that boot guests.

use cpb_test_support::{Lab, marked, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The guest that most tests boot.
pub(crate) const USUAL: &str = "x86_64-6.1";

/// Whether guests can be booted; reports it if not.
pub(crate) fn here(test: &str) -> bool {
    let there = std::env::var_os("CPB_LAB_BINARIES").is_some();
    if !there {
        skip(&format!("lab::{test}"), "guests are booted by `make test`");
    }
    there
}

/// A file for a guest like the usual one, with changed settings.
pub(crate) fn variation(lab: &Lab, change: impl FnOnce(String) -> String) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
    let usual = fs::read_to_string(folder.join(format!("{USUAL}.toml"))).expect("the guest's file");
    lab.write("guest.toml", change(usual))
}

/// The QEMU among the marked processes, if there is one.
pub(crate) fn qemu(mark: &str) -> Option<u32> {
    let name = |process: &u32| fs::read_to_string(format!("/proc/{process}/comm"));
    marked(mark)
        .into_iter()
        .find(|process| name(process).is_ok_and(|n| n.starts_with("qemu-system")))
}

/// The rounds of a provider at one size.
pub(crate) fn rounds<'a>(lines: &'a [Value], provider: &str, workload: &str) -> Vec<&'a Value> {
    let mut rounds = cpb_test_support::of(lines, "round", provider);
    rounds.retain(|round| round["workload"] == workload);
    rounds
}
