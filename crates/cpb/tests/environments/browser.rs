//! Reports in a real browser: headless Chromium, driven by `browser/check.mjs`.
//!
//! `make setup` installs what this needs: Debian's Chromium, Node, and the packages in `browser/package-lock.json`.

use cpb_report::html;
use cpb_test_support::{
    Lab, in_make_test, lab,
    records::{self, Case},
    skip,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is missing to open a page; `None` if nothing is.
fn missing() -> Option<String> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    for program in ["node", "chromium"] {
        if !runs(program) {
            return Some(format!("no {program}; `make setup` installs it"));
        }
    }
    let packages = browser().join("node_modules/puppeteer-core");
    (!packages.is_dir()).then(|| "no puppeteer-core; `make setup` installs it".to_owned())
}

fn browser() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

/// Opens a page of `lab` and runs all checks of `check.mjs`.
fn check(test: &str, lab: &Lab, page: &str) {
    if let Some(stdout) = run(test, lab, page, &[]) {
        assert!(stdout.lines().filter(|line| line.starts_with("ok ")).count() > 10, "{stdout}");
    }
}

/// Runs some or all checks on a page and returns their output, or `None` if something is missing.
fn run(test: &str, lab: &Lab, page: &str, checks: &[&str]) -> Option<String> {
    if !in_make_test(test) {
        return None;
    }
    if let Some(why) = missing() {
        skip(test, &why);
        return None;
    }
    let checked = Command::new("node")
        .arg(browser().join("check.mjs"))
        .arg(lab.path(page))
        .args(checks)
        .output()
        .expect("node starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&checked.stdout), text(&checked.stderr));
    print!("{stdout}");
    assert!(checked.status.success(), "{stdout}\n{stderr}");
    Some(stdout)
}

fn report(lab: &Lab, records: &str) {
    let ran = lab.run(&format!("report {records} -o report.html"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
}

fn made_up(lab: &Lab, case: Case) {
    let page = html::render(&[("record".into(), records::record(case))]).expect("a page");
    std::fs::write(lab.path("report.html"), page).expect("a file");
}

#[test]
fn a_page_of_published_tables_works() {
    let lab = lab!();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let record = |name: &str| folder.join(format!("imx6-{name}.jsonl")).display().to_string();
    report(&lab, &["software", "cryptodev", "af_alg"].map(record).join(" "));
    check("a_page_of_published_tables_works", &lab, "report.html");
}

#[test]
fn a_page_of_a_fresh_run_works() {
    let lab = lab!();
    let what = "-a sha-256,aes-128-gcm -p openssl,mbedtls:c -s 16,256,4K --budget 2s";
    let ran = lab.run(&format!("run {what} -o record.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    report(&lab, "record.jsonl");
    check("a_page_of_a_fresh_run_works", &lab, "report.html");
}

#[test]
fn a_page_of_an_emulated_machine_works() {
    let lab = lab!();
    made_up(&lab, Case::KernelEmulated);
    check("a_page_of_an_emulated_machine_works", &lab, "report.html");
}

#[test]
fn a_page_of_failures_works() {
    let lab = lab!();
    made_up(&lab, Case::Failures);
    check("a_page_of_failures_works", &lab, "report.html");
}

#[test]
fn the_default_plan_on_paper_is_under_a_mebibyte() {
    let lab = lab!();
    let ran = lab.run("run --budget 2s -o record.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    report(&lab, "record.jsonl");
    let test = "the_default_plan_on_paper_is_under_a_mebibyte";
    let Some(said) = run(test, &lab, "report.html", &["paper"]) else { return };
    let bytes = said.lines().find_map(|line| line.strip_prefix("pdf ")).expect("a PDF");
    assert!(bytes.parse::<usize>().expect("its size") < 1 << 20, "{bytes} bytes");
}

#[test]
fn a_page_of_a_comparison_works() {
    let lab = lab!();
    let what =
        "-a sha-256,aes-128-gcm -p openssl,openssl:nocrypto,mbedtls:c -s 16,256,4K --budget 2s";
    let ran = lab.run(&format!("run {what} -o record.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let compare = "compare record.jsonl --between openssl,openssl:nocrypto -o report.html";
    let ran = lab.run(compare);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    check("a_page_of_a_comparison_works", &lab, "report.html");
}
