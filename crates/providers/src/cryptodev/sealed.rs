//! Memory for CIOCAUTHCRYPT, which expects a message's tag right behind its ciphertext and maps a destination
//! that is as long as both, in either direction.
//!
//! A job keeps its tag separately, and its buffers have no room behind them. An application that uses this
//! interface lays out its memory as the interface requires, so that layout is measured: jobs are copied in
//! before the session's body runs and copied out after it, both untimed. Only the source of an encryption is
//! the job's own buffer.

use super::messages::SessionLengths;
use core::ptr;
use cpb_core::Unsupported;
use cpb_session::raw_jobs::{RawJob, RawJobs};

/// Our buffers begin at the same offset within a page as the job's own. So the alignment stays the same, and so
/// does the distance between source and destination within a page.
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
    // The memory that the places point into.
    _memory: Vec<u8>,
}

impl<'a> Sealed<'a> {
    /// Copies all jobs into place.
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
            // SAFETY: `size` is the sum of all places, plus a page to align the first one.
            let place = unsafe { base.add(next + like.addr() % PAGE) };
            next += whole(like);
            place
        };

        let mut places = Vec::with_capacity(all().count());
        for job in all() {
            let destination = take(job.output);
            // The module cannot map an empty source, so an empty message is encrypted in place.
            let own = decrypts && apart(job);
            let in_place = !apart(job) || (!decrypts && lengths.message == 0);
            let source = match (own, in_place) {
                (true, _) => take(job.input),
                (_, true) => destination,
                _ => job.input.cast_mut(),
            };
            // SAFETY: the job's buffers have the lengths that `RawJobs::new` checked, and ours have room for a
            // message and a tag. Ours and the job's do not overlap.
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

    /// The place of job number `job`.
    #[inline]
    pub(super) fn place(&self, job: usize) -> Option<&Place> {
        self.places.get(job)
    }

    /// What job number `job` wrote, without its tag.
    pub(super) fn output(&self, job: usize) -> Option<&[u8]> {
        let place = self.places.get(job)?;
        // SAFETY: there is room for a message, and the module does not run while `self` is borrowed here.
        Some(unsafe { core::slice::from_raw_parts(place.destination, self.lengths.message) })
    }

    /// Copies the results back to the jobs, after their session's body has succeeded.
    pub(super) fn give_back(&self) {
        for (job, place) in self.places.iter().enumerate() {
            let Ok(job) = self.jobs.job(job) else { continue };
            // SAFETY: as in `new`, in the other direction; the session's loop has ended.
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
