//! A C library of the user, with the four functions of `docs/own-library/cpb_library.h`: `library:FILE`.

use crate::loaded::{Library, unavailable};
use crate::{Boxed, Implementation, Unavailable};
use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;
use cpb_core::{
    CryptoWorkload, Error, Identity, Job, Kind, Phase, Progress, Provider, Session, Unsupported,
};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use std::ffi::CString;

mod ffi {
    use core::ffi::{c_char, c_int, c_void};

    /// `struct cpb_job`.
    #[repr(C)]
    pub(super) struct CJob {
        pub(super) iv: *const u8,
        pub(super) iv_length: usize,
        pub(super) associated: *const u8,
        pub(super) associated_length: usize,
        pub(super) input: *const u8,
        pub(super) input_length: usize,
        pub(super) output: *mut u8,
        pub(super) output_length: usize,
        pub(super) tag: *mut u8,
        pub(super) tag_length: usize,
    }

    crate::loaded::c_functions! { loaded as "cpb_library_":
        fn version() -> *const c_char;
        fn open(algorithm: *const c_char, operation: *const c_char, key: *const u8, length: usize) -> *mut c_void;
        fn run(session: *mut c_void, job: *const CJob) -> c_int;
        fn close(session: *mut c_void);
    }
}

pub(crate) const ENTRY: Implementation = Implementation {
    name: cpb_core::catalog::C_LIBRARY,
    environment: Vec::new,
    executors: None,
    open,
};

/// What `cpb_library_run` returns for a tag that does not verify.
const REFUSED: c_int = 1;

/// The longest key that an algorithm without key pairs has.
const ZEROS: [u8; cpb_core::algorithm::MAX_KEY] = [0; cpb_core::algorithm::MAX_KEY];

struct CLibrary {
    /// As the user named it: `library:./libmine.so`.
    name: String,
    version: String,
    file: String,
}

fn open(file: &str) -> Result<Boxed, Unavailable> {
    if file.is_empty() {
        let words = "a C library of your own; name its file, as in library:./libmine.so";
        return Err(unavailable(words.to_owned()));
    }
    // Without a slash the dynamic linker would look in the system's folders only.
    let path = if file.contains('/') { file.to_owned() } else { format!("./{file}") };
    let path = CString::new(path).map_err(|_| unavailable(format!("{file} is no file's name")))?;
    let library = Library::open(&[&path])?;
    let missing = library.fill(ffi::SLOTS);
    if !missing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|name| name.to_string_lossy()).collect();
        let missing = missing.join(", ");
        return Err(unavailable(format!(
            "{file} does not export {missing}, which docs/own-library/cpb_library.h declares"
        )));
    }
    // SAFETY: takes no arguments, and returns null or a C string.
    let version = unsafe {
        let version = ffi::version();
        (!version.is_null()).then(|| CStr::from_ptr(version).to_string_lossy().into_owned())
    };
    let name = format!("{}:{file}", cpb_core::catalog::C_LIBRARY);
    Ok(Box::new(CLibrary { name, version: version.unwrap_or_default(), file: library.file() }))
}

/// A session of the library, closed when it is dropped.
struct Open(NonNull<c_void>);

impl Open {
    /// `None` if the library does not support it.
    fn new(workload: &CryptoWorkload, key: &[u8]) -> Option<Open> {
        let algorithm = CString::new(workload.algorithm.name()).ok()?;
        let operation = CString::new(workload.operation.name()).ok()?;
        // SAFETY: two C strings, and a key of the stated length.
        let session =
            unsafe { ffi::open(algorithm.as_ptr(), operation.as_ptr(), key.as_ptr(), key.len()) };
        NonNull::new(session).map(Open)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: it is open, and not used afterwards.
        unsafe { ffi::close(self.0.as_ptr()) }
    }
}

impl Provider for CLibrary {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: &self.name,
            version: &self.version,
            executor: "the library's own code",
            options: &self.file,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        let shape = workload.algorithm.shape();
        match shape.kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher | Kind::Aead => {}
            Kind::Hash | Kind::Mac => {}
            _ => return Err(Unsupported::Algorithm),
        }
        if workload.phase != Phase::Message {
            return Err(Unsupported::Phase);
        }
        let opened = Open::new(workload, &ZEROS[..shape.key]);
        opened.map(drop).ok_or(Unsupported::Algorithm)
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
        let key = jobs.job(0).map(|job| keys.get(job.key).copied().unwrap_or_default())?;
        let session = Open::new(workload, key).ok_or(Unsupported::Algorithm)?;
        body(&mut CSession { session, described: described(workload, &jobs), jobs: &jobs })
    }
}

/// The jobs in the form that the library takes.
fn described(workload: &CryptoWorkload, jobs: &RawJobs<'_>) -> Vec<ffi::CJob> {
    let lengths = workload.lengths();
    let describe = |job: &cpb_session::raw_jobs::RawJob| ffi::CJob {
        iv: job.iv,
        iv_length: workload.algorithm.shape().iv,
        associated: job.associated,
        associated_length: lengths.associated,
        input: job.input,
        input_length: lengths.input,
        output: job.output,
        output_length: lengths.output,
        tag: job.tag,
        tag_length: lengths.tag,
    };
    jobs.all().iter().map(describe).collect()
}

struct CSession<'a> {
    session: Open,
    described: Vec<ffi::CJob>,
    jobs: &'a RawJobs<'a>,
}

impl Session for CSession<'_> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.described.get(job).ok_or(Error::Contract)?;
        // SAFETY: the session is open; the job's buffers are borrowed as long as `jobs`, and have the stated
        // lengths.
        match unsafe { ffi::run(self.session.0.as_ptr(), job) } {
            0 => Ok(Progress::Done),
            REFUSED => Err(Error::Refused),
            code => Err(Error::Device(code)),
        }
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
