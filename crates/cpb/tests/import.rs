//! Other tools' logs, real ones and damaged ones, become records that keep what was printed.

mod support;

use cpb::import::{self, Options};
use cpb::record::{ClockReading, Evidence, Record, Source, When};
use cpb::store;
use proptest::prelude::*;
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
    import::parse(name, bytes.to_vec(), None, &Options::default()).expect(name)
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
fn a_written_record_is_the_one_that_was_read() {
    let lab = Lab::new();
    lab.write("a.log", "sbc-bench v0.9\ntype 16 bytes\naes-256-cbc 1234.50k\naes-128-cbc infk\n");
    let ran = lab.run("import a.log -o a.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("sbc-bench v0.9, 2 figures, 1 of them flagged"), "{}", ran.all());
    let options = Options::default();
    let read = import::read(&lab.path("a.log"), None, &options).expect("a log");
    assert_eq!(store::read(&lab.path("a.jsonl")).expect("a record"), read);
    let shown = lab.run("show a.jsonl");
    assert!(
        shown.stdout.contains("inf[1]") && shown.stdout.contains("unverified"),
        "{}",
        shown.all()
    );
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
        let format = import::format("sbc-bench").expect("its format");
        let read = import::parse(name, text.into_bytes(), Some(format), &Options::default());
        let record = read.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        for cell in &record.published {
            prop_assert!(record.sources.iter().any(|source| source.table == cell.table));
            for figure in &cell.figures {
                prop_assert!(figure.flag.is_some() || whole.contains(&figure.printed), "{:?}", figure);
            }
        }
    }
}
