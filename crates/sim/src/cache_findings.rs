//! What the checker of the caches has found, with the functions to blame.

use crate::image::Image;
use crate::machine::Machine;
use crate::memory::{CacheMistake, Checker};
use std::collections::BTreeMap;

/// A mistake in the use of the caches, and where it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheFinding {
    /// The kind.
    pub mistake: CacheMistake,
    /// The engine.
    pub engine: &'static str,
    /// The first address of the cache lines or of the code.
    pub first: u32,
    /// The last address.
    pub last: u32,
    /// The address of the core's instruction: the write or the read. For overwritten code, the code.
    pub pc: u32,
}

impl CacheFinding {
    /// The finding in one sentence, with the names of functions.
    pub fn describe(&self, image: &Image) -> String {
        let CacheFinding { engine, first, last, pc, .. } = self;
        let lines = format!("{first:#010x}..{last:#010x}");
        let at = format!("{} at {pc:#010x}", image.describe(*pc));
        match self.mistake {
            CacheMistake::NotCleaned => format!(
                "the {engine} read {lines} while the cache held newer data: written by {at} and not cleaned before \
                 the job"
            ),
            CacheMistake::NotInvalidated => format!(
                "the core read {lines} in {at} without an invalidate after the {engine} wrote it (an invalidate \
                 before the job is not enough: the core may fetch the line again)"
            ),
            CacheMistake::SharedLine => format!(
                "the {engine} and the core both wrote to {lines}, the core in {at}, without a clean or an invalidate \
                 in between: one of the two is lost. The buffer shares its line with other data, or the core wrote \
                 to the buffer itself"
            ),
            CacheMistake::CodeOverwritten => {
                format!(
                    "the {engine} wrote over code at {lines} that had been executed: {}",
                    image.describe(*first)
                )
            }
        }
    }
}

impl Machine {
    /// From now on, looks for mistakes in the use of the caches, which slows the simulator down.
    pub fn check_caches(&mut self) {
        self.memory.checker = Some(Box::new(Checker::default()));
    }

    /// The mistakes found; `None` unless they were looked for. A kind of mistake in one function is listed once for
    /// each range of addresses.
    pub fn cache_findings(&self, image: &Image) -> Option<Vec<CacheFinding>> {
        let checker = self.memory.checker.as_ref()?;
        let mut grouped: BTreeMap<_, Vec<(u32, u32, u32)>> = BTreeMap::new();
        for ((mistake, engine, pc), ranges) in &checker.found {
            let function = image.symbol_at(*pc).map_or(*pc, |(symbol, _)| symbol.address);
            let function = if *mistake == CacheMistake::CodeOverwritten { 0 } else { function };
            let group = grouped.entry((*mistake, *engine, function)).or_default();
            group.extend(ranges.iter().map(|(first, last)| (*first, *last, *pc)));
        }
        let findings = grouped.into_iter().flat_map(|((mistake, engine, _), ranges)| {
            let finding = move |(first, last, pc)| {
                let pc = if mistake == CacheMistake::CodeOverwritten { first } else { pc };
                CacheFinding { mistake, engine, first, last, pc }
            };
            joined(ranges).into_iter().map(finding)
        });
        Some(findings.collect())
    }
}

/// Joins ranges that touch each other. Each has the instruction of its first part.
fn joined(mut ranges: Vec<(u32, u32, u32)>) -> Vec<(u32, u32, u32)> {
    ranges.sort_unstable();
    let mut all: Vec<(u32, u32, u32)> = Vec::new();
    for (first, last, pc) in ranges {
        match all.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => all.push((first, last, pc)),
        }
    }
    all
}
