//! Data processing with registers, multiplication and division, 32 bits: A5.3.12 to A5.3.17.

use crate::insn::{Insn, Op, Shift, bit, bits};

fn insn(op: Op) -> Insn {
    Insn::new(op, 4)
}

pub(super) fn register(first: u32, second: u32) -> Option<Insn> {
    if second >> 12 != 0xF {
        return None;
    }
    let (rn, rd, rm) = (first & 0xF, bits(second, 11, 8), second & 0xF);
    let op1 = bits(first, 7, 4);
    match (op1, bits(second, 7, 4)) {
        (0..8, 0) => {
            let op = [Op::LslReg, Op::LsrReg, Op::AsrReg, Op::RorReg][(op1 >> 1) as usize];
            Some(insn(op).d(rd).n(rn).m(rm).sets(bit(first, 4)))
        }
        (0..6, 8..) => Some(extend(op1, rn, rd, rm, bits(second, 5, 4) * 8)),
        (8.., 0..8) => parallel(first, second),
        (8..12, 8..12) => unary(first, second),
        _ => None,
    }
}

fn extend(op1: u32, rn: u32, rd: u32, rm: u32, rotation: u32) -> Insn {
    let (alone, added) = [
        (Op::Sxth, Op::Sxtah),
        (Op::Uxth, Op::Uxtah),
        (Op::Sxtb16, Op::Sxtab16),
        (Op::Uxtb16, Op::Uxtab16),
        (Op::Sxtb, Op::Sxtab),
        (Op::Uxtb, Op::Uxtab),
    ][op1 as usize % 6];
    let op = if rn == 15 { insn(alone) } else { insn(added).n(rn) };
    op.d(rd).m(rm).by(Shift::Ror, rotation)
}

/// Bits of the constant of [`Op::Parallel`]: the kind of sum (0 ADD16, 1 ASX, 2 SAX, 3 SUB16, 4 ADD8, 5
/// SUB8), followed by these.
pub(crate) mod parallel_bits {
    pub(crate) const UNSIGNED: u32 = 8;
    pub(crate) const SATURATING: u32 = 16;
    pub(crate) const HALVING: u32 = 32;
}

fn parallel(first: u32, second: u32) -> Option<Insn> {
    let sum = match bits(first, 6, 4) {
        0b001 => 0,
        0b010 => 1,
        0b110 => 2,
        0b101 => 3,
        0b000 => 4,
        0b100 => 5,
        _ => return None,
    };
    let kind = match bits(second, 5, 4) {
        0 => 0,
        1 => parallel_bits::SATURATING,
        2 => parallel_bits::HALVING,
        _ => return None,
    };
    let sign = bits(second, 6, 6) * parallel_bits::UNSIGNED;
    let (rn, rd, rm) = (first & 0xF, bits(second, 11, 8), second & 0xF);
    Some(insn(Op::Parallel).d(rd).n(rn).m(rm).i(sum | kind | sign))
}

fn unary(first: u32, second: u32) -> Option<Insn> {
    let (rn, rd, rm) = (first & 0xF, bits(second, 11, 8), second & 0xF);
    let saturating = |op: Op| Some(insn(op).d(rd).n(rn).m(rm));
    let one = |op: Op| (rn == rm).then(|| insn(op).d(rd).m(rm));
    match (bits(first, 5, 4), bits(second, 5, 4)) {
        (0, 0) => saturating(Op::Qadd),
        (0, 1) => saturating(Op::Qdadd),
        (0, 2) => saturating(Op::Qsub),
        (0, _) => saturating(Op::Qdsub),
        (1, 0) => one(Op::Rev),
        (1, 1) => one(Op::Rev16),
        (1, 2) => one(Op::Rbit),
        (1, _) => one(Op::Revsh),
        (2, 0) => saturating(Op::Sel),
        (3, 0) => one(Op::Clz),
        _ => None,
    }
}

/// In [`Insn::imm`] of the halfword multiplications: use the upper half of Rn.
pub(crate) const TOP_N: u32 = 2;
/// Use the upper half of Rm. For dual multiplications: exchange its halves. For SMMUL: round.
pub(crate) const TOP_M: u32 = 1;

pub(super) fn multiply(first: u32, second: u32) -> Option<Insn> {
    if bits(second, 7, 6) != 0 {
        return None;
    }
    let (rn, rm) = (first & 0xF, second & 0xF);
    let (ra, rd, form) = (second >> 12, bits(second, 11, 8), bits(second, 5, 4));
    let alone = ra == 15;
    let pick = |without: Op, with: Op| {
        let op = if alone { insn(without) } else { insn(with).a(ra) };
        op.d(rd).n(rn).m(rm)
    };
    let short = form & 1;
    Some(match (bits(first, 6, 4), form) {
        (0, 0) => pick(Op::Mul, Op::Mla),
        (0, 1) => insn(Op::Mls).a(ra).d(rd).n(rn).m(rm),
        (1, _) => pick(Op::Smulxy, Op::Smlaxy).i(form),
        (2, 0 | 1) => pick(Op::Smuad, Op::Smlad).i(short),
        (3, 0 | 1) => pick(Op::Smulwy, Op::Smlawy).i(short),
        (4, 0 | 1) => pick(Op::Smusd, Op::Smlsd).i(short),
        (5, 0 | 1) => pick(Op::Smmul, Op::Smmla).i(short),
        (6, 0 | 1) => insn(Op::Smmls).a(ra).d(rd).n(rn).m(rm).i(short),
        (7, 0) => pick(Op::Usad8, Op::Usada8),
        _ => return None,
    })
}

pub(super) fn long_multiply(first: u32, second: u32) -> Option<Insn> {
    let (rn, rm) = (first & 0xF, second & 0xF);
    let (low, high, form) = (second >> 12, bits(second, 11, 8), bits(second, 7, 4));
    let pair = |op: Op| Some(insn(op).d(low).a(high).n(rn).m(rm).i(form & 3));
    match (bits(first, 6, 4), form) {
        (0, 0) => pair(Op::Smull),
        (1, 0xF) => Some(insn(Op::Sdiv).d(high).n(rn).m(rm)),
        (2, 0) => pair(Op::Umull),
        (3, 0xF) => Some(insn(Op::Udiv).d(high).n(rn).m(rm)),
        (4, 0) => pair(Op::Smlal),
        (4, 8..=11) => pair(Op::Smlalxy),
        (4, 12 | 13) => pair(Op::Smlald).map(|i| i.i(form & 1)),
        (5, 12 | 13) => pair(Op::Smlsld).map(|i| i.i(form & 1)),
        (6, 0) => pair(Op::Umlal),
        (6, 6) => pair(Op::Umaal),
        _ => None,
    }
}
