//! The C functions that sessions call, each declared once.
//!
//! A list is a macro that passes its declarations to another macro. `declare` makes a trait of them in this
//! module. [`externs`](crate::externs) declares C functions with a prefix. [`forward`](crate::forward)
//! implements the trait with functions of these names. Another use is a table of loaded functions. Names are
//! those of the headers without `mbedtls_`. Code that expands a list must have [`types`](crate::types) in
//! scope.

use crate::held::Has;
use crate::types::*;

/// Functions that are the same in 2.28 and 3 and are used in every Mbed TLS, linked or loaded.
#[macro_export]
macro_rules! functions {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        // ccm.h
        fn ccm_setkey(context: *mut CcmContext, cipher: c_int, key: *const u8, bits: c_uint) -> c_int;
        fn ccm_encrypt_and_tag(context: *mut CcmContext, length: usize, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize, input: *const u8, output: *mut u8, tag: *mut u8, tag_length: usize) -> c_int;
        fn ccm_auth_decrypt(context: *mut CcmContext, length: usize, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize, input: *const u8, output: *mut u8, tag: *const u8, tag_length: usize) -> c_int;

        // chacha20.h: key 32 bytes, nonce 12
        fn chacha20_setkey(context: *mut Chacha20Context, key: *const u8) -> c_int;
        fn chacha20_starts(context: *mut Chacha20Context, nonce: *const u8, counter: u32) -> c_int;
        fn chacha20_update(context: *mut Chacha20Context, length: usize, input: *const u8, output: *mut u8) -> c_int;

        // poly1305.h: key 32 bytes
        fn poly1305_starts(context: *mut Poly1305Context, key: *const u8) -> c_int;
        fn poly1305_update(context: *mut Poly1305Context, input: *const u8, length: usize) -> c_int;
        fn poly1305_finish(context: *mut Poly1305Context, output: *mut u8) -> c_int;

        // cipher.h, cmac.h: null for a cipher that the library does not have; key lengths are in bits
        fn cipher_info_from_type(kind: c_int) -> *const CipherInfo;
        fn cipher_setup(context: *mut CipherContext, info: *const CipherInfo) -> c_int;
        fn cipher_cmac_starts(context: *mut CipherContext, key: *const u8, bits: usize) -> c_int;
        fn cipher_cmac_update(context: *mut CipherContext, input: *const u8, length: usize) -> c_int;
        fn cipher_cmac_finish(context: *mut CipherContext, output: *mut u8) -> c_int;
        fn cipher_cmac_reset(context: *mut CipherContext) -> c_int;

        // md.h: null for a digest that the library does not have
        fn md_info_from_type(kind: c_int) -> *const MdInfo;
        fn md_setup(context: *mut MdContext, info: *const MdInfo, hmac: c_int) -> c_int;
        fn md_hmac_starts(context: *mut MdContext, key: *const u8, length: usize) -> c_int;
        fn md_hmac_update(context: *mut MdContext, input: *const u8, length: usize) -> c_int;
        fn md_hmac_finish(context: *mut MdContext, output: *mut u8) -> c_int;
        fn md_hmac_reset(context: *mut MdContext) -> c_int;

        // hmac_drbg.h: seeded from a buffer, it never asks for entropy
        fn hmac_drbg_seed_buf(context: *mut HmacDrbgContext, digest: *const MdInfo, data: *const u8, length: usize) -> c_int;
        fn hmac_drbg_random(context: *mut c_void, output: *mut u8, length: usize) -> c_int;

        // ctr_drbg.h
        fn ctr_drbg_set_entropy_len(context: *mut CtrDrbgContext, length: usize);
        fn ctr_drbg_set_nonce_len(context: *mut CtrDrbgContext, length: usize) -> c_int;
        fn ctr_drbg_set_reseed_interval(context: *mut CtrDrbgContext, requests: c_int);
        fn ctr_drbg_seed(context: *mut CtrDrbgContext, entropy: Draw, source: *mut c_void, personalisation: *const u8, length: usize) -> c_int;
        fn ctr_drbg_random(context: *mut c_void, output: *mut u8, length: usize) -> c_int;

        // rsa.h
        fn rsa_import_raw(context: *mut RsaContext, n: *const u8, n_length: usize, p: *const u8, p_length: usize, q: *const u8, q_length: usize, d: *const u8, d_length: usize, e: *const u8, e_length: usize) -> c_int;
        fn rsa_complete(context: *mut RsaContext) -> c_int;
        fn rsa_export_raw(context: *const RsaContext, n: *mut u8, n_length: usize, p: *mut u8, p_length: usize, q: *mut u8, q_length: usize, d: *mut u8, d_length: usize, e: *mut u8, e_length: usize) -> c_int;
        fn rsa_export_crt(context: *const RsaContext, dp: *mut Mpi, dq: *mut Mpi, qp: *mut Mpi) -> c_int;
        fn rsa_gen_key(context: *mut RsaContext, draw: Draw, source: *mut c_void, bits: c_uint, exponent: c_int) -> c_int;
        fn rsa_rsassa_pss_sign_ext(context: *mut RsaContext, draw: Draw, source: *mut c_void, digest: c_int, length: c_uint, hash: *const u8, salt: c_int, signature: *mut u8) -> c_int;

        // bignum.h: big-endian, padded with zeros
        fn mpi_read_binary(number: *mut Mpi, digits: *const u8, length: usize) -> c_int;
        fn mpi_write_binary(number: *const Mpi, digits: *mut u8, length: usize) -> c_int;

        // ecp.h
        fn ecp_group_load(group: *mut EcpGroup, id: c_int) -> c_int;
        fn ecp_point_read_binary(group: *const EcpGroup, point: *mut EcpPoint, encoded: *const u8, length: usize) -> c_int;
        fn ecp_point_write_binary(group: *const EcpGroup, point: *const EcpPoint, form: c_int, written: *mut usize, encoded: *mut u8, length: usize) -> c_int;
        fn ecp_check_pubkey(group: *const EcpGroup, point: *const EcpPoint) -> c_int;
        fn ecp_gen_keypair(group: *mut EcpGroup, scalar: *mut Mpi, point: *mut EcpPoint, draw: Draw, source: *mut c_void) -> c_int;

        // ecdsa.h, ecdh.h
        fn ecdsa_sign(group: *mut EcpGroup, r: *mut Mpi, s: *mut Mpi, scalar: *const Mpi, hash: *const u8, length: usize, draw: Draw, source: *mut c_void) -> c_int;
        fn ecdsa_verify(group: *mut EcpGroup, hash: *const u8, length: usize, public: *const EcpPoint, r: *const Mpi, s: *const Mpi) -> c_int;
        fn ecdh_compute_shared(group: *mut EcpGroup, secret: *mut Mpi, peer: *const EcpPoint, own: *const Mpi, draw: Draw, source: *mut c_void) -> c_int;
    } };
}

/// The functions that make and free the contexts of the functions above.
#[macro_export]
macro_rules! contexts {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        CcmContext: ccm_init, ccm_free;
        Chacha20Context: chacha20_init, chacha20_free;
        CipherContext: cipher_init, cipher_free;
        CtrDrbgContext: ctr_drbg_init, ctr_drbg_free;
        EcpGroup: ecp_group_init, ecp_group_free;
        EcpPoint: ecp_point_init, ecp_point_free;
        HmacDrbgContext: hmac_drbg_init, hmac_drbg_free;
        MdContext: md_init, md_free;
        Mpi: mpi_init, mpi_free;
        Poly1305Context: poly1305_init, poly1305_free;
    } };
}

/// Functions that are used only in a linked library. They are the same in 2.28 and 3.
#[macro_export]
macro_rules! linked_functions {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        // aes.h
        fn aes_setkey_enc(context: *mut AesContext, key: *const u8, bits: c_uint) -> c_int;
        fn aes_setkey_dec(context: *mut AesContext, key: *const u8, bits: c_uint) -> c_int;
        fn aes_crypt_ecb(context: *mut AesContext, mode: c_int, input: *const u8, output: *mut u8) -> c_int;
        fn aes_crypt_cbc(context: *mut AesContext, mode: c_int, length: usize, iv: *mut u8, input: *const u8, output: *mut u8) -> c_int;
        fn aes_crypt_ctr(context: *mut AesContext, length: usize, offset: *mut usize, nonce_counter: *mut u8, stream_block: *mut u8, input: *const u8, output: *mut u8) -> c_int;
        fn aes_xts_setkey_enc(context: *mut AesXtsContext, key: *const u8, bits: c_uint) -> c_int;
        fn aes_xts_setkey_dec(context: *mut AesXtsContext, key: *const u8, bits: c_uint) -> c_int;
        fn aes_crypt_xts(context: *mut AesXtsContext, mode: c_int, length: usize, data_unit: *const u8, input: *const u8, output: *mut u8) -> c_int;

        // gcm.h
        fn gcm_setkey(context: *mut GcmContext, cipher: c_int, key: *const u8, bits: c_uint) -> c_int;
        fn gcm_crypt_and_tag(context: *mut GcmContext, mode: c_int, length: usize, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize, input: *const u8, output: *mut u8, tag_length: usize, tag: *mut u8) -> c_int;
        fn gcm_auth_decrypt(context: *mut GcmContext, length: usize, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize, tag: *const u8, tag_length: usize, input: *const u8, output: *mut u8) -> c_int;

        // camellia.h
        fn camellia_setkey_enc(context: *mut CamelliaContext, key: *const u8, bits: c_uint) -> c_int;
        fn camellia_setkey_dec(context: *mut CamelliaContext, key: *const u8, bits: c_uint) -> c_int;
        fn camellia_crypt_ecb(context: *mut CamelliaContext, mode: c_int, input: *const u8, output: *mut u8) -> c_int;
        fn camellia_crypt_cbc(context: *mut CamelliaContext, mode: c_int, length: usize, iv: *mut u8, input: *const u8, output: *mut u8) -> c_int;

        // des.h: key 8 bytes, 24 for triple DES
        fn des_setkey_enc(context: *mut DesContext, key: *const u8) -> c_int;
        fn des_setkey_dec(context: *mut DesContext, key: *const u8) -> c_int;
        fn des_crypt_ecb(context: *mut DesContext, input: *const u8, output: *mut u8) -> c_int;
        fn des_crypt_cbc(context: *mut DesContext, mode: c_int, length: usize, iv: *mut u8, input: *const u8, output: *mut u8) -> c_int;
        fn des3_set3key_enc(context: *mut Des3Context, key: *const u8) -> c_int;
        fn des3_set3key_dec(context: *mut Des3Context, key: *const u8) -> c_int;
        fn des3_crypt_ecb(context: *mut Des3Context, input: *const u8, output: *mut u8) -> c_int;
        fn des3_crypt_cbc(context: *mut Des3Context, mode: c_int, length: usize, iv: *mut u8, input: *const u8, output: *mut u8) -> c_int;

        // chachapoly.h: key 32 bytes, nonce 12, tag 16
        fn chachapoly_setkey(context: *mut ChachapolyContext, key: *const u8) -> c_int;
        fn chachapoly_encrypt_and_tag(context: *mut ChachapolyContext, length: usize, nonce: *const u8, aad: *const u8, aad_length: usize, input: *const u8, output: *mut u8, tag: *mut u8) -> c_int;
        fn chachapoly_auth_decrypt(context: *mut ChachapolyContext, length: usize, nonce: *const u8, aad: *const u8, aad_length: usize, tag: *const u8, input: *const u8, output: *mut u8) -> c_int;
        fn chachapoly_starts(context: *mut ChachapolyContext, nonce: *const u8, mode: c_int) -> c_int;
        fn chachapoly_update_aad(context: *mut ChachapolyContext, aad: *const u8, aad_length: usize) -> c_int;
        fn chachapoly_update(context: *mut ChachapolyContext, length: usize, input: *const u8, output: *mut u8) -> c_int;
    } };
}

/// Hash functions, with the names of version 3; 2.28 appends `_ret` to each.
#[macro_export]
macro_rules! hash_functions {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        // md5.h, sha1.h, sha256.h, sha512.h
        fn md5_starts(context: *mut Md5Context) -> c_int;
        fn md5_update(context: *mut Md5Context, input: *const u8, length: usize) -> c_int;
        fn md5_finish(context: *mut Md5Context, output: *mut u8) -> c_int;
        fn sha1_starts(context: *mut Sha1Context) -> c_int;
        fn sha1_update(context: *mut Sha1Context, input: *const u8, length: usize) -> c_int;
        fn sha1_finish(context: *mut Sha1Context, output: *mut u8) -> c_int;
        fn sha256_starts(context: *mut Sha256Context, is_224: c_int) -> c_int;
        fn sha256_update(context: *mut Sha256Context, input: *const u8, length: usize) -> c_int;
        fn sha256_finish(context: *mut Sha256Context, output: *mut u8) -> c_int;
        fn sha512_starts(context: *mut Sha512Context, is_384: c_int) -> c_int;
        fn sha512_update(context: *mut Sha512Context, input: *const u8, length: usize) -> c_int;
        fn sha512_finish(context: *mut Sha512Context, output: *mut u8) -> c_int;
    } };
}

/// The functions that make and free the contexts used only in a linked library.
#[macro_export]
macro_rules! linked_contexts {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        AesContext: aes_init, aes_free;
        AesXtsContext: aes_xts_init, aes_xts_free;
        CamelliaContext: camellia_init, camellia_free;
        ChachapolyContext: chachapoly_init, chachapoly_free;
        DesContext: des_init, des_free;
        Des3Context: des3_init, des3_free;
        GcmContext: gcm_init, gcm_free;
        Md5Context: md5_init, md5_free;
        Sha1Context: sha1_init, sha1_free;
        Sha256Context: sha256_init, sha256_free;
        Sha512Context: sha512_init, sha512_free;
    } };
}

/// SHA-3, which 2.28 does not have.
#[macro_export]
macro_rules! sha3_functions {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        // sha3.h
        fn sha3_starts(context: *mut Sha3Context, id: c_int) -> c_int;
        fn sha3_update(context: *mut Sha3Context, input: *const u8, length: usize) -> c_int;
        fn sha3_finish(context: *mut Sha3Context, output: *mut u8, length: usize) -> c_int;
    } };
}

/// RSA functions whose arguments changed in 3.0, in their form of version 3.
#[macro_export]
macro_rules! rsa_functions_of_3 {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        fn rsa_init(context: *mut RsaContext);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int) -> c_int;
        fn rsa_pkcs1_sign(context: *mut RsaContext, draw: Draw, source: *mut c_void, digest: c_int, length: c_uint, hash: *const u8, signature: *mut u8) -> c_int;
        fn rsa_pkcs1_verify(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, signature: *const u8) -> c_int;
        fn rsa_rsassa_pss_verify_ext(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, mgf1_digest: c_int, salt: c_int, signature: *const u8) -> c_int;
    } };
}

/// The same functions in their form of 2.28: with a mode, and with a source of random bytes even for public
/// operations.
#[macro_export]
macro_rules! rsa_functions_of_2 {
    ($then:ident! { $($before:tt)* }) => { $then! { $($before)*
        fn rsa_init(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_pkcs1_sign(context: *mut RsaContext, draw: Draw, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, signature: *mut u8) -> c_int;
        fn rsa_pkcs1_verify(context: *mut RsaContext, draw: Option<Draw>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, signature: *const u8) -> c_int;
        fn rsa_rsassa_pss_verify_ext(context: *mut RsaContext, draw: Option<Draw>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, mgf1_digest: c_int, salt: c_int, signature: *const u8) -> c_int;
    } };
}

macro_rules! declare {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        $($(#[$about])* unsafe fn $name($($argument: $type),*) $(-> $result)?;)+
    };
}

/// A digest that HMAC, HMAC_DRBG or RSA selects by the library's own number. Each version numbers digests
/// differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sha {
    /// SHA-1
    Sha1,
    /// SHA-256
    Sha256,
    /// SHA-512
    Sha512,
}

/// What cpb uses of every Mbed TLS, linked or loaded.
#[allow(
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "by the library's headers"
)]
pub trait Functions:
    Rsa
    + Has<CcmContext>
    + Has<Chacha20Context>
    + Has<CipherContext>
    + Has<CtrDrbgContext>
    + Has<EcpGroup>
    + Has<EcpPoint>
    + Has<HmacDrbgContext>
    + Has<MdContext>
    + Has<Mpi>
    + Has<Poly1305Context>
    + Has<RsaContext>
{
    /// The number of a digest; 0 if the library does not have it.
    fn md_type(digest: Sha) -> c_int;

    functions! { declare! {} }
}

/// The RSA functions that differ between 2.28 and 3.
///
/// # Safety
/// For all functions: a context to be made must have its memory allocated, and other contexts must be
/// initialised. Digest and signature must have the lengths that belong to the key, and signing needs a
/// private key.
#[allow(clippy::missing_safety_doc, reason = "one for all")]
pub trait Rsa: Sized {
    /// Makes a context, whose padding is set later.
    unsafe fn rsa_init(context: *mut RsaContext);

    /// Sets padding and digest. If the build lacks one of them, this fails, and so does every later use of
    /// the context.
    unsafe fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int);

    /// Signs with PKCS #1 v1.5, which the context's padding must select.
    unsafe fn rsa_sign(
        context: *mut RsaContext,
        draw: Draw,
        source: *mut c_void,
        digest: c_int,
        length: c_uint,
        hash: *const u8,
        signature: *mut u8,
    ) -> c_int;

    /// Verifies a PKCS #1 v1.5 signature; the context's padding must select it.
    unsafe fn rsa_verify(
        context: *mut RsaContext,
        digest: c_int,
        length: c_uint,
        hash: *const u8,
        signature: *const u8,
    ) -> c_int;

    /// Verifies a PSS signature with exactly this salt length.
    unsafe fn rsa_verify_pss(
        context: *mut RsaContext,
        digest: c_int,
        length: c_uint,
        hash: *const u8,
        salt: c_int,
        signature: *const u8,
    ) -> c_int;
}

/// An Mbed TLS that the program is linked with. The sizes of its contexts are known, so ciphers and hash
/// functions are called directly.
#[allow(
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "by the library's headers"
)]
pub trait Linked:
    Functions
    + Has<AesContext>
    + Has<AesXtsContext>
    + Has<CamelliaContext>
    + Has<ChachapolyContext>
    + Has<DesContext>
    + Has<Des3Context>
    + Has<GcmContext>
    + Has<Md5Context>
    + Has<Sha1Context>
    + Has<Sha256Context>
    + Has<Sha512Context>
{
    /// Fills `output` with random bytes for signing, blinding and generating keys. They are generated as fast
    /// as possible and are not secret, so that the library's own work is measured.
    fn fill(output: &mut [u8]);

    linked_functions! { declare! {} }
    hash_functions! { declare! {} }

    /// Begins a GCM stream with its IV and associated data.
    unsafe fn gcm_begin(
        context: *mut GcmContext,
        mode: c_int,
        iv: *const u8,
        iv_length: usize,
        aad: *const u8,
        aad_length: usize,
    ) -> c_int;

    /// Processes the next part of a GCM stream. 2.28 accepts only whole blocks, except in the last part.
    unsafe fn gcm_part(
        context: *mut GcmContext,
        length: usize,
        input: *const u8,
        output: *mut u8,
    ) -> c_int;
}

/// A linked Mbed TLS with SHA-3.
#[allow(missing_docs, clippy::missing_safety_doc, reason = "by the library's headers")]
pub trait Sha3: Linked + Has<Sha3Context> {
    sha3_functions! { declare! {} }
}
