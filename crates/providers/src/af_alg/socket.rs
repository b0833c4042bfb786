//! AF_ALG's sockets: `include/uapi/linux/if_alg.h` of Linux. A *bound* socket stands for a driver and
//! its key; each *stream* accepted from it is one sequence of operations.

use libc::{c_int, c_void, iovec, msghdr, socklen_t};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// `SOL_ALG`, `ALG_SET_KEY`, `ALG_SET_AEAD_AUTHSIZE`.
const SOL_ALG: c_int = 279;
const SET_KEY: c_int = 1;
const SET_TAG_LENGTH: c_int = 5;

/// The longest wait for room in a socket or for something to read. Whoever waits longer would wait
/// for ever: one process does both ends here.
const WAIT: Duration = Duration::from_secs(5);

/// Why the kernel refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// With this errno.
    Errno(i32),
    /// It did not, but it would have waited longer than we do.
    Timeout,
}

impl Refusal {
    fn last() -> Refusal {
        Refusal::Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// The errno, if there is one.
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
    /// A socket of AF_ALG that is bound to nothing: whether the kernel has the interface at all.
    pub(crate) fn open() -> Result<Bound, Refusal> {
        let flags = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: takes three integers.
        let number = unsafe { libc::socket(libc::AF_ALG, flags, 0) };
        owned(number).map(Bound)
    }

    /// A socket for the driver, or for the kernel's choice of an algorithm, called `name`.
    pub(crate) fn new(kind: &str, name: &str) -> Result<Bound, Refusal> {
        let bound = Bound::open()?;
        let mut address = Address {
            family: libc::AF_ALG as u16,
            kind: [0; 14],
            features: 0,
            mask: 0,
            name: [0; 64],
        };
        // Both texts end with a zero; a longer name is none the kernel could have.
        if kind.len() >= address.kind.len() || name.len() >= address.name.len() {
            return Err(Refusal::Errno(libc::ENOENT));
        }
        address.kind[..kind.len()].copy_from_slice(kind.as_bytes());
        address.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: reads the address for its length.
        let status = unsafe {
            libc::bind(
                bound.0.as_raw_fd(),
                std::ptr::from_ref(&address).cast(),
                size_of::<Address>() as socklen_t,
            )
        };
        done(status).map(|()| bound)
    }

    /// The key schedule. No stream of this socket may be open.
    pub(crate) fn set_key(&self, key: &[u8]) -> Result<(), Refusal> {
        self.set(SET_KEY, key.as_ptr().cast(), key.len())
    }

    /// How many bytes of tag an AEAD appends: the option's length, without a value.
    pub(crate) fn set_tag_length(&self, bytes: usize) -> Result<(), Refusal> {
        self.set(SET_TAG_LENGTH, std::ptr::null(), bytes)
    }

    fn set(&self, option: c_int, value: *const c_void, length: usize) -> Result<(), Refusal> {
        let length = length as socklen_t;
        // SAFETY: reads `length` bytes at `value`, which is a key; a tag's length has no value, and
        // the kernel reads none.
        done(unsafe { libc::setsockopt(self.0.as_raw_fd(), SOL_ALG, option, value, length) })
    }

    /// A new stream of operations.
    pub(crate) fn accept(&self) -> Result<Stream, Refusal> {
        let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: without a place for an address, takes two integers.
        let number =
            unsafe { libc::accept4(self.0.as_raw_fd(), address, length, libc::SOCK_CLOEXEC) };
        owned(number).map(Stream)
    }
}

/// A stream of operations. Closed when it is dropped; operations are done when their call returns, so
/// nothing is in flight then.
pub(crate) struct Stream(OwnedFd);

impl Stream {
    /// Bytes that may lie in the socket, unread: who sends more waits until something is read.
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

    /// Sends one message whole. With `more`, another one belongs to it.
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
                // The socket was full: the rest would never fit.
                Ok(_) => return Err(Refusal::Errno(libc::EMSGSIZE)),
                Err(_) => self.wait(libc::POLLOUT)?,
            }
        }
    }

    /// Receives exactly `length` bytes to where `parts` point. Of no bytes only the end of the
    /// operation is waited for.
    ///
    /// # Safety
    /// What `parts` point to can be written, and they are `length` bytes together, or more where
    /// `length` is 0.
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

    /// After a call that failed: waits until it can be repeated, if that is what it was about.
    #[cold]
    fn wait(&self, event: libc::c_short) -> Result<(), Refusal> {
        let refusal = Refusal::last();
        match refusal {
            Refusal::Errno(libc::EINTR) => return Ok(()),
            Refusal::Errno(libc::EAGAIN) => {}
            _ => return Err(refusal),
        }
        let mut asked = libc::pollfd { fd: self.0.as_raw_fd(), events: event, revents: 0 };
        // SAFETY: writes to the one structure that it is told of.
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
    // SAFETY: a call has just opened it, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn done(status: c_int) -> Result<(), Refusal> {
    if status < 0 { Err(Refusal::last()) } else { Ok(()) }
}
