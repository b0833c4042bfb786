//! Compares what the kernel is given with the layout in `include/uapi/linux/if_alg.h` and `socket(7)`.

use super::*;

fn words(control: &Control) -> Vec<(usize, c_int, c_int, Vec<u8>)> {
    let mut found = Vec::new();
    let mut bytes = control.bytes();
    let header = size_of::<usize>() + 8;
    while !bytes.is_empty() {
        let length = usize::from_ne_bytes(bytes[..size_of::<usize>()].try_into().unwrap());
        let number = |at: usize| c_int::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        let (level, kind) = (number(size_of::<usize>()), number(size_of::<usize>() + 4));
        found.push((length, level, kind, bytes[header..length].to_vec()));
        bytes = &bytes[length.next_multiple_of(size_of::<usize>())..];
    }
    found
}

#[test]
fn control_messages_say_operation_iv_and_associated_length() {
    let header = size_of::<usize>() + 8;
    let iv: Vec<u8> = (1..=16).collect();
    let length = |iv: &[u8]| [(iv.len() as u32).to_ne_bytes().to_vec(), iv.to_vec()].concat();
    assert_eq!(
        words(&Control::new(Direction::Encrypt, &iv, None)),
        [(header + 4, 279, 3, 1_u32.to_ne_bytes().to_vec()), (header + 20, 279, 2, length(&iv)),]
    );
    assert_eq!(
        words(&Control::new(Direction::Decrypt, &iv[..12], Some(13))),
        [
            (header + 4, 279, 3, 0_u32.to_ne_bytes().to_vec()),
            (header + 16, 279, 2, length(&iv[..12])),
            (header + 4, 279, 4, 13_u32.to_ne_bytes().to_vec()),
        ]
    );
    assert_eq!(std::mem::align_of::<Control>(), 8);
}

struct Buffers {
    iv: [u8; 12],
    associated: [u8; 13],
    input: [u8; 64],
    output: [u8; 64],
    tag: [u8; 16],
    scratch: [u8; 13],
}

impl Buffers {
    fn new() -> Box<Buffers> {
        let (associated, scratch) = ([0; 13], [0; 13]);
        Box::new(Buffers {
            iv: [0; 12],
            associated,
            input: [0; 64],
            output: [0; 64],
            tag: [0; 16],
            scratch,
        })
    }

    fn job(&mut self) -> RawJob {
        RawJob {
            key: 0,
            iv: self.iv.as_ptr(),
            associated: self.associated.as_ptr(),
            input: self.input.as_ptr(),
            output: self.output.as_mut_ptr(),
            tag: self.tag.as_mut_ptr(),
        }
    }

    fn lengths(&mut self, associated: usize, message: usize) -> RequestLengths {
        RequestLengths { message, associated, tag: 16, iv: 0, scratch: self.scratch.as_mut_ptr() }
    }
}

fn pieces(parts: &Gathered) -> Vec<(usize, usize)> {
    parts.as_slice().iter().map(|part| (part.iov_base as usize, part.iov_len)).collect()
}

#[test]
fn the_kernel_is_given_the_jobs_own_buffers() {
    let mut buffers = Buffers::new();
    let (job, lengths) = (buffers.job(), buffers.lengths(13, 64));
    let at = |pointer: *const u8| pointer as usize;
    let (associated, input, output) = (at(job.associated), at(job.input), at(job.output));
    let (tag, scratch) = (at(job.tag), at(lengths.scratch));

    assert_eq!(pieces(&piece_in(&job, 16, 32)), [(input + 16, 32)]);
    assert_eq!(pieces(&piece_out(&job, 16, 32)), [(output + 16, 32)]);
    let sealed = sealed_in(&job, &lengths, Direction::Encrypt);
    assert_eq!(pieces(&sealed), [(associated, 13), (input, 64)]);
    let sealed = sealed_out(&job, &lengths, Direction::Encrypt);
    assert_eq!(pieces(&sealed), [(scratch, 13), (output, 64), (tag, 16)]);
    assert_eq!(sealed.length(), 13 + 64 + 16);
    let opened = sealed_in(&job, &lengths, Direction::Decrypt);
    assert_eq!(pieces(&opened), [(associated, 13), (input, 64), (tag, 16)]);
    let opened = sealed_out(&job, &lengths, Direction::Decrypt);
    assert_eq!(pieces(&opened), [(scratch, 13), (output, 64)]);

    let control = Control::new(Direction::Encrypt, &[0; 12], Some(13));
    let header = header(Some(&control), sealed.as_slice());
    assert_eq!(header.msg_iov.cast_const(), sealed.as_slice().as_ptr());
    assert_eq!(header.msg_control.cast_const(), control.bytes().as_ptr().cast());
    let lengths = (header.msg_iovlen as u64, header.msg_controllen as u64);
    assert_eq!(lengths, (3, control.length as u64));
    assert!(header.msg_name.is_null());
}

#[test]
fn a_tag_without_a_message_is_still_asked_for() {
    let mut buffers = Buffers::new();
    let (job, lengths) = (buffers.job(), buffers.lengths(0, 0));
    let parts = |parts: Gathered| pieces(&parts);
    assert_eq!(parts(sealed_in(&job, &lengths, Direction::Encrypt)), []);
    assert_eq!(parts(sealed_out(&job, &lengths, Direction::Encrypt)), [(job.tag as usize, 16)]);
    assert_eq!(parts(sealed_in(&job, &lengths, Direction::Decrypt)), [(job.tag as usize, 16)]);
    let one = (lengths.scratch as usize, 1);
    assert_eq!(parts(sealed_out(&job, &lengths, Direction::Decrypt)), [one]);
}
