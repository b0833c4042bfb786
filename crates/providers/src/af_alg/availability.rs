//! Whether AF_ALG reaches a driver, and if not, why. This is found out by trying, never from the kernel's
//! version, because distributions change what a version means.

use super::TYPES;
use super::socket::{Bound, Refusal};
use crate::kernel_crypto::{Driver, Selftest};
use cpb_core::kernel::Availability;
use std::path::Path;

/// The outcome of a bind: success, or an errno.
pub type Bind = Result<(), i32>;

/// Tries to bind `name`.
pub(super) fn bind(kind: &str, name: &str) -> Bind {
    match Bound::new(kind, name) {
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal.errno().unwrap_or(libc::ETIMEDOUT)),
    }
}

/// What is known about AF_ALG besides one driver, to explain why that driver does not bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// Whether the kernel has AF_ALG for the driver's type at all.
    pub has_type: bool,
    /// Whether any asynchronous driver of this type binds. If so, drivers are not withheld for being
    /// asynchronous.
    pub asynchronous: bool,
    /// Whether the kernel limits AF_ALG to the algorithms of a list (`crypto.af_alg_restrict` of Linux 7.3),
    /// and no driver of this driver's algorithm binds.
    pub restricted: bool,
}

impl Around {
    /// For a driver whose bind is conclusive by itself.
    pub(super) const NOTHING: Around =
        Around { has_type: true, asynchronous: false, restricted: false };

    /// Whether a driver that is listed but does not bind may be withheld.
    fn keeps_back(self, driver: &Driver) -> bool {
        self.restricted || (driver.asynchronous == Some(true) && !self.asynchronous)
    }
}

/// Returns what the outcome of a bind means for a listed driver.
pub fn classify(driver: &Driver, bound: Result<(), i32>, around: Around) -> Availability {
    let untested = driver.selftest == Selftest::Unknown;
    match bound {
        _ if driver.is_larval() => Availability::InTest,
        _ if driver.internal || driver.af_alg_type().is_none() => Availability::KernelOnly,
        Ok(()) => Availability::Reachable,
        Err(libc::ELIBBAD) => Availability::SelftestFailed,
        Err(libc::EAGAIN) if untested => Availability::InTest,
        // Before Linux 4.20 a driver that had failed its self-test seemed not to exist.
        Err(libc::ENOENT) if untested => Availability::SelftestFailed,
        Err(libc::ENOENT) if !around.has_type => {
            Availability::Absent(missing_type(driver.af_alg_type()))
        }
        Err(libc::ENOENT) if around.keeps_back(driver) => Availability::Policy,
        Err(libc::ENOENT) => Availability::NotSetUp,
        Err(libc::EAFNOSUPPORT) => Availability::Absent(missing_interface(Path::new("/"))),
        Err(errno @ (libc::EACCES | libc::EPERM)) => Availability::Permission(not_permitted(errno)),
        Err(errno) => Availability::Failed(errno),
    }
}

/// Checks whether the kernel has AF_ALG at all.
///
/// # Errors
/// Returns an error with the reason if no AF_ALG socket can be opened.
pub fn interface(root: &Path) -> Result<(), Availability> {
    match Bound::open().map_err(Refusal::errno) {
        Ok(_) => Ok(()),
        Err(errno) => Err(interface_refused(root, errno.unwrap_or(0))),
    }
}

/// Reads `crypto.af_alg_restrict` (Documentation/admin-guide/sysctl/crypto.rst of Linux 7.3): 1 limits AF_ALG
/// to a list, 2 turns it off. Returns 0 if the kernel does not have it.
pub(super) fn restriction(root: &Path) -> u32 {
    let restrict = std::fs::read_to_string(root.join("proc/sys/crypto/af_alg_restrict"));
    restrict.unwrap_or_default().trim().parse().unwrap_or(0)
}

/// Why no AF_ALG socket can be opened.
pub(super) fn interface_refused(root: &Path, errno: i32) -> Availability {
    match errno {
        libc::EAFNOSUPPORT if restriction(root) == 2 => Availability::Policy,
        libc::EAFNOSUPPORT => Availability::Absent(missing_interface(root)),
        libc::EACCES | libc::EPERM => Availability::Permission(not_permitted(errno)),
        errno => Availability::Failed(errno),
    }
}

fn missing_interface(root: &Path) -> String {
    missing(root, "AF_ALG", "af_alg", "CONFIG_CRYPTO_USER_API_SKCIPHER, _HASH and _AEAD")
}

/// Why nothing is called `name`: either AF_ALG lacks its type, or the kernel has no such driver. `kind` is the
/// type that it would have, if known.
pub(super) fn nothing_called(
    name: &str,
    kind: Option<&str>,
    type_is_here: &dyn Fn(&str) -> bool,
) -> Availability {
    let missing: Vec<&str> = TYPES.into_iter().filter(|kind| !type_is_here(kind)).collect();
    if let Some(kind) = kind.filter(|kind| missing.contains(kind)) {
        return Availability::Absent(missing_type(Some(kind)));
    }
    let mut words = format!("this kernel has no driver {name}");
    if kind.is_none() && !missing.is_empty() {
        // It may have a type that AF_ALG cannot be asked for.
        let missing: Vec<String> = missing.iter().map(|kind| missing_type(Some(kind))).collect();
        words += &format!(", or AF_ALG does not support its type: {}", missing.join("; "));
    }
    Availability::Absent(words)
}

/// Says what provides AF_ALG's type for `kind`.
pub(super) fn missing_type(kind: Option<&str>) -> String {
    let kind = kind.unwrap_or("skcipher");
    let (module, option) =
        (format!("algif_{kind}"), format!("CONFIG_CRYPTO_USER_API_{}", kind.to_uppercase()));
    missing(Path::new("/"), &format!("AF_ALG's type {kind}"), &module, &option)
}

/// Says what to do about a missing module: if its file exists, load it; otherwise another kernel is needed.
fn missing(root: &Path, what: &str, module: &str, option: &str) -> String {
    let release = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease"));
    let release = release.unwrap_or_default();
    let list = root.join("lib/modules").join(release.trim()).join("modules.dep");
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    let file = format!("/{module}.ko");
    let mut paths = listed.lines().filter_map(|line| line.split(':').next());
    let path = paths.find(|path| path.contains(&file));
    // The list may be out of date.
    if path.is_some_and(|path| list.with_file_name("").join(path).exists()) {
        format!("{what} is not loaded: as root, modprobe {module}")
    } else {
        format!("the kernel lacks {what}: it needs {option} (module {module})")
    }
}

fn not_permitted(errno: i32) -> String {
    let error = std::io::Error::from_raw_os_error(errno);
    format!(
        "{error}; use another user, a container that allows AF_ALG sockets, or \
         crypto.af_alg_restrict=0"
    )
}

/// Whether AF_ALG has `kind`, for the case that nothing of that type could be bound.
pub(super) fn has_type(root: &Path, kind: &str) -> bool {
    let module = format!("algif_{kind}");
    if root.join("sys/module").join(&module).exists() {
        return true;
    }
    let release = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease"));
    let folder = root.join("lib/modules").join(release.unwrap_or_default().trim());
    let built_in = std::fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
    built_in.lines().any(|line| line.ends_with(&format!("/{module}.ko")))
}
