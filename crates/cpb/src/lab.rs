//! The lab: Debian kernels in QEMU, with an accelerator that really works.
//!
//! A guest is described by a file, `lab/NAME.toml`. [`packages`] fetches its kernel and [`modules`] selects
//! the modules that it loads. [`image`] packs these, [`init`](../../../../lab/init.sh) and a static cpb, or
//! this cpb with its libraries (`linked`), into an initramfs, with cpb's own module if the guest is to have it
//! (`kernel_runner` builds it). [`vm`] runs QEMU (`emulator` finds it), with an
//! [`engine`] beside it that QEMU does not have, and [`guest`] keeps a guest
//! that may have to be booted again. Inside the guest, cpb's agent answers ([`crate::agent`]).

mod cache;
mod cpio;
pub mod definition;
mod device_tree;
mod emulator;
pub mod engine;
pub mod guest;
pub mod image;
mod kernel_runner;
mod linked;
mod modules;
mod packages;
pub mod parent_death;
mod tools;
pub mod vm;
