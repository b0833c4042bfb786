//! What the kernel is given for one operation, as pure functions of the job. Messages, associated data and tags
//! are used in place, in the job's own buffers; nothing is copied here.

use cpb_session::raw_jobs::RawJob;
use libc::{c_int, iovec, msghdr};

/// `ALG_SET_IV`, `ALG_SET_OP`, `ALG_SET_AEAD_ASSOCLEN`; the operations' numbers.
const SET_IV: c_int = 2;
const SET_OPERATION: c_int = 3;
const SET_ASSOCIATED_LENGTH: c_int = 4;
const SOL_ALG: c_int = 279;

/// The direction of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// `ALG_OP_DECRYPT`.
    Decrypt = 0,
    /// `ALG_OP_ENCRYPT`.
    Encrypt = 1,
}

/// Room for a header, an operation, an IV of 16 bytes, and a length, on a 64-bit machine.
const ROOM: usize = 3 * 16 + 8 + 24 + 8;

/// Control messages in the kernel's layout: length, level, type and value, each aligned to the machine's word.
#[derive(Clone, Debug)]
#[repr(C, align(8))]
pub(crate) struct Control {
    bytes: [u8; ROOM],
    length: usize,
}

impl Control {
    /// Operation and IV, and for an AEAD how much of the data is associated data.
    pub(crate) fn new(direction: Direction, iv: &[u8], associated: Option<u32>) -> Control {
        let mut control = Control { bytes: [0; ROOM], length: 0 };
        control.push(SET_OPERATION, &[&(direction as u32).to_ne_bytes()]);
        if !iv.is_empty() {
            // struct af_alg_iv: length, then the IV.
            control.push(SET_IV, &[&(iv.len() as u32).to_ne_bytes(), iv]);
        }
        if let Some(length) = associated {
            control.push(SET_ASSOCIATED_LENGTH, &[&length.to_ne_bytes()]);
        }
        control
    }

    fn push(&mut self, kind: c_int, value: &[&[u8]]) {
        // A `struct cmsghdr` has no padding: a word and two integers.
        let header = size_of::<usize>() + 2 * size_of::<c_int>();
        let length = header + value.iter().map(|part| part.len()).sum::<usize>();
        let (length_bytes, level, kind) =
            (length.to_ne_bytes(), SOL_ALG.to_ne_bytes(), kind.to_ne_bytes());
        let parts = [&length_bytes[..], &level, &kind];
        let mut place = self.length;
        for part in parts.iter().chain(value) {
            self.bytes[place..place + part.len()].copy_from_slice(part);
            place += part.len();
        }
        self.length += length.next_multiple_of(size_of::<usize>());
    }

    /// The bytes that the kernel reads.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// At most four pieces of memory, in order.
#[derive(Clone, Copy)]
pub(crate) struct Gathered {
    parts: [iovec; 4],
    count: usize,
}

impl Gathered {
    /// Keeps those of `pieces` that are not empty.
    pub(crate) fn new(pieces: &[(*const u8, usize)]) -> Gathered {
        let nothing = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = Gathered { parts: [nothing; 4], count: 0 };
        for &(pointer, length) in pieces.iter().filter(|(_, length)| *length > 0) {
            parts.parts[parts.count] =
                iovec { iov_base: pointer.cast_mut().cast(), iov_len: length };
            parts.count += 1;
        }
        parts
    }

    pub(crate) fn as_slice(&self) -> &[iovec] {
        &self.parts[..self.count]
    }

    /// The total length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.as_slice().iter().map(|part| part.iov_len).sum()
    }
}

/// Lengths that all jobs of a session share, and the place for associated data that the kernel returns.
#[derive(Clone, Copy)]
pub(crate) struct RequestLengths {
    pub(crate) message: usize,
    pub(crate) associated: usize,
    pub(crate) tag: usize,
    /// How many bytes of the IV the kernel is to authenticate as associated data, behind the job's own.
    pub(crate) iv: usize,
    /// Room for `associated` and `iv` bytes, and for at least one.
    pub(crate) scratch: *mut u8,
}

/// Bytes `offset..offset + length` of a message, as input.
pub(crate) fn piece_in(job: &RawJob, offset: usize, length: usize) -> Gathered {
    Gathered::new(&[(job.input.wrapping_add(offset), length)])
}

/// The same bytes, as output.
pub(crate) fn piece_out(job: &RawJob, offset: usize, length: usize) -> Gathered {
    Gathered::new(&[(job.output.wrapping_add(offset).cast_const(), length)])
}

/// What an AEAD reads: associated data, IV if it is authenticated with it, the message, and for Decrypt the tag.
pub(crate) fn sealed_in(job: &RawJob, lengths: &RequestLengths, direction: Direction) -> Gathered {
    let tag = if direction == Direction::Decrypt { lengths.tag } else { 0 };
    Gathered::new(&[
        (job.associated, lengths.associated),
        (job.iv, lengths.iv),
        (job.input, lengths.message),
        (job.tag.cast_const(), tag),
    ])
}

/// What an AEAD writes: the associated data again, the message, and for Encrypt the tag.
pub(crate) fn sealed_out(job: &RawJob, lengths: &RequestLengths, direction: Direction) -> Gathered {
    let tag = if direction == Direction::Encrypt { lengths.tag } else { 0 };
    let parts = Gathered::new(&[
        (lengths.scratch.cast_const(), lengths.associated + lengths.iv),
        (job.output.cast_const(), lengths.message),
        (job.tag.cast_const(), tag),
    ]);
    if parts.length() > 0 {
        return parts;
    }
    // A tag without data is verified only if at least one byte is requested.
    Gathered::new(&[(lengths.scratch.cast_const(), 1)])
}

/// The message header of one system call. It points to `control` and `parts`.
pub(crate) fn header(control: Option<&Control>, parts: &[iovec]) -> msghdr {
    // SAFETY: a structure of pointers and integers, some of which have no name on some systems. All zeros is a
    // valid, empty one.
    let mut header: msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = parts.as_ptr().cast_mut();
    header.msg_iovlen = parts.len() as _;
    if let Some(control) = control {
        header.msg_control = control.bytes().as_ptr().cast_mut().cast();
        header.msg_controllen = control.bytes().len() as _;
    }
    header
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[path = "pointers.rs"]
mod pointers;
