//! Replays the seeds of the fuzz targets, and inputs that once revealed a bug.

use cpb_fuzz_targets::{core, engines, import, otfad, providers, record, sim};
use std::fs;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Runs `target` on every file of its corpus. A failure names the file.
fn replay(name: &str, target: fn(&[u8])) {
    let entries = fs::read_dir(corpus().join(name)).expect("each target has a corpus");
    let mut replayed = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        println!("{}", path.display());
        target(&fs::read(&path).expect("a corpus holds files that can be read"));
        replayed += 1;
    }
    assert!(replayed > 0, "the corpus of {name} is empty");
}

#[test]
fn the_frame_decoder_takes_its_corpus() {
    replay("frame_decoder", core::frame_decoder);
}

#[test]
fn the_frame_round_trip_takes_its_corpus() {
    replay("frame_roundtrip", core::frame_roundtrip);
}

#[test]
fn workload_ids_take_their_corpus() {
    replay("workload_id", core::workload_id);
}

#[test]
fn records_take_their_corpus() {
    replay("record", record::record);
}

#[test]
fn plans_take_their_corpus() {
    replay("plan", record::plan);
}

#[test]
fn importers_take_their_corpus() {
    type Target = (&'static str, fn(&[u8]));
    let all: [Target; 10] = [
        ("import_sbc_bench", import::sbc_bench),
        ("import_openssl", import::openssl),
        ("import_mbedtls", import::mbedtls),
        ("import_cryptsetup", import::cryptsetup),
        ("import_wolfcrypt", import::wolfcrypt),
        ("import_bench_slope", import::bench_slope),
        ("import_bssl", import::bssl),
        ("import_google_benchmark", import::google_benchmark),
        ("import_bencher", import::bencher),
        ("import_cpb_csv", import::cpb_csv),
    ];
    assert_eq!(all.len(), cpb_import::FORMATS.len(), "each importer has a target");
    for (name, target) in all {
        replay(name, target);
    }
}

#[test]
fn the_readers_of_the_kernels_lists_take_their_corpus() {
    replay("kernel_lists", providers::kernel_lists);
}

#[test]
fn the_loader_and_the_decoder_take_their_corpus() {
    replay("program", sim::program);
}

#[test]
fn no_program_of_chance_stops_the_host() {
    let mut rng = fastrand::Rng::with_seed(5);
    let seeds: Vec<Vec<u8>> = ["faults.elf", "harness"]
        .iter()
        .map(|name| fs::read(corpus().join("program").join(name)).expect("a seed"))
        .collect();
    for round in 0..1_500 {
        let mut bytes = match round % 3 {
            0 => (0..512).map(|_| rng.u8(..)).collect(),
            kind => seeds[kind - 1].clone(),
        };
        for _ in 0..rng.usize(1..8) {
            let place = rng.usize(..bytes.len());
            bytes[place] = rng.u8(..);
        }
        sim::program(&bytes);
    }
}

#[test]
fn the_models_of_engines_take_their_corpus() {
    replay("dcp", engines::dcp);
    replay("caam", engines::caam);
}

#[test]
fn the_reader_of_encrypted_images_takes_its_corpus() {
    replay("otfad", otfad::image);
}
