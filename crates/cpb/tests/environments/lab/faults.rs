//! Faults of the accelerator and of its users: each one is recorded with its reason, and the run continues.

use super::guests::{USUAL, here, rounds, variation};
use cpb_test_support::{Lab, Running, lab, lines, of, of_kind};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The accelerator's driver.
const ENGINE: &str = "af_alg:virtio_crypto_aes_cbc";

/// The cell that most of these tests measure.
const CELL: &str = "aes-128-cbc/encrypt/message/16";

#[test]
fn a_missing_module_and_a_wrong_driver_name_are_told_apart_and_the_rest_is_measured() {
    if !here("missing") {
        return;
    }
    let lab = lab!();
    let guest = variation(&lab, |usual| {
        let without = "virtio_crypto,algif_aead,algif_rng,algif_hash";
        let line = format!("boot_seconds = 90\ncommand_line = \"cpb.without={without}\"");
        usual.replace("boot_seconds = 90", &line)
    });
    let ran = lab.run(&format!(
        "run --target lab:{} -a aes-128-cbc,aes-128-gcm --operation encrypt -s 16 --budget 2s \
         -p {ENGINE},af_alg:no-such-driver,af_alg:cbc(aes),af_alg:gcm(aes),af_alg:stdrng,\
         af_alg:sha256-avx2,mbedtls:c -o record.jsonl",
        guest.display()
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let providers = &lines[0]["cpb"]["providers"];
    for (name, words) in [
        (ENGINE, "virtio_crypto_aes_cbc"),
        ("af_alg:no-such-driver", "this kernel has no driver no-such-driver"),
        (
            "af_alg:gcm(aes)",
            "the kernel lacks AF_ALG's type aead: it needs CONFIG_CRYPTO_USER_API_AEAD",
        ),
        (
            "af_alg:stdrng",
            "the kernel lacks AF_ALG's type rng: it needs CONFIG_CRYPTO_USER_API_RNG",
        ),
        (
            "af_alg:sha256-avx2",
            "the kernel lacks AF_ALG's type hash: it needs CONFIG_CRYPTO_USER_API_HASH",
        ),
    ] {
        assert_eq!(providers[name]["state"], "unavailable", "{name}: {providers:#}");
        let detail = providers[name]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(words), "{name}: {detail}");
        println!("{name}: {detail}");
    }
    assert!(!rounds(&lines, "af_alg:cbc(aes)", CELL).is_empty(), "{}", ran.all());
    assert!(!rounds(&lines, "mbedtls:c", CELL).is_empty(), "{}", ran.all());
}

#[test]
fn an_accelerator_that_is_unplugged_costs_its_cells_and_the_run_goes_on() {
    if !here("unplugged") {
        return;
    }
    let lab = lab!();
    let (guest, socket) = with_monitor(&lab);
    let mut running = Running::start(
        &lab,
        &format!(
            "run --target lab:{} -a aes-128-cbc --operation encrypt -s 16 --budget 100s --timeout 10s \
             -p {ENGINE},mbedtls:c --verbose -o record.jsonl",
            guest.display()
        ),
        "",
    );
    running.wait_for(&format!("written: round {ENGINE}"), 2);
    unplug(&socket, "crypto");
    running.wait_for(&format!("written: without {ENGINE}"), 1);
    // The other one continues.
    let software = "written: round mbedtls:c";
    let before = running.said.matches(software).count();
    running.wait_for(software, before + 1);
    running.signal("INT");
    let ran = running.end();
    let lines = lines(&lab.path("record.jsonl"));
    let without = of_kind(&lines, "without");
    assert_eq!(without.len(), 1, "{}", ran.all());
    println!("unplugged: {}", without[0]["outcome"]);
    assert_eq!(without[0]["provider"], ENGINE);
    // It was being measured, so it has failed, with a reason, and its rounds are kept.
    let detail = without[0]["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
    assert!(!detail.is_empty(), "{}", without[0]);
    assert!(rounds(&lines, ENGINE, CELL).len() >= 2, "{}", ran.all());
}

/// A file for a guest like the usual one with a monitor of QEMU's, and the monitor's socket.
pub(crate) fn with_monitor(lab: &Lab) -> (PathBuf, PathBuf) {
    let socket = lab.path("qmp");
    let guest = variation(lab, |usual| {
        let monitor = format!("\"-qmp\", \"unix:{},server=on,wait=off\",\n]", socket.display());
        let end = usual.rfind(']').expect("a list of arguments");
        format!("{}{monitor}{}", &usual[..end], &usual[end + 1..])
    });
    (guest, socket)
}

/// Removes a device from a running guest through QEMU's monitor.
pub(crate) fn unplug(socket: &Path, device: &str) {
    let mut monitor = UnixStream::connect(socket).expect("QEMU's monitor");
    let mut answers = BufReader::new(monitor.try_clone().expect("the same socket"));
    for command in [
        json!({"execute": "qmp_capabilities"}),
        json!({"execute": "device_del", "arguments": {"id": device}}),
    ] {
        writeln!(monitor, "{command}").expect("QEMU listens");
        loop {
            let mut line = String::new();
            answers.read_line(&mut line).expect("QEMU answers");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            assert!(answer.get("error").is_none(), "{answer}");
            if answer.get("return").is_some() {
                break;
            }
        }
    }
}

#[test]
fn messages_beyond_the_cap_are_sent_in_pieces_or_refused_and_nothing_hangs() {
    if !here("cap") {
        return;
    }
    let lab = lab!();
    let ran = lab.run(&format!(
        "run --target lab:{USUAL} -a aes-128-cbc,aes-128-gcm --operation encrypt -s 128K,1M \
         --budget 2s -p {ENGINE},af_alg:gcm(aes),mbedtls:c -o record.jsonl"
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    for size in ["131072", "1048576"] {
        let cbc = format!("aes-128-cbc/encrypt/message/{size}");
        let outputs: Vec<&Value> = [ENGINE, "mbedtls:c"]
            .iter()
            .map(|name| &rounds(&lines, name, &cbc).first().expect("a round")["output"])
            .collect();
        assert_eq!(outputs[0], outputs[1], "equal ciphertexts of {size} bytes");
        let gcm = format!("aes-128-gcm/encrypt/message/{size}");
        let mut refused = of(&lines, "without", "af_alg:gcm(aes)");
        refused.retain(|line| line["workload"] == *gcm);
        assert_eq!(refused.len(), 1, "{gcm}: {}", ran.all());
        assert_eq!(refused[0]["outcome"]["unsupported"], "length", "{}", refused[0]);
    }
}
