//! Small programs that use the copier of `copier.rs`, assembled and run.

use crate::copier::{Copier, Job, Jobs};
use cpb_sim::{Chip, Image, Machine, Stop};
use std::path::Path;
use std::process::Command;

/// The address of the copier's registers, and the number of its interrupt.
const BASE: u32 = 0x402F_C000;
const INTERRUPT: u16 = 50;

/// Before every program: the vector table, the names of registers, and macros.
///
/// R4 is the copier's base. The programs are in ITCM, the stack in DTCM. OCRAM, from 0x20200000, is cacheable.
const PROLOGUE: &str = "
.syntax unified
.thumb
.equ SOURCE, 0
.equ TARGET, 4
.equ COUNT, 8
.equ TICKS, 12
.equ START, 16
.equ STATUS, 20
.equ DCIMVAC, 0xE000EF5C
.equ DCCMVAC, 0xE000EF68
.equ DCCIMVAC, 0xE000EF70
.equ ICIALLU, 0xE000EF50
.equ ICIMVAU, 0xE000EF58
.macro caches_on
    ldr r0, =0xE000ED14
    ldr r1, [r0]
    orr r1, r1, #0x30000
    str r1, [r0]
.endm
.macro set register, value
    ldr r0, =\\value
    str r0, [r4, #\\register]
.endm
.macro job source, target, count, ticks
    set SOURCE, \\source
    set TARGET, \\target
    set COUNT, \\count
    set TICKS, \\ticks
    str r0, [r4, #START]
.endm
.macro wait
    88: ldr r0, [r4, #STATUS]
    cmp r0, #0
    beq 88b
.endm
.macro maintain register, address
    ldr r0, =\\register
    ldr r1, =\\address
    str r1, [r0]
.endm
.macro store address, value
    ldr r0, =\\address
    ldr r1, =\\value
    str r1, [r0]
.endm
.macro load register, address
    ldr r0, =\\address
    ldr \\register, [r0]
.endm
.macro end
    movs r0, #0x18
    ldr r1, =0x20026
    bkpt 0xab
.endm
.global start
.word 0x20008000
.word start+1
.fill 64, 4, 0
.word handler+1
.thumb_func
handler:
    dbg #1
    add r8, r8, #1
    str r0, [r4, #STATUS]
    bx lr
.thumb_func
start:
    ldr r4, =0x402FC000
    mov r8, #0
    mov r9, #0
";

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) stop: Stop,
    pub(crate) machine: Machine,
    pub(crate) image: Image,
    pub(crate) jobs: Vec<Job>,
}

impl Ended {
    pub(crate) fn register(&self, number: usize) -> u32 {
        self.machine.register(number)
    }

    /// The cycles of the marks, which `dbg` sets.
    pub(crate) fn marks(&self) -> Vec<u64> {
        self.machine.measure().marks.iter().map(|mark| mark.cycles).collect()
    }
}

/// Runs a program, prepared by `prepare`; `None` if there is no assembler, in which case `test` is skipped.
pub(crate) fn run(test: &str, body: &str, prepare: impl Fn(&mut Machine)) -> Option<Ended> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(file) = assembled(body, folder.path()) else {
        cpb_test_support::skip(test, "arm-none-eabi-as is not there");
        return None;
    };
    let image = Image::parse(&file).expect("an ELF file");
    let mut machine = Machine::new(Chip::named("imxrt1060").expect("a built-in chip"));
    image.load(&mut machine).expect("it fits");
    machine.boot(&image);
    machine.set_max_cycles(1_000_000);
    let jobs = Jobs::default();
    machine.attach(BASE, 0x4000, &[INTERRUPT], Box::new(Copier::new(&jobs)));
    prepare(&mut machine);
    let stop = machine.run();
    let jobs = jobs.borrow().clone();
    Some(Ended { stop, machine, image, jobs })
}

/// Like [`run`], for a program that must end normally.
pub(crate) fn done(test: &str, body: &str) -> Option<Ended> {
    ended_normally(run(test, body, |_| {})?)
}

/// The same, with a check of the caches.
pub(crate) fn checked(test: &str, body: &str) -> Option<Ended> {
    ended_normally(run(test, body, Machine::check_caches)?)
}

fn ended_normally(ended: Ended) -> Option<Ended> {
    let diagnosis = ended.machine.diagnose(ended.stop, &ended.image);
    assert!(ended.stop == Stop::Exit(0), "{diagnosis}");
    Some(ended)
}

fn assembled(body: &str, folder: &Path) -> Option<Vec<u8>> {
    std::fs::write(folder.join("program.s"), format!("{PROLOGUE}{body}\n")).expect("a file");
    let assemble = ["arm-none-eabi-as", "-mcpu=cortex-m7", "program.s", "-o", "program.o"];
    let link = [
        "arm-none-eabi-ld",
        "-Ttext=0",
        "--section-start=.ocram=0x20210000",
        "-e",
        "start",
        "program.o",
        "-o",
        "program.elf",
    ];
    command(&assemble, folder)?;
    command(&link, folder)?;
    std::fs::read(folder.join("program.elf")).ok()
}

fn command(words: &[&str], folder: &Path) -> Option<()> {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}
