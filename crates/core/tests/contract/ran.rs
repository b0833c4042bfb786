//! One round with the fake provider, and queries on its log.

use crate::fake::{Call, Fake, Plan, World};
use cpb_core::measure::{Budget, Expected, Queue, Setting, Step, Store, Taken, round};
use cpb_core::{
    Algorithm, CryptoWorkload, Data, Dispatch, Error, Histogram, Job, Operation, Progress,
    Provider, Sample, Ticks,
};

/// Bytes of a job.
const LENGTH: usize = 8;

/// The results of a round.
pub(crate) struct Ran {
    pub(crate) outcome: Result<Taken, Error>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) latency: Histogram,
    pub(crate) latency_in_flight: Histogram,
    pub(crate) diary: Vec<Call>,
    /// Jobs in flight when the loop returned the session.
    pub(crate) left: usize,
    /// The number of jobs submitted, according to the queue.
    pub(crate) submitted: u64,
    outputs: Vec<[u8; LENGTH]>,
}

/// Runs one round. With `checked`, every answer is checked while the clock runs.
pub(crate) fn run(
    plan: &Plan,
    jobs: usize,
    dispatch: Dispatch,
    checked: bool,
    budget: &Budget,
) -> Ran {
    let world = World::new(plan.costs);
    let fake = Fake::new(plan, &world);
    let ran = run_with(&fake, &world, jobs, dispatch, checked, budget);
    Ran { left: fake.left(), ..ran }
}

/// Runs one round with any provider in `world`.
pub(crate) fn run_with(
    provider: &dyn Provider,
    world: &World,
    jobs: usize,
    dispatch: Dispatch,
    checked: bool,
    budget: &Budget,
) -> Ran {
    let inputs: Vec<_> = (0..jobs).map(input).collect();
    let answers: Vec<u8> = (0..jobs).flat_map(answer).collect();
    let mut outputs = vec![[0; LENGTH]; jobs];
    let mut tags = vec![[0; 0]; jobs];
    let buffers = inputs.iter().zip(&mut outputs).zip(&mut tags);
    let mut borrowed: Vec<Job<'_>> = buffers
        .map(|((input, output), tag)| Job {
            key: 0,
            iv: &[],
            associated: &[],
            data: Data::Apart { input, output },
            tag,
        })
        .collect();
    let plain = CryptoWorkload::new(Algorithm::Aes128Ctr, Operation::Encrypt, LENGTH as u32);
    let workload = CryptoWorkload { dispatch, ..plain };

    let mut samples = vec![Sample::default(); usize::from(budget.batches)];
    let (mut latency, mut latency_in_flight) = (Histogram::default(), Histogram::default());
    let mut ring = vec![0; jobs];
    let mut queue = Queue::new(&mut ring);
    let mut taken = Taken::default();
    let ended = provider.session(&workload, &[], &mut borrowed, &mut |session| {
        let setting = Setting {
            clock: world,
            dispatch,
            expected: checked.then_some(Expected { outputs: &answers, length: LENGTH }),
            budget: *budget,
            counting: false,
            reached: &mut |step| {
                if step == Step::Ready {
                    world.ready();
                }
            },
        };
        let mut store = Store {
            samples: &mut samples,
            latency: &mut latency,
            latency_in_flight: Some(&mut latency_in_flight),
        };
        taken = round(session, setting, &mut queue, &mut store)?;
        Ok(())
    });
    samples.truncate(taken.samples);
    Ran {
        outcome: ended.map(|()| taken),
        samples,
        latency,
        latency_in_flight,
        left: 0,
        submitted: queue.submitted(),
        diary: world.diary(),
        outputs,
    }
}

fn input(job: usize) -> [u8; LENGTH] {
    core::array::from_fn(|place| (job * 31 + place) as u8)
}

fn answer(job: usize) -> [u8; LENGTH] {
    input(job).map(|byte| !byte)
}

/// A timed region: the calls between two clock readings that enclose only submits and the calls that belong
/// to them.
pub(crate) struct Region<'r> {
    pub(crate) calls: &'r [Call],
    pub(crate) ticks: Ticks,
}

impl Region<'_> {
    pub(crate) fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().filter(|call| wanted(call)).count()
    }

    /// Jobs that the provider took.
    pub(crate) fn taken(&self) -> usize {
        self.count(|call| taken(call).is_some())
    }
}

/// The job that the provider took, if `call` is a submit that took one.
pub(crate) fn taken(call: &Call) -> Option<usize> {
    match *call {
        Call::Submit(job, Ok(Progress::Done | Progress::Queued) | Err(_)) => Some(job),
        _ => None,
    }
}

impl Ran {
    /// All timed regions: those of the warm-up, then batches, then single operations. The operations timed in
    /// flight after that are not included.
    pub(crate) fn regions(&self) -> Vec<Region<'_>> {
        let ready = self.diary.iter().position(|call| *call == Call::Ready).unwrap_or_default();
        let (warm_up, rest) = self.diary.split_at(ready);
        let mut regions = regions_of(warm_up);
        regions.extend(regions_of(rest).into_iter().take(self.samples.len() + self.singles()));
        regions
    }

    /// The regions that samples were taken from.
    pub(crate) fn batches(&self) -> Vec<Region<'_>> {
        let mut regions = self.regions();
        let singles = self.singles();
        regions.truncate(regions.len() - singles);
        regions.split_off(regions.len() - self.samples.len())
    }

    /// How many single operations were timed.
    pub(crate) fn singles(&self) -> usize {
        let counts = self.latency.filled().map(|(_, count)| count as usize);
        counts.sum()
    }

    /// Jobs in the order in which the provider took them.
    pub(crate) fn order(&self) -> Vec<usize> {
        self.diary.iter().filter_map(taken).collect()
    }

    /// Whether every submitted job has the right answer in its output.
    pub(crate) fn answers_right(&self) -> bool {
        let order = self.order();
        let submitted = (0..self.outputs.len()).filter(|job| order.contains(job));
        submitted.map(|job| (self.outputs[job], answer(job))).all(|(output, right)| output == right)
    }
}

/// The timed regions of `diary`.
fn regions_of(diary: &[Call]) -> Vec<Region<'_>> {
    let readings: Vec<(usize, u64)> = diary
        .iter()
        .enumerate()
        .filter_map(|(place, call)| match call {
            Call::Read(time) => Some((place, *time)),
            _ => None,
        })
        .collect();
    let between = readings.windows(2).map(|pair| Region {
        calls: &diary[pair[0].0 + 1..pair[1].0],
        ticks: Ticks(pair[1].1 - pair[0].1),
    });
    let submits = |call: &Call| matches!(call, Call::Submit(..));
    between.filter(|region| region.calls.iter().any(submits)).collect()
}
