//! `cargo xtask size [FILE]`: the sizes of the parts of a built cpb in bytes: its sections, and the owners of their
//! code and data. Without FILE, the x86-64 static binary that `cargo xtask static --symbols` leaves in the build
//! directory.
//!
//! FILE should be in cargo's build directory, because C libraries and carried files are recognised by other files of
//! the same build (`size/origins.rs`).

mod origins;
mod pieces;
mod symbols;

use crate::static_build;
use object::{Object, ObjectSection, SectionKind};
use origins::Origins;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Owners below this share are combined, except carried files.
const LEAST_SHARE: f64 = 0.002;

/// The bytes that belong to one owner.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Bytes {
    code: u64,
    data: u64,
}

impl Bytes {
    fn all(self) -> u64 {
        self.code + self.data
    }
}

/// A section, as far as it takes space in the file.
struct Section {
    name: String,
    address: u64,
    bytes: u64,
    is_code: bool,
    /// Whether it is mapped into memory when the program starts.
    is_loaded: bool,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let path = match arguments {
        [] => static_build::with_symbols("x86_64-unknown-linux-musl"),
        [path] => PathBuf::from(path),
        _ => return Err("usage: cargo xtask size [FILE]".to_owned()),
    };
    let content = fs::read(&path).map_err(|error| {
        format!(
            "{}: {error}; `cargo xtask static --symbols` builds the one for x86-64",
            path.display()
        )
    })?;
    let elf = object::File::parse(&*content)
        .map_err(|error| format!("{} is no ELF file: {error}", path.display()))?;
    let sections = sections(&elf);
    println!("{}: {} bytes\n", path.display(), content.len());
    print!("{}", table_of_sections(&sections, content.len() as u64));
    if elf.symbols().next().is_none() {
        return Err(format!(
            "{} has no symbol table, which attributes bytes to crates and libraries; `cargo xtask static --symbols TARGET` keeps them",
            path.display()
        ));
    }
    let origins = Origins::beside(&path)?;
    println!("\n{}", table_of_owners(&owners(&elf, &sections, &origins)));
    Ok(())
}

fn sections(elf: &object::File) -> Vec<Section> {
    let sections = elf.sections().filter(|section| section.file_range().is_some());
    sections
        .map(|section| Section {
            name: section.name().unwrap_or("?").to_owned(),
            address: section.address(),
            bytes: section.file_range().map_or(0, |(_, bytes)| bytes),
            is_code: section.kind() == SectionKind::Text,
            // A section that is not loaded has no address.
            is_loaded: section.address() != 0,
        })
        .collect()
}

/// The owner of each loaded byte: a carried file, a symbol, or otherwise the section.
fn owners(elf: &object::File, sections: &[Section], origins: &Origins) -> BTreeMap<String, Bytes> {
    let symbols = symbols::of(elf, origins);
    let mut found: BTreeMap<String, Bytes> = BTreeMap::new();
    for section in sections.iter().filter(|section| section.is_loaded) {
        let mut add = |owner: &str, bytes: u64| {
            let total = found.entry(owner.to_owned()).or_default();
            if section.is_code {
                total.code += bytes;
            } else {
                total.data += bytes;
            }
        };
        let content = elf.section_by_name(&section.name).and_then(|found| found.data().ok());
        let mut pieces = symbols::within(&symbols, section.address, section.bytes);
        if !section.is_code {
            // Later pieces cover earlier ones, because a carried file is more specific than the constant that
            // contains it.
            pieces.extend(origins.carried(content.unwrap_or_default()));
        }
        let mut left = section.bytes;
        for (owner, bytes) in pieces::painted(&pieces, section.bytes) {
            add(owner, bytes);
            left -= bytes;
        }
        add(&format!("without a symbol, {}", section.name), left);
    }
    found.retain(|_, bytes| bytes.all() > 0);
    found
}

fn table_of_sections(sections: &[Section], whole: u64) -> String {
    let mut sorted: Vec<&Section> = sections.iter().collect();
    sorted.sort_by_key(|section| std::cmp::Reverse(section.bytes));
    let mut text = format!("{:<40} {:>12} {:>7}\n", "section", "bytes", "share");
    let (shown, small): (Vec<&Section>, Vec<&Section>) =
        sorted.into_iter().partition(|section| share(section.bytes, whole) >= LEAST_SHARE);
    let mut line = |name: &str, bytes| {
        text += &format!("{name:<40} {bytes:>12} {:>5.1} %\n", 100.0 * share(bytes, whole));
    };
    for section in shown {
        let unloaded = if section.is_loaded { "" } else { " (not loaded)" };
        line(&format!("{}{unloaded}", section.name), section.bytes);
    }
    line(&format!("{} others", small.len()), small.iter().map(|section| section.bytes).sum());
    text
}

fn table_of_owners(owners: &BTreeMap<String, Bytes>) -> String {
    let whole = owners.values().map(|bytes| bytes.all()).sum();
    let mut sorted: Vec<(&String, Bytes)> =
        owners.iter().map(|(name, bytes)| (name, *bytes)).collect();
    sorted.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.all()));
    let (shown, small): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|(name, bytes)| {
        share(bytes.all(), whole) >= LEAST_SHARE || name.starts_with("carried")
    });
    let mut text = format!(
        "{:<40} {:>12} {:>7} {:>12} {:>12}\n",
        "of what is loaded", "bytes", "share", "code", "data"
    );
    let mut line = |name: &str, bytes: Bytes| {
        let share = 100.0 * share(bytes.all(), whole);
        text += &format!(
            "{name:<40} {:>12} {share:>5.1} % {:>12} {:>12}\n",
            bytes.all(),
            bytes.code,
            bytes.data
        );
    };
    let sum = |rows: &[(&String, Bytes)]| Bytes {
        code: rows.iter().map(|(_, bytes)| bytes.code).sum(),
        data: rows.iter().map(|(_, bytes)| bytes.data).sum(),
    };
    shown.iter().for_each(|(name, bytes)| line(name, *bytes));
    line(&format!("{} others", small.len()), sum(&small));
    line("all", sum(&[shown, small].concat()));
    text
}

fn share(bytes: u64, whole: u64) -> f64 {
    bytes as f64 / whole.max(1) as f64
}
