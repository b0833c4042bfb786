//! Records and plans: files from outside, which are read, evaluated and shown in every form.

use cpb_analysis::compare;
use cpb_analysis::explain::{Question, explain};
use cpb_analysis::identify::{self, cores::Cores};
use cpb_analysis::summary::summarise;
use cpb_record::Record;
use cpb_record::plan::Plan;
use cpb_record::store::parse_record;
use cpb_report::{csv, html, json, markdown, published, terminal};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Takes any bytes as a record: it is rejected with a message, or shown in every form without a panic.
pub fn record(bytes: &[u8]) {
    let record = match parse_record(bytes) {
        Ok(record) => record,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let summary = summarise(&record);
    let explanation = explain([&record], None);
    for all in [false, true] {
        let options = terminal::Options { all, by_size: !all, verdict_last: all };
        let _ = terminal::render(&summary, &explanation, 80, all, &options);
    }
    let _ = markdown::render(&summary);
    json::render(&summary).expect("JSON");
    figures_are_numbers(&csv::render(&summary).expect("a table"));
    let _ = published::render(&record, 80) + &published::render_markdown(&record);
    published::render_csv(&record).expect("a table");
    published::render_json(&record).expect("JSON");
    explained(&record);
    identified(&record);
    let page = html::render(&[("record".into(), record)]).expect("a page");
    assert_eq!(page.matches("<script").count(), 1, "its own script and no other");
}

/// Explains the record, and compares it with itself.
fn explained(record: &Record) {
    let question =
        Question { bytes: Some(390), rate: Some(cpb_analysis::units::OperationsPerSecond(2000.0)) };
    let explanation = explain([record], Some(question));
    let compared = compare::runs(record, record, compare::Pairs::ByName);
    let text = cpb_report::explain::render(&explanation, 80, false)
        + &cpb_report::compare::render(&compared, 80, false);
    // Text in a record may contain anything; figures are followed by their units.
    for none in ["NaN ", "inf ", "NaN×", "inf×", "NaN%", "inf%"] {
        assert!(!text.contains(none) || words(record).contains(none.trim_end()), "{text}");
    }
}

/// Identifies the record's cores from their figures.
fn identified(record: &Record) {
    static CORES: OnceLock<Cores> = OnceLock::new();
    let cores = CORES.get_or_init(Cores::load);
    let found = cpb_report::identify::Found {
        cores: identify::observed(record)
            .iter()
            .map(|core| identify::identify(core, cores))
            .collect(),
        ..Default::default()
    };
    let found = [found];
    let text = cpb_report::identify::render(&found, 80, false)
        + &cpb_report::identify::render_markdown(&found);
    for none in ["NaN ", "inf ", "NaN%", "inf%"] {
        assert!(!text.contains(none) || words(record).contains(none.trim_end()), "{text}");
    }
}

fn words(record: &Record) -> String {
    format!("{record:?}")
}

/// Checks that each row has all columns, and that no figure is negative, infinite or not a number.
fn figures_are_numbers(table: &str) {
    let mut rows = ::csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().expect("a header").clone();
    for row in rows.records() {
        let row = row.expect("as many fields as the header has");
        for (name, field) in names.iter().zip(&row).filter(|(_, field)| !field.is_empty()) {
            if ["_ns", "_ratio", "_per_second", "cycles"].iter().any(|unit| name.contains(unit)) {
                let number = field.parse::<f64>();
                let sound = number.as_ref().is_ok_and(|n| n.is_finite() && *n >= 0.0);
                assert!(sound, "{name}: {field}");
            }
        }
    }
}

/// Takes any text as a plan: it is rejected with a message, or gives a list of valid and distinct workloads
/// that is unchanged after it is stored in a record.
pub fn plan(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let plan = match Plan::parse(text) {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let workloads = plan.workloads();
    assert!(!workloads.is_empty());
    assert!(workloads.iter().all(|workload| workload.valid().is_ok()));
    let different: HashSet<_> = workloads.iter().collect();
    assert_eq!(different.len(), workloads.len());
    let kept = serde_json::to_string(&plan).expect("a plan is data");
    let again: Plan = serde_json::from_str(&kept).expect("what was written is read");
    assert_eq!(again, plan);
}
