//! RSA by its protocols: published signatures, in each layout and form, and each error with a right job after it.

use super::*;
use cpb_drivers::caam::descriptor::{command, header, rsa};
use cpb_drivers::caam::status::{ccb, ccb_error, cha, deco, deco_error};

/// The beginning of a DigestInfo of SHA-256 (RFC 8017, 9.2, note 1).
const SHA_256: &str = "3031300d060960864801650304020105000420";

/// The parts of a key, and a message as it is signed with its signature.
struct Signature {
    modulus: Vec<u8>,
    public: Vec<u8>,
    /// d, p, q, d mod p-1, d mod q-1, 1/q mod p.
    private: [Vec<u8>; 6],
    encoded: Vec<u8>,
    signature: Vec<u8>,
}

/// The first published signature of `algorithm` with its private key.
fn published(algorithm: &str) -> Signature {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/rsa.json");
    let text = std::fs::read_to_string(path).expect("the vectors");
    let family: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let groups = family["groups"].as_array().expect("groups");
    let group = groups.iter().find(|group| group["algorithm"] == algorithm).expect("the algorithm");
    let cases = group["cases"].as_array().expect("cases");
    let case = cases.iter().find(|case| case["private"].is_string()).expect("a private key");
    let field = |name: &str| hex(case[name].as_str().expect("a field"));
    let (key, private, signature) = (field("key"), field("private"), field("tag"));
    let size = signature.len();
    let mut parts = private[size + 4..].chunks(size / 2);
    let mut half = || parts.next().expect("a part of the key").to_vec();
    let d = [half(), half()].concat();
    let private = [d, half(), half(), half(), half(), half()];
    // The message is its digest.
    let end = [hex(SHA_256), field("message")].concat();
    let filling = vec![0xFF; size - end.len() - 3];
    let encoded = [&[0, 1], &filling[..], &[0], &end].concat();
    Signature {
        modulus: key[..size].to_vec(),
        public: key[size..].to_vec(),
        private,
        encoded,
        signature,
    }
}

/// A job descriptor of a protocol: its first word, its pointers, its last word, and the operation.
fn job(
    machine: &Machine,
    first: u32,
    pointers: &[u64],
    last: Option<u32>,
    operation: u32,
) -> Descriptor {
    let mut job = machine.job();
    job.push(first);
    pointers.iter().for_each(|pointer| _ = job.pointer(*pointer));
    last.into_iter().for_each(|word| _ = job.push(word));
    job.operation(operation);
    job
}

/// Runs the protocol whose data block this is. The header's start is behind the block.
fn run(
    machine: &mut Machine,
    first: u32,
    pointers: &[u64],
    last: Option<u32>,
    operation: u32,
) -> u32 {
    let mut job = job(machine, first, pointers, last, operation);
    let start = job.here() - 1;
    let address = machine.place(&mut job);
    start_at(machine, address, start);
    machine.run_at(address)
}

/// Changes the header's start of a descriptor in memory.
fn start_at(machine: &mut Machine, address: u64, start: usize) {
    let place = &mut machine.memory.0[address as usize..][..4];
    let word = machine.format.word([place[0], place[1], place[2], place[3]]);
    place.copy_from_slice(&machine.format.bytes(word | (start as u32) << header::START));
}

fn two(low: usize, high: usize) -> u32 {
    (high << rsa::LENGTH | low) as u32
}

/// Flags of tables for the first two pointers: input and output.
const TABLES: u32 = rsa::TABLE | rsa::TABLE >> 1;

/// Signs with the private key in one of its forms, with tables or without.
fn sign(machine: &mut Machine, known: &Signature, form: u32, tables: bool) -> (u32, Vec<u8>) {
    let size = known.modulus.len();
    let half = size / 2;
    let (data, output) = (machine.put(&known.encoded), machine.room(size));
    let mut pointers = vec![data, output];
    let mut flags = 0;
    if tables {
        let size = size as u32;
        pointers =
            vec![machine.table(data, &[1, 2, size - 3]), machine.table(output, &[3, size - 3])];
        flags = TABLES;
    }
    let n = machine.put(&known.modulus);
    let [d, p, q, dp, dq, c] = known.private.clone().map(|part| machine.put(&part));
    let scratch = [machine.room(half), machine.room(half)];
    let (first, last) = match form {
        rsa::FORM_1 => {
            pointers.extend([n, d]);
            (two(size, size), None)
        }
        rsa::FORM_2 => {
            pointers.extend([d, p, q]);
            pointers.extend(scratch);
            (two(size, size), Some(two(half, half)))
        }
        _ => {
            pointers.extend([c, p, q, dp, dq]);
            pointers.extend(scratch);
            (two(size, 0), Some(two(half, half)))
        }
    };
    let status = run(machine, first | flags, &pointers, last, rsa::PRIVATE | form);
    (status, machine.bytes(output, size).to_vec())
}

/// Raises a signature to the public exponent.
fn verify(machine: &mut Machine, known: &Signature, signature: &[u8]) -> (u32, Vec<u8>) {
    let size = known.modulus.len();
    let (data, output) = (machine.put(signature), machine.room(size));
    let pointers = [data, output, machine.put(&known.modulus), machine.put(&known.public)];
    let first = two(size, known.public.len());
    let status = run(machine, first, &pointers, Some(signature.len() as u32), rsa::PUBLIC);
    (status, machine.bytes(output, size).to_vec())
}

#[test]
fn published_signatures_come_out_in_each_form_and_layout() {
    let known = published("rsa-2048-pkcs1");
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for form in [rsa::FORM_1, rsa::FORM_2, rsa::FORM_3] {
            let signature = sign(&mut machine, &known, form, form != rsa::FORM_1);
            assert_eq!(signature, (0, known.signature.clone()), "{form}");
        }
        let encoded = verify(&mut machine, &known, &known.signature);
        assert_eq!(encoded, (0, known.encoded.clone()));
    }
}

#[test]
fn keys_of_3072_and_4096_bits_fit() {
    for name in ["rsa-3072-pkcs1", "rsa-4096-pkcs1"] {
        let known = published(name);
        let mut machine = Machine::imx();
        let signature = sign(&mut machine, &known, rsa::FORM_3, false);
        assert_eq!(signature, (0, known.signature.clone()));
        assert_eq!(verify(&mut machine, &known, &known.signature), (0, known.encoded.clone()));
    }
}

/// An input that is shorter than the modulus is a number all the same.
#[test]
fn a_short_input_has_zeros_in_front() {
    let known = published("rsa-2048-pkcs1");
    let mut machine = Machine::imx();
    let (status, output) = verify(&mut machine, &known, &[1]);
    assert_eq!((status, output.iter().map(|byte| u32::from(*byte)).sum()), (0, 1));
}

#[test]
fn an_input_that_is_not_below_the_modulus_is_an_error_in_each_form() {
    let known = published("rsa-2048-pkcs1");
    let mut machine = Machine::imx();
    let large =
        Signature { encoded: vec![0xFF; known.modulus.len()], ..published("rsa-2048-pkcs1") };
    for (form, index) in [(rsa::FORM_1, 6), (rsa::FORM_2, 10), (rsa::FORM_3, 12)] {
        let (status, _) = sign(&mut machine, &large, form, false);
        assert_eq!(status, ccb_error(index, cha::PK, ccb::DATA_SIZE));
    }
    let (status, _) = verify(&mut machine, &known, &known.modulus);
    assert_eq!(status, ccb_error(7, cha::PK, ccb::DATA_SIZE));
    assert_eq!(verify(&mut machine, &known, &known.signature), (0, known.encoded));
}

#[test]
fn sizes_that_do_not_fit_and_blocks_that_are_too_short_are_errors() {
    let mut machine = Machine::imx();
    let place = machine.put(&[3; 600]);
    let five = [place; 4];
    let size = deco_error(6 + 1, deco::PROTOCOL_SIZE);
    for (first, length, status) in [
        // The input is longer than the modulus.
        (two(16, 1), 17, size),
        (two(0, 1), 0, size),
        (two(16, 0), 16, size),
        (two(513, 1), 16, size),
        // The input is the modulus.
        (two(16, 1), 16, ccb_error(7, cha::PK, ccb::DATA_SIZE)),
    ] {
        assert_eq!(run(&mut machine, first, &five, Some(length), rsa::PUBLIC), status);
    }
    for (modulus, error) in [(0, ccb::PK_ZERO), (6, ccb::PK_EVEN)] {
        let modulus = machine.put(&[modulus]);
        let pointers = [place, place, modulus, place];
        let status = run(&mut machine, two(1, 1), &pointers, Some(1), rsa::PUBLIC);
        assert_eq!(status, ccb_error(7, cha::PK, error));
    }
    // Without the length of the input.
    assert_eq!(
        run(&mut machine, two(16, 1), &five, None, rsa::PUBLIC),
        deco_error(6, deco::PROTOCOL_DATA)
    );
    // Form 3 with a modulus that is longer than the primes' product can be.
    let pointers = [place; 9];
    let status = run(&mut machine, 9, &pointers, Some(two(4, 4)), rsa::PRIVATE | rsa::FORM_3);
    assert_eq!(status, deco_error(12, deco::PROTOCOL_SIZE));
    // A form that does not exist, and PKCS #1's format.
    for operation in [rsa::PRIVATE | 3, rsa::PUBLIC | 1 << 12] {
        let status = run(&mut machine, two(16, 1), &five, Some(16), operation);
        assert_eq!(status, deco_error(7, deco::PROTOCOL));
    }
    let status = run(&mut machine, two(16, 1), &[NOWHERE; 4], Some(16), rsa::PUBLIC);
    assert_eq!(status, deco_error(7, deco::DMA));
    machine.works();
}

/// Half a private operation of 4096 bits in a loop.
#[test]
fn a_descriptor_that_computes_without_end_expires() {
    let known = published("rsa-4096-pkcs1");
    let mut machine = Machine::imx();
    let size = known.modulus.len();
    let (data, output) = (machine.put(&known.encoded), machine.room(size));
    let pointers = [data, output, machine.put(&known.modulus), machine.put(&known.private[0])];
    let mut job = job(&machine, two(size, size), &pointers, None, rsa::PRIVATE);
    job.jump(0xFF);
    let address = machine.place(&mut job);
    start_at(&mut machine, address, 6);
    let status = machine.run_at(address);
    assert_eq!(status, deco_error(6, deco::WATCHDOG));
}

#[test]
fn an_engine_without_public_keys_has_none_and_says_so() {
    let known = published("rsa-2048-pkcs1");
    let without = Configuration { pk: None, ..configurations()[0] };
    let mut machine = Machine::new(without);
    let number = |machine: &mut Machine| machine.read(registers::CHANUM_LS) >> registers::cha::PK;
    assert_eq!(number(&mut machine), 0);
    let (status, _) = verify(&mut machine, &known, &known.signature);
    assert_eq!(status, ccb_error(7, cha::PK, ccb::NO_CHA));
    assert_eq!(number(&mut Machine::imx()), 1);
    let mut newer = Machine::new(Configuration { era: 10, ..configurations()[0] });
    assert_eq!(newer.read(registers::VREG + registers::vreg::PK), 1 << 24 | 1);
}

/// With the primes, each of two powers has half the words and half the bits: a quarter of the time in all.
#[test]
fn a_private_operation_costs_word_products_and_a_quarter_with_the_primes() {
    let known = published("rsa-2048-pkcs1");
    let ticks = |form| {
        let timing = Timing { word_product: 1.0, ..Timing::default() };
        let mut machine = Machine::with_timing(configurations()[0], timing);
        let (status, _) = sign(&mut machine, &known, form, false);
        assert_eq!(status, 0);
        machine.now as f64
    };
    let (plain, primes) = (ticks(rsa::FORM_1), ticks(rsa::FORM_3));
    // 2048 squares and about 1024 products of 64 words.
    let product = 2.0 * 64.0 * 64.0 + 64.0;
    assert!((plain / (3072.0 * product) - 1.0).abs() < 0.03, "{plain}");
    assert!((3.8..4.1).contains(&(plain / primes)), "{plain} {primes}");
    assert_eq!(command::OPERATION | rsa::PUBLIC, 0x8018_0000);
}
