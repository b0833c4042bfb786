//! The interrupts that a device tree gives a device. A platform device does not list its numbers,
//! and some drivers (mxs-dcp) ask for their lines under names that are not the device's.

use super::Line;
use std::fs;
use std::path::{Path, PathBuf};

/// A number at the device's interrupt controller.
pub(super) struct HardwareNumber {
    number: u32,
    /// What a GIC counts the number from, by the kind of interrupt; 0 at other controllers.
    gic_offset: u32,
    /// Whether the controller is a GPIO block: others have the same small numbers.
    gpio: bool,
}

impl HardwareNumber {
    /// Whether `line` is this interrupt: its first words are the controller's name and the number
    /// there.
    pub(super) fn is(&self, line: &Line) -> bool {
        let [chip, number, ..] = line.words.as_slice() else { return false };
        let offset = if chip.starts_with("GIC") { self.gic_offset } else { 0 };
        let gpio = chip.to_lowercase().contains("gpio");
        number.parse() == Ok(self.number + offset) && gpio == self.gpio
    }
}

/// The property `interrupts` of the device's node (Devicetree Specification 0.4, section 2.4).
pub(super) fn hardware_numbers(root: &Path, device: &Path) -> Vec<HardwareNumber> {
    let Ok(node) = device.join("of_node").canonicalize() else { return Vec::new() };
    let specifiers = cells(&node.join("interrupts"));
    let tree = root.join("sys/firmware/devicetree/base");
    let Some(controller) = controller(&node, &tree) else { return Vec::new() };
    let size = cells(&controller.join("#interrupt-cells")).first().map_or(1, |size| *size as usize);
    let gpio = controller.join("gpio-controller").exists();
    let specifiers = specifiers.chunks_exact(size.max(1));
    specifiers.map(|specifier| number(specifier, gpio)).collect()
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

/// The controller that the nearest `interrupt-parent` names.
fn controller(node: &Path, tree: &Path) -> Option<PathBuf> {
    let tree = tree.canonicalize().ok()?;
    let parents = node.ancestors().take_while(|folder| folder.starts_with(&tree));
    let phandle = parents
        .map(|folder| cells(&folder.join("interrupt-parent")))
        .find_map(|cells| cells.first().copied())?;
    find(&tree, phandle)
}

fn find(folder: &Path, phandle: u32) -> Option<PathBuf> {
    if cells(&folder.join("phandle")).first() == Some(&phandle) {
        return Some(folder.to_owned());
    }
    let nodes = super::entries(folder).into_iter().filter(|path| path.is_dir());
    nodes.into_iter().find_map(|node| find(&node, phandle))
}

/// A property of 32-bit numbers, which are big-endian.
fn cells(property: &Path) -> Vec<u32> {
    let bytes = fs::read(property).unwrap_or_default();
    bytes.as_chunks().0.iter().map(|cell| u32::from_be_bytes(*cell)).collect()
}
