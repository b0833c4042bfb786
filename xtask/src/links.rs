//! The step `check::links`: each link in a document leads to an existing file, and to an existing heading.

use crate::tree;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns an error if a link of a Markdown file outside `target` is broken. Web addresses are not tested.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut broken = Vec::new();
    for file in documents(root) {
        let text = read(&file)?;
        for link in links(&text) {
            if let Some(why) = why_broken(&file, &text, &link)? {
                let name = file.strip_prefix(root).unwrap_or(&file);
                broken.push(format!("{}: ({link}): {why}", name.display()));
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in tree::entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            found.extend(documents(&path));
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    found
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The addresses of a document's links and images.
fn links(text: &str) -> Vec<String> {
    let address = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, .. }) if link_type != LinkType::Email => {
            Some(dest_url.into_string())
        }
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    };
    Parser::new(text).filter_map(address).collect()
}

/// Why a link of `file`, whose content is `text`, is broken. `None` if it is not.
fn why_broken(file: &Path, text: &str, link: &str) -> Result<Option<String>, String> {
    if link.contains("://") {
        return Ok(None);
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = file.with_file_name(path);
    if !path.is_empty() && !target.exists() {
        return Ok(Some("there is no such file".to_owned()));
    }
    if heading.is_empty() {
        return Ok(None);
    }
    let headings = if path.is_empty() { headings(text) } else { headings(&read(&target)?) };
    Ok((!headings.contains(heading)).then(|| format!("no heading is #{heading}")))
}

/// The anchors that forges generate from a document's headings: lower case, `-` for a space, no punctuation.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                found.extend(heading.take().map(|words| anchor(&words)))
            }
            _ => {}
        }
    }
    found
}

fn anchor(words: &str) -> String {
    let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("docs");
        fs::create_dir(&sub).unwrap();
        fs::write(sub.join("b.md"), "# The kernel's crypto, `af_alg`\n\n[up](../a.md)").unwrap();
        let write = |text: &str| fs::write(folder.path().join("a.md"), text).unwrap();

        write(
            "# A\n[b](docs/b.md#the-kernels-crypto-af_alg) [a](#a) [net](https://x.org/#y) `[c](c.md)`",
        );
        assert_eq!(check(folder.path()), Ok(()));

        write("[b](docs/b.md#no) [c](c.md) ![picture](p.png) [here](#b)");
        let broken = check(folder.path()).unwrap_err();
        assert_eq!(broken.lines().count(), 4, "{broken}");
        assert!(broken.contains("a.md: (docs/b.md#no): no heading is #no"), "{broken}");
    }
}
