//! Block ciphers with published answers.

use super::*;
use cpb_drivers::caam::descriptor::key;

const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const KEYS: [&str; 3] = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
];

/// Runs one message with a context and returns the output and the context behind it.
fn crypt(
    machine: &mut Machine,
    fields: u32,
    key: &[u8],
    context: (usize, &[u8]),
    input: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let (offset, initial) = context;
    let key_at = machine.put(key);
    let input_at = machine.put(input);
    let (output, after) = (machine.room(input.len()), machine.room(64));
    let initial = machine.put(initial);
    let mut job = machine.job();
    job.key(class::ONE, key_at, key.len());
    if context.1.is_empty() {
        // The mode has no context.
    } else {
        job.load(class::ONE | register::CONTEXT, offset, initial, context.1.len());
    }
    job.operation(operation::CLASS_1 | fields)
        .fifo_load(message(), input_at, input.len() as u32)
        .fifo_store(fifo_store::MESSAGE, output, input.len() as u32)
        .store(class::ONE | register::CONTEXT, 0, after, 64);
    assert_eq!(machine.run(&mut job), 0, "{fields:#x}");
    (machine.bytes(output, input.len()).to_vec(), machine.bytes(after, 64).to_vec())
}

/// SP 800-38A, F.1 to F.5: the first and the last block of each ciphertext.
#[test]
fn aes_gives_the_published_answers_with_each_size_of_key_and_each_layout() {
    let iv = hex("000102030405060708090a0b0c0d0e0f");
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let cases = [
        (operation::ECB, 0, "3ad77bb40d7a3660a89ecaf32466ef97", "7b0c785e27e8ad3f8223207104725dd4"),
        (operation::ECB, 1, "bd334f1d6e45f25ff712a214571fa5cc", "9a4b41ba738d6c72fb16691603c18e0e"),
        (operation::ECB, 2, "f3eed1bdb5d2a03c064b5a7e3db181f8", "23304b7a39f9f3ff067d8d8f9e24ecc7"),
        (operation::CBC, 0, "7649abac8119b246cee98e9b12e9197d", "3ff1caa1681fac09120eca307586e1a7"),
        (operation::CBC, 1, "4f021db243bc633d7178183a9fa071e8", "08b0e27988598881d920a9e64f5615cd"),
        (operation::CBC, 2, "f58c4c04d6e5f1ba779eabfb5f7bfbd6", "b2eb05e2c39be9fcda6c19078c6a9d1b"),
        (operation::CTR, 0, "874d6191b620e3261bef6864990db6ce", "1e031dda2fbe03d1792170a0f3009cee"),
        (operation::CTR, 1, "1abc932417521ca24f2b0459fe7e6e0b", "4f78a7f6d29809585a97daec58c6b050"),
        (operation::CTR, 2, "601ec313775789a5b7a7f504bbf3d228", "dfc9c58db67aada613c2dd08457941a6"),
    ];
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (mode, key, first, last) in cases {
            let (key, plain) = (hex(KEYS[key]), hex(PLAIN));
            let context: (usize, &[u8]) = match mode {
                operation::CBC => (0, &iv),
                operation::CTR => (16, &counter),
                _ => (0, &[]),
            };
            let fields = operation::AES | mode;
            let encrypt = fields | operation::ENCRYPT;
            let (cipher, _) = crypt(&mut machine, encrypt, &key, context, &plain);
            assert_eq!(
                (&cipher[..16], &cipher[48..]),
                (&hex(first)[..], &hex(last)[..]),
                "{mode:#x}"
            );
            assert_eq!(crypt(&mut machine, fields, &key, context, &cipher).0, plain);
        }
        assert_eq!(machine.model.totals().finished, 18);
    }
}

#[test]
fn a_message_in_two_jobs_goes_on_from_the_stored_context() {
    let mut machine = Machine::imx();
    let (key, plain) = (hex(KEYS[0]), hex(PLAIN));
    for (mode, offset, iv) in [
        (operation::CBC, 0, "000102030405060708090a0b0c0d0e0f"),
        (operation::CTR, 16, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"),
    ] {
        for fields in [operation::AES | mode | operation::ENCRYPT, operation::AES | mode] {
            let iv = hex(iv);
            let (whole, _) = crypt(&mut machine, fields, &key, (offset, &iv), &plain);
            let (first, context) = crypt(&mut machine, fields, &key, (offset, &iv), &plain[..32]);
            let context = &context[offset..offset + 16];
            let (second, _) = crypt(&mut machine, fields, &key, (offset, context), &plain[32..]);
            assert_eq!([first, second].concat(), whole);
        }
    }
}

/// The last words of NXP's driver for a counter that goes on within a block: the first operation is in the state
/// FINAL, so that the last counter stays, and a block of zeros shows what it encrypts to.
#[test]
fn the_last_counter_can_be_used_again_in_the_state_final() {
    let mut machine = Machine::imx();
    let (key, plain) = (hex(KEYS[0]), hex(PLAIN));
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    for (length, last) in [(20, "ff00"), (32, "ff00"), (16, "feff")] {
        let fields = operation::AES | operation::CTR | operation::FINAL;
        let (cipher, context) = crypt(&mut machine, fields, &key, (16, &counter), &plain[..length]);
        let whole = crypt(&mut machine, operation::AES, &key, (16, &counter), &plain).0;
        assert_eq!(cipher, whole[..length]);
        assert_eq!(context[30..32], hex(last), "{length}");
    }
}

/// SP 800-67 and NBS 500-20: the weak key of ones, and a triple key of three equal parts.
#[test]
fn des_and_triple_des_give_the_published_answers() {
    let mut machine = Machine::imx();
    // FIPS 81, table B1 and C1: "Now is the time for all ".
    let key = hex("0123456789abcdef");
    let plain = b"Now is the time for all ";
    let ecb = "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53";
    let cbc = "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6";
    let iv = hex("1234567890abcdef");
    for (mode, right) in [(operation::ECB, ecb), (operation::CBC, cbc)] {
        for (algorithm, times) in
            [(operation::DES, 1), (operation::TRIPLE_DES, 2), (operation::TRIPLE_DES, 3)]
        {
            let key = key.repeat(times);
            let fields = algorithm | mode;
            let (cipher, _) =
                crypt(&mut machine, fields | operation::ENCRYPT, &key, (0, &iv), plain);
            assert_eq!(cipher, hex(right), "{times} of {mode:#x}");
            assert_eq!(crypt(&mut machine, fields, &key, (0, &iv), &cipher).0, plain);
        }
    }
}

/// IEEE 1619, vectors 1 and 2.
#[test]
fn xts_gives_the_published_answers() {
    let mut machine = Machine::imx();
    let cases = [
        ("00", "00", "00", "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e"),
        ("11", "22", "33", "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0"),
    ];
    for (first, second, sector, right) in cases {
        let key = [hex(first).repeat(16), hex(second).repeat(16)].concat();
        let plain = if sector == "00" { vec![0; 32] } else { vec![0x44; 32] };
        // Sector number (lower half), sector size, sector number (upper half).
        let mut context = hex(sector).repeat(5);
        context.resize(8, 0);
        context.extend([0, 0, 0, 0, 0, 0, 0x80, 0]);
        context.extend([0; 8]);
        let fields = operation::AES | operation::XTS;
        let (cipher, _) =
            crypt(&mut machine, fields | operation::ENCRYPT, &key, (0x20, &context), &plain);
        assert_eq!(cipher, hex(right));
        assert_eq!(crypt(&mut machine, fields, &key, (0x20, &context), &cipher).0, plain);
    }
}

/// RFC 4493, 4.
#[test]
fn cmac_gives_the_published_answers_at_once_and_in_two_jobs() {
    let mut machine = Machine::imx();
    let (key, plain) = (machine.put(&hex(KEYS[0])), machine.put(&hex(PLAIN)));
    let cases = [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ];
    for (length, right) in cases {
        let mac = machine.room(16);
        let mut job = machine.job();
        let cmac = operation::CLASS_1 | operation::AES | operation::CMAC;
        job.key(class::ONE, key, 16)
            .operation(cmac | operation::INIT_FINAL)
            .fifo_load(message(), plain, length)
            .store(class::ONE | register::CONTEXT, 0, mac, 16);
        assert_eq!(machine.run(&mut job), 0);
        assert_eq!(machine.bytes(mac, 16), hex(right), "{length}");
        if length < 40 {
            continue;
        }
        let context = machine.room(32);
        let mut first = machine.job();
        first
            .key(class::ONE, key, 16)
            .operation(cmac | operation::INIT)
            .fifo_load(message(), plain, 16)
            .store(class::ONE | register::CONTEXT, 0, context, 32);
        let mut second = machine.job();
        second
            .key(class::ONE, key, 16)
            .load(class::ONE | register::CONTEXT, 0, context, 32)
            .operation(cmac | operation::FINAL)
            .fifo_load(message(), plain + 16, length - 16)
            .store(class::ONE | register::CONTEXT, 0, mac, 16);
        assert_eq!((machine.run(&mut first), machine.run(&mut second)), (0, 0));
        assert_eq!(machine.bytes(mac, 16), hex(right), "{length} in two jobs");
    }
}

/// RFC 3566, 4.6: cases 1, 2, 3, 4 and 6. In two jobs, the derived key leaves the engine encrypted and comes back, as
/// NXP's driver has it.
#[test]
fn xcbc_mac_gives_the_published_answers_at_once_and_in_two_jobs() {
    let mut machine = Machine::imx();
    let text: Vec<u8> = (0..32).collect();
    let (key, plain) = (machine.put(&text[..16]), machine.put(&text));
    let cases = [
        (0, "75f0251d528ac01c4573dfd584d79f29"),
        (3, "5b376580ae2f19afe7219ceef172756f"),
        (16, "d2a246fa349b68a79998a4394ff7a263"),
        (20, "47f51b4564966215b8985c63055ed308"),
        (32, "f54f0ec8d2b9f3d36807734bd5283fd4"),
    ];
    let xcbc = operation::CLASS_1 | operation::AES | operation::XCBC_MAC;
    let context = class::ONE | register::CONTEXT;
    for (length, right) in cases {
        let mac = machine.room(16);
        let mut job = machine.job();
        job.key(class::ONE, key, 16)
            .operation(xcbc | operation::INIT_FINAL)
            .fifo_load(message(), plain, length)
            .store(context, 0, mac, 16);
        assert_eq!(machine.run(&mut job), 0);
        assert_eq!(machine.bytes(mac, 16), hex(right), "{length}");
        if length < 20 {
            continue;
        }
        let (state, derived) = (machine.room(48), machine.room(16));
        let mut first = machine.job();
        first
            .key(class::ONE, key, 16)
            .operation(xcbc | operation::INIT)
            .fifo_load(message(), plain, 16)
            .store(context, 0, state, 48)
            .fifo_store(class::ONE | fifo_store::KEY, derived, 16);
        let mut second = machine.job();
        second
            .key(class::ONE | key::ENCRYPTED, derived, 16)
            .load(context, 0, state, 48)
            .operation(xcbc | operation::FINAL)
            .fifo_load(message(), plain + 16, length - 16)
            .store(context, 0, mac, 16);
        assert_eq!((machine.run(&mut first), machine.run(&mut second)), (0, 0));
        assert_eq!(machine.bytes(mac, 16), hex(right), "{length} in two jobs");
    }
}
