//! Code shared by the tests of several crates: `cpb` as a process in its own folder, invented records, records with
//! planted costs, and skipping of tests that cannot run on this machine. Only tests depend on this crate, and it
//! links no C library.

mod command;
mod kernel;
pub mod planted;
pub mod records;
mod running;
mod skips;
mod turn;
pub mod workloads;

pub use command::{Lab, Ran, SHORT, lines, marked, nobody_left, of, of_kind, signal};
pub use running::Running;
pub use skips::{in_make_test, skip};
