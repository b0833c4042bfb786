//! What the kernel does not permit, from the start of a run or from some moment on. Nothing is mocked: a
//! process may not open AF_ALG sockets because it asked the kernel to forbid them (seccomp), and a program
//! may not be started because of the mode of its file.

use crate::rigged;
use cpb_test_support::{Running, lab, lines, of};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::error::Error;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Names the command line that runs with restrictions.
const FENCED: &str = "CPB_TEST_FENCED";

/// Serves the other tests: becomes a shell that, like its children, may not open AF_ALG sockets.
#[test]
fn fence() {
    let Some(line) = std::env::var_os(FENCED) else { return };
    shut_out().expect("the kernel takes filters");
    panic!("{}", Command::new("sh").arg("-c").arg(line).exec());
}

fn shut_out() -> Result<(), Box<dyn Error>> {
    let family = u64::try_from(libc::AF_ALG)?;
    let is_af_alg = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family)?;
    let filter = SeccompFilter::new(
        [(libc::SYS_socket, vec![SeccompRule::new(vec![is_af_alg])?])].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&program)?)
}

#[test]
fn sockets_that_are_not_permitted_are_named_and_the_other_paths_are_measured() {
    let lab = lab!();
    let run = "cpb run -a sha-256 -s 16 -p af_alg:sha256,af_alg,mbedtls:c --budget 0.3s -q \
               -o record.jsonl; echo $? > status; cpb list --kernel > survey";
    let own = std::env::current_exe().expect("this program");
    let ran = lab.shell(&format!("{FENCED}='{run}' {} --exact permission::fence", own.display()));
    let read = |name: &str| fs::read_to_string(lab.path(name)).unwrap_or_default();
    assert_eq!(read("status"), "0\n", "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    for name in ["af_alg:sha256", "af_alg"] {
        let provider = &lines[0]["cpb"]["providers"][name];
        assert_eq!(provider["state"], "unavailable", "{provider}");
        assert_eq!(provider["reason"], "permission", "{provider}");
        let detail = provider["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("Operation not permitted"), "{detail}");
    }
    assert!(!of(&lines, "round", "mbedtls:c").is_empty(), "{}", ran.all());
    assert!(read("survey").starts_with("AF_ALG: permission denied"), "{}", read("survey"));
}

#[test]
fn a_permission_that_is_taken_away_in_the_midst_costs_one_cell_and_the_run_goes_on() {
    let lab = lab!();
    let program = rigged::runner(&lab);
    let line = format!(
        "run -a sha-256 -s 16 -p mbedtls:c --budget 100s --verbose -o record.jsonl --runner {}",
        program.display()
    );
    let mut running = Running::start(&lab, &line, "fixed");
    running.wait_for("written: round rigged:fixed", 2);
    fs::set_permissions(&program, Permissions::from_mode(0o000)).expect("it is ours");
    running.wait_for("written: without rigged:fixed", 1);
    let software = "written: round mbedtls:c";
    let before = running.said.matches(software).count();
    running.wait_for(software, before + 2);
    running.signal("INT");
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let without = of(&lines, "without", "rigged:fixed");
    assert_eq!(without.len(), 1, "{}", ran.all());
    let detail = without[0]["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("Permission denied"), "{}", without[0]);
    assert!(of(&lines, "round", "rigged:fixed").len() >= 2, "rounds from before stay");
}
