//! AWS-LC, built from source and linked statically by the crate aws-lc-sys. The crate gives its symbols a
//! prefix, so they do not clash with OpenSSL's. It has two runners: with the CPU's extensions, and with none of
//! them.
//!
//! It reads its mask once, before it is first used, from the variable that OpenSSL reads.

mod key_pairs;

use crate::Implementation;
use crate::evp::{self, Evp, forward};
use aws_lc_sys as ffi;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Identity, Job, Provider, Session, Unsupported};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};

pub(crate) const EXTENSIONS: Implementation = Implementation {
    name: "aws-lc",
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(AwsLc { name: "aws-lc" })),
};

pub(crate) const C: Implementation = Implementation {
    name: "aws-lc:c",
    environment: mask,
    executors: None,
    open: |_| Ok(Box::new(AwsLc { name: "aws-lc:c" })),
};

/// The variable that the library reads, with the value for no feature at all. On x86 the value has two 64-bit
/// words (crypto/fipsmodule/cpucap/cpu_intel.c), and a word that is not given stays unchanged. On Arm it has
/// one 32-bit word (cpu_aarch64.c).
fn mask() -> Vec<(&'static str, &'static str)> {
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        vec![("OPENSSL_ia32cap", "0:0")]
    } else if cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
        vec![("OPENSSL_armcap", "0")]
    } else {
        Vec::new()
    }
}

/// The version as the library states it.
const VERSION: &str = match core::ffi::CStr::from_bytes_with_nul(ffi::AWSLC_VERSION_NUMBER_STRING) {
    Ok(version) => match version.to_str() {
        Ok(version) => version,
        Err(_) => panic!("a version is ASCII"),
    },
    Err(_) => panic!("a C string"),
};

struct AwsLc {
    name: &'static str,
}

/// The library's functions.
struct Functions;

impl Evp for Functions {
    type Cipher = ffi::EVP_CIPHER;
    type CipherContext = ffi::EVP_CIPHER_CTX;
    type Digest = ffi::EVP_MD;
    type DigestContext = ffi::EVP_MD_CTX;
    type Hmac = ffi::HMAC_CTX;
    type Cmac = ffi::CMAC_CTX;

    fn cipher(algorithm: Algorithm) -> *const Self::Cipher {
        // SAFETY: take no arguments, and return a constant.
        unsafe {
            match algorithm {
                Algorithm::Aes128Cbc | Algorithm::Aes128Cmac => ffi::EVP_aes_128_cbc(),
                Algorithm::Aes192Cbc => ffi::EVP_aes_192_cbc(),
                Algorithm::Aes256Cbc | Algorithm::Aes256Cmac => ffi::EVP_aes_256_cbc(),
                Algorithm::Aes128Ecb => ffi::EVP_aes_128_ecb(),
                Algorithm::Aes192Ecb => ffi::EVP_aes_192_ecb(),
                Algorithm::Aes256Ecb => ffi::EVP_aes_256_ecb(),
                Algorithm::Aes128Ctr => ffi::EVP_aes_128_ctr(),
                Algorithm::Aes192Ctr => ffi::EVP_aes_192_ctr(),
                Algorithm::Aes256Ctr => ffi::EVP_aes_256_ctr(),
                Algorithm::Aes256Xts => ffi::EVP_aes_256_xts(),
                Algorithm::Aes128Gcm => ffi::EVP_aes_128_gcm(),
                Algorithm::Aes192Gcm => ffi::EVP_aes_192_gcm(),
                Algorithm::Aes256Gcm => ffi::EVP_aes_256_gcm(),
                Algorithm::Aes128Ccm => ffi::EVP_aes_128_ccm(),
                Algorithm::Aes192Ccm => ffi::EVP_aes_192_ccm(),
                Algorithm::Aes256Ccm => ffi::EVP_aes_256_ccm(),
                Algorithm::Chacha20Poly1305 => ffi::EVP_chacha20_poly1305(),
                Algorithm::DesCbc => ffi::EVP_des_cbc(),
                Algorithm::TripleDesCbc => ffi::EVP_des_ede3_cbc(),
                Algorithm::DesEcb => ffi::EVP_des_ecb(),
                Algorithm::TripleDesEcb => ffi::EVP_des_ede3_ecb(),
                _ => ptr::null(),
            }
        }
    }

    fn digest(algorithm: Algorithm) -> *const Self::Digest {
        // SAFETY: as above.
        unsafe {
            match algorithm {
                Algorithm::Md5 => ffi::EVP_md5(),
                Algorithm::Sha1 | Algorithm::HmacSha1 => ffi::EVP_sha1(),
                Algorithm::Sha224 => ffi::EVP_sha224(),
                Algorithm::Sha256 | Algorithm::HmacSha256 => ffi::EVP_sha256(),
                Algorithm::Sha384 => ffi::EVP_sha384(),
                Algorithm::Sha512 | Algorithm::HmacSha512 => ffi::EVP_sha512(),
                Algorithm::Sha3_256 => ffi::EVP_sha3_256(),
                Algorithm::Sha3_512 => ffi::EVP_sha3_512(),
                _ => ptr::null(),
            }
        }
    }

    fn last_error() -> i32 {
        // SAFETY: take no arguments; the queue belongs to the thread.
        unsafe {
            let code = ffi::ERR_get_error();
            ffi::ERR_clear_error();
            code as i32
        }
    }

    #[inline(always)]
    unsafe fn cipher_init(
        context: *mut Self::CipherContext,
        cipher: *const Self::Cipher,
        key: *const u8,
        iv: *const u8,
        encrypt: c_int,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::EVP_CipherInit_ex(context, cipher, ptr::null_mut(), key, iv, encrypt) }
    }

    #[inline(always)]
    unsafe fn digest_init(context: *mut Self::DigestContext, digest: *const Self::Digest) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::EVP_DigestInit_ex(context, digest, ptr::null_mut()) }
    }

    #[inline(always)]
    unsafe fn hmac_init(
        context: *mut Self::Hmac,
        key: *const c_void,
        length: usize,
        digest: *const Self::Digest,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::HMAC_Init_ex(context, key, length, digest, ptr::null_mut()) }
    }

    #[inline(always)]
    unsafe fn cmac_init(
        context: *mut Self::Cmac,
        key: *const c_void,
        length: usize,
        cipher: *const Self::Cipher,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::CMAC_Init(context, key, length, cipher, ptr::null_mut()) }
    }

    forward! {
        fn cipher_new() -> *mut Self::CipherContext = ffi::EVP_CIPHER_CTX_new;
        fn cipher_free(context: *mut Self::CipherContext) = ffi::EVP_CIPHER_CTX_free;
        fn cipher_set_padding(context: *mut Self::CipherContext, padding: c_int) -> c_int
            = ffi::EVP_CIPHER_CTX_set_padding;
        fn cipher_control(
            context: *mut Self::CipherContext, what: c_int, length: c_int, value: *mut c_void
        ) -> c_int = ffi::EVP_CIPHER_CTX_ctrl;
        fn cipher_update(
            context: *mut Self::CipherContext, output: *mut u8, written: *mut c_int,
            input: *const u8, length: c_int
        ) -> c_int = ffi::EVP_CipherUpdate;
        fn cipher_final(
            context: *mut Self::CipherContext, output: *mut u8, written: *mut c_int
        ) -> c_int = ffi::EVP_CipherFinal_ex;
        fn digest_new() -> *mut Self::DigestContext = ffi::EVP_MD_CTX_new;
        fn digest_free(context: *mut Self::DigestContext) = ffi::EVP_MD_CTX_free;
        fn digest_update(
            context: *mut Self::DigestContext, input: *const c_void, length: usize
        ) -> c_int = ffi::EVP_DigestUpdate;
        fn digest_final(
            context: *mut Self::DigestContext, output: *mut u8, written: *mut c_uint
        ) -> c_int = ffi::EVP_DigestFinal_ex;
        fn hmac_new() -> *mut Self::Hmac = ffi::HMAC_CTX_new;
        fn hmac_free(context: *mut Self::Hmac) = ffi::HMAC_CTX_free;
        fn hmac_update(context: *mut Self::Hmac, input: *const u8, length: usize) -> c_int
            = ffi::HMAC_Update;
        fn hmac_final(context: *mut Self::Hmac, output: *mut u8, written: *mut c_uint) -> c_int
            = ffi::HMAC_Final;
        fn cmac_new() -> *mut Self::Cmac = ffi::CMAC_CTX_new;
        fn cmac_free(context: *mut Self::Cmac) = ffi::CMAC_CTX_free;
        fn cmac_reset(context: *mut Self::Cmac) -> c_int = ffi::CMAC_Reset;
        fn cmac_update(context: *mut Self::Cmac, input: *const u8, length: usize) -> c_int
            = ffi::CMAC_Update;
        fn cmac_final(context: *mut Self::Cmac, output: *mut u8, written: *mut usize) -> c_int
            = ffi::CMAC_Final;
    }
}

impl Provider for AwsLc {
    fn identity(&self) -> Identity<'_> {
        // SAFETY: takes no arguments.
        let executor = match unsafe { ffi::EVP_has_aes_hardware() } {
            1 => "AES instructions",
            _ => "no AES instructions",
        };
        Identity {
            provider: self.name,
            version: VERSION,
            executor,
            options: env!("CPB_AWS_LC_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if key_pairs::has(workload.algorithm) {
            return software_supports(workload);
        }
        evp::supports::<Functions>(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        if key_pairs::has(workload.algorithm) {
            keys_fit(workload.algorithm, keys)?;
            let jobs = RawJobs::new(workload, keys, jobs)?;
            return key_pairs::session(workload, keys, &jobs, body);
        }
        evp::session::<Functions>(workload, keys, jobs, body)
    }
}
