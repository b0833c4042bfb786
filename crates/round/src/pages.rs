//! Page-aligned memory, lent by the target or taken from the allocator.

use alloc::vec::Vec;

/// Buffers begin on a page boundary, so that all providers see the same alignment.
pub(crate) const PAGE: usize = 4096;

/// The most memory that one round may use.
const LIMIT: usize = 3 << 30;

/// A number of whole pages.
pub(crate) struct Pages<'m> {
    memory: Memory<'m>,
    /// The offset of the first page.
    origin: usize,
}

enum Memory<'m> {
    Own(Vec<u8>),
    Lent(&'m mut [u8]),
}

/// Whether pages of `size` bytes fit in `lent`, wherever its first page begins.
pub(crate) fn fit(size: Option<usize>, lent: &[u8]) -> bool {
    size.and_then(|size| size.checked_add(PAGE)).is_some_and(|size| size <= lent.len())
}

impl<'m> Pages<'m> {
    /// `size` zeros, in `lent` if the caller lends memory; `None` if they do not fit.
    pub(crate) fn zeroed(size: usize, lent: Option<&'m mut [u8]>) -> Option<Self> {
        let size = size.checked_add(PAGE).filter(|size| *size <= LIMIT)?;
        let mut memory = Memory::zeroed(size, lent)?;
        let origin = memory.bytes().as_ptr().align_offset(PAGE);
        Some(Pages { memory, origin })
    }

    /// The bytes from the first page on.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory.bytes()[self.origin..]
    }
}

impl<'m> Memory<'m> {
    fn zeroed(size: usize, lent: Option<&'m mut [u8]>) -> Option<Self> {
        if let Some(lent) = lent {
            let bytes = lent.get_mut(..size)?;
            bytes.fill(0);
            return Some(Memory::Lent(bytes));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).ok()?;
        bytes.resize(size, 0);
        Some(Memory::Own(bytes))
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Memory::Own(bytes) => bytes,
            Memory::Lent(bytes) => bytes,
        }
    }
}
