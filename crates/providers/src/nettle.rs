//! The Nettle that is installed here, as GnuTLS uses it: contexts that the caller holds, with the CPU
//! features that it finds and with none of them.
//!
//! It reads once, when it is loaded, which features not to use; so each variant is a process of its own.

mod ffi;

use crate::context::{Context, Lengths, run};
use crate::lengths::keys_fit;
use crate::loaded::{Library, unavailable};
use crate::raw_jobs::{RawJob, RawJobs, software_supports};
use crate::{Entry, Unavailable, Variants};
use core::ffi::{CStr, c_void};
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Phase, Provider, Session, Unsupported,
};
use ffi::{AeadTable, CipherTable, HashTable};

pub(crate) const FEATURES: Entry = Entry {
    name: "nettle",
    about: "the Nettle that is installed here, with the CPU's extensions",
    environment: Vec::new,
    loads: true,
    variants: Variants::None,
    open: |_| open("nettle", "what the library finds in the CPU"),
};

pub(crate) const C: Entry = Entry {
    name: "nettle:c",
    about: "the same, every extension switched off",
    // fat-setup.h: names of features; this is none.
    environment: || vec![("NETTLE_FAT_OVERRIDE", "none")],
    loads: true,
    variants: Variants::None,
    open: |_| open("nettle:c", "NETTLE_FAT_OVERRIDE=none"),
};

struct Nettle {
    name: &'static str,
    executor: &'static str,
    version: String,
    options: String,
    library: Library,
}

fn open(
    name: &'static str,
    executor: &'static str,
) -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
    // Of Nettle 4 tables and signatures are others.
    let library = Library::open(&[c"libnettle.so.8"]).map_err(|missing| {
        unavailable(format!("no Nettle 3 (Debian's package libnettle8): {}", missing.detail))
    })?;
    let file = library.file(c"nettle_version_major").unwrap_or_else(|| "libnettle".to_owned());
    if !library.fill(ffi::SLOTS).is_empty() {
        return Err(unavailable(format!("{file} lacks functions of Nettle 3")));
    }
    // SAFETY: take nothing.
    let (major, minor) = unsafe { (ffi::nettle_version_major(), ffi::nettle_version_minor()) };
    let version = format!("{major}.{minor}");
    Ok(Box::new(Nettle { name, executor, version, options: file, library }))
}

/// What of the library's computes an algorithm.
enum Part {
    Cbc(&'static CipherTable),
    Ctr(&'static CipherTable),
    Aead(&'static AeadTable),
    Hash(&'static HashTable),
    HmacSha256(&'static HashTable),
}

impl Nettle {
    fn part(&self, algorithm: Algorithm) -> Option<Part> {
        match algorithm {
            Algorithm::Aes128Cbc => self.table(c"nettle_aes128").map(Part::Cbc),
            Algorithm::Aes192Cbc => self.table(c"nettle_aes192").map(Part::Cbc),
            Algorithm::Aes256Cbc => self.table(c"nettle_aes256").map(Part::Cbc),
            Algorithm::Aes128Ctr => self.table(c"nettle_aes128").map(Part::Ctr),
            Algorithm::Aes192Ctr => self.table(c"nettle_aes192").map(Part::Ctr),
            Algorithm::Aes256Ctr => self.table(c"nettle_aes256").map(Part::Ctr),
            Algorithm::Aes128Gcm => self.table(c"nettle_gcm_aes128").map(Part::Aead),
            Algorithm::Aes192Gcm => self.table(c"nettle_gcm_aes192").map(Part::Aead),
            Algorithm::Aes256Gcm => self.table(c"nettle_gcm_aes256").map(Part::Aead),
            Algorithm::Chacha20Poly1305 => self.table(c"nettle_chacha_poly1305").map(Part::Aead),
            Algorithm::Sha1 => self.table(c"nettle_sha1").map(Part::Hash),
            Algorithm::Sha256 => self.table(c"nettle_sha256").map(Part::Hash),
            Algorithm::Sha512 => self.table(c"nettle_sha512").map(Part::Hash),
            Algorithm::HmacSha256 => self.table(c"nettle_hmac_sha256").map(Part::HmacSha256),
            _ => None,
        }
    }

    /// The library's table called `name`, which is of type `T` by nettle-meta.h.
    fn table<T>(&self, name: &CStr) -> Option<&'static T> {
        // SAFETY: constant data of a library that is never unloaded; `part` pairs names and types.
        self.library.symbol(name).map(|table| unsafe { table.cast::<T>().as_ref() })
    }
}

impl Provider for Nettle {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: &self.version,
            executor: self.executor,
            options: &self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        let part = self.part(workload.algorithm).ok_or(Unsupported::Algorithm)?;
        // Every part of a message but the last must be whole blocks.
        let block = match part {
            Part::Ctr(table) => table.block_size,
            Part::Aead(table) => table.block_size,
            Part::Cbc(_) | Part::Hash(_) | Part::HmacSha256(_) => 1,
        };
        match workload.phase == Phase::Update && !workload.message.is_multiple_of(block) {
            true => Err(Unsupported::Length),
            false => Ok(()),
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
        let (lengths, phase) = (Lengths::of(workload), workload.phase);
        match self.part(workload.algorithm).ok_or(Unsupported::Algorithm)? {
            Part::Cbc(table) | Part::Ctr(table) => {
                let memory = Memory::new(table.context_size);
                let counts = workload.algorithm.shape().kind == Kind::StreamCipher;
                let cipher = Cipher { table, memory, iv: [0; 16], counts, lengths };
                run(cipher, phase, keys, &jobs, body)
            }
            Part::Aead(table) => {
                let memory = Memory::new(table.context_size);
                run(Aead { table, memory, lengths }, phase, keys, &jobs, body)
            }
            Part::Hash(table) => {
                let mut memory = Memory::new(table.context_size);
                // SAFETY: as long as the table says.
                unsafe { (table.init)(memory.pointer()) };
                run(Hash { table, memory, lengths }, phase, keys, &jobs, body)
            }
            Part::HmacSha256(table) => {
                let memory = Memory::new(table.context_size);
                run(HmacSha256 { memory, lengths }, phase, keys, &jobs, body)
            }
        }
    }
}

/// A context's memory, aligned as malloc would.
struct Memory(Vec<u128>);

impl Memory {
    fn new(bytes: u32) -> Memory {
        Memory(vec![0; (bytes as usize).div_ceil(size_of::<u128>())])
    }

    #[inline]
    fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

// SAFETY of all calls below: contexts are as large as the library's table says and hold a key before
// they are used; the job's pointers are valid for the session's lengths.

/// AES in CBC or CTR.
struct Cipher {
    table: &'static CipherTable,
    memory: Memory,
    iv: [u8; 16],
    counts: bool,
    lengths: Lengths,
}

impl Context for Cipher {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let set = match self.lengths.decrypts && !self.counts {
            true => self.table.set_decrypt_key,
            false => self.table.set_encrypt_key,
        };
        // SAFETY: as above; the key has the algorithm's length.
        unsafe { set(self.memory.pointer(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; an IV of AES has 16 bytes.
        unsafe { core::ptr::copy_nonoverlapping(job.iv, self.iv.as_mut_ptr(), self.iv.len()) };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, iv) = (self.memory.pointer(), self.iv.as_mut_ptr());
        let (length, output, input) = (self.lengths.message, job.output, job.input);
        let block = self.table.block_size as usize;
        // SAFETY: as above.
        unsafe {
            match (self.counts, self.lengths.decrypts) {
                (true, _) => {
                    let step = self.table.encrypt;
                    ffi::nettle_ctr_crypt(context, step, block, iv, length, output, input);
                }
                (false, false) => {
                    let step = self.table.encrypt;
                    ffi::nettle_cbc_encrypt(context, step, block, iv, length, output, input);
                }
                (false, true) => {
                    let step = self.table.decrypt;
                    ffi::nettle_cbc_decrypt(context, step, block, iv, length, output, input);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }
}

struct Aead {
    table: &'static AeadTable,
    memory: Memory,
    lengths: Lengths,
}

impl Context for Aead {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let set = match self.lengths.decrypts {
            true => self.table.set_decrypt_key,
            false => self.table.set_encrypt_key,
        };
        // SAFETY: as above; the key has the algorithm's length.
        unsafe { set(self.memory.pointer(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.memory.pointer();
        // SAFETY: as above; the nonce has the 12 bytes that both take.
        unsafe {
            (self.table.set_nonce)(context, job.iv);
            (self.table.update)(context, self.lengths.associated, job.associated);
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let crypt = if self.lengths.decrypts { self.table.decrypt } else { self.table.encrypt };
        // SAFETY: as above.
        unsafe { crypt(self.memory.pointer(), self.lengths.message, job.output, job.input) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.memory.pointer();
        let mut tag = [0; cpb_core::algorithm::MAX_TAG];
        let length = self.lengths.tag.min(tag.len());
        // SAFETY: as above; the tag has room for as many bytes as are asked for.
        unsafe {
            if !self.lengths.decrypts {
                (self.table.digest)(context, length, job.tag);
                return Ok(());
            }
            (self.table.digest)(context, length, tag.as_mut_ptr());
            match ffi::nettle_memeql_sec(tag.as_ptr().cast(), job.tag.cast(), length) {
                0 => Err(Error::Refused),
                _ => Ok(()),
            }
        }
    }
}

struct Hash {
    table: &'static HashTable,
    memory: Memory,
    lengths: Lengths,
}

impl Context for Hash {
    fn key(&mut self, _key: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // Ready since it was opened, or since the last digest.
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe { (self.table.update)(self.memory.pointer(), self.lengths.message, job.input) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; it writes the digest and begins anew.
        unsafe { (self.table.digest)(self.memory.pointer(), self.lengths.digest, job.output) };
        Ok(())
    }
}

struct HmacSha256 {
    memory: Memory,
    lengths: Lengths,
}

impl Context for HmacSha256 {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key may have any length.
        unsafe { ffi::nettle_hmac_sha256_set_key(self.memory.pointer(), key.len(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // Ready since it has its key, or since the last digest.
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.message;
        // SAFETY: as above.
        unsafe { ffi::nettle_hmac_sha256_update(self.memory.pointer(), length, job.input) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.digest;
        // SAFETY: as above; it writes the digest and begins anew with the same key.
        unsafe { ffi::nettle_hmac_sha256_digest(self.memory.pointer(), length, job.output) };
        Ok(())
    }
}
