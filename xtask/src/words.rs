//! The step `check::words`: phrases that made the project's prose hard to read do not come back. They and their
//! exceptions are listed in `xtask/words.toml`.

use crate::tree;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The list, relative to the root.
const LIST: &str = "xtask/words.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// What must not be written.
    phrases: Vec<String>,
    /// Words around a phrase that make it right.
    right: Vec<String>,
    /// Places where it has to stay.
    #[serde(default)]
    allowed: Vec<Allowed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    file: PathBuf,
    #[serde(rename = "reason")]
    _reason: String,
}

/// Returns an error if a file of the project's own has one of the phrases.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let text = fs::read_to_string(root.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let words: Words = toml::from_str(&text).map_err(|error| format!("{LIST}: {error}"))?;
    let mut found = Vec::new();
    let mut unused: Vec<&PathBuf> = words.allowed.iter().map(|allowed| &allowed.file).collect();
    for file in files(root) {
        let name = file.strip_prefix(root).unwrap_or(&file);
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let lines = text.lines().enumerate();
        let hits = lines.filter_map(|(number, line)| Some((number + 1, phrase(line, &words)?)));
        let hits: Vec<String> = hits
            .map(|(number, phrase)| format!("{}:{number}: \"{phrase}\"", name.display()))
            .collect();
        let is_allowed = words.allowed.iter().any(|allowed| allowed.file == name);
        if is_allowed && !hits.is_empty() {
            unused.retain(|unused| *unused != name);
        } else {
            found.extend(hits);
        }
    }
    found.extend(
        unused
            .iter()
            .map(|file| format!("{LIST} allows {}, which needs it no more", file.display())),
    );
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// The first phrase in a line that is not right there. Names in code may consist of the same words.
fn phrase<'a>(line: &str, words: &'a Words) -> Option<&'a str> {
    let mut rest = line.to_owned();
    for right in &words.right {
        rest = rest.replace(right, "");
    }
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let whole = |phrase: &&String| {
        rest.match_indices(phrase.as_str()).any(|(place, _)| {
            ends(rest[..place].chars().next_back())
                && ends(rest[place + phrase.len()..].chars().next())
        })
    };
    words.phrases.iter().find(whole).map(String::as_str)
}

/// Sources and documents, without what is built or installed.
fn files(folder: &Path) -> Vec<PathBuf> {
    const ENDINGS: [&str; 5] = ["rs", "md", "toml", "py", "sh"];
    let mut found = Vec::new();
    for path in tree::entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            found.extend(files(&path));
        } else if ENDINGS.iter().any(|ending| tree::has_extension(&path, ending))
            && !path.ends_with(LIST)
        {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_unless_it_is_right_or_part_of_a_name() {
        let words = Words {
            phrases: vec!["is none".to_owned(), "nobody".to_owned()],
            right: vec!["there is none".to_owned()],
            allowed: Vec::new(),
        };
        for (line, expected) in [
            ("the plan is none", Some("is none")),
            ("empty if there is none", None),
            ("a nonessential part is nonempty", None),
            ("nobody asks", Some("nobody")),
            ("nobody_left(&mark)", None),
        ] {
            assert_eq!(phrase(line, &words), expected, "{line}");
        }
    }
}
