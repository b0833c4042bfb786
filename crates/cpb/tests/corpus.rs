//! Replays what the fuzz targets for this crate start from, and what they once found.

#[path = "../../../fuzz/src/cpb.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

include!("../../../fuzz/replay.rs");

#[test]
fn records_take_their_corpus() {
    replay("record", targets::record);
}

#[test]
fn plans_take_their_corpus() {
    replay("plan", targets::plan);
}
