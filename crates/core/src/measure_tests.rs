//! The queue of free jobs. How the loop uses it is tested in `tests/contract`.

extern crate std;
use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::vec;

#[test]
fn all_jobs_are_free_at_first_in_their_order() {
    let mut ring = [9; 4];
    let mut queue = Queue::new(&mut ring);
    assert_eq!((queue.jobs(), queue.free, queue.front()), (4, 4, 0));
    assert!(queue.intact());
}

#[test]
#[should_panic(expected = "1 to 65,536 jobs")]
fn a_session_without_jobs_has_no_queue() {
    Queue::new(&mut []);
}

#[test]
#[should_panic(expected = "1 to 65,536 jobs")]
fn a_session_has_no_more_jobs_than_their_numbers_can_name() {
    Queue::new(&mut vec![0; (1 << 16) + 1]);
}

#[test]
fn the_last_job_of_the_largest_session_is_reached() {
    let mut ring = vec![0; 1 << 16];
    let mut queue = Queue::new(&mut ring);
    (0..(1 << 16) - 1).for_each(|_| queue.rotate());
    assert_eq!(queue.front(), 65_535);
    assert!(queue.intact());
}

#[test]
fn a_job_that_is_not_there_or_that_nobody_took_is_not_put_back() {
    let mut ring = [0; 2];
    let mut queue = Queue::new(&mut ring);
    assert_eq!(queue.push(0), Err(Error::Contract));
    queue.pop();
    assert_eq!(queue.push(2), Err(Error::Contract));
    assert_eq!(queue.push(usize::MAX), Err(Error::Contract));
    assert_eq!(queue.push(0), Ok(()));
}

#[test]
fn a_job_put_back_twice_is_found_out() {
    let mut ring = [0; 3];
    let mut queue = Queue::new(&mut ring);
    (0..2).for_each(|_| queue.pop());
    assert_eq!(queue.push(0), Ok(()));
    assert_eq!(queue.push(0), Ok(()));
    assert!(!queue.intact());
}

proptest! {
    #[test]
    fn jobs_are_taken_in_the_order_in_which_they_came_back(
        jobs in 1usize..9, steps in proptest::collection::vec((any::<bool>(), 0usize..9), 0..100),
    ) {
        let mut ring = vec![0; jobs];
        let mut queue = Queue::new(&mut ring);
        let mut free: VecDeque<usize> = (0..jobs).collect();
        let mut out = vec![];
        for (take, which) in steps {
            if take && !free.is_empty() {
                prop_assert_eq!(Some(queue.front()), free.front().copied());
                queue.pop();
                out.extend(free.pop_front());
            } else if !out.is_empty() {
                let back = out.swap_remove(which % out.len());
                prop_assert_eq!(queue.push(back), Ok(()));
                free.push_back(back);
            } else if free.is_empty() {
                continue;
            } else {
                queue.skip();
                free.rotate_left(1);
            }
            prop_assert_eq!(queue.free, free.len());
        }
        for back in out {
            prop_assert_eq!(queue.push(back), Ok(()));
        }
        prop_assert!(queue.intact());
    }
}

proptest! {
    #[test]
    fn jobs_that_are_passed_over_leave_those_in_flight_known(
        jobs in 1usize..9, steps in proptest::collection::vec(any::<bool>(), 0..100),
    ) {
        let mut ring = vec![0; jobs];
        let mut queue = Queue::new(&mut ring);
        let mut in_flight = vec![];
        for skip in steps {
            if queue.free == 0 {
                queue.free_all();
                in_flight.clear();
            } else if skip {
                queue.skip();
            } else {
                in_flight.push(queue.front());
                queue.pop();
            }
            let mut known: vec::Vec<_> = queue.in_flight().collect();
            known.sort_unstable();
            in_flight.sort_unstable();
            prop_assert_eq!(&known, &in_flight);
        }
        queue.free_all();
        prop_assert!(queue.intact());
    }
}

/// A clock that only a session advances.
struct Time(core::cell::Cell<u64>);

impl Clock for &Time {
    fn now(&self) -> Ticks {
        Ticks(self.0.get())
    }
    fn frequency(&self) -> u64 {
        1_000_000_000
    }
    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}

/// An operation takes 40 ticks, or a millisecond more if it is interrupted.
struct Interrupted<'a> {
    time: &'a Time,
    count: u64,
    every: u64,
}

impl Session for Interrupted<'_> {
    fn submit(&mut self, _job: usize) -> Result<Progress, Error> {
        self.count += 1;
        let hit = self.count.is_multiple_of(self.every);
        self.time.0.set(self.time.0.get() + if hit { 1_000_040 } else { 40 });
        Ok(Progress::Done)
    }
}

#[test]
fn an_interrupted_warm_up_does_not_make_batches_small() {
    // Any batch may be hit, including the last one.
    for every in [1_000, 4_999, 5_000, 10_001, 19_000] {
        let time = Time(core::cell::Cell::new(0));
        let mut session = Interrupted { time: &time, count: 0, every };
        let mut ring = [0];
        let mut queue = Queue::new(&mut ring);
        let mut samples = [Sample::default(); 3];
        let mut store = Store {
            samples: &mut samples,
            latency: &mut Histogram::default(),
            latency_in_flight: None,
        };
        let budget = Budget {
            warmup: Ticks(800_000),
            batch: Ticks(200_000),
            limit: Ticks(u64::MAX),
            batches: 3,
            latencies: 0,
            iterations: 0,
            counted: Ticks(0),
        };
        let setting = Setting {
            clock: &&time,
            dispatch: Dispatch::SERIAL,
            expected: None,
            budget,
            counting: false,
            reached: &mut |_| (),
        };
        let taken = round(&mut session, setting, &mut queue, &mut store).unwrap();
        assert_eq!(taken.iterations, 5_000, "hit at every {every}th");
    }
}

#[test]
fn a_batch_is_run_for_the_count_after_one_without_operations() {
    // An operation takes 40 ticks: 16 of them are longer than a batch, and fit into a quarter of the limit.
    for (batch, limit, counted) in [(4_000, u64::MAX, 100), (40, 100_000, 16), (40, 400, 2)] {
        let time = Time(core::cell::Cell::new(0));
        let mut session = Interrupted { time: &time, count: 0, every: u64::MAX };
        let (mut ring, mut samples) = ([0], [Sample::default(); 3]);
        let mut queue = Queue::new(&mut ring);
        let latency = &mut Histogram::default();
        let mut store = Store { samples: &mut samples, latency, latency_in_flight: None };
        let (batch, limit, none) = (Ticks(batch), Ticks(limit), Ticks(0));
        let (batches, latencies, iterations) = (3, 0, 0);
        let budget =
            Budget { warmup: none, batch, limit, batches, latencies, iterations, counted: none };
        let mut steps = vec![];
        let setting = Setting {
            clock: &&time,
            dispatch: Dispatch::SERIAL,
            expected: None,
            budget,
            counting: true,
            reached: &mut |step| steps.push(step),
        };
        round(&mut session, setting, &mut queue, &mut store).unwrap();
        let empty = [Step::Counting, Step::Counted(0)];
        let last = [Step::Counting, Step::Counted(counted)];
        assert_eq!(steps, [&[Step::Ready][..], &empty, &empty, &last].concat());
        assert_eq!(queue.submitted(), session.count);
    }
}
