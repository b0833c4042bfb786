//! Guests of the lab, booted for real: what is measured in them, and what becomes of everything when
//! they die. They take minutes, so they run where `cargo xtask test` names the guests' binaries.

mod cryptodev;
mod ends;
mod faults;
mod guests;
mod measures;
