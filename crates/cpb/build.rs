//! Takes into cpb what it is to carry: plans, published records, boards and known answers, each file compressed, as
//! their folders hold them, and the sources of the kernel's runner, which the lab builds for its guests; where `CPB_CARRIED_FIRMWARE` names a folder, the firmware of simulated boards in it, which needs a
//! cross compiler and is built before; and, where `CPB_CARRIED_RUNNER` names one, a runner for the system's libraries:
//! `cargo xtask static` builds it first, for a cpb that is linked statically and cannot load libraries itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fmt::Write, fs, io};

/// The folders whose files are carried, their files' ending, and what the library calls them.
const FOLDERS: [(&str, &str, &str); 4] = [
    ("plans", "toml", "PLANS"),
    ("records", "jsonl", "RECORDS"),
    ("boards", "toml", "BOARDS"),
    ("vectors", "json", "VECTORS"),
];

/// The folder of the kernel's runner, and the ends of its sources' names.
const KERNEL_RUNNER: (&str, [&str; 3]) = ("lab/kmod", [".c", ".h", "Kbuild"]);

/// The byte that stands for a string of hexadecimal digits in a packed text; three bytes with the number of bytes and
/// the bytes themselves follow. `library.rs` turns them into digits again. Known answers are such strings. Digits
/// compressed as text take a sixth more space, because a short match costs more than the digits.
const HEX_MARK: u8 = 1;

/// Shorter strings stay as they are.
const LEAST_DIGITS: usize = 16;

/// Higher levels take seconds in a build script, which is not optimised, and gain a few percent.
const LEVEL: u8 = 6;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=CPB_CARRIED_RUNNER");
    println!("cargo:rerun-if-changed=build.rs");
    let root = named("CARGO_MANIFEST_DIR").unwrap_or_default().join("../..");
    let out = named("OUT_DIR").unwrap_or_default();
    let mut tables = String::new();
    let runner: Vec<PathBuf> = named("CPB_CARRIED_RUNNER").into_iter().collect();
    tables += &table_of("RUNNER", &runner, &out, whole, Path::file_stem)?;
    for (folder, ending, table) in FOLDERS {
        let folder = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut all = files(&folder)?;
        all.retain(|path| path.extension().is_some_and(|found| found == ending));
        tables += &table_of(table, &all, &out, with_packed_hex, Path::file_stem)?;
    }
    let (folder, endings) = KERNEL_RUNNER;
    let folder = root.join(folder);
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut sources = files(&folder)?;
    // A build leaves more there.
    sources.retain(|path| {
        let name = path.to_string_lossy();
        !name.ends_with(".mod.c") && endings.iter().any(|ending| name.ends_with(ending))
    });
    tables += &table_of("KERNEL_RUNNER", &sources, &out, with_packed_hex, Path::file_name)?;
    println!("cargo:rerun-if-env-changed=CPB_CARRIED_FIRMWARE");
    let mut images = match named("CPB_CARRIED_FIRMWARE") {
        Some(folder) => files(&folder)?,
        None => Vec::new(),
    };
    // Those that a target takes; other places of code and data are for experiments.
    images.retain(|path| path.to_string_lossy().ends_with("-O2.elf"));
    tables += &table_of("FIRMWARE", &images, &out, loadable, Path::file_stem)?;
    fs::write(out.join("carried.rs"), tables)
}

/// The path that a variable names.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    Ok(files)
}

/// A file's content as it is.
fn whole(bytes: Vec<u8>) -> Option<Vec<u8>> {
    Some(bytes)
}

/// A text whose quoted strings of hexadecimal digits are packed; `None` if it contains the mark.
fn with_packed_hex(text: Vec<u8>) -> Option<Vec<u8>> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let value = |digit: u8| digit - if digit.is_ascii_digit() { b'0' } else { b'a' - 10 };
    let mut packed = Vec::with_capacity(text.len());
    for (place, part) in text.split(|byte| *byte == b'"').enumerate() {
        let is_hex = part.len() >= LEAST_DIGITS
            && part.len().is_multiple_of(2)
            && part.len() < 1 << 24
            && part.iter().all(is_digit);
        if part.contains(&HEX_MARK) {
            return None;
        }
        if place > 0 {
            packed.push(b'"');
        }
        if is_hex {
            packed.push(HEX_MARK);
            packed.extend(&(part.len() / 2).to_le_bytes()[..3]);
            packed.extend(part.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
        } else {
            packed.extend(part);
        }
    }
    Some(packed)
}

/// A 32-bit ELF file with nothing but its header, its program headers and what they load.
fn loadable(bytes: Vec<u8>) -> Option<Vec<u8>> {
    const HEADER: usize = 52;
    const LOAD: usize = 1;
    let number = |place: usize, size: usize| {
        let bytes = bytes.get(place..place + size)?.iter().rev();
        Some(bytes.fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let [table, size, count] = [number(28, 4)?, number(42, 2)?, number(44, 2)?];
    let mut ranges = vec![0..HEADER, table..table + size * count];
    for header in (0..count).map(|index| table + index * size) {
        let (kind, offset, length) =
            (number(header, 4)?, number(header + 4, 4)?, number(header + 16, 4)?);
        if kind == LOAD {
            ranges.push(offset..offset + length);
        }
    }
    let mut kept = vec![0; ranges.iter().map(|range| range.end).max()?];
    for range in ranges {
        kept[range.clone()].copy_from_slice(bytes.get(range)?);
    }
    // Where sections were described there is nothing now.
    kept[32..36].fill(0);
    kept[46..HEADER].fill(0);
    Some(kept)
}

/// A table of files in Rust, by the part of their paths that is `named`, what is kept of each compressed into a file of
/// its own in `out`.
fn table_of(
    table: &str,
    files: &[PathBuf],
    out: &Path,
    kept: fn(Vec<u8>) -> Option<Vec<u8>>,
    named: fn(&Path) -> Option<&OsStr>,
) -> io::Result<String> {
    let mut text = format!("static {table}: &[Carried] = &[\n");
    for path in files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = named(path).unwrap_or_default().to_string_lossy().into_owned();
        let content = kept(fs::read(path)?)
            .ok_or_else(|| io::Error::other(format!("{} is no 32-bit ELF file", path.display())))?;
        let packed = miniz_oxide::deflate::compress_to_vec(&content, LEVEL);
        let place = out.join(format!("{table}-{name}"));
        fs::write(&place, packed)?;
        let entry = format!("Carried {{ name: {name:?}, packed: include_bytes!({place:?}) }}");
        writeln!(text, "    {entry},").map_err(io::Error::other)?;
    }
    Ok(text + "];\n")
}
