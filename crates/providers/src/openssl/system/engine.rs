//! An engine of libcrypto by name, and the driver that computes behind it.

// C names stay as the headers spell them.
#![allow(non_snake_case)]

use super::super::evp_name;
use super::super::ffi::{self, ENGINE, EVP_CIPHER, EVP_MD, Libcrypto, Loaded};
use super::{c_string, complaint};
use crate::cryptodev::Served;
use crate::interrupts::{JobCounter, Lines, Wiring};
use crate::kernel_crypto;
use crate::loaded::{Library, c_functions, unavailable};
use crate::{Unavailable, af_alg};
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use cpb_core::{Algorithm, Claim, Kind};
use std::path::Path;

// openssl/engine.h and objects.h. Lookups return null or 0 if nothing is found.
c_functions! { loaded:
    fn ENGINE_by_id(id: *const c_char) -> *mut ENGINE;
    fn ENGINE_init(engine: *mut ENGINE) -> c_int;
    fn ENGINE_get_cipher(engine: *mut ENGINE, nid: c_int) -> *const EVP_CIPHER;
    fn ENGINE_get_digest(engine: *mut ENGINE, nid: c_int) -> *const EVP_MD;
    fn OBJ_txt2nid(name: *const c_char) -> c_int;
}

/// The engine that opens AF_ALG sockets, and the one kernel algorithm that it asks for.
const AF_ALG: &str = "afalg";
const AF_ALG_ASKS: &str = "cbc(aes)";

/// The engine that opens `/dev/crypto`.
const DEVCRYPTO: &str = "devcrypto";

/// The root of the running kernel's `proc` and `sys`.
const ROOT: &str = "/";

/// An engine, ready for work until the process ends.
pub(super) struct Engine {
    name: String,
    handle: *mut ENGINE,
    /// The kernel's driver or drivers behind it, if it is an engine that asks the kernel.
    driver: Option<String>,
    pub(super) claim: Claim,
    pub(super) interrupts: Option<Lines>,
    /// The count of the engine behind it.
    pub(super) jobs: Option<JobCounter>,
}

impl Engine {
    pub(super) fn load(library: &Library, name: &str) -> Result<Engine, Unavailable> {
        if let Some(lacks) = library.fill(SLOTS).first() {
            let lacks = lacks.to_string_lossy();
            return Err(unavailable(format!("this libcrypto has no engines (no {lacks})")));
        }
        if name == AF_ALG {
            af_alg::interface(Path::new(ROOT)).map_err(af_alg::unavailable)?;
        }
        let id = c_string(name)?;
        // SAFETY: the engines that are files or built in are registered, and then one is looked up by a C
        // string. Its reference is kept for ever.
        let handle = unsafe {
            Loaded::OPENSSL_init_crypto(ffi::OPENSSL_INIT_ENGINES, ptr::null());
            ENGINE_by_id(id.as_ptr())
        };
        // SAFETY: null means that there is no such engine; otherwise it is live.
        if handle.is_null() || unsafe { ENGINE_init(handle) } != 1 {
            let detail = format!("libcrypto's engine {name} does not load: {}", complaint());
            return Err(unavailable(detail));
        }
        let mut engine = Engine {
            name: name.to_owned(),
            handle,
            driver: None,
            claim: Claim::Unknown,
            interrupts: None,
            jobs: None,
        };
        match name {
            AF_ALG => engine.find_driver(),
            DEVCRYPTO => engine.ask_for_drivers(),
            _ => {}
        }
        Ok(engine)
    }

    pub(super) fn handle(&self) -> *mut ENGINE {
        self.handle
    }

    pub(super) fn has(&self, kind: Kind, name: &CStr) -> bool {
        // SAFETY: the engine is live, the name is a C string, and what is found belongs to the engine.
        unsafe {
            let nid = OBJ_txt2nid(name.as_ptr());
            let found = match kind {
                Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher => {
                    !ENGINE_get_cipher(self.handle, nid).is_null()
                }
                Kind::Hash => !ENGINE_get_digest(self.handle, nid).is_null(),
                // Engines do not compute tags and MACs.
                _ => false,
            };
            Loaded::ERR_clear_error();
            found && nid != 0
        }
    }

    pub(super) fn executor(&self) -> String {
        match (&self.driver, self.name.as_str()) {
            (Some(driver), _) => driver.clone(),
            (None, AF_ALG) => format!("unknown, for {AF_ALG_ASKS}"),
            (None, name) => format!("engine {name}"),
        }
    }

    /// Asks the module cryptodev which driver it takes for each algorithm that the engine has. The module takes
    /// the same driver for every program. If it does not answer, the executor stays unknown.
    fn ask_for_drivers(&mut self) {
        let has = |algorithm: Algorithm| self.has(algorithm.shape().kind, evp_name(algorithm));
        if let Ok(Served { executor, claim, lines, jobs }) = Served::here(has) {
            (self.driver, self.claim) = (Some(executor), claim);
            (self.interrupts, self.jobs) = (lines, jobs);
        }
    }

    /// Opens a context as a session does, and finds the driver that has one more user while it is open.
    fn find_driver(&mut self) {
        let root = Path::new(ROOT);
        let before = kernel_crypto::drivers(root);
        // SAFETY: the engine is live; key and IV have AES-128-CBC's lengths.
        let driver = unsafe {
            let context = Loaded::EVP_CIPHER_CTX_new();
            let cipher = Loaded::EVP_get_cipherbyname(c"AES-128-CBC".as_ptr());
            let zeros = [0; 16];
            let (key, iv) = (zeros.as_ptr(), zeros.as_ptr());
            let begun = Loaded::EVP_CipherInit_ex(context, cipher, self.handle, key, iv, 1) == 1;
            let after = begun.then(|| kernel_crypto::drivers(root));
            Loaded::EVP_CIPHER_CTX_free(context);
            Loaded::ERR_clear_error();
            after.and_then(|after| af_alg::taken(AF_ALG_ASKS, &before, &after))
        };
        if let Some(driver) = driver {
            let wiring = Wiring::current(root);
            self.claim = wiring.claim(&driver, true);
            self.interrupts = wiring.to_watch(&driver.driver);
            self.jobs = wiring.jobs_of(&[&driver.driver]);
            self.driver = Some(driver.driver);
        }
    }
}
