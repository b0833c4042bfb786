//! `kill -9` of all processes at random moments: everything that was reported as written is in the record afterwards.

use cpb_test_support::{Lab, lab, nobody_left};
use fastrand::Rng;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const KILLS: usize = 50;

/// A kill after the end of the run does not count; at most this many runs are tried.
const ATTEMPTS: usize = 4 * KILLS;

#[test]
fn a_killed_run_loses_nothing_that_it_reported_and_can_go_on() {
    // Several runs are killed in parallel, because waiting for a runner that hangs takes time.
    let lab = lab!(alone);
    let (killed, attempts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let hunt = || {
        while killed.load(Ordering::Relaxed) < KILLS {
            let number = attempts.fetch_add(1, Ordering::Relaxed);
            assert!(number < ATTEMPTS, "hardly any run could be killed");
            if attempt(lab.another(), number) {
                killed.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for hunter in [0; 4].map(|_| scope.spawn(hunt)) {
            hunter.join().expect("no attempt failed");
        }
    });
}

/// Starts a run, kills it, and checks what is left. Returns whether the kill came in time.
fn attempt(lab: Lab, number: usize) -> bool {
    let mut rng = Rng::with_seed(number as u64);
    let mark = format!("CPB_TEST_MARK={}-{number}", std::process::id());
    let (name, value) = mark.split_once('=').expect("a variable");
    let mut command =
        lab.process("run -a sha-256 -s 16,64 -p mbedtls:c --budget 0.2s --verbose -o record.jsonl");
    command.env(name, value).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("cpb starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));

    let mut said = String::new();
    if rng.bool() {
        // Possibly while it starts.
        thread::sleep(Duration::from_micros(rng.u64(0..60_000)));
    } else {
        // While it measures.
        for _ in 0..rng.u32(1..30) {
            let _ = stderr.read_line(&mut said);
        }
        thread::sleep(Duration::from_micros(rng.u64(0..5_000)));
    }
    child.kill().expect("a child of ours");
    let status = child.wait().expect("a child of ours");
    nobody_left(&mark);
    stderr.read_to_string(&mut said).expect("what was said is text");

    // The last line itself may have been cut off.
    let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let reported: Vec<&str> =
        whole.lines().filter_map(|line| line.strip_prefix("written: ")).collect();
    look(&lab, &lab.path("record.jsonl"), &reported);
    status.signal() == Some(9)
}

fn look(lab: &Lab, record: &Path, reported: &[&str]) {
    let before = fs::read_to_string(record).unwrap_or_default();
    let kept = before.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines: Vec<Value> =
        kept.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    let found: HashSet<String> = lines.iter().filter_map(name).collect();
    for line in reported {
        assert!(found.contains(*line), "reported, but not in the record: {line}\n{before}");
    }

    let shown = lab.run("show record.jsonl");
    if lines.is_empty() {
        assert_eq!(shown.status, Some(2), "{}", shown.all());
        return;
    }
    assert_eq!(shown.status, Some(0), "{}", shown.all());
    assert_eq!(shown.stdout.contains("in the middle of line"), !before.ends_with('\n'));
    let resumed = lab.run("run --resume record.jsonl --quiet");
    assert_eq!(resumed.status, Some(0), "{}", resumed.all());
    let after = fs::read_to_string(record).expect("a record");
    assert!(after.starts_with(kept), "what was there stays as it was");
    let lines = cpb_test_support::lines(record);
    let last = lines.last().expect("an end");
    assert_eq!(last["end"]["interrupted"], false);
    let rounds = cpb_test_support::of_kind(&lines, "round");
    let mut seen = HashSet::new();
    for round in &rounds {
        let place = (&round["provider"], &round["workload"], &round["pass"]);
        assert!(seen.insert(place), "{place:?} was measured twice");
    }
    assert!(rounds.iter().any(|round| round["provider"] == "mbedtls:c"));
}

/// The name of a line in the output of `--verbose`.
fn name(line: &Value) -> Option<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(round) = line.get("round") {
        let (provider, workload) = (word(&round["provider"]), word(&round["workload"]));
        return Some(format!("round {provider} {workload} pass={}", round["pass"]));
    }
    let check = line.get("check")?;
    let [provider, algorithm, operation] =
        ["provider", "algorithm", "operation"].map(|name| word(&check[name]));
    Some(format!("check {provider} {algorithm} {operation}"))
}
