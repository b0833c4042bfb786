//! A first-level cache, represented by the lines that it holds. The memory stores their bytes as the core sees
//! them. Only where the core and the bus differ does a line have a second content here: it is *split*.
//!
//! In the data cache, the second content is what is on the bus: the bytes before the core's writes, or the
//! bytes that an engine wrote since the core fetched the line. In the instruction cache, it is what the cache
//! holds of a line that an engine has overwritten. `bus.rs` splits lines and uses what is left of them.

use crate::chip::CacheShape;

/// The size of a line in bytes.
pub(crate) const LINE: usize = 32;
const LINE_BITS: u32 = 5;
const VALID: u32 = 1;
const DIRTY: u32 = 2;
const SPLIT: u32 = 4;
const STATE: u32 = DIRTY | SPLIT;

/// The result of a cache lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Hit,
    /// A hit, by the first write to a clean line.
    FirstWrite,
    Miss,
    /// A miss for which a modified line had to be written back.
    MissDirty,
}

pub(crate) struct Cache {
    /// Line addresses, with VALID, DIRTY and SPLIT in the lowest bits, by set and then by way.
    lines: Vec<u32>,
    /// The second content of split lines, at the same index. Empty if no line was ever split.
    seconds: Vec<[u8; LINE]>,
    /// Address and second content of split lines that left the cache and were not written back.
    pub(crate) left: Vec<(u32, [u8; LINE])>,
    ways: usize,
    sets: u32,
    /// The way that is replaced next, for each set.
    victim: Vec<u8>,
    pub(crate) enabled: bool,
    pub(crate) misses: u64,
}

impl Cache {
    pub(crate) fn new(shape: Option<&CacheShape>) -> Self {
        let ways = shape.map_or(1, |s| s.ways.clamp(1, 64));
        let sets = shape.map_or(1, |s| (s.size >> LINE_BITS) / ways).max(1).next_power_of_two();
        Cache {
            lines: vec![0; (sets * ways) as usize],
            seconds: Vec::new(),
            left: Vec::new(),
            ways: ways as usize,
            sets,
            victim: vec![0; sets as usize],
            enabled: false,
            misses: 0,
        }
    }

    fn set(&self, address: u32) -> usize {
        (address >> LINE_BITS & (self.sets - 1)) as usize
    }

    #[inline]
    pub(crate) fn access(&mut self, address: u32, write: bool) -> Found {
        let set = self.set(address);
        let tag = address & !31 | VALID;
        let ways = &mut self.lines[set * self.ways..(set + 1) * self.ways];
        let dirty = u32::from(write) * DIRTY;
        if let Some(line) = ways.iter_mut().find(|line| **line & !STATE == tag) {
            let first = dirty & !*line != 0;
            *line |= dirty;
            return if first { Found::FirstWrite } else { Found::Hit };
        }
        self.fetch(set, tag | dirty)
    }

    /// Replaces a line of a set.
    #[inline(never)]
    fn fetch(&mut self, set: usize, new: u32) -> Found {
        self.misses += 1;
        let ways = &mut self.lines[set * self.ways..(set + 1) * self.ways];
        // An empty way is used first, then round robin; the real replacement is pseudo-random.
        let empty = ways.iter().position(|line| line & VALID == 0);
        let way = empty.unwrap_or(usize::from(self.victim[set]) % self.ways);
        self.victim[set] = (way + 1) as u8;
        let old = std::mem::replace(&mut ways[way], new);
        if old & STATE == SPLIT {
            self.leave(set * self.ways + way, old);
        }
        if old & DIRTY != 0 { Found::MissDirty } else { Found::Miss }
    }

    /// Invalidates all lines.
    pub(crate) fn invalidate(&mut self) {
        for slot in 0..self.lines.len() {
            self.maintain_slot(slot, false, true);
        }
    }

    /// Cleans or invalidates the line of an address. Returns whether it was written back.
    pub(crate) fn maintain(&mut self, address: u32, clean: bool, invalidate: bool) -> bool {
        self.slot(address).is_some_and(|slot| self.maintain_slot(slot, clean, invalidate))
    }

    /// The same by set and way, in the format of ARMv7-M's registers: the way is in the upper bits.
    pub(crate) fn maintain_way(&mut self, word: u32, clean: bool, invalidate: bool) -> bool {
        let way_bits = (self.ways as u32).next_power_of_two().trailing_zeros();
        let way = if way_bits == 0 { 0 } else { (word >> (32 - way_bits)) as usize };
        way < self.ways && self.maintain_slot(self.set(word) * self.ways + way, clean, invalidate)
    }

    /// A dirty line that is written back is no longer split, because the bus then has the core's bytes. A clean
    /// one stays split until it is invalidated. So does a dirty one, whose newer bytes are then lost.
    fn maintain_slot(&mut self, slot: usize, clean: bool, invalidate: bool) -> bool {
        let line = self.lines[slot];
        let written = clean && line & DIRTY != 0;
        if invalidate && !written && line & SPLIT != 0 {
            self.leave(slot, line);
        }
        let ended = if written { STATE } else { 0 };
        self.lines[slot] = if invalidate { 0 } else { line & !ended };
        written
    }

    fn leave(&mut self, slot: usize, line: u32) {
        self.left.push((line & !31, self.seconds[slot]));
    }

    fn slot(&self, address: u32) -> Option<usize> {
        let first = self.set(address) * self.ways;
        let tag = address & !31 | VALID;
        let ways = &self.lines[first..first + self.ways];
        ways.iter().position(|line| line & !STATE == tag).map(|way| first + way)
    }

    /// Whether the lines of two addresses compete for the same ways.
    pub(crate) fn same_set(&self, one: u32, other: u32) -> bool {
        self.set(one) == self.set(other)
    }

    pub(crate) fn holds(&self, address: u32) -> bool {
        self.slot(address).is_some()
    }

    pub(crate) fn is_dirty(&self, address: u32) -> bool {
        self.slot(address).is_some_and(|slot| self.lines[slot] & DIRTY != 0)
    }

    /// The second content of the line at `address`; `None` unless the line is split.
    pub(crate) fn second(&self, address: u32) -> Option<&[u8; LINE]> {
        let slot = self.slot(address).filter(|slot| self.lines[*slot] & SPLIT != 0)?;
        Some(&self.seconds[slot])
    }

    pub(crate) fn second_mut(&mut self, address: u32) -> Option<&mut [u8; LINE]> {
        let slot = self.slot(address).filter(|slot| self.lines[*slot] & SPLIT != 0)?;
        Some(&mut self.seconds[slot])
    }

    /// Splits the line at `address`, if the cache holds it and it is not split yet.
    pub(crate) fn split(&mut self, address: u32, bytes: &[u8; LINE]) {
        let Some(slot) = self.slot(address).filter(|slot| self.lines[*slot] & SPLIT == 0) else {
            return;
        };
        self.seconds.resize(self.lines.len(), [0; LINE]);
        self.seconds[slot] = *bytes;
        self.lines[slot] |= SPLIT;
    }

    /// Whether any line was ever split.
    pub(crate) fn was_split(&self) -> bool {
        !self.seconds.is_empty()
    }

    /// Makes the line at `address` clean and ends its split: a dirty line counts as written back, a clean one as
    /// fetched again.
    pub(crate) fn unite(&mut self, address: u32) {
        if let Some(slot) = self.slot(address) {
            self.maintain_slot(slot, true, false);
            self.unite_slot(slot);
        }
    }

    /// Ends the split of all lines in the same way. Dirty lines stay dirty, because cleaning them takes time.
    pub(crate) fn unite_all(&mut self) {
        (0..self.lines.len()).for_each(|slot| self.unite_slot(slot));
    }

    fn unite_slot(&mut self, slot: usize) {
        let line = self.lines[slot];
        if line & STATE == SPLIT {
            self.leave(slot, line);
        }
        self.lines[slot] = line & !SPLIT;
    }

    /// The addresses of dirty lines that are not split.
    pub(crate) fn dirty_and_whole(&self) -> Vec<u32> {
        let lines = self.lines.iter().filter(|line| **line & STATE == DIRTY);
        lines.map(|line| line & !31).collect()
    }

    /// CCSIDR: sets, ways and line size (B4.8.3).
    pub(crate) fn size_id(&self) -> u32 {
        0xF000_0000 | (self.sets - 1) << 13 | (self.ways as u32 - 1) << 3 | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Cache {
        Cache::new(Some(&CacheShape { size: 256, ways: 2, source: String::new() }))
    }

    #[test]
    fn a_line_stays_until_its_set_is_full() {
        let mut cache = small();
        assert_eq!(cache.access(0x1000, false), Found::Miss);
        assert_eq!(cache.access(0x101F, true), Found::FirstWrite);
        assert_eq!(cache.access(0x101F, true), Found::Hit);
        assert_eq!(cache.access(0x1080, false), Found::Miss);
        assert_eq!(cache.access(0x1000, false), Found::Hit);
        assert_eq!(cache.access(0x1100, false), Found::MissDirty);
        assert_eq!(cache.access(0x1000, false), Found::Miss);
    }

    #[test]
    fn cleaning_writes_back_once_and_invalidating_forgets() {
        let mut cache = small();
        cache.access(0x40, true);
        assert!(cache.maintain(0x44, true, false));
        assert!(!cache.maintain(0x44, true, false));
        assert_eq!(cache.access(0x40, true), Found::FirstWrite);
        assert!(!cache.maintain(0x40, false, true));
        assert_eq!(cache.access(0x40, false), Found::Miss);
    }
}
