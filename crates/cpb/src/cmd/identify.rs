//! `cpb identify`: identifies the cores of a machine or a log by how fast they compute AES-CBC.

mod live;

use super::{DONE, INTERRUPTED, output};
use crate::library;
use anyhow::{Context, Result};
use clap::Args;
use cpb_analysis::identify::cores::Cores;
use cpb_analysis::identify::{identify, observed};
use cpb_record::Record;
use cpb_record::store;
use cpb_report::identify::Found;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = "Examples:
  cpb identify                       this machine, 3 s for each type of core
  cpb identify --from sbc-bench.log  a log that `cpb import` reads
  cpb identify --from logs/*.txt     several logs
  cpb identify --from RECORD --json  a record of cpb
  cpb identify --from armv8-aes      a published table, see `cpb list records`

With the Armv8 Crypto Extensions, the rate of AES-CBC divided by the clock is a constant of the core. The \
core that the system reports is shown beside the identified one and never used to identify it.

Exit status: 0 whatever the result, 2 if a file cannot be read, 130 stopped by Ctrl-C.")]
pub(super) struct Arguments {
    /// Logs or records to use instead of this machine, or published records from `cpb list records`; - is
    /// standard input
    #[arg(long, num_args = 1.., value_name = "FILE")]
    from: Vec<PathBuf>,
    /// Read the machine's description below this folder, without measuring
    #[arg(long, value_name = "DIR", default_value = "/", conflicts_with = "from", hide = true)]
    root: PathBuf,
    /// Show no progress bar
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Print everything as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print a table in Markdown
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    markdown: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let cores = Cores::load();
    let mut stopped = false;
    let found: Vec<Found> = if arguments.from.is_empty() {
        let here;
        (here, stopped) = live::identified(&arguments.root, arguments.quiet, &cores)?;
        vec![here]
    } else {
        let named = arguments.from.iter().map(|path| from(path, &cores));
        named.collect::<Result<Vec<_>>>()?.concat()
    };
    if arguments.json {
        output::print_json(&(serde_json::to_string_pretty(&found)? + "\n"))?;
    } else if arguments.markdown {
        output::print(&cpb_report::identify::render_markdown(&found))?;
    } else {
        output::print(&cpb_report::identify::render(&found, output::width(), output::colour()))?;
    }
    if stopped {
        output::say("stopped before all cores were measured");
        return Ok(INTERRUPTED);
    }
    Ok(DONE)
}

/// What an argument names: a file, or published records.
fn from(word: &Path, cores: &Cores) -> Result<Vec<Found>> {
    if !library::is_name(word) || word.is_dir() {
        return Ok(vec![from_file(word, cores)?]);
    }
    let records = library::records(&[word.to_owned()])?;
    let found =
        records.iter().map(|(name, record)| found(name.display().to_string(), record, cores));
    Ok(found.collect())
}

fn from_file(path: &Path, cores: &Cores) -> Result<Found> {
    let record = match is_record(path)? {
        true => store::read(path)?,
        false => cpb_import::read(path, None, &cpb_import::Options::default())?,
    };
    let file =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(found(file, &record, cores))
}

/// A record of cpb begins with its own name; any other file is a log of another tool.
fn is_record(path: &Path) -> Result<bool> {
    if path == Path::new("-") {
        return Ok(false);
    }
    let mut beginning = [0; 7];
    let file = File::open(path);
    let read = file.and_then(|file| file.take(7).read(&mut beginning));
    let read = read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(beginning[..read] == *b"{\"cpb\":")
}

/// What a record says about its cores.
fn found(file: String, record: &Record, cores: &Cores) -> Found {
    let observed = observed(record);
    Found {
        file,
        machine: record.header.machine.words(),
        tool: observed.first().map(|core| core.tool.clone()).unwrap_or_default(),
        cores: observed.iter().map(|core| identify(core, cores)).collect(),
    }
}
