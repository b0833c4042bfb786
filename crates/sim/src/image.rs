//! A program: an ELF file's segments and symbols.

use crate::machine::Machine;
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind, elf};
use std::fmt;

/// What is wrong with a program's file.
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

/// Bytes and where they belong.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Where a loader or a programmer puts them.
    pub address: u32,
    /// What is there.
    pub bytes: Vec<u8>,
}

/// A name for a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As the file has it.
    pub name: String,
    /// First address, without the Thumb bit.
    pub address: u32,
    /// Bytes; 0 where the file does not say.
    pub size: u32,
    /// Code.
    pub is_function: bool,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Image {
    /// Where it begins, without the Thumb bit.
    pub entry: u32,
    /// What is loaded, as the file orders it.
    pub segments: Vec<Segment>,
    /// By address.
    pub symbols: Vec<Symbol>,
}

impl Image {
    /// Reads an ELF file.
    ///
    /// # Errors
    ///
    /// It is not a little-endian 32-bit Arm executable, or it is damaged.
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

    /// The symbol that `address` belongs to, and how far into it.
    pub fn symbol_at(&self, address: u32) -> Option<(&Symbol, u32)> {
        let behind = self.symbols.partition_point(|s| s.address <= address);
        let candidates = self.symbols[..behind].iter().rev().take(16);
        let inside = |s: &&Symbol| s.size == 0 || address - s.address < s.size;
        candidates.filter(inside).map(|s| (s, address - s.address)).next()
    }

    /// A function by its name, mangled or not.
    pub fn function(&self, name: &str) -> Option<&Symbol> {
        let name = readable(name);
        self.symbols.iter().find(|s| s.is_function && s.name == name)
    }

    /// `name+0x10`, or nothing where no symbol is.
    pub fn describe(&self, address: u32) -> String {
        match self.symbol_at(address) {
            Some((symbol, 0)) => symbol.name.clone(),
            Some((symbol, offset)) => format!("{}+{offset:#x}", symbol.name),
            None => "?".to_owned(),
        }
    }

    /// Puts the program into memory, where it is to be when the core starts.
    ///
    /// # Errors
    ///
    /// A segment lies where the chip has no memory.
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

/// A symbol's name as its source has it: Rust's without their hash, C's as they are.
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
    // Of several names of one address the longest range comes last, so it is the one found.
    all.sort_by_key(|a| (a.address, a.is_function, a.size));
    all
}
