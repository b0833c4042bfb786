//! Decoded instructions, found by address. A page is set up when it is first executed. An instruction is
//! decoded when it is first reached, and dropped when its bytes are written.

use crate::decode;
use crate::fault::{Exit, Fault};
use crate::insn::{Insn, Op, watch};
use crate::machine::Machine;
use crate::memory::{CacheMistake, PAGE};

/// The number of instruction slots on a page.
const PER_PAGE: usize = (PAGE / 2) as usize;
/// The size of a cache line in bytes. A line is fetched as a whole.
const LINE: u32 = 32;
/// The number of pages that are found again without an MPU lookup.
const RECENT: usize = 64;
/// An address that no instruction has, because it is odd.
const NOWHERE: u32 = 1;

/// Decoded pages, stored consecutively.
#[derive(Default)]
pub(crate) struct Code {
    insns: Vec<Insn>,
}

impl Code {
    /// The instruction at an index returned by [`Pages::place`].
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> &Insn {
        &self.insns[place]
    }

    /// Adds a page with nothing decoded. Returns the number of pages.
    fn add_page(&mut self) -> usize {
        self.insns.extend([Insn::new(Op::Pending, 2); PER_PAGE]);
        self.insns.len() / PER_PAGE
    }
}

/// A page that may be executed.
#[derive(Clone, Copy)]
struct Page {
    base: u32,
    /// The difference between an instruction's index in [`Code`] and half its address.
    shift: u32,
    /// Its memory if fetching from it takes time, otherwise 0.
    region: usize,
    cacheable: bool,
}

/// The addresses at which execution can continue without a check.
pub(crate) struct Pages {
    current: Page,
    /// Indexed by a part of the base.
    recent: [Page; RECENT],
    /// `pc & mask == near` for addresses on the same page and, if fetching takes time, on the same line.
    mask: u32,
    near: u32,
}

impl Default for Pages {
    fn default() -> Self {
        let nothing = Page { base: NOWHERE, shift: 0, region: 0, cacheable: false };
        Pages { current: nothing, recent: [nothing; RECENT], mask: !0, near: NOWHERE }
    }
}

impl Pages {
    /// Whether the instruction at `pc` can be executed without any other action first.
    #[inline(always)]
    pub(crate) fn are_near(&self, pc: u32) -> bool {
        pc & self.mask == self.near
    }

    /// The index of the instruction at an address of the current page.
    #[inline(always)]
    pub(crate) fn place(&self, pc: u32) -> usize {
        self.current.shift.wrapping_add(pc >> 1) as usize
    }

    /// Called when the permission to execute may have changed.
    pub(crate) fn forget(&mut self) {
        let current = Page { base: NOWHERE, ..self.current };
        *self = Pages { current, ..Pages::default() };
    }
}

impl Machine {
    /// The opcode at an address: its one or two halfwords.
    pub(crate) fn opcode(&self, address: u32) -> u32 {
        let half = |at: u32| u32::from(self.memory.code_at(at).unwrap_or(0));
        let first = half(address);
        if decode::is_wide(first as u16) {
            first << 16 | half(address.wrapping_add(2))
        } else {
            first
        }
    }

    /// Continues at `pc`, on a different page or line.
    #[inline(never)]
    pub(crate) fn go_far(&mut self, pc: u32, code: &mut Code) -> Result<(), Exit> {
        let base = pc & !(PAGE - 1);
        if base != self.pages.current.base {
            let recent = self.pages.recent[(base / PAGE) as usize % RECENT];
            let page = if recent.base == base { recent } else { self.turn_page(pc, code)? };
            self.pages.current = page;
        }
        let page = self.pages.current;
        if page.region == 0 {
            (self.pages.mask, self.pages.near) = (!(PAGE - 1), base);
            return Ok(());
        }
        (self.pages.mask, self.pages.near) = (!(LINE - 1), pc & !(LINE - 1));
        let now = self.timing.now();
        let (wait, cause) = self.memory.fetch(page.region, pc, page.cacheable, now);
        if wait != 0 {
            self.timing.fetch_waits(wait, cause as usize);
        }
        Ok(())
    }

    fn turn_page(&mut self, pc: u32, code: &mut Code) -> Result<Page, Exit> {
        let region = self.memory.region_of(pc);
        let range = self.memory.range(region).filter(|(low, high)| (*low..=*high).contains(&pc));
        let found = range.map(|range| self.attributes(pc, range).0);
        let Some(found) = found.filter(|found| found.executable) else {
            self.r[15] = pc.wrapping_add(4);
            return Err(Exit::Fault(Fault::Execute(pc)));
        };
        let base = pc & !(PAGE - 1);
        let tight = self.memory.is_tight(region);
        let region_of_page = self.memory.region_mut(region);
        let slot = &mut region_of_page.decoded[((base - region_of_page.base) / PAGE) as usize];
        if *slot == 0 {
            *slot = code.add_page() as u32;
        }
        let shift = ((*slot - 1) * PER_PAGE as u32).wrapping_sub(base >> 1);
        let region = if tight { 0 } else { region };
        let page = Page { base, shift, region, cacheable: found.cacheable };
        self.pages.recent[(base / PAGE) as usize % RECENT] = page;
        Ok(page)
    }

    #[cold]
    pub(crate) fn decode_at(&mut self, address: u32, code: &mut Code) {
        let half = |at: u32| self.memory.code_at(at).unwrap_or(0);
        let mut insn = decode::decode(address, half(address), half(address.wrapping_add(2)));
        if self.measure.is_timed(address) {
            insn.watched |= watch::TIMED;
        }
        if insn.may_misalign_stack() {
            insn.watched |= watch::STACK;
        }
        code.insns[self.pages.place(address)] = insn;
    }

    /// Reports writes of engines over instructions that are decoded, and so have been executed.
    pub(crate) fn check_code(&mut self, code: &Code) {
        let Some(checker) = &mut self.memory.checker else { return };
        for (engine, address, size) in std::mem::take(&mut checker.over_code) {
            let last = address.saturating_add(size.max(1) - 1);
            let executed = (address..=last).step_by(2).filter(|at| self.is_decoded(*at, code));
            let executed: Vec<u32> = executed.collect();
            let Some(checker) = &mut self.memory.checker else { return };
            for at in executed {
                checker.add_range((CacheMistake::CodeOverwritten, engine, 0), (at & !1, at | 1));
            }
        }
    }

    fn is_decoded(&self, address: u32, code: &Code) -> bool {
        let region = self.memory.region(self.memory.region_of(address));
        let offset = address.wrapping_sub(region.base);
        let page = region.decoded.get((offset / PAGE) as usize).copied().unwrap_or(0) as usize;
        let half = offset as usize / 2 % PER_PAGE;
        page != 0 && code.insns[(page - 1) * PER_PAGE + half].op != Op::Pending
    }

    pub(crate) fn forget_stale(&mut self, code: &mut Code) {
        for (region, offset, bytes) in std::mem::take(&mut self.memory.stale) {
            let decoded = &self.memory.region(region).decoded;
            // A 32-bit instruction that began two bytes earlier has also changed.
            let first = offset.saturating_sub(2) / 2;
            let last = offset.saturating_add(bytes.max(1) - 1) / 2;
            for half in first..=last {
                let page = decoded.get(half as usize / PER_PAGE).copied().unwrap_or(0);
                if page != 0 {
                    let first = (page as usize - 1) * PER_PAGE;
                    code.insns[first + half as usize % PER_PAGE] = Insn::new(Op::Pending, 2);
                }
            }
        }
    }
}
