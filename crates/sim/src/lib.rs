//! A virtual i.MX RT: an interpreter of ARMv7E-M with the timing of a Cortex-M7.
//!
//! ```text
//!  ELF ──image──> memory <──fast path── exec ──> registers
//!                   │  decode (once)      │ one instruction
//!                   └─> pages of Insn ────┤
//!  elsewhere: MPU, private devices,       ▼
//!  the chip's devices            timing: when did it issue, why not before
//! ```
//!
//! Nothing that a guest does makes this crate panic, and no guest runs forever: [`Machine::run`] returns a
//! [`Stop`], and [`Machine::diagnose`] describes what led to it.

mod boot;
mod cache_findings;
mod calls;
mod chip;
mod console;
pub mod decode;
mod device;
mod diagnosis;
mod exceptions;
mod exec;
mod fault;
mod flash_configuration;
mod image;
mod insn;
mod machine;
mod measure;
mod memory;
mod pages;
mod semihosting;
mod slow_path;
mod system;
mod timing;

pub use boot::Start;
pub use cache_findings::CacheFinding;
pub use chip::{
    Boot, CHIPS, CacheShape, Caches, Chip, ChipError, Clocks, Constant, DeviceDescription,
    FlashTiming, MemoryDescription, MemoryKind, Timing, TimingFile,
};
pub use console::Console;
pub use device::caam_timing_of;
pub use fault::{Fault, Stop};
pub use flash_configuration::{FlashConfigurationError, ReadSequence};
pub use image::{Image, ImageError, Segment, Symbol};
pub use insn::{Insn, Op, Shift};
pub use machine::Machine;
pub use measure::{Mark, Measure, Profile, Timed};
pub use memory::CacheMistake;
pub use timing::{CAUSE_NAMES, CAUSES, Cause, Cost, Predictor, Scoreboard};
