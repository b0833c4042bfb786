//! Measurements over ssh, which leave nothing behind on the machine.

use super::server::{Server, here, left_behind};
use cpb_test_support::{Running, lab, lines, of, of_kind};
use std::path::PathBuf;

const SHORT: &str = "-a sha-256 -s 16 -p mbedtls:c,openssl --budget 0.5s -o record.jsonl";

#[test]
fn a_machine_that_ssh_leads_to_is_measured_and_nothing_stays_there() {
    if !here("measures") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let target = server.target();
    let mark = ("CPB_TEST_MARK", "over-ssh");
    let variables = [server.variables()[0], mark];
    let ran = lab.run_with(&format!("run {target} {SHORT}"), &variables);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("ssh: connecting to board"), "{}", ran.all());
    let seen = lines(&lab.path("record.jsonl"));
    let header = &seen[0]["cpb"];
    assert_eq!(header["target"], "ssh:board");
    assert!(header["machine"]["cpu"].as_str().is_some_and(|cpu| !cpu.is_empty()), "{header}");
    // The same machine in the same state as in a measurement without ssh.
    let local = lab.run("run -a sha-256 -s 16 -p mbedtls:c --budget 0.2s -o local.jsonl");
    assert_eq!(local.status, Some(0), "{}", local.all());
    let here = &lines(&lab.path("local.jsonl"))[0]["cpb"];
    assert_eq!(header["evidence"], here["evidence"]);
    assert_eq!(header["machine"]["kernel"], here["machine"]["kernel"]);
    for provider in ["null", "mbedtls:c", "openssl"] {
        assert!(!of(&seen, "round", provider).is_empty(), "{provider}: {}", ran.all());
    }
    assert_eq!(of(&seen, "check", "openssl")[0]["wrong"], serde_json::Value::Null);
    drop(server);
    assert_eq!(left_behind(), Vec::<PathBuf>::new());
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_a_later_segment_goes_on() {
    if !here("ctrl_c") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let line = format!(
        "run {} -a sha-256 -s 16 -p mbedtls:c --budget 60s --verbose -o record.jsonl",
        server.target()
    );
    let mut running = Running::start_with(&lab, &line, &server.variables());
    running.wait_for("written: round", 4);
    running.signal_group("INT");
    let ran = running.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let before = lines(&lab.path("record.jsonl"));
    assert!(of_kind(&before, "without").is_empty(), "stopping is no finding: {}", ran.all());
    assert_eq!(before.last().expect("lines")["end"]["interrupted"], true);
    let cpb = server.cpb().display().to_string();
    let go_on = format!("stopped; continue with: cpb run --resume record.jsonl --runner {cpb}");
    assert_eq!(ran.stderr.lines().last(), Some(&go_on[..]));
    assert_eq!(left_behind(), Vec::<PathBuf>::new());

    let resume = format!("run --resume record.jsonl --runner {cpb} --verbose");
    let mut resumed = Running::start_with(&lab, &resume, &server.variables());
    resumed.wait_for("written: round", 2);
    resumed.signal("INT");
    let ran = resumed.end();
    assert_eq!(ran.status, Some(130), "{}", ran.all());
    let after = of_kind(&lines(&lab.path("record.jsonl")), "round").len();
    assert!(after > of_kind(&before, "round").len());
}

#[test]
fn a_board_by_name_is_reached_as_its_file_says() {
    if !here("by_name") {
        return;
    }
    let lab = lab!();
    let server = Server::start(&lab);
    let folder = lab.path("data it has");
    std::fs::create_dir(&folder).expect("a folder");
    lab.write(
        "boards/desk.toml",
        format!(
            "soc = \"a PC\"\ncores = \"some\"\ntarget = \"ssh:board\"\nfolder = \"{}\"\n",
            folder.display()
        ),
    );
    let line = format!("run --target desk --runner {} {SHORT}", server.cpb().display());
    let ran = server.run(&lab, &line);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("data it has/cpb-"), "{}", ran.all());
    assert_eq!(lines(&lab.path("record.jsonl"))[0]["cpb"]["target"], "desk");
    assert_eq!(std::fs::read_dir(folder).expect("the folder").count(), 0, "nothing stays there");
    let unknown = server.run(&lab, "run --target dask -a sha-256");
    assert_eq!(unknown.status, Some(2), "{}", unknown.all());
    assert!(unknown.stderr.contains("did you mean desk?"), "{}", unknown.all());
}
