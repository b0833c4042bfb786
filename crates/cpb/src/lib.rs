//! The command `cpb`: plans in, records out, and what can be read from records.
//!
//! Data flows one way: [`plan`] -> [`schedule`] -> a runner behind [`transport`] -> [`record`] in a
//! [`store`] -> [`analysis`] (pure) -> [`report`].

pub mod agent;
pub mod board;
pub mod cmd;
pub mod company;
pub mod lab;
pub mod library;
mod own;
pub mod probe;
pub mod progress;
pub mod remote;
pub mod run;
pub mod schedule;
pub mod sources;
pub mod static_cpb;
pub mod targets;
pub mod transport;
pub mod vectors;
