//! A runner for `bench/peers.py`: the system's libgcrypt behind cpb's contract, by the calls that libgcrypt's own
//! bench-slope makes. The library is opened when it runs, so nothing of it is needed to build this.

use cpb_core::{
    Algorithm, CryptoWorkload, Dispatch, Error, Identity, Job, KeyUse, Operation, Phase, Progress,
    Provider, Session, Unsupported,
};
use cpb_providers::Unavailable;
use cpb_runner::{Arguments, Offer};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::io;
use std::process::ExitCode;
use std::ptr::{null, null_mut};

const NAME: &str = "libgcrypt";
/// The library's name since 1.6.
const LIBRARY: &CStr = c"libgcrypt.so.20";

// gcrypt.h
const RESET: c_int = 4;
const FINALIZE: c_int = 5;
const DISABLE_SECMEM: c_int = 37;
const INITIALIZATION_FINISHED: c_int = 38;

type Handle = *mut c_void;

/// The functions of gcrypt.h, by their types there.
macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(library: *mut c_void) -> Result<Functions, Unavailable> {
                Ok(Functions {
                    $($name: {
                        let address = symbol(library, $symbol)?;
                        // SAFETY: the function's address, with the type that gcrypt.h gives it.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    cipher_open = c"gcry_cipher_open": fn(*mut Handle, c_int, c_int, c_uint) -> c_uint;
    cipher_close = c"gcry_cipher_close": fn(Handle);
    cipher_ctl = c"gcry_cipher_ctl": fn(Handle, c_int, *mut c_void, usize) -> c_uint;
    cipher_setkey = c"gcry_cipher_setkey": fn(Handle, *const c_void, usize) -> c_uint;
    cipher_setiv = c"gcry_cipher_setiv": fn(Handle, *const c_void, usize) -> c_uint;
    cipher_setctr = c"gcry_cipher_setctr": fn(Handle, *const c_void, usize) -> c_uint;
    cipher_encrypt = c"gcry_cipher_encrypt":
        fn(Handle, *mut c_void, usize, *const c_void, usize) -> c_uint;
    cipher_gettag = c"gcry_cipher_gettag": fn(Handle, *mut c_void, usize) -> c_uint;
    md_open = c"gcry_md_open": fn(*mut Handle, c_int, c_uint) -> c_uint;
    md_close = c"gcry_md_close": fn(Handle);
    md_reset = c"gcry_md_reset": fn(Handle);
    md_write = c"gcry_md_write": fn(Handle, *const c_void, usize);
    md_read = c"gcry_md_read": fn(Handle, c_int) -> *const u8;
    check_version = c"gcry_check_version": fn(*const c_char) -> *const c_char;
}

fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, Unavailable> {
    // SAFETY: a library that is open, and a name that ends with a zero.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    match address.is_null() {
        true => Err(missing(format!("{LIBRARY:?} has no {name:?}"))),
        false => Ok(address),
    }
}

struct Library {
    functions: Functions,
    version: &'static str,
}

impl Library {
    fn open() -> Result<Library, Unavailable> {
        // SAFETY: a name that ends with a zero; its initialisers are libgcrypt's.
        let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err(missing(format!("{LIBRARY:?} is not installed (libgcrypt20)")));
        }
        let functions = Functions::find(library)?;
        let control = symbol(library, c"gcry_control")?;
        // SAFETY: gcry_control's type in gcrypt.h; the calls are in the order of the manual (Initializing the
        // library); the version is a constant of the library, which is never closed.
        let version = unsafe {
            let control = std::mem::transmute::<
                *mut c_void,
                unsafe extern "C" fn(c_int, ...) -> c_uint,
            >(control);
            let version = CStr::from_ptr((functions.check_version)(null()));
            control(DISABLE_SECMEM, 0 as c_int);
            control(INITIALIZATION_FINISHED, 0 as c_int);
            version
        };
        Ok(Library { functions, version: version.to_str().unwrap_or_default() })
    }
}

fn missing(detail: String) -> Unavailable {
    Unavailable { reason: Unsupported::Device, detail }
}

fn main() -> ExitCode {
    let run = |arguments: &Arguments| {
        let offers = || Ok::<_, io::Error>(vec![offer()]);
        cpb_runner::run_offers(offers, arguments.place()).map_err(|error| error.to_string())
    };
    match Arguments::parse(std::env::args_os().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("libgcrypt: {problem}");
            ExitCode::from(2)
        }
    }
}

fn offer() -> Offer {
    let open = Library::open();
    let provider = open.map(|library| -> Box<dyn Provider + Send + Sync> { Box::new(library) });
    Offer { name: NAME.to_owned(), provider }
}

/// What gcrypt.h calls an algorithm.
enum What {
    /// Algorithm and mode.
    Cipher(c_int, c_int),
    Hash(c_int),
}

const CTR: c_int = 6;

fn what(workload: &CryptoWorkload) -> Option<What> {
    match (workload.algorithm, workload.operation) {
        (Algorithm::Aes256Cbc, Operation::Encrypt) => Some(What::Cipher(9, 3)),
        (Algorithm::Aes256Ctr, Operation::Encrypt) => Some(What::Cipher(9, CTR)),
        (Algorithm::Aes256Gcm, Operation::Encrypt) => Some(What::Cipher(9, 9)),
        (Algorithm::Chacha20Poly1305, Operation::Encrypt) => Some(What::Cipher(316, 10)),
        (Algorithm::Sha256, Operation::Hash) => Some(What::Hash(8)),
        (Algorithm::Sha512, Operation::Hash) => Some(What::Hash(10)),
        _ => None,
    }
}

impl Provider for Library {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: NAME, version: self.version, executor: NAME, options: "the system's" }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()?;
        what(workload).ok_or(Unsupported::Algorithm)?;
        let plain = workload.dispatch == Dispatch::SERIAL && workload.keys == KeyUse::Reused;
        if workload.phase != Phase::Message || workload.associated > 0 {
            return Err(Unsupported::Phase);
        }
        if plain { Ok(()) } else { Err(Unsupported::Mode) }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        match what(workload).ok_or(Unsupported::Algorithm)? {
            What::Cipher(algorithm, mode) => {
                let key = keys.first().ok_or(Error::Contract)?;
                body(&mut Cipher::open(&self.functions, algorithm, mode, key, jobs)?)
            }
            What::Hash(algorithm) => body(&mut Hash::open(&self.functions, algorithm, jobs)?),
        }
    }
}

/// gpg_error_t: 0 is none, the code is in the lower half.
fn succeeded(error: c_uint) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(Error::Device((error & 0xffff) as i32)) }
}

struct Cipher<'a, 'b> {
    library: &'a Functions,
    handle: Handle,
    mode: c_int,
    jobs: &'a mut [Job<'b>],
}

impl<'a, 'b> Cipher<'a, 'b> {
    fn open(
        library: &'a Functions,
        algorithm: c_int,
        mode: c_int,
        key: &[u8],
        jobs: &'a mut [Job<'b>],
    ) -> Result<Self, Error> {
        let mut handle = null_mut();
        // SAFETY: room for a handle.
        succeeded(unsafe { (library.cipher_open)(&mut handle, algorithm, mode, 0) })?;
        let cipher = Cipher { library, handle, mode, jobs };
        // SAFETY: an open handle, and a key with its length.
        succeeded(unsafe { (library.cipher_setkey)(handle, key.as_ptr().cast(), key.len()) })?;
        Ok(cipher)
    }
}

impl Session for Cipher<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let (library, handle) = (self.library, self.handle);
        let job = self.jobs.get_mut(job).ok_or(Error::Contract)?;
        let length = job.data.output().len();
        let (input, output) = job.data.pointers();
        let iv = job.iv.as_ptr().cast();
        // SAFETY: an open handle; the message and its output have one length in all of these modes, both are valid
        // for it, and they are one buffer or do not overlap.
        unsafe {
            succeeded((library.cipher_ctl)(handle, RESET, null_mut(), 0))?;
            let set = if self.mode == CTR { library.cipher_setctr } else { library.cipher_setiv };
            succeeded(set(handle, iv, job.iv.len()))?;
            if !job.tag.is_empty() {
                succeeded((library.cipher_ctl)(handle, FINALIZE, null_mut(), 0))?;
            }
            let (input, output) = (input.cast(), output.cast());
            succeeded((library.cipher_encrypt)(handle, output, length, input, length))?;
            if !job.tag.is_empty() {
                let tag = job.tag.as_mut_ptr().cast();
                succeeded((library.cipher_gettag)(handle, tag, job.tag.len()))?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.get(job).map(|job| job.data.output())
    }
}

impl Drop for Cipher<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: an open handle, closed once.
        unsafe { (self.library.cipher_close)(self.handle) };
    }
}

struct Hash<'a, 'b> {
    library: &'a Functions,
    handle: Handle,
    jobs: &'a mut [Job<'b>],
}

impl<'a, 'b> Hash<'a, 'b> {
    fn open(
        library: &'a Functions,
        algorithm: c_int,
        jobs: &'a mut [Job<'b>],
    ) -> Result<Self, Error> {
        let mut handle = null_mut();
        // SAFETY: room for a handle.
        succeeded(unsafe { (library.md_open)(&mut handle, algorithm, 0) })?;
        Ok(Hash { library, handle, jobs })
    }
}

impl Session for Hash<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.get_mut(job).ok_or(Error::Contract)?;
        let cpb_core::Data::Apart { input, output } = &mut job.data else {
            return Err(Error::Contract);
        };
        // SAFETY: an open handle, and a message with its length; what is read has the length of the algorithm's
        // digest, which is that of the output, and stays until the handle is used again.
        unsafe {
            (self.library.md_reset)(self.handle);
            (self.library.md_write)(self.handle, input.as_ptr().cast(), input.len());
            let digest = (self.library.md_read)(self.handle, 0);
            if digest.is_null() {
                return Err(Error::Device(0));
            }
            output.copy_from_slice(std::slice::from_raw_parts(digest, output.len()));
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.get(job).map(|job| job.data.output())
    }
}

impl Drop for Hash<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: an open handle, closed once.
        unsafe { (self.library.md_close)(self.handle) };
    }
}
