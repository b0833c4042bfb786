//! The runner as a separate program: `cpb-runner [--cpus N,N] [--latency N] [PROVIDER...]`, for targets
//! without a host. Serves all providers if none is named.

use cpb_runner::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse(std::env::args_os().skip(1));
    match arguments.and_then(|all| run(&all.rest, all.place()).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cpb-runner: {problem}");
            eprintln!("usage: cpb-runner [--cpus N,N] [--latency N] [PROVIDER...]");
            ExitCode::from(2)
        }
    }
}
