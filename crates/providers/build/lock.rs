//! Cargo.lock: the versions of the crates that cargo builds itself.

use std::env;
use std::fs;
use std::path::Path;

/// Returns the text of Cargo.lock, and makes the build depend on it.
pub(crate) fn text() -> Result<String, String> {
    let folder = env::var("CARGO_MANIFEST_DIR").map_err(|_| "cargo gave no folder")?;
    let path = Path::new(&folder).join("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", path.display());
    fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns the version of the package called `name` that starts with `wanted`.
pub(crate) fn version(lock: &str, name: &str, wanted: &str) -> Result<String, String> {
    let head = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    while lines.by_ref().any(|line| line == head) {
        let line = lines.next().and_then(|line| line.strip_prefix("version = \""));
        if let Some(version) = line.and_then(|line| line.strip_suffix('"'))
            && version.starts_with(wanted)
        {
            return Ok(version.to_owned());
        }
    }
    Err(format!("Cargo.lock has no {name} {wanted}x"))
}
