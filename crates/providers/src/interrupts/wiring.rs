//! Which crypto driver drives which devices, and which interrupt lines are theirs.

use super::device_tree::DeviceTree;
use super::{JobCounter, Line, Lines, files, parse};
use crate::kernel_crypto::{self, Driver, KERNEL_DRIVER_ONLY};
use cpb_core::Claim;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Crypto drivers, their devices and the devices' interrupt lines, as they were when they were read.
///
/// Each file is read at most once, when it is first needed, for all drivers together: a board has hundreds of
/// crypto drivers, hundreds of nodes in its device tree, and a hundred interrupt lines.
pub struct Wiring {
    root: PathBuf,
    drivers: Vec<Driver>,
    lines: Vec<Line>,
    tree: Arc<DeviceTree>,
    /// The device drivers of all buses, with the words of their names.
    device_drivers: OnceLock<Vec<(PathBuf, Vec<String>)>>,
    /// The device drivers of a module.
    of_module: Remembered<String, Vec<PathBuf>>,
    /// The devices of a device driver.
    bound: Remembered<PathBuf, Vec<PathBuf>>,
    /// The [`Line::id`] of each line of a device.
    ids: Remembered<PathBuf, Vec<String>>,
    engines: OnceLock<Option<Lines>>,
}

impl Wiring {
    /// Reads the drivers and lines of the machine whose files are below `root`: `/`, or a copy in a test.
    pub fn read(root: &Path) -> Wiring {
        let lines = parse(&files::text(&root.join("proc/interrupts")));
        Wiring::of(root, kernel_crypto::drivers(root), lines, Arc::new(DeviceTree::new(root)))
    }

    /// The current wiring. A process that asks again gets the same one as long as the kernel lists the same
    /// crypto drivers and the same interrupt lines. A module that was loaded meanwhile adds some.
    pub fn current(root: &Path) -> Arc<Wiring> {
        static LAST: Mutex<Option<Arc<Wiring>>> = Mutex::new(None);
        let drivers = kernel_crypto::drivers(root);
        let lines = parse(&files::text(&root.join("proc/interrupts")));
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.as_ref().filter(|known| known.root == root);
        if let Some(known) = known.filter(|known| known.lists(&drivers, &lines)) {
            return Arc::clone(known);
        }
        let tree = known.map(|known| Arc::clone(&known.tree));
        let tree = tree.unwrap_or_else(|| Arc::new(DeviceTree::new(root)));
        let wiring = Arc::new(Wiring::of(root, drivers, lines, tree));
        *last = Some(Arc::clone(&wiring));
        wiring
    }

    fn of(root: &Path, drivers: Vec<Driver>, lines: Vec<Line>, tree: Arc<DeviceTree>) -> Wiring {
        Wiring {
            root: root.to_owned(),
            drivers,
            lines,
            tree,
            device_drivers: OnceLock::new(),
            of_module: Remembered::default(),
            bound: Remembered::default(),
            ids: Remembered::default(),
            engines: OnceLock::new(),
        }
    }

    /// Whether the wiring has these drivers and lines. A driver's number of users and a line's count may have
    /// changed.
    fn lists(&self, drivers: &[Driver], lines: &[Line]) -> bool {
        let same = |a: &Driver, b: &Driver| {
            Driver { references: 0, ..a.clone() } == Driver { references: 0, ..b.clone() }
        };
        self.drivers.len() == drivers.len()
            && self.drivers.iter().zip(drivers).all(|(known, now)| same(known, now))
            && self.lines.len() == lines.len()
            && self
                .lines
                .iter()
                .zip(lines)
                .all(|(known, now)| (&known.id, &known.words) == (&now.id, &now.words))
    }

    /// The kernel's crypto drivers.
    pub fn drivers(&self) -> &[Driver] {
        &self.drivers
    }

    /// The lines of the devices behind a crypto driver. `None` if it has no device (software) or its
    /// device never interrupts (polled).
    pub fn lines_of(&self, driver: &Driver) -> Option<Lines> {
        self.lines_of_devices(&self.devices(driver))
    }

    /// The lines to watch while the driver called `driver` works: its own or, for software, those of all
    /// engines.
    pub fn to_watch(&self, driver: &str) -> Option<Lines> {
        let driver = self.drivers.iter().find(|known| known.driver == driver)?;
        match self.claim(driver, false) {
            Claim::Kernel => self.of_engines(),
            _ => self.lines_of(driver),
        }
    }

    /// The own count of jobs of the engines behind the drivers called `names`, if a driver shows it.
    pub fn jobs_of(&self, names: &[&str]) -> Option<JobCounter> {
        let named = self.drivers.iter().filter(|known| names.contains(&&*known.driver));
        let devices: Vec<PathBuf> = named.flat_map(|driver| self.devices(driver)).collect();
        JobCounter::of(&self.root, &devices)
    }

    /// The lines of every engine for which the kernel lists a crypto driver. While software works they must
    /// stand still, even if no engine could have done its work.
    pub fn of_engines(&self) -> Option<Lines> {
        let find = || {
            let engines = self.drivers.iter();
            let engines = engines.filter(|driver| driver.module.is_some() || may_be_engine(driver));
            let mut devices: Vec<PathBuf> =
                engines.flat_map(|driver| self.devices(driver)).collect();
            devices.sort();
            devices.dedup();
            self.lines_of_devices(&devices)
        };
        self.engines.get_or_init(find).clone()
    }

    /// Where `driver` runs, judging by its devices. A driver on the CPU that the kernel `chose` for an
    /// algorithm is a fallback if the kernel prefers another driver, which has a device.
    pub fn claim(&self, driver: &Driver, chose: bool) -> Claim {
        let in_device = |driver: &Driver| !self.devices(driver).is_empty();
        if is_kernels_alone(driver) || in_device(driver) {
            return Claim::Engine;
        }
        // If an asynchronous driver is built into the kernel, its name may not lead to its device.
        let hidden = driver.module.is_none() && driver.asynchronous == Some(true);
        if driver.name.is_empty() || hidden {
            return Claim::Unknown;
        }
        let preferred = |other: &&Driver| other.priority > driver.priority;
        let candidates = kernel_crypto::candidates(&self.drivers, &driver.name);
        let passed_over = || candidates.into_iter().filter(preferred).any(in_device);
        if chose && passed_over() { Claim::Fallback } else { Claim::Kernel }
    }

    /// The devices of `driver` or, if it is of a template without any, those of the drivers that its name says it is
    /// made of: `authenc(hmac(sha1-generic),virtio_crypto_aes_cbc)` does half of its work in a device.
    pub fn devices(&self, driver: &Driver) -> Vec<PathBuf> {
        let own = self.own_devices(driver);
        if !own.is_empty() || !driver.driver.contains('(') {
            return own;
        }
        let names: Vec<&str> = driver.driver.split(['(', ',', ')']).skip(1).collect();
        let parts = self.drivers.iter().filter(|part| names.contains(&&*part.driver));
        let mut devices: Vec<PathBuf> = parts.flat_map(|part| self.own_devices(part)).collect();
        devices.sort();
        devices.dedup();
        devices
    }

    /// The devices that the module of `driver` drives, as folders below the root's `sys`. A built-in driver has
    /// no module; instead, its name leads to a device driver.
    fn own_devices(&self, driver: &Driver) -> Vec<PathBuf> {
        let folders = match &driver.module {
            Some(module) => self.of_module.of(module, || {
                // Module names have '_' where their files may have '-'.
                let module = module.replace('-', "_");
                files::entries(&self.root.join("sys/module").join(module).join("drivers"))
            }),
            None => self.built_in(driver),
        };
        let bound = |folder: &PathBuf| self.bound.of(folder, || bound(folder));
        let mut devices: Vec<PathBuf> = folders.iter().flat_map(bound).collect();
        devices.sort();
        devices.dedup();
        devices
    }

    /// Device drivers whose name contains all of the crypto driver's own words: `caam_jr` for `cbc-aes-caam`.
    /// Words of the algorithm do not count.
    fn built_in(&self, driver: &Driver) -> Vec<PathBuf> {
        let algorithm = words(&driver.name);
        // Words that software uses for itself. No device driver should be found by them.
        const GENERIC: [&str; 8] =
            ["generic", "lib", "simd", "ce", "neon", "asm", "arm64", "cryptd"];
        let own: Vec<String> = words(&driver.driver)
            .into_iter()
            .filter(|word| !algorithm.contains(word) && !GENERIC.contains(&word.as_str()))
            .collect();
        if own.is_empty() {
            return Vec::new();
        }
        // All of the driver's own words must match: `virtio` alone leads to any virtio driver.
        let leads_to = |name: &[String]| own.iter().all(|word| name.contains(word));
        let device_drivers = self.device_drivers.get_or_init(|| {
            let buses = files::entries(&self.root.join("sys/bus"));
            let folders = buses.iter().flat_map(|bus| files::entries(&bus.join("drivers")));
            folders.map(|folder| (folder.clone(), words(&files::name(&folder)))).collect()
        });
        let found = device_drivers.iter().filter(|(_, name)| leads_to(name));
        found.map(|(folder, _)| folder.clone()).collect()
    }

    fn lines_of_devices(&self, devices: &[PathBuf]) -> Option<Lines> {
        let mut ids: Vec<String> = Vec::new();
        for device in devices {
            for id in self.ids.of(device, || self.ids_of(device)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        (!ids.is_empty()).then(|| Lines { file: self.root.join("proc/interrupts"), ids })
    }

    /// The [`Line::id`] of each line of one device.
    fn ids_of(&self, device: &Path) -> Vec<String> {
        let name = files::name(device);
        let of_name = |word: &String| {
            // `virtio2-virtqueues`, but not virtio20's.
            word.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let listed = numbers(device);
        let hardware = self.tree.hardware_numbers(device);
        let is_its_own = |line: &&Line| {
            line.words.iter().any(of_name)
                || listed.contains(&line.id)
                || hardware.iter().any(|number| number.is(line))
        };
        self.lines.iter().filter(is_its_own).map(|line| line.id.clone()).collect()
    }
}

/// Answers that are computed once and kept.
struct Remembered<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Remembered(Mutex::new(HashMap::new()))
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Remembered<K, V> {
    fn of(&self, key: &K, find: impl FnOnce() -> V) -> V {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key.clone()).or_insert_with(find).clone()
    }
}

/// Whether a driver that is built into the kernel may belong to a device. Software is done when its call
/// returns, unless it waits for vector registers, and has no name that leads to a device.
fn may_be_engine(driver: &Driver) -> bool {
    driver.asynchronous == Some(true) || is_kernels_alone(driver)
}

fn is_kernels_alone(driver: &Driver) -> bool {
    driver.flags.is_some_and(|flags| flags & KERNEL_DRIVER_ONLY != 0)
}

/// The words of a driver's or an algorithm's name.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The devices that are bound to a device driver: its folder holds a link to each.
fn bound(driver: &Path) -> Vec<PathBuf> {
    let Some(folder) = files::followed(driver) else { return Vec::new() };
    let links = files::links(&folder).into_iter().filter(|link| files::name(link) != "module");
    links.filter_map(|link| files::followed(&link)).collect()
}

/// The interrupt numbers that a device itself lists: its messages (MSI), or its pin if it has none.
fn numbers(device: &Path) -> Vec<String> {
    let messages: Vec<String> =
        files::entries(&device.join("msi_irqs")).iter().map(|path| files::name(path)).collect();
    let pin = files::text(&device.join("irq"));
    match pin.trim() {
        pin if messages.is_empty() && pin != "0" && !pin.is_empty() => vec![pin.to_owned()],
        _ => messages,
    }
}
