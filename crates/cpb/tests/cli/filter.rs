//! `-a`, `-p`, `-s` and `--operation` mean the same for all commands that read records.

use cpb_test_support::{Ran, lab};
use std::path::Path;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/record-v1.jsonl");

fn done(ran: Ran) -> String {
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    ran.stdout
}

/// The rows of a table: provider, algorithm, operation, message length, and the figures.
fn rows(text: &str) -> Vec<csv::StringRecord> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    table.records().map(|row| row.expect("a row")).collect()
}

#[test]
fn cells_of_a_measured_record_are_chosen_and_their_figures_stay() {
    let lab = lab!();
    let all = rows(&done(lab.run(&format!("show --csv {GOLDEN}"))));
    let floor = |row: &csv::StringRecord| &row[0] == "null";
    for (column, option) in [(0, "-p"), (1, "-a"), (2, "--operation"), (4, "-s")] {
        let mut values: Vec<&str> = all
            .iter()
            .filter(|row| !floor(row) && &row[4] != "0")
            .map(|row| &row[column])
            .collect();
        values.sort_unstable();
        values.dedup();
        for value in values {
            for command in ["show --csv", "report --format csv"] {
                let line = format!("{command} {GOLDEN} {option} {value}");
                let kept = rows(&done(lab.run(&line)));
                let wanted: Vec<_> = all
                    .iter()
                    .filter(|row| {
                        floor(row) || &row[column] == value || column == 4 && &row[4] == "0"
                    })
                    .collect();
                assert_eq!(kept.len(), wanted.len(), "{line}");
                for (kept, wanted) in kept.iter().zip(wanted) {
                    // The fastest provider and the gains are computed among the remaining rows.
                    for column in 0..32 {
                        assert_eq!(kept[column], wanted[column], "{line}, column {column}");
                    }
                }
            }
        }
    }
}

#[test]
fn published_cells_are_chosen_likewise() {
    let lab = lab!();
    let table = rows(&done(lab.run("show --csv imxrt-mbedtls -a sha-256 -p software:none")));
    assert!(!table.is_empty());
    assert!(
        table.iter().all(|row| &row[6] == "sha-256" && &row[5] == "software:none"),
        "{table:?}"
    );
    let table = rows(&done(lab.run("show --csv imx6 -s 16,1K")));
    assert!(table.iter().all(|row| ["16", "1024"].contains(&&row[10])), "{table:?}");
    let reads = done(lab.shell("cpb show otfad-flexspi --operation 'linear read' --csv"));
    assert!(reads.lines().skip(1).all(|line| line.contains("linear read")), "{reads}");
    let explained = done(lab.run("explain imx6 -p software,cryptodev"));
    assert!(explained.contains("cryptodev") && !explained.contains("af_alg"), "{explained}");
    let compared = done(lab.run("compare imx6 --between software,cryptodev -s 16"));
    assert!(compared.contains("16 B") && !compared.contains("8 KiB"), "{compared}");
}

#[test]
fn wrong_names_and_what_leaves_nothing_are_answered_with_what_there_is() {
    let lab = lab!();
    let mut said = String::new();
    for line in [
        "show imx6 -a aes-128-cbd",
        "show imx6 -a aes-gcm",
        "show imx6 -a sha-256",
        "report imx6 -p sofware",
        "explain imx6 -p openssl",
        "explain imx6 --operation decrypt",
        "compare imx6 imx6 -s 17",
        "show imx6 -s 1TiB",
        "show imx6 -p af_alg -a sha-256 -s 16",
    ] {
        let ran = lab.run(line);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "cpb {line}\n{}", ran.all());
        said += &format!("$ cpb {line}\n{}\n", ran.stderr);
    }
    insta::assert_snapshot!(said);
    assert!(Path::new(GOLDEN).is_file());
}
