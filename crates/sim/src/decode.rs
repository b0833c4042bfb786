//! Decoder for Thumb-2 in ARMv7E-M, from opcode to [`Insn`]. Section numbers refer to the ARMv7-M
//! Architecture Reference Manual (DDI 0403).

mod branch;
mod constants;
mod data;
mod dsp;
mod fpu;
mod memory;
mod narrow;

pub(crate) use dsp::{TOP_M, TOP_N, parallel_bits};
pub(crate) use fpu::{LONG, SIGNED, TO_CORE, TO_FIXED, TO_HALF, TOP, rounding};
pub(crate) use narrow::{BELOW, WRITE_BACK};

use crate::insn::{Insn, bits};
use crate::timing;

/// Decodes the instruction at `address` that begins with `first`. `second` is the following halfword, used
/// only if the instruction is 32 bits wide.
pub fn decode(address: u32, first: u16, second: u16) -> Insn {
    let mut insn = if is_wide(first) {
        wide(address, u32::from(first), u32::from(second))
    } else {
        narrow::decode(address, u32::from(first))
    };
    insn.cost = timing::cost(&insn);
    insn
}

/// Whether an instruction that begins with `first` has a second halfword (A5.1).
pub fn is_wide(first: u16) -> bool {
    first >= 0b11101 << 11
}

/// 32-bit instructions (A5.3).
fn wide(address: u32, first: u32, second: u32) -> Insn {
    let known = match (bits(first, 12, 11), bits(first, 10, 4), second >> 15) {
        (0b01, op2, _) if op2 & 0b110_0100 == 0 => memory::multiple(first, second),
        (0b01, op2, _) if op2 & 0b110_0100 == 0b100 => memory::dual(address, first, second),
        (0b01, op2, _) if op2 & 0b110_0000 == 0b010_0000 => data::shifted(first, second),
        (0b01, ..) => fpu::decode(address, first, second),
        (0b10, op2, 0) if op2 & 0b10_0000 == 0 => data::modified_constant(first, second),
        (0b10, _, 0) => data::plain_constant(address, first, second),
        (0b10, _, _) => branch::decode(address, first, second),
        (0b11, op2, _) if op2 & 0b110_0000 == 0 => memory::single(address, first, second),
        (0b11, op2, _) if op2 & 0b111_0000 == 0b010_0000 => dsp::register(first, second),
        (0b11, op2, _) if op2 & 0b111_1000 == 0b011_0000 => dsp::multiply(first, second),
        (0b11, op2, _) if op2 & 0b111_1000 == 0b011_1000 => dsp::long_multiply(first, second),
        (0b11, op2, _) if op2 & 0b100_0000 != 0 => fpu::decode(address, first, second),
        _ => None,
    };
    known.unwrap_or(Insn::unknown(first << 16 | second, 4))
}
