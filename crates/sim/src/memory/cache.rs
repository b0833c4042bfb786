//! A first-level cache, represented only by the lines that it holds. It stores no bytes: the core always
//! reads the newest content of the memory, so a missing clean or invalidate does not cause a wrong result
//! here.

use crate::chip::CacheShape;

const LINE_BITS: u32 = 5;
const VALID: u32 = 1;
const DIRTY: u32 = 2;

/// The result of a cache lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Hit,
    Miss,
    /// A miss for which a modified line had to be written back.
    MissDirty,
}

pub(crate) struct Cache {
    /// Line addresses, with VALID and DIRTY in the lowest bits, by set and then by way.
    lines: Vec<u32>,
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
        if let Some(line) = ways.iter_mut().find(|line| **line & !DIRTY == tag) {
            *line |= dirty;
            return Found::Hit;
        }
        self.misses += 1;
        // An empty way is used first, then round robin; the real replacement is pseudo-random.
        let empty = ways.iter().position(|line| line & VALID == 0);
        let way = empty.unwrap_or(usize::from(self.victim[set]) % self.ways);
        self.victim[set] = (way + 1) as u8;
        let old = std::mem::replace(&mut ways[way], tag | dirty);
        if old & DIRTY != 0 { Found::MissDirty } else { Found::Miss }
    }

    /// Invalidates all lines.
    pub(crate) fn invalidate(&mut self) {
        self.lines.fill(0);
    }

    /// Cleans or invalidates the line of an address. Returns whether it was written back.
    pub(crate) fn maintain(&mut self, address: u32, clean: bool, invalidate: bool) -> bool {
        let set = self.set(address);
        let tag = address & !31 | VALID;
        let ways = &mut self.lines[set * self.ways..(set + 1) * self.ways];
        ways.iter_mut().find(|line| **line & !DIRTY == tag).is_some_and(|line| {
            let written = clean && *line & DIRTY != 0;
            *line = if invalidate { 0 } else { *line & !DIRTY };
            written
        })
    }

    /// The same by set and way, in the format of ARMv7-M's registers: the way is in the upper bits.
    pub(crate) fn maintain_way(&mut self, word: u32, clean: bool, invalidate: bool) -> bool {
        let way_bits = (self.ways as u32).next_power_of_two().trailing_zeros();
        let way = if way_bits == 0 { 0 } else { (word >> (32 - way_bits)) as usize };
        let index = self.set(word) * self.ways + way;
        let Some(line) = self.lines.get_mut(index).filter(|_| way < self.ways) else {
            return false;
        };
        let written = clean && *line & DIRTY != 0;
        *line = if invalidate { 0 } else { *line & !DIRTY };
        written
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
        assert_eq!(cache.access(0x40, true), Found::Hit);
        assert!(!cache.maintain(0x40, false, true));
        assert_eq!(cache.access(0x40, false), Found::Miss);
    }
}
