//! A record under construction.

use super::Format;
use anyhow::{Result, bail};
use cpb_record::Machine;
use cpb_record::plan::Plan;
use cpb_record::{
    Evidence, Flag, FlagKind, Header, Line, Printed, Published, PublishedPath, Quantity, Record,
    SCHEMA, Source,
};
use std::collections::BTreeMap;

/// The highest number of figures in one log: a thousand times the usual number.
const MAX_FIGURES: usize = 100_000;
/// The highest number of warnings for one log.
const MAX_WARNINGS: usize = 64;

/// What an importer found.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The machine, as far as the log describes it.
    pub(super) machine: Machine,
    /// When it was measured, RFC 3339, UTC; empty if unknown.
    pub(super) began: String,
    /// The sources of the figures.
    pub(super) sources: Vec<Source>,
    /// The cells with the figures.
    pub(super) cells: Vec<Published>,
    /// Problems that affect the figures, each a sentence.
    pub(super) warnings: Vec<String>,
    figures: usize,
}

impl Draft {
    /// Adds a cell.
    ///
    /// # Errors
    /// Returns an error if there are too many figures.
    pub(super) fn push(&mut self, cell: Published) -> Result<()> {
        let line = cell.figures.iter().find_map(|figure| figure.line);
        self.count(cell.figures.len().max(1), line)?;
        self.cells.push(cell);
        Ok(())
    }

    /// Adds a figure to the cell that was added last.
    ///
    /// # Errors
    /// Returns an error if there are too many figures.
    pub(super) fn push_figure(&mut self, figure: Printed) -> Result<()> {
        self.count(1, figure.line)?;
        if let Some(last) = self.cells.last_mut() {
            last.figures.push(figure);
        }
        Ok(())
    }

    fn count(&mut self, more: usize, line: Option<u32>) -> Result<()> {
        self.figures += more;
        if self.figures > MAX_FIGURES {
            let line = line.unwrap_or(1);
            bail!("line {line}: more than {MAX_FIGURES} figures, which no log has");
        }
        Ok(())
    }

    /// Adds a warning, without duplicates. Beyond some dozens, further warnings are dropped.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        const MORE: &str = "There are more of this kind.";
        let warning = warning.into();
        if self.warnings.len() == MAX_WARNINGS {
            self.warnings.push(MORE.to_owned());
        } else if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Completes the record of a log called `name`. A figure that is not a number gets a flag here, unless its format
    /// has already set one.
    pub(super) fn record(self, name: &str, format: &Format) -> Record {
        let (mut sources, mut cells) = (self.sources, self.cells);
        for source in &mut sources {
            name.clone_into(&mut source.title);
        }
        // Two logs that name no machine may come from different machines.
        for cell in cells.iter_mut().filter(|cell| cell.machine.is_empty()) {
            cell.machine = file_stem(name);
        }
        for cell in &mut cells {
            cell.figures = std::mem::take(&mut cell.figures).into_iter().map(sound).collect();
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
        Record::assemble(header, sources.chain(cells.into_iter().map(Line::Published)))
    }
}

/// A file's name without its extension.
fn file_stem(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// What the cells of one table share.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// A one-word name for the table.
    pub(super) name: String,
    /// The provider that ran the operations.
    pub(super) provider: String,
    /// The machine; empty if unknown.
    pub(super) machine: String,
    /// The core's clock, if the log states it.
    pub(super) core_hz: Option<u64>,
}

/// What one cell measures.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// The algorithm, in cpb's spelling.
    pub(super) algorithm: String,
    /// The operation; empty if unknown.
    pub(super) operation: String,
    /// The timed phase; empty if unknown.
    pub(super) phase: &'static str,
    /// Message length.
    pub(super) bytes: Option<u32>,
}

impl Table {
    /// Creates a cell of this table.
    pub(super) fn cell(
        &self,
        row: &str,
        column: &str,
        done: Done,
        figures: Vec<Printed>,
    ) -> Published {
        let told = |words: &str| (!words.is_empty()).then(|| words.to_owned());
        Published {
            table: self.name.clone(),
            row: row.to_owned(),
            column: column.to_owned(),
            machine: self.machine.clone(),
            core_hz: self.core_hz,
            provider: self.provider.clone(),
            operation: told(&done.operation),
            algorithm: done.algorithm,
            phase: told(done.phase),
            bytes: done.bytes,
            figures,
        }
    }

    /// The source of the table. `tool` is the tool that printed it, with its version.
    pub(super) fn source(
        &self,
        tool: &str,
        version: &str,
        place: String,
        notes: &[&str],
    ) -> Source {
        let path = PublishedPath { version: version.to_owned(), ..PublishedPath::default() };
        Source {
            table: self.name.clone(),
            title: String::new(),
            publisher: tool.to_owned(),
            date: String::new(),
            place,
            paths: BTreeMap::from([(self.provider.clone(), path)]),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            cores: None,
        }
    }
}

/// A printed figure, with the number of its line.
pub(super) fn printed(quantity: Quantity, characters: &str, line: u32) -> Printed {
    Printed { quantity, printed: characters.to_owned(), flag: None, line: Some(line) }
}

/// The figure, with a flag.
pub(super) fn flagged(mut figure: Printed, kind: FlagKind, why: impl Into<String>) -> Printed {
    figure.flag = Some(Flag { kind, why: why.into() });
    figure
}

/// The figure, flagged if it is not a valid number and has no flag yet.
fn sound(figure: Printed) -> Printed {
    if figure.flag.is_some() || figure.number().is_some() {
        return figure;
    }
    flagged(figure, FlagKind::Unverified, "zero, negative, infinite or not a number")
}
