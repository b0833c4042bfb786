//! What a driver needs from the bus: a barrier, cache maintenance, and a wait with a limit. Also how a device
//! error reaches the caller.

use crate::device::{Board, CANNOT_READ, CAUSE, GO, LINE};
use crate::driver::{Driver, Forgotten, PATIENCE, error};
use crate::fake::{COSTS, World};
use crate::ran::{Ran, run_with};
use crate::{fixed, forms};
use cpb_core::{Bus, Depth, Dispatch, Error, Meaning, Notice};
use std::cell::RefCell;
use std::time::Duration;

const JOBS: usize = 6;

/// The result of a round with the driver, and how often its device raised the interrupt.
fn drive(
    dispatch: Dispatch,
    forgets: Option<Forgotten>,
    stops: Option<(u32, u32)>,
) -> (Ran, u64, u32) {
    let world = World::new(COSTS);
    let bus = RefCell::new(Board::new(&world, COSTS.service, stops));
    let driver = Driver { bus, forgets };
    let ran = run_with(&driver, &world, JOBS, dispatch, true, &fixed(2, JOBS as u32));
    let interrupts = driver.bus.borrow().interrupts;
    (ran, world.time(), interrupts)
}

#[test]
fn a_driver_that_forgets_nothing_gives_the_right_answers_in_every_form() {
    for dispatch in forms(3) {
        let (ran, ..) = drive(dispatch, None, None);
        assert!(ran.outcome.is_ok() && ran.answers_right(), "{dispatch:?}: {:?}", ran.outcome);
    }
}

#[test]
fn with_notice_last_there_is_one_interrupt_a_chain() {
    let (ran, _, interrupts) = drive(Dispatch::ALL_AT_ONCE, None, None);
    // The batch of the warm-up and two others, each with as many operations as there are jobs.
    assert_eq!((ran.submitted, interrupts), (3 * JOBS as u64, 3));
    let depth = Dispatch { depth: Depth::Jobs(2), ..Dispatch::ALL_AT_ONCE };
    assert_eq!(drive(depth, None, None).2, 9);
    let each = Dispatch { notice: Notice::Each, ..Dispatch::ALL_AT_ONCE };
    assert_eq!(drive(each, None, None).2, 18);
}

#[test]
fn without_a_barrier_or_a_clean_the_device_does_not_see_what_the_cpu_wrote() {
    let steps = [Forgotten::Barrier, Forgotten::CleanDescriptor, Forgotten::CleanMessage];
    for dispatch in forms(3) {
        for forgotten in steps {
            let (ran, ..) = drive(dispatch, Some(forgotten), None);
            let unreadable = Error::Engine { code: CANNOT_READ, meaning: Meaning::Read };
            assert_eq!(ran.outcome, Err(unreadable), "{forgotten:?}, {dispatch:?}");
        }
    }
}

#[test]
fn without_an_invalidate_the_cpu_does_not_see_what_the_device_wrote() {
    for dispatch in forms(3) {
        let (ran, ..) = drive(dispatch, Some(Forgotten::Invalidate), None);
        assert_eq!(ran.outcome, Err(Error::WrongAnswer), "{dispatch:?}");
    }
}

#[test]
fn without_the_doorbell_the_wait_for_the_interrupt_ends_after_its_limit() {
    for dispatch in forms(3) {
        let (ran, ended, interrupts) = drive(dispatch, Some(Forgotten::Doorbell), None);
        assert_eq!((ran.outcome, interrupts), (Err(Error::Timeout), 0), "{dispatch:?}");
        let limit = PATIENCE.as_nanos() as u64;
        assert!((limit..limit + 1_000).contains(&ended), "{ended}, {dispatch:?}");
    }
}

#[test]
fn an_interrupt_that_came_before_the_wait_is_not_lost_and_the_limit_is_kept_to_the_tick() {
    let world = World::new(COSTS);
    // There is no descriptor, so the device stops with an error and raises an interrupt.
    let mut board = Board::new(&world, 300, None);
    board.write(GO, 1);
    world.spend(1_000);
    let before = world.time();
    assert_eq!(board.wait_for_interrupt(LINE, Duration::from_nanos(500)), Ok(()));
    assert_eq!(world.time(), before);

    board.write(CAUSE, 1);
    let before = world.time();
    let waited = board.wait_for_interrupt(LINE, Duration::from_nanos(500));
    assert_eq!((waited, world.time()), (Err(Error::Timeout), before + 500));

    board.write(GO, 1);
    let before = world.time();
    assert_eq!(board.wait_for_interrupt(LINE, Duration::from_nanos(500)), Ok(()));
    assert_eq!(world.time(), before + 300);
}

#[test]
fn an_error_of_the_device_ends_the_round_with_its_code_and_its_meaning() {
    let meanings = [
        (1, Meaning::Descriptor),
        (2, Meaning::Read),
        (3, Meaning::Write),
        (4, Meaning::Key),
        (5, Meaning::Length),
        (6, Meaning::Hardware),
        (0x99, Meaning::Undocumented),
    ];
    for dispatch in forms(3) {
        for (reason, meaning) in meanings {
            for order in 0..3 * JOBS as u32 {
                let code = 0x4000_0100 | reason;
                let (ran, ..) = drive(dispatch, None, Some((order, code)));
                assert_eq!(ran.outcome, Err(Error::Engine { code, meaning }), "{dispatch:?}");
            }
        }
        let (ran, ..) = drive(dispatch, None, Some((2, 0x4000_0107)));
        assert_eq!(ran.outcome, Err(Error::Refused), "{dispatch:?}");
    }
}

#[test]
fn an_error_of_the_device_is_shown_with_its_code_and_its_meaning() {
    let shown = error(0x4000_0101).to_string();
    assert_eq!(shown, "error 0x40000101 from the device: it does not accept the descriptor");
}
