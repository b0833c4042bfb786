//! `cpb engine`, hidden: serves an engine's model to a QEMU.

use super::DONE;
use crate::lab::engine::{COUNTS, READY};
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_engine_server::{Counter, Server, least_privilege};
use cpb_engines::caam::{Caam, Configuration, Timing};
use std::fs::File;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::thread;

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
    /// Socket to listen at
    socket: PathBuf,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let configuration = Configuration {
        rings: arguments.rings.into(),
        long_pointers: arguments.long_pointers,
        ..Configuration::GUEST
    };
    let finish = f64::from(arguments.job_us) * MICROSECOND;
    let timing = Timing { finish, ..Timing::default() };
    let server = Server::new(&arguments.socket, Caam::new(timing, configuration))?;
    if let Some(path) = &arguments.record {
        server.record(File::create(path).with_context(|| path.display().to_string())?);
    }
    least_privilege::keep_only_what_a_server_needs()?;
    let counter = server.counter();
    thread::spawn(move || {
        if let Err(error) = server.run() {
            super::output::say(&format!("cpb: {error:#}"));
        }
    });
    // The host may ask for the counts when QEMU is gone. Without a host there is nobody to serve.
    answer(&counter)?;
    Ok(DONE)
}

/// Answers the host's questions until it closes the pipe.
fn answer(counter: &Counter) -> Result<()> {
    let mut answers = std::io::stdout();
    writeln!(answers, "{READY}")?;
    answers.flush()?;
    for line in std::io::stdin().lock().lines() {
        if line? != COUNTS {
            bail!("no such question");
        }
        writeln!(answers, "{}", serde_json::to_string(&counter.counts())?)?;
        answers.flush()?;
    }
    Ok(())
}
