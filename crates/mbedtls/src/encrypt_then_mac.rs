//! Encrypt-then-MAC by two functions of the library: CBC, then HMAC over associated data, IV and ciphertext.

use crate::ciphers::{Aes, Cbc};
use crate::types::*;
use crate::{Held, Linked, Sha, macs, succeeded};
use cpb_core::algorithm::MAX_TAG;
use cpb_core::{CryptoWorkload, Error};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

/// Bytes of AES's key, which comes first.
const CIPHER_KEY: usize = 16;

/// AES-128-CBC, then HMAC.
pub struct EncryptThenMac<L: Linked> {
    cipher: Cbc<L, Aes>,
    mac: Held<L, MdContext>,
    /// Whether setting the key has begun a message.
    begun: bool,
    iv: usize,
    lengths: Lengths,
}

impl<L: Linked> EncryptThenMac<L> {
    /// Creates both for a workload.
    ///
    /// # Errors
    /// Returns an error if the library was built without the digest.
    pub fn open(digest: Sha, workload: &CryptoWorkload) -> Result<Self, Error> {
        Ok(EncryptThenMac {
            cipher: Cbc::open(workload),
            mac: macs::hmac(digest)?,
            begun: false,
            iv: workload.algorithm.shape().iv,
            lengths: Lengths::of(workload),
        })
    }

    /// The MAC of a job whose ciphertext is at `ciphertext`.
    #[inline]
    fn mac(&mut self, job: &RawJob, ciphertext: *const u8) -> Result<[u8; MAX_TAG], Error> {
        let (context, Lengths { message, associated, .. }) = (self.mac.get(), self.lengths);
        let mut mac = [0; MAX_TAG];
        // SAFETY: see the crate documentation; no MAC is longer than the array.
        unsafe {
            if !core::mem::take(&mut self.begun) {
                succeeded(L::md_hmac_reset(context))?;
            }
            succeeded(L::md_hmac_update(context, job.associated, associated))?;
            succeeded(L::md_hmac_update(context, job.iv, self.iv))?;
            succeeded(L::md_hmac_update(context, ciphertext, message))?;
            succeeded(L::md_hmac_finish(context, mac.as_mut_ptr()))?;
        }
        Ok(mac)
    }
}

impl<L: Linked> Context for EncryptThenMac<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (cipher, mac) = key.split_at(CIPHER_KEY);
        self.cipher.key(cipher)?;
        self.begun = true;
        // SAFETY: see the crate documentation; the key may have any length.
        succeeded(unsafe { L::md_hmac_starts(self.mac.get(), mac.as_ptr(), mac.len()) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        self.cipher.begin(job)
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let tag = self.lengths.tag;
        if self.lengths.decrypts {
            let mac = self.mac(job, job.input)?;
            // SAFETY: see the crate documentation.
            let claimed = unsafe { core::slice::from_raw_parts(job.tag, tag) };
            // Every byte is compared, whichever is the first that differs.
            let differs = mac.iter().zip(claimed).fold(0, |bits, (a, b)| bits | (a ^ b));
            if differs != 0 {
                return Err(Error::Refused);
            }
            return self.cipher.part(job);
        }
        self.cipher.part(job)?;
        let mac = self.mac(job, job.output)?;
        // SAFETY: see the crate documentation.
        unsafe { job.tag.copy_from_nonoverlapping(mac.as_ptr(), tag) };
        Ok(())
    }
}
