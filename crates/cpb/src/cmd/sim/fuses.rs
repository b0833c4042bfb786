//! The fuses of a simulated chip, from a file.

use anyhow::{Context, Result, bail};
use cpb_otfad::{Kek, Key, PARTS, Part, Scramble};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A fuse file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    /// The part whose fuses they are: `imxrt1170`.
    part: String,
    /// The key that encrypts key blobs: 32 hexadecimal digits.
    kek: String,
    /// What changes the key for each blob, as fused.
    scramble_mask: Option<u32>,
    /// Which word of the key the mask changes, two bits for each blob.
    scramble_align: Option<u8>,
}

/// The key of the file that the user gave, or of the one beside the image; `None` without such a file.
///
/// # Errors
/// Returns an error if the file cannot be read or is wrong. No error contains the key.
pub(super) fn find(image: &Path, given: Option<&Path>) -> Result<Option<Kek>> {
    let beside = PathBuf::from(format!("{}.fuses.toml", image.display()));
    let path = match given {
        Some(path) => path,
        None if beside.is_file() => &beside,
        None => return Ok(None),
    };
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).map(Some).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> Result<Kek> {
    // The parser's message would show the line, and with it the key.
    let file: File =
        toml::from_str(text).map_err(|error| anyhow::anyhow!("{}", error.message()))?;
    let Some(part) = Part::named(&file.part) else {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        bail!("there is no part {} with OTFAD; there are: {}", file.part, known.join(", "));
    };
    let digits = Zeroizing::new(file.kek);
    let mut key = Zeroizing::new([0; 16]);
    if !hex(&digits, &mut *key) {
        bail!("kek: it must be 32 hexadecimal digits");
    }
    let scramble = match (file.scramble_mask, file.scramble_align) {
        (Some(mask), Some(align)) => Some(Scramble { mask, align }),
        (None, None) => None,
        _ => bail!("scramble-mask and scramble-align need each other"),
    };
    Ok(Kek { key: Key::new(*key), scramble, part })
}

/// Whether `digits` are those of as many bytes as `bytes` has, which then has them.
fn hex(digits: &str, bytes: &mut [u8]) -> bool {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() || pairs.len() != bytes.len() {
        return false;
    }
    pairs.iter().zip(bytes).all(|(pair, byte)| {
        let pair = pair.map(|digit| char::from(digit).to_digit(16));
        let value = pair[0].zip(pair[1]).map(|(high, low)| (high << 4 | low) as u8);
        *byte = value.unwrap_or(0);
        value.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fuse_file_is_a_part_and_a_key() {
        let digits = "000102030405060708090A0B0C0D0E0F";
        let kek = parse(&format!("part = 'imxrt1170'\nkek = '{digits}'")).unwrap();
        assert_eq!(kek.key, Key::new(core::array::from_fn(|index| index as u8)));
        let scramble = "scramble-mask = 0x01020304\nscramble-align = 0x1B";
        let kek = parse(&format!("part = 'imxrt1010'\nkek = '{digits}'\n{scramble}")).unwrap();
        assert_eq!(kek.scramble, Some(Scramble { mask: 0x0102_0304, align: 0x1B }));
    }

    #[test]
    fn what_is_wrong_is_named_and_the_key_is_not_shown() {
        let digits = "000102030405060708090A0B0C0D0E0F";
        for (text, words) in [
            (format!("part = 'imxrt1060'\nkek = '{digits}'"), "no part imxrt1060"),
            (format!("part = 'imxrt1170'\nkek = '{digits}0'"), "32 hexadecimal digits"),
            (format!("part = 'imxrt1170'\nkek = '{digits}' x"), "unexpected key or value"),
            (
                format!("part = 'imxrt1170'\nkek = '{digits}'\nscramble-align = 1"),
                "need each other",
            ),
        ] {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(words), "{error}");
            assert!(!error.contains("0102030405"), "{error}");
        }
    }
}
