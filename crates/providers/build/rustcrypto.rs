//! Reports which RustCrypto crates these are, for the provider's identity. Cargo handles their sources.

use crate::lock;
use std::env;
use std::process::Command;

/// The crates that compute, and the versions that Cargo.toml asks for. The first one's version stands for all.
const CRATES: [(&str, &str); 25] = [
    ("aes", "0.9."),
    ("aes-gcm", "0.11."),
    ("camellia", "0.2."),
    ("cbc", "0.2."),
    ("ccm", "0.6."),
    ("chacha20", "0.10."),
    ("chacha20poly1305", "0.11."),
    ("cmac", "0.8."),
    ("ctr", "0.10."),
    ("curve25519-dalek", "5.0."),
    ("des", "0.9."),
    ("ecdsa", "0.17."),
    ("ed25519-dalek", "3.0."),
    ("hmac", "0.13."),
    ("md-5", "0.11."),
    ("ml-dsa", "0.1."),
    ("ml-kem", "0.3."),
    ("p256", "0.14."),
    ("p384", "0.14."),
    ("poly1305", "0.9."),
    ("sha1", "0.11."),
    ("sha2", "0.11."),
    ("sha3", "0.12."),
    ("x25519-dalek", "3.0."),
    ("xts-mode", "0.6."),
];

/// Passes the versions of the RustCrypto crates, and what they are compiled with, on to the crate.
pub(crate) fn tell() -> Result<(), String> {
    let lock = lock::text()?;
    let mut named = Vec::new();
    for (name, wanted) in CRATES {
        named.push(format!("{name} {}", lock::version(&lock, name, wanted)?));
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let rustc = output.map_err(|e| format!("rustc --version: {e}"))?.stdout;
    let (rustc, level) = (String::from_utf8_lossy(&rustc), env::var("OPT_LEVEL"));
    let (names, mut level) = (named.join(", "), level.unwrap_or_default());
    // In a debug build, the crates' generic code is checked for overflow, whatever its optimisation level.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        level += ", debug build";
    }
    let first = named[0].rsplit(' ').next().unwrap_or_default();
    println!("cargo:rustc-env=CPB_RUSTCRYPTO_VERSION={first}");
    println!("cargo:rustc-env=CPB_RUSTCRYPTO_OPTIONS={names}; {}, -O{level}", rustc.trim());
    Ok(())
}
