//! `cpb list`: providers and algorithms of this machine, and what cpb contains.

mod carried;
mod kernel;

use super::{DONE, output};
use crate::target::{Local, Target};
use crate::transport::Affinity;
use anyhow::Result;
use clap::{Args, ValueEnum};
use cpb_core::catalog;
use cpb_core::{Algorithm, Operation};
use cpb_record::ProviderRecord;
use cpb_record::budget::Seconds;
use cpb_report::wrap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cpb list\n  cpb list --long      with build options and masks\n  \
        cpb list --kernel    all crypto drivers of the kernel\n  \
        cpb list plans       plans for `cpb run --plan`\n  \
        cpb list records     published tables for `cpb show`, `explain` etc.\n  \
        cpb list targets     targets for `cpb run --target`"
)]
pub(super) struct Arguments {
    /// What to list [default: providers and algorithms]
    #[arg(value_enum, conflicts_with_all = ["long", "kernel", "runner"])]
    what: Option<What>,
    /// Show compiler, flags and CPU settings
    #[arg(long)]
    long: bool,
    /// List the crypto drivers of the kernel, and how programs can reach them
    #[arg(long)]
    kernel: bool,
    /// Print the output of --kernel as JSON
    #[arg(long, requires = "kernel")]
    json: bool,
    /// Also list the providers of this program
    #[arg(long, value_name = "PROGRAM")]
    runner: Vec<PathBuf>,
    /// Give up on a provider that does not answer for this long [default: 10s, on an emulated machine 60s]
    #[arg(long, value_name = "TIME", conflicts_with = "kernel")]
    timeout: Option<Seconds>,
}

/// What cpb contains, and where it can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Plans
    Plans,
    /// Published records
    Records,
    /// Targets: boards, guests of the lab, simulated boards
    Targets,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    if let Some(what) = arguments.what {
        let text = match what {
            What::Plans => carried::plans(output::width())?,
            What::Records => carried::records(output::width())?,
            What::Targets => carried::targets(output::width())?,
        };
        output::print(&text)?;
        return Ok(DONE);
    }
    if arguments.kernel {
        let survey = cpb_providers::af_alg::survey();
        match arguments.json {
            true => output::print_json(&serde_json::to_string(&survey)?)?,
            false => output::print(&kernel::words(&survey)?)?,
        }
        return Ok(DONE);
    }
    // Each provider is selected by name, so that missing ones are listed as well.
    let all: Vec<String> = catalog::LIST.iter().map(|entry| entry.name.to_owned()).collect();
    let here = Local::new(arguments.timeout, &Arc::default());
    let known = here.discover(&all, &arguments.runner, &Affinity::default())?;
    let mut text = String::from("Providers\n");
    for known in &known {
        let name = &known.spec.name;
        let choice = catalog::find(name);
        let about = choice.map_or("provider of --runner", |choice| choice.entry.about);
        if let Some(silent) = known.silent() {
            line(&mut text, name, &silent)?;
            continue;
        }
        match known.record() {
            // An executor of an interface belongs to the kernel, which describes it best.
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
                line(&mut text, name, &format!("not available: {detail}"))?;
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

/// A name and its description, on as many lines as needed.
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
