//! Measuring over ssh, by the system's own client, on a real sshd that the test starts on loopback.

mod faults;
mod measures;
mod server;
