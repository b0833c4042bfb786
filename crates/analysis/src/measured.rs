//! The measured cells of a record, with the driver or library that each ran on.

use crate::agreement;
use crate::batches::Scale;
use crate::passes::Passes;
use crate::smt::Alone;
use cpb_core::{CryptoWorkload, Depth};
use cpb_record::{Cell, Outcome, ProviderRecord, Record, Round};

/// A measured cell of one thread.
pub(crate) struct Measured<'r> {
    pub(crate) cell: &'r Cell,
    pub(crate) workload: &'r CryptoWorkload,
    pub(crate) rounds: &'r [Round],
    /// `None` if no pass gave a figure.
    pub(crate) passes: Option<Passes>,
    /// The driver or library that its provider names.
    pub(crate) executor: &'r str,
}

impl Measured<'_> {
    /// Whether it has more than one message in flight.
    pub(crate) fn is_deep(&self) -> bool {
        self.workload.dispatch.depth != Depth::Jobs(1)
    }
}

/// The cells of single threads whose answers do not contradict each other.
pub(crate) fn measured(record: &Record) -> Vec<Measured<'_>> {
    let suspects = agreement::disagreements(record);
    let alone = Alone::of_record(record);
    let cells = record.cells.iter().filter(|(cell, _)| !suspects.contains_key(cell));
    let measured = cells.filter_map(|(cell, outcome)| {
        let Outcome::Measured(rounds) = outcome else { return None };
        let passes = record
            .clock(&cell.provider)
            .and_then(|clock| Passes::of(rounds, Scale { clock, alone }).ok());
        let executor = executor(record, &cell.provider)?;
        Some(Measured { cell, workload: cell.workload.crypto()?, rounds, passes, executor })
    });
    measured.filter(|measured| measured.cell.threads == 1).collect()
}

fn executor<'r>(record: &'r Record, provider: &str) -> Option<&'r str> {
    match record.header.providers.get(provider)? {
        ProviderRecord::Available { executor, .. } => Some(executor),
        ProviderRecord::Unavailable { .. } => None,
    }
}
