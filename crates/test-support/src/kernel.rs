//! The claims and counters of the kernel's interfaces on an invented board with two engines.

use cpb_core::kernel::{Availability, Driver, KernelSurvey, SurveyedDriver};
use cpb_core::message::{Counters, CpuTime};
use cpb_core::{Claim, Unsupported};
use cpb_record::{Cell, Line, NotMeasured, NotMeasuredReason};

/// The providers that cannot be measured.
pub(crate) const NOT_HERE: [&str; 2] = ["cryptodev:gcm(aes)", "af_alg:cbc-aes-barred"];

/// The kernel's survey, reduced to what is unavailable.
pub(crate) fn survey() -> KernelSurvey {
    let driver = |name: &str, reach, devices: &[&str]| SurveyedDriver {
        driver: Driver {
            name: "cbc(aes)".into(),
            driver: name.into(),
            kind: "skcipher".into(),
            ..Driver::default()
        },
        reach,
        devices: devices.iter().map(ToString::to_string).collect(),
        interrupts: Vec::new(),
    };
    KernelSurvey {
        af_alg: Availability::Reachable,
        drivers: vec![
            driver("cbc-aes-caam", Availability::Reachable, &["2101000.jr"]),
            driver("cbc-aes-barred", Availability::Policy, &["30900000.crypto"]),
            driver("cbc-aes-broken", Availability::SelftestFailed, &[]),
        ],
        choices: Vec::new(),
    }
}

/// The executor of the provider `name`.
pub(crate) fn executor(name: &str) -> &str {
    match name {
        "cryptodev:cbc(aes)" => "cbc-aes-caam",
        "af_alg:cbc(aes)" => "cbc-aes-neonbs",
        name => name.strip_prefix("af_alg:").unwrap_or("CPU"),
    }
}

/// Where it runs, according to the kernel.
pub(crate) fn claim(name: &str) -> Claim {
    match name {
        "af_alg:cbc(aes)" => Claim::Fallback,
        "af_alg:cbc-aes-neonbs" => Claim::Kernel,
        "af_alg:cbc-aes-polled" => Claim::Unknown,
        name if name.contains("cbc") => Claim::Engine,
        _ => Claim::Process,
    }
}

/// The counters after 20 ms of operations of `time` nanoseconds, on four CPUs.
pub(crate) fn counters(cell: &Cell, time: f64) -> Counters {
    const WALL: u64 = 20_000_000;
    let operations = (WALL as f64 / time) as u64;
    let small = cell.workload.size() <= 64;
    // Interrupts and waits per operation, and the threads' share of a CPU in percent.
    let (interrupts, waits, own) = match cell.provider.as_str() {
        "cryptodev:cbc(aes)" => (Some(operations), 1, 31),
        // The driver passes small messages to software.
        "af_alg:cbc-aes-caam" if small => (Some(0), 0, 100),
        "af_alg:cbc-aes-caam" => (Some(operations), 3, 44),
        "af_alg:cbc-dcp" => (Some(0), 2, 60),
        "af_alg:cbc-aes-polled" => (None, 0, 100),
        name if name.starts_with("af_alg") => (Some(0), 0, 100),
        _ => (None, 0, 100),
    };
    let cpu_ns = WALL * own / 100;
    Counters {
        operations,
        wall_ns: WALL,
        cpu_ns,
        user_ns: cpu_ns / 5,
        system_ns: cpu_ns - cpu_ns / 5,
        voluntary: u32::try_from(operations * waits).unwrap_or(u32::MAX),
        involuntary: 1,
        interrupts,
        machine: Some(CpuTime {
            busy_ns: cpu_ns + if waits > 0 { 4_000_000 } else { 0 },
            softirq_ns: if waits > 0 { 3_000_000 } else { 0 },
            total_ns: 4 * WALL,
        }),
        ..Counters::default()
    }
}

/// Removes the cells that one of the drivers does not support.
pub(crate) fn unsupported(lines: &mut Vec<Line>) {
    let mut cells: Vec<Cell> = Vec::new();
    lines.retain(|line| match line {
        Line::Round(round)
            if round.cell.provider == "af_alg:cbc-dcp" && round.cell.workload.size() == 16384 =>
        {
            if !cells.contains(&round.cell) {
                cells.push(round.cell.clone());
            }
            false
        }
        _ => true,
    });
    lines.extend(cells.into_iter().map(|cell| {
        Line::NotMeasured(NotMeasured {
            cell,
            outcome: NotMeasuredReason::Unsupported(Unsupported::Length),
        })
    }));
}
