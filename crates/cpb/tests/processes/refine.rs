//! `cpb run --refine` closes in on a crossover, and `cpb run --against` repeats a measurement and compares.
//!
//! Only one of these tests measures at a time: other tests on two cores leave too few passes.
//!
//! The paths are slowed down by a fixed number of nanoseconds, so their crossover is known: 1500 bytes.

use crate::rigged;
use cpb_analysis::crossover::{Contest, Crossing};
use cpb_analysis::explain::explain;
use cpb_record::store;
use cpb_test_support::{Lab, Ran, in_make_test, lab};
use std::collections::BTreeSet;

/// `cpb run` of the two slow paths.
fn run(lab: &Lab, options: &str, times: &str) -> Ran {
    let runner = rigged::runner(lab);
    let line = format!(
        "run -p rigged:fixed,rigged:per-byte --quiet {options} --runner {}",
        runner.display()
    );
    lab.run_with(&line, &[("RIGGED", "fixed,per-byte"), (rigged::TIMES, times)])
}

#[test]
fn sizes_near_a_crossover_are_measured_until_it_is_known_closely() {
    if !in_make_test("sizes_near_a_crossover_are_measured_until_it_is_known_closely") {
        return;
    }
    let lab = lab!(alone);
    // The number of times that the gap is halved depends on the available time and on other programs, so more
    // time is allowed.
    let closer = [6, 12, 24].into_iter().any(|seconds| {
        let found = crossing_after(&lab, seconds);
        println!("{seconds} s: {found:?}");
        found.is_some_and(|found| found.high < found.low * 8.0)
    });
    assert!(closer, "the plan's gap was 16 and was not halved");
}

/// The crossover of the two paths, if this time was enough to find it.
fn crossing_after(lab: &Lab, seconds: u32) -> Option<Crossing> {
    let name = format!("{seconds}.jsonl");
    let options = format!("-a sha-256 -s 64,512,8K --budget {seconds}s --refine -o {name}");
    let ran = run(lab, &options, "1");
    assert_eq!(ran.status, Some(0), "{}", ran.all());

    let record = store::read(&lab.path(&name)).expect("a record");
    let rigged = record.cells.iter().filter(|(cell, _)| cell.provider.starts_with("rigged:"));
    let mut between: BTreeSet<u32> = rigged.map(|(cell, _)| cell.workload.size()).collect();
    between.retain(|size| ![64, 512, 8192].contains(size));
    assert!(between.iter().all(|size| (512..8192).contains(size)), "{between:?}");

    let explanation = explain([&record], None);
    let pairs = explanation.tasks[0].pairs.as_ref().expect("measured here");
    let of_both = |name: &str| name.starts_with("rigged:");
    let pair = pairs.iter().find(|pair| of_both(&pair.first) && of_both(&pair.second))?;
    let Contest::Crosses(found) = &pair.contest else { return None };
    let [crossing] = found[..] else { panic!("{found:?}") };
    assert!((1200.0..1800.0).contains(&crossing.bytes.0), "{found:?}");
    assert!(!between.is_empty() && ran.stdout.contains("rigged:per-byte up to"), "{}", ran.stdout);
    Some(crossing)
}

#[test]
fn a_run_against_a_record_measures_the_same_and_says_what_is_slower() {
    let lab = lab!(alone);
    let before = run(&lab, "-a sha-256 -s 64,512 --budget 2s -o before.jsonl", "1");
    assert_eq!(before.status, Some(0), "{}", before.all());
    let again = "--against before.jsonl --fail-if-slower 40%";

    let same = run(&lab, &format!("{again} -o same.jsonl"), "1");
    assert_eq!(same.status, Some(0), "{}", same.all());
    let sizes = |name: &str| -> BTreeSet<String> {
        let record = store::read(&lab.path(name)).expect("a record");
        record.cells.iter().map(|(cell, _)| cell.to_string()).collect()
    };
    assert_eq!(sizes("before.jsonl"), sizes("same.jsonl"));

    let slower = run(&lab, &format!("{again} --json -o slower.jsonl"), "2");
    assert_eq!(slower.status, Some(1), "{}", slower.all());
    assert!(slower.stderr.contains("slower than allowed: "), "{}", slower.stderr);
    assert!(slower.stderr.contains("rigged:fixed"), "{}", slower.stderr);
    let compared: serde_json::Value = serde_json::from_str(&slower.stdout).expect("JSON alone");
    assert!(compared["cells"].as_array().is_some_and(|cells| cells.len() >= 4));
}

#[test]
fn what_cannot_be_refined_or_compared_is_refused_before_anything_is_measured() {
    let lab = lab!();
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/imx6-software.jsonl");
    let against = format!("run --against {published}");
    for (line, words) in [
        ("run --refine --target lab:x86_64-6.1", "crossovers mean nothing"),
        ("run --against missing.jsonl", "cannot read missing.jsonl"),
        (against.as_str(), "a published table"),
        ("run --fail-if-slower 3%", "--against"),
    ] {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(2), "cpb {line}\n{}", ran.all());
        assert!(ran.stderr.contains(words), "cpb {line}\n{}", ran.all());
        assert!(!lab.path("cpb-results").exists());
    }
}

#[test]
fn a_run_says_how_it_compares_with_the_last_one_of_its_plan() {
    let lab = lab!(alone);
    let line = "run -p mbedtls:c -a sha-256 -s 64 --budget 1s";
    let first = lab.run(line);
    assert!(!first.stderr.contains("since cpb-results"), "{}", first.all());
    // Records are named by the second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let second = lab.run(line);
    assert!(second.stderr.contains("since cpb-results/default-"), "{}", second.all());
    assert!(second.stderr.contains("the same within 3%"), "{}", second.all());
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let other = lab.run("run -p mbedtls:c -a sha-256 -s 128 --budget 1s");
    assert!(!other.stderr.contains("since cpb-results"), "another plan: {}", other.all());
}
