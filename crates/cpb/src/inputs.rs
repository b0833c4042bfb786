//! The inputs of commands that read records: record files, published records built into cpb, and logs of other tools.
//!
//! A log is imported in memory. It often names neither its machine nor its path, so several logs of one
//! command are assumed to be of one machine unless they contradict this. Their records say so in a warning.

use crate::library;
use anyhow::{Context, Error, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use cpb_core::Operation;
use cpb_import::{FORMATS, Options, naming};
use cpb_record::foreign::{self, shell_word};
use cpb_record::{Evidence, Published, Record};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The machine of logs that do not name one.
const ONE_MACHINE: &str = "one machine (assumed)";

/// The first bytes of a record.
const RECORD: &[u8] = b"{\"cpb\":";

/// Facts that logs do not contain and the user knows.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Logs of other tools")]
pub struct Told {
    /// `openssl speed` ran with -elapsed, so its seconds are wall-clock time, not CPU time
    #[arg(long)]
    pub elapsed: bool,
    /// Direction in which `openssl speed` ran ciphers, if the log contains no command
    #[arg(long, value_enum)]
    pub direction: Option<Direction>,
}

/// One of a cipher's two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// Without -decrypt
    Encrypt,
    /// With -decrypt
    Decrypt,
}

impl From<Told> for Options {
    fn from(told: Told) -> Options {
        let operation = |direction| match direction {
            Direction::Encrypt => Operation::Encrypt,
            Direction::Decrypt => Operation::Decrypt,
        };
        Options { elapsed: told.elapsed, direction: told.direction.map(operation) }
    }
}

/// A log among the inputs of a command.
struct Log<'a> {
    /// Its index among them.
    place: usize,
    /// The name that the user gave its path: `engine` in `engine=afalg.txt`.
    name: Option<&'a str>,
}

/// The records that `words` name, in their order, each with its file or name. `NAME=FILE` gives the path of a
/// log a name. Otherwise, if there are several logs, each path is named after its file, unless the log names
/// an engine.
///
/// # Errors
/// Returns an error if a file is neither a record nor a log, if a name does not exist, or if a name is given
/// to several paths.
pub fn records(words: &[PathBuf], told: Told) -> Result<Vec<(PathBuf, Record)>> {
    let (mut found, mut logs) = (Vec::new(), Vec::new());
    for word in words {
        let (name, path) = name_and_file(word);
        if is_log(path)? {
            logs.push(Log { place: found.len(), name });
            let mut record = import(path, told)?;
            if words.len() > 1 {
                let of_file = |warning: &String| format!("{}: {warning}", path.display());
                record.warnings = record.warnings.iter().map(of_file).collect();
            }
            found.push((path.to_owned(), record));
        } else if let Some(name) = name {
            library::records(&[path.to_owned()]).map_err(|error| nor_log(path, error))?;
            bail!("{}: this is a record; {name}= can only name the path of a log", path.display());
        } else {
            found.extend(
                library::records(&[path.to_owned()]).map_err(|error| nor_log(path, error))?,
            );
        }
    }
    share_a_machine(&mut found, &logs);
    share_a_direction(&mut found, &logs);
    doubt_the_direction(&mut found, &logs);
    name_paths(&mut found, &logs)?;
    doubt_two_machines(&mut found);
    Ok(found)
}

/// One record for each of `words`: a log, a record, or all published tables with that name in one. Logs are put
/// together and named as [`records`] does.
///
/// # Errors
/// See [`records`].
pub fn one_each(words: &[PathBuf], told: Told) -> Result<Vec<Record>> {
    let paths = || words.iter().map(|word| name_and_file(word).1);
    let logs = paths().map(is_log).collect::<Result<Vec<bool>>>()?;
    if logs.iter().all(|is_log| *is_log) {
        return Ok(records(words, told)?.into_iter().map(|(_, record)| record).collect());
    }
    let one = |(word, is_log): (&PathBuf, &bool)| match name_and_file(word) {
        (None, path) if !is_log => library::record(path).map_err(|error| nor_log(path, error)),
        _ => records(std::slice::from_ref(word), told).and_then(|found| {
            found.into_iter().next().map(|(_, record)| record).context("one word, one log")
        }),
    };
    words.iter().zip(&logs).map(one).collect()
}

/// Splits `NAME=FILE`. If a file with the whole name exists, there is no name part.
fn name_and_file(word: &Path) -> (Option<&str>, &Path) {
    let parts = word.to_str().filter(|_| !word.exists()).and_then(|text| text.split_once('='));
    match parts {
        Some((name, file)) if !name.is_empty() && !name.contains('/') => {
            (Some(name), Path::new(file))
        }
        _ => (None, word),
    }
}

/// Whether `path` is a log of another tool. A file that cannot be read or recognised is treated as a record,
/// whose reader reports the error.
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

/// The error for a file that is not a record and might have been a log.
fn nor_log(path: &Path, error: Error) -> Error {
    let empty = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if empty || !path.is_file() || begins_as_record(path).unwrap_or(true) {
        return error;
    }
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    anyhow!("{error}; it is not a log of a known tool either ({})", known.join(", "))
}

fn import(path: &Path, told: Told) -> Result<Record> {
    cpb_import::read(path, None, &told.into())
}

/// Checks that a record has figures to compute with.
///
/// # Errors
/// Returns an error if a record that was made from a log has none; the message gives the reasons and the remedy.
pub fn check_figures(file: &Path, record: &Record) -> Result<()> {
    let usable = || record.published.iter().any(|cell| cell.nanoseconds().is_some());
    if record.header.evidence != Evidence::Imported || usable() {
        return Ok(());
    }
    let flags = record.published.iter().flat_map(|cell| &cell.figures);
    let flags = flags.filter_map(|figure| figure.flag.as_ref()).map(|flag| flag.why.as_str());
    let mut seen = BTreeSet::new();
    let mut why: Vec<&str> = flags.filter(|why| seen.insert(*why)).collect();
    if why.is_empty() {
        why.extend(record.warnings.iter().map(String::as_str));
    }
    match why.as_slice() {
        [] => bail!("{}: it contains no figures", file.display()),
        why => bail!("{}: none of its figures can be used: {}", file.display(), why.join("; ")),
    }
}

/// Assigns several logs to one machine if they name at most one machine and do not contradict each other.
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
        Some(name) => format!("from {name}, like the others"),
        None => "from the same machine as the others".to_owned(),
    };
    for log in logs {
        let (file, record) = &mut found[log.place];
        let unnamed = naming::machines(record).is_empty();
        if unnamed && naming::name_machine(record, machine).is_ok() {
            record.warnings.push(format!(
                "{} names no machine; cpb assumes that it is {because}. If it is not, run `cpb import {} \
                 --machine NAME`.",
                file.display(),
                shell_word(&file.to_string_lossy())
            ));
        }
    }
}

/// Assigns ciphers in logs that do not state their direction the direction that other logs state for the same
/// algorithm.
fn share_a_direction(found: &mut [(PathBuf, Record)], logs: &[Log<'_>]) {
    let told: BTreeSet<(String, Operation)> = found
        .iter()
        .flat_map(|(_, record)| &record.published)
        .filter_map(|cell| Some((cell.algorithm.clone(), cell.operation.as_deref()?.parse().ok()?)))
        .collect();
    let only = |algorithm: &str| {
        let mut all = told.iter().filter(|(other, _)| other == algorithm);
        all.next().filter(|_| all.next().is_none()).map(|(_, operation)| *operation)
    };
    for log in logs {
        let (file, record) = &mut found[log.place];
        let mut assumed = BTreeSet::new();
        for cell in record.published.iter_mut().filter(|cell| cell.operation.is_none()) {
            if let Some(operation) = only(&cell.algorithm) {
                cell.operation = Some(operation.to_string());
                assumed.insert(operation);
            }
        }
        for operation in assumed {
            record.warnings.push(format!(
                "{} does not say whether ciphers encrypted or decrypted; cpb assumes {operation}, as in the others. \
                 If this is wrong, use --direction.",
                file.display()
            ));
        }
    }
}

/// Warns if several logs are compared and none of them says whether a cipher encrypted or decrypted.
fn doubt_the_direction(found: &mut [(PathBuf, Record)], logs: &[Log<'_>]) {
    let unknown = |record: &Record| -> BTreeSet<String> {
        let cipher = |cell: &&Published| cell.operation.is_none() && cell.bytes.is_some();
        record.published.iter().filter(cipher).map(|cell| cell.algorithm.clone()).collect()
    };
    let mut seen = BTreeSet::new();
    for log in logs {
        let (file, record) = &mut found[log.place];
        let own = unknown(record);
        if own.intersection(&seen).next().is_some() {
            record.warnings.push(format!(
                "{} does not say whether it encrypted or decrypted, nor do the logs that it is compared with. The \
                 comparison holds only if all did the same; say which by --direction.",
                file.display()
            ));
        }
        seen.extend(own);
    }
}

/// Warns if two imported records have the same tasks but different machines, and says what to do if the
/// machine is the same.
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
                "{} and {} have the same tasks and are assumed to be from two machines, {other} and {machine}. If it \
                 is one machine, run `cpb import {} --machine {} -o FILE`, and explain FILE together with {}.",
                first.display(),
                file.display(),
                shell_word(&file.to_string_lossy()),
                shell_word(other),
                first.display()
            ));
        }
        seen.push((file.clone(), machine, tasks));
    }
}

/// Names the paths of logs as the user says, or, if there are several, after their files.
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

/// A file's name without folder and extension if it is unique, otherwise its path.
fn name_of(file: &Path, files: &[PathBuf]) -> String {
    let stem = |file: &Path| file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let alone = files.iter().filter(|other| stem(other) == stem(file)).count() == 1;
    let name = stem(file).filter(|_| alone).unwrap_or_else(|| file.display().to_string());
    foreign::plain(&name).into_owned()
}
