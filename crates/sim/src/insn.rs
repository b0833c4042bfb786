//! A decoded instruction.

use crate::timing::Cost;

/// A register that is never read: the destination of compares.
pub(crate) const NOWHERE: u8 = 16;

/// A register that is never written and reads as zero.
pub(crate) const ZERO: u8 = 17;

/// The value of [`Insn::carry`] if a constant leaves the carry flag unchanged.
pub(crate) const CARRY_KEPT: u8 = 2;

/// Additional actions when an instruction is executed, with one bit each.
pub(crate) mod watch {
    /// Its execution must be recorded: it is the first instruction of a timed function.
    pub(crate) const TIMED: u8 = 1;
    /// It may set R13 to a value that is not a multiple of four; the lowest bits must then be cleared.
    pub(crate) const STACK: u8 = 1 << 1;
}

/// The shift of a second operand, numbered as in the architecture (A7.4.2), plus RRX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the architecture's names")]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    Rrx,
}

/// How the address of a load or store is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Address {
    /// Rn + imm.
    Offset,
    /// Rn + (Rm << amount).
    Register,
    /// Rn += imm, then the access at Rn.
    Pre,
    /// The access at Rn, then Rn += imm.
    Post,
}

/// The operation of an instruction, with the architecture's names. `I` takes a constant, `R` a register, `S`
/// a shifted register; `W` writes its base register back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "the architecture's names")]
pub enum Op {
    AndI, AndR, AndS, BicI, BicR, BicS, OrrI, OrrR, OrrS, OrnI, OrnR, OrnS, EorI, EorR, EorS,
    AddI, AddR, AddS, AdcI, AdcR, AdcS, SubI, SubR, SubS, SbcI, SbcR, SbcS, RsbI, RsbR, RsbS,
    MovI, MovR, MovS, MvnI, MvnR, MvnS,
    LslReg, LsrReg, AsrReg, RorReg, Movt, AddPc, MovPc,
    LdrI, LdrR, LdrW, LdrbI, LdrbR, LdrbW, LdrhI, LdrhR, LdrhW, LdrsbI, LdrsbR, LdrsbW,
    LdrshI, LdrshR, LdrshW, StrI, StrR, StrW, StrbI, StrbR, StrbW, StrhI, StrhR, StrhW,
    LdrLit, LdrbLit, LdrhLit, LdrsbLit, LdrshLit, LdrPc,
    Ldrd, Strd, Ldm, Stm,
    B, Bcond, Bl, BlxReg, Bx, Cbz, Cbnz, It,
    Mul, Mla, Mls, Umull, Smull, Umlal, Smlal, Umaal,
    Ubfx, Sbfx, Bfi, Bfc, Clz, Rbit, Rev, Rev16, Revsh, Uxtb, Uxth, Sxtb, Sxth,
    Nop,
    // Below are the rarer operations, kept out of the first jump table.
    Tbb, Tbh, Udiv, Sdiv, Uxtab, Uxtah, Sxtab, Sxtah, Uxtb16, Sxtb16, Uxtab16, Sxtab16,
    Pkhbt, Pkhtb, Sel, Ssat, Usat, Ssat16, Usat16, Qadd, Qsub, Qdadd, Qdsub, Parallel,
    Smulxy, Smlaxy, Smulwy, Smlawy, Smlalxy, Smuad, Smusd, Smlad, Smlsd, Smlald, Smlsld,
    Smmul, Smmla, Smmls, Usad8, Usada8,
    Ldrex, Ldrexb, Ldrexh, Strex, Strexb, Strexh, Clrex,
    Dmb, Dsb, Isb, Pld, Wfi, Wfe, Sev, Dbg, Cps, Mrs, Msr, Svc, Bkpt, Udf,
    Vldr, Vstr, Vldm, Vstm, VmovI, VmovR, Vabs, Vneg, Vsqrt, Vcmp, VcmpZero, Vadd, Vsub, Vmul,
    Vnmul, Vmla, Vmls, Vnmla, Vnmls, Vfma, Vfms, Vfnma, Vfnms, Vdiv, Vsel, Vmaxnm, Vminnm,
    VcvtToInt, VcvtFromInt, VcvtFloat, VcvtFixed, VcvtHalf, Vrint, VmovCore, VmovCore2, VmovLane,
    Vmrs, Vmsr,
    /// An instruction that the simulator does not know.
    Unknown,
    /// Not decoded yet.
    Pending,
}

/// A decoded instruction: 32 bytes, found by its address.
#[derive(Clone, Copy, Debug)]
pub struct Insn {
    /// The operation.
    pub op: Op,
    /// Destination, or the value of a store; the first of two.
    pub rd: u8,
    /// First operand or base.
    pub rn: u8,
    /// Second operand or offset.
    pub rm: u8,
    /// Accumulator, second destination, condition, or a form of `op`.
    pub ra: u8,
    /// The [`Shift`], or the `Address` form, as a number.
    pub shift: u8,
    /// Bits to shift by.
    pub amount: u8,
    /// The carry resulting from a constant, or 2 to keep the current one.
    pub carry: u8,
    /// A constant, an absolute address, a register list, or the opcode of an unknown instruction.
    pub imm: u32,
    /// Size in bytes: 2 or 4.
    pub size: u8,
    /// Whether it sets flags.
    pub s: bool,
    /// Whether it sets flags only outside an IT block.
    pub quiet_in_it: bool,
    /// A combination of [`watch`] bits that require special handling, or 0.
    pub watched: u8,
    /// Its timing cost.
    pub cost: Cost,
}

impl Insn {
    /// An instruction of `size` bytes with nothing filled in.
    pub(crate) const fn new(op: Op, size: u8) -> Self {
        Insn {
            op,
            rd: NOWHERE,
            rn: ZERO,
            rm: ZERO,
            ra: NOWHERE,
            shift: 0,
            amount: 0,
            carry: CARRY_KEPT,
            imm: 0,
            size,
            s: false,
            quiet_in_it: false,
            watched: 0,
            cost: Cost::NONE,
        }
    }

    pub(crate) const fn d(mut self, register: u32) -> Self {
        self.rd = register as u8;
        self
    }

    pub(crate) const fn n(mut self, register: u32) -> Self {
        self.rn = register as u8;
        self
    }

    pub(crate) const fn m(mut self, register: u32) -> Self {
        self.rm = register as u8;
        self
    }

    pub(crate) const fn a(mut self, register: u32) -> Self {
        self.ra = register as u8;
        self
    }

    pub(crate) const fn i(mut self, constant: u32) -> Self {
        self.imm = constant;
        self
    }

    pub(crate) const fn sets(mut self, flags: bool) -> Self {
        self.s = flags;
        self
    }

    pub(crate) const fn quiet(mut self) -> Self {
        self.s = true;
        self.quiet_in_it = true;
        self
    }

    pub(crate) const fn by(mut self, shift: Shift, amount: u32) -> Self {
        self.shift = shift as u8;
        self.amount = amount as u8;
        self
    }

    pub(crate) const fn at(mut self, address: Address) -> Self {
        self.shift = address as u8;
        self
    }

    pub(crate) const fn carries(mut self, carry: u8) -> Self {
        self.carry = carry;
        self
    }

    /// Whether R13 may be set to a value that is not a multiple of four.
    pub(crate) fn may_misalign_stack(&self) -> bool {
        use Op::*;
        let float = self.op as u8 >= Vldr as u8;
        let moves_base = matches!(
            self.op,
            LdrW | LdrbW | LdrhW | LdrsbW | LdrshW | StrW | StrbW | StrhW | AddI | SubI
        );
        let moves = self.rd == 13 || moves_base && self.rn == 13;
        let by_words = moves_base && self.rn == 13 && self.imm & 3 == 0;
        moves && !by_words && !float
    }

    pub(crate) const fn unknown(opcode: u32, size: u8) -> Self {
        Insn::new(Op::Unknown, size).i(opcode)
    }
}

/// Bits `high..=low` of `word`, shifted to the bottom.
pub(crate) const fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & (u32::MAX >> (31 - (high - low)))
}

/// Whether bit `n` is set.
pub(crate) const fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 == 1
}
