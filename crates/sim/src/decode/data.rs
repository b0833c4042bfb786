//! Data processing with a constant or a shifted register, 32 bits (A5.3.1, A5.3.3, A5.3.11).

use super::constants::expand;
use super::narrow::unless_zero;
use crate::insn::{Insn, NOWHERE, Op, Shift, ZERO, bit, bits};

fn insn(op: Op) -> Insn {
    Insn::new(op, 4)
}

/// The operation for bits 8:5 with a constant, a register, and a shifted register. With PC as the first
/// operand, ORR is MOV and ORN is MVN; with PC as the destination, only the flags are set.
fn operation(code: u32, from_pc: bool) -> Option<[Op; 3]> {
    Some(match code {
        0b0000 => [Op::AndI, Op::AndR, Op::AndS],
        0b0001 => [Op::BicI, Op::BicR, Op::BicS],
        0b0010 if from_pc => [Op::MovI, Op::MovR, Op::MovS],
        0b0010 => [Op::OrrI, Op::OrrR, Op::OrrS],
        0b0011 if from_pc => [Op::MvnI, Op::MvnR, Op::MvnS],
        0b0011 => [Op::OrnI, Op::OrnR, Op::OrnS],
        0b0100 => [Op::EorI, Op::EorR, Op::EorS],
        0b1000 => [Op::AddI, Op::AddR, Op::AddS],
        0b1010 => [Op::AdcI, Op::AdcR, Op::AdcS],
        0b1011 => [Op::SbcI, Op::SbcR, Op::SbcS],
        0b1101 => [Op::SubI, Op::SubR, Op::SubS],
        0b1110 => [Op::RsbI, Op::RsbR, Op::RsbS],
        _ => return None,
    })
}

/// TST, TEQ, CMN and CMP are AND, EOR, ADD and SUB without a destination.
fn destination(code: u32, rd: u32, sets: bool) -> Option<u32> {
    match code {
        _ if rd != 15 => Some(rd),
        0b0000 | 0b0100 | 0b1000 | 0b1101 if sets => Some(u32::from(NOWHERE)),
        _ => None,
    }
}

pub(super) fn modified_constant(first: u32, second: u32) -> Option<Insn> {
    let (code, rn, rd) = (bits(first, 8, 5), first & 0xF, bits(second, 11, 8));
    let sets = bit(first, 4);
    let twelve = bits(first, 10, 10) << 11 | bits(second, 14, 12) << 8 | second & 0xFF;
    let (value, carry) = expand(twelve);
    let [op, ..] = operation(code, rn == 15)?;
    let rd = destination(code, rd, sets)?;
    // Kept for the timing: whether the constant is a shifted byte.
    let shifted = u32::from(twelve >= 0x400);
    Some(insn(op).d(rd).n(first_operand(op, rn)).i(value).carries(carry).sets(sets).a(shifted))
}

fn first_operand(op: Op, rn: u32) -> u32 {
    match op {
        Op::MovI | Op::MovR | Op::MovS | Op::MvnI | Op::MvnR | Op::MvnS => u32::from(ZERO),
        _ => rn,
    }
}

pub(super) fn shifted(first: u32, second: u32) -> Option<Insn> {
    let (code, rn) = (bits(first, 8, 5), first & 0xF);
    let (rd, rm) = (bits(second, 11, 8), second & 0xF);
    let sets = bit(first, 4);
    let amount = bits(second, 14, 12) << 2 | bits(second, 7, 6);
    let kind = bits(second, 5, 4);
    if code == 0b0110 {
        return pack(first, second, amount);
    }
    let [_, plain, shifted] = operation(code, rn == 15)?;
    let rd = destination(code, rd, sets)?;
    let op = if kind == 0 && amount == 0 { plain } else { shifted };
    let registers = insn(op).d(rd).n(first_operand(op, rn)).m(rm).sets(sets);
    Some(match (kind, amount) {
        (0, amount) => registers.by(Shift::Lsl, amount),
        (1, amount) => registers.by(Shift::Lsr, unless_zero(amount)),
        (2, amount) => registers.by(Shift::Asr, unless_zero(amount)),
        (_, 0) => registers.by(Shift::Rrx, 1),
        (_, amount) => registers.by(Shift::Ror, amount),
    })
}

fn pack(first: u32, second: u32, amount: u32) -> Option<Insn> {
    if bit(first, 4) || bit(second, 4) {
        return None;
    }
    let (op, shift) = if bit(second, 5) {
        (insn(Op::Pkhtb), (Shift::Asr, unless_zero(amount)))
    } else {
        (insn(Op::Pkhbt), (Shift::Lsl, amount))
    };
    let registers = op.d(bits(second, 11, 8)).n(first & 0xF).m(second & 0xF);
    Some(registers.by(shift.0, shift.1))
}

pub(super) fn plain_constant(address: u32, first: u32, second: u32) -> Option<Insn> {
    let (rn, rd) = (first & 0xF, bits(second, 11, 8));
    let twelve = bits(first, 10, 10) << 11 | bits(second, 14, 12) << 8 | second & 0xFF;
    let sixteen = rn << 12 | twelve;
    let here = address.wrapping_add(4) & !3;
    let low = bits(second, 14, 12) << 2 | bits(second, 7, 6);
    let wide = second & 0x1F;
    let shift = if bit(first, 5) { Shift::Asr } else { Shift::Lsl };
    let field = |op: Op| insn(op).d(rd).n(rn).i(low);
    Some(match bits(first, 8, 4) {
        0b00000 if rn == 15 => insn(Op::MovI).d(rd).i(here.wrapping_add(twelve)),
        0b00000 => insn(Op::AddI).d(rd).n(rn).i(twelve),
        0b00100 => insn(Op::MovI).d(rd).i(sixteen),
        0b01010 if rn == 15 => insn(Op::MovI).d(rd).i(here.wrapping_sub(twelve)),
        0b01010 => insn(Op::SubI).d(rd).n(rn).i(twelve),
        0b01100 => insn(Op::Movt).d(rd).n(rd).i(sixteen),
        0b10010 if low == 0 => insn(Op::Ssat16).d(rd).n(rn).i((second & 0xF) + 1),
        0b11010 if low == 0 => insn(Op::Usat16).d(rd).n(rn).i(second & 0xF),
        0b10000 | 0b10010 => saturate(Op::Ssat, wide + 1, field(Op::Ssat).by(shift, low)),
        0b11000 | 0b11010 => saturate(Op::Usat, wide, field(Op::Usat).by(shift, low)),
        0b10100 if low + wide < 32 => field(Op::Sbfx).a(wide + 1),
        0b11100 if low + wide < 32 => field(Op::Ubfx).a(wide + 1),
        0b10110 if wide >= low && rn == 15 => insn(Op::Bfc).d(rd).n(rd).i(low).a(wide - low + 1),
        0b10110 if wide >= low => insn(Op::Bfi).d(rd).n(rn).i(low).a(wide - low + 1),
        _ => return None,
    })
}

fn saturate(op: Op, width: u32, mut fields: Insn) -> Insn {
    fields.op = op;
    fields.imm = width;
    fields
}
