//! Which loads through the data cache can issue together.
//!
//! NXP's AN13198 (figure 4) reads two buffers in turn, all in the cache. Of 4,096 loads of bytes, 254 issued with the one
//! before; of 2,048 halfwords the same number. So two loads do if they are from even and odd double words, unlike in
//! tightly coupled memory, where words are even and odd. Of 4,096 loads of words, 539 did, about half of those that could
//! by that rule: a load does not if another pair issued within three cycles. Eight registers at once take six cycles (6.01
//! to 6.04), and four from tightly coupled memory.

use crate::timing::Access;

/// Cycles from one pair of loads to the next.
const BETWEEN_PAIRS: u64 = 4;

/// Addresses from here on, which no memory has, stand for a load that was not from tightly coupled memory.
const BEHIND_BUS: u32 = 0xFFFF_FFF8;

/// The bit of an address that is its bank in the scoreboard.
const BANK: u32 = 4;

#[derive(Default)]
pub(super) struct CachePorts {
    /// Whether the last load was from an odd double word.
    odd: bool,
    /// The bank that the scoreboard sees.
    bank: u32,
    /// The first cycle in which a pair can issue.
    free: u64,
}

impl CachePorts {
    /// The address that stands for a load from `address` in cycle `now`. Its bank in the scoreboard differs from that of
    /// the load before if both can issue together.
    #[inline(always)]
    pub(super) fn stand_in(&mut self, address: u32, now: u64) -> u32 {
        let odd = address >> 3 & 1 != 0;
        if odd != self.odd && now >= self.free {
            self.bank ^= BANK;
            self.free = now + BETWEEN_PAIRS;
        }
        self.odd = odd;
        BEHIND_BUS | self.bank
    }
}

/// Additional cycles of a load of so many registers, which was the last access, beyond two registers a cycle.
pub(crate) fn more_for_many(access: &Access, registers: u32) -> u32 {
    if access.address >= BEHIND_BUS { registers / 4 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loads that can issue with the one before, of `count` in turn from two buffers with loads of `width` bytes.
    fn pairs(width: u32, count: u32) -> u32 {
        let mut ports = CachePorts::default();
        let (mut now, mut pairs, mut before) = (0, 0, None);
        for load in 0..count {
            let buffer = 0x3000_0000 + 0x4000 * (load % 2);
            let bank = ports.stand_in(buffer + load / 2 * width, now) & BANK;
            // A pair has one cycle, and a third load does not join it.
            let pair = before.is_some_and(|before| before != bank);
            now += u64::from(!pair);
            pairs += u32::from(pair);
            before = Some(bank);
        }
        pairs
    }

    #[test]
    fn loads_of_two_buffers_pair_as_often_as_published() {
        assert_eq!(pairs(1, 4096), 255);
        assert_eq!(pairs(2, 2048), 255);
        // Published: 539 of 4,096 and 158 of 1,024.
        assert!((450..=600).contains(&pairs(4, 4096)), "{}", pairs(4, 4096));
    }

    #[test]
    fn many_registers_take_longer_than_from_tightly_coupled_memory() {
        let at = |address| Access { address, ..Access::default() };
        assert_eq!(more_for_many(&at(0x2000_0000), 8), 0);
        let behind = CachePorts::default().stand_in(0x3000_0000, 0);
        assert_eq!([2, 4, 8].map(|registers| more_for_many(&at(behind), registers)), [0, 1, 2]);
    }
}
