//! Replays what the fuzz targets for this crate start from, and what they once found.

#[path = "../../../fuzz/src/sim.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

use std::fs;
use std::path::Path;

/// Runs `target` on every file of its corpus. A failure names the file.
fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let entries = fs::read_dir(folder.join(name)).expect("each target has a corpus");
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
fn the_loader_and_the_decoder_take_their_corpus() {
    replay("program", targets::program);
}

#[test]
fn no_program_of_chance_stops_the_host() {
    let mut rng = fastrand::Rng::with_seed(5);
    let seeds: Vec<Vec<u8>> = ["faults.elf", "harness"]
        .iter()
        .map(|name| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/program");
            fs::read(folder.join(name)).expect("a seed")
        })
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
        targets::program(&bytes);
    }
}
