//! What is built into cpb is available under its name in any folder; a file with that name takes precedence.

use cpb_test_support::{Lab, Ran, lab};
use std::fs;

fn done(ran: Ran) -> String {
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    ran.stdout
}

fn refused(lab: &Lab, line: &str) -> String {
    let ran = lab.run(line);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "cpb {line}\n{}", ran.all());
    ran.stderr
}

/// A file of the repository.
fn file(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    fs::read_to_string(format!("{root}{path}")).expect("a file of the repository")
}

#[test]
fn published_records_are_read_by_name_as_from_their_files() {
    let lab = lab!();
    let names = ["imx6-af_alg", "imx6-cryptodev", "imx6-software"];
    for name in names {
        lab.write(&format!("files/{name}.jsonl"), file(&format!("records/{name}.jsonl")));
    }
    for options in ["", " --csv", " --json", " --markdown"] {
        let by_name = done(lab.run(&format!("show imx6-software{options}")));
        let by_path = done(lab.run(&format!("show files/imx6-software.jsonl{options}")));
        assert_eq!(by_name, by_path, "{options}");
    }
    // The common beginning of their names stands for all three.
    let files = names.map(|name| format!("files/{name}.jsonl")).join(" ");
    for command in ["explain", "report --format csv", "report --format json"] {
        let by_name = done(lab.run(&format!("{command} imx6")));
        assert_eq!(by_name, done(lab.run(&format!("{command} {files}"))), "{command}");
    }
    let all = done(lab.run("show imx6"));
    assert!(names.iter().all(|name| all.contains(&format!("{name}: published"))), "{all}");
    let found = done(lab.run("identify --from armv8-aes"));
    assert!(found.contains("Cortex-A53"), "{found}");
    let between = done(lab.run("compare imx6 --between software,cryptodev"));
    assert!(between.contains("cryptodev") && between.contains("8 KiB"), "{between}");
}

#[test]
fn a_published_table_is_compared_by_name_with_a_record_of_its_machine() {
    let lab = lab!();
    let (header, rounds) = {
        let text = file("crates/cpb/tests/golden/record-v1.jsonl");
        let (header, rounds) = text.split_once('\n').expect("lines");
        (header.to_owned(), rounds.to_owned())
    };
    let mut header: serde_json::Value = serde_json::from_str(&header).expect("a header");
    header["cpb"]["machine"]["board"] = "imxrt1060-evk".into();
    lab.write("board.jsonl", format!("{header}\n{rounds}"));
    let compared = done(lab.run("compare imxrt-mbedtls board.jsonl"));
    assert!(compared.contains("imxrt-mbedtls"), "{compared}");
}

#[test]
fn a_file_comes_before_what_is_carried() {
    let lab = lab!();
    lab.write("imx6-software", file("records/imx6-cryptodev.jsonl"));
    assert!(done(lab.run("show imx6-software")).starts_with("imx6-cryptodev: published"));
    lab.write("all", "name = \"own\"\nreason = \"a test\"\nmeasure = []\n");
    let message = refused(&lab, "run --plan all");
    assert!(message.contains("measures nothing"), "{message}");
}

#[test]
fn plans_and_boards_are_found_by_name_in_any_folder() {
    let lab = lab!();
    let ran = lab.run("run --plan all -a sha-256 -s 16 -p mbedtls:c --budget 0.3s -o all.jsonl");
    assert!(done(ran).starts_with("all: "));
    // The board is known; its connection is not there.
    let line = "run --target mimxrt1060-evk --timeout 1s";
    let message = refused(&lab, line);
    assert!(message.contains("/dev/ttyACM0"), "{message}");
    // A board's file in the folder takes precedence.
    lab.write(
        "boards/mimxrt1060-evk.toml",
        "soc = \"x\"\ncores = \"y\"\ntarget = \"serial:/nowhere\"\n",
    );
    let message = refused(&lab, line);
    assert!(message.contains("/nowhere"), "{message}");
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let lab = lab!();
    let lines = [
        "run --plan al",
        "show imx6-sofware",
        "explain imx",
        "report imxrt-mbedtl",
        "compare imx6-software armv8",
        "identify --from imx6-sotfware",
        "run --target imx6",
        "list recordz",
    ];
    let said = |line: &&str| format!("$ cpb {line}\n{}\n", refused(&lab, line));
    insta::assert_snapshot!(lines.iter().map(said).collect::<String>());
}

#[test]
fn what_is_carried_is_listed() {
    let lab = lab!();
    for what in ["plans", "records", "targets"] {
        let text = done(lab.run(&format!("list {what}")));
        insta::assert_snapshot!(what, text);
    }
}
