//! Names that users type. An error about an unknown name lists the nearest valid ones.

use std::fmt;
use std::str::FromStr;

/// A name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    kind: &'static str,
    typed: String,
    nearest: Vec<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            "record" => write!(f, "no file and no published record is called '{}'; ", self.typed)?,
            kind => write!(f, "unknown {kind} '{}'; ", self.typed)?,
        }
        if self.kind == "provider" && names_library(&self.typed) {
            return write!(
                f,
                "a C library of your own is library:FILE, and a comma ends FILE: rename a file that has one"
            );
        }
        match self.nearest.as_slice() {
            [] => write!(f, "no name is similar")?,
            [only] => write!(f, "did you mean {only}?")?,
            several => write!(f, "did you mean one of {}?", several.join(", "))?,
        }
        match self.kind {
            "algorithm" | "provider" => write!(f, " (`cpb list` shows all)"),
            "plan" | "record" => write!(f, " (`cpb list {}s` shows all)", self.kind),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Unknown {}

/// Whether a name is that of a shared library's file, or the rest of one after a comma.
fn names_library(name: &str) -> bool {
    name.contains('/') || name.contains(".so") || name.ends_with(".dylib")
}

/// If none is near, this many names are still listed; a command lists more.
const MOST_LISTED: usize = 30;

/// An error that lists the valid names nearest to `typed`, or all of them if none is near and they are not too many.
fn unknown(kind: &'static str, typed: &str, valid: &[&str]) -> Unknown {
    let mut nearest = near(typed, valid);
    if nearest.is_empty() && valid.len() <= MOST_LISTED {
        nearest = valid.to_vec();
    }
    let nearest = nearest.into_iter().map(str::to_owned).collect();
    Unknown { kind, typed: typed.to_owned(), nearest }
}

/// The members of `valid` that are close to `typed`: those that have all its parts, as `aes-128-gcm` has those of
/// `aes-gcm` and of `aes128`, or else those that differ in the fewest letters.
pub fn near<'a>(typed: &str, valid: &[&'a str]) -> Vec<&'a str> {
    let parts = parts(typed);
    let has_them = |name: &&&str| {
        let its = self::parts(name);
        parts.iter().all(|part| its.contains(part))
    };
    let with_parts: Vec<&str> = valid.iter().filter(has_them).copied().collect();
    if !parts.is_empty() && !with_parts.is_empty() {
        return with_parts;
    }
    let distance = |name: &&str| {
        let whole = strsim::damerau_levenshtein(typed, name);
        // Part of a name is close to the whole name.
        if !typed.is_empty() && name.contains(typed) { whole.min(2) } else { whole }
    };
    let best = valid.iter().map(distance).min().unwrap_or(0);
    if best > typed.len().max(3) / 2 {
        return Vec::new();
    }
    valid.iter().filter(|name| distance(name) <= best).copied().collect()
}

/// The parts of a name: its words and its numbers.
fn parts(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut parts = Vec::new();
    for word in words {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let of_another_kind = |c: char| c.is_ascii_digit() != first.is_ascii_digit();
            let (part, after) = rest.split_at(rest.find(of_another_kind).unwrap_or(rest.len()));
            parts.push(part.to_lowercase());
            rest = after;
        }
    }
    parts
}

/// Parses a list of names.
///
/// # Errors
/// Returns an error for the first name that does not exist.
pub fn list<T>(kind: &'static str, typed: &[String], all: &[T]) -> Result<Vec<T>, Unknown>
where
    T: FromStr + Named + Copy,
{
    let parse = |text: &String| {
        let valid: Vec<&'static str> = all.iter().map(|known| known.name()).collect();
        text.trim().parse().map_err(|_| unknown(kind, text.trim(), &valid))
    };
    typed.iter().map(parse).collect()
}

/// The indices in `valid` of the names in `typed`.
///
/// # Errors
/// Returns an error for the first name that does not exist.
pub fn places(kind: &'static str, typed: &[String], valid: &[&str]) -> Result<Vec<usize>, Unknown> {
    let place = |text: &String| {
        let found = valid.iter().position(|known| *known == text.trim());
        found.ok_or_else(|| unknown(kind, text.trim(), valid))
    };
    typed.iter().map(place).collect()
}

/// Rejoins a list that was split at commas, because the kernel's driver names contain commas inside parentheses.
pub fn whole(typed: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in typed {
        let open = |name: &&mut String| name.matches('(').count() > name.matches(')').count();
        match names.last_mut().filter(open) {
            Some(name) => *name = format!("{name},{part}"),
            None => names.push(part.clone()),
        }
    }
    names
}

/// A value with one spelling.
pub trait Named {
    /// The spelling.
    fn name(&self) -> &'static str;
}

macro_rules! named {
    ($($type:ty)*) => {
        $(impl Named for $type {
            fn name(&self) -> &'static str {
                <$type>::name(*self)
            }
        })*
    };
}
named!(cpb_core::Algorithm cpb_core::Operation cpb_core::Phase);
named!(cpb_core::memory_read::Width cpb_core::memory_read::Pattern);

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::Algorithm;

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let wrong = list("algorithm", &["aes-128-cbd".into()], Algorithm::ALL).unwrap_err();
        assert!(wrong.to_string().contains("did you mean aes-128-cbc?"), "{wrong}");
        let wrong = list("algorithm", &["sha".into()], Algorithm::ALL).unwrap_err();
        assert!(wrong.to_string().contains("sha-256"), "{wrong}");
        let wrong = list("algorithm", &["qqqqqqqqq".into()], Algorithm::ALL).unwrap_err();
        let words = "unknown algorithm 'qqqqqqqqq'; no name is similar (`cpb list` shows all)";
        assert_eq!(wrong.to_string(), words, "not all 55 of them");
        assert!(list::<Algorithm>("algorithm", &["".into()], Algorithm::ALL).is_err());
    }

    #[test]
    fn a_name_that_lacks_a_part_is_answered_with_those_that_have_all_others() {
        for typed in ["aes-gcm", "gcm-aes", "AES_GCM"] {
            let wrong = list("algorithm", &[typed.into()], Algorithm::ALL).unwrap_err().to_string();
            let all = "did you mean one of aes-128-gcm, aes-192-gcm, aes-256-gcm?";
            assert!(wrong.contains(all), "{wrong}");
        }
    }

    #[test]
    fn a_name_without_punctuation_is_answered_with_those_that_have_its_words_and_numbers() {
        let all = |typed: &str| {
            list("algorithm", &[typed.into()], Algorithm::ALL).unwrap_err().to_string()
        };
        let words = "did you mean one of aes-256-cbc, aes-256-ecb, aes-256-ctr, aes-256-xts, aes-256-gcm, aes-256-ccm, \
                     aes-128-cbc-hmac-sha-256-etm, aes-256-cmac, ctr-drbg-aes-256? (`cpb list` shows all)";
        assert!(all("aes256").contains(words), "{}", all("aes256"));
        assert!(all("AES256GCM").contains("did you mean aes-256-gcm?"));
        assert!(all("sha3").contains("did you mean one of sha3-256, sha3-512?"));
    }

    #[test]
    fn a_comma_within_parentheses_does_not_separate() {
        let typed = "openssl,af_alg:rfc7539(chacha20,poly1305),null".split(',').map(str::to_owned);
        let whole = whole(&typed.collect::<Vec<_>>());
        assert_eq!(whole, ["openssl", "af_alg:rfc7539(chacha20,poly1305)", "null"]);
    }
}
