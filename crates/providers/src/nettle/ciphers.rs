//! Sessions of ciphers that are not authenticated.

use super::ffi::{self, AeadTable, CipherTable};
use core::ffi::c_void;
use core::ptr;
use cpb_core::{CryptoWorkload, Error};
use cpb_session::context::{Context, Lengths, Memory};
use cpb_session::raw_jobs::RawJob;

// SAFETY of all calls below: contexts are as large as the library's table says and hold a key before
// they are used; the job's pointers are valid for the session's lengths.

/// A mode of block ciphers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Ecb,
    Cbc,
    Ctr,
}

/// A block cipher in such a mode.
pub(super) struct Blocks {
    table: CipherTable,
    mode: Mode,
    memory: Memory,
    /// The next IV or counter, which has the algorithm's length.
    next: [u8; 16],
    iv: usize,
    lengths: Lengths,
}

impl Blocks {
    pub(super) fn new(table: CipherTable, mode: Mode, workload: &CryptoWorkload) -> Blocks {
        let next = [0; 16];
        let iv = workload.algorithm.shape().iv.min(next.len());
        let memory = Memory::new(table.context_size);
        Blocks { table, mode, memory, next, iv, lengths: Lengths::of(workload) }
    }
}

impl Context for Blocks {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let set = match self.lengths.decrypts && self.mode != Mode::Ctr {
            true => self.table.set_decrypt_key,
            false => self.table.set_encrypt_key,
        };
        // SAFETY: as above; the key has the algorithm's length.
        unsafe { set(self.memory.pointer(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; there is room for the longest IV.
        unsafe { ptr::copy_nonoverlapping(job.iv, self.next.as_mut_ptr(), self.iv) };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, iv) = (self.memory.pointer(), self.next.as_mut_ptr());
        let (length, output, input) = (self.lengths.message, job.output, job.input);
        let CipherTable { encrypt, decrypt, .. } = self.table;
        let block = self.table.block_size as usize;
        // SAFETY: as above.
        unsafe {
            match (self.mode, self.lengths.decrypts) {
                (Mode::Ctr, _) => {
                    ffi::nettle_ctr_crypt(context, encrypt, block, iv, length, output, input);
                }
                (Mode::Cbc, false) => {
                    ffi::nettle_cbc_encrypt(context, encrypt, block, iv, length, output, input);
                }
                (Mode::Cbc, true) => {
                    ffi::nettle_cbc_decrypt(context, decrypt, block, iv, length, output, input);
                }
                (Mode::Ecb, false) => encrypt(context, length, output, input),
                (Mode::Ecb, true) => decrypt(context, length, output, input),
            }
        }
        Ok(())
    }
}

/// Sets a DES key, with the signature that a table requires. A weak key is set as well, and is not reported.
pub(super) unsafe extern "C" fn set_des_key(context: *mut c_void, key: *const u8) {
    // SAFETY: as promised by the caller.
    unsafe { ffi::nettle_des_set_key(context, key) };
}

/// The same for 3DES.
pub(super) unsafe extern "C" fn set_3des_key(context: *mut c_void, key: *const u8) {
    // SAFETY: as promised by the caller.
    unsafe { ffi::nettle_des3_set_key(context, key) };
}

/// A block cipher in XTS: two contexts, of which the second is for the tweak.
pub(super) struct Xts {
    table: CipherTable,
    data: Memory,
    tweak: Memory,
    lengths: Lengths,
}

impl Xts {
    pub(super) fn new(table: CipherTable, lengths: Lengths) -> Xts {
        let memory = || Memory::new(table.context_size);
        Xts { table, data: memory(), tweak: memory(), lengths }
    }
}

impl Context for Xts {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (data, tweak) = key.split_at(key.len() / 2);
        let set = match self.lengths.decrypts {
            true => self.table.set_decrypt_key,
            false => self.table.set_encrypt_key,
        };
        // SAFETY: as above; each half has the cipher's length.
        unsafe {
            set(self.data.pointer(), data.as_ptr());
            (self.table.set_encrypt_key)(self.tweak.pointer(), tweak.as_ptr());
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (data, tweak) = (self.data.pointer(), self.tweak.pointer());
        let (length, output, input) = (self.lengths.message, job.output, job.input);
        let CipherTable { encrypt, decrypt, .. } = self.table;
        // SAFETY: as above; the tweak is a block.
        unsafe {
            match self.lengths.decrypts {
                true => ffi::nettle_xts_decrypt_message(
                    data, tweak, decrypt, encrypt, job.iv, length, output, input,
                ),
                false => ffi::nettle_xts_encrypt_message(
                    data, tweak, encrypt, job.iv, length, output, input,
                ),
            }
        }
        Ok(())
    }
}

/// Bytes of a block (chacha.h).
pub(super) const CHACHA_BLOCK: u32 = 64;

/// ChaCha20 with the 32-bit counter of RFC 8439.
pub(super) struct Chacha {
    memory: Memory,
    lengths: Lengths,
}

impl Chacha {
    /// Its context is the first part of the one that `table` describes.
    pub(super) fn new(table: &AeadTable, lengths: Lengths) -> Chacha {
        Chacha { memory: Memory::new(table.context_size), lengths }
    }
}

impl Context for Chacha {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: as above; the key has the algorithm's length.
        unsafe { ffi::nettle_chacha_set_key(self.memory.pointer(), key.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.memory.pointer();
        // SAFETY: as above; the IV is a counter of 4 bytes and a nonce of 12. The nonce is set first: with a
        // nonce of 8 bytes, the library would start the counter at 0.
        unsafe {
            ffi::nettle_chacha_set_nonce96(context, job.iv.add(4));
            ffi::nettle_chacha_set_counter32(context, job.iv);
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.memory.pointer(), self.lengths.message);
        // SAFETY: as above.
        unsafe { ffi::nettle_chacha_crypt32(context, length, job.output, job.input) };
        Ok(())
    }
}
