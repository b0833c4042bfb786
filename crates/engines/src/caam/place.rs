//! Places in memory: ranges, tables and sequences, and output that waits for its data.

use std::collections::VecDeque;

/// Bytes that the end of a job writes, with the index of the command that asked for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Output {
    pub(super) index: usize,
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
}

/// A place in memory that moves on with each transfer.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Cursor {
    /// The next entry of the table.
    pub(super) table: u64,
    pub(super) address: u64,
    pub(super) left: u64,
    /// Whether no entry follows.
    pub(super) ended: bool,
}

impl Cursor {
    /// Data from `address` on.
    pub(super) fn plain(address: u64) -> Cursor {
        Cursor { table: 0, address, left: u64::MAX, ended: true }
    }

    /// The data of the table at `address`.
    pub(super) fn of_table(address: u64) -> Cursor {
        Cursor { table: address, address: 0, left: 0, ended: false }
    }

    pub(super) fn new(address: u64, is_table: bool) -> Cursor {
        if is_table { Cursor::of_table(address) } else { Cursor::plain(address) }
    }
}

/// An input or output sequence.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sequence {
    pub(super) cursor: Cursor,
    /// How many bytes are left.
    pub(super) left: u32,
    /// The length that variable commands use.
    pub(super) variable: u32,
    /// Where it began.
    pub(super) start: (Cursor, u32),
}

/// A part of memory.
pub(super) type Range = (u64, u64);

/// Output that was asked for before it was computed.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) index: usize,
    pub(super) ranges: VecDeque<Range>,
    /// Whether the data are random numbers rather than the output FIFO. A generator at work serves others, too.
    pub(super) random: bool,
}
