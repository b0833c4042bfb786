//! Where the source of Mbed TLS is.
//!
//! The registry package `mbedtls-rs-sys` carries it, with a build of its own (bindgen, cmake) that
//! is of no use here and pulls in about 160 packages: as a dependency, even one that is never
//! compiled, it would put them all into Cargo.lock. So a small package of its own, written to the
//! build folder, depends on it with each of its dependencies replaced by an empty one, and cargo is
//! asked where it put it. Cargo downloads that one package, checks it against the checksum below,
//! keeps it in its ordinary cache, and needs no network from then on.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that carries the source.
pub(crate) const PACKAGE: &str = "mbedtls-rs-sys";
/// Its version; that of Mbed TLS is read from the source.
pub(crate) const PACKAGE_VERSION: &str = "0.3.1";
/// SHA-256 of the package file, as in the registry's index.
const CHECKSUM: &str = "ed3d6fe75492994df511a63da8de669a0c59938ada3345e3d4756aec095d2ffb";

/// The package's own dependencies, each with a version that it accepts.
const REPLACED: [(&str, &str); 11] = [
    ("anyhow", "1.0.0"),
    ("bindgen", "0.72.0"),
    ("cc", "1.1.0"),
    ("cmake", "0.1.52"),
    ("critical-section", "1.0.0"),
    ("embuild", "0.33.0"),
    ("enumset", "1.0.0"),
    ("env_logger", "0.11.0"),
    ("esp-idf-sys", "0.38.0"),
    ("fs_extra", "1.3.0"),
    ("log", "0.4.0"),
];

/// The folder with `library/` and `include/`.
pub(crate) fn find() -> Result<PathBuf, String> {
    println!("cargo:rerun-if-env-changed=CPB_MBEDTLS_SOURCE");
    let folder = match env::var_os("CPB_MBEDTLS_SOURCE") {
        Some(folder) => PathBuf::from(folder),
        None => package_folder()?.join("mbedtls"),
    };
    if folder.join("library/aes.c").is_file() {
        Ok(folder)
    } else {
        Err(format!("{}: not a source tree of Mbed TLS (no library/aes.c)", folder.display()))
    }
}

fn package_folder() -> Result<PathBuf, String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gave no OUT_DIR")?);
    let manifest = write_package(&out.join("mbedtls-source"))
        .map_err(|e| format!("cannot write to {}: {e}", out.display()))?;
    // Without the network first, so that a build that has the package never asks for it.
    let metadata = cargo_metadata(&manifest, &["--offline"])
        .or_else(|_| cargo_metadata(&manifest, &[]))
        .map_err(|reason| {
            format!(
                "cannot fetch the package {PACKAGE} {PACKAGE_VERSION}, which carries the source of \
                 Mbed TLS.\n{reason}\nBuild once with a network (it is kept in cargo's cache), or \
                 unpack https://crates.io/api/v1/crates/{PACKAGE}/{PACKAGE_VERSION}/download and \
                 set CPB_MBEDTLS_SOURCE to its folder `mbedtls`, or build without the feature \
                 `mbedtls`."
            )
        })?;
    manifest_paths(&metadata)
        .filter_map(|path| path.parent().map(Path::to_path_buf))
        .find(|folder| folder.join("mbedtls/library").is_dir())
        .ok_or_else(|| format!("cargo metadata does not say where {PACKAGE} is"))
}

fn write_package(folder: &Path) -> std::io::Result<PathBuf> {
    let mut manifest = format!(
        "[package]\nname = \"mbedtls-source\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [lib]\npath = \"empty.rs\"\n\n[workspace]\n\n[dependencies.{PACKAGE}]\n\
         version = \"={PACKAGE_VERSION}\"\ndefault-features = false\n\n[patch.crates-io]\n"
    );
    let mut lock = String::from("version = 4\n");
    for (name, version) in REPLACED {
        let replacement = folder.join(name);
        fs::create_dir_all(&replacement)?;
        fs::write(replacement.join("empty.rs"), "")?;
        fs::write(
            replacement.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n\n\
                 [lib]\npath = \"empty.rs\"\n"
            ),
        )?;
        manifest += &format!("{name} = {{ path = \"{name}\" }}\n");
        lock += &format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    }
    let dependencies: String = REPLACED.iter().map(|(n, _)| format!(" \"{n}\",\n")).collect();
    lock += &format!(
        "\n[[package]]\nname = \"{PACKAGE}\"\nversion = \"{PACKAGE_VERSION}\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
         checksum = \"{CHECKSUM}\"\ndependencies = [\n{dependencies}]\n\
         \n[[package]]\nname = \"mbedtls-source\"\nversion = \"0.0.0\"\n\
         dependencies = [\n \"{PACKAGE}\",\n]\n"
    );
    fs::write(folder.join("empty.rs"), "")?;
    fs::write(folder.join("Cargo.lock"), lock)?;
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest)?;
    Ok(path)
}

fn cargo_metadata(manifest: &Path, options: &[&str]) -> Result<String, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .args(options)
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_string())
    }
}

/// Every `"manifest_path"` of the metadata. No JSON parser for one field: a path holds no quote, and
/// a backslash, where paths have it, stands doubled.
fn manifest_paths(metadata: &str) -> impl Iterator<Item = PathBuf> {
    metadata
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|path| PathBuf::from(path.replace("\\\\", "\\")))
}
