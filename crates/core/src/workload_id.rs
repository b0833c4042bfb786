//! What the ids of all workload families have in common: the largest size, and the error for invalid ids.

use core::fmt;

/// The longest message or largest working set that a workload may have, in bytes (1 GiB): a limit that 32-bit
/// lengths of C libraries can express.
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
