//! OpenSSL's libcrypto, from the source in the `openssl-src` package and with its configuration.
//!
//! The configuration is `no-shared no-module no-tests no-comp no-zlib no-legacy no-ssl3 no-md2 no-rc5
//! no-weak-ssl-ciphers no-camellia no-idea no-seed`, with assembly, and for musl targets also
//! `no-engine no-async -DOPENSSL_NO_SECURE_MEMORY`. `openssl-src` appends `-O2` to OpenSSL's own `-O3`, and the
//! last one wins.

use std::env;
use std::fs;
use std::path::Path;

use crate::compiler::{Compiler, require};
use crate::vendored;

/// Where the library looks for openssl.cnf. A measurement must not depend on a machine's policy, so no machine
/// has this folder.
const NO_CONFIGURATION: &str = "/nonexistent/cpb-openssl";

/// Builds libcrypto if needed, and tells cargo to link it.
pub(crate) fn build(target: &str, compiler: &Compiler) -> Result<(), String> {
    // "300.6.1+3.6.3": the package's version, then OpenSSL's.
    let package = openssl_src::version();
    let version = package.split('+').nth(1).unwrap_or(package);
    let recipe = [package, target, &compiler.recipe(), include_str!("openssl.rs")].join("\n");

    let folder = vendored::once(&format!("openssl-{version}"), &recipe, |folder| {
        require(
            "perl",
            &["-MFindBin", "-MIPC::Cmd", "-MTime::Piece", "-e1"],
            "to configure OpenSSL",
            "perl",
        )?;
        require("make", &["--version"], "to build OpenSSL", "make")?;
        compile(target, folder)
    })?;

    let flags = fs::read_to_string(folder.join("flags"))
        .map_err(|e| format!("{}: {e}", folder.display()))?;
    println!("cargo:rustc-env=CPB_OPENSSL_VERSION={version}");
    println!("cargo:rustc-env=CPB_OPENSSL_OPTIONS={}; {}", compiler.version, flags.trim());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=crypto");
    // OpenSSL's 64-bit counters need library calls on 32-bit CPUs.
    if env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() == Ok("32") {
        println!("cargo:rustc-link-lib=atomic");
    }
    Ok(())
}

fn compile(target: &str, folder: &Path) -> Result<(), String> {
    let work = folder.join("work");
    let artifacts = openssl_src::Build::new()
        .target(target)
        .openssl_dir(NO_CONFIGURATION)
        .out_dir(&work)
        .try_build()
        .map_err(|e| format!("OpenSSL did not build.\n{e}"))?;

    let context = |e: std::io::Error| format!("{}: {e}", folder.display());
    let library = artifacts.lib_dir().join("libcrypto.a");
    let bytes = fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    fs::write(folder.join("flags"), compiler_line(&bytes)).map_err(context)?;
    fs::rename(&library, folder.join("libcrypto.a")).map_err(context)?;
    fs::remove_dir_all(&work).map_err(context)
}

/// The compiler line that the library reports (`OpenSSL_version(OPENSSL_CFLAGS)`). It is read from the
/// library's bytes, because a cross-built library cannot run here.
fn compiler_line(library: &[u8]) -> String {
    const MARK: &[u8] = b"compiler: ";
    library
        .windows(MARK.len())
        .position(|w| w == MARK)
        .map(|start| &library[start..])
        .and_then(|rest| rest.split(|b| *b == 0).next())
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .unwrap_or_else(|| "compiler: unknown".to_string())
}
