//! Register-level drivers of crypto engines.
//!
//! A driver is written for [`cpb_core::Bus`]. It runs unchanged on a board, in the simulator, and against a device
//! model in a test. Each engine has a folder: `registers.rs` and `packet.rs` or `descriptor.rs` state what its manual
//! says, the driver proper knows how to use it, `provider.rs` offers it to the timed loop, and `port.rs` makes the calls
//! of the vendor's port of a library.

#![no_std]
#![forbid(unsafe_code)]

pub mod caam;
pub mod dcp;
mod queue;
