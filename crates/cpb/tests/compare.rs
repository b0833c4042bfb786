//! `cpb compare`: what it says of two records, and how it ends.

use assert_cmd::Command;
use cpb::analysis::compare::{providers, runs};
use cpb::analysis::ratio::Verdict;
use cpb::report::compare::render;
use cpb::store;
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/record-v1.jsonl")
}

/// The golden record with all batches of one provider's workload longer by a factor.
fn slowed(folder: &Path, provider: &str, workload: &str, factor: f64) -> PathBuf {
    let text = std::fs::read_to_string(golden()).expect("the golden record");
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line");
        let round = &mut line["round"];
        if round["provider"] == provider && round["workload"] == workload {
            for batch in round["samples"][0].as_array_mut().expect("batches") {
                let ticks = batch[0].as_f64().expect("ticks");
                batch[0] = ((ticks * factor).round() as u64).into();
            }
        }
        // Looking into a line that is no round has left an empty one there.
        line.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        line.to_string() + "\n"
    });
    let path = folder.join("after.jsonl");
    std::fs::write(&path, lines.collect::<String>()).expect("room in the temporary folder");
    path
}

const SLOWED: &str = "sha-256/hash/message/1024";

#[test]
fn a_slowed_cell_is_named_and_the_others_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let before = store::read(&golden()).unwrap();
    let after = store::read(&slowed(folder.path(), "openssl", SLOWED, 1.5)).unwrap();
    let compared = runs(&before, &after);
    let slower: Vec<String> = compared
        .cells
        .iter()
        .filter(|row| row.verdict != Verdict::Indistinguishable)
        .map(|row| format!("{} {} {:?}", row.provider, row.bytes, row.verdict))
        .collect();
    assert_eq!(slower, ["openssl 1024 Slower"]);
    insta::assert_snapshot!("slowed_80", render(&compared, 80, false));
}

#[test]
fn two_providers_of_one_record_are_compared() {
    let record = store::read(&golden()).unwrap();
    let compared = providers(&record, "openssl", "openssl:nocrypto");
    assert!(compared.cells.iter().all(|row| row.verdict == Verdict::Slower), "{compared:?}");
    insta::assert_snapshot!("providers_80", render(&compared, 80, false));
}

#[test]
fn how_it_ends_says_whether_something_got_slower() {
    let folder = tempfile::tempdir().unwrap();
    let after = slowed(folder.path(), "openssl", SLOWED, 1.1);
    let compare = |after: &Path, options: &[&str]| {
        let mut command = Command::cargo_bin("cpb").unwrap();
        command.arg("compare").arg(golden()).arg(after).args(options);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(compare(&after, &[]).0, Some(0));
    let (code, words) = compare(&after, &["--fail-if-slower", "3%"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("openssl sha-256 hash at 1 KiB: 1.1"), "{words}");
    assert_eq!(compare(&after, &["--fail-if-slower", "20%"]).0, Some(0));
    assert_eq!(compare(&golden(), &["--fail-if-slower", "3%"]).0, Some(0));
    assert_eq!(compare(&folder.path().join("none.jsonl"), &[]).0, Some(2));
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/armv8-aes.jsonl");
    let (code, words) = compare(&published, &[]);
    assert!(code == Some(2) && words.contains("nothing to compare"), "{code:?} {words}");
}
