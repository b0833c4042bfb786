//! The command `cpb`: plans in, records out, and what can be read from records.
//!
//! Data flows one way: [`plan`] -> [`schedule`] -> a runner behind [`transport`] -> [`record`] in a
//! [`store`] -> [`analysis`] (pure) -> [`report`].

pub mod agent;
pub mod analysis;
pub mod ascii;
pub mod board;
pub mod budget;
pub mod cmd;
pub mod company;
pub mod foreign;
pub mod import;
pub mod lab;
pub mod library;
pub mod machine;
pub mod names;
mod own;
pub mod plan;
pub mod progress;
pub mod record;
pub mod remote;
pub mod report;
pub mod run;
pub mod schedule;
pub mod settings;
pub mod size;
pub mod sources;
pub mod static_cpb;
pub mod store;
pub mod targets;
pub mod transport;
pub mod vectors;
