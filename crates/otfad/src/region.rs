//! Regions of the address space.

use core::fmt;

/// Regions begin and end at multiples of this many bytes.
pub const REGION: u32 = 1024;

/// A range of system addresses: at least 1 KiB, in whole KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    start: u32,
    /// The address of the last byte; its low ten bits are ones.
    last: u32,
}

/// A range that no region can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionError {
    /// This address is not a multiple of 1 KiB.
    Unaligned(u64),
    /// The range ends where or before it starts.
    Empty,
    /// The range ends above 4 GiB.
    TooHigh,
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegionError::Unaligned(address) => {
                let below = address & !u64::from(REGION - 1);
                write!(
                    f,
                    "{address:#x} is not a multiple of 1 KiB; the next ones are {below:#x} and {:#x}",
                    below + u64::from(REGION)
                )
            }
            RegionError::Empty => f.write_str("its end is not above its start"),
            RegionError::TooHigh => f.write_str("it ends above 4 GiB"),
        }
    }
}

impl core::error::Error for RegionError {}

impl Region {
    /// The region from `start` to before `end`.
    ///
    /// # Errors
    /// Returns an error if an address is not a multiple of 1 KiB, or if the range is empty or ends above 4 GiB.
    pub fn new(start: u32, end: u64) -> Result<Self, RegionError> {
        for address in [start.into(), end] {
            if address % u64::from(REGION) != 0 {
                return Err(RegionError::Unaligned(address));
            }
        }
        if end <= start.into() {
            return Err(RegionError::Empty);
        }
        let last = u32::try_from(end - 1).map_err(|_| RegionError::TooHigh)?;
        Ok(Region { start, last })
    }

    /// The first address.
    pub const fn start(&self) -> u32 {
        self.start
    }

    /// The last address.
    pub const fn last(&self) -> u32 {
        self.last
    }

    /// The address behind the last one.
    pub fn end(&self) -> u64 {
        u64::from(self.last) + 1
    }

    /// Whether an address is in the region.
    pub const fn contains(&self, address: u32) -> bool {
        self.start <= address && address <= self.last
    }

    /// Whether two regions have an address in common.
    pub const fn overlaps(&self, other: &Region) -> bool {
        self.start <= other.last && other.start <= self.last
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}..{:#010x}", self.start, self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_whole_kibibytes() {
        assert_eq!(Region::new(0x400, 0x7FF), Err(RegionError::Unaligned(0x7FF)));
        assert_eq!(Region::new(0x401, 0x800), Err(RegionError::Unaligned(0x401)));
        assert_eq!(Region::new(0x800, 0x800), Err(RegionError::Empty));
        assert_eq!(Region::new(0x800, 0x1_0000_0400), Err(RegionError::TooHigh));
        let top = Region::new(0xFFFF_FC00, 0x1_0000_0000).expect("the last one");
        assert!(top.contains(u32::MAX) && !top.contains(0xFFFF_FBFF));
    }

    #[test]
    fn neighbours_do_not_overlap() {
        let region = |start, end| Region::new(start, end).expect("a region");
        assert!(!region(0, 0x400).overlaps(&region(0x400, 0x800)));
        assert!(region(0, 0x800).overlaps(&region(0x400, 0xC00)));
        assert!(region(0, 0x1000).overlaps(&region(0x400, 0x800)));
    }
}
