//! Replays what the fuzz targets for this crate start from, and what they once found.

#[path = "../../../fuzz/src/sim.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

include!("../../../fuzz/replay.rs");

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
