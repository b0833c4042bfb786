//! What can be computed from records: data in, data out.
//!
//! From the bottom up: [`batches`] makes figures of raw batches ([`crowding`] tells
//! which of them shared their core), [`passes`] one figure of each
//! pass, [`location`] one of many passes; [`estimate`] and [`ratio`] put units and words to it,
//! [`execution`] says who did the work,
//! and [`summary`] does all of it for a whole record.

pub mod agreement;
pub mod batches;
pub mod comparison;
pub mod crowding;
pub mod estimate;
pub mod execution;
pub mod facts;
pub mod latency;
pub mod location;
pub mod meaningful;
pub mod no_figure;
pub mod passes;
pub mod ratio;
pub mod summary;
pub mod units;

#[cfg(test)]
mod fixtures;
