//! A real run on an emulated board: right answers, the same as on Linux, and no times.

use super::{Emulated, image};
use cpb_core::{Algorithm, Kind};
use cpb_test_support::{lab, lines, of_kind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The checksums of outputs in a record, by workload.
fn outputs(record: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in lines(record) {
        let round = &line["round"];
        let (Some(workload), Some(output)) = (round["workload"].as_str(), round["output"].as_str())
        else {
            continue;
        };
        if round["provider"] != "null" {
            found.insert(workload.to_owned(), output.to_owned());
        }
    }
    found
}

#[test]
fn a_run_on_an_emulated_board_has_right_answers_and_no_times() {
    let Some(image) =
        image("a_run_on_an_emulated_board_has_right_answers_and_no_times", "mps2-an500-O2")
    else {
        return;
    };
    let (lab, board) = (lab!(), Emulated::start(&image));
    let what = "-a chacha20-poly1305,hmac-sha-256 -s 16,1000 --phase message,update --budget 1s -q";
    let ran = lab.run(&format!("run --target serial:{} {what} -o board.jsonl", board.device));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("mps2-an500, Cortex-M7"), "{}", ran.all());
    assert!(ran.stdout.contains("emulated: the speed of an emulated CPU"), "{}", ran.all());
    assert!(!ran.stdout.contains("MB/s"), "{}", ran.all());

    let record = lab.path("board.jsonl");
    let all = lines(&record);
    let header = &all[0]["cpb"];
    assert_eq!(header["evidence"], "emulated");
    let provider = &header["providers"]["mbedtls"];
    assert_eq!(provider["version"].as_str().map(|version| &version[..5]), Some("2.28."));
    assert_eq!(provider["clock"]["counts_cycles"], false);
    let options = provider["options"].as_str().expect("a text");
    for part in ["-O2", "code itcm", "tables dtcm", "stack dtcm", "buffers dtcm", ".text ", ".bss "]
    {
        assert!(options.contains(part), "{part} in {options}");
    }
    let checks = of_kind(&all, "check");
    assert_eq!(checks.len(), 2, "one for each algorithm");
    for check in checks {
        assert!(check["right"].as_u64() > Some(10) && check["wrong"] == Value::Null, "{check}");
    }
    for round in of_kind(&all, "round") {
        let stack = round["counters"]["stack"].as_u64();
        assert!(stack < Some(4096) && stack.is_some(), "{round}");
    }

    let here = lab.run(&format!("run -p mbedtls:c {what} -o here.jsonl"));
    assert_eq!(here.status, Some(0), "{}", here.all());
    assert_eq!(outputs(&record), outputs(&lab.path("here.jsonl")));
    assert_eq!(outputs(&record).len(), 8, "two algorithms, sizes and phases");
}

#[test]
fn every_algorithm_has_the_same_output_on_the_emulated_board_as_on_linux() {
    let test = "every_algorithm_has_the_same_output_on_the_emulated_board_as_on_linux";
    let elsewhere = "mps2-an500-Os-code-flash-tables-ocram-stack-ocram-nc-buffers-ocram-solo";
    let names = ["mps2-an500-O2-solo", elsewhere];
    let images: Vec<_> = names.iter().map_while(|name| image(test, name)).collect();
    if images.len() < names.len() {
        return;
    }
    let lab = lab!();
    // With key pairs, only what the image contains and whose result is not random.
    let pairs = ["ecdh-p256", "ecdh-p384", "x25519"];
    // Mbed TLS has no call for a record, and no Hash_DRBG.
    let one_call = |algorithm: &&Algorithm| {
        !algorithm.has_key_pairs()
            && algorithm.shape().kind != Kind::Record
            && **algorithm != Algorithm::HashDrbgSha256
    };
    let of_all = Algorithm::ALL.iter().filter(one_call);
    let names: Vec<&str> = of_all.map(|algorithm| algorithm.name()).chain(pairs).collect();
    let what = "-s 1K --phase message --budget 0.5s -q -o here.jsonl";
    let ran = lab.run(&format!("run -p mbedtls:c,memcpy {what} -a {}", names.join(",")));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let mut here = outputs(&lab.path("here.jsonl"));
    // The list of the image without a host has the first operation of each.
    let later = ["/decrypt/", "/verify/", "/generate-key/"];
    here.retain(|workload, _| !later.iter().any(|operation| workload.contains(operation)));
    assert_eq!(here.len(), names.len());
    // The board has Mbed TLS 2.28, which does not support SHA-3.
    let (newer, here): (BTreeMap<_, _>, BTreeMap<_, _>) =
        here.into_iter().partition(|(workload, _)| workload.starts_with("sha3-"));
    for image in images {
        let (board, said) = solo(&image);
        assert!(newer.keys().all(|workload| !board.contains_key(workload)), "{said}");
        here.iter().for_each(|(workload, output)| {
            assert_eq!(board.get(workload), Some(output), "{workload} in {said}");
        });
    }
}

/// The output of an image that measures on its own, and the outputs in it.
fn solo(image: &Path) -> (BTreeMap<String, String>, String) {
    let ran = Command::new("timeout")
        .args(["60", "qemu-system-arm", "-M", "mps2-an500", "-nographic", "-semihosting"])
        .arg("-kernel")
        .arg(image)
        .output()
        .expect("timeout and qemu-system-arm");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && said.trim_end().ends_with("done"), "{said}");
    let outputs = said.lines().filter_map(|line| {
        let (workload, rest) = line.split_once(": ")?;
        let (_, output) = rest.trim_end().rsplit_once("output ")?;
        Some((workload.to_owned(), output.to_owned()))
    });
    (outputs.collect(), said)
}
