//! The runner on its own: `cpb-runner [--cpus N,N] [--latency N] PROVIDER...`, for targets that
//! carry no host.

use cpb_runner::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(arguments) if arguments.rest.is_empty() => Err("no provider named".to_owned()),
        parsed => parsed,
    };
    match arguments.and_then(|all| run(&all.rest, all.place()).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cpb-runner: {problem}");
            eprintln!("usage: cpb-runner [--cpus N,N] [--latency N] PROVIDER...");
            ExitCode::from(2)
        }
    }
}
