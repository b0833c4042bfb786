//! Random bytes for signing, blinding and making keys, where the library wants them from its caller.

use cpb_core::material;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};

std::thread_local! {
    /// Begun anew in each thread of each process: the keys that are made differ from run to run.
    static STATE: Cell<u64> = Cell::new(RandomState::new().build_hasher().finish());
}

/// Fills `output`, in no time that shows beside what it is for. Not secret.
pub(super) fn fill(output: &mut [u8]) {
    STATE.with(|cell| {
        let mut state = cell.get();
        material::fill_from(&mut state, output);
        cell.set(state);
    });
}
