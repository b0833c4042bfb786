//! What a run in a guest finds out.

use crate::guests::{USUAL, here, rounds};
use crate::support::{Lab, lines, of, of_kind};
use serde_json::Value;

/// Sizes, in bytes.
const SIZES: [u32; 3] = [16, 1024, 16384];

#[test]
fn the_x86_64_guest_tells_by_itself_that_it_is_emulated_and_its_answers_are_right() {
    if here("x86_64") {
        measure(USUAL, "QEMU TCG");
    }
}

#[test]
fn the_aarch64_guest_tells_by_itself_that_it_is_emulated_and_its_answers_are_right() {
    if here("aarch64") {
        measure("aarch64-6.1", "QEMU TCG");
    }
}

fn measure(guest: &str, emulator: &str) {
    let lab = Lab::new();
    let ran = lab.run(&format!(
        "run --target lab:{guest} -a aes-128-cbc --operation encrypt -s 16,1K,16K \
         -p mbedtls:c --budget 3s -o record.jsonl --csv"
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let header = &lines[0]["cpb"];
    assert_eq!(header["evidence"], "emulated");
    assert_eq!(header["target"], format!("lab:{guest}"));
    assert_eq!(header["machine"]["virtualisation"], emulator);
    assert_eq!(header["machine"]["name"], "lab", "the machine is the guest");
    assert_eq!(header["machine"]["libc"], "musl");
    let kernel = header["machine"]["kernel"].as_str().unwrap_or_default();
    assert!(kernel.starts_with("Linux 6.1."), "{kernel}");
    let right = |check: &&Value| check["wrong"].is_null() && check["right"].as_u64() > Some(0);
    assert!(of(&lines, "check", "mbedtls:c").iter().all(right));
    for size in SIZES {
        let workload = format!("aes-128-cbc/encrypt/message/{size}");
        assert!(!rounds(&lines, "mbedtls:c", &workload).is_empty(), "{workload}");
    }
    assert!(of_kind(&lines, "without").is_empty(), "{}", ran.all());
}
