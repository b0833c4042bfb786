//! `-a`, `-p`, `--operation`, `-s`: what a plan measures, or which cells of records are used.

use anyhow::{Result, bail};
use clap::Args;
use cpb_analysis::selection::{Contents, Selection};
use cpb_core::Algorithm;
use cpb_core::catalog;
use cpb_record::Record;
use cpb_record::names;
use cpb_record::plan;
use cpb_record::size::Size;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Selection by name.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Filter {
    /// Algorithms, such as aes-256-gcm,sha-256
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    pub(super) algorithm: Vec<String>,
    /// Providers, such as openssl,mbedtls:c
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    pub(super) provider: Vec<String>,
    /// Operations: encrypt, decrypt, hash, mac, random, copy; with key pairs: sign, verify, key-agreement,
    /// encapsulate, decapsulate, generate-key
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    pub(super) operation: Vec<String>,
}

/// Selection by message length.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Sizes {
    /// Message sizes, such as 16,1K,16K
    #[arg(short, long, value_delimiter = ',', value_name = "SIZES", help_heading = "What")]
    #[arg(allow_negative_numbers = true)]
    pub(super) size: Vec<String>,
}

impl Filter {
    /// The records, reduced to the selected cells; a record without any of them is left out.
    ///
    /// # Errors
    /// Returns an error if a name or size does not exist, or if nothing is left. The message lists what the
    /// records have.
    pub(super) fn applied(
        &self,
        sizes: &Sizes,
        records: Vec<(PathBuf, Record)>,
    ) -> Result<Vec<(PathBuf, Record)>> {
        let mut contents = Contents::default();
        records.iter().for_each(|(_, record)| contents.extend(Contents::of(record)));
        let selection = self.selection(sizes, &contents)?;
        if selection.is_everything() {
            return Ok(records);
        }
        let paths: Vec<String> =
            records.iter().map(|(path, _)| path.display().to_string()).collect();
        let kept = records.into_iter().map(|(name, record)| (name, selection.of(record)));
        let kept: Vec<_> = kept.filter(|(_, record)| !Contents::of(record).is_empty()).collect();
        if kept.is_empty() {
            bail!(
                "{}: no cell matches the selection; {}",
                paths.join(", "),
                there_is(&selection, &contents)
            );
        }
        Ok(kept)
    }

    /// The same for one record.
    ///
    /// # Errors
    /// As [`Filter::applied`].
    pub(super) fn applied_to(&self, sizes: &Sizes, path: &Path, record: Record) -> Result<Record> {
        let mut kept = self.applied(sizes, vec![(path.to_owned(), record)])?;
        Ok(kept.remove(0).1)
    }

    fn selection(&self, sizes: &Sizes, contents: &Contents) -> Result<Selection> {
        let algorithms = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
        let operations = plan::operations();
        let operations = operations.iter().map(|operation| operation.name());
        let providers = catalog::LIST.iter().map(|entry| entry.name);
        let (own, foreign): (Vec<String>, Vec<String>) = names::whole(&self.provider)
            .into_iter()
            .map(|name| name.trim().to_owned())
            .partition(|name| catalog::find(name).is_some_and(|choice| !choice.variant.is_empty()));
        let mut named = valid("provider", &foreign, providers, &contents.providers)?;
        named.extend(own);
        let parsed = sizes.size.iter().map(|size| Ok(size.parse::<Size>()?.bytes()));
        Ok(Selection {
            algorithms: valid("algorithm", &self.algorithm, algorithms, &contents.algorithms)?,
            operations: valid("operation", &self.operation, operations, &contents.operations)?,
            providers: named,
            sizes: parsed.collect::<Result<_>>()?,
        })
    }
}

/// The selected names, each of which cpb or the records must know.
fn valid<'a>(
    kind: &'static str,
    typed: &[String],
    known: impl Iterator<Item = &'a str>,
    there: &'a BTreeSet<String>,
) -> Result<Vec<String>> {
    let all: BTreeSet<&str> = known.chain(there.iter().map(String::as_str)).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let places = names::places(kind, typed, &all)?;
    Ok(places.into_iter().map(|place| all[place].to_owned()).collect())
}

/// What the records contain, for each kind of name that was selected.
fn there_is(selection: &Selection, contents: &Contents) -> String {
    let list =
        |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let sizes: Vec<String> =
        contents.sizes.iter().map(|bytes| Size::from(*bytes).to_string()).collect();
    let parts = [
        ("algorithms", selection.algorithms.is_empty(), list(&contents.algorithms)),
        ("operations", selection.operations.is_empty(), list(&contents.operations)),
        ("providers", selection.providers.is_empty(), list(&contents.providers)),
        ("sizes", selection.sizes.is_empty(), sizes.join(", ")),
    ];
    let asked = parts.into_iter().filter(|(_, not_asked, _)| !not_asked);
    let words = asked.map(|(kind, _, names)| match names.as_str() {
        "" => format!("no {kind} in it"),
        names => format!("{kind} in it: {names}"),
    });
    words.collect::<Vec<_>>().join("; ")
}
