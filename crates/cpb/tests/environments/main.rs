//! Tests that need more than this machine's `cpb`: guests, boards and simulated boards, an ssh server, static
//! binaries with QEMU for other architectures, installed libraries, a browser. `make test` sets all of this
//! up; a test that does not find what it needs is skipped.

mod board;
mod browser;
mod installed;
mod lab;
mod otfad;
mod sim;
mod ssh;
mod static_binaries;
