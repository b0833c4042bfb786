//! The two classes of accelerators: their registers, their input, and what is at work in them.

use super::aead::{Ccm, Gcm};
use super::block::Block;
use super::deco::Fault;
use super::digest::Digest;
use cpb_drivers::caam::status::ccb;
use std::collections::VecDeque;

/// The types of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Iv,
    Aad,
    Message,
    Icv,
}

/// Data for an accelerator.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
    /// Whether it is the last data of all.
    pub(super) last: bool,
    /// If the output is class 2's message as well: whether it is its last.
    pub(super) snoop: Option<bool>,
}

/// Registers of a class.
pub(super) struct Registers {
    pub(super) key: Vec<u8>,
    /// Whether the key is the two states of HMAC.
    pub(super) is_split: bool,
    pub(super) context: Vec<u8>,
    pub(super) icv_size: u32,
    /// Whether the accelerator has finished and was not reset.
    pub(super) done: bool,
}

impl Registers {
    pub(super) fn new(context: usize) -> Registers {
        let context = vec![0; context];
        Registers { key: Vec::new(), is_split: false, context, icv_size: 0, done: false }
    }

    /// Compares an authentication code with the beginning of the context.
    pub(super) fn compare(&self, icv: &[u8], cha: u32) -> Result<(), Fault> {
        compare(icv, &self.context, self.icv_size, cha)
    }
}

/// Compares an authentication code with the computed one, over the length of the first. The register of its size
/// limits the length if it was written.
pub(super) fn compare(icv: &[u8], computed: &[u8], size: u32, cha: u32) -> Result<(), Fault> {
    let length = if size > 0 { icv.len().min(size as usize) } else { icv.len() };
    if computed.get(..length) == Some(&icv[..length]) {
        Ok(())
    } else {
        Err(Fault::Cha(cha, ccb::ICV))
    }
}

/// What an accelerator gives and what it costs.
pub(super) struct Work<'w> {
    pub(super) output: &'w mut Vec<u8>,
    /// Rounds of the block cipher.
    pub(super) rounds: f64,
}

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
