//! The libgcrypt that is installed here, with the CPU features that it finds and with none of them.
//!
//! It is told once, before it initialises, which features not to use; so each variant is a process of
//! its own.

mod ffi;

use crate::context::{Context, Lengths, run};
use crate::lengths::keys_fit;
use crate::loaded::{Library, unavailable};
use crate::raw_jobs::{RawJob, RawJobs, software_supports};
use crate::{Entry, Unavailable, Variants};
use core::ffi::{CStr, c_int, c_uint};
use core::ptr;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Provider, Session, Unsupported,
};
use std::sync::OnceLock;

pub(crate) const FEATURES: Entry = Entry {
    name: "libgcrypt",
    about: "the libgcrypt that is installed here, with the CPU's extensions",
    environment: Vec::new,
    loads: true,
    variants: Variants::None,
    open: |_| open("libgcrypt", false),
};

pub(crate) const C: Entry = Entry {
    name: "libgcrypt:c",
    about: "the same, every extension switched off",
    environment: Vec::new,
    loads: true,
    variants: Variants::None,
    open: |_| open("libgcrypt:c", true),
};

/// The oldest that has all that is asked of it here.
const OLDEST: &CStr = c"1.8.0";

struct Libgcrypt {
    name: &'static str,
    version: String,
    executor: String,
    options: String,
}

/// Whether this process's libgcrypt was told to do without features: it hears that once.
static PLAIN: OnceLock<bool> = OnceLock::new();

fn open(name: &'static str, plain: bool) -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
    let library = Library::open(&[c"libgcrypt.so.20"]).map_err(|missing| {
        unavailable(format!("no libgcrypt (Debian's package libgcrypt20): {}", missing.detail))
    })?;
    let file = library.file(c"gcry_check_version").unwrap_or_else(|| "libgcrypt".to_owned());
    let control = library.symbol(c"gcry_control");
    let (Some(control), []) = (control, library.fill(ffi::SLOTS).as_slice()) else {
        return Err(unavailable(format!("{file} lacks functions of libgcrypt 1.8")));
    };
    if *PLAIN.get_or_init(|| plain) != plain {
        let detail = "libgcrypt is told once a process which extensions to use";
        return Err(unavailable(detail.to_owned()));
    }
    // SAFETY: the library's `gcry_control`; arguments are those that gcrypt.h names for each command;
    // the features are switched off before the library starts, by `gcry_check_version`.
    let version = unsafe {
        let control: ffi::Control = core::mem::transmute(control.as_ptr());
        if plain {
            control(ffi::GCRYCTL_DISABLE_HWF, c"all".as_ptr(), ptr::null::<u8>());
        }
        let version = ffi::gcry_check_version(OLDEST.as_ptr());
        if version.is_null() {
            let oldest = OLDEST.to_string_lossy();
            return Err(unavailable(format!("{file} is older than libgcrypt {oldest}")));
        }
        control(ffi::GCRYCTL_INITIALIZATION_FINISHED, 0 as c_int);
        CStr::from_ptr(version).to_string_lossy().into_owned()
    };
    let executor = match configuration(c"hwflist").as_str() {
        "" => "plain C".to_owned(),
        features => features.to_owned(),
    };
    let options = format!("{file}; {}", configuration(c"cc"));
    Ok(Box::new(Libgcrypt { name, version, executor, options }))
}

/// What the library says of its `part`: `part:value:value:`.
fn configuration(part: &CStr) -> String {
    // SAFETY: gives null or a C string that is ours to free.
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

/// The library's numbers: of a cipher and its mode, or of a digest.
enum Number {
    Cipher(c_int, c_int),
    Digest(c_int, c_uint),
}

/// gcrypt.h: `GCRY_CIPHER_*`, `GCRY_CIPHER_MODE_*`, `GCRY_MD_*`.
fn number(algorithm: Algorithm) -> Option<Number> {
    const AES: [c_int; 3] = [7, 8, 9];
    const CBC: c_int = 3;
    const CTR: c_int = 6;
    const GCM: c_int = 9;
    const POLY1305: c_int = 10;
    Some(match algorithm {
        Algorithm::Aes128Cbc => Number::Cipher(AES[0], CBC),
        Algorithm::Aes192Cbc => Number::Cipher(AES[1], CBC),
        Algorithm::Aes256Cbc => Number::Cipher(AES[2], CBC),
        Algorithm::Aes128Ctr => Number::Cipher(AES[0], CTR),
        Algorithm::Aes192Ctr => Number::Cipher(AES[1], CTR),
        Algorithm::Aes256Ctr => Number::Cipher(AES[2], CTR),
        Algorithm::Aes128Gcm => Number::Cipher(AES[0], GCM),
        Algorithm::Aes192Gcm => Number::Cipher(AES[1], GCM),
        Algorithm::Aes256Gcm => Number::Cipher(AES[2], GCM),
        Algorithm::Chacha20Poly1305 => Number::Cipher(316, POLY1305),
        Algorithm::Sha1 => Number::Digest(2, 0),
        Algorithm::Sha256 => Number::Digest(8, 0),
        Algorithm::Sha512 => Number::Digest(10, 0),
        Algorithm::HmacSha256 => Number::Digest(8, ffi::GCRY_MD_FLAG_HMAC),
        _ => return None,
    })
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
        software_supports(workload)?;
        number(workload.algorithm).map(|_| ()).ok_or(Unsupported::Algorithm)
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
        let lengths = Lengths::of(workload);
        match number(workload.algorithm).ok_or(Unsupported::Algorithm)? {
            Number::Cipher(cipher, mode) => {
                let counts = workload.algorithm.shape().kind == Kind::StreamCipher;
                run(Cipher::open(cipher, mode, counts, lengths)?, workload.phase, keys, &jobs, body)
            }
            Number::Digest(digest, flags) => {
                run(Digest::open(digest, flags, lengths)?, workload.phase, keys, &jobs, body)
            }
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

struct Cipher {
    handle: *mut ffi::gcry_cipher_handle,
    counts: bool,
    iv: usize,
    lengths: Lengths,
}

impl Cipher {
    fn open(cipher: c_int, mode: c_int, counts: bool, lengths: Lengths) -> Result<Cipher, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written, or stays null where the library has no such cipher.
        let status = unsafe { ffi::gcry_cipher_open(&mut handle, cipher, mode, 0) };
        if status != 0 || handle.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        let iv = if lengths.tag > 0 { 12 } else { 16 };
        Ok(Cipher { handle, counts, iv, lengths })
    }
}

// SAFETY of all calls below: the handle is live; the job's pointers are valid for the session's lengths.
impl Context for Cipher {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key is read during the call.
        succeeded(unsafe { ffi::gcry_cipher_setkey(self.handle, key.as_ptr(), key.len()) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe {
            if self.counts {
                return succeeded(ffi::gcry_cipher_setctr(self.handle, job.iv, self.iv));
            }
            succeeded(ffi::gcry_cipher_setiv(self.handle, job.iv, self.iv))?;
            if self.lengths.associated == 0 {
                return Ok(());
            }
            let length = self.lengths.associated;
            succeeded(ffi::gcry_cipher_authenticate(self.handle, job.associated, length))
        }
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.message;
        // No input stands for the output's own bytes.
        let apart = !ptr::eq(job.input, job.output);
        let (input, there) = if apart { (job.input, length) } else { (ptr::null(), 0) };
        if length == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => ffi::gcry_cipher_decrypt(self.handle, job.output, length, input, there),
                false => ffi::gcry_cipher_encrypt(self.handle, job.output, length, input, there),
            }
        })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.tag;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => ffi::gcry_cipher_checktag(self.handle, job.tag, length),
                false => ffi::gcry_cipher_gettag(self.handle, job.tag, length),
            }
        })
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more.
        unsafe { ffi::gcry_cipher_close(self.handle) };
    }
}

struct Digest {
    handle: *mut ffi::gcry_md_handle,
    lengths: Lengths,
}

impl Digest {
    fn open(digest: c_int, flags: c_uint, lengths: Lengths) -> Result<Digest, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is written, or stays null where the library has no such digest.
        let status = unsafe { ffi::gcry_md_open(&mut handle, digest, flags) };
        if status != 0 || handle.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        Ok(Digest { handle, lengths })
    }
}

impl Context for Digest {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        if key.is_empty() {
            return Ok(());
        }
        // SAFETY: as above; the key is read during the call.
        succeeded(unsafe { ffi::gcry_md_setkey(self.handle, key.as_ptr(), key.len()) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above. A key stays.
        unsafe { ffi::gcry_md_reset(self.handle) };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe { ffi::gcry_md_write(self.handle, job.input, self.lengths.message) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; 0 stands for the only digest that was opened, and the result is as long as
        // that digest, which is the output's length.
        unsafe {
            let digest = ffi::gcry_md_read(self.handle, 0);
            if digest.is_null() {
                return Err(Error::Device(0));
            }
            ptr::copy_nonoverlapping(digest, job.output, self.lengths.digest);
        }
        Ok(())
    }
}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more.
        unsafe { ffi::gcry_md_close(self.handle) };
    }
}
