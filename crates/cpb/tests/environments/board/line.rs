//! Serial lines whose other end is wrong or disappears.

use super::{Emulated, image};
use cpb_test_support::{Running, lab, lines, of_kind};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A pseudo-terminal: its other end, and its device.
fn terminal() -> (File, String) {
    let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&end).expect("it is ours");
    unlockpt(&end).expect("it is ours");
    let device = ptsname(&end, Vec::new()).expect("a name");
    (File::from(end), device.into_string().expect("UTF-8"))
}

const SHORT: &str = "-a sha-1 -s 16 --budget 1s --timeout 1s -q -o record.jsonl";

/// The message of `cpb run` if there is no board to measure: one line, and nothing is written.
fn refused(device: &str, words: &[&str]) {
    let lab = lab!();
    let ran = lab.run(&format!("run --target serial:{device} {SHORT}"));
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.all());
    for word in [device].iter().chain(words) {
        assert!(ran.stderr.contains(word), "{word} in {}", ran.all());
    }
    assert!(!lab.path("record.jsonl").exists());
}

#[test]
fn what_is_no_line_is_named() {
    refused("/dev/no-such-line", &["no such device", "plugged in"]);
    refused("/dev/null", &["it is not a serial line"]);
    refused("/", &["Is a directory"]);
}

#[test]
fn a_line_without_anybody_is_given_up_after_its_time() {
    let (_end, device) = terminal();
    refused(
        &device,
        &["no answer for 1.0 s", "not a single byte arrived", "does the board run cpb's firmware"],
    );
}

#[test]
fn a_line_that_another_program_uses_is_left_alone() {
    let (_end, device) = terminal();
    let other = File::open(&device).expect("a terminal");
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
    refused(&device, &["another program has locked it"]);
}

#[test]
fn a_board_that_says_something_else_is_told_from_a_silent_one() {
    let (mut end, device) = terminal();
    let over = Arc::new(AtomicBool::new(false));
    let talker = thread::spawn({
        let over = Arc::clone(&over);
        move || {
            while !over.load(Ordering::Relaxed) {
                // Another firmware's log, and bytes as with a wrong baud rate.
                end.write_all(b"\r\n[00:00:01.000] shell> \x00\xff\xfe\x00\x80")
                    .expect("a terminal");
                thread::sleep(Duration::from_millis(20));
            }
        }
    });
    refused(&device, &["bytes arrived that are not frames", "115200 baud"]);
    over.store(true, Ordering::Relaxed);
    talker.join().expect("it only writes");
}

#[test]
fn a_board_that_is_unplugged_leaves_what_was_measured() {
    let test = "a_board_that_is_unplugged_leaves_what_was_measured";
    let Some(image) = image(test, "mps2-an500-O2") else { return };
    let (lab, mut board) = (lab!(), Emulated::start(&image));
    let what = "-a sha-1 -s 16,64 --budget 100s --verbose -o record.jsonl";
    let mut running =
        Running::start(&lab, &format!("run --target serial:{} {what}", board.device), "");
    running.wait_for("written: round mbedtls", 4);
    board.unplug();
    let ran = running.end();
    assert_eq!(ran.status, Some(1), "{}", ran.all());

    let record = lines(&lab.path("record.jsonl"));
    assert!(of_kind(&record, "round").len() >= 4, "what was measured is there");
    let without = of_kind(&record, "without");
    assert!(!without.is_empty() && without.len() <= 3, "{without:?}");
    for cell in without {
        let why = cell["outcome"].to_string();
        assert!(why.contains("unplugged") || why.contains("plugged in"), "{why}");
    }
    assert_eq!(of_kind(&record, "end").len(), 1, "the run came to its end");
}
