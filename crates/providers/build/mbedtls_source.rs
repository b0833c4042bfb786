//! Names the source of Mbed TLS that the providers build. registry_source.rs fetches it.

use crate::registry_source::{self, Package};
use std::path::PathBuf;

/// The package that carries the source.
pub(crate) const PACKAGE: &str = "mbedtls-rs-sys";
/// The package's version. The version of Mbed TLS is read from the source.
pub(crate) const PACKAGE_VERSION: &str = "0.3.1";

const SOURCE: Package = Package {
    name: PACKAGE,
    version: PACKAGE_VERSION,
    checksum: "ed3d6fe75492994df511a63da8de669a0c59938ada3345e3d4756aec095d2ffb",
    folder: "mbedtls",
    variable: "CPB_MBEDTLS_SOURCE",
    replaced: &[
        ("anyhow", "1.0.0", &[]),
        ("bindgen", "0.72.0", &[]),
        ("cc", "1.1.0", &[]),
        ("cmake", "0.1.52", &[]),
        ("critical-section", "1.0.0", &[]),
        ("embuild", "0.33.0", &[]),
        ("enumset", "1.0.0", &[]),
        ("env_logger", "0.11.0", &[]),
        ("esp-idf-sys", "0.38.0", &[]),
        ("fs_extra", "1.3.0", &[]),
        ("log", "0.4.0", &[]),
    ],
};

/// Returns the folder that contains `library/` and `include/`.
pub(crate) fn find() -> Result<PathBuf, String> {
    registry_source::find(&SOURCE)
}
