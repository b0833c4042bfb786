//! Requests for messages: which pointers and lengths the module gets. Nothing is copied here; the module maps
//! the given buffers themselves.

use super::abi::{self, AuthOp, CryptOp};
use super::sealed::Place;
use core::ptr;
use cpb_core::Operation;
use cpb_session::raw_jobs::RawJob;

/// What all messages of a session share.
#[derive(Clone, Copy)]
pub(super) struct SessionLengths {
    /// COP_ENCRYPT or COP_DECRYPT.
    pub(super) direction: u16,
    /// Bytes of the message, without a tag.
    pub(super) message: usize,
    /// Bytes of associated data.
    pub(super) associated: usize,
    /// Bytes of the IV or nonce.
    pub(super) iv: usize,
    /// Bytes of the tag.
    pub(super) tag: usize,
}

/// The module's number for an operation. The module reads a hash's source only if asked to encrypt.
pub(super) fn direction(operation: Operation) -> u16 {
    if operation == Operation::Decrypt { abi::DECRYPT } else { abi::ENCRYPT }
}

/// A message through a cipher: from the job's input to its output.
#[inline]
pub(super) fn cipher(session: u32, job: &RawJob, lengths: &SessionLengths) -> CryptOp {
    CryptOp {
        ses: session,
        op: lengths.direction,
        flags: 0,
        len: lengths.message as u32,
        src: job.input,
        dst: job.output,
        mac: ptr::null_mut(),
        iv: if lengths.iv == 0 { ptr::null() } else { job.iv },
    }
}

/// A message through a hash or a MAC: its digest goes to the job's output. Without flags the module begins and
/// ends the digest within this one request.
#[inline]
pub(super) fn digest(session: u32, job: &RawJob, lengths: &SessionLengths) -> CryptOp {
    CryptOp {
        ses: session,
        op: lengths.direction,
        flags: 0,
        len: lengths.message as u32,
        src: job.input,
        dst: ptr::null_mut(),
        mac: job.output,
        iv: ptr::null(),
    }
}

/// A message through an AEAD, at the place that [`super::sealed`] has for it.
#[inline]
pub(super) fn aead(session: u32, job: &RawJob, place: &Place, lengths: &SessionLengths) -> AuthOp {
    let tag = if lengths.direction == abi::DECRYPT { lengths.tag } else { 0 };
    AuthOp {
        ses: session,
        op: lengths.direction,
        flags: 0,
        len: (lengths.message + tag) as u32,
        auth_len: lengths.associated as u32,
        auth_src: if lengths.associated == 0 { ptr::null() } else { job.associated },
        src: place.source,
        dst: place.destination,
        tag: ptr::null_mut(),
        tag_len: lengths.tag as u32,
        iv: job.iv,
        iv_len: lengths.iv as u32,
    }
}
