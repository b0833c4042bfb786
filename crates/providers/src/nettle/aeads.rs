//! Sessions of authenticated ciphers.

use super::ffi::{self, AeadTable, CcmContext, CipherTable};
use cpb_core::Error;
use cpb_core::algorithm::MAX_TAG;
use cpb_session::context::{Context, Lengths, Memory};
use cpb_session::raw_jobs::RawJob;

// SAFETY of all calls below: contexts are as large as the library's table says and hold a key before
// they are used; the job's pointers are valid for the session's lengths.

/// An AEAD that the library has a table for.
pub(super) struct Aead {
    table: &'static AeadTable,
    memory: Memory,
    lengths: Lengths,
}

impl Aead {
    pub(super) fn new(table: &'static AeadTable, lengths: Lengths) -> Aead {
        Aead { table, memory: Memory::new(table.context_size), lengths }
    }
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
        // SAFETY: as above; the nonce has the 12 bytes that both AEADs take.
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
        let (context, digest) = (self.memory.pointer(), self.table.digest);
        // SAFETY: as above; `digest` writes the requested number of bytes.
        unsafe { end(job, self.lengths, |length, tag| digest(context, length, tag)) }
    }
}

/// Writes the tag, or verifies the given one.
///
/// # Safety
/// The job's tag has the length that `lengths` states, and `digest` writes the requested number of bytes.
#[inline]
unsafe fn end(
    job: &RawJob,
    lengths: Lengths,
    digest: impl FnOnce(usize, *mut u8),
) -> Result<(), Error> {
    if !lengths.decrypts {
        digest(lengths.tag, job.tag);
        return Ok(());
    }
    let mut tag = [0; MAX_TAG];
    let length = lengths.tag.min(tag.len());
    digest(length, tag.as_mut_ptr());
    // SAFETY: as promised by the caller.
    match unsafe { ffi::nettle_memeql_sec(tag.as_ptr().cast(), job.tag.cast(), length) } {
        0 => Err(Error::Refused),
        _ => Ok(()),
    }
}

/// Counter mode with CBC-MAC. The library has no table for it, because a message begins with its length.
pub(super) struct Ccm {
    table: CipherTable,
    memory: Memory,
    message: CcmContext,
    lengths: Lengths,
}

impl Ccm {
    pub(super) fn new(table: CipherTable, lengths: Lengths) -> Ccm {
        let memory = Memory::new(table.context_size);
        Ccm { table, memory, message: CcmContext::default(), lengths }
    }
}

/// Bytes of a nonce.
const NONCE: usize = 12;

impl Context for Ccm {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key has the algorithm's length.
        unsafe { (self.table.set_encrypt_key)(self.memory.pointer(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let Lengths { message: length, associated, tag, .. } = self.lengths;
        let (context, step) = (self.memory.pointer(), self.table.encrypt);
        let message = &mut self.message;
        // SAFETY: as above.
        unsafe {
            let nonce = job.iv;
            ffi::nettle_ccm_set_nonce(
                message, context, step, NONCE, nonce, associated, length, tag,
            );
            ffi::nettle_ccm_update(message, context, step, associated, job.associated);
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, step) = (self.memory.pointer(), self.table.encrypt);
        let (length, output, input) = (self.lengths.message, job.output, job.input);
        let message = &mut self.message;
        // SAFETY: as above.
        unsafe {
            match self.lengths.decrypts {
                true => ffi::nettle_ccm_decrypt(message, context, step, length, output, input),
                false => ffi::nettle_ccm_encrypt(message, context, step, length, output, input),
            }
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, step) = (self.memory.pointer(), self.table.encrypt);
        let (message, lengths) = (&mut self.message, self.lengths);
        // SAFETY: as above; `nettle_ccm_digest` writes the requested number of bytes.
        unsafe {
            end(job, lengths, |length, tag| {
                ffi::nettle_ccm_digest(message, context, step, length, tag);
            })
        }
    }
}
