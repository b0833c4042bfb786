//! The records of published tables are readable, are shown as printed, and are consistent, so that a misread
//! digit is detected.

use cpb_record::store;
use cpb_record::{Evidence, FlagKind, Published, Quantity, Record};
use cpb_report::published;
use std::path::Path;

const SECONDS: f64 = 3.0;

fn records() -> Vec<(String, Record)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let files = std::fs::read_dir(folder).expect("records/").flatten().map(|entry| entry.path());
    let mut records: Vec<(String, Record)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            let name = path.file_stem().expect("a name").display().to_string();
            (name, store::read(&path).expect("readable for ever"))
        })
        .collect();
    records.sort_by(|a, b| a.0.cmp(&b.0));
    records
}

fn record(name: &str) -> Record {
    records().into_iter().find(|(known, _)| known == name).expect("a record of that name").1
}

fn printed(cell: &Published, quantity: Quantity) -> &str {
    let mut figures = cell.figures.iter();
    &figures.find(|figure| figure.quantity == quantity).expect("a figure").printed
}

#[test]
fn every_record_names_its_document_and_shows_its_tables_as_they_were_printed() {
    for (name, record) in records() {
        assert_eq!(record.header.evidence, Evidence::Published, "{name}");
        assert_eq!(record.header.plan.name, name);
        assert!(!record.sources.is_empty() && !record.published.is_empty());
        for source in &record.sources {
            let words = [&source.title, &source.publisher, &source.place];
            assert!(words.iter().all(|words| !words.is_empty()), "{name}: {source:?}");
        }
        for cell in &record.published {
            let source = record.sources.iter().find(|source| source.table == cell.table);
            let source = source.unwrap_or_else(|| panic!("{name}: {cell:?} has no source"));
            assert!(source.paths.contains_key(&cell.provider), "{name}: {cell:?}");
            for figure in &cell.figures {
                assert!(figure.flag.is_some() || figure.number().is_some(), "{name}: {cell:?}");
            }
        }
        let text = published::render(&record, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(name.as_str(), text);
    }
}

/// NXP's benchmark counts cycles in a loop of 1024 calls, and measures the rate in another loop of a second
/// or more, which reads a timer and computes the core's clock after each call. Therefore clock / rate exceeds
/// the cycles by the cost of that for each call, whatever the algorithm: some hundred cycles if code and
/// stack are in tightly coupled memory (RT1060), over a thousand if they are behind a bus (RT1170).
#[test]
fn imxrt_rates_and_cycles_differ_by_a_constant_for_each_call() {
    let record = record("imxrt-mbedtls");
    assert_eq!(record.published.len(), 40);
    for cell in &record.published {
        let rate = cell.number(Quantity::KibibytesPerSecond).expect("a rate");
        let cycles = cell.number(Quantity::CyclesPerByte).expect("cycles");
        let bytes = f64::from(cell.bytes.expect("a size"));
        let calls = rate * 1024.0 / bytes;
        let surplus = cell.core_hz.expect("a clock") as f64 / calls - cycles * bytes;
        let expected = match cell.machine.as_str() {
            "MIMXRT1060-EVK" => 290.0..700.0,
            _ => 1300.0..1620.0,
        };
        assert!(expected.contains(&surplus), "{} {}: {surplus:.0}", cell.row, cell.column);
    }
}

/// A read that hits the cache does not depend on where the line came from: both halves of the table agree
/// there, except for one digit. A buffer four times as long is read at the same speed, within a few percent.
#[test]
fn otfad_reads_that_hit_the_cache_are_the_same_with_and_without_decryption() {
    let record = record("otfad-flexspi");
    assert_eq!(record.published.len(), 2 * 8 * 6);
    let of = |path: &str, column: &str| -> Vec<&Published> {
        let cells = record.published.iter();
        cells.filter(|cell| cell.provider == path && cell.column == column).collect()
    };
    for column in ["4KB, Filled", "16KB, Filled"] {
        for (plain, otfad) in of("flexspi", column).iter().zip(of("flexspi:otfad", column)) {
            let texts = [plain, &otfad].map(|cell| printed(cell, Quantity::MegabytesPerSecond));
            let misread = texts == ["5277.64", "5227.64"];
            let cut = texts == ["227.", "227:"];
            assert!(texts[0] == texts[1] || misread || cut, "{texts:?}");
        }
    }
    for state in ["Disabled", "Invalidated"] {
        for path in ["flexspi", "flexspi:otfad"] {
            let columns = [format!("4KB, {state}"), format!("16KB, {state}")];
            let [short, long] = columns.map(|column| of(path, &column));
            for (short, long) in short.iter().zip(long) {
                let rate = |cell: &Published| cell.number(Quantity::MegabytesPerSecond);
                let (Some(short_rate), Some(long_rate)) = (rate(short), rate(long)) else {
                    let flag = short.figures[0].flag.as_ref().expect("a flag");
                    assert_eq!(flag.kind, FlagKind::Blank);
                    continue;
                };
                let ratio = long_rate / short_rate;
                assert!((0.99..1.06).contains(&ratio), "{} {state}: {ratio}", short.row);
            }
        }
    }
    let cut = record.published.iter().filter(|cell| cell.column == "16KB, Filled");
    assert!(cut.clone().count() == 16 && cut.clone().all(|cell| cell.figures[0].flag.is_some()));
}

#[test]
fn imx6_counts_rates_and_the_summary_agree() {
    for (name, user_time) in
        [("imx6-software", false), ("imx6-cryptodev", true), ("imx6-af_alg", true)]
    {
        let record = record(name);
        let of = |table: &str| -> Vec<&Published> {
            record.published.iter().filter(|cell| cell.table == table).collect()
        };
        let (run, summary) = (of("run"), of("summary"));
        assert_eq!((run.len(), summary.len()), (5, 5));
        for (cell, repeated) in run.iter().zip(summary) {
            let count = cell.number(Quantity::Operations).expect("a count");
            assert_eq!(
                printed(cell, Quantity::Operations),
                printed(repeated, Quantity::Operations)
            );
            assert_eq!((cell.bytes, repeated.number(Quantity::Operations)), (repeated.bytes, None));
            let bytes = f64::from(cell.bytes.expect("a size"));
            assert_eq!(cell.nanoseconds(), Some(SECONDS * 1e9 / count));
            // openssl speed prints its count divided by the seconds that it prints, to the digit: CPU time if
            // the command had no -elapsed, and infinite if that was zero.
            let seconds: f64 = printed(cell, Quantity::StatedSeconds).parse().expect("seconds");
            let rate = format!("{:.2}", count * bytes / seconds / 1000.0);
            assert_eq!(printed(cell, Quantity::KilobytesPerSecond), rate, "{name} {bytes}");
            assert_eq!(cell.number(Quantity::KilobytesPerSecond).is_none(), user_time);
            assert_eq!(cell.number(Quantity::StatedSeconds).is_none(), user_time);
        }
    }
}

/// The quotient is printed exactly, truncated or rounded, and is computed from a clock that was not yet
/// rounded to ten megahertz: together the deviation is a little over one.
#[test]
fn armv8_scores_and_clocks_give_the_printed_quotient() {
    let record = record("armv8-aes");
    assert_eq!(record.published.len(), 86);
    let mut doubtful = 0;
    for cell in &record.published {
        let clock = cell.number(Quantity::Megahertz).expect("a clock");
        let score = cell.number(Quantity::KilobytesPerSecond).expect("a score");
        assert_eq!(cell.core_hz, Some(clock as u64 * 1_000_000));
        match cell.number(Quantity::KilobytesPerSecondAndMegahertz) {
            Some(quotient) => assert!((score / clock - quotient).abs() <= 1.0, "{}", cell.row),
            None => doubtful += 1,
        }
    }
    assert_eq!(doubtful, 1);
}
