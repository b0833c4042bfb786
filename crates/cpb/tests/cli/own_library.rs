//! A C library of one's own, with one algorithm, with none, and with one that never answers.

use cpb_test_support::{Lab, Ran, lab};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/own-library");

/// Builds docs/own-library/chacha20.c with `from` replaced by `to`.
fn build(lab: &Lab, from: &str, to: &str, name: &str) {
    let text = std::fs::read_to_string(format!("{ROOT}/chacha20.c")).expect("the example");
    assert!(text.contains(from), "{from}");
    lab.write("mine.c", text.replace(from, to));
    let built = lab.shell(&format!("cc -O2 -shared -fPIC -I {ROOT} -o {name} mine.c"));
    assert_eq!(built.status, Some(0), "{}", built.all());
}

const OPEN: &str = "    if (strcmp(algorithm, \"chacha20\") != 0";

fn said(ran: &Ran, status: i32, words: &str) {
    assert_eq!(ran.status, Some(status), "{}", ran.all());
    let all = ran.all();
    let text = all.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(words), "{words}\n{all}");
}

#[test]
fn without_algorithms_a_run_measures_those_of_the_library() {
    let lab = lab!();
    build(&lab, "", "", "libmine.so");
    let ran = lab.run("run -p library:./libmine.so -s 64 --budget 0.3s");
    said(&ran, 0, "library:./libmine.so supports chacha20; without -a, only that is measured");
    said(&ran, 0, "chacha20 encrypt");
    assert!(!ran.all().contains("not supported"), "{}", ran.all());
    build(&lab, OPEN, "    if (algorithm", "libnone.so");
    let ran = lab.run("run -p library:./libnone.so -s 64 --budget 0.3s");
    said(&ran, 2, "library:./libnone.so supports none of cpb's algorithms");
    assert!(!ran.all().contains("measuring"), "{}", ran.all());
}

#[test]
fn a_check_of_a_library_shows_what_it_has_and_counts_the_rest() {
    let lab = lab!();
    build(&lab, "", "", "libmine.so");
    let ran = lab.run("check -p library:./libmine.so");
    said(&ran, 0, "58 algorithms are not supported by library:./libmine.so");
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("chacha20 ")).count(), 2);
    assert!(!ran.stdout.contains("aes-"), "{}", ran.all());
    // An algorithm that was asked for has its row.
    let ran = lab.run("check -p library:./libmine.so -a chacha20,sha-256");
    said(&ran, 0, "sha-256 hash -");
}

#[test]
fn the_file_of_a_library_cannot_have_a_comma() {
    let lab = lab!();
    build(&lab, "", "", "a,b.so");
    for line in
        ["run -p library:./a,b.so -a chacha20", "check -p library:./a,b.so", "run -p ./a.so"]
    {
        let ran = lab.run(line);
        said(&ran, 2, "a C library of your own is library:FILE, and a comma ends FILE");
    }
}

#[test]
fn a_library_that_never_answers_is_reported_as_such() {
    let lab = lab!();
    build(&lab, OPEN, &format!("    for (;;) ;\n{OPEN}"), "libhang.so");
    let silent = "no answer for 1.0 s, so it was stopped";
    for line in [
        "run -p library:./libhang.so -s 64 --budget 0.3s",
        "check -p library:./libhang.so -a chacha20",
    ] {
        let ran = lab.run(&format!("{line} --timeout 1s"));
        let status = if line.starts_with("run") { 2 } else { 1 };
        said(&ran, status, silent);
        assert!(!ran.all().contains("SIGKILL"), "{}", ran.all());
    }
}
