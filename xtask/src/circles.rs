//! The step `check::circles` finds files of one crate that use each other in a circle: A uses B, B uses C, C uses A.
//! None of them can be understood, tested or moved without the others.
//!
//! A file uses another if one of its paths leads to an item defined there (`circles/uses.rs`). A module and its
//! submodules may use each other (`circles/knots.rs`). `xtask/circles.toml` lists the existing circles, each with its
//! reason. The check fails if it finds a circle that is not listed, or if a listed one no longer exists.

mod knots;
mod resolve;
mod uses;

use crate::modules::{self, Crate};
use knots::{Files, Graph};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LIST: &str = "xtask/circles.toml";

/// A circle, and one way round it, with one line per use.
struct Circle {
    /// Relative to the repository's root.
    files: BTreeSet<PathBuf>,
    way: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    circle: Vec<Entry>,
}

/// A circle that is allowed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    files: BTreeSet<PathBuf>,
    reason: String,
}

/// Returns an error if a circle is not listed, or if a listed one no longer exists.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let text = fs::read_to_string(root.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let list: List = toml::from_str(&text).map_err(|error| format!("{LIST}: {error}"))?;
    let mut found = Vec::new();
    for file in modules::roots(root) {
        found.extend(circles(root, &file)?);
    }
    let complaints = compare(&found, &list.circle);
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// The circles of the crate whose root is `file`.
fn circles(root: &Path, file: &Path) -> Result<Vec<Circle>, String> {
    let krate = Crate::read(file)?;
    let uses = uses::of(&krate);
    let files: Files =
        krate.files.iter().map(|(module, _)| krate.modules[*module].file.as_path()).collect();
    let is_within = |file: &Path, above: &Path| krate.is_within(file, above);
    let name = |file: &Path| file.strip_prefix(root).unwrap_or(file).to_path_buf();

    let graph = Graph { uses: &uses, is_within: &is_within };
    let described = graph.circles(&files).into_iter().map(|circle| {
        let way = graph.way_round(&circle);
        let steps = way.iter().zip(way.iter().skip(1)).map(|(user, used)| {
            let place = &uses[*user][*used];
            let (user, used) = (name(user), name(used));
            format!("{}:{} {} -> {}", user.display(), place.line, place.path, used.display())
        });
        Circle { files: circle.iter().map(|file| name(file)).collect(), way: steps.collect() }
    });
    Ok(described.collect())
}

/// The errors, one text each.
fn compare(found: &[Circle], listed: &[Entry]) -> Vec<String> {
    let mut complaints = Vec::new();
    for circle in found {
        if !listed.iter().any(|entry| entry.files == circle.files) {
            complaints.push(format!(
                "{} files use each other in a circle that {LIST} does not list:\n{}\none way round:\n  {}",
                circle.files.len(),
                names(&circle.files),
                circle.way.join("\n  ")
            ));
        }
    }
    for entry in listed {
        if entry.reason.trim().is_empty() {
            complaints.push(format!("{LIST}: no reason is given for\n{}", names(&entry.files)));
        }
        if !found.iter().any(|circle| circle.files == entry.files) {
            complaints.push(format!(
                "{LIST} lists a circle that is no longer there: remove the entry, or correct its files\n{}",
                names(&entry.files)
            ));
        }
    }
    complaints
}

fn names(files: &BTreeSet<PathBuf>) -> String {
    files
        .iter()
        .map(|file| format!("  {:?},", file.display().to_string()))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests;
