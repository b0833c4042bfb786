//! What each fuzz target does with an input: one function a target, one file a crate under test.
//!
//! `fuzz/` gives them what libFuzzer makes up, `tests/corpus.rs` replays `fuzz/corpus/<target>/`: what they start
//! from, and what they once found.

pub mod core;
pub mod import;
pub mod providers;
pub mod record;
pub mod sim;
