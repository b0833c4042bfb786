//! A runner for `bench/sensitivity.py`: OpenSSL behind a wrapper that makes operations more expensive by a
//! known share.
//!
//! `planted` and `planted:same` add nothing; `planted:slower` adds a chain of dependent instructions to each
//! operation. All three wait for all instructions to finish before and after the chain, so the chain's time
//! is added and not hidden by the surrounding operations. `PLANTED=same,slower` lists the ones to offer
//! (`planted` is always offered). `PLANTED_TURNS=1024:12,16384:200` sets the length of the chain by message
//! size.
//!
//! `planted --calibrate WORKLOAD...` finds the number of turns that add 1 %, and measures how much they
//! really add, using its own loop independently of cpb's.

use cpb_core::catalog;
use cpb_core::material::{Part, fill};
use cpb_core::{
    CryptoWorkload, Data, Error, Identity, Job, Progress, Provider, Session, Unsupported,
};
use cpb_providers::Unavailable;
use cpb_runner::{Arguments, Offer, pin};
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The share that is added.
const SHARE: f64 = 0.01;

fn main() -> ExitCode {
    match Arguments::parse(std::env::args_os().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("planted: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let words: Vec<_> = arguments.rest.iter().map(|word| word.to_string_lossy()).collect();
    if let Some(("--calibrate", workloads)) =
        words.split_first().map(|(first, rest)| (first.as_ref(), rest))
    {
        let pinned = arguments.cpus.first().map_or(Ok(()), |cpu| pin::pin(*cpu));
        pinned.map_err(|error| error.to_string())?;
        return workloads.iter().try_for_each(|workload| calibrate(workload));
    }
    let offers = || offers().map_err(io::Error::other);
    cpb_runner::run_offers(offers, arguments.place()).map_err(|error| error.to_string())
}

fn offers() -> Result<Vec<Offer>, String> {
    let turns = turns_by_size(&std::env::var("PLANTED_TURNS").unwrap_or_default())?;
    let wanted = std::env::var("PLANTED").unwrap_or_default();
    let mut offers = vec![offer("planted", Vec::new())];
    for (name, turns) in [("planted:same", Vec::new()), ("planted:slower", turns)] {
        if wanted.is_empty() || wanted.split(',').any(|part| name.ends_with(part)) {
            offers.push(offer(name, turns));
        }
    }
    Ok(offers)
}

type Boxed = Box<dyn Provider + Send + Sync>;

fn offer(name: &'static str, turns: Vec<(u32, u32)>) -> Offer {
    let provider = open().map(|inner| -> Boxed { Box::new(Planted { name, turns, inner }) });
    Offer { name: name.to_owned(), provider }
}

fn open() -> Result<Boxed, Unavailable> {
    cpb_providers::open(&catalog::find("openssl").expect("a name of the catalogue"))
}

fn turns_by_size(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let pair = |part: &str| {
        let (size, turns) = part.split_once(':')?;
        Some((size.parse().ok()?, turns.parse().ok()?))
    };
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts.map(|part| pair(part).ok_or_else(|| format!("PLANTED_TURNS: {part}"))).collect()
}

struct Planted {
    name: &'static str,
    /// Turns of the chain, by message size.
    turns: Vec<(u32, u32)>,
    inner: Box<dyn Provider + Send + Sync>,
}

impl Provider for Planted {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: self.name, ..self.inner.identity() }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        self.inner.supports(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let of_size = self.turns.iter().find(|(size, _)| *size == workload.message);
        let turns = of_size.map_or(0, |(_, turns)| *turns);
        self.inner
            .session(workload, keys, jobs, &mut |session| body(&mut Slowed { session, turns }))
    }
}

struct Slowed<'a> {
    session: &'a mut dyn Session,
    turns: u32,
}

impl Session for Slowed<'_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let progress = self.session.submit(job)?;
        let last = self.session.output(job).and_then(<[u8]>::last);
        chain(self.turns, last.copied().unwrap_or_default());
        Ok(progress)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.session.output(job)
    }
}

/// Squares `seed` `turns` times, waiting for each result before the next. None of the surrounding code runs
/// at the same time.
#[cfg(target_arch = "x86_64")]
fn chain(turns: u32, seed: u8) {
    // SAFETY: arithmetic on the block's own registers. LFENCE waits for all instructions before it, and none
    // after it begins earlier (Intel SDM volume 2; on AMD as set up by Linux, MSR C001_1029).
    unsafe {
        core::arch::asm!(
            "lfence",
            "test {n}, {n}",
            "jz 3f",
            "2:",
            "imul {x}, {x}",
            "dec {n}",
            "jnz 2b",
            "3:",
            "lfence",
            n = inout(reg) u64::from(turns) => _,
            x = inout(reg) u64::from(seed) | 1 => _,
            options(nomem, nostack),
        );
    }
}

/// The same for AArch64. ISB waits for all instructions before it (Arm ARM, B2.3).
#[cfg(target_arch = "aarch64")]
fn chain(turns: u32, seed: u8) {
    // SAFETY: arithmetic on the block's own registers.
    unsafe {
        core::arch::asm!(
            "isb",
            "cbz {n}, 3f",
            "2:",
            "mul {x}, {x}, {x}",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            "3:",
            "isb",
            n = inout(reg) u64::from(turns) => _,
            x = inout(reg) u64::from(seed) | 1 => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(turns: u32, seed: u8) {
    let mut x = u64::from(seed) | 1;
    for _ in 0..turns {
        x = core::hint::black_box(x.wrapping_mul(x));
    }
}

/// Finds the number of turns that add [`SHARE`] to `workload`. Prints `size:turns added margin`, where
/// `added` is the share that they really add.
fn calibrate(workload: &str) -> Result<(), String> {
    let workload: CryptoWorkload =
        workload.parse().map_err(|error| format!("{workload}: {error}"))?;
    let mut turns: u32 = 100;
    for _ in 0..3 {
        let (added, _) = added(&workload, turns, Duration::from_secs(1))?;
        turns = (f64::from(turns) * SHARE / added.max(1e-4)).round().clamp(1.0, 1e6) as u32;
    }
    let (added, margin) = added(&workload, turns, Duration::from_secs(5))?;
    println!("{}:{turns} {added:.6} {margin:.6}", workload.message);
    Ok(())
}

/// The share that a chain adds to an operation: the median over pairs of adjacent loops in wall-clock time,
/// and half the width of its 95 % interval.
fn added(workload: &CryptoWorkload, turns: u32, time: Duration) -> Result<(f64, f64), String> {
    /// Short compared with the time between interrupts and between changes of the core's clock.
    const LOOP: Duration = Duration::from_micros(200);
    let shape = workload.algorithm.shape();
    let made = |part, length| {
        let mut bytes = vec![0; length];
        fill(part, 0, &mut bytes);
        bytes
    };
    let (key, iv) = (made(Part::Key, shape.key), made(Part::Iv, shape.iv));
    let input = made(Part::Message, workload.message as usize);
    let mut output = vec![0; workload.algorithm.output_length(input.len())];
    let mut tag = vec![0; shape.tag];
    let data = Data::Apart { input: &input, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
    let provider = open().map_err(|unavailable| unavailable.detail)?;

    let mut shares = Vec::new();
    let outcome = provider.session(workload, &[&key], &mut jobs, &mut |session| {
        let mut looped = |turns, count: u32| -> Result<f64, Error> {
            let mut slowed = Slowed { session: &mut *session, turns };
            let start = Instant::now();
            for _ in 0..count {
                slowed.submit(0)?;
            }
            Ok(start.elapsed().as_secs_f64())
        };
        looped(0, 100)?;
        let count = (LOOP.as_secs_f64() * 100.0 / looped(0, 100)?).ceil() as u32;
        let end = Instant::now() + time;
        while Instant::now() < end {
            // Measured forwards and backwards, so that a steady rise or fall of the clock cancels out.
            let first = looped(0, count)?;
            let slowed = looped(turns, count)? + looped(turns, count)?;
            shares.push(slowed / (first + looped(0, count)?) - 1.0);
        }
        Ok(())
    });
    outcome.map_err(|error| error.to_string())?;
    shares.sort_unstable_by(f64::total_cmp);
    // The interval of the median follows from the order of the values alone (binomial, in its normal
    // approximation).
    let (middle, last) = (shares.len() / 2, shares.len() - 1);
    let around = (0.98 * (shares.len() as f64).sqrt()).ceil() as usize;
    let low = shares[middle.saturating_sub(around)];
    Ok((shares[middle], (shares[last.min(middle + around)] - low) / 2.0))
}
