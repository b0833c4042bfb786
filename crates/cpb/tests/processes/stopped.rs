//! Ctrl-C and SIGTERM: what was measured is kept and shown, and the run can be resumed.

use crate::rigged;
use cpb_test_support::{Lab, Running, lab, lines, of, of_kind};
use std::fs;
use std::time::{Duration, Instant};

/// Stops a run in the middle of measuring and checks what it leaves.
fn stop_and_look(lab: &Lab, stop: fn(&Running)) {
    let line = "run -a sha-256 -s 16 -p mbedtls:c --budget 3s --verbose -o record.jsonl";
    let mut running = Running::start(lab, line, "");
    running.wait_for("written: round", 6);
    stop(&running);
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    assert!(ran.stdout.contains("mbedtls:c"), "the table is shown: {}", ran.all());
    let command = "stopped; continue with: cpb run --resume record.jsonl";
    assert_eq!(ran.stderr.lines().last(), Some(command));
    let lines = lines(&lab.path("record.jsonl"));
    assert_eq!(lines.last().expect("lines")["end"]["interrupted"], true);
    let reported = ran.stderr.lines().filter(|line| line.starts_with("written: round")).count();
    assert_eq!(of_kind(&lines, "round").len(), reported);
}

#[test]
fn a_run_that_is_stopped_by_ctrl_c_keeps_everything_and_goes_on_later() {
    let lab = lab!();
    stop_and_look(&lab, |running| running.signal("INT"));
    let before = fs::read_to_string(lab.path("record.jsonl")).expect("a record");
    let resumed = lab.run("run --resume record.jsonl");
    assert_eq!(resumed.status, Some(0), "{}", resumed.all());
    let after = fs::read_to_string(lab.path("record.jsonl")).expect("a record");
    assert!(after.starts_with(&before));
    let lines = lines(&lab.path("record.jsonl"));
    let ends: Vec<_> =
        of_kind(&lines, "end").iter().map(|end| end["interrupted"].clone()).collect();
    assert_eq!(ends, [true, false]);
    let passes = |text: &str| text.matches("\"round\"").count();
    assert!(passes(&after) > passes(&before));
}

#[test]
fn ctrl_c_in_a_terminal_reaches_the_whole_group_and_does_the_same() {
    stop_and_look(&lab!(), |running| running.signal_group("INT"));
}

#[test]
fn sigterm_does_the_same_as_ctrl_c() {
    stop_and_look(&lab!(), |running| running.signal("TERM"));
}

#[test]
fn a_second_ctrl_c_ends_a_run_at_once_and_leaves_no_runner() {
    let lab = lab!();
    let line = "run -a sha-256 -s 16 -p mbedtls:c --budget 60s --verbose -o record.jsonl";
    let mut running = Running::start(&lab, line, "");
    running.wait_for("written: round", 3);
    running.signal("INT");
    // The first signal may have ended it.
    let second = format!("kill -s INT {} 2>/dev/null || true", running.child.id());
    assert_eq!(lab.shell(&second).status, Some(0));
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    assert!(of_kind(&lines(&lab.path("record.jsonl")), "round").len() >= 3);
}

#[test]
fn stopping_while_a_runner_hangs_is_no_finding_about_it() {
    // One hangs during its check, the other while it is timed.
    for (fault, before) in
        [("first-hang", "written: check mbedtls:c"), ("hang", "written: check rigged:hang")]
    {
        let lab = lab!();
        let line = format!(
            "run -a sha-256 -s 16 -p mbedtls:c --budget 60s --timeout 60s --verbose \
             -o record.jsonl --runner {}",
            rigged::runner(&lab).display()
        );
        let mut running = Running::start(&lab, &line, fault);
        running.wait_for(before, 1);
        std::thread::sleep(Duration::from_millis(100));
        running.signal("INT");
        let ran = running.end();
        assert_eq!(ran.status, Some(130), "{}", ran.all());
        let lines = lines(&lab.path("record.jsonl"));
        let name = format!("rigged:{fault}");
        assert!(of(&lines, "without", &name).is_empty(), "{}", ran.all());
        assert!(of(&lines, "check", &name).iter().all(|check| check["wrong"].is_null()));
        assert_eq!(lines.last().expect("lines")["end"]["interrupted"], true);
        let needed = ran.stderr.lines().last().unwrap_or_default();
        assert!(needed.contains(" --runner "), "the command is whole: {needed}");
    }
}

#[test]
fn stopping_before_anything_is_measured_leaves_no_record() {
    stop_before_anything("exec sleep 60");
}

#[test]
fn stopping_leaves_nothing_of_a_runner_that_is_a_script_around_one() {
    stop_before_anything("sleep 60; exit 1");
}

/// Stops a run whose runner, the last command of a script, never answers.
fn stop_before_anything(runner: &str) {
    let lab = lab!();
    let body = format!("touch \"$(dirname \"$0\")/started\"; {runner}");
    let silent = lab.script("silent", &body);
    let line = format!("run -a sha-256 --timeout 60s --runner {}", silent.display());
    let running = Running::start(&lab, &line, "");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !lab.path("started").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal("INT");
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    assert_eq!(ran.stderr, "stopped before anything was measured\n");
    assert_eq!(ran.stdout, "");
    assert!(!lab.path("cpb-results").exists());
}
