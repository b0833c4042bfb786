//! Memory reads are measured without a plan file, and a run says what its options leave out.

use cpb_test_support::{Lab, lab};
use std::collections::BTreeSet;

/// The workloads of a run and its warnings.
fn measured(lab: &Lab, options: &str) -> (BTreeSet<String>, Vec<String>) {
    let ran = lab.run(&format!("run {options} --budget 0.2s --quiet --json"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let run: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let words = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let cells = run["cells"].as_array().expect("cells").iter();
    let cells = cells.filter(|cell| cell["provider"] != "null");
    let warnings = run["run"]["warnings"].as_array().expect("warnings").iter();
    (cells.map(|cell| words(&cell["workload"])).collect(), warnings.map(words).collect())
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Both families, a workload each.
const BOTH: &str = "name = 'both'
reason = 'a test'
providers = ['memory', 'mbedtls:c']
[[measure]]
algorithms = ['sha-256', 'aes-128-cbc']
operations = ['hash', 'encrypt']
sizes = [512]
[[memory-read]]
widths = ['64-bit', '8-bit']
patterns = ['linear']
sizes = [512]
";

#[test]
fn widths_patterns_and_working_sets_are_options() {
    let lab = lab!();
    let (cells, _) = measured(&lab, "-p memory --width 32,widest --pattern linear -s 512,16K");
    let all = [
        "memory-read/32-bit/linear/16384",
        "memory-read/32-bit/linear/512",
        "memory-read/widest/linear/16384",
        "memory-read/widest/linear/512",
    ];
    assert_eq!(cells, set(&all));
    // Options that only memory reads have select their plan and its provider.
    let (cells, warnings) = measured(&lab, "--width 8-bit --pattern ping-pong -s 512,100");
    assert_eq!(cells, set(&["memory-read/8-bit/ping-pong/512"]));
    let said = "100 B was not measured for memory reads: working sets are multiples of 512 bytes.";
    assert!(warnings.iter().any(|words| words == said), "{warnings:?}");
    // Options of both families select both.
    let (cells, _) = measured(
        &lab,
        "-p memory,mbedtls:c -a sha-256 --width 64 --pattern linear -s 512 --phase message",
    );
    assert_eq!(cells, set(&["memory-read/64-bit/linear/512", "sha-256/hash/message/512"]));
}

#[test]
fn what_an_option_leaves_out_of_a_plan_is_said() {
    let lab = lab!();
    lab.write("both.toml", BOTH);
    let all = |reads: &[&str], hashes: &[&str]| -> BTreeSet<String> { &set(reads) | &set(hashes) };
    let reads = ["memory-read/64-bit/linear/512", "memory-read/8-bit/linear/512"];
    let both = ["sha-256/hash/message/512", "aes-128-cbc/encrypt/message/512"];
    let left_out = |warnings: &[String]| {
        let found = warnings.iter().find(|words| words.contains("of the plan"));
        found.map(|words| words.split(':').next_back().unwrap_or(words).trim().to_owned())
    };
    let (cells, warnings) = measured(&lab, "--plan both.toml");
    assert_eq!((cells, left_out(&warnings)), (all(&reads, &both), None));
    for option in ["-a sha-256", "--operation hash", "-a sha-256 --phase message"] {
        let (cells, warnings) = measured(&lab, &format!("--plan both.toml {option}"));
        assert_eq!(cells, all(&[], &both[..1]), "{option}");
        let said = "2 memory reads of the plan were not measured, because -a, --operation and --phase select \
                    cryptography; with --width and --pattern, both are measured.";
        assert_eq!(left_out(&warnings).as_deref(), Some(said), "{option}");
    }
    let (cells, warnings) = measured(&lab, "--plan both.toml --width 8");
    assert_eq!(cells, all(&reads[1..], &[]));
    let said = "2 cryptographic workloads of the plan were not measured, because --width and --pattern select memory \
                reads; with -a, --operation and --phase, both are measured.";
    assert_eq!(left_out(&warnings).as_deref(), Some(said));
    let (cells, warnings) = measured(&lab, "--plan both.toml --width 8 -a sha-256");
    assert_eq!((cells, left_out(&warnings)), (all(&reads[1..], &both[..1]), None));
}
