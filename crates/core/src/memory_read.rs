//! Reads of memory: what is read, and how.
//!
//! One operation reads the whole working set once, by loads of one width, and adds up what it read. The sum is the
//! answer (see [`sums`](crate::sums)). What a provider owes is [`MemoryReader`](crate::MemoryReader).

use crate::algorithm::named;
use crate::error::Unsupported;
use crate::workload_id::{MAX_SIZE, NotAWorkload};
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The first part of an id.
pub const FAMILY: &str = "memory-read";

/// A working set is a multiple of this, in bytes: eight loads of the widest vectors there are.
pub const BLOCK: u32 = 512;

named! {
    /// How much one load reads.
    Width {
        /// One byte.
        Bits8 = "8-bit",
        /// Two bytes.
        Bits16 = "16-bit",
        /// Four bytes.
        Bits32 = "32-bit",
        /// Eight bytes.
        Bits64 = "64-bit",
        /// As much as one load instruction of this core reads at most: a vector register, or several registers in a
        /// burst. The provider's identity says how much that is.
        Widest = "widest",
    }
}

named! {
    /// In which order loads follow each other.
    Pattern {
        /// From the first address to the last.
        Linear = "linear",
        /// The working set is two buffers. A load from the first is followed by one from the second, both from their
        /// first address to their last.
        PingPong = "ping-pong",
    }
}

named! {
    /// In which memory the working set is.
    Region {
        /// The memory that programs have their data in.
        Ram = "ram",
        /// Flash that is mapped into the address space.
        Flash = "flash",
    }
}

named! {
    /// The state of the data cache.
    Cache {
        /// Switched on, and filled by earlier operations with what fits.
        Filled = "cache-filled",
        /// Switched on, and emptied before each operation.
        Invalidated = "cache-invalidated",
        /// Switched off.
        Disabled = "cache-disabled",
    }
}

/// Reading a working set.
///
/// In JSON and TOML it is its id, a string; on the wire a plain struct.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryReadWorkload {
    /// How much one load reads.
    pub width: Width,
    /// In which order.
    pub pattern: Pattern,
    /// The working set in bytes: all that one operation reads. With [`Pattern::PingPong`], half of it in each buffer.
    pub bytes: u32,
    /// Where it is.
    pub region: Region,
    /// The state of the data cache.
    pub cache: Cache,
}

impl MemoryReadWorkload {
    /// The plain case: main memory, through a cache that keeps what fits.
    pub const fn new(width: Width, pattern: Pattern, bytes: u32) -> Self {
        MemoryReadWorkload { width, pattern, bytes, region: Region::Ram, cache: Cache::Filled }
    }

    /// Whether the combination makes sense at all, for any provider.
    pub fn valid(&self) -> Result<(), Unsupported> {
        let whole_blocks = self.bytes > 0 && self.bytes.is_multiple_of(BLOCK);
        if whole_blocks && self.bytes <= MAX_SIZE { Ok(()) } else { Err(Unsupported::Length) }
    }

    /// Bytes of one buffer.
    pub const fn buffer(&self) -> usize {
        match self.pattern {
            Pattern::Linear => self.bytes as usize,
            Pattern::PingPong => self.bytes as usize / 2,
        }
    }

    /// How many buffers the working set is.
    pub const fn buffers(&self) -> usize {
        match self.pattern {
            Pattern::Linear => 1,
            Pattern::PingPong => 2,
        }
    }
}

impl fmt::Display for MemoryReadWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FAMILY}/{}/{}/{}", self.width, self.pattern, self.bytes)?;
        if self.region != Region::Ram {
            write!(f, "/{}", self.region)?;
        }
        if self.cache != Cache::Filled {
            write!(f, "/{}", self.cache)?;
        }
        Ok(())
    }
}

impl FromStr for MemoryReadWorkload {
    type Err = NotAWorkload;

    fn from_str(id: &str) -> Result<Self, NotAWorkload> {
        let parse = || {
            let mut parts = id.strip_prefix(FAMILY)?.strip_prefix('/')?.split('/');
            let width = parts.next()?.parse().ok()?;
            let pattern = parts.next()?.parse().ok()?;
            let mut workload = Self::new(width, pattern, parts.next()?.parse().ok()?);
            for part in parts {
                match part.parse() {
                    Ok(region) => workload.region = region,
                    Err(_) => workload.cache = part.parse().ok()?,
                }
            }
            Some(workload)
        };
        parse().ok_or(NotAWorkload)
    }
}

/// The fields in order, for the wire.
type ReadFields = (Width, Pattern, u32, Region, Cache);

impl Serialize for MemoryReadWorkload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let fields: ReadFields = (self.width, self.pattern, self.bytes, self.region, self.cache);
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MemoryReadWorkload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl de::Visitor<'_> for Id {
            type Value = MemoryReadWorkload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a read of memory such as memory-read/64-bit/linear/16384")
            }
            fn visit_str<E: de::Error>(self, id: &str) -> Result<MemoryReadWorkload, E> {
                id.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(id), &self))
            }
        }
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Id);
        }
        let (width, pattern, bytes, region, cache) = ReadFields::deserialize(deserializer)?;
        Ok(MemoryReadWorkload { width, pattern, bytes, region, cache })
    }
}

#[cfg(test)]
#[path = "memory_read_tests.rs"]
pub(crate) mod tests;
