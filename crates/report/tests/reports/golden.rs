//! Reports of synthetic records, compared with snapshots.
//!
//! After an intended change: `cargo insta review`, or `INSTA_UPDATE=always cargo test`.

use cpb_analysis::explain::explain;
use cpb_analysis::summary::{Summary, summarise};
use cpb_core::Ticks;
use cpb_core::sample::bucket;
use cpb_record::{Outcome, Record, Times};
use cpb_report::terminal::{self, Options};
use cpb_report::{csv, html, json, markdown};
use cpb_test_support::records::{self, Case};

fn summary(case: Case) -> Summary {
    summarise(&records::record(case))
}

fn shown(record: &Record, width: usize, colour: bool, options: &Options) -> String {
    terminal::render(&summarise(record), &explain([record], None), width, colour, options)
}

fn terminal(case: Case, width: usize) -> String {
    shown(&records::record(case), width, false, &Options::default())
}

fn all(case: Case, width: usize) -> String {
    shown(&records::record(case), width, false, &Options { all: true, ..Options::default() })
}

#[test]
fn a_normal_run() {
    insta::assert_snapshot!("normal_80", terminal(Case::Normal, 80));
    // The default plan on a screen of 80 x 50, with the line that names the record.
    assert!(terminal(Case::Normal, 80).lines().count() < 50);
    insta::assert_snapshot!("normal_50", terminal(Case::Normal, 50));
    insta::assert_snapshot!("normal_markdown", markdown::render(&summary(Case::Normal)));
}

#[test]
fn reads_of_memory() {
    insta::assert_snapshot!("memory_reads_80", terminal(Case::MemoryReads, 80));
    insta::assert_snapshot!("memory_reads_markdown", markdown::render(&summary(Case::MemoryReads)));
    insta::assert_snapshot!("memory_reads_csv", csv::render(&summary(Case::MemoryReads)).unwrap());
    insta::assert_snapshot!(
        "memory_reads_json",
        json::render(&summary(Case::MemoryReads)).unwrap()
    );
}

#[test]
fn a_run_without_a_known_clock_with_many_sizes_and_phases() {
    insta::assert_snapshot!("no_clock_80", terminal(Case::NoClock, 80));
    insta::assert_snapshot!("no_clock_all_80", all(Case::NoClock, 80));
    insta::assert_snapshot!("no_clock_markdown", markdown::render(&summary(Case::NoClock)));
}

#[test]
fn the_latency_with_others_in_flight_stands_below_that_of_single_operations() {
    let mut record = records::record(Case::NoClock);
    assert!(!json::render(&summarise(&record)).unwrap().contains("latency_in_flight"));
    for (_, outcome) in &mut record.cells {
        let Outcome::Measured(rounds) = outcome else { continue };
        for round in rounds {
            let buckets = vec![(bucket(Ticks(7_000_019)), 64)];
            round.latency_in_flight = Some(Times { buckets, max: 7_000_019 });
        }
    }
    let all = Options { all: true, ..Options::default() };
    let shown = shown(&record, 80, false, &all);
    let rows: Vec<_> = shown.lines().filter(|line| line.contains(", in flight")).collect();
    assert!(rows.len() > 3, "{shown}");
    assert!(rows.iter().all(|row| row.contains("7.00 ms") && row.chars().count() <= 80), "{shown}");
    assert!(json::render(&summarise(&record)).unwrap().contains("latency_in_flight"));
    // The other formats.
    let table = csv::render(&summarise(&record)).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().expect("the headings");
    let column = |name: &str| heads.iter().position(|head| *head == name).expect(name);
    let longest = column("latency_in_flight_max_ns");
    let times: Vec<f64> = lines.filter_map(|line| line.get(longest)?.parse().ok()).collect();
    assert!(times.len() >= rows.len() && times.iter().all(|ns| *ns == 7e6), "{times:?}");
    let text = markdown::render(&summarise(&record));
    let (tables, _) = text.split_once("\nRates in MB/s").expect("a legend");
    let latencies: String = tables
        .split("\n## ")
        .filter(|part| part.contains("in flight"))
        .map(|part| format!("## {part}"))
        .collect();
    insta::assert_snapshot!("in_flight_markdown", latencies);
    let page = html::render(&[("record".into(), record)]).unwrap();
    for heading in ["p50 with others in flight", "p99 with others in flight", "in flight p90 (ns)"]
    {
        assert!(page.contains(heading), "{heading}");
    }
    let without = html::render(&[("record".into(), records::record(Case::NoClock))]).unwrap();
    assert!(!without.contains("in flight"));
}

#[test]
fn a_run_in_which_much_went_wrong() {
    insta::assert_snapshot!("failures_80", terminal(Case::Failures, 80));
    insta::assert_snapshot!("failures_50", terminal(Case::Failures, 50));
    insta::assert_snapshot!("failures_markdown", markdown::render(&summary(Case::Failures)));
    insta::assert_snapshot!("failures_csv", csv::render(&summary(Case::Failures)).unwrap());
    insta::assert_snapshot!("failures_json", json::render(&summary(Case::Failures)).unwrap());
}

#[test]
fn a_run_on_an_emulated_cpu() {
    insta::assert_snapshot!("emulated_80", terminal(Case::Emulated, 80));
    insta::assert_snapshot!("emulated_csv", csv::render(&summary(Case::Emulated)).unwrap());
}

#[test]
fn a_run_through_the_kernel_s_interfaces() {
    insta::assert_snapshot!("kernel_80", terminal(Case::Kernel, 80));
    insta::assert_snapshot!("kernel_50", terminal(Case::Kernel, 50));
    insta::assert_snapshot!("kernel_all_80", all(Case::Kernel, 80));
    insta::assert_snapshot!("kernel_markdown", markdown::render(&summary(Case::Kernel)));
    insta::assert_snapshot!("kernel_csv", csv::render(&summary(Case::Kernel)).unwrap());
    let mut record = records::record(Case::Kernel);
    record.header.plan.report = cpb_record::plan::Layout::Rates;
    insta::assert_snapshot!("kernel_rates_80", shown(&record, 80, false, &Options::default()));
    insta::assert_snapshot!("kernel_rates_markdown", markdown::render(&summarise(&record)));
    let asked = shown(&record, 80, false, &Options { by_size: true, ..Options::default() });
    assert_eq!(asked, terminal(Case::Kernel, 80));
}

#[test]
fn a_run_through_the_kernel_s_interfaces_on_an_emulated_cpu() {
    insta::assert_snapshot!("kernel_emulated_80", terminal(Case::KernelEmulated, 80));
    insta::assert_snapshot!("kernel_emulated_50", terminal(Case::KernelEmulated, 50));
    let summary = summary(Case::KernelEmulated);
    insta::assert_snapshot!("kernel_emulated_markdown", markdown::render(&summary));
    insta::assert_snapshot!("kernel_emulated_csv", csv::render(&summary).unwrap());
}

#[test]
fn software_alone_is_reported_without_a_word_of_who_executed() {
    for case in Case::ALL {
        let kernel = matches!(case, Case::Kernel | Case::KernelEmulated);
        for text in [terminal(case, 80), markdown::render(&summary(case))] {
            assert_eq!(text.contains("executor"), kernel, "{case:?}");
        }
    }
}

#[test]
fn a_run_in_several_threads() {
    insta::assert_snapshot!("threads_80", terminal(Case::Threads, 80));
    insta::assert_snapshot!("threads_all_80", all(Case::Threads, 80));
    insta::assert_snapshot!("threads_csv", csv::render(&summary(Case::Threads)).unwrap());
}

#[test]
fn a_record_with_nothing_in_it() {
    insta::assert_snapshot!("empty_80", terminal(Case::Empty, 80));
}

#[test]
fn every_form_fits_its_width_and_colour_changes_no_word() {
    for case in Case::ALL {
        for width in [60, 80, 120] {
            for line in terminal(case, width).lines() {
                assert!(line.chars().count() <= width, "{case:?} at {width}: {line}");
            }
        }
        let coloured = shown(&records::record(case), 80, true, &Options::default());
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), terminal(case, 80));
    }
}

#[test]
fn no_form_holds_a_number_that_is_none() {
    for case in Case::ALL {
        let summary = summary(case);
        let forms = [
            all(case, 80),
            markdown::render(&summary),
            csv::render(&summary).unwrap(),
            json::render(&summary).unwrap(),
        ];
        for text in forms {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(words.into_iter().all(|word| !["NaN", "inf"].contains(&word)), "{case:?}");
        }
    }
}
