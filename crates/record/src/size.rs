//! Message lengths as users type them.

use anyhow::{Error, Result, bail};
use cpb_core::workload::MAX_SIZE;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// A message length in bytes, from 1 to 1 GiB. K and M are binary, as in `16K`, `16KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u32);

impl Size {
    /// The number of bytes.
    pub fn bytes(self) -> u32 {
        self.0
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Size> {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit: u64 = match &text[digits.len()..] {
            "" | "B" => 1,
            "k" | "K" | "Ki" | "KiB" => 1 << 10,
            "m" | "M" | "Mi" | "MiB" => 1 << 20,
            "g" | "G" | "Gi" | "GiB" => 1 << 30,
            "t" | "T" | "TiB" => 1 << 40,
            other => bail!(
                "size {text}: {other} is not a unit; write bytes, or K, M or G for KiB, MiB or GiB"
            ),
        };
        let Ok(number) = digits.trim().parse::<u64>() else {
            bail!("size '{text}': not a number of bytes such as 16, 1024 or 16K");
        };
        match number.checked_mul(unit) {
            Some(0) => bail!("size 0: there is nothing to measure; the least size is 1"),
            Some(bytes) if bytes <= MAX_SIZE.into() => Ok(Size(bytes as u32)),
            _ => bail!("size {text} is too large: the most is 1GiB"),
        }
    }
}

/// The shortest exact form: 16 B, 1 KiB.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
                write!(f, "{} MiB", bytes >> 20)
            }
            bytes if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => {
                write!(f, "{} KiB", bytes >> 10)
            }
            bytes => write!(f, "{bytes} B"),
        }
    }
}

impl From<u32> for Size {
    /// For lengths from a workload, which has already validated them.
    fn from(bytes: u32) -> Size {
        Size(bytes)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as 16 or \"16K\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Size, E> {
                number.to_string().parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Size, E> {
                number.to_string().parse().map_err(E::custom)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [("1", 1), ("16Ki", 16384), ("16KiB", 16384), ("2m", 2 << 20)] {
            assert_eq!(text.parse::<Size>().unwrap().bytes(), bytes);
        }
        for wrong in ["", "0", "-1", "1KB", "1TiB", "99999999999999999999", "1.5K", "K", "ä"] {
            let error = wrong.parse::<Size>().unwrap_err().to_string();
            assert!(error.starts_with("size"), "{wrong}: {error}");
        }
    }
}
