//! `cpb engine`, hidden: serves an engine's model to a QEMU.

use super::{DONE, FAILED};
use crate::lab::engine::{COUNTS, READY};
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_engine_server::{Handle, Server, least_privilege};
use cpb_engines::caam::{Caam, Configuration, Planted, PlantedFault, Timing};
use cpb_record::EngineCount;
use cpb_sim::{Chip, caam_timing_of};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::{process, thread};

/// The engine's ticks are nanoseconds.
const MICROSECOND: f64 = 1000.0;
const TICKS_MHZ: f64 = 1000.0;

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
    /// Chip whose constants give the time of each job, such as imxrt1170
    #[arg(long)]
    times_of: Option<String>,
    /// File for what each job reads and writes, a line of JSON for each
    #[arg(long)]
    record: Option<PathBuf>,
    /// Named pipe for faults of some jobs, one a line, as KIND:AFTER:JOBS; KIND is descriptor, output-ring or never-ends
    #[arg(long)]
    faults: Option<PathBuf>,
    /// Socket to listen at
    socket: PathBuf,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let configuration = Configuration { rings: arguments.rings.into(), ..Configuration::GUEST };
    let configuration = match arguments.long_pointers {
        true => configuration.with_long_pointers(),
        false => configuration,
    };
    let times_of = arguments.times_of.unwrap_or_default();
    let of_chip = match times_of.as_str() {
        "" => Timing::default(),
        name => timing_of(name)?,
    };
    // Given in addition, so that a bus or a driver that a chip's constants lack can be stated.
    let finish = of_chip.finish + f64::from(arguments.job_us) * MICROSECOND;
    let timing = Timing { finish, ..of_chip };
    let server = Server::new(&arguments.socket, Caam::new(timing, configuration))?;
    if let Some(path) = &arguments.record {
        server.record(File::create(path).with_context(|| path.display().to_string())?);
    }
    let faults = arguments.faults.as_deref().map(open_pipe).transpose()?;
    least_privilege::keep_only_what_a_server_needs()?;
    let handle = server.handle();
    if let Some(faults) = faults {
        let handle = handle.clone();
        thread::spawn(move || plant(faults, &handle));
    }
    thread::spawn(move || {
        if let Err(error) = server.run() {
            super::output::say(&format!("cpb: {error:#}"));
            // The host sees that the engine is gone, and ends the QEMU.
            process::exit(FAILED.into());
        }
    });
    // The host may ask for the counts when QEMU is gone. Without a host there is no guest to serve.
    let stated = EngineCount { job_us: arguments.job_us, times_of, ..EngineCount::default() };
    answer(&handle, &stated)?;
    Ok(DONE)
}

/// The times that the chip's file states, in nanoseconds.
fn timing_of(chip: &str) -> Result<Timing> {
    let chip = Chip::named(chip)?;
    let timing = caam_timing_of(&chip, TICKS_MHZ);
    timing.with_context(|| format!("the file of {} states no times of a CAAM", chip.name))
}

/// A named pipe, open for writing as well: then it has no end when a writer closes it.
fn open_pipe(path: &Path) -> Result<File> {
    let opened = File::options().read(true).write(true).open(path);
    opened.with_context(|| path.display().to_string())
}

/// Plants the fault in each line.
fn plant(faults: File, handle: &Handle) {
    for line in BufReader::new(faults).lines().map_while(Result::ok) {
        match planted(&line) {
            Ok(planted) => handle.plant(planted),
            Err(error) => super::output::say(&format!("cpb: `{line}`: {error:#}")),
        }
    }
}

fn planted(text: &str) -> Result<Planted> {
    let [kind, after, jobs] = text.split(':').collect::<Vec<_>>()[..] else {
        bail!("a fault is KIND:AFTER:JOBS");
    };
    let fault = match kind {
        "descriptor" => PlantedFault::Descriptor,
        "output-ring" => PlantedFault::OutputRing,
        "never-ends" => PlantedFault::NeverEnds,
        other => bail!("there is no fault `{other}`"),
    };
    Ok(Planted { fault, after: after.parse()?, jobs: jobs.parse()? })
}

/// Answers the host's questions until it closes the pipe.
fn answer(handle: &Handle, stated: &EngineCount) -> Result<()> {
    let mut answers = std::io::stdout();
    writeln!(answers, "{READY}")?;
    answers.flush()?;
    for line in std::io::stdin().lock().lines() {
        if line? != COUNTS {
            bail!("no such question");
        }
        let EngineCount { job_us, times_of, .. } = stated.clone();
        let counts = EngineCount { job_us, times_of, ..handle.counts() };
        writeln!(answers, "{}", serde_json::to_string(&counts)?)?;
        answers.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_kind_and_two_numbers() {
        let expected = Planted { fault: PlantedFault::OutputRing, after: 3, jobs: 1 };
        assert_eq!(planted("output-ring:3:1").expect("a fault"), expected);
        for wrong in ["output-ring", "output-ring:3", "burnt:0:1", "descriptor:x:1"] {
            assert!(planted(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_those_of_a_chip_with_a_caam() {
        let timing = timing_of("imxrt1170").expect("a chip");
        // 2653 clocks at 240 MHz.
        assert!((11_000.0..11_100.0).contains(&timing.latency), "{timing:?}");
        let error = timing_of("imxrt1060").expect_err("a chip with a DCP").to_string();
        assert!(error.contains("states no times of a CAAM"), "{error}");
        assert!(timing_of("imx6q").is_err());
    }
}
