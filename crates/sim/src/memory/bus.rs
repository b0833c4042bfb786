//! Memory as the chip's other bus masters see it. On the i.MX RT they reach the tightly coupled memories, the
//! on-chip memory behind the bus and, for reading, the flash. Nothing else answers, registers included.

use super::{Memory, PAGE};
use crate::chip::MemoryKind;
use cpb_engines::BusError;

/// Transfers do not cross a multiple of this size, the size of a cache line.
const LINE: usize = 32;

/// The memory of a machine, lent to an engine.
pub(crate) struct Bus<'a> {
    pub(crate) memory: &'a mut Memory,
}

impl cpb_engines::Memory for Bus<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, others) = rest.split_at_mut(until_line_end(address).min(rest.len()));
            self.memory.read_on_bus(address, part).ok_or(BusError { address })?;
            address = address.saturating_add(part.len() as u64);
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, others) = rest.split_at(until_line_end(address).min(rest.len()));
            self.memory.write_on_bus(address, part).ok_or(BusError { address })?;
            address = address.saturating_add(part.len() as u64);
            rest = others;
        }
        Ok(())
    }
}

/// The number of bytes from `address` to the end of its line.
fn until_line_end(address: u64) -> usize {
    LINE - (address % LINE as u64) as usize
}

/// Bytes in a memory, all of one line.
struct Piece {
    region: usize,
    offset: usize,
    end: usize,
}

impl Memory {
    /// The place of `size` bytes at a bus address; `None` if no memory has them all.
    fn piece(&self, address: u64, size: usize) -> Option<Piece> {
        let address = u32::try_from(address).ok()?;
        let number = self.region_of(address);
        let region = &self.regions[number];
        let offset = address.wrapping_sub(region.base) as usize;
        let end = offset.checked_add(size).filter(|end| *end <= region.bytes.len())?;
        Some(Piece { region: number, offset, end })
    }

    fn read_on_bus(&mut self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let piece = self.piece(address, bytes.len())?;
        bytes.copy_from_slice(&self.regions[piece.region].bytes[piece.offset..piece.end]);
        Some(())
    }

    fn write_on_bus(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let piece = self.piece(address, bytes.len())?;
        let region = &mut self.regions[piece.region];
        if region.kind == MemoryKind::Flash {
            return None;
        }
        region.bytes[piece.offset..piece.end].copy_from_slice(bytes);
        if region.decoded[piece.offset / PAGE as usize] != 0 {
            self.stale.push((piece.region, piece.offset as u32, bytes.len() as u32));
            self.look();
        }
        Some(())
    }
}
