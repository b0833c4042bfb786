//! `cpb import`: converts logs of other tools to records.

use super::{DONE, output};
use crate::inputs::Told;
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_import::{FORMATS, naming};
use cpb_record::store::Store;
use cpb_record::{Line, Record};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = after_help())]
pub(super) struct Arguments {
    /// The logs; - is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Record to write, or a folder for several records [default: ./cpb-results]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the logs [default: detected]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    #[command(flatten)]
    told: Told,
    /// Name of the machine on which the log was made. Logs of the same machine are explained together
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Name of the log's path, instead of the library's name
    #[arg(long, value_name = "NAME")]
    path: Option<String>,
}

fn after_help() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!(
        "Examples:\n  cpb import sbc-bench.log\n  cpb import logs/*.txt -o records/\n  \
         openssl speed -elapsed -evp aes-128-cbc 2>&1 | cpb import - -o speed.jsonl\n  \
         cpb import afalg.txt --machine imx6 --path engine\n\n\
         `cpb explain`, `compare`, `show` and `report` also read logs directly, without a record.\n\n\
         Formats: {}. Each figure keeps its printed digits and its line number; a value that is not a \
         figure keeps the reason. If one log cannot be read, nothing is written.",
        names.join(", ")
    )
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let format = arguments.format.as_deref().map(cpb_import::format).transpose()?;
    let options = arguments.told.into();
    let mut records = Vec::new();
    let mut refused = Vec::new();
    for file in &arguments.files {
        match cpb_import::read(file, format, &options) {
            Ok(mut record) => {
                name(&mut record, &arguments).with_context(|| file.display().to_string())?;
                records.push((file, record));
            }
            Err(error) => refused.push(format!("{error:#}")),
        }
    }
    if !refused.is_empty() {
        bail!("{}", refused.join("\ncpb: "));
    }
    let paths = paths(&records, arguments.output.as_deref())?;
    for ((file, record), path) in records.iter().zip(paths) {
        write(&path, record)?;
        output::say(&format!("{}: {}", file.display(), words(record)));
        for warning in &record.warnings {
            output::say(&format!("  {warning}"));
        }
        output::say(&format!("record: {}", path.display()));
    }
    Ok(DONE)
}

/// Sets the machine and the path to the names that the user gave.
fn name(record: &mut Record, arguments: &Arguments) -> Result<()> {
    if let Some(machine) = &arguments.machine {
        naming::name_machine(record, machine)?;
    }
    if let Some(path) = &arguments.path {
        naming::name_path(record, path)?;
    }
    Ok(())
}

/// The path of each record: all different, and none that exists already.
fn paths(records: &[(&PathBuf, Record)], output: Option<&Path>) -> Result<Vec<PathBuf>> {
    let folder = match output {
        Some(path) if path.as_os_str() == "-" => {
            bail!(
                "--output -: a record must be a file; give a file name (or `./-`), and print it with `cpb show --json`"
            )
        }
        Some(path) if path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/') => path,
        Some(path) if records.len() == 1 => return Ok(vec![path.to_owned()]),
        Some(path) => bail!(
            "{} logs make as many records: give a folder with --output {}/",
            records.len(),
            path.display()
        ),
        None => Path::new("cpb-results"),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for (_, record) in records {
        let base = record.header.plan.name.replace('/', "-");
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let path = names.find_map(|name| {
            let path = folder.join(format!("{name}.jsonl"));
            (!paths.contains(&path) && !path.exists()).then_some(path)
        });
        paths.extend(path);
    }
    Ok(paths)
}

fn write(path: &Path, record: &Record) -> Result<()> {
    let mut store = Store::create(path, &record.header)?;
    for source in &record.sources {
        store.append(&Line::Source(source.clone()))?;
        for cell in record.published.iter().filter(|cell| cell.table == source.table) {
            store.append(&Line::Published(cell.clone()))?;
        }
    }
    Ok(())
}

/// How much was found.
fn words(record: &Record) -> String {
    let figures = || record.published.iter().flat_map(|cell| &cell.figures);
    let flagged = figures().filter(|figure| figure.flag.is_some()).count();
    let tool = record.sources.first().map_or("", |source| source.publisher.as_str());
    let tool = if tool.is_empty() { "a log" } else { tool };
    match flagged {
        0 => format!("{tool}, {} figures", figures().count()),
        flagged => format!("{tool}, {} figures, {flagged} of them flagged", figures().count()),
    }
}
