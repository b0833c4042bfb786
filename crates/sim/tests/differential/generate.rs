//! Test cases: an instruction or an IT block, and the registers it starts with.

use super::patterns::{Kind, PATTERNS};
use cpb_sim::{Op, decode};
use fastrand::Rng;

/// Size of the code of one case in bytes, including the return.
pub(crate) const SLOT: usize = 24;
/// Size of the record of one case in words.
pub(crate) const RECORD: usize = 48;
/// The address of loads and stores, in the middle of the memory that is compared.
const SCRATCH: u32 = 0x003E_2000;

/// One case.
pub(crate) struct Case {
    /// The mnemonic of its pattern.
    pub(crate) name: &'static str,
    /// Its halfwords, without the return.
    pub(crate) code: Vec<u16>,
    /// r0 to r12, APSR, an address that is filled in later, FPSCR, s0 to s31.
    pub(crate) record: [u32; RECORD],
}

struct Fields {
    d: u32,
    n: u32,
    m: u32,
    a: u32,
}

const WORDS: [u32; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    0x40,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    u32::MAX,
];

const FLOATS: [u32; 20] = [
    0,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    0x7F81_2345,
    0xFFA0_0001,
    1,
    0x807F_FFFF,
    0x0080_0000,
    0x7F7F_FFFF,
    0x4F00_0000,
    0xCF00_0001,
    0x4F80_0000,
    0x3F00_0000,
    0x4020_0000,
    0xC060_0000,
];

const DOUBLES: [u32; 14] = [
    0,
    0x8000_0000,
    0x3FF0_0000,
    0xBFF0_0000,
    0x7FF0_0000,
    0xFFF0_0000,
    0x7FF8_0000,
    0x7FF4_0001,
    0x41E0_0000,
    0xC1E0_0000,
    0x3FE0_0000,
    0x0010_0000,
    0x7FEF_FFFF,
    0x4004_0000,
];

fn word(rng: &mut Rng) -> u32 {
    if rng.bool() { WORDS[rng.usize(..WORDS.len())] } else { rng.u32(..) }
}

/// `count` cases of pattern `index`.
pub(crate) fn cases(index: usize, count: usize, rng: &mut Rng) -> Vec<Case> {
    let (name, pattern, kind) = PATTERNS[index];
    let mut made = Vec::new();
    while made.len() < count {
        let low = pattern.len() <= 16;
        let fields = fields(name.ends_with('!'), low, rng);
        let Some(code) = draw(name, pattern, &fields, rng) else { continue };
        let mut case = Case { name, code, record: record(kind, &fields, rng) };
        match kind {
            // The instruction after the branch shows whether it was skipped.
            Kind::Branch => case.code.extend([0x1C40, 0x1C49, 0x1C52]),
            Kind::Stack => case.code = on_a_stack(&case.code),
            Kind::Alu if rng.u8(..4) == 0 => case.code = it_block(&case.code, rng),
            _ => {}
        }
        made.push(case);
    }
    made
}

fn fields(distinct: bool, low: bool, rng: &mut Rng) -> Fields {
    let most = if low { 8 } else { 13 };
    loop {
        let mut draw = || rng.u32(..most);
        let (d, n, m, a) = (draw(), draw(), draw(), draw());
        if !distinct || (d != n && d != m && d != a && n != m && n != a && m != a) {
            return Fields { d, n, m, a };
        }
    }
}

/// Fills in a pattern; `None` if the architecture leaves the result open.
fn draw(name: &str, pattern: &str, fields: &Fields, rng: &mut Rng) -> Option<Vec<u16>> {
    let letters: Vec<u8> = pattern.bytes().filter(|b| *b != b' ').collect();
    let mut opcode = 0u32;
    for (place, letter) in letters.iter().enumerate() {
        // The bits of one register are consecutive. This is the number still to come.
        let rest = letters[place + 1..].iter().take_while(|l| *l == letter).count();
        let bit = match letter {
            b'0' | b'o' => 0,
            b'1' | b'e' => 1,
            b'd' => fields.d >> rest & 1,
            b'n' => fields.n >> rest & 1,
            b'm' => fields.m >> rest & 1,
            b'a' => fields.a >> rest & 1,
            _ => u32::from(rng.bool()),
        };
        opcode = opcode << 1 | bit;
    }
    let code = if letters.len() == 16 {
        vec![opcode as u16]
    } else {
        vec![(opcode >> 16) as u16, opcode as u16]
    };
    // What the decoder rejects is forbidden or undefined there. If it rejected anything else, the required
    // number of cases would never be reached.
    let insn = decode::decode(0, code[0], code.get(1).copied().unwrap_or(0));
    let refused = insn.op == Op::Unknown
        || insn.op == Op::Udf
        || insn.op == Op::Svc
        || (name.starts_with("bcond") && insn.op != Op::Bcond)
        || (name.starts_with("ldm") || name.starts_with("stm")) && unclear(name, opcode, fields.n);
    (!refused).then_some(code)
}

/// The architecture leaves the result open for register lists that contain the base or are too short.
fn unclear(name: &str, opcode: u32, base: u32) -> bool {
    opcode >> base & 1 != 0 || (opcode & 0x1FFF).count_ones() < 2 && !name.ends_with(".n")
}

fn record(kind: Kind, fields: &Fields, rng: &mut Rng) -> [u32; RECORD] {
    let mut record = [0; RECORD];
    record[..13].fill_with(|| word(rng));
    if rng.u8(..4) == 0 {
        record[fields.m as usize] = rng.u32(..64);
    }
    if matches!(kind, Kind::Memory | Kind::Aligned) {
        record[fields.m as usize] = rng.u32(..256);
        let unaligned = if kind == Kind::Memory { rng.u32(..8) } else { 0 };
        record[fields.n as usize] = SCRATCH + 4 * rng.u32(..16) + unaligned;
    }
    if kind == Kind::Stack {
        record[11] = SCRATCH + 4 * rng.u32(..16);
    }
    record[13] = rng.u32(..) & 0xF80F_0000;
    for pair in record[16..].chunks_exact_mut(2) {
        match rng.u8(..6) {
            0 | 1 => pair.fill_with(|| FLOATS[rng.usize(..FLOATS.len())]),
            2 | 3 => pair.copy_from_slice(&[0, DOUBLES[rng.usize(..DOUBLES.len())]]),
            4 => pair.fill_with(|| (rng.u32(..) & 0x83FF_FFFF) | 0x3C00_0000),
            _ => pair.fill_with(|| rng.u32(..)),
        }
    }
    record
}

/// The instruction with r11 as the stack pointer. Afterwards, the stack pointer is in r10 and the link
/// register in r8. r12 and r9 save the original values of both.
fn on_a_stack(insn: &[u16]) -> Vec<u16> {
    [&[0x46EC, 0x46DD, 0x46F1], insn, &[0x46EA, 0x46F0, 0x46CE, 0x46E5]].concat()
}

/// The instruction, and up to three more, in an IT block.
fn it_block(first: &[u16], rng: &mut Rng) -> Vec<u16> {
    let condition = rng.u16(..14);
    let length = rng.usize(1..=4);
    // The mask: then or else for each further instruction, and a one after the last.
    let mut choices = 0u16;
    for place in 0..length - 1 {
        let bit = condition & 1 ^ u16::from(rng.bool());
        choices |= bit << (3 - place);
    }
    let end = 1u16 << (4 - length);
    let mut code = vec![0xBF00 | condition << 4 | choices & !(end | (end - 1)) | end];
    code.extend(first);
    // Narrow instructions, which set flags only outside a block: add, subtract, shift, and, negate.
    for _ in 1..length {
        let registers = rng.u16(..64);
        let extra = [0x1C40, 0x1E40, 0x0040, 0x4000, 0x4240][rng.usize(..5)];
        code.push(extra & !0x3F | registers | extra & 0x40);
    }
    code
}
