//! Memory reads: what is read, and how.
//!
//! One operation reads the whole working set once, with loads of one width, and adds up what it read. The sum
//! is the answer (see [`sums`](crate::sums)). The contract for providers is
//! [`MemoryReader`](crate::MemoryReader).

use crate::algorithm::named;
use crate::error::Unsupported;
use crate::workload_id::{MAX_SIZE, NotAWorkload};
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The first part of an id.
pub const FAMILY: &str = "memory-read";

/// A working set is a multiple of this, in bytes: eight loads of the widest existing vectors.
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
        /// As much as one load instruction of this core can read: a vector register, or several registers in
        /// a burst. The provider's identity states how much that is.
        Widest = "widest",
    }
}

impl Width {
    /// The bits that a sum of words of this width keeps. The sum of the widest loads is a sum of 64-bit
    /// words.
    pub const fn mask(self) -> u64 {
        match self {
            Width::Bits8 => u8::MAX as u64,
            Width::Bits16 => u16::MAX as u64,
            Width::Bits32 => u32::MAX as u64,
            Width::Bits64 | Width::Widest => u64::MAX,
        }
    }
}

named! {
    /// The order of the loads.
    Pattern {
        /// From the first address to the last.
        Linear = "linear",
        /// The working set is two buffers. Loads from the first and the second alternate, both from the first
        /// address to the last.
        PingPong = "ping-pong",
    }
}

named! {
    /// The memory that contains the working set.
    Region {
        /// The memory that holds the data of programs.
        Ram = "ram",
        /// Flash memory mapped into the address space.
        Flash = "flash",
    }
}

/// The engine that decrypts what an executor reads from flash, which the executor names last: `OTFAD` for `the core's
/// loads; FlexSPI, QSPI flash, OTFAD on`. `None` for an executor that names none.
pub fn inline_engine(executor: &str) -> Option<&str> {
    executor.rsplit(", ").next()?.strip_suffix(" on")
}

named! {
    /// The state of the data cache.
    Cache {
        /// Switched on. It holds as much of the working set as fits, from earlier operations.
        Filled = "cache-filled",
        /// Switched on, and emptied before each operation.
        Invalidated = "cache-invalidated",
        /// Switched off.
        Disabled = "cache-disabled",
    }
}

/// A read of a working set.
///
/// In JSON and TOML it is a string, its id; on the wire it is a plain struct.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryReadWorkload {
    /// How much one load reads.
    pub width: Width,
    /// The order of the loads.
    pub pattern: Pattern,
    /// The size of the working set in bytes, all of which one operation reads. With [`Pattern::PingPong`],
    /// each buffer has half of it.
    pub bytes: u32,
    /// The memory that contains it.
    pub region: Region,
    /// The state of the data cache.
    pub cache: Cache,
}

impl MemoryReadWorkload {
    /// The default case: main memory, through a cache that keeps what fits.
    pub const fn new(width: Width, pattern: Pattern, bytes: u32) -> Self {
        MemoryReadWorkload { width, pattern, bytes, region: Region::Ram, cache: Cache::Filled }
    }

    /// Returns an error if no provider could support this combination.
    pub fn valid(&self) -> Result<(), Unsupported> {
        let whole_blocks = self.bytes > 0 && self.bytes.is_multiple_of(BLOCK);
        if whole_blocks && self.bytes <= MAX_SIZE { Ok(()) } else { Err(Unsupported::Length) }
    }

    /// The size of one buffer in bytes.
    pub const fn buffer(&self) -> usize {
        match self.pattern {
            Pattern::Linear => self.bytes as usize,
            Pattern::PingPong => self.bytes as usize / 2,
        }
    }

    /// The number of buffers in the working set.
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

/// The fields in order, as they are on the wire.
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
