//! The kernel's crypto through `/dev/crypto`, the interface of the module cryptodev-linux.
//!
//! The module takes the driver with the highest priority for an algorithm, and a program cannot choose another.
//! So there is one provider for each of the kernel's algorithms, such as `cryptodev:cbc(aes)`, and its executor
//! is the driver that the module says it took. `cryptodev:null` sends messages through the kernel's null
//! cipher, which copies: it measures the floor of the interface.
//!
//! Buffers that meet the driver's alignment are mapped into the kernel (zero-copy). Others are silently copied
//! a page at a time. The identity's options state the alignment.
//!
//! An ioctl cannot be interrupted while a driver works on it, so a timeout here would not help. A runner is a
//! separate process, and a host that gets no answer from it ends the cell. Requests are sent one at a time: the
//! module's asynchronous calls exist in special builds only, and are declared in [`abi`].

mod abi;
mod device;
mod errors;
mod messages;
mod open;
mod sealed;
mod session;

use crate::interrupts::{JobCounter, Lines, Wiring};
use crate::{Implementation, Unavailable, kernel_crypto};
use cpb_core::catalog;
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, Error, Identity, Job, Phase, Provider, Session, Unsupported,
};
use cpb_session::raw_jobs::{RawJobs, software_supports};
use device::{Device, Errno, Node};
use errors::{cannot_open, failed, no_session, no_such, nothing_offered};
use messages::SessionLengths;
use open::OpenSession;
use sealed::Sealed;
use session::{Driver, File, KernelSession, Kind, Transform};
use std::path::Path;

/// The longest message of one request, in bytes. A request that is too large for the device leaves the process
/// in the kernel, where no signal reaches it. virtio-crypto takes 64 KiB through this interface, and a device
/// emulated by QEMU fails at twice that.
const LONGEST: u32 = 64 << 10;

/// The longest associated data, in bytes: the module keeps it in one page, and Linux has no pages smaller than
/// 4 KiB.
const MOST_ASSOCIATED: u32 = 4096;

/// The variant that measures the floor of the interface.
const FLOOR: &str = "null";

static NULL_CIPHER: Transform =
    Transform { name: "ecb(cipher_null)", number: abi::NULL, kind: Kind::Cipher };

static TRANSFORMS: [Transform; 17] = [
    Transform { name: "cbc(aes)", number: abi::AES_CBC, kind: Kind::Cipher },
    Transform { name: "ecb(aes)", number: abi::AES_ECB, kind: Kind::Cipher },
    Transform { name: "ctr(aes)", number: abi::AES_CTR, kind: Kind::Cipher },
    Transform { name: "xts(aes)", number: abi::AES_XTS, kind: Kind::Cipher },
    Transform { name: "gcm(aes)", number: abi::AES_GCM, kind: Kind::Aead },
    Transform { name: "cbc(camellia)", number: abi::CAMELLIA_CBC, kind: Kind::Cipher },
    Transform { name: "cbc(des3_ede)", number: abi::TRIPLE_DES_CBC, kind: Kind::Cipher },
    Transform { name: "cbc(des)", number: abi::DES_CBC, kind: Kind::Cipher },
    Transform { name: "md5", number: abi::MD5, kind: Kind::Digest },
    Transform { name: "sha1", number: abi::SHA1, kind: Kind::Digest },
    Transform { name: "sha224", number: abi::SHA224, kind: Kind::Digest },
    Transform { name: "sha256", number: abi::SHA256, kind: Kind::Digest },
    Transform { name: "sha384", number: abi::SHA384, kind: Kind::Digest },
    Transform { name: "sha512", number: abi::SHA512, kind: Kind::Digest },
    Transform { name: "hmac(sha1)", number: abi::HMAC_SHA1, kind: Kind::Digest },
    Transform { name: "hmac(sha256)", number: abi::HMAC_SHA256, kind: Kind::Digest },
    Transform { name: "hmac(sha512)", number: abi::HMAC_SHA512, kind: Kind::Digest },
];

/// Returns the module's transform for an algorithm. The module has no ChaCha20, SHA-3, CMAC or CCM.
fn transform(algorithm: Algorithm) -> Option<&'static Transform> {
    let (_, name) = kernel_crypto::kernel_name(algorithm)?;
    TRANSFORMS.iter().find(|transform| transform.name == name)
}

/// An algorithm that this provider offers, and the driver that runs it.
struct Offered {
    algorithm: Algorithm,
    transform: &'static Transform,
    driver: Driver,
}

/// `/dev/crypto`, for one of the kernel's algorithms or the null cipher.
struct Cryptodev<D> {
    device: D,
    name: String,
    version: String,
    executor: String,
    options: String,
    offered: Vec<Offered>,
    claim: Claim,
    /// The interrupt lines of the drivers' devices.
    lines: Option<Lines>,
    jobs: Option<JobCounter>,
}

pub(crate) const ENTRY: Implementation = Implementation {
    name: catalog::CRYPTODEV,
    environment: Vec::new,
    executors: Some(|| variants(&Node)),
    open: |variant| Ok(Box::new(open(Node, variant, Path::new("/"))?)),
};

/// The kernel's names of the algorithms that are available here, and the floor.
fn variants<D: Device>(device: &D) -> Vec<String> {
    let Ok(file) = File::open(device) else { return Vec::new() };
    let all = asked_for("").chain(asked_for(FLOOR));
    let here = all.filter(|(algorithm, transform)| driver(&file, *algorithm, transform).is_ok());
    let mut names = Vec::new();
    for (_, transform) in here {
        let name = if *transform == NULL_CIPHER { FLOOR } else { transform.name };
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// What a variant asks the module for: an algorithm each with its transform. An empty variant asks for all of
/// them.
fn asked_for(variant: &str) -> impl Iterator<Item = (Algorithm, &'static Transform)> {
    let floor = variant == FLOOR;
    Algorithm::ALL.iter().filter_map(move |&algorithm| {
        let transform = transform(algorithm)?;
        if floor {
            // The module has no other null: hashing nothing and sealing nothing are not requests.
            return (transform.kind == Kind::Cipher).then_some((algorithm, &NULL_CIPHER));
        }
        let wanted = variant.is_empty() || variant == transform.name;
        wanted.then_some((algorithm, transform))
    })
}

/// Opens the device and asks which driver runs what: for one of the kernel's algorithms, for the null cipher,
/// or, if `variant` is empty, for all algorithms. `root` is where the kernel's files are: `/`, or a copy in a
/// test.
fn open<D: Device>(device: D, variant: &str, root: &Path) -> Result<Cryptodev<D>, Unavailable> {
    let offered = offers(&device, asked_for(variant))?;
    if offered.is_empty() {
        return Err(nothing_offered(variant));
    }
    let name = match variant {
        "" => ENTRY.name.to_owned(),
        variant => format!("{}:{variant}", ENTRY.name),
    };
    let Served { executor, claim, lines, jobs } = Served::by(&offered, &Wiring::current(root));
    let (version, options) = (kernel_crypto::release(root), options(&offered));
    Ok(Cryptodev { device, name, version, executor, options, claim, offered, lines, jobs })
}

/// Returns those of `asked` that the module has, each with the driver that it takes.
fn offers<D: Device>(
    device: &D,
    asked: impl Iterator<Item = (Algorithm, &'static Transform)>,
) -> Result<Vec<Offered>, Unavailable> {
    let file = File::open(device).map_err(cannot_open)?;
    let mut offered = Vec::new();
    for (algorithm, transform) in asked {
        match driver(&file, algorithm, transform) {
            Ok(driver) => offered.push(Offered { algorithm, transform, driver }),
            // The module's answer if the kernel lacks the algorithm. Newer modules say ENOENT.
            Err(Errno(libc::EINVAL | libc::ENOENT)) => {}
            Err(error) => return Err(no_session(transform, error)),
        }
    }
    Ok(offered)
}

/// What serves a program that asks the module for some algorithms, and how to observe it.
pub(crate) struct Served {
    /// The drivers, each named once.
    pub(crate) executor: String,
    /// Where they run; `Unknown` if some run in an engine and others do not.
    pub(crate) claim: Claim,
    /// The interrupt lines to watch while they work.
    pub(crate) lines: Option<Lines>,
    /// The count of the engines behind them, if their driver shows it.
    pub(crate) jobs: Option<JobCounter>,
}

impl Served {
    /// Returns what serves another program on this machine that asks for the algorithms for which `has` is
    /// true. The module takes the same driver for every program.
    ///
    /// # Errors
    /// Returns an error if the module cannot be asked or has none of these algorithms.
    pub(crate) fn here(has: impl Fn(Algorithm) -> bool) -> Result<Served, Unavailable> {
        Served::at(&Node, has, Path::new("/"))
    }

    fn at<D: Device>(
        device: &D,
        has: impl Fn(Algorithm) -> bool,
        root: &Path,
    ) -> Result<Served, Unavailable> {
        let offered = offers(device, asked_for("").filter(|(algorithm, _)| has(*algorithm)))?;
        if offered.is_empty() {
            return Err(nothing_offered(""));
        }
        Ok(Served::by(&offered, &Wiring::current(root)))
    }

    /// `offered` must not be empty.
    fn by(offered: &[Offered], wiring: &Wiring) -> Served {
        let lines = offered.iter().filter_map(|one| wiring.to_watch(&one.driver.name));
        let lines = lines.reduce(|all, more| all.and(&more));
        let names: Vec<&str> = offered.iter().map(|one| &*one.driver.name).collect();
        let jobs = wiring.jobs_of(&names);
        Served { executor: executor(offered), claim: claim(wiring, offered), lines, jobs }
    }
}

/// Returns the driver that the kernel takes for `algorithm`, from a session opened for this question only.
fn driver<D: Device>(
    file: &File<'_, D>,
    algorithm: Algorithm,
    transform: &Transform,
) -> Result<Driver, Errno> {
    let key = [0; cpb_core::algorithm::MAX_KEY];
    let length = if transform.number == abi::NULL { 0 } else { algorithm.shape().key };
    let session = KernelSession::open(file, transform, &key[..length])?;
    let driver = session.driver(transform)?;
    session.close()?;
    Ok(driver)
}

/// Where the drivers of the offered algorithms run, according to the kernel's list. `Unknown` if they run in
/// different places.
fn claim(wiring: &Wiring, offered: &[Offered]) -> Claim {
    let of_one = |offered: &Offered| {
        let same = |known: &&kernel_crypto::Driver| known.driver == offered.driver.name;
        match wiring.drivers().iter().find(same) {
            _ if offered.driver.kernel_only => Claim::Engine,
            Some(driver) => wiring.claim(driver, true),
            None => Claim::Unknown,
        }
    };
    let first = of_one(&offered[0]);
    if offered.iter().all(|offered| of_one(offered) == first) { first } else { Claim::Unknown }
}

/// The drivers, each once, with the algorithm's name if there is more than one algorithm.
fn executor(offered: &[Offered]) -> String {
    let one = offered.iter().all(|other| other.transform == offered[0].transform);
    let name = |offered: &Offered| match one {
        true => offered.driver.name.clone(),
        false => format!("{} by {}", offered.transform.name, offered.driver.name),
    };
    each_once(offered.iter().map(name))
}

/// What another run must reproduce, above all which buffers are mapped instead of copied.
fn options(offered: &[Offered]) -> String {
    let driver = |offered: &Offered| {
        let Driver { name, alignmask, kernel_only } = &offered.driver;
        let alignment = u32::from(*alignmask) + 1;
        let only = if *kernel_only { ", kernel driver only" } else { "" };
        format!("{name}: buffers aligned to {alignment} B are mapped, others copied{only}")
    };
    each_once(offered.iter().map(driver))
}

fn each_once(words: impl Iterator<Item = String>) -> String {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen.join(", ")
}

impl<D: Device> Provider for Cryptodev<D> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: &self.name,
            version: &self.version,
            executor: &self.executor,
            options: &self.options,
        }
    }

    fn claim(&self) -> Claim {
        self.claim
    }

    fn interrupts(&self) -> Option<u64> {
        self.lines.as_ref().and_then(Lines::count)
    }

    fn jobs(&self) -> Option<u64> {
        self.jobs.as_ref()?.count()
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        self.offered(workload.algorithm)?;
        if workload.phase == Phase::Update {
            // The module has updates for hashes only, and keeps no state of a cipher between calls.
            return Err(Unsupported::Phase);
        }
        // The module takes only whole blocks for what the kernel calls a block cipher, which includes sectors.
        let sector = workload.algorithm.shape().kind == cpb_core::Kind::SectorCipher;
        if sector && !workload.message.is_multiple_of(16) {
            return Err(Unsupported::Length);
        }
        if workload.message > LONGEST || workload.associated > MOST_ASSOCIATED {
            return Err(Unsupported::Length);
        }
        Ok(())
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        let transform = self.offered(workload.algorithm)?.transform;
        let keys = usable(workload, transform, keys)?;
        let jobs = RawJobs::new(workload, &keys, jobs)?;
        let shape = workload.algorithm.shape();
        let lengths = SessionLengths {
            direction: messages::direction(workload.operation),
            message: jobs.message,
            associated: jobs.associated,
            iv: if transform.number == abi::NULL { 0 } else { shape.iv },
            tag: shape.tag,
        };
        let sealed = match transform.kind {
            Kind::Aead => Some(Sealed::new(&jobs, lengths)?),
            Kind::Cipher | Kind::Digest => None,
        };
        let file = File::open(&self.device).map_err(failed)?;
        let mut sessions = Vec::new();
        if workload.phase == Phase::Message {
            for key in &keys {
                sessions.push(KernelSession::open(&file, transform, key).map_err(no_such)?);
            }
        }
        let phase = workload.phase;
        let mut open = OpenSession {
            file: &file,
            transform,
            phase,
            keys: &keys,
            sessions,
            jobs: &jobs,
            sealed,
            lengths,
        };
        body(&mut open)?;
        let OpenSession { sessions, sealed, .. } = open;
        if let Some(sealed) = sealed {
            sealed.give_back();
        }
        sessions.into_iter().try_for_each(|session| session.close().map_err(failed))
    }
}

impl<D> Cryptodev<D> {
    fn offered(&self, algorithm: Algorithm) -> Result<&Offered, Unsupported> {
        let found = self.offered.iter().find(|offered| offered.algorithm == algorithm);
        found.ok_or(Unsupported::Algorithm)
    }
}

/// The keys of a session's jobs: the given keys, if the module takes their lengths, or one empty key for an
/// algorithm without keys.
fn usable<'k>(
    workload: &CryptoWorkload,
    transform: &Transform,
    keys: &[&'k [u8]],
) -> Result<Vec<&'k [u8]>, Unsupported> {
    let shape = workload.algorithm.shape();
    if shape.key == 0 {
        return Ok(vec![&[]]);
    }
    let fits = |key: &&[u8]| match transform.kind {
        Kind::Digest => (1..=abi::MAX_HMAC_KEY).contains(&key.len()),
        Kind::Cipher | Kind::Aead => key.len() == shape.key,
    };
    if keys.is_empty() || !keys.iter().all(fits) {
        return Err(Unsupported::Length);
    }
    // The null cipher takes no key, but each job still refers to one.
    let own = |key: &&'k [u8]| if transform.number == abi::NULL { &[] } else { *key };
    Ok(keys.iter().map(own).collect())
}

#[cfg(all(test, feature = "mbedtls"))]
mod stand_in;
#[cfg(all(test, feature = "mbedtls"))]
mod tests;
