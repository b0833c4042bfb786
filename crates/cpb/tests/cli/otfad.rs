//! `cpb otfad`: images are encrypted, decrypted, shown and compared; SPSDK makes the same ones and reads them.

use cpb_test_support::{Lab, Ran, lab, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLASH: u32 = 0x3000_0000;
/// The offset of the program in the images of these tests.
const PROGRAM: usize = 0x2000;
/// The key of the region, in `app.key`.
pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f";
/// Options that all encryptions here share.
const COMMON: &str = "--kek kek.bin --key app.key --counter app.ctr";

/// A program of 5000 bytes, whose vector table has a stack and an entry.
fn program() -> Vec<u8> {
    let mut program: Vec<u8> = (0..5000_u32).map(|index| (index * 7 / 8) as u8).collect();
    program[..4].copy_from_slice(&0x2004_0000_u32.to_le_bytes());
    program[4..8].copy_from_slice(&(FLASH + PROGRAM as u32 + 0x401).to_le_bytes());
    program
}

fn flash_configuration() -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..8].copy_from_slice(b"FCFB\x00\x04\x01V");
    block
}

/// An ELF file for Arm with these segments.
fn elf(segments: &[(u32, &[u8])]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let entry = FLASH + PROGRAM as u32 + 0x401;
    let more: Vec<u8> = words(&[0x0028_0002, 1, entry, 52, 0, 0x0500_0400, 0x0020_0034]);
    file.extend(more);
    file.extend([segments.len() as u8, 0, 40, 0, 0, 0, 0, 0]);
    let mut offset = 52 + 32 * segments.len();
    for (address, bytes) in segments {
        let length = bytes.len() as u32;
        let header: Vec<u8> = words(&[1, offset as u32, *address, *address, length, length, 5, 4]);
        file.extend(header);
        offset += bytes.len();
    }
    file.extend(segments.iter().flat_map(|(_, bytes)| *bytes));
    file
}

/// The files that examples name: a program, its boot header, keys.
pub(crate) fn write_files(lab: &Lab) {
    let program = program();
    lab.write("app.bin", &program);
    lab.write("fcb.bin", flash_configuration());
    let mut header = vec![0; 0x1030];
    header[0x400..0x600].copy_from_slice(&flash_configuration());
    let table = [0x4020_00D1, FLASH + 0x2000, 0, 0, FLASH + 0x1020, FLASH + 0x1000, 0, 0];
    let data = [FLASH, (PROGRAM + program.len()) as u32];
    let words = table.into_iter().chain(data).flat_map(u32::to_le_bytes);
    header[0x1000..].iter_mut().zip(words).for_each(|(place, byte)| *place = byte);
    let start = FLASH + PROGRAM as u32;
    lab.write("app.elf", elf(&[(FLASH + 0x400, &header[0x400..]), (start, &program)]));
    lab.write("kek.bin", [0xA5; 16]);
    lab.write("app.key", format!("{KEY}\n"));
    lab.write("app.ctr", b"\x01\x23\x45\x67\x89\xab\xcd\xef");
}

fn files() -> Lab {
    let lab = lab!();
    write_files(&lab);
    lab
}

fn done(ran: Ran) -> Ran {
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    ran
}

fn encrypt(lab: &Lab, options: &str) -> Vec<u8> {
    let _ = fs::remove_file(lab.path("xip.bin"));
    done(lab.run(&format!("otfad encrypt app.elf -o xip.bin {COMMON} {options}")));
    fs::read(lab.path("xip.bin")).expect("an image")
}

fn decrypted(lab: &Lab, name: &str) -> Vec<u8> {
    done(lab.run(&format!("otfad decrypt {name} -o plain.bin --overwrite --kek kek.bin")));
    fs::read(lab.path("plain.bin")).expect("an image")
}

#[test]
fn an_image_is_encrypted_in_its_regions_only_and_comes_back() {
    let lab = files();
    let image = encrypt(&lab, "--region 0x30002000..0x30004000");
    let plain = decrypted(&lab, "xip.bin");
    let program = program();
    assert_eq!(plain.len(), PROGRAM + program.len());
    assert_eq!(image.len(), plain.len());
    assert_eq!(plain[PROGRAM..], program);
    assert_eq!(image[0x100..PROGRAM], plain[0x100..PROGRAM], "the boot header is plain");
    let same = image[PROGRAM..].iter().zip(&program).filter(|(a, b)| a == b).count();
    assert!(same < program.len() / 64, "{same} bytes are as they were");
    let verified = done(lab.run("otfad verify xip.bin app.elf --kek kek.bin"));
    assert!(verified.stdout.contains("5000 of them are encrypted"), "{}", verified.all());
    done(lab.run("otfad verify xip.bin app.bin --at 0x30002000 --kek kek.bin"));
}

#[test]
fn an_image_can_be_shown_with_and_without_the_kek() {
    let lab = files();
    encrypt(&lab, "--region 0x30002000..0x30004000,unlocked");
    let mut text = String::new();
    for options in ["", " --kek kek.bin", " --kek kek.bin --json", " --kek app.key"] {
        let ran = lab.run(&format!("otfad inspect xip.bin{options}"));
        text.push_str(&format!("$ cpb otfad inspect xip.bin{options}\n{}\n\n", ran.all()));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_flipped_bit_of_the_image_flips_that_bit_of_the_program_and_nothing_notices() {
    let lab = files();
    let image = encrypt(&lab, "--region 0x30002000..0x30004000");
    let plain = decrypted(&lab, "xip.bin");
    let (place, mask) = (PROGRAM + 1234, 0x20);
    let mut changed = image;
    changed[place] ^= mask;
    lab.write("changed.bin", &changed);
    done(lab.run("otfad inspect changed.bin --kek kek.bin"));
    let mut expected = plain;
    expected[place] ^= mask;
    assert_eq!(decrypted(&lab, "changed.bin"), expected);
    let verified = lab.run("otfad verify changed.bin app.elf --kek kek.bin");
    assert_eq!(verified.status, Some(1), "{}", verified.all());
    let words = "differ, first at 0x300024d2, in region 0, 0x30002000..0x30004000";
    assert!(verified.stdout.contains(words), "{}", verified.all());
}

#[test]
fn a_damaged_blob_is_named_and_shown() {
    let lab = files();
    let mut image = encrypt(&lab, "--region 0x30002000..0x30004000");
    image[3 * 64 + 9] ^= 1;
    lab.write("xip.bin", &image);
    let shown = lab.run("otfad inspect xip.bin --kek kek.bin");
    assert_eq!(shown.status, Some(1), "{}", shown.all());
    assert!(shown.stdout.contains("blob 3  wrong: it does not unwrap"), "{}", shown.all());
    let refused = lab.run("otfad decrypt xip.bin -o plain.bin --kek kek.bin");
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("key blob 3: it does not unwrap"), "{}", refused.all());
    assert!(!lab.path("plain.bin").exists());
}

#[test]
fn a_key_on_the_command_line_is_warned_about_and_no_key_is_printed() {
    let lab = files();
    let line = format!(
        "otfad encrypt app.elf -o xip.bin --kek kek.bin --counter app.ctr --key {KEY} \
         --region 0x30002000..0x30004000"
    );
    let ran = done(lab.run(&line));
    assert!(ran.stderr.contains("warning: --key: other users"), "{}", ran.all());
    assert!(!ran.stderr.contains("--kek"), "{}", ran.all());
    let quiet = line.replace(KEY, "env:KEY").replace("xip.bin", "same.bin");
    let from_environment = done(lab.run_with(&quiet, &[("KEY", KEY)]));
    assert!(!from_environment.stderr.contains("warning"), "{}", from_environment.all());
    let [first, second] = ["xip.bin", "same.bin"].map(|name| fs::read(lab.path(name)));
    assert_eq!(first.expect("an image"), second.expect("an image"));
    // Too short, too long, with something that is not a digit, of a variable that is not there.
    for wrong in [&KEY[1..], &format!("{KEY}00"), "env:ABSENT", &KEY.replace('f', "g")] {
        let refused = lab.run(&line.replace(KEY, wrong).replace("xip.bin", "other.bin"));
        assert_eq!(refused.status, Some(2), "{}", refused.all());
        for ran in [&ran, &from_environment, &refused] {
            assert!(!ran.all().contains(&KEY[1..9]), "{}", ran.all());
        }
    }
}

#[test]
fn a_program_without_a_boot_header_can_be_given_one() {
    let lab = files();
    let line = format!(
        "otfad encrypt app.bin --at 0x30002000 --region 0x30001000..0x30004000 {COMMON} -o xip.bin"
    );
    let bare = done(lab.run(&line));
    assert!(bare.stderr.contains("the boot ROM cannot start this image"), "{}", bare.all());
    let line = line.replace("xip.bin", "boots.bin --flash-configuration fcb.bin");
    let boots = done(lab.run(&line));
    assert!(!boots.stderr.contains("warning"), "{}", boots.all());
    let shown = done(lab.run("otfad inspect boots.bin --kek kek.bin"));
    let words = "program at 0x30002000, 13192 bytes from 0x30000000";
    assert!(shown.stdout.contains(words), "{}", shown.all());
}

#[test]
fn the_scramble_and_the_part_are_needed_to_open_an_image() {
    let lab = files();
    let scramble = "--scramble-mask env:MASK --scramble-align 0x72";
    let mask = [("MASK", "12345678")];
    let line = format!("otfad encrypt app.elf -o xip.bin {COMMON} {scramble}");
    done(lab.run_with(&format!("{line} --region 0x30002000..0x30004000"), &mask));
    let open = "otfad verify xip.bin app.elf --kek kek.bin";
    done(lab.run_with(&format!("{open} {scramble}"), &mask));
    for other in ["", "--scramble-mask env:MASK --scramble-align 0x73"] {
        let ran = lab.run_with(&format!("{open} {other}"), &mask);
        assert_eq!(ran.status, Some(2), "{}", ran.all());
    }
    let ran = lab.run_with(&format!("{open} {scramble} --part imxrt1180 --base 0x30000000"), &mask);
    assert!(ran.stderr.contains("no key blob unwraps"), "{}", ran.all());
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let lab = files();
    lab.write("short.bin", [0; 100]);
    lab.write("zeros.bin", [0; 0x3000]);
    lab.write("text.key", "not a key");
    lab.write("ram.elf", elf(&[(0x2000_0000, &[1; 64])]));
    lab.write("broken.elf", b"\x7fELF");
    encrypt(&lab, "--region 0x30002000..0x30004000");
    let encrypt = "otfad encrypt app.elf -o new.bin --kek kek.bin";
    let one = "--key app.key --counter app.ctr";
    let good = "--region 0x30002000..0x30004000";
    let lines = [
        format!("{encrypt} {one}"),
        format!("{encrypt} {one} --region 0x30002000..0x30003fff"),
        format!("{encrypt} {one} --region 0x30002000-0x30004000"),
        format!("{encrypt} {one} --region 0x30004000..0x30002000"),
        format!("{encrypt} {one} {good},read-only"),
        format!("{encrypt} {one} {good} --region 0x30004000..0x30008000"),
        format!("{encrypt} {one} {one} {good} --region 0x30003000..0x30008000"),
        format!("{encrypt} {one} --region 0x30000000..0x30004000"),
        format!("{encrypt} {one} --region 0x30002000..0x30003000"),
        format!("{encrypt} {one} --region 0x30002400..0x30004000"),
        format!("{encrypt} {one} {one} {good} --region 0x30010000..0x30020000"),
        format!(
            "{encrypt} {one} {one} {one} {one} {one} {good} --region 0x30004000..0x30005000 \
             --region 0x30005000..0x30006000 --region 0x30006000..0x30007000 --region 0x30007000..0x30008000"
        ),
        format!("{encrypt} --key text.key --counter app.ctr {good}"),
        format!("{encrypt} --key app.key --counter app.key {good}"),
        format!("{encrypt} --key absent.key --counter app.ctr {good}"),
        format!("{encrypt} {one} {good} --part imxrt1060"),
        format!("{encrypt} {one} {good} --base 0x60000000"),
        format!("{encrypt} {one} {good} --scramble-mask 12345678"),
        format!("{encrypt} {one} {good} --at 0x30002000"),
        format!("{encrypt} {one} {good} --flash-configuration fcb.bin"),
        format!("{encrypt} {one} {good} --regions x"),
        format!("otfad encrypt app.elf -o xip.bin --kek kek.bin {one} {good}"),
        format!("otfad encrypt xip.bin -o new.bin --kek kek.bin {one} {good}"),
        format!("otfad encrypt ram.elf -o new.bin --kek kek.bin {one} {good}"),
        format!("otfad encrypt broken.elf -o new.bin --kek kek.bin {one} {good}"),
        format!("otfad encrypt absent.elf -o new.bin --kek kek.bin {one} {good}"),
        format!(
            "otfad encrypt app.bin --at 0x30002000 -o new.bin --kek kek.bin {one} {good} \
             --flash-configuration app.ctr"
        ),
        format!(
            "otfad encrypt app.bin --at 0x30002000 -o new.bin --kek kek.bin {one} {good} \
             --flash-configuration fcb.bin --entry 0x2000"
        ),
        "otfad decrypt short.bin -o new.bin --kek kek.bin".to_owned(),
        "otfad decrypt zeros.bin -o new.bin --kek kek.bin".to_owned(),
        "otfad decrypt app.elf -o new.bin --kek kek.bin".to_owned(),
        "otfad decrypt xip.bin -o new.bin --kek app.key".to_owned(),
        "otfad decrypt xip.bin -o missing/new.bin --kek kek.bin".to_owned(),
        "otfad decrypt xip.bin -o - --kek kek.bin".to_owned(),
        "otfad sign xip.bin".to_owned(),
    ];
    let before = lab.content();
    let mut text = String::new();
    for line in &lines {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(2), "cpb {line}\n{}", ran.all());
        assert_eq!(ran.stdout, "", "cpb {line}");
        assert!(before == lab.content(), "cpb {line} changed something");
        text.push_str(&format!("$ cpb {line}\n{}\n\n", ran.stderr.trim_end()));
    }
    insta::assert_snapshot!(text);
}

/// A Python with SPSDK, and the script that calls it.
fn spsdk(name: &str) -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python: PathBuf = root.join(".venv/spsdk/bin/python");
    if !python.is_file() {
        skip(name, "SPSDK is not installed; `make setup` installs it");
        return None;
    }
    let mut command = Command::new(python);
    command.arg(root.join("crates/otfad/tests/peer/spsdk_images.py"));
    Some(command)
}

fn lines_of(mut command: Command) -> Vec<Value> {
    let output = command.output().expect("Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn spsdk_reads_a_bootable_image_of_cpb() {
    let Some(mut command) = spsdk("spsdk_reads_a_bootable_image_of_cpb") else { return };
    let lab = files();
    // SPSDK looks for the reset vector in plain text: in its first KiB, this program is not encrypted.
    let image = encrypt(&lab, "--region 0x30002400..0x30004000 --allow-plain");
    command.arg("parse").arg(lab.path("xip.bin"));
    // SPSDK 3.12 parses no bootable image without its cache.
    command.env("SPSDK_CACHE_FOLDER", lab.path("cache"));
    let found = &lines_of(command)[0];
    assert_eq!(found["segments"], serde_json::json!(["keyblob", "fcb", "hab_container"]));
    assert_eq!(found["errors"], Value::Null);
    let blobs: String = image[..256].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found["blobs"], blobs);
}

#[test]
fn the_command_makes_the_images_of_spsdk() {
    let Some(mut command) = spsdk("the_command_makes_the_images_of_spsdk") else { return };
    let lab = files();
    command.args(["cases", "7", "60"]).env("SPSDK_CACHE_FOLDER", lab.path("cache"));
    let mut compared = 0;
    for case in lines_of(command) {
        let text = |name: &str| case[name].as_str().expect("a text").to_owned();
        let number = |value: &Value| value.as_u64().expect("a number");
        let image = bytes(&text("image"));
        let end = number(&case["at"]) + image.len() as u64;
        let contexts = case["contexts"].as_array().expect("contexts");
        // The command has no use for contexts that are not valid or hold nothing.
        if contexts.iter().any(|one| one["valid"] != true || number(&one["start_address"]) >= end) {
            continue;
        }
        lab.write("image.bin", &image);
        lab.write("case.kek", text("kek"));
        let mut line = format!(
            "otfad encrypt image.bin --allow-plain --overwrite -o made.bin --kek case.kek --part {} --at {}",
            text("part"),
            case["at"]
        );
        for (index, one) in contexts.iter().enumerate() {
            lab.write(&format!("{index}.key"), one["aes_key"].as_str().expect("digits"));
            let counter = one["aes_ctr"].as_str().expect("digits");
            let flag = |name: &str, word| if one[name] == true { "" } else { word };
            line.push_str(&format!(
                " --region {}..{}{}{} --key {index}.key --counter {counter}",
                one["start_address"],
                one["end_address"],
                flag("read_only", ",unlocked"),
                flag("aes_decryption_enable", ",bypass")
            ));
        }
        if let Some(mask) = case["scramble"]["key_scramble_mask"].as_u64() {
            lab.write("mask", format!("{mask:08x}"));
            let align = &case["scramble"]["key_scramble_align"];
            line.push_str(&format!(" --scramble-mask mask --scramble-align {align}"));
        }
        done(lab.run(&line));
        let made = fs::read(lab.path("made.bin")).expect("an image");
        assert!(made == bytes(&text("encrypted"))[..made.len()], "cpb {line}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} images");
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
    let pairs = hexadecimal.as_bytes().chunks_exact(2);
    pairs.map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
