//! Sessions of hash functions and message authentication codes.

use super::{Keyed, input, no_length};
use aes::cipher::{Array, KeyInit};
use cpb_core::Error;
use cpb_core::algorithm::MAX_DIGEST;
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;
use poly1305::Poly1305;
use poly1305::universal_hash::UniversalHash;
use sha2::Digest;
use sha2::digest::FixedOutputReset;

/// Writes a digest.
#[inline]
fn give(digest: &[u8], job: &RawJob) {
    debug_assert!(digest.len() <= MAX_DIGEST);
    // SAFETY: the output of a hash or MAC is as long as its digest.
    unsafe { digest.as_ptr().copy_to_nonoverlapping(job.output, digest.len()) };
}

pub(super) struct Hash<D> {
    digest: D,
    lengths: Lengths,
}

impl<D: Digest + FixedOutputReset> Keyed for Hash<D> {
    fn new(_key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Hash { digest: D::new(), lengths })
    }
}

impl<D: Digest + FixedOutputReset> Context for Hash<D> {
    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        Digest::update(&mut self.digest, input(job, &self.lengths));
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        give(&self.digest.finalize_reset(), job);
        Ok(())
    }
}

pub(super) struct Mac<M> {
    mac: M,
    lengths: Lengths,
}

impl<M: hmac::Mac + KeyInit + FixedOutputReset> Keyed for Mac<M> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Mac { mac: KeyInit::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl<M: hmac::Mac + KeyInit + FixedOutputReset> Context for Mac<M> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        hmac::Mac::update(&mut self.mac, input(job, &self.lengths));
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        give(&self.mac.finalize_reset().into_bytes(), job);
        Ok(())
    }
}

/// Poly1305, which gets a key with each message.
pub(super) struct OneTimeMac {
    mac: Poly1305,
    lengths: Lengths,
}

impl OneTimeMac {
    /// Splits a message into its whole blocks and what is left.
    #[inline]
    fn parts<'j>(&self, job: &'j RawJob) -> (&'j [poly1305::Block], &'j [u8]) {
        Array::slice_as_chunks(input(job, &self.lengths))
    }
}

impl Keyed for OneTimeMac {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(OneTimeMac { mac: Poly1305::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl Context for OneTimeMac {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        self.mac.update(self.parts(job).0);
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let (_, rest) = self.parts(job);
        give(&self.mac.clone().compute_unpadded(rest), job);
        Ok(())
    }
}
