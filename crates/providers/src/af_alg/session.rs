//! Sessions: how a workload becomes system calls.
//!
//! An operation on a message is one `sendmsg` and one `recv`. A message longer than [`REQUEST`] takes several
//! of each, chained by the kernel (`MSG_MORE`). Random bytes take one `recv` for each [`ANSWER`]. The kernel
//! computes during `recv`, or for a hash during `sendmsg`, whatever the driver does meanwhile, so nothing is
//! ever in flight between calls.

use super::request::{self, Control, Direction, Gathered, RequestLengths};
use super::socket::{Bound, Refusal, Stream};
use crate::kernel_crypto::material;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Kind, Operation, Phase, Progress, Session, Unsupported,
};
use cpb_session::raw_jobs::{RawJob, RawJobs};

/// The most bytes of a message that go into one request. Twice as many make QEMU's virtio-crypto device fail
/// and leave the process in the kernel, where no signal reaches it. A hash works on at most 16 pages at once in
/// any case (`ALG_MAX_PAGES` of include/crypto/if_alg.h).
pub(super) const REQUEST: usize = 64 << 10;

/// The most bytes that a generator returns in one answer: `MAXSIZE` of crypto/algif_rng.c.
const ANSWER: usize = 128;

/// The most associated data, in bytes, with which a request still has an ordinary size: one page.
pub(super) const ASSOCIATED: usize = 4096;

/// Requests take whole pages of a message. With its associated data and tag, a request must fit in the socket
/// at once.
const PAGE: usize = 4096;

pub(super) type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;

/// Opens a session for `workload` on the driver or algorithm `name` and hands it to `body`.
pub(super) fn run(
    kind: &str,
    name: &str,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let shape = workload.algorithm.shape();
    let bound = Bound::new(kind, name).map_err(opening)?;
    if shape.tag > 0 {
        bound.set_tag_length(shape.tag).map_err(error)?;
    }
    // Once, before anything is timed.
    let keys: Vec<_> = keys.iter().map(|key| material::key(workload.algorithm, key)).collect();
    if workload.phase == Phase::Setup {
        let run = |job: &RawJob| bound.set_key(&keys[job.key]).map_err(error);
        return body(&mut Submit { jobs, run });
    }
    let with_key = workload.phase == Phase::MessageWithKey;
    if shape.key > 0 {
        // Also for a key with each message, so that a refused key is refused here.
        bound.set_key(&keys[jobs.job(0)?.key]).map_err(error)?;
    }
    let chunk = chunk(&bound.accept().map_err(error)?, workload.algorithm, jobs)?;
    let mut way = Way::new(workload, jobs, chunk)?;
    if with_key {
        let run = |job: &RawJob, number: usize| {
            // The key belongs to the bound socket, which accepts no key while a stream is open.
            bound.set_key(&keys[job.key])?;
            way.run(&bound.accept()?, job, number)
        };
        return body(&mut Numbered { jobs, run });
    }
    let stream = bound.accept().map_err(error)?;
    body(&mut Numbered { jobs, run: |job: &RawJob, number| way.run(&stream, job, number) })
}

/// Whether a message must be one request: AEAD messages and sectors cannot be split, and the kernel does not
/// pass on a state for ChaCha20.
pub(super) fn is_one_request(algorithm: Algorithm) -> bool {
    let kind = algorithm.shape().kind;
    matches!(kind, Kind::Aead | Kind::SectorCipher) || algorithm == Algorithm::Chacha20
}

/// How much of a message goes into one request: [`REQUEST`], or fewer whole pages if the system's sockets hold
/// less.
fn chunk(stream: &Stream, algorithm: Algorithm, jobs: &RawJobs<'_>) -> Result<usize, Error> {
    let capacity = stream.capacity().map_err(error)?;
    let beside = jobs.associated + material::authenticated_iv(algorithm) + algorithm.shape().tag;
    let chunk = (capacity.saturating_sub(beside) / PAGE * PAGE).min(REQUEST);
    let fits_at_all = chunk > 0 && (!is_one_request(algorithm) || jobs.message <= chunk);
    if fits_at_all { Ok(chunk) } else { Err(Unsupported::Length.into()) }
}

/// How the messages of one workload go through a stream.
struct Way {
    kind: Kind,
    update: bool,
    chunk: usize,
    digest: usize,
    direction: Direction,
    lengths: RequestLengths,
    /// The memory for associated data that the kernel returns. `lengths.scratch` points to it.
    _scratch: Vec<u8>,
    /// Operation and IV of each job, indexed by the job's number.
    controls: Vec<Control>,
    /// A stream of updates has begun: the kernel now keeps the IV.
    begun: bool,
}

impl Way {
    fn new(workload: &CryptoWorkload, jobs: &RawJobs<'_>, chunk: usize) -> Result<Way, Error> {
        let shape = workload.algorithm.shape();
        let direction = match workload.operation {
            Operation::Decrypt => Direction::Decrypt,
            _ => Direction::Encrypt,
        };
        let aead = shape.kind == Kind::Aead;
        let authenticated_iv = material::authenticated_iv(workload.algorithm);
        let associated = aead.then_some(workload.associated + authenticated_iv as u32);
        let control = |job: &RawJob| {
            // SAFETY: `RawJobs::new` checked that the IV has this length.
            let given = unsafe { std::slice::from_raw_parts(job.iv, shape.iv) };
            Control::new(direction, &material::iv(workload.algorithm, given), associated)
        };
        let ciphers = matches!(workload.operation, Operation::Encrypt | Operation::Decrypt);
        let controls = if ciphers { jobs.all().iter().map(control).collect() } else { Vec::new() };
        let mut scratch = vec![0; (jobs.associated + authenticated_iv).max(1)];
        let lengths = RequestLengths {
            message: jobs.message,
            associated: jobs.associated,
            tag: shape.tag,
            iv: authenticated_iv,
            scratch: scratch.as_mut_ptr(),
        };
        Ok(Way {
            kind: shape.kind,
            update: workload.phase == Phase::Update,
            chunk,
            digest: shape.digest,
            direction,
            lengths,
            _scratch: scratch,
            controls,
            begun: false,
        })
    }

    /// Runs one operation. The job must be one of those that `controls` were made for.
    #[inline]
    fn run(&mut self, stream: &Stream, job: &RawJob, number: usize) -> Result<(), Refusal> {
        match self.kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher => {
                self.cipher(stream, job, number)
            }
            Kind::Aead => self.aead(stream, job, number),
            Kind::Hash | Kind::Mac => self.hash(stream, job),
            Kind::Generator => self.random(stream, job),
            // The kernel has no such algorithm, so no session was opened.
            Kind::Record
            | Kind::Copy
            | Kind::Signature
            | Kind::KeyAgreement
            | Kind::KeyEncapsulation => Err(Refusal::Errno(libc::EOPNOTSUPP)),
        }
    }

    #[inline]
    fn cipher(&mut self, stream: &Stream, job: &RawJob, number: usize) -> Result<(), Refusal> {
        let message = self.lengths.message;
        let mut offset = 0;
        while offset < message {
            let length = self.chunk.min(message - offset);
            let parts = request::piece_in(job, offset, length);
            let first = offset == 0 && !self.begun;
            let control = if first { self.controls.get(number) } else { None };
            let more = self.update || offset + length < message;
            send(stream, control, &parts, more)?;
            receive(stream, &request::piece_out(job, offset, length), length)?;
            offset += length;
        }
        self.begun = self.update;
        Ok(())
    }

    #[inline]
    fn aead(&self, stream: &Stream, job: &RawJob, number: usize) -> Result<(), Refusal> {
        let (lengths, direction) = (&self.lengths, self.direction);
        let parts = request::sealed_in(job, lengths, direction);
        send(stream, self.controls.get(number), &parts, false)?;
        let tag = if direction == Direction::Encrypt { lengths.tag } else { 0 };
        let length = lengths.associated + lengths.iv + lengths.message + tag;
        receive(stream, &request::sealed_out(job, lengths, direction), length)
    }

    #[inline]
    fn hash(&self, stream: &Stream, job: &RawJob) -> Result<(), Refusal> {
        let message = self.lengths.message;
        let mut offset = 0;
        loop {
            let length = self.chunk.min(message - offset);
            let last = offset + length == message;
            let parts = request::piece_in(job, offset, length);
            send(stream, None, &parts, self.update || !last)?;
            offset += length;
            if last {
                break;
            }
        }
        if self.update {
            return Ok(());
        }
        receive(stream, &request::piece_out(job, 0, self.digest), self.digest)
    }

    #[inline]
    fn random(&self, stream: &Stream, job: &RawJob) -> Result<(), Refusal> {
        let message = self.lengths.message;
        let mut offset = 0;
        while offset < message {
            let length = ANSWER.min(message - offset);
            receive(stream, &request::piece_out(job, offset, length), length)?;
            offset += length;
        }
        Ok(())
    }
}

#[inline]
fn send(
    stream: &Stream,
    control: Option<&Control>,
    parts: &Gathered,
    more: bool,
) -> Result<(), Refusal> {
    let header = request::header(control, parts.as_slice());
    // SAFETY: the parts are pieces of a job's buffers. `RawJobs::new` checked that they have the workload's
    // lengths, and they are borrowed for the session.
    unsafe { stream.send(&header, parts.length(), more) }
}

#[inline]
fn receive(stream: &Stream, parts: &Gathered, length: usize) -> Result<(), Refusal> {
    // SAFETY: as above; outputs and tags are borrowed for writing, and the scratch space is `Way`'s.
    unsafe { stream.receive(parts.as_slice(), length) }
}

/// A session whose entire work is a function of the job.
struct Submit<'a, F> {
    jobs: &'a RawJobs<'a>,
    run: F,
}

impl<F: FnMut(&RawJob) -> Result<(), Error>> Session for Submit<'_, F> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        (self.run)(self.jobs.job(job)?)?;
        Ok(Progress::Done)
    }
}

/// The same with the job's number, for data that was prepared for each job.
struct Numbered<'a, F> {
    jobs: &'a RawJobs<'a>,
    run: F,
}

impl<F: FnMut(&RawJob, usize) -> Result<(), Refusal>> Session for Numbered<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        match (self.run)(self.jobs.job(job)?, job) {
            Ok(()) => Ok(Progress::Done),
            Err(refusal) => Err(error(refusal)),
        }
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// The error for a refusal in the middle of a session. EBADMSG means that a tag does not verify.
fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Errno(libc::EBADMSG) => Error::Refused,
        Refusal::Errno(errno) => Error::Device(errno),
        Refusal::Timeout => Error::Timeout,
    }
}

/// The error for a refusal by a driver that was there when the provider was opened.
fn opening(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Errno(libc::ENOENT | libc::ENODEV) => Unsupported::Device.into(),
        Refusal::Errno(libc::EACCES | libc::EPERM) => Unsupported::Permission.into(),
        refusal => error(refusal),
    }
}
