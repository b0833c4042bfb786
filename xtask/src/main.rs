//! The tasks that make and CI call: `cargo xtask SUBCOMMAND`.

mod bench;
mod cargo_output;
mod check;
mod circles;
mod firmware;
mod fuzz;
mod links;
mod modules;
mod parts;
mod scripts;
mod size;
mod skips;
mod static_build;
mod test;
mod tree;
mod type_names;
mod units;
mod unittest_output;
mod words;
#[cfg(test)]
mod workflows;

use std::process::ExitCode;

struct Subcommand {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "check",
        about: "[NAME...]: formatting, lints, documentation, circles, type names, units, words, links, cross builds, licences, spelling",
        run: check::run,
    },
    Subcommand {
        name: "test",
        about: "check, then every test; lists what was skipped",
        run: test::run,
    },
    Subcommand {
        name: "static",
        about: "[--test | --symbols] [TARGET...]: static binaries into dist/, or fast built ones for tests",
        run: static_build::run,
    },
    Subcommand {
        name: "firmware",
        about: "[OPTION...] [BOARD...]: images for boards, into target/firmware/",
        run: firmware::run,
    },
    Subcommand {
        name: "size",
        about: "[FILE]: what a built cpb is made of, in bytes",
        run: size::run,
    },
    Subcommand {
        name: "bench",
        about: "[NAME...]: the scripts in bench/, which write into bench/results/",
        run: bench::run,
    },
    Subcommand {
        name: "fuzz",
        about: "[--seconds N] [TARGET...]: the targets in fuzz/, into fuzz/results.md",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.first().and_then(|name| SUBCOMMANDS.iter().find(|s| s.name == name));
    let Some(subcommand) = chosen else {
        eprintln!("usage: cargo xtask SUBCOMMAND\n");
        for s in SUBCOMMANDS {
            eprintln!("  {:<8} {}", s.name, s.about);
        }
        return ExitCode::from(2);
    };
    match (subcommand.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {}: {message}", subcommand.name);
            ExitCode::FAILURE
        }
    }
}
