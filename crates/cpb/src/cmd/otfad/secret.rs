//! Keys from files, from the environment, or from the command line. No message shows a value.

use super::super::output;
use anyhow::{Context, Result, anyhow, bail};
use std::path::Path;
use zeroize::Zeroizing;

/// Where a value is: a file, `env:NAME`, or the digits themselves.
#[derive(Clone)]
pub(super) struct Source(Zeroizing<String>);

impl From<String> for Source {
    fn from(text: String) -> Self {
        Source(Zeroizing::new(text))
    }
}

impl Source {
    /// Reads a secret of `N` bytes; digits on the command line are warned about.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or has another length.
    pub(super) fn read<const N: usize>(&self, option: &str) -> Result<Zeroizing<[u8; N]>> {
        if self.is_given() {
            output::say(&format!(
                "warning: {option}: other users of this machine can see the command line; give a file or env:NAME"
            ));
        }
        self.open(option)
    }

    /// The same for a value that is not a secret.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or has another length.
    pub(super) fn read_public<const N: usize>(&self, option: &str) -> Result<[u8; N]> {
        self.open(option).map(|value| *value)
    }

    /// Whether it is the digits themselves.
    fn is_given(&self) -> bool {
        are_digits(&self.0) && !Path::new(self.0.as_str()).exists()
    }

    fn open<const N: usize>(&self, option: &str) -> Result<Zeroizing<[u8; N]>> {
        let source = self.0.as_str();
        if let Some(name) = source.strip_prefix("env:") {
            let text = std::env::var(name).map(Zeroizing::new).map_err(|_| {
                anyhow!("{option}: the environment has no variable {name} that is text")
            })?;
            return digits(&text).with_context(|| format!("{option}: the variable {name}"));
        }
        if self.is_given() {
            return digits(source).with_context(|| option.to_owned());
        }
        // A key with a wrong character must not become the name of a file in a message.
        let is_name = source.contains(['.', '/']);
        let name = if is_name { source } else { "the file that it names" };
        let bytes = std::fs::read(source).map(Zeroizing::new);
        let bytes = bytes
            .with_context(|| format!("{option}: cannot read {name}; give a file, or env:NAME"))?;
        if let Ok(whole) = <[u8; N]>::try_from(bytes.as_slice()) {
            return Ok(Zeroizing::new(whole));
        }
        let text = std::str::from_utf8(&bytes).ok().filter(|text| are_digits(text.trim()));
        let value = match text {
            Some(text) => digits(text),
            None => Err(anyhow!(
                "{} bytes, where {N} bytes or {} digits are needed",
                bytes.len(),
                2 * N
            )),
        };
        value.with_context(|| format!("{option}: {name}"))
    }
}

/// Whether a text is hexadecimal digits, after `0x` or not.
fn are_digits(text: &str) -> bool {
    let text = text.strip_prefix("0x").unwrap_or(text);
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn digits<const N: usize>(text: &str) -> Result<Zeroizing<[u8; N]>> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    if digits.len() != 2 * N {
        bail!("{} hexadecimal digits, where {} are needed", digits.len(), 2 * N);
    }
    let mut value = Zeroizing::new([0; N]);
    for (byte, pair) in value.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            let digit = char::from(*digit).to_digit(16).context("not a hexadecimal digit")?;
            *byte = *byte << 4 | digit as u8;
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(source: &str) -> Result<[u8; 2], String> {
        let source = Source::from(source.to_owned());
        source.read_public("--kek").map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn digits_are_read_from_a_file_or_the_command_line_and_bytes_from_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |content: &[u8]| {
            let path = folder.path().join("key");
            std::fs::write(&path, content).expect("room");
            two(path.to_str().expect("a name"))
        };
        for found in [file(b"\x12\xab"), file(b"12ab\n"), file(b"0x12AB"), two("12AB")] {
            assert_eq!(found, Ok([0x12, 0xAB]));
        }
        assert!(file(b"\x12\xab\xcd").is_err_and(|error| error.contains("3 bytes")));
        assert!(file(b"12abc").is_err_and(|error| error.contains("5 hexadecimal digits")));
    }

    #[test]
    fn no_message_shows_a_value() {
        for source in ["deadbeef", "0xdead5", "f7", "deadx", "dead beef"] {
            let Err(error) = two(source) else { panic!("{source} has not two bytes") };
            assert!(!error.contains("dea") && !error.contains("f7"), "{error}");
        }
        assert!(two("env:CPB_NO_SUCH_KEY").is_err_and(|error| error.contains("CPB_NO_SUCH_KEY")));
        assert!(two("absent.key").is_err_and(|error| error.contains("cannot read absent.key")));
    }
}
