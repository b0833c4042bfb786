//! `cpb engine`, hidden: serves an engine's model to a QEMU.

use super::{DONE, FAILED};
use crate::lab::engine::{COUNTS, READY};
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_engine_server::{Counter, Server, least_privilege};
use cpb_engines::caam::{Caam, Configuration, Planted, PlantedFault, Timing};
use cpb_record::EngineCount;
use std::fs::File;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::{process, thread};

/// The engine's ticks are nanoseconds.
const MICROSECOND: f64 = 1000.0;

#[derive(Args)]
pub(super) struct Arguments {
    /// Number of job rings
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    rings: u8,
    /// Pointers of 64 bits
    #[arg(long)]
    long_pointers: bool,
    /// Microseconds that each job takes at least
    #[arg(long, default_value_t = 0)]
    job_us: u32,
    /// File for what each job reads and writes, a line of JSON for each
    #[arg(long)]
    record: Option<PathBuf>,
    /// Fault of some jobs, as KIND:FIRST:JOBS; KIND is descriptor, output-ring or never-ends
    #[arg(long, value_parser = planted)]
    fault: Option<Planted>,
    /// Socket to listen at
    socket: PathBuf,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let configuration = Configuration { rings: arguments.rings.into(), ..Configuration::GUEST };
    let configuration = match arguments.long_pointers {
        true => configuration.with_long_pointers(),
        false => configuration,
    };
    let finish = f64::from(arguments.job_us) * MICROSECOND;
    let timing = Timing { finish, ..Timing::default() };
    let mut engine = Caam::new(timing, configuration);
    if let Some(planted) = arguments.fault {
        engine.plant(planted);
    }
    let server = Server::new(&arguments.socket, engine)?;
    if let Some(path) = &arguments.record {
        server.record(File::create(path).with_context(|| path.display().to_string())?);
    }
    least_privilege::keep_only_what_a_server_needs()?;
    let counter = server.counter();
    thread::spawn(move || {
        if let Err(error) = server.run() {
            super::output::say(&format!("cpb: {error:#}"));
            // The host sees that the engine is gone, and ends the QEMU.
            process::exit(FAILED.into());
        }
    });
    // The host may ask for the counts when QEMU is gone. Without a host there is no guest to serve.
    answer(&counter, arguments.job_us)?;
    Ok(DONE)
}

fn planted(text: &str) -> Result<Planted> {
    let [kind, first, jobs] = text.split(':').collect::<Vec<_>>()[..] else {
        bail!("a fault is KIND:FIRST:JOBS");
    };
    let fault = match kind {
        "descriptor" => PlantedFault::Descriptor,
        "output-ring" => PlantedFault::OutputRing,
        "never-ends" => PlantedFault::NeverEnds,
        other => bail!("there is no fault `{other}`"),
    };
    Ok(Planted { fault, first: first.parse()?, jobs: jobs.parse()? })
}

/// Answers the host's questions until it closes the pipe.
fn answer(counter: &Counter, job_us: u32) -> Result<()> {
    let mut answers = std::io::stdout();
    writeln!(answers, "{READY}")?;
    answers.flush()?;
    for line in std::io::stdin().lock().lines() {
        if line? != COUNTS {
            bail!("no such question");
        }
        writeln!(
            answers,
            "{}",
            serde_json::to_string(&EngineCount { job_us, ..counter.counts() })?
        )?;
        answers.flush()?;
    }
    Ok(())
}
