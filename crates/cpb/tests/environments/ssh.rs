//! Measuring over ssh with the system's own client, on a real sshd that the test starts on the loopback interface.

mod faults;
mod measures;
mod server;
