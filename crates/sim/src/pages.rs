//! Decoded instructions, found by address: a page is set up when it is first executed, an
//! instruction decoded when it is first reached, and forgotten when its bytes are written.

use crate::decode;
use crate::fault::{Exit, Fault};
use crate::insn::{Insn, Op};
use crate::machine::{Machine, PER_PAGE};
use crate::memory::PAGE;

impl Machine {
    /// The opcode at an address: its one or two halfwords.
    pub(crate) fn opcode(&self, address: u32) -> u32 {
        let half = |at: u32| {
            self.memory.bytes(at).first_chunk().map_or(0, |b| u32::from(u16::from_le_bytes(*b)))
        };
        let first = half(address);
        if decode::is_wide(first as u16) {
            first << 16 | half(address.wrapping_add(2))
        } else {
            first
        }
    }

    #[cold]
    pub(crate) fn turn_page(&mut self, pc: u32) -> Result<(), Exit> {
        let region = self.memory.region_of(pc);
        let range = self.memory.range(region).filter(|(low, high)| (*low..=*high).contains(&pc));
        let found = range.map(|range| self.attributes(pc, range).0);
        let Some(found) = found.filter(|found| found.executable) else {
            self.r[15] = pc.wrapping_add(4);
            return Err(Exit::Fault(Fault::Execute(pc)));
        };
        let base = pc & !(PAGE - 1);
        let page = (base - self.memory.region(region).base) / PAGE;
        let slot = &mut self.memory.region_mut(region).decoded[page as usize];
        if *slot == 0 {
            *slot = (self.code.len() / PER_PAGE) as u32 + 1;
            self.code.extend([Insn::new(Op::Pending, 2); PER_PAGE]);
        }
        self.page = (*slot as usize - 1) * PER_PAGE;
        self.page_base = base;
        self.cacheable = found.cacheable;
        self.fetched_region = if self.memory.is_tight(region) { 0 } else { region };
        self.fetched_line = u32::MAX;
        Ok(())
    }

    #[cold]
    pub(crate) fn decode_at(&mut self, address: u32) {
        let half =
            |at: u32| self.memory.bytes(at).first_chunk().map_or(0, |b| u16::from_le_bytes(*b));
        let mut insn = decode::decode(address, half(address), half(address.wrapping_add(2)));
        insn.marked = self.measure.is_timed(address);
        self.code[self.page + ((address >> 1) as usize & (PER_PAGE - 1))] = insn;
    }

    pub(crate) fn fetch_line(&mut self, pc: u32) {
        self.fetched_line = pc >> 5;
        let (wait, cause) = self.memory.fetch(self.fetched_region, pc, self.cacheable);
        if wait != 0 {
            self.timing.fetch_waits(wait, cause as usize);
        }
    }

    pub(crate) fn forget_stale(&mut self) {
        for (region, offset, bytes) in std::mem::take(&mut self.memory.stale) {
            let decoded = &self.memory.region(region).decoded;
            // A wide instruction that began two bytes before has changed as well.
            let first = offset.saturating_sub(2) / 2;
            let last = offset.saturating_add(bytes.max(1) - 1) / 2;
            for half in first..=last {
                let page = decoded.get(half as usize / PER_PAGE).copied().unwrap_or(0);
                if page != 0 {
                    let first = (page as usize - 1) * PER_PAGE;
                    self.code[first + half as usize % PER_PAGE].op = Op::Pending;
                }
            }
        }
    }
}
