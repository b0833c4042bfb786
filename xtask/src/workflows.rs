//! Checks the workflow files of a public forge without running them.
//!
//! A workflow only calls make, like every user. Any other step could not be tested on another machine.

use crate::tree;
use saphyr::{LoadableYamlNode, Yaml};
use std::fs;

const FOLDER: &str = ".github/workflows";

#[test]
fn a_workflow_calls_actions_of_one_major_version_and_targets_of_the_makefile() {
    let root = tree::root();
    let files = tree::files(&root.join(FOLDER));
    assert!(files.len() >= 2, "{files:?}");
    let targets = targets(&fs::read_to_string(root.join("Makefile")).unwrap());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(faults(&text, &targets), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn what_is_not_a_call_is_a_fault() {
    let workflow = |step: &str| {
        format!("on: push\npermissions: {{}}\njobs:\n  a:\n    runs-on: x\n    steps: [{step}]\n")
    };
    let targets = ["test".to_owned()];
    for good in ["run: make test", "run: make test ARGS=x", "uses: actions/checkout@v5"] {
        assert_eq!(faults(&workflow(&format!("{{{good}}}")), &targets), Vec::<String>::new());
    }
    for bad in [
        "run: make tests",
        "run: make test; curl x",
        "run: cargo test",
        "uses: actions/checkout@main",
        "uses: actions/checkout@v5.0.1",
        "name: nothing",
    ] {
        assert_eq!(faults(&workflow(&format!("{{{bad}}}")), &targets).len(), 1, "{bad}");
    }
    assert_eq!(faults("on: push\njobs: {a: {steps: []}}\n", &targets).len(), 3);
    assert_eq!(faults("a: [", &targets).len(), 1);
}

#[test]
fn the_files_of_a_release_are_uploaded_from_where_make_leaves_them() {
    let text = fs::read_to_string(tree::root().join(FOLDER).join("release.yml")).unwrap();
    assert!(text.contains("path: dist/"), "{text}");
    let makefile = fs::read_to_string(tree::root().join("Makefile")).unwrap();
    assert!(
        makefile.contains("scripts/deb.sh $(or $(CARGO_TARGET_DIR),target)/release/cpb dist\n")
    );
}

/// The errors in a workflow, in words.
fn faults(text: &str, targets: &[String]) -> Vec<String> {
    let documents = match Yaml::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => return vec![format!("no YAML: {error}")],
    };
    let [workflow] = documents.as_slice() else { return vec!["not one document".to_owned()] };
    let mut found = Vec::new();
    for key in ["on", "permissions", "jobs"] {
        if workflow.as_mapping_get(key).is_none() {
            found.push(format!("no `{key}`"));
        }
    }
    let jobs = workflow.as_mapping_get("jobs").and_then(Yaml::as_mapping);
    for job in jobs.into_iter().flat_map(|jobs| jobs.values()) {
        if job.as_mapping_get("runs-on").is_none() {
            found.push("a job has no `runs-on`".to_owned());
        }
        let steps = job.as_mapping_get("steps").and_then(Yaml::as_sequence);
        let steps = steps.map(Vec::as_slice).unwrap_or_default();
        if steps.is_empty() {
            found.push("a job has no steps".to_owned());
        }
        found.extend(steps.iter().filter_map(|step| fault(step, targets)));
    }
    found
}

/// The error in one step, if any.
fn fault(step: &Yaml, targets: &[String]) -> Option<String> {
    let text = |key| step.as_mapping_get(key).and_then(Yaml::as_str);
    match (text("run"), text("uses")) {
        (Some(command), None) => {
            let calls_make = command.strip_prefix("make ").is_some_and(|rest| {
                let plain =
                    rest.chars().all(|c| c.is_ascii_alphanumeric() || "-_=, \"".contains(c));
                let target = rest.split(' ').next().unwrap_or_default();
                plain && targets.iter().any(|known| known == target)
            });
            (!calls_make).then(|| format!("`{command}` is no call of a target of the Makefile"))
        }
        (None, Some(action)) => {
            let version = action.split_once("@v").map(|(_, version)| version);
            let is_major = version.is_some_and(|version| version.parse::<u32>().is_ok());
            (!is_major).then(|| format!("`{action}` names no major version"))
        }
        _ => Some(format!("neither `run` nor `uses`: {step:?}")),
    }
}

/// The targets that a Makefile declares phony.
fn targets(makefile: &str) -> Vec<String> {
    let lines = makefile.lines().filter_map(|line| line.strip_prefix(".PHONY:"));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}
