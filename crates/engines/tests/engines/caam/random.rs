//! Random numbers, the secure keys and black keys; by a ring as NXP's driver has it, and by controller 0 as Linux has
//! it.

use super::*;
use cpb_drivers::caam::descriptor::{clear, jump, key};
use cpb_drivers::caam::registers::{deco, rdsta};
use cpb_drivers::caam::status::{self, ccb, ccb_error, cha, deco_error};

const RNG: u32 = operation::CLASS_1 | operation::RNG;

fn fresh() -> Machine {
    Machine::new(Configuration { rdsta: 0, ..configurations()[0] })
}

fn operate(machine: &mut Machine, fields: u32) -> u32 {
    let mut job = machine.job();
    job.operation(RNG | fields);
    machine.run(&mut job)
}

/// NXP's driver stores before it starts the generator, Linux after it and with another type.
fn generate(machine: &mut Machine, stores_first: bool) -> (u32, Vec<u8>) {
    let output = machine.room(100);
    let mut job = machine.job();
    if stores_first {
        job.fifo_store(fifo_store::MESSAGE, output, 100).operation(RNG);
    } else {
        job.operation(RNG).fifo_store(fifo_store::RANDOM, output, 100);
    }
    (machine.run(&mut job), machine.bytes(output, 100).to_vec())
}

#[test]
fn the_generator_is_instantiated_makes_keys_and_numbers_and_is_uninstantiated() {
    let mut machine = fresh();
    assert_eq!(machine.read(registers::RDSTA), 0);
    assert_eq!(machine.read(registers::JDKEKR), 0);
    let not_yet = ccb_error(1, cha::RNG, ccb::RNG_NOT_INSTANTIATED);
    assert_eq!(operate(&mut machine, operation::UPDATE), not_yet);
    assert_eq!(operate(&mut machine, operation::INIT | operation::CHECK_ICV), 0);
    assert_eq!(machine.read(registers::RDSTA), rdsta::INSTANTIATED | rdsta::PREDICTION_RESISTANCE);
    let twice = ccb_error(1, cha::RNG, ccb::RNG_INSTANTIATE);
    assert_eq!(operate(&mut machine, operation::INIT), twice);
    assert_eq!(operate(&mut machine, operation::INIT | operation::RNG_HANDLE_1), 0);
    assert_eq!(operate(&mut machine, operation::FINAL), 0);
    assert_eq!(operate(&mut machine, operation::RNG_SECURE_KEYS), 0);
    assert_eq!(machine.read(registers::RDSTA), 0x4000_0013);
    assert_ne!(machine.read(registers::JDKEKR + 28), 0);
    assert_ne!(machine.read(registers::TDSKR), 0);
    let twice = ccb_error(1, cha::RNG, ccb::RNG_SECURE_KEY);
    assert_eq!(operate(&mut machine, operation::RNG_SECURE_KEYS), twice);
    let (told, one) = generate(&mut machine, true);
    let (other_told, other) = generate(&mut machine, false);
    assert_eq!((told, other_told), (0, 0));
    assert_ne!(one, other);
    let ones: u32 = one.iter().map(|byte| byte.count_ones()).sum();
    assert!((300..500).contains(&ones), "{ones} of 800 bits");
    assert_eq!(operate(&mut machine, operation::INIT_FINAL), 0);
    assert_eq!(machine.read(registers::RDSTA), 0x4000_0002);
    assert_eq!(operate(&mut machine, 2 << operation::MODE), ccb_error(1, cha::RNG, ccb::MODE));
    machine.works();
}

/// The same seed gives the same numbers, and another one others.
#[test]
fn the_seed_decides_the_numbers() {
    let numbers = |seed: u64| {
        let configuration = Configuration { seed, ..configurations()[0] };
        generate(&mut Machine::new(configuration), true).1
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
}

/// Linux's descriptor of the first instantiation, run in controller 0 by software.
#[test]
fn software_runs_a_descriptor_in_controller_0() {
    for configuration in configurations() {
        let mut machine = Machine::new(Configuration { rdsta: 0, ..configuration });
        let block = registers::DECO_BLOCK * configuration.page;
        machine.write(registers::DECORR, 1);
        assert_eq!(machine.read(registers::DECORR), 0x1_0001);
        let mut job = machine.job();
        job.operation(RNG | operation::INIT | operation::CHECK_ICV)
            .jump(class::ONE | 1)
            .load_word(register::CLEAR_WRITTEN, clear::MODE_1)
            .operation(RNG | operation::RNG_SECURE_KEYS)
            .jump(jump::ALL | class::ONE | 1);
        let words = job.finish().expect("a descriptor").to_vec();
        for (place, word) in (0..).zip(&words) {
            machine.write(block + deco::BUFFER + 4 * place, *word);
        }
        assert_eq!(machine.read(block + deco::BUFFER), words[0]);
        machine.write(block + deco::CONTROL, deco::RUN);
        assert_eq!(machine.read(block + deco::DEBUG) >> 31, 1);
        machine.settle();
        assert_eq!(machine.read(block + deco::DEBUG) >> 31, 0);
        assert_eq!(machine.read(block + deco::STATUS), 0);
        assert_eq!(machine.read(registers::RDSTA), 0x4000_0011);
        // A second time, the handle is instantiated already.
        machine.write(block + deco::CONTROL, deco::RUN);
        machine.settle();
        let twice = ccb_error(1, cha::RNG, ccb::RNG_INSTANTIATE);
        assert_eq!(machine.read(block + deco::STATUS), twice);
        machine.write(registers::DECORR, 0);
        machine.works();
    }
}

/// While software has the only controller, rings wait.
#[test]
fn rings_wait_while_software_has_the_controller() {
    let mut machine = Machine::imx();
    let mut job = machine.job();
    job.jump(1);
    let address = machine.place(&mut job);
    machine.write(registers::DECORR, 1);
    machine.add(0, address);
    machine.settle();
    assert_eq!(machine.remove(0), None);
    machine.write(registers::DECORR, 0);
    machine.settle();
    assert_eq!(machine.remove(0), Some((address, 0)));
}

/// A key that leaves the engine encrypted and comes back: as NXP's driver keeps the key of XCBC-MAC.
#[test]
fn black_keys_leave_encrypted_and_come_back() {
    let mut machine = Machine::imx();
    let plain = hex("2b7e151628aed2a6abf7158809cf4f3c8e73b0f7da0e6452");
    let black = machine.room(32);
    let mut job = machine.job();
    job.key_immediate(class::ONE, &plain).fifo_store(class::ONE | fifo_store::KEY, black, 24);
    assert_eq!(machine.run(&mut job), 0);
    assert_ne!(machine.bytes(black, 24), plain);
    let (one, other) = (machine.room(16), machine.room(16));
    let ecb = operation::CLASS_1 | operation::AES | operation::ECB | operation::ENCRYPT;
    for (output, is_black) in [(one, true), (other, false)] {
        let mut job = machine.job();
        if is_black {
            job.key(class::ONE | key::ENCRYPTED, black, 24);
        } else {
            job.key_immediate(class::ONE, &plain);
        }
        job.operation(ecb).fifo_load(message(), black, 16).fifo_store(
            fifo_store::MESSAGE,
            output,
            16,
        );
        assert_eq!(machine.run(&mut job), 0);
    }
    assert_eq!(machine.bytes(one, 16), machine.bytes(other, 16));
    let mut machine = fresh();
    let mut job = machine.job();
    job.key_immediate(class::ONE, &plain).fifo_store(class::ONE | fifo_store::KEY, black, 24);
    let told = deco_error(8, status::deco::NO_SECURE_KEY);
    assert_eq!(machine.run(&mut job), told);
}

/// The words of NXP's driver `fsl_caam`: it instantiates handle 0 and makes the secure keys, both without additional
/// input, which the descriptors then jump over; at the end it takes the handle back.
#[test]
fn nxp_s_descriptors_set_the_generator_up_and_take_it_down() {
    let mut machine = fresh();
    let begin = [0xB080_0006, 0xA000_0002, 0, 0xA000_0002, 0, 0x8250_0004];
    let keys = [0xB080_0004, 0xA000_0002, 0, 0x8250_1000];
    let end = [0xB080_0002, 0x8250_000D];
    for (words, right) in [(&begin[..], 0x0000_0001), (&keys, 0x4000_0001), (&end, 0x4000_0000)] {
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let at = machine.put(&bytes);
        assert_eq!(machine.run_at(at), 0);
        assert_eq!(machine.read(registers::RDSTA), right);
    }
}

#[test]
fn random_bytes_can_be_odd_and_not_zero() {
    let mut machine = Machine::imx();
    let output = machine.room(4000);
    for (mode, is_right) in [
        (operation::RNG_ODD_PARITY, (|byte| byte.count_ones() % 2 == 1) as fn(&u8) -> bool),
        (operation::RNG_NOT_ZERO, |byte| *byte != 0),
    ] {
        let mut job = machine.job();
        job.operation(RNG | mode).fifo_store(fifo_store::RANDOM, output, 4000);
        assert_eq!(machine.run(&mut job), 0);
        assert!(machine.bytes(output, 4000).iter().all(is_right));
    }
}

/// 4 GiB of random numbers do not fill the host's memory.
#[test]
fn too_many_random_numbers_make_the_job_expire() {
    let mut machine = Machine::imx();
    let output = machine.room(16);
    let mut job = machine.job();
    job.operation(RNG).fifo_store(fifo_store::RANDOM, output, u32::MAX);
    assert_ne!(machine.run(&mut job), 0);
    machine.works();
}
