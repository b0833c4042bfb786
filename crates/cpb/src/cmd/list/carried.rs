//! `cpb list plans`, `records`, `targets`: what is built into cpb and can be named in any folder.

use crate::lab::definition::Definition;
use crate::library;
use crate::target::{KINDS, named};
use anyhow::Result;
use cpb_record::Record;
use cpb_record::plan::Plan;
use cpb_report::wrap;
use std::collections::BTreeSet;

/// Room for a name.
const NAME: usize = 18;

/// The plans, each with the question that it answers.
pub(super) fn plans(width: usize) -> Result<String> {
    let mut text = String::new();
    for plan in library::plans() {
        let words = Plan::parse(&plan.text()?)?.reason;
        entry(&mut text, plan.name, words.trim(), width);
    }
    Ok(text)
}

/// The published records, each with its question, its documents and its number of cells.
pub(super) fn records(width: usize) -> Result<String> {
    let mut text = String::new();
    for carried in library::published() {
        let record = library::read(carried)?;
        entry(&mut text, carried.name, &of_record(&record), width);
    }
    Ok(text)
}

fn of_record(record: &Record) -> String {
    let cited = record.sources.iter().map(|source| match source.publisher.as_str() {
        "" => source.title.clone(),
        publisher => format!("{} ({publisher})", source.title),
    });
    let documents: Vec<String> = cited.collect::<BTreeSet<_>>().into_iter().collect();
    let count = record.published.len();
    format!("{} {count} cells from {}", record.header.plan.reason, documents.join("; "))
}

/// The names that `--target` accepts.
pub(super) fn targets(width: usize) -> Result<String> {
    let mut text = String::new();
    for name in named::names() {
        // A user's board file that is invalid is listed as well, with its error.
        let words = match named::named(&name) {
            Ok(Some(board)) => {
                let about = format!("{}, {}; {}", board.soc, board.cores, board.target);
                if board.notes.is_empty() { about } else { format!("{about}. {}", board.notes) }
            }
            Ok(None) => continue,
            Err(error) => format!("{error:#}"),
        };
        entry(&mut text, &name, &words, width);
    }
    for (chip, _) in cpb_sim::CHIPS {
        entry(&mut text, &format!("{chip}-sim"), "simulated, with cpb's firmware", width);
    }
    for guest in Definition::all()? {
        entry(&mut text, &format!("lab:{}", guest.name), &guest.reason, width);
    }
    for kind in KINDS.iter().filter(|kind| !kind.has_a_list) {
        entry(&mut text, kind.form.trim_matches('`'), kind.about, width);
    }
    Ok(text)
}

/// A name and its description, on as many lines as needed.
fn entry(text: &mut String, name: &str, words: &str, width: usize) {
    let mut name = name.to_owned();
    for line in wrap(words, width.max(2 * NAME) - NAME - 1) {
        // A long name gets its own line.
        if name.len() > NAME {
            *text += &format!("{name}\n");
            name.clear();
        }
        *text += &format!("{name:NAME$} {line}\n");
        name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_carried_is_listed_in_80_columns() {
        let texts = [plans(80), records(80), targets(80)].map(|text| text.expect("a list"));
        let listed = |text: &str, name: &str| text.lines().any(|line| line.starts_with(name));
        for (text, carried) in
            texts.iter().zip([library::plans(), library::published(), library::boards()])
        {
            assert!(carried.iter().all(|carried| listed(text, carried.name)), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        assert!(texts[2].contains("imxrt1060-sim") && texts[2].contains("lab:x86_64-6.1"));
    }
}
