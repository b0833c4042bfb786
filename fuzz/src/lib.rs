//! What each fuzz target does with an input: one function a target, one file a crate under test, so
//! that a test of that crate can include the file and replay `corpus/<target>/`.

pub mod core;
pub mod cpb;
pub mod providers;
pub mod sim;
