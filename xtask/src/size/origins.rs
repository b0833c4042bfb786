//! Files that a build left next to a program: the linked C libraries, and the files that the program carries.

use crate::size::pieces::Piece;
use crate::tree;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of archive paths, with the library's name.
const LIBRARIES: [(&str, &str); 4] =
    [("aws-lc", "AWS-LC"), ("aws_lc", "AWS-LC"), ("mbedtls", "Mbed TLS"), ("openssl", "OpenSSL")];

/// The kinds of files that `crates/cpb/build.rs` packs. Each is called by its kind and its name: `VECTORS-sha`.
const CARRIED: [&str; 6] = ["BOARDS", "FIRMWARE", "PLANS", "RECORDS", "RUNNER", "VECTORS"];

/// How many bytes of the beginning of a carried file are searched for.
const BEGINNING: usize = 8;

/// The symbols of the libraries, and the carried files.
#[derive(Default)]
pub(crate) struct Origins {
    libraries: HashMap<String, BTreeSet<&'static str>>,
    /// Carried files, by their first bytes.
    carried: HashMap<[u8; BEGINNING], Vec<(String, Vec<u8>)>>,
}

impl Origins {
    /// Reads the build directories that contain the program.
    pub(crate) fn beside(program: &Path) -> Result<Self, String> {
        let mut origins = Self::default();
        let mut files = Vec::new();
        for folder in program.ancestors().skip(1).take(4) {
            collect(&folder.join("vendored"), &mut files);
            let builds = tree::entries(&folder.join("build"));
            builds.iter().for_each(|build| collect(&build.join("out"), &mut files));
        }
        for file in files {
            let read = || fs::read(&file).map_err(|error| format!("{}: {error}", file.display()));
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let kind = CARRIED.iter().find(|kind| name.starts_with(&format!("{kind}-")));
            if let Some(kind) = kind {
                origins.add_carried(&format!("carried {}", kind.to_lowercase()), read()?);
            } else if tree::has_extension(&file, "a") {
                let path = file.to_string_lossy();
                if let Some((_, library)) = LIBRARIES.iter().find(|(part, _)| path.contains(part)) {
                    origins.add_library(library, &read()?);
                }
            }
        }
        Ok(origins)
    }

    /// The library that defines a symbol. If there are several, `before` if it is one of them.
    pub(crate) fn library(&self, name: &str, before: Option<&'static str>) -> Option<&'static str> {
        let found = self.libraries.get(name)?;
        let same = before.filter(|library| found.contains(library));
        same.or_else(|| found.first().copied())
    }

    /// The carried files in a section.
    pub(crate) fn carried(&self, section: &[u8]) -> Vec<Piece<'_>> {
        let mut found = Vec::new();
        for (start, beginning) in section.array_windows::<BEGINNING>().enumerate() {
            let rest = &section[start..];
            if let Some(files) = self.carried.get(beginning) {
                let file = files.iter().find(|(_, content)| rest.starts_with(content));
                found.extend(file.map(|(owner, content)| Piece {
                    start: start as u64,
                    bytes: content.len() as u64,
                    owner: owner.as_str(),
                }));
            }
        }
        found
    }

    fn add_carried(&mut self, owner: &str, content: Vec<u8>) {
        if let Some(beginning) = content.first_chunk() {
            self.carried.entry(*beginning).or_default().push((owner.to_owned(), content));
        }
    }

    fn add_library(&mut self, library: &'static str, archive: &[u8]) {
        let members = ArchiveFile::parse(archive).into_iter().flat_map(|file| file.members());
        for member in members.flatten() {
            let object = member.data(archive).ok().and_then(|data| object::File::parse(data).ok());
            for symbol in object.iter().flat_map(|object| object.symbols()) {
                if let (true, Ok(name)) =
                    (symbol.is_definition() || symbol.is_local(), symbol.name())
                {
                    self.libraries.entry(name.to_owned()).or_default().insert(library);
                }
            }
        }
    }
}

/// The files below a folder.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in tree::entries(folder) {
        if path.is_dir() && !path.is_symlink() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_files_are_found_by_their_content() {
        let mut origins = Origins::default();
        origins.add_carried("carried vectors", b"packed vectors of sha".to_vec());
        origins.add_carried("carried plans", b"packed vectors of aes, longer".to_vec());
        let found = origins.carried(b"...packed vectors of sha.packed vect");
        let found: Vec<(u64, u64, &str)> =
            found.iter().map(|piece| (piece.start, piece.bytes, piece.owner)).collect();
        assert_eq!(found, [(3, 21, "carried vectors")]);
    }

    #[test]
    fn a_name_of_two_libraries_is_the_ones_before_it() {
        let mut origins = Origins::default();
        origins.libraries.insert("table".to_owned(), BTreeSet::from(["AWS-LC", "OpenSSL"]));
        assert_eq!(origins.library("table", Some("OpenSSL")), Some("OpenSSL"));
        assert_eq!(origins.library("table", Some("Mbed TLS")), Some("AWS-LC"));
        assert_eq!(origins.library("main", None), None);
    }
}
