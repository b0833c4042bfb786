//! Reads of flash, plain and decrypted, beside the published table: runs of the simulated i.MX RT1170.

use cpb_analysis::explain::explain;
use cpb_record::{Record, store};
use cpb_report::{explain::render, html};
use std::path::Path;

fn read(path: &str) -> Record {
    store::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a record")
}

fn simulated() -> [Record; 2] {
    ["plain", "otfad"].map(|name| read(&format!("tests/records/flash-{name}.jsonl")))
}

fn published() -> Record {
    read("../../records/otfad-flexspi.jsonl")
}

fn explained(records: &[Record]) -> String {
    render(&explain(records, None), 80, false)
}

/// A page of these records, and its section on reads of flash.
fn page(records: Vec<(&str, Record)>) -> (String, String) {
    let records: Vec<(String, Record)> =
        records.into_iter().map(|(name, record)| (name.to_owned(), record)).collect();
    let page = html::render(&records).expect("a page");
    let section = page.split("<section id=\"flash\">").nth(1).unwrap_or_default();
    let section = section.split("<section id=").next().unwrap_or_default().to_owned();
    (page, section)
}

fn whole_page() -> (String, String) {
    let [plain, otfad] = simulated();
    page(vec![("otfad-flexspi", published()), ("plain", plain), ("otfad", otfad)])
}

#[test]
fn what_decryption_costs_comes_first_and_with_its_bounds() {
    insta::assert_snapshot!("decryption_80", explained(&simulated()));
    let [plain, otfad] = simulated();
    // The order in which the records are given does not matter.
    assert_eq!(explained(&[otfad, plain]), explained(&simulated()));
    let json = serde_json::to_value(explain(&simulated(), None)).expect("JSON");
    let cost = &json["inline_decryption"]["costs"][0];
    assert_eq!((&cost["engine"], &cost["evidence"]), (&"OTFAD".into(), &"simulated".into()));
    assert_eq!(cost["classes"].as_array().map(Vec::len), Some(4));
    assert_eq!(cost["pairs"].as_array().map(Vec::len), Some(42));
}

#[test]
fn one_image_alone_says_what_is_missing() {
    let [plain, otfad] = simulated();
    insta::assert_snapshot!("decryption_plain_80", explained(&[plain]));
    insta::assert_snapshot!("decryption_otfad_80", explained(&[otfad]));
}

#[test]
fn errors_stand_beside_the_published_table_and_flagged_figures_apart() {
    let (page, section) = whole_page();
    assert!(page.contains("href=\"#flash\"") && !page.contains("id=\"answer\""));
    assert_eq!(section.matches("<table class=\"heat\">").count(), 2, "plain and OTFAD apart");
    for words in [
        "66 cells, mean absolute error",
        "With 16 doubtful figures, in brackets below: 82 cells, mean absolute error 1.2%, largest -6.4%",
        "Plain (flexspi): error of the simulated rate; 33 cells",
        "OTFAD on (flexspi:otfad): error of the simulated rate; 33 cells",
        "the last digits are cut off",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    assert_eq!(section.matches(">illegible<").count(), 2, "227 has no error");
    // Every colour comes with its number.
    for cell in section.split("<td class=\"").skip(1) {
        let (class, rest) = cell.split_once("\">").expect("a class");
        assert!(!class.contains("heat") || rest.split('%').next().is_some_and(|n| n.len() < 6));
    }
}

#[test]
fn errors_need_both_a_table_and_matching_reads() {
    let [plain, otfad] = simulated();
    let (_, section) = page(vec![("plain", plain.clone()), ("otfad", otfad)]);
    assert!(!section.contains("class=\"heat\"") && section.contains("Bandwidth"), "{section}");
    let (_, section) = page(vec![("otfad-flexspi", published())]);
    assert!(!section.contains("class=\"heat\"") && section.contains("Bandwidth"), "{section}");
    assert!(section.contains("Published: with OTFAD on"), "{section}");
    // The half of the table whose image was not measured is left out.
    let (_, section) = page(vec![("otfad-flexspi", published()), ("plain", plain)]);
    assert_eq!(section.matches("<table class=\"heat\">").count(), 1);
    let (page, section) = page(vec![("imx6", read("../../records/imx6-software.jsonl"))]);
    assert!(section.is_empty() && !page.contains("#flash") && page.contains("id=\"answer\""));
}

#[test]
fn bandwidth_has_a_row_for_each_way_and_the_same_numbers_as_a_table() {
    let (_, section) = whole_page();
    // 4 and 16 KiB, 21 ways each, and a marker for each rate; illegible and doubtful figures have none.
    assert_eq!(section.matches("class=\"plot forest\"").count(), 2);
    assert_eq!(section.matches("class=\"detail\"").count(), 42);
    assert_eq!(section.matches("<polygon").count(), 42);
    assert_eq!(section.matches("buffers of 4 KiB").count(), 5, "{section}");
    for words in ["plain, simulated", "OTFAD, published", "47.8", "4.0"] {
        assert!(section.contains(words), "{words}");
    }
}

#[test]
fn dev_page() {
    std::fs::write("/tmp/h21-dev/page.html", whole_page().0).unwrap();
    std::fs::write("/tmp/h21-dev/published.html", page(vec![("otfad-flexspi", published())]).0).unwrap();
}
