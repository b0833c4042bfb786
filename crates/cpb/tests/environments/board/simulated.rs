//! The firmware of real boards on simulated ones: right answers, and cycles that repeat.

use super::image;
use cpb_test_support::{lab, lines, of, of_kind};
use serde_json::Value;
use std::path::Path;

const WHAT: &str = "-a sha-256,aes-128-cbc -s 64,1K --budget 0.1s -q";

#[test]
fn a_simulated_board_gives_right_answers_and_the_same_cycles_each_time() {
    for (chip, hertz) in [("imxrt1060", 600_000_000_u64), ("imxrt1170", 996_000_000)] {
        let test = "a_simulated_board_gives_right_answers_and_the_same_cycles_each_time";
        let Some(firmware) = image(test, &format!("{chip}-evk-O2")) else { return };
        let lab = lab!();
        let run = |record: &str| {
            let target = format!("{chip}-sim:{}", firmware.display());
            let ran = lab.run(&format!("run --target {target} {WHAT} -o {record}"));
            assert_eq!(ran.status, Some(0), "{}", ran.all());
            assert!(ran.stdout.contains("computed by cpb's simulator"), "{}", ran.all());
            assert!(ran.stdout.contains("c/byte"), "{}", ran.all());
            lines(&lab.path(record))
        };
        let (first, second) = (run("first.jsonl"), run("second.jsonl"));
        let header = &first[0]["cpb"];
        assert_eq!(header["evidence"], "simulated");
        assert_eq!(header["machine"]["board"], format!("{chip}-evk"));
        let clock = &header["providers"]["mbedtls"]["clock"];
        assert_eq!(
            (clock["frequency"].as_u64(), &clock["counts_cycles"]),
            (Some(hertz), &true.into())
        );
        for check in of_kind(&first, "check") {
            assert!(check["right"].as_u64() > Some(0) && check["wrong"] == Value::Null, "{check}");
        }
        let of_first_pass = |record: &[Value]| -> Vec<(String, Value)> {
            let mut cells: Vec<_> = of(record, "round", "mbedtls")
                .into_iter()
                .filter(|round| round["pass"] == 0)
                .map(|round| (round["workload"].to_string(), round["samples"].clone()))
                .collect();
            cells.sort_by(|a, b| a.0.cmp(&b.0));
            cells
        };
        let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/imxrt-mbedtls.jsonl");
        let compared = lab.run(&format!("compare {table} first.jsonl"));
        assert_eq!(compared.status, Some(0), "{}", compared.all());
        for words in ["evidence: published and simulated", "mbedtls / software:high-speed"] {
            assert!(compared.stdout.contains(words), "{words}: {}", compared.all());
        }
        let other = if chip == "imxrt1060" { "caam" } else { "dcp" };
        assert!(!compared.stdout.contains(other), "another board's: {}", compared.all());
        let explained = lab.run("explain first.jsonl");
        assert_eq!(explained.status, Some(0), "{}", explained.all());
        assert!(explained.stdout.contains("; simulated"), "{}", explained.all());
        assert_eq!(of_first_pass(&first).len(), 6, "a hash, encryption, decryption at two sizes");
        assert_eq!(of_first_pass(&first), of_first_pass(&second));
    }
}

/// Its OCRAM is not aligned to its size, as an MPU's regions require.
#[test]
fn all_of_a_boards_memory_behind_the_bus_can_be_used() {
    let name = "imxrt1170-evk-Os-code-flash-tables-ocram-stack-ocram-buffers-ocram-solo";
    let test = "all_of_a_boards_memory_behind_the_bus_can_be_used";
    let Some(firmware) = image(test, name) else { return };
    let ran = lab!().run(&format!("sim {} --chip imxrt1170", firmware.display()));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("sha-256/hash/message/1024: "), "{}", ran.all());
}

/// The driver, by polling and by interrupt, and Mbed TLS over the engine.
const ENGINES: &str = "dcp,dcp-interrupts,mbedtls-dcp";

/// In tightly coupled memory, and in memory that the core caches: there, a line that was not cleaned or invalidated
/// gives a wrong answer.
#[test]
fn the_dcp_s_known_answers_are_right_by_every_way_to_it() {
    let test = "the_dcp_s_known_answers_are_right_by_every_way_to_it";
    for name in ["imxrt1060-evk-O2", "imxrt1060-evk-O2-stack-ocram-buffers-ocram"] {
        let Some(firmware) = image(test, name) else { return };
        known_answers_are_right(&firmware);
    }
}

fn known_answers_are_right(firmware: &Path) {
    let target = format!("imxrt1060-sim:{}", firmware.display());
    let ran = lab!().run(&format!("check --target {target} -p {ENGINES}"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let total = ran.stdout.lines().find(|line| line.contains(" known answers right, 0 algorithms"));
    let total = total.and_then(|line| line.split(' ').next()?.parse::<u32>().ok());
    assert!(total > Some(4000), "{}", ran.all());
    for row in ["aes-128-cbc       encrypt", "sha-256           hash", "hmac-sha-1", "aes-128-gcm"]
    {
        assert!(ran.stdout.contains(row), "{row}: {}", ran.all());
    }
}

#[test]
fn the_dcp_is_proved_by_the_jobs_and_interrupts_that_it_counted() {
    let test = "the_dcp_is_proved_by_the_jobs_and_interrupts_that_it_counted";
    let Some(firmware) = image(test, "imxrt1060-evk-O2") else { return };
    let lab = lab!();
    let target = format!("imxrt1060-sim:{}", firmware.display());
    let what = "-a sha-256 -s 1K --budget 0.5s -q";
    let ran = lab.run(&format!("run --target {target} -p {ENGINES} {what} --json -o record.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let summary: Value = serde_json::from_str(&ran.stdout).expect("a summary");
    let mut seen = 0;
    for cell in summary["cells"].as_array().expect("cells") {
        let (name, execution) = (cell["provider"].as_str().expect("a name"), &cell["execution"]);
        if name == "null" {
            continue;
        }
        seen += 1;
        assert_eq!(execution["verdict"], "accelerated", "{name}: {execution}");
        let count = |what: &str| execution[what].as_f64().unwrap_or(0.0);
        // NXP's port hashes a message in two packets; computing the answers takes some operations more.
        let packets = if name == "mbedtls-dcp" { 2.0 } else { 1.0 };
        assert!((count("jobs_per_operation") - packets).abs() < 0.1, "{name}: {execution}");
        let interrupts = if name == "dcp-interrupts" { 1.0 } else { 0.0 };
        assert!(
            (count("interrupts_per_operation") - interrupts).abs() < 0.1,
            "{name}: {execution}"
        );
    }
    assert_eq!(seen, 3, "{summary}");
}

#[test]
fn all_jobs_at_once_fill_the_engine_s_queue() {
    let test = "all_jobs_at_once_fill_the_engine_s_queue";
    let Some(firmware) = image(test, "imxrt1060-evk-O2") else { return };
    let lab = lab!();
    let plan = |word: &str| {
        let measure = "algorithms = ['aes-128-cbc']\noperations = ['encrypt']\nsizes = [16]";
        format!("name = 'x'\nreason = 'x'\n[[measure]]\n{measure}\ndispatch = '{word}'\n")
    };
    let target = format!("imxrt1060-sim:{}", firmware.display());
    let mut cost = Vec::new();
    for word in ["serial", "all-at-once"] {
        std::fs::write(lab.path("plan.toml"), plan(word)).expect("a plan");
        let what = format!("--target {target} --plan plan.toml -p dcp --budget 1s -q --json");
        let ran = lab.run(&format!("run {what} -o {word}.jsonl"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let summary: Value = serde_json::from_str(&ran.stdout).expect("a summary");
        let cells = summary["cells"].as_array().expect("cells");
        let cell = cells.iter().find(|cell| cell["provider"] == "dcp").expect("a cell");
        let figure = &cell["figures"]["measured"]["cycles_per_operation"]["value"];
        cost.push(figure.as_f64().unwrap_or_else(|| panic!("{cell}")));
    }
    // Building and starting one by one costs far more than a chain of packets that are built before.
    assert!(cost[1] < 0.8 * cost[0], "{cost:?}");
}

#[test]
fn a_chip_without_a_dcp_has_no_such_provider() {
    let test = "a_chip_without_a_dcp_has_no_such_provider";
    for (chip, name) in [("imxrt1170", "imxrt1170-evk-O2"), ("mps2-an500", "mps2-an500-O2")] {
        let Some(firmware) = image(test, name) else { return };
        let target = format!("{chip}-sim:{}", firmware.display());
        let lab = lab!();
        for command in ["run -o record.jsonl", "check"] {
            let ran = lab.run(&format!("{command} --target {target} -p dcp -a sha-256"));
            assert_eq!(ran.status, Some(2), "{}", ran.all());
            assert!(ran.stderr.contains("dcp") && ran.stderr.contains("mbedtls"), "{}", ran.all());
        }
    }
}

#[test]
fn what_cannot_be_simulated_is_named() {
    let lab = lab!();
    for (target, words) in [
        ("imxrt1060-sim:missing.elf", "missing.elf: no such file; run `make firmware`"),
        ("imxrt9-sim:missing.elf", "imxrt1060, imxrt1170"),
    ] {
        let ran = lab.run(&format!("run --target {target} {WHAT} -o record.jsonl"));
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert!(ran.stderr.contains(words), "{words} in {}", ran.all());
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.all());
    }
    assert!(!lab.path("record.jsonl").exists());
}
