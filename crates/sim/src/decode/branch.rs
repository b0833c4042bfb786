//! Branches and miscellaneous control, 32 bits (A5.3.4).

use super::constants::sign_extend;
use super::narrow::{branch_target, hint_op};
use crate::insn::{Insn, Op, bit, bits};

pub(super) fn decode(address: u32, first: u32, second: u32) -> Option<Insn> {
    let op = bits(first, 10, 4);
    match bits(second, 14, 12) {
        form if form & 0b101 == 0b001 => Some(far(Op::B, address, first, second)),
        form if form & 0b101 == 0b101 => Some(far(Op::Bl, address, first, second)),
        0b010 if op == 0b111_1111 => Some(insn(Op::Udf).i(second & 0xFFF)),
        form if form & 0b101 == 0 && op & 0b011_1000 != 0b011_1000 => {
            Some(conditional(address, first, second))
        }
        0b000 | 0b010 => control(op, first, second),
        _ => None,
    }
}

fn insn(op: Op) -> Insn {
    Insn::new(op, 4)
}

/// B and BL with 24 bits of offset: J1 and J2 are its upper bits, which old processors kept equal to the
/// sign.
fn far(op: Op, address: u32, first: u32, second: u32) -> Insn {
    let sign = bits(first, 10, 10);
    let i1 = !(bits(second, 13, 13) ^ sign) & 1;
    let i2 = !(bits(second, 11, 11) ^ sign) & 1;
    let low = bits(first, 9, 0) << 12 | bits(second, 10, 0) << 1;
    let offset = sign_extend(sign << 24 | i1 << 23 | i2 << 22 | low, 25);
    insn(op).i(branch_target(address, offset))
}

fn conditional(address: u32, first: u32, second: u32) -> Insn {
    let high = bits(first, 10, 10) << 20 | bits(second, 11, 11) << 19 | bits(second, 13, 13) << 18;
    let low = bits(first, 5, 0) << 12 | bits(second, 10, 0) << 1;
    let offset = sign_extend(high | low, 21);
    insn(Op::Bcond).i(branch_target(address, offset)).a(bits(first, 9, 6))
}

fn control(op: u32, first: u32, second: u32) -> Option<Insn> {
    let system = second & 0xFF;
    match op {
        0b011_1000 | 0b011_1001 => {
            Some(insn(Op::Msr).n(first & 0xF).i(system).a(bits(second, 11, 8)))
        }
        0b011_1010 => hint(second),
        0b011_1011 => barrier(second),
        0b011_1110 | 0b011_1111 => Some(insn(Op::Mrs).d(bits(second, 11, 8)).i(system)),
        _ => None,
    }
}

fn hint(second: u32) -> Option<Insn> {
    if bits(second, 10, 8) != 0 {
        return None;
    }
    match bits(second, 7, 4) {
        0xF => Some(insn(Op::Dbg).i(second & 0xF)),
        0 => Some(insn(hint_op(second & 0xF))),
        _ => Some(insn(Op::Nop)),
    }
}

fn barrier(second: u32) -> Option<Insn> {
    let code = match bits(second, 7, 4) {
        0b0010 => Op::Clrex,
        0b0100 => Op::Dsb,
        0b0101 => Op::Dmb,
        0b0110 => Op::Isb,
        _ => return None,
    };
    bit(second, 15).then(|| insn(code))
}
