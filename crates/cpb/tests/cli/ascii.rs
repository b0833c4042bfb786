//! `--ascii`, and locales without UTF-8: only ASCII on the terminal, and aligned columns.

use cpb_test_support::{Ran, SHORT, lab, skip};
use std::fs;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/record-v1.jsonl");
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/logs/");

/// Command lines whose output is for people or for programs.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = [
        "--help",
        "run --help",
        "explain --help",
        "list",
        "list --long",
        "list plans",
        "list records",
        "list targets",
        "lab list",
        "check -a aes-256-gcm,ecdsa-p256",
        "man",
        "run -a sha-265",
        "runs",
        "show absent.jsonl",
        "identify --from armv8-aes",
        "identify --from armv8-aes --json",
        "compare imx6 --between software,cryptodev",
    ]
    .map(str::to_owned)
    .to_vec();
    for record in [GOLDEN, "imx6", "imxrt-mbedtls", "otfad-flexspi", "armv8-aes"] {
        for command in [
            "show",
            "show --all",
            "show --by-size",
            "show --csv",
            "show --markdown",
            "show --json",
            "explain",
            "explain --json",
        ] {
            lines.push(format!("{command} {record}"));
        }
        for format in ["csv", "json", "markdown", "google-benchmark", "bencher"] {
            lines.push(format!("report --format {format} {record}"));
        }
    }
    lines.push(format!("compare {GOLDEN} {GOLDEN}"));
    lines.push(format!("{SHORT} --verbose"));
    let logs = fs::read_dir(LOGS).expect("logs").flatten().map(|entry| entry.path());
    lines.extend(
        logs.filter(|log| log.extension().is_some_and(|ending| ending == "txt"))
            .map(|log| format!("identify --from {}", log.display())),
    );
    lines
}

fn is_ascii(ran: &Ran, line: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        let other = text.lines().find(|line| !line.is_ascii());
        assert_eq!(other, None, "cpb {line}");
    }
}

#[test]
fn every_command_prints_ascii_only_if_it_is_asked_to() {
    let lab = lab!();
    for line in lines() {
        let plain = lab.run(&line);
        let ascii = lab.run(&format!("--ascii {line}"));
        is_ascii(&ascii, &line);
        assert_eq!(ascii.status, plain.status, "cpb {line}\n{}", ascii.all());
    }
}

#[test]
fn a_locale_without_utf_8_asks_for_it() {
    let lab = lab!();
    let line = format!("show {GOLDEN}");
    let utf8 = lab.run_with(&line, &[("LC_ALL", "C.UTF-8")]);
    assert!(utf8.stdout.contains('±'), "{}", utf8.stdout);
    let asked = lab.run_with(&format!("--ascii {line}"), &[("LC_ALL", "C.UTF-8")]);
    for locale in ["C", "POSIX", "de_DE.ISO-8859-1"] {
        let ascii = lab.run_with(&line, &[("LC_ALL", locale)]);
        is_ascii(&ascii, &line);
        assert_eq!(ascii.stdout, asked.stdout, "{locale}");
    }
}

#[test]
fn the_bar_on_a_terminal_is_ascii_too() {
    let lab = lab!();
    if lab.shell("command -v script stty").status != Some(0) {
        let reason = "there is no `script`, which makes a terminal";
        skip("the_bar_on_a_terminal_is_ascii_too", reason);
        return;
    }
    let run = "stty cols 100 rows 30; cpb --ascii run -a sha-256 -s 16 -p mbedtls:c --budget 1.5s";
    let ran = lab.shell(&format!("TERM=xterm script -qec '{run}' /dev/null"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains(" s left") && ran.stdout.contains("=="), "{:?}", ran.stdout);
    is_ascii(&ran, run);
}

#[test]
fn json_holds_the_same() {
    let lab = lab!();
    for line in [format!("show --json {GOLDEN}"), "show --json imx6".to_owned()] {
        let [plain, ascii] =
            [line.clone(), format!("{line} --ascii")].map(|line| lab.run(&line).stdout);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(parse(&plain), parse(&ascii), "{line}");
    }
}

/// The columns at which the figures of a table end in each line: before a margin or at the end of the line.
fn margins(table: &str, sign: &str) -> Vec<Vec<usize>> {
    let places = |line: &str| line.match_indices(sign).map(|(place, _)| place).collect();
    table.lines().filter(|line| line.starts_with("  ")).map(places).collect()
}

#[test]
fn columns_line_up() {
    let lab = lab!();
    let text = lab.run(&format!("--ascii show {GOLDEN}")).stdout;
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    insta::assert_snapshot!("golden_record", text);
    for block in text.split("\n\n").filter(|block| block.contains(" +/-")) {
        let rows: Vec<Vec<usize>> =
            margins(block, "+/-").into_iter().filter(|places| !places.is_empty()).collect();
        let Some(longest) = rows.iter().max_by_key(|places| places.len()) else { continue };
        for places in &rows {
            assert!(places.iter().all(|place| longest.contains(place)), "{block}");
        }
    }
}
