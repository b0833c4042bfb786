//! A runner whose providers misbehave deliberately: `cpb run --runner PATH`.
//!
//! Every provider wraps `mbedtls:c` and does what its name says: `rigged:wrong-byte`, ... With
//! `RIGGED=hang,exit` in the environment, the only providers are `rigged:hang` and `rigged:exit`.
//!
//! The runner is the test program itself, so it always exists and is built from the same sources. A script
//! starts the one test in it that serves instead of testing.

use cpb_core::catalog;
use cpb_core::{
    Algorithm, CryptoWorkload, Data, Error, Identity, Job, Phase, Progress, Provider, Session,
    Unsupported,
};
use cpb_runner::{Arguments, Offer};
use cpb_test_support::Lab;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The fault.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    WrongByte,
    Segfault,
    IllegalInstruction,
    Hang,
    Exit,
    Print,
    /// Each operation is delayed by a fixed time, and by a time per byte of its message.
    Slow {
        fixed: u64,
        per_byte: u64,
    },
}

/// When the fault occurs.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// In every operation.
    Always,
    /// In the first operation of a session, only for SHA-256.
    First,
    /// In the timed region, only for messages of 16 bytes: in a later operation than any known answer needs.
    Timed,
}

/// The operation for [`When::Timed`]: a known answer needs one operation, a round many.
const LATER: u64 = 50;

const FAULTS: &[(&str, Fault, When)] = &[
    ("rigged:wrong-byte", Fault::WrongByte, When::Always),
    ("rigged:wrong-later", Fault::WrongByte, When::Timed),
    ("rigged:segfault", Fault::Segfault, When::Timed),
    ("rigged:illegal", Fault::IllegalInstruction, When::Timed),
    ("rigged:exit", Fault::Exit, When::Timed),
    ("rigged:hang", Fault::Hang, When::Timed),
    ("rigged:print", Fault::Print, When::Timed),
    ("rigged:first-segfault", Fault::Segfault, When::First),
    ("rigged:first-hang", Fault::Hang, When::First),
    ("rigged:fixed", Fault::Slow { fixed: 30_000, per_byte: 0 }, When::Always),
    ("rigged:per-byte", Fault::Slow { fixed: 0, per_byte: 20 }, When::Always),
];

/// The factor by which the slow providers are slower.
pub(crate) const TIMES: &str = "RIGGED_TIMES";

/// The script's command line.
const ARGUMENTS: &str = "RIGGED_ARGUMENTS";

/// A program to give to `--runner`.
pub(crate) fn runner(lab: &Lab) -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let test = "rigged::serves_when_it_is_started_as_a_runner";
    let lines = format!(
        "{ARGUMENTS}=\"$*\" exec '{}' {test} --exact --nocapture --test-threads=1",
        program.display()
    );
    lab.script("rigged", &lines)
}

#[test]
fn serves_when_it_is_started_as_a_runner() {
    // The earlier output of this test harness is noise to the host, which looks for frames.
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let arguments = arguments.split_whitespace().map(OsString::from);
        let arguments = Arguments::parse(arguments).expect("a runner's command line");
        cpb_runner::run_offers(|| Ok(offers()), arguments.place()).expect("a host");
    }
}

fn offers() -> Vec<Offer> {
    let wanted = std::env::var("RIGGED").unwrap_or_default();
    let chosen = |name: &str| {
        let named = |part| name.strip_prefix("rigged:") == Some(part);
        wanted.is_empty() || wanted.split(',').any(named)
    };
    let offer = |(name, fault, when): &(&'static str, Fault, When)| {
        let entry = catalog::find("mbedtls:c").expect("built with mbedtls");
        let provider = cpb_providers::open(&entry).map(|inner| {
            let rigged: Box<dyn Provider + Send + Sync> =
                Box::new(Rigged { name, fault: *fault, when: *when, inner });
            rigged
        });
        Offer { name: (*name).to_owned(), provider }
    };
    FAULTS.iter().filter(|(name, ..)| chosen(name)).map(offer).collect()
}

struct Rigged {
    name: &'static str,
    fault: Fault,
    when: When,
    inner: Box<dyn Provider + Send + Sync>,
}

impl Rigged {
    /// The operation of a session at which the fault occurs.
    fn strikes_at(&self, workload: &CryptoWorkload) -> Option<u64> {
        match self.when {
            When::Always => Some(1),
            When::First => (workload.algorithm == Algorithm::Sha256).then_some(1),
            When::Timed => (workload.message == 16).then_some(LATER),
        }
    }
}

impl Provider for Rigged {
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
        let (fault, at) = (self.fault, self.strikes_at(workload).unwrap_or(u64::MAX));
        let mut count = 0;
        let lost = match fault {
            Fault::Slow { fixed, per_byte } => fixed + per_byte * u64::from(workload.message),
            _ => 0,
        };
        let times = std::env::var(TIMES).ok().and_then(|times| times.parse().ok()).unwrap_or(1);
        let lost = Duration::from_nanos(lost * times);
        let outcome = self.inner.session(workload, keys, jobs, &mut |session| {
            let mut session = Misbehaving { session, fault, at, count: 0, lost };
            let outcome = body(&mut session);
            count = session.count;
            outcome
        });
        let struck = fault == Fault::WrongByte && count >= at && workload.phase != Phase::Setup;
        if let (true, [first, ..]) = (struck, jobs) {
            match &mut first.data {
                Data::Apart { output, .. } => flip(output),
                Data::InPlace(buffer) => flip(buffer),
            }
        }
        outcome
    }
}

fn flip(output: &mut [u8]) {
    if let Some(last) = output.last_mut() {
        *last ^= 1;
    }
}

struct Misbehaving<'a> {
    session: &'a mut dyn Session,
    fault: Fault,
    at: u64,
    count: u64,
    lost: Duration,
}

impl Session for Misbehaving<'_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        self.count += 1;
        if self.count == self.at {
            match self.fault {
                // SAFETY: none: the crash is intended.
                Fault::Segfault => unsafe { core::ptr::null_mut::<u8>().write_volatile(1) },
                Fault::IllegalInstruction => illegal_instruction(),
                Fault::Hang => loop {
                    std::thread::park();
                },
                Fault::Exit => std::process::exit(7),
                Fault::Print => println!("a library prints\0\0 something to standard output"),
                Fault::WrongByte | Fault::Slow { .. } => {}
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < self.lost {}
        self.session.submit(job)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.session.output(job)
    }
}

fn illegal_instruction() {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    // SAFETY: none: the crash is intended.
    unsafe {
        core::arch::asm!("ud2")
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
    std::process::abort();
}
