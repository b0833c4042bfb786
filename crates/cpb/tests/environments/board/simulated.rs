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

/// A chip and the providers that reach its engine: the driver in its ways, and Mbed TLS over the engine.
struct Accelerated {
    chip: &'static str,
    engines: &'static str,
    /// The known answers of all of them are more than this.
    answers: u32,
}

const ACCELERATED: [Accelerated; 2] = [
    Accelerated { chip: "imxrt1060", engines: "dcp,dcp-interrupts,mbedtls-dcp", answers: 4000 },
    Accelerated {
        chip: "imxrt1170",
        engines: "caam,caam-interrupts,caam-coalesced,mbedtls-caam",
        answers: 16_000,
    },
];

/// What engines compute, and modes that Mbed TLS builds on them. Key pairs, of which software computes all, would take
/// the simulator minutes.
const ALGORITHMS: &str = "aes-128-ecb,aes-128-cbc,aes-192-cbc,aes-256-cbc,aes-128-ctr,aes-128-gcm,aes-128-ccm,aes-128-cmac,\
                          des-ecb,3des-cbc,sha-1,sha-224,sha-256,hmac-sha-1,hmac-sha-256,\
                          aes-128-cbc-hmac-sha-1-etm,aes-128-cbc-hmac-sha-256-etm";

/// Where each job waits for a timer.
const ALGORITHMS_COALESCED: &str = "aes-128-cbc,sha-256,hmac-sha-1";

/// In tightly coupled memory, and in memory that the core caches: there, a line that was not cleaned or invalidated
/// gives a wrong answer.
#[test]
fn an_engine_s_known_answers_are_right_by_every_way_to_it() {
    let test = "an_engine_s_known_answers_are_right_by_every_way_to_it";
    for board in ACCELERATED {
        for place in ["", "-stack-ocram-buffers-ocram"] {
            let name = format!("{}-evk-O2{place}", board.chip);
            let Some(firmware) = image(test, &name) else { return };
            known_answers_are_right(&board, &firmware);
        }
    }
}

fn known_answers_are_right(board: &Accelerated, firmware: &Path) {
    let Accelerated { chip, engines, answers } = board;
    let target = format!("{chip}-sim:{}", firmware.display());
    let (mut total, mut shown) = (0, String::new());
    for engine in engines.split(',') {
        let algorithms =
            if engine.ends_with("coalesced") { ALGORITHMS_COALESCED } else { ALGORITHMS };
        let ran = lab!().run(&format!("check --target {target} -p {engine} -a {algorithms}"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let mut lines = ran.stdout.lines();
        let right = lines.find(|line| line.contains(" known answers right, 0 algorithms"));
        let right = right.and_then(|line| line.split(' ').next()?.parse::<u32>().ok());
        total += right.unwrap_or_else(|| panic!("{}", ran.all()));
        shown += &ran.stdout;
    }
    for row in ["aes-128-cbc       encrypt", "sha-256           hash", "hmac-sha-1", "aes-128-gcm"]
    {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    assert!(total > *answers, "{chip}: {total}");
}

#[test]
fn an_engine_is_proved_by_the_jobs_and_interrupts_that_it_counted() {
    let test = "an_engine_is_proved_by_the_jobs_and_interrupts_that_it_counted";
    for Accelerated { chip, engines, .. } in ACCELERATED {
        let Some(firmware) = image(test, &format!("{chip}-evk-O2")) else { return };
        let lab = lab!();
        let target = format!("{chip}-sim:{}", firmware.display());
        let what = "-a sha-256 -s 1K --budget 0.5s -q --json -o record.jsonl";
        let ran = lab.run(&format!("run --target {target} -p {engines} {what}"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let summary: Value = serde_json::from_str(&ran.stdout).expect("a summary");
        let mut seen = Vec::new();
        for cell in summary["cells"].as_array().expect("cells") {
            let (name, execution) =
                (cell["provider"].as_str().expect("a name"), &cell["execution"]);
            if name == "null" {
                continue;
            }
            seen.push(name);
            assert_eq!(execution["verdict"], "accelerated", "{name}: {execution}");
            let count = |what: &str| execution[what].as_f64().unwrap_or(0.0);
            // NXP's ports hash a message of this size in two jobs; computing the answers takes some operations more.
            let jobs = if name.starts_with("mbedtls") { 2.0 } else { 1.0 };
            assert!((count("jobs_per_operation") - jobs).abs() < 0.1, "{name}: {execution}");
            // One job at a time: a coalesced interrupt comes with each, when it has waited long enough.
            let polls = name.starts_with("mbedtls") || !name.contains('-');
            let interrupts = if polls { 0.0 } else { 1.0 };
            assert!(
                (count("interrupts_per_operation") - interrupts).abs() < 0.1,
                "{name}: {execution}"
            );
        }
        assert_eq!(seen.len(), engines.split(',').count(), "{summary}");
    }
}

#[test]
fn all_jobs_at_once_fill_the_engine_s_queue() {
    let test = "all_jobs_at_once_fill_the_engine_s_queue";
    for (chip, engine) in [("imxrt1060", "dcp"), ("imxrt1170", "caam")] {
        let Some(firmware) = image(test, &format!("{chip}-evk-O2")) else { return };
        let cost = ["serial", "all-at-once"].map(|word| cycles(chip, engine, &firmware, word));
        // Building and starting one by one costs far more than jobs that are built before and started at once.
        assert!(cost[1] < 0.8 * cost[0], "{engine}: {cost:?}");
    }
}

/// Cycles of a block in CBC.
fn cycles(chip: &str, engine: &str, firmware: &Path, word: &str) -> f64 {
    let lab = lab!();
    let measure = "algorithms = ['aes-128-cbc']\noperations = ['encrypt']\nsizes = [16]";
    let plan = format!("name = 'x'\nreason = 'x'\n[[measure]]\n{measure}\ndispatch = '{word}'\n");
    std::fs::write(lab.path("plan.toml"), plan).expect("a plan");
    let target = format!("{chip}-sim:{}", firmware.display());
    let what = format!("--target {target} --plan plan.toml -p {engine} --budget 1s -q --json");
    let ran = lab.run(&format!("run {what} -o {word}.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let summary: Value = serde_json::from_str(&ran.stdout).expect("a summary");
    let cells = summary["cells"].as_array().expect("cells");
    let cell = cells.iter().find(|cell| cell["provider"] == engine).expect("a cell");
    let figure = &cell["figures"]["measured"]["cycles_per_operation"]["value"];
    figure.as_f64().unwrap_or_else(|| panic!("{cell}"))
}

#[test]
fn a_chip_without_an_engine_has_no_such_provider() {
    let test = "a_chip_without_an_engine_has_no_such_provider";
    for (chip, name, engine) in [
        ("imxrt1170", "imxrt1170-evk-O2", "dcp"),
        ("imxrt1060", "imxrt1060-evk-O2", "caam"),
        ("mps2-an500", "mps2-an500-O2", "dcp"),
    ] {
        let Some(firmware) = image(test, name) else { return };
        let target = format!("{chip}-sim:{}", firmware.display());
        let lab = lab!();
        for command in ["run -o record.jsonl", "check"] {
            let ran = lab.run(&format!("{command} --target {target} -p {engine} -a sha-256"));
            assert_eq!(ran.status, Some(2), "{}", ran.all());
            let words = format!("firmware has no provider '{engine}'; it has null, mbedtls");
            assert!(ran.stderr.contains(&words), "{}", ran.all());
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
