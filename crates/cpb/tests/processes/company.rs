//! Two cpbs on one CPU name each other in both records; the file of a killed cpb is ignored.

use cpb_test_support::{Lab, SHORT, lab, lines, of_kind};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The warnings of a record about another cpb.
fn company(lab: &Lab, record: &str) -> Vec<String> {
    let lines = lines(&lab.path(record));
    let words = of_kind(&lines, "warning").into_iter().filter_map(|words| words.as_str());
    words.filter(|words| words.starts_with("Another cpb")).map(str::to_owned).collect()
}

#[test]
fn two_that_measure_at_once_name_each_other() {
    let lab = lab!();
    let line = "run -a sha-256 -s 16 -p mbedtls:c --budget 4s -o";
    let start = |record: &str| {
        let mut command = lab.process(&format!("{line} {record}"));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("cpb starts")
    };
    let [first, second] = ["first.jsonl", "second.jsonl"].map(start);
    let numbers = [first.id(), second.id()];
    let ended = [first, second].map(|child| child.wait_with_output().expect("it ends"));
    for (record, other) in [("first.jsonl", numbers[1]), ("second.jsonl", numbers[0])] {
        let words = company(&lab, record);
        assert_eq!(words.len(), 1, "{record}: {words:?}");
        assert!(words[0].contains(&format!("process {other}, ")), "{record}: {words:?}");
    }
    let said = ended.map(|output| String::from_utf8(output.stderr).expect("text"));
    assert!(said.iter().any(|said| said.contains("warning: Another cpb")), "{said:?}");
    // They leave no files behind.
    lab.record("alone.jsonl");
    assert_eq!(company(&lab, "alone.jsonl"), Vec::<String>::new());
}

#[test]
fn one_that_was_killed_leaves_nothing_that_counts() {
    let lab = lab!();
    let mut command = lab.process("run -a sha-256 -s 16 -p mbedtls:c --budget 60s -o killed.jsonl");
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("cpb starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let measures = || {
        let text = std::fs::read_to_string(lab.path("killed.jsonl")).unwrap_or_default();
        text.contains("{\"round\"")
    };
    while !measures() {
        assert!(Instant::now() < deadline, "it measures nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("a signal");
    child.wait().expect("it ends");
    let ran = lab.run(&format!("{SHORT} -o next.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert_eq!(company(&lab, "next.jsonl"), Vec::<String>::new());
}
