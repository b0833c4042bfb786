//! NETLINK_CRYPTO: the same list as messages of `include/uapi/linux/cryptouser.h`, with flags. A dump
//! needs no privilege. The module `crypto_user` answers.

use super::{Driver, Selftest};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A driver as a message reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// What the message says about the driver. Only `/proc/crypto` has key lengths and self-test details.
    pub driver: Driver,
    /// `cru_flags`.
    pub flags: u32,
}

/// `NETLINK_CRYPTO` of include/uapi/linux/netlink.h.
const NETLINK_CRYPTO: i32 = 21;
/// `CRYPTO_MSG_GETALG` of include/uapi/linux/cryptouser.h: the request and the answer.
const GETALG: u16 = 0x13;
/// `NLMSG_ERROR`, `NLMSG_DONE`, `NLM_F_REQUEST | NLM_F_DUMP` of include/uapi/linux/netlink.h.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST_DUMP: u16 = 0x301;
/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Bytes of `struct crypto_user_alg`: three names and four numbers.
const ALGORITHM: usize = 3 * NAME + 4 * 4;
/// `CRYPTO_MAX_NAME`.
const NAME: usize = 64;
/// `CRYPTOCFGA_PRIORITY_VAL` and, from 3 to 18, the reports of each type.
const PRIORITY: u16 = 1;
/// `CRYPTO_ALG_TESTED`, `CRYPTO_ALG_ASYNC`, `CRYPTO_ALG_INTERNAL`, `CRYPTO_ALG_LARVAL` of
/// include/linux/crypto.h.
const TESTED: u32 = 0x400;
const ASYNC: u32 = 0x80;
const INTERNAL: u32 = 0x2000;
const LARVAL: u32 = 0x10;

/// The longest wait for the kernel, which answers at once or never.
static PATIENCE: libc::timeval = libc::timeval { tv_sec: 1, tv_usec: 0 };

/// Asks the kernel for all of its drivers.
pub(super) fn dump() -> io::Result<Vec<Reported>> {
    // SAFETY: takes three integers.
    let number = unsafe {
        libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, NETLINK_CRYPTO)
    };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: reads the timeval, which is a constant.
    let limited = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            std::ptr::from_ref(&PATIENCE).cast(),
            size_of_val(&PATIENCE) as libc::socklen_t,
        )
    };
    if limited < 0 {
        return Err(io::Error::last_os_error());
    }
    let question = question();
    // SAFETY: reads as many bytes as `question` has.
    let sent =
        unsafe { libc::send(socket.as_raw_fd(), question.as_ptr().cast(), question.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let (mut reported, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        // SAFETY: writes at most the buffer's length into it.
        let received =
            unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let length = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        match parse_dump(&buffer[..length], &mut reported) {
            Datagram::More if length > 0 => {}
            Datagram::More | Datagram::Last => return Ok(reported),
            Datagram::Failed(code) => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

/// The request for a dump: a header, and an algorithm without a name, which means all.
fn question() -> [u8; HEADER + ALGORITHM] {
    let mut question = [0; HEADER + ALGORITHM];
    question[..4].copy_from_slice(&((HEADER + ALGORITHM) as u32).to_ne_bytes());
    question[4..6].copy_from_slice(&GETALG.to_ne_bytes());
    question[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    question
}

/// The kind of a datagram of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram {
    /// More datagrams follow.
    More,
    /// The dump is complete.
    Last,
    /// The kernel refused, with this errno.
    Failed(i32),
}

/// Reads one datagram of a dump. Accepts any bytes; truncated messages are skipped.
pub fn parse_dump(mut bytes: &[u8], reported: &mut Vec<Reported>) -> Datagram {
    while let Some((message, rest)) = take_message(bytes) {
        let body = &message[HEADER..];
        match u16_at(message, 4) {
            Some(DONE) => return Datagram::Last,
            Some(ERROR) => return Datagram::Failed(-(u32_at(body, 0).unwrap_or(0) as i32)),
            Some(GETALG) => reported.extend(algorithm(body)),
            _ => {}
        }
        bytes = rest;
    }
    Datagram::More
}

/// Returns the first message and the bytes after it. Messages begin at multiples of four.
fn take_message(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let message = bytes.get(..length).filter(|message| message.len() >= HEADER)?;
    Some((message, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

fn algorithm(body: &[u8]) -> Option<Reported> {
    let name = |place: usize| text(body.get(place * NAME..(place + 1) * NAME)?);
    let flags = u32_at(body, 3 * NAME + 12)?;
    let module = name(2)?;
    let mut driver = Driver {
        name: name(0)?,
        driver: name(1)?,
        module: (module != "kernel").then_some(module),
        references: u32_at(body, 3 * NAME + 8)?,
        internal: flags & INTERNAL != 0,
        selftest: if flags & TESTED != 0 { Selftest::Passed } else { Selftest::Unknown },
        ..Driver::default()
    };
    let mut attributes = body.get(ALGORITHM..)?;
    while let Some((kind, value, rest)) = take_attribute(attributes) {
        attributes = rest;
        if kind == PRIORITY {
            driver.priority = u32_at(value, 0)? as i32;
        } else if let Some(kind) = value.get(..NAME).and_then(text).filter(|kind| !kind.is_empty())
        {
            // Every type's report begins with the type's name.
            driver.kind = kind;
        }
    }
    if flags & LARVAL != 0 {
        driver.kind = "larval".to_owned();
    }
    let ciphers_and_hashes = matches!(driver.kind.as_str(), "skcipher" | "aead" | "ahash");
    driver.asynchronous = ciphers_and_hashes.then_some(flags & ASYNC != 0);
    (!driver.driver.is_empty()).then_some(Reported { driver, flags })
}

/// Returns the type and the value of a `struct rtattr`, and the bytes after it.
fn take_attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (length, kind) = (usize::from(u16_at(bytes, 0)?), u16_at(bytes, 2)?);
    let value = bytes.get(4..length)?;
    Some((kind, value, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// The text before the first zero.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok().map(str::to_owned)
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(place..place + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(place..place + 4)?.try_into().ok()?))
}
