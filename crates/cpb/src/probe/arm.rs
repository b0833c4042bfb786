//! Identifies Arm cores by their MIDR.

use super::cpuinfo::Cpuinfo;
use super::files::Tree;

/// (implementer, part, name): arch/arm64/include/asm/cputype.h in Linux and
/// sys-utils/lscpu-arm.c in util-linux; Cortex-M7: its technical reference manual, CPUID.
const CORES: &[(u32, u32, &str)] = &[
    (0x41, 0x926, "ARM926EJ-S"),
    (0x41, 0xb76, "ARM1176JZF-S"),
    (0x41, 0xc05, "Cortex-A5"),
    (0x41, 0xc07, "Cortex-A7"),
    (0x41, 0xc08, "Cortex-A8"),
    (0x41, 0xc09, "Cortex-A9"),
    (0x41, 0xc0d, "Cortex-A12"),
    (0x41, 0xc0e, "Cortex-A17"),
    (0x41, 0xc0f, "Cortex-A15"),
    (0x41, 0xc27, "Cortex-M7"),
    (0x41, 0xd01, "Cortex-A32"),
    (0x41, 0xd02, "Cortex-A34"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd06, "Cortex-A65"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "Kunpeng-920"),
    (0x4e, 0x004, "Carmel"),
    (0x61, 0x022, "Icestorm (M1)"),
    (0x61, 0x023, "Firestorm (M1)"),
    (0xc0, 0xac3, "Ampere-1"),
];

/// The main identification register, from /proc/cpuinfo or else from sysfs. /proc/cpuinfo comes first,
/// because an emulator of user programs replaces that file, while sysfs is the host's.
pub(super) fn midr(tree: &Tree, info: &Cpuinfo, cpu: usize) -> Option<u32> {
    let part = || {
        Some(
            (info.number("CPU implementer")? & 0xff) << 24
                | (info.number("CPU variant")? & 0xf) << 20
                // Architecture: 0xf, "see the feature registers", on every core that runs Linux except those
                // before Armv7.
                | 0xf << 16
                | (info.number("CPU part")? & 0xfff) << 4
                | (info.number("CPU revision")? & 0xf),
        )
    };
    // Documentation/arch/arm64/cpu-feature-registers.rst.
    let register = || {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
        let text = tree.line(&path);
        u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(|midr| midr as u32)
    };
    part().or_else(register)
}

/// The designer of the core.
pub(super) fn implementer(midr: u32) -> u32 {
    midr >> 24
}

/// The core's name, or an empty string if it is unknown.
pub(super) fn name(midr: u32) -> String {
    let (part, variant, revision) = (midr >> 4 & 0xfff, midr >> 20 & 0xf, midr & 0xf);
    CORES
        .iter()
        .find(|core| (core.0, core.1) == (implementer(midr), part))
        .map(|core| format!("{} r{variant}p{revision}", core.2))
        .unwrap_or_default()
}
