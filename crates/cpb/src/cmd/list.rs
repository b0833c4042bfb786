//! `cpb list`: who can be measured here, and what.

mod kernel;

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
    after_help = "Examples:\n  cpb list\n  cpb list --long      with build options and masks\n  \
        cpb list --kernel    every crypto driver of the kernel, and whether programs reach it"
)]
pub(super) struct Arguments {
    /// Show compiler, flags and CPU settings
    #[arg(long)]
    long: bool,
    /// List what the kernel's crypto offers instead: drivers, and what stands before each
    #[arg(long)]
    kernel: bool,
    /// With --kernel: as JSON
    #[arg(long, requires = "kernel")]
    json: bool,
    /// List the providers of this program, too
    #[arg(long, value_name = "PROGRAM")]
    runner: Vec<PathBuf>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    if arguments.kernel {
        let survey = cpb_providers::af_alg::survey();
        let text =
            if arguments.json { serde_json::to_string(&survey)? } else { kernel::words(&survey)? };
        output::print(&text)?;
        return Ok(DONE);
    }
    // Named one by one, so that what is not here is listed, too.
    let all: Vec<String> = cpb_providers::LIST.iter().map(|entry| entry.name.to_owned()).collect();
    let patience = Patience { answer: Duration::from_secs(10), stop: Default::default() };
    let known = sources::discover(
        &all,
        &arguments.runner,
        &sources::Home::Here,
        &Place::default(),
        &patience,
    )?;
    let mut text = String::from("Providers\n");
    for known in &known {
        let name = &known.source.name;
        let choice = cpb_providers::find(name);
        let about = choice.map_or("foreign runner", |choice| choice.entry.about);
        match known.record() {
            // An executor of an interface is its kernel's, and says best itself what it is.
            ProviderRecord::Available { executor, options, .. }
                if choice.is_some_and(|choice| !choice.variant.is_empty()) =>
            {
                line(&mut text, name, &options)?;
                if arguments.long {
                    line(&mut text, "", &format!("executor: {executor}"))?;
                }
            }
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
        let mut name = algorithm.name();
        for words in wrap(&operations.join(", "), output::width().max(48) - ALGORITHM - 3) {
            writeln!(text, "  {name:<ALGORITHM$} {words}")?;
            name = "";
        }
    }
    output::print(&text)?;
    Ok(DONE)
}

/// Room for the name of an algorithm.
const ALGORITHM: usize = 26;

/// A name and what there is to say of it, in as many lines as it needs.
fn line(text: &mut String, name: &str, words: &str) -> std::fmt::Result {
    const INDENT: usize = 20;
    let mut name = name;
    if name.len() > INDENT - 3 {
        writeln!(text, "  {name}")?;
        name = "";
    }
    for words in wrap(words, output::width().max(2 * INDENT) - INDENT) {
        writeln!(text, "  {name:<17} {words}")?;
        name = "";
    }
    Ok(())
}
