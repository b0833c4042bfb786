//! Flash that a simulated i.MX RT1170 decrypts as it reads it: an image of `cpb otfad encrypt` boots and runs, and what
//! happens if it was changed.

use super::sim::{cpb, image};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// After the boot header, which stays plain here.
const REGION: &str = "0x30002000..0x30100000";
const KEY: &str = "aabbccddeeff00112233445566778899";
const KEK: &str = "000102030405060708090a0b0c0d0e0f";

/// An image that is encrypted with `key`, with its fuses beside it.
fn encrypted(folder: &Path, elf: &Path, key: &str) -> PathBuf {
    let file = folder.join(format!("{key}.bin"));
    let output = cpb()
        .args(["otfad", "encrypt"])
        .arg(elf)
        .arg("-o")
        .arg(&file)
        .args(["--region", REGION, "--key", "env:OTFAD_KEY", "--kek", "env:OTFAD_KEK"])
        .args(["--counter", "0123456789abcdef"])
        .env("OTFAD_KEY", key)
        .env("OTFAD_KEK", KEK)
        .output()
        .expect("cpb runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fuses = format!("part = 'imxrt1170'\nkek = '{KEK}'\n");
    std::fs::write(format!("{}.fuses.toml", file.display()), fuses).expect("a file");
    file
}

/// Runs an image, which ends at the latest after some seconds.
fn simulated(image: &Path) -> Output {
    let mut command = cpb();
    command.arg("sim").arg(image).args(["--chip", "imxrt1170", "--max-cycles", "40000000"]);
    command.output().expect("cpb runs")
}

/// Reads 4 KiB of flash through a record; the text of the run.
fn reads(folder: &Path, image: &Path) -> (bool, String) {
    let plan = folder.join("reads.toml");
    let text = "name = 'reads'\nreason = 'a test'\nproviders = ['memory']\nbudget = '1s'\n\
                [[memory-read]]\nregion = 'flash'\nwidths = ['32-bit']\npatterns = ['linear']\nsizes = ['4K']\n";
    std::fs::write(&plan, text).expect("a file");
    let record = folder.join("reads.jsonl");
    _ = std::fs::remove_file(&record);
    let mut command = cpb();
    command.arg("run").arg("--plan").arg(plan).arg("-o").arg(&record).arg("--target");
    command.arg(format!("imxrt1170-sim:{}", image.display()));
    let output = command.output().expect("cpb runs");
    let text = [output.stdout, output.stderr].concat();
    let record = std::fs::read_to_string(record).unwrap_or_default();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned() + &record)
}

#[test]
fn the_figures_of_make_otfad_are_those_that_were_kept() {
    let name = "the_figures_of_make_otfad_are_those_that_were_kept";
    let Some(image) = image(name, "imxrt1170-evk-O2") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("python3")
        .arg(root.join("bench/otfad.py"))
        .args(["--check", "--budget", "6s", "--cpb", env!("CARGO_BIN_EXE_cpb"), "--images"])
        .arg(image.parent().expect("a folder"))
        .output()
        .expect("Python");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "`make otfad` keeps new ones:\n{text}");
    assert!(text.contains("84 cells, 0 differ"), "{text}");
}

/// The counter mode proves nothing: the image boots, and only the bytes that were changed are wrong.
#[test]
fn an_encrypted_image_runs_and_a_changed_bit_of_it_is_only_noticed_by_who_knows_the_bytes() {
    let name =
        "an_encrypted_image_runs_and_a_changed_bit_of_it_is_only_noticed_by_who_knows_the_bytes";
    let Some(elf) = image(name, "imxrt1170-evk-O2") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = encrypted(folder.path(), &elf, KEY);
    let (succeeded, text) = reads(folder.path(), &file);
    assert!(succeeded && text.contains("OTFAD on"), "{text}");

    // The buffers are the first whole pages of flash that begin like what they are filled with.
    let mut filled = [0; 64];
    cpb_core::sums::fill(0, &mut filled);
    let plain = std::fs::read(elf.with_extension("bin")).expect("an image");
    let offset = plain.windows(64).position(|bytes| bytes == filled).expect("the buffer");
    let mut bytes = std::fs::read(&file).expect("an image");
    bytes[offset + 1000] ^= 0x10;
    std::fs::write(&file, &bytes).expect("a file");
    let (_, text) = reads(folder.path(), &file);
    assert!(text.contains("wrong"), "it boots, and reads what was changed: {text}");
}

#[test]
fn an_image_of_another_key_runs_garbage_and_the_report_names_the_region() {
    let name = "an_image_of_another_key_runs_garbage_and_the_report_names_the_region";
    let Some(elf) = image(name, "imxrt1170-evk-O2-solo") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = encrypted(folder.path(), &elf, KEY);
    let right = std::fs::read(&file).expect("an image");
    let other = encrypted(folder.path(), &elf, "00000000000000000000000000000001");
    let blobs = std::fs::read(other).expect("an image");
    // The key blobs of another key; and code that was moved after it was encrypted. The vectors stay where they are.
    let mut another_key = right.clone();
    another_key[..256].copy_from_slice(&blobs[..256]);
    let mut moved = right.clone();
    moved.copy_within(0x2800..0x4800, 0x2400);
    for (bytes, what) in [(another_key, "another key"), (moved, "moved")] {
        std::fs::write(&file, bytes).expect("a file");
        let output = simulated(&file);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{what}: {text}");
        assert!(text.contains("0x30002000 to 0x300fffff, which OTFAD decrypts"), "{what}: {text}");
    }
    // Nothing starts if the blobs cannot be opened, or if the key is not fused.
    let mut corrupt = right;
    corrupt[70] ^= 1;
    std::fs::write(&file, corrupt).expect("a file");
    let output = simulated(&file);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("the boot ROM refuses the image: key blob 1"), "{text}");
}

/// Cycles of an operation of `plan` by provider and workload, on a simulated board with this image.
fn cycles(
    folder: &Path,
    plan: &Path,
    providers: &str,
    image: &Path,
) -> HashMap<(String, String), f64> {
    let record = folder.join(format!("{}.jsonl", image.file_name().expect("a name").display()));
    let mut command = cpb();
    command.args(["run", "-q", "--budget", "4s", "-p", providers, "--plan"]);
    command.arg(plan).arg("-o").arg(&record).arg("--target");
    command.arg(format!("imxrt1170-sim:{}", image.display()));
    let output = command.output().expect("cpb runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = cpb().arg("show").arg(&record).arg("--csv").output().expect("cpb runs");
    let mut rows = csv::Reader::from_reader(&output.stdout[..]);
    let heads = rows.headers().expect("heads").clone();
    let column = |name: &str| heads.iter().position(|head| head == name).expect("a column");
    let [provider, workload, cycles] = ["provider", "workload", "cycles"].map(column);
    rows.records()
        .map(|row| row.expect("a row"))
        .filter_map(|row| {
            let key = (row[provider].to_owned(), row[workload].to_owned());
            Some((key, row[cycles].parse().ok()?))
        })
        .collect()
}

/// Mbed TLS in place: what the caches hold costs the same from encrypted flash, and what they do not hold costs more.
#[test]
fn code_in_encrypted_flash_is_slower_only_while_it_is_fetched() {
    let name = "code_in_encrypted_flash_is_slower_only_while_it_is_fetched";
    let Some(elf) = image(name, "imxrt1170-evk-O2-code-flash") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/xip-what-if.toml");
    let of = |image: &Path| cycles(folder.path(), &plan, "null,mbedtls,mbedtls-cold", image);
    let (plain, decrypted) = (of(&elf), of(&encrypted(folder.path(), &elf, KEY)));
    assert_eq!(plain.len(), decrypted.len());
    for operation in ["sha-256/hash/message/1024", "aes-128-cbc/encrypt/message/1024"] {
        let ways = [("mbedtls", ""), ("mbedtls-cold", "/build-before")];
        let of = |run: &HashMap<_, f64>| {
            ways.map(|(provider, end)| run[&(provider.to_owned(), format!("{operation}{end}"))])
        };
        let ([warm, cold], [warm_too, slower]) = (of(&plain), of(&decrypted));
        assert!((warm_too / warm - 1.0).abs() < 0.001, "{operation}: {warm} and {warm_too}");
        assert!(cold > 1.5 * warm, "{operation}: {warm} and {cold}");
        assert!((0.99..1.1).contains(&(slower / cold)), "{operation}: {cold} and {slower}");
    }
}

/// The clock of the flash and the command are those of the image's flash configuration block.
#[test]
fn the_flash_is_read_as_the_image_s_configuration_block_says() {
    let name = "the_flash_is_read_as_the_image_s_configuration_block_says";
    let Some(elf) = image(name, "imxrt1170-evk-O2") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bytes = std::fs::read(elf.with_extension("bin")).expect("an image");
    let changed = |what: &str, offset: usize, value: u8| {
        let (mut bytes, file) = (bytes.clone(), folder.path().join(format!("{what}.bin")));
        bytes[offset] = value;
        std::fs::write(&file, bytes).expect("a file");
        file
    };
    let plan = folder.path().join("stream.toml");
    let text = "name = 'stream'\nreason = 'a test'\nproviders = ['memory']\nbudget = '1s'\n\
                [[memory-read]]\nregion = 'flash'\nwidths = ['32-bit']\npatterns = ['ping-pong']\n\
                cache = 'cache-disabled'\nsizes = ['4K']\n";
    std::fs::write(&plan, text).expect("a file");
    let of = |file: &Path| {
        let run = cycles(folder.path(), &plan, "null,memory", file);
        run[&("memory".into(), "memory-read/32-bit/ping-pong/4096/flash/cache-disabled".into())]
    };
    // Clock 5 of the boot ROM is 99 MHz, 7 is 133; the third instruction of the look-up table has the dummies. Each load
    // is a command of 52 clocks, and then a beat of 16.
    let usual = of(&changed("usual", 0x446, 5));
    let faster = of(&changed("faster", 0x446, 7));
    let dummies = of(&changed("dummies", 0x484, 16));
    assert!((usual / faster / (133.0 / 99.0) - 1.0).abs() < 0.02, "{usual} and {faster}");
    assert!((dummies / usual / (78.0 / 68.0) - 1.0).abs() < 0.02, "{usual} and {dummies}");
    for (offset, value, words) in [
        (0x446, 12, "asks for clock 12 of the flash, which this chip does not have"),
        (0x483, 0x20, "whose instruction 1 has code 0x08"),
    ] {
        let output = simulated(&changed("wrong", offset, value));
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(words), "{text}");
    }
}
