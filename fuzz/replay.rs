// What tests of several crates share: included by each, beside its own targets.

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
