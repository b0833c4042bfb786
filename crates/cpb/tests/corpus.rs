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

#[test]
fn importers_take_their_corpus() {
    type Target = (&'static str, fn(&[u8]));
    let all: [Target; 10] = [
        ("import_sbc_bench", targets::sbc_bench),
        ("import_openssl", targets::openssl),
        ("import_mbedtls", targets::mbedtls),
        ("import_cryptsetup", targets::cryptsetup),
        ("import_wolfcrypt", targets::wolfcrypt),
        ("import_bench_slope", targets::bench_slope),
        ("import_bssl", targets::bssl),
        ("import_google_benchmark", targets::google_benchmark),
        ("import_bencher", targets::bencher),
        ("import_cpb_csv", targets::cpb_csv),
    ];
    assert_eq!(all.len(), cpb_import::FORMATS.len(), "each importer has a target");
    for (name, target) in all {
        replay(name, target);
    }
}
