//! Guests and runs that end suddenly: nothing is left behind, and nothing is lost.

use super::guests::{USUAL, here, qemu, variation};
use cpb_test_support::{Lab, Running, lab, lines, nobody_left, of_kind};
use std::time::{Duration, Instant};

/// A run of two cells that would last for long.
const LONG: &str = "-a sha-256 -s 16,64 -p mbedtls:c --budget 100s --verbose -o record.jsonl";

fn start(lab: &Lab) -> Running {
    let mut running = Running::start(lab, &format!("run --target lab:{USUAL} {LONG}"), "");
    running.wait_for("written: round mbedtls:c", 2);
    assert!(qemu(&running.mark).is_some(), "QEMU can be found by its mark");
    running
}

#[test]
fn a_guest_that_is_killed_costs_a_cell_and_the_run_goes_on_in_a_new_one() {
    if !here("killed_guest") {
        return;
    }
    let lab = lab!();
    // Long messages, so that the kill happens in the middle of a round.
    let line = format!(
        "run --target lab:{USUAL} -a sha-256 -s 1M,16 -p mbedtls:c --budget 100s --verbose \
         -o record.jsonl"
    );
    let mut running = Running::start(&lab, &line, "");
    running.wait_for("written: round", 1);
    std::thread::sleep(Duration::from_millis(100));
    let first = qemu(&running.mark).expect("a guest");
    cpb_test_support::signal("KILL", &first.to_string());
    running.wait_for("written: without", 1);
    let before = running.said.matches("written: round").count();
    running.wait_for("written: round", before + 2);
    let second = qemu(&running.mark).expect("another guest");
    assert_ne!(first, second);
    running.signal("INT");
    let ran = running.end();
    let lines = lines(&lab.path("record.jsonl"));
    let failed = of_kind(&lines, "without");
    for cell in &failed {
        let detail = cell["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
        assert!(
            detail.contains("the guest x86_64-6.1 is gone: QEMU was killed by signal 9"),
            "{detail}"
        );
    }
    assert_eq!(failed.len(), 1, "the cell that was measured: {}", ran.all());
    let end = &lines.last().expect("lines")["end"];
    assert!(end["warnings"].to_string().contains("was booted again"), "{end}");
    // Other cells have been measured in the new guest.
    let place = lines.iter().position(|line| line.get("without").is_some()).expect("one");
    assert!(!of_kind(&lines[place..], "round").is_empty(), "{}", ran.all());
}

#[test]
fn kill_9_of_cpb_takes_the_guest_along() {
    if !here("killed_cpb") {
        return;
    }
    let lab = lab!();
    let before = lab.content();
    let mut running = start(&lab);
    running.child.kill().expect("a child of ours");
    running.child.wait().expect("a child of ours");
    nobody_left(&running.mark);
    let mut after = lab.content();
    assert!(after.remove(&lab.path("record.jsonl")).is_some());
    assert_eq!(after, before, "no other file is left");
}

#[test]
fn ctrl_c_ends_the_guest_and_keeps_what_was_measured_and_the_run_can_go_on() {
    if !here("ctrl_c") {
        return;
    }
    let lab = lab!();
    let running = start(&lab);
    running.signal_group("INT");
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let seen = lines(&lab.path("record.jsonl"));
    assert_eq!(seen.last().expect("lines")["end"]["interrupted"], true);
    assert!(of_kind(&seen, "without").is_empty(), "stopping is no finding: {}", ran.all());

    let mut resumed = Running::start(&lab, "run --resume record.jsonl --verbose", "");
    resumed.wait_for("written: round mbedtls:c", 1);
    resumed.signal("INT");
    let ran = resumed.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let rounds = |lines| of_kind(lines, "round").len();
    assert!(rounds(&lines(&lab.path("record.jsonl"))) > rounds(&seen));
}

#[test]
fn a_guest_that_never_comes_up_is_killed_and_its_last_words_are_shown() {
    if !here("never_boots") {
        return;
    }
    let lab = lab!();
    // An init that waits forever, and one that does not exist.
    for (init, patience, words) in [
        ("rdinit=/bin/busybox -- sleep 1000", "6", "its agent did not answer in 6 s"),
        ("rdinit=/nowhere", "60", "QEMU exited with status 0"),
    ] {
        let guest = variation(&lab, |usual| {
            usual.replace(
                "boot_seconds = 90",
                &format!("boot_seconds = {patience}\ncommand_line = \"{init}\""),
            )
        });
        let began = Instant::now();
        let line = format!("run --target lab:{} {LONG}", guest.display());
        let ran = Running::start(&lab, &line, "").end();
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert!(ran.stderr.contains("the guest guest did not boot"), "{}", ran.all());
        assert!(ran.stderr.contains(words), "{}", ran.all());
        assert!(!lab.path("record.jsonl").exists(), "nothing was begun");
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

#[test]
fn ctrl_c_while_a_guest_boots_leaves_nothing_and_says_130() {
    if !here("ctrl_c_boot") {
        return;
    }
    let lab = lab!();
    let before = lab.content();
    for line in [format!("lab run {USUAL} -- true"), format!("run --target lab:{USUAL} {LONG}")] {
        let mut running = Running::start(&lab, &line, "");
        running.wait_for("lab: booting", 1);
        let deadline = Instant::now() + Duration::from_secs(60);
        while qemu(&running.mark).is_none() {
            assert!(Instant::now() < deadline, "QEMU is started: {}", running.said);
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal_group("INT");
        let ran = running.end();
        assert_eq!(ran.status, Some(130), "{line}: {}", ran.all());
        assert_eq!(lab.content(), before, "{line}: no file is left");
    }
}

#[test]
fn a_command_in_a_guest_has_its_input_its_output_and_its_status() {
    if !here("command") {
        return;
    }
    let lab = lab!();
    let line = format!(
        "printf 'one two' | cpb lab run {USUAL} -- sh -c 'wc -w; uname -n; echo wrong >&2; exit 7'"
    );
    let ran = lab.shell(&line);
    assert_eq!(ran.status, Some(7), "{}", ran.all());
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert_eq!(words, ["2", "lab", "wrong"], "{}", ran.all());
    // A host without the package of the emulator lacks the emulator.
    let bare = lab.run_with(&format!("lab run {USUAL} -- true"), &[("PATH", "/nowhere")]);
    assert_eq!(bare.status, Some(2), "{}", bare.all());
    assert!(bare.stderr.contains("sudo apt-get install"), "{}", bare.all());
}
