//! The CPU's extensions, as the RustCrypto crates find them. All of them ask the crate `cpufeatures`, which is
//! our own here and has a switch.

/// The environment variables of a process in which the crates are to find no extension.
pub(super) fn switch() -> Vec<(&'static str, &'static str)> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))]
    return vec![(cpufeatures::SWITCH, "1")];
    // Here the crates look for none.
    #[allow(unreachable_code)]
    Vec::new()
}

/// The extensions that the crates look for and find.
pub(super) fn found() -> Vec<&'static str> {
    /// Pairs of a name and whether it is found.
    #[allow(unused_macros)]
    macro_rules! each {
        ($($module:ident $feature:tt),+) => {{
            $(cpufeatures::new!($module, $feature);)+
            [$(($feature, $module::get())),+]
        }};
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    let looked_for = each![
        aes "aes", vaes "vaes", avx512f "avx512f", pclmulqdq "pclmulqdq", avx "avx", sha "sha",
        sse41 "sse4.1", avx2 "avx2"
    ];
    // Here `aes` includes the multiplication of polynomials, and `sha3` includes SHA-512.
    #[cfg(target_arch = "aarch64")]
    let looked_for = each![aes "aes", sha2 "sha2", sha3 "sha3"];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    let looked_for: [(&str, bool); 0] = [];
    looked_for.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}
