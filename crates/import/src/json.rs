//! Reads the JSON of other tools, with limits on its size.

use super::text::Text;
use anyhow::{Result, anyhow};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// The highest number of entries in a list.
const MAX_ENTRIES: usize = 100_000;

/// Reads a document.
///
/// # Errors
/// Returns an error, with the line, if the text is not JSON or does not have this form.
pub(super) fn read<T: DeserializeOwned>(text: &Text) -> Result<T> {
    serde_json::from_str(text.whole()).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        anyhow!("line {}: {what} (column {})", error.line().max(1), error.column())
    })
}

/// A list, or a map as a list of pairs, with a limit on its length.
#[derive(Debug)]
pub(super) struct Bounded<T>(pub(super) Vec<T>);

impl<T> Default for Bounded<T> {
    fn default() -> Bounded<T> {
        Bounded(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = Bounded<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Bounded<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            if entries.len() == MAX_ENTRIES {
                return Err(A::Error::custom("more entries than any tool writes"));
            }
            entries.push(entry);
        }
        Ok(Bounded(entries))
    }
}

/// The pairs of a map, in file order.
#[derive(Debug)]
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            if pairs.len() == MAX_ENTRIES {
                return Err(A::Error::custom("more entries than any tool writes"));
            }
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// Finds the line numbers of entries by their names, in file order.
pub(super) struct Lines<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a Text) -> Lines<'a> {
        Lines { rest: text.whole(), line: 1 }
    }

    /// The next line that contains this string, or the previous result if the string is written differently in the
    /// file.
    pub(super) fn of(&mut self, name: &str) -> u32 {
        let quoted = serde_json::to_string(name).unwrap_or_default();
        if let Some(place) = self.rest.find(&quoted) {
            let (before, rest) = self.rest.split_at(place + quoted.len());
            self.line += before.bytes().filter(|byte| *byte == b'\n').count() as u32;
            self.rest = rest;
        }
        self.line
    }
}
