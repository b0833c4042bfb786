//! Helpers for tests that boot guests.

use cpb_test_support::{Lab, lab, marked, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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

/// The guest with a CAAM that most tests boot.
pub(crate) const CAAM: &str = "armhf-6.1-caam";

/// Whether the guest with a CAAM can be booted: its QEMU may have to be fetched. Reports it if not. The first test
/// fetches it, and the others find it.
pub(crate) fn caam_is_here(test: &str) -> bool {
    static MISSING: LazyLock<Option<String>> = LazyLock::new(|| {
        let lab = lab!();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
        let usual =
            fs::read_to_string(folder.join(format!("{CAAM}.toml"))).expect("the guest's file");
        // With no time to boot, it ends as soon as all is there.
        let guest =
            lab.write("guest.toml", usual.replace("boot_seconds = 180", "boot_seconds = 0"));
        let ran = lab.run(&format!("lab run {} -- true", guest.display()));
        let is_missing = ran.stderr.contains("this guest needs QEMU");
        assert!(is_missing || ran.stderr.contains("did not answer in 0 s"), "{}", ran.all());
        is_missing.then(|| ran.stderr.lines().last().unwrap_or_default().to_owned())
    });
    if !here(test) {
        return false;
    }
    if let Some(reason) = &*MISSING {
        skip(&format!("lab::{test}"), reason);
    }
    MISSING.is_none()
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
