//! The kernel's crypto from inside it: a module of cpb's own (`lab/kmod`) runs a workload on a driver that is named, in
//! a loop of its own. Only there can a driver's queue be kept full, whatever the kernel.
//!
//! `kernel:cbc-aes-aesni` is that driver, `kernel:cryptd(cbc(aes-generic))` a synchronous one behind a queue of the
//! kernel's, and `kernel:null` the null cipher, which copies: the floor of the kernel's crypto API.
//!
//! The module runs one request of one process at a time, and each process has it open only while it uses it.

mod abi;
mod device;
mod session;

use crate::interrupts::{JobCounter, Lines, Wiring};
use crate::kernel_crypto::{self, Driver, kernel_names};
use crate::{Implementation, Unavailable};
use abi::Run;
use cpb_core::catalog;
use cpb_core::{
    Claim, CryptoWorkload, Error, Identity, Job, KeyUse, Kind, Phase, Provider, Session,
    Unsupported,
};
use cpb_session::lengths::keys_fit;
use device::{Refused, Request, RunnerDevice};
use session::InKernelSession;
use std::io;
use std::path::Path;

pub(crate) const ENTRY: Implementation = Implementation {
    name: catalog::KERNEL,
    environment: Vec::new,
    executors: Some(variants),
    open: |variant| Ok(Box::new(open(variant)?)),
};

/// The root of the running kernel's `proc` and `sys`.
const ROOT: &str = "/";

/// The variant that measures the floor, and the kernel's name for its driver.
const FLOOR: &str = "null";
const FLOOR_DRIVER: &str = "ecb-cipher_null";

/// As many jobs as fill any queue that is known: a job ring of Linux's driver for the CAAM has 512 entries
/// (`CONFIG_CRYPTO_DEV_FSL_CAAM_RINGSIZE`), and a virtqueue of virtio-crypto 1024 descriptors, of which a request takes
/// several. What a driver cannot take, the kernel keeps in its backlog.
const RING: usize = 512;

/// The template that puts a queue of the kernel's before a driver.
const QUEUE: &str = "cryptd";

/// One driver.
struct Kernel {
    provider: String,
    version: String,
    driver: Driver,
    /// The module's kind of algorithm.
    kind: u32,
    options: String,
    interrupts: Option<Lines>,
    jobs: Option<JobCounter>,
    claim: Claim,
}

/// The drivers of all algorithms that cpb knows, best first, and the floor. Empty without the module.
fn variants() -> Vec<String> {
    let Ok(device) = RunnerDevice::open() else { return Vec::new() };
    for (_, name) in kernel_names() {
        instantiate(&device, name);
    }
    // Encrypt-then-MAC in one pass by each of the ciphers, not only by the one that the kernel prefers.
    let drivers = kernel_crypto::drivers(Path::new(ROOT));
    for cipher in kernel_crypto::executors(&drivers, "cbc(aes)") {
        for hash in ["sha1", "sha256"] {
            instantiate(&device, &format!("authenc(hmac({hash}),{})", cipher.driver));
        }
    }
    instantiate(&device, FLOOR_DRIVER);
    drop(device);
    let drivers = kernel_crypto::drivers(Path::new(ROOT));
    let mut variants: Vec<String> = Vec::new();
    for (_, name) in kernel_names() {
        for driver in kernel_crypto::executors(&drivers, name) {
            let runs = session::kind(&driver.kind).is_some();
            if runs && !variants.contains(&driver.driver) {
                variants.push(driver.driver.clone());
            }
        }
    }
    if drivers.iter().any(|driver| driver.driver == FLOOR_DRIVER) {
        variants.push(FLOOR.to_owned());
    }
    variants
}

/// Makes the kernel set up what is called `name`, of whatever type: it lists a template's drivers only from their first
/// use on. The module refuses each of these runs, because no driver has lengths that do not exist.
fn instantiate(device: &RunnerDevice, name: &str) {
    if name.len() >= abi::NAME {
        return;
    }
    for (kind, operation) in
        [(abi::SKCIPHER, abi::ENCRYPT), (abi::AEAD, abi::ENCRYPT), (abi::AHASH, abi::DIGEST)]
    {
        let mut run = Run { kind, operation, jobs: 1, message_len: 16, ..Run::EMPTY };
        run.output_len = if kind == abi::AHASH { 127 } else { run.message_len };
        run.iv_len = if kind == abi::AHASH { 0 } else { 31 };
        run.driver[..name.len()].copy_from_slice(name.as_bytes());
        let mut request = Request::new(run);
        request.inputs = vec![0; run.input_len()];
        request.ivs = vec![0; run.iv_len as usize];
        let _ = device.run(&mut request);
    }
}

fn open(variant: &str) -> Result<Kernel, Unavailable> {
    let device = RunnerDevice::open().map_err(cannot_open)?;
    check_version(&device)?;
    if variant.is_empty() {
        let detail =
            format!("select one of the kernel's drivers, such as {}:cbc-aes-aesni", ENTRY.name);
        return Err(Unavailable { reason: Unsupported::Device, detail });
    }
    let wanted = if variant == FLOOR { FLOOR_DRIVER } else { variant };
    let driver = find(wanted).or_else(|| {
        instantiate(&device, wanted);
        find(wanted)
    });
    drop(device);
    let driver = driver.ok_or_else(|| no_such(wanted))?;
    let Some(kind) = session::kind(&driver.kind).filter(|_| !driver.internal) else {
        let detail = format!(
            "{wanted} is a driver of the type {}, which the module cannot use",
            driver.kind
        );
        return Err(Unavailable { reason: Unsupported::Algorithm, detail });
    };
    let wiring = Wiring::current(Path::new(ROOT));
    Ok(Kernel {
        provider: format!("{}:{variant}", ENTRY.name),
        version: kernel_crypto::release(Path::new(ROOT)),
        options: kernel_crypto::described(&driver),
        interrupts: wiring.to_watch(&driver.driver),
        jobs: wiring.jobs_of(&[&driver.driver]),
        claim: wiring.claim(&driver, false),
        driver,
        kind,
    })
}

fn find(name: &str) -> Option<Driver> {
    let drivers = kernel_crypto::drivers(Path::new(ROOT));
    drivers.into_iter().find(|driver| driver.driver == name && !driver.is_larval())
}

/// Returns an error if the module was built from other sources than this cpb, or cannot run anything.
fn check_version(device: &RunnerDevice) -> Result<(), Unavailable> {
    let mut request = Request::new(Run { jobs: 1, ..Run::EMPTY });
    let detail = match device.run(&mut request) {
        // A module of this version refuses the run for what it says.
        Err(Refused { errno: libc::EINVAL, words }) if !words.contains("version") => return Ok(()),
        Err(Refused { errno: libc::EIO, words }) => format!("{}: {words}", device::PATH),
        _ => format!(
            "the module behind {} is of another version of cpb: build it again with `make kmod KDIR=…` in this cpb's \
             sources, and load that one",
            device::PATH
        ),
    };
    Err(Unavailable { reason: Unsupported::Device, detail })
}

/// Why the device cannot be opened.
fn cannot_open(error: io::Error) -> Unavailable {
    let path = device::PATH;
    let (reason, detail) = match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENXIO | libc::ENODEV) => (
            Unsupported::Device,
            format!(
                "no {path}: cpb's kernel module is not loaded; build it for this kernel with `make kmod KDIR=…` in \
                 cpb's sources, then insmod lab/kmod/cpb_runner.ko (the lab's x86_64 guests have it)"
            ),
        ),
        Some(libc::EACCES | libc::EPERM) => {
            (Unsupported::Permission, format!("{path} is for root alone: run cpb as root"))
        }
        Some(libc::EBUSY) => (
            Unsupported::Device,
            format!("{path} is in use by another program, such as another cpb"),
        ),
        _ => (Unsupported::Device, format!("{path} cannot be opened: {error}")),
    };
    Unavailable { reason, detail }
}

/// Why there is no driver called `name`.
fn no_such(name: &str) -> Unavailable {
    let drivers = kernel_crypto::drivers(Path::new(ROOT));
    let of_algorithm: Vec<&str> = kernel_crypto::candidates(&drivers, name)
        .into_iter()
        .map(|driver| driver.driver.as_str())
        .collect();
    let detail = if of_algorithm.is_empty() {
        format!("this kernel has no driver {name} (`cpb list --kernel` shows those that it has)")
    } else {
        format!("{name} is an algorithm; name one of its drivers: {}", of_algorithm.join(", "))
    };
    Unavailable { reason: Unsupported::Device, detail }
}

/// Returns an error if the module does not take these keys.
fn takes(keys: &[&[u8]]) -> Result<(), Unsupported> {
    let fits = |key: &&[u8]| (1..=abi::MAX_KEY).contains(&key.len());
    match (keys.len() <= abi::MAX_KEYS, keys.iter().all(fits)) {
        (false, _) => Err(Unsupported::Mode),
        (_, false) => Err(Unsupported::Length),
        _ => Ok(()),
    }
}

impl Kernel {
    fn is_floor(&self) -> bool {
        self.driver.driver == FLOOR_DRIVER
    }

    /// Whether a queue of the kernel's, without an engine, is what runs it.
    fn is_queue(&self) -> bool {
        self.driver.driver.starts_with(QUEUE)
    }
}

impl Provider for Kernel {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: &self.provider,
            version: &self.version,
            executor: &self.driver.driver,
            options: &self.options,
        }
    }

    fn claim(&self) -> Claim {
        // The queue's driver is asynchronous without a device, which otherwise hides one.
        if self.is_queue() { Claim::Kernel } else { self.claim }
    }

    fn interrupts(&self) -> Option<u64> {
        self.interrupts.as_ref()?.count()
    }

    fn jobs(&self) -> Option<u64> {
        self.jobs.as_ref()?.count()
    }

    fn ring(&self) -> usize {
        RING
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        let kind = workload.algorithm.shape().kind;
        let ciphers = matches!(kind, Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher);
        let takes_keys = workload.phase != Phase::MessageWithKey && workload.keys == KeyUse::Reused;
        let runs = match self.is_floor() {
            // The null cipher has no key.
            true => ciphers && takes_keys,
            false => self.driver.runs(workload.algorithm),
        };
        if !runs {
            return Err(Unsupported::Algorithm);
        }
        session::supports(workload)
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
        if workload.algorithm.shape().key > 0 {
            takes(keys)?;
        }
        let device = RunnerDevice::open().map_err(|error| match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => Unsupported::Permission.into(),
            Some(libc::ENOENT) => Unsupported::Device.into(),
            errno => Error::Device(errno.unwrap_or(libc::EIO)),
        })?;
        let ignores_keys = self.is_floor();
        let name = &self.driver.driver;
        let mut session =
            InKernelSession::new(device, name, self.kind, ignores_keys, workload, keys, jobs)?;
        body(&mut session)
    }
}
