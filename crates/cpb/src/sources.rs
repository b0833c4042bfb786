//! Which runners there are: those that cpb carries, one process a provider, and foreign programs
//! that speak the same frames.

use crate::names;
use crate::record::ProviderRecord;
use crate::transport::process::{Patience, Place, Process, Source};
use crate::transport::{Description, Lost, Runner};
use anyhow::{Context, Error, Result, anyhow, bail};
use std::path::{Path, PathBuf};

/// A provider that could be measured, or why not.
pub struct Known {
    /// How its runner is started.
    pub source: Source,
    /// What it says of itself.
    pub description: Result<Description, Lost>,
}

impl Known {
    /// The description as a record keeps it.
    pub fn record(&self) -> ProviderRecord {
        match &self.description {
            Ok(Description::Available { version, executor, claim, options, clock, .. }) => {
                ProviderRecord::Available {
                    version: version.clone(),
                    executor: executor.clone(),
                    claim: *claim,
                    options: options.clone(),
                    clock: *clock,
                }
            }
            Ok(Description::Unavailable { reason, detail }) => {
                ProviderRecord::Unavailable { reason: *reason, detail: detail.clone() }
            }
            Err(lost) => ProviderRecord::Unavailable {
                reason: cpb_core::Unsupported::Device,
                detail: format!("its runner does not start: {}", lost.detail),
            },
        }
    }

    /// Whether it can be measured.
    pub fn available(&self) -> bool {
        matches!(self.description, Ok(Description::Available { .. }))
    }
}

/// The providers called `wanted` (all, if empty), asked who they are, the harness's floor first.
///
/// # Errors
/// A name that does not exist, or a foreign runner that does not answer.
pub fn discover(
    wanted: &[String],
    foreign: &[PathBuf],
    place: &Place,
    patience: &Patience,
) -> Result<Vec<Known>> {
    let program = std::env::current_exe().context("cannot find cpb's own executable")?;
    let mut sources: Vec<Source> =
        cpb_providers::LIST.iter().map(|entry| own(&program, entry)).collect();
    let own_count = sources.len();
    for path in foreign {
        sources.extend(foreign_sources(path, place, patience)?);
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        bail!("two runners call a provider {}; give the foreign one another name", twice.1);
    }
    let mut chosen = if wanted.is_empty() {
        (0..sources.len()).collect::<Vec<_>>()
    } else {
        names::places("provider", wanted, &names)?
    };
    chosen.extend(names.iter().position(|name| *name == cpb_providers::NULL));
    // Foreign runners were named on the command line: they are always wanted.
    chosen.extend(own_count..sources.len());
    chosen.sort_unstable();
    chosen.dedup();
    let chosen = chosen.into_iter().map(|index| sources[index].clone()).collect();
    Ok(describe_all(chosen, place, patience))
}

fn own(program: &Path, entry: &cpb_providers::Entry) -> Source {
    let variables = (entry.environment)().into_iter();
    Source {
        name: entry.name.to_owned(),
        program: program.to_owned(),
        arguments: vec!["runner".into(), entry.name.into()],
        environment: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        provider: 0,
    }
}

/// One source for each provider that the program at `path` has.
fn foreign_sources(path: &Path, place: &Place, patience: &Patience) -> Result<Vec<Source>> {
    let source = |name: String, provider| Source {
        name,
        program: path.to_owned(),
        arguments: Vec::new(),
        environment: Vec::new(),
        provider,
    };
    let mut runner = Process::start(&source(String::new(), 0), place, patience)
        .map_err(|lost| no_runner(path, &lost))?;
    let mut sources = Vec::new();
    for provider in 0..=u8::MAX {
        match runner.describe(provider).map_err(|lost| no_runner(path, &lost))? {
            Some(Description::Available { provider: name, .. }) => {
                sources.push(source(name, provider));
            }
            Some(Description::Unavailable { detail, .. }) => {
                bail!("{}: provider {provider} cannot run here: {detail}", path.display());
            }
            None => break,
        }
    }
    Ok(sources)
}

fn no_runner(path: &Path, lost: &Lost) -> Error {
    anyhow!(
        "{} is no runner for this cpb: {}; --runner takes a program that speaks cpb's frames, such \
         as a cpb-runner built from the same source",
        path.display(),
        lost.detail
    )
}

/// What most of them found a multiplication to take on the core, if any did.
pub fn multiply_latency(known: &[Known]) -> Option<u32> {
    let found: Vec<u32> = known
        .iter()
        .filter_map(|known| match &known.description {
            Ok(Description::Available { clock, .. }) => Some(clock.multiply_latency.into()),
            _ => None,
        })
        .filter(|latency| *latency > 0)
        .collect();
    found.iter().copied().max_by_key(|one| found.iter().filter(|other| *other == one).count())
}

/// Asks all at once: each spends its time in starting a process.
fn describe_all(sources: Vec<Source>, place: &Place, patience: &Patience) -> Vec<Known> {
    let describe = |source: &Source| {
        let mut runner = Process::start(source, place, patience)?;
        runner.describe(source.provider)?.ok_or_else(|| Lost {
            error: cpb_core::Error::Contract,
            detail: "the runner has no such provider".to_owned(),
        })
    };
    std::thread::scope(|scope| {
        let asked: Vec<_> =
            sources.iter().map(|source| scope.spawn(move || describe(source))).collect();
        let answers: Vec<_> = asked.into_iter().map(|thread| thread.join()).collect();
        let crashed = || Lost { error: cpb_core::Error::Crashed, detail: "no answer".to_owned() };
        sources
            .iter()
            .cloned()
            .zip(answers)
            .map(|(source, answer)| Known {
                source,
                description: answer.unwrap_or_else(|_| Err(crashed())),
            })
            .collect()
    })
}
