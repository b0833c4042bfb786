//! Guests of the lab, really booted: measurements in them, and the cleanup when they die. They take minutes,
//! so they run only if `cargo xtask test` names the guests' binaries.

mod caam;
mod cryptodev;
mod driver_level;
mod ends;
mod faults;
mod guests;
mod measures;
