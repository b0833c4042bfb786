//! Bad input: one message that names the problem and the remedy, exit status 2, nothing overwritten, nothing created.

use cpb_test_support::{Lab, Ran, SHORT, lab, skip};
use std::fs;
use std::path::Path;

/// Runs `cpb LINE`, which must be refused, and returns its message.
fn refused(lab: &Lab, line: &str) -> String {
    let before = lab.content();
    let ran = lab.run(line);
    assert_eq!(ran.status, Some(2), "cpb {line}\n{}", ran.all());
    assert_eq!(ran.stdout, "", "cpb {line}");
    assert!(before == lab.content(), "cpb {line} changed something");
    let message = ran.stderr.trim_end();
    assert!(!message.is_empty() && !message.contains("panicked"), "{message}");
    without_cpus(&lab.redact(message))
}

/// Removes the numbers of this machine's CPUs.
fn without_cpus(message: &str) -> String {
    match message.split_once(" may use ") {
        Some((before, _)) => format!("{before} may use CPUS"),
        None => message.to_owned(),
    }
}

/// Each command line with its message.
fn messages(lab: &Lab, lines: &[&str]) -> String {
    let one = |line: &&str| format!("$ cpb {line}\n{}\n\n", refused(lab, line));
    lines.iter().map(one).collect()
}

#[test]
fn names_that_do_not_exist_are_answered_with_the_nearest() {
    insta::assert_snapshot!(messages(
        &lab!(),
        &[
            "run -a aes-128-cbd",
            "run -a sha-256,qqqqqqqqqqqq",
            "run --operation encrpyt",
            "run --phase mesage",
            "run -p openssl:scaler",
            "run -p null",
            "check -a sha-265",
            "check -p opensll",
            "runn",
            "agnt",
            "leas",
            "run --algoritm sha-256",
            "completions tcsh",
        ]
    ));
}

#[test]
fn who_is_for_one_algorithm_only_says_so_where_there_is_nothing_to_measure() {
    insta::assert_snapshot!(messages(
        &lab!(),
        &[
            "run -p memcpy",
            "run -p openssl:two-calls,memcpy -a sha-256 -s 64",
            "run -p mbedtls:c -a memcpy",
            "run -p memory -a sha-256",
            "run -p openssl --width 8",
            "run --plan memory-read -a sha-256",
            "run --plan default --width 8",
            "run --width 7",
            "run --pattern random",
            "run -p memory -s 100",
        ]
    ));
}

#[test]
fn what_a_guest_cannot_do_is_refused_before_it_boots() {
    let lab = lab!();
    // A boot would fail: nothing is fetched, there is no cpb to put in, and no folder to keep it.
    let nowhere = [("CPB_LAB_CACHE", "/dev/null/cache"), ("CPB_LAB_BINARIES", "/nowhere")];
    let mut said = String::new();
    for line in [
        "run --target lab:x86_64-6.1 --cpu 7",
        "run --target lab:x86_64-6.1 --threads 2",
        "run --target lab:x86_64-6.1 -p opensll",
        "run --target lab:x86_64-5",
        "run --target lab:",
        "run --target=",
        "run --target moon:base",
        "lab up x86",
    ] {
        let ran = lab.run_with(line, &nowhere);
        assert_eq!(ran.status, Some(2), "cpb {line}\n{}", ran.all());
        said += &format!("$ cpb {line}\n{}\n\n", ran.stderr.trim_end());
    }
    insta::assert_snapshot!(said);
    let unnamed = lab.shell("cpb lab up ''");
    assert!(
        unnamed.stderr.contains("the guest's name is empty; choose one of: x86_64-6.1"),
        "{}",
        unnamed.all()
    );
    // A cache that cannot be written is named in the message.
    let binary = lab.write("cpb-x86_64-unknown-linux-musl", "no program");
    let folder = binary.parent().expect("a folder").display().to_string();
    let nowhere = [("CPB_LAB_CACHE", "/dev/null/cache"), ("CPB_LAB_BINARIES", folder.as_str())];
    let ran = lab.run_with("lab run x86_64-6.1 -- true", &nowhere);
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("choose another folder with CPB_LAB_CACHE"), "{}", ran.all());
}

#[test]
fn numbers_that_make_no_sense_are_turned_down() {
    insta::assert_snapshot!(messages(
        &lab!(),
        &[
            "run -s 0",
            "run -s 1TiB",
            "run -s 2G",
            "run -s -16",
            "run -s=-16",
            "run -s 1.5K",
            "run -s 16,,32",
            "run -a aes-128-cbc -s 17",
            "run -a sha-256 --phase setup",
            "run --threads 0",
            "run --threads 99",
            "run --threads 1000",
            "run --cpu 999",
            "run --cpu -1",
            "run --budget 0s",
            "run --budget -1s",
            "run --precision -1%",
            "run --threads -1",
            "run --budget 2d",
            "run --precision 0%",
            "run --precision 99%",
            "run --timeout never",
            "run --timeout -1s",
            "explain imx6 --size 390 --rate 1e308/s",
            "explain imx6 --size 390 --rate -1/s",
            "run --csv --json",
            "run --resume r.jsonl --budget 20s -a sha-256",
        ]
    ));
}

#[test]
fn a_check_of_nobody_who_is_here_is_no_success() {
    let ran = lab!().run("check -a sha-256 -p af_alg:no-such-driver");
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("nothing was checked"), "{}", ran.stderr);
    assert!(ran.stdout.contains("af_alg:no-such-driver"), "it is named with why: {}", ran.stdout);
}

#[test]
fn a_run_in_which_nothing_can_be_measured_is_no_success() {
    let ran = lab!().run("run -p mbedtls:c -a ed25519 --budget 0.3s");
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("nothing was measured"), "{}", ran.stderr);
    assert!(ran.stdout.contains("does not support this algorithm"), "{}", ran.stdout);
}

const PLAN: &str = r#"
name = "small"
reason = "a test"
budget = "0.3s"
[[measure]]
algorithms = ["sha-256"]
sizes = [16]
"#;

#[test]
fn plans_that_are_none_are_named_with_the_line_that_is_wrong() {
    let lab = lab!();
    let change = |name: &str, from: &str, to: &str| {
        assert!(PLAN.contains(from), "{from}");
        lab.write(name, PLAN.replace(from, to));
    };
    change("key.toml", "sizes", "size");
    change("type.toml", "[16]", "16");
    change("algorithm.toml", "sha-256", "sha-257");
    change("zero.toml", "[16]", "[0]");
    change("huge.toml", "[16]", "[\"1TiB\"]");
    change("negative.toml", "[16]", "[-1]");
    change("nothing.toml", "[16]", "[]");
    change("name.toml", "small", "../small");
    change("threads.toml", "reason", "threads = [0]\nreason");
    change("budget.toml", "0.3s", "soon");
    change("provider.toml", "reason", "providers = [\"opensll\"]\nreason");
    change("syntax.toml", "[[measure]]", "[[measure]");
    lab.write("binary.toml", [0xff, 0x00, 0xfe, 0x80]);
    lab.write("empty.toml", "");
    lab.write("endless.toml", format!("{PLAN}#{}", " ".repeat(1 << 20)));
    fs::create_dir(lab.path("folder.toml")).expect("a folder");
    insta::assert_snapshot!(messages(
        &lab,
        &[
            "run --plan key.toml",
            "run --plan type.toml",
            "run --plan algorithm.toml",
            "run --plan zero.toml",
            "run --plan huge.toml",
            "run --plan negative.toml",
            "run --plan nothing.toml",
            "run --plan name.toml",
            "run --plan threads.toml",
            "run --plan budget.toml",
            "run --plan provider.toml",
            "run --plan syntax.toml",
            "run --plan binary.toml",
            "run --plan empty.toml",
            "run --plan endless.toml",
            "run --plan /dev/zero",
            "run --plan folder.toml",
            "run --plan missing.toml",
        ]
    ));
}

#[test]
fn a_file_of_settings_with_an_endless_line_is_refused_in_one_line() {
    let lab = lab!();
    let board = |notes: &str| {
        format!("soc = \"x\"\ncores = \"y\"\ntarget = \"ssh:b\"\nnote = \"{notes}\"\n")
    };
    for (length, said) in [(900_000, "line 4: "), (20_000_000, "it is longer than 1 MiB")] {
        let words = "x".repeat(length);
        lab.write("boards/long.toml", board(&words));
        lab.write("plan.toml", format!("\n\n\n{words} = 1\n{PLAN}"));
        for line in ["run --target long", "run --target boards/long.toml", "run --plan plan.toml"] {
            let ran = lab.run(line);
            assert_eq!(ran.status, Some(2), "{}", ran.all());
            assert!(ran.stderr.contains(said) && ran.stderr.len() < 400, "{}", ran.stderr.len());
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_is_named_before_anything_is_measured() {
    let lab = lab!();
    lab.write("file", "precious");
    lab.write("existing.jsonl", "precious");
    fs::create_dir(lab.path("folder")).expect("a folder");
    let lines =
        ["file/below.jsonl", "existing.jsonl", "folder", "/proc/record.jsonl", "/dev/full", "-"]
            .map(|output| format!("{SHORT} -o {output}"));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    insta::assert_snapshot!(messages(&lab, &lines));
}

#[test]
fn records_that_are_none_are_named_with_what_is_wrong() {
    let lab = lab!();
    let whole = fs::read_to_string(lab.record("whole.jsonl")).expect("a record");
    let lines: Vec<&str> = whole.lines().collect();
    lab.write("foreign.jsonl", "{\"name\": \"something else\"}\n");
    lab.write("text.txt", "To be, or not to be.\nThat is the question.\n");
    lab.write("binary", [0, 159, 146, 150, 0, 255, 10, 7]);
    lab.write("empty.jsonl", "");
    lab.write("beginning.jsonl", &whole[..100]);
    lab.write("newer.jsonl", whole.replacen("\"schema\":1", "\"schema\":999", 1));
    let damaged = |line: &str| {
        let mut lines = lines.clone();
        lines[3] = line;
        lines.join("\n") + "\n"
    };
    lab.write("damaged.jsonl", damaged("{\"round\":{\"provider\":\"mbed"));
    lab.write("other-line.jsonl", damaged("{\"something\":1}"));
    lab.write("twice.jsonl", [lines[0], lines[1], lines[0], ""].join("\n"));
    fs::create_dir(lab.path("folder")).expect("a folder");
    let long = lab.write("long.jsonl", format!("{}\n", lines[0]));
    let file = fs::OpenOptions::new().append(true).open(long).expect("a file");
    file.set_len(100 << 20).expect("a sparse file");
    let names = [
        "foreign.jsonl",
        "text.txt",
        "binary",
        "empty.jsonl",
        "beginning.jsonl",
        "newer.jsonl",
        "damaged.jsonl",
        "other-line.jsonl",
        "twice.jsonl",
        "folder",
        "long.jsonl",
        "missing.jsonl",
        "whole.jsonl/below",
    ];
    let mut text = String::new();
    for name in names {
        let shown = refused(&lab, &format!("show {name}"));
        // What is shown may also be a log, which cannot be resumed.
        let resumed = refused(&lab, &format!("run --resume {name}"));
        let record = shown.split("; it is not a log").next();
        assert_eq!(record, Some(resumed.as_str()), "the same for both");
        text.push_str(&format!("$ cpb show {name}\n{shown}\n\n"));
    }
    let version = format!("cpb {};", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(text.replace(&version, "cpb VERSION;"));
}

#[test]
fn a_record_that_was_cut_is_shown_as_far_as_it_is_whole() {
    let lab = lab!();
    let whole = fs::read_to_string(lab.record("whole.jsonl")).expect("a record");
    let last = whole.trim_end().rfind('\n').expect("many lines");
    lab.write("cut.jsonl", &whole[..last + 20]);
    let number = whole.lines().count();
    for line in ["show cut.jsonl", "show --json cut.jsonl", "show --markdown cut.jsonl"] {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("middle of line {number}")), "{}", ran.stdout);
        assert!(words.contains("cpb run --resume cut.jsonl"), "{}", ran.stdout);
    }
}

#[test]
fn a_complete_record_is_shown_again_and_not_gone_on_with() {
    let lab = lab!();
    let record = lab.record("whole.jsonl");
    let before = fs::read(&record).expect("a record");
    let ran = lab.run("run --resume whole.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("whole.jsonl is complete"), "{}", ran.stderr);
    assert_eq!(ran.stdout, lab.run("show whole.jsonl").stdout);
    assert!(before == fs::read(&record).expect("a record"), "nothing is added");
}

#[test]
fn control_characters_of_a_foreign_record_do_not_reach_the_terminal() {
    let lab = lab!();
    let whole = fs::read_to_string(lab.record("whole.jsonl")).expect("a record");
    // Control characters and characters that change the direction of text, escaped and verbatim.
    let evil = r"\u001b]0;owned\u0007\u009b2J\r\n\\u001b\u202e\u2066\u200F".to_owned()
        + "\u{9b}1m\u{7f}\u{202e}\u{2069}\u{200e}\u{61c}\u{2028}";
    let plan = "\"reason\":\"";
    assert!(whole.contains(plan));
    lab.write("evil.jsonl", whole.replacen(plan, &format!("{plan}{evil}"), 1));
    for line in [
        "show evil.jsonl",
        "show --markdown evil.jsonl",
        "show --json evil.jsonl",
        "show --csv evil.jsonl",
        "explain evil.jsonl",
        "report evil.jsonl",
    ] {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let disguise = |c: char| c != '\n' && cpb_record::foreign::is_disguise(c);
        // The page's own style and script have none either.
        assert!(!ran.stdout.contains(disguise), "{line}: {:?}", ran.stdout);
        assert!(!ran.stdout.contains("\\u001b]"), "{:?}", ran.stdout);
    }
}

#[test]
fn what_a_foreign_table_says_is_no_formula_and_turns_no_text() {
    let lab = lab!();
    let log = r#"{"context": {"host_name": "@SUM(A1)\u2066\u001b[2J", "executable": "+x"},
        "benchmarks": [{"name": "=HYPERLINK(1)/\u202eAES/1024", "real_time": 5.0, "time_unit": "ns"}]}"#;
    lab.write("log.json", log);
    let ran = lab.run("import log.json --format google-benchmark -o table.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let disguise = |c: char| c != '\n' && cpb_record::foreign::is_disguise(c);
    for line in ["show", "show --markdown", "show --json", "show --csv", "report", "explain"] {
        let said = lab.run(&format!("{line} table.jsonl")).all();
        assert!(!said.contains(disguise), "{line}: {said:?}");
    }
    let table = lab.run("show --csv table.jsonl").stdout;
    assert!(table.contains("=HYPERLINK") && table.contains("@SUM"), "{table}");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    for row in rows.records().map(|row| row.expect("a row")) {
        let formula = row.iter().find(|field| field.starts_with(['=', '+', '-', '@']));
        assert_eq!(formula, None, "{table}");
    }
    // Reading it again gives the same.
    lab.write("table.csv", &table);
    let ran = lab.run("import table.csv -o again.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let again = lab.run("show --json again.jsonl").stdout;
    assert!(again.contains("\"=HYPERLINK") || again.contains("\"@SUM"), "{again}");
}

#[test]
fn a_record_of_another_machine_is_left_as_it_is_even_where_it_is_cut() {
    let lab = lab!();
    let whole = fs::read_to_string(lab.record("whole.jsonl")).expect("a record");
    let renamed = whole.replacen("\"machine\":{\"name\":\"", "\"machine\":{\"name\":\"other-", 1);
    lab.write("other.jsonl", &renamed[..renamed.len() - 20]);
    let message = refused(&lab, "run --resume other.jsonl");
    assert!(message.contains("was measured on other-"), "{message}");
    let version = "\"version\":\"";
    let older = whole.replacen(version, "\"version\":\"0.0.1-", 1);
    lab.write("older.jsonl", &older[..older.len() - 20]);
    let message = refused(&lab, "run --resume older.jsonl");
    assert!(message.contains("started by cpb 0.0.1-"), "{message}");
}

#[test]
fn two_writers_of_one_record_are_refused() {
    let lab = lab!();
    let record = lab.record("record.jsonl");
    let file = fs::File::open(record).expect("a record");
    file.lock().expect("a lock");
    let message = refused(&lab, "run --resume record.jsonl");
    assert!(message.contains("is being written by another cpb"), "{message}");
}

/// A run whose first pass, which is always made, fills more than 20 kB.
fn large_run() -> String {
    let sizes: Vec<String> = (1..=50).map(|size| size.to_string()).collect();
    format!("run -a sha-256 -s {} -p mbedtls:c --budget 0.3s --verbose", sizes.join(","))
}

/// Checks what a run leaves that could not continue to write: everything it reported, and a way to resume.
fn look_at_full_disk(lab: &Lab, ran: &Ran, record: &Path) {
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(last.contains("earlier lines are kept"), "{last}");
    assert!(last.contains("--resume"), "{last}");
    let reported = ran.stderr.lines().filter(|line| line.starts_with("written: round")).count();
    let text = fs::read_to_string(record).expect("the record");
    let kept = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    assert_eq!(kept.filter(|line| line.starts_with("{\"round\"")).count(), reported);
    assert!(reported > 0, "{}", ran.all());
    let resumed = lab.run(&format!("run --resume {}", record.display()));
    assert_eq!(resumed.status, Some(0), "{}", resumed.all());
}

#[test]
fn a_disk_that_fills_up_loses_nothing_that_was_written() {
    let lab = lab!();
    // A limit of the shell stands in for the disk: 16 blocks of 512 or 1024 bytes.
    let line = format!("trap '' XFSZ; ulimit -f 16; exec cpb {} -o record.jsonl", large_run());
    let ran = lab.shell(&line);
    look_at_full_disk(&lab, &ran, &lab.path("record.jsonl"));
}

#[test]
fn a_small_file_system_that_fills_up_loses_nothing_that_was_written() {
    let lab = lab!();
    let mount = "mkdir small && mount -t tmpfs -o size=16k none small";
    if lab
        .shell(&format!("unshare -m sh -c '{mount}'; status=$?; rmdir small; exit $status"))
        .status
        != Some(0)
    {
        skip(
            "a_small_file_system_that_fills_up_loses_nothing_that_was_written",
            "this user may not mount a file system",
        );
        return;
    }
    let run = format!("cpb {} -o small/record.jsonl", large_run());
    let line = format!("{mount} && {run}; status=$?; cp small/record.jsonl .; exit $status");
    let ran = lab.shell(&format!("unshare -m sh -c '{line}'"));
    assert!(ran.stderr.contains("No space left on device"), "{}", ran.all());
    look_at_full_disk(&lab, &ran, &lab.path("record.jsonl"));
}

/// The lab's cache on a disk that is full except for what was fetched: no partial file remains.
#[test]
fn an_initramfs_that_does_not_fit_is_named_and_leaves_nothing() {
    const GUEST: &str = "aarch64-6.1";
    let lab = lab!();
    // The cpb is larger than the disk. The first run has an emulator but nothing to fetch with, and only creates a lock,
    // whose name tells how the lab names its folder.
    lab.shell("mkdir bin && touch bin/qemu-system-aarch64 && chmod +x bin/qemu-system-aarch64");
    lab.write("binaries/cpb-aarch64-unknown-linux-musl", vec![7; 512 << 10]);
    let run = |cache: &str| {
        format!(
            "CPB_LAB_CACHE={cache} CPB_LAB_BINARIES=binaries PATH=$PWD/bin $(command -v cpb) lab run {GUEST} -- true"
        )
    };
    lab.shell(&run("cache"));
    let lock = std::fs::read_dir(lab.path("cache")).expect("a cache").flatten().next();
    let lock = lock.expect("a lock").file_name().to_string_lossy().into_owned();
    let folder = format!("small/{}", lock.strip_suffix(".lock").expect("a lock"));
    let mount = "mkdir small && mount -t tmpfs -o size=256k none small || exit 77";
    let fetched = format!(
        "mkdir -p {folder}/root/bin && echo 6.1.0 > {folder}/complete && \
         echo busybox > {folder}/root/bin/busybox && touch {folder}/root/etc-modules {folder}/vmlinuz"
    );
    let script = format!("{mount}; {fetched}; {}; echo status $?; ls {folder}", run("small"));
    let ran = lab.shell(&format!("unshare -m sh -c '{script}' || exit 77"));
    if ran.status != Some(0) {
        let test = "an_initramfs_that_does_not_fit_is_named_and_leaves_nothing";
        skip(test, "this user may not mount a file system");
        return;
    }
    assert!(ran.stderr.contains(&format!("cannot write {folder}/initramfs-")), "{}", ran.all());
    assert!(ran.stderr.contains("No space left on device"), "{}", ran.all());
    assert!(ran.stderr.contains("CPB_LAB_CACHE"), "{}", ran.all());
    assert_eq!(ran.stdout, "status 2\ncomplete\nroot\nvmlinuz\n", "{}", ran.all());
}

#[test]
fn a_read_only_file_system_is_named() {
    let lab = lab!();
    let mount = "mkdir fixed && mount -t tmpfs -o ro none fixed";
    let line = format!("{mount} || exit 77; cpb {SHORT} -o fixed/record.jsonl");
    let ran = lab.shell(&format!("unshare -m sh -c '{line}' || exit $?"));
    if ran.status != Some(2) || !ran.stderr.contains("cpb: ") {
        skip("a_read_only_file_system_is_named", "this user may not mount a file system");
        return;
    }
    let message = "cpb: cannot write fixed/record.jsonl: Read-only file system (os error 30); \
                   choose another file with --output\n";
    assert_eq!(ran.stderr, message);
}

#[test]
fn a_header_that_does_not_fit_leaves_no_file() {
    let lab = lab!();
    let line = format!("trap '' XFSZ; ulimit -f 1; exec cpb {SHORT} -o record.jsonl");
    let ran = lab.shell(&line);
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.starts_with("cpb: cannot write record.jsonl: "), "{}", ran.stderr);
    assert!(!lab.path("record.jsonl").exists());
}
