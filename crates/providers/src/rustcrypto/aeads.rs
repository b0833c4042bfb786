//! Sessions of authenticated ciphers: a message is one call.

use super::{Keyed, fixed, message, no_length};
use aes::cipher::consts::{U12, U16};
use aes::cipher::{Array, KeyInit};
use aes_gcm::aead::{AeadCore, AeadInOut};
use core::slice;
use cpb_core::Error;
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

pub(super) struct Aead<A> {
    cipher: A,
    lengths: Lengths,
}

impl<A: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit> Keyed for Aead<A> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Aead { cipher: A::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl<A: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit> Context for Aead<A> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: nonce, associated data and tag have the session's lengths; arrays of bytes have no
        // alignment.
        let (nonce, associated, tag) = unsafe {
            let nonce = fixed(job.iv);
            let associated = slice::from_raw_parts(job.associated, self.lengths.associated);
            (nonce, associated, &mut *job.tag.cast::<Array<u8, U16>>())
        };
        let message = message(job, &self.lengths);
        if self.lengths.decrypts {
            let done = self.cipher.decrypt_inout_detached(nonce, associated, message, tag);
            return done.map_err(|_| Error::Refused);
        }
        *tag = self.cipher.encrypt_inout_detached(nonce, associated, message).map_err(no_length)?;
        Ok(())
    }
}
