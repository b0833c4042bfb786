//! An open session: how each phase of a workload becomes requests to the module.

use super::device::Device;
use super::errors::failed;
use super::messages::{self, SessionLengths};
use super::sealed::Sealed;
use super::session::{File, KernelSession, Kind, Transform};
use cpb_core::{Error, Phase, Progress, Session, Unsupported};
use cpb_session::raw_jobs::RawJobs;

/// An open session of the provider.
pub(super) struct OpenSession<'a, 'd, D: Device> {
    pub(super) file: &'a File<'d, D>,
    pub(super) transform: &'static Transform,
    pub(super) phase: Phase,
    pub(super) keys: &'a [&'a [u8]],
    /// One session for each key, if the key schedule is reused.
    pub(super) sessions: Vec<KernelSession<'a, 'd, D>>,
    pub(super) jobs: &'a RawJobs<'a>,
    /// Separate memory, if the interface cannot use the jobs' buffers.
    pub(super) sealed: Option<Sealed<'a>>,
    pub(super) lengths: SessionLengths,
}

impl<'a, 'd, D: Device> OpenSession<'a, 'd, D> {
    /// Which of the keys a job uses. Hashes have one empty key.
    fn key(&self, job: usize) -> Result<usize, Error> {
        let job = self.jobs.job(job)?;
        Ok(if self.keys.len() == 1 { 0 } else { job.key })
    }

    fn make(&self, job: usize) -> Result<KernelSession<'a, 'd, D>, Error> {
        let key = self.keys.get(self.key(job)?).ok_or(Error::Contract)?;
        KernelSession::open(self.file, self.transform, key).map_err(failed)
    }

    /// Runs one message in a session.
    #[inline]
    fn message(&self, session: &KernelSession<'a, 'd, D>, job: usize) -> Result<(), Error> {
        let raw = self.jobs.job(job)?;
        let (number, lengths) = (session.number(), &self.lengths);
        let done = match (self.transform.kind, &self.sealed) {
            (Kind::Aead, Some(sealed)) => {
                let place = sealed.place(job).ok_or(Error::Contract)?;
                let mut request = messages::aead(number, raw, place, lengths);
                // SAFETY: `Sealed` made the places for these lengths.
                unsafe { session.auth_crypt(&mut request) }
            }
            (Kind::Digest, _) => {
                let mut request = messages::digest(number, raw, lengths);
                // SAFETY: `RawJobs::new` compared the lengths with the buffers, and the output has the digest's
                // length.
                unsafe { session.crypt(&mut request) }
            }
            (Kind::Cipher, _) => {
                let mut request = messages::cipher(number, raw, lengths);
                // SAFETY: `RawJobs::new` compared the lengths with the buffers.
                unsafe { session.crypt(&mut request) }
            }
            (Kind::Aead, None) => return Err(Error::Contract),
        };
        done.map_err(failed)
    }
}

impl<D: Device> Session for OpenSession<'_, '_, D> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        match self.phase {
            Phase::Message => {
                let session = self.sessions.get(self.key(job)?).ok_or(Error::Contract)?;
                self.message(session, job)?;
            }
            Phase::MessageWithKey => {
                let session = self.make(job)?;
                self.message(&session, job)?;
                session.close().map_err(failed)?;
            }
            Phase::Setup => self.make(job)?.close().map_err(failed)?,
            Phase::Update => return Err(Unsupported::Phase.into()),
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        match &self.sealed {
            Some(sealed) => sealed.output(job),
            None => self.jobs.output(job),
        }
    }
}
