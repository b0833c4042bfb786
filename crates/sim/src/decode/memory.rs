//! Loads and stores, 32 bits (A5.3.5 to A5.3.10).

use super::narrow::{BELOW, WRITE_BACK};
use crate::insn::{Address, Insn, Op, bit, bits};

fn insn(op: Op) -> Insn {
    Insn::new(op, 4)
}

pub(super) fn multiple(first: u32, second: u32) -> Option<Insn> {
    let (rn, load) = (first & 0xF, bit(first, 4));
    let below = match bits(first, 8, 7) {
        0b01 => 0,
        0b10 => BELOW,
        _ => return None,
    };
    let write_back = bits(first, 5, 5) * WRITE_BACK;
    let forbidden = if load { 1 << 13 } else { 1 << 13 | 1 << 15 };
    let both = write_back != 0 && bit(second, rn);
    if second & forbidden != 0 || second.count_ones() < 2 || rn == 15 || both {
        return None;
    }
    let op = if load { Op::Ldm } else { Op::Stm };
    Some(insn(op).n(rn).i(second).a(write_back | below))
}

/// Dual, exclusive, table branch (A5.3.6).
pub(super) fn dual(at: u32, first: u32, second: u32) -> Option<Insn> {
    let (rn, rt, rt2) = (first & 0xF, second >> 12, bits(second, 11, 8));
    let (up, load) = (bit(first, 7), bit(first, 4));
    let offset = (second & 0xFF) * 4;
    let signed = if up { offset } else { offset.wrapping_neg() };
    match (bits(first, 8, 7), bits(first, 5, 4)) {
        (0, 0) => Some(insn(Op::Strex).d(rt2).a(rt).n(rn).i(offset)),
        (0, 1) => Some(insn(Op::Ldrex).d(rt).n(rn).i(offset)),
        (1, 0 | 1) => exclusive(load, rn, rt, second),
        (pre_up, low) => {
            let address = match (pre_up & 2 != 0, low & 2 != 0) {
                (true, false) => Address::Offset,
                (true, true) => Address::Pre,
                (false, _) => Address::Post,
            };
            let op = if load { Op::Ldrd } else { Op::Strd };
            // The base of a literal is the aligned PC. Writing it back is not possible.
            if rn == 15 && address != Address::Offset {
                return None;
            }
            if rn == 15 {
                let base = at.wrapping_add(4) & !3;
                return Some(insn(op).d(rt).a(rt2).i(base.wrapping_add(signed)).at(address));
            }
            Some(insn(op).d(rt).a(rt2).n(rn).i(signed).at(address))
        }
    }
}

fn exclusive(load: bool, rn: u32, rt: u32, second: u32) -> Option<Insn> {
    let (rm, result) = (second & 0xF, second & 0xF);
    match (load, bits(second, 7, 4)) {
        (true, 0) => Some(insn(Op::Tbb).n(rn).m(rm)),
        (true, 1) => Some(insn(Op::Tbh).n(rn).m(rm)),
        (true, 4) => Some(insn(Op::Ldrexb).d(rt).n(rn)),
        (true, 5) => Some(insn(Op::Ldrexh).d(rt).n(rn)),
        (false, 4) => Some(insn(Op::Strexb).d(result).a(rt).n(rn)),
        (false, 5) => Some(insn(Op::Strexh).d(result).a(rt).n(rn)),
        _ => None,
    }
}

/// The forms of one access: constant, register, written back, literal.
struct Forms {
    offset: Op,
    register: Op,
    written: Op,
    literal: Option<Op>,
}

fn forms(size: u32, load: bool, signed: bool) -> Option<Forms> {
    use Op::*;
    let (offset, register, written, literal) = match (size, load, signed) {
        (0, true, false) => (LdrbI, LdrbR, LdrbW, Some(LdrbLit)),
        (0, true, true) => (LdrsbI, LdrsbR, LdrsbW, Some(LdrsbLit)),
        (1, true, false) => (LdrhI, LdrhR, LdrhW, Some(LdrhLit)),
        (1, true, true) => (LdrshI, LdrshR, LdrshW, Some(LdrshLit)),
        (2, true, false) => (LdrI, LdrR, LdrW, Some(LdrLit)),
        (0, false, false) => (StrbI, StrbR, StrbW, None),
        (1, false, false) => (StrhI, StrhR, StrhW, None),
        (2, false, false) => (StrI, StrR, StrW, None),
        _ => return None,
    };
    Some(Forms { offset, register, written, literal })
}

pub(super) fn single(address: u32, first: u32, second: u32) -> Option<Insn> {
    let (rn, rt) = (first & 0xF, second >> 12);
    let (size, load, signed) = (bits(first, 6, 5), bit(first, 4), bit(first, 8));
    let forms = forms(size, load, signed)?;
    // Byte and halfword loads to PC are memory hints.
    if load && rt == 15 && size != 2 {
        return Some(insn(Op::Pld));
    }
    let found = if rn == 15 {
        let twelve = second & 0xFFF;
        let base = address.wrapping_add(4) & !3;
        let up = bit(first, 7);
        let at = if up { base.wrapping_add(twelve) } else { base.wrapping_sub(twelve) };
        insn(forms.literal?).d(rt).i(at)
    } else {
        addressed(&forms, first, second)?.d(rt).n(rn)
    };
    Some(if load && rt == 15 { to_pc(found) } else { found })
}

fn addressed(forms: &Forms, first: u32, second: u32) -> Option<Insn> {
    if bit(first, 7) {
        return Some(insn(forms.offset).i(second & 0xFFF));
    }
    let offset = second & 0xFF;
    let signed = if bit(second, 9) { offset } else { offset.wrapping_neg() };
    // P, U, W and the bit that distinguishes them from a register.
    Some(match bits(second, 11, 8) {
        0b1100 => insn(forms.offset).i(signed).at(Address::Offset),
        // LDRT and STRT access memory as unprivileged code would. Here everything runs privileged or faults.
        0b1110 => insn(forms.offset).i(offset),
        0b1101 | 0b1111 => insn(forms.written).i(signed).at(Address::Pre),
        0b1001 | 0b1011 => insn(forms.written).i(signed).at(Address::Post),
        0b0000 if second & 0xC0 == 0 => {
            let amount = bits(second, 5, 4);
            let mut found = insn(forms.register).m(second & 0xF).at(Address::Register);
            found.amount = amount as u8;
            found
        }
        _ => return None,
    })
}

/// A load whose result is a branch target.
fn to_pc(mut found: Insn) -> Insn {
    if found.op == Op::LdrLit {
        // Rn remains the zero register: the constant is the address.
        found.shift = Address::Offset as u8;
    }
    found.op = Op::LdrPc;
    found
}
