//! What rates show before any core is known.

use crate::units::{BytesPerSecond, Seconds};
use std::collections::BTreeMap;

/// From this message length on, the cost of a call has no significant part in the rate: 0.2 to 0.6 % at 16 KiB, twice
/// that at 8 KiB.
const LONG: u32 = 8192;

/// One block of AES.
const BLOCK: u32 = 16;

/// Rates of AES-CBC encryption of a stream by key length in bits and message length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates(BTreeMap<(u16, u32), BytesPerSecond>);

impl Rates {
    /// Adds a rate. A rate that is not a positive number is ignored.
    pub fn insert(&mut self, bits: u16, bytes: u32, rate: BytesPerSecond) {
        if rate.0.is_finite() && rate.0 > 0.0 {
            self.0.insert((bits, bytes), rate);
        }
    }

    /// The rate at one message length.
    pub fn at(&self, bits: u16, bytes: u32) -> Option<BytesPerSecond> {
        self.0.get(&(bits, bytes)).copied()
    }

    /// Whether there are no rates.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rate at the largest message, if that is long enough.
    pub fn of_long(&self, bits: u16) -> Option<BytesPerSecond> {
        let last = self.0.range((bits, LONG)..=(bits, u32::MAX)).next_back();
        last.map(|(_, rate)| *rate)
    }

    /// The rate at one block.
    pub fn of_block(&self, bits: u16) -> Option<BytesPerSecond> {
        self.at(bits, BLOCK)
    }

    /// The longest key with a rate at long messages. Clocks are derived from this key.
    pub fn longest_key(&self) -> Option<u16> {
        [256, 192, 128].into_iter().find(|bits| self.of_long(*bits).is_some())
    }

    /// How many times as fast as the longest key a shorter one is.
    pub fn gain(&self, bits: u16) -> Option<f64> {
        let longest = self.longest_key().filter(|longest| *longest > bits)?;
        Some(self.of_long(bits)? / self.of_long(longest)?)
    }

    /// The cost of a call in addition to its blocks, in blocks of the same key length.
    pub fn call(&self, bits: u16) -> Option<f64> {
        let blocks = self.of_long(bits)? / self.of_block(bits)? - 1.0;
        (blocks > 0.0).then_some(blocks)
    }

    /// The cost of a call as a time.
    pub fn call_time(&self, bits: u16) -> Option<Seconds> {
        Some(Seconds(self.call(bits)? * f64::from(BLOCK) / self.of_long(bits)?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_none_tell_nothing() {
        let mut rates = Rates::default();
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            rates.insert(256, 16_384, BytesPerSecond(rate));
        }
        assert!(rates.is_empty());
        rates.insert(256, 1024, BytesPerSecond(1e6));
        assert_eq!((rates.of_long(256), rates.longest_key()), (None, None), "too short");
    }

    #[test]
    fn a_call_costs_what_one_block_takes_beyond_a_block() {
        let mut rates = Rates::default();
        // 2 cycles a byte; 16 bytes take 32 cycles and a call 96.
        rates.insert(256, 16, BytesPerSecond(16.0 / 128.0 * 1e9));
        rates.insert(256, 16_384, BytesPerSecond(0.5e9));
        rates.insert(128, 16_384, BytesPerSecond(0.75e9));
        assert_eq!(rates.call(256), Some(3.0));
        assert!((rates.call_time(256).unwrap().0 - 96e-9).abs() < 1e-15);
        assert_eq!((rates.gain(128), rates.gain(192), rates.gain(256)), (Some(1.5), None, None));
    }
}
