//! A provider with a queue, for these tests only, and a simulated clock.
//!
//! Every call advances the [`World`]'s time by a known cost and is logged, so a test knows exactly what a
//! sample must contain. The provider also checks the loop: it panics if the loop does something that the
//! contract forbids.

use cpb_core::{
    Clock, Completion, CryptoWorkload, Data, Error, Finished, Identity, Job, Meaning, Progress,
    Provider, Reference, Session, Ticks, Unsupported,
};
use std::cell::{Cell, RefCell};

/// The content of a job's output while the job is in flight.
const UNFINISHED: u8 = 0xee;
/// Ticks until all threads are ready.
pub(crate) const READY: u64 = 70_000;
/// More calls than any of these tests needs: the loop does not end.
const HANGS: usize = 400_000;

/// The cost of each call, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub(crate) reading: u64,
    /// The first reference chain. Each later one takes one tick more, so they can be told apart.
    pub(crate) reference: u64,
    pub(crate) build: u64,
    pub(crate) submit: u64,
    /// A submit that returns Full.
    pub(crate) full: u64,
    /// The doorbell, regardless of how many jobs it starts.
    pub(crate) start: u64,
    /// Handing over one completion or reporting all of them, without the wait.
    pub(crate) notice: u64,
    /// The engine's time for a job.
    pub(crate) service: u64,
}

pub(crate) const COSTS: Costs = Costs {
    reading: 1,
    reference: 1_000,
    build: 10,
    submit: 20,
    full: 3,
    start: 7,
    notice: 40,
    service: 300,
};

/// The work done once per period.
pub(crate) const RENEWAL: u64 = 5_000;

/// How the provider behaves.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) costs: Costs,
    /// Jobs that the engine holds.
    pub(crate) ring: usize,
    /// The engine works on all its jobs at once, and each takes up to this much longer than
    /// [`Costs::service`]. `None` if the engine runs them one after the other, all with the same duration.
    pub(crate) spread: Option<u64>,
    /// How often, in percent, it returns Full although there is room. Only with something in flight.
    pub(crate) early_full: u64,
    /// How often, in percent, it runs the job immediately.
    pub(crate) on_the_spot: u64,
    /// The number of immediate operations in a period. One of them also does the [`RENEWAL`].
    pub(crate) period: u32,
    /// The jobs that fail, by the order in which they were taken.
    pub(crate) fails: Vec<u64>,
    /// The jobs that get a wrong byte, by the same order.
    pub(crate) wrong: Vec<u64>,
    /// The job at which the engine stops for good, by the order in which it was taken.
    pub(crate) dies: Option<u64>,
    /// How it breaks the contract, and at which of the jobs taken.
    pub(crate) breach: Option<(Breach, u64)>,
    pub(crate) seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            costs: COSTS,
            ring: 1_000,
            spread: None,
            early_full: 0,
            on_the_spot: 0,
            period: 1,
            fails: Vec::new(),
            wrong: Vec::new(),
            dies: None,
            breach: None,
            seed: 1,
        }
    }
}

/// Something that no provider may do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Breach {
    /// Completes a job twice.
    Twice,
    /// Completes a job that the session does not have.
    NoSuchJob,
    /// Completes a job that was not submitted instead of the submitted one.
    NotInFlight,
    /// Returns Full with nothing in flight.
    FullWhenIdle,
    /// Returns no completion with jobs in flight, or does not wait for all of them.
    NothingWhenBusy,
    /// Omits a job when it starts those that were submitted.
    NotStarted,
}

/// A call and its result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Call {
    /// The clock was read: the time that it returned.
    Read(u64),
    Reference,
    /// The round reported that it is warmed up.
    Ready,
    Build(usize),
    Submit(usize, Result<Progress, Error>),
    /// The doorbell, and how many jobs it started.
    Start(usize),
    Complete(Option<Completion>),
    Finish(Finished),
}

/// The clock, and the log of all calls.
pub(crate) struct World {
    costs: Costs,
    time: Cell<u64>,
    references: Cell<u64>,
    diary: RefCell<Vec<Call>>,
}

impl World {
    pub(crate) fn new(costs: Costs) -> Self {
        World {
            costs,
            time: Cell::new(0),
            references: Cell::new(0),
            diary: RefCell::new(Vec::new()),
        }
    }

    /// All calls logged so far.
    pub(crate) fn diary(&self) -> Vec<Call> {
        self.diary.take()
    }

    pub(crate) fn spend(&self, ticks: u64) {
        self.time.set(self.time.get() + ticks);
    }

    pub(crate) fn time(&self) -> u64 {
        self.time.get()
    }

    pub(crate) fn wait_until(&self, time: u64) {
        self.time.set(self.time.get().max(time));
    }

    /// Waits for another thread.
    pub(crate) fn ready(&self) {
        self.spend(READY);
        self.note(Call::Ready);
    }

    fn note(&self, call: Call) {
        let mut diary = self.diary.borrow_mut();
        assert!(diary.len() < HANGS, "the loop goes on for ever");
        diary.push(call);
    }
}

impl Clock for World {
    fn now(&self) -> Ticks {
        self.spend(self.costs.reading);
        self.note(Call::Read(self.time.get()));
        Ticks(self.time.get())
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        Ticks(self.costs.reading)
    }

    fn reference(&self) -> Option<Reference> {
        let ticks = self.costs.reference + self.references.get();
        self.references.set(self.references.get() + 1);
        self.spend(ticks);
        self.note(Call::Reference);
        Some(Reference { chain: Ticks(ticks), burst: Ticks(ticks / 2) })
    }
}

/// Pseudo-random numbers, the same ones for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// The provider.
pub(crate) struct Fake<'w> {
    plan: &'w Plan,
    world: &'w World,
    /// Jobs in flight when the loop returned the session.
    left: Cell<usize>,
}

impl<'w> Fake<'w> {
    pub(crate) fn new(plan: &'w Plan, world: &'w World) -> Self {
        Fake { plan, world, left: Cell::new(0) }
    }

    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }
}

impl Provider for Fake<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "fake", version: "1", executor: "none", options: "" }
    }

    fn supports(&self, _workload: &CryptoWorkload) -> Result<(), Unsupported> {
        Ok(())
    }

    fn session(
        &self,
        _workload: &CryptoWorkload,
        _keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut session = Engine {
            plan: self.plan,
            world: self.world,
            built: vec![false; jobs.len()],
            jobs,
            queued: Vec::new(),
            flying: Vec::new(),
            spare: None,
            taken: 0,
            idle_from: 0,
            random: Random(self.plan.seed),
        };
        let outcome = body(&mut session);
        self.left.set(session.queued.len() + session.flying.len());
        session.quiesce();
        outcome
    }
}

/// A job taken by the engine.
#[derive(Clone, Copy)]
struct Flight {
    job: usize,
    /// The number of jobs taken before it.
    order: u64,
    /// The time at which it finishes, once it has been started.
    finished: u64,
}

struct Engine<'s, 'b> {
    plan: &'s Plan,
    world: &'s World,
    jobs: &'s mut [Job<'b>],
    built: Vec<bool>,
    /// Taken but not started.
    queued: Vec<Flight>,
    flying: Vec<Flight>,
    /// An extra completion, to be returned at the next opportunity.
    spare: Option<Completion>,
    taken: u64,
    idle_from: u64,
    random: Random,
}

impl Engine<'_, '_> {
    fn flies(&self, job: usize) -> bool {
        self.queued.iter().chain(&self.flying).any(|flight| flight.job == job)
    }

    /// After a breach the loop cannot know better, so its calls are not judged.
    fn judge(&self, right: bool, obligation: &str) {
        assert!(right || self.plan.breach.is_some(), "{obligation}");
    }

    fn breaks(&self, breach: Breach, order: u64) -> bool {
        self.plan.breach == Some((breach, order))
    }

    /// Writes the output, which must not appear before the job is completed.
    fn write(&mut self, job: usize, order: u64) -> Result<(), Error> {
        if self.plan.fails.contains(&order) {
            return Err(failure(order));
        }
        let wrong = self.plan.wrong.contains(&order);
        let Data::Apart { input, output } = &mut self.jobs[job].data else {
            return Err(Unsupported::Mode.into());
        };
        for (to, from) in output.iter_mut().zip(*input) {
            *to = !from;
        }
        output[0] ^= u8::from(wrong);
        Ok(())
    }

    /// Stops the engine: jobs in flight are never written.
    fn quiesce(&mut self) {
        self.world.wait_until(u64::MAX / 2);
        for flight in self.queued.iter().chain(&self.flying) {
            let output = self.jobs[flight.job].data.output();
            let untouched = output.iter().all(|&byte| byte == UNFINISHED);
            self.judge(untouched, "the output of a job in flight is not touched");
        }
    }
}

impl Session for Engine<'_, '_> {
    fn build(&mut self, job: usize) -> Result<(), Error> {
        self.judge(!self.flies(job), "a job in flight is not built");
        self.judge(!self.built[job], "a job is built once for each submit");
        self.world.spend(self.plan.costs.build);
        self.world.note(Call::Build(job));
        self.built[job] = true;
        Ok(())
    }

    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        self.judge(self.built[job], "a job is built before it is submitted");
        self.judge(!self.flies(job), "a job in flight is not submitted");
        let progress = self.try_submit(job);
        self.world.note(Call::Submit(job, progress));
        progress
    }

    fn start_all(&mut self) -> Result<(), Error> {
        self.judge(!self.queued.is_empty(), "the doorbell is rung for something");
        self.world.spend(self.plan.costs.start);
        self.world.note(Call::Start(self.queued.len()));
        let now = self.world.time.get();
        for mut flight in core::mem::take(&mut self.queued) {
            if self.breaks(Breach::NotStarted, flight.order) {
                continue;
            }
            let service = self.plan.costs.service;
            flight.finished = match self.plan.spread {
                Some(spread) => now + service + self.random.below(spread + 1),
                None => now.max(self.idle_from) + service,
            };
            self.idle_from = flight.finished;
            self.flying.push(flight);
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        self.waits()?;
        let completion = self.find();
        self.world.spend(self.plan.costs.notice);
        self.world.note(Call::Complete(completion));
        Ok(completion)
    }

    fn complete_all(&mut self) -> Result<Finished, Error> {
        self.waits()?;
        let finished = self.find_all();
        self.world.spend(self.plan.costs.notice);
        self.world.note(Call::Finish(finished));
        Ok(finished)
    }

    fn period(&self) -> u32 {
        self.plan.period
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.judge(!self.flies(job), "the output of a job in flight is not read");
        Some(self.jobs[job].data.output())
    }
}

impl Engine<'_, '_> {
    fn try_submit(&mut self, job: usize) -> Result<Progress, Error> {
        let held = self.queued.len() + self.flying.len();
        let early = self.random.percent(self.plan.early_full) && held > 0;
        let idle = held == 0 && self.breaks(Breach::FullWhenIdle, self.taken);
        if early || idle || held == self.plan.ring {
            self.world.spend(self.plan.costs.full);
            return Ok(Progress::Full);
        }
        self.world.spend(self.plan.costs.submit);
        self.built[job] = false;
        let order = self.taken;
        self.taken += 1;
        if let Data::Apart { output, .. } = &mut self.jobs[job].data {
            output.fill(UNFINISHED);
        }
        if self.random.percent(self.plan.on_the_spot) {
            self.world.spend(self.plan.costs.service);
            if (order + 1).is_multiple_of(self.plan.period.into()) && self.plan.period > 1 {
                self.world.spend(RENEWAL);
            }
            return self.write(job, order).map(|()| Progress::Done);
        }
        self.queued.push(Flight { job, order, finished: u64::MAX });
        Ok(Progress::Queued)
    }

    /// Checks the loop's obligation before it waits. Returns an error if the engine has died.
    fn waits(&self) -> Result<(), Error> {
        self.judge(self.queued.is_empty(), "what was submitted is started before it is waited for");
        let dead = self.plan.dies.is_some_and(|order| order < self.taken);
        if dead { Err(Error::Timeout) } else { Ok(()) }
    }

    fn find(&mut self) -> Option<Completion> {
        if let Some(completion) = self.spare.take() {
            return Some(completion);
        }
        self.world.wait_until(self.flying.iter().map(|flight| flight.finished).min()?);
        let now = self.world.time.get();
        let finished: Vec<usize> =
            (0..self.flying.len()).filter(|&index| self.flying[index].finished <= now).collect();
        if finished.is_empty() {
            return None;
        }
        let index = finished[self.random.below(finished.len() as u64) as usize];
        let Flight { job, order, .. } = self.flying[index];
        if self.breaks(Breach::NothingWhenBusy, order) {
            return None;
        }
        self.flying.swap_remove(index);
        let result = self.write(job, order);
        let mut completion = Completion { job, result };
        if self.breaks(Breach::Twice, order) {
            self.spare = Some(completion);
        } else if self.breaks(Breach::NoSuchJob, order) {
            completion.job = self.jobs.len();
        } else if self.breaks(Breach::NotInFlight, order) {
            let free = (0..self.jobs.len()).find(|&other| other != job && !self.flies(other));
            completion.job = free.unwrap_or(usize::MAX);
        }
        Some(completion)
    }

    fn find_all(&mut self) -> Finished {
        let mut flights = core::mem::take(&mut self.flying);
        flights.sort_by_key(|flight| flight.finished);
        let early = |flight: &Flight| self.breaks(Breach::NothingWhenBusy, flight.order);
        let early = flights.iter().position(early).map(|index| flights.remove(index));
        let mut finished = Finished { jobs: flights.len(), result: Ok(()) };
        for Flight { job, order, finished: when } in flights {
            self.world.wait_until(when);
            finished.result = finished.result.and(self.write(job, order));
            finished.jobs += usize::from(self.breaks(Breach::Twice, order));
        }
        self.flying.extend(early);
        finished
    }
}

/// The failure of the job that was taken after `order` others, as the engine reports it.
pub(crate) fn failure(order: u64) -> Error {
    const MEANINGS: [Meaning; 3] = [Meaning::Descriptor, Meaning::Read, Meaning::Key];
    let code = 0x4000_0000 | order as u32;
    Error::Engine { code, meaning: MEANINGS[order as usize % MEANINGS.len()] }
}
