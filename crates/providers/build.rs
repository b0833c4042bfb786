//! Builds the C libraries that the providers measure.
//!
//! A library is built once for each target and recipe, at its own fixed optimisation level, into a folder that
//! all cargo profiles share (`build/vendored.rs`). So a debug build, a release build and the tests measure the
//! same machine code.

#[cfg(feature = "aws-lc")]
#[path = "build/aws_lc.rs"]
mod aws_lc;
#[cfg(any(feature = "openssl", feature = "mbedtls", feature = "aws-lc"))]
#[path = "build/compiler.rs"]
mod compiler;
#[cfg(any(feature = "aws-lc", feature = "rustcrypto"))]
#[path = "build/lock.rs"]
mod lock;
#[cfg(feature = "mbedtls")]
#[path = "build/mbedtls.rs"]
mod mbedtls;
#[cfg(feature = "mbedtls")]
#[path = "build/mbedtls_source.rs"]
mod mbedtls_source;
#[cfg(feature = "openssl")]
#[path = "build/openssl.rs"]
mod openssl;
#[cfg(feature = "mbedtls")]
#[path = "build/registry_source.rs"]
mod registry_source;
#[cfg(feature = "rustcrypto")]
#[path = "build/rustcrypto.rs"]
mod rustcrypto;
#[cfg(feature = "mbedtls")]
#[path = "build/symbols.rs"]
mod symbols;
#[cfg(any(feature = "openssl", feature = "mbedtls"))]
#[path = "build/vendored.rs"]
mod vendored;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    if let Err(message) = build() {
        eprintln!("\ncpb-providers: {message}\n");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let target = std::env::var("TARGET").map_err(|_| "cargo gave no TARGET".to_string())?;
    println!("cargo:rustc-env=CPB_TARGET={target}");

    #[cfg(feature = "rustcrypto")]
    rustcrypto::tell()?;

    #[cfg(any(feature = "openssl", feature = "mbedtls", feature = "aws-lc"))]
    {
        compiler::forget_the_profile();
        let compiler = compiler::Compiler::find(&target)?;
        #[cfg(feature = "aws-lc")]
        aws_lc::tell(&compiler)?;
        #[cfg(feature = "openssl")]
        openssl::build(&target, &compiler)?;
        #[cfg(feature = "mbedtls")]
        mbedtls::build(&target, &compiler)?;
    }
    Ok(())
}
