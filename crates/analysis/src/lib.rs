//! What can be computed from records: data in, data out.
//!
//! From the bottom up: [`batches`] computes figures from raw batches, and [`smt`] finds the ones that shared their
//! core. [`passes`] computes one figure per pass, and [`location`] one figure from many passes. [`levels`] finds
//! cells in which processes draw one of two speeds. [`estimate`] and [`ratio`] add units and verdicts, [`execution`]
//! determines where the work was done, and [`summary`] does all of it for a whole record.
//!
//! The part for readers who must choose a path begins at [`paths`]: a task and the paths that can run it.
//! [`uncertain`] carries errors through sums, [`fit`] finds the fixed cost and the cost per byte, [`crossover`] where
//! the faster path changes, [`cost`] what the CPU pays, and [`advice`] which path to take. [`explain`] does all of
//! it, and [`headline`] derives one answer for many tasks. [`refine`] selects further sizes to measure, [`compare`]
//! compares two runs, and [`flash_reads`] says what decryption adds to reads of flash.

pub mod advice;
pub mod agreement;
pub mod batches;
pub mod compare;
pub mod comparison;
pub mod cost;
pub mod crossover;
pub mod estimate;
pub mod evidence_policy;
pub mod execution;
pub mod explain;
pub mod fit;
pub mod flash_reads;
pub mod grade;
pub mod headline;
pub mod identify;
pub mod latency;
pub mod levels;
pub mod location;
mod measured;
pub mod missing;
pub mod one_pass;
pub mod passes;
pub mod paths;
pub mod predict;
pub mod queue_gain;
pub mod ratio;
pub mod refine;
pub mod retired;
pub mod run_info;
pub mod selection;
pub mod smt;
pub mod steps;
pub mod summary;
pub mod uncertain;
pub mod units;

#[cfg(test)]
mod fixtures;
