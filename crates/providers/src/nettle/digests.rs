//! Sessions of hash functions and message authentication codes.

use super::ffi::{HashTable, MacTable, SetKey, SetKeyOfLength};
use cpb_core::Error;
use cpb_session::context::{Context, Lengths, Memory};
use cpb_session::raw_jobs::RawJob;

// SAFETY of all calls below: contexts are as large as the library's table says and are ready before
// they are used; the job's pointers are valid for the session's lengths.

pub(super) struct Hash {
    table: &'static HashTable,
    memory: Memory,
    lengths: Lengths,
}

impl Hash {
    pub(super) fn new(table: &'static HashTable, lengths: Lengths) -> Hash {
        let mut memory = Memory::new(table.context_size);
        // SAFETY: the memory has the size that the table states.
        unsafe { (table.init)(memory.pointer()) };
        Hash { table, memory, lengths }
    }
}

impl Context for Hash {
    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe { (self.table.update)(self.memory.pointer(), self.lengths.message, job.input) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; it writes the digest and starts again.
        unsafe { (self.table.digest)(self.memory.pointer(), self.lengths.digest, job.output) };
        Ok(())
    }
}

/// How a MAC gets its key: an HMAC's table has a function for keys as long as the digest, and the library has
/// one for all other keys.
#[derive(Clone, Copy)]
pub(super) enum MacKey {
    Fixed(SetKey),
    OfAnyLength(SetKeyOfLength),
}

pub(super) struct Mac {
    table: &'static MacTable,
    set_key: MacKey,
    memory: Memory,
    lengths: Lengths,
}

impl Mac {
    pub(super) fn new(table: &'static MacTable, set_key: MacKey, lengths: Lengths) -> Mac {
        Mac { table, set_key, memory: Memory::new(table.context_size), lengths }
    }
}

impl Context for Mac {
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        let context = self.memory.pointer();
        // SAFETY: as above; a key of the first kind has the algorithm's length.
        unsafe {
            match self.set_key {
                MacKey::Fixed(set) => set(context, key.as_ptr()),
                MacKey::OfAnyLength(set) => set(context, key.len(), key.as_ptr()),
            }
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        unsafe { (self.table.update)(self.memory.pointer(), self.lengths.message, job.input) };
        Ok(())
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above; it writes the code and starts again with the same key.
        unsafe { (self.table.digest)(self.memory.pointer(), self.lengths.digest, job.output) };
        Ok(())
    }
}
