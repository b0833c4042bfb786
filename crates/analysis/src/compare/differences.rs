//! Differences between two records, other than their figures, that may explain why the figures differ.

use super::{ComparedCell, Pairs};
use cpb_record::{ProviderRecord, PublishedPath, Record};
use std::collections::BTreeSet;

/// Long enough for a board's build and placement; a library's compiler flags may be longer.
const LONGEST: usize = 240;

/// All differences, each as a sentence.
pub(super) fn between(
    first: &Record,
    second: &Record,
    pairs: Pairs,
    rows: &[ComparedCell],
) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, one: &str, other: &str| {
        if one != other {
            let told = |words: &str| if words.is_empty() { "not stated" } else { words }.to_owned();
            differences.push(format!("{what}: {} and {}", told(one), told(other)));
        }
    };
    let (one, other) = (&first.header, &second.header);
    let evidence = |record: &Record| format!("{:?}", record.header.evidence).to_lowercase();
    differ("evidence", &evidence(first), &evidence(second));
    differ("run", ending(first), ending(second));
    differ("machine", &machine(first), &machine(second));
    differ("microcode", &one.machine.microcode, &other.machine.microcode);
    if first.published.is_empty() && second.published.is_empty() {
        differ("kernel", &one.machine.kernel, &other.machine.kernel);
        differ("cpb", &one.version, &other.version);
    }
    let pairs = names(first, pairs, rows);
    for name in pairs.iter().filter(|(name, other)| name == other).map(|(name, _)| name) {
        let (Some(path), Some(other)) = (path(first, name), path(second, name)) else { continue };
        differ(&format!("version of {name}"), &path.version, &other.version);
        differ(&format!("executor of {name}"), &path.executor, &other.executor);
        if path.options != other.options {
            // Builds are too long to print; it matters only that they differ.
            let words = "another (`cpb show --json` shows both)";
            differ(&format!("build or mask of {name}"), "one", words);
        }
    }
    let others = pairs.into_iter().filter(|(name, other)| name != other);
    let (firsts, seconds): (BTreeSet<_>, BTreeSet<_>) = others.unzip();
    let described = |record: &Record, names: BTreeSet<String>| -> Vec<String> {
        let words = |name: String| Some(format!("{name}: {}", words(&path(record, &name)?)));
        names.into_iter().filter_map(words).collect()
    };
    differences.extend(described(first, firsts));
    differences.extend(described(second, seconds));
    differences
}

fn words(path: &PublishedPath) -> String {
    let told = [&path.version, &path.executor, &path.options];
    let told: Vec<&str> =
        told.into_iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
    let words = told.join(", ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (`cpb show --json` shows all)", &words[..end]),
        None => words,
    }
}

/// The providers that are compared, as (first, second).
fn names(first: &Record, pairs: Pairs, rows: &[ComparedCell]) -> BTreeSet<(String, String)> {
    if let Pairs::Between(one, other) = pairs {
        return BTreeSet::from([(one.to_owned(), other.to_owned())]);
    }
    let published = first.sources.iter().flat_map(|source| source.paths.keys());
    let all = first.header.providers.keys().chain(published);
    let against = |row: &ComparedCell| Some((row.against.clone()?, row.provider.clone()));
    all.map(|name| (name.clone(), name.clone())).chain(rows.iter().filter_map(against)).collect()
}

/// The description of a provider in a record.
fn path(record: &Record, name: &str) -> Option<PublishedPath> {
    let published = record.sources.iter().find_map(|source| source.paths.get(name));
    published.cloned().or_else(|| match record.header.providers.get(name)? {
        ProviderRecord::Available { version, executor, options, .. } => Some(PublishedPath {
            version: version.clone(),
            executor: executor.clone(),
            options: options.clone(),
        }),
        ProviderRecord::Unavailable { .. } => None,
    })
}

/// The machine, or the machines of a published table.
fn machine(record: &Record) -> String {
    let machines: BTreeSet<&str> =
        record.published.iter().map(|cell| cell.machine.as_str()).collect();
    match machines.is_empty() {
        true => record.header.machine.words(),
        false => machines.into_iter().collect::<Vec<_>>().join(", "),
    }
}

/// How a run ended. A run that did not complete has fewer passes and may lack cells.
fn ending(record: &Record) -> &'static str {
    match &record.end {
        _ if !record.published.is_empty() => "complete",
        None => "cut off or killed",
        Some(end) if end.interrupted => "stopped",
        Some(_) => "complete",
    }
}
