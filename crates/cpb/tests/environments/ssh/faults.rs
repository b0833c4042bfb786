//! Broken connections, wrong keys, and machines on which cpb cannot run.

use super::server::{Server, here, left_behind};
use cpb_test_support::{Lab, Ran, Running, lab, lines, of_kind, signal};
use std::path::{Path, PathBuf};

const SHORT: &str = "-a sha-256 -s 16 -p mbedtls:c --budget 0.3s -o record.jsonl";

/// A run that must end with bad input before it has a record. Returns its one message.
fn refused(lab: &Lab, server: &Server, options: &str) -> String {
    let ran = server.run(lab, &format!("run {options} {SHORT} -q"));
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(!lab.path("record.jsonl").exists(), "nothing was begun");
    ran.stderr
}

#[test]
fn a_connection_that_breaks_keeps_what_arrived_and_the_rest_has_failed_until_it_is_resumed() {
    if !here("broken") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    // One cell is being measured when the connection breaks; most of the others are not.
    let line = format!(
        "run {} -a sha-256,sha-512 -s 16,1M,4M -p mbedtls:c,openssl --budget 60s --verbose \
         -o record.jsonl",
        server.target()
    );
    let mut running = Running::start_with(&lab, &line, &server.variables());
    running.wait_for("written: round", 1);
    let sessions = server.sessions();
    assert!(!sessions.is_empty(), "sshd has a session");
    for session in sessions {
        // Killing one may have ended another.
        let line = format!("kill -s KILL {session} 2>/dev/null || true");
        assert_eq!(lab.shell(&line).status, Some(0));
    }
    let ran = running.end();
    assert_eq!(ran.status, Some(1), "{}", ran.all());
    let cpb = server.cpb().display().to_string();
    let go_on = format!(
        "the connection was lost; continue with: cpb run --resume record.jsonl --runner {cpb}"
    );
    assert_eq!(ran.stderr.lines().last(), Some(&go_on[..]), "{}", ran.all());
    let seen = lines(&lab.path("record.jsonl"));
    let failed = of_kind(&seen, "without");
    assert!(!of_kind(&seen, "round").is_empty() && !failed.is_empty(), "{}", ran.all());
    for cell in &failed {
        let detail = cell["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with("the connection to board is lost: ssh"), "{detail}");
    }
    assert_eq!(seen.last().expect("lines")["end"]["interrupted"], true);
    assert!(ran.stdout.contains("The run was cut off"), "it is shown: {}", ran.all());
    assert_eq!(left_behind(), Vec::<PathBuf>::new());

    // The machine is available again.
    let line = format!("run --resume record.jsonl --runner {cpb} --verbose");
    let mut resumed = Running::start_with(&lab, &line, &server.variables());
    resumed.wait_for("written: round", 13);
    resumed.signal("INT");
    let ran = resumed.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let shown = lab.run("show record.jsonl --csv");
    assert_eq!(shown.status, Some(0), "{}", shown.all());
    assert!(!shown.stdout.contains("is lost"), "all were measured after all: {}", shown.all());
}

#[test]
fn a_machine_that_dies_while_cpb_is_copied_is_no_machine() {
    if !here("dies_at_copy") {
        return;
    }
    let lab = lab!();
    let server =
        Server::start_with(&lab, "ForceCommand echo cpb-here Linux $(uname -m) /tmp/x", &[]);
    let said = refused(&lab, &server, &server.target());
    assert!(said.contains("board: ssh"), "{said}");
}

#[test]
fn a_login_that_talks_is_listened_past_and_one_without_a_shell_is_told() {
    if !here("logins") {
        return;
    }
    let lab = lab!();
    let talks = "ForceCommand echo Welcome; echo; echo cpb-hero; eval \"$SSH_ORIGINAL_COMMAND\"";
    let server = Server::start_with(&lab, talks, &[]);
    let ran = server.run(&lab, &format!("run {} {SHORT}", server.target()));
    assert_eq!(ran.status, Some(0), "{}", ran.all());

    let lab = lab!();
    let server = Server::start_with(&lab, "ForceCommand echo no shell for you; exit 3", &[]);
    let said = refused(&lab, &server, &server.target());
    assert!(said.contains("board: ssh exited with status 3"), "{said}");
}

#[test]
fn a_key_that_is_wrong_is_told_in_the_words_of_ssh_with_a_remedy() {
    if !here("host_key") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let known = std::fs::read_to_string(lab.path("ssh/known")).expect("a file");
    let another = std::fs::read_to_string(lab.path("ssh/user.pub")).expect("a key");
    let name = known.split(' ').next().expect("a name");
    lab.write("ssh/known", format!("{name} {another}"));
    let said = refused(&lab, &server, &server.target());
    assert!(said.contains("Host key verification failed."), "{said}");
    assert!(said.contains("ssh-keygen -R"), "{said}");

    lab.write("ssh/known", "");
    let said = refused(&lab, &server, &server.target());
    assert!(said.contains("Connect once with `ssh board`"), "{said}");

    lab.write("ssh/known", known);
    std::fs::remove_file(lab.path("ssh/user.pub")).expect("a key");
    let said = refused(&lab, &server, &server.target());
    assert!(said.contains("Permission denied (publickey)"), "{said}");
    assert!(said.contains("ssh-copy-id board"), "{said}");
}

#[test]
fn a_program_for_another_machine_is_never_sent() {
    if !here("architecture") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let mut other = std::fs::read(server.cpb()).expect("a program");
    // EM_RISCV, or EM_X86_64 if the machine itself is RISC-V.
    other[18] = if cfg!(target_arch = "riscv64") { 62 } else { 243 };
    let other = lab.write("other", other);
    let said = refused(&lab, &server, &format!("--target ssh:board --runner {}", other.display()));
    assert!(said.contains("is a program for ") && said.contains("use a cpb for"), "{said}");
    let said = refused(&lab, &server, "--target ssh:board --runner /etc/passwd");
    assert!(said.contains("is not a program for Linux"), "{said}");
    // There is no static cpb beside the one under test.
    let said = refused(&lab, &server, "--target ssh:board");
    assert!(said.contains("`make static`") && said.contains("--runner FILE"), "{said}");
}

#[test]
fn places_that_execute_nothing_are_passed_over_and_where_there_is_no_other_it_is_said() {
    if !here("noexec") {
        return;
    }
    let mounts = |last: &str| {
        format!(
            "for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o noexec none $place; done; \
             {last} exec \"$@\""
        )
    };
    // The test's own folder is below one of them, so it is mounted at a place that cpb does not try.
    let try_it = |last: &str| -> Option<(Lab, Ran)> {
        let lab = lab!();
        let folder = lab.path("");
        let keep =
            format!("mkdir -p /run/cpb-test; mount --bind {} /run/cpb-test; ", folder.display());
        let back =
            format!("mkdir -p {0}; mount --bind /run/cpb-test {0}; {last}", folder.display());
        let script = format!("{keep}{}", mounts(&back));
        let probe = lab.shell("unshare --mount mount -t tmpfs none /mnt");
        if probe.status != Some(0) {
            cpb_test_support::skip("ssh::noexec", "this user may not mount");
            return None;
        }
        let server =
            Server::start_with(&lab, "", &["unshare", "--mount", "sh", "-c", &script, "sh"]);
        let ran = server.run(&lab, &format!("run {} {SHORT}", server.target()));
        Some((lab, ran))
    };
    let Some((_lab, ran)) = try_it("") else { return };
    assert_eq!(ran.status, Some(0), "the home executes: {}", ran.all());
    let home = std::env::var("HOME").expect("a home");
    assert!(ran.stderr.contains(&format!("into {home}/cpb-")), "{}", ran.all());
    let Some((_lab, ran)) = try_it("mount -t tmpfs -o noexec none \"$HOME\";") else { return };
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("no folder there in which this user may write and execute"));
}

#[test]
fn a_machine_without_sha256sum_is_measured_and_the_record_says_so() {
    if !here("no_hash") {
        return;
    }
    let lab = lab!();
    let bin = lab.path("few");
    std::fs::create_dir(&bin).expect("a folder");
    for tool in ["sh", "mktemp", "chmod", "rm", "rmdir", "uname", "head", "wc", "cut", "mkdir"] {
        let place = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool));
        let place = place.iter().find(|place| place.exists()).expect(tool);
        std::os::unix::fs::symlink(place, bin.join(tool)).expect("a link");
    }
    let few =
        format!("ForceCommand PATH={} exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"", bin.display());
    let server = Server::start_with(&lab, &few, &[]);
    let ran = server.run(&lab, &format!("run {} {SHORT}", server.target()));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let end = lines(&lab.path("record.jsonl")).pop().expect("lines");
    assert!(
        end["end"]["warnings"].to_string().contains("only the length of the copied cpb"),
        "{end}"
    );
}

#[test]
fn kill_9_of_cpb_leaves_nothing_on_the_machine() {
    if !here("killed") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let line = format!(
        "run {} -a sha-256 -s 1M -p mbedtls:c --budget 60s --verbose -o record.jsonl",
        server.target()
    );
    let mut running = Running::start_with(&lab, &line, &server.variables());
    running.wait_for("written: round", 1);
    signal("KILL", &running.child.id().to_string());
    running.child.wait().expect("a child of ours");
    cpb_test_support::nobody_left(&running.mark);
    assert_eq!(left_behind(), Vec::<PathBuf>::new());
    // The agent and its runners end with the connection.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !server.sessions().is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", server.sessions());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
