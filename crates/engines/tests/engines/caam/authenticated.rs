//! AES-GCM and AES-CCM with published answers.

use super::*;
use cpb_drivers::caam::descriptor::{IMMEDIATE, clear, command, jump};
use cpb_drivers::caam::status;

const KEY: &str = "feffe9928665731c6d6a8f9467308308";
const IV: &str = "cafebabefacedbaddecaf888";
const AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
const PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                     1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const CIPHER: &str = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                      21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";

const FLUSH: u32 = fifo_load::FLUSH_1;
const LAST: u32 = fifo_load::LAST_1 | fifo_load::FLUSH_1;
const GCM: u32 = operation::CLASS_1 | operation::AES | operation::GCM;
const CCM: u32 = operation::CLASS_1 | operation::AES | operation::CCM;

/// A message in parts: key, IV, associated data, input. The last part that is not empty ends the data.
struct Gcm<'g> {
    key: &'g str,
    iv: &'g str,
    aad: &'g str,
    input: &'g str,
}

impl Gcm<'_> {
    /// The words that Linux and NXP's driver have in common: IV, associated data and message, each with its mark.
    fn job(&self, machine: &mut Machine, fields: u32, ends: bool) -> (Descriptor, u64) {
        let [key, iv, aad, input] =
            [self.key, self.iv, self.aad, self.input].map(|text| machine.put(&hex(text)));
        let length = |text: &str| text.len() as u32 / 2;
        let output = machine.room(self.input.len() / 2);
        let end = |is_last: bool| if ends && is_last { LAST } else { FLUSH };
        let (has_aad, has_input) = (!self.aad.is_empty(), !self.input.is_empty());
        let mut job = machine.job();
        job.key(class::ONE, key, self.key.len() / 2).operation(GCM | fields).fifo_load(
            class::ONE | fifo_load::IV | end(!has_aad && !has_input),
            iv,
            length(self.iv),
        );
        if has_aad {
            let kind = class::ONE | fifo_load::AAD | end(!has_input);
            job.fifo_load(kind, aad, length(self.aad));
        }
        if has_input {
            job.fifo_load(class::ONE | fifo_load::MESSAGE | end(true), input, length(self.input))
                .fifo_store(fifo_store::MESSAGE, output, length(self.input));
        }
        (job, output)
    }
}

/// The Galois/Counter Mode of Operation (McGrew, Viega), appendix B: cases 1, 2, 4, 5, 6 and 18.
#[test]
fn gcm_gives_the_published_answers_in_each_layout() {
    let zero = "00000000000000000000000000000000";
    let nothing = "000000000000000000000000";
    let long_iv = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b";
    let key_256 = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    let cases = [
        (zero, nothing, "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            zero,
            nothing,
            "",
            zero,
            "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf",
        ),
        (KEY, IV, AAD, PLAIN, CIPHER, "5bc94fbc3221a5db94fae95ae7121a47"),
        (
            KEY,
            "cafebabefacedbad",
            AAD,
            PLAIN,
            "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
            "3612d2e79e3b0785561be14aaca2fccb",
        ),
        (
            KEY,
            long_iv,
            AAD,
            PLAIN,
            "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5",
            "619cc5aefffe0bfa462af43c1699d050",
        ),
        (
            key_256,
            long_iv,
            AAD,
            PLAIN,
            "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf40fc0c3b780f244452da3ebf1c5d82cdea2418997200ef82e44ae7e3f",
            "a44a8266ee1c8eb0c8b5d4cf5ae9f19a",
        ),
    ];
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (key, iv, aad, plain, cipher, tag) in cases {
            let size = cipher.len() / 2;
            let tag_at = machine.room(16);
            let (mut job, output) = Gcm { key, iv, aad, input: plain }.job(
                &mut machine,
                operation::INIT_FINAL | operation::ENCRYPT,
                true,
            );
            job.store(class::ONE | register::CONTEXT, 0, tag_at, 16);
            assert_eq!(machine.run(&mut job), 0);
            assert_eq!(machine.bytes(output, size), hex(cipher));
            assert_eq!(machine.bytes(tag_at, 16), hex(tag));
            // As Linux decrypts: the authentication code is the last of the data.
            for wrong in [false, true] {
                let mut code = hex(tag);
                code[15] ^= u8::from(wrong);
                let code = machine.put(&code);
                let fields = operation::INIT_FINAL | operation::CHECK_ICV;
                let (mut job, output) =
                    Gcm { key, iv, aad, input: cipher }.job(&mut machine, fields, false);
                job.fifo_load(class::ONE | fifo_load::ICV | fifo_load::LAST_1, code, 16);
                let told = machine.run(&mut job);
                assert_eq!(status::is_mismatch(told), wrong, "{told:#x}");
                assert_eq!(told & 0xF000_00FF, if wrong { 0x2000_001A } else { 0 });
                assert_eq!(machine.bytes(output, size), hex(plain));
            }
        }
    }
}

/// The descriptor of NXP's driver: it decrypts in the state FINAL without a check, and compares the code in a second
/// operation without data.
#[test]
fn nxp_s_descriptor_of_gcm_compares_the_code_in_an_operation_of_its_own() {
    let mut machine = Machine::imx();
    let tag = "5bc94fbc3221a5db94fae95ae7121a47";
    for wrong in [false, true] {
        let mut code = hex(tag);
        code[0] ^= u8::from(wrong);
        let code = machine.put(&code);
        let (mut job, output) = Gcm { key: KEY, iv: IV, aad: AAD, input: CIPHER }.job(
            &mut machine,
            operation::FINAL,
            true,
        );
        job.jump(jump::JOB_CONDITIONS | class::ONE | jump::CALM | jump::NO_OUTPUT | 1)
            .load_word(register::CLEAR_WRITTEN, clear::DONE_1 | clear::DATA_SIZE_1)
            .load_word(class::ONE | register::DATA_SIZE, 0)
            .load_word(class::ONE | register::ICV_SIZE, 16)
            .operation(GCM | operation::CHECK_ICV)
            .fifo_load(class::ONE | fifo_load::ICV | LAST, code, 16);
        let told = machine.run(&mut job);
        assert_eq!(told & 0xF000_00FF, if wrong { 0x2000_001A } else { 0 });
        assert_eq!(machine.bytes(output, PLAIN.len() / 2), hex(PLAIN));
        machine.works();
    }
}

#[test]
fn gcm_in_two_jobs_is_that_of_the_whole() {
    let mut machine = Machine::imx();
    let (context, tag) = (machine.room(64), machine.room(16));
    let (mut first, begin) = Gcm { key: KEY, iv: IV, aad: AAD, input: &PLAIN[..64] }.job(
        &mut machine,
        operation::INIT | operation::ENCRYPT,
        true,
    );
    first.store(class::ONE | register::CONTEXT, 0, context, 64);
    let key = machine.put(&hex(KEY));
    let rest = machine.put(&hex(&PLAIN[64..]));
    let end = machine.room(28);
    let mut second = machine.job();
    second
        .key(class::ONE, key, 16)
        .load(class::ONE | register::CONTEXT, 0, context, 64)
        .operation(GCM | operation::FINAL | operation::ENCRYPT)
        .fifo_load(message(), rest, 28)
        .fifo_store(fifo_store::MESSAGE, end, 28)
        .store(class::ONE | register::CONTEXT, 0, tag, 16);
    assert_eq!((machine.run(&mut first), machine.run(&mut second)), (0, 0));
    let cipher = [machine.bytes(begin, 32), machine.bytes(end, 28)].concat();
    assert_eq!(cipher, hex(CIPHER));
    assert_eq!(machine.bytes(tag, 16), hex("5bc94fbc3221a5db94fae95ae7121a47"));
}

/// SP 800-38C, C.1 to C.3: nonce, associated data, plaintext, ciphertext with code.
const CCM_CASES: [(&str, &str, &str, &str); 3] = [
    ("10111213141516", "0001020304050607", "20212223", "7162015b4dac255d"),
    (
        "1011121314151617",
        "000102030405060708090a0b0c0d0e0f",
        "202122232425262728292a2b2c2d2e2f",
        "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd",
    ),
    (
        "101112131415161718191a1b",
        "000102030405060708090a0b0c0d0e0f10111213",
        "202122232425262728292a2b2c2d2e2f3031323334353637",
        "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951",
    ),
];

/// The words of NXP's driver: B0 and the first counter in the context, the associated data with its length in front.
#[test]
fn ccm_gives_the_published_answers_and_tells_a_wrong_code() {
    let key = hex("404142434445464748494a4b4c4d4e4f");
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (nonce, aad, plain, right) in CCM_CASES {
            let [nonce, aad, plain, right] = [nonce, aad, plain, right].map(hex);
            let (cipher, code) = right.split_at(plain.len());
            let width = 15 - nonce.len();
            let mut b0 = [0; 16];
            b0[0] = (0x40 + 8 * ((code.len() - 2) / 2) + width - 1) as u8;
            b0[1..=nonce.len()].copy_from_slice(&nonce);
            b0[15] = plain.len() as u8;
            let mut counter = [0; 16];
            counter[0] = width as u8 - 1;
            counter[1..=nonce.len()].copy_from_slice(&nonce);
            let key_at = machine.put(&key);
            let head = [&[0, aad.len() as u8][..], &aad[..2]].concat();
            let aad_at = machine.put(&aad[2..]);
            let mut begin = machine.job();
            begin
                .key(class::ONE, key_at, 16)
                .load_immediate(class::ONE | register::CONTEXT, 0, &b0)
                .load_immediate(class::ONE | register::CONTEXT, 16, &counter);
            let size = plain.len() as u32;
            let mut job = begin;
            let (input, output, code_at) =
                (machine.put(&plain), machine.room(plain.len()), machine.room(16));
            job.operation(CCM | operation::INIT_FINAL | operation::ENCRYPT)
                .fifo_load_immediate(class::ONE | fifo_load::AAD, &head)
                .fifo_load(class::ONE | fifo_load::AAD | FLUSH, aad_at, aad.len() as u32 - 2)
                .fifo_load(class::ONE | fifo_load::MESSAGE | LAST, input, size)
                .fifo_store(fifo_store::MESSAGE, output, size)
                .store(class::ONE | register::CONTEXT, 32, code_at, code.len());
            assert_eq!(machine.run(&mut job), 0);
            assert_eq!(machine.bytes(output, plain.len()), cipher);
            assert_eq!(machine.bytes(code_at, code.len()), code);
            for wrong in [false, true] {
                let mut code = code.to_vec();
                code[1] ^= u8::from(wrong);
                let (input, output) = (machine.put(cipher), machine.room(plain.len()));
                let code_at = machine.put(&code);
                let mut job = begin;
                job.operation(CCM | operation::INIT_FINAL | operation::CHECK_ICV)
                    .fifo_load_immediate(class::ONE | fifo_load::AAD, &head)
                    .fifo_load(class::ONE | fifo_load::AAD | FLUSH, aad_at, aad.len() as u32 - 2)
                    .fifo_load(class::ONE | fifo_load::MESSAGE | FLUSH, input, size)
                    .fifo_store(fifo_store::MESSAGE, output, size)
                    .fifo_load(class::ONE | fifo_load::ICV | LAST, code_at, code.len() as u32);
                let told = machine.run(&mut job);
                assert_eq!(told & 0xF000_00FF, if wrong { 0x2000_001A } else { 0 });
                assert_eq!(machine.bytes(output, plain.len()), plain);
            }
        }
    }
}

/// The code for a longer length than two bytes: FF FE, then four bytes of length.
#[test]
fn ccm_refuses_associated_data_whose_length_needs_another_code() {
    let mut machine = Machine::imx();
    let mut job = machine.job();
    job.key_immediate(class::ONE, &[0; 16])
        .operation(CCM | operation::INIT_FINAL | operation::ENCRYPT)
        .push(command::FIFO_LOAD | IMMEDIATE | class::ONE | fifo_load::AAD | 4)
        .bytes(&[0xFF, 0xFE, 0, 0]);
    assert_eq!(machine.run(&mut job), 0x2000_001C | 7 << 8);
    machine.works();
}
