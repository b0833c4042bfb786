//! 16-bit instructions (A5.2).

use super::constants::sign_extend;
use crate::insn::{Address, Insn, Op, Shift, bit, bits};

pub(super) fn decode(address: u32, op: u32) -> Insn {
    let known = match op >> 12 {
        0b0000 | 0b0001 => shift_add(op),
        0b0010 | 0b0011 => constant(op),
        0b0100 => arithmetic(address, op),
        0b0101 => register_offset(op),
        0b0110 => access(op, [Op::StrI, Op::LdrI], bits(op, 10, 6) * 4),
        0b0111 => access(op, [Op::StrbI, Op::LdrbI], bits(op, 10, 6)),
        0b1000 => access(op, [Op::StrhI, Op::LdrhI], bits(op, 10, 6) * 2),
        0b1001 => {
            let code = if bit(op, 11) { Op::LdrI } else { Op::StrI };
            Some(insn(code).d(bits(op, 10, 8)).n(13).i((op & 0xFF) * 4))
        }
        0b1010 => Some(address_of(address, op)),
        0b1011 => miscellaneous(address, op),
        0b1100 => multiple(op),
        0b1101 => conditional(address, op),
        _ => Some(insn(Op::B).i(branch_target(address, sign_extend(op & 0x7FF, 11) << 1))),
    };
    known.unwrap_or(Insn::unknown(op, 2))
}

fn insn(op: Op) -> Insn {
    Insn::new(op, 2)
}

pub(super) fn branch_target(address: u32, offset: u32) -> u32 {
    address.wrapping_add(4).wrapping_add(offset)
}

fn shift_add(op: u32) -> Option<Insn> {
    let (rd, rn, rm) = (bits(op, 2, 0), bits(op, 5, 3), bits(op, 8, 6));
    let amount = bits(op, 10, 6);
    Some(match bits(op, 12, 11) {
        0b00 if amount == 0 => insn(Op::MovR).d(rd).m(rn).quiet(),
        0b00 => insn(Op::MovS).d(rd).m(rn).by(Shift::Lsl, amount).quiet(),
        0b01 => insn(Op::MovS).d(rd).m(rn).by(Shift::Lsr, unless_zero(amount)).quiet(),
        0b10 => insn(Op::MovS).d(rd).m(rn).by(Shift::Asr, unless_zero(amount)).quiet(),
        _ => match bits(op, 10, 9) {
            0b00 => insn(Op::AddR).d(rd).n(rn).m(rm).quiet(),
            0b01 => insn(Op::SubR).d(rd).n(rn).m(rm).quiet(),
            0b10 => insn(Op::AddI).d(rd).n(rn).i(rm).quiet(),
            _ => insn(Op::SubI).d(rd).n(rn).i(rm).quiet(),
        },
    })
}

/// A right shift by zero stands for a shift by 32.
pub(super) fn unless_zero(amount: u32) -> u32 {
    if amount == 0 { 32 } else { amount }
}

fn constant(op: u32) -> Option<Insn> {
    let (rd, value) = (bits(op, 10, 8), op & 0xFF);
    Some(match bits(op, 12, 11) {
        0b00 => insn(Op::MovI).d(rd).i(value).quiet(),
        0b01 => insn(Op::SubI).n(rd).i(value).sets(true),
        0b10 => insn(Op::AddI).d(rd).n(rd).i(value).quiet(),
        _ => insn(Op::SubI).d(rd).n(rd).i(value).quiet(),
    })
}

/// Data processing, special data, BX and LDR literal: 0100xx.
fn arithmetic(address: u32, op: u32) -> Option<Insn> {
    if bit(op, 11) {
        let at = (address.wrapping_add(4) & !3).wrapping_add((op & 0xFF) * 4);
        return Some(insn(Op::LdrLit).d(bits(op, 10, 8)).i(at));
    }
    if bit(op, 10) {
        return special(op);
    }
    let (d, m) = (bits(op, 2, 0), bits(op, 5, 3));
    let two = |code: Op| insn(code).d(d).n(d).m(m).quiet();
    Some(match bits(op, 9, 6) {
        0b0000 => two(Op::AndR),
        0b0001 => two(Op::EorR),
        0b0010 => two(Op::LslReg),
        0b0011 => two(Op::LsrReg),
        0b0100 => two(Op::AsrReg),
        0b0101 => two(Op::AdcR),
        0b0110 => two(Op::SbcR),
        0b0111 => two(Op::RorReg),
        0b1000 => insn(Op::AndR).n(d).m(m).sets(true),
        0b1001 => insn(Op::RsbI).d(d).n(m).i(0).quiet(),
        0b1010 => insn(Op::SubR).n(d).m(m).sets(true),
        0b1011 => insn(Op::AddR).n(d).m(m).sets(true),
        0b1100 => two(Op::OrrR),
        0b1101 => insn(Op::Mul).d(d).n(m).m(d).quiet(),
        0b1110 => two(Op::BicR),
        _ => insn(Op::MvnR).d(d).m(m).quiet(),
    })
}

/// Instructions with high registers (A5.2.3).
fn special(op: u32) -> Option<Insn> {
    let (d, m) = (bits(op, 7, 7) << 3 | bits(op, 2, 0), bits(op, 6, 3));
    Some(match bits(op, 9, 8) {
        0b00 if d == 15 => insn(Op::AddPc).d(15).n(15).m(m),
        0b00 => insn(Op::AddR).d(d).n(d).m(m),
        0b01 => insn(Op::SubR).n(d).m(m).sets(true),
        0b10 if d == 15 => insn(Op::MovPc).d(15).m(m),
        0b10 => insn(Op::MovR).d(d).m(m),
        _ if bit(op, 7) => insn(Op::BlxReg).m(m),
        _ => insn(Op::Bx).m(m),
    })
}

fn register_offset(op: u32) -> Option<Insn> {
    let code = match bits(op, 11, 9) {
        0b000 => Op::StrR,
        0b001 => Op::StrhR,
        0b010 => Op::StrbR,
        0b011 => Op::LdrsbR,
        0b100 => Op::LdrR,
        0b101 => Op::LdrhR,
        0b110 => Op::LdrbR,
        _ => Op::LdrshR,
    };
    let registers = insn(code).d(bits(op, 2, 0)).n(bits(op, 5, 3)).m(bits(op, 8, 6));
    Some(registers.at(Address::Register))
}

fn access(op: u32, [store, load]: [Op; 2], offset: u32) -> Option<Insn> {
    let code = if bit(op, 11) { load } else { store };
    Some(insn(code).d(bits(op, 2, 0)).n(bits(op, 5, 3)).i(offset))
}

/// ADR, ADD Rd, SP.
fn address_of(address: u32, op: u32) -> Insn {
    let (rd, offset) = (bits(op, 10, 8), (op & 0xFF) * 4);
    if bit(op, 11) {
        insn(Op::AddI).d(rd).n(13).i(offset)
    } else {
        insn(Op::MovI).d(rd).i((address.wrapping_add(4) & !3).wrapping_add(offset))
    }
}

/// Miscellaneous instructions (A5.2.5).
fn miscellaneous(address: u32, op: u32) -> Option<Insn> {
    let (d, m) = (bits(op, 2, 0), bits(op, 5, 3));
    let one = |code: Op| Some(insn(code).d(d).m(m));
    match bits(op, 11, 5) {
        0b000_0000..=0b000_0011 => Some(insn(Op::AddI).d(13).n(13).i((op & 0x7F) * 4)),
        0b000_0100..=0b000_0111 => Some(insn(Op::SubI).d(13).n(13).i((op & 0x7F) * 4)),
        x if x & 0b010_1000 == 0b000_1000 => Some(compare_branch(address, op)),
        0b001_0000 | 0b001_0001 => one(if bit(op, 6) { Op::Sxtb } else { Op::Sxth }),
        0b001_0010 | 0b001_0011 => one(if bit(op, 6) { Op::Sxtb } else { Op::Sxth }),
        0b001_0100..=0b001_0111 => one(if bit(op, 6) { Op::Uxtb } else { Op::Uxth }),
        0b010_0000..=0b010_1111 if op & 0x1FF != 0 => {
            Some(insn(Op::Stm).n(13).i(op & 0xFF | bits(op, 8, 8) << 14).a(PUSH))
        }
        0b011_0011 => Some(insn(Op::Cps).i(op & 0x1F)),
        0b101_0000 | 0b101_0001 => one(if bit(op, 6) { Op::Rev16 } else { Op::Rev }),
        0b101_0010 | 0b101_0011 => one(if bit(op, 6) { Op::Rev16 } else { Op::Rev }),
        0b101_0110 | 0b101_0111 if bit(op, 6) => one(Op::Revsh),
        0b110_0000..=0b110_1111 if op & 0x1FF != 0 => {
            Some(insn(Op::Ldm).n(13).i(op & 0xFF | bits(op, 8, 8) << 15).a(POP))
        }
        0b111_0000..=0b111_0111 => Some(insn(Op::Bkpt).i(op & 0xFF)),
        0b111_1000..=0b111_1111 => hint(op),
        _ => None,
    }
}

/// For LDM and STM, in [`Insn::ra`]: write the base back.
pub(crate) const WRITE_BACK: u32 = 1;
/// For LDM and STM, in [`Insn::ra`]: the registers are stored below the base.
pub(crate) const BELOW: u32 = 2;
pub(super) const PUSH: u32 = WRITE_BACK | BELOW;
pub(super) const POP: u32 = WRITE_BACK;

fn compare_branch(address: u32, op: u32) -> Insn {
    let offset = bits(op, 9, 9) << 6 | bits(op, 7, 3) << 1;
    let code = if bit(op, 11) { Op::Cbnz } else { Op::Cbz };
    insn(code).n(bits(op, 2, 0)).i(branch_target(address, offset))
}

fn hint(op: u32) -> Option<Insn> {
    if op & 0xF != 0 {
        // An AL condition with an else branch is not a valid condition.
        let never = op & 0xF0 == 0xF0;
        return (!never).then(|| insn(Op::It).i(op & 0xFF));
    }
    Some(insn(hint_op(bits(op, 7, 4))))
}

/// Reserved hints do nothing (A5.2.5).
pub(super) fn hint_op(number: u32) -> Op {
    match number {
        2 => Op::Wfe,
        3 => Op::Wfi,
        4 => Op::Sev,
        _ => Op::Nop,
    }
}

fn multiple(op: u32) -> Option<Insn> {
    let (rn, list) = (bits(op, 10, 8), op & 0xFF);
    if list == 0 {
        return None;
    }
    if !bit(op, 11) {
        return Some(insn(Op::Stm).n(rn).i(list).a(WRITE_BACK));
    }
    let write_back = u32::from(!bit(list, rn)) * WRITE_BACK;
    Some(insn(Op::Ldm).n(rn).i(list).a(write_back))
}

fn conditional(address: u32, op: u32) -> Option<Insn> {
    Some(match bits(op, 11, 8) {
        0b1110 => insn(Op::Udf).i(op & 0xFF),
        0b1111 => insn(Op::Svc).i(op & 0xFF),
        condition => {
            let offset = sign_extend(op & 0xFF, 8) << 1;
            insn(Op::Bcond).i(branch_target(address, offset)).a(condition)
        }
    })
}
