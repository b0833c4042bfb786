//! The state of the vector registers, which one round would otherwise pass on to the next.
//!
//! Code that leaves the upper halves of the vector registers in use slows down any code after it that uses
//! the older instructions, which preserve those halves (on one x86-64 machine SHA-256 by 18 % and AES-CBC
//! decryption by 16 %). A library's own code has the same effect in an application, so it is measured. The
//! state that one *round* leaves for the next must not affect the figures, so the harness clears it. Decision
//! 0004 has the measurement.

/// Marks the upper halves of all vector registers as unused.
pub(crate) fn clear() {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX. The instruction clears only the upper halves, which hold no Rust value
        // across a function call in the System V ABI.
        unsafe {
            core::arch::asm!("vzeroupper", options(nomem, nostack), out("xmm0") _, out("xmm1") _,
            out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _,
            out("xmm13") _, out("xmm14") _, out("xmm15") _)
        };
    }
}
