//! The kernel gets pointers to the job's own buffers: nothing is copied in user space between them and the
//! system call. These tests compare what `sendmsg`, `recv` and `recvmsg` are given.

use super::*;
use crate::kernel_crypto::material;
use cpb_core::{Algorithm, CryptoWorkload, Data, Job, Operation, Placement};
use cpb_session::raw_jobs::RawJobs;
use libc::c_void;

/// Everything that one job of `workload` points to, in and out, as (pointer, length).
type Pieces = Vec<(*const u8, usize)>;

fn pieces(header: &msghdr) -> Pieces {
    // SAFETY: `header` made it from a slice that is still borrowed.
    let parts = unsafe { std::slice::from_raw_parts(header.msg_iov, header.msg_iovlen as _) };
    parts.iter().map(|part| (part.iov_base.cast::<u8>().cast_const(), part.iov_len)).collect()
}

/// A job of `workload` with its own memory, and what the kernel is given for it.
struct Pointed {
    input: *const u8,
    output: *const u8,
    tag: *const u8,
    associated: *const u8,
    iv: *const u8,
    scratch: *const u8,
    sent: Pieces,
    received: Pieces,
}

fn pointed(algorithm: Algorithm, operation: Operation, placement: Placement) -> Pointed {
    const MESSAGE: usize = 100_000;
    const ASSOCIATED: usize = 20;
    let shape = algorithm.shape();
    let aead = shape.tag > 0;
    let length = if aead { 1008 } else { MESSAGE };
    let workload = CryptoWorkload {
        placement,
        associated: if aead { ASSOCIATED as u32 } else { 0 },
        ..CryptoWorkload::new(algorithm, operation, length as u32)
    };
    let key = vec![1; shape.key];
    let (iv, associated) = (vec![2; shape.iv], vec![3; workload.associated as usize]);
    let (mut input, mut output) = (vec![4; length], vec![5; algorithm.output_length(length)]);
    let (mut tag, mut scratch) = (vec![6; shape.tag], vec![7; ASSOCIATED + shape.iv]);
    let (input_at, output_at) = match placement {
        Placement::Apart => (input.as_ptr(), output.as_ptr()),
        Placement::InPlace => (input.as_ptr(), input.as_ptr()),
    };
    let tag_at = tag.as_ptr();
    let data = match placement {
        Placement::Apart => Data::Apart { input: &input, output: &mut output },
        Placement::InPlace => Data::InPlace(&mut input),
    };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &associated, data, tag: &mut tag }];
    let jobs = RawJobs::new(&workload, &[&key], &mut jobs).expect("a job of the right lengths");
    let job = jobs.job(0).expect("the only one");
    let direction = match operation {
        Operation::Decrypt => Direction::Decrypt,
        _ => Direction::Encrypt,
    };
    let lengths = RequestLengths {
        message: length,
        associated: associated.len(),
        tag: shape.tag,
        iv: material::authenticated_iv(algorithm),
        scratch: scratch.as_mut_ptr(),
    };
    // As `session::Way` requests them: a long message takes two requests.
    const REQUEST: usize = 64 << 10;
    let (sent, received) = if aead {
        (vec![sealed_in(job, &lengths, direction)], vec![sealed_out(job, &lengths, direction)])
    } else {
        let rest = length - REQUEST;
        let sent = vec![piece_in(job, 0, REQUEST), piece_in(job, REQUEST, rest)];
        let received = match shape.digest {
            0 => vec![piece_out(job, 0, REQUEST), piece_out(job, REQUEST, rest)],
            digest => vec![piece_out(job, 0, digest)],
        };
        (sent, received)
    };
    let control = Control::new(direction, &iv, aead.then_some(ASSOCIATED as u32));
    let all = |parts: &[Gathered], control: Option<&Control>| {
        parts.iter().flat_map(|parts| pieces(&header(control, parts.as_slice()))).collect()
    };
    Pointed {
        input: input_at,
        output: output_at,
        tag: tag_at,
        associated: associated.as_ptr(),
        iv: iv.as_ptr(),
        scratch: scratch.as_ptr(),
        sent: all(&sent, Some(&control)),
        received: all(&received, None),
    }
}

#[test]
fn a_cipher_reads_and_writes_the_jobs_own_buffers() {
    for placement in [Placement::Apart, Placement::InPlace] {
        for operation in [Operation::Encrypt, Operation::Decrypt] {
            for algorithm in [Algorithm::Aes256Cbc, Algorithm::Aes128Ctr] {
                let job = pointed(algorithm, operation, placement);
                let (first, rest) = (65_536, 34_464);
                let from =
                    |start: *const u8| vec![(start, first), (start.wrapping_add(first), rest)];
                assert_eq!(job.sent, from(job.input), "{algorithm} {operation} {placement}");
                assert_eq!(job.received, from(job.output), "{algorithm} {operation} {placement}");
                assert_eq!(job.input == job.output, placement == Placement::InPlace);
            }
        }
    }
}

#[test]
fn a_hash_reads_the_message_and_writes_the_digest_where_the_job_has_them() {
    for (algorithm, operation, digest) in
        [(Algorithm::Sha1, Operation::Hash, 20), (Algorithm::HmacSha256, Operation::Mac, 32)]
    {
        let job = pointed(algorithm, operation, Placement::Apart);
        let rest = job.input.wrapping_add(65_536);
        assert_eq!(job.sent, [(job.input, 65_536), (rest, 34_464)], "{algorithm}");
        assert_eq!(job.received, [(job.output, digest)], "{algorithm}");
    }
}

#[test]
fn an_aead_is_gathered_from_the_jobs_parts_and_scattered_to_them() {
    for placement in [Placement::Apart, Placement::InPlace] {
        let seal = pointed(Algorithm::Aes128Gcm, Operation::Encrypt, placement);
        assert_eq!(seal.sent, [(seal.associated, 20), (seal.input, 1008)]);
        // The interface returns the associated data, which is not used.
        let received = [(seal.scratch, 20), (seal.output, 1008), (seal.tag, 16)];
        assert_eq!(seal.received, received);
        let open = pointed(Algorithm::Aes128Gcm, Operation::Decrypt, placement);
        assert_eq!(open.sent, [(open.associated, 20), (open.input, 1008), (open.tag, 16)]);
        assert_eq!(open.received, [(open.scratch, 20), (open.output, 1008)]);
    }
}

/// The IV is authenticated in front of the ciphertext, as a part of what the kernel calls associated data.
#[test]
fn encrypt_then_mac_hands_the_iv_over_with_the_associated_data() {
    for placement in [Placement::Apart, Placement::InPlace] {
        let seal = pointed(Algorithm::Aes128CbcHmacSha256Etm, Operation::Encrypt, placement);
        assert_eq!(seal.sent, [(seal.associated, 20), (seal.iv, 16), (seal.input, 1008)]);
        assert_eq!(seal.received, [(seal.scratch, 36), (seal.output, 1008), (seal.tag, 32)]);
        let open = pointed(Algorithm::Aes128CbcHmacSha256Etm, Operation::Decrypt, placement);
        let sent = [(open.associated, 20), (open.iv, 16), (open.input, 1008), (open.tag, 32)];
        assert_eq!(open.sent, sent);
        assert_eq!(open.received, [(open.scratch, 36), (open.output, 1008)]);
    }
}

#[test]
fn the_header_points_to_the_very_parts_and_control_messages() {
    let message = [1_u8; 16];
    let parts = Gathered::new(&[(message.as_ptr(), 16)]);
    let control = Control::new(Direction::Encrypt, &[9; 16], None);
    let made = header(Some(&control), parts.as_slice());
    assert_eq!(made.msg_iov.cast_const(), parts.as_slice().as_ptr());
    assert_eq!(made.msg_control.cast_const(), control.bytes().as_ptr().cast::<c_void>());
    assert_eq!(made.msg_controllen as u64, control.bytes().len() as u64);
}
