//! What the tests of several crates share: `cpb` as a process in a folder of its own, records that are made up,
//! records with planted costs, and how a test says that it cannot run here. It is a dependency of tests alone, and
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
pub use skips::skip;
