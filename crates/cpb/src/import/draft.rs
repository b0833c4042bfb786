//! A record in the making.

use super::Format;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::record::{
    Evidence, Flag, FlagKind, Header, Line, Printed, Published, Quantity, Record, SCHEMA, Source,
};
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// The most figures of one log: a thousand times what is usual.
const MAX_FIGURES: usize = 100_000;

/// What an importer found.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The machine, as far as the log tells.
    pub(super) machine: Machine,
    /// When it was measured, RFC 3339, UTC; empty: not told.
    pub(super) began: String,
    /// Where figures stand.
    pub(super) sources: Vec<Source>,
    /// They themselves.
    pub(super) cells: Vec<Published>,
    /// What spoils them, each a sentence.
    pub(super) warnings: Vec<String>,
    figures: usize,
}

impl Draft {
    /// Adds a cell.
    ///
    /// # Errors
    /// It is one too many.
    pub(super) fn push(&mut self, cell: Published) -> Result<()> {
        self.figures += cell.figures.len().max(1);
        if self.figures > MAX_FIGURES {
            let line = cell.figures.iter().find_map(|figure| figure.line).unwrap_or(1);
            bail!("line {line} has one figure more than {MAX_FIGURES}: no log has as many");
        }
        self.cells.push(cell);
        Ok(())
    }

    /// Adds a warning, once.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The record of a log called `name`.
    pub(super) fn record(self, name: &str, format: &Format) -> Record {
        let mut sources = self.sources;
        for source in &mut sources {
            source.title = name.to_owned();
        }
        let reason = format!("What did {} print into {name}?", format.tool);
        let plan = Plan::of_nothing(file_stem(name), reason);
        let header = Header {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began: self.began,
            evidence: Evidence::Imported,
            target: String::new(),
            machine: self.machine,
            plan,
            cpus: Vec::new(),
            providers: BTreeMap::new(),
            kernel: None,
            warnings: self.warnings,
        };
        let sources = sources.into_iter().map(Line::Source);
        Record::assemble(header, sources.chain(self.cells.into_iter().map(Line::Published)))
    }
}

/// A file's name without its ending.
fn file_stem(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// A printed figure with the line that it is from.
pub(super) fn printed(quantity: Quantity, characters: &str, line: u32) -> Printed {
    Printed { quantity, printed: characters.to_owned(), flag: None, line: Some(line) }
}

/// The same, flagged.
pub(super) fn flagged(mut figure: Printed, kind: FlagKind, why: impl Into<String>) -> Printed {
    figure.flag = Some(Flag { kind, why: why.into() });
    figure
}
