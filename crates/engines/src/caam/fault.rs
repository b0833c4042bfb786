//! Why a descriptor ends before its last command.

/// Why a descriptor ended before its last command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// An error of the controller.
    Deco(u32),
    /// An error of an accelerator.
    Cha(u32, u32),
    /// It halted with this status word.
    Halt(u32),
    /// It jumped to the descriptor at this address.
    Jump(u64),
}
