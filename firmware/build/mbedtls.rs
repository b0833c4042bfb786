//! Builds Mbed TLS 2.28 for the target with the bare-metal GCC. 2.28 is the last release line with the
//! interface that most boards' SDKs have.

use crate::options::Options;
use crate::registry_source::{self, Package};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `mbedtls-sys-auto` has its own version numbers; the version of Mbed TLS is read from the source.
const SOURCE: Package = Package {
    name: "mbedtls-sys-auto",
    version: "2.28.15",
    checksum: "2fdbd15978db1dec7592cf8864094bcf6f7a101d7f84af15c2423967079982c1",
    folder: "vendor",
    variable: "CPB_MBEDTLS_2_SOURCE",
    replaced: &[
        ("bindgen", "0.65.1", &[]),
        ("cc", "1.0.45", &[]),
        ("cfg-if", "1.0.0", &[]),
        ("cmake", "0.1.17", &[]),
        ("lazy_static", "1.4.0", &[]),
        ("libc", "0.2.0", &[]),
        ("quote", "1.0.9", &[]),
        ("syn", "1.0.64", &["full", "visit"]),
    ],
};

const COMPILER: &str = "arm-none-eabi-gcc";

/// The core, and the calling convention of the surrounding Rust code.
const TARGET: [&str; 4] = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"];

/// The source files that `mbedtls/cpb_config.h` needs.
const FILES: [&str; 20] = [
    "aes",
    "camellia",
    "ccm",
    "chacha20",
    "chachapoly",
    "cipher",
    "cipher_wrap",
    "cmac",
    "constant_time",
    "ctr_drbg",
    "des",
    "gcm",
    "hmac_drbg",
    "md",
    "md5",
    "platform_util",
    "poly1305",
    "sha1",
    "sha256",
    "sha512",
];

/// The files for key pairs: see `linker::key_pairs`.
pub(crate) const KEY_PAIRS: [&str; 10] = [
    "asn1parse",
    "asn1write",
    "bignum",
    "ecdh",
    "ecdsa",
    "ecp",
    "ecp_curves",
    "oid",
    "rsa",
    "rsa_internal",
];

/// A second build of the library, in which a chip's engine replaces the modules with an `_ALT`. All of its names begin
/// with the engine's; its headers are in the folder of that name.
struct Engine {
    name: &'static str,
    /// The board whose image has it.
    feature: &'static str,
    files: &'static [&'static str],
    /// Functions that the image itself defines begin with one of these.
    defined: &'static [&'static str],
    /// Functions of the files which the image's own replace.
    replaced: &'static [&'static str],
}

const ENGINES: [Engine; 2] = [
    Engine {
        name: "dcp",
        feature: "CARGO_FEATURE_IMXRT1060_EVK",
        files: &["aes", "cipher", "cipher_wrap", "cmac", "gcm", "md", "sha1", "sha256"],
        defined: &DEFINED,
        replaced: &[],
    },
    Engine {
        name: "caam",
        feature: "CARGO_FEATURE_IMXRT1170_EVK",
        files: &["aes", "ccm", "cipher", "cipher_wrap", "cmac", "gcm", "md", "sha1", "sha256"],
        defined: &DEFINED,
        replaced: &[
            "mbedtls_gcm_crypt_and_tag",
            "mbedtls_gcm_auth_decrypt",
            "mbedtls_ccm_encrypt_and_tag",
            "mbedtls_ccm_auth_decrypt",
        ],
    },
];

/// The functions of the modules that every engine replaces.
const DEFINED: [&str; 4] =
    ["mbedtls_aes_", "mbedtls_sha1_", "mbedtls_sha256_", "mbedtls_internal_sha"];

/// Builds the library and tells cargo to link it, together with the C library of the compiler.
pub(crate) fn build(options: &Options) -> Result<(), String> {
    let source = registry_source::find(&SOURCE)?;
    println!("cargo:rerun-if-changed=mbedtls");
    let release = run(&["-dumpfullversion"])?;
    let level = format!("-{}", options.level);
    let mut flags: Vec<&str> = TARGET.to_vec();
    flags.extend([&level, "-ffunction-sections", "-fdata-sections"]);

    let library = source.join("library");
    let mut build = compiler(&source, &flags);
    FILES
        .iter()
        .chain(&KEY_PAIRS)
        .for_each(|name| _ = build.file(library.join(format!("{name}.c"))));
    build.try_compile("mbedtls").map_err(|error| format!("Mbed TLS did not build: {error}"))?;
    let chosen = |engine: &&Engine| env::var_os(engine.feature).is_some();
    ENGINES.iter().filter(chosen).try_for_each(|engine| build_for(engine, &source, &flags))?;

    for (name, question) in [("c", "-print-file-name=libc.a"), ("gcc", "-print-libgcc-file-name")] {
        let path = PathBuf::from(run(&[&TARGET[..], &[question]].concat())?);
        let folder = path.parent().filter(|folder| folder.is_absolute());
        let folder = folder.ok_or_else(|| {
            format!(
                "{COMPILER} has no lib{name}.a; Debian's libnewlib-arm-none-eabi has the C library"
            )
        })?;
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    println!("cargo:rustc-env=CPB_MBEDTLS_VERSION={}", version(&source)?);
    println!("cargo:rustc-env=CPB_COMPILER=GCC {release} {}", flags.join(" "));
    Ok(())
}

/// The C compiler with the options that both builds have.
fn compiler(source: &Path, flags: &[&str]) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .compiler(COMPILER)
        .archiver("arm-none-eabi-ar")
        .no_default_flags(true)
        .inherit_rustflags(false)
        .cargo_warnings(true)
        .include("mbedtls")
        .include(source.join("include"))
        .include(source.join("library"))
        .define("MBEDTLS_CONFIG_FILE", "\"cpb_config.h\"")
        .file("mbedtls/layout.c");
    flags.iter().for_each(|flag| _ = build.flag(flag));
    build
}

/// Builds the modules that reach an engine a second time, with other names, so that both are in one image.
fn build_for(engine: &Engine, source: &Path, flags: &[&str]) -> Result<(), String> {
    let Engine { name, files, defined, replaced, .. } = *engine;
    let library = source.join("library");
    let mut build = compiler(source, flags);
    build.include(format!("mbedtls/{name}")).define("CPB_MBEDTLS_ENGINE", None);
    files.iter().for_each(|file| _ = build.file(library.join(format!("{file}.c"))));
    build
        .try_compile(&format!("mbedtls_{name}"))
        .map_err(|error| format!("Mbed TLS for {name} did not build: {error}"))?;
    let out = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    let archive = format!("{out}/libmbedtls_{name}.a");
    let names = |kind: &str| -> Result<Vec<String>, String> {
        let listed = tool("arm-none-eabi-nm", &["-g", "-P", kind, &archive])?;
        let name = |line: &str| line.split(' ').next().map(str::to_owned);
        Ok(listed.lines().filter(|line| line.contains(' ')).filter_map(name).collect())
    };
    let mut renamed = names("--defined-only")?;
    let own = |name: &String| defined.iter().any(|prefix| name.starts_with(prefix));
    renamed.extend(names("--undefined-only")?.into_iter().filter(own));
    renamed.sort();
    renamed.dedup();
    let map: String = renamed.iter().map(|symbol| format!("{symbol} {name}_{symbol}\n")).collect();
    let list = format!("{out}/{name}_names.txt");
    std::fs::write(&list, map).map_err(|error| format!("{list}: {error}"))?;
    tool("arm-none-eabi-objcopy", &[&format!("--redefine-syms={list}"), &archive])?;
    // The linker prefers the image's functions to weak ones.
    for function in replaced {
        tool("arm-none-eabi-objcopy", &[&format!("--weaken-symbol={name}_{function}"), &archive])?;
    }
    Ok(())
}

fn version(source: &Path) -> Result<String, String> {
    let path = source.join("include/mbedtls/version.h");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("#define MBEDTLS_VERSION_STRING "))
        .map(|value| value.trim().trim_matches('"').to_owned())
        .ok_or_else(|| format!("{}: no MBEDTLS_VERSION_STRING", path.display()))
}

fn run(arguments: &[&str]) -> Result<String, String> {
    tool(COMPILER, arguments)
}

/// The standard output of a program of the bare-metal toolchain.
fn tool(program: &str, arguments: &[&str]) -> Result<String, String> {
    println!("cargo:rerun-if-env-changed=PATH");
    let output = Command::new(program).args(arguments).output().map_err(|error| {
        format!(
            "cannot run {program}: {error}\nDebian's packages are gcc-arm-none-eabi and \
             libnewlib-arm-none-eabi; `make setup` installs them"
        )
    })?;
    if !output.status.success() {
        return Err(format!("{program} {}: {}", arguments.join(" "), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The board that this image is for, according to the selected feature.
pub(crate) fn board() -> Result<String, String> {
    let chosen = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let boards = [
        ("MPS2_AN500", "mps2-an500"),
        ("IMXRT1060_EVK", "imxrt1060-evk"),
        ("IMXRT1170_EVK", "imxrt1170-evk"),
    ];
    let mut boards = boards.into_iter().filter(|(feature, _)| chosen(feature));
    match (boards.next(), boards.next()) {
        (Some((_, board)), None) => Ok(board.to_owned()),
        _ => Err("choose one board: cargo build --no-default-features --features BOARD".to_owned()),
    }
}
