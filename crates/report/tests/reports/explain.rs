//! The output of `cpb explain` for published tables and for synthetic records.

use cpb_analysis::explain::{Explained, Explanation, Question, explain};
use cpb_analysis::units::OperationsPerSecond;
use cpb_core::Algorithm;
use cpb_record::store;
use cpb_record::{Outcome, Record};
use cpb_report::explain::render;
use cpb_test_support::records::{self, Case};
use std::path::Path;

fn published(name: &str) -> Record {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    store::read(&folder.join(format!("{name}.jsonl"))).expect("a published record")
}

fn imx6(question: Option<Question>) -> Explanation {
    let names = ["imx6-af_alg", "imx6-cryptodev", "imx6-software"];
    explain(&names.map(published), question)
}

fn case(case: Case) -> Explanation {
    explain(&[records::record(case)], None)
}

#[test]
fn on_the_imx6_software_wins_at_every_size() {
    let explanation = imx6(None);
    insta::assert_snapshot!("imx6_80", render(&explanation, 80, false));
    let [task] = &explanation.tasks[..] else { panic!("{explanation:?}") };
    let [advice] = &task.advice[..] else { panic!("{:?}", task.advice) };
    assert_eq!(
        (advice.take.as_slice(), advice.least, advice.largest),
        (&["software".into()][..], 16, 8192)
    );
    let line = |provider: &str| {
        let costs = task.paths.iter().find(|costs| costs.provider == provider).unwrap();
        let line = &costs.fit.as_ref().unwrap().lines[0];
        (line.fixed.value.0 / 1000.0, line.per_byte.value.0)
    };
    let near = |figure: f64, truth: f64, share: f64| (figure / truth - 1.0).abs() < share;
    assert!(near(line("cryptodev").0, 70.0, 0.02), "{:?}", line("cryptodev"));
    assert!(near(line("af_alg").0, 74.0, 0.02), "{:?}", line("af_alg"));
    assert!(near(line("software").1, 28.6, 0.005), "{:?}", line("software"));
}

#[test]
fn a_load_of_ones_own_is_answered_per_path() {
    let question = Question { bytes: Some(390), rate: Some(OperationsPerSecond(2000.0)) };
    insta::assert_snapshot!("imx6_load_80", render(&imx6(Some(question)), 80, false));
    let size = Question { bytes: Some(390), rate: None };
    insta::assert_snapshot!("imx6_size_80", render(&imx6(Some(size)), 80, false));
    let measured = imx6(Some(Question { bytes: Some(1024), rate: None }));
    let answer = measured.tasks[0].answer.as_ref().expect("1 KiB was measured");
    assert!(answer.measured && answer.take == ["software"], "{answer:?}");
    let beyond = Question { bytes: Some(9000), rate: Some(OperationsPerSecond(2000.0)) };
    assert!(imx6(Some(beyond)).tasks[0].paths.iter().all(|costs| costs.load.is_none()));
}

#[test]
fn tables_of_one_size_are_compared_and_not_fitted() {
    for name in ["imxrt-mbedtls", "otfad-flexspi", "armv8-aes"] {
        let explanation = explain(&[published(name)], None);
        insta::assert_snapshot!(name, render(&explanation, 80, false));
    }
}

#[test]
fn made_up_records_are_explained() {
    insta::assert_snapshot!("normal_80", render(&case(Case::Normal), 80, false));
    insta::assert_snapshot!("no_clock_80", render(&case(Case::NoClock), 80, false));
    insta::assert_snapshot!("failures_80", render(&case(Case::Failures), 80, false));
    insta::assert_snapshot!("threads_80", render(&case(Case::Threads), 80, false));
    insta::assert_snapshot!("empty_80", render(&case(Case::Empty), 80, false));
    insta::assert_snapshot!("memory_reads_80", render(&case(Case::MemoryReads), 80, false));
}

/// A record in which only these providers have wrong outputs, each its own, and only of AES-256-CBC at 16 KiB.
fn wrong(providers: &[&str]) -> Record {
    let mut record = records::record(Case::Failures);
    for (cell, outcome) in &mut record.cells {
        let workload = cell.workload.crypto().expect("cryptography");
        if let Outcome::Measured(rounds) = outcome
            && workload.algorithm == Algorithm::Aes256Cbc
            && cell.workload.size() > 16
        {
            let wrong = providers.contains(&cell.provider.as_str());
            let output = if wrong { cell.provider.as_str() } else { "right" };
            rounds.iter_mut().for_each(|round| round.output = output.into());
        }
    }
    record
}

/// A library that is wrong only for long messages was recommended for short ones.
#[test]
fn a_path_with_a_wrong_answer_at_one_size_is_recommended_for_none() {
    let of = |providers: &[&str]| {
        let mut explanation = explain(&[wrong(providers)], None);
        explanation.tasks.retain(|task| task.subject.algorithm() == "aes-256-cbc");
        let text = render(&explanation, 80, false);
        let words: Vec<&str> = text.split_whitespace().collect();
        (words.join(" "), explanation.tasks.remove(0))
    };
    let takes = |task: &Explained, name: &str| {
        task.advice.iter().any(|advice| advice.take.iter().any(|taken| taken == name))
    };
    let (text, task) = of(&[]);
    assert!(takes(&task, "openssl") && !text.contains("do not take"), "{text}");
    let (text, task) = of(&["openssl"]);
    assert!(!takes(&task, "openssl") && takes(&task, "openssl:nocrypto"), "{text}");
    assert!(
        task.paths.iter().any(|path| path.provider == "openssl"),
        "its costs are shown: {text}"
    );
    let said = "do not take openssl: at 16 KiB, its outputs differ from those of most providers";
    assert!(text.contains(said), "{text}");
    let (text, task) = of(&["openssl", "mbedtls:c"]);
    assert!(task.advice.is_empty() && !text.contains(" use "), "{text}");
    let said =
        "at 16 KiB, providers disagree on the outputs, and no majority shows which are right";
    assert!(text.contains(said), "{text}");
}

#[test]
fn of_an_emulated_cpu_nothing_is_said_but_why() {
    let explanation = case(Case::Emulated);
    assert!(explanation.tasks.is_empty() && !explanation.without.is_empty());
    insta::assert_snapshot!("emulated_80", render(&explanation, 80, false));
}

#[test]
fn every_explanation_fits_its_width_and_holds_no_number_that_is_none() {
    for one in Case::ALL {
        for width in [60, 80, 120] {
            let text = render(&case(one), width, false);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{one:?} at {width}: {line}");
            }
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(words.into_iter().all(|word| !["NaN", "inf"].contains(&word)), "{text}");
        }
        let coloured = render(&case(one), 80, true);
        assert_eq!(
            anstream::adapter::strip_str(&coloured).to_string(),
            render(&case(one), 80, false)
        );
        assert!(!serde_json::to_string(&case(one)).unwrap().contains("NaN"));
    }
}
