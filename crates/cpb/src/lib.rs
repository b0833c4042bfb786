//! The command `cpb`: it turns plans into records, and evaluates records.
//!
//! Data flows one way: a plan -> [`schedule`] -> a runner on a [`target`], behind [`transport`] -> a record ->
//! analysis (pure) -> report.

pub mod agent;
mod child;
pub mod cmd;
pub mod company;
pub mod discovery;
pub mod inputs;
pub mod lab;
pub mod library;
pub mod probe;
pub mod progress;
pub mod remote;
pub mod run;
pub mod schedule;
mod self_runner;
pub mod static_binary;
pub mod target;
pub mod transport;
pub mod vectors;
