//! The needs, occupied units and delays of an instruction: its row in the scoreboard's rules.
//!
//! Sources: (N) jnk0le, "pipeline cycle test", doc/cortex_m7.md (measured on an STM32H743);
//! (L) LLVM, ARMScheduleM7.td (by Arm). Where they differ, (N) is used, because it was measured.

use crate::insn::{Insn, NOWHERE, Op, ZERO};
use crate::timing::latency;

/// The index of the flags among the scoreboard's registers, after the core registers.
pub(crate) const FLAGS: u8 = 18;
/// The index of S0 among the scoreboard's registers.
pub(crate) const FLOAT: u8 = 19;

/// The stages at which an operand can be needed. Each register has a time for each.
pub(crate) mod stage {
    /// Needed by an ALU in EX2.
    pub(crate) const LATE: u8 = 0;
    /// Needed by the address generation or the shifter in EX1, one cycle earlier.
    pub(crate) const EARLY: u8 = 1;
    /// Needed where a word loaded in the previous cycle cannot be used: in multiplications, and as the other
    /// operand next to a shifted one (N). For floating-point registers: needed as a factor.
    pub(crate) const FACTOR: u8 = 2;
    /// Needed as an addend, one stage after the ALUs (N).
    pub(crate) const SUM: u8 = 3;
}

/// Resources, with one bit each. A younger instruction must not exclude a unit that the older one occupies.
pub(crate) mod unit {
    /// Every instruction.
    pub(crate) const ANY: u16 = 1 << 15;
    /// Issues alone.
    pub(crate) const ALONE: u16 = 1;
    pub(crate) const MULTIPLIER: u16 = 1 << 1;
    pub(crate) const STORE: u16 = 1 << 2;
    /// The shifter of EX1: shifted operands, shifted constants, bit fields.
    pub(crate) const SHIFTER: u16 = 1 << 3;
    /// A plain shift, which can use the shifter of EX1 or that of EX2.
    pub(crate) const SHIFT: u16 = 1 << 4;
    pub(crate) const BRANCH: u16 = 1 << 5;
    /// A load, with one bit for each bank.
    pub(crate) const LOAD: u16 = 3 << 6;
    pub(crate) const FLOAT: u16 = 1 << 8;

    /// All bits except those of loads from the bank that does not contain `address`.
    #[inline(always)]
    pub(crate) fn with_bank(address: u32) -> u16 {
        let bank = address as u16 >> 2 & 1;
        !LOAD | (1 + bank) << 6
    }
}

/// Whether an ALU operation may run in EX1, so that EX2 of the same cycle can use its result, with one bit
/// for each possibility.
pub(crate) mod early {
    pub(crate) const NEVER: u8 = 0;
    /// ADD, SUB, MOV without a shift, from the older slot (N).
    pub(crate) const OLDER: u8 = 1;
    /// Shifts, from either slot while the other one does not use the shifter (N).
    pub(crate) const SHIFT: u8 = 2;
}

/// The parts that only some rows have, with one bit each.
pub(crate) mod rest {
    /// [`super::Cost::further`].
    pub(crate) const SOURCES: u8 = 1;
    /// [`super::Cost::second`].
    pub(crate) const SECOND: u8 = 1 << 1;
    /// [`super::Cost::moved`].
    pub(crate) const MOVED: u8 = 1 << 2;
    /// [`super::Cost::busy`].
    pub(crate) const BUSY: u8 = 1 << 3;
    /// The instruction sets flags.
    pub(crate) const FLAGS: u8 = 1 << 4;
    /// The instruction may branch. A load multiple also needs its register list.
    pub(crate) const FURTHER: u8 = 1 << 5;
}

/// One instruction's row.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The operands that it waits for: register * 4 + stage.
    pub(crate) sources: [u8; 2],
    /// Further operands that it waits for.
    pub(crate) further: [u8; 2],
    /// The register that it writes.
    pub(crate) result: u8,
    /// A second register that it writes.
    pub(crate) second: u8,
    /// A base register that the address generation writes back.
    pub(crate) moved: u8,
    /// When its results can be used: a row of [`latency::TABLE`].
    pub(crate) latency: u8,
    /// Additional cycles until the next instruction may issue.
    pub(crate) busy: u8,
    /// The units that it occupies.
    pub(crate) units: u16,
    /// The units after which it cannot issue in the same cycle.
    pub(crate) excludes: u16,
    /// A value of [`early`].
    pub(crate) early: u8,
    /// Bits of [`rest`].
    pub(crate) rest: u8,
}

const UNUSED: u8 = ZERO * 4;

impl Cost {
    /// The row of an instruction that needs and delays nothing.
    pub(crate) const NONE: Cost = Cost {
        sources: [UNUSED; 2],
        further: [UNUSED; 2],
        result: NOWHERE,
        second: NOWHERE,
        moved: NOWHERE,
        latency: latency::ALU,
        busy: 0,
        units: unit::ANY,
        excludes: unit::ALONE,
        early: early::NEVER,
        rest: 0,
    };

    const fn with(units: u16, excludes: u16, latency: u8) -> Cost {
        let mut row = Cost::NONE;
        row.units |= units;
        row.excludes |= excludes;
        row.latency = latency;
        row
    }

    const fn alone(latency: u8, busy: u8) -> Cost {
        let mut row = Cost::with(unit::ALONE, unit::ANY, latency);
        row.busy = busy;
        row
    }

    const fn needs(mut self, [first, second, third]: [(u8, u8); 3]) -> Cost {
        self.sources = [first.0 * 4 + first.1, second.0 * 4 + second.1];
        self.further[0] = third.0 * 4 + third.1;
        self
    }

    const fn and(mut self, (register, stage): (u8, u8)) -> Cost {
        self.further[1] = register * 4 + stage;
        self
    }

    const fn wants(self, first: (u8, u8)) -> Cost {
        self.needs([first, NOT, NOT])
    }

    const fn wants_two(self, first: (u8, u8), second: (u8, u8)) -> Cost {
        self.needs([first, second, NOT])
    }

    const fn and_flags(self) -> Cost {
        self.and((FLAGS, stage::LATE))
    }

    const fn gives(mut self, first: u8) -> Cost {
        self.result = first;
        self
    }

    const fn gives_two(mut self, first: u8, second: u8) -> Cost {
        (self.result, self.second) = (first, second);
        self
    }

    const fn moves(mut self, base: u8) -> Cost {
        self.moved = base;
        self
    }

    const fn runs_early(mut self, how: u8) -> Cost {
        self.early = how;
        self
    }
}

const NOT: (u8, u8) = (ZERO, stage::LATE);
const PLAIN: Cost = Cost::NONE;
const SHIFTED: Cost = Cost::with(unit::SHIFTER, unit::SHIFTER | unit::SHIFT, latency::ALU);
const SHIFT: Cost = Cost::with(unit::SHIFT, 0, latency::ALU);
/// DSP and bit field instructions issue only from the older slot (N).
const OLDER: Cost = Cost::with(0, unit::ANY, latency::ALU);
const FIELD: Cost = Cost::with(unit::SHIFTER, unit::ANY, latency::ALU);
const REVERSE: Cost = Cost::with(unit::SHIFTER, unit::ANY, latency::REVERSE);
const SATURATE: Cost = Cost::with(0, unit::ANY, latency::SATURATE);
const MULTIPLY: Cost =
    Cost::with(unit::MULTIPLIER, unit::MULTIPLIER | unit::STORE, latency::MULTIPLY);
/// Two loads issue together if they are from different banks.
const LOAD: Cost = Cost::with(unit::LOAD, unit::LOAD, latency::LOAD);
const NARROW_LOAD: Cost = Cost::with(unit::LOAD, unit::LOAD, latency::NARROW_LOAD);
const STORE: Cost = Cost::with(unit::STORE, unit::STORE | unit::MULTIPLIER, latency::ALU);
const BRANCH: Cost = Cost::with(unit::BRANCH, unit::BRANCH, latency::ALU);
/// A division takes 7 cycles and issues alone (L).
const DIVIDE: Cost = Cost::alone(latency::DIVIDE, 6);

/// The row of `i`.
pub(crate) fn cost(i: &Insn) -> Cost {
    let row = row(i);
    let said = [
        (rest::SOURCES, row.further != [UNUSED; 2]),
        (rest::SECOND, row.second != NOWHERE),
        (rest::MOVED, row.moved != NOWHERE),
        (rest::BUSY, row.busy != 0),
        (rest::FLAGS, i.s && !is_float(i.op)),
        (rest::FURTHER, goes_elsewhere(i.op)),
    ];
    let rest = said.iter().filter(|(_, said)| *said).fold(0, |rest, (bit, _)| rest | bit);
    Cost { rest, ..row }
}

/// Whether an operation can branch.
fn goes_elsewhere(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AddPc | MovPc | LdrPc | Ldm | B | Bcond | Bl | BlxReg | Bx | Cbz | Cbnz | Tbb | Tbh
    )
}

fn is_float(op: Op) -> bool {
    (Op::Vldr as u8..=Op::Vmsr as u8).contains(&(op as u8))
}

fn late(register: u8) -> (u8, u8) {
    (register, stage::LATE)
}

fn soon(register: u8) -> (u8, u8) {
    (register, stage::EARLY)
}

fn factor(register: u8) -> (u8, u8) {
    (register, stage::FACTOR)
}

#[rustfmt::skip]
fn row(i: &Insn) -> Cost {
    use Op::*;
    let (d, n, m, a) = (i.rd, i.rn, i.rm, i.ra);
    // A constant that is a shifted byte occupies the shifter, but causes no delay (N).
    let constant = if a == 1 { SHIFTED } else { PLAIN };
    match i.op {
        AddI | SubI if a == 1 => constant.wants(late(n)).gives(d),
        AddI | SubI => PLAIN.wants(late(n)).gives(d).runs_early(early::OLDER),
        MovI if a == 1 => constant.gives(d),
        MovI => PLAIN.gives(d).runs_early(early::OLDER),
        AndI | BicI | OrrI | OrnI | EorI | RsbI | MvnI => constant.wants(late(n)).gives(d),
        AdcI | SbcI => constant.wants(late(n)).gives(d).and_flags(),
        AddR | SubR => PLAIN.wants_two(late(n), late(m)).gives(d).runs_early(early::OLDER),
        MovR => PLAIN.wants(late(m)).gives(d).runs_early(early::OLDER),
        AndR | BicR | OrrR | OrnR | EorR | RsbR | MvnR => {
            PLAIN.wants_two(late(n), late(m)).gives(d)
        }
        AdcR | SbcR => PLAIN.wants_two(late(n), late(m)).gives(d).and_flags(),
        MovS if i.shift == 4 => SHIFTED.wants(soon(m)).gives(d).and_flags(),
        MovS => SHIFT.wants(late(m)).gives(d).runs_early(early::SHIFT),
        MvnS => SHIFTED.wants(soon(m)).gives(d),
        AndS | BicS | OrrS | OrnS | EorS | AddS | SubS | RsbS => {
            SHIFTED.wants_two(factor(n), soon(m)).gives(d)
        }
        AdcS | SbcS => SHIFTED.wants_two(factor(n), soon(m)).gives(d).and_flags(),
        LslReg | LsrReg | AsrReg | RorReg => {
            SHIFT.wants_two(late(n), late(m)).gives(d).runs_early(early::SHIFT)
        }
        Movt => PLAIN.wants(late(n)).gives(d),
        AddPc | MovPc => BRANCH.wants(soon(m)),
        _ => memory_row(i),
    }
}

#[rustfmt::skip]
fn memory_row(i: &Insn) -> Cost {
    use Op::*;
    let (d, n, m, a) = (i.rd, i.rn, i.rm, i.ra);
    match i.op {
        LdrI | LdrR | LdrLit => LOAD.wants_two(soon(n), soon(m)).gives(d),
        LdrW => LOAD.wants(soon(n)).gives(d).moves(n),
        LdrbI | LdrbR | LdrhI | LdrhR | LdrsbI | LdrsbR | LdrshI | LdrshR | LdrbLit | LdrhLit
        | LdrsbLit | LdrshLit => NARROW_LOAD.wants_two(soon(n), soon(m)).gives(d),
        LdrbW | LdrhW | LdrsbW | LdrshW => NARROW_LOAD.wants(soon(n)).gives(d).moves(n),
        // The stored value is needed last of all: it delays only the store itself (N).
        StrI | StrR | StrbI | StrbR | StrhI | StrhR => STORE.wants_two(soon(n), soon(m)),
        StrW | StrbW | StrhW => STORE.wants(soon(n)).moves(n),
        LdrPc => Cost { units: BRANCH.units | unit::LOAD, excludes: BRANCH.excludes | unit::LOAD, ..BRANCH }.wants_two(soon(n), soon(m)),
        Ldrd => Cost::alone(latency::LOAD, 0).wants(soon(n)).gives_two(d, a),
        Strd => Cost::alone(latency::ALU, 0).wants(soon(n)),
        // Two registers per cycle (N). The times of the loaded registers are set at execution.
        Ldm | Stm => Cost::alone(latency::LOAD, (i.imm.count_ones().div_ceil(2) - 1) as u8)
            .wants(soon(n)),
        Ldrex | Ldrexb | Ldrexh => Cost::alone(latency::NARROW_LOAD, 0).wants(soon(n)).gives(d),
        Strex | Strexb | Strexh => Cost::alone(latency::NARROW_LOAD, 0).wants(soon(n)).gives(d),
        // A table branch takes two issue cycles (L).
        Tbb | Tbh => Cost::alone(latency::ALU, 1).wants_two(soon(n), soon(m)),
        B | Bl => BRANCH.gives(if i.op == Bl { 14 } else { NOWHERE }),
        Bcond => BRANCH,
        BlxReg | Bx => BRANCH.wants(soon(m)).gives(if i.op == BlxReg { 14 } else { NOWHERE }),
        Cbz | Cbnz => BRANCH.wants(late(n)),
        It | Nop | Pld => PLAIN,
        _ => arithmetic_row(i),
    }
}

#[rustfmt::skip]
fn arithmetic_row(i: &Insn) -> Cost {
    use Op::*;
    let (d, n, m, a) = (i.rd, i.rn, i.rm, i.ra);
    let sum = (a, stage::SUM);
    match i.op {
        Mul | Smulxy | Smulwy | Smuad | Smusd | Smmul => {
            MULTIPLY.wants_two(factor(n), factor(m)).gives(d)
        }
        Mla | Mls | Smlaxy | Smlawy | Smlad | Smlsd | Smmla | Smmls => {
            MULTIPLY.needs([factor(n), factor(m), sum]).gives(d)
        }
        Umull | Smull => MULTIPLY.wants_two(factor(n), factor(m)).gives_two(d, a),
        Umlal | Smlal | Umaal | Smlalxy | Smlald | Smlsld => {
            MULTIPLY.needs([factor(n), factor(m), sum]).and((d, stage::SUM)).gives_two(d, a)
        }
        Udiv | Sdiv => DIVIDE.wants_two(late(n), late(m)).gives(d),
        Ubfx | Sbfx => FIELD.wants(soon(n)).gives(d),
        Bfi => FIELD.wants_two(late(d), soon(n)).gives(d),
        Bfc => FIELD.wants(late(d)).gives(d),
        Rbit | Rev | Rev16 | Revsh => REVERSE.wants(soon(m)).gives(d),
        Clz | Uxtb | Uxth | Sxtb | Sxth | Uxtb16 | Sxtb16 => OLDER.wants(late(m)).gives(d),
        Uxtab | Uxtah | Sxtab | Sxtah | Uxtab16 | Sxtab16 | Pkhbt => {
            FIELD.wants_two(late(n), soon(m)).gives(d)
        }
        Pkhtb => FIELD.wants_two(soon(n), soon(m)).gives(d),
        Sel => OLDER.wants_two(late(n), late(m)).gives(d).and_flags(),
        Parallel if i.imm & 16 != 0 => SATURATE.wants_two(late(n), late(m)).gives(d),
        Parallel => OLDER.wants_two(late(n), late(m)).gives(d),
        Qadd | Qsub | Qdadd | Qdsub => SATURATE.wants_two(late(n), late(m)).gives(d),
        Usad8 => SATURATE.wants_two(late(n), late(m)).gives(d),
        Usada8 => SATURATE.needs([late(n), late(m), sum]).gives(d),
        Ssat | Usat | Ssat16 | Usat16 => SATURATE.wants(soon(n)).gives(d),
        // Barriers and system registers drain the pipeline: three cycles, issued alone (L).
        Dmb | Dsb | Isb | Mrs | Msr | Cps | Svc | Bkpt | Udf | Wfi | Wfe | Sev | Clrex => {
            Cost::alone(latency::ALU, 2).gives(d)
        }
        Dbg => Cost::alone(latency::ALU, 0),
        _ => float_row(i),
    }
}

fn float_row(i: &Insn) -> Cost {
    use Op::*;
    let s = |register: u8| FLOAT + (register & 31);
    let (d, n, m) = (s(i.rd), s(i.rn), s(i.rm));
    let float = |latency: u8| Cost::with(unit::FLOAT, unit::FLOAT, latency);
    let (add, multiply, fused) = if i.s {
        (float_double(latency::FLOAT, 0), float_double(latency::FLOAT, 4), {
            float_double(latency::FUSED, 6)
        })
    } else {
        (float(latency::FLOAT), float(latency::FLOAT), float(latency::FUSED))
    };
    match i.op {
        Vldr if i.s => Cost::alone(latency::FLOAT_LOAD, 0).wants(soon(i.rn)).gives_two(d, d + 1),
        Vldr => Cost::with(unit::LOAD, unit::LOAD, latency::FLOAT_LOAD).wants(soon(i.rn)).gives(d),
        Vstr if i.s => Cost::alone(latency::ALU, 0).wants_two(soon(i.rn), late(d)),
        Vstr => STORE.wants_two(soon(i.rn), late(d)),
        Vldm | Vstm => {
            Cost::alone(latency::FLOAT_LOAD, (i.imm.div_ceil(2) - 1) as u8).wants(soon(i.rn))
        }
        Vmul | Vnmul => multiply.wants_two(factor(n), factor(m)).gives(d),
        Vmla | Vmls | Vnmla | Vnmls | Vfma | Vfms | Vfnma | Vfnms => {
            fused.needs([factor(n), factor(m), (d, stage::SUM)]).gives(d)
        }
        // 16 and 14 cycles for a single (N), 30 for a double (N) (L).
        Vdiv | Vsqrt if i.s => {
            float_double(latency::FLOAT, 29).wants_two(late(n), late(m)).gives(d)
        }
        Vdiv => Cost { busy: 15, ..add }.wants_two(late(n), late(m)).gives(d),
        Vsqrt => Cost { busy: 13, ..add }.wants(late(m)).gives(d),
        VmovCore | VmovLane if i.imm == 1 => OLDER.wants(late(m)).gives(i.rd),
        VmovCore | VmovLane => {
            Cost::with(0, 0, latency::FLOAT).wants(late(i.rd)).gives(FLOAT + (i.rm & 31))
        }
        VmovCore2 if i.imm == 1 => {
            Cost::alone(latency::ALU, 0).wants_two(late(m), late(m + 1)).gives_two(i.rd, i.ra)
        }
        VmovCore2 => {
            Cost::alone(latency::FLOAT, 0).wants_two(late(i.rd), late(i.ra)).gives_two(m, m + 1)
        }
        Vcmp => add.wants_two(late(d), late(m)),
        VcmpZero => add.wants(late(d)),
        // The flags come from the end of the floating-point pipeline.
        Vmrs => Cost::alone(latency::ALU, 2).gives(if i.rd == 15 { FLAGS } else { i.rd }),
        Vmsr => Cost::alone(latency::ALU, 2),
        VmovI => Cost::with(0, 0, latency::FLOAT).gives(d),
        VmovR => Cost::with(0, 0, latency::FLOAT).wants(late(m)).gives(d),
        Vadd | Vsub | Vsel | Vmaxnm | Vminnm => add.wants_two(late(n), late(m)).gives(d),
        VcvtFixed => add.wants(late(d)).gives(d),
        Unknown => PLAIN,
        _ => add.wants(late(m)).gives(d),
    }
}

/// Arithmetic on doubles issues only from the older slot (N).
const fn float_double(latency: u8, busy: u8) -> Cost {
    let mut row = Cost::with(unit::FLOAT, unit::ANY, latency);
    row.busy = busy;
    row
}
