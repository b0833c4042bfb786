//! `--target exec:COMMAND`: a machine that is reached by a command of the user.

use cpb_record::store;
use cpb_test_support::{Lab, Ran, lab};
use std::fs;

/// This cpb, as a user would name it in a command.
const CPB: &str = env!("CARGO_BIN_EXE_cpb");

/// A run of one cell there.
fn run(lab: &Lab, target: &str, budget: &str) -> Ran {
    let line =
        format!("run -a sha-256 -s 64 -p mbedtls:c --budget {budget} -o record.jsonl --target");
    lab.cpb(&line).arg(target).output().expect("cpb").into()
}

#[test]
fn what_a_command_starts_is_measured_as_any_machine_is() {
    let lab = lab!();
    // A shell with its own environment, as in a container.
    let ran = run(&lab, &format!("exec:env -i PATH=/usr/bin:/bin '{CPB}'"), "0.3s");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("agent --stdio"), "{}", ran.stderr);
    let record = store::read(&lab.path("record.jsonl")).expect("a record");
    assert!(record.header.target.starts_with("exec:env -i"), "{}", record.header.target);
    assert!(!record.header.machine.cpu.is_empty(), "the machine tells of itself");
    assert!(record.cells.iter().any(|(cell, _)| cell.provider == "mbedtls:c"));
}

#[test]
fn what_is_no_cpb_is_refused_with_what_it_said() {
    let lab = lab!();
    for (command, words) in [
        ("exec:", "needs a command"),
        ("exec:echo no such container >&2; exit 125; :", "no such container"),
        ("exec:/nonexistent/cpb", "/nonexistent/cpb"),
        ("exec:cat #", "did not answer"),
    ] {
        let ran = run(&lab, command, "0.3s");
        assert_eq!(ran.status, Some(2), "{command}\n{}", ran.all());
        assert!(ran.stderr.contains(words), "{command}\n{}", ran.all());
        assert!(!lab.path("record.jsonl").exists(), "{command}");
    }
}

/// The run can be resumed, and the record says what ended the command.
#[test]
fn a_command_that_ends_in_the_middle_is_a_lost_connection() {
    let lab = lab!();
    let script = lab.path("short.sh");
    fs::write(&script, format!("timeout 1.5 '{CPB}' \"$@\"\n")).expect("a script");
    let ran = run(&lab, &format!("exec:sh {}", script.display()), "20s");
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    assert!(ran.stderr.contains("the connection was lost"), "{}", ran.all());
    let record = store::read(&lab.path("record.jsonl")).expect("a record");
    assert!(record.end.is_some_and(|end| end.interrupted));
}
