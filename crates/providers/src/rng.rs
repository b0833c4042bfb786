//! Random bytes for signing, blinding and making keys, for libraries that want them from their caller.

use cpb_core::material;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};

std::thread_local! {
    /// Seeded anew in each thread of each process, so the keys that are made differ from run to run.
    static STATE: Cell<u64> = Cell::new(RandomState::new().build_hasher().finish());
}

/// Fills `output` in a time that does not matter compared with its purpose. Not secret.
pub(super) fn fill(output: &mut [u8]) {
    STATE.with(|cell| {
        let mut state = cell.get();
        material::fill_from(&mut state, output);
        cell.set(state);
    });
}
