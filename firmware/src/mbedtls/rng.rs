//! Random bytes for signing, blinding and generating keys: there is no random source that all boards have.

use core::sync::atomic::{AtomicU32, Ordering};
use cpb_core::material;

/// The number of requests. A board generates the same keys after each reset.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Fills `output`, in little time compared with the operation that uses it. Not secret.
pub(super) fn fill(output: &mut [u8]) {
    let mut state = u64::from(ASKED.fetch_add(1, Ordering::Relaxed)) << 32;
    material::fill_from(&mut state, output);
}
