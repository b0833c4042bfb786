//! What an accelerator of either class works on: its registers and its input.

use super::fault::Fault;
use cpb_drivers::caam::status::ccb;

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
pub(super) struct Product<'w> {
    pub(super) output: &'w mut Vec<u8>,
    /// Rounds of the block cipher.
    pub(super) rounds: f64,
}
