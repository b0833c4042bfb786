//! The libraries that the image is linked with: Mbed TLS 2.28 for this core, and its second build for the chip's engine.

use cpb_mbedtls::linked_2;

/// A constant for each context.
macro_rules! layout_table {
    ($($Context:ident: $size:literal, $align:literal;)+) => {$(
        pub(in crate::mbedtls::library) const $Context: core::alloc::Layout =
            match core::alloc::Layout::from_size_align($size, $align) {
                Ok(layout) => layout,
                Err(_) => panic!("a size and an alignment that C gave"),
            };
    )+};
}
use layout_table;

linked_2! {
    /// Mbed TLS 2.28 in plain C.
    mod names: Library, "mbedtls_", layouts, crate::mbedtls::rng::fill
}

// The modules of Mbed TLS 2.28 that reach the engine, and those above them. Functions of other modules must not be
// called: they are not linked.
#[cfg(feature = "imxrt1060-evk")]
linked_2! {
    /// Mbed TLS 2.28 for the DCP.
    mod names_for_dcp: EngineLibrary, "dcp_mbedtls_", layouts_for_dcp, crate::mbedtls::rng::fill
}
#[cfg(feature = "imxrt1170-evk")]
linked_2! {
    /// Mbed TLS 2.28 for the CAAM.
    mod names_for_caam: EngineLibrary, "caam_mbedtls_", layouts_for_caam, crate::mbedtls::rng::fill
}

/// The sizes for the DCP, where they differ.
#[cfg(feature = "imxrt1060-evk")]
#[allow(non_upper_case_globals)]
mod layouts_for_dcp {
    pub(super) use super::layouts::*;

    super::layout_table! {
        AesContext: 20, 4;
        Sha1Context: 176, 4;
        Sha256Context: 176, 4;
    }
}

/// The sizes for the CAAM, where they differ.
#[cfg(feature = "imxrt1170-evk")]
#[allow(non_upper_case_globals)]
mod layouts_for_caam {
    pub(super) use super::layouts::*;

    super::layout_table! {
        AesContext: 36, 4;
        DesContext: 12, 4;
        Des3Context: 28, 4;
        Sha1Context: 112, 4;
        Sha256Context: 112, 4;
    }
}

/// Sizes and alignments of contexts, under the names of the types in `cpb_mbedtls::types`. mbedtls/layout.c
/// checks them against the headers.
#[allow(non_upper_case_globals)]
mod layouts {
    super::layout_table! {
        AesContext: 280, 4;
        AesXtsContext: 560, 4;
        CamelliaContext: 276, 4;
        CcmContext: 68, 4;
        Chacha20Context: 132, 4;
        CipherContext: 68, 4;
        DesContext: 128, 4;
        Des3Context: 384, 4;
        Md5Context: 88, 4;
        Poly1305Context: 72, 4;
        GcmContext: 400, 8;
        ChachapolyContext: 232, 8;
        MdContext: 12, 4;
        Sha1Context: 92, 4;
        Sha256Context: 108, 4;
        Sha512Context: 216, 8;
        CtrDrbgContext: 320, 4;
        HmacDrbgContext: 100, 4;
        RsaContext: 172, 4;
        Mpi: 12, 4;
        EcpGroup: 124, 4;
        EcpPoint: 36, 4;
    }
}
