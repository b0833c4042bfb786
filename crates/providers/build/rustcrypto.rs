//! Which RustCrypto crates these are, for the provider's identity: their sources are cargo's business.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The crates that compute, and the versions that Cargo.toml asks for; the first one's stands for all.
const CRATES: [(&str, &str); 8] = [
    ("aes", "0.9."),
    ("aes-gcm", "0.11."),
    ("cbc", "0.2."),
    ("chacha20poly1305", "0.11."),
    ("ctr", "0.10."),
    ("hmac", "0.13."),
    ("sha1", "0.11."),
    ("sha2", "0.11."),
];

/// Tells the crate its RustCrypto's versions, and what they are compiled with.
pub(crate) fn tell() -> Result<(), String> {
    let folder = env::var("CARGO_MANIFEST_DIR").map_err(|_| "cargo gave no folder")?;
    let path = Path::new(&folder).join("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", path.display());
    let lock = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut named = Vec::new();
    for (name, wanted) in CRATES {
        let version = version(&lock, name, wanted)
            .ok_or_else(|| format!("{} has no {name} {wanted}x", path.display()))?;
        named.push(format!("{name} {version}"));
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let rustc = output.map_err(|e| format!("rustc --version: {e}"))?.stdout;
    let (rustc, level) = (String::from_utf8_lossy(&rustc), env::var("OPT_LEVEL"));
    let (names, level) = (named.join(", "), level.unwrap_or_default());
    let first = named[0].rsplit(' ').next().unwrap_or_default();
    println!("cargo:rustc-env=CPB_RUSTCRYPTO_VERSION={first}");
    println!("cargo:rustc-env=CPB_RUSTCRYPTO_OPTIONS={names}; {}, -O{level}", rustc.trim());
    Ok(())
}

/// The version of the package called `name`, of those that begin as `wanted` does.
fn version<'l>(lock: &'l str, name: &str, wanted: &str) -> Option<&'l str> {
    let head = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    while lines.by_ref().any(|line| line == head) {
        let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
        if version.starts_with(wanted) {
            return Some(version);
        }
    }
    None
}
