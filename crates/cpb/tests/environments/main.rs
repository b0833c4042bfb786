//! What takes more than this machine's `cpb`: guests, boards and simulated ones, a server for ssh, static binaries and
//! QEMU for those of other architectures, installed libraries, a browser. `make test` sets all of that up; a test that
//! does not find what it needs is skipped.

mod board;
mod browser;
mod installed;
mod lab;
mod sim;
mod ssh;
mod static_binaries;
