//! OTFAD, the inline decryption of external flash in NXP's i.MX RT: its key blobs, its keystream, and the layout of an
//! image that boots from encrypted flash. A tool that makes images and a model of the device use the same code.
//!
//! - [`Context`]: a region of flash with its key and counter; the device has [`CONTEXTS`] of them.
//! - [`KeyBlobs`]: all contexts, [sealed](KeyBlobs::seal) for flash offset 0 with a [`Kek`] and
//!   [opened](KeyBlobs::open) again; [`open`] opens a single blob, as the device does.
//! - [`KeyBlobs::apply`] encrypts or decrypts bytes in place by their system address; [`Keystream`] is the stream of
//!   one context.
//! - [`boot`]: what the boot ROM reads before the first instruction.
//!
//! OTFAD keeps secrets, it proves nothing: a flipped bit of ciphertext flips the same bit of plaintext, unnoticed.
//!
//! The formats are those of NXP's SPSDK 3.12 (BSD-3-Clause, `spsdk/image/otfad`), which the tests run beside this crate;
//! the fields of a context are those of the registers in NXP's driver (mcuxsdk-core, `drivers/otfad`).

#![no_std]
#![forbid(unsafe_code)]

mod blob;
mod blobs;
pub mod boot;
mod context;
mod kek;
mod key;
mod keystream;
mod region;

pub use blob::{BLOB, BlobError, open, seal};
pub use blobs::{BLOBS, CONTEXTS, ContextsError, KeyBlobs, OpenError};
pub use context::{Context, Flags, PLAIN, PlainError};
pub use kek::{Kek, PARTS, Part, Scramble};
pub use key::{Counter, Key};
pub use keystream::Keystream;
pub use region::{REGION, Region, RegionError};
