//! Runs and runners as processes: stopped, killed, disturbed, denied access, rigged. Tests that judge what
//! they measure, or that load the machine, begin with `lab!(alone)`.

mod company;
mod exec;
mod faults;
mod full_record;
mod killed;
mod permission;
mod refine;
mod rigged;
mod stopped;
