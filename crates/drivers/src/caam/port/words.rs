//! The descriptors of the port: as long as those of NXP's driver, with the same commands in the same places.
//!
//! Commands that a job does not need stay in the descriptor, and a jump or the header's start passes over them. The
//! engine fetches all words in any case.

use crate::caam::descriptor::{
    EXTENDED, Format, IMMEDIATE, SGT, SgtEntry, class, clear, command, fifo_load, fifo_store,
    header, jump, operation, register, sgt,
};
use crate::caam::job::{Cipher, Hash, Mode, Span};

/// A descriptor on the stack, as it lies in memory.
#[repr(C, align(4))]
pub(super) struct Words<const N: usize>([[u8; 4]; N]);

impl<const N: usize> Words<N> {
    /// The first word is a header without a length.
    #[inline]
    fn new(mut words: [u32; N]) -> Self {
        words[0] |= N as u32;
        Words(words.map(|word| Format::RT1170.bytes(word)))
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }
}

const HEADER: u32 = command::HEADER | header::ONE;
const HALT: u32 = command::JUMP | jump::HALT_STATUS;
const JUMP: u32 = command::JUMP;
/// To the next command. A jump of class 1 waits until class 1 is done.
const WAIT: u32 = command::JUMP | class::ONE | 1;
const KEY: u32 = command::KEY | class::ONE;
const LOAD: u32 = command::LOAD | class::ONE;
const STORE: u32 = command::STORE | class::ONE | register::CONTEXT;
const FIFO_LOAD: u32 = command::FIFO_LOAD | class::ONE;
const MESSAGE: u32 = FIFO_LOAD | fifo_load::MESSAGE | fifo_load::LAST_1 | fifo_load::FLUSH_1;
const ICV: u32 = FIFO_LOAD | fifo_load::ICV | fifo_load::LAST_1 | fifo_load::FLUSH_1;
const STORE_MESSAGE: u32 = command::FIFO_STORE | fifo_store::MESSAGE;
const AES: u32 = command::OPERATION | operation::CLASS_1 | operation::AES;
const CLEAR_WRITTEN: u32 = command::LOAD | IMMEDIATE | register::CLEAR_WRITTEN | 4;
const ICV_SIZE: u32 = LOAD | IMMEDIATE | register::ICV_SIZE | 4;
/// Offsets in the context register.
const OFFSET_16: u32 = 16 << register::OFFSET;
const OFFSET_32: u32 = 32 << register::OFFSET;

const fn direction(encrypts: bool) -> u32 {
    if encrypts { operation::ENCRYPT } else { 0 }
}

/// Where a message is, and where the result goes.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) input: Span,
    pub(super) output: u32,
}

impl Message {
    fn size(&self) -> u32 {
        self.input.length as u32
    }
}

/// AES-ECB.
#[inline]
pub(super) fn ecb(key: Span, encrypts: bool, message: Message) -> Words<10> {
    Words::new([
        HEADER,
        KEY | key.length as u32,
        key.address,
        MESSAGE | EXTENDED,
        message.input.address,
        message.size(),
        STORE_MESSAGE | EXTENDED,
        message.output,
        message.size(),
        AES | operation::ECB | direction(encrypts),
    ])
}

/// AES-CBC.
#[inline]
pub(super) fn cbc(key: Span, encrypts: bool, iv: u32, message: Message) -> Words<12> {
    Words::new([
        HEADER,
        KEY | key.length as u32,
        key.address,
        LOAD | register::CONTEXT | 16,
        iv,
        MESSAGE | EXTENDED,
        message.input.address,
        message.size(),
        STORE_MESSAGE | EXTENDED,
        message.output,
        message.size(),
        AES | operation::CBC | direction(encrypts),
    ])
}

/// DES and triple DES, with the key among the commands: CBC if there is an IV, otherwise ECB, whose descriptor jumps over
/// the load of an IV. The lengths have 16 bits.
#[inline]
pub(super) fn des(key: &[u8], encrypts: bool, iv: Option<u32>, message: Message) -> Words<15> {
    let mut keys = [0; 6];
    for (place, bytes) in keys.iter_mut().zip(key.chunks_exact(4)) {
        *place = Format::RT1170.word(bytes.try_into().unwrap_or_default());
    }
    let [k0, k1, mut k2, k3, k4, k5] = keys;
    let cipher = if key.len() == 8 { Cipher::Des } else { Cipher::TripleDes };
    if cipher == Cipher::Des {
        k2 = JUMP | 4;
    }
    let (load, mode) = match iv {
        Some(_) => (LOAD | register::CONTEXT | 8, Mode::Cbc),
        None => (JUMP | 2, Mode::Ecb),
    };
    Words::new([
        HEADER,
        KEY | IMMEDIATE | key.len() as u32,
        k0,
        k1,
        k2,
        k3,
        k4,
        k5,
        load,
        iv.unwrap_or(0),
        MESSAGE | message.size(),
        message.input.address,
        STORE_MESSAGE | message.size(),
        message.output,
        command::OPERATION
            | operation::CLASS_1
            | cipher.algorithm()
            | mode.bits()
            | direction(encrypts),
    ])
}

/// AES-CTR. A second operation enciphers the last counter block into `stream`, for which the first one must not count
/// on ([`operation::FINAL`]). The next counter goes to `next`.
#[inline]
pub(super) fn ctr(
    key: Span,
    counter: u32,
    message: Message,
    [next, stream]: [u32; 2],
) -> Words<25> {
    Words::new([
        HEADER,
        KEY | key.length as u32,
        key.address,
        LOAD | register::CONTEXT | OFFSET_16 | 16,
        counter,
        AES | operation::CTR | operation::FINAL,
        MESSAGE | EXTENDED,
        message.input.address,
        message.size(),
        STORE_MESSAGE | EXTENDED,
        message.output,
        message.size(),
        WAIT,
        CLEAR_WRITTEN,
        clear::DONE_1 | clear::DATA_SIZE_1,
        MESSAGE | IMMEDIATE | 16,
        0,
        0,
        0,
        0,
        STORE_MESSAGE | 16,
        stream,
        AES | operation::CTR,
        STORE | OFFSET_16 | 16,
        next,
    ])
}

/// What the descriptors of GCM and CCM point to.
#[derive(Clone, Copy)]
pub(super) struct Authenticated {
    pub(super) key: Span,
    pub(super) iv: Span,
    pub(super) associated: Span,
    pub(super) message: Message,
    pub(super) tag: Span,
    pub(super) encrypts: bool,
}

/// AES-GCM. A tag is compared by an operation of its own.
#[inline]
pub(super) fn gcm(job: &Authenticated) -> Words<26> {
    let Authenticated { key, iv, associated, message, tag, encrypts } = *job;
    let size = tag.length as u32;
    let last = |is_last: bool| if is_last { fifo_load::LAST_1 } else { 0 };
    let iv_is_last = associated.length == 0 && message.size() == 0;
    let associated_is_last = !iv_is_last && message.size() == 0;
    let [after_message, tag_or_clear, halt_or_value] = if encrypts {
        [STORE | size, tag.address, HALT]
    } else {
        let calm = jump::JOB_CONDITIONS | jump::CALM | jump::NO_OUTPUT;
        [WAIT | calm, CLEAR_WRITTEN, clear::DONE_1 | clear::DATA_SIZE_1]
    };
    Words::new([
        HEADER,
        KEY | key.length as u32,
        key.address,
        AES | operation::GCM | operation::FINAL | direction(encrypts),
        ICV_SIZE,
        size,
        FIFO_LOAD | fifo_load::IV | fifo_load::FLUSH_1 | last(iv_is_last) | iv.length as u32,
        iv.address,
        FIFO_LOAD
            | fifo_load::AAD
            | fifo_load::FLUSH_1
            | last(associated_is_last)
            | associated.length as u32,
        associated.address,
        MESSAGE | EXTENDED,
        message.input.address,
        message.size(),
        STORE_MESSAGE | EXTENDED,
        message.output,
        message.size(),
        after_message,
        tag_or_clear,
        halt_or_value,
        LOAD | IMMEDIATE | register::DATA_SIZE | 4,
        0,
        ICV_SIZE,
        size,
        AES | operation::GCM | operation::UPDATE | operation::CHECK_ICV,
        ICV | size,
        tag.address,
    ])
}

/// AES-CCM. `blocks` are B0 and the first counter block, and `begin` the first two bytes of the associated data or
/// what there is of them: they are in the command that has its length.
#[inline]
pub(super) fn ccm(job: &Authenticated, blocks: &[u8; 32], begin: &[u8]) -> Words<26> {
    let Authenticated { key, associated, message, tag, encrypts, .. } = *job;
    let [b0, b1, b2, b3, c0, c1, c2, c3] = core::array::from_fn(|at| {
        Format::RT1170.word(core::array::from_fn(|byte| blocks[4 * at + byte]))
    });
    let total = begin.len() + associated.length;
    let [upper, lower] = (total as u16).to_be_bytes();
    let mut prefix = [upper, lower, 0, 0];
    prefix[2..][..begin.len()].copy_from_slice(begin);
    let aad = FIFO_LOAD | fifo_load::AAD;
    let [first, rest] = match (total, associated.length) {
        (0, _) => [JUMP | 4, 0],
        (_, 0) => [aad | IMMEDIATE | fifo_load::FLUSH_1 | 4, JUMP | 2],
        (_, more) => [aad | IMMEDIATE | 4, aad | fifo_load::FLUSH_1 | more as u32],
    };
    let check = if encrypts { operation::ENCRYPT } else { operation::CHECK_ICV };
    let kind = if encrypts { STORE | OFFSET_32 } else { ICV };
    Words::new([
        HEADER,
        KEY | key.length as u32,
        key.address,
        LOAD | IMMEDIATE | register::CONTEXT | 16,
        b0,
        b1,
        b2,
        b3,
        LOAD | IMMEDIATE | register::CONTEXT | OFFSET_16 | 16,
        c0,
        c1,
        c2,
        c3,
        AES | operation::CCM | operation::INIT_FINAL | check,
        first,
        Format::RT1170.word(prefix),
        rest,
        associated.address,
        MESSAGE | EXTENDED,
        message.input.address,
        message.size(),
        STORE_MESSAGE | EXTENDED,
        message.output,
        message.size(),
        kind | tag.length as u32,
        tag.address,
    ])
}

/// The place of the table in the descriptor of a hash, in words.
const TABLE: u32 = 14;

/// What a hash's descriptor points to.
pub(super) struct Digest {
    pub(super) hash: Hash,
    /// One of [`operation::INIT`] and its neighbours.
    pub(super) state: u32,
    /// The context of what came before, for states that do not begin.
    pub(super) context: u32,
    pub(super) parts: [Span; 2],
    /// Where the context or the digest goes.
    pub(super) result: Span,
}

/// A digest, or a part of one. The second of the parts may be empty. The table of them is behind the commands; its
/// address is set once the descriptor has its place.
#[inline]
pub(super) fn digest(job: &Digest) -> Words<22> {
    let [first, second] = job.parts;
    let ends = |is_last: bool| if is_last { sgt::FINAL } else { 0 };
    let entry = |span: Span, is_last: bool| {
        let length = span.length as u32 | ends(is_last);
        let entry = SgtEntry { address: span.address.into(), length, offset: 0 };
        let [high, low] = Format::RT1170.long(entry.address);
        [high, low, entry.length, entry.offset]
    };
    let [h0, l0, n0, o0] = entry(first, second.length == 0);
    let [h1, l1, n1, o1] = entry(second, second.length > 0);
    let begins = matches!(job.state, operation::INIT | operation::INIT_FINAL);
    let start = if begins { 5 } else { 3 };
    let message = fifo_load::MESSAGE | fifo_load::LAST_BOTH_FLUSH | SGT | EXTENDED;
    Words::new([
        HEADER | start << header::START,
        command::KEY | class::TWO,
        0,
        command::LOAD | class::TWO | register::CONTEXT | job.hash.context() as u32,
        job.context,
        command::OPERATION | operation::CLASS_2 | job.hash.algorithm() | job.state,
        command::FIFO_LOAD | class::TWO | message,
        0,
        (first.length + second.length) as u32,
        command::STORE | class::TWO | register::CONTEXT | job.result.length as u32,
        job.result.address,
        HALT,
        0,
        HALT,
        h0,
        l0,
        n0,
        o0,
        h1,
        l1,
        n1,
        o1,
    ])
}

impl Words<22> {
    /// Tells the descriptor of a hash where it is.
    pub(super) fn place_table(&mut self, address: u32) {
        self.0[7] = Format::RT1170.bytes(address + 4 * TABLE);
    }
}
