//! The part of Mbed TLS 2.28's C interface that the provider uses, from its headers, under the names
//! that 3.6 gives the same functions: the sessions are written once for both
//! (crates/providers/src/mbedtls/context.rs).
//!
//! Functions that return an int return 0 for success. A context is bytes that only C sees into; never
//! move one after its `_init`.

use core::ffi::c_int;

// mbedtls/aes.h, mbedtls/gcm.h: the same values in both.
pub(crate) const ENCRYPT: c_int = 1;
pub(crate) const DECRYPT: c_int = 0;
// mbedtls/chachapoly.h: mbedtls_chachapoly_mode_t, which is the other way round.
pub(crate) const CHACHAPOLY_ENCRYPT: c_int = 0;
pub(crate) const CHACHAPOLY_DECRYPT: c_int = 1;
// mbedtls/cipher.h: mbedtls_cipher_id_t
pub(crate) const CIPHER_ID_AES: c_int = 2;
// mbedtls/cipher.h: mbedtls_cipher_type_t
pub(crate) const CIPHER_AES_128_ECB: c_int = 2;
pub(crate) const CIPHER_AES_256_ECB: c_int = 4;
// mbedtls/gcm.h, mbedtls/ccm.h and mbedtls/chachapoly.h: the tag did not match.
pub(crate) const ERR_GCM_AUTH_FAILED: c_int = -0x0012;
pub(crate) const ERR_CCM_AUTH_FAILED: c_int = -0x000f;
pub(crate) const ERR_CHACHAPOLY_AUTH_FAILED: c_int = -0x0056;
// mbedtls/md.h: mbedtls_md_type_t, which counts differently from 3.6's.
pub(crate) const MD_SHA1: c_int = 4;
pub(crate) const MD_SHA256: c_int = 6;
pub(crate) const MD_SHA512: c_int = 8;

// mbedtls/rsa.h
pub(crate) const RSA_PKCS_V15: c_int = 0;
pub(crate) const RSA_PKCS_V21: c_int = 1;
const RSA_PUBLIC: c_int = 0;
const RSA_PRIVATE: c_int = 1;
// mbedtls/ecp.h: mbedtls_ecp_group_id, and the form of a point
pub(crate) const ECP_DP_SECP256R1: c_int = 3;
pub(crate) const ECP_DP_SECP384R1: c_int = 4;
pub(crate) const ECP_DP_CURVE25519: c_int = 9;
pub(crate) const ECP_PF_UNCOMPRESSED: c_int = 0;

pub(crate) mod library {
    use super::{RSA_PKCS_V15, RSA_PRIVATE, RSA_PUBLIC};
    use core::ffi::{c_int, c_uchar, c_uint, c_void};
    use core::marker::{PhantomData, PhantomPinned};
    use core::mem::MaybeUninit;

    /// `mbedtls_md_info_t`: what describes a digest; static in the library.
    #[repr(C)]
    pub(crate) struct MdInfo {
        _data: [u8; 0],
        _marker: PhantomData<(*mut u8, PhantomPinned)>,
    }

    /// `mbedtls_cipher_info_t`: what describes a cipher; static in the library.
    #[repr(C)]
    pub(crate) struct CipherInfo {
        _data: [u8; 0],
        _marker: PhantomData<(*mut u8, PhantomPinned)>,
    }

    /// Fills `length` bytes with entropy; 0 is success.
    type Entropy = unsafe extern "C" fn(*mut c_void, *mut c_uchar, usize) -> c_int;

    /// Contexts by size and alignment; mbedtls/layout.c holds them against the headers.
    macro_rules! contexts {
        ($($name:ident: $size:literal, $align:literal;)+) => { $(
            #[repr(C, align($align))]
            pub(crate) struct $name {
                _data: [MaybeUninit<u8>; $size],
                _marker: PhantomData<(*mut u8, PhantomPinned)>,
            }

            impl $name {
                /// Room for a context: only its `_init` may be called on it.
                pub(crate) const fn uninit() -> Self {
                    $name { _data: [MaybeUninit::uninit(); $size], _marker: PhantomData }
                }
            }
        )+ };
    }

    contexts! {
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

    /// `fn aes_init(..)` declares the C function `mbedtls_aes_init`; with `= "name"`, that one.
    macro_rules! functions {
        ($(fn $name:ident $(= $link:literal)? ($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)+) => {
            $(functions! { @one $name $(= $link)? ($($argument: $kind),*) $(-> $result)? })+
        };
        (@one $name:ident ($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
            unsafe extern "C" {
                #[link_name = concat!("mbedtls_", stringify!($name))]
                pub(crate) fn $name($($argument: $kind),*) $(-> $result)?;
            }
        };
        (@one $name:ident = $link:literal ($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
            unsafe extern "C" {
                #[link_name = $link]
                pub(crate) fn $name($($argument: $kind),*) $(-> $result)?;
            }
        };
    }

    functions! {
        // mbedtls/aes.h
        fn aes_init(context: *mut AesContext);
        fn aes_free(context: *mut AesContext);
        fn aes_setkey_enc(context: *mut AesContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn aes_setkey_dec(context: *mut AesContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn aes_crypt_ecb(context: *mut AesContext, mode: c_int, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn aes_crypt_cbc(context: *mut AesContext, mode: c_int, length: usize, iv: *mut c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn aes_crypt_ctr(context: *mut AesContext, length: usize, offset: *mut usize, nonce_counter: *mut c_uchar, stream_block: *mut c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn aes_xts_init(context: *mut AesXtsContext);
        fn aes_xts_free(context: *mut AesXtsContext);
        fn aes_xts_setkey_enc(context: *mut AesXtsContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn aes_xts_setkey_dec(context: *mut AesXtsContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn aes_crypt_xts(context: *mut AesXtsContext, mode: c_int, length: usize, data_unit: *const c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/gcm.h
        fn gcm_init(context: *mut GcmContext);
        fn gcm_free(context: *mut GcmContext);
        fn gcm_setkey(context: *mut GcmContext, cipher: c_int, key: *const c_uchar, bits: c_uint) -> c_int;
        fn gcm_crypt_and_tag(context: *mut GcmContext, mode: c_int, length: usize, iv: *const c_uchar, iv_length: usize, aad: *const c_uchar, aad_length: usize, input: *const c_uchar, output: *mut c_uchar, tag_length: usize, tag: *mut c_uchar) -> c_int;
        fn gcm_auth_decrypt(context: *mut GcmContext, length: usize, iv: *const c_uchar, iv_length: usize, aad: *const c_uchar, aad_length: usize, tag: *const c_uchar, tag_length: usize, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn gcm_begin = "mbedtls_gcm_starts" (context: *mut GcmContext, mode: c_int, iv: *const c_uchar, iv_length: usize, aad: *const c_uchar, aad_length: usize) -> c_int;
        fn gcm_update_2 = "mbedtls_gcm_update" (context: *mut GcmContext, length: usize, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/ccm.h
        fn ccm_init(context: *mut CcmContext);
        fn ccm_free(context: *mut CcmContext);
        fn ccm_setkey(context: *mut CcmContext, cipher: c_int, key: *const c_uchar, bits: c_uint) -> c_int;
        fn ccm_encrypt_and_tag(context: *mut CcmContext, length: usize, iv: *const c_uchar, iv_length: usize, aad: *const c_uchar, aad_length: usize, input: *const c_uchar, output: *mut c_uchar, tag: *mut c_uchar, tag_length: usize) -> c_int;
        fn ccm_auth_decrypt(context: *mut CcmContext, length: usize, iv: *const c_uchar, iv_length: usize, aad: *const c_uchar, aad_length: usize, input: *const c_uchar, output: *mut c_uchar, tag: *const c_uchar, tag_length: usize) -> c_int;

        // mbedtls/camellia.h
        fn camellia_init(context: *mut CamelliaContext);
        fn camellia_free(context: *mut CamelliaContext);
        fn camellia_setkey_enc(context: *mut CamelliaContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn camellia_setkey_dec(context: *mut CamelliaContext, key: *const c_uchar, bits: c_uint) -> c_int;
        fn camellia_crypt_cbc(context: *mut CamelliaContext, mode: c_int, length: usize, iv: *mut c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/des.h: key 8 bytes, 24 for three
        fn des_init(context: *mut DesContext);
        fn des_free(context: *mut DesContext);
        fn des_setkey_enc(context: *mut DesContext, key: *const c_uchar) -> c_int;
        fn des_setkey_dec(context: *mut DesContext, key: *const c_uchar) -> c_int;
        fn des_crypt_cbc(context: *mut DesContext, mode: c_int, length: usize, iv: *mut c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn des3_init(context: *mut Des3Context);
        fn des3_free(context: *mut Des3Context);
        fn des3_set3key_enc(context: *mut Des3Context, key: *const c_uchar) -> c_int;
        fn des3_set3key_dec(context: *mut Des3Context, key: *const c_uchar) -> c_int;
        fn des3_crypt_cbc(context: *mut Des3Context, mode: c_int, length: usize, iv: *mut c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/chacha20.h: key 32 bytes, nonce 12
        fn chacha20_init(context: *mut Chacha20Context);
        fn chacha20_free(context: *mut Chacha20Context);
        fn chacha20_setkey(context: *mut Chacha20Context, key: *const c_uchar) -> c_int;
        fn chacha20_starts(context: *mut Chacha20Context, nonce: *const c_uchar, counter: u32) -> c_int;
        fn chacha20_update(context: *mut Chacha20Context, length: usize, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/chachapoly.h: key 32 bytes, nonce 12, tag 16
        fn chachapoly_init(context: *mut ChachapolyContext);
        fn chachapoly_free(context: *mut ChachapolyContext);
        fn chachapoly_setkey(context: *mut ChachapolyContext, key: *const c_uchar) -> c_int;
        fn chachapoly_encrypt_and_tag(context: *mut ChachapolyContext, length: usize, nonce: *const c_uchar, aad: *const c_uchar, aad_length: usize, input: *const c_uchar, output: *mut c_uchar, tag: *mut c_uchar) -> c_int;
        fn chachapoly_auth_decrypt(context: *mut ChachapolyContext, length: usize, nonce: *const c_uchar, aad: *const c_uchar, aad_length: usize, tag: *const c_uchar, input: *const c_uchar, output: *mut c_uchar) -> c_int;
        fn chachapoly_starts(context: *mut ChachapolyContext, nonce: *const c_uchar, mode: c_int) -> c_int;
        fn chachapoly_update_aad(context: *mut ChachapolyContext, aad: *const c_uchar, aad_length: usize) -> c_int;
        fn chachapoly_update(context: *mut ChachapolyContext, length: usize, input: *const c_uchar, output: *mut c_uchar) -> c_int;

        // mbedtls/md5.h, sha1.h, sha256.h, sha512.h: what returns an error has `_ret` in its name.
        fn md5_init(context: *mut Md5Context);
        fn md5_free(context: *mut Md5Context);
        fn md5_starts = "mbedtls_md5_starts_ret" (context: *mut Md5Context) -> c_int;
        fn md5_update = "mbedtls_md5_update_ret" (context: *mut Md5Context, input: *const c_uchar, length: usize) -> c_int;
        fn md5_finish = "mbedtls_md5_finish_ret" (context: *mut Md5Context, output: *mut c_uchar) -> c_int;
        fn sha1_init(context: *mut Sha1Context);
        fn sha1_free(context: *mut Sha1Context);
        fn sha1_starts = "mbedtls_sha1_starts_ret" (context: *mut Sha1Context) -> c_int;
        fn sha1_update = "mbedtls_sha1_update_ret" (context: *mut Sha1Context, input: *const c_uchar, length: usize) -> c_int;
        fn sha1_finish = "mbedtls_sha1_finish_ret" (context: *mut Sha1Context, output: *mut c_uchar) -> c_int;
        fn sha256_init(context: *mut Sha256Context);
        fn sha256_free(context: *mut Sha256Context);
        fn sha256_starts = "mbedtls_sha256_starts_ret" (context: *mut Sha256Context, is_224: c_int) -> c_int;
        fn sha256_update = "mbedtls_sha256_update_ret" (context: *mut Sha256Context, input: *const c_uchar, length: usize) -> c_int;
        fn sha256_finish = "mbedtls_sha256_finish_ret" (context: *mut Sha256Context, output: *mut c_uchar) -> c_int;
        fn sha512_init(context: *mut Sha512Context);
        fn sha512_free(context: *mut Sha512Context);
        fn sha512_starts = "mbedtls_sha512_starts_ret" (context: *mut Sha512Context, is_384: c_int) -> c_int;
        fn sha512_update = "mbedtls_sha512_update_ret" (context: *mut Sha512Context, input: *const c_uchar, length: usize) -> c_int;
        fn sha512_finish = "mbedtls_sha512_finish_ret" (context: *mut Sha512Context, output: *mut c_uchar) -> c_int;

        // mbedtls/md.h: null for a digest that the library does not have
        fn md_info_from_type(kind: c_int) -> *const MdInfo;
        fn md_init(context: *mut MdContext);
        fn md_free(context: *mut MdContext);
        fn md_setup(context: *mut MdContext, info: *const MdInfo, hmac: c_int) -> c_int;
        fn md_hmac_starts(context: *mut MdContext, key: *const c_uchar, length: usize) -> c_int;
        fn md_hmac_update(context: *mut MdContext, input: *const c_uchar, length: usize) -> c_int;
        fn md_hmac_finish(context: *mut MdContext, output: *mut c_uchar) -> c_int;
        fn md_hmac_reset(context: *mut MdContext) -> c_int;

        // mbedtls/cipher.h, mbedtls/cmac.h: null for a cipher that the library does not have; a key's length is in bits
        fn cipher_info_from_type(kind: c_int) -> *const CipherInfo;
        fn cipher_init(context: *mut CipherContext);
        fn cipher_free(context: *mut CipherContext);
        fn cipher_setup(context: *mut CipherContext, info: *const CipherInfo) -> c_int;
        fn cipher_cmac_starts(context: *mut CipherContext, key: *const c_uchar, bits: usize) -> c_int;
        fn cipher_cmac_update(context: *mut CipherContext, input: *const c_uchar, length: usize) -> c_int;
        fn cipher_cmac_finish(context: *mut CipherContext, output: *mut c_uchar) -> c_int;
        fn cipher_cmac_reset(context: *mut CipherContext) -> c_int;

        // mbedtls/poly1305.h: key 32 bytes
        fn poly1305_init(context: *mut Poly1305Context);
        fn poly1305_free(context: *mut Poly1305Context);
        fn poly1305_starts(context: *mut Poly1305Context, key: *const c_uchar) -> c_int;
        fn poly1305_update(context: *mut Poly1305Context, input: *const c_uchar, length: usize) -> c_int;
        fn poly1305_finish(context: *mut Poly1305Context, output: *mut c_uchar) -> c_int;

        // mbedtls/hmac_drbg.h: seeded by a buffer, it never asks for entropy
        fn hmac_drbg_init(context: *mut HmacDrbgContext);
        fn hmac_drbg_free(context: *mut HmacDrbgContext);
        fn hmac_drbg_seed_buf(context: *mut HmacDrbgContext, digest: *const MdInfo, data: *const c_uchar, length: usize) -> c_int;
        fn hmac_drbg_random(context: *mut c_void, output: *mut c_uchar, length: usize) -> c_int;

        // mbedtls/ctr_drbg.h
        fn ctr_drbg_init(context: *mut CtrDrbgContext);
        fn ctr_drbg_free(context: *mut CtrDrbgContext);
        fn ctr_drbg_set_entropy_len(context: *mut CtrDrbgContext, length: usize);
        fn ctr_drbg_set_nonce_len(context: *mut CtrDrbgContext, length: usize) -> c_int;
        fn ctr_drbg_set_reseed_interval(context: *mut CtrDrbgContext, requests: c_int);
        fn ctr_drbg_seed(context: *mut CtrDrbgContext, entropy: Entropy, source: *mut c_void, personalisation: *const c_uchar, length: usize) -> c_int;
        fn ctr_drbg_random(context: *mut c_void, output: *mut c_uchar, length: usize) -> c_int;

        // mbedtls/rsa.h
        fn rsa_init_3 = "mbedtls_rsa_init" (context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_free(context: *mut RsaContext);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_import_raw(context: *mut RsaContext, n: *const c_uchar, n_length: usize, p: *const c_uchar, p_length: usize, q: *const c_uchar, q_length: usize, d: *const c_uchar, d_length: usize, e: *const c_uchar, e_length: usize) -> c_int;
        fn rsa_complete(context: *mut RsaContext) -> c_int;
        fn rsa_export_raw(context: *const RsaContext, n: *mut c_uchar, n_length: usize, p: *mut c_uchar, p_length: usize, q: *mut c_uchar, q_length: usize, d: *mut c_uchar, d_length: usize, e: *mut c_uchar, e_length: usize) -> c_int;
        fn rsa_export_crt(context: *const RsaContext, dp: *mut Mpi, dq: *mut Mpi, qp: *mut Mpi) -> c_int;
        fn rsa_gen_key(context: *mut RsaContext, draw: Entropy, source: *mut c_void, bits: c_uint, exponent: c_int) -> c_int;
        fn rsa_pkcs1_sign_8 = "mbedtls_rsa_pkcs1_sign" (context: *mut RsaContext, draw: Entropy, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const c_uchar, signature: *mut c_uchar) -> c_int;
        fn rsa_pkcs1_verify_8 = "mbedtls_rsa_pkcs1_verify" (context: *mut RsaContext, draw: Option<Entropy>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const c_uchar, signature: *const c_uchar) -> c_int;
        fn rsa_rsassa_pss_sign_ext(context: *mut RsaContext, draw: Entropy, source: *mut c_void, digest: c_int, length: c_uint, hash: *const c_uchar, salt: c_int, signature: *mut c_uchar) -> c_int;
        fn rsa_rsassa_pss_verify_ext(context: *mut RsaContext, draw: Option<Entropy>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const c_uchar, mgf1_digest: c_int, salt: c_int, signature: *const c_uchar) -> c_int;

        // mbedtls/bignum.h: big-endian, padded with zeros
        fn mpi_init(number: *mut Mpi);
        fn mpi_free(number: *mut Mpi);
        fn mpi_read_binary(number: *mut Mpi, digits: *const c_uchar, length: usize) -> c_int;
        fn mpi_write_binary(number: *const Mpi, digits: *mut c_uchar, length: usize) -> c_int;

        // mbedtls/ecp.h
        fn ecp_group_init(group: *mut EcpGroup);
        fn ecp_group_free(group: *mut EcpGroup);
        fn ecp_group_load(group: *mut EcpGroup, id: c_int) -> c_int;
        fn ecp_point_init(point: *mut EcpPoint);
        fn ecp_point_free(point: *mut EcpPoint);
        fn ecp_point_read_binary(group: *const EcpGroup, point: *mut EcpPoint, encoded: *const c_uchar, length: usize) -> c_int;
        fn ecp_point_write_binary(group: *const EcpGroup, point: *const EcpPoint, form: c_int, written: *mut usize, encoded: *mut c_uchar, length: usize) -> c_int;
        fn ecp_check_pubkey(group: *const EcpGroup, point: *const EcpPoint) -> c_int;
        fn ecp_gen_keypair(group: *mut EcpGroup, scalar: *mut Mpi, point: *mut EcpPoint, draw: Entropy, source: *mut c_void) -> c_int;

        // mbedtls/ecdsa.h, mbedtls/ecdh.h
        fn ecdsa_sign(group: *mut EcpGroup, r: *mut Mpi, s: *mut Mpi, scalar: *const Mpi, hash: *const c_uchar, length: usize, draw: Entropy, source: *mut c_void) -> c_int;
        fn ecdsa_verify(group: *mut EcpGroup, hash: *const c_uchar, length: usize, public: *const EcpPoint, r: *const Mpi, s: *const Mpi) -> c_int;
        fn ecdh_compute_shared(group: *mut EcpGroup, secret: *mut Mpi, peer: *const EcpPoint, own: *const Mpi, draw: Entropy, source: *mut c_void) -> c_int;
    }

    /// As 3.6 has it: the padding is set later.
    ///
    /// # Safety
    /// There is room for a context.
    pub(crate) unsafe extern "C" fn rsa_init(context: *mut RsaContext) {
        // SAFETY: as promised by the caller.
        unsafe { rsa_init_3(context, RSA_PKCS_V15, 0) }
    }

    /// Signs by PKCS #1 v1.5, as the context's padding says.
    ///
    /// # Safety
    /// The context has a private key; digest and signature have the lengths that go with it.
    pub(crate) unsafe fn rsa_sign(
        context: *mut RsaContext,
        draw: Entropy,
        source: *mut c_void,
        digest: c_int,
        length: c_uint,
        hash: *const c_uchar,
        signature: *mut c_uchar,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe {
            rsa_pkcs1_sign_8(context, draw, source, RSA_PRIVATE, digest, length, hash, signature)
        }
    }

    /// Verifies by PKCS #1 v1.5, as the context's padding says.
    ///
    /// # Safety
    /// The context has a key; digest and signature have the lengths that go with it.
    pub(crate) unsafe fn rsa_verify(
        context: *mut RsaContext,
        digest: c_int,
        length: c_uint,
        hash: *const c_uchar,
        signature: *const c_uchar,
    ) -> c_int {
        let none = core::ptr::null_mut();
        // SAFETY: as promised by the caller; a public operation draws nothing.
        unsafe {
            rsa_pkcs1_verify_8(context, None, none, RSA_PUBLIC, digest, length, hash, signature)
        }
    }

    /// Verifies by PSS, with a salt of this length and no other.
    ///
    /// # Safety
    /// As above.
    pub(crate) unsafe fn rsa_verify_pss(
        context: *mut RsaContext,
        digest: c_int,
        length: c_uint,
        hash: *const c_uchar,
        salt: c_int,
        signature: *const c_uchar,
    ) -> c_int {
        let none = core::ptr::null_mut();
        // SAFETY: as promised by the caller; a public operation draws nothing.
        unsafe {
            rsa_rsassa_pss_verify_ext(
                context, None, none, RSA_PUBLIC, digest, length, hash, digest, salt, signature,
            )
        }
    }

    /// As 3.6 has it. 2.28 writes as many bytes as it reads, and takes whole blocks only, but for the
    /// last call.
    ///
    /// # Safety
    /// The context was begun; both buffers have `length` bytes.
    #[inline]
    pub(crate) unsafe fn gcm_update(
        context: *mut GcmContext,
        input: *const c_uchar,
        length: usize,
        output: *mut c_uchar,
        _output_size: usize,
        written: *mut usize,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe {
            *written = length;
            gcm_update_2(context, length, input, output)
        }
    }
}
