//! The owners of a program's symbols.

use crate::size::origins::Origins;
use crate::size::pieces::Piece;
use object::{Object, ObjectSymbol};

/// Crates that are reported as one.
const GROUPS: [(&str, &[&str]); 2] = [
    (
        "Rust's standard library",
        &[
            "addr2line",
            "alloc",
            "compiler_builtins",
            "core",
            "gimli",
            "panic_unwind",
            "rustc_demangle",
            "std",
            "std_detect",
        ],
    ),
    (
        "RustCrypto",
        &[
            "aead",
            "aes",
            "aes_gcm",
            "base16ct",
            "block_buffer",
            "camellia",
            "cbc",
            "ccm",
            "chacha20",
            "chacha20poly1305",
            "cipher",
            "cmac",
            "cmov",
            "const_oid",
            "cpufeatures",
            "crypto_bigint",
            "crypto_common",
            "ctr",
            "ctutils",
            "curve25519_dalek",
            "dbl",
            "der",
            "des",
            "digest",
            "ecdsa",
            "ed25519",
            "ed25519_dalek",
            "elliptic_curve",
            "ff",
            "ghash",
            "group",
            "hmac",
            "hybrid_array",
            "inout",
            "keccak",
            "md5",
            "ml_dsa",
            "ml_kem",
            "module_lattice",
            "p256",
            "p384",
            "pkcs8",
            "poly1305",
            "polyval",
            "primefield",
            "primeorder",
            "rfc6979",
            "sec1",
            "sha1",
            "sha2",
            "sha3",
            "shake",
            "signature",
            "spki",
            "sponge_cursor",
            "subtle",
            "universal_hash",
            "wnaf",
            "x25519_dalek",
            "xts_mode",
            "zeroize",
        ],
    ),
];

/// A symbol with a size.
pub(crate) struct Symbol {
    address: u64,
    bytes: u64,
    owner: String,
}

/// All symbols with a size, by address.
pub(crate) fn of(elf: &object::File, origins: &Origins) -> Vec<Symbol> {
    let mut named: Vec<(u64, u64, &str)> = elf
        .symbols()
        .filter(|symbol| symbol.size() > 0 && symbol.section_index().is_some())
        .map(|symbol| (symbol.address(), symbol.size(), symbol.name().unwrap_or_default()))
        .collect();
    named.sort_unstable();
    // Libraries have some names in common. A linker keeps the symbols of one library together.
    let mut library_before = None;
    let symbols = named.into_iter().map(|(address, bytes, name)| {
        let owner = match rust_owner(name) {
            Some(owner) => owner,
            None => match origins.library(name, library_before) {
                Some(library) => {
                    library_before = Some(library);
                    library.to_owned()
                }
                None => "the C library, start files, others".to_owned(),
            },
        };
        Symbol { address, bytes, owner }
    });
    symbols.collect()
}

/// The parts of one section that symbols cover, the largest first.
pub(crate) fn within(symbols: &[Symbol], address: u64, bytes: u64) -> Vec<Piece<'_>> {
    let begin = symbols.partition_point(|symbol| symbol.address < address);
    let end = symbols.partition_point(|symbol| symbol.address < address + bytes);
    let mut pieces: Vec<Piece> = symbols[begin..end]
        .iter()
        .map(|symbol| Piece {
            start: symbol.address - address,
            bytes: symbol.bytes,
            owner: &symbol.owner,
        })
        .collect();
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.bytes));
    pieces
}

/// The crate of a mangled name, or its group. `None` if the name is not a Rust name.
fn rust_owner(name: &str) -> Option<String> {
    if name.starts_with("anon.") {
        return Some("unnamed constants of Rust".to_owned());
    }
    let demangled = format!("{:#}", rustc_demangle::try_demangle(name).ok()?);
    let krate = crate_of(&demangled);
    let group = GROUPS.iter().find(|(_, crates)| crates.contains(&krate));
    Some(group.map_or_else(|| format!("crate {krate}"), |(group, _)| (*group).to_owned()))
}

/// The crate at the beginning of a path; for `<u8 as krate::Trait>`, the trait's; for a destructor, the type's.
fn crate_of(path: &str) -> &str {
    let path = path.strip_prefix("core::ptr::drop_in_place<").unwrap_or(path);
    let own = path.trim_start_matches(['<', '&', '*', '(', '[']);
    let own =
        ["mut ", "const ", "dyn "].iter().fold(own, |rest, word| rest.trim_start_matches(word));
    let name = own.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(own);
    if own[name.len()..].starts_with("::") {
        return name;
    }
    match own.split_once(" as ") {
        Some((_, trait_path)) => crate_of(trait_path),
        // A method of a primitive type.
        None => "core",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_its_crate() {
        for (path, krate) in [
            ("cpb::run::Run::passes", "cpb"),
            ("<toml::de::Deserializer as serde_core::de::Deserializer>::f", "toml"),
            ("<&mut serde_json::de::Deserializer<R> as serde_core::X>::f", "serde_json"),
            ("<u8 as cpb_core::Thing>::f", "cpb_core"),
            ("<[T] as plotters::Thing>::f", "plotters"),
            ("<str>::trim", "core"),
            ("core::ptr::drop_in_place<cpb_core::Error>", "cpb_core"),
            ("core::ptr::drop_in_place<alloc::vec::Vec<cpb::A>>", "alloc"),
        ] {
            assert_eq!(crate_of(path), krate, "{path}");
        }
    }

    #[test]
    fn mangled_names_of_both_kinds_are_rusts_and_others_are_not() {
        assert_eq!(rust_owner("_ZN3cpb3run3Run6passes17h8b46afbacc0169f3E").unwrap(), "crate cpb");
        assert_eq!(rust_owner("_ZN3aes4soft17h8b46afbacc0169f3E").unwrap(), "RustCrypto");
        assert_eq!(rust_owner("_RNvCsgEmfK2I1SDS_4core3str").unwrap(), "Rust's standard library");
        assert_eq!(rust_owner("anon.f1.2").unwrap(), "unnamed constants of Rust");
        assert_eq!(rust_owner("EVP_DigestInit"), None);
    }
}
