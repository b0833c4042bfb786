//! Reads what object files define, so that two builds of one library can be linked into one binary.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Endianness, Object, ObjectSection, ObjectSymbol};

/// Returns the names that `objects` define for other files, as C spells them.
pub(crate) fn defined(objects: &[PathBuf]) -> Result<BTreeSet<String>, String> {
    collect(objects, true)
}

/// Returns the names that `objects` need from other files.
pub(crate) fn undefined(objects: &[PathBuf]) -> Result<BTreeSet<String>, String> {
    collect(objects, false)
}

/// Returns the `count` unsigned 32-bit values of the array `name` in `object`.
pub(crate) fn array(object: &Path, name: &str, count: usize) -> Result<Vec<u32>, String> {
    let bytes = fs::read(object).map_err(|e| format!("{}: {e}", object.display()))?;
    let file = parse(object, &bytes)?;
    let values = file
        .symbols()
        .find(|s| s.name().is_ok_and(|n| c_name(&file, n) == name))
        .and_then(|symbol| {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let start = (symbol.address() - section.address()) as usize;
            section.data().ok()?.get(start..start + 4 * count)
        })
        .ok_or_else(|| format!("{}: no array {name} of {count} values", object.display()))?;
    let big = file.endianness() == Endianness::Big;
    Ok(values
        .chunks_exact(4)
        .map(|b| {
            let b = [b[0], b[1], b[2], b[3]];
            if big { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) }
        })
        .collect())
}

fn collect(objects: &[PathBuf], definitions: bool) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for path in objects {
        let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = parse(path, &bytes)?;
        let wanted = file.symbols().filter(|s| {
            if definitions { s.is_global() && s.is_definition() } else { s.is_undefined() }
        });
        names.extend(
            wanted
                .filter_map(|s| s.name().ok())
                .filter(|n| !n.is_empty())
                .map(|n| c_name(&file, n)),
        );
    }
    Ok(names)
}

fn parse<'data>(path: &Path, bytes: &'data [u8]) -> Result<object::File<'data>, String> {
    object::File::parse(bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// Mach-O writes an underscore before each C name.
fn c_name(file: &object::File<'_>, name: &str) -> String {
    let plain = match file.format() {
        object::BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
        _ => name,
    };
    plain.to_string()
}
