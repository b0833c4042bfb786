//! Keys, IVs and messages of timed workloads. They are generated, but the same for every provider on every
//! target, so their answers can be compared.

use crate::algorithm::Kind;
use crate::tls_record;
use crate::workload::CryptoWorkload;

/// The part of a workload's material that a seed is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A key.
    Key = 1,
    /// An IV, nonce or initial counter block.
    Iv = 2,
    /// Associated data.
    Associated = 3,
    /// A message.
    Message = 4,
}

/// Fills `bytes` with the material of `part` number `index`. Uniform, deterministic, not secret.
pub fn fill(part: Part, index: usize, bytes: &mut [u8]) {
    fill_from(&mut seed(part, index), bytes);
}

/// The initial state of [`fill`], for use with [`fill_from`].
pub(crate) fn seed(part: Part, index: usize) -> u64 {
    (part as u64) << 56 ^ index as u64
}

/// Fills `bytes`, of the length that `workload` states, with its associated data, which is the same for all
/// jobs.
pub fn fill_associated(workload: &CryptoWorkload, bytes: &mut [u8]) {
    fill(Part::Associated, 0, bytes);
    if workload.algorithm.shape().kind == Kind::Record {
        tls_record::state(workload.message as usize, bytes);
    }
}

/// Fills `bytes` with the output that follows `state`, and advances `state`. Uniform, not secret.
pub fn fill_from(state: &mut u64, bytes: &mut [u8]) {
    // SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), fig. 17.
    for chunk in bytes.chunks_mut(8) {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_indices_differ_and_repeat() {
        let block = |part, index| {
            let mut bytes = [0; 24];
            fill(part, index, &mut bytes);
            bytes
        };
        assert_eq!(block(Part::Message, 3), block(Part::Message, 3));
        assert_ne!(block(Part::Message, 3), block(Part::Message, 4));
        assert_ne!(block(Part::Message, 3), block(Part::Key, 3));
        assert_ne!(block(Part::Key, 0)[..8], block(Part::Key, 0)[8..16]);
    }
}
