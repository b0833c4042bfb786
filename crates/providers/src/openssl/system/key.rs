//! Key pairs of OpenSSL 1.1.1, whose keys are not made from parameters. Private keys are passed as DER or as
//! octets. Public keys of curves are passed as in TLS, which is how OpenSSL's libssl reads a peer's key.

// C names stay as the headers spell them.
#![allow(non_snake_case)]

use super::mac::{EVP_DigestSignInit, EVP_PKEY_new_raw_private_key};
use crate::evp_pkey::{self, Context, Key, Keys, Padding};
use crate::key_der::{self, P256, P384};
use crate::loaded::c_functions;
use crate::openssl::ffi::{ENGINE, EVP_MD, EVP_MD_CTX, EVP_PKEY, EVP_PKEY_CTX};
use crate::openssl::ffi::{Libcrypto, Loaded};
use crate::openssl::{last_error, succeeded};
use core::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void};
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Unsupported};
use cpb_session::Body;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::RawJobs;
use der::asn1::ObjectIdentifier;

// openssl/obj_mac.h: `EVP_PKEY_RSA` and its like.
const RSA: c_int = 6;
const CURVE: c_int = 408;
const X25519: c_int = 1034;
const ED25519: c_int = 1087;

c_functions! { loaded:
    // openssl/evp.h
    fn EVP_PKEY_CTX_new_id(kind: c_int, engine: *mut ENGINE) -> *mut EVP_PKEY_CTX;
    fn EVP_PKEY_CTX_new(key: *mut EVP_PKEY, engine: *mut ENGINE) -> *mut EVP_PKEY_CTX;
    fn EVP_PKEY_CTX_ctrl_str(context: *mut EVP_PKEY_CTX, what: *const c_char, value: *const c_char) -> c_int;
    fn EVP_PKEY_paramgen_init(context: *mut EVP_PKEY_CTX) -> c_int;
    fn EVP_PKEY_paramgen(context: *mut EVP_PKEY_CTX, key: *mut *mut EVP_PKEY) -> c_int;
    fn EVP_PKEY_keygen(context: *mut EVP_PKEY_CTX, key: *mut *mut EVP_PKEY) -> c_int;
    fn EVP_PKEY_new() -> *mut EVP_PKEY;
    fn EVP_PKEY_copy_parameters(to: *mut EVP_PKEY, from: *const EVP_PKEY) -> c_int;
    fn EVP_PKEY_set1_tls_encodedpoint(key: *mut EVP_PKEY, point: *const c_uchar, length: usize) -> c_int;
    fn EVP_PKEY_new_raw_public_key(kind: c_int, engine: *mut ENGINE, key: *const c_uchar, length: usize) -> *mut EVP_PKEY;
    fn EVP_PKEY_get_raw_private_key(key: *const EVP_PKEY, output: *mut c_uchar, length: *mut usize) -> c_int;
    fn EVP_PKEY_get_raw_public_key(key: *const EVP_PKEY, output: *mut c_uchar, length: *mut usize) -> c_int;
    fn EVP_DigestVerifyInit(context: *mut EVP_MD_CTX, key_context: *mut *mut c_void, digest: *const EVP_MD, engine: *mut ENGINE, key: *mut EVP_PKEY) -> c_int;
    /// A null `key` makes a new key.
    fn d2i_PrivateKey(kind: c_int, key: *mut *mut EVP_PKEY, der: *mut *const c_uchar, length: c_long) -> *mut EVP_PKEY;
    fn d2i_PublicKey(kind: c_int, key: *mut *mut EVP_PKEY, der: *mut *const c_uchar, length: c_long) -> *mut EVP_PKEY;
    /// Returns the length. If `der` is not null, the key is written there, and `der` is moved behind it.
    fn i2d_PrivateKey(key: *mut EVP_PKEY, der: *mut *mut c_uchar) -> c_int;
}

/// Whether the library has it.
pub(super) fn has(algorithm: Algorithm) -> bool {
    let here = Older::of(algorithm).is_ok_and(|keys| keys.context().is_ok());
    // Empties the error queue, so that the next caller finds only its own errors.
    last_error::<Loaded>();
    here
}

/// Opens a session, as [`cpb_core::Provider::session`] does.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: Body<'_>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = &RawJobs::new(workload, keys, jobs)?;
    evp_pkey::session(&Older::of(workload.algorithm)?, workload, keys, jobs, body)
}

/// Keys as this version takes them.
enum Older {
    /// The modulus's length in bits, as decimal digits, and in bytes.
    Rsa(&'static CStr, usize),
    Curve {
        name: &'static CStr,
        id: ObjectIdentifier,
        /// A key of the curve without either half, from which other keys copy the curve.
        curve: Key<Loaded>,
    },
    /// Octet strings of this kind of key.
    Octets(c_int),
}

impl Older {
    fn of(algorithm: Algorithm) -> Result<Older, Error> {
        Ok(match algorithm {
            Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => Older::Rsa(c"2048", 256),
            Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => Older::Rsa(c"3072", 384),
            Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => Older::Rsa(c"4096", 512),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => curve(c"P-256", P256)?,
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => curve(c"P-384", P384)?,
            Algorithm::Ed25519 => Older::Octets(ED25519),
            Algorithm::X25519 => Older::Octets(X25519),
            _ => return Err(Unsupported::Algorithm.into()),
        })
    }

    fn kind(&self) -> c_int {
        match self {
            Older::Rsa(..) => RSA,
            Older::Curve { .. } => CURVE,
            Older::Octets(kind) => *kind,
        }
    }

    fn context(&self) -> Result<Context<Loaded>, Error> {
        context(self.kind())
    }
}

/// A context for keys of a kind.
fn context(kind: c_int) -> Result<Context<Loaded>, Error> {
    // SAFETY: takes a number; null means no engine.
    let context = unsafe { EVP_PKEY_CTX_new_id(kind, ptr::null_mut()) };
    Context::new(context).map_err(|_| Unsupported::BuildOption.into())
}

fn curve(name: &'static CStr, id: ObjectIdentifier) -> Result<Older, Error> {
    let context = context(CURVE)?;
    let mut curve = ptr::null_mut();
    // SAFETY: the context is live; a null pointer makes a new key.
    succeeded::<Loaded>(unsafe { EVP_PKEY_paramgen_init(context.0) })?;
    tell(&context, c"ec_paramgen_curve", name)?;
    // SAFETY: as above.
    succeeded::<Loaded>(unsafe { EVP_PKEY_paramgen(context.0, &mut curve) })?;
    Ok(Older::Curve { name, id, curve: Key::new(curve)? })
}

fn tell(context: &Context<Loaded>, what: &CStr, value: &CStr) -> Result<(), Error> {
    // SAFETY: the context is live; both are C strings.
    let status = unsafe { EVP_PKEY_CTX_ctrl_str(context.0, what.as_ptr(), value.as_ptr()) };
    succeeded::<Loaded>(status)
}

fn read_private(kind: c_int, der: &[u8]) -> Result<Key<Loaded>, Error> {
    let (mut start, length) = (der.as_ptr(), der.len() as c_long);
    // SAFETY: the length is that of the bytes.
    Key::new(unsafe { d2i_PrivateKey(kind, ptr::null_mut(), &mut start, length) })
}

fn write_private(key: &Key<Loaded>) -> Result<Vec<u8>, Error> {
    // SAFETY: the key is live; null asks for the length only.
    let length = unsafe { i2d_PrivateKey(key.0, ptr::null_mut()) };
    let mut der = vec![0; usize::try_from(length).map_err(|_| last_error::<Loaded>())?];
    let mut start = der.as_mut_ptr();
    // SAFETY: as above; there is room for the length that it returned.
    let written = unsafe { i2d_PrivateKey(key.0, &mut start) };
    if written == length { Ok(der) } else { Err(Error::WrongAnswer) }
}

/// Reads one half of a pair with the function `read`.
fn octets(
    read: unsafe fn(*const EVP_PKEY, *mut c_uchar, *mut usize) -> c_int,
    pair: &Key<Loaded>,
    output: &mut [u8],
) -> Result<(), Error> {
    let mut length = output.len();
    // SAFETY: the key is live, and the length is that of the output.
    succeeded::<Loaded>(unsafe { read(pair.0, output.as_mut_ptr(), &mut length) })?;
    if length == output.len() { Ok(()) } else { Err(Error::WrongAnswer) }
}

impl Keys<Loaded> for Older {
    fn is_curve(&self) -> bool {
        matches!(self, Older::Curve { .. })
    }

    fn private(&self, key: &[u8]) -> Result<Key<Loaded>, Error> {
        match self {
            Older::Rsa(_, modulus) => read_private(RSA, &key_der::rsa_private(*modulus, key)?),
            Older::Curve { id, .. } => read_private(CURVE, &key_der::curve_private(*id, key)?),
            Older::Octets(kind) => {
                let (none, bytes, length) = (ptr::null_mut(), key.as_ptr(), key.len());
                // SAFETY: the length is that of the bytes; null means no engine.
                Key::new(unsafe { EVP_PKEY_new_raw_private_key(*kind, none, bytes, length) })
            }
        }
    }

    fn public(&self, key: &[u8]) -> Result<Key<Loaded>, Error> {
        match self {
            Older::Rsa(_, modulus) => {
                let der = key_der::rsa_public(*modulus, key)?;
                let (mut start, length) = (der.as_ptr(), der.len() as c_long);
                // SAFETY: the length is that of the bytes.
                Key::new(unsafe { d2i_PublicKey(RSA, ptr::null_mut(), &mut start, length) })
            }
            Older::Curve { curve, .. } => {
                // SAFETY: takes no arguments.
                let public = Key::new(unsafe { EVP_PKEY_new() })?;
                // SAFETY: both are live, and the length is that of the bytes.
                unsafe {
                    succeeded::<Loaded>(EVP_PKEY_copy_parameters(public.0, curve.0))?;
                    let (point, length) = (key.as_ptr(), key.len());
                    succeeded::<Loaded>(EVP_PKEY_set1_tls_encodedpoint(public.0, point, length))?;
                }
                Ok(public)
            }
            // SAFETY: the length is that of the bytes; null means no engine.
            Older::Octets(kind) => Key::new(unsafe {
                EVP_PKEY_new_raw_public_key(*kind, ptr::null_mut(), key.as_ptr(), key.len())
            }),
        }
    }

    fn write(
        &self,
        pair: &Key<Loaded>,
        private: &mut [u8],
        public: &mut [u8],
    ) -> Result<(), Error> {
        match self {
            Older::Rsa(_, modulus) => {
                key_der::read_rsa_private(*modulus, &write_private(pair)?, private)?;
                public.copy_from_slice(private.get(..public.len()).ok_or(Error::WrongAnswer)?);
                Ok(())
            }
            Older::Curve { .. } => {
                key_der::read_curve_private(&write_private(pair)?, private, public)
            }
            Older::Octets(_) => {
                octets(EVP_PKEY_get_raw_private_key, pair, private)?;
                octets(EVP_PKEY_get_raw_public_key, pair, public)
            }
        }
    }

    fn maker(&self) -> Result<Context<Loaded>, Error> {
        let context = self.context()?;
        // SAFETY: the context is live.
        succeeded::<Loaded>(unsafe { Loaded::EVP_PKEY_keygen_init(context.0) })?;
        match self {
            Older::Rsa(bits, _) => tell(&context, c"rsa_keygen_bits", bits)?,
            Older::Curve { name, .. } => tell(&context, c"ec_paramgen_curve", name)?,
            Older::Octets(_) => {}
        }
        Ok(context)
    }

    #[inline(always)]
    unsafe fn make(context: *mut EVP_PKEY_CTX, pair: *mut *mut EVP_PKEY) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { EVP_PKEY_keygen(context, pair) }
    }

    fn user(&self, key: &Key<Loaded>) -> Result<Context<Loaded>, Error> {
        // SAFETY: the key is live; null means no engine.
        Context::new(unsafe { EVP_PKEY_CTX_new(key.0, ptr::null_mut()) })
    }

    fn pad(
        &self,
        context: &Context<Loaded>,
        padding: Option<Padding>,
        digest: Option<usize>,
    ) -> Result<(), Error> {
        // In this order, because a salt belongs to PSS.
        match padding {
            Some(Padding::Pkcs1) => tell(context, c"rsa_padding_mode", c"pkcs1")?,
            Some(Padding::Pss) => {
                tell(context, c"rsa_padding_mode", c"pss")?;
                tell(context, c"rsa_pss_saltlen", c"digest")?;
            }
            None => {}
        }
        tell(context, c"digest", if digest == Some(48) { c"SHA384" } else { c"SHA256" })
    }

    #[inline(always)]
    unsafe fn begin_sign(context: *mut EVP_MD_CTX, key: *mut EVP_PKEY) -> c_int {
        let none = ptr::null_mut();
        // SAFETY: as promised by the caller; null means no digest, no engine and no returned context.
        unsafe { EVP_DigestSignInit(context, ptr::null_mut(), ptr::null(), none, key) }
    }

    #[inline(always)]
    unsafe fn begin_verify(context: *mut EVP_MD_CTX, key: *mut EVP_PKEY) -> c_int {
        let none = ptr::null_mut();
        // SAFETY: as above.
        unsafe { EVP_DigestVerifyInit(context, ptr::null_mut(), ptr::null(), none, key) }
    }
}
