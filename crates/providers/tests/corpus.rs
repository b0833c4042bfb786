//! Replays what the fuzz targets for this crate start from, and what they once found.

#[path = "../../../fuzz/src/providers.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

include!("../../../fuzz/replay.rs");

#[test]
fn the_readers_of_the_kernels_lists_take_their_corpus() {
    replay("kernel_lists", targets::kernel_lists);
}
