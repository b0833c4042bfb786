//! The interrupts that a device tree assigns to a device. A platform device does not list its numbers, and some
//! drivers (mxs-dcp) request their lines under names other than the device's.

use super::{Line, files};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A number at the device's interrupt controller.
pub(super) struct HardwareNumber {
    number: u32,
    /// The number that a GIC starts counting from, by the kind of interrupt; 0 for other controllers.
    gic_offset: u32,
    /// Whether the controller is a GPIO block. Other controllers have the same small numbers.
    gpio: bool,
}

impl HardwareNumber {
    /// Whether `line` is this interrupt: its first words are the controller's name and the number at that
    /// controller.
    pub(super) fn is(&self, line: &Line) -> bool {
        let [chip, number, ..] = line.words.as_slice() else { return false };
        let offset = if chip.starts_with("GIC") { self.gic_offset } else { 0 };
        let gpio = chip.to_lowercase().contains("gpio");
        number.parse() == Ok(self.number.saturating_add(offset)) && gpio == self.gpio
    }
}

/// The device tree of a machine. It does not change while the machine runs, so no node is read twice: a board
/// has hundreds of nodes.
pub(super) struct DeviceTree {
    /// `None` on a machine without one.
    base: Option<PathBuf>,
    index: Mutex<Index>,
}

/// The nodes that have been read, and those that have not been read yet.
#[derive(Default)]
struct Index {
    by_phandle: HashMap<u32, PathBuf>,
    /// The nearest to the root first, where interrupt controllers usually are.
    unread: VecDeque<PathBuf>,
}

impl DeviceTree {
    /// The tree of the machine whose files are below `root`. Reads no node.
    pub(super) fn new(root: &Path) -> DeviceTree {
        let base = files::followed(&root.join("sys/firmware/devicetree/base"));
        let index = Index { unread: base.iter().cloned().collect(), ..Index::default() };
        DeviceTree { base, index: Mutex::new(index) }
    }

    /// The property `interrupts` of the device's node (Devicetree Specification 0.4, section 2.4).
    pub(super) fn hardware_numbers(&self, device: &Path) -> Vec<HardwareNumber> {
        let Some(base) = &self.base else { return Vec::new() };
        let Some(node) = files::followed(&device.join("of_node")) else { return Vec::new() };
        let specifiers = cells(&node.join("interrupts"));
        if specifiers.is_empty() {
            return Vec::new();
        }
        let Some(controller) = self.controller(&node, base) else { return Vec::new() };
        let size = cells(&controller.join("#interrupt-cells"));
        let size = size.first().map_or(1, |size| *size as usize);
        let gpio = controller.join("gpio-controller").exists();
        let specifiers = specifiers.chunks_exact(size.max(1));
        specifiers.map(|specifier| number(specifier, gpio)).collect()
    }

    /// The controller that the nearest `interrupt-parent` names.
    fn controller(&self, node: &Path, base: &Path) -> Option<PathBuf> {
        let parents = node.ancestors().take_while(|folder| folder.starts_with(base));
        let phandle = parents
            .map(|folder| cells(&folder.join("interrupt-parent")))
            .find_map(|cells| cells.first().copied())?;
        self.index.lock().unwrap_or_else(PoisonError::into_inner).find(phandle)
    }
}

impl Index {
    /// The node with this phandle. The search continues where the last one ended.
    fn find(&mut self, phandle: u32) -> Option<PathBuf> {
        while !self.by_phandle.contains_key(&phandle) {
            let node = self.unread.pop_front()?;
            let (nodes, has_phandle) = files::folders(&node, "phandle");
            self.unread.extend(nodes);
            if has_phandle && let Some(own) = cells(&node.join("phandle")).first() {
                self.by_phandle.insert(*own, node);
            }
        }
        self.by_phandle.get(&phandle).cloned()
    }
}

fn number(specifier: &[u32], gpio: bool) -> HardwareNumber {
    match specifier {
        // GIC binding: kind, number, trigger. Shared ones begin at 32, those of one CPU at 16.
        [kind, number, _, ..] => {
            HardwareNumber { number: *number, gic_offset: if *kind == 0 { 32 } else { 16 }, gpio }
        }
        [number, ..] => HardwareNumber { number: *number, gic_offset: 0, gpio },
        [] => HardwareNumber { number: u32::MAX, gic_offset: 0, gpio },
    }
}

/// A property of 32-bit numbers, which are big-endian.
fn cells(property: &Path) -> Vec<u32> {
    let bytes = files::read(property);
    bytes.as_chunks().0.iter().map(|cell| u32::from_be_bytes(*cell)).collect()
}
