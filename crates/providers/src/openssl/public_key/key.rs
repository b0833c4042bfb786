//! Keys in the encodings of `cpb_core::public_key`, as libcrypto takes and returns them.

use crate::evp_pkey::{Context, Key, Keys, Padding};
use crate::openssl::ffi::{self, Libcrypto};
use crate::openssl::{Source, succeeded};
use core::ffi::{CStr, c_int, c_uint};
use core::ptr;
use cpb_core::public_key::{RSA_NUMBERS, rsa_numbers, rsa_places};
use cpb_core::{Algorithm, Error, Unsupported};

/// libcrypto's name of an algorithm, and the parts of its keys.
#[derive(Clone, Copy)]
pub(super) struct Names<L: Libcrypto> {
    source: Source<L>,
    name: &'static CStr,
    parts: KeyParts,
}

#[derive(Clone, Copy)]
enum KeyParts {
    /// Numbers in a row. The first is the modulus, which has this many bits.
    Rsa(u64),
    /// A scalar, and a point of the group of this name.
    Curve(&'static CStr),
    /// Two octet strings with these names.
    Octets { private: &'static CStr },
}

/// The numbers of an RSA key in their order.
const RSA: [&CStr; RSA_NUMBERS] = [
    c"n",
    c"e",
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
];

impl<L: Libcrypto> Names<L> {
    pub(super) fn of(source: Source<L>, algorithm: Algorithm) -> Option<Names<L>> {
        let (name, parts) = match algorithm {
            Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => (c"RSA", KeyParts::Rsa(2048)),
            Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => (c"RSA", KeyParts::Rsa(3072)),
            Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => (c"RSA", KeyParts::Rsa(4096)),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => (c"EC", KeyParts::Curve(c"P-256")),
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => (c"EC", KeyParts::Curve(c"P-384")),
            Algorithm::Ed25519 => (c"ED25519", KeyParts::Octets { private: c"priv" }),
            Algorithm::X25519 => (c"X25519", KeyParts::Octets { private: c"priv" }),
            Algorithm::MlDsa65 => (c"ML-DSA-65", KeyParts::Octets { private: c"seed" }),
            Algorithm::MlKem768 => (c"ML-KEM-768", KeyParts::Octets { private: c"seed" }),
            _ => return None,
        };
        Some(Names { source, name, parts })
    }

    /// A context for making keys.
    pub(super) fn context(&self) -> Result<Context<L>, Error> {
        // SAFETY: the name is a C string; null means the default library.
        let context = unsafe {
            let (name, properties) = (self.name.as_ptr(), self.source.properties());
            L::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name, properties)
        };
        Context::new(context).map_err(|_| Unsupported::BuildOption.into())
    }

    /// Tells a context which kind of pair to generate.
    fn ask(&self, context: &Context<L>) -> Result<(), Error> {
        let mut params = Params::default();
        match self.parts {
            KeyParts::Rsa(bits) => params.number(c"bits", &bits.to_be_bytes()),
            KeyParts::Curve(group) => params.group(group),
            KeyParts::Octets { .. } => return Ok(()),
        }
        let params = params.list::<L>();
        // SAFETY: the list has its end, and what it points to outlives the call.
        succeeded::<L>(unsafe { L::EVP_PKEY_CTX_set_params(context.0, params.list.as_ptr()) })
    }

    fn read(&self, selection: c_int, params: Params) -> Result<Key<L>, Error> {
        let context = self.context()?;
        let mut params = params.list::<L>();
        let mut key = ptr::null_mut();
        // SAFETY: the context is live. The list has its end, and what it points to outlives the call, which
        // copies it.
        unsafe {
            succeeded::<L>(L::EVP_PKEY_fromdata_init(context.0))?;
            let list = params.list.as_mut_ptr();
            succeeded::<L>(L::EVP_PKEY_fromdata(context.0, &mut key, selection, list))?;
        }
        Key::new(key)
    }
}

impl<L: Libcrypto> Keys<L> for Names<L> {
    fn is_curve(&self) -> bool {
        matches!(self.parts, KeyParts::Curve(_))
    }

    fn private(&self, key: &[u8]) -> Result<Key<L>, Error> {
        let mut params = Params::default();
        match self.parts {
            KeyParts::Rsa(bits) => params.rsa(bits, key),
            KeyParts::Curve(group) => {
                params.group(group);
                params.number(c"priv", key);
            }
            KeyParts::Octets { private } => params.octets(private, key),
        }
        self.read(ffi::EVP_PKEY_KEYPAIR, params)
    }

    fn public(&self, key: &[u8]) -> Result<Key<L>, Error> {
        let mut params = Params::default();
        match self.parts {
            KeyParts::Rsa(bits) => params.rsa(bits, key),
            KeyParts::Curve(group) => {
                params.group(group);
                params.octets(c"pub", key);
            }
            KeyParts::Octets { .. } => params.octets(c"pub", key),
        }
        self.read(ffi::EVP_PKEY_PUBLIC_KEY, params)
    }

    fn write(&self, pair: &Key<L>, private: &mut [u8], public: &mut [u8]) -> Result<(), Error> {
        match self.parts {
            KeyParts::Rsa(bits) => {
                for (name, digits) in RSA.into_iter().zip(rsa_places(bits as usize / 8, private)) {
                    write_number::<L>(pair, name, digits)?;
                }
                public.copy_from_slice(&private[..public.len()]);
                Ok(())
            }
            KeyParts::Curve(_) => {
                write_number::<L>(pair, c"priv", private)?;
                write_octets::<L>(pair, c"encoded-pub-key", public)
            }
            KeyParts::Octets { private: name } => {
                write_octets::<L>(pair, name, private)?;
                write_octets::<L>(pair, c"pub", public)
            }
        }
    }

    fn maker(&self) -> Result<Context<L>, Error> {
        let context = self.context()?;
        // SAFETY: the context is live.
        succeeded::<L>(unsafe { L::EVP_PKEY_keygen_init(context.0) })?;
        self.ask(&context)?;
        Ok(context)
    }

    #[inline(always)]
    unsafe fn make(context: *mut ffi::EVP_PKEY_CTX, pair: *mut *mut ffi::EVP_PKEY) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe { L::EVP_PKEY_generate(context, pair) }
    }

    fn user(&self, key: &Key<L>) -> Result<Context<L>, Error> {
        // SAFETY: the key is live; null means the default library and no properties.
        Context::new(unsafe { L::EVP_PKEY_CTX_new_from_pkey(ptr::null_mut(), key.0, ptr::null()) })
    }

    fn pad(
        &self,
        context: &Context<L>,
        padding: Option<Padding>,
        digest: Option<usize>,
    ) -> Result<(), Error> {
        let set = |params: &[ffi::OSSL_PARAM]| {
            // SAFETY: the list has its end, and strings and numbers outlive the call.
            succeeded::<L>(unsafe { L::EVP_PKEY_CTX_set_params(context.0, params.as_ptr()) })
        };
        let digest = if digest == Some(48) { c"SHA2-384" } else { c"SHA2-256" };
        let text = |name: &CStr, value: &CStr| {
            // SAFETY: both are C strings that outlive the parameter, and are only read.
            unsafe {
                L::OSSL_PARAM_construct_utf8_string(name.as_ptr(), value.as_ptr().cast_mut(), 0)
            }
        };
        // SAFETY: takes no arguments.
        let end = unsafe { L::OSSL_PARAM_construct_end() };
        match padding {
            Some(Padding::Pkcs1) => {
                set(&[text(c"pad-mode", c"pkcs1"), text(c"digest", digest), end])
            }
            Some(Padding::Pss) => set(&[
                text(c"pad-mode", c"pss"),
                text(c"digest", digest),
                text(c"saltlen", c"digest"),
                text(c"mgf1-digest", digest),
                end,
            ]),
            None => set(&[text(c"digest", digest), end]),
        }
    }

    #[inline(always)]
    unsafe fn begin_sign(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int {
        let (null, none) = (ptr::null(), ptr::null_mut());
        // SAFETY: both are live. Null means no digest, the default library, no properties, no parameters and no
        // returned context.
        unsafe {
            L::EVP_DigestSignInit_ex(context, ptr::null_mut(), null, none, null, key, ptr::null())
        }
    }

    #[inline(always)]
    unsafe fn begin_verify(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int {
        let (null, none) = (ptr::null(), ptr::null_mut());
        // SAFETY: as above.
        unsafe {
            L::EVP_DigestVerifyInit_ex(context, ptr::null_mut(), null, none, null, key, ptr::null())
        }
    }
}

fn write_number<L: Libcrypto>(pair: &Key<L>, name: &CStr, output: &mut [u8]) -> Result<(), Error> {
    let mut number = ptr::null_mut();
    // SAFETY: the key is live and the name a C string. The number is freed in any case.
    unsafe {
        succeeded::<L>(L::EVP_PKEY_get_bn_param(pair.0, name.as_ptr(), &mut number))?;
        let length = output.len() as c_int;
        let written = L::BN_bn2binpad(number, output.as_mut_ptr(), length);
        L::BN_clear_free(number);
        if written == length { Ok(()) } else { Err(Error::WrongAnswer) }
    }
}

fn write_octets<L: Libcrypto>(pair: &Key<L>, name: &CStr, output: &mut [u8]) -> Result<(), Error> {
    let mut length = 0;
    // SAFETY: the key is live, the name a C string, and the length is that of the output.
    succeeded::<L>(unsafe {
        let (buffer, room) = (output.as_mut_ptr(), output.len());
        L::EVP_PKEY_get_octet_string_param(pair.0, name.as_ptr(), buffer, room, &mut length)
    })?;
    if length == output.len() { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// Parameters that are being collected, each with its own memory.
#[derive(Default)]
struct Params {
    values: Vec<(&'static CStr, c_uint, Vec<u8>)>,
}

/// A list as libcrypto takes it, and the memory that it points to.
struct List {
    list: Vec<ffi::OSSL_PARAM>,
    _values: Vec<(&'static CStr, c_uint, Vec<u8>)>,
}

impl Params {
    /// Adds a big-endian number, in the machine's byte order.
    fn number(&mut self, name: &'static CStr, digits: &[u8]) {
        let mut digits = digits.to_vec();
        if cfg!(target_endian = "little") {
            digits.reverse();
        }
        self.values.push((name, ffi::OSSL_PARAM_UNSIGNED_INTEGER, digits));
    }

    fn octets(&mut self, name: &'static CStr, octets: &[u8]) {
        self.values.push((name, ffi::OSSL_PARAM_OCTET_STRING, octets.to_vec()));
    }

    fn group(&mut self, group: &CStr) {
        let text = group.to_bytes_with_nul().to_vec();
        self.values.push((c"group", ffi::OSSL_PARAM_UTF8_STRING, text));
    }

    /// Adds as many numbers as `key` holds.
    fn rsa(&mut self, bits: u64, key: &[u8]) {
        for (name, digits) in RSA.into_iter().zip(rsa_numbers(bits as usize / 8, key)) {
            self.number(name, digits);
        }
    }

    fn list<L: Libcrypto>(mut self) -> List {
        let mut list: Vec<_> = (self.values.iter_mut())
            .map(|(name, kind, value)| ffi::OSSL_PARAM {
                key: name.as_ptr(),
                data_type: *kind,
                data: value.as_mut_ptr().cast(),
                // A text's length does not include its end.
                data_size: value.len() - usize::from(*kind == ffi::OSSL_PARAM_UTF8_STRING),
                return_size: usize::MAX,
            })
            .collect();
        // SAFETY: takes no arguments.
        list.push(unsafe { L::OSSL_PARAM_construct_end() });
        List { list, _values: self.values }
    }
}
