//! Other tools' logs, real and damaged, become records that keep what was printed.

use cpb_analysis::explain::explain;
use cpb_core::Operation;
use cpb_import::{FORMATS, Options};
use cpb_record::{ClockReading, Evidence, FlagKind, Quantity, Record, Source, When};
use cpb_test_support::skip;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Real logs of sbc-bench, as (name, bytes). `None` if they are not available.
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

/// A record's text about one table: cores, clocks, figures.
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

/// Logs of tools other than sbc-bench, as (name, bytes).
fn logs() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
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
    // sbc-bench's logs are elsewhere, and cpb's own output is generated when needed.
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

/// The slides' table of results has only the counts, and says that they are for 3 seconds.
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
            cpb_import::parse("mr", bytes.clone(), None, &Options { elapsed, direction: None })
                .expect("a log");
        record.published[0].nanoseconds().expect("a time")
    };
    // One second of wall-clock time, or the printed 0.49 s.
    assert_eq!(asked(false), 1e9 / 1_283_960.0);
    assert_eq!(asked(true), 0.49e9 / 1_283_960.0);
}

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

/// A log of `openssl speed` that was measured with -elapsed.
fn speed(lines: &[&str]) -> Vec<u8> {
    let first = "You have chosen to measure elapsed time instead of user CPU time.";
    let all: Vec<&str> = std::iter::once(first).chain(lines.iter().copied()).collect();
    all.join("\n").into_bytes()
}

const HEADING: &str = "type             16 bytes     64 bytes    256 bytes";

#[test]
fn what_cannot_be_read_is_refused_with_line_and_remedy() {
    for (lines, words) in [
        (
            vec![HEADING, "aes-128-cbc 28353,13k 39013,35k 40000,00k"],
            "line 3: 28353,13k has a separator",
        ),
        (
            vec![HEADING, "aes-128-cbc 28,353.13k 39,013.35k 40,000.00k"],
            "line 3: 28,353.13k has a separator",
        ),
        (
            vec!["Doing aes-128-cbc for 3s on 16 size blocks: 1,286 aes-128-cbc's in 3.00s"],
            "line 2: 1,286 has a separator",
        ),
        (vec!["Doing aes-128-cbc for 3s on 16 size blocks: "], "Line 2 is cut off"),
        (vec![], "only lines of stderr, without results; log both streams"),
        (
            vec![
                "+DT:AES-128-CBC:1:16",
                "+R:5:AES-128-CBC:1.00",
                "+DT:AES-128-CBC:1:16",
                "+R:5:AES-128-CBC:1.00",
            ],
            "are of several processes (-multi). The log has only stderr",
        ),
    ] {
        let read = cpb_import::parse("log", speed(&lines), None, &Options::default());
        let error = read.expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_table_that_is_cut_says_where() {
    let row = "aes-128-cbc 28353.13k 39013.35k 40000.00k";
    for (lines, words, cells) in [
        (
            vec![HEADING, "aes-128-cbc 28353.13k 39013.35k"],
            "Line 3: aes-128-cbc is cut off: it has 2 of 3 rates",
            2,
        ),
        (vec!["type             16 bytes     64 by", row], "Line 2 is a heading that is cut", 0),
        (vec![row], "Line 2: no heading names the sizes of the 3 rates of aes-128-cbc", 0),
    ] {
        let record = parse("log", &speed(&lines));
        let warnings = record.warnings.join(" ");
        assert!(warnings.contains(words), "{warnings}");
        let figures = record.published.iter().filter(|cell| cell.nanoseconds().is_some()).count();
        assert_eq!(figures, cells, "{lines:?}");
    }
}

#[test]
fn only_the_command_or_the_user_tells_the_direction() {
    let row = "aes-128-cbc 28353.13k 39013.35k 40000.00k";
    let operation = |lines: &[&str], direction| {
        let options = Options { direction, ..Options::default() };
        let record = cpb_import::parse("log", speed(lines), None, &options).expect("a log");
        record.published[0].operation.clone()
    };
    let said = |command| vec![command, HEADING, row];
    assert_eq!(operation(&[HEADING, row], None), None);
    assert_eq!(operation(&[HEADING, row], Some(Operation::Decrypt)).as_deref(), Some("decrypt"));
    let encrypting = said("$ openssl speed -elapsed -evp aes-128-cbc");
    assert_eq!(operation(&encrypting, Some(Operation::Decrypt)).as_deref(), Some("encrypt"));
    let decrypting = said("$ openssl speed -elapsed -decrypt -evp aes-128-cbc");
    assert_eq!(operation(&decrypting, None).as_deref(), Some("decrypt"));
}

/// With -bytes, the sizes appear only in the progress lines, or in the reports of the processes.
#[test]
fn sizes_of_one_s_own_are_known_with_mr_and_multi() {
    for name in
        ["openssl-3.6-mr-bytes.txt", "openssl-3.6-mr-multi.txt", "openssl-3.6-multi-bytes.txt"]
    {
        let (name, bytes) = logs().into_iter().find(|(own, _)| own == name).expect(name);
        let record =
            cpb_import::parse(&name, bytes, None, &Options { elapsed: true, direction: None });
        let record = record.expect(&name);
        let [cell] = record.published.as_slice() else { panic!("{name}: {:?}", record.published) };
        assert_eq!(cell.bytes, Some(4096), "{name}");
        assert!(cell.nanoseconds().is_some(), "{name}");
    }
}

/// What each of a log's calls is called: its path and direction.
fn calls(lines: &[&str]) -> Vec<(String, Option<String>)> {
    let record = cpb_import::parse("log", lines.join("\n").into_bytes(), None, &Options::default());
    let cells = record.expect("a log").published;
    cells.into_iter().map(|cell| (cell.provider, cell.operation)).collect()
}

#[test]
fn each_call_of_a_line_has_its_own_results() {
    let elapsed = "You have chosen to measure elapsed time instead of user CPU time.";
    let doing = "Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s";
    let both = |line: &str| calls(&[line, elapsed, doing, elapsed, doing]);
    let software = ("openssl".to_owned(), Some("encrypt".to_owned()));
    let of =
        |engine: &str, operation: &str| (format!("openssl:{engine}"), Some(operation.to_owned()));
    let speed = "openssl speed -elapsed -evp aes-128-cbc";
    assert_eq!(
        both(&format!("$ {speed}; {speed} -engine afalg -decrypt # the engine")),
        [software.clone(), of("afalg", "decrypt")]
    );
    assert_eq!(both(&format!("$ {speed} 2>&1 | tee log # -engine afalg"))[0], software);
    let unknown = ("openssl".to_owned(), None);
    assert_eq!(
        both(&format!("$ for e in a b; do {speed} -engine $e; done")),
        [unknown.clone(), unknown]
    );
}

/// openssl says so, and computes without.
#[test]
fn an_engine_that_was_not_loaded_did_not_compute() {
    let found = calls(&[
        "$ openssl speed -elapsed -engine afalg -evp aes-128-cbc",
        "Invalid engine \"afalg\"",
        "You have chosen to measure elapsed time instead of user CPU time.",
        "Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s",
    ]);
    assert_eq!(found, [("openssl".to_owned(), Some("encrypt".to_owned()))]);
}

/// Many curves have 256 bits, and several tables have an rsa2048.
#[test]
fn operations_with_key_pairs_have_their_own_counts() {
    let (name, bytes) =
        logs().into_iter().find(|(own, _)| own == "openssl-3.6-public.txt").expect("a log");
    let record = parse(&name, &bytes);
    assert_eq!(record.published.len(), 21);
    for cell in &record.published {
        let number = |quantity| cell.number(quantity).expect("a number");
        let by_count = number(Quantity::Operations) / number(Quantity::StatedSeconds);
        let rate = number(Quantity::OperationsPerSecond);
        assert!((by_count / rate - 1.0).abs() < 0.01, "{}: {by_count} {rate}", cell.row);
    }
    let mut tasks = BTreeSet::new();
    for cell in &record.published {
        assert!(tasks.insert((&cell.algorithm, &cell.operation)), "{}: twice", cell.row);
    }
}

#[test]
fn a_log_of_thousands_of_rows_is_read_whole() {
    let algorithms =
        (0..3_000).map(|number| format!("cipher{number} 28353.13k 39013.35k 40000.00k"));
    let rows: Vec<String> = algorithms.collect();
    let lines: Vec<&str> =
        std::iter::once(HEADING).chain(rows.iter().map(String::as_str)).collect();
    assert_eq!(parse("log", &speed(&lines)).published.len(), 9_000);
}

#[test]
fn what_a_logger_put_before_each_line_changes_nothing() {
    let (name, bytes) =
        logs().into_iter().find(|(own, _)| own == "openssl-elapsed.txt").expect("a log");
    let plain = parse(&name, &bytes).published;
    for prefix in
        ["Nov 23 10:00:00 board openssl[123]: ", "2026-11-23T10:00:00.1234567Z ", "[   12.345678] "]
    {
        let text = String::from_utf8(bytes.clone()).expect("text");
        let lines: Vec<String> = text.lines().map(|line| format!("{prefix}{line}")).collect();
        assert_eq!(parse(&name, lines.join("\n").as_bytes()).published, plain, "{prefix}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines removed, cut or duplicated; the file cut anywhere; pasted with colours, from a page, from another
    /// system: the rest is read, and no figure appears that was not printed.
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

/// Two streams that were saved apart and put together in the other order gave two paths for one engine.
#[test]
fn tables_before_their_progress_are_one_call_of_openssl_speed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    let log = std::fs::read_to_string(folder.join("openssl-elapsed.txt")).expect("a log");
    let is_progress = |line: &&str| line.starts_with("You have") || line.starts_with("Doing");
    let join = |lines: Vec<&str>| lines.join("\n") + "\n";
    let (progress, tables): (Vec<&str>, Vec<&str>) = log.lines().partition(is_progress);
    let engine = "engine \"devcrypto\" set.\n";
    let (progress, tables) = (format!("{engine}{}", join(progress)), join(tables));
    let figures = |record: &Record| {
        let of = |cell: &cpb_record::Published| {
            let printed = |figure: &cpb_record::Printed| (figure.quantity, figure.printed.clone());
            (
                cell.provider.clone(),
                cell.bytes,
                cell.figures.iter().map(printed).collect::<Vec<_>>(),
            )
        };
        record.published.iter().map(of).collect::<Vec<_>>()
    };
    let usual = parse("log", format!("{progress}{tables}").as_bytes());
    let turned = parse("log", format!("{tables}{progress}").as_bytes());
    assert_eq!(figures(&turned), figures(&usual));
    assert_eq!((turned.sources.len(), turned.published.len()), (1, 6));
    // A second call in the same order is another call.
    let both = parse("log", format!("{tables}{progress}{tables}{progress}").as_bytes());
    assert_eq!((both.sources.len(), both.published.len()), (2, 12));
    let version =
        |source: &Source| source.paths.values().all(|path| path.version == "OpenSSL 3.0.19");
    assert!(both.sources.iter().all(version), "{:?}", both.sources);
    // Progress of other figures is another call.
    let other = progress.replace("32796381", "22796381");
    let apart = parse("log", format!("{tables}{other}").as_bytes());
    assert_eq!(apart.sources.len(), 2);
}
