//! `cpb list`: who can be measured here, and what.

use super::{DONE, output};
use crate::record::ProviderRecord;
use crate::report::wrap;
use crate::sources;
use crate::transport::{Patience, Place};
use anyhow::Result;
use clap::Args;
use cpb_core::{Algorithm, Operation};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cpb list\n  cpb list --long      with build options and masks"
)]
pub(super) struct Arguments {
    /// Show compiler, flags and CPU settings
    #[arg(long)]
    long: bool,
    /// List the providers of this program, too
    #[arg(long, value_name = "PROGRAM")]
    runner: Vec<PathBuf>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let patience = Patience { answer: Duration::from_secs(10), stop: Default::default() };
    let known = sources::discover(
        &[],
        &arguments.runner,
        &sources::Home::Here,
        &Place::default(),
        &patience,
    )?;
    let mut text = String::from("Providers\n");
    for known in &known {
        let about = cpb_providers::find(&known.source.name)
            .map_or("foreign runner", |choice| choice.entry.about);
        let name = &known.source.name;
        match known.record() {
            ProviderRecord::Available { version, executor, options, .. } => {
                line(&mut text, name, &format!("{version:<7} {about}"))?;
                if arguments.long {
                    line(&mut text, "", &format!("executor: {executor}"))?;
                    line(&mut text, "", &format!("build: {options}"))?;
                }
            }
            ProviderRecord::Unavailable { detail, .. } => {
                line(&mut text, name, &format!("not here: {detail}"))?;
            }
        }
    }
    text.push_str("\nAlgorithms\n");
    for &algorithm in Algorithm::ALL {
        let operations: Vec<&str> =
            algorithm.operations().iter().map(|o| Operation::name(*o)).collect();
        writeln!(text, "  {algorithm:<18} {}", operations.join(", "))?;
    }
    output::print(&text)?;
    Ok(DONE)
}

/// A name and what there is to say of it, in as many lines as 80 columns need.
fn line(text: &mut String, name: &str, words: &str) -> std::fmt::Result {
    const INDENT: usize = 20;
    let mut name = name;
    for words in wrap(words, 80 - INDENT) {
        writeln!(text, "  {name:<17} {words}")?;
        name = "";
    }
    Ok(())
}
