//! Which AWS-LC this is, for the provider's identity: its own crate builds it.

use crate::compiler::Compiler;
use crate::lock;

/// Tells the crate its AWS-LC's package, and what it is compiled with.
pub(crate) fn tell(compiler: &Compiler) -> Result<(), String> {
    let version = lock::version(&lock::text()?, "aws-lc-sys", "")?;
    // The level that the workspace's Cargo.toml asks for, in every profile.
    println!(
        "cargo:rustc-env=CPB_AWS_LC_OPTIONS=crate aws-lc-sys {version}, -O3; {}",
        compiler.version
    );
    Ok(())
}
