//! The files that QEMU boots: a kernel and an initramfs, prepared once and kept in a cache folder.
//!
//! The cache is `$CPB_LAB_CACHE`, otherwise `$XDG_CACHE_HOME/cpb/lab`, otherwise `~/.cache/cpb/lab`. It holds
//! a folder for each guest with its kernel, busybox and modules, and the latest initramfs made of them. A run
//! leaves nothing else on disk.

use super::cache::{self, COMPLETE};
use super::cpio::Archive;
use super::definition::Definition;
use super::emulator::{self, Emulator};
use super::kernel_runner;
use super::linked::Linked;
use super::modules;
use super::packages::{Apt, Origin};
use crate::static_binary;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first program of a guest.
const INIT: &str = include_str!("../../../../lab/init.sh");

/// The execute bits of a file's mode.
const EXECUTABLE: u32 = 0o111;

/// A kernel and its first file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The kernel.
    pub kernel: PathBuf,
    /// Its release.
    pub release: String,
    /// The initramfs.
    pub initramfs: PathBuf,
    /// The QEMU that boots it.
    pub emulator: Emulator,
}

/// Prepares everything that `guest` needs and fetches what is missing. `say` reports steps that take time.
///
/// # Errors
/// Returns an error if a program, a package or the static cpb is missing, or if a file cannot be written.
pub fn prepare(guest: &Definition, say: &dyn Fn(&str)) -> Result<Image> {
    let cpb = program(guest, say)?;
    // Before the kernel, because a guest without an emulator needs none.
    let emulator = emulator::prepare(&guest.qemu, say)?;
    let name = folder_name(guest);
    // Guests that differ only in their machine share a folder, and therefore the lock.
    let (folder, _lock) = cache::locked(&name)?;
    let prepared = folder.join(&name);
    if !prepared.join(COMPLETE).is_file() {
        fetch(guest, &folder, say)?;
    }
    let mut more = BTreeMap::new();
    if guest.kernel_runner {
        match kernel_runner::built(&prepared, &release(&prepared)?) {
            Ok(module) => _ = more.insert(kernel_runner::PLACE, module),
            // The guest is of use without it, and its runner says what is missing.
            Err(reason) => say(&format!("{} has no kernel: providers: {reason:#}", guest.name)),
        }
    }
    image(&prepared, &cpb, &more, emulator)
}

/// Fetches the newest kernel of `guest`, even if one is there.
///
/// # Errors
/// As for [`prepare`], except that no static cpb is needed.
pub fn renew(guest: &Definition, say: &dyn Fn(&str)) -> Result<String> {
    let name = folder_name(guest);
    let (folder, _lock) = cache::locked(&name)?;
    fetch(guest, &folder, say)?;
    Ok(fs::read_to_string(folder.join(name).join(COMPLETE))?)
}

/// The release of the kernel that has been fetched for `guest`, if any.
pub fn fetched(guest: &Definition) -> Option<String> {
    fs::read_to_string(cache::folder().ok()?.join(folder_name(guest)).join(COMPLETE)).ok()
}

fn folder_name(guest: &Definition) -> String {
    format!("{}-{:016x}", guest.architecture, hash(&guest.recipe()))
}

fn fetch(guest: &Definition, folder: &Path, say: &dyn Fn(&str)) -> Result<()> {
    say(&format!("fetching {} ({}) and its modules", guest.kernel, guest.architecture));
    cache::filled(folder, &folder_name(guest), |partial, apt_folder| {
        fill(guest, partial, apt_folder)
    })
}

/// Fetches into `partial`, by an apt in `apt_folder`.
fn fill(guest: &Definition, partial: &Path, apt_folder: &Path) -> Result<()> {
    let tree = partial.join("tree");
    let root = partial.join("root");
    let origin = Origin { architecture: &guest.architecture, suites: &guest.suites };
    let apt = Apt::update(apt_folder, &origin)?;
    let mut packages = apt.kernel(&guest.kernel)?;
    if guest.kernel_runner {
        packages.extend(apt.headers(&packages)?);
    }
    packages.extend(guest.packages.iter().cloned());
    apt.unpack(&packages, &tree)?;
    fs::create_dir_all(root.join("bin"))?;
    let release = modules::pick(&tree, &root, &guest.all_modules())?;
    // Newer packages leave copying it into /boot to the installation.
    let kernel =
        ["boot/vmlinuz-".to_owned() + &release, format!("usr/lib/modules/{release}/vmlinuz")];
    let kernel = kernel.iter().map(|path| tree.join(path)).find(|path| path.is_file());
    let kernel = kernel.with_context(|| format!("{} has no kernel", packages.join(", ")))?;
    fs::copy(kernel, partial.join("vmlinuz"))?;
    let busybox = ["bin/busybox", "usr/bin/busybox"].map(|path| tree.join(path));
    let busybox =
        busybox.iter().find(|path| path.is_file()).context("the package contains no busybox")?;
    fs::copy(busybox, root.join("bin/busybox"))?;
    for file in &guest.files {
        let content = followed(&tree, file)
            .with_context(|| format!("{} have no file {file}", guest.packages.join(", ")))?;
        let copy = root.join(file);
        fs::create_dir_all(copy.parent().unwrap_or(&root))?;
        fs::copy(content, &copy).with_context(|| file.clone())?;
    }
    fs::write(root.join("etc-modules"), guest.modules.join("\n") + "\n")?;
    if guest.kernel_runner {
        kernel_runner::keep_headers(&tree, partial)?;
    }
    cache::remove(&tree)?;
    Ok(fs::write(partial.join(COMPLETE), &release)?)
}

/// The location of `file`'s content in `tree`: links in packages refer to places in their own root.
fn followed(tree: &Path, file: &str) -> Result<PathBuf> {
    const LONGEST_CHAIN: usize = 8;
    let mut path = tree.join(file);
    for _ in 0..LONGEST_CHAIN {
        if !path.is_symlink() {
            return Ok(path.canonicalize()?);
        }
        let leads_to = fs::read_link(&path)?;
        path = match leads_to.strip_prefix("/") {
            Ok(below) => tree.join(below),
            Err(_) => path.parent().unwrap_or(tree).join(leads_to),
        };
    }
    bail!("{file} is a broken link")
}

/// The release of the kernel in a prepared folder.
fn release(prepared: &Path) -> Result<String> {
    Ok(fs::read_to_string(prepared.join(COMPLETE))?)
}

/// The initramfs made of the prepared files, this cpb and `more` files, made again if any has changed.
fn image(
    prepared: &Path,
    cpb: &Linked,
    more: &BTreeMap<&str, Vec<u8>>,
    emulator: Emulator,
) -> Result<Image> {
    let release = release(prepared)?;
    let key = hash(&(&cpb.program, &cpb.files, more, INIT, env!("CARGO_PKG_VERSION")));
    let initramfs = prepared.join(format!("initramfs-{key:016x}.cpio"));
    if !initramfs.is_file() {
        // Images of earlier builds of cpb. A recent one may be about to be loaded by a QEMU.
        for entry in fs::read_dir(prepared)?.flatten() {
            let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
            let image = entry.file_name().to_string_lossy().starts_with("initramfs-");
            if image && age > Duration::from_secs(3600) {
                fs::remove_file(entry.path())?;
            }
        }
        let root = prepared.join("root");
        write_whole(&initramfs, |output| write_initramfs(output, &root, cpb, more))?;
    }
    Ok(Image { kernel: prepared.join("vmlinuz"), release, initramfs, emulator })
}

/// Writes a file completely or not at all: `fill` writes a partial file beside it, which is removed if it
/// cannot be completed.
///
/// # Errors
/// Returns an error, which names the file, if it cannot be written.
fn write_whole(path: &Path, fill: impl FnOnce(BufWriter<File>) -> Result<()>) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || {
        fill(BufWriter::new(File::create(&partial)?))?;
        Ok(fs::rename(&partial, path)?)
    };
    write().map_err(|error: anyhow::Error| {
        // The partial file may not have been created.
        let _ = fs::remove_file(&partial);
        let full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        let remedy = match error.root_cause().downcast_ref().is_some_and(full) {
            true => "; free space there, or choose another folder with CPB_LAB_CACHE",
            false => "",
        };
        error.context(format!("cannot write {}{remedy}", path.display()))
    })
}

fn write_initramfs(
    output: BufWriter<File>,
    root: &Path,
    cpb: &Linked,
    more: &BTreeMap<&str, Vec<u8>>,
) -> Result<()> {
    let mut archive = Archive::new(output);
    for folder in ["bin", "dev", "etc"] {
        archive.directory(folder)?;
    }
    // The kernel opens it for the first program, before anything is mounted.
    archive.character_device("dev/console", (5, 1))?;
    archive.program("init", INIT.as_bytes())?;
    archive.program("bin/busybox", &fs::read(root.join("bin/busybox"))?)?;
    archive.link("bin/sh", "busybox")?;
    archive.program("bin/cpb", &cpb.program)?;
    archive.file("etc/modules", &fs::read(root.join("etc-modules"))?)?;
    let mut below = BTreeSet::new();
    for folder in ["lib", "lib64", "usr"].map(|name| root.join(name)) {
        if folder.is_dir() {
            walk(&folder, &mut below)?;
            below.insert(folder);
        }
    }
    // There must be one C library: the one of this cpb, if it brings one.
    below.retain(|path| path.is_dir() || !cpb.replaces(path));
    let folders = cpb.files.keys().flat_map(|file| Path::new(file).ancestors().skip(1));
    below.extend(folders.filter(|folder| *folder != Path::new("")).map(|folder| root.join(folder)));
    for path in below {
        let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
        if path.is_dir() || !path.exists() {
            archive.directory(&name)?;
        } else if path.metadata()?.permissions().mode() & EXECUTABLE != 0 {
            archive.program(&name, &fs::read(&path)?)?;
        } else {
            archive.file(&name, &fs::read(&path)?)?;
        }
    }
    for (path, bytes) in &cpb.files {
        archive.program(path, bytes)?;
    }
    for (path, bytes) in more {
        archive.file(path, bytes)?;
    }
    archive.end()?;
    Ok(())
}

/// Everything below `folder`, sorted, so that a folder comes before its contents.
fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, found)?;
        }
        found.insert(path);
    }
    Ok(())
}

/// The cpb for the guest: a static one, or, if the guest has this machine's architecture, the running one.
fn program(guest: &Definition, say: &dyn Fn(&str)) -> Result<Linked> {
    let named = std::env::var_os("CPB_LAB_BINARIES").map(PathBuf::from);
    let is_named = named.is_some();
    let found = static_binary::find(&guest.target, named, "CPB_LAB_BINARIES can set its folder")
        .context("the guest needs a static cpb");
    match found {
        Ok(path) => {
            let program = fs::read(&path).with_context(|| path.display().to_string())?;
            Ok(Linked { program, files: BTreeMap::new() })
        }
        Err(missing) if is_named || !guest.target.starts_with(std::env::consts::ARCH) => {
            Err(missing)
        }
        Err(missing) => {
            let own = Linked::own().with_context(|| format!("{missing:#}"))?;
            say(&format!("the guest runs this cpb, with {} linked libraries", own.files.len()));
            Ok(own)
        }
    }
}

/// A hash to detect changes; it does not resist deliberate collisions.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
