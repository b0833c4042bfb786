//! Every schema that a record ever had remains readable, and every line is written back unchanged.

mod lines;
use cpb_analysis::compare;
use cpb_analysis::explain::{Question, explain};
use cpb_analysis::summary::summarise;
use cpb_core::{Error, Meaning};
use cpb_record::store;
use cpb_record::{Line, Outcome, Record, SCHEMA};
use cpb_report::terminal::{self, Options};
use cpb_test_support::lab;
use jsonschema::Validator;
use lines::{header, line};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One record of each schema, written when that schema was the latest.
fn records() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut records: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    records.sort();
    records
}

#[test]
fn there_is_a_record_of_every_schema() {
    let names: Vec<String> =
        records().iter().map(|path| path.file_stem().unwrap().display().to_string()).collect();
    let expected: Vec<String> = (1..=SCHEMA).map(|schema| format!("record-v{schema}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_record_of_every_schema_is_read_whole() {
    for path in records() {
        let record = store::read(&path).expect("readable for ever");
        let mut text = format!(
            "schema {} by cpb {}, begun {}, {:?}, {}\n{} checks, {} warnings, interrupted: {:?}\n",
            record.header.schema,
            record.header.version,
            record.header.began,
            record.header.evidence,
            record.header.machine.cpu,
            record.checks.len(),
            record.warnings.len(),
            record.end.as_ref().map(|end| end.interrupted),
        );
        for (cell, outcome) in &record.cells {
            let what = match outcome {
                Outcome::Measured(rounds) => {
                    let samples = rounds.iter().flat_map(|round| &round.samples);
                    let batches: usize = samples.map(Vec::len).sum();
                    format!("{} rounds, {batches} batches", rounds.len())
                }
                Outcome::NotMeasured(reason) => reason.to_string(),
            };
            text.push_str(&format!("{cell}: {what}\n"));
        }
        let name = path.file_stem().unwrap().display().to_string();
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn a_record_of_every_schema_gives_its_report() {
    for path in records() {
        let record = store::read(&path).expect("readable for ever");
        let report = terminal::render(
            &summarise(&record),
            &explain([&record], None),
            80,
            false,
            &Options::default(),
        );
        let name = format!("{}-report", path.file_stem().unwrap().display());
        insta::assert_snapshot!(name, report);
    }
}

#[test]
fn an_engine_s_error_is_stored_with_its_meaning_and_older_errors_are_read() {
    let engine = Error::Engine { code: 0x2000_001c, meaning: Meaning::Length };
    let stored = r#"{"engine":{"code":536870940,"meaning":"length"}}"#;
    assert_eq!(serde_json::to_string(&engine).unwrap(), stored);
    assert_eq!(serde_json::from_str::<Error>(stored).unwrap(), engine);
    let older = serde_json::from_str::<Error>(r#"{"device":-110}"#).unwrap();
    assert_eq!(older, Error::Device(-110));
}

/// The definition of a line in `docs/record.schema.json`.
fn published_schema() -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

/// Why a line does not follow the schema.
fn wrong(schema: &Validator, line: &Value) -> Option<String> {
    let errors: Vec<String> = schema
        .iter_errors(line)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

#[test]
fn records_new_and_old_follow_the_published_schema() {
    let schema = published_schema();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let tables = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let lab = lab!();
    let measured = lab.record("measured.jsonl");
    let mut count = 0;
    for path in records().into_iter().chain(tables).chain([measured]) {
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(wrong(&schema, &line), None, "{} line {}", path.display(), number + 1);
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

/// A line without one of its fields, for each field at any depth.
fn without_a_field(line: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match line {
        Value::Object(fields) => {
            for (name, value) in fields {
                let mut less = fields.clone();
                less.remove(name);
                all.push(Value::Object(less));
                for value in without_a_field(value) {
                    let mut changed = fields.clone();
                    changed.insert(name.clone(), value);
                    all.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                for item in without_a_field(item) {
                    let mut changed = items.clone();
                    changed[place] = item;
                    all.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    all
}

proptest! {
    #[test]
    fn the_published_schema_takes_what_cpb_takes_and_nothing_else(line in line()) {
        let schema = published_schema();
        let whole = serde_json::to_value(&line).unwrap();
        prop_assert_eq!(wrong(&schema, &whole), None);
        let mut more = whole.clone();
        let content = more.as_object_mut().unwrap().values_mut().next().unwrap();
        if let Some(fields) = content.as_object_mut() {
            fields.insert("unheard_of".into(), Value::Null);
            prop_assert!(wrong(&schema, &more).is_some());
        }
        for less in without_a_field(&whole) {
            let readable = serde_json::from_value::<Line>(less.clone()).is_ok();
            prop_assert_eq!(wrong(&schema, &less).is_none(), readable, "{}", less);
        }
    }

    #[test]
    fn every_line_comes_back_from_json_as_it_was(line in line()) {
        let text = serde_json::to_string(&line).unwrap();
        prop_assert!(!text.contains('\n'), "one line is one line");
        prop_assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
    }

    #[test]
    fn any_record_is_explained_and_compared_without_a_panic(
        header in header(), lines in vec(line(), 0..12),
    ) {
        let record = Record::assemble(header, lines);
        let question = Question { bytes: Some(390), rate: Some(cpb_analysis::units::OperationsPerSecond(2000.0)) };
        let explanation = explain([&record, &record], Some(question));
        cpb_report::explain::render(&explanation, 80, false);
        let compared = compare::runs(&record, &record, compare::Pairs::ByName);
        cpb_report::compare::render(&compared, 80, false);
        cpb_report::published::render(&record, 80);
    }

    #[test]
    fn a_record_cut_anywhere_is_read_up_to_there_or_refused(
        header in header(), lines in vec(line(), 0..4), cut in any::<prop::sample::Index>(),
    ) {
        let mut text = serde_json::to_string(&Line::Cpb(Box::new(header))).unwrap() + "\n";
        // A second header would begin another record.
        for line in lines.iter().filter(|line| !matches!(line, Line::Cpb(_))) {
            text += &(serde_json::to_string(line).unwrap() + "\n");
        }
        prop_assert!(store::parse_record(text.as_bytes()).is_ok());
        let cut = cut.index(text.len());
        let whole = text.as_bytes()[..cut].ends_with(b"\n");
        prop_assert_eq!(store::parse_record(&text.as_bytes()[..cut]).is_ok(), whole);
    }
}
