//! Code whose cycle counts follow from the public rules. As in the published measurements, a body is repeated
//! 4 times and 14 times, and the difference is ten bodies, regardless of the surrounding code. The sources
//! are those in `src/timing/cost.rs`.

use cpb_sim::{Chip, Image, Machine, Stop};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// What it shows, the body, its cycles.
type Loop = (&'static str, &'static str, f64);

const LOOPS: &[Loop] = &[
    (
        "two independent sums a cycle",
        "add.w r1,r2,r3; add.w r4,r5,r6; add.w r1,r2,r3; add.w r4,r5,r6",
        2.0,
    ),
    // A sum can run in EX1 and pass its result to EX2 of the same cycle, but the next ones are then in EX2.
    (
        "a chain of sums is one a cycle",
        "add.w r1,r1,r2; add.w r1,r1,r2; add.w r1,r1,r2; add.w r1,r1,r2",
        4.0,
    ),
    ("a constant's two halves go together", "movw r1,#1; movt r1,#2; movw r2,#1; movt r2,#2", 2.0),
    (
        "two shifted operands cannot go together",
        "eor.w r1,r2,r3,ror #5; eor.w r4,r5,r6,ror #7",
        2.0,
    ),
    ("a shifted operand goes with a plain one", "eor.w r1,r2,r3,ror #5; eor.w r4,r5,r6", 1.0),
    ("two shifts go together", "lsr.w r1,r2,#3; lsr.w r4,r5,#7", 1.0),
    ("a shifted byte keeps the shifter", "eor.w r1,r2,#0x1fc0; eor.w r4,r5,r6,ror #7", 2.0),
    ("a byte pattern does not", "eor.w r1,r2,#0x1b1b1b1b; eor.w r4,r5,r6,ror #7", 1.0),
    (
        "what is shifted is wanted a cycle early",
        "eor.w r1,r1,r2,lsl #1; eor.w r2,r1,r2,lsl #1; eor.w r3,r4,r2,lsl #1",
        4.0,
    ),
    ("extensions issue from the older slot", "uxtb.w r1,r2; uxtb.w r3,r4", 2.0),
    ("an extension goes before a sum", "uxtb.w r1,r2; add.w r3,r4,r5", 1.0),
    (
        "a word from a load is there in the next cycle",
        "ldr.w r1,[r7]; add.w r2,r1,r3; ldr.w r1,[r7]; add.w r4,r1,r3",
        2.0,
    ),
    ("a byte one cycle later", "ldrb.w r1,[r7]; eor.w r2,r1,r3; nop.w; nop.w", 3.0),
    (
        "an address from a load is there after two cycles",
        "ldr.w r7,[r7]; ldr.w r7,[r7]; ldr.w r7,[r7]; ldr.w r7,[r7]",
        8.0,
    ),
    (
        "loads from both banks go together",
        "ldr.w r1,[r7]; ldr.w r2,[r7,#4]; ldr.w r3,[r7,#8]; ldr.w r4,[r7,#12]",
        2.0,
    ),
    (
        "loads from one bank do not",
        "ldr.w r1,[r7]; ldr.w r2,[r7,#8]; ldr.w r3,[r7]; ldr.w r4,[r7,#8]",
        4.0,
    ),
    (
        "a load goes with a store",
        "ldr.w r1,[r7]; str.w r2,[r7,#4]; ldr.w r3,[r7]; str.w r4,[r7,#4]",
        2.0,
    ),
    ("two stores do not go together", "str.w r1,[r7]; str.w r2,[r7,#4]", 2.0),
    (
        "what is stored may come from the same cycle",
        "ldr.w r1,[r7]; str.w r1,[r7,#4]; ldr.w r1,[r7]; str.w r1,[r7,#4]",
        2.0,
    ),
    ("bytes to one bank take four cycles each", "strb.w r1,[r7]; strb.w r2,[r7,#1]", 8.0),
    ("words do not", "str.w r1,[r7]; add.w r2,r3,r4; str.w r1,[r7]; add.w r2,r3,r4", 2.0),
    ("a product is there after two cycles", "mul r1,r1,r2; mul r1,r1,r2; mul r1,r1,r2", 6.0),
    (
        "sums of products follow each other",
        "mla r1,r2,r3,r1; mla r1,r2,r3,r1; mla r1,r2,r3,r1",
        3.0,
    ),
    (
        "a product goes with a sum",
        "mul r1,r2,r3; add.w r4,r5,r6; mul r1,r2,r3; add.w r4,r5,r6",
        2.0,
    ),
    ("a product does not go with a store", "mul r1,r2,r3; str.w r4,[r7]", 2.0),
    ("a division takes seven cycles", "udiv r1,r2,r3", 7.0),
    ("multiples move two words a cycle", "ldmia.w r7,{r1,r2,r3,r4,r5,r6,r8,r9}", 4.0),
    ("an unaligned load takes three cycles more", "ldr.w r1,[r7,#2]", 4.0),
    (
        "a branch that is not taken goes with what follows",
        "cmp.w r3,r4; beq.w 9f; add.w r1,r2,r5; 9: add.w r5,r6,r8",
        2.0,
    ),
];

fn assembler(arguments: &[&str], folder: &Path) -> Option<()> {
    let output = Command::new(arguments[0]).args(&arguments[1..]).current_dir(folder).output();
    let output = output.ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

fn cycles(body: &str, repeats: usize, folder: &Path) -> Option<u64> {
    let body = body.replace(';', "\n") + "\n";
    let body = body.repeat(repeats);
    let source = format!(
        ".syntax unified\n.thumb\n.global start\n.word 0x20008000\n.word start+1\n.thumb_func\n\
         start: ldr r0, =0x00f00000\nldr r1, =0xe000ed88\nstr r0, [r1]\n\
         movw r0, #100\nldr r7, =0x20001000\nstr r7, [r7]\nmov.w r3, #3\n.balign 8\n\
         loop: {body}\nsubs.w r0, r0, #1\nbne.w loop\n\
         movs r0, #0x18\nldr r1, =0x20026\nbkpt 0xab\n"
    );
    let file = folder.join("loop.s");
    std::fs::File::create(&file).and_then(|mut f| f.write_all(source.as_bytes())).expect("a file");
    assembler(&["arm-none-eabi-as", "-mcpu=cortex-m7", "loop.s", "-o", "loop.o"], folder)?;
    assembler(
        &["arm-none-eabi-ld", "-Ttext", "0", "-e", "start", "loop.o", "-o", "loop.elf"],
        folder,
    )?;
    let image = Image::parse(&std::fs::read(folder.join("loop.elf")).ok()?).expect("an ELF file");
    let mut machine = Machine::new(Chip::named("imxrt1060").expect("a built-in chip"));
    image.load(&mut machine).expect("it fits");
    machine.boot(&image);
    machine.set_max_cycles(1_000_000);
    let stop = machine.run();
    assert!(stop == Stop::Exit(0), "{}", machine.diagnose(stop, &image));
    Some(machine.cycles())
}

#[test]
fn loops_take_the_cycles_that_the_public_rules_tell() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for (what, body, expected) in LOOPS {
        let (Some(few), Some(many)) =
            (cycles(body, 4, folder.path()), cycles(body, 14, folder.path()))
        else {
            return skip("arm-none-eabi-as is not there");
        };
        let found = (many - few) as f64 / 1000.0;
        if (found - expected).abs() > 0.02 {
            wrong.push(format!("{what}: {found} cycles, expected {expected}: {body}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn skip(reason: &str) {
    let test = "pipeline::loops_take_the_cycles_that_the_public_rules_tell";
    cpb_test_support::skip(test, reason);
}
