//! `cargo xtask fuzz [--seconds N] [TARGET...]`: fuzzes each target of fuzz/fuzz_targets/ for a while and writes the
//! results into fuzz/results.md. Needs a nightly toolchain and a C++ compiler.

use crate::bench::choose;
use crate::tree;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const CARGO_FUZZ: &str = "0.13.2";
const DEFAULT_SECONDS: u32 = 600;
const HEADING: &str = "\
# What fuzzing found

Written by `make fuzz`; one row a target, its latest run. Coverage counts the edges that the whole
corpus reaches.

| target | day | commit | seconds | executions | coverage | crashes |
|---|---|---|---:|---:|---:|---|
";

/// The result of one run of one target.
#[derive(Debug, Default, PartialEq)]
struct Findings {
    seconds: u64,
    executions: u64,
    coverage: u64,
    crashes: Vec<String>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = tree::root();
    let (seconds, named) = parse_arguments(arguments)?;
    let targets: Vec<String> = tree::files(&root.join("fuzz/fuzz_targets"))
        .iter()
        .filter(|path| tree::has_extension(path, "rs"))
        .map(|path| tree::stem(path))
        .collect();
    let chosen = choose(&targets, &named)?;
    install_cargo_fuzz()?;

    let mut bad = Vec::new();
    for target in chosen {
        println!("== {target}, {seconds} s");
        let (findings, ended_well) = fuzz(&root, &target, seconds)?;
        if !ended_well {
            bad.push(target.clone());
        }
        record(&root, &target, &findings)?;
    }
    if bad.is_empty() { Ok(()) } else { Err(format!("crashed or did not run: {}", bad.join(", "))) }
}

fn parse_arguments(arguments: &[String]) -> Result<(u32, Vec<String>), String> {
    let mut seconds = DEFAULT_SECONDS;
    let mut targets = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let value = rest.next().map(|value| value.parse());
            let Some(Ok(value)) = value else {
                return Err("--seconds wants a whole number".to_owned());
            };
            seconds = value;
        } else if argument.starts_with('-') {
            return Err(format!("unknown option {argument}"));
        } else {
            targets.push(argument.clone());
        }
    }
    Ok((seconds, targets))
}

fn install_cargo_fuzz() -> Result<(), String> {
    let there = Command::new("cargo").args(["fuzz", "--version"]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    println!("cargo install cargo-fuzz {CARGO_FUZZ}");
    let status = Command::new("cargo")
        .args(["install", "--quiet", "--locked", "cargo-fuzz", "--version"])
        .arg(CARGO_FUZZ)
        .status();
    if status.is_ok_and(|s| s.success()) {
        Ok(())
    } else {
        Err(format!("cargo install cargo-fuzz {CARGO_FUZZ} failed"))
    }
}

fn fuzz(root: &Path, target: &str, seconds: u32) -> Result<(Findings, bool), String> {
    let mut child = Command::new("cargo")
        .args(["+nightly", "fuzz", "run", target, "--"])
        .arg(format!("-max_total_time={seconds}"))
        .current_dir(root)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start cargo fuzz: {error}"))?;
    let mut findings = Findings::default();
    if let Some(output) = child.stderr.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            eprintln!("{line}");
            findings.read(&line);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok((findings, status.success()))
}

impl Findings {
    /// Reads one line of libFuzzer's output.
    fn read(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("Done ") {
            // Done 4194304 runs in 11 second(s)
            let mut numbers = rest.split(' ').filter_map(|word| word.parse().ok());
            self.executions = numbers.next().unwrap_or(self.executions);
            self.seconds = numbers.next().unwrap_or(self.seconds);
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            let name = path.trim().rsplit('/').next().unwrap_or(path);
            self.crashes.push(name.to_owned());
        } else if line.starts_with('#') {
            // #2097152	pulse  cov: 154 ft: 311 corp: 41/1021b lim: 4096 exec/s: 699050 rss: 601Mb
            let mut words = line.split_whitespace();
            let executions = words.next().and_then(|word| word[1..].parse().ok());
            self.executions = executions.unwrap_or(self.executions);
            let coverage =
                words.skip_while(|word| *word != "cov:").nth(1).and_then(|word| word.parse().ok());
            self.coverage = coverage.unwrap_or(self.coverage);
        }
    }

    fn row(&self, target: &str, day: &str, commit: &str) -> String {
        let crashes =
            if self.crashes.is_empty() { "none".to_owned() } else { self.crashes.join(" ") };
        // libFuzzer prints its duration only if it ran to the end.
        let seconds = match self.seconds {
            0 => "-".to_owned(),
            seconds => seconds.to_string(),
        };
        format!(
            "| {target} | {day} | {commit} | {seconds} | {} | {} | {crashes} |",
            self.executions, self.coverage
        )
    }
}

fn record(root: &Path, target: &str, findings: &Findings) -> Result<(), String> {
    let path = root.join("fuzz/results.md");
    let day = output_of(root, "date", &["-u", "+%F"]);
    let commit = output_of(root, "git", &["rev-parse", "--short", "HEAD"]);
    let old = fs::read_to_string(&path).unwrap_or_default();
    let new = with_row(&old, target, &findings.row(target, &day, &commit));
    fs::write(&path, new).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The page with this target's row added or replaced.
fn with_row(page: &str, target: &str, row: &str) -> String {
    let mut rows: BTreeMap<&str, &str> = page
        .lines()
        .skip(HEADING.lines().count())
        .filter_map(|line| Some((line.strip_prefix("| ")?.split(' ').next()?, line)))
        .collect();
    rows.insert(target, row);
    let mut page = HEADING.to_owned();
    for row in rows.values() {
        page.push_str(row);
        page.push('\n');
    }
    page
}

fn output_of(root: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_seconds_and_targets() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        assert_eq!(parse_arguments(&[]), Ok((DEFAULT_SECONDS, Vec::new())));
        assert_eq!(
            parse_arguments(&words("--seconds 30 frame")),
            Ok((30, vec!["frame".to_owned()]))
        );
        assert!(parse_arguments(&words("--seconds soon")).is_err());
        assert!(parse_arguments(&words("--jobs")).is_err());
    }

    #[test]
    fn a_finished_run_gives_its_counts() {
        let mut findings = Findings::default();
        for line in [
            "INFO: Running with entropic power schedule (0xFF, 100).",
            "#2\tINITED cov: 3 ft: 4 corp: 1/1b exec/s: 0 rss: 30Mb",
            "#4096\tpulse  cov: 154 ft: 311 corp: 41/1021b lim: 43 exec/s: 2048 rss: 601Mb",
            "#5000\tDONE   cov: 155 ft: 320 corp: 42/1033b lim: 43 exec/s: 2500 rss: 601Mb",
            "Done 5000 runs in 2 second(s)",
        ] {
            findings.read(line);
        }
        let expected =
            Findings { seconds: 2, executions: 5000, coverage: 155, crashes: Vec::new() };
        assert_eq!(findings, expected);
    }

    #[test]
    fn a_crash_is_named_by_its_file() {
        let mut findings = Findings::default();
        findings.read("artifact_prefix='/x/'; Test unit written to /x/fuzz/artifacts/f/crash-1a2b");
        assert_eq!(findings.crashes, ["crash-1a2b"]);
    }

    #[test]
    fn a_row_replaces_the_same_target_and_leaves_the_others() {
        let first = with_row("", "plan", "| plan | old |");
        let second = with_row(&first, "frame", "| frame | old |");
        let third = with_row(&second, "plan", "| plan | new |");
        let expected = format!("{HEADING}| frame | old |\n| plan | new |\n");
        assert_eq!(third, expected);
    }
}
