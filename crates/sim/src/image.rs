//! A program: the segments and symbols of an ELF file.

use crate::machine::Machine;
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind, elf};
use std::fmt;

/// An error in a program's file.
#[derive(Debug)]
pub struct ImageError(String);

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImageError {}

impl From<object::read::Error> for ImageError {
    fn from(error: object::read::Error) -> Self {
        ImageError(format!("not an ELF file that can be read: {error}"))
    }
}

/// Bytes and their address.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The address at which a loader or a programmer puts them.
    pub address: u32,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A name for a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name in the file.
    pub name: String,
    /// First address, without the Thumb bit.
    pub address: u32,
    /// Size in bytes; 0 if the file does not state it.
    pub size: u32,
    /// Whether it is code.
    pub is_function: bool,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Image {
    /// The entry point, without the Thumb bit.
    pub entry: u32,
    /// The loadable segments, in the order of the file.
    pub segments: Vec<Segment>,
    /// The symbols, sorted by address.
    pub symbols: Vec<Symbol>,
}

impl Image {
    /// Parses an ELF file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged or not a little-endian 32-bit Arm executable.
    pub fn parse(file: &[u8]) -> Result<Image, ImageError> {
        let elf = ElfFile32::<Endianness>::parse(file)?;
        let header = elf.elf_header();
        let endian = header.endian()?;
        if header.e_machine.get(endian) != elf::EM_ARM || endian != Endianness::Little {
            return Err(ImageError("not a program for a little-endian Arm".to_owned()));
        }
        let mut segments = Vec::new();
        for segment in header.program_headers(endian, file)? {
            if segment.p_type(endian) != elf::PT_LOAD || segment.p_filesz(endian) == 0 {
                continue;
            }
            let bytes = segment
                .data(endian, file)
                .map_err(|()| ImageError("a segment lies outside the file".to_owned()))?;
            segments.push(Segment { address: segment.p_paddr(endian), bytes: bytes.to_vec() });
        }
        if segments.is_empty() {
            return Err(ImageError("there is nothing to load in it".to_owned()));
        }
        Ok(Image { entry: elf.entry() as u32 & !1, segments, symbols: symbols(&elf) })
    }

    /// What a programmer writes into flash from `address` on. It has no entry point and no symbols: the boot ROM
    /// finds the program.
    pub fn flash(address: u32, bytes: Vec<u8>) -> Image {
        Image { entry: 0, segments: vec![Segment { address, bytes }], symbols: Vec::new() }
    }

    /// The symbol that contains `address`, and the offset from its start.
    pub fn symbol_at(&self, address: u32) -> Option<(&Symbol, u32)> {
        let behind = self.symbols.partition_point(|s| s.address <= address);
        let candidates = self.symbols[..behind].iter().rev().take(16);
        let inside = |s: &&Symbol| s.size == 0 || address - s.address < s.size;
        candidates.filter(inside).map(|s| (s, address - s.address)).next()
    }

    /// The function with this name, mangled or not.
    pub fn function(&self, name: &str) -> Option<&Symbol> {
        let name = readable(name);
        self.symbols.iter().find(|s| s.is_function && s.name == name)
    }

    /// `name+0x10`, or `?` if no symbol contains the address.
    pub fn describe(&self, address: u32) -> String {
        match self.symbol_at(address) {
            Some((symbol, 0)) => symbol.name.clone(),
            Some((symbol, offset)) => format!("{}+{offset:#x}", symbol.name),
            None => "?".to_owned(),
        }
    }

    /// Loads the program into memory, at the addresses for the start of the core.
    ///
    /// # Errors
    ///
    /// Returns an error if a segment is outside the chip's memories.
    pub fn load(&self, machine: &mut Machine) -> Result<(), ImageError> {
        for segment in &self.segments {
            if !machine.memory.load(segment.address, &segment.bytes) {
                let (first, size) = (segment.address, segment.bytes.len());
                let memories: Vec<String> = machine
                    .memory
                    .regions()
                    .iter()
                    .map(|region| {
                        let range = region.range();
                        format!("{} {:#010x} to {:#010x}", region.name, range.0, range.1)
                    })
                    .collect();
                return Err(ImageError(format!(
                    "{size} bytes belong at {first:#010x}, where {} has no memory: {}",
                    machine.chip.name,
                    memories.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// A symbol's name as in its source: Rust names without their hash, C names unchanged.
fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn symbols(elf: &ElfFile32<'_, Endianness>) -> Vec<Symbol> {
    let mut all: Vec<Symbol> = elf
        .symbols()
        .filter(|s| s.is_definition() && matches!(s.kind(), SymbolKind::Text | SymbolKind::Data))
        .filter_map(|s| {
            let name = s.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
            let function = s.kind() == SymbolKind::Text;
            let thumb = u32::from(function);
            Some(Symbol {
                name: readable(name),
                address: s.address() as u32 & !thumb,
                size: s.size() as u32,
                is_function: function,
            })
        })
        .collect();
    // If an address has several names, the one with the longest range is sorted last, so that it is found.
    all.sort_by_key(|a| (a.address, a.is_function, a.size));
    all
}
