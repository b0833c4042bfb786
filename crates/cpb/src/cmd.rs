//! Subcommands, one file each.

mod agent;
mod check;
mod compare;
mod completions;
mod doctor;
#[cfg(feature = "engine-server")]
mod engine;
mod explain;
mod file;
mod filter;
mod identify;
mod import;
mod lab;
mod list;
mod man;
mod otfad;
mod output;
mod report;
mod run;
mod runner;
mod show;
mod sim;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use cpb_record::foreign;
use cpb_report::ascii;
use std::process::ExitCode;

/// The command did what was asked.
const DONE: u8 = 0;
/// A measurement or a check failed: a wrong answer, a crash.
const FAILED: u8 = 1;
/// The input is wrong, or a file cannot be read or written. Nothing was started.
const BAD_INPUT: u8 = 2;
/// The user stopped the command; what was measured is kept. 128 + SIGINT, as in shells.
const INTERRUPTED: u8 = 130;

/// A laboratory for the performance of cryptography on embedded systems.
#[derive(Parser)]
#[command(version, about, max_term_width = 80, disable_help_subcommand = true)]
#[command(
    after_help = "Start with `cpb run`. Exit status: 0 success, 1 a wrong answer or a crash, \
    2 bad input or nothing to measure, 130 stopped by Ctrl-C."
)]
pub(crate) struct Cli {
    /// Print ASCII only; this is the default if the locale (LC_ALL, LC_CTYPE, LANG) is not UTF-8
    #[arg(long, global = true)]
    ascii: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure this machine and show the result
    Run(Box<run::Arguments>),
    /// Show a record
    Show(show::Arguments),
    /// Recommend a path for each message size, with reasons
    Explain(explain::Arguments),
    /// Convert logs of other tools to records
    Import(import::Arguments),
    /// Identify CPU cores and their real clock from AES speed
    Identify(identify::Arguments),
    /// Write records as an HTML page, CSV, JSON or Markdown
    Report(report::Arguments),
    /// Compare two runs, or two providers of one run
    Compare(compare::Arguments),
    /// Rate how suitable this machine is for measuring, in two seconds
    Doctor(doctor::Arguments),
    /// List providers and algorithms, and why some are not available here
    List(list::Arguments),
    /// Check every provider against known answers
    Check(check::Arguments),
    /// Boot guest machines with an accelerator, and run commands in them
    Lab(lab::Arguments),
    /// Run a bare-metal program on a simulated Cortex-M7 and count its cycles
    Sim(sim::Arguments),
    /// Encrypt images for flash that the i.MX RT decrypts as it reads (OTFAD)
    Otfad(otfad::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print the manual page, or write all pages to a folder
    Man(man::Arguments),
    /// Measure on behalf of a host, over frames
    #[command(hide = true)]
    Runner(runner::Arguments),
    /// Execute orders of a host, in a guest of the lab or over ssh
    #[command(hide = true)]
    Agent(agent::Arguments),
    /// Execute a program that is killed when its parent ends
    #[command(hide = true)]
    Leash(agent::Leash),
    /// Serve an engine's model to a QEMU
    #[cfg(feature = "engine-server")]
    #[command(hide = true)]
    Engine(engine::Arguments),
}

/// Prints help, the version, or the error in the command line, and returns the exit status.
fn told(mut error: clap::Error) -> ExitCode {
    // Hidden commands are not suggested.
    let hidden = |name: &String| {
        Cli::command().get_subcommands().any(|one| one.is_hide_set() && one.get_name() == name)
    };
    if let Some(ContextValue::Strings(names)) = error.remove(ContextKind::SuggestedSubcommand) {
        let names: Vec<String> = names.into_iter().filter(|name| !hidden(name)).collect();
        if !names.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
        }
    }
    if error.kind() == ErrorKind::ValueValidation {
        // One line is enough, as for every other invalid value.
        let whole = error.to_string();
        let line = whole.lines().next().unwrap_or_default();
        output::say(&format!("cpb: {}", line.trim_start_matches("error: ")));
        return ExitCode::from(BAD_INPUT);
    }
    if error.use_stderr() {
        output::say(error.render().ansi().to_string().trim_end());
        return ExitCode::from(BAD_INPUT);
    }
    status(output::print_coloured(&error.render().ansi().to_string()).map(|()| DONE))
}

/// Runs the command line and returns the exit status.
pub fn main() -> ExitCode {
    // Before the command line is parsed, because errors in it are printed as well.
    ascii::choose(ascii::is_wanted(std::env::args_os(), |name| std::env::var_os(name)));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told(error),
    };
    let result = match cli.command {
        Command::Run(arguments) => run::run(*arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Identify(arguments) => identify::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::List(arguments) => list::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Sim(arguments) => sim::run(arguments),
        Command::Otfad(arguments) => otfad::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Runner(arguments) => runner::run(arguments),
        Command::Agent(arguments) => agent::run(arguments),
        Command::Leash(arguments) => agent::leash(arguments),
        #[cfg(feature = "engine-server")]
        Command::Engine(arguments) => engine::run(arguments),
    };
    status(result)
}

fn status(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        // The reader of our output has gone: not an error of cpb.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(DONE),
        Err(error) => {
            output::say(&foreign::plain_lines(&format!("cpb: {error:#}")));
            ExitCode::from(BAD_INPUT)
        }
    }
}
