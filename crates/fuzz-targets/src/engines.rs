//! Registers, packets and memory for device models.

use cpb_engines::caam::{Caam, Configuration};
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

/// The first byte selects the layout, the next ones are memory, and the rest are writes of registers (block, offset,
/// value, ticks): whatever they are, the model keeps running, its time never goes back, and every job ends.
pub fn caam(bytes: &[u8]) {
    let Some((layout, bytes)) = bytes.split_first() else { return };
    let (filling, writes) = bytes.split_at(bytes.len().min(MEMORY));
    let mut memory = Ram([0; MEMORY]);
    memory.0[..filling.len()].copy_from_slice(filling);
    let has = |bit: u32| layout >> bit & 1 != 0;
    let configuration = Configuration {
        big_endian: has(0),
        high_word_first: has(1),
        long_pointers: has(2),
        decos: if has(3) { 2 } else { 1 },
        era: if has(4) { 10 } else { 8 },
        aes: Some(4),
        rdsta: if has(5) { 0 } else { 0x4000_0033 },
        ..Configuration::RT1170
    };
    let times = cpb_engines::caam::Timing {
        ring_entry: 2.0,
        command: 1.0,
        aes_round: 0.1,
        finish: 1.0,
        latency: 5.0,
        coalescing: 3.0,
        ..Default::default()
    };
    let mut caam = Caam::new(times, configuration);
    let order = |value: u32| if has(0) { value.swap_bytes() } else { value };
    // Rings of four entries: inputs at the beginning of memory, outputs at 0x40.
    let mut set_up = vec![(0x04, order(caam.read(0x04)) | if has(2) { 1 << 16 } else { 0 })];
    for ring in 1..=4 {
        let base = 0x1_0000 * ring;
        let low = if has(1) { 4 } else { 0 };
        set_up.extend([(base + 0x0C, 4), (base + 0x20 + low, 0x40), (base + 0x2C, 4)]);
    }
    set_up.push((0x1_001C, 2));
    let mut now = 0;
    for (offset, value) in set_up {
        caam.write(offset, order(value), now);
    }
    for write in writes.chunks_exact(8) {
        let block = u32::from(write[0] & 0xF) << 16;
        let offset = block | u32::from(u16::from_le_bytes([write[1], write[2]]) & 0xFFC);
        let value = u32::from_le_bytes([write[3], write[4], write[5], write[6]]);
        now += u64::from(write[7]);
        caam.advance(now, &mut memory);
        caam.write(offset, value, now);
        assert!(caam.interrupts() < 16);
        _ = caam.read(offset);
    }
    for _ in 0..EVENTS {
        let Some(event) = caam.next_event() else { return };
        assert!(event >= now, "{event} is before {now}");
        now = event;
        caam.advance(now, &mut memory);
    }
    panic!("the model does not come to an end");
}
