//! What is built into cpb's own file: the plans, published records and boards of its source, which can be
//! named in any folder; the known answers; and, if they were available when cpb was built, firmware for
//! simulated boards and a runner. `build.rs` finds and compresses them.
//!
//! An existing file takes precedence: only a word that is not the name of a file is looked up here.

use anyhow::{Context, Result, anyhow, bail};
use cpb_record::Record;
use cpb_record::names;
use cpb_record::plan::Plan;
use cpb_record::store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The most bytes that a built-in file may unpack to.
const MOST_BYTES: usize = 16 << 20;

/// A built-in file.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Its name, without folder; a source's with its extension.
    pub name: &'static str,
    packed: &'static [u8],
}

impl Carried {
    /// Its content.
    ///
    /// # Errors
    /// Returns an error if the compressed content does not unpack.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(self.packed, MOST_BYTES);
        unpacked.map_err(|error| anyhow!("{}: {error}", self.name))
    }

    /// Its content as text.
    ///
    /// # Errors
    /// See [`Carried::bytes`]. Also returns an error if the content is not text.
    pub fn text(&self) -> Result<String> {
        let text = with_hex(&self.bytes()?).with_context(|| self.name.to_owned())?;
        String::from_utf8(text).with_context(|| self.name.to_owned())
    }
}

/// The byte before packed hexadecimal digits; see `build.rs`.
const HEX_MARK: u8 = 1;

/// A text with its packed hexadecimal digits written out; `None` if it ends in the middle of them.
fn with_hex(packed: &[u8]) -> Option<Vec<u8>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
    let mut text = Vec::with_capacity(packed.len() * 2);
    let mut rest = packed;
    while let Some(place) = rest.iter().position(|byte| *byte == HEX_MARK) {
        text.extend(&rest[..place]);
        let (length, after) = rest[place + 1..].split_first_chunk::<3>()?;
        let [low, middle, high] = length.map(usize::from);
        let (bytes, after) = after.split_at_checked(low | middle << 8 | high << 16)?;
        text.extend(bytes.iter().flat_map(digits));
        rest = after;
    }
    text.extend(rest);
    Some(text)
}

/// The plans, by name.
pub fn plans() -> &'static [Carried] {
    PLANS
}

/// The published records, by name.
pub fn published() -> &'static [Carried] {
    RECORDS
}

/// The boards, by name.
pub fn boards() -> &'static [Carried] {
    BOARDS
}

/// The known answers, one file per algorithm family.
pub fn vectors() -> &'static [Carried] {
    VECTORS
}

/// Firmware for simulated boards, by the name of its image without extension; many builds contain no
/// firmware.
pub fn firmware() -> &'static [Carried] {
    FIRMWARE
}

/// The runner that a static cpb starts for libraries of the system.
pub fn runner() -> Option<&'static Carried> {
    RUNNER.first()
}

/// The sources of the kernel's runner, by the names of their files.
pub fn kernel_runner() -> &'static [Carried] {
    KERNEL_RUNNER
}

/// The built-in file with that name.
pub fn find(among: &'static [Carried], name: &str) -> Option<&'static Carried> {
    among.iter().find(|carried| carried.name == name)
}

/// Whether a word can be the name of a built-in file: it is not a path, and no file has that name.
pub fn is_name(word: &Path) -> bool {
    let alone = word.components().count() == 1 && word.extension().is_none();
    alone && word != Path::new("-") && (!word.exists() || word.is_dir())
}

/// What `cpb run` measures by default.
const DEFAULT: &str = "default";

/// The plan that identifies a core by its AES-CBC.
pub const IDENTIFY: &str = "identify";

/// The plan of memory reads.
pub const MEMORY_READ: &str = "memory-read";

/// The plan that rates how suitable a machine is for measuring.
pub const DOCTOR: &str = "doctor";

/// The plan in `path`, or the built-in plan with that name; without a path, the default plan.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a plan (the message names the line), or if no plan
/// has the name.
pub fn plan(path: Option<&Path>) -> Result<Plan> {
    let Some(path) = path else { return carried_plan(DEFAULT) };
    match path.to_str().filter(|_| is_name(path)) {
        Some(name) => carried_plan(name),
        None => Plan::read(path),
    }
}

/// The plan called `name`.
///
/// # Errors
/// Returns an error if no plan has this name; the message suggests the nearest names.
pub fn carried_plan(name: &str) -> Result<Plan> {
    let all: Vec<&str> = PLANS.iter().map(|plan| plan.name).collect();
    let place = names::places("plan", &[name.to_owned()], &all)?;
    let text = PLANS[*place.first().context("no such plan")?].text()?;
    Plan::parse(&text).with_context(|| format!("the built-in plan {name}"))
}

/// The records that `words` name, in their order. Each has its file's path, or the name of a published record
/// built into cpb. A common beginning of several names, such as `imx6` of `imx6-software`, stands for all of
/// them.
///
/// # Errors
/// Returns an error if a file is not a record, or if a name does not exist.
pub fn records(words: &[PathBuf]) -> Result<Vec<(PathBuf, Record)>> {
    let mut found = Vec::new();
    for word in words {
        match group(word)? {
            None => found.push((word.clone(), store::read(word)?)),
            Some(group) => {
                for carried in group {
                    found.push((PathBuf::from(carried.name), read(carried)?));
                }
            }
        }
    }
    Ok(found)
}

/// The one record that `word` names. Several published tables are joined in one record.
///
/// # Errors
/// As [`records`].
pub fn record(word: &Path) -> Result<Record> {
    let found = records(&[word.to_owned()])?;
    let mut all = found.into_iter().map(|(_, record)| record).collect::<Vec<_>>();
    match all.len() {
        1 => Ok(all.remove(0)),
        _ => joined(&word.to_string_lossy(), all),
    }
}

/// The built-in records that `word` names; `None` if it is the name of a file.
fn group(word: &Path) -> Result<Option<Vec<&'static Carried>>> {
    let Some(name) = word.to_str().filter(|_| is_name(word)) else { return Ok(None) };
    let part = |carried: &&Carried| {
        carried.name == name
            || carried.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    };
    let group: Vec<&Carried> = match find(RECORDS, name) {
        Some(whole) => vec![whole],
        None => RECORDS.iter().filter(part).collect(),
    };
    if group.is_empty() {
        if word.is_dir() {
            return Ok(None);
        }
        let all = record_names();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        names::places("record", &[name.to_owned()], &all)?;
    }
    Ok(Some(group))
}

/// The names of all published records, and the common beginnings of several names.
pub fn record_names() -> Vec<String> {
    let mut names: BTreeSet<String> = RECORDS.iter().map(|one| one.name.to_owned()).collect();
    let first = |name: &str| name.split('-').next().unwrap_or(name).to_owned();
    for record in RECORDS {
        let beginning = first(record.name);
        if RECORDS.iter().filter(|other| first(other.name) == beginning).count() > 1 {
            names.insert(beginning);
        }
    }
    names.into_iter().collect()
}

/// Reads a built-in record.
///
/// # Errors
/// Returns an error if it is damaged; a test ensures that none is.
pub fn read(carried: &Carried) -> Result<Record> {
    store::parse_record(carried.text()?.as_bytes()).with_context(|| carried.name.to_owned())
}

/// Joins published tables in one record. The name of each table begins with the name of its record, because
/// several records have a table `run`.
fn joined(name: &str, records: Vec<Record>) -> Result<Record> {
    let mut whole: Option<Record> = None;
    for mut record in records {
        if record.published.is_empty() || !record.cells.is_empty() {
            bail!(
                "{name} stands for several records, and one of them is a run: choose one of them"
            );
        }
        let of = record.header.plan.name.clone();
        record
            .sources
            .iter_mut()
            .for_each(|source| source.table = format!("{of}/{}", source.table));
        record.published.iter_mut().for_each(|cell| cell.table = format!("{of}/{}", cell.table));
        match &mut whole {
            None => {
                record.header.plan.name = name.to_owned();
                whole = Some(record);
            }
            Some(whole) => {
                whole.sources.append(&mut record.sources);
                whole.published.append(&mut record.published);
                whole.warnings.append(&mut record.warnings);
            }
        }
    }
    whole.with_context(|| format!("no record has the name {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_file_of_the_folders_is_carried_as_it_is() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (folder, ending, carried) in [
            ("plans", "toml", PLANS),
            ("records", "jsonl", RECORDS),
            ("boards", "toml", BOARDS),
            ("vectors", "json", VECTORS),
        ] {
            let entries = fs::read_dir(root.join(folder)).expect("a folder").flatten();
            let paths = entries.map(|entry| entry.path());
            let mut count = 0;
            for path in paths.filter(|path| path.extension().is_some_and(|it| it == ending)) {
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
                let found = find(carried, name).expect(name);
                let text = fs::read_to_string(&path).expect("a text");
                assert!(found.text().expect("it unpacks") == text, "{}", path.display());
                count += 1;
            }
            assert_eq!(carried.len(), count, "{folder}");
        }
    }

    #[test]
    fn digits_that_are_cut_off_are_no_text() {
        assert_eq!(with_hex(b"a\x01\x02\0\0\x0f\x01b").as_deref(), Some(b"a0f01b".as_slice()));
        for cut_off in [b"a\x01\x02\0\0\x0f".as_slice(), b"a\x01\x02\0", b"\x01"] {
            assert_eq!(with_hex(cut_off), None);
        }
    }

    #[test]
    fn a_name_or_the_beginning_of_several_names_records() {
        let named = |word: &str| {
            let found = records(&[PathBuf::from(word)]).expect(word);
            found.into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(named("imx6-software"), ["imx6-software"]);
        assert_eq!(named("imx6"), ["imx6-af_alg", "imx6-cryptodev", "imx6-software"]);
        assert_eq!(named("imxrt"), ["imxrt-mbedtls"]);
        let wrong = |word: &str| records(&[PathBuf::from(word)]).expect_err(word).to_string();
        assert!(wrong("imx6-software2").contains("did you mean imx6-software?"));
        assert!(wrong("imx").contains("imx6"), "{}", wrong("imx"));
        assert!(wrong("absent.jsonl").starts_with("cannot read absent.jsonl"));
        assert!(wrong("./imx6").starts_with("cannot read ./imx6"), "{}", wrong("./imx6"));
    }

    #[test]
    fn tables_that_are_joined_keep_their_cells_apart() {
        let whole = record(Path::new("imx6")).expect("a group");
        let parts = records(&[PathBuf::from("imx6")]).expect("a group");
        let cells: usize = parts.iter().map(|(_, record)| record.published.len()).sum();
        assert_eq!((whole.header.plan.name.as_str(), whole.published.len()), ("imx6", cells));
        let tables: BTreeSet<&str> =
            whole.sources.iter().map(|source| source.table.as_str()).collect();
        assert_eq!(tables.len(), whole.sources.len());
        assert!(whole.published.iter().all(|cell| tables.contains(cell.table.as_str())));
    }
}
