//! Job rings: their registers, their errors, halt, flush and reset, several of them, and several controllers.

use super::*;
use cpb_drivers::caam::descriptor::SGT;
use cpb_drivers::caam::registers::{jrcfg_ms, jrcr, jrint, ring_error};
use cpb_drivers::caam::status::{self, deco};

/// A descriptor that ends at once.
fn nothing(machine: &mut Machine) -> u64 {
    let mut job = machine.job();
    job.jump(1);
    machine.place(&mut job)
}

/// AES-CBC of many blocks, which takes its time.
fn long(machine: &mut Machine) -> u64 {
    let data = machine.put(&[0; 4096]);
    let mut job = machine.job();
    job.key_immediate(class::ONE, &[0; 16])
        .operation(operation::CLASS_1 | operation::AES | operation::CBC)
        .fifo_load(message(), data, 4096)
        .fifo_store(fifo_store::MESSAGE, data, 4096);
    machine.place(&mut job)
}

fn error_of(machine: &mut Machine, ring: usize) -> u32 {
    let told = machine.read_ring(ring, jr::JRINTR);
    if told & jrint::ERROR == 0 { 0 } else { told >> jrint::ERROR_TYPE & jrint::ERROR_TYPE_MASK }
}

#[test]
fn slots_and_indices_count_around_the_rings() {
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        let job = nothing(&mut machine);
        for round in 1..=3 {
            for _ in 0..ENTRIES {
                machine.add(0, job);
            }
            assert_eq!(machine.read_ring(0, jr::ORSFR), 0);
            machine.settle();
            assert_eq!(machine.read_ring(0, jr::IRSAR), ENTRIES);
            assert_eq!(machine.read_ring(0, jr::ORSFR), ENTRIES);
            assert_eq!(machine.read_ring(0, jr::IRRIR), 0);
            for _ in 0..ENTRIES {
                assert_eq!(machine.remove(0), Some((job, 0)));
            }
            assert_eq!(machine.remove(0), None);
            assert_eq!(machine.model.totals().finished, u64::from(round * ENTRIES));
        }
        let offset = registers::REQUESTS_DEQUEUED;
        let words = [machine.read(offset), machine.read_ring(1, offset + 4)];
        assert_eq!(machine.format.address(words), 24);
    }
}

/// A slot of the input ring is free as soon as its entry has been fetched; the ring of outputs holds jobs back.
#[test]
fn a_full_output_ring_holds_jobs_back() {
    let mut machine = Machine::imx();
    let job = nothing(&mut machine);
    (0..ENTRIES).for_each(|_| machine.add(0, job));
    machine.settle();
    (0..3).for_each(|_| machine.add(0, job));
    machine.settle();
    assert_eq!(machine.read_ring(0, jr::IRSAR), ENTRIES - 3);
    assert_eq!(machine.remove(0), Some((job, 0)));
    machine.settle();
    assert_eq!(machine.read_ring(0, jr::IRSAR), ENTRIES - 2);
    assert_eq!(machine.read_ring(0, jr::ORSFR), ENTRIES);
}

#[test]
fn ring_errors_have_their_codes_and_the_write_has_no_effect() {
    let mut machine = Machine::imx();
    let job = nothing(&mut machine);
    let acknowledge = |machine: &mut Machine| {
        machine.write_ring(0, jr::JRINTR, jrint::ERROR);
        assert_eq!(error_of(machine, 0), 0);
    };
    machine.write_ring(0, jr::IRJAR, ENTRIES + 1);
    assert_eq!(error_of(&mut machine, 0), ring_error::ADDED);
    acknowledge(&mut machine);
    machine.write_ring(0, jr::ORJRR, 1);
    assert_eq!(error_of(&mut machine, 0), ring_error::REMOVED);
    assert_eq!(machine.model.interrupts(), 1);
    acknowledge(&mut machine);
    assert_eq!(machine.model.interrupts(), 0);
    let slow = long(&mut machine);
    machine.add(0, slow);
    machine.add(0, job);
    machine.write_ring(0, jr::IRSR, 4);
    assert_eq!(error_of(&mut machine, 0), ring_error::INPUT_BUSY);
    acknowledge(&mut machine);
    machine.write_ring(0, jr::ORBAR + 4, 0x8000);
    assert_eq!(error_of(&mut machine, 0), ring_error::OUTPUT_BUSY);
    acknowledge(&mut machine);
    machine.settle();
    assert_eq!((machine.remove(0), machine.remove(0)), (Some((slow, 0)), Some((job, 0))));
    // Addresses that are no multiple of 4.
    for (register, error) in
        [(jr::IRBAR, ring_error::INPUT_BASE), (jr::ORBAR, ring_error::OUTPUT_BASE)]
    {
        let right = machine.read_ring(0, register + 4);
        machine.write_ring(0, register + 4, right + 2);
        machine.write_ring(0, jr::IRJAR, 1);
        assert_eq!(error_of(&mut machine, 0), error);
        acknowledge(&mut machine);
        machine.write_ring(0, register + 4, right);
    }
    machine.set_up(0);
    machine.works();
    // An output ring that cannot be written: the job is lost, and the next one is right.
    machine.write_ring(0, jr::ORBAR + 4, NOWHERE as u32);
    machine.added[0] = 1;
    machine.add(0, job);
    machine.settle();
    assert_eq!(error_of(&mut machine, 0), ring_error::OUTPUT);
    acknowledge(&mut machine);
    machine.set_up(0);
    machine.works();
}

/// As Linux resets a ring: halt, wait, reset.
#[test]
fn a_flushed_ring_gives_its_jobs_back_and_the_second_command_resets_it() {
    let mut machine = Machine::imx();
    let (slow, job) = (long(&mut machine), nothing(&mut machine));
    machine.add(0, slow);
    (0..2).for_each(|_| machine.add(0, job));
    machine.now += 200;
    machine.write_ring(0, jr::JRCR, jrcr::RESET);
    assert_eq!(machine.read_ring(0, jr::JRINTR) & jrint::HALT, jrint::HALTING);
    machine.write_ring(0, jr::JRCR, jrcr::RESET);
    assert_eq!(error_of(&mut machine, 0), ring_error::RESET_EARLY);
    machine.settle();
    assert_eq!(machine.read_ring(0, jr::JRINTR) & jrint::HALT, jrint::HALTED);
    let flushed = status::deco_error(0, deco::RESET);
    assert_eq!(machine.remove(0), Some((slow, 0)));
    assert_eq!(machine.remove(0), Some((job, flushed)));
    assert_eq!(machine.remove(0), Some((job, flushed)));
    assert_eq!(machine.model.totals().finished, 1);
    machine.write_ring(0, jr::JRCR, jrcr::RESET);
    for register in [jr::IRBAR, jr::IRSR, jr::ORSR, jr::ORSFR, jr::JRINTR, jr::IRRIR, jr::JRCR] {
        assert_eq!(machine.read_ring(0, register), 0, "{register:#x}");
    }
    machine.set_up(0);
    machine.works();
}

#[test]
fn a_parked_ring_keeps_its_jobs_until_it_goes_on() {
    let mut machine = Machine::imx();
    let (slow, job) = (long(&mut machine), nothing(&mut machine));
    machine.add(0, slow);
    machine.add(0, job);
    machine.now += 200;
    machine.write_ring(0, jr::JRCR, jrcr::PARK);
    machine.settle();
    assert_eq!(machine.read_ring(0, jr::JRINTR) & jrint::HALT, jrint::HALTED);
    assert_eq!(machine.remove(0), Some((slow, 0)));
    assert_eq!(machine.remove(0), None);
    assert_eq!(machine.read_ring(0, jr::IRSAR), ENTRIES - 1);
    machine.write_ring(0, jr::JRINTR, jrint::HALTED);
    machine.settle();
    assert_eq!(machine.remove(0), Some((job, 0)));
    machine.works();
}

/// NXP's driver writes both commands without a wait, and then resets the engine.
#[test]
fn an_idle_ring_is_reset_by_two_commands_in_a_row() {
    let mut machine = Machine::imx();
    machine.works();
    machine.write_ring(0, jr::JRCR, jrcr::RESET);
    machine.write_ring(0, jr::JRCR, jrcr::RESET);
    assert_eq!(machine.read_ring(0, jr::IRSR), 0);
    machine.write(registers::MCFGR, mcfgr::RESET);
    assert_eq!(machine.read(registers::MCFGR) & mcfgr::RESET, 0);
    machine.write(registers::MCFGR, 0x0008_2300);
    machine.set_up(0);
    machine.works();
}

#[test]
fn rings_take_turns_and_each_has_its_own_interrupt() {
    let mut machine = Machine::imx();
    let slow = long(&mut machine);
    for ring in 0..4 {
        machine.add(ring, slow);
        machine.add(ring, slow);
    }
    let mut order = Vec::new();
    let mut full = [0; 4];
    while let Some(event) = machine.model.next_event() {
        machine.now = event;
        machine.model.advance(event, &mut machine.memory);
        for (ring, full) in full.iter_mut().enumerate() {
            let now = machine.read_ring(ring, jr::ORSFR);
            if now > *full {
                order.push(ring);
                *full = now;
            }
        }
    }
    assert_eq!(order, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(machine.model.interrupts(), 0b1111);
    machine.write_ring(2, jr::ORJRR, 2);
    assert_eq!(machine.model.interrupts(), 0b1011);
}

/// A short job overtakes a long one in another controller.
#[test]
fn several_controllers_work_side_by_side_and_jobs_end_out_of_order() {
    let mut machine = Machine::new(Configuration { decos: 2, ..configurations()[0] });
    let (slow, job) = (long(&mut machine), nothing(&mut machine));
    machine.add(0, slow);
    machine.add(0, job);
    machine.add(0, job);
    machine.settle();
    let order: Vec<u64> =
        std::iter::from_fn(|| machine.remove(0)).map(|(address, _)| address).collect();
    assert_eq!(order, [job, job, slow]);
    assert_eq!(machine.read(registers::CHANUM_MS), 4 << 28 | 2 << 24);
}

/// A ring whose configuration says so takes its jobs in the other byte order; another one does not.
#[test]
fn a_ring_can_have_the_other_byte_order() {
    let mut machine = Machine::imx();
    let ms = jrcfg_ms::PLATFORM_ENDIAN_OVERRIDE | jrcfg_ms::DOUBLE_WORD_SWAP_OVERRIDE;
    machine.write_ring(0, jr::JRCFGR_MS, ms);
    machine.format = Format { big_endian: true, ..machine.format };
    let swapped = long(&mut machine);
    machine.run_at(swapped);
    machine.format = Format::RT1170;
    let job = long(&mut machine);
    machine.add(1, job);
    machine.settle();
    assert_eq!(machine.remove(1), Some((job, 0)));
    assert_eq!(machine.model.totals().finished, 2);
}

/// The bit of the master configuration that NXP's driver keeps set: without it, the lower word of a pointer in a
/// scatter-gather table is first.
#[test]
fn the_order_of_a_pointer_s_words_can_be_exchanged() {
    let mut machine = Machine::imx();
    let old = machine.read(registers::MCFGR);
    assert_eq!(old, 0x0008_2300);
    machine.write(registers::MCFGR, old & !mcfgr::TRANSPOSE);
    machine.format.high_word_first = false;
    let data = machine.put(&[0; 32]);
    let table = machine.table(data, &[16, 16]);
    let mut job = machine.job();
    job.operation(operation::CLASS_2 | operation::SHA_1 | operation::INIT_FINAL).fifo_load(
        class::TWO | SGT | fifo_load::MESSAGE | fifo_load::LAST_2,
        table,
        32,
    );
    assert_eq!(machine.run(&mut job), 0);
}
