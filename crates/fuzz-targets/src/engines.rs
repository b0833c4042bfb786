//! Registers, packets and memory for device models.

use cpb_engines::dcp::{Dcp, Fuses, Timing};
use cpb_engines::{BusError, Engine, Memory};

/// The size of the memory, which begins at address 0. Small, so that packets meet each other.
const MEMORY: usize = 1024;
/// The most packets that are run: a chain may lead to itself.
const EVENTS: usize = 500;

struct Ram([u8; MEMORY]);

impl Memory for Ram {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let from = usize::try_from(address).ok().and_then(|start| self.0.get(start..));
        let from = from.and_then(|from| from.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(BusError { address })?);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let to = usize::try_from(address).ok().and_then(|start| self.0.get_mut(start..));
        let to = to.and_then(|to| to.get_mut(..bytes.len()));
        to.ok_or(BusError { address })?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Takes the first bytes as memory and the rest as writes of registers (offset, value, ticks): whatever they are, the
/// model keeps running, and its time never goes back.
pub fn dcp(bytes: &[u8]) {
    let (filling, writes) = bytes.split_at(bytes.len().min(MEMORY));
    let mut memory = Ram([0; MEMORY]);
    memory.0[..filling.len()].copy_from_slice(filling);
    let steps = Timing { fetch: 3.0, aes_block: 1.0, finish: 1.0, ..Timing::default() };
    let mut dcp = Dcp::new(steps, Fuses::default());
    // Out of its reset, with all channels enabled.
    dcp.write(0x00, 0x3020_000F, 0);
    dcp.write(0x20, 0xF, 0);
    let mut now = 0;
    for write in writes.chunks_exact(7) {
        let offset = u32::from(u16::from_le_bytes([write[0], write[1]]) & 0x43C);
        let value = u32::from_le_bytes([write[2], write[3], write[4], write[5]]);
        now += u64::from(write[6]);
        dcp.advance(now, &mut memory);
        dcp.write(offset, value, now);
        assert!(dcp.interrupts() < 4);
        _ = dcp.read(offset);
    }
    for _ in 0..EVENTS {
        let Some(event) = dcp.next_event() else { break };
        assert!(event >= now, "{event} is before {now}");
        now = event;
        dcp.advance(now, &mut memory);
    }
}
