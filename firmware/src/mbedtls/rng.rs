//! Random bytes for signing, blinding and making keys: a board has no source of them that all boards have.

use core::sync::atomic::{AtomicU32, Ordering};
use cpb_core::material;

/// How often it was asked. A board makes the same keys after each reset.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Fills `output`, in little time beside what it is for. Not secret.
pub(super) fn fill(output: &mut [u8]) {
    let mut state = u64::from(ASKED.fetch_add(1, Ordering::Relaxed)) << 32;
    material::fill_from(&mut state, output);
}
