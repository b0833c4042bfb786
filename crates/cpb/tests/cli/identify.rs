//! `cpb identify` on real logs of other boards, on files that are not logs, and on this machine.

use cpb_test_support::{lab, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Real logs of sbc-bench, sorted. `None` without `$CPB_SAMPLES`.
fn samples(test: &str) -> Option<Vec<PathBuf>> {
    let Some(folder) = std::env::var_os("CPB_SAMPLES") else {
        skip(test, "no $CPB_SAMPLES");
        return None;
    };
    let files = std::fs::read_dir(Path::new(&folder).join("sbc-bench")).expect("logs").flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    assert_eq!(files.len(), 13, "{}", folder.display());
    Some(files)
}

/// The output of `cpb identify` with these arguments.
fn identify(words: &[&str], files: &[PathBuf]) -> String {
    let lab = lab!();
    let mut command = lab.cpb("identify");
    let output = command.args(words).args(files).output().expect("cpb");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_page_on_identify_shows_what_the_sample_logs_tell() {
    let Some(logs) = samples("the_page_on_identify_shows_what_the_sample_logs_tell") else {
        return;
    };
    let table = identify(&["--markdown", "--from"], &logs);
    let readme = std::fs::read_to_string(Path::new(HERE).join("../../docs/identify.md"))
        .expect("docs/identify.md");
    assert!(readme.contains(table.trim()), "docs/identify.md should have this table:\n{table}");
}

/// Every core with the extension is named as experts on these machines name it, or as its family. The one log
/// that was not pinned is not named.
#[test]
fn every_core_of_the_sample_logs_is_named_rightly_or_not_at_all() {
    const TRUTH: [(&str, &[&str]); 13] = [
        ("1iH0.txt", &["not-applicable"]),
        ("1jCy.txt", &["accelerator"]),
        ("1kt2.txt", &["Cortex-A53"]),
        ("41BH.txt", &["Cortex-A55", "Cortex-A76", "Cortex-A76"]),
        ("443N.txt", &["Icestorm", "Firestorm", "Firestorm"]),
        ("4fdD.txt", &["Cortex-A53"]),
        ("4pgq.txt", &["unknown"]),
        ("88LE.txt", &["A720", "Cortex-A520", "A720", "A720", "A720", "A720"]),
        ("8SWL.txt", &["Oryon", "Oryon", "Oryon"]),
        ("8to7qX.txt", &["not-applicable"]),
        ("KBw_.txt", &["A55", "A78", "A78"]),
        (
            "fcm1253.txt",
            &["A725", "A725", "A725", "A725", "A725", "X925", "X925", "X925", "X925", "X925"],
        ),
        ("uHzXI7.txt", &["not-applicable"]),
    ];
    let Some(logs) = samples("every_core_of_the_sample_logs_is_named_rightly_or_not_at_all") else {
        return;
    };
    let found: Value = serde_json::from_str(&identify(&["--json", "--from"], &logs)).expect("JSON");
    for ((log, truth), found) in TRUTH.iter().zip(found.as_array().expect("logs")) {
        assert_eq!(found["file"], *log);
        let cores = found["cores"].as_array().expect("cores");
        assert_eq!(cores.len(), truth.len(), "{log}: {cores:?}");
        for (core, truth) in cores.iter().zip(*truth) {
            let implied = &core["implied"];
            let Some(name) = implied.get("named") else {
                assert!(implied.get(*truth).is_some(), "{log}: {truth} and not {implied}");
                continue;
            };
            let names = [&name["core"], &name["family"], &name["about"]].map(|name| name.as_str());
            // If a core is named, it is this core; a family must contain it.
            let said = names[0].unwrap_or_else(|| names[2].unwrap_or_default());
            let plain = truth.trim_start_matches("Cortex-");
            assert!(said.contains(plain), "{log}: {truth} and not {said}");
            assert!(name["confidence"].as_f64().expect("a number") >= 0.9, "{log}: {name}");
        }
    }
}

#[test]
fn logs_are_shown_in_80_columns_with_what_does_not_fit_together() {
    let Some(logs) = samples("logs_are_shown_in_80_columns_with_what_does_not_fit_together") else {
        return;
    };
    let text = identify(&["--from"], &logs);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("samples", text);
}

/// The published table names most of its own rows; the row that exceeds the bound is flagged.
#[test]
fn the_published_table_is_judged_by_itself() {
    let table = Path::new(HERE).join("../../records/armv8-aes.jsonl");
    let text = identify(&["--from"], &[table]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("armv8-aes", text);
}

#[test]
fn what_machines_say_of_themselves_is_shown_without_measuring() {
    let machines = Path::new(HERE).join("tests/fixtures/machines");
    let names = ["rock-5b", "odroid-n2", "raspberry-pi-4", "qemu-virt-aarch64", "starfive"];
    let text = names.map(|name| {
        let root = machines.join(name);
        identify(&["--root", root.to_str().expect("UTF-8")], &[])
    });
    insta::assert_snapshot!("machines", text.join("\n"));
}

#[test]
fn this_machine_is_measured_and_its_record_tells_the_same_again() {
    let lab = lab!();
    let output = lab.cpb("identify --json").output().expect("cpb");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let live: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let core = &live[0]["cores"][0];
    let errors = String::from_utf8_lossy(&output.stderr);
    let record = errors.lines().find_map(|line| line.strip_prefix("record: ")).expect("a record");
    let again = lab.cpb("identify --json --from").arg(record).output().expect("cpb");
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again[0]["cores"][0]["verdicts"], core["verdicts"]);
    assert_eq!(again[0]["cores"][0]["measured_hz"], core["measured_hz"]);
    let mut gain = core["verdicts"].as_array().expect("verdicts").iter();
    let gain = gain.find_map(|verdict| verdict.get("extension")).expect("what the extension gains");
    assert_eq!(gain["agree"], true, "{gain}");
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_printed() {
    let lab = lab!();
    for (file, text, why) in [
        ("missing.txt", None, "missing.txt"),
        ("none.txt", Some("hello\n"), "none.txt"),
        ("empty.txt", Some(""), "empty.txt"),
        ("torn.jsonl", Some("{\"cpb\":{\"schema\":1"), "torn.jsonl"),
    ] {
        let path = text.map_or_else(|| lab.path(file), |text| lab.write(file, text));
        let output = lab.cpb("identify --from").arg(&path).output().expect("cpb");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{file}: {errors}");
        assert!(output.stdout.is_empty() && errors.contains(why), "{file}: {errors}");
    }
}

#[test]
fn a_log_of_an_x86_is_not_compared_with_arm_cores() {
    let logs = Path::new(HERE).join("../import/tests/logs");
    // Its library prints its x86 features, and it has no clock.
    let text = identify(&["--from"], &[logs.join("openssl-elapsed.txt")]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the constants are for Arm cores, but this is x86"), "{text}");
    assert!(!words.contains("Cortex"), "{text}");
}

#[test]
fn a_log_without_figures_has_a_row_in_markdown() {
    let logs = Path::new(HERE).join("../import/tests/logs");
    let files = ["bssl.txt", "openssl-elapsed.txt"].map(|name| logs.join(name));
    let table = identify(&["--markdown", "--from"], &files);
    let row = "| bssl.txt | - | - | - | - | - | - | - | there are no figures for AES-CBC";
    assert!(table.contains(row), "{table}");
    assert_eq!(table.lines().count(), 4, "{table}");
}
