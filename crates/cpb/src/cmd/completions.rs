//! `cpb completions`: a script that completes cpb's command line in a shell.

use super::{Cli, DONE, output};
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Args)]
#[command(
    after_help = "Example:\n  cpb completions bash > ~/.local/share/bash-completion/completions/cpb"
)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "cpb", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}
