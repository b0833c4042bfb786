//! Records with planted costs and seeded noise.

use crate::kernel;
use cpb_core::memory_read::{Pattern, Width};
use cpb_core::message::ClockDescription;
use cpb_core::{
    Error, Histogram, Kind, MemoryReadWorkload, Operation, Phase, Ticks, Unsupported, Workload,
};
use cpb_record::plan::Plan;
use cpb_record::{
    Batch, Cell, Check, Checked, End, Evidence, Header, Line, NotMeasured, NotMeasuredReason,
    ProviderRecord, Reading, Record, Round, SCHEMA,
};
use cpb_record::{Machine, State};

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The default plan, nothing unusual.
    Normal,
    /// The core's clock is unknown; five sizes, key schedules, latencies.
    NoClock,
    /// Cells without a figure, for every reason.
    Failures,
    /// An emulated CPU.
    Emulated,
    /// One, two and four threads.
    Threads,
    /// Nothing was measured.
    Empty,
    /// The kernel's interfaces, with engines and without, by message size.
    Kernel,
    /// The same on an emulated CPU.
    KernelEmulated,
    /// Memory reads, some of which the provider does not support.
    MemoryReads,
}

impl Case {
    /// All kinds.
    pub const ALL: [Case; 9] = [
        Case::Normal,
        Case::NoClock,
        Case::Failures,
        Case::Emulated,
        Case::Threads,
        Case::Empty,
        Case::Kernel,
        Case::KernelEmulated,
        Case::MemoryReads,
    ];

    fn plan(self) -> &'static str {
        match self {
            Case::Normal => {
                r#"
                name = "default"
                reason = "Which path is fast?"
                [[measure]]
                algorithms = ["aes-256-cbc"]
                sizes = [16, 1024, 16384]
                [[measure]]
                algorithms = ["aes-256-ctr", "aes-256-gcm", "chacha20-poly1305"]
                operations = ["encrypt"]
                sizes = [16, 1024, 16384]
                [[measure]]
                algorithms = ["sha-256", "hmac-sha-256"]
                sizes = [16, 1024, 16384]
                "#
            }
            Case::NoClock => {
                r#"
                name = "sizes"
                reason = "Where does the fixed cost end?"
                providers = ["null", "openssl", "openssl:nocrypto", "mbedtls:c"]
                [[measure]]
                algorithms = ["aes-128-gcm"]
                operations = ["encrypt"]
                phases = ["message", "setup"]
                sizes = [16, 64, 256, 1024, 16384]
                associated = 13
                [[measure]]
                algorithms = ["sha-1"]
                sizes = [64, 65536]
                "#
            }
            Case::Failures => {
                r#"
                name = "failures"
                reason = "What if it goes wrong?"
                [[measure]]
                algorithms = ["aes-256-cbc", "aes-128-ctr"]
                operations = ["encrypt"]
                sizes = [16, 16384]
                "#
            }
            Case::Emulated | Case::Empty => {
                r#"
                name = "small"
                reason = "Does it work?"
                [[measure]]
                algorithms = ["sha-256"]
                sizes = [16]
                "#
            }
            Case::Kernel | Case::KernelEmulated => {
                r#"
                name = "imx6"
                reason = "Does the accelerator pay?"
                providers = ["null", "openssl", "openssl:nocrypto", "cryptodev:cbc(aes)",
                    "cryptodev:gcm(aes)", "af_alg:cbc-aes-caam", "af_alg:cbc-aes-neonbs",
                    "af_alg:cbc(aes)", "af_alg:cbc-dcp", "af_alg:cbc-aes-polled",
                    "af_alg:cbc-aes-barred"]
                report = "by-size"
                counted-ms = 20
                [[measure]]
                algorithms = ["aes-128-cbc"]
                operations = ["encrypt"]
                sizes = [16, 64, 256, 1024, 4096, 8192, 16384]
                "#
            }
            Case::MemoryReads => {
                r#"
                name = "memory-read"
                reason = "How fast is memory read?"
                providers = ["null", "memory"]
                [[memory-read]]
                sizes = ["4K", "64K", "8M"]
                [[memory-read]]
                widths = ["32-bit"]
                sizes = ["4K"]
                region = "flash"
                cache = "cache-disabled"
                "#
            }
            Case::Threads => {
                r#"
                name = "threads"
                reason = "What do more cores bring?"
                providers = ["null", "openssl", "openssl:nocrypto"]
                threads = [1, 2, 4]
                [[measure]]
                algorithms = ["aes-256-gcm", "sha-256", "x25519"]
                operations = ["encrypt", "hash", "key-agreement"]
                sizes = [16, 16384]
                "#
            }
        }
    }
}

const PROVIDERS: [&str; 6] =
    ["null", "openssl", "openssl:nocrypto", "openssl:scalar", "mbedtls:accel", "mbedtls:c"];

/// The record of a case; it is always the same.
pub fn record(case: Case) -> Record {
    let passes = if case == Case::Normal { 24 } else { 12 };
    planned(case, Plan::parse(case.plan()).unwrap(), passes)
}

/// The same with another plan.
#[allow(dead_code, reason = "each test program uses its own part of this")]
pub fn planned(case: Case, plan: Plan, passes: u32) -> Record {
    let names: Vec<String> = match plan.providers.as_slice() {
        [] => PROVIDERS.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    let mut lines = Vec::new();
    if case != Case::Empty {
        checks(&plan, &names, &mut lines);
        let mut random = fastrand::Rng::with_seed(11);
        for pass in 0..passes {
            measure(case, &plan, &names, pass, &mut random, &mut lines);
        }
        if matches!(case, Case::Kernel | Case::KernelEmulated) {
            kernel::unsupported(&mut lines);
        }
        if case == Case::MemoryReads {
            let flash = |workload: &Workload| workload.to_string().contains("/flash");
            lines.retain(|line| !matches!(line, Line::Round(round) if flash(&round.cell.workload)));
            for workload in plan.workloads().into_iter().filter(flash) {
                let cell = Cell { provider: "memory".into(), workload, threads: 1 };
                let outcome = NotMeasuredReason::Unsupported(Unsupported::Device);
                lines.push(Line::NotMeasured(NotMeasured { cell, outcome }));
            }
        }
        if case == Case::Failures {
            failures(&mut lines);
        } else {
            lines.push(Line::End(End {
                ended: "2026-03-01T12:00:20.5Z".into(),
                interrupted: false,
                state: State::default(),
                warnings: Vec::new(),
            }));
        }
    }
    Record::assemble(header(case, plan, &names), lines)
}

fn header(case: Case, plan: Plan, names: &[String]) -> Header {
    let clock = ClockDescription {
        frequency: 1_000_000_000,
        resolution: Ticks(18),
        cost: Ticks(19),
        reference_cycles: if case == Case::NoClock { 0 } else { 30_000 },
        ..ClockDescription::default()
    };
    let provider = |name: &String| match (case, name.as_str()) {
        (Case::Failures, "mbedtls:accel") => ProviderRecord::Unavailable {
            reason: Unsupported::Device,
            detail: "the CPU has no AES instructions".into(),
        },
        (_, "af_alg:cbc-aes-barred") => ProviderRecord::Unavailable {
            reason: Unsupported::Policy,
            detail: cpb_core::kernel::Availability::Policy.to_string(),
        },
        (_, "cryptodev:gcm(aes)") => ProviderRecord::Unavailable {
            reason: Unsupported::Device,
            detail: "this kernel has no driver of gcm(aes) for /dev/crypto".into(),
        },
        _ => ProviderRecord::Available {
            version: "3.6.3".into(),
            executor: kernel::executor(name).into(),
            claim: kernel::claim(name),
            options: "-O3".into(),
            clock,
        },
    };
    Header {
        target: String::new(),
        schema: SCHEMA,
        version: "0.1.0".into(),
        began: "2026-03-01T12:00:00Z".into(),
        evidence: match case {
            Case::Emulated | Case::KernelEmulated => Evidence::Emulated,
            _ => Evidence::Hardware,
        },
        machine: Machine {
            name: "bench".into(),
            architecture: "aarch64".into(),
            cpu: "Cortex-A72".into(),
            board: "Raspberry Pi 4 Model B".into(),
            cpus: 4,
            ..Machine::default()
        },
        cpus: if case == Case::Threads { vec![0, 1, 2, 3] } else { vec![3] },
        providers: names.iter().map(|name| (name.clone(), provider(name))).collect(),
        kernel: matches!(case, Case::Kernel | Case::KernelEmulated)
            .then(|| Box::new(kernel::survey())),
        plan,
        warnings: match case {
            Case::Failures => vec![
                "the governor is 'ondemand': the clock changes while it is measured; set it to \
                 performance (cpupower frequency-set -g performance)"
                    .into(),
            ],
            _ => Vec::new(),
        },
    }
}

fn checks(plan: &Plan, names: &[String], lines: &mut Vec<Line>) {
    let mut done = Vec::new();
    for workload in plan.workloads() {
        let what = Checked::of(&workload).unwrap();
        if done.contains(&what) {
            continue;
        }
        done.push(what);
        for provider in names.iter().filter(|name| *name != "null") {
            lines.push(Line::Check(Check {
                distinct: 0,
                round_trips: 0,
                provider: provider.clone(),
                what,
                right: 12,
                unsupported: u32::from(provider.starts_with("mbedtls")),
                wrong: None,
            }));
        }
    }
}

/// The time of an operation at 3 GHz, in nanoseconds.
fn cost(provider: &str, workload: &Workload) -> f64 {
    let workload = match workload {
        Workload::Crypto(workload) => workload,
        Workload::MemoryRead(read) => return if provider == "null" { 1.9 } else { reading(read) },
        _ => unreachable!("no other family"),
    };
    let kind = workload.algorithm.shape().kind;
    let (fixed, a_byte) = match provider {
        "null" => return 1.9,
        "openssl" => (45.0, 0.55),
        "openssl:nocrypto" => (60.0, 2.9),
        "openssl:scalar" => (70.0, 3.7),
        "mbedtls:accel" => (38.0, 0.95),
        // A system call, or a system call and an engine's transfers to and from memory.
        "af_alg:cbc-aes-neonbs" | "af_alg:cbc(aes)" => (2_600.0, 8.0),
        name if name.contains(':') && name != "mbedtls:c" => (69_000.0, 0.9),
        _ => (42.0, 4.6),
    };
    let factor = match (kind, workload.operation) {
        (Kind::BlockCipher, Operation::Decrypt) => 0.25,
        (Kind::StreamCipher, _) => 0.3,
        (Kind::Aead, _) => 0.45,
        _ => 1.0,
    };
    fixed + f64::from(workload.message) * a_byte * factor
}

/// The time of reads on a core that executes three loads a cycle, as long as the data is in its nearest cache.
fn reading(read: &MemoryReadWorkload) -> f64 {
    let bytes = f64::from(read.bytes);
    let load = match read.width {
        Width::Bits8 => 1.0,
        Width::Bits16 => 2.0,
        Width::Bits32 => 4.0,
        Width::Bits64 => 8.0,
        Width::Widest => 32.0,
    };
    let turns = if read.pattern == Pattern::PingPong { 1.1 } else { 1.0 };
    let most = match read.bytes {
        0..=0x8000 => f64::INFINITY,
        0x8001..=0x10_0000 => 40.0,
        _ => 12.0 / turns,
    };
    2.0 + bytes / (3.0 * load * 3.0_f64).min(most)
}

fn measure(
    case: Case,
    plan: &Plan,
    names: &[String],
    pass: u32,
    random: &mut fastrand::Rng,
    lines: &mut Vec<Line>,
) {
    for workload in plan.workloads() {
        for &threads in &plan.threads {
            // Unavailable providers are not measured.
            for provider in names.iter().filter(|name| !kernel::NOT_HERE.contains(&name.as_str())) {
                let cell = Cell { provider: provider.clone(), workload, threads };
                // Two neighbours share the memory bus, so four threads are not four times as fast.
                let crowd = 1.0 + 0.04 * f64::from(threads - 1);
                let time = cost(provider, &workload) * crowd;
                let round = round(case, cell, pass, time, random);
                lines.push(Line::Round(round));
            }
        }
    }
}

fn round(case: Case, cell: Cell, pass: u32, time: f64, random: &mut fastrand::Rng) -> Round {
    // One pass in eight gets pages that slow it down by half a percent.
    let pages = if random.u8(..8) == 0 { 1.005 } else { 1.0 };
    let iterations = (200_000.0 / time).ceil();
    let mut batch = || {
        let gigahertz = if random.bool() { 3.0 } else { 3.4 };
        let time = time * 3.0 / gigahertz * pages * (1.0 + 0.0004 * random.f64());
        let late = if random.u8(..20) == 0 { 3_000.0 } else { 0.0 };
        let reference = 30_000.0 / gigahertz + 19.0;
        let step = if random.u8(..30) == 0 { 400 } else { 0 };
        let [before, after] = [0, step].map(|step| match case {
            Case::NoClock => Reading(0, 0),
            _ => Reading(reference as u64 + step, (reference as u64 + step) / 2),
        });
        Batch((time * iterations + late) as u64 + 19, before, after)
    };
    let samples = (0..cell.threads).map(|_| (0..8).map(|_| batch()).collect()).collect();
    let mut histogram = Histogram::default();
    if case == Case::NoClock {
        for _ in 0..64 {
            let late = if random.u8(..50) == 0 { 4_000 } else { 0 };
            histogram.add(Ticks((time * (1.0 + 0.1 * random.f64())) as u64 + 19 + late));
        }
    }
    let counters = kernel::counters(&cell, time);
    let output = if cell.provider == "null" { "0".into() } else { format!("{:x}", output(&cell)) };
    Round {
        cell,
        pass,
        at_ms: u64::from(pass) * 800,
        reference_cycles: if case == Case::NoClock { 0 } else { 30_000 },
        iterations: iterations as u32,
        output,
        samples,
        latency: histogram.filled().collect(),
        latency_max: histogram.max.0,
        latency_in_flight: None,
        counters,
    }
}

fn output(cell: &Cell) -> u64 {
    let setup = cell.workload.crypto().is_some_and(|workload| workload.phase == Phase::Setup);
    if setup { 0 } else { 0xfeed + u64::from(cell.workload.size()) }
}

/// Turns a good record into one with failures.
fn failures(lines: &mut Vec<Line>) {
    let mut without = Vec::new();
    lines.retain_mut(|line| {
        let Line::Round(round) = line else { return true };
        let long = round.cell.workload.size() > 16;
        let crypto = round.cell.workload.crypto();
        let ctr = crypto.is_some_and(|it| it.algorithm.shape().kind == Kind::StreamCipher);
        match (round.cell.provider.as_str(), ctr, long) {
            ("openssl:scalar", true, _) => without.push((
                round.cell.clone(),
                NotMeasuredReason::Unsupported(Unsupported::BuildOption),
            )),
            ("openssl:nocrypto", true, true) => {
                let detail = "signal 11 (SIGSEGV)".to_owned();
                let reason = NotMeasuredReason::Failed { error: Error::Crashed, detail };
                without.push((round.cell.clone(), reason));
            }
            ("mbedtls:accel", ..) => {}
            ("mbedtls:c", false, true) => round.output = "bad".into(),
            ("mbedtls:c", true, false) => round.samples.iter_mut().flatten().for_each(|batch| {
                batch.0 = 150;
            }),
            ("mbedtls:c", true, true) => return round.pass == 0,
            ("openssl:scalar", false, true) => {
                round.samples.iter_mut().flatten().for_each(|batch| {
                    batch.2 = Reading(batch.1.0 * 2, batch.1.1 * 2);
                })
            }
            _ => {}
        }
        round.cell.provider != "mbedtls:accel"
    });
    without.dedup();
    lines.extend(
        without.into_iter().map(|(cell, outcome)| Line::NotMeasured(NotMeasured { cell, outcome })),
    );
    lines.push(Line::Check(Check {
        distinct: 0,
        round_trips: 0,
        provider: "openssl:nocrypto".into(),
        what: Checked::Crypto {
            algorithm: cpb_core::Algorithm::Aes128Ctr,
            operation: Operation::Encrypt,
        },
        right: 3,
        unsupported: 0,
        wrong: Some("NIST SP 800-38A F.5.1: wrong output".into()),
    }));
    lines.push(Line::Warning("the CPU was throttled for its heat 3 times: cool it".into()));
}
