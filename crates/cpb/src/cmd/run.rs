//! `cpb run`: measure this machine and show the result.

mod connect;
mod segment;
mod since;

use super::filter::{Filter, Sizes};
use super::{BAD_INPUT, DONE, FAILED, INTERRUPTED, compare, output};
use crate::run::Ended;
use crate::schedule;
use anyhow::{Context, Result};
use clap::{Args, Command, FromArgMatches};
use cpb_core::catalog;
use cpb_record::budget::{Percent, Seconds};
use cpb_record::plan::Plan;
use cpb_record::store;
use cpb_record::{Cell, NotMeasuredReason, Outcome, Record};
use segment::{Begun, Segment};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a record that is gone on with has settled.
const SETTLED: [&str; 14] = [
    "target",
    "plan",
    "algorithm",
    "size",
    "provider",
    "operation",
    "phase",
    "threads",
    "budget",
    "precision",
    "refine",
    "cpu",
    "output",
    "against",
];

/// What the help ends with.
fn after_help() -> String {
    let kept = schedule::RECORD_BATCHES / 1000;
    let each = schedule::CELL_BATCHES;
    format!(
        "{EXAMPLES}\n\nLists are separated by commas. What is not named comes from the plan. A record keeps \
         {kept},000 batches of measurements, or {each} of each cell if those are more: a run whose record is full \
         ends before its time, and says so."
    )
}

const EXAMPLES: &str = "Examples:
  cpb run                                    the default plan, about 20 s
  cpb run -a aes-256-gcm -s 16,1K,64K        one algorithm, three sizes
  cpb run -p openssl,mbedtls:c --budget 60s  two providers, more precisely
  cpb run --precision 0.5%                   until every interval is that narrow
  cpb run -a sha-256 --threads 1,2           how it scales
  cpb run --refine                           where another path gets faster
  cpb run --against BEFORE.jsonl             the same again: is anything slower?
  cpb run --plan record                      another question: `cpb list plans`
  cpb run --target ssh:root@board            on another machine
  cpb run --target 'exec:docker run -i X /cpb'  in a container
  cpb run --csv > cells.csv                  the figures for a spreadsheet
  cpb run --resume cpb-results/FILE.jsonl    go on where a run stopped";

#[derive(Args)]
#[command(after_help = after_help())]
pub(super) struct Arguments {
    /// Plan: a file, or one of `cpb list plans`; default if none is named
    #[arg(long, value_name = "PLAN", help_heading = "What")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sizes: Sizes,
    /// Phases: message, message-with-key, update, setup
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    phase: Vec<String>,
    /// Numbers of threads, each on a CPU of its own
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", help_heading = "What")]
    #[arg(allow_negative_numbers = true, value_parser = threads)]
    threads: Vec<u8>,
    /// Measure on another machine, ssh:HOST, where a command of yours starts a cpb, exec:COMMAND, in a
    /// guest of the lab, lab:GUEST (`cpb lab list`), on a
    /// board without an operating system, serial:DEVICE, on a simulated one, imxrt1060-sim or
    /// imxrt1170-sim, or on a board with a name: `cpb list targets` shows all
    #[arg(long, value_name = "TARGET", help_heading = "What")]
    target: Option<String>,
    /// Speed of a board's serial line, in bits per second [default: 115200]
    #[arg(long, value_name = "NUMBER", help_heading = "What")]
    baud: Option<u32>,
    /// Measure the providers of this program, too (it speaks cpb's frames); over ssh, the static cpb
    /// to copy there
    #[arg(long, value_name = "PROGRAM", help_heading = "What")]
    runner: Vec<PathBuf>,

    /// Time for the whole run
    #[arg(long, value_name = "TIME", help_heading = "How", allow_hyphen_values = true)]
    budget: Option<Seconds>,
    /// Measure until each interval's half-width is below this share
    #[arg(long, value_name = "SHARE", help_heading = "How", allow_hyphen_values = true)]
    precision: Option<Percent>,
    /// Measure more sizes where several paths come near each other; the default plan does so itself
    #[arg(long, help_heading = "How")]
    refine: bool,
    /// CPU to measure on; the last that this process may use if none is named
    #[arg(long, value_name = "NUMBER", help_heading = "How", allow_negative_numbers = true)]
    #[arg(value_parser = cpu)]
    cpu: Option<usize>,
    /// A runner that gives no answer for this long has hung; 10s, on an emulated machine 60s
    #[arg(long, value_name = "TIME", help_heading = "How", allow_hyphen_values = true)]
    timeout: Option<Seconds>,

    /// Record to write; a new file in ./cpb-results if none is named
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Go on with a record where it stopped, by the plan in it
    #[arg(long, value_name = "RECORD", help_heading = "Output", conflicts_with_all = SETTLED)]
    resume: Option<PathBuf>,
    /// Measure what this record did, if no plan is named, and compare with it
    #[arg(long, value_name = "RECORD", help_heading = "Output")]
    #[arg(conflicts_with_all = ["csv", "markdown", "all"])]
    against: Option<PathBuf>,
    /// Exit with status 1 if a cell is slower by more than this share, and surely slower
    #[arg(long, value_name = "SHARE", help_heading = "Output", requires = "against")]
    fail_if_slower: Option<Percent>,
    /// Show every provider and size, the latency of single operations, and all that is known of the run
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// No progress bar
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Say what has been written to the record, line by line
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    verbose: bool,
    #[command(flatten)]
    form: output::Form,
    /// The plan, if another command brings it.
    #[arg(skip)]
    brought: Option<Plan>,
}

/// A number of threads.
fn threads(text: &str) -> Result<u8, String> {
    let number = text.trim().parse::<u8>();
    number.map_err(|_| format!("write numbers from 1 to {}, such as 1,2", u8::MAX))
}

/// The number of a CPU.
fn cpu(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "write a CPU's number, from 0 on".to_owned())
}

/// Measures a plan on one CPU of this machine as `cpb run` does: the record, and how it ended. None if it
/// was stopped before it began. The record is `output`, or a new file in ./cpb-results.
pub(super) fn measure(
    plan: Plan,
    cpu: usize,
    quiet: bool,
    stop: &Arc<AtomicBool>,
    output: Option<PathBuf>,
) -> Result<Option<(PathBuf, Ended)>> {
    let words = Arguments::augment_args(Command::new("run")).get_matches_from(["run"]);
    let mut arguments = Arguments::from_arg_matches(&words)?;
    arguments.brought = Some(plan);
    arguments.cpu = Some(cpu);
    arguments.quiet = quiet;
    arguments.output = output;
    Ok(match Segment::begin(&arguments, stop)? {
        Begun::Ready(segment) => {
            Some((segment.store.path().to_owned(), segment.measure(&arguments)?))
        }
        // A new record cannot be complete.
        Begun::Complete(path) => Some((path, Ended::Complete)),
        Begun::Stopped => None,
    })
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(Arc::clone(&stop))?;
    let begun = match &arguments.resume {
        Some(path) => Segment::resume(path, &arguments, &stop),
        None => Segment::begin(&arguments, &stop),
    };
    let begun = if stop.load(Ordering::Relaxed) { Begun::Stopped } else { begun? };
    let (path, ended) = match begun {
        Begun::Ready(segment) => (segment.store.path().to_owned(), segment.measure(&arguments)?),
        Begun::Complete(path) => {
            output::say(&format!("{} is complete: nothing is left to measure", path.display()));
            (path, Ended::Complete)
        }
        Begun::Stopped => {
            output::say("stopped before anything was measured");
            return Ok(INTERRUPTED);
        }
    };

    let record = store::read(&path)?;
    let compared = show(&record, &arguments)?;
    if !arguments.quiet {
        output::say(&format!("record: {}", path.display()));
        if arguments.against.is_none()
            && let Some(line) = since::since(&record, &path)
        {
            output::say(&line);
        }
    }
    let failed = |outcome: &Outcome| {
        matches!(outcome, Outcome::NotMeasured(NotMeasuredReason::Failed { .. }))
    };
    let measured = |(cell, outcome): &(Cell, Outcome)| {
        cell.provider != catalog::NULL && matches!(outcome, Outcome::Measured(_))
    };
    Ok(match ended {
        Ended::Interrupted => {
            output::say(&format!("stopped; go on with: {}", go_on(&path, &arguments.runner)));
            INTERRUPTED
        }
        Ended::CutOff => {
            let go_on = go_on(&path, &arguments.runner);
            output::say(&format!("the connection was lost; go on with: {go_on}"));
            FAILED
        }
        Ended::Complete | Ended::Full(_)
            if record.cells.iter().any(|(_, outcome)| failed(outcome)) =>
        {
            FAILED
        }
        Ended::Complete | Ended::Full(_) if !record.cells.iter().any(measured) => {
            output::say("nothing was measured: no provider that was named has any of this");
            BAD_INPUT
        }
        Ended::Complete | Ended::Full(_) => compared,
    })
}

/// Shows what was measured, and how it compares if that was asked for: the status of that.
fn show(record: &Record, arguments: &Arguments) -> Result<u8> {
    let allowed = arguments.fail_if_slower;
    if let Some(before) = arguments.against.as_ref().filter(|_| arguments.form.json) {
        return compare::with(&store::read(before)?, record, true, allowed);
    }
    let options =
        cpb_report::terminal::Options { all: arguments.all, by_size: false, verdict_last: true };
    output::show(record, &arguments.form, &options)?;
    match &arguments.against {
        Some(before) => compare::with(&store::read(before)?, record, false, allowed),
        None => Ok(DONE),
    }
}

/// The command that goes on with a record.
fn go_on(record: &Path, runners: &[PathBuf]) -> String {
    let mut command = format!("cpb run --resume {}", record.display());
    for runner in runners {
        command.push_str(&format!(" --runner {}", runner.display()));
    }
    command
}

/// The first signal lets the round that is running end and keeps everything; the second does not
/// wait.
pub(super) fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<()> {
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .context("cannot watch for Ctrl-C")
}
