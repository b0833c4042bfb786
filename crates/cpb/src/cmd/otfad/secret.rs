//! Keys from files, from the environment, or from the command line. No message shows a value.

use super::super::output;
use anyhow::{Context, Result, bail};
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

/// Reads a secret of `N` bytes; digits on the command line are warned about.
///
/// # Errors
/// Returns an error if it cannot be read or has another length.
pub(super) fn read<const N: usize>(option: &str, source: String) -> Result<Zeroizing<[u8; N]>> {
    let source = Zeroizing::new(source);
    if !Path::new(source.as_str()).exists() && are_digits(&source) {
        output::say(&format!(
            "warning: {option}: other users of this machine can see the command line; give a file or env:NAME"
        ));
    }
    open(option, &source)
}

/// The same for a value that is not a secret.
///
/// # Errors
/// Returns an error if it cannot be read or has another length.
pub(super) fn read_public<const N: usize>(option: &str, source: &str) -> Result<[u8; N]> {
    open(option, source).map(|value| *value)
}

fn open<const N: usize>(option: &str, source: &str) -> Result<Zeroizing<[u8; N]>> {
    let path = Path::new(source);
    if let Some(name) = source.strip_prefix("env:") {
        let text = std::env::var(name).map(Zeroizing::new);
        let text = text.map_err(|_| {
            anyhow::anyhow!("{option}: the environment has no variable {name} that is text")
        })?;
        return digits(&text).with_context(|| format!("{option}: the variable {name}"));
    }
    // The digits of a key must not become part of a message about a file.
    if are_digits(source) && !path.exists() {
        return digits(source).with_context(|| option.to_owned());
    }
    let mut bytes = std::fs::read(path)
        .map(Zeroizing::new)
        .with_context(|| format!("{option}: cannot read {source}; give a file, or env:NAME"))?;
    let named = || format!("{option}: {source}");
    if let Ok(whole) = <[u8; N]>::try_from(bytes.as_slice()) {
        return Ok(Zeroizing::new(whole));
    }
    match std::str::from_utf8(&bytes).ok().filter(|text| are_digits(text.trim())) {
        Some(text) => digits(text).with_context(named),
        None => {
            let length = bytes.len();
            bytes.zeroize();
            bail!("{}: {length} bytes, where {N} bytes or {} digits are needed", named(), 2 * N)
        }
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
        open("--kek", source).map(|value| *value).map_err(|error| format!("{error:#}"))
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
        for source in ["deadbeef", "0xdead5", "dead"] {
            let Err(error) = open::<3>("--kek", source) else { panic!("{source} is too short") };
            assert!(!format!("{error:#}").contains("dead"), "{error:#}");
        }
        assert!(two("env:CPB_NO_SUCH_KEY").is_err_and(|error| error.contains("CPB_NO_SUCH_KEY")));
        assert!(two("absent.key").is_err_and(|error| error.contains("cannot read absent.key")));
    }
}
