//! The types of the declarations in [`functions`](mod@crate::functions): C's integers, and the library's
//! contexts, which are opaque outside C.

pub use core::ffi::{c_int, c_uint, c_void};

/// The function that the library calls for random bytes, with a source, a buffer, and its length. 0 means
/// success.
pub type Draw = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int;

macro_rules! opaque {
    ($($(#[$about:meta])* $name:ident;)+) => {$(
        $(#[$about])*
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )+};
}

opaque! {
    /// `mbedtls_aes_context`: it locates its key schedule by an offset that depends on its own address.
    AesContext;
    /// `mbedtls_aes_xts_context`
    AesXtsContext;
    /// `mbedtls_camellia_context`
    CamelliaContext;
    /// `mbedtls_ccm_context`
    CcmContext;
    /// `mbedtls_chacha20_context`
    Chacha20Context;
    /// `mbedtls_chachapoly_context`
    ChachapolyContext;
    /// `mbedtls_cipher_context_t`
    CipherContext;
    /// `mbedtls_cipher_info_t`: the description of a cipher; static in the library.
    CipherInfo;
    /// `mbedtls_ctr_drbg_context`
    CtrDrbgContext;
    /// `mbedtls_des_context`
    DesContext;
    /// `mbedtls_des3_context`
    Des3Context;
    /// `mbedtls_ecp_group`
    EcpGroup;
    /// `mbedtls_ecp_point`
    EcpPoint;
    /// `mbedtls_gcm_context`
    GcmContext;
    /// `mbedtls_hmac_drbg_context`
    HmacDrbgContext;
    /// `mbedtls_md_context_t`
    MdContext;
    /// `mbedtls_md_info_t`: the description of a digest; static in the library.
    MdInfo;
    /// `mbedtls_md5_context`
    Md5Context;
    /// `mbedtls_mpi`: a big number.
    Mpi;
    /// `mbedtls_poly1305_context`
    Poly1305Context;
    /// `mbedtls_rsa_context`
    RsaContext;
    /// `mbedtls_sha1_context`
    Sha1Context;
    /// `mbedtls_sha256_context`
    Sha256Context;
    /// `mbedtls_sha3_context`
    Sha3Context;
    /// `mbedtls_sha512_context`
    Sha512Context;
}
