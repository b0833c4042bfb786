//! The only timed loop.
//!
//! [`round`] warms a session up, determines how many operations make a batch, then takes batches, each
//! between two readings of the reference chain. [`timed`] holds the only region between two clock readings.
//! Inside it runs [`serial`] or [`queued`], depending on the workload's dispatch. With more than one job in
//! flight, [`InFlight`] then times single operations in the same loop, [`observed`]. Nothing here allocates,
//! prints or locks.

use crate::clock::{Clock, Ticks};
use crate::error::Error;
use crate::provider::{Finished, Progress, Session};
pub use crate::round::{Budget, Store, Taken};
use crate::sample::{Histogram, Sample};
use crate::workload::{Build, Depth, Dispatch, Notice};
use core::sync::atomic::{Ordering, compiler_fence};

/// The largest number of operations in a batch: what a 32-bit count and a clock of any speed can hold.
const MAX_ITERATIONS: u32 = 1 << 24;

/// The right answers, for workloads that check each answer while the clock runs.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    /// The concatenated outputs of all jobs.
    pub outputs: &'a [u8],
    /// Bytes of one output.
    pub length: usize,
}

impl Expected<'_> {
    fn check(&self, session: &dyn Session, job: usize) -> Result<(), Error> {
        let right = self.outputs.get(job * self.length..(job + 1) * self.length);
        if right.is_some() && session.output(job) == right {
            Ok(())
        } else {
            Err(Error::WrongAnswer)
        }
    }
}

/// The jobs of a session that are free, in the order in which they will be submitted.
pub struct Queue<'a> {
    /// A ring of job numbers. Starting at `first`, `free` of them are valid.
    ring: &'a mut [u16],
    first: usize,
    free: usize,
    submitted: u64,
}

impl<'a> Queue<'a> {
    /// A queue with all jobs free. `ring` has one place for each job of the session; its content does not
    /// matter.
    ///
    /// # Panics
    /// Panics if there are no jobs, or more than 65,536.
    pub fn new(ring: &'a mut [u16]) -> Self {
        assert!((1..=1 << 16).contains(&ring.len()), "a session has 1 to 65,536 jobs");
        for (job, place) in ring.iter_mut().enumerate() {
            *place = job as u16;
        }
        let free = ring.len();
        Queue { ring, first: 0, free, submitted: 0 }
    }

    /// How many jobs were submitted so far. Jobs take turns, so all of them have run if this is at least the
    /// number of jobs.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    fn jobs(&self) -> usize {
        self.ring.len()
    }

    fn front(&self) -> usize {
        usize::from(self.ring[self.first])
    }

    fn pop(&mut self) {
        self.rotate();
        self.free -= 1;
    }

    /// Advances past a job that is free again at once. With no job in flight its place in the ring is also
    /// the ring's end, so nothing has to be moved.
    fn rotate(&mut self) {
        self.first = if self.first + 1 == self.ring.len() { 0 } else { self.first + 1 };
    }

    /// Advances past a job that is free again at once while others are in flight. Their numbers are behind
    /// the free ones; the oldest of them gives up its place at the end of the free ones.
    fn skip(&mut self) {
        let end = (self.first + self.free) % self.ring.len();
        self.ring.swap(self.first, end);
        self.rotate();
    }

    /// The jobs in flight. Valid only as long as no job is pushed back individually.
    fn in_flight(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.first + self.free..self.first + self.ring.len();
        places.map(|place| self.ring[place % self.ring.len()].into())
    }

    /// Makes all jobs free.
    fn free_all(&mut self) {
        self.free = self.ring.len();
    }

    fn push(&mut self, job: usize) -> Result<(), Error> {
        if job >= self.ring.len() || self.free == self.ring.len() {
            return Err(Error::Contract);
        }
        let end = (self.first + self.free) % self.ring.len();
        self.ring[end] = job as u16;
        self.free += 1;
        Ok(())
    }

    /// Whether every job is free exactly once. False if a provider completed a job twice.
    fn intact(&mut self) -> bool {
        self.ring.sort_unstable();
        self.first = 0;
        self.free == self.ring.len()
            && self.ring.iter().enumerate().all(|(place, &job)| place == usize::from(job))
    }
}

/// Everything a round needs besides the session.
pub struct Setting<'a, C: Clock + ?Sized> {
    /// The clock that times it.
    pub clock: &'a C,
    /// How jobs reach the engine.
    pub dispatch: Dispatch,
    /// The right answers, if each answer is checked while the clock runs.
    pub expected: Option<Expected<'a>>,
    /// How much to measure.
    pub budget: Budget,
    /// Whether something counts what batches retire: then some are run for it.
    pub counting: bool,
    /// Called at each step.
    pub reached: &'a mut dyn FnMut(Step),
}

/// The steps of a round at which its caller acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Between the warm-up and the first batch. Threads that measure together wait for each other here.
    Ready,
    /// A batch begins that is run to count what it retires.
    Counting,
    /// That batch is over; it had so many operations. With 0, what it retired is what the harness itself adds to
    /// each such batch.
    Counted(u32),
}

/// Measures one round in an open session whose jobs are in `queue`.
///
/// # Errors
/// Returns the provider's error, or [`Error::WrongAnswer`] if an answer that is checked while the clock runs
/// is wrong. Samples taken before the error stay in the store, but are not valid figures.
pub fn round<C: Clock + ?Sized>(
    session: &mut dyn Session,
    setting: Setting<'_, C>,
    queue: &mut Queue<'_>,
    store: &mut Store<'_>,
) -> Result<Taken, Error> {
    let Setting { clock, dispatch, expected, budget, counting, reached } = setting;
    let mut work = Work { dispatch, expected, iterations: 1 };
    work.iterations = warm_up(session, clock, queue, &work, &budget)?;
    let reading = || clock.reference().unwrap_or_default();
    reached(Step::Ready);

    let mut taken = Taken { samples: 0, iterations: work.iterations };
    let first = clock.now();
    let mut before = reading();
    for place in store.samples.iter_mut().take(budget.batches.into()) {
        let ticks = timed(session, clock, queue, &work)?;
        let after = reading();
        *place = Sample { iterations: work.iterations, ticks, before, after };
        before = after;
        taken.samples += 1;
        if clock.now() - first >= budget.limit {
            break;
        }
    }

    work.iterations = 1;
    for single in 1..=u32::from(budget.latencies) {
        store.latency.add(timed(session, clock, queue, &work)?);
        if single >= session.period() && clock.now() - first >= budget.limit {
            break;
        }
    }

    let in_flight = store.latency_in_flight.as_deref_mut();
    if let Some(times) = in_flight.filter(|_| !work.one_by_one() && budget.latencies > 0) {
        work.iterations = match dispatch.build {
            Build::Before => queue.jobs() as u32,
            Build::InLoop => taken.iterations.max(2 * work.depth(queue) as u32),
        };
        let mut timing = InFlight::new(clock, budget.latencies, times);
        // A provider that completes its jobs in `submit` never has a full queue.
        while timing.run(session, queue, &work)? && clock.now() - first < budget.limit {}
    }

    work.iterations = taken.iterations;
    while clock.now() - first < budget.counted {
        timed(session, clock, queue, &work)?;
    }
    if counting {
        let longest = store.samples[..taken.samples].iter().map(|sample| sample.ticks).max();
        let operations = counted(session, longest.unwrap_or_default(), &taken, &budget);
        let operations = operations.min(most(queue, dispatch));
        // The first is cold.
        for iterations in [0, 0, operations] {
            work.iterations = iterations;
            reached(Step::Counting);
            timed(session, clock, queue, &work)?;
            reached(Step::Counted(iterations));
        }
    }
    // Nothing is in flight, so a further completion is an error.
    if queue.intact() && session.complete()?.is_none() { Ok(taken) } else { Err(Error::Contract) }
}

/// With fewer operations, one interrupt of the clock would be a large share of what they retire.
const LEAST_COUNTED: u32 = 16;

/// How many operations are run to count what they retire: a batch, or more if an operation is long, as far as the
/// round's limit allows. A batch of `taken` took no longer than `longest`.
fn counted(session: &dyn Session, longest: Ticks, taken: &Taken, budget: &Budget) -> u32 {
    let each = (longest.0 / u64::from(taken.iterations.max(1))).max(1);
    let affordable = budget.limit.0 / 4 / each;
    let wanted = u64::from(LEAST_COUNTED).min(affordable) as u32;
    taken.iterations.max(wanted).max(1).next_multiple_of(session.period().max(1))
}

/// The most operations of a batch. If jobs are built before the clock starts, each can be dispatched only once per
/// batch.
fn most(queue: &Queue<'_>, dispatch: Dispatch) -> u32 {
    match dispatch.build {
        Build::Before => queue.jobs() as u32,
        Build::InLoop => MAX_ITERATIONS,
    }
}

/// How a batch is run.
struct Work<'a> {
    dispatch: Dispatch,
    expected: Option<Expected<'a>>,
    iterations: u32,
}

impl Work<'_> {
    /// Whether there is never more than one job in flight.
    fn one_by_one(&self) -> bool {
        self.dispatch.depth == Depth::Jobs(1)
    }

    /// How many jobs of `queue` may be in flight.
    fn depth(&self, queue: &Queue<'_>) -> usize {
        match self.dispatch.depth {
            Depth::Jobs(depth) => usize::from(depth).clamp(1, queue.jobs()),
            Depth::Ring => queue.jobs(),
        }
    }

    /// Builds the jobs that are dispatched next, untimed, if the workload builds them before the clock
    /// starts.
    fn build(&self, session: &mut dyn Session, queue: &Queue<'_>) -> Result<(), Error> {
        if self.dispatch.build == Build::Before {
            for ahead in 0..self.iterations as usize {
                session.build(usize::from(queue.ring[(queue.first + ahead) % queue.jobs()]))?;
            }
        }
        Ok(())
    }
}

/// Runs untimed batches for the warm-up time and returns how many operations fill a batch.
fn warm_up<C: Clock + ?Sized>(
    session: &mut dyn Session,
    clock: &C,
    queue: &mut Queue<'_>,
    work: &Work<'_>,
    budget: &Budget,
) -> Result<u32, Error> {
    let most = most(queue, work.dispatch);
    let find = budget.iterations == 0;
    let mut iterations = budget.iterations.clamp(1, most);
    // The cost of an operation, in ticks with a binary fraction. It is the minimum of all batches, because
    // one that was interrupted is not representative. With a queue, a batch counts only if it is many times
    // as long as the ring: in a shorter one the ring may never have been full, which costs less.
    const FRACTION: u64 = 1 << 16;
    const RINGS: u32 = 16;
    let fraction = |ticks: Ticks| ticks.0.saturating_mul(FRACTION).max(1);
    let counts = match work.one_by_one() {
        true => 1,
        false => RINGS.saturating_mul(queue.jobs() as u32),
    };
    let mut least = u64::MAX;
    let begin = clock.now();
    loop {
        let ticks = timed(session, clock, queue, &Work { iterations, ..*work })?;
        let cost = (fraction(ticks) / u64::from(iterations)).max(1);
        let last = iterations;
        if last >= counts {
            least = least.min(cost);
        }
        if find {
            // Grow at most tenfold per step, because the first, cold operations are not representative.
            let cost = if last >= counts { least } else { cost };
            let fitting = fraction(budget.batch) / cost;
            iterations = fitting.min(u64::from(last) * 10).clamp(1, most.into()) as u32;
        }
        let found = iterations < last.saturating_mul(2);
        if found && clock.now() - begin >= budget.warmup {
            let periods = if find { session.period().max(1) } else { 1 };
            return Ok(iterations.next_multiple_of(periods).min(most));
        }
    }
}

/// The timed region: everything between `start` and `stop`, and nothing else, is in a sample.
#[inline(never)]
fn timed<C: Clock + ?Sized>(
    session: &mut dyn Session,
    clock: &C,
    queue: &mut Queue<'_>,
    work: &Work<'_>,
) -> Result<Ticks, Error> {
    work.build(session, queue)?;
    compiler_fence(Ordering::SeqCst);
    let start = clock.now();
    let outcome =
        if work.one_by_one() { serial(session, queue, work) } else { queued(session, queue, work) };
    let stop = clock.now();
    compiler_fence(Ordering::SeqCst);

    outcome?;
    queue.submitted += u64::from(work.iterations);
    Ok(stop - start)
}

/// Runs one job at a time: submit, wait, next.
fn serial(session: &mut dyn Session, queue: &mut Queue<'_>, work: &Work<'_>) -> Result<(), Error> {
    for _ in 0..work.iterations {
        let job = queue.front();
        if work.dispatch.build == Build::InLoop {
            session.build(job)?;
        }
        match session.submit(job)? {
            Progress::Done => {}
            Progress::Queued => {
                session.start_all()?;
                let completion = session.complete()?.ok_or(Error::Contract)?;
                completion.result?;
                if completion.job != job {
                    return Err(Error::Contract);
                }
            }
            Progress::Full => return Err(Error::Contract),
        }
        if let Some(expected) = &work.expected {
            expected.check(session, job)?;
        }
        queue.rotate();
    }
    Ok(())
}

/// Runs with many jobs in flight, which complete in any order.
fn queued(session: &mut dyn Session, queue: &mut Queue<'_>, work: &Work<'_>) -> Result<(), Error> {
    observed(session, queue, work, &mut |_| ())
}

/// The events in [`observed`].
#[derive(Clone, Copy)]
enum Moment {
    /// A job is about to be submitted.
    Submit,
    /// The job was queued.
    Queued,
    /// The maximum number of jobs is in flight, and all are started. This one was queued last.
    Full(usize),
    /// This job has completed.
    Complete(usize),
    /// All jobs in flight have completed.
    Finished,
}

/// Fills and starts the queue, then waits for one job or for all, depending on the dispatch's notice.
/// `reached` is called at each step. A failed job does not stop the others: the first failure is returned
/// when all submitted jobs have completed.
fn observed(
    session: &mut dyn Session,
    queue: &mut Queue<'_>,
    work: &Work<'_>,
    reached: &mut impl FnMut(Moment),
) -> Result<(), Error> {
    let depth = work.depth(queue);
    let (mut unsent, mut in_flight, mut built) = (work.iterations, 0, false);
    let mut failure = Ok(());
    while unsent > 0 || in_flight > 0 {
        let (mut last, mut full) = (None, false);
        while unsent > 0 && in_flight < depth && !full {
            let job = queue.front();
            if work.dispatch.build == Build::InLoop && !built {
                session.build(job)?;
            }
            reached(Moment::Submit);
            match session.submit(job)? {
                Progress::Done => {
                    check_each(work, session, job, &mut failure);
                    queue.skip();
                }
                Progress::Queued => {
                    reached(Moment::Queued);
                    queue.pop();
                    last = Some(job);
                    in_flight += 1;
                }
                Progress::Full if in_flight == 0 => return Err(Error::Contract),
                Progress::Full => full = true,
            }
            built = full;
            unsent -= u32::from(!full);
        }
        if let Some(last) = last {
            session.start_all()?;
            if full || in_flight == depth {
                reached(Moment::Full(last));
            }
        }
        if in_flight == 0 {
            continue;
        }
        match work.dispatch.notice {
            Notice::Each => {
                let completion = session.complete()?.ok_or(Error::Contract)?;
                reached(Moment::Complete(completion.job));
                queue.push(completion.job)?;
                match completion.result {
                    Ok(()) => check_each(work, session, completion.job, &mut failure),
                    Err(error) => failure = failure.and(Err(error)),
                }
                in_flight -= 1;
            }
            Notice::Last => {
                let Finished { jobs, result } = session.complete_all()?;
                reached(Moment::Finished);
                if jobs != in_flight {
                    return Err(Error::Contract);
                }
                match result {
                    Ok(()) => {
                        queue
                            .in_flight()
                            .for_each(|job| check_each(work, session, job, &mut failure));
                    }
                    Err(error) => failure = failure.and(Err(error)),
                }
                queue.free_all();
                in_flight = 0;
            }
        }
    }
    failure
}

fn check_each(work: &Work<'_>, session: &dyn Session, job: usize, failure: &mut Result<(), Error>) {
    if let Some(expected) = &work.expected {
        *failure = failure.and(expected.check(session, job));
    }
}

/// Times operations while others are in flight, one at a time: always the operation whose submission fills
/// the queue. The next one is chosen when that operation has completed.
struct InFlight<'a, C: ?Sized> {
    clock: &'a C,
    wanted: u16,
    times: &'a mut Histogram,
    /// The time before the latest submission, and before the submission of the latest job that was queued.
    submission: Ticks,
    queued: Ticks,
    /// The job that is being timed, and the time of its submission.
    timed: Option<(usize, Ticks)>,
}

impl<'a, C: Clock + ?Sized> InFlight<'a, C> {
    fn new(clock: &'a C, wanted: u16, times: &'a mut Histogram) -> Self {
        let none = Ticks(0);
        InFlight { clock, wanted, times, submission: none, queued: none, timed: None }
    }

    /// Runs one batch. Returns whether another one is to follow.
    fn run(
        &mut self,
        session: &mut dyn Session,
        queue: &mut Queue<'_>,
        work: &Work<'_>,
    ) -> Result<bool, Error> {
        let before = self.wanted;
        work.build(session, queue)?;
        observed(session, queue, work, &mut |moment| self.reached(moment))?;
        queue.submitted += u64::from(work.iterations);
        Ok(self.wanted > 0 && self.wanted < before)
    }

    fn reached(&mut self, moment: Moment) {
        match (moment, self.timed) {
            (Moment::Submit, None) if self.wanted > 0 => self.submission = self.clock.now(),
            (Moment::Queued, None) => self.queued = self.submission,
            (Moment::Full(job), None) if self.wanted > 0 => self.timed = Some((job, self.queued)),
            (Moment::Complete(job), Some((timed, _))) if job != timed => {}
            (Moment::Complete(_) | Moment::Finished, Some((_, submitted))) => {
                self.times.add(self.clock.now() - submitted);
                self.wanted -= 1;
                self.timed = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
