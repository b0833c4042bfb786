//! How often a driver's device has interrupted: from the driver's name to lines of
//! `/proc/interrupts`, by what the kernel says of both, never by a line's name known beforehand.
//!
//! driver -> module (`/proc/crypto`) -> device drivers of that module (`/sys/module`) -> devices
//! bound to them -> lines: those whose label names the device, those whose number the device lists
//! (PCI), those whose hardware number the device tree gives it.

use crate::kernel_crypto::{self, Driver, KERNEL_DRIVER_ONLY};
use cpb_core::Claim;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod device_tree;

/// One line of `/proc/interrupts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it begins with: an interrupt's number, or letters for those of the CPU itself.
    pub id: String,
    /// How often it came, on all CPUs together.
    pub total: u64,
    /// The rest in words: controller, number at the controller, trigger, who asked for it.
    pub words: Vec<String>,
}

/// Reads `/proc/interrupts`. Takes any text: what is no line of counts is passed over.
pub fn parse(text: &str) -> Vec<Line> {
    let mut lines = text.lines();
    let cpus = lines.next().unwrap_or_default().split_whitespace().count();
    lines.filter_map(|line| parse_line(line, cpus)).collect()
}

fn parse_line(line: &str, cpus: usize) -> Option<Line> {
    let (id, rest) = line.split_once(':')?;
    let mut words = rest.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let mut total = 0_u64;
    for _ in 0..cpus {
        // The last two lines, of errors, have one count for all.
        total = total.saturating_add(words.clone().next().and_then(|word| word.parse().ok())?);
        words.next();
        if words.clone().next().is_none() {
            break;
        }
    }
    Some(Line { id: id.trim().to_owned(), total, words: words.map(str::to_owned).collect() })
}

/// The interrupt lines of one driver's devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    file: PathBuf,
    /// [`Line::id`] of each.
    ids: Vec<String>,
}

impl Lines {
    /// The lines of the devices behind the crypto driver called `driver`. None if it has no device
    /// (software) or its device never interrupts (polled). `root` is `/`, or a copy for a test.
    pub fn of(root: &Path, driver: &str) -> Option<Lines> {
        let listed = kernel_crypto::drivers(root);
        Lines::of_driver(root, listed.iter().find(|known| known.driver == driver)?)
    }

    /// The lines to watch while `driver` works: its own; for software, those of all engines.
    pub fn to_watch(root: &Path, driver: &str) -> Option<Lines> {
        let listed = kernel_crypto::drivers(root);
        let driver = listed.iter().find(|known| known.driver == driver)?;
        if claim(root, driver, false) != Claim::Kernel {
            return Lines::of_driver(root, driver);
        }
        Lines::of_engines(root)
    }

    /// The lines of every engine that the kernel lists a crypto driver for. While software works they
    /// are to stand still, whatever it is that they could have done.
    pub fn of_engines(root: &Path) -> Option<Lines> {
        let listed = kernel_crypto::drivers(root);
        let mut modules: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for driver in &listed {
            match &driver.module {
                Some(module) if modules.contains(&module.as_str()) => continue,
                Some(module) => modules.push(module),
                None if !may_be_engine(driver) => continue,
                None => {}
            }
            found.extend(devices(root, driver));
        }
        found.sort();
        found.dedup();
        Lines::of_devices(root, &found)
    }

    /// The same as [`Lines::of`] for a driver that is known from the kernel's list.
    pub fn of_driver(root: &Path, driver: &Driver) -> Option<Lines> {
        Lines::of_devices(root, &devices(root, driver))
    }

    fn of_devices(root: &Path, devices: &[PathBuf]) -> Option<Lines> {
        let file = root.join("proc/interrupts");
        let lines = parse(&fs::read_to_string(&file).ok()?);
        let mut ids: Vec<String> = Vec::new();
        for device in devices {
            for line in lines.iter().filter(|line| belongs(line, device, root)) {
                if !ids.contains(&line.id) {
                    ids.push(line.id.clone());
                }
            }
        }
        (!ids.is_empty()).then_some(Lines { file, ids })
    }

    /// How often they have come since the machine started. None if it cannot be read any more.
    pub fn count(&self) -> Option<u64> {
        let lines = parse(&fs::read_to_string(&self.file).ok()?);
        let ours = lines.iter().filter(|line| self.ids.contains(&line.id));
        Some(ours.map(|line| line.total).sum())
    }

    /// What the lines begin with.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }
}

/// Where `driver` runs, by the devices it drives. Of one that the kernel `chose` for an algorithm and
/// that runs on the CPU, it is a fallback if the kernel prefers another one, which has a device.
pub fn claim(root: &Path, driver: &Driver, chose: bool) -> Claim {
    let in_device = |driver: &Driver| !devices(root, driver).is_empty();
    if is_kernels_alone(driver) || in_device(driver) {
        return Claim::Engine;
    }
    // Built into the kernel, its name alone may not lead to the device of an asynchronous driver.
    let hidden = driver.module.is_none() && driver.asynchronous == Some(true);
    if driver.name.is_empty() || hidden {
        return Claim::Unknown;
    }
    let listed = kernel_crypto::drivers(root);
    let preferred = |other: &&Driver| other.priority > driver.priority;
    let candidates = kernel_crypto::candidates(&listed, &driver.name);
    let passed_over = || candidates.into_iter().filter(preferred).any(in_device);
    if chose && passed_over() { Claim::Fallback } else { Claim::Kernel }
}

/// Whether a driver that is built into the kernel may belong to a device: software is done when it
/// returns, unless it stands in line for vector registers, and has no name that leads to a device.
fn may_be_engine(driver: &Driver) -> bool {
    driver.asynchronous == Some(true) || is_kernels_alone(driver)
}

fn is_kernels_alone(driver: &Driver) -> bool {
    driver.flags.is_some_and(|flags| flags & KERNEL_DRIVER_ONLY != 0)
}

/// The interrupts of all engines of this machine since it was booted; none where it has no lines of
/// any. For whoever computes in a process of its own: that nobody else did can then be counted.
pub fn of_engines() -> Option<u64> {
    static LINES: OnceLock<Option<Lines>> = OnceLock::new();
    LINES.get_or_init(|| Lines::of_engines(Path::new("/"))).as_ref()?.count()
}

/// The devices, as folders below `root`'s `sys`, that the module of `driver` drives now. A driver
/// that is built in has no module to go by; there its name leads to a device driver.
pub fn devices(root: &Path, driver: &Driver) -> Vec<PathBuf> {
    let folders = match &driver.module {
        Some(module) => {
            // Modules' names have '_' where their files may have '-'.
            let module = module.replace('-', "_");
            entries(&root.join("sys/module").join(module).join("drivers"))
        }
        None => built_in(root, driver),
    };
    let mut devices: Vec<PathBuf> = folders.iter().flat_map(|folder| bound(folder)).collect();
    devices.sort();
    devices.dedup();
    devices
}

/// Device drivers whose name has most words in common with the crypto driver's own words: `caam_jr`
/// for `cbc-aes-caam`. Words of the algorithm do not count.
fn built_in(root: &Path, driver: &Driver) -> Vec<PathBuf> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let algorithm = words(&driver.name);
    // What software calls itself, and no device driver should be taken for.
    const GENERIC: [&str; 8] = ["generic", "lib", "simd", "ce", "neon", "asm", "arm64", "cryptd"];
    let own: Vec<String> = words(&driver.driver)
        .into_iter()
        .filter(|word| !algorithm.contains(word) && !GENERIC.contains(&word.as_str()))
        .collect();
    let mut found = Vec::new();
    for bus in entries(&root.join("sys/bus")) {
        for folder in entries(&bus.join("drivers")) {
            let name = words(&file_name(&folder));
            let common = own.iter().filter(|word| name.contains(word)).count();
            // All of its own words must be there: `virtio` alone leads to any virtio driver.
            if common > 0 && common == own.len() {
                found.push(folder);
            }
        }
    }
    found
}

/// The devices that are bound to a device driver: its folder holds a link to each.
fn bound(driver: &Path) -> Vec<PathBuf> {
    let Ok(folder) = driver.canonicalize() else { return Vec::new() };
    let links = entries(&folder).into_iter();
    let links = links.filter(|path| path.is_symlink() && file_name(path) != "module");
    links.filter_map(|link| link.canonicalize().ok()).collect()
}

/// Whether a line of `/proc/interrupts` is the device's.
fn belongs(line: &Line, device: &Path, root: &Path) -> bool {
    let name = file_name(device);
    let of_name = |word: &String| {
        // `virtio2-virtqueues`, but not virtio20's.
        word.strip_prefix(name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    line.words.iter().any(of_name)
        || numbers(device).contains(&line.id)
        || device_tree::hardware_numbers(root, device).iter().any(|number| number.is(line))
}

/// The interrupt numbers that a device itself lists: its messages (MSI), else its pin.
fn numbers(device: &Path) -> Vec<String> {
    let messages: Vec<String> =
        entries(&device.join("msi_irqs")).iter().map(|path| file_name(path)).collect();
    let pin = fs::read_to_string(device.join("irq")).unwrap_or_default();
    match pin.trim() {
        pin if messages.is_empty() && pin != "0" && !pin.is_empty() => vec![pin.to_owned()],
        _ => messages,
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "interrupts/tests.rs"]
mod tests;
