//! Replays what the fuzz targets for this crate start from, and what they once found.

#[path = "../../../fuzz/src/core.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

include!("../../../fuzz/replay.rs");

#[test]
fn the_frame_decoder_takes_its_corpus() {
    replay("frame_decoder", targets::frame_decoder);
}

#[test]
fn the_frame_round_trip_takes_its_corpus() {
    replay("frame_roundtrip", targets::frame_roundtrip);
}

#[test]
fn workload_ids_take_their_corpus() {
    replay("workload_id", targets::workload_id);
}
