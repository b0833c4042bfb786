//! This cpb with its loader and libraries, for guests of this machine's architecture when there is no static cpb.
//!
//! The libraries need not be searched: the loader has mapped them into this process. Structures and numbers
//! are from System V's ABI, "Object Files" and "Program Loading and Dynamic Linking".

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A program, and the files that it needs to start.
pub(super) struct Linked {
    /// The program, without the parts that are not loaded.
    pub(super) program: Vec<u8>,
    /// Its loader and libraries, by their paths from the root.
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Parts of the C library that belong to it: programs and libraries of the guest may ask for them, and other
/// versions do not fit.
const OF_THE_C_LIBRARY: [&str; 4] = ["libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"];
const C_LIBRARY: &str = "libc.so.6";

impl Linked {
    /// The files of this process.
    ///
    /// # Errors
    /// Returns an error if one of its files cannot be read, or if it is not linked dynamically to glibc.
    pub(super) fn own() -> Result<Linked> {
        let own = std::env::current_exe().context("cannot find cpb's own executable")?;
        let program = read(&own)?;
        let elf = Elf::of(&program).context("cpb's own executable is no 64-bit ELF file")?;
        let loader = elf.interpreter().context("cpb's own executable names no loader")?;
        let loader_file = Path::new(&loader).canonicalize().with_context(|| loader.clone())?;
        let mut files = BTreeMap::from([(relative(Path::new(&loader)), read(&loader_file)?)]);
        let mapped = mapped(&fs::read_to_string("/proc/self/maps").context("/proc/self/maps")?);
        let mut libraries = BTreeMap::new();
        for path in mapped.into_iter().filter(|path| *path != own && *path != loader_file) {
            let bytes = read(&path)?;
            // Other files were mapped as data.
            if let Some(name) = Elf::of(&bytes).and_then(|elf| elf.soname()) {
                libraries.insert(name, (path, bytes));
            }
        }
        // The loader looks in the C library's folder by default.
        let Some((c_library, _)) = libraries.get(C_LIBRARY) else {
            bail!("cpb is linked to a C library other than glibc");
        };
        let folder = c_library.parent().unwrap_or(Path::new("/")).to_owned();
        for name in OF_THE_C_LIBRARY {
            if let Ok(bytes) = fs::read(folder.join(name)) {
                files.insert(relative(&folder.join(name)), bytes);
            }
        }
        let found =
            libraries.into_iter().map(|(name, (_, bytes))| (relative(&folder.join(name)), bytes));
        files.extend(found);
        Ok(Linked {
            program: loadable(&program).context("cpb's own executable is damaged")?,
            files,
        })
    }

    /// Whether one of its files has this name, in any folder.
    pub(super) fn replaces(&self, path: &Path) -> bool {
        let name = |file: &str| Path::new(file).file_name() == path.file_name();
        self.files.keys().any(|file| name(file))
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

/// A path from the root, without the first slash.
fn relative(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches('/').to_owned()
}

/// The files that proc_pid_maps(5) names, each once.
fn mapped(maps: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        if let Some(place) = line.find(" /") {
            let path = PathBuf::from(&line[place + 1..]);
            if !paths.contains(&path) && path.is_file() {
                paths.push(path);
            }
        }
    }
    paths
}

/// A 64-bit little-endian ELF file.
struct Elf<'a> {
    bytes: &'a [u8],
}

/// An entry of the program header table, with the fields used here.
struct LoadSegment {
    kind: u64,
    offset: usize,
    address: u64,
    length: usize,
}

const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
const INTERPRETER: u64 = 3;

/// Kinds of entries of the dynamic section.
const STRING_TABLE: u64 = 5;
const SONAME: u64 = 14;

/// The range of the header that locates the section header table and gives its number of entries. Sections
/// are not loaded.
const SECTIONS: std::ops::Range<usize> = 40..48;
const SECTION_COUNTS: std::ops::Range<usize> = 60..64;

impl<'a> Elf<'a> {
    fn of(bytes: &'a [u8]) -> Option<Elf<'a>> {
        let begins = [0x7f, b'E', b'L', b'F', 2, 1];
        (bytes.starts_with(&begins) && bytes.len() >= 64).then_some(Elf { bytes })
    }

    /// An unsigned number of `size` bytes.
    fn number(&self, place: usize, size: usize) -> Option<u64> {
        let bytes = self.bytes.get(place..place.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn segments(&self) -> Option<Vec<LoadSegment>> {
        let table = usize::try_from(self.number(32, 8)?).ok()?;
        let [size, count] = [self.number(54, 2)? as usize, self.number(56, 2)? as usize];
        let segment = |index: usize| {
            let place = table.checked_add(index * size)?;
            Some(LoadSegment {
                kind: self.number(place, 4)?,
                offset: usize::try_from(self.number(place.checked_add(8)?, 8)?).ok()?,
                address: self.number(place.checked_add(16)?, 8)?,
                length: usize::try_from(self.number(place.checked_add(32)?, 8)?).ok()?,
            })
        };
        (0..count).map(segment).collect()
    }

    /// The text that begins at `place`.
    fn text(&self, place: usize) -> Option<String> {
        let bytes = self.bytes.get(place..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        String::from_utf8(bytes[..end].to_vec()).ok()
    }

    /// The loader's path.
    fn interpreter(&self) -> Option<String> {
        let segments = self.segments()?;
        self.text(segments.iter().find(|segment| segment.kind == INTERPRETER)?.offset)
    }

    /// The name under which a library is requested.
    fn soname(&self) -> Option<String> {
        let segments = self.segments()?;
        let dynamic = segments.iter().find(|segment| segment.kind == DYNAMIC)?;
        let entry = |kind: u64| {
            let places = (dynamic.offset..dynamic.offset.checked_add(dynamic.length)?).step_by(16);
            let mut of_this_kind = places.filter(|place| self.number(*place, 8) == Some(kind));
            self.number(of_this_kind.next()?.checked_add(8)?, 8)
        };
        let strings = entry(STRING_TABLE)?;
        let holds = |segment: &&LoadSegment| {
            segment.kind == LOAD
                && strings.checked_sub(segment.address).is_some_and(|at| at < segment.length as u64)
        };
        let segment = segments.iter().find(holds)?;
        let place = (strings - segment.address).checked_add(entry(SONAME)?)?;
        self.text(segment.offset.checked_add(usize::try_from(place).ok()?)?)
    }
}

/// A program without the data after its segments, most of which is for debuggers.
fn loadable(program: &[u8]) -> Option<Vec<u8>> {
    let segments = Elf::of(program)?.segments()?;
    let ends = segments.iter().map(|segment| segment.offset.checked_add(segment.length));
    let end = ends.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
    let mut kept = program.get(..end)?.to_vec();
    kept.get_mut(SECTIONS)?.fill(0);
    kept.get_mut(SECTION_COUNTS)?.fill(0);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn a_program_with_its_files_runs_where_there_is_nothing_else() {
        if cfg!(target_feature = "crt-static") {
            // The program is complete without other files.
            return;
        }
        let linked = Linked::own().expect("its parts");
        let root = tempfile::tempdir().expect("a folder");
        let mut files = linked.files;
        files.insert("program".to_owned(), linked.program);
        for (path, bytes) in &files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            fs::write(&path, bytes).expect("room");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        let start = |root: &Path, program: &str| {
            let mut command = Command::new("unshare");
            command
                .args(["--user", "--map-root-user", "--root"])
                .arg(root)
                .args([program, "--list"]);
            command.output().expect("util-linux")
        };
        if !start(Path::new("/"), "/bin/true").status.success() {
            println!("SKIPPED: this user may not make a user namespace");
            return;
        }
        let ran = start(root.path(), "/program");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{:?}: {said}", files.keys());
        assert!(String::from_utf8_lossy(&ran.stdout).contains("runs_where_there_is_nothing_else"));
    }

    #[test]
    fn a_damaged_file_has_no_parts() {
        let own = fs::read(std::env::current_exe().expect("a program")).expect("its bytes");
        for length in [0, 3, 63, 64, 200] {
            let cut = &own[..length];
            assert!(loadable(cut).is_none(), "{length}");
            assert!(Elf::of(cut).is_none_or(|elf| elf.soname().is_none()), "{length}");
        }
        let mut wild = own[..4096].to_vec();
        wild[32..40].fill(0xff);
        assert!(loadable(&wild).is_none());
    }
}
