//! The output of the command: results on standard output, everything else on standard error, in a form that
//! suits the reader.

use cpb_test_support::{Lab, Ran, SHORT, in_make_test, lab, skip};
use serde_json::Value;
use std::process::Stdio;

const SUBCOMMANDS: [&str; 7] = ["run", "show", "list", "check", "otfad", "completions", "man"];

/// A record that has a figure for each of its cells.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/record-v1.jsonl");

fn done(ran: Ran) -> Ran {
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    ran
}

#[test]
fn json_is_json_and_nothing_else_is_on_standard_output() {
    let lab = lab!();
    let ran = done(lab.run(&format!("{SHORT} --json -o record.jsonl")));
    let run: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(ran.stderr.contains("record: record.jsonl"));
    let shown = done(lab.run("show --json record.jsonl"));
    assert_eq!(run, serde_json::from_str::<Value>(&shown.stdout).expect("JSON"));
    assert_eq!(shown.stderr, "");
    let providers: Vec<&str> = run["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|c| c["provider"].as_str())
        .collect();
    assert_eq!(providers.iter().filter(|name| **name == "mbedtls:c").count(), 1);
}

#[test]
fn csv_has_one_row_a_cell_and_as_many_fields_in_each() {
    let lab = lab!();
    let line = "run -a sha-256,aes-128-cbc -s 16,64 -p mbedtls:c,openssl --budget 0.3s --csv";
    let ran = done(lab.run(line));
    let mut table = csv::Reader::from_reader(ran.stdout.as_bytes());
    let rows: Vec<_> = table.records().map(|row| row.expect("a row of as many fields")).collect();
    // Hash, encrypt and decrypt at two sizes with two providers, and the harness's floor.
    assert_eq!(rows.len(), 3 * 2 * 2 + 1);
    let cells: std::collections::HashSet<_> = rows.iter().map(|row| (&row[0], &row[7])).collect();
    assert_eq!(cells.len(), rows.len());
}

#[test]
fn without_a_terminal_there_is_no_colour_and_no_line_is_longer_than_80_columns() {
    let lab = lab!();
    let mut lines = vec![
        format!("{SHORT} -o record.jsonl"),
        "show record.jsonl".to_owned(),
        "show --all record.jsonl".to_owned(),
        "list".to_owned(),
        "list --long".to_owned(),
        "lab list".to_owned(),
        "check -a aes-256-gcm".to_owned(),
        "--help".to_owned(),
    ];
    lines.extend(SUBCOMMANDS.map(|name| format!("{name} --help")));
    for line in lines {
        let ran = done(lab.run(&line));
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains('\x1b'), "cpb {line}\n{text}");
            let long = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "cpb {line}");
        }
    }
}

/// Runs a command line on a terminal of 100 columns and returns everything that appears there.
fn on_a_terminal(lab: &Lab, name: &str, line: &str) -> Option<String> {
    if lab.shell("command -v script stty").status != Some(0) {
        skip(name, "there is no `script`, which makes a terminal");
        return None;
    }
    let inner = format!("stty cols 100 rows 30; {line}");
    let ran = lab.shell(&format!("TERM=xterm script -qec '{inner}' /dev/null"));
    Some(done(ran).stdout)
}

const COLOUR: [&str; 3] = ["\x1b[1m", "\x1b[2m", "\x1b[3"];

#[test]
fn on_a_terminal_there_is_colour_and_a_bar_with_the_time_left_that_goes_away() {
    let lab = lab!();
    let name = "on_a_terminal_there_is_colour_and_a_bar_with_the_time_left_that_goes_away";
    let line = "cpb run -a sha-256 -s 16 -p mbedtls:c --budget 1.5s";
    let Some(seen) = on_a_terminal(&lab, name, line) else { return };
    assert!(COLOUR.iter().any(|code| seen.contains(code)), "{seen:?}");
    assert!(seen.contains(" s left"), "{seen:?}");
    // The checks before it name the same operation.
    let table = seen.rfind("  mbedtls:c").expect("the table");
    let (bar, after) = (seen.rfind(" s left").expect("the bar"), &seen[table..]);
    assert!(bar < table && !after.contains('━'), "{seen:?}");
    assert!(seen[bar..table].contains("\x1b[2K"), "its line is cleared: {seen:?}");
}

#[test]
fn no_color_is_honoured_on_a_terminal() {
    let lab = lab!();
    let line = format!("NO_COLOR=1 cpb {SHORT}");
    let Some(seen) = on_a_terminal(&lab, "no_color_is_honoured_on_a_terminal", &line) else {
        return;
    };
    assert!(!COLOUR.iter().any(|code| seen.contains(code)), "{seen:?}");
}

#[test]
fn whoever_reads_may_go_away() {
    let lab = lab!();
    lab.record("record.jsonl");
    for line in [
        "list",
        "show --all record.jsonl",
        "show --json record.jsonl",
        "man",
        "completions bash",
        "check -a sha-1",
        "run --help",
        SHORT,
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = lab.process(line);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().expect("cpb starts");
        let ran = done(output.into());
        assert!(!ran.stderr.contains("cpb:") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    let ran = lab.shell("cpb show --all record.jsonl | head -n 1");
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""));
}

#[test]
fn a_run_goes_on_when_nobody_reads_what_it_says() {
    let lab = lab!();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = lab.process(&format!("{SHORT} --verbose -o record.jsonl"));
    let output = command.stdout(Stdio::piped()).stderr(writer).output().expect("cpb starts");
    let ran = done(output.into());
    assert!(ran.stdout.contains("mbedtls:c"));
}

#[test]
fn a_full_disk_behind_standard_output_is_named() {
    let lab = lab!();
    let message = "cpb: cannot write to standard output: No space left on device (os error 28)\n";
    for line in ["list", "--help", "--version", "run --help"] {
        let ran = lab.shell(&format!("cpb {line} > /dev/full"));
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), message), "cpb {line}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let lab = lab!();
    std::fs::copy(GOLDEN, lab.path("record.jsonl")).expect("room");
    for line in [
        "show record.jsonl",
        "show --json record.jsonl",
        "show imx6",
        "explain imx6",
        "compare record.jsonl record.jsonl",
        "report imx6",
        "report --format csv imx6",
        "identify --from armv8-aes",
        "list plans",
        "lab list",
        "check -a sha-1",
        "man",
        "completions bash",
        SHORT,
    ] {
        let ran = lab.shell(&format!("cpb {line} > /dev/full"));
        assert_eq!(ran.status, Some(2), "cpb {line}\n{}", ran.all());
        assert!(ran.stderr.ends_with("No space left on device (os error 28)\n"), "{}", ran.all());
    }
}

#[test]
fn help_is_as_it_was() {
    let lab = lab!();
    let mut text = done(lab.run("--help")).stdout;
    for name in SUBCOMMANDS {
        text.push_str(&format!("\n$ cpb {name} --help\n"));
        text.push_str(&done(lab.run(&format!("{name} --help"))).stdout);
    }
    insta::assert_snapshot!(text);
}

/// The command lines in the examples of a subcommand's help, without their explanations.
fn examples(lab: &Lab, name: &str) -> Vec<String> {
    // A backslash continues a command on the next line.
    let help = done(lab.run(&format!("{name} --help"))).stdout.replace(" \\\n     ", "");
    let lines = help.lines().filter_map(|line| line.strip_prefix("  cpb "));
    let command = |line: &str| format!("cpb {}", line.split("   ").next().unwrap_or(line).trim());
    let found: Vec<String> =
        lines.map(|line| command(line.split("  ").next().unwrap_or(line))).collect();
    assert!(!found.is_empty(), "{help}");
    found
}

#[test]
fn the_examples_in_the_help_work() {
    if !in_make_test("the_examples_in_the_help_work") {
        return;
    }
    let lab = lab!();
    // A comparison needs a steady batch of each cell, even on a busy machine.
    let compared = "4s";
    let ran =
        lab.run(&format!("run -p mbedtls:c -a sha-256 -s 16 --budget {compared} -o record.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let mut count = 0;
    // The published table is about boards, so the record beside it must be a board's.
    let text = std::fs::read_to_string(GOLDEN).expect("the golden record");
    let (header, rounds) = text.split_once('\n').expect("lines");
    let mut header: serde_json::Value = serde_json::from_str(header).expect("a header");
    header["cpb"]["machine"]["board"] = "imxrt1060-evk".into();
    let of_a_board = format!("{header}\n{rounds}");
    std::fs::write(lab.path("board.jsonl"), of_a_board).expect("room");
    let log = "Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s\n";
    for name in ["software.txt", "engine.txt", "a.txt", "b.txt"] {
        lab.write(name, log);
    }
    super::otfad::write_files(&lab);
    for name in ["run", "show", "list", "check", "otfad", "compare", "explain", "report"] {
        for example in examples(&lab, name) {
            if example.contains("--target ssh:") {
                // Measured in tests/ssh.
                continue;
            }
            let mut line = example.clone();
            if line.contains("imxrt-mbedtls") {
                line = line.replace(" RECORD.jsonl", " board.jsonl");
            }
            for record in [
                "cpb-results/FILE.jsonl",
                "cpb-results/default-20260101T120000Z.jsonl",
                "RECORD.jsonl",
                "RECORD",
                "BEFORE.jsonl",
                "AFTER.jsonl",
            ] {
                let compares = ["compare", "explain", "report"].contains(&name);
                line = line.replace(record, if compares { GOLDEN } else { "record.jsonl" });
            }
            // A library of a board, which the record does not have.
            line = line.replace("none,mbedtls", "none,openssl");
            let (kek, key) = ("KEK=a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5", super::otfad::KEY);
            if line.contains("env:") {
                line = format!("{kek} KEY={key} {line}");
            }
            // There is no container; the command starts a cpb nevertheless.
            line = line.replace("docker run -i X /cpb", "cpb");
            if line.contains("--budget") {
                line = line.replace("60s", "0.3s");
            } else if name == "run" && !line.contains("--resume") {
                let budget = if line.contains("--against") { compared } else { "0.3s" };
                line.push_str(&format!(" --budget {budget}"));
            }
            // Two providers show whether an example works; all of them take a minute.
            let selects = [" -p ", "--provider", "--against", "--resume", "--target"];
            if name == "run" && !selects.iter().any(|option| line.contains(option)) {
                line.push_str(" -p openssl,mbedtls:c");
            }
            if line.contains("--threads 1,2") && cpus() < 2 {
                skip("the_examples_in_the_help_work#threads", "there is only one CPU");
                continue;
            }
            // No example replaces the output of another one.
            for name in ["cells.csv", "report.html", "imx6.html"] {
                let _ = std::fs::remove_file(lab.path(name));
            }
            let ran = lab.shell(&line);
            assert_eq!(ran.status, Some(0), "{example}\n{}", ran.all());
            count += 1;
        }
    }
    assert!(count > 10);
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn there_are_completions_for_every_shell() {
    let lab = lab!();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = done(lab.run(&format!("completions {shell}")));
        assert!(ran.stdout.contains("cpb") && ran.stdout.contains("precision"), "{shell}");
        assert_eq!(ran.stderr, "");
    }
    let ran =
        lab.shell("cpb completions bash > script && if command -v bash; then bash -n script; fi");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let lab = lab!();
    let page = done(lab.run("man")).stdout;
    assert!(page.contains(".TH cpb 1"), "{page}");
    done(lab.run("man pages/man1"));
    for name in SUBCOMMANDS {
        let page = std::fs::read_to_string(lab.path(&format!("pages/man1/cpb-{name}.1")));
        assert!(page.expect("a page").contains(".SH"), "{name}");
    }
    assert!(!lab.path("pages/man1/cpb-runner.1").exists(), "what is hidden has no page");
}
