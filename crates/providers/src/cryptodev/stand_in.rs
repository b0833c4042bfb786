//! What the module cryptodev does at the level of its system calls, for tests only. No registry carries the
//! module, so a table in memory and a software library play its sessions, answers and errors. The stand-in is
//! stricter than the module where the module's behaviour is undefined. Its answers are never measured.

use super::abi::{self, AlgInfo, AuthOp, CryptOp, NAME, SessionInfo, SessionOp};
use super::device::{Device, Errno};
use core::ffi::{c_int, c_void};
use core::slice;
use cpb_core::algorithm::Shape;
use cpb_core::{Algorithm, CryptoWorkload, Data, Error, Job, Kind, Operation, Placement, check};
use libc::Ioctl;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The module, loaded.
pub(super) struct Module {
    software: crate::Boxed,
    state: Mutex<State>,
}

/// What the module was given, and what it remembers.
pub(super) struct State {
    /// The result of open(2).
    pub(super) node: Result<(), Errno>,
    /// What the kernel lacks, by the kernel's names.
    pub(super) lacks: Vec<&'static str>,
    /// One less than the alignment that every driver requires.
    pub(super) alignmask: u16,
    /// What drivers report about themselves.
    pub(super) flags: u32,
    /// The drivers that the kernel takes, if they are not the stand-in's own.
    pub(super) drivers: BTreeMap<&'static str, &'static str>,
    /// A call that fails: its request, its number among the calls of that request, counted from 0, and the
    /// error.
    pub(super) fault: Option<(Ioctl, usize, c_int)>,
    /// How often each request was made.
    pub(super) calls: BTreeMap<u32, usize>,
    /// The messages, as they were requested.
    pub(super) messages: Vec<Message>,
    /// Misuse that the module would not report.
    pub(super) misuse: Vec<String>,
    files: BTreeMap<c_int, BTreeMap<u32, KernelSession>>,
    last: u32,
}

/// A message that was requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// The descriptor that it came through.
    pub(super) file: c_int,
    pub(super) source: *const u8,
    /// Where the output, or the digest, went.
    pub(super) output: *const u8,
    /// Whether it was copied by pages because its buffers were not aligned.
    pub(super) copied: bool,
}

// SAFETY: the pointers in a message are compared, never followed.
unsafe impl Send for Message {}

/// A session in the module.
struct KernelSession {
    number: u32,
    key: Vec<u8>,
    /// What a digest has received so far.
    pending: Vec<u8>,
}

impl Module {
    /// A module without faults, over a kernel that has everything.
    pub(super) fn loaded() -> Arc<Module> {
        let software = (crate::mbedtls::C.open)("");
        Arc::new(Module {
            software: software.unwrap_or_else(|missing| panic!("{}", missing.detail)),
            state: Mutex::new(State {
                node: Ok(()),
                lacks: Vec::new(),
                alignmask: 0,
                flags: 0,
                drivers: BTreeMap::new(),
                fault: None,
                calls: BTreeMap::new(),
                messages: Vec::new(),
                misuse: Vec::new(),
                files: BTreeMap::new(),
                last: 2,
            }),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one whole message in software. `Err` is the kernel's error.
    fn compute(
        &self,
        open: &KernelSession,
        message: Whole<'_>,
    ) -> Result<(Vec<u8>, Vec<u8>), Errno> {
        let invalid = Errno(libc::EINVAL);
        if open.number == abi::NULL {
            return Ok((message.input.to_vec(), Vec::new()));
        }
        let algorithm = algorithm(open.number, open.key.len()).ok_or(invalid)?;
        let length = message.input.len();
        let workload = CryptoWorkload {
            associated: message.associated.len() as u32,
            placement: Placement::Apart,
            ..CryptoWorkload::new(algorithm, message.operation, length as u32)
        };
        let mut output = vec![0; algorithm.output_length(length)];
        let mut tag = message.tag.to_vec();
        tag.resize(algorithm.shape().tag, 0);
        let data = Data::Apart { input: message.input, output: &mut output };
        let (iv, associated) = (message.iv, message.associated);
        let mut jobs = [Job { key: 0, iv, associated, data, tag: &mut tag }];
        let ran = self
            .software
            .session(&workload, &[&open.key], &mut jobs, &mut |session| check::once(session, 0));
        match ran {
            Ok(()) => Ok((output, tag)),
            Err(Error::Refused) => Err(Errno(libc::EBADMSG)),
            Err(_) => Err(invalid),
        }
    }
}

/// A message in the form that the software takes.
struct Whole<'m> {
    operation: Operation,
    iv: &'m [u8],
    associated: &'m [u8],
    input: &'m [u8],
    tag: &'m [u8],
}

fn algorithm(number: u32, key: usize) -> Option<Algorithm> {
    Some(match (number, key) {
        (abi::AES_CBC, 16) => Algorithm::Aes128Cbc,
        (abi::AES_CBC, 24) => Algorithm::Aes192Cbc,
        (abi::AES_CBC, 32) => Algorithm::Aes256Cbc,
        (abi::AES_ECB, 16) => Algorithm::Aes128Ecb,
        (abi::AES_ECB, 24) => Algorithm::Aes192Ecb,
        (abi::AES_ECB, 32) => Algorithm::Aes256Ecb,
        (abi::AES_CTR, 16) => Algorithm::Aes128Ctr,
        (abi::AES_CTR, 24) => Algorithm::Aes192Ctr,
        (abi::AES_CTR, 32) => Algorithm::Aes256Ctr,
        (abi::AES_XTS, 32) => Algorithm::Aes128Xts,
        (abi::AES_XTS, 64) => Algorithm::Aes256Xts,
        (abi::AES_GCM, 16) => Algorithm::Aes128Gcm,
        (abi::AES_GCM, 24) => Algorithm::Aes192Gcm,
        (abi::AES_GCM, 32) => Algorithm::Aes256Gcm,
        (abi::CAMELLIA_CBC, 32) => Algorithm::Camellia256Cbc,
        (abi::TRIPLE_DES_CBC, 24) => Algorithm::TripleDesCbc,
        (abi::DES_CBC, 8) => Algorithm::DesCbc,
        (abi::MD5, 0) => Algorithm::Md5,
        (abi::SHA1, 0) => Algorithm::Sha1,
        (abi::SHA224, 0) => Algorithm::Sha224,
        (abi::SHA256, 0) => Algorithm::Sha256,
        (abi::SHA384, 0) => Algorithm::Sha384,
        (abi::SHA512, 0) => Algorithm::Sha512,
        (abi::HMAC_SHA1, 1..) => Algorithm::HmacSha1,
        (abi::HMAC_SHA256, 1..) => Algorithm::HmacSha256,
        (abi::HMAC_SHA512, 1..) => Algorithm::HmacSha512,
        _ => return None,
    })
}

/// The operation of a session's hash or MAC; `None` for a cipher.
fn operation(open: &KernelSession) -> Option<Operation> {
    match algorithm(open.number, open.key.len())?.operations() {
        [one @ (Operation::Hash | Operation::Mac)] => Some(*one),
        _ => None,
    }
}

fn kernel_name(number: u32) -> Option<&'static str> {
    Some(match number {
        abi::AES_CBC => "cbc(aes)",
        abi::AES_ECB => "ecb(aes)",
        abi::AES_CTR => "ctr(aes)",
        abi::AES_XTS => "xts(aes)",
        abi::AES_GCM => "gcm(aes)",
        abi::CAMELLIA_CBC => "cbc(camellia)",
        abi::TRIPLE_DES_CBC => "cbc(des3_ede)",
        abi::DES_CBC => "cbc(des)",
        abi::MD5 => "md5",
        abi::SHA1 => "sha1",
        abi::SHA224 => "sha224",
        abi::SHA256 => "sha256",
        abi::SHA384 => "sha384",
        abi::SHA512 => "sha512",
        abi::HMAC_SHA1 => "hmac(sha1)",
        abi::HMAC_SHA256 => "hmac(sha256)",
        abi::HMAC_SHA512 => "hmac(sha512)",
        abi::NULL => "ecb(cipher_null)",
        _ => return None,
    })
}

impl State {
    /// The number of open files, and of sessions that are not freed.
    pub(super) fn left(&self) -> (usize, usize) {
        (self.files.len(), self.files.values().map(BTreeMap::len).sum())
    }

    /// How often `request` was made.
    pub(super) fn count(&self, request: Ioctl) -> usize {
        self.calls.get(&(request as u32)).copied().unwrap_or(0)
    }

    fn session(&mut self, file: c_int, number: u32) -> Result<&mut KernelSession, Errno> {
        let sessions = self.files.get_mut(&file).ok_or(Errno(libc::EBADF))?;
        sessions.get_mut(&number).ok_or(Errno(libc::EINVAL))
    }

    /// Whether a pointer meets the drivers' alignment. A null pointer does.
    fn aligned(&self, pointer: *const u8) -> bool {
        pointer.addr() & usize::from(self.alignmask) == 0
    }
}

impl Device for Arc<Module> {
    fn open(&self) -> Result<c_int, Errno> {
        let mut state = self.state();
        state.node?;
        state.last += 1;
        let file = state.last as c_int;
        state.files.insert(file, BTreeMap::new());
        Ok(file)
    }

    unsafe fn ioctl(
        &self,
        file: c_int,
        request: Ioctl,
        argument: *mut c_void,
    ) -> Result<(), Errno> {
        let mut state = self.state();
        let call = state.calls.entry(request as u32).or_default();
        *call += 1;
        let call = *call - 1;
        if let Some((failing, place, error)) = state.fault
            && (failing, place) == (request, call)
        {
            return Err(Errno(error));
        }
        // SAFETY: the caller promises that each request comes with its own structure.
        unsafe {
            match request {
                abi::GET_SESSION => make(&mut state, file, &mut *argument.cast()),
                abi::FREE_SESSION => {
                    let number: u32 = *argument.cast();
                    let sessions = state.files.get_mut(&file).ok_or(Errno(libc::EBADF))?;
                    if sessions.remove(&number).is_none() {
                        state.misuse.push(format!("session {number} was freed, but not open"));
                    }
                    Ok(())
                }
                abi::SESSION_INFO => describe(&mut state, file, &mut *argument.cast()),
                abi::CRYPT => crypt(self, &mut state, file, &mut *argument.cast()),
                abi::AUTH_CRYPT => auth_crypt(self, &mut state, file, &mut *argument.cast()),
                _ => Err(Errno(libc::EINVAL)),
            }
        }
    }

    fn close(&self, file: c_int) {
        let mut state = self.state();
        match state.files.remove(&file) {
            None => state.misuse.push(format!("file {file} was closed, but not open")),
            Some(sessions) if !sessions.is_empty() => {
                let count = sessions.len();
                state.misuse.push(format!("file {file} was closed with {count} open sessions"));
            }
            Some(_) => {}
        }
    }
}

/// The bytes at `pointer`; empty if `length` is 0.
///
/// # Safety
/// `pointer` is null or points to `length` bytes.
unsafe fn bytes<'m>(pointer: *const u8, length: usize) -> Result<&'m [u8], Errno> {
    match (pointer.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno(libc::EFAULT)),
        // SAFETY: as promised by the caller.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, length) }),
    }
}

/// Writes `bytes` to `pointer`.
///
/// # Safety
/// `pointer` is null or has room for them.
unsafe fn put(pointer: *mut u8, bytes: &[u8]) -> Result<(), Errno> {
    if pointer.is_null() && !bytes.is_empty() {
        return Err(Errno(libc::EFAULT));
    }
    // SAFETY: as promised by the caller; the source is the stand-in's own.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len()) };
    Ok(())
}

/// # Safety
/// The pointers to keys in `request` are valid for the lengths that it states.
unsafe fn make(state: &mut State, file: c_int, request: &mut SessionOp) -> Result<(), Errno> {
    let invalid = Errno(libc::EINVAL);
    if (request.cipher == 0) == (request.mac == 0) || request.keylen > 64 {
        return Err(invalid);
    }
    if request.mackeylen as usize > abi::MAX_HMAC_KEY {
        return Err(invalid);
    }
    let (number, key, length) = match request.cipher {
        0 => (request.mac, request.mackey, request.mackeylen),
        cipher => (cipher, request.key, request.keylen),
    };
    let name = kernel_name(number).ok_or(invalid)?;
    let known = number == abi::NULL && length == 0 || algorithm(number, length as usize).is_some();
    if !known || state.lacks.contains(&name) {
        return Err(invalid);
    }
    // SAFETY: as promised by the caller.
    let key = unsafe { bytes(key, length as usize)? }.to_vec();
    // The module's numbers are random. These are only not consecutive.
    state.last += 1;
    let session = state.last.wrapping_mul(0x9e37_79b9);
    let sessions = state.files.get_mut(&file).ok_or(Errno(libc::EBADF))?;
    sessions.insert(session, KernelSession { number, key, pending: Vec::new() });
    request.ses = session;
    Ok(())
}

fn describe(state: &mut State, file: c_int, info: &mut SessionInfo) -> Result<(), Errno> {
    let open = state.session(file, info.ses)?;
    let name = kernel_name(open.number).unwrap_or_default();
    let digest = operation(open).is_some();
    let text = |name: &str| {
        let mut text = [0; NAME];
        text[..name.len()].copy_from_slice(name.as_bytes());
        text
    };
    let driver = match state.drivers.get(name) {
        Some(driver) => (*driver).to_owned(),
        None => name.replace('(', "-").replace(')', "") + "-stand-in",
    };
    let names = AlgInfo { cra_name: text(name), cra_driver_name: text(&driver) };
    if digest {
        info.hash_info = names;
    } else {
        info.cipher_info = names;
    }
    info.alignmask = state.alignmask;
    info.flags = state.flags;
    Ok(())
}

/// # Safety
/// The pointers in `request` are valid for what its lengths and the session's algorithm say.
unsafe fn crypt(
    module: &Module,
    state: &mut State,
    file: c_int,
    request: &mut CryptOp,
) -> Result<(), Errno> {
    const UPDATE: u16 = 1 << 0;
    let invalid = Errno(libc::EINVAL);
    let operation = match request.op {
        abi::ENCRYPT => Operation::Encrypt,
        abi::DECRYPT => Operation::Decrypt,
        _ => return Err(invalid),
    };
    let aligned = state.aligned(request.src) && state.aligned(request.dst);
    let open = state.session(file, request.ses)?;
    let (number, flags) = (open.number, request.flags);
    let digest = self::operation(open);
    if request.len > 0 && !aligned {
        request.flags |= abi::COPIED;
    }
    // SAFETY: as promised by the caller.
    let input = unsafe { bytes(request.src, request.len as usize)? };
    let (output, place) = match digest {
        Some(operation) => {
            if flags == 0 {
                open.pending.clear();
            }
            // Asked to decrypt, the module hashes the destination, and a digest has none.
            open.pending.extend_from_slice(if request.op == abi::ENCRYPT { input } else { &[] });
            if request.flags & UPDATE != 0 {
                return Ok(());
            }
            let input = &open.pending;
            let whole = Whole { operation, iv: &[], associated: &[], input, tag: &[] };
            (module.compute(open, whole)?.0, request.mac)
        }
        None if number == abi::AES_GCM => return Err(invalid),
        None => {
            let shape = algorithm(number, open.key.len()).map(Algorithm::shape);
            let (iv, block) = match shape {
                Some(Shape { kind: Kind::SectorCipher, iv, .. }) => (iv, 16),
                Some(Shape { iv, block, .. }) => (iv, block),
                None => (0, 1),
            };
            if !(request.len as usize).is_multiple_of(block) {
                return Err(invalid);
            }
            // SAFETY: as promised by the caller.
            let iv = unsafe { bytes(request.iv, iv)? };
            let whole = Whole { operation, iv, associated: &[], input, tag: &[] };
            (module.compute(open, whole)?.0, request.dst)
        }
    };
    let copied = request.flags & abi::COPIED != 0;
    state.messages.push(Message { file, source: request.src, output: place, copied });
    // SAFETY: as promised by the caller; the source was read, so it may be the same memory.
    unsafe { put(place, &output) }
}

/// # Safety
/// The pointers in `request` are valid for what its lengths say.
unsafe fn auth_crypt(
    module: &Module,
    state: &mut State,
    file: c_int,
    request: &mut AuthOp,
) -> Result<(), Errno> {
    const TAG: usize = 16;
    let invalid = Errno(libc::EINVAL);
    let open = state.session(file, request.ses)?;
    let too_long = request.auth_len > 4096 || request.tag_len as usize > TAG;
    if open.number != abi::AES_GCM || too_long || request.flags != 0 {
        return Err(invalid);
    }
    if request.len == 0 && !core::ptr::eq(request.src, request.dst) {
        // The module would go on with a list of pages that it never filled.
        return Err(Errno(libc::EFAULT));
    }
    // SAFETY: as promised by the caller.
    let (iv, associated, input) = unsafe {
        (
            bytes(request.iv, 12)?,
            bytes(request.auth_src, request.auth_len as usize)?,
            bytes(request.src, request.len as usize)?,
        )
    };
    let (operation, input, tag) = match request.op {
        abi::ENCRYPT => (Operation::Encrypt, input, [].as_slice()),
        abi::DECRYPT => {
            let message = input.len().checked_sub(TAG).ok_or(invalid)?;
            (Operation::Decrypt, &input[..message], &input[message..])
        }
        _ => return Err(invalid),
    };
    let (mut output, tag) =
        module.compute(open, Whole { operation, iv, associated, input, tag })?;
    if operation == Operation::Encrypt {
        output.extend_from_slice(&tag);
    }
    let (source, place) = (request.src, request.dst);
    state.messages.push(Message { file, source, output: place, copied: false });
    // SAFETY: as promised by the caller; the source was read, so it may be the same memory.
    unsafe { put(place, &output)? };
    request.len = output.len() as u32;
    request.tag_len = TAG as u32;
    request.tag = place.wrapping_add(output.len().saturating_sub(TAG));
    Ok(())
}
