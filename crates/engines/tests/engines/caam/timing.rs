//! The time of a job: its parts, their overlap, and delays.

use super::*;

/// How long a job of AES-CBC takes.
fn cbc(timing: Timing, key: usize, length: u32) -> u64 {
    let mut machine = Machine::with_timing(configurations()[0], timing);
    let data = machine.put(&vec![0; length as usize]);
    let mut job = machine.job();
    job.key(class::ONE, data, key)
        .load(class::ONE | register::CONTEXT, 0, data, 16)
        .fifo_load(message(), data, length)
        .fifo_store(fifo_store::MESSAGE, data, length)
        .operation(operation::CLASS_1 | operation::AES | operation::CBC);
    assert_eq!(machine.run(&mut job), 0);
    machine.now
}

#[test]
fn rounds_cost_by_the_size_of_the_key() {
    let timing = Timing { aes_round: 4.0, ..Timing::default() };
    assert_eq!(cbc(timing, 16, 1024), 64 * 10 * 4);
    assert_eq!(cbc(timing, 24, 1024), 64 * 12 * 4);
    assert_eq!(cbc(timing, 32, 1024), 64 * 14 * 4);
}

/// A descriptor of ten words and five commands, and eight words of key and context.
#[test]
fn a_job_s_parts_add_up_but_for_the_shorter_one_of_moving_and_computing() {
    let fixed = Timing {
        ring_entry: 1000.0,
        descriptor_word: 10.0,
        command: 3.0,
        register_word: 7.0,
        finish: 500.0,
        ..Timing::default()
    };
    let base = 1000 + 10 * 10 + 5 * 3 + 8 * 7 + 500;
    assert_eq!(cbc(fixed, 16, 1024), base);
    // Four transfers: key, IV, input and output.
    let moving = 4 * 20 + 2 * (2 + 2 + 128 + 128);
    let dma = Timing { dma_start: 20.0, dma_beat: 2.0, ..fixed };
    assert_eq!(cbc(dma, 16, 1024), base + moving);
    let both = Timing { aes_round: 0.1, ..dma };
    assert_eq!(cbc(both, 16, 1024), base + moving);
    let slow = Timing { aes_round: 10.0, ..dma };
    assert_eq!(cbc(slow, 16, 1024), base + 6400);
}

#[test]
fn blocks_of_each_digest_have_their_own_cost() {
    for (algorithm, ticks) in [
        (operation::MD5, 1),
        (operation::SHA_1, 10),
        (operation::SHA_256, 100),
        (operation::SHA_512, 1000),
    ] {
        let timing = Timing {
            md5_block: 1.0,
            sha1_block: 10.0,
            sha256_block: 100.0,
            sha512_block: 1000.0,
            ..Timing::default()
        };
        let mut machine = Machine::with_timing(configurations()[0], timing);
        let data = machine.put(&[0; 1000]);
        let mut job = machine.job();
        job.operation(operation::CLASS_2 | algorithm | operation::INIT_FINAL).fifo_load(
            class::TWO | fifo_load::MESSAGE | fifo_load::LAST_2,
            data,
            1000,
        );
        assert_eq!(machine.run(&mut job), 0);
        let blocks = if algorithm == operation::SHA_512 { 8 } else { 16 };
        assert_eq!(machine.now, blocks * ticks);
    }
}

#[test]
fn a_delay_lengthens_the_running_job() {
    let mut machine = Machine::imx();
    let mut job = machine.job();
    job.jump(1);
    let address = machine.place(&mut job);
    machine.add(0, address);
    let due = machine.model.next_event().expect("a job");
    machine.model.delay(1234);
    assert_eq!(machine.model.next_event(), Some(due + 1234));
    machine.settle();
    assert_eq!(machine.remove(0), Some((address, 0)));
    assert_eq!(machine.model.next_event(), None);
}
