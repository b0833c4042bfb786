//! Other tools' logs, real ones and damaged ones, become records that keep what was printed.

mod support;

use cpb_analysis::explain::explain;
use cpb_analysis::summary::summarise;
use cpb_import::{FORMATS, Options};
use cpb_record::store;
use cpb_record::{ClockReading, Evidence, FlagKind, Quantity, Record, Source, When};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use support::{Lab, skip};

/// Real logs of sbc-bench: (name, bytes). None where there are none.
fn samples() -> Option<&'static [(String, Vec<u8>)]> {
    static SAMPLES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let folder = PathBuf::from(std::env::var_os("CPB_SAMPLES")?).join("sbc-bench");
    let logs = SAMPLES.get_or_init(|| {
        let files = std::fs::read_dir(&folder).expect("$CPB_SAMPLES/sbc-bench").flatten();
        let files = files.map(|entry| entry.path());
        let logs = files.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
        let read = |path: PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a log"))
        };
        let mut logs: Vec<_> = logs.map(read).collect();
        logs.sort();
        assert!(logs.len() > 10, "{} has no logs", folder.display());
        logs
    });
    Some(logs)
}

fn parse(name: &str, bytes: &[u8]) -> Record {
    cpb_import::parse(name, bytes.to_vec(), None, &Options::default()).expect(name)
}

/// What a record says of one table: cores, clocks, figures.
fn words(record: &Record, source: &Source) -> String {
    let cells = || record.published.iter().filter(|cell| cell.table == source.table);
    let mut text = format!("  {}: {}; {} figures\n", source.table, source.place, cells().count());
    let cores = source.cores.as_deref().expect("sbc-bench tells");
    let known = |word: &str| if word.is_empty() { "?".to_owned() } else { word.to_owned() };
    let clock = |when| {
        let reading = cores.fastest(when).and_then(ClockReading::measured);
        reading.map_or("?".to_owned(), |khz| format!("{:.0}", khz as f64 / 1e3))
    };
    text += &format!(
        "    {} {}, CPUs {:?}, pinned {:?}, aes {}, stated {:?} kHz, measured {} and {} MHz\n",
        known(&cores.name),
        known(&cores.revision),
        cores.cpus,
        cores.pinned,
        cores.features.iter().any(|feature| feature == "aes"),
        cores.stated_khz,
        clock(When::Before),
        clock(When::After),
    );
    for cell in cells().filter(|cell| cell.bytes == Some(16384)) {
        let figure = &cell.figures[0];
        let line = figure.line.unwrap_or_default();
        text += &format!("    {} {} (line {line})\n", cell.row, figure.printed);
    }
    text
}

#[test]
fn every_log_of_sbc_bench_keeps_its_clusters_clocks_and_figures() {
    let Some(samples) = samples() else {
        skip("every_log_of_sbc_bench_keeps_its_clusters_clocks_and_figures", "no $CPB_SAMPLES");
        return;
    };
    let mut text = String::new();
    for (name, bytes) in samples {
        let record = parse(name, bytes);
        assert_eq!(record.header.evidence, Evidence::Imported);
        let machine = &record.header.machine;
        text += &format!("{name}: {}; {}\n", record.header.began, machine.words());
        for source in &record.sources {
            text += &words(&record, source);
        }
        for warning in &record.warnings {
            text += &format!("  ! {warning}\n");
        }
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for figure in record.published.iter().flat_map(|cell| &cell.figures) {
            let line = lines[figure.line.expect("a line") as usize - 1];
            let line = String::from_utf8_lossy(line);
            assert!(line.contains(&figure.printed), "{name}: {figure:?} is not in {line}");
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn clusters_of_which_nothing_is_told_are_told_apart() {
    let log = "sbc-bench v0.8.4\n\nOpenSSL results (big.LITTLE cores measured individually):\n\
        type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes\n\
        aes-128-cbc     190000.00k   570000.00k  1100000.00k  1480000.00k  1640000.00k  1650000.00k\n\
        aes-128-cbc     460000.00k  1140000.00k  1730000.00k  1970000.00k  2080000.00k  2082000.00k\n";
    let record = parse("console", log.as_bytes());
    let machines: BTreeSet<&str> =
        record.published.iter().map(|cell| cell.machine.as_str()).collect();
    assert_eq!(
        machines.into_iter().collect::<Vec<_>>(),
        ["a machine, cluster 1", "a machine, cluster 2"]
    );
    assert_eq!(explain(&[record], None).tasks.len(), 2, "both are explained");
}

#[test]
fn of_two_runs_on_one_cluster_the_second_is_named_and_left_out() {
    let log = "sbc-bench v0.9\nExecuting benchmark twice on all cores\n\
        type             16 bytes     16384 bytes\n\
        aes-128-cbc     190000.00k   1600000.00k\naes-128-cbc     200000.00k   1700000.00k\n";
    let record = parse("log", log.as_bytes());
    let rows: BTreeSet<&str> = record.published.iter().map(|cell| cell.row.as_str()).collect();
    assert!(rows.contains("aes-128-cbc, run 2"), "{rows:?}");
    let text = cpb_report::explain::render(&explain(&[record], None), 200, false);
    let words = "left out     openssl, aes-128-cbc, run 2, 16 bytes; openssl, aes-128-cbc, run 2, \
                 16384 bytes: an earlier reading";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_log_that_is_cut_says_so_before_all_else() {
    let mut log = "sbc-bench v0.9\ntype 16 bytes\n".to_owned();
    log += &"aes-128-cbc 1234.50k\n".repeat(1025);
    let lab = Lab::new();
    lab.write("long.log", &log);
    let ran = lab.run("import long.log -o long.jsonl");
    let words = "Line 1027 is one of its kind more than 1024";
    assert!(ran.stderr.contains(words), "{}", ran.all());
    let record = store::read(&lab.path("long.jsonl")).expect("a record");
    assert!(record.warnings[0].starts_with(words), "{:?}", record.warnings);
    assert_eq!(record.published.len(), 1024);
}

#[test]
fn a_written_record_is_the_one_that_was_read() {
    let lab = Lab::new();
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

/// Logs of other tools than sbc-bench: (name, bytes).
fn logs() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut logs: Vec<(String, Vec<u8>)> = files
        .filter(|path| path.extension().is_some_and(|ending| ending != "md"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a log"))
        })
        .collect();
    logs.sort();
    logs
}

#[test]
fn every_tool_s_log_is_shown_as_it_was_printed() {
    let mut seen = Vec::new();
    for (name, bytes) in logs() {
        let record = parse(&name, &bytes);
        assert_eq!(record.header.evidence, Evidence::Imported, "{name}");
        let text = cpb_report::published::render(&record, 100);
        insta::assert_snapshot!(name.replace('.', "_"), text);
        let format = FORMATS.iter().find(|format| name.starts_with(format.name));
        seen.push(format.unwrap_or_else(|| panic!("{name} is called by no format")).name);
    }
    // sbc-bench has logs of its own, and what cpb writes is made when it is needed.
    let made = ["sbc-bench", "bencher", "cpb-csv"];
    for format in FORMATS {
        assert!(seen.contains(&format.name) || made.contains(&format.name), "{}", format.name);
    }
}

#[test]
fn every_figure_of_a_text_is_on_the_line_that_it_names() {
    for (name, bytes) in logs() {
        let lines: Vec<String> =
            String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
        let record = parse(&name, &bytes);
        for figure in record.published.iter().flat_map(|cell| &cell.figures) {
            let line = &lines[figure.line.expect("a line") as usize - 1];
            let json = name.ends_with(".json");
            assert!(json || line.contains(&figure.printed), "{name}: {figure:?} is not in {line}");
        }
    }
}

/// The slides' own table of results has the counts alone, and says that they are of 3 seconds.
#[test]
fn counts_without_elapsed_are_figures_and_their_rates_are_not() {
    let (name, bytes) = logs().into_iter().find(|(name, _)| name.contains("talk")).expect("a log");
    let record = parse(&name, &bytes);
    assert_eq!(record.sources.len(), 3);
    let cell = |provider: &str, bytes: u32| {
        let mut cells = record.published.iter();
        let found = cells.find(|cell| cell.provider == provider && cell.bytes == Some(bytes));
        found.expect("a cell")
    };
    let software = cell("openssl", 8192).nanoseconds().expect("a time");
    let engine = cell("openssl:cryptodev", 8192);
    let printed = |quantity| {
        let figure = engine.figures.iter().find(|figure| figure.quantity == quantity);
        figure.expect("a figure")
    };
    assert_eq!(printed(Quantity::KilobytesPerSecond).printed, "inf");
    for quantity in [Quantity::KilobytesPerSecond, Quantity::StatedSeconds] {
        let flag = printed(quantity).flag.as_ref().expect("a flag");
        assert_eq!(flag.kind, FlagKind::Unverified);
    }
    assert_eq!(engine.nanoseconds(), Some(3e9 / 8101.0));
    assert_eq!(software, 3e9 / 12812.0);
    assert_eq!(cell("openssl:af_alg", 8192).nanoseconds(), Some(3e9 / 7248.0));
}

#[test]
fn whether_a_command_had_elapsed_is_asked_where_the_log_does_not_tell() {
    let (_, bytes) = logs().into_iter().find(|(name, _)| name == "openssl-mr.txt").expect("a log");
    let asked = |elapsed| {
        let record =
            cpb_import::parse("mr", bytes.clone(), None, &Options { elapsed }).expect("a log");
        record.published[0].nanoseconds().expect("a time")
    };
    // One second on the clock, or the 0.49 s that were printed.
    assert_eq!(asked(false), 1e9 / 1_283_960.0);
    assert_eq!(asked(true), 0.49e9 / 1_283_960.0);
}

#[test]
fn what_is_exported_is_imported_again_with_the_same_figures() {
    let lab = Lab::new();
    lab.write("measured.jsonl", include_bytes!("golden/record-v1.jsonl"));
    let (name, bytes) = logs().into_iter().find(|(name, _)| name.contains("talk")).expect("a log");
    lab.write(&name, &bytes);
    assert_eq!(lab.run(&format!("import {name} -o talk.jsonl")).status, Some(0));
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
            // Bencher's is a map.
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
    let lab = Lab::new();
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

/// What is no log: one message with the file and the line, exit status 2, nothing written.
#[test]
fn whatever_is_no_number_is_flagged_once_it_is_in_a_record() {
    let logs = [
        "table,row,column,machine,core_hz,provider,quantity,printed\n\
         t,r,c,,,p,kB/s,12\nt,r,c,,,p,operations,nan\n",
        r#"{"a": {"latency": {"value": -1}}}"#,
        "+F:22:aes-128-cbc:0.00:100.00\n+H:16:64\n",
    ];
    for log in logs {
        let record = parse("log", log.as_bytes());
        let figures = record.published.iter().flat_map(|cell| &cell.figures);
        let (sound, flagged): (Vec<_>, Vec<_>) =
            figures.partition(|figure| figure.number().is_some());
        assert!(!flagged.is_empty(), "{log}: {sound:?}");
        for figure in flagged {
            assert!(figure.flag.is_some(), "{log}: {figure:?}");
        }
    }
}

#[test]
fn hostile_files_are_refused_with_their_line() {
    let lab = Lab::new();
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
    let lab = Lab::new();
    std::fs::create_dir(lab.path("other")).expect("a folder");
    for name in ["a.txt", "other/a.txt"] {
        lab.write(name, "type 16 bytes\naes-128-cbc 1.00k\n");
    }
    let refused = lab.run("import a.txt other/a.txt -o one.jsonl");
    assert_eq!(refused.status, Some(2), "{}", refused.all());
    assert!(refused.stderr.contains("name a folder by --output"), "{}", refused.all());
    assert_eq!(lab.run("import a.txt other/a.txt").status, Some(0));
    for name in ["a.jsonl", "a-2.jsonl"] {
        assert!(lab.path("cpb-results").join(name).exists(), "{name}");
    }
    let taken = lab.run("import a.txt -o cpb-results/a.jsonl");
    assert_eq!(taken.status, Some(2), "{}", taken.all());
    let printed = lab.run("import a.txt -o -");
    assert!(printed.status == Some(2) && !lab.path("-").exists(), "{}", printed.all());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines taken out, cut, doubled; the file cut anywhere; pasted with colours, from a page, from
    /// another system: what is left is read, and no figure appears that was not printed.
    #[test]
    fn a_damaged_log_of_sbc_bench_is_read_as_far_as_it_goes(
        choice in any::<prop::sample::Index>(),
        cut in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8), 0..40),
        way in 0..5_u8,
    ) {
        let Some(samples) = samples() else { return Ok(()) };
        let (name, bytes) = choice.get(samples);
        let whole = String::from_utf8_lossy(bytes).into_owned();
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        for (place, change) in changes {
            let place = place.index(lines.len());
            match change {
                0 => drop(lines.remove(place)),
                1 => {
                    let half = lines[place].chars().count() / 2;
                    lines[place] = lines[place].chars().take(half).collect();
                }
                2 => lines.insert(place, lines[place].clone()),
                3 => lines[place] = format!("\u{1b}[1m{}\u{1b}[0m", lines[place]),
                _ => drop(lines.drain(place..(place + 20).min(lines.len()))),
            }
        }
        let mut text = match way {
            0 => lines.join("\r\n"),
            1 => lines.join("\n").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
            2 => format!("<pre>{}</pre>", lines.join("\n")),
            _ => lines.join("\n"),
        };
        if let Some((from, to)) = cut {
            let (from, to) = (from.index(text.len()), to.index(text.len()));
            let part = &text.as_bytes()[from.min(to)..from.max(to)];
            text = format!("sbc-bench\n{}", String::from_utf8_lossy(part));
        }
        let format = cpb_import::format("sbc-bench").expect("its format");
        let read = cpb_import::parse(name, text.into_bytes(), Some(format), &Options::default());
        let record = read.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        for cell in &record.published {
            prop_assert!(record.sources.iter().any(|source| source.table == cell.table));
            for figure in &cell.figures {
                prop_assert!(figure.flag.is_some() || whole.contains(&figure.printed), "{:?}", figure);
            }
        }
    }
}
