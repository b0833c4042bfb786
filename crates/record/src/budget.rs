//! Measuring times and precisions as users type them.

use anyhow::{Error, Result, bail};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A time: `20s`, `1.5s`, `5m`. At least a tenth of a second, at most a day.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seconds(pub f64);

impl Seconds {
    /// The time as the standard library's type.
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl FromStr for Seconds {
    type Err = Error;

    fn from_str(text: &str) -> Result<Seconds> {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => 1e-3,
            "s" | "" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            other => bail!("time {text}: {other} is not a unit; write 500ms, 20s, 5m or 1h"),
        };
        let Ok(number) = digits.trim().parse::<f64>() else {
            bail!("time {text}: not a number; write 500ms, 20s, 5m or 1h");
        };
        let seconds = number * unit;
        if !(0.1..=86_400.0).contains(&seconds) {
            bail!("time {text} is out of range: 0.1s to 24h are allowed");
        }
        Ok(Seconds(seconds))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0)
    }
}

impl TryFrom<String> for Seconds {
    type Error = Error;
    fn try_from(text: String) -> Result<Seconds> {
        text.parse()
    }
}

impl From<Seconds> for String {
    fn from(seconds: Seconds) -> String {
        seconds.to_string()
    }
}

/// A share, as a fraction of 1: `1%`, `0.5%`. From 0.01 % to 50 %.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Percent> {
        let number = text.trim().trim_end_matches('%').trim_end();
        match number.parse::<f64>() {
            Ok(percent) if (0.01..=50.0).contains(&percent) => Ok(Percent(percent / 100.0)),
            _ => bail!("precision {text}: write a share from 0.01% to 50%, such as 1%"),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

impl TryFrom<String> for Percent {
    type Error = Error;
    fn try_from(text: String) -> Result<Percent> {
        text.parse()
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> String {
        percent.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shares_are_read_as_people_write_them() {
        for (text, seconds) in [("20s", 20.0), ("500ms", 0.5), ("2m", 120.0), ("1.5", 1.5)] {
            assert_eq!(text.parse::<Seconds>().unwrap(), Seconds(seconds));
        }
        for wrong in ["", "0s", "-1s", "nans", "infs", "2d", "1e9s"] {
            assert!(wrong.parse::<Seconds>().is_err(), "{wrong}");
        }
        assert_eq!("1%".parse::<Percent>().unwrap(), Percent(0.01));
        for wrong in ["", "0%", "99%", "nan%", "x"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
    }
}
