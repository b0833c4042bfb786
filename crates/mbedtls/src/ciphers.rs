//! Ciphers without authentication.

use crate::types::*;
use crate::{Functions, Has, Held, Linked, bits, start, succeeded};
use core::marker::PhantomData;
use cpb_core::{CryptoWorkload, Error};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::RawJob;

// aes.h, gcm.h and others: the same values in all of them.
const ENCRYPT: c_int = 1;
const DECRYPT: c_int = 0;

/// The direction, in the form that most of the library's ciphers use.
pub(crate) fn mode(decrypts: bool) -> c_int {
    if decrypts { DECRYPT } else { ENCRYPT }
}

/// The functions for single blocks and for cipher block chaining. Ciphers differ in the names of their
/// functions, in how a key is set, and in the block length.
pub trait BlockCipher<L: Has<Self::Context>> {
    /// The library's context.
    type Context;
    /// An array as long as a block.
    type Iv: Copy + Default;
    /// Bytes of a block.
    const BLOCK: usize = size_of::<Self::Iv>();

    /// Sets the key of one direction.
    ///
    /// # Safety
    /// The context must be initialised, and the key must have a length that the cipher supports.
    unsafe fn set_key(context: *mut Self::Context, decrypts: bool, key: &[u8]) -> c_int;

    /// Encrypts or decrypts a block.
    ///
    /// # Safety
    /// The context must have a key for this direction, and the buffers must have the length of a block.
    unsafe fn block(
        context: *mut Self::Context,
        mode: c_int,
        input: *const u8,
        output: *mut u8,
    ) -> c_int;

    /// Encrypts or decrypts whole blocks, and replaces the IV with the one for the following blocks.
    ///
    /// # Safety
    /// The context must have a key for this direction, the buffers must have the given length, and the IV
    /// must be a block.
    unsafe fn cbc(
        context: *mut Self::Context,
        mode: c_int,
        length: usize,
        iv: *mut u8,
        input: *const u8,
        output: *mut u8,
    ) -> c_int;
}

/// Implements [`BlockCipher`].
macro_rules! block_cipher {
    ($Cipher:ident, $Context:ident, $block:literal, |$key:ident| ($($told:expr),+), $enc:ident, $dec:ident, $ecb:ident($($mode:ident)?), $cbc:ident) => {
        impl<L: Linked> BlockCipher<L> for $Cipher {
            type Context = $Context;
            type Iv = [u8; $block];

            #[inline]
            unsafe fn set_key(context: *mut $Context, decrypts: bool, $key: &[u8]) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if decrypts { L::$dec(context, $($told),+) } else { L::$enc(context, $($told),+) }
                }
            }

            #[inline]
            unsafe fn block(
                context: *mut $Context,
                mode: c_int,
                input: *const u8,
                output: *mut u8,
            ) -> c_int {
                // DES knows the direction from its key alone.
                let _ = mode;
                $(let $mode = mode;)?
                // SAFETY: guaranteed by the caller.
                unsafe { L::$ecb(context, $($mode,)? input, output) }
            }

            #[inline]
            unsafe fn cbc(
                context: *mut $Context,
                mode: c_int,
                length: usize,
                iv: *mut u8,
                input: *const u8,
                output: *mut u8,
            ) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe { L::$cbc(context, mode, length, iv, input, output) }
            }
        }
    };
}

/// AES, with keys of any length that the cipher supports.
pub struct Aes;
/// Camellia, with keys of any length that the cipher supports.
pub struct Camellia;
/// DES.
pub struct Des;
/// Triple DES with three keys.
pub struct TripleDes;

block_cipher!(
    Aes,
    AesContext,
    16,
    |key| (key.as_ptr(), bits(key)),
    aes_setkey_enc,
    aes_setkey_dec,
    aes_crypt_ecb(mode),
    aes_crypt_cbc
);
block_cipher!(
    Camellia,
    CamelliaContext,
    16,
    |key| (key.as_ptr(), bits(key)),
    camellia_setkey_enc,
    camellia_setkey_dec,
    camellia_crypt_ecb(mode),
    camellia_crypt_cbc
);
block_cipher!(
    Des,
    DesContext,
    8,
    |key| (key.as_ptr()),
    des_setkey_enc,
    des_setkey_dec,
    des_crypt_ecb(),
    des_crypt_cbc
);
block_cipher!(
    TripleDes,
    Des3Context,
    8,
    |key| (key.as_ptr()),
    des3_set3key_enc,
    des3_set3key_dec,
    des3_crypt_ecb(),
    des3_crypt_cbc
);

/// Cipher block chaining.
pub struct Cbc<L: Has<C::Context>, C: BlockCipher<L>> {
    context: Held<L, C::Context>,
    iv: C::Iv,
    mode: c_int,
    lengths: Lengths,
    cipher: PhantomData<C>,
}

impl<L: Has<C::Context>, C: BlockCipher<L>> Cbc<L, C> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let lengths = Lengths::of(workload);
        let (iv, mode) = (C::Iv::default(), mode(lengths.decrypts));
        Cbc { context: Held::new(), iv, mode, lengths, cipher: PhantomData }
    }
}

impl<L: Has<C::Context>, C: BlockCipher<L>> Context for Cbc<L, C> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { C::set_key(self.context.get(), self.lengths.decrypts, key) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: the IV of a CBC algorithm is a block; bytes need no alignment.
        self.iv = unsafe { job.iv.cast::<C::Iv>().read_unaligned() };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, iv) = (self.context.get(), (&raw mut self.iv).cast());
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            C::cbc(context, self.mode, self.lengths.message, iv, job.input, job.output)
        })
    }
}

/// A cipher without chaining, with one call per block: the library has no other way.
pub struct Ecb<L: Has<C::Context>, C: BlockCipher<L>> {
    context: Held<L, C::Context>,
    mode: c_int,
    lengths: Lengths,
}

impl<L: Has<C::Context>, C: BlockCipher<L>> Ecb<L, C> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let lengths = Lengths::of(workload);
        Ecb { context: Held::new(), mode: mode(lengths.decrypts), lengths }
    }
}

impl<L: Has<C::Context>, C: BlockCipher<L>> Context for Ecb<L, C> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (context, decrypts) = (self.context.get(), self.lengths.decrypts);
        // SAFETY: see the crate documentation.
        succeeded(unsafe { C::set_key(context, decrypts, key) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get();
        let mut at = 0;
        while at < self.lengths.message {
            // SAFETY: see the crate documentation; the message is whole blocks.
            unsafe {
                let (input, output) = (job.input.add(at), job.output.add(at));
                succeeded(C::block(context, self.mode, input, output))?;
            }
            at += C::BLOCK;
        }
        Ok(())
    }
}

/// AES-CTR.
pub struct AesCtr<L: Linked> {
    context: Held<L, AesContext>,
    counter: [u8; 16],
    stream: [u8; 16],
    offset: usize,
    length: usize,
}

impl<L: Linked> AesCtr<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let length = Lengths::of(workload).message;
        AesCtr { context: Held::new(), counter: [0; 16], stream: [0; 16], offset: 0, length }
    }
}

impl<L: Linked> Context for AesCtr<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::aes_setkey_enc(self.context.get(), key.as_ptr(), bits(key)) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: the initial counter of this algorithm is a block.
        self.counter = unsafe { start(job.iv) };
        self.offset = 0;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (counter, stream) = (self.counter.as_mut_ptr(), self.stream.as_mut_ptr());
        let (context, offset) = (self.context.get(), &raw mut self.offset);
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            L::aes_crypt_ctr(context, self.length, offset, counter, stream, job.input, job.output)
        })
    }
}

/// AES-XTS.
pub struct AesXts<L: Linked> {
    context: Held<L, AesXtsContext>,
    mode: c_int,
    lengths: Lengths,
}

impl<L: Linked> AesXts<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        let lengths = Lengths::of(workload);
        AesXts { context: Held::new(), mode: mode(lengths.decrypts), lengths }
    }
}

impl<L: Linked> Context for AesXts<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let (context, bytes, bits) = (self.context.get(), key.as_ptr(), bits(key));
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            match self.lengths.decrypts {
                true => L::aes_xts_setkey_dec(context, bytes, bits),
                false => L::aes_xts_setkey_enc(context, bytes, bits),
            }
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (context, length) = (self.context.get(), self.lengths.message);
        // SAFETY: see the crate documentation; the tweak of this algorithm is a block.
        succeeded(unsafe {
            L::aes_crypt_xts(context, self.mode, length, job.iv, job.input, job.output)
        })
    }
}

/// ChaCha20.
pub struct Chacha20<L: Functions> {
    context: Held<L, Chacha20Context>,
    length: usize,
}

impl<L: Functions> Chacha20<L> {
    /// Creates the cipher for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        Chacha20 { context: Held::new(), length: Lengths::of(workload).message }
    }
}

impl<L: Functions> Context for Chacha20<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::chacha20_setkey(self.context.get(), key.as_ptr()) })
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation; this algorithm's IV is a counter of 4 bytes and a nonce of 12.
        succeeded(unsafe {
            let counter = u32::from_le_bytes(start(job.iv));
            L::chacha20_starts(self.context.get(), job.iv.add(4), counter)
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            L::chacha20_update(self.context.get(), self.length, job.input, job.output)
        })
    }
}
