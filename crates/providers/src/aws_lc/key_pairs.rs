//! How AWS-LC takes and returns keys. `evp_pkey` does the rest.

use super::{Functions, ffi};
use crate::evp::{Evp, forward};
use crate::evp_pkey::{self, EvpPkey, Keys, Padding};
use crate::key_pairs::whole;
use core::ffi::{c_int, c_long};
use core::ptr;
use cpb_core::public_key::{RSA_NUMBERS, rsa_numbers, rsa_places};
use cpb_core::{Algorithm, CryptoWorkload, Error, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::RawJobs;

/// Whether the library has an algorithm with key pairs.
pub(super) fn has(algorithm: Algorithm) -> bool {
    Scheme::of(algorithm).is_some()
}

/// Opens a session.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let scheme = Scheme::of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    evp_pkey::session(&scheme, workload, keys, jobs, body)
}

/// The library's name of an algorithm, by how its keys are made.
#[derive(Clone, Copy)]
enum Scheme {
    /// The modulus's length in bytes.
    Rsa(usize),
    /// The curve's number.
    Curve(c_int),
    /// Keys are octet strings; the number is that of the key type.
    Octets(c_int),
    /// ML-DSA, with its number.
    MlDsa(c_int),
    /// ML-KEM, with its number.
    MlKem(c_int),
}

/// What precedes the seed of an ML-KEM-768 key in PKCS #8 (RFC 9935). The library's crate declares no other way
/// to pass a seed.
const ML_KEM_768_SEED: [u8; 22] = [
    0x30, 0x54, // the sequence
    0x02, 0x01, 0x00, // its version
    0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04,
    0x02, // ML-KEM-768
    0x04, 0x42, 0x80, 0x40, // the seed
];

impl Scheme {
    fn of(algorithm: Algorithm) -> Option<Scheme> {
        Some(match algorithm {
            Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => Scheme::Rsa(256),
            Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => Scheme::Rsa(384),
            Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => Scheme::Rsa(512),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Scheme::Curve(ffi::NID_X9_62_prime256v1),
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => Scheme::Curve(ffi::NID_secp384r1),
            Algorithm::Ed25519 => Scheme::Octets(ffi::EVP_PKEY_ED25519),
            Algorithm::X25519 => Scheme::Octets(ffi::EVP_PKEY_X25519),
            Algorithm::MlDsa65 => Scheme::MlDsa(ffi::NID_MLDSA65),
            Algorithm::MlKem768 => Scheme::MlKem(ffi::NID_MLKEM768),
            _ => return None,
        })
    }
}

impl Keys<Functions> for Scheme {
    fn is_curve(&self) -> bool {
        matches!(self, Scheme::Curve(_))
    }

    fn private(&self, key: &[u8]) -> Result<Key, Error> {
        let (bytes, length) = (key.as_ptr(), key.len());
        // SAFETY: the key is live, and the lengths are those of the bytes that the library copies.
        unsafe {
            match *self {
                Scheme::Rsa(modulus) => rsa(modulus, key),
                Scheme::Curve(curve) => {
                    let pair = Owned::new(ffi::EC_KEY_new_by_curve_name(curve), ffi::EC_KEY_free)?;
                    let scalar = number(key)?;
                    succeeded(ffi::EC_KEY_set_private_key(pair.0, scalar.0))?;
                    curve_key(&pair)
                }
                Scheme::Octets(id) => {
                    Key::new(ffi::EVP_PKEY_new_raw_private_key(id, ptr::null_mut(), bytes, length))
                }
                Scheme::MlDsa(id) => {
                    Key::new(ffi::EVP_PKEY_pqdsa_new_raw_private_key(id, bytes, length))
                }
                Scheme::MlKem(_) => {
                    let der = [&ML_KEM_768_SEED[..], key].concat();
                    let (mut bytes, length) = (der.as_ptr(), der.len() as c_long);
                    let pair =
                        ffi::d2i_PrivateKey(ffi::EVP_PKEY_KEM, ptr::null_mut(), &mut bytes, length);
                    Key::new(pair)
                }
            }
        }
    }

    fn public(&self, key: &[u8]) -> Result<Key, Error> {
        let (bytes, length) = (key.as_ptr(), key.len());
        // SAFETY: as above; a curve's group and point live as long as the key.
        unsafe {
            match *self {
                Scheme::Rsa(modulus) => rsa(modulus, key),
                Scheme::Curve(curve) => {
                    let pair = Owned::new(ffi::EC_KEY_new_by_curve_name(curve), ffi::EC_KEY_free)?;
                    let group = ffi::EC_KEY_get0_group(pair.0);
                    let point = Owned::new(ffi::EC_POINT_new(group), ffi::EC_POINT_free)?;
                    let none = ptr::null_mut();
                    succeeded(ffi::EC_POINT_oct2point(group, point.0, bytes, length, none))?;
                    succeeded(ffi::EC_KEY_set_public_key(pair.0, point.0))?;
                    curve_key(&pair)
                }
                Scheme::Octets(id) => {
                    Key::new(ffi::EVP_PKEY_new_raw_public_key(id, ptr::null_mut(), bytes, length))
                }
                Scheme::MlDsa(id) => {
                    Key::new(ffi::EVP_PKEY_pqdsa_new_raw_public_key(id, bytes, length))
                }
                Scheme::MlKem(id) => {
                    Key::new(ffi::EVP_PKEY_kem_new_raw_public_key(id, bytes, length))
                }
            }
        }
    }

    /// Returns a context that makes pairs.
    fn maker(&self) -> Result<Context, Error> {
        let id = match *self {
            Scheme::Rsa(..) => ffi::EVP_PKEY_RSA,
            Scheme::Curve(_) => ffi::EVP_PKEY_EC,
            Scheme::Octets(id) => id,
            Scheme::MlDsa(_) => ffi::EVP_PKEY_PQDSA,
            Scheme::MlKem(_) => ffi::EVP_PKEY_KEM,
        };
        // SAFETY: the context is live; null means no engine.
        unsafe {
            let context = Context::new(ffi::EVP_PKEY_CTX_new_id(id, ptr::null_mut()))?;
            succeeded(ffi::EVP_PKEY_keygen_init(context.0))?;
            match *self {
                Scheme::Rsa(modulus) => succeeded(ffi::EVP_PKEY_CTX_set_rsa_keygen_bits(
                    context.0,
                    modulus as c_int * 8,
                ))?,
                Scheme::Curve(curve) => {
                    succeeded(ffi::EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.0, curve))?;
                }
                Scheme::MlDsa(id) => {
                    succeeded(ffi::EVP_PKEY_CTX_pqdsa_set_params(context.0, id))?;
                }
                Scheme::MlKem(id) => succeeded(ffi::EVP_PKEY_CTX_kem_set_params(context.0, id))?,
                Scheme::Octets(_) => {}
            }
            Ok(context)
        }
    }

    /// Writes both halves of a pair.
    fn write(&self, pair: &Key, private: &mut [u8], public: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the pair and what is obtained from it are live, and the outputs have the stated lengths.
        unsafe {
            match *self {
                Scheme::Rsa(modulus) => {
                    let numbers = numbers_of(pair.0).into_iter();
                    for (number, digits) in numbers.zip(rsa_places(modulus, private)) {
                        write_number(number, digits)?;
                    }
                    public.copy_from_slice(&private[..public.len()]);
                    Ok(())
                }
                Scheme::Curve(_) => {
                    let pair = ffi::EVP_PKEY_get0_EC_KEY(pair.0);
                    write_number(ffi::EC_KEY_get0_private_key(pair), private)?;
                    let (group, point) =
                        (ffi::EC_KEY_get0_group(pair), ffi::EC_KEY_get0_public_key(pair));
                    let form = ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
                    let (output, room) = (public.as_mut_ptr(), public.len());
                    let none = ptr::null_mut();
                    let written = ffi::EC_POINT_point2oct(group, point, form, output, room, none);
                    whole(written, public.len())
                }
                Scheme::Octets(_) => {
                    write_octets(ffi::EVP_PKEY_get_raw_private_key, pair, private)?;
                    write_octets(ffi::EVP_PKEY_get_raw_public_key, pair, public)
                }
                Scheme::MlDsa(_) | Scheme::MlKem(_) => {
                    write_octets(ffi::EVP_PKEY_get_private_seed, pair, private)?;
                    write_octets(ffi::EVP_PKEY_get_raw_public_key, pair, public)
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn make(context: *mut ffi::EVP_PKEY_CTX, pair: *mut *mut ffi::EVP_PKEY) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { ffi::EVP_PKEY_keygen(context, pair) }
    }

    fn user(&self, key: &Key) -> Result<Context, Error> {
        // SAFETY: the key is live; null means no engine.
        Context::new(unsafe { ffi::EVP_PKEY_CTX_new(key.0, ptr::null_mut()) })
    }

    fn pad(
        &self,
        context: &Context,
        padding: Option<Padding>,
        digest: Option<usize>,
    ) -> Result<(), Error> {
        let wide = digest == Some(48);
        let digest = Functions::digest(if wide { Algorithm::Sha384 } else { Algorithm::Sha256 });
        // SAFETY: the context is live, the digest a constant.
        unsafe {
            let set = |padding| succeeded(ffi::EVP_PKEY_CTX_set_rsa_padding(context.0, padding));
            match padding {
                Some(Padding::Pkcs1) => set(ffi::RSA_PKCS1_PADDING)?,
                Some(Padding::Pss) => {
                    set(ffi::RSA_PKCS1_PSS_PADDING)?;
                    let length = ffi::RSA_PSS_SALTLEN_DIGEST;
                    succeeded(ffi::EVP_PKEY_CTX_set_rsa_pss_saltlen(context.0, length))?;
                }
                None => {}
            }
            succeeded(ffi::EVP_PKEY_CTX_set_signature_md(context.0, digest))
        }
    }

    #[inline(always)]
    unsafe fn begin_sign(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int {
        let (none, no_engine) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as promised by the caller; null means no digest, no engine and no returned context.
        unsafe { ffi::EVP_DigestSignInit(context, none, ptr::null(), no_engine, key) }
    }

    #[inline(always)]
    unsafe fn begin_verify(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int {
        let (none, no_engine) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as above.
        unsafe { ffi::EVP_DigestVerifyInit(context, none, ptr::null(), no_engine, key) }
    }
}

impl EvpPkey for Functions {
    type Key = ffi::EVP_PKEY;
    type KeyContext = ffi::EVP_PKEY_CTX;
    type DigestContext = ffi::EVP_MD_CTX;

    fn failed() -> Error {
        failed()
    }

    /// The library has no call for it.
    #[inline(always)]
    unsafe fn encapsulate_init(_context: *mut ffi::EVP_PKEY_CTX) -> c_int {
        1
    }

    /// The library has no call for it.
    #[inline(always)]
    unsafe fn decapsulate_init(_context: *mut ffi::EVP_PKEY_CTX) -> c_int {
        1
    }

    forward! {
        fn key_free(key: *mut ffi::EVP_PKEY) = ffi::EVP_PKEY_free;
        fn key_context_free(context: *mut ffi::EVP_PKEY_CTX) = ffi::EVP_PKEY_CTX_free;
        fn sign_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = ffi::EVP_PKEY_sign_init;
        fn sign(
            context: *mut ffi::EVP_PKEY_CTX, signature: *mut u8, signature_length: *mut usize,
            digest: *const u8, digest_length: usize
        ) -> c_int = ffi::EVP_PKEY_sign;
        fn verify_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = ffi::EVP_PKEY_verify_init;
        fn verify(
            context: *mut ffi::EVP_PKEY_CTX, signature: *const u8, signature_length: usize,
            digest: *const u8, digest_length: usize
        ) -> c_int = ffi::EVP_PKEY_verify;
        fn derive_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = ffi::EVP_PKEY_derive_init;
        fn derive_set_peer(context: *mut ffi::EVP_PKEY_CTX, peer: *mut ffi::EVP_PKEY) -> c_int
            = ffi::EVP_PKEY_derive_set_peer;
        fn derive(context: *mut ffi::EVP_PKEY_CTX, secret: *mut u8, length: *mut usize) -> c_int
            = ffi::EVP_PKEY_derive;
        fn encapsulate(
            context: *mut ffi::EVP_PKEY_CTX, encapsulation: *mut u8, encapsulation_length: *mut usize,
            secret: *mut u8, secret_length: *mut usize
        ) -> c_int = ffi::EVP_PKEY_encapsulate;
        fn decapsulate(
            context: *mut ffi::EVP_PKEY_CTX, secret: *mut u8, secret_length: *mut usize,
            encapsulation: *const u8, encapsulation_length: usize
        ) -> c_int = ffi::EVP_PKEY_decapsulate;
        fn digest_context_new() -> *mut ffi::EVP_MD_CTX = ffi::EVP_MD_CTX_new;
        fn digest_context_free(context: *mut ffi::EVP_MD_CTX) = ffi::EVP_MD_CTX_free;
        fn digest_sign(
            context: *mut ffi::EVP_MD_CTX, signature: *mut u8, signature_length: *mut usize,
            message: *const u8, message_length: usize
        ) -> c_int = ffi::EVP_DigestSign;
        fn digest_verify(
            context: *mut ffi::EVP_MD_CTX, signature: *const u8, signature_length: usize,
            message: *const u8, message_length: usize
        ) -> c_int = ffi::EVP_DigestVerify;
    }
}

/// Makes a public or a private key, depending on how many numbers `key` has.
fn rsa(modulus: usize, key: &[u8]) -> Result<Key, Error> {
    let numbers: Vec<_> = rsa_numbers(modulus, key).map(number).collect::<Result<_, _>>()?;
    // SAFETY: the numbers are live, and the library copies them; the new key has one owner.
    unsafe {
        let key = match numbers.as_slice() {
            [n, e] => ffi::RSA_new_public_key(n.0, e.0),
            [n, e, d, p, q, d_p, d_q, q_inverse] => {
                ffi::RSA_new_private_key(n.0, e.0, d.0, p.0, q.0, d_p.0, d_q.0, q_inverse.0)
            }
            _ => return Err(Unsupported::Length.into()),
        };
        let rsa = Owned::new(key, ffi::RSA_free)?;
        let key = Key::new(ffi::EVP_PKEY_new())?;
        succeeded(ffi::EVP_PKEY_set1_RSA(key.0, rsa.0))?;
        Ok(key)
    }
}

/// Returns the numbers of a pair, in order.
///
/// # Safety
/// `pair` is a live RSA key pair, and outlives the numbers.
unsafe fn numbers_of(pair: *const ffi::EVP_PKEY) -> [*const ffi::BIGNUM; RSA_NUMBERS] {
    let mut numbers = [ptr::null(); RSA_NUMBERS];
    let [n, e, d, p, q, d_p, d_q, q_inverse] = &mut numbers;
    // SAFETY: as promised by the caller.
    unsafe {
        let rsa = ffi::EVP_PKEY_get0_RSA(pair);
        ffi::RSA_get0_key(rsa, n, e, d);
        ffi::RSA_get0_factors(rsa, p, q);
        ffi::RSA_get0_crt_params(rsa, d_p, d_q, q_inverse);
    }
    numbers
}

fn number(digits: &[u8]) -> Result<Owned<ffi::BIGNUM>, Error> {
    // SAFETY: the length is that of the digits; null asks for a new number.
    let number = unsafe { ffi::BN_bin2bn(digits.as_ptr(), digits.len(), ptr::null_mut()) };
    Owned::new(number, ffi::BN_clear_free)
}

/// Writes a number as big-endian digits.
///
/// # Safety
/// `number` is live.
unsafe fn write_number(number: *const ffi::BIGNUM, digits: &mut [u8]) -> Result<(), Error> {
    // SAFETY: as promised by the caller; the output has the stated length.
    succeeded(unsafe { ffi::BN_bn2bin_padded(digits.as_mut_ptr(), digits.len(), number) })
}

/// Writes a key's octets with the library function `get`.
fn write_octets(
    get: unsafe extern "C" fn(*const ffi::EVP_PKEY, *mut u8, *mut usize) -> c_int,
    key: &Key,
    output: &mut [u8],
) -> Result<(), Error> {
    let mut length = output.len();
    // SAFETY: the key is live; the output has the stated length.
    succeeded(unsafe { get(key.0, output.as_mut_ptr(), &mut length) })?;
    whole(length, output.len())
}

/// Makes a key from a pair on a curve.
fn curve_key(pair: &Owned<ffi::EC_KEY>) -> Result<Key, Error> {
    // SAFETY: both are live; the key shares ownership of the pair.
    unsafe {
        let key = Key::new(ffi::EVP_PKEY_new())?;
        succeeded(ffi::EVP_PKEY_set1_EC_KEY(key.0, pair.0))?;
        Ok(key)
    }
}

/// An object of the library, with one owner.
struct Owned<T>(*mut T, unsafe extern "C" fn(*mut T));

impl<T> Owned<T> {
    /// Takes what the library has just made. Returns an error if it is null.
    fn new(made: *mut T, free: unsafe extern "C" fn(*mut T)) -> Result<Owned<T>, Error> {
        if made.is_null() { Err(failed()) } else { Ok(Owned(made, free)) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { self.1(self.0) }
    }
}

type Key = evp_pkey::Key<Functions>;
type Context = evp_pkey::Context<Functions>;

#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(failed()) }
}

#[cold]
fn failed() -> Error {
    Error::Device(Functions::last_error())
}
