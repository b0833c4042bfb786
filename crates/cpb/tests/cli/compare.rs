//! `cpb compare`: its output for two records, and its exit status.

use assert_cmd::Command;
use cpb_analysis::compare::{Pairs, providers, runs};
use cpb_analysis::paths::Task;
use cpb_analysis::ratio::Verdict;
use cpb_import::Options;
use cpb_record::Evidence;
use cpb_record::Machine;
use cpb_record::store;
use cpb_report::compare::render;
use cpb_report::html;
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/record-v1.jsonl")
}

/// The golden record with all batches of one provider's workload lengthened by a factor.
fn slowed(folder: &Path, provider: &str, workload: &str, factor: f64) -> PathBuf {
    let text = std::fs::read_to_string(golden()).expect("the golden record");
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line");
        let round = &mut line["round"];
        if round["provider"] == provider && round["workload"] == workload {
            for batch in round["samples"][0].as_array_mut().expect("batches") {
                let ticks = batch[0].as_f64().expect("ticks");
                batch[0] = ((ticks * factor).round() as u64).into();
            }
        }
        // Indexing a line that is not a round has added an empty one there.
        line.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        line.to_string() + "\n"
    });
    let path = folder.join("after.jsonl");
    std::fs::write(&path, lines.collect::<String>()).expect("room in the temporary folder");
    path
}

const SLOWED: &str = "sha-256/hash/message/1024";

#[test]
fn a_slowed_cell_is_named_and_the_others_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let before = store::read(&golden()).unwrap();
    let after = store::read(&slowed(folder.path(), "openssl", SLOWED, 1.5)).unwrap();
    let compared = runs(&before, &after, Pairs::ByName);
    let slower: Vec<String> = compared
        .cells
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster))
        .map(|row| format!("{} {} {:?}", row.provider, row.bytes, row.verdict))
        .collect();
    assert_eq!(slower, ["openssl 1024 Slower"]);
    insta::assert_snapshot!("slowed_80", render(&compared, 80, false));
}

#[test]
fn two_providers_of_one_record_are_compared() {
    let record = store::read(&golden()).unwrap();
    let compared = providers(&record, "openssl", "openssl:nocrypto");
    assert!(compared.cells.iter().all(|row| row.verdict == Verdict::Slower), "{compared:?}");
    insta::assert_snapshot!("providers_80", render(&compared, 80, false));
}

#[test]
fn how_it_ends_says_whether_something_got_slower() {
    let folder = tempfile::tempdir().unwrap();
    let after = slowed(folder.path(), "openssl", SLOWED, 1.3);
    let compare = |after: &Path, options: &[&str]| {
        let mut command = Command::cargo_bin("cpb").unwrap();
        command.arg("compare").arg(golden()).arg(after).args(options);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(compare(&after, &[]).0, Some(0));
    let (code, words) = compare(&after, &["--fail-if-slower", "3%"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("openssl sha-256 hash at 1 KiB: 1.3"), "{words}");
    assert_eq!(compare(&after, &["--fail-if-slower", "40%"]).0, Some(0));
    assert_eq!(compare(&golden(), &["--fail-if-slower", "3%"]).0, Some(0));
    assert_eq!(compare(&folder.path().join("none.jsonl"), &[]).0, Some(2));
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/armv8-aes.jsonl");
    let (code, words) = compare(&published, &[]);
    assert!(code == Some(2) && words.contains("nothing to compare"), "{code:?} {words}");
}

/// Runs `cpb compare` with an output file; returns exit status, standard output and error.
fn written(records: [&Path; 2], file: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("cpb").unwrap();
    command.arg("compare").args(records).arg("-o").arg(file).args(options);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_page_of_a_comparison_leads_with_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (golden, after) = (golden(), slowed(folder.path(), "openssl", SLOWED, 1.5));
    let page = folder.path().join("changes.html");
    let (code, stdout, stderr) = written([&golden, &after], &page, &[]);
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    assert!(stderr.contains("changes.html"), "{stderr}");
    let text = std::fs::read_to_string(&page).unwrap();
    let lead = text.split("<p class=\"lead\">").nth(1).and_then(|rest| rest.split("</p>").next());
    insta::assert_snapshot!("slowed_lead", lead.expect("a headline"));
    for part in ["What changed", "By operation and provider", "Every cell", "Other differences"] {
        assert!(text.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    // The slowed cell comes first in the table and has its own drawing.
    let table = text.split("<table id=\"compared\"").nth(1).expect("a table");
    let row = table.split("<tbody>").nth(1).and_then(|rest| rest.split("</tr>").next()).unwrap();
    assert!(row.contains("openssl") && row.contains("slower") && row.contains("1024"), "{row}");
    let plot = text.split("<svg class=\"plot forest\"").nth(1).expect("a plot");
    assert_eq!(plot.split("</svg>").next().unwrap().matches("<polygon").count(), 1, "{plot}");
    for outside in ["://", " src=", "@import", "url("] {
        assert!(!text.contains(outside), "{outside}");
    }

    // Unchanged cells are reported as such.
    assert_eq!(written([&golden, &golden], &page, &[]).0, Some(2), "it exists");
    let (code, ..) = written([&golden, &golden], &page, &["--overwrite"]);
    assert_eq!(code, Some(0));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("got slower or faster by more than the noise"), "{text}");
}

#[test]
fn a_written_comparison_ends_as_a_printed_one_and_overwrites_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let (golden, after) = (golden(), slowed(folder.path(), "openssl", SLOWED, 1.5));
    let page = folder.path().join("changes.html");
    let (code, _, stderr) = written([&golden, &after], &page, &["--fail-if-slower", "3%"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(page.exists() && stderr.contains("slower than allowed"), "{stderr}");

    let data = folder.path().join("changes.json");
    assert_eq!(written([&golden, &after], &data, &[]).0, Some(0));
    let data: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&data).unwrap()).unwrap();
    assert!(data["cells"].is_array());

    let before = std::fs::read(&after).unwrap();
    for (file, words) in [("after.txt", ".html or .json"), ("none/a.html", "cannot write")] {
        let (code, stdout, stderr) = written([&golden, &after], &folder.path().join(file), &[]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
    let copy = folder.path().join("copy.json");
    std::fs::copy(&after, &copy).unwrap();
    let (code, _, stderr) = written([&golden, &copy], &copy, &[]);
    assert!(code == Some(2) && stderr.contains("is one of the records"), "{stderr}");
    assert_eq!(std::fs::read(&after).unwrap(), before);
    assert_eq!(std::fs::read(&copy).unwrap(), before);
}

#[test]
fn pages_of_all_kinds_of_comparisons_are_made() {
    let record = store::read(&golden()).unwrap();
    let one = [("record".to_owned(), record.clone())];
    let text = html::comparison(&providers(&record, "openssl", "openssl:nocrypto"), &one).unwrap();
    assert!(text.contains("openssl:nocrypto against openssl"), "{text}");
    assert!(text.contains("<h2>How they compare</h2>"), "{text}");
    assert!(text.contains("slower"), "{text}");

    // Text from records is never markup.
    let mut table = store::read(&published("imxrt-mbedtls.jsonl")).unwrap();
    for cell in &mut table.published {
        cell.provider = format!("<script>{}</script>", cell.provider);
    }
    let compared = runs(&table, &simulated(), Pairs::ByName);
    let both = [("<b>".to_owned(), table), ("simulated".to_owned(), simulated())];
    let text = html::comparison(&compared, &both).unwrap();
    assert!(text.contains("&lt;script&gt;") && !text.contains("<b>"));
    assert_eq!(text.matches("<script>").count(), 1);
}

/// The golden record's text as if it had been measured on a simulated board.
fn simulated_on(board: &str) -> String {
    let text = std::fs::read_to_string(golden()).expect("the golden record");
    let (header, rounds) = text.split_once('\n').expect("lines");
    let mut header: serde_json::Value = serde_json::from_str(header).expect("a header");
    header["cpb"]["evidence"] = "simulated".into();
    header["cpb"]["machine"]["board"] = board.into();
    format!("{header}\n{rounds}")
}

/// The golden record as if it had been measured on the simulated board.
fn simulated() -> cpb_record::Record {
    let mut record = store::read(&golden()).unwrap();
    record.header.evidence = Evidence::Simulated;
    record.header.machine = Machine { board: "imxrt1060-evk".into(), ..Machine::default() };
    record
}

fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records").join(name)
}

#[test]
fn a_published_table_is_held_against_a_record_of_its_machine() {
    let table = store::read(&published("imxrt-mbedtls.jsonl")).unwrap();
    let compared = runs(&table, &simulated(), Pairs::ByName);
    let pairs: Vec<(&str, &str, u32)> = compared
        .cells
        .iter()
        .filter(|row| row.provider == "openssl")
        .map(|row| (row.subject.algorithm(), row.against.as_deref().unwrap(), row.bytes))
        .collect();
    let sha = ["software:none", "software:high-speed", "dcp:none", "dcp:high-speed"];
    assert_eq!(pairs, sha.map(|path| ("sha-256", path, 1024)), "of the other board: none");
    insta::assert_snapshot!("published_80", render(&compared, 80, false));

    // 37.57 cycles per byte at 600 MHz, and the golden record's value.
    let pair = Pairs::Between("software:high-speed", "openssl");
    let between = runs(&table, &simulated(), pair);
    let [row] = between.cells.as_slice() else { panic!("{between:?}") };
    let measured = cpb_analysis::paths::of_records([&simulated()]);
    let sha = |task: &&Task| task.subject.algorithm() == "sha-256" && task.threads == 1;
    let task = measured.all.iter().find(sha).expect("SHA-256");
    let path = task.paths.iter().find(|path| path.provider == "openssl").expect("openssl");
    let point = path.points.iter().find(|point| point.bytes == 1024).expect("1 KiB");
    let expected = point.time.value / (37.57 * 1024.0 / 0.6);
    assert!((row.ratio.value.0 / expected - 1.0).abs() < 1e-9, "{row:?}, not {expected}");
    // The other way round, the ratio is inverted.
    let back = runs(&simulated(), &table, Pairs::Between("openssl", "software:high-speed"));
    assert!((back.cells[0].ratio.value.0 * expected - 1.0).abs() < 1e-9, "{back:?}");
}

#[test]
fn a_provider_that_a_record_does_not_have_is_named_with_those_that_it_has() {
    let mut command = Command::cargo_bin("cpb").unwrap();
    command.arg("compare").arg(published("imxrt-mbedtls.jsonl")).arg(golden());
    let output = command.args(["--between", "software,openssl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("has no provider 'software'; it has: caam:high-speed"), "{words}");
}

#[test]
fn without_a_verdict_nothing_can_be_found_slower() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulated.jsonl");
    std::fs::write(&path, simulated_on("imxrt1060-evk")).expect("room");
    let mut command = Command::cargo_bin("cpb").unwrap();
    command.arg("compare").arg(published("imxrt-mbedtls.jsonl")).arg(path);
    let output = command.args(["--fail-if-slower", "3%"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no cell has a verdict"));
}

#[test]
fn several_machines_of_which_none_is_the_other_s_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulated.jsonl");
    std::fs::write(&path, simulated_on("imxrt1050-evk")).expect("room");
    let mut command = Command::cargo_bin("cpb").unwrap();
    let output =
        command.arg("compare").arg(published("imxrt-mbedtls.jsonl")).arg(path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr);
    let named = "they have no machine in common (MIMXRT1060-EVK; MIMXRT1170-EVK; imxrt1050-evk)";
    assert!(words.contains(named), "{words}");
}

/// A log of two clusters as sbc-bench prints it, with these rates of AES-128-CBC at 16 KiB.
fn two_clusters(rates: [u32; 2]) -> cpb_record::Record {
    let log = format!(
        "sbc-bench v0.8.4\n\nOpenSSL results (big.LITTLE cores measured individually):\n\
         type             16 bytes     16384 bytes\n\
         aes-128-cbc     190000.00k   {}.00k\n\
         aes-128-cbc     460000.00k   {}.00k\n",
        rates[0], rates[1]
    );
    cpb_import::parse("log.txt", log.into_bytes(), None, &Options::default()).expect("a log")
}

#[test]
fn each_cluster_of_two_logs_is_held_against_itself() {
    let [before, after] =
        [two_clusters([1_600_000, 2_000_000]), two_clusters([800_000, 2_500_000])];
    let compared = runs(&before, &after, Pairs::ByName);
    let found: Vec<String> = compared
        .cells
        .iter()
        .map(|row| {
            let machine = row.machine.as_deref().expect("two machines");
            format!("{machine}, {}: {:.3}", row.bytes, row.ratio.value.0)
        })
        .collect();
    let expected = [
        "a machine, cluster 1, 16: 1.000",
        "a machine, cluster 1, 16384: 2.000",
        "a machine, cluster 2, 16: 1.000",
        "a machine, cluster 2, 16384: 0.800",
    ];
    assert_eq!(found, expected);
    assert_eq!((compared.families.len(), compared.unpaired), (4, 0), "two families a machine");
    insta::assert_snapshot!("two_clusters_80", render(&compared, 80, false));
}
