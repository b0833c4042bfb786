//! Sessions: how a workload becomes runs of the module.
//!
//! The module's loop times a workload, and each round is one call of it. Known answers and the answers before a round
//! come from runs that are not timed: the first `submit` computes all jobs in one of them, because each opens the driver
//! anew.

use super::abi::{self, Run, Timed};
use super::device::{Refused, Request, RunnerDevice};
use crate::kernel_crypto::material;
use cpb_core::round::{Budget, OwnLoop, OwnRound, Store, Taken};
use cpb_core::sample::Steps;
use cpb_core::{
    Build, CryptoWorkload, Data, Depth, Error, Histogram, Job, Kind, Notice, Operation, Phase,
    Placement, Progress, Sample, Session, Ticks, Unsupported,
};
use std::borrow::Cow;
use std::ops::Range;

/// An open session.
pub(super) struct InKernelSession<'s, 'j> {
    device: RunnerDevice,
    workload: &'s CryptoWorkload,
    /// What all runs of this session have in common.
    run: Run,
    /// In the kernel's format.
    keys: Vec<Cow<'s, [u8]>>,
    jobs: &'s mut [Job<'j>],
    /// Outputs that were computed and not yet asked for, and whose they are; `None` before the first is asked for.
    ahead: Option<(Vec<u8>, Vec<bool>)>,
}

impl<'s, 'j> InKernelSession<'s, 'j> {
    /// A session on the driver called `driver`, which is of `kind` and takes no key or IV if it `ignores_keys`.
    pub(super) fn new(
        device: RunnerDevice,
        driver: &str,
        kind: u32,
        ignores_keys: bool,
        workload: &'s CryptoWorkload,
        keys: &'s [&'s [u8]],
        jobs: &'s mut [Job<'j>],
    ) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        let lengths = workload.lengths();
        let has_keys = shape.key > 0 && !ignores_keys;
        let keys: Vec<_> = match has_keys {
            true => keys.iter().map(|key| material::key(workload.algorithm, key)).collect(),
            false => Vec::new(),
        };
        let ciphers = matches!(kind, abi::SKCIPHER | abi::AEAD);
        let iv = jobs.first().map_or(0, |job| material::iv(workload.algorithm, job.iv).len());
        let tag = if kind == abi::AEAD { shape.tag } else { 0 };
        let authenticated_iv = material::authenticated_iv(workload.algorithm);
        let number = |length: usize| u32::try_from(length).map_err(|_| Unsupported::Length);
        let mut run = Run {
            kind,
            operation: match workload.operation {
                Operation::Encrypt => abi::ENCRYPT,
                Operation::Decrypt => abi::DECRYPT,
                _ => abi::DIGEST,
            },
            key_len: number(keys.first().map_or(0, |key| key.len()))?,
            iv_len: if ciphers && !ignores_keys { number(iv)? } else { 0 },
            associated_len: match kind {
                abi::AEAD => number(lengths.associated + authenticated_iv)?,
                _ => 0,
            },
            message_len: workload.message,
            tag_len: number(tag)?,
            output_len: match workload.operation {
                Operation::Encrypt => number(lengths.output + tag)?,
                _ => number(lengths.output)?,
            },
            ..Run::EMPTY
        };
        if workload.phase == Phase::MessageWithKey {
            run.flags |= abi::KEY_EACH;
        }
        if workload.placement == Placement::InPlace {
            run.flags |= abi::IN_PLACE;
        }
        let place = run.driver.get_mut(..driver.len()).filter(|_| driver.len() < abi::NAME);
        place.ok_or(Unsupported::Device)?.copy_from_slice(driver.as_bytes());
        Ok(InKernelSession { device, workload, run, keys, jobs, ahead: None })
    }

    /// A request for these jobs.
    fn request(&self, jobs: &Range<usize>, run: Run) -> Request {
        let own_keys = jobs.len() > 1 && self.keys.len() > 1;
        let mut request = Request::new(Run {
            jobs: jobs.len() as u32,
            keys: match (self.keys.is_empty(), own_keys) {
                (true, _) => 0,
                (false, true) => jobs.len() as u32,
                (false, false) => 1,
            },
            ..run
        });
        let authenticated_iv = material::authenticated_iv(self.workload.algorithm);
        for (index, job) in self.jobs[jobs.clone()].iter().enumerate() {
            if let Some(key) = self.keys.get(job.key).filter(|_| own_keys || index == 0) {
                request.keys.extend_from_slice(key);
            }
            if run.iv_len > 0 {
                request.ivs.extend(material::iv(self.workload.algorithm, job.iv));
            }
            if run.kind == abi::AEAD {
                request.inputs.extend_from_slice(job.associated);
                request.inputs.extend_from_slice(&job.iv[..authenticated_iv]);
            }
            request.inputs.extend_from_slice(match &job.data {
                Data::Apart { input, .. } => input,
                Data::InPlace(buffer) => buffer,
            });
            if run.kind == abi::AEAD && run.operation == abi::DECRYPT {
                request.inputs.extend_from_slice(job.tag);
            }
        }
        request
    }

    /// The outputs of these jobs, each with its tag, from a run that is not timed.
    fn compute(&self, jobs: &Range<usize>) -> Result<Vec<u8>, Error> {
        let run = Run { depth: 1, iterations: jobs.len() as u32, limit_ns: 1, ..self.run };
        let mut request = self.request(jobs, run);
        self.device.run(&mut request).map_err(failed)?;
        Ok(request.outputs)
    }

    /// Copies a job's output, and its tag, to where it belongs.
    fn deliver(&mut self, job: usize, bytes: &[u8]) {
        let job = &mut self.jobs[job];
        let place = match &mut job.data {
            Data::Apart { output, .. } => &mut output[..],
            Data::InPlace(buffer) => buffer,
        };
        let (text, tag) = bytes.split_at(place.len().min(bytes.len()));
        place[..text.len()].copy_from_slice(text);
        if self.run.operation == abi::ENCRYPT && !tag.is_empty() {
            job.tag.copy_from_slice(tag);
        }
    }

    /// The right outputs, with tags, if `text` are those without them.
    fn expected(&self, text: &[u8]) -> Result<Vec<u8>, Error> {
        let right = self.compute(&(0..self.jobs.len()))?;
        let length = self.run.output_len as usize;
        let tag = if self.run.operation == abi::ENCRYPT { self.run.tag_len as usize } else { 0 };
        let known = text.chunks(length - tag);
        let computed = right.chunks(length).map(|output| &output[..length - tag]);
        if known.eq(computed) { Ok(right) } else { Err(Error::WrongAnswer) }
    }
}

impl Session for InKernelSession<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if job >= self.jobs.len() {
            return Err(Error::Contract);
        }
        let length = self.run.output_len as usize;
        if self.ahead.is_none() {
            let all = self.compute(&(0..self.jobs.len()))?;
            self.ahead = Some((all, vec![true; self.jobs.len()]));
        }
        let ready =
            self.ahead.as_mut().filter(|(_, waiting)| waiting[job]).map(|(all, waiting)| {
                waiting[job] = false;
                all[job * length..][..length].to_vec()
            });
        let bytes = match ready {
            Some(bytes) => bytes,
            None => self.compute(&(job..job + 1))?,
        };
        self.deliver(job, &bytes);
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        Some(self.jobs.get(job)?.data.output())
    }

    fn own_loop(&mut self) -> Option<&mut dyn OwnLoop> {
        Some(self)
    }
}

impl OwnLoop for InKernelSession<'_, '_> {
    fn round(
        &mut self,
        budget: &Budget,
        expected: Option<&[u8]>,
        store: &mut Store<'_>,
    ) -> Result<OwnRound, Error> {
        let all = 0..self.jobs.len();
        let dispatch = self.workload.dispatch;
        let mut run = Run {
            depth: match dispatch.depth {
                Depth::Jobs(depth) => u32::from(depth).min(all.len() as u32),
                Depth::Ring => all.len() as u32,
            },
            batches: u32::from(budget.batches)
                .min(abi::MAX_BATCHES)
                .min(store.samples.len() as u32),
            iterations: budget.iterations,
            latencies: budget.latencies.into(),
            warmup_ns: budget.warmup.0,
            batch_ns: budget.batch.0,
            limit_ns: budget.limit.0,
            counted_ns: budget.counted.0,
            ..self.run
        };
        if dispatch.build == Build::Before {
            run.flags |= abi::BUILD_BEFORE;
        }
        if dispatch.notice == Notice::Last {
            run.flags |= abi::NOTICE_LAST;
        }
        if expected.is_some() {
            run.flags |= abi::CHECK_EACH;
        }
        let mut request = self.request(&all, run);
        if let Some(text) = expected {
            request.expected = self.expected(text)?;
        }
        self.device.run(&mut request).map_err(failed)?;
        let length = request.run.output_len as usize;
        for (job, output) in all.zip(request.outputs.chunks(length.max(1))) {
            self.deliver(job, output);
        }
        Ok(taken(&request, store))
    }
}

/// Puts what a run returned into the store.
fn taken(request: &Request, store: &mut Store<'_>) -> OwnRound {
    let Run { taken, ran, operations, alone_max, in_flight_max, steps, .. } = request.run;
    let of =
        |timed: &Timed| Sample { iterations: ran, ticks: Ticks(timed.ns), ..Sample::default() };
    let samples = request.samples.iter().take(taken as usize);
    for (place, timed) in store.samples.iter_mut().zip(samples) {
        *place = of(timed);
    }
    add(store.latency, &request.alone, alone_max);
    if let Some(times) = store.latency_in_flight.as_deref_mut() {
        add(times, &request.in_flight, in_flight_max);
    }
    let steps = (steps.operations > 0).then_some(Steps {
        operations: steps.operations,
        build: Ticks(steps.build_ns),
        dispatch: Ticks(steps.dispatch_ns),
        completion: Ticks(steps.completion_ns),
    });
    OwnRound { taken: Taken { samples: taken as usize, iterations: ran }, operations, steps }
}

fn add(histogram: &mut Histogram, counts: &[u32], max: u64) {
    for (bucket, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        histogram.add_many(bucket as u16, *count);
    }
    histogram.max = histogram.max.max(Ticks(max));
}

/// What a refusal by the module means to a measurement. Its words go to standard error, except for a forged tag, which is
/// an answer.
fn failed(Refused { errno, words }: Refused) -> Error {
    if errno == libc::EBADMSG {
        return Error::Refused;
    }
    eprintln!("the kernel's runner: {words} ({})", std::io::Error::from_raw_os_error(errno));
    match errno {
        libc::EILSEQ => Error::WrongAnswer,
        libc::ETIMEDOUT | libc::ETIME => Error::Timeout,
        libc::ENOMEM => Unsupported::Memory.into(),
        libc::ENOENT | libc::ENODEV => Unsupported::Device.into(),
        errno => Error::Device(errno),
    }
}

/// The module's kind of algorithm for a kernel type, if it runs that type.
pub(super) fn kind(kernel_type: &str) -> Option<u32> {
    match kernel_type {
        "skcipher" | "lskcipher" => Some(abi::SKCIPHER),
        "aead" => Some(abi::AEAD),
        "ahash" => Some(abi::AHASH),
        "shash" => Some(abi::SHASH),
        _ => None,
    }
}

/// Returns the reason if the module's loop cannot run `workload`.
pub(super) fn supports(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    workload.valid()?;
    let one_by_one = workload.dispatch.depth == Depth::Jobs(1);
    let with_key = workload.phase == Phase::MessageWithKey;
    let kind = workload.algorithm.shape().kind;
    let ciphers = matches!(kind, Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher);
    match workload.phase {
        // The module sends whole messages.
        Phase::Update | Phase::Setup => return Err(Unsupported::Phase),
        // A driver's key may not change while it works on other messages.
        Phase::MessageWithKey if !one_by_one => return Err(Unsupported::Mode),
        _ => {}
    }
    if with_key && workload.dispatch.build == Build::Before {
        return Err(Unsupported::Mode);
    }
    let too_long = workload.message > abi::MAX_MESSAGE || workload.associated > abi::MAX_ASSOCIATED;
    if too_long || (ciphers && workload.message == 0) {
        return Err(Unsupported::Length);
    }
    Ok(())
}
