//! `cargo xtask bench [NAME...]`: runs the executable scripts of bench/ in name order, or the named ones. Each writes
//! its results into bench/results/.

use crate::tree;
use std::path::PathBuf;
use std::process::Command;

pub(crate) fn run(names: &[String]) -> Result<(), String> {
    let root = tree::root();
    let scripts = scripts();
    let known: Vec<String> = scripts.iter().map(|path| tree::stem(path)).collect();
    let chosen = choose(&known, names)?;

    let mut failed = Vec::new();
    for (script, name) in scripts.iter().zip(&known) {
        if !chosen.contains(name) {
            continue;
        }
        println!("== {name}");
        let status = Command::new(script).current_dir(&root).status();
        if !status.is_ok_and(|s| s.success()) {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn scripts() -> Vec<PathBuf> {
    let mut files = tree::files(&tree::root().join("bench"));
    files.retain(|path| tree::has_extension(path, "sh") || tree::has_extension(path, "py"));
    files
}

/// The named scripts, or all known scripts if `named` is empty.
pub(crate) fn choose(known: &[String], named: &[String]) -> Result<Vec<String>, String> {
    if let Some(unknown) = named.iter().find(|name| !known.contains(name)) {
        return Err(format!("there is no `{unknown}`; there are: {}", known.join(", ")));
    }
    let chosen = if named.is_empty() { known } else { named };
    Ok(chosen.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_may_be_executed() {
        let scripts = scripts();
        assert!(scripts.len() > 10, "{scripts:?}");
        for script in scripts {
            assert!(tree::is_executable(&script), "{}: chmod +x", script.display());
        }
    }

    #[test]
    fn nothing_named_is_everything_and_an_unknown_name_is_an_error() {
        let known = ["one", "two"].map(str::to_owned);
        assert_eq!(choose(&known, &[]), Ok(known.to_vec()));
        assert_eq!(choose(&known, &known[1..]), Ok(vec!["two".to_owned()]));
        assert!(choose(&known, &["three".to_owned()]).is_err());
    }
}
