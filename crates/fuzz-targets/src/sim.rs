//! Programs for the simulator.

use cpb_sim::{Chip, Image, Machine, Segment};

/// The most cycles that a program may take: enough to fault, loop and return.
const CYCLES: u64 = 20_000;

/// Takes any bytes as an ELF file, or else as code: the host keeps running, whatever the program does.
pub fn program(bytes: &[u8]) {
    let code = || Image {
        entry: 0x100,
        segments: vec![Segment { address: 0x100, bytes: bytes.to_vec() }],
        symbols: Vec::new(),
    };
    let image = Image::parse(bytes).unwrap_or_else(|_| code());
    for chip in ["imxrt1060", "mps2-an500"] {
        let mut machine = Machine::new(Chip::named(chip).expect("a built-in chip"));
        if image.load(&mut machine).is_err() {
            continue;
        }
        machine.boot(&image);
        machine.set_max_cycles(CYCLES);
        let stop = machine.run();
        let text = machine.diagnose(stop, &image);
        assert!(text.starts_with(|c: char| c.is_ascii_alphanumeric()));
        // At most one instruction, one line from flash, or one sleep exceeds the limit.
        assert!(machine.cycles() < CYCLES + 20_000);
        assert!(machine.instructions() <= 2 * machine.cycles() + 2);
    }
}
