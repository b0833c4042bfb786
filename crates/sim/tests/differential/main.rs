//! Compares every instruction that compilers emit with QEMU's Cortex-M7: registers, flags and memory must be
//! the same after thousands of cases. One QEMU process runs a whole batch.

mod generate;
mod inventory;
mod oracle;
mod patterns;

use cpb_sim::{Op, decode};
use fastrand::Rng;
use generate::{Case, cases};
use inventory::Kinds;
use patterns::PATTERNS;
use std::collections::BTreeMap;

/// The minimum number of cases of each operation.
const LEAST: usize = 500;
/// Cases of each pattern. Some decode to a simpler operation, such as a shift by zero.
const EACH: usize = 520;
/// The number of cases that fit in the memory for a batch.
const BATCH: usize = 14_000;

fn all_cases(seed: u64) -> Vec<Case> {
    let mut rng = Rng::with_seed(seed);
    (0..PATTERNS.len()).flat_map(|index| cases(index, EACH, &mut rng)).collect()
}

#[test]
fn every_instruction_does_what_qemu_does() {
    let Some(oracle) = oracle::Oracle::new("differential::every_instruction_does_what_qemu_does")
    else {
        return;
    };
    let mut wrong: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for batch in all_cases(1).chunks(BATCH) {
        let image = oracle.image(batch);
        let (theirs, ours) = (oracle.qemu(&image), oracle.simulator(&image));
        for (name, difference) in oracle::differences(batch, &theirs, &ours) {
            wrong.entry(name).or_insert((0, difference)).0 += 1;
        }
    }
    let report: Vec<String> =
        wrong.iter().map(|(n, (count, first))| format!("{n}: {count}, first {first}")).collect();
    assert!(report.is_empty(), "{} differ:\n{}", report.len(), report.join("\n"));
}

/// Imitates a decoder that confuses two instructions: the simulator is given the other one.
#[test]
fn a_wrong_decoder_is_caught() {
    let Some(oracle) = oracle::Oracle::new("differential::a_wrong_decoder_is_caught") else {
        return;
    };
    let mut rng = Rng::with_seed(2);
    let bugs =
        [("adc.r", 0x20_0000), ("ldrsb.r!", 0x100_0000), ("smlald!", 0x10), ("asr.n", 0x800)];
    for (name, flipped) in bugs {
        let index = PATTERNS.iter().position(|p| p.0 == name).expect("a pattern");
        let batch = cases(index, 200, &mut rng);
        let wrong = oracle.image_with(&batch, |code| flip(code, flipped));
        let (theirs, ours) = (oracle.qemu(&oracle.image(&batch)), oracle.simulator(&wrong));
        let caught = oracle::differences(&batch, &theirs, &ours).len();
        assert!(caught > 20, "{name}: only {caught} of 200 were noticed");
    }
}

fn flip(code: &mut [u16], bits: u32) {
    // Not in IT blocks, whose first halfword belongs to another instruction.
    if code[0] >> 8 != 0xBF {
        if bits >> 16 != 0 || decode::is_wide(code[0]) {
            code[0] ^= (bits >> 16) as u16;
            if let Some(second) = code.get_mut(1) {
                *second ^= bits as u16;
            }
        } else {
            code[0] ^= bits as u16;
        }
    }
}

/// Operations that cases cannot contain: they leave the case, or only the firmware exercises them.
const ELSEWHERE: [Op; 26] = [
    Op::AddPc,
    Op::MovPc,
    Op::LdrPc,
    Op::Bl,
    Op::BlxReg,
    Op::Bx,
    Op::Tbb,
    Op::Tbh,
    Op::Clrex,
    Op::Dmb,
    Op::Dsb,
    Op::Isb,
    Op::Wfi,
    Op::Wfe,
    Op::Sev,
    Op::Dbg,
    Op::Cps,
    Op::Svc,
    Op::Bkpt,
    Op::Udf,
    Op::Strex,
    Op::Strexb,
    Op::Strexh,
    Op::Vmsr,
    Op::Unknown,
    Op::Pending,
];

fn count_operations(code: &[u16], mut see: impl FnMut(Op)) {
    let mut at = 0;
    while at < code.len() {
        let second = code.get(at + 1).copied().unwrap_or(0);
        see(decode::decode(0, code[at], second).op);
        at += if decode::is_wide(code[at]) { 2 } else { 1 };
    }
}

#[test]
fn every_operation_has_its_cases() {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for case in all_cases(3) {
        count_operations(&case.code, |op| *counts.entry(op as u8).or_default() += 1);
    }
    let few: Vec<u8> = (0..=Op::Pending as u8)
        .filter(|op| !ELSEWHERE.iter().any(|e| *e as u8 == *op))
        .filter(|op| counts.get(op).copied().unwrap_or(0) < LEAST)
        .collect();
    assert!(few.is_empty(), "too few cases of operations number {few:?}");
}

#[test]
fn every_kind_of_instruction_in_the_firmware_has_its_cases() {
    let Some(images) = inventory::images() else {
        let test = "differential::every_kind_of_instruction_in_the_firmware_has_its_cases";
        return cpb_test_support::skip(test, "images are built by `make test`");
    };
    let kinds = Kinds::of(&all_cases(3));
    let mut without: BTreeMap<u8, String> = BTreeMap::new();
    let mut seen = 0;
    for image in &images {
        for (address, code) in inventory::instructions(image) {
            seen += 1;
            if !kinds.hold(&code) {
                let insn = decode::decode(address, code[0], code.get(1).copied().unwrap_or(0));
                let example = format!("{:?} {code:04x?} at {address:#x} in {image:?}", insn.op);
                without.entry(insn.op as u8).or_insert(example);
            }
        }
    }
    let without: Vec<String> = without.into_values().collect();
    assert!(without.is_empty(), "without cases:\n{}", without.join("\n"));
    assert!(seen > 10_000 * images.len(), "only {seen} instructions in {} images", images.len());
}

/// Tests the previous test: a kind without its pattern is missed.
#[test]
fn a_kind_without_its_pattern_is_noticed() {
    let mut rng = Rng::with_seed(4);
    let all: Vec<usize> = (0..PATTERNS.len()).filter(|p| PATTERNS[*p].0 != "ldrh.neg").collect();
    let cases: Vec<Case> = all.iter().flat_map(|index| cases(*index, 20, &mut rng)).collect();
    let kinds = Kinds::of(&cases);
    assert!(kinds.hold(&[0xF833, 0x1F08]), "ldrh.pre has its pattern");
    assert!(!kinds.hold(&[0xF83A, 0x1C02]), "nothing else is ldrh.neg");
}
