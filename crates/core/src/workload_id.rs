//! What workloads of all families have in common in their ids: the largest size, and texts that are none.

use core::fmt;

/// The longest message or largest working set that a workload may name, in bytes (1 GiB): what 32-bit lengths of C
/// libraries, of COBS frames and of a board's memory make sense of.
pub const MAX_SIZE: u32 = 1 << 30;

/// A text that is not a workload's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAWorkload;

impl fmt::Display for NotAWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a workload: expected algorithm/operation/phase/bytes, or memory-read/width/pattern/bytes"
        )
    }
}

impl core::error::Error for NotAWorkload {}
