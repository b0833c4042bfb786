//! When a result can be used: cycles after issue, by the stage that needs it.
//!
//! Sources as in `cost.rs`.

use super::Clock;

/// Rows of [`TABLE`].
pub(crate) const ALU: u8 = 0;
/// An ALU operation that ran in EX1.
pub(crate) const EARLY: u8 = 1;
pub(crate) const REVERSE: u8 = 2;
pub(crate) const LOAD: u8 = 3;
pub(crate) const NARROW_LOAD: u8 = 4;
pub(crate) const MULTIPLY: u8 = 5;
pub(crate) const SATURATE: u8 = 6;
pub(crate) const FLOAT: u8 = 7;
pub(crate) const FUSED: u8 = 8;
pub(crate) const FLOAT_LOAD: u8 = 9;
pub(crate) const DIVIDE: u8 = 10;

/// For the stages LATE, EARLY, FACTOR, SUM.
pub(crate) const TABLE: [[Clock; 4]; 16] = {
    let mut table = [[1, 2, 1, 0]; 16];
    table[ALU as usize] = [1, 2, 1, 0];
    // Available to EX2 in the same cycle, to EX1 in the next (N).
    table[EARLY as usize] = [0, 1, 0, 0];
    // Like EARLY, but one cycle later for addresses and shifters (N).
    table[REVERSE as usize] = [0, 2, 0, 0];
    // Available to an ALU in the next cycle, but not to a multiplication or next to a shifted operand (N).
    table[LOAD as usize] = [1, 2, 2, 0];
    // Bytes and halfwords are one cycle later, except as an addend (N).
    table[NARROW_LOAD as usize] = [2, 3, 2, 1];
    // One cycle later than an ALU result; sums can be chained every cycle (N).
    table[MULTIPLY as usize] = [2, 3, 2, 1];
    table[SATURATE as usize] = [2, 3, 2, 1];
    table[FLOAT as usize] = [3, 3, 3, 3];
    table[FUSED as usize] = [5, 5, 5, 3];
    table[FLOAT_LOAD as usize] = [1, 1, 1, 3];
    table[DIVIDE as usize] = [7, 8, 7, 6];
    table
};
