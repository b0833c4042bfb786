//! `cpb sim`: programs that succeed and that fail, and the firmware on simulated boards.

use assert_cmd::Command;
use cpb_test_support::skip;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) fn cpb() -> Command {
    Command::cargo_bin("cpb").expect("cpb was built")
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/program").join(name)
}

/// The image called `name` if the images were built; otherwise `test` is skipped.
pub(super) fn image(test: &str, name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("CPB_FIRMWARE_IMAGES") else {
        skip(&format!("sim::{test}"), "images are built by `make test`");
        return None;
    };
    Some(PathBuf::from(folder).join(format!("{name}.elf")))
}

fn json(arguments: &[&str], image: &Path) -> Value {
    let output = cpb().arg("sim").arg(image).args(["--json"]).args(arguments).output();
    let output = output.expect("cpb runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_program_that_faults_ends_with_where_and_how_it_got_there() {
    let output = cpb().arg("sim").arg(corpus("faults.elf")).output().expect("cpb runs");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    for part in ["fault", "\n r0 ", "pc ", "called from", "last instructions", "cycles"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn what_is_no_program_is_bad_input() {
    for file in ["noise", "absent.elf"] {
        let output = cpb().arg("sim").arg(corpus(file)).output().expect("cpb runs");
        assert_eq!(output.status.code(), Some(2), "{file}");
    }
    let unknown = ["--time", "absent"];
    let output =
        cpb().arg("sim").arg(corpus("faults.elf")).args(unknown).output().expect("cpb runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no function absent"));
}

#[test]
fn cycles_are_spent_on_causes_that_add_up_and_two_runs_are_equal() {
    let name = "cycles_are_spent_on_causes_that_add_up_and_two_runs_are_equal";
    let Some(image) = image(name, "mps2-an500-O2-solo") else { return };
    let arguments = ["--chip", "mps2-an500", "--time", "mbedtls_internal_sha256_process"];
    let (first, second) = (json(&arguments, &image), json(&arguments, &image));
    assert_eq!(first, second);
    assert_eq!(first["end"], "exit status 0");
    assert_eq!(first["evidence"], "simulated");
    let causes = first["spent"].as_object().expect("causes");
    let sum: u64 = causes.values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(sum), first["cycles"].as_u64());
    let calls = first["timed"][0]["cycles"].as_array().expect("calls");
    assert!(calls.len() > 16 && calls.iter().all(|c| c.as_u64().is_some_and(|c| c > 1000)));
    assert!(!first["markers"].as_array().expect("marks").is_empty());
}

#[test]
fn the_firmware_computes_what_it_computes_in_qemu() {
    let name = "the_firmware_computes_what_it_computes_in_qemu";
    let Some(image) = image(name, "mps2-an500-O2-solo") else { return };
    let qemu = std::process::Command::new("timeout")
        .args(["60", "qemu-system-arm", "-M", "mps2-an500", "-nographic", "-semihosting"])
        .arg("-kernel")
        .arg(&image)
        .output()
        .expect("QEMU, which scripts/setup.sh installs");
    let outputs = |text: &str| -> Vec<String> {
        let figures = text.lines().filter_map(|line| {
            let (workload, rest) = line.split_once(": ")?;
            Some(format!("{workload} {}", rest.trim().split_once("output ")?.1))
        });
        figures.collect()
    };
    let theirs = outputs(&String::from_utf8_lossy(&qemu.stdout));
    let ours = json(&["--chip", "mps2-an500"], &image);
    assert!(theirs.len() > 10, "{theirs:?}");
    assert_eq!(outputs(ours["output"].as_str().expect("text")), theirs);
}

#[test]
fn a_simulated_board_is_measured_and_called_simulated() {
    let name = "a_simulated_board_is_measured_and_called_simulated";
    for chip in ["imxrt1060", "imxrt1170"] {
        let Some(image) = image(name, &format!("{chip}-evk-O2")) else { return };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = format!("{chip}-sim:{}", image.display());
        let output = cpb()
            .current_dir(folder.path())
            .args(["run", "--target", &target, "-a", "sha-256", "-s", "64", "--budget", "1s"])
            .arg("--json")
            .output()
            .expect("cpb runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(summary["run"]["evidence"], "simulated");
    }
}

#[test]
fn a_profile_names_functions_and_causes_and_folds_stacks() {
    let name = "a_profile_names_functions_and_causes_and_folds_stacks";
    let Some(image) = image(name, "mps2-an500-O2-solo") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = folder.path().join("p");
    let options = ["--chip", "mps2-an500", "--profile"];
    cpb().arg("sim").arg(image).args(options).arg(&profile).output().expect("cpb runs");
    let table = std::fs::read_to_string(profile.with_extension("txt")).expect("a table");
    assert!(table.lines().any(|line| line.starts_with("mbedtls_internal_aes_encrypt ")), "{table}");
    let folded = std::fs::read_to_string(profile.with_extension("folded")).expect("stacks");
    let stack = folded.lines().find(|line| line.contains(";mbedtls_internal_sha256_process "));
    assert!(stack.is_some_and(|line| line.starts_with("reset;main;")), "{folded}");
    assert!(folded.lines().all(|line| line.starts_with("reset")), "{folded}");
}

#[test]
fn the_figures_of_make_imxrt_are_those_that_were_kept() {
    let name = "the_figures_of_make_imxrt_are_those_that_were_kept";
    let Some(image) = image(name, "imxrt1060-evk-O2-solo") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = std::process::Command::new("python3")
        .arg(root.join("bench/imxrt.py"))
        .args(["--check", "--levels", "O2"])
        .args(["--cpb", env!("CARGO_BIN_EXE_cpb")])
        .arg("--images")
        .arg(image.parent().expect("a folder"))
        .output()
        .expect("Python");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "`make imxrt` keeps new ones:\n{text}");
    for row in ["imxrt1060  sha-256", "imxrt1170  aes-256-cbc", "imxrt1170  memcpy", "GCC "] {
        assert!(text.contains(row), "{row}:\n{text}");
    }
    assert!(text.contains(" s, 3 images"), "both boards, and behind the bus:\n{text}");
}

/// The firmware cleans and invalidates what it shares with the DCP: no mistake is found, and the exit status says so.
#[test]
fn the_firmware_shares_memory_with_its_engine_without_a_mistake() {
    let name = "the_firmware_shares_memory_with_its_engine_without_a_mistake";
    let Some(image) = image(name, "imxrt1060-evk-O2-solo") else { return };
    let arguments = ["sim", "--check-caches", "--chip", "imxrt1060"];
    let output = cpb().args(arguments).arg(&image).output().expect("cpb runs");
    let succeeded = output.status.success();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(succeeded, "{text}");
    for words in ["no mistake found", "dcp sha-256/hash/message/1024: "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
