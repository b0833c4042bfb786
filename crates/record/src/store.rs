//! Records on disk: files of JSON lines that are only ever appended to.

use crate::foreign;
use crate::{Header, Line, Record, SCHEMA};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The longest line that a record may have: far beyond any round's.
const MAX_LINE: u64 = 64 << 20;

/// A record that is being written.
pub struct Store {
    path: PathBuf,
    file: File,
    /// Where a line begins that a kill cut short: to be dropped when something is written.
    torn_at: Option<u64>,
}

impl Store {
    /// Begins a record with its header. An existing file is never touched, and none is left behind
    /// if the header cannot be written.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Store> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| {
                let folder = folder.display();
                anyhow!(
                    "cannot make the folder {folder}: {error}; name a file elsewhere by --output"
                )
            })?;
        }
        match OpenOptions::new().append(true).create_new(true).open(path) {
            Ok(file) => {
                lock(&file, path)?;
                let mut store = Store { path: path.to_owned(), file, torn_at: None };
                if let Err(error) = store.write(&Line::Cpb(Box::new(header.clone()))) {
                    // A beginning of a first line is of no use to anyone.
                    let _ = std::fs::remove_file(path);
                    return Err(error).with_context(|| format!("cannot write {}", path.display()));
                }
                Ok(store)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!(
                "{} exists and is left as it is; name another file, or go on with it by --resume",
                path.display()
            ),
            Err(error) => {
                let path = path.display();
                bail!("cannot write {path}: {error}; name a file elsewhere by --output")
            }
        }
    }

    /// Goes on with a record. The first line that is appended takes the place of one that a kill
    /// cut short; until then the file stays as it is.
    ///
    /// # Errors
    /// The file is no record, is being written by another process, or cannot be written.
    pub fn resume(path: &Path) -> Result<(Store, Record)> {
        let file = open(path)?;
        let writable = OpenOptions::new().append(true).open(path);
        let writable = writable.with_context(|| format!("cannot write {}", path.display()))?;
        lock(&writable, path)?;
        let (record, whole) = read_up_to_tear(file, path)?;
        let torn_at = whole.torn.map(|_| whole.bytes);
        Ok((Store { path: path.to_owned(), file: writable, torn_at }, record))
    }

    /// Appends a line. When this returns, the line survives the end of this process.
    ///
    /// # Errors
    /// The disk is full, or worse.
    pub fn append(&mut self, line: &Line) -> Result<()> {
        self.write(line).with_context(|| {
            format!(
                "cannot write {}; what was written before is kept, make room and go on with \
                 `cpb run --resume {}`",
                self.path.display(),
                self.path.display()
            )
        })
    }

    fn write(&mut self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        if let Some(end) = self.torn_at {
            self.file.set_len(end)?;
            self.torn_at = None;
        }
        // One write: a process that is killed leaves whole lines.
        Ok(self.file.write_all(&text)?)
    }

    /// Makes what was appended survive the end of the machine, too.
    ///
    /// # Errors
    /// The disk is full, or worse.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a record. One whose last line is cut short is read up to there, with a warning in it.
///
/// # Errors
/// It is none, is of a later version, or a line of it is damaged.
pub fn read(path: &Path) -> Result<Record> {
    let (mut record, whole) = read_up_to_tear(open(path)?, path)?;
    if let Some(line) = whole.torn {
        record.warnings.push(format!(
            "The record ends in the middle of line {line}: it was cut or its writer was killed. The \
             rest is whole; `cpb run --resume {}` goes on with it.",
            path.display()
        ));
    }
    Ok(record)
}

/// How much of a file is whole lines.
struct Whole {
    bytes: u64,
    /// Number of a last line without its end.
    torn: Option<usize>,
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a folder; name a record in it", path.display());
    }
    Ok(file)
}

/// Two writers of one record would spoil it.
fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => bail!(
            "{} is being written by another cpb; wait for it, or end it, and go on then",
            path.display()
        ),
        // Not every file system has locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn read_up_to_tear(file: File, path: &Path) -> Result<(Record, Whole)> {
    parse(BufReader::new(file)).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// A record as it would be read again: without what no line that is read may hold.
///
/// # Errors
/// It holds something that JSON cannot.
pub fn as_read(record: Record) -> Result<Record> {
    let mut text = Vec::new();
    let sources = record.sources.into_iter().map(Line::Source);
    let cells = record.published.into_iter().map(Line::Published);
    let header = Line::Cpb(Box::new(record.header));
    for line in std::iter::once(header).chain(sources).chain(cells) {
        serde_json::to_writer(&mut text, &line)?;
        text.push(b'\n');
    }
    parse_record(text.as_slice())
}

/// Reads a record's lines from anywhere.
///
/// # Errors
/// As [`read`], with the number of the line.
pub fn parse_record(input: impl Read) -> Result<Record> {
    let (record, whole) = parse(BufReader::new(input))?;
    match whole.torn {
        Some(line) => bail!("line {line} is cut short"),
        None => Ok(record),
    }
}

fn parse(mut input: impl BufRead) -> Result<(Record, Whole)> {
    let mut whole = Whole { bytes: 0, torn: None };
    let mut text = Vec::new();
    let mut number = 0;
    // The next whole line of the file; none at its end, or where it is cut.
    let mut next = |whole: &mut Whole| -> Result<Option<(usize, Vec<u8>)>> {
        number += 1;
        text.clear();
        let count = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut text)?;
        if count == 0 {
            return Ok(None);
        }
        if text.pop() != Some(b'\n') {
            if count as u64 == MAX_LINE {
                bail!(
                    "line {number} is longer than any of a record's: not a cpb record, or damaged there"
                );
            }
            whole.torn = Some(number);
            return Ok(None);
        }
        whole.bytes += count as u64;
        Ok(Some((number, std::mem::take(&mut text))))
    };
    let Some((_, first)) = next(&mut whole)? else {
        let nothing = if whole.torn.is_some() { "no whole first line" } else { "no line at all" };
        bail!("not a cpb record: it has {nothing}; there is nothing to show or go on with");
    };
    let header = parse_header(&printable(first))?;
    // Line by line: all lines and the record at once would take twice its memory.
    let mut failure = None;
    let lines = std::iter::from_fn(|| {
        let line = next(&mut whole).and_then(|line| line.map(parse_line).transpose());
        line.unwrap_or_else(|error| {
            failure = Some(error);
            None
        })
    });
    let record = Record::assemble(header, lines);
    match failure {
        Some(error) => Err(error),
        None => Ok((record, whole)),
    }
}

fn parse_line((number, text): (usize, Vec<u8>)) -> Result<Line> {
    match serde_json::from_slice(&printable(text)) {
        Ok(Line::Cpb(_)) => bail!(
            "line {number} is the header of another record: give each record a file of its own"
        ),
        Ok(line) => Ok(line),
        Err(error) => bail!(
            "line {number} is damaged: {error}; without that line (`sed -i {number}d` on a copy) the \
             rest can be read"
        ),
    }
}

/// A line of JSON without control characters in its strings, or such as turn the direction of text: a record may
/// come from anyone, and a report of it goes to a terminal, which takes the first for orders.
fn printable(mut line: Vec<u8>) -> Vec<u8> {
    // Hardly a line of a large record has any of them; to count is faster than to look for the first.
    let begins = |byte: &&u8| matches!(byte, b'\\' | 0xC2 | 0xD8 | 0xE2 | 0x7F);
    if line.iter().filter(begins).count() == 0 {
        return line;
    }
    let mut at = 0;
    while at < line.len() {
        at += match &mut line[at..] {
            [b'\\', b'u', code @ ..] if code.len() >= 4 => {
                let digits = std::str::from_utf8(&code[..4]).ok();
                let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                if number.and_then(char::from_u32).is_some_and(foreign::is_disguise) {
                    code[..4].copy_from_slice(b"fffd");
                }
                6
            }
            [escape @ b'\\', b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                *escape = b' ';
                line[at + 1] = b' ';
                2
            }
            [b'\\', _, ..] => 2,
            // U+0080 to U+009F.
            [0xC2, second @ 0x80..=0x9F, ..] => {
                *second = 0xB7;
                2
            }
            [delete @ 0x7F, ..] => {
                *delete = b'?';
                1
            }
            // Those that turn the direction of text; as many bytes take their places.
            [0xD8 | 0xE2, ..] => {
                let length = if line[at] == 0xD8 { 2 } else { 3 };
                let character = line.get_mut(at..at + length);
                if let Some(bytes) = character
                    && std::str::from_utf8(bytes).is_ok_and(|text| text.contains(foreign::turns))
                {
                    bytes.copy_from_slice(if length == 2 { "·" } else { "\u{fffd}" }.as_bytes());
                }
                1
            }
            _ => 1,
        };
    }
    line
}

/// The first line, with a clear word for what is not ours or not of our time.
fn parse_header(line: &[u8]) -> Result<Header> {
    #[derive(Deserialize)]
    struct Probe {
        cpb: Schema,
    }
    #[derive(Deserialize)]
    struct Schema {
        schema: u32,
        version: String,
    }
    let Ok(Probe { cpb: Schema { schema, version } }) = serde_json::from_slice(line) else {
        bail!("not a cpb record: the first line is not a record's header");
    };
    if schema > SCHEMA {
        bail!(
            "the record has schema {schema} and was written by cpb {version}; this cpb reads up to \
             schema {SCHEMA}: use that version or a later one"
        );
    }
    match serde_json::from_slice(line) {
        Ok(Line::Cpb(header)) => Ok(*header),
        Ok(_) => bail!("not a cpb record: the first line is not a record's header"),
        Err(error) => bail!("line 1 is damaged: {error}"),
    }
}
