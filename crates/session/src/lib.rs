//! The common parts of sessions over C libraries: jobs as pointers ([`raw_jobs`]), permitted key lengths
//! ([`lengths`]), the steps of a phase for libraries that keep one context ([`context`]), and for libraries
//! that run each job with one function ([`submit`]).
//!
//! It needs only an allocator: the providers for Linux and a board's firmware share it.

#![no_std]

extern crate alloc;

pub mod context;
pub mod lengths;
pub mod raw_jobs;
pub mod submit;

use cpb_core::{Error, Session};

/// The function that receives a session: the `body` of [`cpb_core::Provider::session`].
pub type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;
