//! NXP's own tool makes the same images, byte for byte: one process of SPSDK encrypts random images for three parts.
//! `scripts/setup.sh test` installs it.

use cpb_otfad::{BLOBS, Context, Counter, Flags, Kek, Key, KeyBlobs, Part, Region, Scramble};
use cpb_test_support::skip;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// The images. About a quarter of them are for each kind of part, scrambled or not.
const CASES: usize = 240;
/// SPSDK pads programs to blocks of AES with zeros.
const BLOCK: usize = 16;

#[derive(Deserialize)]
struct Case {
    part: String,
    flash: u32,
    at: u32,
    kek: String,
    scramble: Option<Fuses>,
    contexts: Vec<Given>,
    image: String,
    encrypted: String,
}

#[derive(Deserialize)]
struct Fuses {
    key_scramble_mask: u32,
    key_scramble_align: u8,
}

#[derive(Deserialize)]
struct Given {
    start_address: u32,
    end_address: u32,
    aes_key: String,
    aes_ctr: String,
    valid: bool,
    aes_decryption_enable: bool,
    read_only: bool,
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks_exact(2);
    digits
        .map(|pair| {
            u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("digits")
        })
        .collect()
}

fn array<const N: usize>(hexadecimal: &str) -> [u8; N] {
    bytes(hexadecimal).try_into().expect("the right length")
}

impl Given {
    fn context(&self) -> Context {
        Context {
            region: Region::new(self.start_address, self.end_address.into()).expect("a region"),
            key: Key::new(array(&self.aes_key)),
            counter: Counter(array(&self.aes_ctr)),
            flags: Flags {
                valid: self.valid,
                decrypts: self.aes_decryption_enable,
                locked: self.read_only,
            },
        }
    }
}

impl Case {
    fn kek(&self) -> Kek {
        let scramble = self.scramble.as_ref().map(|fuses| Scramble {
            mask: fuses.key_scramble_mask,
            align: fuses.key_scramble_align,
        });
        let part = Part::named(&self.part).expect("a part");
        Kek { key: Key::new(array(&self.kek)), scramble, part }
    }

    /// Encrypts the image with this crate and compares it with SPSDK's; then opens SPSDK's.
    fn check(&self, number: usize) {
        let blobs = KeyBlobs::new(self.contexts.iter().map(Given::context)).expect("contexts");
        let mut plain = bytes(&self.image);
        plain.resize(plain.len().next_multiple_of(BLOCK), 0);
        let offset = (self.at - self.flash) as usize;
        let mut image = vec![0; offset];
        image.extend_from_slice(&plain);
        blobs.apply(self.flash, &mut image);
        image[..BLOBS].copy_from_slice(&blobs.seal(&self.kek()));
        let expected = bytes(&self.encrypted);
        // Behind the program, SPSDK pads to 512 bytes, in plain.
        image.resize(expected.len(), 0);
        assert_eq!(image[..BLOBS], expected[..BLOBS], "case {number}: blobs");
        assert!(image == expected, "case {number}: the encrypted image");

        let sealed = expected.first_chunk().expect("blobs");
        let opened = KeyBlobs::open(sealed, &self.kek());
        assert_eq!(opened.as_ref(), Ok(&blobs), "case {number}");
        let mut decrypted = expected;
        blobs.apply(self.flash, &mut decrypted);
        assert!(decrypted[offset..][..plain.len()] == plain, "case {number}: the plain image");
    }
}

#[test]
fn spsdk_makes_the_same_images() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("../../.venv/spsdk/bin/python");
    if !python.is_file() {
        skip("spsdk_makes_the_same_images", "SPSDK is not installed; `make setup` installs it");
        return;
    }
    let mut command = Command::new(python);
    command.arg(root.join("tests/peer/spsdk_images.py"));
    command.args(["cases", "21", &CASES.to_string()]).env("SPSDK_CACHE_DISABLED", "1");
    let output = command.output().expect("Python");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("JSON");
    let cases: Vec<Case> =
        text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert_eq!(cases.len(), CASES);
    for part in ["imxrt1010", "imxrt1170", "imxrt1180"] {
        for scrambles in [false, true] {
            let alike = |case: &&Case| case.part == part && case.scramble.is_some() == scrambles;
            assert!(cases.iter().filter(alike).count() > 10, "{part}, scrambled: {scrambles}");
        }
    }
    for (number, case) in cases.iter().enumerate() {
        case.check(number);
    }
}
