//! The two classes of accelerators, and what is at work in them.

use super::aead::{Ccm, Gcm};
use super::block::Block;
use super::class::{Chunk, Registers};
use super::digest::Digest;
use std::collections::VecDeque;

/// An accelerator at work.
pub(super) enum Active {
    Block(Box<Block>),
    Gcm(Box<Gcm>),
    Ccm(Box<Ccm>),
    Digest(Box<Digest>),
}

/// A class.
pub(super) struct Class {
    pub(super) registers: Registers,
    pub(super) active: Option<Active>,
    pub(super) queue: VecDeque<Chunk>,
}

impl Class {
    pub(super) fn new(context: usize) -> Class {
        Class { registers: Registers::new(context), active: None, queue: VecDeque::new() }
    }

    /// Resets the accelerator.
    pub(super) fn reset(&mut self) {
        self.active = None;
        self.registers.done = false;
    }
}
