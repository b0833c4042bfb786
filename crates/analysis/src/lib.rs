//! What can be computed from records: data in, data out.
//!
//! From the bottom up: [`batches`] makes figures of raw batches ([`smt`] tells which of them
//! shared their core), [`passes`] one figure of each pass, [`location`] one of many passes;
//! [`levels`] tells where processes draw one of two speeds; [`estimate`] and [`ratio`] put units and words to it, [`execution`] says who did the work, and
//! [`summary`] does all of it for a whole record.
//!
//! What figures mean for someone who must choose begins at [`paths`]: a task and who can do it.
//! [`uncertain`] carries errors through sums, [`fit`] finds fixed cost and cost of a byte,
//! [`crossover`] where another path gets faster, [`cost`] what the CPU pays, [`advice`] what to take;
//! [`explain`] does all of it, and [`headline`] makes one answer of many tasks. [`refine`] says which
//! sizes would tell more, [`compare`] holds two runs against each other.

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
pub mod grade;
pub mod headline;
pub mod identify;
pub mod latency;
pub mod levels;
pub mod location;
pub mod missing;
pub mod passes;
pub mod paths;
pub mod ratio;
pub mod refine;
pub mod run_info;
pub mod selection;
pub mod smt;
pub mod summary;
pub mod uncertain;
pub mod units;

#[cfg(test)]
mod fixtures;
