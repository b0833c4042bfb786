//! A foreign file as lines: whole, small enough, and without what pasting, terminals and web pages add.

use anyhow::{Context, Result, bail};
use cpb_record::foreign;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file: logs of these tools have some hundred kilobytes.
const MAX_FILE: usize = 32 << 20;
/// The longest line of a log. JSON may be one line as a whole.
const MAX_LINE: usize = 64 << 10;

/// A file's text.
#[derive(Debug)]
pub(super) struct Text {
    content: String,
    /// The first line with bytes that are no UTF-8, which were replaced.
    pub(super) replaced: Option<u32>,
}

/// One line, cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number in the file, from 1.
    pub(super) number: u32,
    /// It, without spaces around it.
    pub(super) text: Cow<'a, str>,
}

/// Reads a file; `-` is standard input.
///
/// # Errors
/// It cannot be read, or is too large to be a log.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return bounded(std::io::stdin().lock());
    }
    let file = File::open(path).context("cannot be read")?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("is a folder; name the logs in it");
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
            bail!("line {number} is longer than any of a log: nothing was read");
        }
        bail!(
            "line {number} is beyond {} MiB: no log is that large; cut it to what matters",
            MAX_FILE >> 20
        );
    }
    Ok(bytes)
}

/// The number of the line in which the byte at `place` is.
fn number_at(bytes: &[u8], place: usize) -> usize {
    1 + bytes[..place].iter().filter(|byte| **byte == b'\n').count()
}

impl Text {
    /// Takes a file's bytes.
    ///
    /// # Errors
    /// They are no text, or there is none.
    pub(super) fn new(bytes: Vec<u8>) -> Result<Text> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            bail!("line 1: is UTF-16; make UTF-8 of it: iconv -f UTF-16 -t UTF-8");
        }
        if let Some(place) = bytes.iter().position(|byte| *byte == 0) {
            bail!("line {} holds a NUL byte: this is no text", number_at(&bytes, place));
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
            bail!("line 1: there is nothing in it");
        }
        Ok(Text { content, replaced })
    }

    /// All of it, as it is in the file but for a byte order mark.
    pub(super) fn whole(&self) -> &str {
        self.content.trim_start_matches('\u{feff}')
    }

    /// Its lines, cleaned.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let lines = self.whole().split('\n').enumerate();
        lines.map(|(place, text)| Line { number: place as u32 + 1, text: clean(text) })
    }

    /// Whether its lines are as short as a log's.
    ///
    /// # Errors
    /// One is not.
    pub(super) fn check_lines(&self) -> Result<()> {
        match self.whole().split('\n').position(|line| line.len() > MAX_LINE) {
            Some(place) => bail!("line {} is longer than any of a log", place + 1),
            None => Ok(()),
        }
    }

    /// Whether its bytes were UTF-8.
    ///
    /// # Errors
    /// They were not.
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

/// A line without terminal colours, carriage returns, the markup of web pages and of documents, and the
/// marks of a quotation.
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

/// Without escape sequences of terminals, other control characters and unusual spaces.
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

/// Tags of a page that show text, and characters that HTML writes by name.
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
        assert!(refused(b"a\nb\0").contains("line 2 holds a NUL"));
        assert!(refused(b"\xff\xfea\0").contains("UTF-16"));
        assert!(refused(b" \n").contains("nothing"));
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
