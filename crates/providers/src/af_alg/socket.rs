//! AF_ALG's sockets: `include/uapi/linux/if_alg.h` of Linux. A *bound* socket stands for a driver and
//! its key; each *stream* accepted from it is one sequence of operations.

use libc::{c_int, c_void, iovec, msghdr, socklen_t};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// `SOL_ALG`, `ALG_SET_KEY`, `ALG_SET_AEAD_AUTHSIZE`.
const SOL_ALG: c_int = 279;
const SET_KEY: c_int = 1;
const SET_TAG_LENGTH: c_int = 5;

/// The longest wait for room in a socket or for data to read. A longer wait would never end, because one
/// process serves both ends.
const WAIT: Duration = Duration::from_secs(5);

/// Why the kernel refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// With this errno.
    Errno(i32),
    /// The kernel did not refuse, but the call would have waited for longer than `WAIT`.
    Timeout,
}

impl Refusal {
    fn last() -> Refusal {
        Refusal::Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// Returns the errno, if there is one.
    pub(crate) fn errno(self) -> Option<i32> {
        match self {
            Refusal::Errno(errno) => Some(errno),
            Refusal::Timeout => None,
        }
    }
}

/// `struct sockaddr_alg`.
#[repr(C)]
struct Address {
    family: u16,
    kind: [u8; 14],
    features: u32,
    mask: u32,
    name: [u8; 64],
}

const _: () = assert!(size_of::<Address>() == 88);

/// A socket that stands for one driver and its key. Closed when it is dropped.
pub(crate) struct Bound(OwnedFd);

impl Bound {
    /// Opens an AF_ALG socket that is bound to nothing. This shows whether the kernel has the interface.
    pub(crate) fn open() -> Result<Bound, Refusal> {
        let flags = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: takes three integers.
        let number = unsafe { libc::socket(libc::AF_ALG, flags, 0) };
        owned(number).map(Bound)
    }

    /// Opens a socket for the driver called `name`, or for the kernel's choice if `name` is an algorithm.
    pub(crate) fn new(kind: &str, name: &str) -> Result<Bound, Refusal> {
        let bound = Bound::open()?;
        let mut address = Address {
            family: libc::AF_ALG as u16,
            kind: [0; 14],
            features: 0,
            mask: 0,
            name: [0; 64],
        };
        // Both strings end with a zero. No name in the kernel is longer.
        if kind.len() >= address.kind.len() || name.len() >= address.name.len() {
            return Err(Refusal::Errno(libc::ENOENT));
        }
        address.kind[..kind.len()].copy_from_slice(kind.as_bytes());
        address.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: reads as many bytes as the address has.
        let status = unsafe {
            libc::bind(
                bound.0.as_raw_fd(),
                std::ptr::from_ref(&address).cast(),
                size_of::<Address>() as socklen_t,
            )
        };
        done(status).map(|()| bound)
    }

    /// Sets the key, which computes the key schedule. No stream of this socket may be open.
    pub(crate) fn set_key(&self, key: &[u8]) -> Result<(), Refusal> {
        self.set(SET_KEY, key.as_ptr().cast(), key.len())
    }

    /// Sets how many bytes of tag an AEAD appends. The option's length carries the number; there is no value.
    pub(crate) fn set_tag_length(&self, bytes: usize) -> Result<(), Refusal> {
        self.set(SET_TAG_LENGTH, std::ptr::null(), bytes)
    }

    fn set(&self, option: c_int, value: *const c_void, length: usize) -> Result<(), Refusal> {
        let length = length as socklen_t;
        // SAFETY: reads `length` bytes at `value`, which is a key. A tag's length has no value, and the kernel
        // reads none.
        done(unsafe { libc::setsockopt(self.0.as_raw_fd(), SOL_ALG, option, value, length) })
    }

    /// Opens a new stream of operations.
    pub(crate) fn accept(&self) -> Result<Stream, Refusal> {
        let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: no address is requested, so it takes two integers.
        let number =
            unsafe { libc::accept4(self.0.as_raw_fd(), address, length, libc::SOCK_CLOEXEC) };
        owned(number).map(Stream)
    }
}

/// A stream of operations. Closed when it is dropped. Operations are complete when their call returns, so
/// nothing is in flight then.
pub(crate) struct Stream(OwnedFd);

impl Stream {
    /// How many unread bytes the socket can hold. Sending more blocks until some are read.
    pub(crate) fn capacity(&self) -> Result<usize, Refusal> {
        Ok(self.option(libc::SO_SNDBUF)?.min(self.option(libc::SO_RCVBUF)?))
    }

    fn option(&self, option: c_int) -> Result<usize, Refusal> {
        let mut value: c_int = 0;
        let mut length = size_of::<c_int>() as socklen_t;
        // SAFETY: writes an integer, and its length, to the two variables.
        let status = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                std::ptr::from_mut(&mut value).cast(),
                &mut length,
            )
        };
        done(status)?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    /// Sends one whole message. With `more`, another one continues it.
    ///
    /// # Safety
    /// What `header` points to can be read.
    #[inline]
    pub(crate) unsafe fn send(
        &self,
        header: &msghdr,
        length: usize,
        more: bool,
    ) -> Result<(), Refusal> {
        let flags = libc::MSG_DONTWAIT | if more { libc::MSG_MORE } else { 0 };
        loop {
            // SAFETY: as promised by the caller.
            let sent = unsafe { libc::sendmsg(self.0.as_raw_fd(), header, flags) };
            match usize::try_from(sent) {
                Ok(sent) if sent == length => return Ok(()),
                // The socket was full, and the rest would never fit.
                Ok(_) => return Err(Refusal::Errno(libc::EMSGSIZE)),
                Err(_) => self.wait(libc::POLLOUT)?,
            }
        }
    }

    /// Receives exactly `length` bytes into `parts`. If `length` is 0, it only waits for the end of the
    /// operation.
    ///
    /// # Safety
    /// What `parts` point to can be written. Together they have `length` bytes, or more if `length` is 0.
    #[inline]
    pub(crate) unsafe fn receive(&self, parts: &[iovec], length: usize) -> Result<(), Refusal> {
        let got = match parts {
            [part] => loop {
                let (place, room) = (part.iov_base, part.iov_len);
                // SAFETY: as promised by the caller.
                let got =
                    unsafe { libc::recv(self.0.as_raw_fd(), place, room, libc::MSG_DONTWAIT) };
                match usize::try_from(got) {
                    Ok(got) => break got,
                    Err(_) => self.wait(libc::POLLIN)?,
                }
            },
            parts => loop {
                let mut header = super::request::header(None, parts);
                // SAFETY: as promised by the caller.
                let got =
                    unsafe { libc::recvmsg(self.0.as_raw_fd(), &mut header, libc::MSG_DONTWAIT) };
                match usize::try_from(got) {
                    Ok(got) => break got,
                    Err(_) => self.wait(libc::POLLIN)?,
                }
            },
        };
        if got == length { Ok(()) } else { Err(Refusal::Errno(libc::EMSGSIZE)) }
    }

    /// After a call that failed: waits until the call can be repeated, or returns the error if waiting does not
    /// help.
    #[cold]
    fn wait(&self, event: libc::c_short) -> Result<(), Refusal> {
        let refusal = Refusal::last();
        match refusal {
            Refusal::Errno(libc::EINTR) => return Ok(()),
            Refusal::Errno(libc::EAGAIN) => {}
            _ => return Err(refusal),
        }
        let mut asked = libc::pollfd { fd: self.0.as_raw_fd(), events: event, revents: 0 };
        // SAFETY: writes only to the one structure that it is given.
        match unsafe { libc::poll(&mut asked, 1, WAIT.as_millis() as c_int) } {
            0 => Err(Refusal::Timeout),
            1.. => Ok(()),
            _ => Err(Refusal::last()),
        }
    }
}

fn owned(number: c_int) -> Result<OwnedFd, Refusal> {
    if number < 0 {
        return Err(Refusal::last());
    }
    // SAFETY: a call has just opened it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn done(status: c_int) -> Result<(), Refusal> {
    if status < 0 { Err(Refusal::last()) } else { Ok(()) }
}
