//! The kernel's crypto through AF_ALG sockets. Each driver is a separate provider: `af_alg:cbc-aes-aesni` binds
//! that driver, and `af_alg:cbc(aes)` lets the kernel choose a driver and reports which one it took.
//!
//! There is no user-space copy: the kernel reads from and writes to the job's own buffers, and copies the input
//! itself (since Linux 6.1.178, whatever the call). Requests are sent one at a time: neither asynchronous I/O
//! nor threads put more than one into a driver's queue from here.
//!
//! No call of this provider waits for room or for data for longer than a few seconds. A driver's work inside
//! the kernel cannot be interrupted from here: if an engine never answers, the process stays in the kernel and
//! the host gives it up.

mod availability;
mod request;
mod session;
mod socket;
mod survey;

pub use availability::{Around, Bind, classify, interface};
pub use survey::survey;

use cpb_core::kernel::Availability;

use crate::interrupts::{JobCounter, Lines, Wiring};
use crate::kernel_crypto::{self, Driver, kernel_name, kernel_names};
use crate::{Implementation, Unavailable};
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, Error, Identity, Job, Kind, Phase, Provider, Session,
    Unsupported,
};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use socket::Bound;
use std::path::Path;

pub(crate) const ENTRY: Implementation = Implementation {
    name: "af_alg",
    environment: Vec::new,
    executors: Some(variants),
    open: |variant| Ok(Box::new(open(variant)?)),
};

/// AF_ALG's types (`algif_*.c`).
const TYPES: [&str; 4] = ["skcipher", "aead", "hash", "rng"];

/// The root of the running kernel's `proc` and `sys`.
const ROOT: &str = "/";

/// The drivers of all algorithms that cpb knows, best first. Empty if AF_ALG reaches no algorithm.
fn variants() -> Vec<String> {
    let here =
        kernel_names().into_iter().filter(|(kind, name)| availability::bind(kind, name).is_ok());
    if here.count() == 0 {
        return Vec::new();
    }
    // Listed after binding, because the kernel lists templates only from their first use on.
    let drivers = kernel_crypto::drivers(Path::new(ROOT));
    let mut variants: Vec<String> = Vec::new();
    for (_, name) in kernel_names() {
        for driver in kernel_crypto::executors(&drivers, name) {
            if !variants.contains(&driver.driver) {
                variants.push(driver.driver.clone());
            }
        }
    }
    variants
}

/// One driver, or the driver that the kernel takes for an algorithm.
struct AfAlg {
    provider: String,
    version: String,
    executor: String,
    options: String,
    /// AF_ALG's type, and the name to bind.
    kind: &'static str,
    bind: String,
    /// What the kernel lists about the executor.
    driver: Driver,
    interrupts: Option<Lines>,
    jobs: Option<JobCounter>,
    claim: Claim,
}

fn open(variant: &str) -> Result<AfAlg, Unavailable> {
    availability::interface(Path::new(ROOT)).map_err(unavailable)?;
    if variant.is_empty() {
        return Err(nothing_named());
    }
    let (kind, driver) = find(variant).map_err(unavailable)?;
    if !driver.runs_any() {
        return Err(only_listed(&driver));
    }
    let (kernel, executor) = (kernel_crypto::release(Path::new(ROOT)), driver.driver.clone());
    let wiring = Wiring::current(Path::new(ROOT));
    Ok(AfAlg {
        provider: format!("{}:{variant}", ENTRY.name),
        version: kernel,
        options: kernel_crypto::described(&driver),
        kind,
        bind: variant.to_owned(),
        interrupts: wiring.to_watch(&executor),
        jobs: wiring.jobs_of(&[&executor]),
        // If the driver was bound by its own name, the user chose it.
        claim: wiring.claim(&driver, executor != variant),
        executor,
        driver,
    })
}

/// Binds `name`, and finds out which driver it stands for.
fn find(name: &str) -> Result<(&'static str, Driver), Availability> {
    let before = kernel_crypto::drivers(Path::new(ROOT));
    let listed = before.iter().find(|driver| driver.driver == name);
    let kinds: Vec<&'static str> = match listed.map(|driver| (driver, driver.af_alg_type())) {
        Some((driver, None)) => return Err(classify(driver, Ok(()), Around::NOTHING)),
        Some((_, Some(kind))) => vec![kind],
        // An algorithm, or a template that has not been used yet.
        None => TYPES.to_vec(),
    };
    let mut refused = Err(libc::ENOENT);
    for kind in kinds {
        match Bound::new(kind, name) {
            Ok(bound) => {
                let taken = taken(name, &before, &kernel_crypto::drivers(Path::new(ROOT)));
                drop(bound);
                let unknown =
                    || Driver { driver: format!("unknown, for {name}"), ..Driver::default() };
                return Ok((kind, taken.unwrap_or_else(unknown)));
            }
            Err(refusal) => refused = refused.and(Err(refusal.errno().unwrap_or(libc::ETIMEDOUT))),
        }
    }
    let Some(driver) = listed else {
        let known = kernel_names().into_iter().find(|(_, known)| *known == name);
        let kind = known.map(|(kind, _)| kind);
        return Err(match refused {
            Err(libc::ENOENT) => availability::nothing_called(name, kind, &type_is_here),
            refused => classify(
                &Driver { kind: "skcipher".to_owned(), ..Driver::default() },
                refused,
                Around::NOTHING,
            ),
        });
    };
    Err(classify(driver, refused, around(driver, &before)))
}

/// What else AF_ALG reaches of `driver`'s type. `listed` is the kernel's list of drivers.
fn around(driver: &Driver, listed: &[Driver]) -> Around {
    let kind = driver.af_alg_type().unwrap_or_default();
    let asynchronous = |other: &&Driver| {
        other.af_alg_type() == Some(kind) && other.asynchronous == Some(true) && !other.internal
    };
    Around {
        has_type: type_is_here(kind),
        asynchronous: listed
            .iter()
            .filter(asynchronous)
            .any(|other| availability::bind(kind, &other.driver).is_ok()),
        restricted: availability::restriction(Path::new(ROOT)) > 0
            && availability::bind(kind, &driver.name).is_err(),
    }
}

/// Whether AF_ALG has the type `kind`: an algorithm of that type can be bound, or the kernel reports the type.
fn type_is_here(kind: &str) -> bool {
    let of_kind = kernel_names().into_iter().filter(|(other, _)| *other == kind);
    of_kind.into_iter().any(|(kind, name)| availability::bind(kind, name).is_ok())
        || availability::has_type(Path::new(ROOT), kind)
}

/// Returns the driver that a socket bound to `name` took. That is the driver of that name or, if `name` is an
/// algorithm, the driver for it that has one user more than before. If other programs make this ambiguous, it
/// is the driver that the kernel prefers.
pub(crate) fn taken(name: &str, before: &[Driver], after: &[Driver]) -> Option<Driver> {
    if let Some(driver) = after.iter().find(|driver| driver.driver == name) {
        return Some(driver.clone());
    }
    let uses = |driver: &Driver| {
        let same = |old: &&Driver| (&old.driver, &old.name) == (&driver.driver, &driver.name);
        before.iter().find(same).map_or(1, |old| old.references)
    };
    let candidates = kernel_crypto::candidates(after, name);
    let mut more = candidates.iter().filter(|driver| driver.references > uses(driver));
    let only = more.next().filter(|_| more.next().is_none());
    only.or(candidates.first()).map(|driver| (*driver).clone())
}

/// The error for the interface's name without a driver, on a machine that has the interface.
fn nothing_named() -> Unavailable {
    let detail = match variants().is_empty() {
        true => availability::missing_type(None),
        false => format!("select one of its drivers, such as {}:{}", ENTRY.name, variants()[0]),
    };
    Unavailable { reason: Unsupported::Device, detail }
}

/// The error for a driver that AF_ALG reaches, but that computes nothing cpb can name, feed and compare.
fn only_listed(driver: &Driver) -> Unavailable {
    let detail = format!(
        "{} ({} {}) computes no algorithm that cpb knows; it is listed, but not measured",
        driver.driver, driver.kind, driver.name
    );
    Unavailable { reason: Unsupported::Algorithm, detail }
}

/// Translates an availability into the reasons that the runner protocol knows.
pub(crate) fn unavailable(reach: Availability) -> Unavailable {
    let reason = match &reach {
        Availability::Policy => Unsupported::Policy,
        Availability::Permission(_) => Unsupported::Permission,
        Availability::Absent(_)
        | Availability::KernelOnly
        | Availability::Reachable
        | Availability::InTest => Unsupported::Device,
        Availability::SelftestFailed | Availability::NotSetUp | Availability::Failed(_) => {
            Unsupported::Device
        }
    };
    Unavailable { reason, detail: reach.to_string() }
}

impl AfAlg {
    fn runs(&self, algorithm: Algorithm) -> bool {
        kernel_name(algorithm).is_some_and(|(kind, _)| kind == self.kind)
            && self.driver.runs(algorithm)
    }
}

impl Provider for AfAlg {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: &self.provider,
            version: &self.version,
            executor: &self.executor,
            options: &self.options,
        }
    }

    fn repeats(&self, workload: &CryptoWorkload) -> bool {
        // The kernel adds its own entropy to any seed, except in a kernel built for testing
        // (CONFIG_CRYPTO_USER_API_RNG_CAVP).
        workload.algorithm.shape().kind != Kind::Generator
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if !self.runs(workload.algorithm) {
            return Err(Unsupported::Algorithm);
        }
        software_supports(workload)?;
        let message = workload.message as usize;
        let (setup, update) = (workload.phase == Phase::Setup, workload.phase == Phase::Update);
        // In the middle of a chain the kernel works in blocks of 16 bytes, as it lists them, and waits until
        // one is whole.
        const CHAIN: usize = 16;
        match workload.algorithm.shape().kind {
            _ if setup => Ok(()),
            // An AEAD is one request, from associated data to tag.
            Kind::Aead if update => Err(Unsupported::Phase),
            // The kernel's ChaCha20 starts each request again with the IV that it was given.
            Kind::StreamCipher if update && session::is_one_request(workload.algorithm) => {
                Err(Unsupported::Phase)
            }
            _ if message > session::REQUEST && session::is_one_request(workload.algorithm) => {
                Err(Unsupported::Length)
            }
            Kind::Aead if workload.associated as usize > session::ASSOCIATED => {
                Err(Unsupported::Length)
            }
            // An empty message leaves nothing to read, so there is no operation.
            Kind::BlockCipher | Kind::StreamCipher if message == 0 => Err(Unsupported::Length),
            Kind::StreamCipher if update && !message.is_multiple_of(CHAIN) => {
                Err(Unsupported::Length)
            }
            _ => Ok(()),
        }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        keys_fit(workload.algorithm, keys)?;
        let jobs = RawJobs::new(workload, keys, jobs)?;
        session::run(self.kind, &self.bind, workload, keys, &jobs, body)
    }

    fn claim(&self) -> Claim {
        self.claim
    }

    fn interrupts(&self) -> Option<u64> {
        self.interrupts.as_ref()?.count()
    }

    fn jobs(&self) -> Option<u64> {
        self.jobs.as_ref()?.count()
    }
}
