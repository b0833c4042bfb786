//! Mbed TLS, built twice into one binary: plain C, and with the CPU's crypto instructions.
//!
//! Mbed TLS chooses between the two at compile time, so one build cannot measure both. The names of each build
//! get a prefix. The list of names is not kept by hand: a quick first pass compiles the library unchanged and
//! reads which names its objects define. The second pass compiles it with a header, included before all others,
//! that renames each of them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::Compiler;
use crate::mbedtls_source;
use crate::symbols;
use crate::vendored;

/// Upstream's own optimisation level (library/Makefile: `CFLAGS ?= -O2`).
const OPT_LEVEL: u32 = 2;

struct Variant {
    /// Its name in Rust, and in the library's file name.
    name: &'static str,
    /// The prefix of its C names.
    prefix: &'static str,
    /// The macro that is defined for build/mbedtls/config.h, if any.
    define: Option<&'static str>,
}

const VARIANTS: [Variant; 2] = [
    Variant { name: "c", prefix: "cpb_mbedtls_c_", define: None },
    Variant { name: "accel", prefix: "cpb_mbedtls_accel_", define: Some("CPB_MBEDTLS_ACCEL") },
];

/// Sources of parts that the configuration leaves out completely.
const LEFT_OUT: [&str; 7] = ["ssl_", "x509", "mps_", "net_", "debug", "psa_its", "pkcs"];

/// The contexts that Rust owns, in the order of build/mbedtls/layout.c.
const CONTEXTS: [&str; 28] = [
    "AesContext",
    "AesXtsContext",
    "CamelliaContext",
    "CcmContext",
    "Chacha20Context",
    "ChachapolyContext",
    "CipherContext",
    "CtrDrbgContext",
    "DesContext",
    "Des3Context",
    "EcdhContext",
    "EcdsaContext",
    "EcpGroup",
    "EcpKeypair",
    "EcpPoint",
    "EntropyContext",
    "GcmContext",
    "HmacDrbgContext",
    "MdContext",
    "Md5Context",
    "Mpi",
    "PkContext",
    "Poly1305Context",
    "RsaContext",
    "Sha1Context",
    "Sha256Context",
    "Sha3Context",
    "Sha512Context",
];

/// Builds both variants if needed, and tells cargo to link them.
pub(crate) fn build(target: &str, compiler: &Compiler) -> Result<(), String> {
    let source = mbedtls_source::find()?;
    let version = version(&source)?;
    let origin = match env::var("CPB_MBEDTLS_SOURCE") {
        Ok(folder) => folder,
        Err(_) => format!("{} {}", mbedtls_source::PACKAGE, mbedtls_source::PACKAGE_VERSION),
    };
    let recipe = [
        &version,
        &origin,
        target,
        &compiler.recipe(),
        include_str!("mbedtls.rs"),
        include_str!("mbedtls/config.h"),
        include_str!("mbedtls/layout.c"),
    ]
    .join("\n");

    let folder = vendored::once(&format!("mbedtls-{version}"), &recipe, |folder| {
        VARIANTS.iter().try_for_each(|variant| compile(&source, variant, folder))
    })?;

    let flags = fs::read_to_string(folder.join("flags"))
        .map_err(|e| format!("{}: {e}", folder.display()))?;
    println!("cargo:rustc-env=CPB_MBEDTLS_VERSION={version}");
    let flags: Vec<&str> = flags.lines().collect();
    println!("cargo:rustc-env=CPB_MBEDTLS_OPTIONS={}; {}", compiler.version, flags.join("; "));
    println!("cargo:rustc-env=CPB_MBEDTLS_LAYOUT={}", folder.join("layout.rs").display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    for variant in &VARIANTS {
        println!("cargo:rustc-link-lib=static=cpb_mbedtls_{}", variant.name);
    }
    Ok(())
}

/// Builds one variant into `folder`, and adds its contexts to the folder's layout.rs.
fn compile(source: &Path, variant: &Variant, folder: &Path) -> Result<(), String> {
    let work = folder.join(format!("work-{}", variant.name));
    let create =
        |path: &Path| fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()));
    create(&work)?;
    let files = sources(source)?;

    // First pass: find the names. It is optimised a little, because Mbed TLS leaves some of its assembly out of
    // a build without any optimisation.
    let plain = objects(configured(source, variant).opt_level(1), &files, &work.join("plain"))?;
    let names = symbols::defined(&plain)?;
    let header = work.join("prefix.h");
    write(&header, &renames(&names, variant.prefix))?;

    // Second pass: the library itself.
    let mut second = configured(source, variant);
    second.opt_level(OPT_LEVEL).flag("-include").flag(header.display().to_string());
    let renamed = objects(&second, &files, &work.join("renamed"))?;
    check_renamed(&renamed, &names, variant)?;

    let mut archive = configured(source, variant);
    archive.objects(&renamed).out_dir(folder);
    archive
        .try_compile(&format!("cpb_mbedtls_{}", variant.name))
        .map_err(|e| format!("Mbed TLS ({}): {e}", variant.name))?;

    let probe = PathBuf::from("build/mbedtls/layout.c");
    let probe = objects(&configured(source, variant), &[probe], &work.join("layout"))?;
    let values = symbols::array(&probe[0], "cpb_mbedtls_layout", 2 * CONTEXTS.len())?;
    append(&folder.join("layout.rs"), &layout(variant, &values))?;
    append(&folder.join("flags"), &flags_line(variant, source)?)?;
    fs::remove_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))
}

/// The compiler as both passes use it, without the optimisation level.
fn configured(source: &Path, variant: &Variant) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .inherit_rustflags(false)
        .warnings(false)
        .debug(false)
        .force_frame_pointer(false)
        .opt_level(OPT_LEVEL)
        // Functions must be aligned alike in both variants. Where the first byte fell within a cache line made
        // ChaCha20 21 % slower in one variant than in the other (16-byte messages).
        .flag("-falign-functions=64")
        // Some compilers (zig cc) write debug information by default.
        .flag("-g0")
        .include("build/mbedtls")
        .include(source.join("include"))
        .include(source.join("library"))
        .define("MBEDTLS_CONFIG_FILE", "\"config.h\"");
    if let Some(name) = variant.define {
        build.define(name, None);
    }
    build
}

/// Compiles `files` on all cores.
fn objects(build: &cc::Build, files: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|first| {
                let mut build = build.clone();
                build.out_dir(folder).files(files.iter().skip(first).step_by(cores));
                scope.spawn(move || build.try_compile_intermediates())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    let mut objects = Vec::new();
    for result in results {
        let made = result.map_err(|_| "a compiler thread panicked".to_string())?;
        objects.extend(made.map_err(|e| format!("Mbed TLS did not build: {e}"))?);
    }
    objects.sort();
    Ok(objects)
}

fn sources(source: &Path) -> Result<Vec<PathBuf>, String> {
    let library = source.join("library");
    let entries = fs::read_dir(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !LEFT_OUT.iter().any(|part| name.starts_with(part))
        })
        .collect();
    files.sort();
    Ok(files)
}

fn renames(names: &BTreeSet<String>, prefix: &str) -> String {
    names.iter().map(|name| format!("#define {name} {}\n", renamed(name, prefix))).collect()
}

/// `mbedtls_aes_init` becomes `cpb_mbedtls_c_aes_init`.
fn renamed(name: &str, prefix: &str) -> String {
    format!("{prefix}{}", name.strip_prefix("mbedtls_").unwrap_or(name))
}

/// Returns an error if a name, defined or called, was not renamed: it would be resolved from the other variant
/// or from another library.
fn check_renamed(
    objects: &[PathBuf],
    names: &BTreeSet<String>,
    variant: &Variant,
) -> Result<(), String> {
    let defined = symbols::defined(objects)?;
    let wanted = symbols::undefined(objects)?;
    let stray: Vec<&String> = defined
        .iter()
        .filter(|name| !name.starts_with(variant.prefix))
        .chain(wanted.iter().filter(|name| names.contains(*name) || is_mbedtls(name)))
        .collect();
    if stray.is_empty() && defined.len() == names.len() {
        return Ok(());
    }
    Err(format!(
        "Mbed TLS ({}): {} names in the first pass, {} in the second; not renamed: {stray:?}",
        variant.name,
        names.len(),
        defined.len()
    ))
}

fn is_mbedtls(name: &str) -> bool {
    name.starts_with("mbedtls_") || name.starts_with("psa_")
}

/// A Rust module with one opaque type for each context.
fn layout(variant: &Variant, values: &[u32]) -> String {
    let mut text = format!("pub(crate) mod {}_layout {{\n", variant.name);
    for (name, pair) in CONTEXTS.iter().zip(values.chunks_exact(2)) {
        text += &format!("    opaque!({name}, {}, {});\n", pair[0], pair[1]);
    }
    text + "}\n"
}

/// The flags that make a difference, without this machine's folders.
fn flags_line(variant: &Variant, source: &Path) -> Result<String, String> {
    let tool = configured(source, variant)
        .try_get_compiler()
        .map_err(|e| format!("Mbed TLS ({}): {e}", variant.name))?;
    let mut flags = Vec::new();
    let mut arguments = tool.args().iter().map(|a| a.to_string_lossy());
    while let Some(argument) = arguments.next() {
        if argument == "-I" {
            arguments.next();
        } else if !argument.starts_with("-I") {
            flags.push(argument.into_owned());
        }
    }
    Ok(format!("{}: {}\n", variant.name, flags.join(" ")))
}

fn version(source: &Path) -> Result<String, String> {
    let path = source.join("include/mbedtls/build_info.h");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("#define MBEDTLS_VERSION_STRING "))
        .map(|value| value.trim().trim_matches('"').to_string())
        .ok_or_else(|| format!("{}: no MBEDTLS_VERSION_STRING", path.display()))
}

fn append(path: &Path, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(path).unwrap_or_default();
    write(path, &(before + text))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
