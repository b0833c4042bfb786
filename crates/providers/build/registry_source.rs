//! Finds the source of Mbed TLS in a registry package.
//!
//! The package comes with its own build (bindgen, cmake), which is of no use here and pulls in up to 160
//! packages. As a dependency, even one that is never compiled, it would put them all into Cargo.lock. So this
//! script writes a small package to the build folder that depends on it, with each of its dependencies replaced
//! by an empty one, and asks cargo where the package is. Cargo downloads that one package, checks it against
//! its checksum, keeps it in its ordinary cache, and needs no network from then on.
//!
//! The firmware's build uses this file too, for another package.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package that contains the source. The version of Mbed TLS is read from the source itself.
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its version.
    pub(crate) version: &'static str,
    /// SHA-256 of the package file, as in the registry's index.
    pub(crate) checksum: &'static str,
    /// The folder in it that contains `library/` and `include/`.
    pub(crate) folder: &'static str,
    /// The environment variable that names such a folder to use instead.
    pub(crate) variable: &'static str,
    /// The package's own dependencies, each with a version that the package accepts and the features that it
    /// requests.
    pub(crate) replaced: &'static [(&'static str, &'static str, &'static [&'static str])],
}

/// Returns the folder that contains `library/` and `include/`.
pub(crate) fn find(package: &Package) -> Result<PathBuf, String> {
    println!("cargo:rerun-if-env-changed={}", package.variable);
    let folder = match env::var_os(package.variable) {
        Some(folder) => PathBuf::from(folder),
        None => package_folder(package)?.join(package.folder),
    };
    if folder.join("library/aes.c").is_file() {
        Ok(folder)
    } else {
        Err(format!("{}: not a source tree of Mbed TLS (no library/aes.c)", folder.display()))
    }
}

fn package_folder(package: &Package) -> Result<PathBuf, String> {
    let Package { name, version, folder, variable, .. } = package;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gave no OUT_DIR")?);
    let manifest = write_package(package, &out.join("mbedtls-source"))
        .map_err(|e| format!("cannot write to {}: {e}", out.display()))?;
    // Offline first, so that a build that has the package never uses the network.
    let metadata = cargo_metadata(&manifest, &["--offline"])
        .or_else(|_| cargo_metadata(&manifest, &[]))
        .map_err(|reason| {
            format!(
                "cannot fetch the package {name} {version}, which carries the source of Mbed TLS.\n\
                 {reason}\nBuild once with a network (it is kept in cargo's cache), or unpack \
                 https://crates.io/api/v1/crates/{name}/{version}/download and set {variable} to its \
                 folder `{folder}`, or build without the feature `mbedtls`."
            )
        })?;
    manifest_paths(&metadata)
        .filter_map(|path| path.parent().map(Path::to_path_buf))
        .find(|path| path.join(folder).join("library").is_dir())
        .ok_or_else(|| format!("cargo metadata does not say where {name} is"))
}

fn write_package(package: &Package, folder: &Path) -> std::io::Result<PathBuf> {
    let Package { name: wanted, version: wanted_version, checksum, replaced, .. } = package;
    let mut manifest = format!(
        "[package]\nname = \"mbedtls-source\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [lib]\npath = \"empty.rs\"\n\n[workspace]\n\n[dependencies.{wanted}]\n\
         version = \"={wanted_version}\"\ndefault-features = false\n\n[patch.crates-io]\n"
    );
    let mut lock = String::from("version = 4\n");
    for (name, version, features) in *replaced {
        let replacement = folder.join(name);
        fs::create_dir_all(&replacement)?;
        fs::write(replacement.join("empty.rs"), "")?;
        let features: String = features.iter().map(|name| format!("{name} = []\n")).collect();
        fs::write(
            replacement.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n\n\
                 [lib]\npath = \"empty.rs\"\n\n[features]\n{features}"
            ),
        )?;
        manifest += &format!("{name} = {{ path = \"{name}\" }}\n");
        lock += &format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    }
    let dependencies: String =
        replaced.iter().map(|(name, ..)| format!(" \"{name}\",\n")).collect();
    lock += &format!(
        "\n[[package]]\nname = \"{wanted}\"\nversion = \"{wanted_version}\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
         checksum = \"{checksum}\"\ndependencies = [\n{dependencies}]\n\
         \n[[package]]\nname = \"mbedtls-source\"\nversion = \"0.0.0\"\n\
         dependencies = [\n \"{wanted}\",\n]\n"
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

/// Every `"manifest_path"` in the metadata. One field needs no JSON parser: a path contains no quote, and its
/// backslashes are doubled.
fn manifest_paths(metadata: &str) -> impl Iterator<Item = PathBuf> {
    metadata
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|path| PathBuf::from(path.replace("\\\\", "\\")))
}
