//! Finds mistakes of a program that shares memory with engines: cleans and invalidates that are missing, buffers that
//! share a cache line with other data, and code that was overwritten. On a board, such a mistake gives a wrong answer
//! only if a line happens to be in the cache, or to leave it, at the wrong time.

use super::cache::LINE;
use std::collections::{BTreeMap, HashMap};

/// The most ranges of lines that are kept for one instruction.
const KEPT: usize = 256;

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheMistake {
    /// An engine read bytes while the data cache held newer ones.
    NotCleaned,
    /// The core read bytes through its cache that an engine wrote, without an invalidate in between.
    NotInvalidated,
    /// An engine and the core both wrote to a line, without a clean or an invalidate in between.
    SharedLine,
    /// An engine wrote over code that had been executed.
    CodeOverwritten,
}

/// A mistake, the engine, and the address of the core's instruction that is to blame, or 0 for overwritten code.
type Event = (CacheMistake, &'static str, u32);

/// Bytes of a line, one bit each.
type Bytes = u32;

#[derive(Default)]
pub(crate) struct Checker {
    /// The address of the instruction that is being executed.
    pub(crate) pc: u32,
    /// Bytes of dirty lines that the core has written, and the instruction that wrote there last.
    by_core: HashMap<u32, (Bytes, u32)>,
    /// Bytes that an engine has written and that were not invalidated since.
    by_engine: HashMap<u32, (Bytes, &'static str)>,
    /// Lines with an engine's bytes that the cache held in their old state when the core wrote there: the engine, and
    /// the instruction. A clean overwrites the engine's bytes, unless the core has replaced all of them by then.
    outdated: HashMap<u32, (&'static str, u32)>,
    /// Writes of engines to pages with code: engine, address, size.
    pub(crate) over_code: Vec<(&'static str, u32, u32)>,
    /// First and last address of the lines.
    pub(crate) found: BTreeMap<Event, Vec<(u32, u32)>>,
}

/// How the data cache holds a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineState {
    /// Its bytes are those on the bus.
    Current,
    /// The core has newer bytes than the bus.
    Dirty,
    /// An engine has written newer bytes than the core sees.
    Outdated,
}

fn bytes_of(address: u32, size: usize) -> Bytes {
    let mask = u64::MAX >> (64 - size.clamp(1, LINE));
    (mask << (address as usize % LINE)) as Bytes
}

fn line_of(address: u32) -> u32 {
    address & !(LINE as u32 - 1)
}

impl Checker {
    fn add(&mut self, mistake: CacheMistake, engine: &'static str, line: u32, pc: u32) {
        let last = line + (LINE as u32 - 1);
        self.add_range((mistake, engine, pc), (line, last));
    }

    pub(crate) fn add_range(&mut self, event: Event, (first, last): (u32, u32)) {
        let ranges = self.found.entry(event).or_default();
        let touches = |range: &(u32, u32)| {
            first <= range.1.saturating_add(1) && range.0 <= last.saturating_add(1)
        };
        if let Some(range) = ranges.iter_mut().find(|range| touches(range)) {
            *range = (range.0.min(first), range.1.max(last));
        } else if ranges.len() < KEPT {
            ranges.push((first, last));
        }
    }

    /// The core reads bytes of one line through its cache.
    pub(super) fn core_reads(&mut self, address: u32, size: usize) {
        let line = line_of(address);
        if let Some((bytes, engine)) = self.by_engine.get(&line).copied()
            && bytes & bytes_of(address, size) != 0
        {
            self.add(CacheMistake::NotInvalidated, engine, line, self.pc);
        }
    }

    /// The core writes bytes of one line through its cache. `was` is the line's state before.
    pub(super) fn core_writes(&mut self, address: u32, size: usize, was: LineState) {
        let (line, bytes) = (line_of(address), bytes_of(address, size));
        let written = self.by_core.entry(line).or_default();
        // The bytes written earlier have left the cache in the meantime.
        let earlier = if was == LineState::Dirty { written.0 } else { 0 };
        *written = (earlier | bytes, self.pc);
        let Some((others, engine)) = self.by_engine.get_mut(&line) else { return };
        *others &= !bytes;
        let (others, engine) = (*others, *engine);
        if others == 0 {
            self.by_engine.remove(&line);
            self.outdated.remove(&line);
        } else if was == LineState::Outdated {
            self.outdated.insert(line, (engine, self.pc));
        }
    }

    /// An engine reads bytes of one line.
    pub(super) fn engine_reads(
        &mut self,
        engine: &'static str,
        address: u32,
        size: usize,
        state: LineState,
    ) {
        let line = line_of(address);
        if state == LineState::Dirty
            && let Some((bytes, pc)) = self.by_core.get(&line).copied()
            && bytes & bytes_of(address, size) != 0
        {
            self.add(CacheMistake::NotCleaned, engine, line, pc);
        }
    }

    /// An engine writes bytes of one line.
    pub(super) fn engine_writes(
        &mut self,
        engine: &'static str,
        address: u32,
        size: usize,
        state: LineState,
    ) {
        let line = line_of(address);
        if state == LineState::Dirty
            && let Some((_, pc)) = self.by_core.get(&line).copied()
        {
            self.add(CacheMistake::SharedLine, engine, line, pc);
        }
        let written = self.by_engine.entry(line).or_default();
        *written = (written.0 | bytes_of(address, size), engine);
    }

    /// The lines for which `is_meant` holds are cleaned or invalidated.
    pub(super) fn maintained(&mut self, is_meant: impl Fn(u32) -> bool, invalidated: bool) {
        let lost: Vec<_> = self.outdated.extract_if(|line, _| is_meant(*line)).collect();
        for (line, (engine, pc)) in lost {
            self.add(CacheMistake::SharedLine, engine, line, pc);
        }
        if invalidated {
            self.by_engine.retain(|line, _| !is_meant(*line));
        }
    }
}
