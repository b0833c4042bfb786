//! The command `cpb`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cpb::cmd::main()
}
