//! Reports tests that cannot run on this machine.

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that the test `name` cannot run, and why, in the form that `cargo xtask test` reads: a line
/// `name<TAB>reason` in the file that `$CPB_SKIP_LOG` names. A part of a test whose rest ran is `name#part`.
pub fn skip(name: &str, reason: &str) {
    println!("SKIPPED: {name}: {reason}");
    if let Some(log) = std::env::var_os("CPB_SKIP_LOG") {
        let file = OpenOptions::new().create(true).append(true).open(log);
        writeln!(file.expect("the skip log"), "{name}\t{reason}").expect("the skip log");
    }
}

/// Whether `make test` runs this. If not, the test `name` is skipped, because it takes long: `cargo test` is for a change
/// in the making, and stays below two minutes.
pub fn in_make_test(name: &str) -> bool {
    let is_so = std::env::var_os("CPB_SKIP_LOG").is_some();
    if !is_so {
        skip(name, "it takes long, so only `make test` runs it");
    }
    is_so
}
