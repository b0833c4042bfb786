//! The installed libgcrypt, with the CPU features that it finds and with none of them.
//!
//! It is told only once, before it initialises, which features not to use. So each variant needs its own
//! process.

mod cipher;
mod digest;
mod expression;
mod ffi;
mod key_pairs;
mod mac;

use crate::loaded::{Library, unavailable};
use crate::{Boxed, Implementation, Unavailable};
use cipher::{CCM, CTR, Cipher};
use core::ffi::{CStr, c_int, c_uint};
use core::ptr;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Operation, Provider, Session, Unsupported,
};
use cpb_session::context::{Lengths, run};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use digest::Digest;
use mac::Mac;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

pub(crate) const FEATURES: Implementation = Implementation {
    name: "libgcrypt",
    environment: Vec::new,
    executors: None,
    open: |_| open("libgcrypt", false),
};

pub(crate) const C: Implementation = Implementation {
    name: "libgcrypt:c",
    environment: Vec::new,
    executors: None,
    open: |_| open("libgcrypt:c", true),
};

/// The oldest version that has everything the provider requires.
const OLDEST: &CStr = c"1.8.0";

struct Libgcrypt {
    name: &'static str,
    version: String,
    executor: String,
    options: String,
    /// Whether it is limited to what FIPS 140 approves, because the system says so.
    fips: bool,
}

/// Whether this process's libgcrypt was told to use no CPU features. It can be told only once.
static PLAIN: OnceLock<bool> = OnceLock::new();

/// The library's secure memory, in which it computes with secrets. It is set up once, large enough for many
/// threads; memory that is not used costs nothing. In FIPS mode it cannot grow, and the library would end the
/// process. It is not locked, which few systems allow, and the library does not drop privileges for it.
static SECURE_MEMORY: Once = Once::new();
const SECURE_BYTES: c_uint = 16 << 20;

/// Held while the library is started.
static START: Mutex<()> = Mutex::new(());

fn open(name: &'static str, plain: bool) -> Result<Boxed, Unavailable> {
    let library = Library::open(&[c"libgcrypt.so.20"]).map_err(|missing| {
        unavailable(format!("no libgcrypt (Debian's package libgcrypt20): {}", missing.detail))
    })?;
    let file = library.file();
    let control = library.symbol(c"gcry_control");
    let (Some(control), []) = (control, library.fill(ffi::SLOTS).as_slice()) else {
        return Err(unavailable(format!("{file} lacks functions of libgcrypt 1.8")));
    };
    if *PLAIN.get_or_init(|| plain) != plain {
        let detail = "the extensions of libgcrypt can be selected only once per process";
        return Err(unavailable(detail.to_owned()));
    }
    // A function that the library lacks returns 0 when it is called.
    library.fill(ffi::since_1_9::SLOTS);
    // While one thread starts the library, it tells another one that FIPS mode is on.
    let _starting = START.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the library's `gcry_control`, with the arguments that gcrypt.h names for each command. The
    // features are switched off before `gcry_check_version` starts the library.
    let (version, fips) = unsafe {
        let control: ffi::ControlFunction = core::mem::transmute(control.as_ptr());
        if plain {
            control(ffi::GCRYCTL_DISABLE_HWF, c"all".as_ptr(), ptr::null::<u8>());
        }
        let version = ffi::gcry_check_version(OLDEST.as_ptr());
        if version.is_null() {
            let oldest = OLDEST.to_string_lossy();
            return Err(unavailable(format!("{file} is older than libgcrypt {oldest}")));
        }
        SECURE_MEMORY.call_once(|| {
            control(ffi::GCRYCTL_DISABLE_SECMEM_WARN, 0 as c_int);
            control(ffi::GCRYCTL_DISABLE_LOCKED_SECMEM, 0 as c_int);
            control(ffi::GCRYCTL_DISABLE_PRIV_DROP, 0 as c_int);
            control(ffi::GCRYCTL_INIT_SECMEM, SECURE_BYTES);
        });
        control(ffi::GCRYCTL_INITIALIZATION_FINISHED, 0 as c_int);
        let fips = control(ffi::GCRYCTL_FIPS_MODE_P, 0 as c_int) != 0;
        (CStr::from_ptr(version).to_string_lossy().into_owned(), fips)
    };
    let executor = match configuration(c"hwflist").as_str() {
        "" => "plain C".to_owned(),
        features => features.to_owned(),
    };
    let mode = if fips { "; FIPS mode" } else { "" };
    let options = format!("{file}; {}{mode}", configuration(c"cc"));
    Ok(Box::new(Libgcrypt { name, version, executor, options, fips }))
}

/// The library's configuration of `part`, which it reports as `part:value:value:`.
fn configuration(part: &CStr) -> String {
    // SAFETY: returns null or a C string that we must free.
    let text = unsafe {
        let text = ffi::gcry_get_config(0, part.as_ptr());
        if text.is_null() {
            return String::new();
        }
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        ffi::gcry_free(text.cast());
        copy
    };
    let name = part.to_string_lossy();
    let values = text.trim().strip_prefix(name.as_ref()).unwrap_or(&text);
    values.trim_matches(':').replace(':', " ")
}

/// The library's numbers: of a cipher and its mode, of a digest, or of a MAC.
enum AlgorithmNumber {
    Cipher(c_int, c_int),
    Digest(c_int, c_uint),
    Mac(c_int),
}

const GCM: c_int = 9;

/// gcrypt.h: `GCRY_CIPHER_*`, `GCRY_CIPHER_MODE_*`, `GCRY_MD_*`, `GCRY_MAC_*`.
fn number(algorithm: Algorithm) -> Option<AlgorithmNumber> {
    const AES: [c_int; 3] = [7, 8, 9];
    const CHACHA20: c_int = 316;
    const ECB: c_int = 1;
    const CBC: c_int = 3;
    const STREAM: c_int = 4;
    const POLY1305: c_int = 10;
    const XTS: c_int = 13;
    const CMAC: c_int = 201;
    Some(match algorithm {
        Algorithm::Aes128Cbc => AlgorithmNumber::Cipher(AES[0], CBC),
        Algorithm::Aes192Cbc => AlgorithmNumber::Cipher(AES[1], CBC),
        Algorithm::Aes256Cbc => AlgorithmNumber::Cipher(AES[2], CBC),
        Algorithm::Aes128Ecb => AlgorithmNumber::Cipher(AES[0], ECB),
        Algorithm::Aes192Ecb => AlgorithmNumber::Cipher(AES[1], ECB),
        Algorithm::Aes256Ecb => AlgorithmNumber::Cipher(AES[2], ECB),
        Algorithm::Aes128Ctr => AlgorithmNumber::Cipher(AES[0], CTR),
        Algorithm::Aes192Ctr => AlgorithmNumber::Cipher(AES[1], CTR),
        Algorithm::Aes256Ctr => AlgorithmNumber::Cipher(AES[2], CTR),
        Algorithm::Aes128Xts => AlgorithmNumber::Cipher(AES[0], XTS),
        Algorithm::Aes256Xts => AlgorithmNumber::Cipher(AES[2], XTS),
        Algorithm::Aes128Gcm => AlgorithmNumber::Cipher(AES[0], GCM),
        Algorithm::Aes192Gcm => AlgorithmNumber::Cipher(AES[1], GCM),
        Algorithm::Aes256Gcm => AlgorithmNumber::Cipher(AES[2], GCM),
        Algorithm::Aes128Ccm => AlgorithmNumber::Cipher(AES[0], CCM),
        Algorithm::Aes192Ccm => AlgorithmNumber::Cipher(AES[1], CCM),
        Algorithm::Aes256Ccm => AlgorithmNumber::Cipher(AES[2], CCM),
        Algorithm::Chacha20Poly1305 => AlgorithmNumber::Cipher(CHACHA20, POLY1305),
        Algorithm::Chacha20 => AlgorithmNumber::Cipher(CHACHA20, STREAM),
        Algorithm::Camellia256Cbc => AlgorithmNumber::Cipher(312, CBC),
        Algorithm::TripleDesCbc => AlgorithmNumber::Cipher(2, CBC),
        Algorithm::DesCbc => AlgorithmNumber::Cipher(302, CBC),
        Algorithm::TripleDesEcb => AlgorithmNumber::Cipher(2, ECB),
        Algorithm::DesEcb => AlgorithmNumber::Cipher(302, ECB),
        Algorithm::Md5 => AlgorithmNumber::Digest(1, 0),
        Algorithm::Sha1 => AlgorithmNumber::Digest(2, 0),
        Algorithm::Sha224 => AlgorithmNumber::Digest(11, 0),
        Algorithm::Sha256 => AlgorithmNumber::Digest(8, 0),
        Algorithm::Sha384 => AlgorithmNumber::Digest(9, 0),
        Algorithm::Sha512 => AlgorithmNumber::Digest(10, 0),
        Algorithm::Sha3_256 => AlgorithmNumber::Digest(313, 0),
        Algorithm::Sha3_512 => AlgorithmNumber::Digest(315, 0),
        Algorithm::HmacSha1 => AlgorithmNumber::Digest(2, ffi::GCRY_MD_FLAG_HMAC),
        Algorithm::HmacSha256 => AlgorithmNumber::Digest(8, ffi::GCRY_MD_FLAG_HMAC),
        Algorithm::HmacSha512 => AlgorithmNumber::Digest(10, ffi::GCRY_MD_FLAG_HMAC),
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => AlgorithmNumber::Mac(CMAC),
        Algorithm::Poly1305 => AlgorithmNumber::Mac(501),
        // It has one generator for each process, whose entropy cannot be given.
        _ => return None,
    })
}

impl AlgorithmNumber {
    /// The mode, if it is a cipher.
    fn mode(&self) -> Option<c_int> {
        match *self {
            AlgorithmNumber::Cipher(_, mode) => Some(mode),
            _ => None,
        }
    }

    /// Whether this library has it, as it was built and as this system allows it.
    fn is_there(&self) -> bool {
        let (nothing, test) = (ptr::null_mut(), ffi::GCRYCTL_TEST_ALGO);
        // SAFETY: gcrypt.h: for this query both pointers are null.
        let status = unsafe {
            match *self {
                AlgorithmNumber::Cipher(cipher, _) => {
                    ffi::gcry_cipher_algo_info(cipher, test, nothing, ptr::null_mut())
                }
                AlgorithmNumber::Digest(digest, _) => {
                    ffi::gcry_md_algo_info(digest, test, nothing, ptr::null_mut())
                }
                AlgorithmNumber::Mac(mac) => {
                    ffi::gcry_mac_algo_info(mac, test, nothing, ptr::null_mut())
                }
            }
        };
        status == 0
    }
}

impl Provider for Libgcrypt {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: &self.version,
            executor: &self.executor,
            options: &self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if key_pairs::has(workload.algorithm) {
            return key_pairs::supports(workload, self.fips);
        }
        let number = number(workload.algorithm).ok_or(Unsupported::Algorithm)?;
        let encrypts = workload.operation == Operation::Encrypt;
        match number.is_there() {
            // In FIPS mode the library makes GCM's IV itself, and accepts one only for decryption.
            true if self.fips && encrypts && number.mode() == Some(GCM) => Err(Unsupported::Policy),
            true => software_supports(workload),
            false if self.fips => Err(Unsupported::Policy),
            false => Err(Unsupported::BuildOption),
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
        keys_fit(workload.algorithm, keys)?;
        let jobs = RawJobs::new(workload, keys, jobs)?;
        if key_pairs::has(workload.algorithm) {
            return key_pairs::session(workload, keys, &jobs, body);
        }
        let lengths = Lengths::of(workload);
        match number(workload.algorithm).ok_or(Unsupported::Algorithm)? {
            AlgorithmNumber::Cipher(cipher, mode) => {
                run(Cipher::open(cipher, mode, workload)?, workload, keys, &jobs, body)
            }
            AlgorithmNumber::Digest(digest, flags) => {
                run(Digest::open(digest, flags, lengths)?, workload, keys, &jobs, body)
            }
            AlgorithmNumber::Mac(mac) => run(Mac::open(mac, lengths)?, workload, keys, &jobs, body),
        }
    }
}

/// 0 is success; the low 16 bits are the code.
#[inline]
fn succeeded(status: c_uint) -> Result<(), Error> {
    match status & 0xffff {
        0 => Ok(()),
        ffi::GPG_ERR_CHECKSUM => Err(Error::Refused),
        code => Err(Error::Device(code as i32)),
    }
}
