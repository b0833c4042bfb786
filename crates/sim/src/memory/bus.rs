//! Memory as the chip's other bus masters see it. On the i.MX RT they reach the tightly coupled memories, the
//! on-chip memory behind the bus and, for reading, the flash. Nothing else answers, registers included.
//!
//! A master sees the bytes on the bus, not those in the core's caches:
//! - A line that the core has written in its data cache has its old bytes on the bus until it is cleaned or
//!   evicted. If it is invalidated instead, the core sees the old bytes as well.
//! - A line that a master writes while the data cache holds it keeps its old bytes for the core until it is
//!   invalidated or evicted. If the core has written the line, a clean or an eviction overwrites what the master
//!   wrote.
//! - Code that the instruction cache holds is executed until it is invalidated or evicted.

use super::cache::LINE;
use super::checker::LineState;
use super::{Memory, PAGE};
use crate::chip::MemoryKind;
use cpb_engines::BusError;

/// The memory of a machine, lent to an engine.
pub(crate) struct Bus<'a> {
    pub(crate) memory: &'a mut Memory,
    /// The engine's name.
    pub(crate) engine: &'static str,
}

impl cpb_engines::Memory for Bus<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, others) = rest.split_at_mut(until_line_end(address).min(rest.len()));
            self.memory.read_on_bus(address, part).ok_or(BusError { address })?;
            self.memory.check_engine(self.engine, address, part.len(), false);
            address = address.saturating_add(part.len() as u64);
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, others) = rest.split_at(until_line_end(address).min(rest.len()));
            self.memory.check_engine(self.engine, address, part.len(), true);
            self.memory.write_on_bus(address, part).ok_or(BusError { address })?;
            address = address.saturating_add(part.len() as u64);
            rest = others;
        }
        Ok(())
    }
}

/// The number of bytes from `address` to the end of its line.
fn until_line_end(address: u64) -> usize {
    LINE - (address % LINE as u64) as usize
}

/// Bytes in a memory, all of one line.
struct Piece {
    region: usize,
    offset: usize,
    end: usize,
}

impl Memory {
    /// The place of `size` bytes at a bus address; `None` if no memory has them all.
    fn piece(&self, address: u64, size: usize) -> Option<Piece> {
        let address = u32::try_from(address).ok()?;
        let number = self.region_of(address);
        let region = &self.regions[number];
        let offset = address.wrapping_sub(region.base) as usize;
        let end = offset.checked_add(size).filter(|end| *end <= region.bytes.len())?;
        Some(Piece { region: number, offset, end })
    }

    fn read_on_bus(&mut self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let piece = self.piece(address, bytes.len())?;
        let offset = address as usize % LINE;
        match self.data.second(address as u32) {
            Some(second) => bytes.copy_from_slice(&second[offset..offset + bytes.len()]),
            None => {
                let region = &self.regions[piece.region];
                bytes.copy_from_slice(&region.bytes[piece.offset..piece.end]);
            }
        }
        Some(())
    }

    fn write_on_bus(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let piece = self.piece(address, bytes.len())?;
        if self.regions[piece.region].kind == MemoryKind::Flash {
            return None;
        }
        let (address, offset) = (address as u32, address as usize % LINE);
        self.keep_instructions(address, &piece);
        self.keep_data(address);
        match self.data.second_mut(address) {
            Some(second) => second[offset..offset + bytes.len()].copy_from_slice(bytes),
            None => {
                let region = &mut self.regions[piece.region];
                region.bytes[piece.offset..piece.end].copy_from_slice(bytes);
            }
        }
        Some(())
    }

    /// Before an engine writes: the core goes on reading a line that its data cache holds.
    fn keep_data(&mut self, address: u32) {
        if self.data.enabled
            && self.data.holds(address)
            && let Some(bytes) = self.line_of_core(address).copied()
        {
            self.data.split(address, &bytes);
        }
    }

    /// Before an engine writes: the core goes on executing a line that its instruction cache holds. Other code is
    /// decoded anew.
    fn keep_instructions(&mut self, address: u32, piece: &Piece) {
        if self.instructions.enabled
            && self.instructions.holds(address)
            && let Some(bytes) = self.line_of_instructions(address).copied()
        {
            return self.instructions.split(address, &bytes);
        }
        self.forget_decoded(piece);
    }

    fn forget_decoded(&mut self, piece: &Piece) {
        if self.regions[piece.region].decoded[piece.offset / PAGE as usize] != 0 {
            let size = piece.end - piece.offset;
            self.stale.push((piece.region, piece.offset as u32, size as u32));
            self.look();
        }
    }

    /// The line at `address` as the core's loads see it.
    fn line_of_core(&self, address: u32) -> Option<&[u8; LINE]> {
        self.bytes(address & !(LINE as u32 - 1)).first_chunk()
    }

    /// The line at `address` as the core executes it. What the core has written is executed at once, although a
    /// board needs a clean and an invalidate for it.
    fn line_of_instructions(&self, address: u32) -> Option<&[u8; LINE]> {
        let fetched = self.instructions.second(address);
        let on_bus = || self.data.second(address).filter(|_| !self.data.is_dirty(address));
        fetched.or_else(on_bus).or_else(|| self.line_of_core(address))
    }

    /// The halfword of code at `address`.
    pub(crate) fn code_at(&self, address: u32) -> Option<u16> {
        let halfword = |bytes: &[u8]| bytes.first_chunk().map(|half| u16::from_le_bytes(*half));
        if !self.has_engines {
            return halfword(self.bytes(address));
        }
        let line = self.line_of_instructions(address)?;
        halfword(&line[address as usize % LINE..])
    }

    /// Called before the core uses the caches on a chip with engines. Lines that are dirty already, because an
    /// engine is attached later, count as written back.
    pub(crate) fn expect_engines(&mut self) {
        self.has_engines = true;
        self.split_dirty();
    }

    /// Lines that are dirty and not split count as written back.
    fn split_dirty(&mut self) {
        for line in self.data.dirty_and_whole() {
            if let Some(bytes) = self.line_of_core(line).copied() {
                self.data.split(line, &bytes);
            }
        }
    }

    /// Switches the caches on or off. The lines of a cache that is switched off stay in it, but dirty ones count
    /// as written back, and what the bus then has is what the cache holds when it is switched on again.
    pub(crate) fn enable_caches(&mut self, data: bool, instructions: bool) {
        if self.data.enabled && !data {
            self.data.unite_all();
        }
        if self.instructions.enabled && !instructions {
            self.instructions.unite_all();
        }
        let begins = data && !self.data.enabled;
        (self.data.enabled, self.instructions.enabled) = (data, instructions);
        self.settle();
        if begins && self.has_engines {
            self.split_dirty();
        }
    }

    /// A line has come into the data cache, or is about to be written there for the first time. From the first
    /// write on, the bus has the bytes from before.
    #[inline(never)]
    pub(super) fn line_changes(&mut self, address: u32, write: bool) {
        self.settle();
        if write && let Some(bytes) = self.line_of_core(address).copied() {
            self.data.split(address, &bytes);
        }
    }

    /// The core accesses bytes without the data cache. If the cache holds them all the same, because the MPU's
    /// attributes have changed, a dirty line counts as written back, and a clean one as fetched again. Returns
    /// whether the core sees other bytes than before.
    #[inline(never)]
    pub(super) fn bypass_cache(&mut self, address: u32, size: u32) -> bool {
        if !self.data.enabled || !self.data.was_split() {
            return false;
        }
        self.data.unite(address);
        self.data.unite(address.wrapping_add(size - 1));
        let changed = !self.data.left.is_empty();
        self.settle();
        changed
    }

    /// The state of the line at `address` in the data cache.
    fn line_state(&self, address: u32) -> LineState {
        if !self.data.enabled {
            LineState::Current
        } else if self.data.is_dirty(address) {
            LineState::Dirty
        } else if self.data.second(address).is_some() {
            LineState::Outdated
        } else {
            LineState::Current
        }
    }

    /// Checks an access of the core through the data cache, before it is performed.
    #[cold]
    pub(super) fn check_core(&mut self, address: u32, size: u32, write: bool) {
        let first = (size as usize).min(until_line_end(address.into()));
        let pieces =
            [(address, first), (address.wrapping_add(first as u32), size as usize - first)];
        for (address, size) in pieces.into_iter().filter(|(_, size)| *size != 0) {
            let state = self.line_state(address);
            let Some(checker) = &mut self.checker else { return };
            if write {
                checker.core_writes(address, size, state);
            } else {
                checker.core_reads(address, size);
            }
        }
    }

    /// Checks an engine's access to bytes of one line, a write before it is performed.
    fn check_engine(&mut self, engine: &'static str, address: u64, size: usize, write: bool) {
        if self.checker.is_none() {
            return;
        }
        let Some(piece) = self.piece(address, size) else { return };
        let address = address as u32;
        let state = self.line_state(address);
        let region = &self.regions[piece.region];
        let Some(checker) = &mut self.checker else { return };
        if !write {
            return checker.engine_reads(engine, address, size, state);
        }
        if region.kind == MemoryKind::Sram {
            checker.engine_writes(engine, address, size, state);
        }
        if region.decoded[piece.offset / PAGE as usize] != 0 {
            checker.over_code.push((engine, address, size as u32));
            self.look();
        }
    }

    /// Tells the checker that a line of the data cache was cleaned or invalidated by its address, or by set and way.
    /// Programs do the latter in a loop over all ways, so one of them counts for all lines of the set.
    pub(crate) fn check_maintenance(&mut self, word: u32, by_address: bool, invalidated: bool) {
        let Some(checker) = &mut self.checker else { return };
        let is_meant = |line: u32| {
            if by_address {
                line as usize / LINE == word as usize / LINE
            } else {
                self.data.same_set(line, word)
            }
        };
        checker.maintained(is_meant, invalidated);
    }

    /// Uses what is left of split lines that left their cache: the core now sees what the bus has.
    pub(crate) fn settle(&mut self) {
        for (line, bytes) in std::mem::take(&mut self.data.left) {
            let Some(piece) = self.piece(u64::from(line), LINE) else { continue };
            self.regions[piece.region].bytes[piece.offset..piece.end].copy_from_slice(&bytes);
            self.forget_decoded(&piece);
        }
        for (line, _) in std::mem::take(&mut self.instructions.left) {
            if let Some(piece) = self.piece(u64::from(line), LINE) {
                self.forget_decoded(&piece);
            }
        }
    }
}

#[cfg(test)]
#[path = "bus/tests.rs"]
mod tests;
