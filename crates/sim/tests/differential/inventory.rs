//! The instructions that compilers emitted for the firmware: each kind in its images must have test cases. A
//! kind is an encoding of [`PATTERNS`] and the operation that it decodes to.

use super::generate::Case;
use super::patterns::{Kind, PATTERNS};
use super::{ELSEWHERE, count_operations};
use cpb_sim::{Insn, Op, decode};
use object::read::elf::ElfFile32;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The images that were built; `None` if the environment does not name their folder.
pub(crate) fn images() -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("CPB_FIRMWARE_IMAGES")?;
    let entries = std::fs::read_dir(&folder).expect("the folder of the images");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    Some(paths.filter(|path| path.extension().is_some_and(|e| e == "elf")).collect())
}

/// The instructions of an image: address and halfwords. The linker has removed unreachable code, and the
/// mapping symbols (AAELF32, 5.5.5) distinguish code from embedded data.
pub(crate) fn instructions(path: &Path) -> Vec<(u32, Vec<u16>)> {
    let file = std::fs::read(path).expect("an image");
    let elf = ElfFile32::<LittleEndian>::parse(&*file).expect("an ELF file");
    let mut found = Vec::new();
    for section in elf.sections().filter(|section| section.kind() == SectionKind::Text) {
        let marks = elf.symbols().filter(|s| s.section_index() == Some(section.index()));
        let mapping = marks.filter_map(|s| Some((s.address(), s.name().ok()?.strip_prefix('$')?)));
        let marks: BTreeMap<u64, &str> = mapping.collect();
        let (first, bytes) = (section.address(), section.data().expect("a section"));
        let ends = marks.keys().skip(1).copied().chain([first + section.size()]);
        for ((begin, mark), end) in marks.iter().zip(ends) {
            if *mark == "t" || mark.starts_with("t.") {
                let code = &bytes[(begin - first) as usize..(end - first) as usize];
                sweep(*begin as u32, code, &mut found);
            }
        }
    }
    found
}

fn sweep(mut address: u32, code: &[u8], found: &mut Vec<(u32, Vec<u16>)>) {
    let mut halves = code.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]]));
    while let Some(first) = halves.next() {
        let second = if decode::is_wide(first) { halves.next() } else { None };
        let code: Vec<u16> = [first].into_iter().chain(second).collect();
        let bytes = 2 * code.len() as u32;
        found.push((address, code));
        address += bytes;
    }
}

/// The kinds of instruction that cases contain.
pub(crate) struct Kinds {
    /// Mnemonics of patterns, with the operations that their cases decode to.
    drawn: BTreeSet<(&'static str, u8)>,
    /// The fixed bits of each pattern's halfwords, and their values.
    fixed: Vec<(&'static str, Kind, usize, u32, u32)>,
}

impl Kinds {
    pub(crate) fn of(cases: &[Case]) -> Kinds {
        let mut drawn = BTreeSet::new();
        for case in cases {
            count_operations(&case.code, |op| _ = drawn.insert((case.name, op as u8)));
        }
        let fixed = PATTERNS.iter().map(|(name, pattern, kind)| {
            let letters: Vec<char> = pattern.chars().filter(|letter| *letter != ' ').collect();
            let bits = |wanted: &[char]| {
                letters.iter().fold(0, |bits, l| bits << 1 | u32::from(wanted.contains(l)))
            };
            (*name, *kind, letters.len() / 16, bits(&['0', '1']), bits(&['1']))
        });
        Kinds { drawn, fixed: fixed.collect() }
    }

    /// Whether the cases of some pattern contain this kind of instruction, or no case can.
    pub(crate) fn hold(&self, code: &[u16]) -> bool {
        let bits = code.iter().fold(0, |bits, half| bits << 16 | u32::from(*half));
        let insn = decode::decode(0, code[0], code.get(1).copied().unwrap_or(0));
        // An IT block is generated around other patterns.
        cannot_be_held(&insn)
            || insn.op == Op::It
            || self.fixed.iter().any(|(name, kind, halves, mask, value)| {
                // The fixed bits of a branch are its distance, which is always one instruction in a case.
                let fits = *kind == Kind::Branch || bits & mask == *value;
                *halves == code.len() && fits && self.drawn.contains(&(*name, insn.op as u8))
            })
    }
}

/// Instructions that would leave their case.
fn cannot_be_held(insn: &Insn) -> bool {
    ELSEWHERE.contains(&insn.op) || insn.op == Op::Ldm && insn.imm >> 15 != 0
}
