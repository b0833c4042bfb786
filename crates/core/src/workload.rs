//! What is measured. One workload is one row of figures, and its `Display` is its id.

use crate::Lengths;
use crate::algorithm::{Algorithm, Kind, Operation, named};
use crate::error::Unsupported;
use crate::memory_read::{self, Cache, MemoryReadWorkload};
pub use crate::workload_id::{MAX_SIZE, NotAWorkload};
use core::fmt::{self, Write};
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Anything that can be measured, with one variant per family.
///
/// In JSON and TOML it is a string, its id; on the wire it is the variant's number and fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Workload {
    /// A cryptographic operation on a message.
    Crypto(CryptoWorkload),
    /// Reading a working set of memory.
    MemoryRead(MemoryReadWorkload),
}

impl Workload {
    /// Returns an error if no provider could support this combination.
    pub fn valid(&self) -> Result<(), Unsupported> {
        match self {
            Workload::Crypto(workload) => workload.valid(),
            Workload::MemoryRead(workload) => workload.valid(),
        }
    }

    /// The size that differs between the columns of a table, in bytes: the message length or the working set.
    pub const fn size(&self) -> u32 {
        match self {
            Workload::Crypto(workload) => workload.message,
            Workload::MemoryRead(workload) => workload.bytes,
        }
    }

    /// The same workload with another size; 0 stands for what all sizes have in common.
    pub const fn with_size(self, size: u32) -> Workload {
        match self {
            Workload::Crypto(workload) => {
                Workload::Crypto(CryptoWorkload { message: size, ..workload })
            }
            Workload::MemoryRead(workload) => {
                Workload::MemoryRead(MemoryReadWorkload { bytes: size, ..workload })
            }
        }
    }

    /// Bytes that one operation processes, for rates; 0 if the workload has no rate.
    pub const fn bytes(&self) -> u64 {
        match self {
            Workload::Crypto(workload) => workload.bytes(),
            Workload::MemoryRead(workload) => workload.bytes as u64,
        }
    }

    /// How jobs are dispatched. Memory is always read by one job at a time. If the cache is to be empty before each, it
    /// is emptied before the clock starts, so a batch is a single read.
    pub const fn dispatch(&self) -> Dispatch {
        match self {
            Workload::Crypto(workload) => workload.dispatch,
            Workload::MemoryRead(MemoryReadWorkload { cache: Cache::Invalidated, .. }) => {
                Dispatch { build: Build::Before, ..Dispatch::SERIAL }
            }
            Workload::MemoryRead(_) => Dispatch::SERIAL,
        }
    }

    /// The cryptographic operation; `None` for a memory read.
    pub const fn crypto(&self) -> Option<&CryptoWorkload> {
        match self {
            Workload::Crypto(workload) => Some(workload),
            Workload::MemoryRead(_) => None,
        }
    }

    /// The memory read; `None` for a cryptographic operation.
    pub const fn memory_read(&self) -> Option<&MemoryReadWorkload> {
        match self {
            Workload::Crypto(_) => None,
            Workload::MemoryRead(workload) => Some(workload),
        }
    }
}

impl From<CryptoWorkload> for Workload {
    fn from(workload: CryptoWorkload) -> Workload {
        Workload::Crypto(workload)
    }
}

impl From<MemoryReadWorkload> for Workload {
    fn from(workload: MemoryReadWorkload) -> Workload {
        Workload::MemoryRead(workload)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Workload::Crypto(workload) => workload.fmt(f),
            Workload::MemoryRead(workload) => workload.fmt(f),
        }
    }
}

impl FromStr for Workload {
    type Err = NotAWorkload;

    fn from_str(id: &str) -> Result<Self, NotAWorkload> {
        match id.split('/').next() {
            Some(memory_read::FAMILY) => id.parse().map(Workload::MemoryRead),
            _ => id.parse().map(Workload::Crypto),
        }
    }
}

/// A workload on the wire.
#[derive(Serialize, Deserialize)]
enum Wire {
    Crypto(CryptoWorkload),
    MemoryRead(MemoryReadWorkload),
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        match *self {
            Workload::Crypto(workload) => Wire::Crypto(workload),
            Workload::MemoryRead(workload) => Wire::MemoryRead(workload),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl de::Visitor<'_> for Id {
            type Value = Workload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a workload such as aes-256-cbc/encrypt/message/16384")
            }
            fn visit_str<E: de::Error>(self, id: &str) -> Result<Workload, E> {
                id.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(id), &self))
            }
        }
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Id);
        }
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Crypto(workload) => Workload::Crypto(workload),
            Wire::MemoryRead(workload) => Workload::MemoryRead(workload),
        })
    }
}

named! {
    /// The part of an operation that is timed.
    Phase {
        /// A whole message with a fresh IV; the key schedule is reused.
        Message = "message",
        /// A whole message with its own key schedule.
        MessageWithKey = "message-with-key",
        /// The steady state of a message without end, or of an agreement with a peer whose key is already
        /// loaded: what `openssl speed` times.
        Update = "update",
        /// The key schedule alone.
        Setup = "setup",
    }
}

named! {
    /// Where the result goes.
    Placement {
        /// Input and output in two buffers.
        Apart = "apart",
        /// The result overwrites the message.
        InPlace = "in-place",
    }
}

named! {
    /// How many keys the messages use.
    KeyUse {
        /// One key for all.
        Reused = "reused",
        /// Each message has its own.
        PerMessage = "key-per-message",
    }
}

named! {
    /// When answers are checked. They are always checked.
    Checking {
        /// After each round, untimed.
        After = "check-after",
        /// After each operation, inside the timed region.
        Each = "check-each",
    }
}

named! {
    /// When descriptors are built.
    Build {
        /// While the clock runs, just before each is dispatched.
        InLoop = "build-in-loop",
        /// All of them, before the clock starts.
        Before = "build-before",
    }
}

named! {
    /// The completions that the CPU notices.
    Notice {
        /// Every one.
        Each = "notice-each",
        /// Only the last.
        Last = "notice-last",
    }
}

/// How many jobs may be in flight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Depth {
    /// At most this many, at least 1.
    Jobs(u16),
    /// As many as the engine accepts before it reports Full.
    Ring,
}

/// How jobs reach an engine: three independent parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Dispatch {
    /// When descriptors are built.
    pub build: Build,
    /// How many are in flight.
    pub depth: Depth,
    /// How completion is noticed.
    pub notice: Notice,
}

impl Dispatch {
    /// Build and dispatch job n+1 after job n completes.
    pub const SERIAL: Dispatch =
        Dispatch { build: Build::InLoop, depth: Depth::Jobs(1), notice: Notice::Each };
    /// Build everything first, then dispatch as fast as the engine accepts, and wait for the last job.
    pub const ALL_AT_ONCE: Dispatch =
        Dispatch { build: Build::Before, depth: Depth::Ring, notice: Notice::Last };
}

/// The data of the messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum DataSet {
    /// One buffer used repeatedly, hot in the caches.
    Same,
    /// This many buffers with different contents, in turn.
    Unique {
        /// How many, at least 2.
        chunks: u32,
    },
}

/// A cryptographic operation on messages of one length.
///
/// In JSON and TOML it is a string, its id; on the wire it is a plain struct.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CryptoWorkload {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// One of [`Algorithm::operations`].
    pub operation: Operation,
    /// Which part is timed.
    pub phase: Phase,
    /// Message length in bytes; 0 for [`Phase::Setup`].
    pub message: u32,
    /// Length of the associated data in bytes; 0 unless the algorithm is an AEAD.
    pub associated: u32,
    /// Where the result goes.
    pub placement: Placement,
    /// Same or unique data.
    pub data: DataSet,
    /// Same or unique keys.
    pub keys: KeyUse,
    /// How jobs reach the engine.
    pub dispatch: Dispatch,
    /// When answers are checked.
    pub checking: Checking,
}

impl CryptoWorkload {
    /// The default case: whole messages, one hot buffer, one key, one job at a time.
    pub const fn new(algorithm: Algorithm, operation: Operation, message: u32) -> Self {
        CryptoWorkload {
            algorithm,
            operation,
            phase: Phase::Message,
            message,
            associated: 0,
            placement: Placement::Apart,
            data: DataSet::Same,
            keys: KeyUse::Reused,
            dispatch: Dispatch::SERIAL,
            checking: Checking::After,
        }
    }

    /// Returns an error if no provider could support this combination.
    pub fn valid(&self) -> Result<(), Unsupported> {
        let shape = self.algorithm.shape();
        let cipher = self.operation == Operation::Encrypt || self.operation == Operation::Decrypt;
        let generator = shape.kind == Kind::Generator;
        if !self.algorithm.operations().contains(&self.operation) {
            return Err(Unsupported::Algorithm);
        }
        let whole_blocks = (self.message as usize).is_multiple_of(shape.block);
        if self.message > MAX_SIZE || !whole_blocks || (shape.tag == 0 && self.associated > 0) {
            return Err(Unsupported::Length);
        }
        if self.phase == Phase::Setup && (self.message, self.associated) != (0, 0) {
            return Err(Unsupported::Length);
        }
        if shape.key == 0 && matches!(self.phase, Phase::Setup | Phase::MessageWithKey) {
            return Err(Unsupported::Phase);
        }
        let goes_on = self.algorithm.goes_on() && self.operation != Operation::GenerateKey;
        if self.phase == Phase::Update && !goes_on {
            return Err(Unsupported::Phase);
        }
        let takes = self.algorithm.takes(self.operation, self.message as usize);
        if self.phase != Phase::Setup && !takes {
            return Err(Unsupported::Length);
        }
        let keyless_many = shape.key == 0 && self.keys == KeyUse::PerMessage;
        let none_in_flight = self.dispatch.depth == Depth::Jobs(0);
        let not_many = matches!(self.data, DataSet::Unique { chunks: 0 | 1 });
        // There is only one pair for timed rounds.
        let one_only = self.algorithm.has_key_pairs() && self.data != DataSet::Same;
        if none_in_flight || not_many || one_only {
            return Err(Unsupported::Mode);
        }
        // These operations give a different answer each time.
        let another =
            self.phase == Phase::Update || generator || self.algorithm.draws(self.operation);
        let unchecked = another && self.checking == Checking::Each;
        if keyless_many || unchecked || (!cipher && self.placement == Placement::InPlace) {
            return Err(Unsupported::Mode);
        }
        Ok(())
    }

    /// Bytes that one operation processes, for rates; 0 for Setup and for all operations with key pairs,
    /// which have no rate.
    pub const fn bytes(&self) -> u64 {
        if self.algorithm.has_key_pairs() { 0 } else { self.message as u64 }
    }

    /// The lengths of the parts of a job.
    pub const fn lengths(&self) -> Lengths {
        let fixed = self.algorithm.lengths(self.operation, self.message as usize);
        Lengths { associated: fixed.associated + self.associated as usize, ..fixed }
    }
}

impl fmt::Display for CryptoWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.algorithm, self.operation, self.phase, self.message)?;
        if self.associated > 0 {
            write!(f, "/associated={}", self.associated)?;
        }
        if let DataSet::Unique { chunks } = self.data {
            write!(f, "/unique={chunks}")?;
        }
        match self.dispatch.depth {
            Depth::Jobs(1) => {}
            Depth::Jobs(depth) => write!(f, "/depth={depth}")?,
            Depth::Ring => f.write_str("/depth=ring")?,
        }
        let plain = Self::new(self.algorithm, self.operation, self.message);
        let words = [
            (self.placement.name(), plain.placement.name()),
            (self.keys.name(), plain.keys.name()),
            (self.dispatch.build.name(), plain.dispatch.build.name()),
            (self.dispatch.notice.name(), plain.dispatch.notice.name()),
            (self.checking.name(), plain.checking.name()),
        ];
        words.iter().filter(|(word, usual)| word != usual).try_for_each(|(word, _)| {
            f.write_char('/')?;
            f.write_str(word)
        })
    }
}

impl FromStr for CryptoWorkload {
    type Err = NotAWorkload;

    fn from_str(id: &str) -> Result<Self, NotAWorkload> {
        fn next<'a, T: FromStr>(
            parts: &mut impl Iterator<Item = &'a str>,
        ) -> Result<T, NotAWorkload> {
            parts.next().and_then(|part| part.parse().ok()).ok_or(NotAWorkload)
        }
        let mut parts = id.split('/');
        let (algorithm, operation) = (next(&mut parts)?, next(&mut parts)?);
        let phase = next(&mut parts)?;
        let mut workload = CryptoWorkload::new(algorithm, operation, next(&mut parts)?);
        workload.phase = phase;
        for part in parts {
            workload.set(part).ok_or(NotAWorkload)?;
        }
        Ok(workload)
    }
}

impl CryptoWorkload {
    /// Applies one of the parts that an id contains only if they differ from the default.
    fn set(&mut self, part: &str) -> Option<()> {
        if let Some((name, value)) = part.split_once('=') {
            match name {
                "associated" => self.associated = value.parse().ok()?,
                "unique" => self.data = DataSet::Unique { chunks: value.parse().ok()? },
                "depth" if value == "ring" => self.dispatch.depth = Depth::Ring,
                "depth" => self.dispatch.depth = Depth::Jobs(value.parse().ok()?),
                _ => return None,
            }
        } else if let Ok(placement) = part.parse() {
            self.placement = placement;
        } else if let Ok(keys) = part.parse() {
            self.keys = keys;
        } else if let Ok(build) = part.parse() {
            self.dispatch.build = build;
        } else if let Ok(notice) = part.parse() {
            self.dispatch.notice = notice;
        } else {
            self.checking = part.parse().ok()?;
        }
        Some(())
    }
}

/// The fields in order, as they are on the wire.
type Fields =
    (Algorithm, Operation, Phase, u32, u32, Placement, DataSet, KeyUse, Dispatch, Checking);

impl Serialize for CryptoWorkload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let w = self;
        let fields: Fields = (
            w.algorithm,
            w.operation,
            w.phase,
            w.message,
            w.associated,
            w.placement,
            w.data,
            w.keys,
            w.dispatch,
            w.checking,
        );
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CryptoWorkload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl de::Visitor<'_> for Id {
            type Value = CryptoWorkload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a workload such as aes-256-cbc/encrypt/message/16384")
            }
            fn visit_str<E: de::Error>(self, id: &str) -> Result<CryptoWorkload, E> {
                id.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(id), &self))
            }
        }
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Id);
        }
        let (
            algorithm,
            operation,
            phase,
            message,
            associated,
            placement,
            data,
            keys,
            dispatch,
            checking,
        ) = Fields::deserialize(deserializer)?;
        Ok(CryptoWorkload {
            algorithm,
            operation,
            phase,
            message,
            associated,
            placement,
            data,
            keys,
            dispatch,
            checking,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
