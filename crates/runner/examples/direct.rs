//! Rounds in this process, with the product's loop and with settings that `cpb run` does not offer: for the
//! experiments of `bench/`.
//!
//! `direct [--cpus N] PROVIDER WORKLOAD=WARMUP,BATCH,BATCHES,SESSIONS,REFERENCE[,REGISTERS]...` measures each
//! round in the order given, with times in microseconds, and prints it as a line of JSON in the same form as
//! a record's. REGISTERS is the state of the vector registers at the start of a session: `clear` (the
//! product's choice), `ymm` or `zmm` (upper halves in use). One process corresponds to one pass of `cpb run`.

use cpb_core::catalog;
use cpb_core::material::{Part, fill, fill_associated};
use cpb_core::measure::{self, Budget, Queue, Setting, Store};
use cpb_core::{Clock, CryptoWorkload, Data, Histogram, Job, Reference, Sample, Ticks};
use cpb_runner::{Arguments, Chain, MonotonicRaw, pin};
use std::process::ExitCode;

fn main() -> ExitCode {
    match Arguments::parse(std::env::args_os().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("direct: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if let Some(cpu) = arguments.cpus.first() {
        pin::pin(*cpu).map_err(|error| error.to_string())?;
    }
    let words: Vec<_> = arguments.rest.iter().map(|word| word.to_string_lossy()).collect();
    let (name, rounds) = words.split_first().ok_or("no provider named")?;
    let entry = catalog::find(name).ok_or_else(|| format!("no provider {name}"))?;
    let provider = cpb_providers::open(&entry).map_err(|unavailable| unavailable.detail)?;
    let clock = MonotonicRaw::new(arguments.latency);
    rounds.iter().try_for_each(|text| {
        let round: Round = parse(text).ok_or_else(|| format!("not a round: {text}"))?;
        let (iterations, samples) = one(provider.as_ref(), &round, &clock)?;
        print(name, text, &round, &clock, iterations, &samples);
        Ok(())
    })
}

/// What is measured, and how.
struct Round {
    workload: CryptoWorkload,
    budget: Budget,
    /// The number of successive sessions over which the batches are spread.
    sessions: usize,
    /// The target duration of a reading of the reference chain.
    reference: Ticks,
    registers: Registers,
}

#[derive(Clone, Copy, PartialEq)]
enum Registers {
    Clear,
    Ymm,
    Zmm,
}

fn parse(text: &str) -> Option<Round> {
    let (workload, how) = text.split_once('=')?;
    let words: Vec<&str> = how.split(',').collect();
    let number = |place: usize| words.get(place)?.parse::<u64>().ok();
    let ticks = |place| Some(Ticks(number(place)? * 1000));
    let registers = match words.get(5).copied() {
        None | Some("clear") => Registers::Clear,
        Some("ymm") => Registers::Ymm,
        Some("zmm") => Registers::Zmm,
        Some(_) => return None,
    };
    let budget = Budget {
        warmup: ticks(0)?,
        batch: ticks(1)?,
        limit: Ticks(1_000_000_000),
        batches: number(2)?.try_into().ok()?,
        latencies: 0,
        iterations: 0,
        counted: Ticks(0),
    };
    let (workload, sessions) = (workload.parse().ok()?, number(3)?.max(1) as usize);
    Some(Round { workload, budget, sessions, reference: ticks(4)?, registers })
}

/// The runner's clock with a reference chain of a different length.
struct Sensed<'a> {
    clock: &'a MonotonicRaw,
    chain: Option<Chain>,
}

impl Clock for Sensed<'_> {
    fn now(&self) -> Ticks {
        self.clock.now()
    }
    fn frequency(&self) -> u64 {
        self.clock.frequency()
    }
    fn resolution(&self) -> Ticks {
        self.clock.resolution()
    }
    fn reference(&self) -> Option<Reference> {
        let time = |work: &dyn Fn()| {
            let start = self.now();
            work();
            self.now() - start
        };
        self.chain.as_ref().map(|chain| chain.reference(time))
    }
    fn reference_cycles(&self) -> u32 {
        self.chain.as_ref().map_or(0, Chain::cycles)
    }
}

/// Measures one round in fresh memory, laid out as in the runner.
fn one(
    provider: &dyn cpb_core::Provider,
    round: &Round,
    clock: &MonotonicRaw,
) -> Result<(u32, (u32, Vec<Sample>)), String> {
    const PAGE: usize = 4096;
    let workload = &round.workload;
    let (shape, lengths) = (workload.algorithm.shape(), workload.lengths());
    let length = lengths.input;
    let output_at = length.next_multiple_of(PAGE).max(PAGE) + PAGE / 2;
    let output_length = lengths.output;
    let mut memory = vec![0; PAGE + output_at + output_length];
    let origin = memory.as_ptr().align_offset(PAGE);
    let (input, output) = memory[origin..].split_at_mut(output_at);
    let (mut key, mut iv) = (vec![0; shape.key], vec![0; shape.iv]);
    let mut associated = vec![0; lengths.associated];
    let mut tag = vec![0; shape.tag];
    fill(Part::Key, 0, &mut key);
    fill(Part::Iv, 0, &mut iv);
    fill_associated(workload, &mut associated);
    fill(Part::Message, 0, &mut input[..length]);
    let data = Data::Apart { input: &input[..length], output: &mut output[..output_length] };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &associated, data, tag: &mut tag }];

    let time = |work: &dyn Fn()| {
        let start = clock.now();
        work();
        clock.now() - start
    };
    let latency = u32::from(clock.describe().multiply_latency);
    let chain =
        (latency > 0).then(|| Chain::new(latency, round.reference, clock.resolution(), time));
    let clock = Sensed { clock, chain };
    let mut samples = vec![Sample::default(); round.budget.batches.into()];
    let (mut latency, mut ring) = (Histogram::default(), [0]);
    let mut iterations = 0;
    let share = samples.len().div_ceil(round.sessions).max(1);
    for samples in samples.chunks_mut(share) {
        set(round.registers)?;
        let budget = Budget { batches: samples.len() as u16, iterations, ..round.budget };
        let outcome = provider.session(workload, &[&key], &mut jobs, &mut |session| {
            let mut store =
                Store { samples: &mut *samples, latency: &mut latency, latency_in_flight: None };
            let (dispatch, reached) = (workload.dispatch, &mut |_| ());
            let (expected, counting) = (None, false);
            let setting = Setting { clock: &clock, dispatch, expected, budget, counting, reached };
            let queue = &mut Queue::new(&mut ring);
            iterations = measure::round(session, setting, queue, &mut store)?.iterations;
            Ok(())
        });
        outcome.map_err(|error| format!("{workload}: {error}"))?;
    }
    Ok((clock.reference_cycles(), (iterations, samples)))
}

#[cfg(target_arch = "x86_64")]
fn set(registers: Registers) -> Result<(), String> {
    macro_rules! vectors {
        ($($instruction:literal),* $(,)?) => {
            // SAFETY: the CPU has the instructions. They change only vector registers, all of which are
            // named.
            unsafe {
                core::arch::asm!(
                    $($instruction,)*
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nomem, nostack),
                )
            }
        };
    }
    if std::arch::is_x86_feature_detected!("avx") {
        vectors!("vzeroupper");
    }
    match registers {
        Registers::Clear => Ok(()),
        Registers::Ymm if std::arch::is_x86_feature_detected!("avx2") => {
            vectors!(
                "vpcmpeqd ymm0, ymm0, ymm0",
                "vpaddd ymm1, ymm0, ymm0",
                "vpaddd ymm2, ymm0, ymm0",
                "vpaddd ymm3, ymm0, ymm0",
                "vpaddd ymm4, ymm0, ymm0",
                "vpaddd ymm5, ymm0, ymm0",
                "vpaddd ymm6, ymm0, ymm0",
                "vpaddd ymm7, ymm0, ymm0",
                "vpaddd ymm8, ymm0, ymm0",
                "vpaddd ymm9, ymm0, ymm0",
                "vpaddd ymm10, ymm0, ymm0",
                "vpaddd ymm11, ymm0, ymm0",
                "vpaddd ymm12, ymm0, ymm0",
                "vpaddd ymm13, ymm0, ymm0",
                "vpaddd ymm14, ymm0, ymm0",
                "vpaddd ymm15, ymm0, ymm0",
            );
            Ok(())
        }
        Registers::Zmm if std::arch::is_x86_feature_detected!("avx512f") => {
            vectors!(
                "vpternlogd zmm0, zmm0, zmm0, 255",
                "vpaddd zmm1, zmm0, zmm0",
                "vpaddd zmm2, zmm0, zmm0",
                "vpaddd zmm3, zmm0, zmm0",
                "vpaddd zmm4, zmm0, zmm0",
                "vpaddd zmm5, zmm0, zmm0",
                "vpaddd zmm6, zmm0, zmm0",
                "vpaddd zmm7, zmm0, zmm0",
                "vpaddd zmm8, zmm0, zmm0",
                "vpaddd zmm9, zmm0, zmm0",
                "vpaddd zmm10, zmm0, zmm0",
                "vpaddd zmm11, zmm0, zmm0",
                "vpaddd zmm12, zmm0, zmm0",
                "vpaddd zmm13, zmm0, zmm0",
                "vpaddd zmm14, zmm0, zmm0",
                "vpaddd zmm15, zmm0, zmm0",
            );
            Ok(())
        }
        _ => Err("this CPU does not have such registers".to_owned()),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn set(registers: Registers) -> Result<(), String> {
    match registers {
        Registers::Clear => Ok(()),
        Registers::Ymm | Registers::Zmm => Err("no such registers on this architecture".to_owned()),
    }
}

fn print(
    provider: &str,
    text: &str,
    round: &Round,
    clock: &MonotonicRaw,
    reference_cycles: u32,
    (iterations, samples): &(u32, Vec<Sample>),
) {
    let how = text.split_once('=').map_or("", |(_, how)| how);
    let batches: Vec<String> = samples
        .iter()
        .map(|Sample { ticks, before, after, .. }| {
            let [before, after] = [before, after].map(|r| format!("[{},{}]", r.chain.0, r.burst.0));
            format!("[{},{before},{after}]", ticks.0)
        })
        .collect();
    println!(
        "{{\"provider\":\"{provider}\",\"workload\":\"{}\",\"how\":\"{how}\",\"cost\":{},\
         \"reference_cycles\":{reference_cycles},\"iterations\":{iterations},\"samples\":[[{}]]}}",
        round.workload,
        clock.describe().cost.0,
        batches.join(",")
    );
}
