//! What sessions over C libraries have in common: jobs as pointers ([`raw_jobs`]), how long keys may be
//! ([`lengths`]), what a phase is made of where a library keeps one context ([`context`]), and where each job is one
//! function ([`submit`]).
//!
//! It needs an allocator and nothing else: the providers of Linux and a board's firmware share it.

#![no_std]

extern crate alloc;

pub mod context;
pub mod lengths;
pub mod raw_jobs;
pub mod submit;

use cpb_core::{Error, Session};

/// What a session is handed to: the `body` of [`cpb_core::Provider::session`].
pub type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;
