//! A foreign file as lines: with a size limit, and without what pasting, terminals and web pages add.

use super::prefix;
use anyhow::{Context, Result, bail};
use cpb_record::foreign;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file; logs of these tools have some hundred kilobytes.
const MAX_FILE: usize = 32 << 20;
/// The longest line of a log. A JSON document may be a single line.
const MAX_LINE: usize = 64 << 10;

/// A file's text.
#[derive(Debug)]
pub(super) struct Text {
    content: String,
    /// Whether a logger added a prefix to each line.
    prefixed: bool,
    /// The first line with bytes that are not UTF-8 and were replaced.
    pub(super) replaced: Option<u32>,
}

/// One line, cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number in the file, from 1.
    pub(super) number: u32,
    /// The line, without spaces at either end.
    pub(super) text: Cow<'a, str>,
}

/// Reads a file; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read or is too large for a log.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return bounded(std::io::stdin().lock());
    }
    let file = File::open(path).context("cannot be read")?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("is a folder; give the logs in it");
    }
    bounded(file)
}

fn bounded(input: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).context("cannot be read")?;
    if bytes.len() > MAX_FILE {
        let begun = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let number = number_at(&bytes, begun);
        if bytes.len() - begun > MAX_LINE {
            bail!("line {number} is longer than any line of a log; nothing was read");
        }
        bail!(
            "line {number} is beyond {} MiB: no log is that large; reduce it to the relevant part",
            MAX_FILE >> 20
        );
    }
    Ok(bytes)
}

/// The number of the line that contains the byte at `place`.
fn number_at(bytes: &[u8], place: usize) -> usize {
    1 + bytes[..place].iter().filter(|byte| **byte == b'\n').count()
}

impl Text {
    /// Converts a file's bytes to text.
    ///
    /// # Errors
    /// Returns an error if the bytes are not text or are empty.
    pub(super) fn new(bytes: Vec<u8>) -> Result<Text> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            bail!("line 1: is UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8");
        }
        if let Some(place) = bytes.iter().position(|byte| *byte == 0) {
            bail!("line {} contains a NUL byte: this is not a text file", number_at(&bytes, place));
        }
        let (content, replaced) = match String::from_utf8(bytes) {
            Ok(content) => (content, None),
            Err(error) => {
                let line = number_at(error.as_bytes(), error.utf8_error().valid_up_to());
                let content = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (content, u32::try_from(line).ok())
            }
        };
        if content.trim().is_empty() {
            bail!("line 1: the file is empty");
        }
        let mut text = Text { content, prefixed: false, replaced };
        text.prefixed = text.has_prefixes();
        Ok(text)
    }

    /// The whole text as in the file, without a byte order mark.
    pub(super) fn whole(&self) -> &str {
        self.content.trim_start_matches('\u{feff}')
    }

    /// The lines, cleaned, and without a logger's prefixes.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let lines = self.whole().split('\n').enumerate();
        lines.map(|(place, text)| {
            let text = clean(text);
            let text = if self.prefixed { unprefixed(text) } else { text };
            Line { number: place as u32 + 1, text }
        })
    }

    /// Whether a logger added prefixes: at least a fifth of the lines have a known prefix, as if only one of two
    /// streams had passed through it. Some tools print the time before some of their lines.
    fn has_prefixes(&self) -> bool {
        let lines = || self.lines().filter(|line| !line.text.is_empty());
        let prefixed = lines().filter(|line| prefix::stripped(&line.text).is_some()).count();
        prefixed > 1 && 5 * prefixed >= lines().count()
    }

    /// Checks the lengths of the lines.
    ///
    /// # Errors
    /// Returns an error if a line is too long for a log.
    pub(super) fn check_lines(&self) -> Result<()> {
        match self.whole().split('\n').position(|line| line.len() > MAX_LINE) {
            Some(place) => bail!("line {} is longer than any line of a log", place + 1),
            None => Ok(()),
        }
    }

    /// Checks that the bytes were UTF-8.
    ///
    /// # Errors
    /// Returns an error if they were not.
    pub(super) fn check_encoding(&self) -> Result<()> {
        match self.replaced {
            Some(line) => bail!(
                "line {line} is not UTF-8; convert the file first: iconv -f LATIN1 -t UTF-8, if that \
                 is what it is"
            ),
            None => Ok(()),
        }
    }
}

/// Removes terminal colours, carriage returns, the markup of web pages and documents, and quote marks (`> `) from a
/// line.
fn clean(line: &str) -> Cow<'_, str> {
    let line = line.trim_start_matches("> ");
    let foreign = |byte: u8| {
        matches!(byte, b'<' | b'&' | b'*' | b'`' | b'\\') || !(b' '..=b'~').contains(&byte)
    };
    if !line.bytes().any(foreign) {
        return Cow::Borrowed(line.trim());
    }
    let plain = printable(line);
    let plain = without_tags(&plain).replace("\\_", "_");
    let plain = plain.trim_matches(|c: char| matches!(c, '*' | '`') || c.is_whitespace());
    Cow::Owned(plain.to_owned())
}

fn unprefixed(line: Cow<'_, str>) -> Cow<'_, str> {
    match line {
        Cow::Borrowed(line) => Cow::Borrowed(prefix::stripped(line).unwrap_or(line)),
        Cow::Owned(line) => Cow::Owned(prefix::stripped(&line).map(str::to_owned).unwrap_or(line)),
    }
}

/// Removes escape sequences of terminals and other control characters, and replaces unusual spaces.
pub(super) fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // ECMA-48, 5.4: a control sequence ends with a byte from @ to ~.
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                rest.by_ref().find(|c| ('@'..='~').contains(c));
            }
            '\u{1b}' => {}
            '\u{8}' => {
                plain.pop();
            }
            '\t' | '\u{a0}' | '\u{2007}' | '\u{202f}' => plain.push(' '),
            '\u{feff}' | '\u{200b}' => {}
            c if foreign::turns(c) => {}
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// Removes HTML tags and decodes named characters.
fn without_tags(text: &str) -> String {
    const TAGS: [&str; 10] = ["b", "br", "code", "em", "i", "li", "p", "pre", "span", "strong"];
    const NAMED: [(&str, &str); 6] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('<') {
        let (before, tag) = rest.split_at(place);
        plain.push_str(before);
        let end = tag.find('>').unwrap_or(0);
        let name = tag[..end].trim_start_matches(['<', '/']);
        let name = name.split([' ', '/']).next().unwrap_or_default();
        if end > 0 && TAGS.contains(&name) {
            rest = &tag[end + 1..];
        } else {
            plain.push('<');
            rest = &tag[1..];
        }
    }
    plain.push_str(rest);
    NAMED.iter().fold(plain, |plain, (name, character)| plain.replace(name, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_went_through_is_taken_off() {
        let cases = [
            ("  plain text ", "plain text"),
            ("\u{1b}[1;31maes-128-cbc\u{1b}[0m  1.00k\r", "aes-128-cbc  1.00k"),
            ("<i>type</i>\t<i>16 bytes</i>", "type 16 bytes"),
            (
                "*Doing aes-128-cbc for 3s: 12 aes-128-cbc's in 0.00s*",
                "Doing aes-128-cbc for 3s: 12 aes-128-cbc's in 0.00s",
            ),
            ("  * `aes-256-cbc   1.00k (Cortex-A55)`", "aes-256-cbc   1.00k (Cortex-A55)"),
            ("engine &quot;cryptodev&quot; &amp;lt;", "engine \"cryptodev\" &lt;"),
            ("af\\_alg", "af_alg"),
            ("> > type 16 bytes", "type 16 bytes"),
            ("a < b <unknown> <", "a < b <unknown> <"),
            ("<  1d87000.phy", "<  1d87000.phy"),
            ("ab\u{8}c", "ac"),
        ];
        for (line, cleaned) in cases {
            assert_eq!(clean(line), cleaned, "{line:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_line() {
        let refused = |bytes: &[u8]| Text::new(bytes.to_vec()).expect_err("no text").to_string();
        assert!(refused(b"a\nb\0").contains("line 2 contains a NUL"));
        assert!(refused(b"\xff\xfea\0").contains("UTF-16"));
        assert!(refused(b" \n").contains("empty"));
        let text = Text::new(b"a\nb\xff\nc".to_vec()).expect("nearly text");
        assert!(text.check_encoding().expect_err("no UTF-8").to_string().contains("line 2 "));
        let long = Text::new([b"a\n".as_slice(), &[b'x'; MAX_LINE + 1]].concat()).expect("text");
        assert!(long.check_lines().expect_err("a long line").to_string().contains("line 2 "));
    }

    #[test]
    fn a_file_without_an_end_is_left_after_some_megabytes() {
        let endless = |byte: u8| bounded(std::io::repeat(byte)).expect_err("endless").to_string();
        assert!(endless(b'x').contains("line 1 is longer"), "{}", endless(b'x'));
        assert!(endless(b'\n').contains("is beyond 32 MiB"), "{}", endless(b'\n'));
    }
}
