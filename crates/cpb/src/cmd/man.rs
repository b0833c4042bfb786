//! `cpb man`: manual pages.

use super::{Cli, DONE, output};
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb man | man -l -\n  cpb man ~/.local/share/man/man1")]
pub(super) struct Arguments {
    /// Write cpb.1, cpb-run.1, ... to this folder
    folder: Option<PathBuf>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    match arguments.folder {
        Some(folder) => {
            std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), &folder))
                .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(DONE)
}
