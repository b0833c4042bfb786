//! Memory for CIOCAUTHCRYPT, which keeps a message's tag right behind its ciphertext and maps a
//! destination that is as long as both, whichever way it goes.
//!
//! A job keeps its tag apart, and its buffers have no room behind them. An application that uses
//! this interface lays its memory out as the interface wants, so that is what is measured: jobs are
//! put here before the session's body runs and taken out of here after it, both untimed. Only the
//! source of an encryption is the job's own.

use super::messages::SessionLengths;
use core::ptr;
use cpb_core::Unsupported;
use cpb_session::raw_jobs::{RawJob, RawJobs};

/// Our buffers begin at the same place within a page as the job's own: the same alignment, and no
/// other distance between what is read and what is written.
const PAGE: usize = 4096;

/// Where a job's message is read and where its result is written.
pub(super) struct Place {
    pub(super) source: *const u8,
    pub(super) destination: *mut u8,
}

/// Places for all jobs of a session.
pub(super) struct Sealed<'a> {
    jobs: &'a RawJobs<'a>,
    places: Vec<Place>,
    lengths: SessionLengths,
    // What the places point into.
    _memory: Vec<u8>,
}

impl<'a> Sealed<'a> {
    /// Puts all jobs in place.
    pub(super) fn new(jobs: &'a RawJobs<'a>, lengths: SessionLengths) -> Result<Self, Unsupported> {
        let length = lengths.message + lengths.tag;
        let whole = |pointer: *const u8| (pointer.addr() % PAGE + length).next_multiple_of(PAGE);
        let decrypts = lengths.direction == super::abi::DECRYPT;
        let all = || (0..).map_while(|job| jobs.job(job).ok());
        let apart = |job: &RawJob| !ptr::eq(job.input, job.output);

        let needed = |job: &RawJob| {
            let source = if decrypts && apart(job) { whole(job.input) } else { 0 };
            source + whole(job.output)
        };
        let size = PAGE + all().map(needed).sum::<usize>();
        let mut memory = Vec::<u8>::new();
        memory.try_reserve_exact(size).map_err(|_| Unsupported::Memory)?;
        memory.resize(size, 0);
        let mut next = memory.as_ptr().align_offset(PAGE);
        let base = memory.as_mut_ptr();
        let mut take = |like: *const u8| {
            // SAFETY: `size` is the sum of what is taken, and a page for the first one's alignment.
            let place = unsafe { base.add(next + like.addr() % PAGE) };
            next += whole(like);
            place
        };

        let mut places = Vec::with_capacity(all().count());
        for job in all() {
            let destination = take(job.output);
            // The module cannot map an empty source, so that case works in place as well.
            let own = decrypts && apart(job);
            let in_place = !apart(job) || (!decrypts && lengths.message == 0);
            let source = match (own, in_place) {
                (true, _) => take(job.input),
                (_, true) => destination,
                _ => job.input.cast_mut(),
            };
            // SAFETY: the job's buffers have the lengths that `RawJobs::new` found, ours have room
            // for a message and a tag; ours and the job's do not overlap.
            unsafe {
                if source.cast_const() != job.input {
                    ptr::copy_nonoverlapping(job.input, source, lengths.message);
                    ptr::copy_nonoverlapping(job.tag, source.add(lengths.message), lengths.tag);
                }
            }
            places.push(Place { source, destination });
        }
        Ok(Sealed { jobs, places, lengths, _memory: memory })
    }

    /// Where job number `job` is.
    #[inline]
    pub(super) fn place(&self, job: usize) -> Option<&Place> {
        self.places.get(job)
    }

    /// What job number `job` wrote, without its tag.
    pub(super) fn output(&self, job: usize) -> Option<&[u8]> {
        let place = self.places.get(job)?;
        // SAFETY: room for a message; the module does not run while `self` is borrowed here.
        Some(unsafe { core::slice::from_raw_parts(place.destination, self.lengths.message) })
    }

    /// Gives the jobs what was written here, once their session's body has succeeded.
    pub(super) fn give_back(&self) {
        for (job, place) in self.places.iter().enumerate() {
            let Ok(job) = self.jobs.job(job) else { continue };
            // SAFETY: as in `new`, the other way; the session's loop has ended.
            unsafe {
                ptr::copy_nonoverlapping(place.destination, job.output, self.lengths.message);
                if self.lengths.direction == super::abi::ENCRYPT {
                    let tag = place.destination.add(self.lengths.message);
                    ptr::copy_nonoverlapping(tag, job.tag, self.lengths.tag);
                }
            }
        }
    }
}
