//! Message digests and HMAC with published answers, and their contexts.

use super::*;
use cpb_drivers::caam::descriptor::{IMMEDIATE, SGT, command, key};

/// FIFO LOAD of class 2's last message.
const LAST: u32 = class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2;
const CONTEXT: u32 = class::TWO | register::CONTEXT;

/// The digests of "abc" (RFC 1321, A.5; FIPS 180-2, A.1, B.1, C.1, D.1; RFC 3874), and the size of each context.
const ABC: [(u32, usize, &str); 6] = [
    (operation::MD5, 16, "900150983cd24fb0d6963f7d28e17f72"),
    (operation::SHA_1, 20, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (operation::SHA_224, 32, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    (operation::SHA_256, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        operation::SHA_384,
        64,
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
         8086072ba1e7cc2358baeca134c825a7",
    ),
    (
        operation::SHA_512,
        64,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
];

/// HMAC's mode and its key for a job.
type Key<'k> = Option<(u32, u32, &'k [u8])>;

/// One job of a hash: a context to restore, a message, and a number of context bytes to store.
fn job(
    machine: &mut Machine,
    fields: u32,
    key: Key<'_>,
    restored: &[u8],
    message: &[u8],
    stored: usize,
) -> Vec<u8> {
    let (message_at, output) = (machine.put(message), machine.room(stored));
    let restored_at = machine.put(restored);
    let mut job = machine.job();
    let mut fields = operation::CLASS_2 | fields;
    if let Some((mode, kind, key)) = key {
        fields |= mode;
        if kind & operation::DKP == operation::DKP {
            job.operation(kind | key.len() as u32).bytes(key);
            let running = ABC.iter().find(|(name, ..)| name & 0xF << 16 == kind & 0xF << 16);
            let room = running.map_or(0, |(_, running, _)| 2 * running / 4);
            while job.here() < 2 + room {
                job.push(0);
            }
        } else {
            job.key_immediate(kind, key);
        }
    }
    if !restored.is_empty() {
        job.load(CONTEXT, 0, restored_at, restored.len());
    }
    job.operation(fields)
        .fifo_load(LAST, message_at, message.len() as u32)
        .store(CONTEXT, 0, output, stored);
    assert_eq!(machine.run(&mut job), 0, "{fields:#x}");
    machine.bytes(output, stored).to_vec()
}

#[test]
fn digests_are_the_published_ones_in_each_layout() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (algorithm, _, right) in ABC {
            let right = hex(right);
            let fields = algorithm | operation::INIT_FINAL;
            assert_eq!(job(&mut machine, fields, None, &[], b"abc", right.len()), right);
        }
        // FIPS 180-2, and no message at all.
        let fields = operation::SHA_256 | operation::INIT_FINAL;
        let right = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        let message = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(job(&mut machine, fields, None, &[], message, 32), hex(right));
        let right = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(job(&mut machine, fields, None, &[], b"", 32), hex(right));
    }
}

/// In blocks that each are a job, with the context in memory between them.
#[test]
fn a_hash_in_several_jobs_is_that_of_the_whole() {
    let mut machine = Machine::imx();
    let message: Vec<u8> = (0..999).map(|n| (n * 7 % 251) as u8).collect();
    for (algorithm, running, right) in ABC {
        let size = right.len() / 2;
        let whole = job(&mut machine, algorithm | operation::INIT_FINAL, None, &[], &message, size);
        machine.free = 0x1000;
        let mut context =
            job(&mut machine, algorithm | operation::INIT, None, &[], &message[..256], running + 8);
        assert_eq!(context[running..], [0, 0, 0, 0, 0, 0, 1, 0], "256 bytes so far");
        context = job(&mut machine, algorithm, None, &context, &message[256..640], running + 8);
        let fields = algorithm | operation::FINAL;
        assert_eq!(job(&mut machine, fields, None, &context, &message[640..], size), whole);
        machine.free = 0x1000;
    }
}

/// RFC 2202 and RFC 4231, case 2: key "Jefe".
const JEFE: [(u32, &str); 6] = [
    (operation::MD5, "750c783e6ab0b503eaa86e310a5db738"),
    (operation::SHA_1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    (operation::SHA_224, "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"),
    (operation::SHA_256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (
        operation::SHA_384,
        "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
         8e2240ca5e69e2c78b3239ecfab21649",
    ),
    (
        operation::SHA_512,
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
         9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    ),
];

#[test]
fn hmac_gives_the_published_answers_with_the_key_itself_and_with_a_derived_key() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (algorithm, right) in JEFE {
            let right = hex(right);
            let fields = algorithm | operation::INIT_FINAL;
            let message = b"what do ya want for nothing?";
            let own: Key<'_> = Some((operation::HMAC, class::TWO, b"Jefe"));
            assert_eq!(job(&mut machine, fields, own, &[], message, right.len()), right);
            let derive = operation::DKP | algorithm & 0xF << 16;
            let derived: Key<'_> = Some((operation::HMAC_SPLIT, derive, b"Jefe"));
            assert_eq!(job(&mut machine, fields, derived, &[], message, right.len()), right);
        }
    }
}

/// The two states of HMAC as a key: computed by two plain jobs of one block each, as drivers did before the engine
/// could derive them.
#[test]
fn a_split_key_in_clear_is_the_two_running_digests() {
    let mut machine = Machine::imx();
    for (algorithm, running, _) in ABC {
        let block = if running == 64 { 128 } else { 64 };
        let half = |machine: &mut Machine, pad: u8| {
            let mut key = b"Jefe".to_vec();
            key.resize(block, 0);
            key.iter_mut().for_each(|byte| *byte ^= pad);
            job(machine, algorithm | operation::INIT, None, &[], &key, running)
        };
        let split = [half(&mut machine, 0x36), half(&mut machine, 0x5C)].concat();
        let key: Key<'_> = Some((operation::HMAC_SPLIT, class::TWO | key::SPLIT, &split));
        let right = JEFE.iter().find(|(name, _)| *name == algorithm).map(|(_, right)| hex(right));
        let right = right.expect("an answer");
        let message = b"what do ya want for nothing?";
        let fields = algorithm | operation::INIT_FINAL;
        assert_eq!(job(&mut machine, fields, key, &[], message, right.len()), right);
        machine.free = 0x1000;
    }
}

/// RFC 4231, case 6: a key longer than a block. The protocol hashes it first; the plain mode refuses it.
#[test]
fn a_key_longer_than_a_block_is_hashed_first_when_it_is_derived() {
    let mut machine = Machine::imx();
    let long = machine.put(&[0xAA; 131]);
    let message = machine.put(b"Test Using Larger Than Block-Size Key - Hash Key First");
    let mac = machine.room(32);
    // The key comes by pointer, the derived one goes into the descriptor: 64 bytes behind the command.
    let mut job = machine.job();
    let derive = operation::DKP | operation::SHA_256 & 0xF << 16 | 2 << operation::DKP_SOURCE;
    job.operation(derive | 131).pointer(long);
    (0..15).for_each(|_| _ = job.push(0));
    job.operation(
        operation::CLASS_2 | operation::SHA_256 | operation::HMAC_SPLIT | operation::INIT_FINAL,
    )
    .fifo_load(LAST, message, 54)
    .store(CONTEXT, 0, mac, 32);
    assert_eq!(machine.run(&mut job), 0);
    let right = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
    assert_eq!(machine.bytes(mac, 32), hex(right));
}

/// The engine writes the derived key over the key, or behind the command, and a KEY command in place of its own: the
/// same descriptor then gives the same answer with the derived key.
#[test]
fn a_derived_key_stays_for_the_next_job() {
    let right = JEFE.iter().find(|(name, _)| *name == operation::SHA_1);
    let right = right.map(|(_, right)| hex(right)).expect("an answer");
    for in_memory in [true, false] {
        let mut machine = Machine::imx();
        let message = machine.put(b"what do ya want for nothing?");
        let (mac, own) = (machine.room(20), machine.room(40));
        machine.memory.0[own as usize..][..4].copy_from_slice(b"Jefe");
        let mut job = machine.job();
        let derive = operation::DKP | operation::SHA_1 & 0xF << 16 | 4;
        let place = if in_memory { 2 } else { 0 };
        job.operation(derive | 2 << operation::DKP_SOURCE | place << operation::DKP_DESTINATION);
        job.pointer(own);
        (0..if in_memory { 0 } else { 9 }).for_each(|_| _ = job.push(0));
        job.operation(
            operation::CLASS_2 | operation::SHA_1 | operation::HMAC_SPLIT | operation::INIT_FINAL,
        )
        .fifo_load(LAST, message, 28)
        .store(CONTEXT, 0, mac, 20);
        let at = machine.place(&mut job);
        assert_eq!(machine.run_at(at), 0);
        assert_eq!(machine.bytes(mac, 20), right);
        assert_eq!(machine.bytes(own, 4) != b"Jefe", in_memory);
        let left = machine.format.word(machine.bytes(at + 4, 4).try_into().expect("a word"));
        assert_eq!(left >> command::SHIFT << command::SHIFT, command::KEY, "{left:#x}");
        machine.memory.0[mac as usize..][..20].fill(0);
        assert_eq!(machine.run_at(at), 0);
        assert_eq!(machine.bytes(mac, 20), right);
    }
}

/// Update and final state with a key: only the final one needs it.
#[test]
fn hmac_in_several_jobs_is_that_of_the_whole() {
    let mut machine = Machine::imx();
    let message: Vec<u8> = (0..300).map(|n| n as u8).collect();
    for (algorithm, running, right) in ABC {
        let size = right.len() / 2;
        let derive = operation::DKP | algorithm & 0xF << 16;
        let key: Key<'_> = Some((operation::HMAC_SPLIT, derive, b"a key"));
        let whole = job(&mut machine, algorithm | operation::INIT_FINAL, key, &[], &message, size);
        let first = algorithm | operation::INIT;
        let context = job(&mut machine, first, key, &[], &message[..128], running + 8);
        let update = algorithm | operation::HMAC_SPLIT;
        let context = job(&mut machine, update, None, &context, &message[128..256], running + 8);
        let last = algorithm | operation::FINAL;
        assert_eq!(job(&mut machine, last, key, &context, &message[256..], size), whole);
        machine.free = 0x1000;
    }
}

/// The words of NXP's driver `fsl_caam` 2.4.0 for the end of a hash: the header jumps over the key, and the table of
/// two entries is in the descriptor, behind the halt.
#[test]
fn nxp_s_descriptor_of_a_hash_with_its_own_table_gives_the_digest() {
    let mut machine = Machine::imx();
    let (first, second) = (
        machine.put(b"abcdbcdecdefdefgefghfghi"),
        machine.put(b"ghijhijkijkljklmklmnlmnomnopnopq"),
    );
    let digest = machine.room(32);
    let at = machine.free;
    let words = [
        0xB080_0016 | 5 << 16,
        0x0400_0000,
        0,
        0x1420_0000,
        0,
        0x8443_000C,
        0x2557_0000,
        at as u32 + 4 * 14,
        56,
        0x5420_0020,
        digest as u32,
        0xA0C0_0000,
        0,
        0xA0C0_0000,
        0,
        first as u32,
        24,
        0,
        0,
        second as u32,
        32 | 1 << 30,
        1 << 31,
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    assert_eq!(machine.put(&bytes), at);
    assert_eq!(machine.run_at(at), 0);
    let right = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    assert_eq!(machine.bytes(digest, 32), hex(right));
    assert_eq!((words[6] & SGT, words[6] & IMMEDIATE), (SGT, 0));
}
