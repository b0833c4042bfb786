//! Authenticated ciphers. A message is processed in one call; only a stream has a separate beginning.

use crate::ciphers::mode;
use crate::types::*;
use crate::{Functions, Held, Linked, bits, succeeded};
use cpb_core::{CryptoWorkload, Error, Phase};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

// cipher.h: mbedtls_cipher_id_t
const CIPHER_ID_AES: c_int = 2;
// chachapoly.h: mbedtls_chachapoly_mode_t, whose values are reversed.
const CHACHAPOLY_ENCRYPT: c_int = 0;
const CHACHAPOLY_DECRYPT: c_int = 1;

/// AES-GCM.
pub struct AesGcm<L: Linked> {
    context: Held<L, GcmContext>,
    mode: c_int,
    streams: bool,
    iv: usize,
    lengths: Lengths,
}

impl<L: Linked> AesGcm<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let lengths = Lengths::of(workload);
        AesGcm {
            context: Held::new(),
            mode: mode(lengths.decrypts),
            streams: workload.phase == Phase::Update,
            iv: workload.algorithm.shape().iv,
            lengths,
        }
    }
}

impl<L: Linked> Context for AesGcm<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::gcm_setkey(context, CIPHER_ID_AES, key.as_ptr(), bits(key)) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        if !self.streams {
            return Ok(());
        }
        let (context, aad) = (self.context.get(), self.lengths.associated);
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::gcm_begin(context, self.mode, job.iv, self.iv, job.associated, aad) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let Lengths { message, associated, tag, decrypts, .. } = self.lengths;
        let (context, input, output) = (self.context.get(), job.input, job.output);
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            if self.streams {
                L::gcm_part(context, message, input, output)
            } else if decrypts {
                L::gcm_auth_decrypt(
                    context,
                    message,
                    job.iv,
                    self.iv,
                    job.associated,
                    associated,
                    job.tag,
                    tag,
                    input,
                    output,
                )
            } else {
                L::gcm_crypt_and_tag(
                    context,
                    self.mode,
                    message,
                    job.iv,
                    self.iv,
                    job.associated,
                    associated,
                    input,
                    output,
                    tag,
                    job.tag,
                )
            }
        })
    }
}

/// AES-CCM. It has no streams, because the first block of a message contains its length.
pub struct AesCcm<L: Functions> {
    context: Held<L, CcmContext>,
    iv: usize,
    lengths: Lengths,
}

impl<L: Functions> AesCcm<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let iv = workload.algorithm.shape().iv;
        AesCcm { context: Held::new(), iv, lengths: Lengths::of(workload) }
    }
}

impl<L: Functions> Context for AesCcm<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::ccm_setkey(context, CIPHER_ID_AES, key.as_ptr(), bits(key)) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let Lengths { message, associated, tag, decrypts, .. } = self.lengths;
        let (context, input, output) = (self.context.get(), job.input, job.output);
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            if decrypts {
                L::ccm_auth_decrypt(
                    context,
                    message,
                    job.iv,
                    self.iv,
                    job.associated,
                    associated,
                    input,
                    output,
                    job.tag,
                    tag,
                )
            } else {
                L::ccm_encrypt_and_tag(
                    context,
                    message,
                    job.iv,
                    self.iv,
                    job.associated,
                    associated,
                    input,
                    output,
                    job.tag,
                    tag,
                )
            }
        })
    }
}

/// ChaCha20-Poly1305.
pub struct Chachapoly<L: Linked> {
    context: Held<L, ChachapolyContext>,
    streams: bool,
    lengths: Lengths,
}

impl<L: Linked> Chachapoly<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let streams = workload.phase == Phase::Update;
        Chachapoly { context: Held::new(), streams, lengths: Lengths::of(workload) }
    }
}

impl<L: Linked> Context for Chachapoly<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::chachapoly_setkey(self.context.get(), key.as_ptr()) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        if !self.streams {
            return Ok(());
        }
        let mode = if self.lengths.decrypts { CHACHAPOLY_DECRYPT } else { CHACHAPOLY_ENCRYPT };
        let (context, aad) = (self.context.get(), self.lengths.associated);
        // SAFETY: see the crate documentation.
        unsafe {
            succeeded(L::chachapoly_starts(context, job.iv, mode))?;
            succeeded(L::chachapoly_update_aad(context, job.associated, aad))
        }
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let Lengths { message, associated, decrypts, .. } = self.lengths;
        let (context, input, output) = (self.context.get(), job.input, job.output);
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            if self.streams {
                L::chachapoly_update(context, message, input, output)
            } else if decrypts {
                L::chachapoly_auth_decrypt(
                    context,
                    message,
                    job.iv,
                    job.associated,
                    associated,
                    job.tag,
                    input,
                    output,
                )
            } else {
                L::chachapoly_encrypt_and_tag(
                    context,
                    message,
                    job.iv,
                    job.associated,
                    associated,
                    input,
                    output,
                    job.tag,
                )
            }
        })
    }
}
