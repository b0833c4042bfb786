//! The part of libcrypto's C interface that the provider uses, from OpenSSL 3.6's headers.
//!
//! Functions return 1 for success and 0 or less for failure, unless stated otherwise. `int` lengths limit one
//! update to `c_int::MAX` bytes.

// Declared as a whole, and used as the provider grows.
#![allow(dead_code)]
// C names stay as the headers spell them.
#![allow(non_camel_case_types, non_snake_case, clippy::upper_case_acronyms)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uchar, c_uint, c_ulong, c_void};
use core::marker::{PhantomData, PhantomPinned};

/// Declares types that are opaque to Rust: not constructible, movable or shareable in Rust.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            _data: [u8; 0],
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )+};
}

opaque! {
    /// `OSSL_LIB_CTX`; null means the default one.
    OSSL_LIB_CTX;
    /// `OSSL_PROVIDER`
    OSSL_PROVIDER;
    /// `EVP_CIPHER`: a fetched implementation of a cipher.
    EVP_CIPHER;
    /// `EVP_CIPHER_CTX`
    EVP_CIPHER_CTX;
    /// `EVP_MD`: a fetched implementation of a digest.
    EVP_MD;
    /// `EVP_MD_CTX`
    EVP_MD_CTX;
    /// `EVP_MAC`: a fetched implementation of a MAC.
    EVP_MAC;
    /// `EVP_MAC_CTX`
    EVP_MAC_CTX;
    /// `EVP_RAND`: a fetched implementation of a random bit generator.
    EVP_RAND;
    /// `EVP_RAND_CTX`
    EVP_RAND_CTX;
    /// `ENGINE`; null if no engine is requested.
    ENGINE;
    /// `EVP_PKEY`: a key pair, or its public half.
    EVP_PKEY;
    /// `EVP_PKEY_CTX`
    EVP_PKEY_CTX;
    /// `BIGNUM`
    BIGNUM;
    /// `OPENSSL_INIT_SETTINGS`
    OPENSSL_INIT_SETTINGS;
}

/// `OSSL_PARAM` (openssl/core.h): one named parameter; an array ends with `OSSL_PARAM_construct_end`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct OSSL_PARAM {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

// openssl/evp.h
pub(crate) const EVP_MAX_MD_SIZE: usize = 64;
pub(crate) const EVP_MAX_KEY_LENGTH: usize = 64;
pub(crate) const EVP_MAX_IV_LENGTH: usize = 16;
pub(crate) const EVP_MAX_BLOCK_LENGTH: usize = 32;
pub(crate) const EVP_CTRL_AEAD_SET_IVLEN: c_int = 0x9;
pub(crate) const EVP_CTRL_AEAD_GET_TAG: c_int = 0x10;
pub(crate) const EVP_CTRL_AEAD_SET_TAG: c_int = 0x11;
pub(crate) const EVP_CTRL_AEAD_TLS1_AAD: c_int = 0x16;
pub(crate) const EVP_CTRL_AEAD_SET_MAC_KEY: c_int = 0x17;

// openssl/core_names.h
pub(crate) const OSSL_MAC_PARAM_DIGEST: &core::ffi::CStr = c"digest";
pub(crate) const OSSL_MAC_PARAM_CIPHER: &core::ffi::CStr = c"cipher";

// openssl/evp.h: what `EVP_PKEY_fromdata` makes.
pub(crate) const EVP_PKEY_PUBLIC_KEY: c_int = 0x86;
pub(crate) const EVP_PKEY_KEYPAIR: c_int = 0x87;
// openssl/core.h: kinds of `OSSL_PARAM`; integers are as the machine has them.
pub(crate) const OSSL_PARAM_UNSIGNED_INTEGER: c_uint = 2;
pub(crate) const OSSL_PARAM_UTF8_STRING: c_uint = 4;
pub(crate) const OSSL_PARAM_OCTET_STRING: c_uint = 5;

// openssl/crypto.h: what to ask `OpenSSL_version` for.
pub(crate) const OPENSSL_VERSION: c_int = 0;
pub(crate) const OPENSSL_CFLAGS: c_int = 1;
pub(crate) const OPENSSL_PLATFORM: c_int = 3;
pub(crate) const OPENSSL_VERSION_STRING: c_int = 6;
pub(crate) const OPENSSL_FULL_VERSION_STRING: c_int = 7;
pub(crate) const OPENSSL_CPU_INFO: c_int = 9;
// openssl/crypto.h: what to ask `OPENSSL_info` for.
pub(crate) const OPENSSL_INFO_CPU_SETTINGS: c_int = 1008;
// openssl/crypto.h: do not read openssl.cnf. The build also names a folder that does not exist, but the
// variable OPENSSL_CONF could name another one.
pub(crate) const OPENSSL_INIT_NO_LOAD_CONFIG: u64 = 0x80;
/// Read the system's openssl.cnf.
pub(crate) const OPENSSL_INIT_LOAD_CONFIG: u64 = 0x40;
/// Register the engines that are files, and the one for /dev/crypto.
pub(crate) const OPENSSL_INIT_ENGINES: u64 = 0x400 | 0x1000;

c_functions! { linked or loaded as Libcrypto:
    // openssl/crypto.h
    fn OPENSSL_init_crypto(opts: u64, settings: *const OPENSSL_INIT_SETTINGS) -> c_int;
    fn OpenSSL_version(what: c_int) -> *const c_char;
    fn OpenSSL_version_num() -> c_ulong;
    /// May return null.
    fn OPENSSL_info(what: c_int) -> *const c_char;
    /// 0 if both are equal. Takes the same time wherever they differ.
    fn CRYPTO_memcmp(one: *const c_void, other: *const c_void, length: usize) -> c_int;

    // openssl/err.h
    fn ERR_get_error() -> c_ulong;
    fn ERR_error_string_n(error: c_ulong, buffer: *mut c_char, length: usize);
    fn ERR_clear_error();

    // openssl/provider.h
    /// Null if no provider has that name.
    fn OSSL_PROVIDER_load(context: *mut OSSL_LIB_CTX, name: *const c_char) -> *mut OSSL_PROVIDER;

    // openssl/params.h
    fn OSSL_PARAM_construct_utf8_string(
        key: *const c_char,
        buffer: *mut c_char,
        length: usize,
    ) -> OSSL_PARAM;
    fn OSSL_PARAM_construct_octet_string(
        key: *const c_char,
        buffer: *mut c_void,
        length: usize,
    ) -> OSSL_PARAM;
    fn OSSL_PARAM_construct_int(key: *const c_char, number: *mut c_int) -> OSSL_PARAM;
    fn OSSL_PARAM_construct_uint(key: *const c_char, number: *mut c_uint) -> OSSL_PARAM;
    fn OSSL_PARAM_construct_uint64(key: *const c_char, number: *mut u64) -> OSSL_PARAM;
    fn OSSL_PARAM_construct_end() -> OSSL_PARAM;

    // openssl/evp.h: ciphers. Fetch returns null on failure.
    fn EVP_CIPHER_fetch(
        context: *mut OSSL_LIB_CTX,
        algorithm: *const c_char,
        properties: *const c_char,
    ) -> *mut EVP_CIPHER;
    /// Null if no cipher has that name.
    fn EVP_get_cipherbyname(name: *const c_char) -> *const EVP_CIPHER;
    fn EVP_CIPHER_free(cipher: *mut EVP_CIPHER);
    fn EVP_CIPHER_CTX_new() -> *mut EVP_CIPHER_CTX;
    fn EVP_CIPHER_CTX_free(context: *mut EVP_CIPHER_CTX);
    fn EVP_CIPHER_CTX_reset(context: *mut EVP_CIPHER_CTX) -> c_int;
    fn EVP_CIPHER_CTX_set_padding(context: *mut EVP_CIPHER_CTX, pad: c_int) -> c_int;
    fn EVP_CIPHER_CTX_ctrl(
        context: *mut EVP_CIPHER_CTX,
        kind: c_int,
        argument: c_int,
        pointer: *mut c_void,
    ) -> c_int;
    /// `encrypt`: 1 to encrypt, 0 to decrypt, -1 to keep the direction.
    fn EVP_CipherInit_ex(
        context: *mut EVP_CIPHER_CTX,
        cipher: *const EVP_CIPHER,
        engine: *mut ENGINE,
        key: *const c_uchar,
        iv: *const c_uchar,
        encrypt: c_int,
    ) -> c_int;
    fn EVP_CipherUpdate(
        context: *mut EVP_CIPHER_CTX,
        output: *mut c_uchar,
        output_length: *mut c_int,
        input: *const c_uchar,
        input_length: c_int,
    ) -> c_int;
    /// Below 1 means failure. Processes all of a message, including what the cipher would otherwise hold back
    /// for its end.
    fn EVP_Cipher(
        context: *mut EVP_CIPHER_CTX,
        output: *mut c_uchar,
        input: *const c_uchar,
        length: c_uint,
    ) -> c_int;
    fn EVP_CipherFinal_ex(
        context: *mut EVP_CIPHER_CTX,
        output: *mut c_uchar,
        output_length: *mut c_int,
    ) -> c_int;

    // openssl/evp.h: digests
    fn EVP_MD_fetch(
        context: *mut OSSL_LIB_CTX,
        algorithm: *const c_char,
        properties: *const c_char,
    ) -> *mut EVP_MD;
    /// Null if no digest has that name.
    fn EVP_get_digestbyname(name: *const c_char) -> *const EVP_MD;
    fn EVP_MD_free(digest: *mut EVP_MD);
    fn EVP_MD_CTX_new() -> *mut EVP_MD_CTX;
    fn EVP_MD_CTX_free(context: *mut EVP_MD_CTX);
    fn EVP_DigestInit_ex(
        context: *mut EVP_MD_CTX,
        digest: *const EVP_MD,
        engine: *mut ENGINE,
    ) -> c_int;
    fn EVP_DigestUpdate(
        context: *mut EVP_MD_CTX,
        input: *const c_void,
        length: usize,
    ) -> c_int;
    fn EVP_DigestFinal_ex(
        context: *mut EVP_MD_CTX,
        output: *mut c_uchar,
        length: *mut c_uint,
    ) -> c_int;

    // openssl/evp.h: message authentication codes. `EVP_MAC_init` with a null key keeps the key.
    fn EVP_MAC_fetch(
        context: *mut OSSL_LIB_CTX,
        algorithm: *const c_char,
        properties: *const c_char,
    ) -> *mut EVP_MAC;
    fn EVP_MAC_free(mac: *mut EVP_MAC);
    fn EVP_MAC_CTX_new(mac: *mut EVP_MAC) -> *mut EVP_MAC_CTX;
    fn EVP_MAC_CTX_free(context: *mut EVP_MAC_CTX);
    fn EVP_MAC_CTX_dup(context: *const EVP_MAC_CTX) -> *mut EVP_MAC_CTX;
    fn EVP_MAC_init(
        context: *mut EVP_MAC_CTX,
        key: *const c_uchar,
        key_length: usize,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_MAC_update(
        context: *mut EVP_MAC_CTX,
        input: *const c_uchar,
        length: usize,
    ) -> c_int;
    fn EVP_MAC_final(
        context: *mut EVP_MAC_CTX,
        output: *mut c_uchar,
        length: *mut usize,
        output_size: usize,
    ) -> c_int;

    // openssl/evp.h: random bit generators. A context keeps its generator and its parent alive.
    fn EVP_RAND_fetch(
        context: *mut OSSL_LIB_CTX,
        algorithm: *const c_char,
        properties: *const c_char,
    ) -> *mut EVP_RAND;
    fn EVP_RAND_free(generator: *mut EVP_RAND);
    fn EVP_RAND_CTX_new(
        generator: *mut EVP_RAND,
        parent: *mut EVP_RAND_CTX,
    ) -> *mut EVP_RAND_CTX;
    fn EVP_RAND_CTX_free(context: *mut EVP_RAND_CTX);
    fn EVP_RAND_CTX_set_params(
        context: *mut EVP_RAND_CTX,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_RAND_instantiate(
        context: *mut EVP_RAND_CTX,
        strength: c_uint,
        prediction_resistance: c_int,
        personalisation: *const c_uchar,
        personalisation_length: usize,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_RAND_uninstantiate(context: *mut EVP_RAND_CTX) -> c_int;
    fn EVP_RAND_generate(
        context: *mut EVP_RAND_CTX,
        output: *mut c_uchar,
        length: usize,
        strength: c_uint,
        prediction_resistance: c_int,
        additional: *const c_uchar,
        additional_length: usize,
    ) -> c_int;

    // openssl/evp.h: key pairs. Verification returns 1 for success and 0 for a signature that does not verify.
    fn EVP_PKEY_free(key: *mut EVP_PKEY);
    fn EVP_PKEY_CTX_new_from_name(
        context: *mut OSSL_LIB_CTX,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut EVP_PKEY_CTX;
    fn EVP_PKEY_CTX_new_from_pkey(
        context: *mut OSSL_LIB_CTX,
        key: *mut EVP_PKEY,
        properties: *const c_char,
    ) -> *mut EVP_PKEY_CTX;
    fn EVP_PKEY_CTX_free(context: *mut EVP_PKEY_CTX);
    fn EVP_PKEY_CTX_set_params(
        context: *mut EVP_PKEY_CTX,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_fromdata_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_fromdata(
        context: *mut EVP_PKEY_CTX,
        key: *mut *mut EVP_PKEY,
        selection: c_int,
        params: *mut OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_get_octet_string_param(
        key: *const EVP_PKEY,
        name: *const c_char,
        buffer: *mut c_uchar,
        size: usize,
        length: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_get_bn_param(
        key: *const EVP_PKEY,
        name: *const c_char,
        number: *mut *mut BIGNUM,
    ) -> c_int;
    fn EVP_PKEY_keygen_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_generate(context: *mut EVP_PKEY_CTX, key: *mut *mut EVP_PKEY) -> c_int;
    fn EVP_PKEY_sign_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_sign(
        context: *mut EVP_PKEY_CTX,
        signature: *mut c_uchar,
        signature_length: *mut usize,
        digest: *const c_uchar,
        digest_length: usize,
    ) -> c_int;
    fn EVP_PKEY_verify_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_verify(
        context: *mut EVP_PKEY_CTX,
        signature: *const c_uchar,
        signature_length: usize,
        digest: *const c_uchar,
        digest_length: usize,
    ) -> c_int;
    fn EVP_PKEY_derive_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_derive_set_peer(
        context: *mut EVP_PKEY_CTX,
        peer: *mut EVP_PKEY,
    ) -> c_int;
    fn EVP_PKEY_derive(
        context: *mut EVP_PKEY_CTX,
        secret: *mut c_uchar,
        length: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_encapsulate_init(
        context: *mut EVP_PKEY_CTX,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_encapsulate(
        context: *mut EVP_PKEY_CTX,
        encapsulation: *mut c_uchar,
        encapsulation_length: *mut usize,
        secret: *mut c_uchar,
        secret_length: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_decapsulate_init(
        context: *mut EVP_PKEY_CTX,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_PKEY_decapsulate(
        context: *mut EVP_PKEY_CTX,
        secret: *mut c_uchar,
        secret_length: *mut usize,
        encapsulation: *const c_uchar,
        encapsulation_length: usize,
    ) -> c_int;
    /// With a null digest, for algorithms that hash by themselves.
    fn EVP_DigestSignInit_ex(
        context: *mut EVP_MD_CTX,
        key_context: *mut *mut EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut EVP_PKEY,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestSign(
        context: *mut EVP_MD_CTX,
        signature: *mut c_uchar,
        signature_length: *mut usize,
        message: *const c_uchar,
        message_length: usize,
    ) -> c_int;
    fn EVP_DigestVerifyInit_ex(
        context: *mut EVP_MD_CTX,
        key_context: *mut *mut EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut EVP_PKEY,
        params: *const OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestVerify(
        context: *mut EVP_MD_CTX,
        signature: *const c_uchar,
        signature_length: usize,
        message: *const c_uchar,
        message_length: usize,
    ) -> c_int;

    // openssl/bn.h
    fn BN_bn2binpad(number: *const BIGNUM, output: *mut c_uchar, length: c_int)
    -> c_int;
    fn BN_clear_free(number: *mut BIGNUM);
}

#[cfg(all(test, feature = "openssl"))]
mod tests {
    use core::ffi::CStr;

    use super::*;

    fn version(what: c_int) -> &'static str {
        // SAFETY: OpenSSL_version returns a static C string for every argument.
        unsafe { CStr::from_ptr(OpenSSL_version(what)) }.to_str().unwrap()
    }

    #[test]
    fn the_linked_library_is_the_one_that_was_built() {
        assert_eq!(version(OPENSSL_VERSION_STRING), env!("CPB_OPENSSL_VERSION"));
        assert!(env!("CPB_OPENSSL_OPTIONS").contains(version(OPENSSL_CFLAGS)));
    }

    #[test]
    fn the_library_says_which_cpu_features_it_uses() {
        // SAFETY: OPENSSL_info returns null or a static C string.
        let info = unsafe {
            let info = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
            assert!(!info.is_null());
            CStr::from_ptr(info)
        };
        assert!(info.to_str().unwrap().starts_with("OPENSSL_"), "{info:?}");
    }

    #[test]
    fn sha_256_of_abc_is_the_standards_own_example() {
        let mut output = [0; EVP_MAX_MD_SIZE];
        let mut length = 0;
        // SAFETY: pointers are to live objects of the sizes given; null means the default context,
        // no properties, no parameters.
        unsafe {
            let digest =
                EVP_MD_fetch(core::ptr::null_mut(), c"SHA2-256".as_ptr(), core::ptr::null());
            let context = EVP_MD_CTX_new();
            assert_eq!(EVP_DigestInit_ex(context, digest, core::ptr::null_mut()), 1);
            assert_eq!(EVP_DigestUpdate(context, b"abc".as_ptr().cast(), 3), 1);
            assert_eq!(EVP_DigestFinal_ex(context, output.as_mut_ptr(), &mut length), 1);
            EVP_MD_CTX_free(context);
            EVP_MD_free(digest);
        }
        assert_eq!(length, 32);
        // FIPS 180-2, appendix B.1
        assert_eq!(output[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
    }
}
