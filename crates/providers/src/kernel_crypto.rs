//! What Linux reports about its own crypto: which drivers there are, and what it says of each.
//!
//! `/proc/crypto` is readable by all and says most of it; NETLINK_CRYPTO adds each driver's flags. Both are
//! only read. Templates such as `cbc(aes-generic)` are listed only from their first use on.

mod listing;
pub(crate) mod material;
mod netlink;

pub use listing::parse;
pub use netlink::{Reported, parse_dump};

use crate::interrupts::Wiring;
use cpb_core::Algorithm;
pub use cpb_core::kernel::{Driver, KERNEL_DRIVER_ONLY, NEEDS_FALLBACK, Selftest, kernel_name};
use std::path::Path;

/// Every `(AF_ALG type, name)` that [`kernel_name`] gives, each once, in the order of algorithms.
pub fn kernel_names() -> Vec<(&'static str, &'static str)> {
    let mut names: Vec<_> =
        Algorithm::ALL.iter().filter_map(|algorithm| kernel_name(*algorithm)).collect();
    names.dedup();
    names
}

/// All drivers of the kernel whose `proc` is below `root`: `/`, or a copy in a test. NETLINK_CRYPTO is used
/// only for `/`. Empty if the kernel has no crypto to list.
pub fn drivers(root: &Path) -> Vec<Driver> {
    let text = std::fs::read(root.join("proc/crypto")).unwrap_or_default();
    let mut drivers = parse(&String::from_utf8_lossy(&text));
    if root == Path::new("/") {
        join(&mut drivers, netlink::dump().unwrap_or_default());
    }
    drivers
}

/// Adds what NETLINK_CRYPTO reported: flags for listed drivers, and drivers that are not listed.
pub fn join(drivers: &mut Vec<Driver>, reported: Vec<Reported>) {
    for Reported { driver: reported, flags } in reported {
        let same = |known: &&mut Driver| {
            (&known.driver, &known.name) == (&reported.driver, &reported.name)
        };
        match drivers.iter_mut().find(same) {
            Some(known) => known.flags = Some(flags),
            None => drivers.push(Driver { flags: Some(flags), ..reported }),
        }
    }
}

/// The drivers that run `name` and are open to every program, in the kernel's order of preference.
pub fn candidates<'d>(drivers: &'d [Driver], name: &str) -> Vec<&'d Driver> {
    let usable = |driver: &&Driver| driver.name == name && !driver.internal && !driver.is_larval();
    let mut found: Vec<&Driver> = drivers.iter().filter(usable).collect();
    // A stable sort: among equals the kernel takes the one registered last, which it lists first.
    found.sort_by_key(|driver| core::cmp::Reverse(driver.priority));
    found
}

/// Those of [`candidates`] that can be measured, because cpb has a name for what they compute.
pub fn executors<'d>(drivers: &'d [Driver], name: &str) -> Vec<&'d Driver> {
    let mut found = candidates(drivers, name);
    found.retain(|driver| driver.runs_any());
    found
}

/// The drivers of interest to a user who names none: for each algorithm the one that the kernel prefers, and
/// every one that belongs to a device.
pub fn usual(root: &Path) -> Vec<String> {
    let wiring = Wiring::current(root);
    let mut usual = Vec::new();
    for (_, name) in kernel_names() {
        for (place, driver) in executors(wiring.drivers(), name).into_iter().enumerate() {
            let wanted = place == 0 || !wiring.devices(driver).is_empty();
            if wanted && !usual.contains(&driver.driver) {
                usual.push(driver.driver.clone());
            }
        }
    }
    usual
}

/// The release of the kernel whose files are below `root`.
pub(crate) fn release(root: &Path) -> String {
    let release = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease"));
    release.unwrap_or_default().trim().to_owned()
}

/// Describes what the kernel lists about a driver, for a provider's options.
pub(crate) fn described(driver: &Driver) -> String {
    let mut words = vec![
        format!("{} {}", driver.kind, driver.name),
        format!("priority {}", driver.priority),
        match &driver.module {
            Some(module) => format!("module {module}"),
            None => "built in".to_owned(),
        },
    ];
    if driver.asynchronous == Some(true) {
        words.push("asynchronous".to_owned());
    }
    if driver.flags.is_some_and(|flags| flags & NEEDS_FALLBACK != 0) {
        words.push("needs a software fallback".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
#[path = "kernel_crypto/tests.rs"]
mod tests;
