//! Every command that README or a document shows is run, or at least understood.

use cpb_test_support::{Lab, lab};
use std::path::{Path, PathBuf};

/// Commands that need what is not here, by a part of their text, and the test that runs their like. That cpb understands
/// them is seen from its help, which it prints only if it knows all the words before it.
const ELSEWHERE: [(&str, &str); 10] = [
    ("--target ssh:", "tests/ssh"),
    ("--target imx6q", "tests/ssh, with a target's file"),
    ("--target lab:", "tests/environments, lab"),
    ("cpb lab run", "tests/environments, lab"),
    ("cpb lab up", "tests/environments, lab"),
    ("--target serial:", "tests/environments, board"),
    ("-sim ", "tests/environments, board"),
    ("-sim:", "tests/environments, otfad"),
    ("cpb sim ", "tests/environments, sim"),
    ("sbc-bench.log", "tests/cli, identify: with the logs of $CPB_SAMPLES"),
];

/// What a document calls a file, and what stands for it here.
const FILES: [(&str, &str); 3] =
    [("RECORD", "record.jsonl"), ("BEFORE", "record.jsonl"), ("AFTER", "record.jsonl")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents that show commands.
fn documents() -> Vec<PathBuf> {
    let mut found =
        vec![root().join("README.md"), root().join("METHOD.md"), root().join("firmware/README.md")];
    for folder in ["docs", "docs/method"] {
        let files = std::fs::read_dir(root().join(folder)).expect("a folder").flatten();
        found.extend(
            files
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "md")),
        );
    }
    found.sort();
    found
}

/// The commands in the code blocks of a document, without what is said of them.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let commands =
        lines.filter(|line| ["cpb ", "cc ", "cp "].iter().any(|start| line.starts_with(start)));
    commands.map(|line| line.split(" #").next().unwrap_or(line).trim_end().to_owned()).collect()
}

/// A command as it is run here: on files that are there, in less time, with two providers and one size.
fn here(command: &str) -> String {
    let words = command.split(' ').map(|word| {
        let file = FILES.iter().find(|(name, _)| *name == word);
        file.map_or(word, |(_, here)| here)
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let line =
        line.replace("docs/own-library", &root().join("docs/own-library").display().to_string());
    let line = line
        .replace("crates/import/tests", &root().join("crates/import/tests").display().to_string());
    let line = line
        .replace("docker run -i --rm IMAGE /cpb", "cpb")
        .replace("--budget 60s", "--budget 0.3s");
    match line.as_str() {
        "cpb check" => format!("{line} -a sha-1"),
        _ if line.starts_with("cpb run") => {
            let budget = if line.contains("--budget") { "" } else { " --budget 0.3s" };
            let providers = if line.contains(" -p ") { "" } else { " -p openssl,mbedtls:c" };
            let size = if line.contains(" -s ") { "" } else { " -s 1K" };
            // Its buffers take seconds to fill for each of its algorithms.
            let algorithm = if line.contains("--plan cold") { " -a sha-256" } else { "" };
            format!("{line}{budget}{providers}{size}{algorithm}")
        }
        _ => line,
    }
}

fn prepare(lab: &Lab) {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/record-v1.jsonl");
    for name in ["record.jsonl", "guest.jsonl", "before.jsonl"] {
        lab.write(name, std::fs::read(golden).expect("the golden record"));
    }
    let log = "You have chosen to measure elapsed time instead of user CPU time.\n\
               Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s\n";
    super::otfad::write_files(lab);
    for name in ["software.txt", "engine.txt", "a.txt", "b.txt", "before.txt", "after.txt"] {
        lab.write(name, log);
    }
}

#[test]
fn every_command_in_the_documents_works() {
    let lab = lab!();
    prepare(&lab);
    let (mut ran, mut understood) = (0, 0);
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        for command in commands(&text) {
            let line = here(&command);
            let shown = format!("{}: {command}", path.display());
            if ELSEWHERE.iter().any(|(part, _)| command.contains(part)) {
                let words = line.split(" -- ").next().unwrap_or(&line);
                let help = lab.shell(&format!("{words} --help"));
                assert_eq!(help.status, Some(0), "{shown}\n{}", help.all());
                understood += 1;
                continue;
            }
            for made in ["report.html", "page.html", "talk.jsonl"] {
                let _ = std::fs::remove_file(lab.path(made));
            }
            if command.contains("talk.jsonl") && !command.contains("import") {
                let import =
                    "cpb import crates/import/tests/logs/openssl-1.0.2-talk.txt -o talk.jsonl";
                assert_eq!(lab.shell(&here(import)).status, Some(0));
            }
            let done = lab.shell(&line);
            assert_eq!(done.status, Some(0), "{shown}\n{line}\n{}", done.all());
            ran += 1;
        }
    }
    assert!(ran > 15 && understood > 5, "{ran} ran, {understood} were understood");
}

#[test]
fn a_library_of_one_s_own_is_checked_and_measured() {
    let lab = lab!();
    let source = root().join("docs/own-library");
    let build = |change: &str, name: &str| {
        let text = std::fs::read_to_string(source.join("chacha20.c")).expect("the example");
        let (from, to) = change.split_once(" => ").unwrap_or(("", ""));
        assert!(text.contains(from), "{from}");
        lab.write("mine.c", if from.is_empty() { text } else { text.replace(from, to) });
        let built = lab.shell(&format!(
            "cc -O2 -Wall -Werror -shared -fPIC -I {} -o {name} mine.c",
            source.display()
        ));
        assert_eq!(built.status, Some(0), "{}", built.all());
    };
    build("", "libmine.so");
    let checked = lab.run("check -p library:./libmine.so -a chacha20");
    assert_eq!(checked.status, Some(0), "{}", checked.all());
    assert!(checked.stdout.contains("chacha20"), "{}", checked.all());
    let ran = lab.run("run -p library:libmine.so -a chacha20 -s 64,1K --budget 0.5s --json");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let own = |cell: &&serde_json::Value| cell["provider"] == "library:libmine.so";
    let cells: Vec<&serde_json::Value> =
        json["cells"].as_array().expect("cells").iter().filter(own).collect();
    assert!(cells.len() >= 2 && ran.stdout.contains("plain C 1.0"), "{}", ran.all());

    // A counter that stands still encrypts the second block with the first one's stream.
    build("state[12]++; => ;", "libwrong.so");
    let wrong = lab.run("check -p library:./libwrong.so -a chacha20");
    assert_eq!(wrong.status, Some(1), "{}", wrong.all());
    let wrong = lab.run("run -p library:./libwrong.so -a chacha20 -s 64 --budget 0.3s");
    assert_ne!(wrong.status, Some(0), "{}", wrong.all());

    // Longer than any known answer: another provider of the same run shows it.
    build("return 0; => return job->output[0] ^= job->input_length > 4000, 0;", "liblong.so");
    let long = lab.run("check -p library:./liblong.so -a chacha20");
    assert_eq!(long.status, Some(0), "{}", long.all());
    let long = lab.run(
        "run -p library:./liblong.so,openssl,rustcrypto -a chacha20 --operation encrypt -s 64,8K --budget 0.5s",
    );
    assert_eq!(long.status, Some(1), "{}", long.all());
    let words: Vec<&str> = long.stdout.split_whitespace().collect();
    let words = words.join(" ");
    let differs = "its outputs differ from those of most providers: library:./liblong.so chacha20 encrypt at 8 KiB";
    assert!(words.contains(differs), "{words}");

    build("cpb_library_close => other_close", "libpart.so");
    let part = lab.run("run -p library:./libpart.so -a chacha20 -s 64 --budget 0.3s");
    assert_eq!(part.status, Some(2), "{}", part.all());
    assert!(part.all().contains("does not export cpb_library_close"), "{}", part.all());
    for (name, words) in [("library", "name its file"), ("library:./absent.so", "absent.so")] {
        let absent = lab.run(&format!("run -p {name} -a chacha20 -s 64 --budget 0.3s"));
        assert_eq!(absent.status, Some(2), "{}", absent.all());
        assert!(absent.all().contains(words), "{}", absent.all());
    }
}
