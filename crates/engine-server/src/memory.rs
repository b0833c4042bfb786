//! The guest's memory, as QEMU lends it.

use cpb_engines::{BusError, Memory};
use std::fs::File;
use std::io;
use std::sync::Arc;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionMmap};

/// All that is mapped now.
#[derive(Default)]
pub(crate) struct GuestMemory(GuestMemoryMmap);

impl GuestMemory {
    /// Adds `size` bytes of `file` from `offset` on, at bus address `address`.
    pub(crate) fn map(
        &mut self,
        file: File,
        offset: u64,
        address: u64,
        size: u64,
    ) -> io::Result<()> {
        let size = usize::try_from(size).map_err(io::Error::other)?;
        let mapping = MmapRegion::from_file(FileOffset::new(file, offset), size);
        let mapping = mapping.map_err(io::Error::other)?;
        let region = GuestRegionMmap::new(mapping, GuestAddress(address));
        let region = region.ok_or_else(|| io::Error::other("the range has no end"))?;
        self.0 = self.0.insert_region(Arc::new(region)).map_err(io::Error::other)?;
        Ok(())
    }

    /// Removes what was added at `address`. What was not added is ignored: ranges without a file were not.
    pub(crate) fn unmap(&mut self, address: u64, size: u64) {
        if let Ok((rest, _)) = self.0.remove_region(GuestAddress(address), size) {
            self.0 = rest;
        }
    }
}

impl Memory for GuestMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.0.read_slice(bytes, GuestAddress(address)).map_err(|_| BusError { address })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.0.write_slice(bytes, GuestAddress(address)).map_err(|_| BusError { address })
    }
}
