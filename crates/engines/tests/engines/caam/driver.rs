//! The CAAM's driver against the model: each fault, with a right job after it.

use super::{NOWHERE, TIMING as TIMES};
use crate::bus::Board;
use cpb_core::{Bus, DmaAddress, Error, Interrupt, Meaning, Unsupported};
use cpb_drivers::caam::descriptor::{Descriptor, Format, class, command, fifo_load, operation};
use cpb_drivers::caam::job::Hash;
use cpb_drivers::caam::registers::{PAGE_64K, ring};
use cpb_drivers::caam::ring::Place;
use cpb_drivers::caam::{Addresses, Caam, Completion, Work, status};
use cpb_engines::caam::{Caam as Model, Configuration, Timing};

const BASE: u32 = 0x4044_0000;
const LINE: Interrupt = Interrupt(69);
pub(super) const PLACE: Addresses =
    Addresses { base: BASE, ring: Place { base: BASE + ring(0, PAGE_64K), line: LINE } };
pub(super) const TIMING: Timing = TIMES;
const HOW: [Completion; 2] = [Completion::Polling, Completion::Interrupt];
const JOB: Format = Format::RT1170;

pub(super) fn board(timing: Timing) -> Board<Model> {
    Board::new(Model::new(timing, Configuration::RT1170), BASE)
}

fn with_caam<R>(body: impl FnOnce(&mut Caam<'_, Board<Model>>) -> R) -> R {
    let mut work = Box::new(Work::<8>::EMPTY);
    body(&mut Caam::new(board(TIMING), PLACE, &mut work).expect("an engine"))
}

/// FIPS 180-2, appendix B.1.
fn the_next_job_is_right(caam: &mut Caam<'_, Board<Model>>) {
    let mut digest = [0; 32];
    for how in HOW {
        assert_eq!(caam.hash(Hash::Sha256, &[b"a", b"", b"bc"], &mut digest, how), Ok(()));
        assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
        digest.fill(0);
    }
}

/// What a descriptor comes to.
fn ends(caam: &mut Caam<'_, Board<Model>>, job: &Descriptor, how: Completion) -> Meaning {
    match caam.run(*job, how) {
        Err(Error::Engine { code, meaning }) => {
            assert_ne!(code & status::SOURCE, 0, "{code:#x}");
            meaning
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_are_hashed_as_one_message() {
    with_caam(|caam| {
        let mut digest = [0; 20];
        let message: Vec<u8> = (0..200).collect();
        let parts = [&message[..3], &message[3..64], &message[64..200]];
        caam.hash(Hash::Sha1, &parts, &mut digest, Completion::Polling).expect("a digest");
        let mut whole = [0; 20];
        caam.hash(Hash::Sha1, &[&message], &mut whole, Completion::Interrupt).expect("a digest");
        assert_eq!(digest, whole);
        let mut nothing = [0; 20];
        caam.hash(Hash::Sha1, &[], &mut nothing, Completion::Polling).expect("a digest");
        assert_eq!(nothing[..4], [0xda, 0x39, 0xa3, 0xee]);
        let too_many = caam.hash(Hash::Sha1, &[&message[..]; 5], &mut nothing, Completion::Polling);
        assert_eq!(too_many, Err(Unsupported::Length.into()));
    });
}

#[test]
fn random_numbers_differ_each_time() {
    with_caam(|caam| {
        let (mut one, mut other) = ([0; 32], [0; 32]);
        caam.random(&mut one, Completion::Polling).expect("random numbers");
        caam.random(&mut other, Completion::Interrupt).expect("random numbers");
        assert!(one != other && one != [0; 32]);
        assert_eq!(caam.random(&mut [], Completion::Polling), Err(Unsupported::Length.into()));
    });
}

#[test]
fn a_descriptor_that_cannot_be_read_is_an_error_and_the_next_job_is_right() {
    for how in HOW {
        with_caam(|caam| {
            let told = caam.run_at(NOWHERE as u32, how);
            assert!(matches!(told, Err(Error::Engine { meaning: Meaning::Read, .. })), "{told:?}");
            the_next_job_is_right(caam);
        });
    }
}

#[test]
fn malformed_commands_missing_keys_and_wrong_lengths_have_their_errors() {
    let key = [0; 16];
    let message = [0; 32];
    for how in HOW {
        with_caam(|caam| {
            let place = |bytes: &[u8], caam: &mut Caam<'_, Board<Model>>| {
                let bus = caam.bus();
                bus.clean(bytes);
                let DmaAddress(address) = bus.dma_address(bytes).expect("an address");
                u64::from(address)
            };
            let (key, message) = (place(&key, caam), place(&message, caam));
            let last = class::ONE | fifo_load::MESSAGE | fifo_load::LAST_1 | fifo_load::FLUSH_1;
            let aes = operation::CLASS_1 | operation::AES | operation::ECB | operation::ENCRYPT;
            let mut no_such_command = Descriptor::job(JOB);
            no_such_command.push(command::SIGNATURE);
            assert_eq!(ends(caam, &no_such_command, how), Meaning::Descriptor);
            the_next_job_is_right(caam);
            let mut no_key = Descriptor::job(JOB);
            no_key.operation(aes).fifo_load(last, message, 16);
            assert_eq!(ends(caam, &no_key, how), Meaning::Key);
            the_next_job_is_right(caam);
            let mut odd_key = Descriptor::job(JOB);
            odd_key.key(class::ONE, key, 15).operation(aes).fifo_load(last, message, 16);
            assert_eq!(ends(caam, &odd_key, how), Meaning::Key);
            the_next_job_is_right(caam);
            let mut odd_length = Descriptor::job(JOB);
            odd_length.key(class::ONE, key, 16).operation(aes).fifo_load(last, message, 17);
            assert_eq!(ends(caam, &odd_length, how), Meaning::Length);
            the_next_job_is_right(caam);
            let mut unreadable = Descriptor::job(JOB);
            unreadable.key(class::ONE, key, 16).operation(aes).fifo_load(last, NOWHERE, 32);
            assert_eq!(ends(caam, &unreadable, how), Meaning::Read);
            the_next_job_is_right(caam);
            let mut user = Descriptor::job(JOB);
            user.halt(3);
            assert_eq!(ends(caam, &user, how), Meaning::Undocumented);
            the_next_job_is_right(caam);
        });
    }
}

#[test]
fn a_transfer_that_fails_in_the_middle_is_an_error_and_the_next_job_is_right() {
    for how in HOW {
        with_caam(|caam| {
            let message = vec![3; 1 << 13];
            let DmaAddress(first) = caam.bus().dma_address(&message).expect("an address");
            let broken = u64::from(first) + 0x1000..u64::from(first) + 0x1800;
            caam.bus().memory.broken = Some(broken);
            let mut digest = [0; 32];
            let told = caam.hash(Hash::Sha256, &[&message], &mut digest, how);
            assert!(matches!(told, Err(Error::Engine { meaning: Meaning::Read, .. })), "{told:?}");
            caam.bus().memory.broken = None;
            the_next_job_is_right(caam);
        });
    }
}

#[test]
fn an_engine_that_never_completes_is_a_timeout() {
    for how in HOW {
        let mut work = Box::new(Work::<8>::EMPTY);
        // A day for each block.
        let slow = Timing { sha256_block: 86.4e12, ..TIMING };
        let mut caam = Caam::new(board(slow), PLACE, &mut work).expect("an engine");
        let mut digest = [0; 32];
        assert_eq!(caam.hash(Hash::Sha256, &[b"abc"], &mut digest, how), Err(Error::Timeout));
    }
}
