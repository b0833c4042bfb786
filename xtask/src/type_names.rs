//! The step `check::type-names` finds types and traits of one crate that share a name. A reader of `State` should not
//! have to look up which one it is.
//!
//! `xtask/type_names.toml` lists the names that may be defined more than once, each with the common meaning of all
//! its definitions. The check fails if it finds another such name, or if a listed one is no longer shared.

use crate::modules::{self, Crate};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const LIST: &str = "xtask/type_names.toml";

/// The files that define a name, by crate and name.
type Shared = BTreeMap<(String, String), BTreeSet<PathBuf>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    #[serde(default)]
    shared: Vec<SharedName>,
}

/// Names that may have several definitions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedName {
    /// The folder of the crate, relative to the repository's root.
    #[serde(rename = "crate")]
    folder: String,
    names: BTreeSet<String>,
    meaning: String,
}

/// Returns an error if a name is shared and not listed, or listed and not shared.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let text = fs::read_to_string(root.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let list: Names = toml::from_str(&text).map_err(|error| format!("{LIST}: {error}"))?;
    let mut found = Shared::new();
    for file in modules::roots(root) {
        found.extend(shared(root, &file)?);
    }
    let complaints = compare(&found, &list.shared);
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// The names that the crate whose root is `file` defines in more than one module.
fn shared(root: &Path, file: &Path) -> Result<Shared, String> {
    let krate = Crate::read(file)?;
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let folder = file.ancestors().find(|above| above.join("Cargo.toml").is_file());
    let folder = name(folder.unwrap_or(root)).display().to_string();

    let mut places: BTreeMap<&str, (BTreeSet<usize>, BTreeSet<PathBuf>)> = BTreeMap::new();
    for (index, module) in krate.modules.iter().enumerate() {
        for defined in &module.types {
            let (modules, files) = places.entry(defined).or_default();
            modules.insert(index);
            files.insert(name(&module.file));
        }
    }
    // Two definitions in one module are one type, with a definition for each system.
    let several = places.into_iter().filter(|(_, (modules, _))| modules.len() > 1);
    Ok(several.map(|(shared, (_, files))| ((folder.clone(), shared.to_owned()), files)).collect())
}

/// The errors, one text each.
fn compare(found: &Shared, listed: &[SharedName]) -> Vec<String> {
    let is_listed = |folder: &str, name: &str| {
        listed.iter().any(|entry| entry.folder == folder && entry.names.contains(name))
    };
    let mut complaints = Vec::new();
    for ((folder, name), files) in found {
        if !is_listed(folder, name) {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            complaints.push(format!(
                "{folder} has several types called {name}: give them names of their own, or say in {LIST} \
                 what all of them are\n  {}",
                files.join("\n  ")
            ));
        }
    }
    for entry in listed {
        if entry.meaning.trim().is_empty() {
            complaints.push(format!("{LIST}: no meaning is given for {:?}", entry.names));
        }
        for name in &entry.names {
            if !found.contains_key(&(entry.folder.clone(), name.clone())) {
                complaints.push(format!(
                    "{LIST}: {} no longer has several types called {name}: remove it from the list",
                    entry.folder
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shared names of a crate that consists of these files; `lib.rs` is its root.
    fn planted(files: &[(&str, &str)]) -> Shared {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        shared(folder.path(), &folder.path().join("lib.rs")).unwrap()
    }

    fn entry(names: &[&str], meaning: &str) -> SharedName {
        SharedName {
            folder: String::new(),
            names: names.iter().map(ToString::to_string).collect(),
            meaning: meaning.to_owned(),
        }
    }

    const TWO: [(&str, &str); 3] = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "struct State; struct Only; impl Iterator for State { type Item = u8; }"),
        ("b.rs", "enum State {} trait Other { type Item; }"),
    ];

    #[test]
    fn a_name_of_two_modules_is_shared_and_says_where_it_is_defined() {
        let found = planted(&TWO);
        assert_eq!(found.len(), 1, "{found:?}");
        let complaints = compare(&found, &[]);
        assert!(complaints[0].contains("called State") && complaints[0].contains("\n  b.rs"));
    }

    #[test]
    fn alternatives_in_one_module_and_types_of_tests_are_none() {
        let found = planted(&[
            ("lib.rs", "mod a; #[cfg(unix)] struct Clock; #[cfg(not(unix))] struct Clock;"),
            ("a.rs", "struct A; #[cfg(test)] mod tests { struct A; struct Clock; }"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_list_wants_a_meaning_and_names_that_are_there() {
        let found = planted(&TWO);
        assert!(compare(&found, &[entry(&["State"], "how far it is")]).is_empty());
        assert!(compare(&found, &[entry(&["State"], " ")])[0].contains("no meaning"));
        let gone = compare(&found, &[entry(&["State", "Only"], "how far it is")]);
        assert!(gone[0].contains("no longer has several types called Only"), "{gone:?}");
    }
}
