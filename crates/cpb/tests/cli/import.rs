//! `cpb import`: what it writes, what it refuses, and how other commands use the result. Reading the logs of
//! each tool is tested with the importers.

use cpb_analysis::summary::summarise;
use cpb_import::Options;
use cpb_record::store;
use cpb_test_support::lab;

#[test]
fn a_log_that_is_cut_says_so_before_all_else() {
    let mut log = "sbc-bench v0.9\ntype 16 bytes\n".to_owned();
    log += &"aes-128-cbc 1234.50k\n".repeat(1025);
    let lab = lab!();
    lab.write("long.log", &log);
    let ran = lab.run("import long.log -o long.jsonl");
    let words = "Line 1027 exceeds the limit of 1024 lines of its kind";
    assert!(ran.stderr.contains(words), "{}", ran.all());
    let record = store::read(&lab.path("long.jsonl")).expect("a record");
    assert!(record.warnings[0].starts_with(words), "{:?}", record.warnings);
    assert_eq!(record.published.len(), 1024);
}

#[test]
fn a_written_record_is_the_one_that_was_read() {
    let lab = lab!();
    lab.write("a.log", "sbc-bench v0.9\ntype 16 bytes\naes-256-cbc 1234.50k\naes-128-cbc infk\n");
    let ran = lab.run("import a.log -o a.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("sbc-bench v0.9, 2 figures, 1 of them flagged"), "{}", ran.all());
    let options = Options::default();
    let read = cpb_import::read(&lab.path("a.log"), None, &options).expect("a log");
    assert_eq!(store::read(&lab.path("a.jsonl")).expect("a record"), read);
    let shown = lab.run("show a.jsonl");
    assert!(
        shown.stdout.contains("inf[1]") && shown.stdout.contains("unverified"),
        "{}",
        shown.all()
    );
}

#[test]
fn what_is_exported_is_imported_again_with_the_same_figures() {
    let lab = lab!();
    lab.write("measured.jsonl", include_bytes!("../golden/record-v1.jsonl"));
    lab.write("talk.txt", include_bytes!("../../../import/tests/logs/openssl-1.0.2-talk.txt"));
    assert_eq!(lab.run("import talk.txt -o talk.jsonl").status, Some(0));
    for record in ["measured", "talk"] {
        let original = store::read(&lab.path(&format!("{record}.jsonl"))).expect("a record");
        let expected: Vec<f64> = if record == "talk" {
            original.published.iter().filter_map(|cell| cell.nanoseconds()).collect()
        } else {
            let summary = summarise(&original);
            let times = summary.cells.iter().filter_map(|cell| cell.figures.measured());
            times.map(|figures| figures.time.value.0).collect()
        };
        assert!(!expected.is_empty());
        for (format, ending, digits) in
            [("google-benchmark", "json", 1e-12), ("bencher", "bmf", 1e-12), ("csv", "csv", 1e-5)]
        {
            let file = format!("{record}.{ending}");
            let ran = lab.run(&format!("report {record}.jsonl --format {format} -o {file}"));
            assert_eq!(ran.status, Some(0), "{}", ran.all());
            let back =
                cpb_import::read(&lab.path(&file), None, &Options::default()).expect("a log");
            let mut times: Vec<f64> =
                back.published.iter().filter_map(|cell| cell.nanoseconds()).collect();
            assert_eq!(times.len(), expected.len(), "{file}");
            let mut expected = expected.clone();
            // Bencher's result is a map.
            times.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            for (time, expected) in times.iter().zip(&expected) {
                assert!((time / expected - 1.0).abs() <= digits, "{file}: {time} {expected}");
            }
        }
    }
}

#[test]
fn imported_records_are_explained_and_reported_with_their_warnings() {
    let lab = lab!();
    let log = "sbc-bench v0.9 Board (Sat, 01 Jan 2022 00:00:00 +0000)\n\
               Cpufreq OPP: 1800    Measured: 1500 (1500.1/1500.0/1499.9)\n\
               type 16 bytes 1024 bytes 16384 bytes\n\
               aes-128-cbc 50000.00k 500000.00k 600000.00k\n\
               aes-192-cbc 51000.00k 520000.00k 640000.00k\n\
               Cpufreq OPP: 1800    Measured: 900 (900.1/900.0/899.9)\n";
    lab.write("board.txt", log);
    assert_eq!(lab.run("import board.txt -o board.jsonl").status, Some(0));
    for line in ["explain board.jsonl", "show board.jsonl", "report board.jsonl -o board.html"] {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let page = line.starts_with("report");
        let text = if page {
            std::fs::read_to_string(lab.path("board.html")).expect("a page")
        } else {
            ran.stdout.clone()
        };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("1500 MHz before the figures and at 900 MHz after"),
            "{line}\n{text}"
        );
        assert!(words.contains("slower than aes-192-cbc"), "{line}\n{text}");
    }
}

/// Files that are not logs: one message with the file and the line, exit status 2, nothing written.
#[test]
fn hostile_files_are_refused_with_their_line() {
    let lab = lab!();
    let row = "type 16 bytes\naes-128-cbc 1.00k\n";
    lab.write("nul.txt", format!("{row}\0"));
    lab.write("utf16.txt", [b"\xff\xfe".as_slice(), b"a\0b\0"].concat());
    lab.write("latin1.txt", [row.as_bytes(), b"\xb0C\n"].concat());
    lab.write("long.txt", format!("{row}{}", "x".repeat(70_000)));
    lab.write("deep.json", format!("{{\"benchmarks\": [], \"x\": {}", "[".repeat(100_000)));
    lab.write("cut.json", "{\"benchmarks\": [\n{\"name\": \"a\",\n");
    lab.write("number.json", "{\"benchmarks\": [\n{\"name\": \"a\", \"real_time\": \"x\"}]}");
    lab.write("list.json", "[{\"description\": \"a\", \"numCalls\": 1}]");
    lab.write("empty.txt", "");
    lab.write("prose.txt", "To be, or not to be.\nThat is the question.\n");
    lab.write("record.jsonl", "{\"cpb\":{}}\n");
    lab.write("fields.csv", "provider,algorithm,operation,phase,message_bytes,time_ns\na,b\n");
    std::fs::create_dir(lab.path("folder")).expect("a folder");
    let huge = lab.write("huge.txt", row);
    let file = std::fs::OpenOptions::new().append(true).open(huge).expect("a file");
    file.set_len(1 << 30).expect("a sparse file");
    let before = lab.content();
    let mut text = String::new();
    for name in [
        "nul.txt",
        "utf16.txt",
        "latin1.txt",
        "long.txt",
        "deep.json",
        "cut.json",
        "number.json",
        "list.json",
        "empty.txt",
        "prose.txt",
        "record.jsonl",
        "fields.csv",
        "folder",
        "huge.txt",
        "/dev/zero",
        "missing.txt",
        "nul.txt prose.txt",
        "nul.txt --format opensl",
    ] {
        let ran = lab.run(&format!("import {name} -o out/"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{name}\n{}", ran.all());
        assert!(before == lab.content(), "{name} changed something");
        text += &format!("$ cpb import {name}\n{}\n\n", lab.redact(ran.stderr.trim_end()));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn several_logs_need_a_folder_and_none_overwrites_another() {
    let lab = lab!();
    std::fs::create_dir(lab.path("other")).expect("a folder");
    for name in ["a.txt", "other/a.txt"] {
        lab.write(name, "type 16 bytes\naes-128-cbc 1.00k\n");
    }
    let refused = lab.run("import a.txt other/a.txt -o one.jsonl");
    assert_eq!(refused.status, Some(2), "{}", refused.all());
    assert!(refused.stderr.contains("give a folder with --output"), "{}", refused.all());
    assert_eq!(lab.run("import a.txt other/a.txt").status, Some(0));
    for name in ["a.jsonl", "a-2.jsonl"] {
        assert!(lab.path("cpb-results").join(name).exists(), "{name}");
    }
    let taken = lab.run("import a.txt -o cpb-results/a.jsonl");
    assert_eq!(taken.status, Some(2), "{}", taken.all());
    let printed = lab.run("import a.txt -o -");
    assert!(printed.status == Some(2) && !lab.path("-").exists(), "{}", printed.all());
}
