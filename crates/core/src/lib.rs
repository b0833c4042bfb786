//! The contract between a benchmark loop and the thing it measures.
//!
//! Everything here runs without an operating system, without an allocator and without `unsafe`, so a Linux
//! server, a Cortex-M7 board and a simulator share one loop, one vocabulary and one wire format. Read in this
//! order: [`provider`] (the contract), [`measure`] (the only timed loop), [`sample`] (the results), [`frame`]
//! (the wire format).

#![no_std]
#![forbid(unsafe_code)]

pub mod algorithm;
pub mod bus;
pub mod catalog;
pub mod check;
pub mod clock;
pub mod copy;
pub mod error;
pub mod frame;
pub mod kernel;
mod lengths;
pub mod material;
pub mod measure;
pub mod memory_read;
pub mod message;
pub mod null;
pub mod provider;
pub mod public_key;
pub mod round;
pub mod sample;
pub mod sums;
pub mod tls_record;
pub mod workload;
mod workload_id;

pub use algorithm::{Algorithm, Kind, Operation, Shape};
pub use bus::{Bus, DmaAddress, Interrupt};
pub use clock::{Clock, Reference, Ticks};
pub use error::{Error, Meaning, Unsupported};
pub use lengths::Lengths;
pub use memory_read::MemoryReadWorkload;
pub use provider::{
    Claim, Completion, Data, Finished, Identity, Job, MemoryReader, Progress, Provider, Session,
    WorkingSet,
};
pub use sample::{Histogram, Sample};
pub use workload::{
    Build, Checking, CryptoWorkload, DataSet, Depth, Dispatch, KeyUse, Notice, Phase, Placement,
    Workload,
};
