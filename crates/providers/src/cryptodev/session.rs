//! The module's sessions: an algorithm and its key, made and freed by number.

use super::abi::{self, AuthOp, CryptOp, SessionInfo, SessionOp};
use super::device::{Device, Errno};
use core::ffi::{c_int, c_void};
use core::ptr;
use libc::Ioctl;

/// What a session can be made for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Transform {
    /// Its name in the kernel.
    pub(super) name: &'static str,
    /// Its number in the module.
    pub(super) number: u32,
    /// How it is requested.
    pub(super) kind: Kind,
}

/// How a transform is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A cipher, by CIOCCRYPT.
    Cipher,
    /// A hash or a MAC, by CIOCCRYPT.
    Digest,
    /// An AEAD, by CIOCAUTHCRYPT.
    Aead,
}

/// An open file of the device. Closed when it is dropped; the module then frees the sessions that it still has.
/// Sessions of different files do not wait for each other's locks, so each session of the provider has its own
/// file.
pub(super) struct File<'d, D: Device> {
    device: &'d D,
    descriptor: c_int,
}

impl<'d, D: Device> File<'d, D> {
    pub(super) fn open(device: &'d D) -> Result<Self, Errno> {
        Ok(File { device, descriptor: device.open()? })
    }

    /// # Safety
    /// As for [`Device::ioctl`].
    #[inline]
    unsafe fn ioctl<T>(&self, request: Ioctl, argument: &mut T) -> Result<(), Errno> {
        let argument = ptr::from_mut(argument).cast::<c_void>();
        // SAFETY: as promised by the caller.
        unsafe { self.device.ioctl(self.descriptor, request, argument) }
    }
}

impl<D: Device> Drop for File<'_, D> {
    fn drop(&mut self) {
        self.device.close(self.descriptor);
    }
}

/// A session in the module, freed when it is dropped.
pub(super) struct KernelSession<'f, 'd, D: Device> {
    file: &'f File<'d, D>,
    number: u32,
}

/// What the module reports about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Driver {
    /// The kernel's name of the driver that it took.
    pub(super) name: String,
    /// One less than the alignment at which buffers are mapped instead of copied.
    pub(super) alignmask: u16,
    /// Whether the driver says that only the kernel can reach what it uses.
    pub(super) kernel_only: bool,
}

impl<'f, 'd, D: Device> KernelSession<'f, 'd, D> {
    /// CIOCGSESSION.
    #[inline]
    pub(super) fn open(
        file: &'f File<'d, D>,
        transform: &Transform,
        key: &[u8],
    ) -> Result<Self, Errno> {
        let mut request = request(transform, key);
        // SAFETY: this is the structure that the request reads and writes, and the key has the length that it
        // states.
        unsafe { file.ioctl(abi::GET_SESSION, &mut request)? };
        Ok(KernelSession { file, number: request.ses })
    }

    /// CIOCGSESSINFO.
    pub(super) fn driver(&self, transform: &Transform) -> Result<Driver, Errno> {
        let none = abi::AlgInfo { cra_name: [0; abi::NAME], cra_driver_name: [0; abi::NAME] };
        let mut info = SessionInfo {
            ses: self.number,
            cipher_info: none,
            hash_info: none,
            alignmask: 0,
            flags: 0,
        };
        // SAFETY: this is the structure that the request reads and writes, and it holds no pointer.
        unsafe { self.file.ioctl(abi::SESSION_INFO, &mut info)? };
        let names = match transform.kind {
            Kind::Cipher | Kind::Aead => info.cipher_info,
            Kind::Digest => info.hash_info,
        };
        let name = names.cra_driver_name.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(Driver {
            name: String::from_utf8_lossy(name).into_owned(),
            alignmask: info.alignmask,
            kernel_only: info.flags & abi::KERNEL_DRIVER_ONLY != 0,
        })
    }

    /// The number that requests name this session by.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// CIOCCRYPT.
    ///
    /// # Safety
    /// The pointers in `message` are valid for what its lengths, the algorithm's IV and the
    /// algorithm's digest say.
    #[inline]
    pub(super) unsafe fn crypt(&self, message: &mut CryptOp) -> Result<(), Errno> {
        // SAFETY: as promised by the caller.
        unsafe { self.file.ioctl(abi::CRYPT, message) }
    }

    /// CIOCAUTHCRYPT.
    ///
    /// # Safety
    /// The pointers in `message` are valid for what its lengths say, the destination for the message
    /// and its tag.
    #[inline]
    pub(super) unsafe fn auth_crypt(&self, message: &mut AuthOp) -> Result<(), Errno> {
        // SAFETY: as promised by the caller.
        unsafe { self.file.ioctl(abi::AUTH_CRYPT, message) }
    }

    /// CIOCFSESSION, with its result. Dropping does the same but cannot report the result.
    #[inline]
    pub(super) fn close(self) -> Result<(), Errno> {
        let freed = self.free();
        core::mem::forget(self);
        freed
    }

    fn free(&self) -> Result<(), Errno> {
        let mut number = self.number;
        // SAFETY: the request reads one number.
        unsafe { self.file.ioctl(abi::FREE_SESSION, &mut number) }
    }
}

impl<D: Device> Drop for KernelSession<'_, '_, D> {
    fn drop(&mut self) {
        // The result cannot be reported here, and closing the file also frees the session.
        let _ = self.free();
    }
}

/// The argument of CIOCGSESSION.
pub(super) fn request(transform: &Transform, key: &[u8]) -> SessionOp {
    let length = key.len() as u32;
    let (cipher, digest) = match transform.kind {
        Kind::Cipher | Kind::Aead => {
            ((transform.number, length, key.as_ptr()), (0, 0, ptr::null()))
        }
        Kind::Digest => ((0, 0, ptr::null()), (transform.number, length, key.as_ptr())),
    };
    SessionOp {
        cipher: cipher.0,
        mac: digest.0,
        keylen: cipher.1,
        key: cipher.2,
        mackeylen: digest.1,
        mackey: digest.2,
        ses: 0,
    }
}
