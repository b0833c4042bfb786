//! The lab: Debian kernels in QEMU, with an accelerator that really runs.
//!
//! A guest is data, `lab/NAME.toml`. [`packages`] fetches its kernel, [`modules`] picks what it
//! loads, [`image`] puts that, [`init`](../../../../lab/init.sh) and a static cpb, or this one with its
//! libraries (`linked`), into an initramfs, [`vm`] runs QEMU, and [`guest`] keeps a guest that may have to be booted again. Inside, cpb's agent
//! answers ([`crate::agent`]).

mod cpio;
pub mod definition;
pub mod guest;
pub mod image;
mod linked;
mod modules;
mod packages;
pub mod parent_death;
mod tools;
pub mod vm;
