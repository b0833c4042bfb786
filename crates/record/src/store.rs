//! Records on disk: append-only files of JSON lines.

use crate::foreign::{self, shell_word};
use crate::{Header, Line, Record, SCHEMA};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The longest line that a record may have; far longer than any round.
const MAX_LINE: u64 = 64 << 20;

/// A record that is open for writing.
pub struct Store {
    path: PathBuf,
    file: File,
    /// The start of a last line that a kill cut short. The next write drops that line.
    torn_at: Option<u64>,
}

impl Store {
    /// Creates a record and writes its header. Existing files are never modified, and no file is left behind if the
    /// header cannot be written.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Store> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| {
                let folder = folder.display();
                anyhow!(
                    "cannot create the folder {folder}: {error}; choose another file with --output"
                )
            })?;
        }
        match OpenOptions::new().append(true).create_new(true).open(path) {
            Ok(file) => {
                lock(&file, path)?;
                let mut store = Store { path: path.to_owned(), file, torn_at: None };
                if let Err(error) = store.write(&Line::Cpb(Box::new(header.clone()))) {
                    // An incomplete first line is useless.
                    let _ = std::fs::remove_file(path);
                    return Err(error).with_context(|| format!("cannot write {}", path.display()));
                }
                Ok(store)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!(
                "{} already exists; choose another file, or continue it with --resume",
                path.display()
            ),
            Err(error) => {
                let path = path.display();
                bail!("cannot write {path}: {error}; choose another file with --output")
            }
        }
    }

    /// Continues a record. The first appended line replaces a line that a kill cut short; until then the file is
    /// unchanged.
    ///
    /// # Errors
    /// Returns an error if the file is not a record, is being written by another process, or cannot be written.
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
    /// Returns an error if the line cannot be written, for example because the disk is full.
    pub fn append(&mut self, line: &Line) -> Result<()> {
        self.write(line).with_context(|| {
            format!(
                "cannot write {}; earlier lines are kept: free space and continue with \
                 `cpb run --resume {}`",
                self.path.display(),
                shell_word(&self.path.to_string_lossy())
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
        // A single write, so that a killed process leaves whole lines.
        Ok(self.file.write_all(&text)?)
    }

    /// Makes the appended lines survive a crash of the machine as well.
    ///
    /// # Errors
    /// Returns an error if the lines cannot be written, for example because the disk is full.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a record. If its last line is cut short, that line is dropped and a warning is added.
///
/// # Errors
/// Returns an error if the file is not a record, is of a later version, or has a damaged line.
pub fn read(path: &Path) -> Result<Record> {
    let (mut record, whole) = read_up_to_tear(open(path)?, path)?;
    if let Some(line) = whole.torn {
        record.warnings.push(format!(
            "The record ends in the middle of line {line}: it was cut off, or cpb was killed. The \
             rest is complete; continue with `cpb run --resume {}`.",
            shell_word(&path.to_string_lossy())
        ));
    }
    Ok(record)
}

/// The extent of the whole lines in a file.
struct Whole {
    bytes: u64,
    /// Number of a last line that has no line end.
    torn: Option<usize>,
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a folder; give a record in it", path.display());
    }
    Ok(file)
}

/// Locks the file, because two writers would corrupt the record.
fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => bail!(
            "{} is being written by another cpb; wait until it ends, or stop it first",
            path.display()
        ),
        // Some file systems do not support locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn read_up_to_tear(file: File, path: &Path) -> Result<(Record, Whole)> {
    parse(BufReader::new(file)).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// The record as it would be read back, with the characters replaced that reading replaces.
///
/// # Errors
/// Returns an error if the record has a value that JSON cannot represent.
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

/// Reads a record's lines from any source.
///
/// # Errors
/// Returns the same errors as [`read`], with the number of the line.
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
    // The next whole line of the file; `None` at its end, or at a line that is cut short.
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
                    "line {number} is too long: this is not a cpb record, or it is damaged there"
                );
            }
            whole.torn = Some(number);
            return Ok(None);
        }
        whole.bytes += count as u64;
        Ok(Some((number, std::mem::take(&mut text))))
    };
    let Some((_, first)) = next(&mut whole)? else {
        let nothing = if whole.torn.is_some() { "no complete first line" } else { "no lines" };
        bail!("not a cpb record: it has {nothing}, so there is nothing to show or resume");
    };
    let header = parse_header(&printable(first))?;
    // Parsed line by line: all lines and the record together would take twice the memory.
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
            "line {number} is the header of another record: put each record in a separate file"
        ),
        Ok(line) => Ok(line),
        Err(error) => bail!(
            "line {number} is damaged: {error}; without that line (`sed -i {number}d` on a copy) the \
             rest can be read"
        ),
    }
}

/// Replaces control characters, and characters that change the direction of text, in the strings of a JSON line. A
/// record may come from an untrusted source, and a report on it goes to a terminal, which would obey control
/// characters.
fn printable(mut line: Vec<u8>) -> Vec<u8> {
    // Few lines of a large record have any of these bytes; counting is faster than searching for the first.
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
            // Characters that change the direction of text, replaced by the same number of bytes.
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

/// Parses the first line, with a clear error for files that are not records or of a later version.
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
