//! The CAAM as the port for Mbed TLS drives it: published answers, and each fault with a right job after it.

use super::{TIMING, hex};
use crate::bus::Board;
use cpb_core::{Data, Error, Interrupt, Meaning, Unsupported};
use cpb_drivers::caam::job::Hash;
use cpb_drivers::caam::port::{Aead, HashState, Key, Memory, Port, Tag};
use cpb_drivers::caam::registers::{PAGE_64K, ring};
use cpb_drivers::caam::ring::Place;
use cpb_drivers::caam::{Addresses, Caam, Work};
use cpb_engines::caam::{Caam as Model, Configuration};
use sha1::Digest;

const BASE: u32 = 0x4044_0000;

type Bus = Board<Model>;

/// Runs `body` with the second ring of an engine that its driver has set up.
fn with_port<R>(body: impl FnOnce(&mut Bus, &mut Port<'_>) -> R) -> R {
    let board = Board::new(Model::new(TIMING, Configuration::RT1170), BASE);
    let (mut work, mut memory) = (Box::new(Work::<8>::EMPTY), Box::new(Memory::EMPTY));
    let block = |number| BASE + ring(number, PAGE_64K);
    let place = Place { base: block(0), line: Interrupt(69) };
    let mut caam =
        Caam::new(board, Addresses { base: BASE, ring: place }, &mut work).expect("an engine");
    let mut port = Port::new(caam.bus(), block(1), &mut memory).expect("a ring");
    body(caam.bus(), &mut port)
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().expect("as many digits")
}

/// SP 800-38A: the plaintext of all its examples, and the keys.
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const KEYS: [&str; 3] = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
];
const IV: &str = "000102030405060708090a0b0c0d0e0f";

/// SP 800-38A, F.1.1, F.1.3 and F.1.5: the first block.
#[test]
fn a_block_of_aes_is_a_job() {
    let right = [
        "3ad77bb40d7a3660a89ecaf32466ef97",
        "bd334f1d6e45f25ff712a214571fa5cc",
        "f3eed1bdb5d2a03c064b5a7e3db181f8",
    ];
    with_port(|bus, port| {
        for (key, right) in KEYS.map(hex).iter().zip(right.map(array)) {
            let plain = array(&PLAIN[..32]);
            let cipher = port.ecb(bus, Key { bytes: key, encrypts: true }, &plain);
            assert_eq!(cipher, Ok(right));
            let back = port.ecb(bus, Key { bytes: key, encrypts: false }, &right);
            assert_eq!(back, Ok(plain));
        }
        assert_eq!(port.finished(), 6);
    });
}

/// SP 800-38A, F.2.1 and F.2.5: two blocks.
#[test]
fn cbc_gives_the_published_answers_apart_and_in_place() {
    let right = [
        (KEYS[0], "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"),
        (KEYS[2], "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"),
    ];
    with_port(|bus, port| {
        for (key, right) in right {
            let (key, iv, plain) = (hex(key), array(IV), hex(&PLAIN[..64]));
            let mut output = [0; 32];
            let mut data = Data::Apart { input: &plain, output: &mut output };
            port.cbc(bus, Key { bytes: &key, encrypts: true }, &iv, &mut data).expect("a job");
            assert_eq!(output[..], hex(right));
            let mut data = Data::InPlace(&mut output);
            port.cbc(bus, Key { bytes: &key, encrypts: false }, &iv, &mut data).expect("a job");
            assert_eq!(output[..], plain);
        }
    });
}

/// FIPS 81, table C1. Triple DES with three times the same key is DES.
#[test]
fn des_has_its_key_among_the_commands() {
    let (key, iv) = (hex("0123456789abcdef"), array("1234567890abcdef"));
    let plain = b"Now is the time for all ";
    let right = hex("e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    with_port(|bus, port| {
        for key in [key.clone(), key.repeat(3)] {
            let mut output = [0; 24];
            let mut data = Data::Apart { input: plain, output: &mut output };
            port.des_cbc(bus, Key { bytes: &key, encrypts: true }, &iv, &mut data).expect("a job");
            assert_eq!(output[..], right);
            let mut data = Data::InPlace(&mut output);
            port.des_cbc(bus, Key { bytes: &key, encrypts: false }, &iv, &mut data).expect("a job");
            assert_eq!(&output, plain);
        }
        let mut long = vec![0; 0x1_0000];
        let key = Key { bytes: &key, encrypts: true };
        let refused = port.des_cbc(bus, key, &iv, &mut Data::InPlace(&mut long));
        assert_eq!(refused, Err(Unsupported::Length.into()));
    });
}

/// FIPS 81, table B1.
#[test]
fn a_block_of_des_has_no_iv() {
    let key = hex("0123456789abcdef");
    let blocks = b"Now is the time for all ".as_chunks::<8>().0;
    let right = hex("3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53");
    with_port(|bus, port| {
        for key in [key.clone(), key.repeat(3)] {
            for (plain, right) in blocks.iter().zip(right.as_chunks::<8>().0) {
                let [encrypts, decrypts] =
                    [true, false].map(|encrypts| Key { bytes: &key, encrypts });
                assert_eq!(port.des_ecb(bus, encrypts, plain), Ok(*right));
                assert_eq!(port.des_ecb(bus, decrypts, right), Ok(*plain));
            }
        }
    });
}

/// SP 800-38A, F.5.1: the message in one job, in pieces of whole blocks, and one that ends within a block.
#[test]
fn counter_mode_leaves_the_next_counter_and_the_last_key_stream() {
    let (key, plain) = (hex(KEYS[0]), hex(PLAIN));
    let right = hex("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                     5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee");
    for pieces in [&[64][..], &[16, 48], &[32, 16, 16], &[37], &[48, 5]] {
        with_port(|bus, port| {
            let mut counter = array("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
            let (mut stream, mut at) = ([0; 16], 0);
            for &length in pieces {
                let mut output = vec![0; length];
                let mut data = Data::Apart { input: &plain[at..][..length], output: &mut output };
                let state = [&mut counter, &mut stream];
                port.ctr(bus, &key, state, &mut data).expect("a job");
                assert_eq!(output, right[at..][..length], "{pieces:?}");
                at += length;
            }
            // The last block began here.
            let block = (at - 1) / 16 * 16;
            let key_stream: Vec<u8> =
                plain[block..][..16].iter().zip(&right[block..]).map(|(a, b)| a ^ b).collect();
            assert_eq!(stream[..], key_stream, "{pieces:?}");
            assert_eq!(counter[14..], [0xFF, at.div_ceil(16) as u8 - 1], "{pieces:?}");
        });
    }
}

struct Case {
    aead: Aead,
    key: &'static str,
    iv: &'static str,
    associated: &'static str,
    plain: &'static str,
    cipher: &'static str,
    tag: &'static str,
}

const ZERO: &str = "00000000000000000000000000000000";
const GCM_KEY: &str = "feffe9928665731c6d6a8f9467308308";
const GCM_PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const CCM_KEY: &str = "404142434445464748494a4b4c4d4e4f";

/// The Galois/Counter Mode of Operation (McGrew, Viega), appendix B, cases 1, 2, 4 and 5; SP 800-38C, examples 1 to 3.
const CASES: [Case; 7] = [
    Case {
        aead: Aead::Gcm,
        key: ZERO,
        iv: "000000000000000000000000",
        associated: "",
        plain: "",
        cipher: "",
        tag: "58e2fccefa7e3061367f1d57a4e7455a",
    },
    Case {
        aead: Aead::Gcm,
        key: ZERO,
        iv: "000000000000000000000000",
        associated: "",
        plain: ZERO,
        cipher: "0388dace60b6a392f328c2b971b2fe78",
        tag: "ab6e47d42cec13bdf53a67b21257bddf",
    },
    Case {
        aead: Aead::Gcm,
        key: GCM_KEY,
        iv: "cafebabefacedbaddecaf888",
        associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        plain: GCM_PLAIN,
        cipher: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
        tag: "5bc94fbc3221a5db94fae95ae7121a47",
    },
    Case {
        aead: Aead::Gcm,
        key: GCM_KEY,
        iv: "cafebabefacedbad",
        associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        plain: GCM_PLAIN,
        cipher: "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423\
                 73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
        tag: "3612d2e79e3b0785561be14aaca2fccb",
    },
    Case {
        aead: Aead::Ccm,
        key: CCM_KEY,
        iv: "10111213141516",
        associated: "0001020304050607",
        plain: "20212223",
        cipher: "7162015b",
        tag: "4dac255d",
    },
    Case {
        aead: Aead::Ccm,
        key: CCM_KEY,
        iv: "1011121314151617",
        associated: "000102030405060708090a0b0c0d0e0f",
        plain: "202122232425262728292a2b2c2d2e2f",
        cipher: "d2a1f0e051ea5f62081a7792073d593d",
        tag: "1fc64fbfaccd",
    },
    Case {
        aead: Aead::Ccm,
        key: CCM_KEY,
        iv: "101112131415161718191a1b",
        associated: "000102030405060708090a0b0c0d0e0f10111213",
        plain: "202122232425262728292a2b2c2d2e2f3031323334353637",
        cipher: "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5",
        tag: "484392fbc1b09951",
    },
];

/// Encrypts. Returns ciphertext and tag.
fn seal(bus: &mut Bus, port: &mut Port<'_>, case: &Case, associated: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let [key, iv, plain] = [case.key, case.iv, case.plain].map(hex);
    let (mut output, mut tag) = (vec![0; plain.len()], hex(case.tag));
    tag.fill(0);
    let mut data = Data::Apart { input: &plain, output: &mut output };
    let tag_place = Tag::Make(&mut tag);
    port.aead(bus, (case.aead, &key), &iv, associated, &mut data, tag_place).expect("a job");
    (output, tag)
}

/// Decrypts in place.
fn open(
    bus: &mut Bus,
    port: &mut Port<'_>,
    case: &Case,
    associated: &[u8],
    (cipher, tag): (&[u8], &[u8]),
) -> Result<Vec<u8>, Error> {
    let [key, iv] = [case.key, case.iv].map(hex);
    let mut buffer = cipher.to_vec();
    let mut data = Data::InPlace(&mut buffer);
    port.aead(bus, (case.aead, &key), &iv, associated, &mut data, Tag::Compare(tag))?;
    Ok(buffer)
}

#[test]
fn gcm_and_ccm_give_the_published_answers_and_refuse_a_wrong_tag() {
    for case in CASES {
        with_port(|bus, port| {
            let associated = hex(case.associated);
            let (cipher, tag) = seal(bus, port, &case, &associated);
            assert_eq!((&cipher, &tag), (&hex(case.cipher), &hex(case.tag)), "{}", case.tag);
            let back = open(bus, port, &case, &associated, (&cipher, &tag));
            assert_eq!(back, Ok(hex(case.plain)), "{}", case.tag);
            let mut wrong = tag.clone();
            wrong[0] ^= 1;
            let refused = open(bus, port, &case, &associated, (&cipher, &wrong));
            assert_eq!(refused, Err(Error::Refused), "{}", case.tag);
            let back = open(bus, port, &case, &associated, (&cipher, &tag));
            assert_eq!(back, Ok(hex(case.plain)), "after the wrong tag of {}", case.tag);
        });
    }
}

/// Up to two bytes of associated data are in one command with their length, so these are all the shapes.
#[test]
fn ccm_takes_associated_data_of_any_length() {
    for length in [0, 1, 2, 3, 13, 14, 15, 30, 300] {
        for plain in ["", "2021222324252627"] {
            let case = Case { plain, ..CASES[6] };
            let associated: Vec<u8> = (0..length).map(|at| at as u8).collect();
            with_port(|bus, port| {
                let (cipher, tag) = seal(bus, port, &case, &associated);
                let right = (cipher.as_slice(), tag.as_slice());
                assert_eq!(open(bus, port, &case, &associated, right), Ok(hex(plain)));
                let mut other = associated.clone();
                other.push(0);
                let refused = open(bus, port, &case, &other, right);
                assert_eq!(refused, Err(Error::Refused), "{length} bytes");
            });
        }
    }
}

#[test]
fn lengths_that_the_engine_does_not_take_are_refused() {
    let (key, iv) = (hex(ZERO), [0; 12]);
    let long = vec![0; 0x1_0000];
    with_port(|bus, port| {
        let mut tag = [0; 16];
        for (aead, iv, associated, tag_length) in [
            (Aead::Gcm, &[][..], &[][..], 16),
            (Aead::Gcm, &iv, &long, 16),
            (Aead::Gcm, &iv, &[], 11),
            (Aead::Ccm, &iv[..6], &[], 16),
            (Aead::Ccm, &iv, &long[..0xFF00], 16),
            (Aead::Ccm, &iv, &[], 5),
            (Aead::Ccm, &iv, &[], 2),
        ] {
            let mut data = Data::InPlace(&mut []);
            let tag = Tag::Make(&mut tag[..tag_length]);
            let refused = port.aead(bus, (aead, &key), iv, associated, &mut data, tag);
            assert_eq!(refused, Err(Unsupported::Length.into()), "{aead:?} {tag_length}");
        }
        assert_eq!(port.finished(), 0);
    });
}

fn hash(bus: &mut Bus, port: &mut Port<'_>, hash: Hash, pieces: &[&[u8]]) -> Vec<u8> {
    let mut state = HashState::new(hash);
    for piece in pieces {
        port.hash_update(bus, &mut state, piece).expect("a job");
    }
    let mut digest = vec![0; hash.length()];
    port.hash_finish(bus, &mut state, &mut digest).expect("a job");
    digest
}

/// FIPS 180-2, appendices A.1 and B.1, and RFC 3874, section 3.1.
#[test]
fn a_hash_gives_the_published_answers() {
    with_port(|bus, port| {
        for (kind, right) in [
            (Hash::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (Hash::Sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (Hash::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ] {
            assert_eq!(hash(bus, port, kind, &[b"abc"]), hex(right));
        }
        assert_eq!(port.finished(), 3, "a short message is one job");
        hash(bus, port, Hash::Sha256, &[&[0; 1024]]);
        assert_eq!(port.finished(), 5, "a longer one is two");
    });
}

#[test]
fn a_hash_in_pieces_is_that_of_the_whole() {
    let message: Vec<u8> = (0..700).map(|at| (at * 7 % 251) as u8).collect();
    for pieces in [
        &[][..],
        &[0],
        &[1, 63],
        &[64],
        &[65],
        &[63, 1, 1],
        &[64, 64, 64],
        &[3, 128, 61],
        &[200, 300, 200],
        &[64, 10],
        &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    ] {
        let mut rest = &message[..pieces.iter().sum()];
        let whole = rest;
        let pieces: Vec<&[u8]> = pieces
            .iter()
            .map(|length| {
                let (piece, after) = rest.split_at(*length);
                rest = after;
                piece
            })
            .collect();
        with_port(|bus, port| {
            for (kind, right) in [
                (Hash::Sha1, sha1::Sha1::digest(whole).to_vec()),
                (Hash::Sha224, sha2::Sha224::digest(whole).to_vec()),
                (Hash::Sha256, sha2::Sha256::digest(whole).to_vec()),
            ] {
                assert_eq!(hash(bus, port, kind, &pieces), right, "{kind:?} {}", whole.len());
            }
        });
    }
}

/// The engine cannot read a message, reports it, and does the next job.
#[test]
fn a_failed_job_is_reported_and_the_next_one_is_right() {
    let (key, iv, plain) = (hex(KEYS[0]), array(IV), hex(&PLAIN[..64]));
    let right = hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2");
    with_port(|bus, port| {
        for round in 0..6 {
            let mut output = [0; 32];
            let at = u64::from(plain.as_ptr() as usize as u32);
            bus.memory.broken = (round % 2 == 0).then_some(at..at + 16);
            let mut data = Data::Apart { input: &plain, output: &mut output };
            let done = port.cbc(bus, Key { bytes: &key, encrypts: true }, &iv, &mut data);
            if round % 2 == 0 {
                let meaning = match done {
                    Err(Error::Engine { meaning, .. }) => Some(meaning),
                    _ => None,
                };
                assert_eq!(meaning, Some(Meaning::Read));
            } else {
                assert_eq!((done, &output[..]), (Ok(()), &right[..]));
            }
        }
        assert_eq!(port.finished(), 3);
    });
}
