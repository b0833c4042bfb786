//! Tests that are scripts: all executable files that end in `.sh`, and all `test_*.py`, below a folder called `tests`
//! outside the Rust crates.
//!
//! A shell script is one test, named after its path; it passes if it exits with 0. A Python file is run by `unittest`
//! in its own folder, with the parent folder on the module path, and each of its tests counts.

use crate::skips::Skip;
use crate::{tree, unittest_output};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct ScriptTests {
    /// Tests that passed, or that were skipped by a line in the skip log.
    pub(crate) passed: usize,
    pub(crate) failed: Vec<String>,
    /// Tests that Python's own `skipTest` skipped.
    pub(crate) skipped: Vec<Skip>,
}

/// Runs every script test and prints one line for each, and the whole output of those that failed.
pub(crate) fn run_all(root: &Path, skip_log: &Path) -> ScriptTests {
    let mut outcome = ScriptTests::default();
    for script in discover(root) {
        let name = script.strip_prefix(root).unwrap_or(&script).display().to_string();
        let start = Instant::now();
        let mut command = command(&script, root);
        let output = command.env("CPB_SKIP_LOG", skip_log).output();
        let failed_before = outcome.failed.len();
        match &output {
            Err(error) => outcome.failed.push(format!("{name} ({error})")),
            Ok(output) if tree::has_extension(&script, "py") => {
                count_python(&name, output, &mut outcome);
            }
            Ok(output) if output.status.success() => outcome.passed += 1,
            Ok(output) => outcome.failed.push(format!("{name} ({})", output.status)),
        }
        let went_well = outcome.failed.len() == failed_before;
        let verdict = if went_well { "ok    " } else { "FAILED" };
        println!("{name:<42} {verdict} {:6.1} s", start.elapsed().as_secs_f64());
        if let (false, Ok(output)) = (went_well, output) {
            print!("{}", String::from_utf8_lossy(&output.stdout));
            print!("{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    outcome
}

fn count_python(name: &str, output: &Output, outcome: &mut ScriptTests) {
    let summary = unittest_output::parse(&String::from_utf8_lossy(&output.stderr));
    let whole = summary.run.saturating_sub(summary.failed);
    outcome.passed += whole.saturating_sub(summary.skipped.len());
    for (test, reason) in &summary.skipped {
        outcome.skipped.push(Skip::new(&format!("{name}::{test}"), reason));
    }
    if summary.failed > 0 || !output.status.success() || summary.run == 0 {
        let count = format!("{} of {} tests", summary.failed, summary.run);
        outcome.failed.push(format!("{name} ({count})"));
    }
}

fn command(script: &Path, root: &Path) -> Command {
    if !tree::has_extension(script, "py") {
        let mut command = Command::new(script);
        command.current_dir(root);
        return command;
    }
    let folder = script.parent().unwrap_or(root);
    let mut command = Command::new("python3");
    command
        .args(["-m", "unittest", "-v"])
        .arg(tree::stem(script))
        .env("PYTHONPATH", folder.parent().unwrap_or(root))
        .current_dir(folder);
    command
}

fn discover(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let not_ours = ["crates", "xtask", "target"];
    for path in tree::entries(root) {
        let name = file_name(&path);
        if path.is_dir() && !name.starts_with('.') && !not_ours.contains(&name.as_str()) {
            walk(&path, false, &mut found);
        }
    }
    found
}

fn walk(folder: &Path, below_tests: bool, found: &mut Vec<PathBuf>) {
    let below_tests = below_tests || file_name(folder) == "tests";
    for path in tree::entries(folder) {
        if path.is_dir() && !path.is_symlink() && file_name(&path) != "target" {
            walk(&path, below_tests, found);
        } else if below_tests && is_test(&path) {
            found.push(path);
        }
    }
}

fn is_test(path: &Path) -> bool {
    (tree::has_extension(path, "sh") && tree::is_executable(path))
        || (tree::has_extension(path, "py") && file_name(path).starts_with("test_"))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn scripts_are_found_below_tests_and_nowhere_else() {
        let root = std::env::temp_dir().join(format!("cpb-xtask-scripts-{}", std::process::id()));
        let files = [
            ("tests/scripts/first.sh", 0o755),
            ("tests/scripts/sourced.sh", 0o644),
            ("bench/tests/test_fit.py", 0o644),
            ("bench/tests/support.py", 0o755),
            ("bench/speed.sh", 0o755),
            ("crates/cpb/tests/data/odd.sh", 0o755),
            (".venv/tests/test_pip.py", 0o644),
        ];
        for (name, mode) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let found = discover(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            found,
            [root.join("bench/tests/test_fit.py"), root.join("tests/scripts/first.sh")]
        );
    }
}
