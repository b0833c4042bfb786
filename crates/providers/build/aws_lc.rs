//! Reports which AWS-LC this is, for the provider's identity. AWS-LC's own crate builds it.

use crate::compiler::Compiler;
use crate::lock;

/// Passes the version of AWS-LC's package, and the compiler's, on to the crate.
pub(crate) fn tell(compiler: &Compiler) -> Result<(), String> {
    let version = lock::version(&lock::text()?, "aws-lc-sys", "")?;
    // The optimisation level that the workspace's Cargo.toml sets in every profile.
    println!(
        "cargo:rustc-env=CPB_AWS_LC_OPTIONS=crate aws-lc-sys {version}, -O3; {}",
        compiler.version
    );
    Ok(())
}
