//! Scatter-gather tables, sequences and shared descriptors, in the shapes that Linux's driver gives them.

use super::*;
use cpb_drivers::caam::descriptor::math::operand;
use cpb_drivers::caam::descriptor::{
    SGT, VARIABLE, command, deco_control, header, info, jump, math, moving, sgt,
};
use cpb_drivers::caam::status;

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const IV: &str = "000102030405060708090a0b0c0d0e0f";
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
const CIPHER: &str = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2";
const CBC: u32 = operation::CLASS_1 | operation::AES | operation::CBC | operation::INIT_FINAL;
const HMAC: u32 =
    operation::CLASS_2 | operation::SHA_256 | operation::HMAC_SPLIT | operation::INIT_FINAL;

/// MATH of four bytes.
fn sum(function: u32, first: u32, second: u32, destination: u32) -> u32 {
    let places = first << math::SOURCE_0 | second << math::SOURCE_1;
    function | places | destination << math::DESTINATION | 4
}

/// A jump over the keys if an earlier job left them; the word that it is in.
fn unless_shared(shared: &mut Descriptor) -> usize {
    let at = shared.here();
    shared.jump(jump::JOB_CONDITIONS | jump::SHARED | jump::ALL);
    at
}

/// The shared descriptor of a cipher: key, IV from the sequence, message, and the new IV behind the output.
fn shared_cipher(machine: &mut Machine, fields: u32) -> (u64, usize) {
    let mut shared =
        Descriptor::shared(machine.format, header::SHARE_SERIAL | header::SAVE_CONTEXT);
    let over_key = unless_shared(&mut shared);
    shared.key_immediate(class::ONE, &hex(KEY));
    shared.land(over_key);
    shared
        .push(command::SEQ_LOAD | class::ONE | register::CONTEXT | 16)
        .operation(fields)
        .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_IN))
        .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_OUT))
        .push(
            command::SEQ_FIFO_LOAD
                | class::ONE
                | VARIABLE
                | fifo_load::MESSAGE
                | fifo_load::LAST_BOTH,
        )
        .push(command::SEQ_FIFO_STORE | VARIABLE | fifo_store::MESSAGE)
        .push(command::SEQ_STORE | class::ONE | register::CONTEXT | 16);
    let words = shared.here();
    (machine.place(&mut shared), words)
}

#[test]
fn a_shared_descriptor_serves_jobs_with_tables_of_any_shape_in_each_layout() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        let (shared, words) = shared_cipher(&mut machine, CBC | operation::ENCRYPT);
        // IV and message, message and new IV.
        for (lengths_in, lengths_out) in
            [(&[48][..], &[48][..]), (&[16, 32], &[32, 16]), (&[7, 1, 20, 20], &[3, 13, 31, 1])]
        {
            let data = machine.put(&hex(&[IV, PLAIN].concat()));
            let output = machine.room(48);
            let input_table = machine.table(data, lengths_in);
            let output_table = machine.table(output, lengths_out);
            for tables in [true, false] {
                let mut job = Descriptor::job_of_shared(machine.format, shared, words);
                if tables {
                    job.seq_out_ptr(SGT, output_table, 48).seq_in_ptr(SGT, input_table, 48);
                } else {
                    job.seq_out_ptr(0, output, 48).seq_in_ptr(0, data, 48);
                }
                assert_eq!(machine.run(&mut job), 0);
                let right = hex(&[CIPHER, &CIPHER[32..]].concat());
                assert_eq!(machine.bytes(output, 48), right);
                machine.memory.0[output as usize..][..48].fill(0);
            }
        }
        assert_eq!(machine.model.totals().finished, 6);
    }
}

/// A table that goes on in another one, with offsets.
#[test]
fn a_table_can_go_on_in_another_and_entries_can_have_offsets() {
    let mut machine = Machine::imx();
    let data = machine.put(&hex(&["ffff", PLAIN].concat()));
    let rest = SgtEntry { address: data + 12, length: 22 | sgt::FINAL, offset: 0 };
    let rest = machine.put(&rest.bytes(machine.format));
    let entries = [
        SgtEntry { address: data, length: 10, offset: 2 },
        SgtEntry { address: rest, length: sgt::TABLE, offset: 0 },
    ];
    let format = machine.format;
    let table: Vec<u8> = entries.iter().flat_map(|entry| entry.bytes(format)).collect();
    let table = machine.put(&table);
    let output = machine.room(32);
    let mut job = machine.job();
    job.key_immediate(class::ONE, &hex(KEY))
        .load_immediate(class::ONE | register::CONTEXT, 0, &hex(IV))
        .fifo_load(message() | SGT, table, 32)
        .fifo_store(fifo_store::MESSAGE, output, 32)
        .operation(CBC | operation::ENCRYPT);
    assert_eq!(machine.run(&mut job), 0);
    assert_eq!(machine.bytes(output, 32), hex(CIPHER));
}

/// The shared descriptor of authenticated encryption: a derived key, both classes, and the code behind the message.
fn shared_authenc(machine: &mut Machine, encrypts: bool) -> (u64, usize) {
    let mut shared =
        Descriptor::shared(machine.format, header::SHARE_SERIAL | header::SAVE_CONTEXT);
    let over_key = unless_shared(&mut shared);
    shared.operation(operation::DKP | operation::SHA_256 & 0xF << 16 | 4).bytes(b"Jefe");
    (0..15).for_each(|_| _ = shared.push(0));
    shared.key_immediate(class::ONE, &hex(KEY));
    shared.land(over_key);
    let direction = if encrypts { operation::ENCRYPT } else { operation::CHECK_ICV };
    let override_ = operand::PROTOCOL_OVERRIDE;
    shared
        .operation(HMAC | direction)
        .math(sum(math::ADD, operand::ZERO_0, override_, operand::VARIABLE_IN))
        .math(sum(math::ADD, operand::ZERO_0, override_, operand::VARIABLE_OUT))
        .push(command::SEQ_FIFO_STORE | VARIABLE | fifo_store::SKIP)
        .push(command::SEQ_FIFO_LOAD | class::TWO | VARIABLE | fifo_load::MESSAGE)
        .operation(CBC | direction & operation::ENCRYPT);
    if encrypts {
        let last = fifo_load::MESSAGE_OUT_TO_2 | fifo_load::LAST_BOTH;
        shared
            .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_IN))
            .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_OUT))
            .push(command::SEQ_FIFO_STORE | VARIABLE | fifo_store::MESSAGE)
            .push(command::SEQ_FIFO_LOAD | class::BOTH | VARIABLE | last)
            .push(command::SEQ_STORE | class::TWO | register::CONTEXT | 16);
    } else {
        let last = fifo_load::MESSAGE | fifo_load::LAST_BOTH;
        let code = fifo_load::ICV | fifo_load::LAST_2;
        shared
            .math(sum(math::SUB, operand::SEQ_OUT, operand::MATH_0, operand::VARIABLE_IN))
            .math(sum(math::SUB, operand::SEQ_OUT, operand::MATH_0, operand::VARIABLE_OUT))
            .push(command::SEQ_FIFO_STORE | VARIABLE | fifo_store::MESSAGE)
            .push(command::SEQ_FIFO_LOAD | class::BOTH | VARIABLE | last)
            .push(command::SEQ_FIFO_LOAD | class::TWO | code | 16);
    }
    let words = shared.here();
    (machine.place(&mut shared), words)
}

/// HMAC-SHA-256 by a job of its own, cut to 16 bytes.
fn code_of(machine: &mut Machine, message: &[u8]) -> Vec<u8> {
    let (at, code) = (machine.put(message), machine.room(16));
    let mut job = machine.job();
    job.key_immediate(class::TWO, b"Jefe")
        .operation(HMAC & !operation::HMAC_SPLIT | operation::HMAC)
        .fifo_load(class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2, at, message.len() as u32)
        .store(class::TWO | register::CONTEXT, 0, code, 16);
    assert_eq!(machine.run(&mut job), 0);
    machine.bytes(code, 16).to_vec()
}

#[test]
fn cbc_and_hmac_in_one_pass_are_what_they_are_one_after_the_other() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        let aad = b"associated";
        let right = [&aad[..], &hex(CIPHER)].concat();
        let code = code_of(&mut machine, &right);
        // Associated data and message in; associated data (left as it is), message and code out.
        let job = |machine: &mut Machine, shared: (u64, usize), data: &[u8], out: usize| {
            let (data_at, output) = (machine.put(data), machine.room(out));
            let mut job = Descriptor::job_of_shared(machine.format, shared.0, shared.1);
            let assign =
                sum(math::ADD, operand::ZERO_0, operand::IMMEDIATE, operand::PROTOCOL_OVERRIDE);
            job.seq_out_ptr(0, output, out as u32)
                .seq_in_ptr(0, data_at, data.len() as u32)
                .math(assign)
                .push(aad.len() as u32)
                .load_immediate(class::ONE | register::CONTEXT, 0, &hex(IV));
            (machine.run(&mut job), output)
        };
        let shared = shared_authenc(&mut machine, true);
        let data = [&aad[..], &hex(PLAIN)].concat();
        let (told, output) = job(&mut machine, shared, &data, 10 + 32 + 16);
        assert_eq!(told, 0);
        assert_eq!(machine.bytes(output, 10), [0; 10]);
        assert_eq!(machine.bytes(output + 10, 48), [hex(CIPHER), code.clone()].concat());
        let shared = shared_authenc(&mut machine, false);
        for wrong in [false, true] {
            let mut data = [&right[..], &code].concat();
            data[50] ^= u8::from(wrong);
            let (told, output) = job(&mut machine, shared, &data, 10 + 32);
            assert_eq!(told & 0xF000_00FF, if wrong { 0x2000_004A } else { 0 });
            assert_eq!(status::is_mismatch(told), wrong);
            assert_eq!(machine.bytes(output + 10, 32), hex(PLAIN));
        }
        machine.works();
    }
}

/// Linux's descriptors without a cipher copy the message with a MOVE into which they write its length themselves.
#[test]
fn a_descriptor_that_changes_itself_copies_the_message_beside_its_code() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        let plain = hex(PLAIN);
        let code = code_of(&mut machine, &plain);
        let mut shared = Descriptor::shared(machine.format, header::SHARE_SERIAL);
        shared
            .key_immediate(class::TWO, b"Jefe")
            .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_IN))
            .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::VARIABLE_OUT))
            // Where the copied length has its low bytes.
            .math(sum(math::ADD, operand::SEQ_IN, operand::MATH_0, operand::MATH_0 + 3));
        let read = shared.here();
        let source = |register: u32| register << moving::SOURCE;
        let destination = |register: u32| register << moving::DESTINATION;
        let math_3 = moving::MATH_0 + 3;
        let target = ((read + 6) * 4) as u32;
        shared
            .move_data(source(moving::DESCRIPTOR) | destination(math_3) | target << 8 | 6)
            .move_data(
                source(math_3) | destination(moving::DESCRIPTOR) | moving::WAIT | target << 8 | 8,
            )
            .operation(HMAC & !operation::HMAC_SPLIT | operation::HMAC | operation::ENCRYPT)
            .push(command::SEQ_FIFO_STORE | VARIABLE | fifo_store::MESSAGE)
            .push(
                command::SEQ_FIFO_LOAD
                    | class::TWO
                    | VARIABLE
                    | fifo_load::MESSAGE
                    | fifo_load::LAST_2,
            )
            .jump(1)
            .push(
                command::LOAD
                    | class::DECO
                    | 1 << 23
                    | register::DECO_CONTROL
                    | deco_control::DISABLE_AUTO_INFO,
            )
            .move_data(
                source(moving::INPUT_FIFO) | destination(moving::OUTPUT_FIFO) | 1 << moving::AUX,
            )
            .push(
                command::LOAD
                    | class::DECO
                    | 1 << 23
                    | register::DECO_CONTROL
                    | deco_control::ENABLE_AUTO_INFO,
            )
            .push(command::SEQ_STORE | class::TWO | register::CONTEXT | 16);
        let words = shared.here();
        let shared = machine.place(&mut shared);
        let (data, output) = (machine.put(&plain), machine.room(48));
        let mut job = Descriptor::job_of_shared(machine.format, shared, words);
        job.seq_out_ptr(0, output, 48).seq_in_ptr(0, data, 32);
        assert_eq!(machine.run(&mut job), 0);
        assert_eq!(machine.bytes(output, 48), [plain, code].concat());
    }
}

/// Linux's descriptors that make an IV: random padding by way of the info FIFO, and a look at the output FIFO.
#[test]
fn info_fifo_entries_make_an_iv_and_show_it_to_class_2() {
    let mut machine = Machine::imx();
    let output = machine.room(64);
    let (iv, code_at) = (output, output + 32);
    let mut job = machine.job();
    let message_2 = info::MESSAGE | info::TO_2;
    let (source, destination) = (moving::SOURCE, moving::DESTINATION);
    job.key_immediate(class::TWO, b"Jefe")
        .load_word(
            register::INFO_FIFO,
            info::FROM_PADDING | info::MESSAGE | info::LAST_1 | 3 << info::PADDING | 16,
        )
        .move_data(moving::INPUT_FIFO << source | moving::CONTEXT_1 << destination | 16)
        .move_data(moving::CONTEXT_1 << source | moving::OUTPUT_FIFO << destination | 16)
        .operation(HMAC & !operation::HMAC_SPLIT | operation::HMAC | operation::ENCRYPT)
        .load_word(register::INFO_FIFO, info::FROM_OUTPUT | message_2 | info::LAST_2 | 16)
        .load_word(class::TWO | register::DATA_SIZE, 16)
        .fifo_store(fifo_store::MESSAGE, iv, 16)
        .store(class::TWO | register::CONTEXT, 0, code_at, 16);
    assert_eq!(machine.run(&mut job), 0);
    let made = machine.bytes(iv, 16).to_vec();
    assert_ne!(made, [0; 16]);
    let right = code_of(&mut machine, &made);
    assert_eq!(machine.bytes(code_at, 16), right);
}

/// Conditions, loops and subroutines: a loop adds 1 to 10, and the sum is stored.
#[test]
fn jumps_and_math_loop_until_a_register_is_zero() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        let sum_at = machine.room(8);
        let mut job = machine.job();
        let math = |function: u32, fields: u32| function | fields | 8;
        let (first, second, to) = (math::SOURCE_0, math::SOURCE_1, math::DESTINATION);
        job.math(math(math::ADD, operand::ZERO_0 << first | operand::IMMEDIATE << second))
            .push(0)
            .push(10)
            // MATH 1 += MATH 0; MATH 0 -= 1; again unless it is zero.
            .math(math(math::ADD, 1 << first | 1 << to))
            .math(math(math::SUB, operand::ONE_1 << second))
            .jump(jump::NOT_ALL | jump::ZERO | 0xFE)
            .store(class::DECO | (register::MATH_0 + (1 << 16)), 0, sum_at, 8);
        assert_eq!(machine.run(&mut job), 0);
        let words = machine.bytes(sum_at, 8).as_chunks::<4>().0.to_vec();
        let words = [machine.format.word(words[0]), machine.format.word(words[1])];
        assert_eq!(machine.format.address(words), 55);
    }
}
