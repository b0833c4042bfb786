//! Finds the C compiler, and hides cargo's profile from it.

use std::env;
use std::path::PathBuf;
#[cfg(feature = "openssl")]
use std::process::Command;

/// The variables that choose the C tools and their flags. Each may also be set for one target only
/// (`CC_aarch64_unknown_linux_musl`).
const TOOL_VARIABLES: [&str; 5] = ["CC", "CFLAGS", "AR", "ARFLAGS", "RANLIB"];

/// The C compiler for a target.
pub(crate) struct Compiler {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The first line of its `--version`.
    pub(crate) version: String,
    /// The variables that change what is built, as `NAME=value` lines.
    pub(crate) environment: String,
}

impl Compiler {
    /// Finds the compiler for `target`. The error says what to install.
    pub(crate) fn find(target: &str) -> Result<Compiler, String> {
        let tool = cc::Build::new()
            .cargo_metadata(false)
            .opt_level(2)
            .try_get_compiler()
            .map_err(|e| missing_compiler(target, &e.to_string()))?;
        let output =
            tool.to_command().arg("--version").output().map_err(|e| {
                missing_compiler(target, &format!("{}: {e}", tool.path().display()))
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or("unknown").trim().to_string();
        Ok(Compiler {
            path: tool.path().to_path_buf(),
            version,
            environment: watch_environment(target),
        })
    }

    /// Everything about the compiler that a build depends on.
    pub(crate) fn recipe(&self) -> String {
        format!(
            "{}\n{}\n{}\n{}",
            self.path.display(),
            self.version,
            self.environment,
            include_str!("compiler.rs")
        )
    }
}

/// Hides cargo's profile from `cc` and `openssl-src`: both take optimisation, debug information, frame pointers
/// and CPU flags from the profile and RUSTFLAGS, and a measured library must not change with them.
pub(crate) fn forget_the_profile() {
    // SAFETY: called at the start of the build script, which has started no thread yet.
    unsafe {
        env::set_var("DEBUG", "false");
        env::set_var("OPT_LEVEL", "2");
        env::set_var("PROFILE", "release");
        env::remove_var("CARGO_ENCODED_RUSTFLAGS");
        // OpenSSL writes the date of its build into the library.
        if env::var_os("SOURCE_DATE_EPOCH").is_none() {
            env::set_var("SOURCE_DATE_EPOCH", "0");
        }
    }
}

/// Returns an error with one clear message if `program` cannot be run with `arguments`.
#[cfg(feature = "openssl")]
pub(crate) fn require(
    program: &str,
    arguments: &[&str],
    what_for: &str,
    package: &str,
) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let reason = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr)
            .lines()
            .next()
            .unwrap_or("it failed without a message")
            .to_string(),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "`{program}` is needed {what_for}, and does not work ({reason}).\n\
         On Debian or Ubuntu: sudo apt-get install {package}"
    ))
}

fn missing_compiler(target: &str, reason: &str) -> String {
    let host = env::var("HOST").unwrap_or_default();
    let remedy = if host == target {
        "On Debian or Ubuntu: sudo apt-get install gcc libc6-dev".to_string()
    } else {
        let arch = target.split('-').next().unwrap_or(target).replace('_', "-");
        format!(
            "On Debian or Ubuntu: sudo apt-get install gcc-{arch}-linux-gnu (or the like), or build \
             with `cargo zigbuild --target {target}`; CC_{} may name any compiler",
            target.replace('-', "_")
        )
    };
    format!("no C compiler for {target} ({reason}).\n{remedy}")
}

fn watch_environment(target: &str) -> String {
    let underscored = target.replace('-', "_");
    let mut lines = String::new();
    for base in TOOL_VARIABLES {
        for name in [
            base.to_string(),
            format!("{base}_{target}"),
            format!("{base}_{underscored}"),
            format!("TARGET_{base}"),
            format!("HOST_{base}"),
        ] {
            println!("cargo:rerun-if-env-changed={name}");
            if let Ok(value) = env::var(&name) {
                lines += &format!("{name}={value}\n");
            }
        }
    }
    lines
}
