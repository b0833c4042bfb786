//! Measuring over ssh, by the system's own client, on a real sshd that the test starts on loopback.

mod faults;
mod measures;
#[path = "../support/running.rs"]
mod running;
mod server;
#[path = "../support/mod.rs"]
mod support;
