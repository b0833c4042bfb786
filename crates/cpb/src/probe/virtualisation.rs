//! Detects the hypervisor or emulator under which the machine below a root runs. What that means for figures
//! is decided in [`cpb_record::evidence`].

use super::arm;
use super::cpuinfo::Cpuinfo;
use super::files::Tree;
use cpb_record::evidence::{FEX, KVM, NAMELESS, QEMU, SIGNATURES, TCG, VIRTUAL, XEN};

/// The chip serial number that QEMU gives each AST2600: AST2600_CHIP_ID1 and _ID0 in hw/misc/aspeed_scu.c, as
/// drivers/soc/aspeed/aspeed-socinfo.c of Linux writes them. Every real chip has a different number.
const QEMU_CHIPS: [&str; 1] = ["888844441234abcd"];

/// The `compatible` entries in the device tree of a virtual machine: QEMU's `virt`, and the machines of
/// crosvm, Firecracker and kvmtool, which only exist with KVM.
const GUESTS: [&str; 2] = ["linux,dummy-virt", "riscv-virtio"];

/// Whether a CPUID signature belongs to an emulator.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "x86")), allow(dead_code))]
pub(super) fn is_emulator(signature: &str) -> bool {
    SIGNATURES.iter().any(|known| known.0 == signature && (known.1 == TCG || known.1 == FEX))
}

/// Names the hypervisor or emulator.
pub(super) fn virtualisation(
    tree: &Tree,
    info: &Cpuinfo,
    midr: Option<u32>,
    signature: &str,
) -> String {
    if let Some(known) = SIGNATURES.iter().find(|known| known.0 == signature) {
        return known.1.to_owned();
    }
    // qemu-user since 8.2: RISC-V "uarch: qemu", 32-bit Arm "Hardware: QEMU v8.2.2 ..."
    // (linux-user/*/target_proc.h).
    let by_name = info.field("uarch") == "qemu" || info.field("Hardware").starts_with("QEMU");
    // -cpu max without KVM has implementer 0, "reserved for software use" (target/arm/tcg/cpu64.c).
    let by_core = midr.is_some_and(|midr| arm::implementer(midr) == 0);
    // Devices of a modelled board; QEMU accelerates none of these boards. An SD card is "QEMU!", an eMMC
    // "QEMU!!" (PNM in hw/sd/sd.c).
    let by_card = any(tree, "sys/bus/mmc/devices", "name", |name| name.starts_with("QEMU!"));
    let by_chip =
        any(tree, "sys/bus/soc/devices", "serial_number", |chip| QEMU_CHIPS.contains(&chip));
    // Disks and USB devices (hw/scsi, hw/ide, hw/nvme, hw/usb), which an accelerated guest may have as well.
    let compatible = tree.strings("compatible");
    let is_guest = |name: &String| {
        GUESTS.contains(&name.as_str()) || name.contains("qemu") || name.starts_with("xen,")
    };
    let has_qemus_devices = any(tree, "sys/block", "device/vendor", |vendor| vendor == "QEMU")
        || any(tree, "sys/block", "device/model", |model| model.starts_with("QEMU "))
        || any(tree, "sys/bus/usb/devices", "manufacturer", |maker| maker == "QEMU");
    let on_a_board = !compatible.is_empty() && !compatible.iter().any(is_guest);
    if by_name || by_core || by_card || by_chip || (has_qemus_devices && on_a_board) {
        return TCG.to_owned();
    }
    if !signature.is_empty() {
        return signature.to_owned();
    }
    // Documentation/ABI/stable/sysfs-hypervisor-xen. Xen emulates no CPU.
    if tree.line("sys/hypervisor/type") == "xen" {
        return XEN.to_owned();
    }
    // hw/arm/virt.c and hw/riscv/virt.c, virt_build_smbios: "KVM Virtual Machine" appears only with KVM.
    let vendor = tree.line("sys/class/dmi/id/sys_vendor");
    if vendor == "QEMU" && tree.line("sys/class/dmi/id/product_name") == "KVM Virtual Machine" {
        return KVM.to_owned();
    }
    let model = tree.strings("model");
    let qemu = vendor == "QEMU"
        || tree.has("sys/firmware/qemu_fw_cfg")
        || compatible.iter().chain(&model).any(|name| name.contains("qemu"))
        // The path in the device tree to the same information (hw/arm/virt.c, hw/riscv/virt.c), whatever
        // drivers are loaded.
        || tree.names("sys/firmware/devicetree/base").iter().any(|node| node.starts_with("fw-cfg@"))
        // VIRT_VENDOR in hw/virtio/virtio-mmio.c spells "QEMU".
        || any(tree, "sys/bus/virtio/devices", "vendor", |vendor| vendor == "0x554d4551")
        || has_qemus_devices;
    if qemu {
        return QEMU.to_owned();
    }
    if compatible.iter().any(|name| GUESTS.contains(&name.as_str())) {
        return VIRTUAL.to_owned();
    }
    if info.features().iter().any(|feature| feature == "hypervisor") {
        return NAMELESS.to_owned();
    }
    String::new()
}

fn any(tree: &Tree, directory: &str, file: &str, is: impl Fn(&str) -> bool) -> bool {
    tree.names(directory)
        .iter()
        .any(|device| is(&tree.line(&format!("{directory}/{device}/{file}"))))
}
