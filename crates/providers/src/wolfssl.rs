//! The installed wolfSSL, through its interface for programs written for OpenSSL. There the library allocates
//! its contexts, whose layout depends on how it was built. For key pairs see `key_pairs.rs`.
//!
//! It is loaded and never linked, because its licence is the GPL. It has no switch for the CPU's extensions.

mod ffi;
mod key_pairs;

use crate::evp::{self, Evp, forward};
use crate::loaded::{Library, unavailable};
use crate::{Boxed, Implementation, Unavailable};
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::ptr;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Operation, Phase, Placement, Provider,
    Session, Unsupported,
};
use cpb_session::raw_jobs::software_supports;

pub(crate) const ENTRY: Implementation = Implementation {
    name: "wolfssl-system",
    environment: Vec::new,
    executors: None,
    open: |_| open(),
};

/// The names that the dynamic linker knows it by, newest first. Since 5.0 the number changes between versions,
/// but the functions stay.
const NAMES: [&CStr; 9] = [
    c"libwolfssl.so.44",
    c"libwolfssl.so.43",
    c"libwolfssl.so.42",
    c"libwolfssl.so.41",
    c"libwolfssl.so.40",
    c"libwolfssl.so.39",
    c"libwolfssl.so.35",
    c"libwolfssl.so.34",
    c"libwolfssl.so.30",
];

/// Every build has the first two, and a build with the interface for OpenSSL's programs has the others. Without
/// any other function, some algorithms are missing.
const NEEDED: [&CStr; 5] = [
    c"wolfSSL_Init",
    c"wolfSSL_lib_version",
    c"wolfSSL_EVP_CIPHER_CTX_new",
    c"wolfSSL_EVP_CipherInit_ex",
    c"wolfSSL_EVP_MD_CTX_new",
];

struct WolfSsl {
    version: String,
    options: String,
    /// Functions that it lacks.
    missing: Vec<&'static CStr>,
}

fn open() -> Result<Boxed, Unavailable> {
    let library = Library::open(&NAMES).map_err(|missing| {
        unavailable(format!(
            "no wolfSSL 5 (Debian's packages libwolfssl35, libwolfssl42t64): {}",
            missing.detail
        ))
    })?;
    let missing = library.fill(ffi::SLOTS);
    let file = library.file();
    if let Some(needed) = NEEDED.iter().find(|name| missing.contains(name)) {
        return Err(unavailable(format!(
            "{file} has no {}: it is not wolfSSL, or was built without its functions for OpenSSL's \
             programs (--enable-opensslextra)",
            needed.to_string_lossy()
        )));
    }
    keep_memory();
    // SAFETY: takes no arguments; called before anything else of the library.
    if unsafe { ffi::wolfSSL_Init() } != 1 {
        return Err(unavailable(format!("{file} does not initialise")));
    }
    // SAFETY: a static C string.
    let version = unsafe { CStr::from_ptr(ffi::wolfSSL_lib_version()) };
    let version = version.to_string_lossy().into_owned();
    let mut options = file;
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|name| name.to_string_lossy()).collect();
        options += &format!("; lacks {}", names.join(", "));
    }
    Ok(Box::new(WolfSsl { version, options, missing }))
}

/// Makes this process keep freed memory for later allocations. The tables of an agreement's peer (see
/// `key_pairs`) take some 800 KiB. A program whose peers are always new keeps the tables in the library, which
/// has room for many. If the memory were returned to the system and allocated again, that would cost a third of
/// each agreement.
fn keep_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: take numbers; the first one accepts at most 32 MiB.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 256 << 20);
    }
}

/// The library's functions.
struct Functions;

impl Evp for Functions {
    type Cipher = ffi::WOLFSSL_EVP_CIPHER;
    type CipherContext = ffi::WOLFSSL_EVP_CIPHER_CTX;
    type Digest = ffi::WOLFSSL_EVP_MD;
    type DigestContext = ffi::WOLFSSL_EVP_MD_CTX;
    type Hmac = ffi::WOLFSSL_HMAC_CTX;
    type Cmac = ffi::WOLFSSL_CMAC_CTX;

    fn cipher(algorithm: Algorithm) -> *const Self::Cipher {
        // SAFETY: take no arguments, and return a constant, or null if the library lacks it.
        unsafe {
            match algorithm {
                Algorithm::Aes128Cbc | Algorithm::Aes128Cmac => ffi::wolfSSL_EVP_aes_128_cbc(),
                Algorithm::Aes192Cbc => ffi::wolfSSL_EVP_aes_192_cbc(),
                Algorithm::Aes256Cbc | Algorithm::Aes256Cmac => ffi::wolfSSL_EVP_aes_256_cbc(),
                Algorithm::Aes128Ecb => ffi::wolfSSL_EVP_aes_128_ecb(),
                Algorithm::Aes192Ecb => ffi::wolfSSL_EVP_aes_192_ecb(),
                Algorithm::Aes256Ecb => ffi::wolfSSL_EVP_aes_256_ecb(),
                Algorithm::Aes128Ctr => ffi::wolfSSL_EVP_aes_128_ctr(),
                Algorithm::Aes192Ctr => ffi::wolfSSL_EVP_aes_192_ctr(),
                Algorithm::Aes256Ctr => ffi::wolfSSL_EVP_aes_256_ctr(),
                Algorithm::Aes128Xts => ffi::wolfSSL_EVP_aes_128_xts(),
                Algorithm::Aes256Xts => ffi::wolfSSL_EVP_aes_256_xts(),
                Algorithm::Aes128Gcm => ffi::wolfSSL_EVP_aes_128_gcm(),
                Algorithm::Aes192Gcm => ffi::wolfSSL_EVP_aes_192_gcm(),
                Algorithm::Aes256Gcm => ffi::wolfSSL_EVP_aes_256_gcm(),
                Algorithm::Chacha20 => ffi::wolfSSL_EVP_chacha20(),
                Algorithm::Chacha20Poly1305 => ffi::wolfSSL_EVP_chacha20_poly1305(),
                Algorithm::DesCbc => ffi::wolfSSL_EVP_des_cbc(),
                Algorithm::TripleDesCbc => ffi::wolfSSL_EVP_des_ede3_cbc(),
                Algorithm::DesEcb => ffi::wolfSSL_EVP_des_ecb(),
                Algorithm::TripleDesEcb => ffi::wolfSSL_EVP_des_ede3_ecb(),
                _ => ptr::null(),
            }
        }
    }

    fn digest(algorithm: Algorithm) -> *const Self::Digest {
        // SAFETY: as above.
        unsafe {
            match algorithm {
                Algorithm::Md5 => ffi::wolfSSL_EVP_md5(),
                Algorithm::Sha1 | Algorithm::HmacSha1 => ffi::wolfSSL_EVP_sha1(),
                Algorithm::Sha224 => ffi::wolfSSL_EVP_sha224(),
                Algorithm::Sha256 | Algorithm::HmacSha256 => ffi::wolfSSL_EVP_sha256(),
                Algorithm::Sha384 => ffi::wolfSSL_EVP_sha384(),
                Algorithm::Sha512 | Algorithm::HmacSha512 => ffi::wolfSSL_EVP_sha512(),
                Algorithm::Sha3_256 => ffi::wolfSSL_EVP_sha3_256(),
                Algorithm::Sha3_512 => ffi::wolfSSL_EVP_sha3_512(),
                _ => ptr::null(),
            }
        }
    }

    fn last_error() -> i32 {
        // SAFETY: take no arguments; the queue belongs to the thread.
        unsafe {
            let code = ffi::wolfSSL_ERR_get_error();
            ffi::wolfSSL_ERR_clear_error();
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
        let engine = ptr::null_mut();
        // SAFETY: as promised by the caller.
        unsafe { ffi::wolfSSL_EVP_CipherInit_ex(context, cipher, engine, key, iv, encrypt) }
    }

    #[inline(always)]
    unsafe fn cmac_init(
        context: *mut Self::Cmac,
        key: *const c_void,
        length: usize,
        cipher: *const Self::Cipher,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::wolfSSL_CMAC_Init(context, key, length, cipher, ptr::null_mut()) }
    }

    /// The library has no such function.
    unsafe fn cmac_reset(_context: *mut Self::Cmac) -> c_int {
        0
    }

    forward! {
        fn cipher_new() -> *mut Self::CipherContext = ffi::wolfSSL_EVP_CIPHER_CTX_new;
        fn cipher_free(context: *mut Self::CipherContext) = ffi::wolfSSL_EVP_CIPHER_CTX_free;
        fn cipher_set_padding(context: *mut Self::CipherContext, padding: c_int) -> c_int
            = ffi::wolfSSL_EVP_CIPHER_CTX_set_padding;
        fn cipher_control(
            context: *mut Self::CipherContext, what: c_int, length: c_int, value: *mut c_void
        ) -> c_int = ffi::wolfSSL_EVP_CIPHER_CTX_ctrl;
        fn cipher_update(
            context: *mut Self::CipherContext, output: *mut u8, written: *mut c_int,
            input: *const u8, length: c_int
        ) -> c_int = ffi::wolfSSL_EVP_CipherUpdate;
        fn cipher_final(
            context: *mut Self::CipherContext, output: *mut u8, written: *mut c_int
        ) -> c_int = ffi::wolfSSL_EVP_CipherFinal;
        fn digest_new() -> *mut Self::DigestContext = ffi::wolfSSL_EVP_MD_CTX_new;
        fn digest_free(context: *mut Self::DigestContext) = ffi::wolfSSL_EVP_MD_CTX_free;
        fn digest_init(context: *mut Self::DigestContext, digest: *const Self::Digest) -> c_int
            = ffi::wolfSSL_EVP_DigestInit;
        fn digest_update(
            context: *mut Self::DigestContext, input: *const c_void, length: usize
        ) -> c_int = ffi::wolfSSL_EVP_DigestUpdate;
        fn digest_final(
            context: *mut Self::DigestContext, output: *mut u8, written: *mut c_uint
        ) -> c_int = ffi::wolfSSL_EVP_DigestFinal;
        fn hmac_new() -> *mut Self::Hmac = ffi::wolfSSL_HMAC_CTX_new;
        fn hmac_free(context: *mut Self::Hmac) = ffi::wolfSSL_HMAC_CTX_free;
        fn hmac_init(
            context: *mut Self::Hmac, key: *const c_void, length: usize,
            digest: *const Self::Digest
        ) -> c_int = ffi::wolfSSL_HMAC_Init;
        fn hmac_update(context: *mut Self::Hmac, input: *const u8, length: usize) -> c_int
            = ffi::wolfSSL_HMAC_Update;
        fn hmac_final(context: *mut Self::Hmac, output: *mut u8, written: *mut c_uint) -> c_int
            = ffi::wolfSSL_HMAC_Final;
        fn cmac_new() -> *mut Self::Cmac = ffi::wolfSSL_CMAC_CTX_new;
        fn cmac_free(context: *mut Self::Cmac) = ffi::wolfSSL_CMAC_CTX_free;
        fn cmac_update(context: *mut Self::Cmac, input: *const u8, length: usize) -> c_int
            = ffi::wolfSSL_CMAC_Update;
        fn cmac_final(context: *mut Self::Cmac, output: *mut u8, written: *mut usize) -> c_int
            = ffi::wolfSSL_CMAC_Final;
    }
}

impl Provider for WolfSsl {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: ENTRY.name,
            version: &self.version,
            executor: "what the library was built with",
            options: &self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if workload.algorithm.has_key_pairs() {
            software_supports(workload)?;
            return key_pairs::supports(workload.algorithm, &self.missing);
        }
        evp::supports::<Functions>(workload)?;
        let in_place = workload.placement == Placement::InPlace;
        let whole_blocks = workload.message.is_multiple_of(16);
        match workload.algorithm {
            // Its CMAC forgets the key after each message.
            Algorithm::Aes128Cmac | Algorithm::Aes256Cmac if workload.phase == Phase::Message => {
                Err(Unsupported::Phase)
            }
            // In place, the ciphertext that the last two blocks share is wrong (5.5.4).
            Algorithm::Aes128Xts | Algorithm::Aes256Xts if in_place && !whole_blocks => {
                Err(Unsupported::Defect)
            }
            // It accepts every tag (5.5.4). A decryption that does not verify does less work than those of
            // other providers.
            Algorithm::Chacha20Poly1305 if workload.operation == Operation::Decrypt => {
                Err(Unsupported::Defect)
            }
            // Without message and associated data it makes no tag.
            Algorithm::Chacha20Poly1305 if workload.message == 0 && workload.associated == 0 => {
                match workload.phase {
                    Phase::Message | Phase::MessageWithKey => Err(Unsupported::Length),
                    Phase::Update | Phase::Setup => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        if workload.algorithm.has_key_pairs() {
            return key_pairs::session(workload, keys, jobs, body);
        }
        evp::session::<Functions>(workload, keys, jobs, body)
    }
}
