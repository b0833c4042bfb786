//! Other tools' logs, real ones and damaged ones, become records that keep what was printed.

use cpb_analysis::explain::explain;
use cpb_import::{FORMATS, Options};
use cpb_record::{ClockReading, Evidence, FlagKind, Quantity, Record, Source, When};
use cpb_test_support::skip;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;

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

/// Logs of other tools than sbc-bench: (name, bytes).
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
