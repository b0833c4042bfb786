//! The folder where built libraries are kept: `<target dir>/vendored/<name>-<target>-<hash>/`.
//!
//! It is next to the profiles' folders, so debug, release and test builds share one library. The hash covers
//! everything that the build depends on, so a changed recipe gets a new folder and a complete folder never
//! changes. `CPB_VENDORED_DIR` names another place, for a cache.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Written last. A folder without this file is not used.
const COMPLETE: &str = "complete";

/// Returns the folder for `name` and `recipe`. If it does not exist yet, `build` fills it first.
pub(crate) fn once(
    name: &str,
    recipe: &str,
    build: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let root = root()?;
    let target = env::var("TARGET").unwrap_or_default();
    let key = format!("{name}-{target}-{:016x}", fnv1a(recipe.as_bytes()));
    let folder = root.join(&key);
    let stamp = folder.join(COMPLETE);
    // If the folder is removed, cargo runs this script again.
    println!("cargo:rerun-if-changed={}", stamp.display());
    if stamp.is_file() {
        return Ok(folder);
    }

    let context = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    fs::create_dir_all(&root).map_err(|e| context(&root, e))?;
    let lock_path = root.join(format!("{key}.lock"));
    let lock = File::create(&lock_path).map_err(|e| context(&lock_path, e))?;
    // Another cargo may be building the same library: wait for it, then use its result.
    lock.lock().map_err(|e| context(&lock_path, e))?;
    if stamp.is_file() {
        return Ok(folder);
    }

    let partial = root.join(format!("{key}.partial"));
    for leftover in [&partial, &folder] {
        if leftover.exists() {
            fs::remove_dir_all(leftover).map_err(|e| context(leftover, e))?;
        }
    }
    fs::create_dir_all(&partial).map_err(|e| context(&partial, e))?;
    build(&partial)?;
    stamp_complete(&partial.join(COMPLETE)).map_err(|e| context(&partial, e))?;
    fs::rename(&partial, &folder).map_err(|e| context(&folder, e))?;
    Ok(folder)
}

/// Cargo runs a build script again if a watched file is newer than the script's last start, so a stamp written
/// during that run must look old.
fn stamp_complete(path: &Path) -> std::io::Result<()> {
    let file = File::create(path)?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))
}

fn root() -> Result<PathBuf, String> {
    println!("cargo:rerun-if-env-changed=CPB_VENDORED_DIR");
    if let Some(folder) = env::var_os("CPB_VENDORED_DIR") {
        return Ok(PathBuf::from(folder));
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gave no OUT_DIR")?);
    Ok(target_dir(&out).join("vendored"))
}

/// `OUT_DIR` is `<target dir>[/<triple>]/<profile>/build/<package>/out`. If cargo arranges it differently, each
/// profile builds its own libraries, which is slower but correct.
fn target_dir(out: &Path) -> PathBuf {
    let build = out.ancestors().find(|a| a.file_name().is_some_and(|n| n == "build"));
    let Some(above_profile) = build.and_then(Path::parent).and_then(Path::parent) else {
        return out.to_path_buf();
    };
    let triple = env::var_os("TARGET");
    match above_profile.parent() {
        Some(parent) if above_profile.file_name() == triple.as_deref() => parent.to_path_buf(),
        _ => above_profile.to_path_buf(),
    }
}

/// FNV-1a, 64 bits (draft-eastlake-fnv, section 2): the same in every Rust version.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
