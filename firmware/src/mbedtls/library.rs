//! The library that the image is linked with: Mbed TLS 2.28 for this core.

use cpb_mbedtls::linked_2;

linked_2! {
    /// Mbed TLS 2.28 in plain C.
    mod names: Library, "mbedtls_", layouts, crate::mbedtls::rng::fill
}

/// Sizes and alignments of contexts, under the names of the types in `cpb_mbedtls::types`. mbedtls/layout.c
/// checks them against the headers.
#[allow(non_upper_case_globals)]
mod layouts {
    use core::alloc::Layout;

    macro_rules! layouts {
        ($($Context:ident: $size:literal, $align:literal;)+) => {$(
            pub(super) const $Context: Layout = match Layout::from_size_align($size, $align) {
                Ok(layout) => layout,
                Err(_) => panic!("a size and an alignment that C gave"),
            };
        )+};
    }

    layouts! {
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
