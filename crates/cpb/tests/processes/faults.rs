//! Runners that give wrong answers, crash, hang, or are not runners, as real processes.

use crate::rigged;
use cpb_test_support::{Lab, Ran, SHORT, lab, lines, of, of_kind};
use serde_json::Value;
use std::path::PathBuf;

/// A run of two sizes in which the faults named in `faults` occur at the first size.
fn run(lab: &Lab, faults: &str) -> (Ran, Vec<Value>) {
    let line = format!(
        "run -a sha-256 -s 16,64 -p mbedtls:c --budget 0.5s --timeout 2s --csv -o record.jsonl \
         --runner {}",
        rigged::runner(lab).display()
    );
    let ran = lab.run_with(&line, &[("RIGGED", faults)]);
    let lines = lines(&lab.path("record.jsonl"));
    (ran, lines)
}

/// Whether there is a round of this provider at this size, and no failure that makes it void.
fn timed(lines: &[Value], provider: &str, size: u32) -> bool {
    let workload = format!("sha-256/hash/message/{size}");
    let any = |kind| of(lines, kind, provider).iter().any(|line| line["workload"] == *workload);
    any("round") && !any("without")
}

/// Whether the table in `ran` has a figure for this provider at 16 bytes.
fn has_figure(ran: &Ran, provider: &str) -> bool {
    let mut table = csv::Reader::from_reader(ran.stdout.as_bytes());
    let headers = table.headers().expect("a header").clone();
    let place = |name| headers.iter().position(|header| header == name).expect(name);
    let (who, bytes) = (place("provider"), place("message_bytes"));
    let figures = [place("rate_bytes_per_second"), place("time_ns"), place("cycles")];
    let rows: Vec<_> = table.records().map(|row| row.expect("a row")).collect();
    let row = rows.iter().find(|row| &row[who] == provider && &row[bytes] == "16");
    let row = row.unwrap_or_else(|| panic!("no row of {provider}:\n{}", ran.all()));
    figures.iter().any(|figure| !row[*figure].is_empty())
}

/// The only line with the reason why `provider` has no figure.
fn why(lines: &[Value], provider: &str) -> Value {
    let found = of(lines, "without", provider);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["workload"], "sha-256/hash/message/16");
    found[0]["outcome"]["failed"].clone()
}

#[test]
fn a_provider_with_one_wrong_byte_is_never_timed() {
    let lab = lab!();
    let (ran, lines) = run(&lab, "wrong-byte");
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    assert!(of(&lines, "round", "rigged:wrong-byte").is_empty());
    let without = of(&lines, "without", "rigged:wrong-byte");
    assert_eq!(without.len(), 2);
    assert!(without.iter().all(|line| line["outcome"]["failed"]["error"] == "wrong-answer"));
    assert!(of(&lines, "check", "rigged:wrong-byte")[0]["wrong"].is_string());
    assert!(!has_figure(&ran, "rigged:wrong-byte"));
    assert!(timed(&lines, "mbedtls:c", 16) && timed(&lines, "mbedtls:c", 64));
}

#[test]
fn an_answer_that_goes_wrong_while_it_is_timed_gives_no_figure() {
    let lab = lab!();
    let (ran, lines) = run(&lab, "wrong-later");
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    assert_eq!(why(&lines, "rigged:wrong-later")["error"], "wrong-answer");
    assert!(!has_figure(&ran, "rigged:wrong-later"));
    assert!(timed(&lines, "rigged:wrong-later", 64), "its other cell is right");
}

#[test]
fn a_runner_that_ends_while_it_measures_costs_one_cell() {
    for (fault, words) in [
        ("segfault", "SIGSEGV, a bad memory access"),
        ("illegal", if cfg!(target_arch = "x86_64") { "SIGILL" } else { "SIGABRT" }),
        ("exit", "it exited with status 7"),
    ] {
        let lab = lab!();
        let (ran, lines) = run(&lab, fault);
        let name = format!("rigged:{fault}");
        assert_eq!(ran.status, Some(1), "{}", ran.all());
        let failed = why(&lines, &name);
        assert_eq!(failed["error"], "crashed");
        let detail = failed["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(words), "{detail}");
        assert!(!has_figure(&ran, &name));
        assert!(timed(&lines, &name, 64), "its runner is started again: {}", ran.all());
        assert!(timed(&lines, "mbedtls:c", 16) && timed(&lines, "mbedtls:c", 64));
    }
}

#[test]
fn a_runner_that_hangs_costs_one_cell_and_its_time_out() {
    let lab = lab!();
    let (ran, lines) = run(&lab, "hang");
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    let failed = why(&lines, "rigged:hang");
    assert_eq!(failed["error"], "timeout");
    assert_eq!(failed["detail"], "no answer for 2.0 s, so it was stopped");
    assert_eq!(of(&lines, "round", "rigged:hang").iter().filter(at_16).count(), 0);
    assert!(timed(&lines, "mbedtls:c", 64), "{}", ran.all());
}

fn at_16(round: &&&Value) -> bool {
    round["workload"] == "sha-256/hash/message/16"
}

#[test]
fn a_runner_that_fails_at_a_known_answer_is_not_timed_for_that_algorithm_alone() {
    for (fault, error) in [("first-segfault", "crashed"), ("first-hang", "timeout")] {
        let lab = lab!();
        let line = format!(
            "run -a sha-1,sha-256 -s 64 -p mbedtls:c --budget 0.5s --timeout 2s --csv \
             -o record.jsonl --runner {}",
            rigged::runner(&lab).display()
        );
        let ran = lab.run_with(&line, &[("RIGGED", fault)]);
        assert_eq!(ran.status, Some(1), "{}", ran.all());
        let lines = lines(&lab.path("record.jsonl"));
        let name = format!("rigged:{fault}");
        let without = of(&lines, "without", &name);
        assert_eq!(without.len(), 1);
        assert_eq!(without[0]["workload"], "sha-256/hash/message/64");
        assert_eq!(without[0]["outcome"]["failed"]["error"], error);
        let detail = without[0]["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with("at the known answer SHA256"), "{detail}");
        let rounds = of(&lines, "round", &name);
        assert!(rounds.iter().all(|round| round["workload"] == "sha-1/hash/message/64"));
        assert!(!rounds.is_empty() && !of(&lines, "round", "mbedtls:c").is_empty());
    }
}

#[test]
fn a_library_that_prints_to_standard_output_does_no_harm() {
    let lab = lab!();
    let (ran, lines) = run(&lab, "print");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(of_kind(&lines, "without").is_empty() && of_kind(&lines, "warning").is_empty());
    assert!(timed(&lines, "rigged:print", 16) && timed(&lines, "mbedtls:c", 16));
}

#[test]
fn many_faults_at_once_leave_the_others_their_figures() {
    let lab = lab!();
    let (ran, lines) = run(&lab, "");
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    for good in ["mbedtls:c", "rigged:print"] {
        assert!(timed(&lines, good, 16) && timed(&lines, good, 64), "{good}");
    }
    for bad in ["wrong-byte", "wrong-later", "segfault", "illegal", "exit", "hang"] {
        assert!(!has_figure(&ran, &format!("rigged:{bad}")), "{bad}");
    }
}

#[test]
fn a_program_that_is_no_runner_is_named_in_one_message() {
    let lab = lab!();
    let plain = lab.write("plain.txt", "no program");
    let folder = lab.path("folder");
    std::fs::create_dir(&folder).expect("a folder");
    let version = other_version(&lab);
    let mut messages = String::new();
    for program in [
        PathBuf::from("/bin/true"),
        lab.script("complains", "echo 'what do you want of me?' >&2; exit 3"),
        lab.script("echoes", "exec cat"),
        lab.script("chatters", "echo Welcome!; exec sleep 60"),
        lab.path("missing"),
        plain,
        folder,
        version,
    ] {
        let before = lab.content();
        let line = format!("{SHORT} --timeout 1s --runner {}", program.display());
        let ran = lab.run(&line);
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert_eq!(ran.stdout, "");
        assert_eq!(before, lab.content());
        messages.push_str(&ran.stderr);
    }
    insta::assert_snapshot!(lab.redact(&messages));
}

/// A runner that answers with a frame of version 999.
fn other_version(lab: &Lab) -> PathBuf {
    let mut plain = vec![0; 2];
    plain.extend(999u16.to_le_bytes());
    plain.extend(crc32(&plain).to_le_bytes());
    let mut frame = vec![0];
    for run in plain.split(|byte| *byte == 0) {
        frame.push(run.len() as u8 + 1);
        frame.extend(run);
    }
    frame.push(0);
    let frame = lab.write("frame", frame);
    lab.script("newer", &format!("cat {}; exec sleep 60", frame.display()))
}

/// CRC-32/ISO-HDLC, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, byte)
}
