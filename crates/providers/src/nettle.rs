//! The installed Nettle, used as GnuTLS uses it, with contexts that the caller holds. It runs with the CPU
//! features that it finds and with none of them.
//!
//! It reads only once, when it is loaded, which features not to use, so each variant needs its own process. Its
//! second library, libhogweed, has the key pairs and no code that depends on features. GMP, which libhogweed
//! computes with, may have such code, but has no switch for it. So for key pairs, the variant without features
//! lacks only what libnettle would do faster for them: hashing, and drawing random numbers.

mod aeads;
mod ciphers;
mod digests;
mod ffi;
mod hogweed;
mod key_pairs;

use crate::loaded::{Library, unavailable};
use crate::{Boxed, Implementation, Unavailable};
use aeads::{Aead, Ccm};
use ciphers::{Blocks, Chacha, Mode, Xts};
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Phase, Provider, Session, Unsupported,
};
use cpb_session::context::{Lengths, run};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use digests::{Hash, Mac, MacKey};
use ffi::{AeadTable, CipherTable, CryptBlocks, HashTable, MacTable, SetKey, SetKeyOfLength};

pub(crate) const FEATURES: Implementation = Implementation {
    name: "nettle",
    environment: Vec::new,
    executors: None,
    open: |_| open("nettle", "what the library finds in the CPU"),
};

pub(crate) const C: Implementation = Implementation {
    name: "nettle:c",
    // fat-setup.h: the names of features. "none" is not the name of one.
    environment: || vec![("NETTLE_FAT_OVERRIDE", "none")],
    executors: None,
    open: |_| open("nettle:c", "NETTLE_FAT_OVERRIDE=none"),
};

struct Nettle {
    name: &'static str,
    executor: &'static str,
    version: String,
    options: String,
    library: Library,
    /// Whether libhogweed is installed.
    has_key_pairs: bool,
}

fn open(name: &'static str, executor: &'static str) -> Result<Boxed, Unavailable> {
    // Nettle 4 has other tables and signatures.
    let library = Library::open(&[c"libnettle.so.8"]).map_err(|missing| {
        unavailable(format!("no Nettle 3 (Debian's package libnettle8): {}", missing.detail))
    })?;
    let file = library.file();
    if !library.fill(ffi::SLOTS).is_empty() {
        return Err(unavailable(format!("{file} lacks functions of Nettle 3")));
    }
    // SAFETY: take no arguments.
    let (major, minor) = unsafe { (ffi::nettle_version_major(), ffi::nettle_version_minor()) };
    let version = format!("{major}.{minor}");
    let hogweed = hogweed::load();
    let has_key_pairs = hogweed.is_ok();
    let options = match hogweed {
        Ok(hogweed) => format!("{file}; key pairs: {hogweed}"),
        Err(missing) => format!("{file}; without key pairs: {missing}"),
    };
    Ok(Box::new(Nettle { name, executor, version, options, library, has_key_pairs }))
}

/// The part of the library that computes an algorithm.
enum Primitive {
    Blocks(CipherTable, Mode),
    Xts(CipherTable),
    Chacha(&'static AeadTable),
    Ccm(CipherTable),
    Aead(&'static AeadTable),
    Hash(&'static HashTable),
    Mac(&'static MacTable, MacKey),
}

impl Nettle {
    /// Poly1305 is not a separate public function, but part of ChaCha20-Poly1305 and Poly1305-AES. The
    /// library's CTR_DRBG (3.10) has no derivation function, and there are no known answers for that variant
    /// here.
    fn part(&self, algorithm: Algorithm) -> Option<Primitive> {
        let aes128 = || self.cipher(c"nettle_aes128");
        let aes192 = || self.cipher(c"nettle_aes192");
        let aes256 = || self.cipher(c"nettle_aes256");
        let triple_des =
            || self.des(c"nettle_des3_encrypt", c"nettle_des3_decrypt", ciphers::set_3des_key);
        let des = || self.des(c"nettle_des_encrypt", c"nettle_des_decrypt", ciphers::set_des_key);
        let blocks = |mode| move |table| Primitive::Blocks(table, mode);
        match algorithm {
            Algorithm::Aes128Cbc => aes128().map(blocks(Mode::Cbc)),
            Algorithm::Aes192Cbc => aes192().map(blocks(Mode::Cbc)),
            Algorithm::Aes256Cbc => aes256().map(blocks(Mode::Cbc)),
            Algorithm::Aes128Ecb => aes128().map(blocks(Mode::Ecb)),
            Algorithm::Aes192Ecb => aes192().map(blocks(Mode::Ecb)),
            Algorithm::Aes256Ecb => aes256().map(blocks(Mode::Ecb)),
            Algorithm::Aes128Ctr => aes128().map(blocks(Mode::Ctr)),
            Algorithm::Aes192Ctr => aes192().map(blocks(Mode::Ctr)),
            Algorithm::Aes256Ctr => aes256().map(blocks(Mode::Ctr)),
            Algorithm::Aes128Xts => aes128().map(Primitive::Xts),
            Algorithm::Aes256Xts => aes256().map(Primitive::Xts),
            Algorithm::Aes128Ccm => aes128().map(Primitive::Ccm),
            Algorithm::Aes192Ccm => aes192().map(Primitive::Ccm),
            Algorithm::Aes256Ccm => aes256().map(Primitive::Ccm),
            Algorithm::Aes128Gcm => self.table(c"nettle_gcm_aes128").map(Primitive::Aead),
            Algorithm::Aes192Gcm => self.table(c"nettle_gcm_aes192").map(Primitive::Aead),
            Algorithm::Aes256Gcm => self.table(c"nettle_gcm_aes256").map(Primitive::Aead),
            Algorithm::Chacha20Poly1305 => {
                self.table(c"nettle_chacha_poly1305").map(Primitive::Aead)
            }
            Algorithm::Chacha20 => self.table(c"nettle_chacha_poly1305").map(Primitive::Chacha),
            Algorithm::Camellia256Cbc => self.cipher(c"nettle_camellia256").map(blocks(Mode::Cbc)),
            Algorithm::TripleDesCbc => triple_des().map(blocks(Mode::Cbc)),
            Algorithm::DesCbc => des().map(blocks(Mode::Cbc)),
            Algorithm::TripleDesEcb => triple_des().map(blocks(Mode::Ecb)),
            Algorithm::DesEcb => des().map(blocks(Mode::Ecb)),
            Algorithm::Md5 => self.table(c"nettle_md5").map(Primitive::Hash),
            Algorithm::Sha1 => self.table(c"nettle_sha1").map(Primitive::Hash),
            Algorithm::Sha224 => self.table(c"nettle_sha224").map(Primitive::Hash),
            Algorithm::Sha256 => self.table(c"nettle_sha256").map(Primitive::Hash),
            Algorithm::Sha384 => self.table(c"nettle_sha384").map(Primitive::Hash),
            Algorithm::Sha512 => self.table(c"nettle_sha512").map(Primitive::Hash),
            Algorithm::Sha3_256 => self.table(c"nettle_sha3_256").map(Primitive::Hash),
            Algorithm::Sha3_512 => self.table(c"nettle_sha3_512").map(Primitive::Hash),
            Algorithm::HmacSha1 => self.hmac(c"nettle_hmac_sha1", c"nettle_hmac_sha1_set_key"),
            Algorithm::HmacSha256 => {
                self.hmac(c"nettle_hmac_sha256", c"nettle_hmac_sha256_set_key")
            }
            Algorithm::HmacSha512 => {
                self.hmac(c"nettle_hmac_sha512", c"nettle_hmac_sha512_set_key")
            }
            Algorithm::Aes128Cmac => self.cmac(c"nettle_cmac_aes128"),
            Algorithm::Aes256Cmac => self.cmac(c"nettle_cmac_aes256"),
            _ => None,
        }
    }

    /// The library's table called `name`, which has the type `T` according to nettle-meta.h.
    fn table<T>(&self, name: &CStr) -> Option<&'static T> {
        // SAFETY: constant data of a library that is never unloaded; `part` pairs names and types.
        self.library.symbol(name).map(|table| unsafe { table.cast::<T>().as_ref() })
    }

    fn cipher(&self, name: &CStr) -> Option<CipherTable> {
        self.table::<CipherTable>(name).copied()
    }

    /// Makes a table for a cipher that has functions but no table in the library. Its context is the first part
    /// of the one for CMAC with 3DES, which has a table.
    fn des(&self, encrypt: &CStr, decrypt: &CStr, set_key: SetKey) -> Option<CipherTable> {
        let step = |name| {
            // SAFETY: des.h: both names are functions of this type, except for the context's type.
            let step = |symbol: NonNull<c_void>| unsafe {
                core::mem::transmute::<*mut c_void, CryptBlocks>(symbol.as_ptr())
            };
            self.library.symbol(name).map(step)
        };
        Some(CipherTable {
            name: core::ptr::null(),
            context_size: self.table::<MacTable>(c"nettle_cmac_des3")?.context_size,
            block_size: 8,
            key_size: 0,
            set_encrypt_key: set_key,
            set_decrypt_key: set_key,
            encrypt: step(encrypt)?,
            decrypt: step(decrypt)?,
        })
    }

    fn cmac(&self, name: &CStr) -> Option<Primitive> {
        self.table::<MacTable>(name)
            .map(|table| Primitive::Mac(table, MacKey::Fixed(table.set_key)))
    }

    fn hmac(&self, name: &CStr, set_key: &CStr) -> Option<Primitive> {
        let set_key = self.library.symbol(set_key)?;
        // SAFETY: hmac.h: the name is a function of this type, except for the context's type.
        let set_key =
            unsafe { core::mem::transmute::<*mut c_void, SetKeyOfLength>(set_key.as_ptr()) };
        self.table(name).map(|table| Primitive::Mac(table, MacKey::OfAnyLength(set_key)))
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
        if key_pairs::has(workload.algorithm) {
            // The options say which library it is, or what is missing.
            return if self.has_key_pairs { Ok(()) } else { Err(Unsupported::Device) };
        }
        let part = self.part(workload.algorithm).ok_or(Unsupported::Algorithm)?;
        // All parts of a message except the last must be whole blocks.
        let block = match part {
            Primitive::Blocks(table, Mode::Ctr) => table.block_size,
            Primitive::Chacha(_) => ciphers::CHACHA_BLOCK,
            Primitive::Aead(table) => table.block_size,
            _ => 1,
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
        let jobs = &RawJobs::new(workload, keys, jobs)?;
        if key_pairs::has(workload.algorithm) {
            return key_pairs::session(workload, keys, jobs, body);
        }
        let lengths = Lengths::of(workload);
        match self.part(workload.algorithm).ok_or(Unsupported::Algorithm)? {
            Primitive::Blocks(table, mode) => {
                run(Blocks::new(table, mode, workload), workload, keys, jobs, body)
            }
            Primitive::Xts(table) => run(Xts::new(table, lengths), workload, keys, jobs, body),
            Primitive::Chacha(table) => {
                run(Chacha::new(table, lengths), workload, keys, jobs, body)
            }
            Primitive::Ccm(table) => run(Ccm::new(table, lengths), workload, keys, jobs, body),
            Primitive::Aead(table) => run(Aead::new(table, lengths), workload, keys, jobs, body),
            Primitive::Hash(table) => run(Hash::new(table, lengths), workload, keys, jobs, body),
            Primitive::Mac(table, key) => {
                run(Mac::new(table, key, lengths), workload, keys, jobs, body)
            }
        }
    }
}
