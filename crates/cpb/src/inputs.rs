//! What commands that read are given: records, published ones that cpb carries, and logs of other tools.
//!
//! A log is imported in memory. It often tells neither its machine nor what its path is called, so several logs of one
//! command are taken to be of one machine unless they contradict that. Their records say so in a warning.

use crate::library;
use anyhow::{Context, Error, Result, anyhow, bail};
use cpb_import::{FORMATS, Options, naming};
use cpb_record::{Evidence, Published, Record, foreign};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The machine of logs none of which names one.
const ONE_MACHINE: &str = "one machine (assumed)";

/// What a record begins with.
const RECORD: &[u8] = b"{\"cpb\":";

/// A log among the records of a command.
struct Log<'a> {
    /// Its place among them.
    place: usize,
    /// What the user calls its path: `engine` of `engine=afalg.txt`.
    name: Option<&'a str>,
}

/// The records that `words` name, in their order, each with its file or name. `NAME=FILE` says what the path of a log is
/// called; else, of several logs, each path is called after its file, unless its log names an engine.
///
/// # Errors
/// A file that is neither a record nor a log, a name that does not exist, or a name for what has several paths.
pub fn records(words: &[PathBuf]) -> Result<Vec<(PathBuf, Record)>> {
    let (mut found, mut logs) = (Vec::new(), Vec::new());
    for word in words {
        let (name, path) = name_and_file(word);
        if is_log(path)? {
            logs.push(Log { place: found.len(), name });
            found.push((path.to_owned(), import(path)?));
        } else if let Some(name) = name {
            bail!("{}: {name}= names the path of a log, and this is a record", path.display());
        } else {
            found.extend(
                library::records(&[path.to_owned()]).map_err(|error| nor_log(path, error))?,
            );
        }
    }
    share_a_machine(&mut found, &logs);
    name_paths(&mut found, &logs)?;
    doubt_two_machines(&mut found);
    Ok(found)
}

/// The one record that a word names: a log, a record, or all published tables of that name in one.
///
/// # Errors
/// As [`records`].
pub fn record(word: &Path) -> Result<Record> {
    let (name, path) = name_and_file(word);
    match name {
        None if !is_log(path)? => library::record(path).map_err(|error| nor_log(path, error)),
        _ => records(&[word.to_owned()]).and_then(|found| {
            found.into_iter().next().map(|(_, record)| record).context("one word, one log")
        }),
    }
}

/// `NAME=FILE` in its parts. What exists as it stands is a file's name as a whole.
fn name_and_file(word: &Path) -> (Option<&str>, &Path) {
    let parts = word.to_str().filter(|_| !word.exists()).and_then(|text| text.split_once('='));
    match parts {
        Some((name, file)) if !name.is_empty() && !name.contains('/') => {
            (Some(name), Path::new(file))
        }
        _ => (None, word),
    }
}

/// Whether `path` is a log of another tool. What can be neither read nor recognised is taken for a record, whose
/// reader says what is wrong.
fn is_log(path: &Path) -> Result<bool> {
    if library::is_name(path) || !path.is_file() || begins_as_record(path)? {
        return Ok(false);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(cpb_import::is_log(bytes))
}

fn begins_as_record(path: &Path) -> Result<bool> {
    let mut beginning = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.take(RECORD.len() as u64).read_to_end(&mut beginning)?;
    Ok(beginning == RECORD)
}

/// The error of what is no record, if it might have been a log.
fn nor_log(path: &Path, error: Error) -> Error {
    let empty = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if empty || !path.is_file() || begins_as_record(path).unwrap_or(true) {
        return error;
    }
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    anyhow!("{error}; nor is it a log of a tool that cpb knows ({})", known.join(", "))
}

fn import(path: &Path) -> Result<Record> {
    cpb_import::read(path, None, &Options::default())
}

/// Takes several logs to be of one machine, if they name one at most and do not contradict each other.
fn share_a_machine(found: &mut [(PathBuf, Record)], logs: &[Log<'_>]) {
    let records = || logs.iter().map(|log| &found[log.place].1);
    let told = |of: fn(&Record) -> &str| -> BTreeSet<&str> {
        records().map(of).filter(|words| !words.is_empty()).collect()
    };
    let cpus = told(|record| &record.header.machine.cpu);
    let architectures = told(|record| &record.header.machine.architecture);
    let named: BTreeSet<String> = records().flat_map(naming::machines).map(str::to_owned).collect();
    if logs.len() < 2 || named.len() > 1 || cpus.len() > 1 || architectures.len() > 1 {
        return;
    }
    let machine = named.first().map_or(ONE_MACHINE, String::as_str);
    let because = match named.first() {
        Some(name) => format!("of {name}, as the others are"),
        None => "of the same machine as the others".to_owned(),
    };
    for log in logs {
        let (file, record) = &mut found[log.place];
        let unnamed = naming::machines(record).is_empty();
        if unnamed && naming::name_machine(record, machine).is_ok() {
            record.warnings.push(format!(
                "{} names no machine; cpb assumes that it is {because}. If it is not, say so: `cpb import {} \
                 --machine NAME`.",
                file.display(),
                file.display()
            ));
        }
    }
}

/// Says of two imported records with the same tasks that they are taken for two machines, and what to do if they are
/// one.
fn doubt_two_machines(found: &mut [(PathBuf, Record)]) {
    type Tasks = BTreeSet<(String, Option<String>, Option<String>)>;
    let mut seen: Vec<(PathBuf, String, Tasks)> = Vec::new();
    for (file, record) in found {
        let machines: BTreeSet<&str> =
            record.published.iter().map(|cell| cell.machine.as_str()).collect();
        let (1, Some(machine)) = (machines.len(), machines.first()) else { continue };
        if record.header.evidence != Evidence::Imported {
            continue;
        }
        let machine = (*machine).to_owned();
        let task =
            |cell: &Published| (cell.algorithm.clone(), cell.operation.clone(), cell.phase.clone());
        let tasks: Tasks = record.published.iter().map(task).collect();
        let other = seen.iter().find(|(_, other, theirs)| {
            *other != machine && theirs.intersection(&tasks).next().is_some()
        });
        if let Some((first, other, _)) = other {
            record.warnings.push(format!(
                "{} and {} have the same tasks and are taken for two machines, {other} and {machine}. If they \
                 are one, say so: `cpb import {} --machine {other} -o FILE`, and explain FILE with {}.",
                first.display(),
                file.display(),
                file.display(),
                first.display()
            ));
        }
        seen.push((file.clone(), machine, tasks));
    }
}

/// Calls the paths of logs as the user says, or several after their files.
fn name_paths(found: &mut [(PathBuf, Record)], logs: &[Log<'_>]) -> Result<()> {
    let files: Vec<PathBuf> = logs.iter().map(|log| found[log.place].0.clone()).collect();
    for log in logs {
        let (file, record) = &mut found[log.place];
        let is_plain = naming::paths(record).len() == 1 && !naming::names_engine(record);
        let name = match log.name {
            Some(name) => name.to_owned(),
            None if logs.len() > 1 && is_plain => name_of(file, &files),
            None => continue,
        };
        naming::name_path(record, &name).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// A file's name without folder and ending, if no other file has the same; else its path.
fn name_of(file: &Path, files: &[PathBuf]) -> String {
    let stem = |file: &Path| file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let alone = files.iter().filter(|other| stem(other) == stem(file)).count() == 1;
    let name = stem(file).filter(|_| alone).unwrap_or_else(|| file.display().to_string());
    foreign::plain(&name).into_owned()
}
