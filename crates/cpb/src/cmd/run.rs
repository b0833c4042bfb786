//! `cpb run`: measure this machine and show the result.

mod reach;
mod sitting;

use super::{BAD_INPUT, DONE, FAILED, INTERRUPTED, compare, output};
use crate::analysis::explain::explain;
use crate::analysis::summary::summarise;
use crate::budget::{Percent, Seconds};
use crate::plan::Plan;
use crate::record::{Cell, Outcome, Reason, Record};
use crate::run::Ended;
use crate::{report, store};
use anyhow::{Context, Result};
use clap::{Args, Command, FromArgMatches};
use sitting::{Begun, Sitting};
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

#[derive(Args)]
#[command(after_help = "Examples:
  cpb run                                    the default plan, about 20 s
  cpb run -a aes-256-gcm -s 16,1K,64K        one algorithm, three sizes
  cpb run -p openssl,mbedtls:c --budget 60s  two providers, more precisely
  cpb run --precision 0.5%                   until every interval is that narrow
  cpb run -a sha-256 --threads 1,2           how it scales
  cpb run --refine                           where another path gets faster
  cpb run --against BEFORE.jsonl             the same again: is anything slower?
  cpb run --target ssh:root@board            on another machine
  cpb run --csv > cells.csv                  the figures for a spreadsheet
  cpb run --resume cpb-results/FILE.jsonl    go on where a run stopped

Lists are separated by commas. What is not named comes from the plan.")]
pub(super) struct Arguments {
    /// Plan file; the built-in default plan if none is named
    #[arg(long, value_name = "FILE", help_heading = "What")]
    plan: Option<PathBuf>,
    /// Algorithms
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    algorithm: Vec<String>,
    /// Message sizes, such as 16,1K,16K
    #[arg(short, long, value_delimiter = ',', value_name = "SIZES", help_heading = "What")]
    #[arg(allow_negative_numbers = true)]
    size: Vec<String>,
    /// Providers
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    provider: Vec<String>,
    /// Operations: encrypt, decrypt, hash, mac, random, copy; of key pairs sign, verify, key-agreement,
    /// encapsulate, decapsulate, generate-key
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    operation: Vec<String>,
    /// Phases: message, message-with-key, update, setup
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    phase: Vec<String>,
    /// Numbers of threads, each on a CPU of its own
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", help_heading = "What")]
    #[arg(allow_negative_numbers = true)]
    threads: Vec<u8>,
    /// Measure on another machine, ssh:HOST, in a guest of the lab, lab:GUEST (`cpb lab list`), on a
    /// board without an operating system, serial:DEVICE, on a simulated one, imxrt1060-sim or
    /// imxrt1170-sim, or where boards/NAME.toml says
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
    #[arg(long, value_name = "TIME", help_heading = "How")]
    budget: Option<Seconds>,
    /// Measure until each interval's half-width is below this share
    #[arg(long, value_name = "SHARE", help_heading = "How")]
    precision: Option<Percent>,
    /// Measure more sizes near each crossover, until it is known to within 5%
    #[arg(long, help_heading = "How")]
    refine: bool,
    /// CPU to measure on; the last that this process may use if none is named
    #[arg(long, value_name = "NUMBER", help_heading = "How", allow_negative_numbers = true)]
    cpu: Option<usize>,
    /// A runner that gives no answer for this long has hung; 10s, in the lab 60s
    #[arg(long, value_name = "TIME", help_heading = "How")]
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
    /// Show every size, and the latency of single operations
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

/// Measures a plan on one CPU of this machine as `cpb run` does: the record, and how it ended. None if it
/// was stopped before it began.
pub(super) fn measure(
    plan: Plan,
    cpu: usize,
    quiet: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Option<(PathBuf, Ended)>> {
    let words = Arguments::augment_args(Command::new("run")).get_matches_from(["run"]);
    let mut arguments = Arguments::from_arg_matches(&words)?;
    arguments.brought = Some(plan);
    arguments.cpu = Some(cpu);
    arguments.quiet = quiet;
    Ok(match Sitting::begin(&arguments, stop)? {
        Begun::Ready(sitting) => {
            Some((sitting.store.path().to_owned(), sitting.measure(&arguments)?))
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
        Some(path) => Sitting::resume(path, &arguments, &stop),
        None => Sitting::begin(&arguments, &stop),
    };
    let begun = if stop.load(Ordering::Relaxed) { Begun::Stopped } else { begun? };
    let (path, ended) = match begun {
        Begun::Ready(sitting) => (sitting.store.path().to_owned(), sitting.measure(&arguments)?),
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
    }
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Without(Reason::Failed { .. }));
    let measured = |(cell, outcome): &(Cell, Outcome)| {
        cell.provider != cpb_providers::NULL && matches!(outcome, Outcome::Measured(_))
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
        Ended::Complete if record.cells.iter().any(|(_, outcome)| failed(outcome)) => FAILED,
        Ended::Complete if !record.cells.iter().any(measured) => {
            output::say("nothing was measured: no provider that was named has any of this");
            BAD_INPUT
        }
        Ended::Complete => compared,
    })
}

/// Shows what was measured, and how it compares if that was asked for: the status of that.
fn show(record: &Record, arguments: &Arguments) -> Result<u8> {
    let allowed = arguments.fail_if_slower;
    if let Some(before) = arguments.against.as_ref().filter(|_| arguments.form.json) {
        return compare::with(&store::read(before)?, record, true, allowed);
    }
    let options = report::terminal::Options { all: arguments.all, by_size: false };
    output::show(&summarise(record), &arguments.form, &options)?;
    if record.header.plan.refine && arguments.form.is_for_people() {
        let explanation = explain([record], None);
        let (width, colour) = (output::width(), output::colour());
        output::print(&report::explain::render(&explanation, width, colour))?;
    }
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
