//! Decides whether the CPU is real. Figures from an emulated CPU must never pass for hardware.
//!
//! The core's clock cannot decide it. QEMU translates each step of a dependent chain into host instructions one by
//! one, so the two chains of `cpb-runner` agree under QEMU (seen with qemu-user 7.2 of Debian 12 for aarch64 and
//! riscv64 on x86-64: ratios 2.97 to 2.99 of 3). So other signs of QEMU decide. A virtual machine must prove that its
//! CPU is real; without proof it counts as emulated.
//!
//! Not detected: qemu-user before 8.2 running a program of the host's own family; QEMU's models of boards whose core,
//! chip, counter and disks all look like a real board's; and an emulator whose user hides it on purpose.

use crate::{Evidence, Machine};

/// CPUID's hypervisor signatures: arch/x86/include/asm/hypervisor.h and the files next to it;
/// QEMU target/i386/cpu.c; FEX docs/CPUID.md.
pub const SIGNATURES: &[(&str, &str)] = &[
    ("KVMKVMKVM", "KVM"),
    ("TCGTCGTCGTCG", TCG),
    ("FEXIFEXIEMU", FEX),
    ("Microsoft Hv", "Hyper-V"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", XEN),
    ("VBoxVBoxVBox", "VirtualBox"),
    ("bhyve bhyve", "bhyve"),
    ("ACRNACRNACRN", "ACRN"),
    ("lrpepyh vr", "Parallels"),
];

/// QEMU without acceleration.
pub const TCG: &str = "QEMU TCG";
/// An emulator of x86 on Arm.
pub const FEX: &str = "FEX";
/// A hypervisor that does not emulate CPUs.
pub const XEN: &str = "Xen";
/// As reported by QEMU's `virt` machine for Arm, which names its accelerator in SMBIOS.
pub const KVM: &str = "KVM";
/// QEMU, accelerated or not.
pub const QEMU: &str = "QEMU";
/// A microcontroller's core without a cycle counter. QEMU models none (target/arm/tcg/m_helper.c and
/// hw/intc/armv7m_nvic.c), and every Cortex-M7 that we know of has one.
pub const NO_CYCLE_COUNTER: &str = "an emulator: its cycle counter stands still";
/// Some virtual machine, accelerated or not.
pub const VIRTUAL: &str = "virtual machine";
/// x86 only: the hypervisor bit is set, but no hypervisor gives its name.
pub const NAMELESS: &str = "hypervisor without a name";

/// The frequencies of CNTFRQ_EL0 that QEMU invents: GTIMER_BACKCOMPAT_HZ and GTIMER_DEFAULT_HZ in
/// target/arm/internals.h. Under KVM a guest reads the host's frequency. No silicon that we know of has the first
/// one; Armv8.6 requires the second.
const QEMU_COUNTER_HZ: u64 = 62_500_000;
const QEMU_NEW_COUNTER_HZ: u64 = 1_000_000_000;

/// RISCV_ACLINT_DEFAULT_TIMEBASE_FREQ. Under KVM, QEMU reports the host's frequency (hw/riscv/virt.c).
const QEMU_TIMEBASE_HZ: u64 = 10_000_000;

/// MIDR of QEMU's Cortex-A8 and Cortex-A9, revision r0p0 (target/arm/tcg/cpu32.c). No product has this revision:
/// i.MX6 has an r2p10.
const QEMU_CORES: [&str; 2] = ["MIDR 0x410fc080", "MIDR 0x410fc090"];

/// Implementers of cores that QEMU models: itself, Arm, Fujitsu (target/arm/tcg/cpu64.c).
const QEMU_IMPLEMENTERS: [u32; 3] = [0x00, 0x41, 0x46];

/// The virtualisation that cpb's simulated machines report.
pub const SIMULATOR: &str = "cpb-sim";

/// The evidence class of a machine that was measured here. `clock_known` is whether the runner's two chains agree; it
/// can only lower the class, never raise it.
pub fn evidence(machine: &Machine, clock_known: bool) -> Evidence {
    match sign(machine, clock_known) {
        _ if machine.virtualisation == SIMULATOR => Evidence::Simulated,
        Some(_) => Evidence::Emulated,
        None => Evidence::Hardware,
    }
}

/// The machine of a guest whose CPU is known by its host to be emulated, whatever the guest itself reports.
#[must_use]
pub fn known_emulated(machine: Machine) -> Machine {
    Machine { virtualisation: TCG.to_owned(), ..machine }
}

/// The sign by which the CPU is emulated, or the reason why emulation cannot be ruled out.
pub fn sign(machine: &Machine, clock_known: bool) -> Option<String> {
    let kernel = &machine.kernel_architecture;
    if !kernel.is_empty() && family(kernel) != family(&machine.architecture) {
        // A program under qemu-user, Rosetta, FEX or Box64.
        return Some(format!("cpb is a program for {} on {kernel}", machine.architecture));
    }
    if machine.virtualisation == TCG || machine.virtualisation == FEX {
        return Some(format!("it runs under {}", machine.virtualisation));
    }
    if machine.virtualisation == NO_CYCLE_COUNTER {
        let sign = "the core's cycle counter stands still, as in QEMU and on no real board";
        return Some(sign.to_owned());
    }
    // QEMU target/i386/cpu.c: -cpu max is "QEMU TCG CPU"; qemu64 and qemu32 are "QEMU Virtual
    // CPU", accelerated or not. Rosetta on Linux is "VirtualApple @ 2.50GHz".
    let named = SIGNATURES.iter().any(|(_, name)| *name == machine.virtualisation);
    let is = |name: &str| machine.cpu.starts_with(name);
    if is("QEMU TCG CPU") || is("VirtualApple") || (is("QEMU Virtual CPU") && !named) {
        return Some(format!("it is called {}", machine.cpu));
    }
    if QEMU_CORES.contains(&machine.core.as_str()) {
        return Some(format!("{} is a core that only QEMU has", machine.core));
    }
    let arm = family(&machine.architecture) == "arm";
    if arm && machine.counter_hz == QEMU_COUNTER_HZ {
        return Some("its counter has QEMU's made-up frequency, 62.5 MHz".to_owned());
    }
    if ![QEMU, VIRTUAL, NAMELESS].contains(&machine.virtualisation.as_str()) {
        return None;
    }
    let counter_of_a_host = match family(&machine.architecture) {
        "arm" => ![0, QEMU_NEW_COUNTER_HZ].contains(&machine.counter_hz),
        "riscv" => ![0, QEMU_TIMEBASE_HZ].contains(&machine.counter_hz),
        _ => false,
    };
    let midr = machine.core.strip_prefix("MIDR 0x").and_then(|core| core.get(..8));
    let core_of_a_host = midr
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .is_some_and(|midr| !QEMU_IMPLEMENTERS.contains(&(midr >> 24)));
    match (counter_of_a_host || core_of_a_host) && clock_known {
        true => None,
        false => {
            Some(format!("nothing proves that this {} runs on a real CPU", described(machine)))
        }
    }
}

fn described(machine: &Machine) -> &str {
    if machine.virtualisation == QEMU { "QEMU machine" } else { "virtual machine" }
}

/// The family of instruction sets that one CPU can run.
fn family(architecture: &str) -> &str {
    let starts = |prefix: &str| architecture.starts_with(prefix);
    match architecture {
        "i386" | "i486" | "i586" | "i686" => "x86",
        _ if starts("x86") => "x86",
        _ if starts("arm") || starts("aarch64") => "arm",
        _ if starts("riscv") => "riscv",
        _ if starts("ppc") || starts("powerpc") => "powerpc",
        _ if starts("mips") => "mips",
        _ if starts("loongarch") => "loongarch",
        _ => architecture,
    }
}

/// The sign by which a machine is certainly emulated, whatever its clock.
pub fn emulated(machine: &Machine) -> Option<String> {
    sign(machine, true)
}
