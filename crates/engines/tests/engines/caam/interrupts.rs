//! The interrupt of a ring: raised, acknowledged, masked, and coalesced by count and by time.

use super::*;
use cpb_drivers::caam::registers::{jrcfg, jrint};

/// Adds a job that ends at once and lets it end.
fn finish_one(machine: &mut Machine) {
    let mut job = machine.job();
    job.jump(1);
    let address = machine.place(&mut job);
    machine.add(0, address);
    while machine.read(registers::CSTA) & 1 != 0 {
        machine.now = machine.model.next_event().expect("an event");
    }
}

fn line(machine: &mut Machine) -> u32 {
    machine.model.advance(machine.now, &mut machine.memory);
    machine.model.interrupts()
}

#[test]
fn without_coalescing_each_finished_job_raises_the_interrupt() {
    let mut machine = Machine::imx();
    finish_one(&mut machine);
    assert_eq!(line(&mut machine), 1);
    machine.write_ring(0, jr::JRCFGR_LS, jrcfg::MASKED);
    assert_eq!(line(&mut machine), 0);
    assert_eq!(machine.read_ring(0, jr::JRINTR), jrint::DONE);
    machine.write_ring(0, jr::JRCFGR_LS, 0);
    // NXP's header: if finished jobs are left when it is cleared, it is raised again.
    finish_one(&mut machine);
    machine.write_ring(0, jr::ORJRR, 1);
    machine.write_ring(0, jr::JRINTR, jrint::DONE);
    assert_eq!(line(&mut machine), 1);
    machine.write_ring(0, jr::ORJRR, 1);
    assert_eq!(line(&mut machine), 0);
    machine.write_ring(0, jr::JRINTR, jrint::DONE);
    assert_eq!((line(&mut machine), machine.model.next_event()), (0, None));
}

#[test]
fn coalescing_waits_for_a_number_of_jobs() {
    let mut machine = Machine::imx();
    machine.write_ring(
        0,
        jr::JRCFGR_LS,
        jrcfg::COALESCE | 3 << jrcfg::COUNT | 0xFFFF << jrcfg::TIMER,
    );
    for raised in [0, 0, 1, 1] {
        finish_one(&mut machine);
        assert_eq!(line(&mut machine), raised);
    }
    machine.write_ring(0, jr::JRINTR, jrint::DONE);
    assert_eq!(line(&mut machine), 1, "four jobs are left, which is still enough");
    machine.write_ring(0, jr::ORJRR, 3);
    machine.write_ring(0, jr::JRINTR, jrint::DONE);
    assert_eq!(line(&mut machine), 0);
    finish_one(&mut machine);
    assert_eq!(line(&mut machine), 0);
    finish_one(&mut machine);
    assert_eq!(line(&mut machine), 1);
}

#[test]
fn coalescing_does_not_let_a_job_wait_longer_than_its_timer() {
    let mut machine = Machine::imx();
    machine.write_ring(
        0,
        jr::JRCFGR_LS,
        jrcfg::COALESCE | 200 << jrcfg::COUNT | 40 << jrcfg::TIMER,
    );
    finish_one(&mut machine);
    let done = machine.now;
    machine.now += 5000;
    finish_one(&mut machine);
    let end = done + (40.0 * TIMING.coalescing) as u64;
    assert_eq!(machine.model.next_event(), Some(end));
    machine.now = end - 1;
    assert_eq!(line(&mut machine), 0);
    machine.now = end;
    assert_eq!(line(&mut machine), 1);
    assert_eq!(machine.model.next_event(), None);
    // A job that is left when the interrupt is cleared waits anew.
    machine.write_ring(0, jr::ORJRR, 1);
    machine.write_ring(0, jr::JRINTR, jrint::DONE);
    let again = end + (40.0 * TIMING.coalescing) as u64;
    assert_eq!(machine.model.next_event(), Some(again));
}
