//! The DCP's driver against the model: published answers, and each fault with a right job after it.

mod model;
mod provider;

use crate::bus::Board;
use cpb_core::{Data, Error, Interrupt, Meaning, Unsupported};
use cpb_drivers::dcp::packet::{Words, control0};
use cpb_drivers::dcp::port::HashState;
use cpb_drivers::dcp::registers::status;
use cpb_drivers::dcp::{Cipher, Completion, Dcp, Hash, Key, Mode, Work};
use cpb_engines::dcp::{Dcp as Model, Fuses, Timing};

const BASE: u32 = 0x402F_C000;
const LINE: Interrupt = Interrupt(50);

/// Times of the order of the RT1060's, in nanoseconds.
const TIMING: Timing = Timing {
    fetch: 100.0,
    context: 100.0,
    payload: 50.0,
    aes_block: 230.0,
    sha1_block: 640.0,
    sha256_block: 530.0,
    word: 7.0,
    finish: 30.0,
};

fn board() -> Board<Model> {
    Board::new(Model::new(TIMING, Fuses::default()), BASE)
}

/// Runs `body` with a driver whose engine is set up.
fn with_dcp<R>(body: impl FnOnce(&mut Dcp<'_, Board<Model>>) -> R) -> R {
    let mut work = Box::new(Work::EMPTY);
    body(&mut Dcp::new(board(), BASE, LINE, &mut work).expect("an engine"))
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    core::array::from_fn(|at| u8::from_str_radix(&text[2 * at..][..2], 16).expect("hex"))
}

/// SP 800-38A, F.1.1 and F.2.1: key, IV, and the first two blocks of plaintext and ciphertext.
fn sp_800_38a(mode: Mode) -> ([u8; 16], [u8; 16], [u8; 32], [u8; 32]) {
    let cipher = match mode {
        Mode::Ecb => "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf",
        Mode::Cbc => "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
    };
    (
        hex("2b7e151628aed2a6abf7158809cf4f3c"),
        hex("000102030405060708090a0b0c0d0e0f"),
        hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"),
        hex(cipher),
    )
}

/// FIPS 180-2, appendices A.1 and B.1.
const ABC: [(Hash, &str); 2] = [
    (Hash::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (Hash::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
];

fn abc(dcp: &mut Dcp<'_, Board<Model>>) {
    for how in [Completion::Polling, Completion::Interrupt] {
        for (hash, right) in ABC {
            let mut digest = vec![0; hash.length()];
            dcp.hash(hash, b"abc", &mut digest, how).expect("a digest");
            assert_eq!(digest, hex::<32>(&format!("{right:0<64}"))[..hash.length()], "{hash:?}");
        }
    }
}

#[test]
fn aes_gives_the_published_answers_with_a_key_in_a_slot_or_in_the_payload() {
    for mode in [Mode::Ecb, Mode::Cbc] {
        let (key, iv, plain, right) = sp_800_38a(mode);
        with_dcp(|dcp| {
            dcp.load_key(2, &key);
            for how in [Completion::Polling, Completion::Interrupt] {
                let mut output = [0; 32];
                let cipher = Cipher { mode, encrypts: true, key: Key::Slot(2) };
                dcp.cipher(cipher, &iv, &plain, &mut output, how).expect("a ciphertext");
                assert_eq!(output, right, "{mode:?}");
                let cipher = Cipher { encrypts: false, ..cipher };
                dcp.cipher(cipher, &iv, &right, &mut output, how).expect("a plaintext");
                assert_eq!(output, plain, "{mode:?}");
            }
        });
    }
}

#[test]
fn hashes_give_the_published_answers_and_nothing_has_a_digest_too() {
    with_dcp(|dcp| {
        abc(dcp);
        let mut digest = [0; 20];
        dcp.hash(Hash::Sha1, b"", &mut digest, Completion::Polling).expect("a digest");
        assert_eq!(digest, hex("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        // NXP's example for this engine.
        let mut sum = [0; 4];
        let message = b"abcdbcdecdefdefgefghfghighijhijk";
        dcp.hash(Hash::Crc32, message, &mut sum, Completion::Polling).expect("a sum");
        assert_eq!(sum, [0x7f, 0x04, 0x6a, 0xdd]);
    });
}

/// In pieces that end within a block, at its end, and behind it: the same digest as at once.
#[test]
fn the_port_s_hash_in_pieces_is_the_hash_of_the_whole_and_two_of_them_can_alternate() {
    let message: Vec<u8> = (0..1000).map(|n| (n * 7 % 251) as u8).collect();
    with_dcp(|dcp| {
        for (hash, _) in ABC {
            let mut whole = vec![0; hash.length()];
            dcp.hash(hash, &message, &mut whole, Completion::Polling).expect("a digest");
            for piece in [1, 63, 64, 65, 127, 128, 129, 500, 1000] {
                let mut states = [HashState::NEW, HashState::NEW];
                for part in message.chunks(piece) {
                    for state in &mut states {
                        dcp.port_hash_update(hash, state, part).expect("an update");
                    }
                }
                for state in &mut states {
                    let mut digest = vec![0; hash.length()];
                    dcp.port_hash_finish(hash, state, &mut digest).expect("a digest");
                    assert_eq!(digest, whole, "{hash:?} in pieces of {piece}");
                }
            }
        }
    });
}

#[test]
fn the_port_loads_a_key_only_for_another_owner() {
    let (key, iv, plain, right) = sp_800_38a(Mode::Cbc);
    with_dcp(|dcp| {
        for (owner, key, is_right) in
            [(1, key, true), (2, [0; 16], false), (2, key, false), (1, key, true)]
        {
            let mut output = [0; 32];
            let way = (Mode::Cbc, true);
            let mut data = Data::Apart { input: &plain, output: &mut output };
            let ran = dcp.port_cipher(owner, &key, way, &iv, &mut data);
            let mut both = plain;
            let in_place = dcp.port_cipher(owner, &key, way, &iv, &mut Data::InPlace(&mut both));
            assert_eq!((in_place, both), (Ok(()), output));
            assert_eq!((ran, output == right), (Ok(()), is_right), "{owner}");
        }
    });
}

#[test]
fn copies_and_fills_are_exact_to_the_last_byte() {
    with_dcp(|dcp| {
        let input: Vec<u8> = (0..10_001).map(|n| (n % 251) as u8).collect();
        let mut output = vec![0; input.len()];
        dcp.copy(&input, &mut output, Completion::Interrupt).expect("a copy");
        assert_eq!(output, input);
        dcp.fill(0x0403_0201, &mut output[..9000], Completion::Polling).expect("a fill");
        assert!(output[..9000].chunks_exact(4).all(|word| word == [1, 2, 3, 4]));
        assert_eq!(output[9000..], input[9000..]);
    });
}

#[test]
fn lengths_that_the_engine_cannot_take_are_refused_before_it_sees_them() {
    with_dcp(|dcp| {
        let cipher = Cipher { mode: Mode::Ecb, encrypts: true, key: Key::Slot(0) };
        let (how, mut out) = (Completion::Polling, [0; 40]);
        let length = Err(Error::Unsupported(Unsupported::Length));
        for input in [0, 15, 17] {
            let tried = dcp.cipher(cipher, &[0; 16], &[0; 17][..input], &mut out[..input], how);
            assert_eq!(tried, length, "{input}");
        }
        assert_eq!(dcp.cipher(cipher, &[0; 16], &[0; 16], &mut out[..32], how), length);
        assert_eq!(dcp.fill(0, &mut out[..6], how), length);
        assert_eq!(dcp.copy(&[], &mut [], how), length);
        assert_eq!(dcp.hash(Hash::Sha256, b"abc", &mut out[..20], how), length);
        assert_eq!(dcp.bus().engine.finished(), 0);
    });
}

#[test]
fn each_status_is_an_error_with_its_meaning_and_the_next_job_is_right() {
    let words = |control0| Words { control0, size: 16, ..Words::default() };
    let bad = 0xFFFF_0000;
    with_dcp(|dcp| {
        let buffer = Box::new([0u8; 64]);
        let place = cpb_core::Bus::dma_address(dcp.bus(), &*buffer).expect("an address").0;
        let cipher = words(control0::CIPHER);
        let hash = words(control0::HASH | control0::HASH_INIT | control0::HASH_TERM);
        let cases = [
            (
                "copy and cipher",
                words(control0::COPY | control0::CIPHER),
                status::INVALID_MODE,
                Meaning::Descriptor,
            ),
            ("blit", words(control0::BLIT), status::INVALID_MODE, Meaning::Descriptor),
            (
                "no such hash",
                Words { control1: 3 << 16, source: place, ..hash },
                status::INVALID_MODE,
                Meaning::Descriptor,
            ),
            (
                "no such mode",
                Words { control1: 2 << 4, source: place, ..cipher },
                status::INVALID_MODE,
                Meaning::Descriptor,
            ),
            (
                "no such key slot",
                Words { control1: 7 << 8, source: place, ..cipher },
                0,
                Meaning::Descriptor,
            ),
            ("half a block", Words { size: 8, source: place, ..cipher }, 0, Meaning::Descriptor),
            ("no source", Words { source: bad, destination: place, ..cipher }, 0, Meaning::Read),
            (
                "no destination",
                Words { source: place, destination: bad, ..cipher },
                0,
                Meaning::Write,
            ),
            (
                "no payload",
                Words { source: place, payload: bad, ..hash },
                status::PAYLOAD_ERROR,
                Meaning::Read,
            ),
            ("4 GiB", Words { size: u32::MAX, source: place, ..hash }, 0, Meaning::Read),
        ];
        for (name, words, code, meaning) in cases {
            for how in [Completion::Polling, Completion::Interrupt] {
                match dcp.run(words, how) {
                    Err(Error::Engine { code: status, meaning: told }) => {
                        assert_eq!(
                            (status >> status::CODE & 0xFF, told),
                            (code, meaning),
                            "{name}"
                        );
                    }
                    other => panic!("{name}: {other:?}"),
                }
                abc(dcp);
            }
        }
    });
}

#[test]
fn a_bad_packet_address_is_told_at_the_start_and_in_a_chain() {
    with_dcp(|dcp| {
        let bad = 0xFFFF_0000;
        let buffer = Box::new([0u8; 64]);
        let place = cpb_core::Bus::dma_address(dcp.bus(), &*buffer).expect("an address").0;
        let words = |next, more| Words {
            control0: control0::COPY | more,
            next,
            source: place,
            destination: place + 32,
            size: 32,
            ..Words::default()
        };
        // With the semaphore at 1, a packet that does not decrement it leads on to the next.
        for (next, code) in [(bad, 0), (0, status::NEXT_IS_ZERO)] {
            let first = dcp.lay(&words(next, control0::CHAIN)).expect("an address");
            for start in if next == bad { vec![first, bad] } else { vec![first] } {
                match dcp.run_at(start, Completion::Interrupt) {
                    Err(Error::Engine { code: status, meaning }) => {
                        let meant = if code == 0 { Meaning::Read } else { Meaning::Descriptor };
                        assert_eq!((status >> status::CODE & 0xFF, meaning), (code, meant));
                    }
                    other => panic!("{start:#x}: {other:?}"),
                }
                abc(dcp);
            }
        }
        let alone = dcp.lay(&words(0, 0)).expect("an address");
        let told = dcp.run_at(alone, Completion::Polling);
        assert!(
            matches!(told, Err(Error::Engine { meaning: Meaning::Descriptor, .. })),
            "{told:?}"
        );
        abc(dcp);
    });
}

#[test]
fn a_slot_without_a_key_is_refused_also_after_a_reset() {
    let (key, iv, plain, right) = sp_800_38a(Mode::Ecb);
    with_dcp(|dcp| {
        let mut output = [0; 32];
        let mut run = |dcp: &mut Dcp<'_, Board<Model>>, slot| {
            let cipher = Cipher { mode: Mode::Ecb, encrypts: true, key: Key::Slot(slot) };
            let ran = dcp.cipher(cipher, &iv, &plain, &mut output, Completion::Polling);
            ran.map(|()| output == right)
        };
        let missing = Err(Error::Engine { code: 0, meaning: Meaning::Key });
        assert_eq!(run(dcp, 0), missing);
        dcp.load_key(0, &key);
        dcp.load_key(3, &key);
        assert_eq!((run(dcp, 0), run(dcp, 3)), (Ok(true), Ok(true)));
        // The driver loads the key of slot 0 again, which is the one that sessions use.
        dcp.reset().expect("an engine");
        assert_eq!((run(dcp, 0), run(dcp, 3)), (Ok(true), missing));
    });
}

#[test]
fn a_digest_that_is_not_the_expected_one_is_a_refusal() {
    with_dcp(|dcp| {
        let message = Box::new(*b"abc");
        cpb_core::Bus::clean(dcp.bus(), &*message);
        let source = cpb_core::Bus::dma_address(dcp.bus(), &*message).expect("an address").0;
        let control0 =
            control0::HASH | control0::HASH_INIT | control0::HASH_TERM | control0::CHECK_HASH;
        let words = Words { control0, source, payload: source, size: 3, ..Words::default() };
        let longer = Box::new([0u8; 20]);
        let payload = cpb_core::Bus::dma_address(dcp.bus(), &*longer).expect("an address").0;
        assert_eq!(dcp.run(Words { payload, ..words }, Completion::Polling), Err(Error::Refused));
        abc(dcp);
    });
}

#[test]
fn an_engine_that_never_ends_and_a_bus_error_in_the_middle_are_told_and_got_over() {
    for how in [Completion::Polling, Completion::Interrupt] {
        let never = Timing { sha1_block: 1e18, ..TIMING };
        let mut work = Box::new(Work::EMPTY);
        let bus = Board::new(Model::new(never, Fuses::default()), BASE);
        let mut dcp = Dcp::new(bus, BASE, LINE, &mut work).expect("an engine");
        let mut digest = [0; 32];
        let told = dcp.hash(Hash::Sha1, b"abc", &mut digest[..20], how);
        assert_eq!(told, Err(Error::Timeout), "{how:?}");
        dcp.hash(Hash::Sha256, b"abc", &mut digest, how).expect("a digest");
        assert_eq!(digest, hex::<32>(ABC[1].1));

        let message = vec![7; 20_000];
        let start = cpb_core::Bus::dma_address(dcp.bus(), &message).expect("an address").0;
        let middle = u64::from(start) + 9_999;
        dcp.bus().memory.broken = Some(middle..middle + 1);
        let told = dcp.hash(Hash::Sha256, &message, &mut digest, how);
        assert!(matches!(told, Err(Error::Engine { meaning: Meaning::Read, .. })), "{told:?}");
        dcp.bus().memory.broken = None;
        dcp.hash(Hash::Sha256, b"abc", &mut digest, how).expect("a digest");
        assert_eq!(digest, hex::<32>(ABC[1].1));
    }
}
