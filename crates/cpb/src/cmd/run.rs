//! `cpb run`: measure this machine and show the result.

mod connect;
mod own_library;
mod plan;
mod segment;
mod since;

use super::filter::{Filter, Sizes};
use super::{BAD_INPUT, DONE, FAILED, INTERRUPTED, compare, output};
use crate::run::Ended;
use crate::schedule;
use anyhow::{Context, Result};
use clap::{Args, Command, FromArgMatches};
use cpb_analysis::agreement;
use cpb_core::catalog;
use cpb_record::budget::{Percent, Seconds};
use cpb_record::foreign::shell_word;
use cpb_record::plan::Plan;
use cpb_record::store;
use cpb_record::{Cell, NotMeasuredReason, Outcome, Record};
use segment::{Begun, Segment};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a record that is resumed has already settled.
const SETTLED: [&str; 16] = [
    "target",
    "plan",
    "algorithm",
    "size",
    "provider",
    "operation",
    "phase",
    "width",
    "pattern",
    "threads",
    "budget",
    "precision",
    "refine",
    "cpu",
    "output",
    "against",
];

/// The end of the help text.
fn after_help() -> String {
    let kept = schedule::RECORD_BATCHES / 1000;
    let each = schedule::CELL_BATCHES;
    format!(
        "{EXAMPLES}\n\nSeparate list items by commas. Options that are not given are taken from the plan. A \
         record keeps {kept},000 batches of measurements, or {each} per cell if that is more. When the record is \
         full, the run ends early and reports this."
    )
}

const EXAMPLES: &str = "Examples:
  cpb run                                    the default plan, about 20 s
  cpb run -a aes-256-gcm -s 16,1K,64K        one algorithm, three sizes
  cpb run -p openssl,mbedtls:c --budget 60s  two providers, more precisely
  cpb run --precision 0.5%                   until intervals are that narrow
  cpb run -a sha-256 --threads 1,2           how it scales
  cpb run -p memory --width 32,64 -s 16K,1M  how fast memory is read
  cpb run --refine                           find crossovers more exactly
  cpb run --against BEFORE.jsonl             repeat and compare with BEFORE
  cpb run --plan record                      another plan: `cpb list plans`
  cpb run --target ssh:root@board            on another machine
  cpb run --target 'exec:docker run -i X /cpb'  in a container
  cpb run --csv > cells.csv                  figures for a spreadsheet
  cpb run --resume cpb-results/FILE.jsonl    continue a stopped run";

#[derive(Args)]
#[command(after_help = after_help())]
pub(super) struct Arguments {
    /// Plan: a file, or a name from `cpb list plans` [default: default]
    #[arg(long, value_name = "PLAN", help_heading = "What")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sizes: Sizes,
    /// Phases: message, message-with-key, update, setup
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    phase: Vec<String>,
    /// Widths of memory reads in bits: 8, 16, 32, 64, or widest, the widest vector of this CPU
    #[arg(long, value_delimiter = ',', value_name = "WIDTHS", help_heading = "What")]
    width: Vec<String>,
    /// Patterns of memory reads: linear, ping-pong; their working sets are --size
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    pattern: Vec<String>,
    /// Numbers of threads; each thread runs on its own CPU
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", help_heading = "What")]
    #[arg(allow_negative_numbers = true, value_parser = threads)]
    threads: Vec<u8>,
    /// Measure on another machine: ssh:HOST, a machine reached by ssh; exec:COMMAND, where your command
    /// starts a cpb; lab:GUEST, a guest of the lab (`cpb lab list`); serial:DEVICE, a board without an
    /// operating system; imxrt1060-sim or imxrt1170-sim, a simulated board; or the name of a board (`cpb list
    /// targets`)
    #[arg(long, value_name = "TARGET", help_heading = "What")]
    target: Option<String>,
    /// Speed of a board's serial line, in bits per second [default: 115200]
    #[arg(long, value_name = "NUMBER", help_heading = "What")]
    baud: Option<u32>,
    /// Also measure the providers of this program, which speaks cpb's frames; with ssh, the static cpb to copy there
    #[arg(long, value_name = "PROGRAM", help_heading = "What")]
    runner: Vec<PathBuf>,

    /// Time for the whole run, such as 500ms, 20s, 5m or 1h; without a unit, in seconds
    #[arg(long, value_name = "TIME", help_heading = "How", allow_hyphen_values = true)]
    budget: Option<Seconds>,
    /// Measure until the half-width of each interval is below this share of its figure, in percent, such as 0.5%;
    /// without a --budget for at most 10 minutes
    #[arg(long, value_name = "SHARE", help_heading = "How", allow_hyphen_values = true)]
    precision: Option<Percent>,
    /// Measure more sizes where the fastest path changes; the default plan always does
    #[arg(long, help_heading = "How")]
    refine: bool,
    /// CPU to measure on [default: the last CPU that this process may use]
    #[arg(long, value_name = "NUMBER", help_heading = "How", allow_negative_numbers = true)]
    #[arg(value_parser = cpu)]
    cpu: Option<usize>,
    /// Kill a runner that does not answer for this long [default: 10s, on an emulated machine 60s]
    #[arg(long, value_name = "TIME", help_heading = "How", allow_hyphen_values = true)]
    timeout: Option<Seconds>,

    /// Record to write [default: a new file in ./cpb-results]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Continue a stopped run, with the plan in this record
    #[arg(long, value_name = "RECORD", help_heading = "Output", conflicts_with_all = SETTLED)]
    resume: Option<PathBuf>,
    /// Measure what this record measured, unless a plan is given, and compare with it
    #[arg(long, value_name = "RECORD", help_heading = "Output")]
    #[arg(conflicts_with_all = ["csv", "markdown", "all"])]
    against: Option<PathBuf>,
    /// Exit with status 1 if a cell is slower by more than this share beyond doubt
    #[arg(long, value_name = "SHARE", help_heading = "Output", requires = "against")]
    fail_if_slower: Option<Percent>,
    /// Show every provider and size, the latency of single operations, and all details of the run
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Show no progress bar
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Print each line that is written to the record
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    verbose: bool,
    #[command(flatten)]
    form: output::Form,
    /// The plan, if another command supplies it.
    #[arg(skip)]
    brought: Option<Plan>,
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<u8, String> {
    let number = text.trim().parse::<u8>();
    number.map_err(|_| format!("write numbers from 1 to {}, such as 1,2", u8::MAX))
}

/// Parses the number of a CPU.
fn cpu(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "write the number of a CPU; the first is 0".to_owned())
}

/// Measures a plan on one CPU of this machine as `cpb run` does, and returns the record and how the run
/// ended. Returns `None` if it was stopped before it began. The record is `output`, or a new file in
/// ./cpb-results.
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
            output::say(&format!(
                "{} is complete; there is nothing left to measure",
                path.display()
            ));
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
            output::say(&format!("stopped; continue with: {}", go_on(&path, &arguments.runner)));
            INTERRUPTED
        }
        Ended::CutOff => {
            let go_on = go_on(&path, &arguments.runner);
            output::say(&format!("the connection was lost; continue with: {go_on}"));
            FAILED
        }
        Ended::Complete | Ended::Full(_)
            if record.cells.iter().any(|(_, outcome)| failed(outcome))
                || !agreement::disagreements(&record).is_empty() =>
        {
            FAILED
        }
        Ended::Complete | Ended::Full(_) if !record.cells.iter().any(measured) => {
            output::say(
                "nothing was measured: none of the selected providers supports the selected algorithms",
            );
            BAD_INPUT
        }
        Ended::Complete | Ended::Full(_) => compared,
    })
}

/// Shows what was measured and, with `--against`, the comparison. Returns the exit status.
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

/// The command that continues a record.
fn go_on(record: &Path, runners: &[PathBuf]) -> String {
    let mut command = format!("cpb run --resume {}", shell_word(&record.to_string_lossy()));
    for runner in runners {
        command.push_str(&format!(" --runner {}", shell_word(&runner.to_string_lossy())));
    }
    command
}

/// The first signal lets the current round finish and keeps everything; the second one exits at once.
pub(super) fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<()> {
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .context("cannot install a handler for Ctrl-C")
}
