//! One image with many cases, run by QEMU and by the simulator.

use super::generate::{Case, RECORD, SLOT};
use cpb_sim::{Chip, Console, Image, Machine, Segment, Stop};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

const CODE: usize = 0x200;
const RECORDS: usize = 0x10_0000;
const IMAGE: usize = 0x3F_0000;

pub(crate) struct Oracle {
    harness: Vec<u8>,
    folder: tempfile::TempDir,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no writer panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(command: &mut Command) -> Option<Vec<u8>> {
    let output = command.output().ok()?;
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

impl Oracle {
    /// Assembles the harness; `None` if QEMU or the assembler is missing, in which case `test` is skipped.
    pub(crate) fn new(test: &str) -> Option<Oracle> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/harness.s");
        let (object, flat) = (folder.path().join("h.o"), folder.path().join("h.bin"));
        let assembled = Command::new("qemu-system-arm").arg("--version").output().is_ok()
            && run(Command::new("arm-none-eabi-as").arg(source).arg("-o").arg(&object)).is_some();
        if !assembled {
            cpb_test_support::skip(test, "qemu-system-arm or arm-none-eabi-as is not there");
            return None;
        }
        let mut copy = Command::new("arm-none-eabi-objcopy");
        run(copy.args(["-O", "binary", "-j", ".text"]).args([&object, &flat]));
        let harness = std::fs::read(&flat).expect("what objcopy wrote");
        assert!(harness.len() <= CODE - 4, "the harness is too long");
        Some(Oracle { harness, folder })
    }

    pub(crate) fn image(&self, cases: &[Case]) -> Vec<u8> {
        self.image_with(cases, |_| ())
    }

    /// The memory before the run, with each case's code modified by `change`.
    pub(crate) fn image_with(&self, cases: &[Case], change: impl Fn(&mut [u16])) -> Vec<u8> {
        let mut image = vec![0; IMAGE];
        image[..self.harness.len()].copy_from_slice(&self.harness);
        let end = (RECORDS + cases.len() * RECORD * 4) as u32;
        image[CODE - 4..CODE].copy_from_slice(&end.to_le_bytes());
        for (byte, value) in image[0x3E_0000..0x3E_4000].iter_mut().zip(0u32..) {
            *byte = value.wrapping_mul(0x9E37_79B1).to_le_bytes()[3];
        }
        for (index, case) in cases.iter().enumerate() {
            let at = CODE + index * SLOT;
            let mut code = case.code.clone();
            change(&mut code);
            code.push(0x4770);
            assert!(code.len() * 2 <= SLOT);
            for (place, half) in image[at..].chunks_exact_mut(2).zip(code) {
                place.copy_from_slice(&half.to_le_bytes());
            }
            let mut record = case.record;
            record[14] = at as u32 | 1;
            let slot = &mut image[RECORDS + index * RECORD * 4..][..RECORD * 4];
            for (place, word) in slot.chunks_exact_mut(4).zip(record) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        image
    }

    /// The records and the memory after them, as left by QEMU.
    pub(crate) fn qemu(&self, image: &[u8]) -> Vec<u8> {
        let path = self.folder.path().join("image.bin");
        std::fs::write(&path, image).expect("a temporary file");
        let mut command = Command::new("timeout");
        command.args(["120", "qemu-system-arm", "-M", "mps2-an500", "-display", "none"]);
        command.args(["-monitor", "none", "-serial", "null", "-semihosting", "-kernel"]).arg(&path);
        // Translated code of another batch is never needed again.
        run(&mut command).expect("QEMU runs")
    }

    /// The same, as left by the simulator.
    pub(crate) fn simulator(&self, image: &[u8]) -> Vec<u8> {
        let entry = u32::from_le_bytes(*image[4..].first_chunk().expect("four bytes")) & !1;
        let image = Image {
            entry,
            segments: vec![Segment { address: 0, bytes: image.to_vec() }],
            symbols: Vec::new(),
        };
        let kept = Kept::default();
        let mut machine = Machine::new(Chip::named("mps2-an500").expect("a built-in chip"));
        image.load(&mut machine).expect("it fits");
        machine.boot(&image);
        machine.set_max_cycles(100_000_000);
        machine.set_console(Console::new(Box::new(kept.clone()), None));
        let stop = machine.run();
        assert!(stop == Stop::Exit(0), "{}", machine.diagnose(stop, &image));
        drop(machine);
        std::mem::take(&mut kept.0.lock().expect("no writer panics"))
    }
}

/// The cases whose results differ: mnemonic, and the difference.
pub(crate) fn differences(
    cases: &[Case],
    theirs: &[u8],
    ours: &[u8],
) -> Vec<(&'static str, String)> {
    assert_eq!(theirs.len(), ours.len(), "both write all records");
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(*b.first_chunk().expect("four"))).collect()
    };
    let (theirs, ours) = (words(theirs), words(ours));
    let mut found = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let range = index * RECORD..(index + 1) * RECORD;
        let pairs = theirs[range.clone()].iter().zip(&ours[range]).zip(mask()).enumerate();
        let wrong = pairs.into_iter().find(|(_, ((a, b), mask))| (*a ^ *b) & mask != 0);
        if let Some((word, ((qemu, sim), _))) = wrong {
            let code: Vec<String> = case.code.iter().map(|h| format!("{h:04x}")).collect();
            let before = case.record[word];
            found.push((
                case.name,
                format!(
                    "{} word {word} was {before:08x}: QEMU {qemu:08x}, here {sim:08x}",
                    code.join(" ")
                ),
            ));
        }
    }
    let behind = cases.len() * RECORD;
    if theirs[behind..] != ours[behind..] {
        found.push(("memory", "a store went elsewhere".to_owned()));
    }
    found
}

/// The bits of a record that both machines maintain: the flags of APSR and of FPSCR.
fn mask() -> impl Iterator<Item = u32> {
    (0..RECORD).map(|word| match word {
        13 => 0xF80F_0000,
        15 => 0xF000_0000,
        _ => u32::MAX,
    })
}
