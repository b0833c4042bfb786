//! OpenSSL's libcrypto, from the source in the `openssl-src` package.
//!
//! Assembly is on. The options in [`AS_PACKAGED`] are those of `openssl-src`, which other Rust programs link; what
//! [`LEFT_OUT`] names is not measured by cpb, and takes a quarter of the compiler's time and some of the file.
//! OpenSSL's own `-O3` is followed by `-O2`, and the last one wins.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::compiler::{Compiler, require};
use crate::vendored;

/// Where the library looks for openssl.cnf. A measurement must not depend on a machine's policy, so no machine
/// has this folder.
const NO_CONFIGURATION: &str = "/nonexistent/cpb-openssl";

/// One static library without parts that are obsolete or need other libraries.
const AS_PACKAGED: &str = "no-shared no-module no-tests no-comp no-zlib no-zlib-dynamic no-legacy no-ssl3 no-md2 no-rc5 \
    no-weak-ssl-ciphers no-camellia no-idea no-seed";

/// For musl: it lacks the functions that `async` and secure memory need, and engines include headers of Linux.
const WITHOUT_GLIBC: &str = "no-engine no-async -DOPENSSL_NO_SECURE_MEMORY";

/// First formats and protocols, then algorithms, all in files of their own, so that the functions that cpb measures are
/// the same without them. (Without MDC2, RC2, RIPEMD-160, SM2, SM3 or binary curves, some of RSA and of EVP would not be.)
const LEFT_OUT: &str = "no-cms no-cmp no-ts no-ct no-ocsp no-http no-srp no-rfc3779 no-docs no-apps no-aria no-bf \
    no-blake2 no-cast no-dsa no-gost no-lms no-rc4 no-scrypt no-siphash no-slh-dsa no-sm4 no-whirlpool";

/// OpenSSL's name for a target, by the first part of Rust's.
const PLATFORMS: [(&str, &str); 5] = [
    ("x86_64", "linux-x86_64"),
    ("i686", "linux-elf"),
    ("aarch64", "linux-aarch64"),
    ("armv7", "linux-armv4"),
    ("riscv64gc", "linux64-riscv64"),
];

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

/// Builds `libcrypto.a` in `folder`, and writes the compiler line that it reports beside it.
fn compile(target: &str, folder: &Path) -> Result<(), String> {
    let architecture = target.split('-').next().unwrap_or_default();
    let platform = PLATFORMS.iter().find(|(rust, _)| *rust == architecture);
    let (_, platform) = platform.ok_or_else(|| {
        format!(
            "OpenSSL's name for {target} is not known: add it to crates/providers/build/openssl.rs, or build with \
             `--no-default-features` and the features of the other libraries"
        )
    })?;
    let tools = Tools::find()?;
    let work = folder.join("work");
    // OpenSSL's errors name its files by their paths from here, so that no folder of this machine is in the library.
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(openssl_src::source_dir()).arg(&work);
    run(copy, "copy")?;

    let mut configure = tools.command("perl", &work);
    configure.arg("Configure").arg(platform);
    configure.arg(format!("--openssldir={NO_CONFIGURATION}"));
    configure.args(AS_PACKAGED.split_whitespace()).args(LEFT_OUT.split_whitespace());
    if target.contains("musl") {
        configure.args(WITHOUT_GLIBC.split_whitespace());
    }
    configure.args(&tools.flags);
    run(configure, "configure")?;
    for goal in ["depend", "build_generated", "libcrypto.a"] {
        let mut make = tools.command("make", &work);
        make.arg(goal);
        // As many at a time as cargo allows.
        if let Some(jobs) = env::var_os("CARGO_MAKEFLAGS") {
            make.env("MAKEFLAGS", jobs);
        }
        run(make, "build")?;
    }

    let context = |e: std::io::Error| format!("{}: {e}", folder.display());
    let library = work.join("libcrypto.a");
    let bytes = fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    fs::write(folder.join("flags"), compiler_line(&bytes)).map_err(context)?;
    fs::rename(&library, folder.join("libcrypto.a")).map_err(context)?;
    fs::remove_dir_all(&work).map_err(context)
}

/// The tools for C that cargo's environment chooses.
struct Tools {
    cc: OsString,
    ar: OsString,
    ranlib: OsString,
    flags: Vec<OsString>,
}

impl Tools {
    fn find() -> Result<Tools, String> {
        let mut build = cc::Build::new();
        build.cargo_metadata(false).warnings(false).opt_level(2);
        let no_tool = |e: cc::Error| format!("no tools for OpenSSL: {e}");
        let compiler = build.try_get_compiler().map_err(no_tool)?;
        let line = |tool: &Command| {
            let words = std::iter::once(tool.get_program()).chain(tool.get_args());
            words.collect::<Vec<&OsStr>>().join(OsStr::new(" "))
        };
        let wrapped = compiler.cc_env();
        // Configure passes -static to the linker only, which is not used for a library.
        let flags = compiler.args().iter().filter(|flag| *flag != "-static").cloned().collect();
        Ok(Tools {
            cc: if wrapped.is_empty() { compiler.path().into() } else { wrapped },
            ar: line(&build.try_get_archiver().map_err(no_tool)?),
            ranlib: line(&build.try_get_ranlib().map_err(no_tool)?),
            flags,
        })
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        // Configure puts it before the tools' names, which are whole already.
        command.env_remove("CROSS_COMPILE");
        command.env("CC", &self.cc).env("AR", &self.ar).env("RANLIB", &self.ranlib);
        command.current_dir(folder);
        command
    }
}

/// Runs a step of the build. What it printed is part of the error.
fn run(mut command: Command, step: &str) -> Result<(), String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    Err(format!("OpenSSL did not {step} ({}).\n{shown}\n{stdout}\n{stderr}", output.status))
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
