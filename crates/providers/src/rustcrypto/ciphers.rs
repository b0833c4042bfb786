//! Sessions of ciphers that are not authenticated.

use super::{Body, Keyed, fixed, message, no_length, serve};
use aes::cipher::common::InnerIvInit;
use aes::cipher::consts::{U16, U32};
use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, IvState, KeyInit, KeyIvInit, SetIvState, StreamCipher, StreamCipherCoreWrapper,
    StreamCipherSeek,
};
use chacha20::ChaCha20;
use core::{ptr, slice};
use cpb_core::{CryptoWorkload, Error};
use cpb_session::context::{Context, Lengths};
use cpb_session::raw_jobs::{RawJob, RawJobs};
use xts_mode::Xts128;

/// Opens a session of CBC.
pub(super) fn cbc<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match Lengths::of(workload).decrypts {
        true => serve::<CbcDecrypt<C>>(workload, keys, jobs, body),
        false => serve::<CbcEncrypt<C>>(workload, keys, jobs, body),
    }
}

macro_rules! cbc_context {
    ($name:ident, $mode:ident, $needs:ident, $run:ident) => {
        /// CBC in one direction.
        struct $name<C: $needs> {
            mode: cbc::$mode<C>,
            lengths: Lengths,
        }

        impl<C: $needs + KeyInit> Keyed for $name<C> {
            fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
                let cipher = C::new_from_slice(key).map_err(no_length)?;
                let mode = cbc::$mode::inner_iv_init(cipher, &Array::default());
                Ok($name { mode, lengths })
            }
        }

        impl<C: $needs + KeyInit> Context for $name<C> {
            #[inline]
            fn key(&mut self, key: &[u8]) -> Result<(), Error> {
                *self = Self::new(key, self.lengths)?;
                Ok(())
            }

            #[inline]
            fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
                // SAFETY: the IV is a block.
                self.mode.set_iv(unsafe { fixed(job.iv) });
                Ok(())
            }

            #[inline]
            fn part(&mut self, job: &RawJob) -> Result<(), Error> {
                let (blocks, _) = message(job, &self.lengths).into_chunks::<C::BlockSize>();
                self.mode.$run(blocks);
                Ok(())
            }
        }
    };
}
cbc_context!(CbcEncrypt, Encryptor, BlockCipherEncrypt, encrypt_blocks_inout);
cbc_context!(CbcDecrypt, Decryptor, BlockCipherDecrypt, decrypt_blocks_inout);

/// ECB, block by block.
pub(super) struct Ecb<C> {
    cipher: C,
    lengths: Lengths,
}

impl<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit> Keyed for Ecb<C> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        Ok(Ecb { cipher: C::new_from_slice(key).map_err(no_length)?, lengths })
    }
}

impl<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit> Context for Ecb<C> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (blocks, _) = message(job, &self.lengths).into_chunks::<C::BlockSize>();
        match self.lengths.decrypts {
            true => self.cipher.decrypt_blocks_inout(blocks),
            false => self.cipher.encrypt_blocks_inout(blocks),
        }
        Ok(())
    }
}

type Counter<C> = ctr::CtrCore<C, ctr::flavors::Ctr128BE>;

pub(super) struct Ctr<C> {
    cipher: C,
    counter: Array<u8, U16>,
    lengths: Lengths,
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> Keyed for Ctr<C> {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        let cipher = C::new_from_slice(key).map_err(no_length)?;
        Ok(Ctr { cipher, counter: Array::default(), lengths })
    }
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> Context for Ctr<C> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: the counter is a block.
        self.counter = *unsafe { fixed(job.iv) };
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let core = Counter::<&C>::inner_iv_init(&self.cipher, &self.counter);
        let mut stream = StreamCipherCoreWrapper::from_core(core);
        stream.try_apply_keystream_inout(message(job, &self.lengths)).map_err(no_length)?;
        self.counter = stream.get_core().iv_state();
        Ok(())
    }
}

/// ChaCha20, whose key schedule is a copy of the key.
pub(super) struct Chacha20 {
    key: Array<u8, U32>,
    stream: ChaCha20,
    lengths: Lengths,
}

impl Keyed for Chacha20 {
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        let key = Array::try_from(key).map_err(no_length)?;
        Ok(Chacha20 { key, stream: ChaCha20::new(&key, &Array::default()), lengths })
    }
}

impl Context for Chacha20 {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.key = Array::try_from(key).map_err(no_length)?;
        Ok(())
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        const BLOCK: u64 = 64;
        // SAFETY: the IV is a counter of 4 bytes and a nonce of 12.
        let (counter, nonce) = unsafe { (job.iv.cast::<[u8; 4]>().read(), fixed(job.iv.add(4))) };
        self.stream = ChaCha20::new(&self.key, nonce);
        let place = u64::from(u32::from_le_bytes(counter)) * BLOCK;
        self.stream.try_seek(place).map_err(no_length)
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let message = message(job, &self.lengths);
        self.stream.try_apply_keystream_inout(message).map_err(no_length)
    }
}

/// XTS, which the crate does in place only. A message that is not in place is copied first.
pub(super) struct Xts<C> {
    mode: Xts128<C>,
    lengths: Lengths,
}

impl<C> Keyed for Xts<C>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
{
    fn new(key: &[u8], lengths: Lengths) -> Result<Self, Error> {
        let (data, tweak) = key.split_at(key.len() / 2);
        let cipher = |key| C::new_from_slice(key).map_err(no_length);
        Ok(Xts { mode: Xts128::new(cipher(data)?, cipher(tweak)?), lengths })
    }
}

impl<C> Context for Xts<C>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
{
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self = Self::new(key, self.lengths)?;
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let length = self.lengths.message;
        // SAFETY: both are valid for the message's length, and the same place or apart; the tweak is a
        // block.
        let (sector, tweak) = unsafe {
            if !ptr::eq(job.input, job.output) {
                ptr::copy_nonoverlapping(job.input, job.output, length);
            }
            (slice::from_raw_parts_mut(job.output, length), *fixed(job.iv))
        };
        match self.lengths.decrypts {
            true => self.mode.decrypt_sector(sector, tweak),
            false => self.mode.encrypt_sector(sector, tweak),
        }
        Ok(())
    }
}
