//! Facts that are in no file and that the process can determine itself.

/// Empty for a machine that is read from a fixture.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnProcess {
    /// The architecture that this program was compiled for.
    pub(super) architecture: String,
    /// Name and version of the C library.
    pub(super) libc: String,
    /// The signature in CPUID's hypervisor leaf.
    pub(super) hypervisor: String,
    /// CNTFRQ_EL0.
    pub(super) counter_hz: u64,
}

impl OwnProcess {
    pub(super) fn probe() -> OwnProcess {
        OwnProcess {
            architecture: std::env::consts::ARCH.to_owned(),
            libc: libc_version(),
            hypervisor: hypervisor(),
            counter_hz: counter_hz(),
        }
    }
}

#[cfg(target_env = "gnu")]
fn libc_version() -> String {
    // SAFETY: it takes no argument and returns a constant string that ends with a NUL (glibc manual,
    // gnu_get_libc_version).
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn libc_version() -> String {
    if cfg!(target_env = "musl") { "musl".to_owned() } else { String::new() }
}

/// Leaf 0x4000_0000 in EBX, ECX and EDX: Linux Documentation/virt/kvm/x86/cpuid.rst. Without bit 31 of leaf
/// 1's ECX a CPU returns other data, so in that case only signatures of emulators are accepted.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn hypervisor() -> String {
    #[cfg(target_arch = "x86")]
    use core::arch::x86::__cpuid;
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::__cpuid;
    let told = __cpuid(1).ecx >> 31 == 1;
    let leaf = __cpuid(0x4000_0000);
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
    let signature = super::files::printable(&String::from_utf8_lossy(&bytes));
    match told || super::virtualisation::is_emulator(&signature) {
        true => signature,
        false => String::new(),
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn hypervisor() -> String {
    String::new()
}

#[cfg(target_arch = "aarch64")]
fn counter_hz() -> u64 {
    let frequency: u64;
    // SAFETY: reads a register that Linux lets user space read, or that it reads for user space where an
    // erratum requires this (arch/arm64/kernel/traps.c, cntfrq_read_handler); changes nothing.
    unsafe {
        core::arch::asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags));
    }
    frequency
}

#[cfg(not(target_arch = "aarch64"))]
fn counter_hz() -> u64 {
    0
}
