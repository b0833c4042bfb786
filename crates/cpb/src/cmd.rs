//! Subcommands, one file each.

mod agent;
mod check;
mod compare;
mod completions;
mod doctor;
mod explain;
mod file;
mod filter;
mod identify;
mod import;
mod lab;
mod list;
mod man;
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

/// Everything was done.
const DONE: u8 = 0;
/// Something was measured or checked and failed: a wrong answer, a crash.
const FAILED: u8 = 1;
/// The input is wrong, or a file cannot be read or written: nothing was begun.
const BAD_INPUT: u8 = 2;
/// The user stopped it; what was measured is kept. 128 + SIGINT, as shells have it.
const INTERRUPTED: u8 = 130;

/// A laboratory for the performance of cryptography on embedded systems.
#[derive(Parser)]
#[command(version, about, max_term_width = 80, disable_help_subcommand = true)]
#[command(after_help = "Start with `cpb run`. Exit status: 0 done, 1 a wrong answer or a crash, \
    2 bad input or nothing to measure, 130 stopped by Ctrl-C.")]
pub(crate) struct Cli {
    /// Print ASCII only, as in a locale without UTF-8 (LC_ALL, LC_CTYPE, LANG)
    #[arg(long, global = true)]
    ascii: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure this machine and show the result
    Run(Box<run::Arguments>),
    /// Show a record again
    Show(show::Arguments),
    /// Say which path to take at which message size, and why
    Explain(explain::Arguments),
    /// Read other tools' logs as records
    Import(import::Arguments),
    /// Say which cores these are, by their AES, and at what clock
    Identify(identify::Arguments),
    /// Make a page of records, for a browser
    Report(report::Arguments),
    /// Hold two runs, or two providers of one, against each other
    Compare(compare::Arguments),
    /// Say how good a place to measure this machine is, in two seconds
    Doctor(doctor::Arguments),
    /// List providers and algorithms, and why something is not available here
    List(list::Arguments),
    /// Try the known answers of every provider
    Check(check::Arguments),
    /// Boot guests with an accelerator, and run commands in them
    Lab(lab::Arguments),
    /// Run a bare-metal program on a simulated Cortex-M7 and count its cycles
    Sim(sim::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print the manual page, or write all of them to a folder
    Man(man::Arguments),
    /// Measure on behalf of a host, over frames
    #[command(hide = true)]
    Runner(runner::Arguments),
    /// Take orders in a guest of the lab, or over ssh
    #[command(hide = true)]
    Agent(agent::Arguments),
    /// Become a program that ends with its parent
    #[command(hide = true)]
    Leash(agent::Leash),
}

/// Shows help, the version, or what is wrong with the command line, and says what the exit status is.
fn told(mut error: clap::Error) -> ExitCode {
    // What people are not told of is no suggestion either.
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
        // One line says it all, as of every other value that is wrong.
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

/// Runs the command line and says what the exit status is.
pub fn main() -> ExitCode {
    // Before the command line is read: what is wrong with it is printed as well.
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
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Runner(arguments) => runner::run(arguments),
        Command::Agent(arguments) => agent::run(arguments),
        Command::Leash(arguments) => agent::leash(arguments),
    };
    status(result)
}

fn status(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        // Whoever read our output has gone: not an error of ours.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(DONE),
        Err(error) => {
            output::say(&foreign::plain_lines(&format!("cpb: {error:#}")));
            ExitCode::from(BAD_INPUT)
        }
    }
}
