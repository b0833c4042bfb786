//! Sessions of what the library has: each context stands in memory of ours.

use super::ffi;
use crate::context::{Context, Lengths, Memory};
use crate::raw_jobs::RawJob;
use core::ffi::{c_int, c_uint};
use cpb_core::{CryptoWorkload, Error, Kind};

/// Bytes that any of its contexts has room in. The largest used here has 136 by the headers of 2.28.3 and 176 by
/// those of 3.6.5 (x86-64, as they are configured by default); a key schedule that stood in it would have some
/// 300 more.
const CONTEXT: u32 = 4096;

/// 0 is success; a tag that does not fit is a refusal; all else an error.
#[inline]
pub(super) fn succeeded(status: c_int) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        ffi::MBEDTLS_ERR_CIPHER_AUTH_FAILED | ffi::MBEDTLS_ERR_CCM_AUTH_FAILED => {
            Err(Error::Refused)
        }
        code => Err(Error::Device(code)),
    }
}

/// A context in memory that does not move, freed when it is dropped.
struct Held<T> {
    memory: Memory,
    free: unsafe fn(*mut T),
}

impl<T> Held<T> {
    fn new(init: unsafe fn(*mut T), free: unsafe fn(*mut T)) -> Held<T> {
        let mut held = Held { memory: Memory::new(CONTEXT), free };
        // SAFETY: there is room for a context: see `CONTEXT`.
        unsafe { init(held.get()) };
        held
    }

    #[inline]
    fn get(&mut self) -> *mut T {
        self.memory.pointer().cast()
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        let context = self.get();
        // SAFETY: was initialised in `new`, is freed once.
        unsafe { (self.free)(context) };
    }
}

// SAFETY of all calls below: contexts are initialised, stay where they are, and hold a key before they are
// used; keys have the algorithm's length, and the job's pointers are valid for the session's lengths.

fn bits(key: &[u8]) -> c_int {
    key.len() as c_int * 8
}

pub(super) struct Cipher {
    context: Held<ffi::mbedtls_cipher_context_t>,
    /// So many bytes go to a call: ECB takes a block. 0 stands for the message.
    step: usize,
    iv: usize,
    lengths: Lengths,
}

impl Cipher {
    pub(super) fn open(
        info: *const ffi::mbedtls_cipher_info_t,
        workload: &CryptoWorkload,
    ) -> Result<Cipher, Error> {
        let shape = workload.algorithm.shape();
        let step = if shape.kind == Kind::BlockCipher && shape.iv == 0 { shape.block } else { 0 };
        let mut context = Held::new(ffi::mbedtls_cipher_init, ffi::mbedtls_cipher_free);
        // SAFETY: as above.
        unsafe {
            succeeded(ffi::mbedtls_cipher_setup(context.get(), info))?;
            if shape.kind == Kind::BlockCipher && shape.iv > 0 {
                let none = ffi::MBEDTLS_PADDING_NONE;
                succeeded(ffi::mbedtls_cipher_set_padding_mode(context.get(), none))?;
            }
        }
        Ok(Cipher { context, step, iv: shape.iv, lengths: Lengths::of(workload) })
    }
}

impl Context for Cipher {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let operation =
            if self.lengths.decrypts { ffi::MBEDTLS_DECRYPT } else { ffi::MBEDTLS_ENCRYPT };
        let context = self.context.get();
        // SAFETY: as above.
        succeeded(unsafe {
            ffi::mbedtls_cipher_setkey(context, key.as_ptr(), bits(key), operation)
        })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: as above.
        unsafe {
            if self.iv > 0 {
                succeeded(ffi::mbedtls_cipher_set_iv(context, job.iv, self.iv))?;
            }
            succeeded(ffi::mbedtls_cipher_reset(context))?;
            if self.lengths.tag > 0 {
                // Where there is none, too: this begins the message.
                let (associated, length) = (job.associated, self.lengths.associated);
                succeeded(ffi::mbedtls_cipher_update_ad(context, associated, length))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        let step = if self.step == 0 { length } else { self.step };
        let (mut at, mut written) = (0, 0);
        while at < length {
            let (input, output) = (job.input.wrapping_add(at), job.output.wrapping_add(at));
            // SAFETY: as above; a message of ECB is whole blocks.
            succeeded(unsafe {
                ffi::mbedtls_cipher_update(context, input, step, output, &mut written)
            })?;
            at += step;
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, tag) = (self.context.get(), self.lengths.tag);
        let (mut written, end) = (0, job.output.wrapping_add(self.lengths.message));
        // SAFETY: as above; without padding nothing is written at the end.
        unsafe {
            succeeded(ffi::mbedtls_cipher_finish(context, end, &mut written))?;
            match (tag, self.lengths.decrypts) {
                (0, _) => Ok(()),
                (_, true) => succeeded(ffi::mbedtls_cipher_check_tag(context, job.tag, tag)),
                (_, false) => succeeded(ffi::mbedtls_cipher_write_tag(context, job.tag, tag)),
            }
        }
    }
}

/// CMAC. A context that is given a second key loses the memory of the first, so that each key has a context
/// made anew in its place.
pub(super) struct Cmac {
    context: Held<ffi::mbedtls_cipher_context_t>,
    info: *const ffi::mbedtls_cipher_info_t,
    lengths: Lengths,
}

impl Cmac {
    pub(super) fn open(info: *const ffi::mbedtls_cipher_info_t, workload: &CryptoWorkload) -> Cmac {
        let context = Held::new(ffi::mbedtls_cipher_init, ffi::mbedtls_cipher_free);
        Cmac { context, info, lengths: Lengths::of(workload) }
    }
}

impl Context for Cmac {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: as above; what was freed may be initialised again.
        unsafe {
            ffi::mbedtls_cipher_free(context);
            ffi::mbedtls_cipher_init(context);
            succeeded(ffi::mbedtls_cipher_setup(context, self.info))?;
            succeeded(ffi::mbedtls_cipher_cmac_starts(context, key.as_ptr(), key.len() * 8))
        }
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_cipher_cmac_reset(self.context.get()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_cipher_cmac_update(context, job.input, length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; the output has the MAC's length.
        succeeded(unsafe { ffi::mbedtls_cipher_cmac_finish(self.context.get(), job.output) })
    }
}

/// A hash, or its HMAC.
pub(super) struct Digest {
    context: Held<ffi::mbedtls_md_context_t>,
    hmac: bool,
    lengths: Lengths,
}

impl Digest {
    pub(super) fn open(
        info: *const ffi::mbedtls_md_info_t,
        workload: &CryptoWorkload,
        hmac: bool,
    ) -> Result<Digest, Error> {
        let mut context = Held::new(ffi::mbedtls_md_init, ffi::mbedtls_md_free);
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_md_setup(context.get(), info, hmac.into()) })?;
        Ok(Digest { context, hmac, lengths: Lengths::of(workload) })
    }
}

impl Context for Digest {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.hmac {
            return Ok(());
        }
        let context = self.context.get();
        // SAFETY: as above; the key may have any length.
        succeeded(unsafe { ffi::mbedtls_md_hmac_starts(context, key.as_ptr(), key.len()) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: as above.
        succeeded(unsafe {
            match self.hmac {
                true => ffi::mbedtls_md_hmac_reset(context),
                false => ffi::mbedtls_md_starts(context),
            }
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: as above.
        succeeded(unsafe {
            match self.hmac {
                true => ffi::mbedtls_md_hmac_update(context, job.input, length),
                false => ffi::mbedtls_md_update(context, job.input, length),
            }
        })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: as above; the output has the digest's length.
        succeeded(unsafe {
            match self.hmac {
                true => ffi::mbedtls_md_hmac_finish(context, job.output),
                false => ffi::mbedtls_md_finish(context, job.output),
            }
        })
    }
}

/// CCM, whose generic function wants the tag behind the message.
pub(super) struct Ccm {
    context: Held<ffi::mbedtls_ccm_context>,
    iv: usize,
    lengths: Lengths,
}

impl Ccm {
    pub(super) fn open(workload: &CryptoWorkload) -> Ccm {
        let context = Held::new(ffi::mbedtls_ccm_init, ffi::mbedtls_ccm_free);
        Ccm { context, iv: workload.algorithm.shape().iv, lengths: Lengths::of(workload) }
    }
}

impl Context for Ccm {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (context, bits) = (self.context.get(), bits(key) as c_uint);
        let aes = ffi::MBEDTLS_CIPHER_ID_AES;
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_ccm_setkey(context, aes, key.as_ptr(), bits) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length, tag) = (self.context.get(), self.lengths.message, self.lengths.tag);
        let (associated, there) = (job.associated, self.lengths.associated);
        let (iv, of, input, output) = (job.iv, self.iv, job.input, job.output);
        // SAFETY: as above.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => ffi::mbedtls_ccm_auth_decrypt(
                    context, length, iv, of, associated, there, input, output, job.tag, tag,
                ),
                false => ffi::mbedtls_ccm_encrypt_and_tag(
                    context, length, iv, of, associated, there, input, output, job.tag, tag,
                ),
            }
        })
    }
}

pub(super) struct Chacha20 {
    context: Held<ffi::mbedtls_chacha20_context>,
    lengths: Lengths,
}

impl Chacha20 {
    pub(super) fn open(workload: &CryptoWorkload) -> Chacha20 {
        let context = Held::new(ffi::mbedtls_chacha20_init, ffi::mbedtls_chacha20_free);
        Chacha20 { context, lengths: Lengths::of(workload) }
    }
}

impl Context for Chacha20 {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_chacha20_setkey(self.context.get(), key.as_ptr()) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; the counter's 4 bytes stand before the nonce's 12.
        succeeded(unsafe {
            let counter = u32::from_le_bytes(job.iv.cast::<[u8; 4]>().read());
            ffi::mbedtls_chacha20_starts(self.context.get(), job.iv.add(4), counter)
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_chacha20_update(context, length, job.input, job.output) })
    }
}

/// A key is good for one message: it is set for each.
pub(super) struct Poly1305 {
    context: Held<ffi::mbedtls_poly1305_context>,
    lengths: Lengths,
}

impl Poly1305 {
    pub(super) fn open(workload: &CryptoWorkload) -> Poly1305 {
        let context = Held::new(ffi::mbedtls_poly1305_init, ffi::mbedtls_poly1305_free);
        Poly1305 { context, lengths: Lengths::of(workload) }
    }
}

impl Context for Poly1305 {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_poly1305_starts(self.context.get(), key.as_ptr()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: as above.
        succeeded(unsafe { ffi::mbedtls_poly1305_update(context, job.input, length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; the output has the MAC's length.
        succeeded(unsafe { ffi::mbedtls_poly1305_finish(self.context.get(), job.output) })
    }
}
