//! Each error of a job with its status word, and a right job after it.

use super::*;
use cpb_drivers::caam::descriptor::{
    EXTENDED, IMMEDIATE, SGT, VARIABLE, command, header, jump, key, math, moving, sgt,
};
use cpb_drivers::caam::status::{JUMPED, ccb, ccb_error, cha, deco, deco_error};

const AES: u32 = operation::CLASS_1 | operation::AES;
const CBC: u32 = AES | operation::CBC | operation::ENCRYPT;
const SHA: u32 = operation::CLASS_2 | operation::SHA_256 | operation::INIT_FINAL;

/// A job that fails: how it is written, given some memory that can be used, and its status word.
type Case = (&'static str, fn(&mut Descriptor, u64), u32);

/// AES-CBC of one block with one thing different.
fn cbc(job: &mut Descriptor, place: u64, key: usize, length: u32) {
    job.key(class::ONE, place, key).operation(CBC).fifo_load(message(), place, length).fifo_store(
        fifo_store::MESSAGE,
        place,
        length,
    );
}

fn cases() -> Vec<Case> {
    vec![
        ("no such command", |job, _| _ = job.push(0x08 << 27), deco_error(1, deco::COMMAND)),
        ("signature", |job, _| _ = job.push(command::SIGNATURE), deco_error(1, deco::SIGNATURE)),
        (
            "key of both classes",
            |job, place| _ = job.key(class::BOTH, place, 16),
            deco_error(1, deco::KEY),
        ),
        (
            "key too long for its register",
            |job, place| _ = job.key(class::ONE, place, 65),
            deco_error(1, deco::KEY),
        ),
        (
            "split key of class 1",
            |job, place| _ = job.key(class::ONE | key::SPLIT, place, 16),
            deco_error(1, deco::KEY),
        ),
        (
            "key encrypted with CCM",
            |job, place| _ = job.key(class::ONE | key::ENCRYPTED | key::CCM, place, 16),
            deco_error(1, deco::KEY),
        ),
        (
            "key that nothing answers for",
            |job, _| _ = job.key(class::ONE, NOWHERE, 16),
            deco_error(1, deco::DMA),
        ),
        (
            "immediate key behind the end",
            |job, _| _ = job.push(command::KEY | IMMEDIATE | class::ONE | 16),
            deco_error(1, deco::HEADER),
        ),
        (
            "no such register to load",
            |job, _| _ = job.load_word(class::DECO | 0x30 << register::SHIFT, 0),
            deco_error(1, deco::LOAD),
        ),
        (
            "no such register to store",
            |job, place| _ = job.store(class::NONE | 0x30 << register::SHIFT, 0, place, 4),
            deco_error(1, deco::STORE),
        ),
        (
            "context longer than its register, loaded",
            |job, place| _ = job.load(class::ONE | register::CONTEXT, 56, place, 16),
            deco_error(1, deco::CONTEXT),
        ),
        (
            "context longer than its register, stored",
            |job, place| _ = job.store(class::ONE | register::CONTEXT, 56, place, 16),
            deco_error(1, deco::CONTEXT),
        ),
        (
            "no such type of data",
            |job, place| _ = job.fifo_load(class::ONE | 0x28 << fifo_load::SHIFT, place, 16),
            deco_error(1, deco::FIFO_LOAD),
        ),
        (
            "data behind the command with an extended length",
            |job, _| _ = job.push(command::FIFO_LOAD | IMMEDIATE | EXTENDED | message()),
            deco_error(1, deco::FIFO_LOAD),
        ),
        (
            "data that nothing answers for",
            |job, _| _ = job.fifo_load(message(), NOWHERE, 16),
            deco_error(1, deco::DMA),
        ),
        (
            "4 GiB of data",
            |job, place| _ = job.fifo_load(message(), place, u32::MAX),
            deco_error(1, deco::DMA),
        ),
        (
            "no such type of output",
            |job, place| _ = job.fifo_store(0x3D << fifo_store::SHIFT, place, 16),
            deco_error(1, deco::FIFO_STORE),
        ),
        (
            "output that nothing answers for",
            |job, place| {
                job.key(class::ONE, place, 16)
                    .operation(CBC)
                    .fifo_load(message(), place, 16)
                    .fifo_store(fifo_store::MESSAGE, NOWHERE, 16);
            },
            deco_error(6, deco::DMA),
        ),
        (
            "output that never comes",
            |job, place| _ = job.fifo_store(fifo_store::MESSAGE, place, 16),
            deco_error(1, deco::WATCHDOG),
        ),
        (
            "message without an end",
            |job, place| {
                job.key(class::ONE, place, 16).operation(CBC).fifo_load(
                    class::ONE | fifo_load::MESSAGE,
                    place,
                    16,
                );
            },
            deco_error(4, deco::WATCHDOG),
        ),
        (
            "wait for a class without an end",
            |job, place| {
                job.key(class::ONE, place, 16).operation(CBC).jump(class::ONE | 1);
            },
            deco_error(4, deco::WATCHDOG),
        ),
        ("jump to itself", |job, _| _ = job.jump(0), deco_error(1, deco::WATCHDOG)),
        (
            "two commands that jump to each other",
            |job, _| _ = job.jump(1).jump(0xFF),
            deco_error(1, deco::WATCHDOG),
        ),
        ("jump behind the end", |job, _| _ = job.jump(5), deco_error(1, deco::JUMP)),
        (
            "jump to what is no descriptor",
            |job, place| _ = job.jump(jump::NONLOCAL).pointer(place),
            deco_error(1, deco::JUMP),
        ),
        ("return from nowhere", |job, _| _ = job.jump(jump::RETURN), deco_error(1, deco::JUMP)),
        ("MATH of three bytes", |job, _| _ = job.math(math::ADD | 3), deco_error(1, deco::MATH)),
        (
            "no such function of MATH",
            |job, _| _ = job.math(0xF << math::FUNCTION | 4),
            deco_error(1, deco::MATH),
        ),
        (
            "MOVE of output that is not there",
            |job, _| {
                _ = job
                    .move_data(moving::OUTPUT_FIFO << moving::SOURCE | 4 << moving::DESTINATION | 8)
            },
            deco_error(1, deco::MOVE),
        ),
        (
            "input sequence that was not begun",
            |job, _| _ = job.push(command::SEQ_FIFO_LOAD | message() | 1),
            deco_error(1, deco::SEQUENCE),
        ),
        (
            "output sequence that is too short",
            |job, place| {
                job.seq_out_ptr(0, place, 15)
                    .push(command::SEQ_FIFO_STORE | fifo_store::MESSAGE | 16);
            },
            deco_error(3, deco::SEQUENCE),
        ),
        (
            "inline job descriptor",
            |job, place| _ = job.seq_in_ptr(1 << 25, place, 16),
            deco_error(1, deco::SEQUENCE),
        ),
        (
            "table that is too short",
            |job, place| _ = job.fifo_load(message() | SGT, place + 0x40, 33),
            deco_error(1, deco::SGT_LENGTH),
        ),
        (
            "table with a null entry",
            |job, place| _ = job.fifo_load(message() | SGT, place + 0x20, 32),
            deco_error(1, deco::SGT_NULL),
        ),
        (
            "table that goes on in itself",
            |job, place| _ = job.fifo_load(message() | SGT, place + 0x60, 32),
            deco_error(1, deco::WATCHDOG),
        ),
        (
            "table that nothing answers for",
            |job, _| _ = job.fifo_load(message() | SGT, NOWHERE, 32),
            deco_error(1, deco::DMA),
        ),
        (
            "no such class of operation",
            |job, _| _ = job.operation(3 << 24),
            deco_error(1, deco::OPERATION),
        ),
        (
            "no such algorithm",
            |job, _| _ = job.operation(operation::CLASS_1 | 0x70 << 16),
            deco_error(1, deco::OPERATION),
        ),
        (
            "protocol",
            |job, _| _ = job.operation(operation::ENCAPSULATE | 1 << 16),
            deco_error(1, deco::PROTOCOL),
        ),
        (
            "public keys without a function",
            |job, _| _ = job.operation(operation::PUBLIC_KEY),
            ccb_error(1, cha::PK, ccb::MODE),
        ),
        (
            "CRC",
            |job, _| _ = job.operation(operation::CLASS_1 | operation::CRC),
            ccb_error(1, cha::CRC, ccb::NO_CHA),
        ),
        (
            "no such mode of AES",
            |job, place| _ = job.key(class::ONE, place, 16).operation(AES | 0xF0 << 4),
            ccb_error(3, cha::AES, ccb::MODE),
        ),
        (
            "no such mode of DES",
            |job, place| {
                let des = operation::CLASS_1 | operation::DES;
                job.key(class::ONE, place, 8).operation(des | operation::CTR);
            },
            ccb_error(3, cha::DES, ccb::MODE),
        ),
        (
            "AES without a key",
            |job, _| _ = job.operation(CBC),
            ccb_error(1, cha::AES, ccb::KEY_SIZE),
        ),
        (
            "AES key of 20 bytes",
            |job, place| cbc(job, place, 20, 16),
            ccb_error(3, cha::AES, ccb::KEY_SIZE),
        ),
        (
            "half a block of CBC",
            |job, place| cbc(job, place, 16, 24),
            ccb_error(4, cha::AES, ccb::DATA_SIZE),
        ),
        (
            "DES key with even parity",
            |job, place| {
                let des = operation::CLASS_1 | operation::DES | operation::ECB;
                job.key(class::ONE, place, 8).operation(des | operation::CHECK_ODD);
            },
            ccb_error(3, cha::DES, ccb::PARITY),
        ),
        (
            "associated data in CBC",
            |job, place| {
                job.key(class::ONE, place, 16).operation(CBC).fifo_load(
                    class::ONE | fifo_load::AAD,
                    place,
                    16,
                );
            },
            ccb_error(4, cha::AES, ccb::SEQUENCE),
        ),
        (
            "message of GCM before its associated data",
            |job, place| {
                job.key(class::ONE, place, 16)
                    .operation(AES | operation::GCM | operation::INIT_FINAL)
                    .fifo_load(class::ONE | fifo_load::IV, place, 12)
                    .fifo_load(class::ONE | fifo_load::MESSAGE, place, 16)
                    .fifo_load(class::ONE | fifo_load::AAD, place, 16);
            },
            ccb_error(8, cha::AES, ccb::SEQUENCE),
        ),
        (
            "GCM without an IV",
            |job, place| {
                job.key(class::ONE, place, 16)
                    .operation(AES | operation::GCM | operation::INIT_FINAL)
                    .fifo_load(message(), place, 16);
            },
            ccb_error(4, cha::AES, ccb::SEQUENCE),
        ),
        (
            "a second cipher without a reset",
            |job, place| {
                cbc(job, place, 16, 16);
                job.operation(CBC);
            },
            ccb_error(8, cha::AES, ccb::NOT_RESET),
        ),
        (
            "HMAC with a split key that is not split",
            |job, place| {
                job.key(class::TWO, place, 16).operation(SHA | operation::HMAC_SPLIT);
            },
            ccb_error(3, cha::MD, ccb::KEY_SIZE),
        ),
        (
            "HMAC key longer than a block",
            |job, place| _ = job.key(class::TWO, place, 65).operation(SHA | operation::HMAC),
            ccb_error(3, cha::MD, ccb::KEY_SIZE),
        ),
        (
            "no such mode of a digest",
            |job, _| _ = job.operation(SHA | operation::SMAC),
            ccb_error(1, cha::MD, ccb::MODE),
        ),
        (
            "half a block of a hash that goes on",
            |job, place| {
                job.operation(operation::CLASS_2 | operation::SHA_256 | operation::INIT).fifo_load(
                    class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2,
                    place,
                    96,
                );
            },
            ccb_error(2, cha::MD, ccb::DATA_SIZE),
        ),
        (
            "wrong authentication code of a hash",
            |job, place| {
                job.operation(SHA | operation::CHECK_ICV)
                    .fifo_load(class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2, place, 16)
                    .fifo_load(class::TWO | fifo_load::ICV | fifo_load::LAST_2, place, 16);
            },
            ccb_error(4, cha::MD, ccb::ICV),
        ),
        (
            "a derived key without room",
            |job, _| _ = job.operation(operation::DKP | 3 << 16 | 4).push(0),
            deco_error(1, deco::PROTOCOL_SIZE),
        ),
        ("halt with a status", |job, _| _ = job.halt(0x5A), 0x3000_015A),
        (
            "halt on conditions",
            |job, _| {
                // Zero minus one is negative, and borrows.
                job.math(math::SUB | 12 << math::SOURCE_0 | 12 << math::SOURCE_1 | 4)
                    .jump(jump::HALT | jump::NEGATIVE);
            },
            0x7000_000A,
        ),
    ]
}

#[test]
fn each_error_has_its_status_word_and_the_next_job_is_right() {
    let mut machine = Machine::new(Configuration { long_pointers: false, ..configurations()[0] });
    let cases = cases();
    assert!(cases.len() > 50);
    for (name, write, right) in cases {
        machine.free = 0x1000;
        let place = machine.room(0x100);
        machine.memory.0[place as usize..][..0x100].fill(0);
        // Behind data of zeros: a null entry, an entry of 32 bytes that is the last, and a table that is itself.
        for (at, entry) in [
            (0x40, SgtEntry { address: place, length: 32 | sgt::FINAL, offset: 0 }),
            (0x60, SgtEntry { address: place + 0x60, length: sgt::TABLE, offset: 0 }),
        ] {
            let bytes = entry.bytes(machine.format);
            machine.memory.0[place as usize + at..][..16].copy_from_slice(&bytes);
        }
        let mut job = machine.job();
        write(&mut job, place);
        let before = machine.model.totals().finished;
        let told = machine.run(&mut job);
        assert_eq!(told, right, "{name}: {told:#x}, not {right:#x}");
        assert_eq!(machine.read_ring(0, jr::JRSTAR), right, "{name}");
        assert_eq!(machine.model.totals().finished, before, "{name}");
        machine.works();
    }
}

#[test]
fn headers_that_are_wrong_have_their_status_words() {
    let mut machine = Machine::imx();
    let good = command::HEADER | header::ONE | 1;
    let shared = |start: u32| good | header::SHARED | start << header::START;
    let place = machine.put(&[0; 256]);
    for (name, words, error) in [
        ("another command", vec![command::KEY | header::ONE | 1], deco::HEADER),
        ("no bit that tells the order", vec![good & !header::ONE], deco::HEADER),
        ("the other bit that tells it", vec![good | header::ZERO], deco::HEADER),
        ("no length", vec![good & !1], deco::HEADER),
        ("65 words", vec![good & !1 | 65], deco::HEADER),
        ("not to be run", vec![good | header::DO_NOT_RUN], deco::DO_NOT_RUN),
        ("first command behind the end", vec![good | 9 << header::START], deco::HEADER),
        ("no pointer to the shared one", vec![shared(1)], deco::HEADER),
        ("a shared one of no words", vec![shared(0) + 1, place as u32], deco::HEADER),
        ("more than 64 words in all", vec![shared(63) + 1, place as u32], deco::HEADER),
        (
            "a shared one that has another header",
            vec![shared(2) + 1, place as u32],
            deco::SHARED_HEADER,
        ),
        ("a shared one nowhere", vec![shared(2) + 1, NOWHERE as u32], deco::DMA),
    ] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = machine.put(&bytes);
        assert_eq!(machine.run_at(at), deco_error(0, error), "{name}");
        machine.works();
    }
    assert_eq!(machine.run_at(NOWHERE), deco_error(0, deco::DMA));
    assert_eq!(machine.read(registers::FAR + 4), NOWHERE as u32);
    machine.works();
}

/// Families that the configuration leaves out, in versions, numbers and in what happens to their descriptors.
#[test]
fn families_that_are_switched_off_end_with_the_error_of_a_missing_accelerator() {
    let none = Configuration {
        aes: None,
        des: false,
        md: None,
        rng: false,
        pk: None,
        ..configurations()[0]
    };
    for era in [8, 10] {
        let mut machine = Machine::new(Configuration { era, ..none });
        assert_eq!(machine.read(registers::CHANUM_LS), 0);
        assert_eq!(machine.read(registers::CHAVID_LS), 0);
        for (fields, cha) in [
            (operation::CLASS_1 | operation::AES, cha::AES),
            (operation::CLASS_1 | operation::DES, cha::DES),
            (operation::CLASS_1 | operation::RNG, cha::RNG),
            (SHA, cha::MD),
            (operation::DKP | 3 << 16, cha::MD),
            (operation::PUBLIC_KEY, cha::PK),
        ] {
            let mut job = machine.job();
            job.operation(fields);
            assert_eq!(machine.run(&mut job), ccb_error(1, cha, ccb::NO_CHA));
        }
    }
    let mut small =
        Machine::new(Configuration { aes: Some(3), md: Some(0), ..configurations()[0] });
    let mut job = small.job();
    job.operation(operation::CLASS_2 | operation::SHA_512 | operation::INIT_FINAL);
    assert_eq!(small.run(&mut job), ccb_error(1, cha::MD, ccb::MODE));
    let mut job = small.job();
    job.key_immediate(class::ONE, &[0; 32]).operation(AES | operation::XTS);
    assert_eq!(small.run(&mut job), ccb_error(10, cha::AES, ccb::MODE));
    assert_eq!(small.read(registers::CHANUM_LS), 0x1001_1011);
    assert_eq!(small.read(registers::CHAVID_LS), 0x1004_0013);
    let mut new = Machine::new(Configuration { era: 10, ..configurations()[0] });
    assert_eq!(new.read(registers::CHANUM_LS), 0);
    assert_eq!(new.read(registers::VREG + registers::vreg::AES), 4 << 24 | 1);
    assert_eq!(new.read(registers::CCBVID), 10 << 24);
    new.works();
}

/// An output that cannot be written as a whole: what is before it has been written.
#[test]
fn outputs_before_a_failed_one_are_written() {
    let mut machine = Machine::imx();
    let (data, good) = (machine.put(&[7; 64]), machine.room(32));
    let entries = [
        SgtEntry { address: good, length: 32, offset: 0 },
        SgtEntry { address: NOWHERE, length: 32 | sgt::FINAL, offset: 0 },
    ];
    let format = machine.format;
    let table: Vec<u8> = entries.iter().flat_map(|entry| entry.bytes(format)).collect();
    let table = machine.put(&table);
    let mut job = machine.job();
    job.key_immediate(class::ONE, &[0; 16])
        .operation(CBC)
        .fifo_load(message(), data, 64)
        .fifo_store(fifo_store::MESSAGE | SGT, table, 64);
    assert_eq!(machine.run(&mut job), deco_error(9, deco::DMA));
    assert_ne!(machine.bytes(good, 32), [0; 32]);
    assert_eq!(VARIABLE, SGT, "one bit with two meanings");
    machine.works();
}

/// To another job descriptor, whose error then says so; and one that leads back for ever.
#[test]
fn jumps_to_other_descriptors_are_taken_if_their_conditions_hold() {
    let mut machine = Machine::imx();
    let mut target = machine.job();
    target.jump(1).halt(7);
    let target = machine.place(&mut target);
    let mut wrong = machine.job();
    wrong.jump(1).jump(1).math(math::ADD | 3);
    let wrong = machine.place(&mut wrong);
    for (address, right) in [(target, 0x3000_0207), (wrong, deco_error(3, deco::MATH) | JUMPED)] {
        for (condition, right) in [(0, right), (jump::NEGATIVE, 0)] {
            let mut job = machine.job();
            job.jump(jump::NONLOCAL | condition).pointer(address);
            assert_eq!(machine.run(&mut job), right);
        }
    }
    let back = machine.free;
    let mut job = machine.job();
    job.jump(jump::NONLOCAL).pointer(back);
    assert_eq!(machine.place(&mut job), back);
    assert_eq!(machine.run_at(back), deco_error(1, deco::WATCHDOG) | JUMPED);
    machine.works();
}
