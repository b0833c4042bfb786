//! The available runners: those built into cpb, one process per provider, and foreign programs that speak the
//! same frames.

use crate::agent::protocol::Listed;
use crate::transport::process::Program;
use crate::transport::{Affinity, Description, Launch, RunnerError, RunnerSpec, Timeouts};
use anyhow::{Error, Result, anyhow, bail};
use cpb_core::catalog;
use cpb_record::{NO_ANSWER, ProviderRecord, names};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A provider that can be measured, or the reason why not.
pub struct Discovered {
    /// How to start its runner.
    pub spec: RunnerSpec,
    /// Its own description.
    pub description: Result<Description, RunnerError>,
}

impl Discovered {
    /// The description in the form that a record keeps.
    pub fn record(&self) -> ProviderRecord {
        match &self.description {
            Ok(description) => description.state.clone(),
            Err(lost) => ProviderRecord::Unavailable {
                reason: cpb_core::Unsupported::Device,
                detail: self
                    .silent()
                    .unwrap_or_else(|| format!("its runner does not start: {}", lost.detail)),
            },
        }
    }

    /// For a provider that did not answer in time: how long it had. It may be available, but slow.
    pub fn silent(&self) -> Option<String> {
        let lost = self.description.as_ref().err()?;
        let silent = lost.detail.starts_with(NO_ANSWER);
        silent.then(|| format!("{}; give a slow machine more time with --timeout", lost.detail))
    }

    /// Whether it can be measured.
    pub fn available(&self) -> bool {
        self.description.as_ref().is_ok_and(|said| said.state.clock().is_some())
    }
}

/// Returns what starts a runner for a provider.
pub type Launcher<'a> = dyn Fn(&str) -> Arc<dyn Launch> + 'a;

/// What the cpb on a machine offers.
pub struct Offers<'a> {
    /// Its providers.
    pub providers: Vec<Listed>,
    /// See [`cpb_providers::kernel_crypto::usual`].
    pub usual: Box<dyn Fn() -> Vec<String> + 'a>,
    /// Returns what starts a runner for a provider.
    pub launch: Box<Launcher<'a>>,
    /// Whether its runners must be started and asked one after another: qemu-user may hang a process that is
    /// started while another thread runs.
    pub one_by_one: bool,
}

/// The providers named in `wanted` (all of them if it is empty) with their descriptions, the harness's floor
/// first, followed by the providers of the programs in `foreign`. The name of an interface stands for all its
/// executors on the machine.
///
/// If no provider is named, the following are left out: interfaces and installed libraries that are not
/// available, masked variants of installed libraries, and executors of an interface that no application would
/// use (see [`cpb_providers::kernel_crypto::usual`]).
///
/// # Errors
/// Returns an error if a name does not exist, or if a foreign runner does not answer.
pub fn discover(
    offers: &Offers<'_>,
    wanted: &[String],
    foreign: &[PathBuf],
    affinity: &Affinity,
    timeouts: &Timeouts,
) -> Result<Vec<Discovered>> {
    let wanted = names::whole(wanted);
    let wanted: Vec<&str> = wanted.iter().map(|name| name.trim()).collect();
    let mut asked = own_specs(&offers.providers, &wanted, &offers.launch);
    let mut names: Vec<String> =
        offers.providers.iter().map(|listed| listed.name.clone()).collect();
    for path in foreign {
        for spec in foreign_specs(path, affinity, timeouts)? {
            names.push(spec.name.clone());
            // Foreign runners were named on the command line, so they are always wanted.
            asked.push(Asked::Provider(spec));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        bail!(
            "two runners have a provider named {}; rename the provider of the foreign runner",
            twice.1
        );
    }
    let fixed = |name: &&&str| catalog::find(name).is_none_or(|c| c.variant.is_empty());
    let fixed: Vec<String> = wanted.iter().filter(fixed).map(ToString::to_string).collect();
    names::places("provider", &fixed, &names)?;

    let mut found = if offers.one_by_one {
        asked.into_iter().flat_map(|asked| asked.describe(affinity, timeouts)).collect()
    } else {
        describe_all(asked, affinity, timeouts)
    };
    if wanted.is_empty() {
        leave_out_the_unusual(&mut found, offers);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|found| seen.insert(found.spec.name.clone()));
    Ok(found)
}

/// Checks that providers with all these names exist in some build of cpb.
///
/// # Errors
/// Returns an error for the first name that does not exist.
pub fn known(wanted: &[String]) -> Result<()> {
    let wanted = names::whole(wanted);
    let fixed: Vec<String> =
        wanted.into_iter().filter(|name| catalog::find(name.trim()).is_none()).collect();
    let listed: Vec<&str> = catalog::LIST.iter().map(|entry| entry.name).collect();
    names::places("provider", &fixed, &listed)?;
    Ok(())
}

/// What is asked for its description.
enum Asked {
    /// One provider.
    Provider(RunnerSpec),
    /// All executors of an interface: the first process gets the name of the interface.
    Interface(RunnerSpec),
}

impl Asked {
    fn describe(self, affinity: &Affinity, timeouts: &Timeouts) -> Vec<Discovered> {
        match self {
            Asked::Provider(spec) => vec![describe(spec, affinity, timeouts)],
            Asked::Interface(spec) => describe_interface(spec, affinity, timeouts),
        }
    }
}

/// The specs of the cpb's own providers (`listed`) that `wanted` names, in the order of the list.
fn own_specs(listed: &[Listed], wanted: &[&str], launch: &Launcher<'_>) -> Vec<Asked> {
    let own = |name: &str| RunnerSpec {
        name: name.to_owned(),
        launch: launch(name),
        provider: 0,
        found: false,
    };
    let mut asked = Vec::new();
    for Listed { name: entry, interface } in listed {
        if wanted.is_empty() || wanted.contains(&entry.as_str()) || entry == catalog::NULL {
            let spec = own(entry);
            asked.push(if *interface { Asked::Interface(spec) } else { Asked::Provider(spec) });
        }
        for name in wanted {
            let choice = catalog::find(name).filter(|choice| !choice.variant.is_empty());
            if choice.is_some_and(|choice| choice.entry.name == entry) {
                asked.push(Asked::Provider(own(name)));
            }
        }
    }
    asked
}

/// Whether the kernel's crypto drivers matter to a record of these providers.
pub fn concern_the_kernel(known: &[Discovered]) -> bool {
    known.iter().any(|known| {
        catalog::find(&known.spec.name).is_some_and(|choice| choice.entry.is_interface())
    })
}

/// Drops providers that are not of interest to a user who did not select any.
fn leave_out_the_unusual(known: &mut Vec<Discovered>, offers: &Offers<'_>) {
    let mut usual = None;
    known.retain(|known| {
        let Some(choice) = catalog::find(&known.spec.name) else { return true };
        if choice.entry.is_installed() {
            // Of the installed libraries, only the variant that applications get is kept.
            return known.available() && !choice.entry.name.contains(':');
        }
        if !choice.entry.is_interface() {
            return true;
        }
        if choice.entry.name == catalog::KERNEL {
            // It is for the driver level, whose plan names it.
            return false;
        }
        if choice.is_interface() || choice.entry.name == catalog::CRYPTODEV {
            // cryptodev uses the driver that the kernel itself would select.
            return !choice.is_interface();
        }
        let usual = usual.get_or_insert_with(|| (offers.usual)());
        usual.iter().any(|name| name == choice.variant)
    });
}

/// One spec for each provider of the program at `path`.
fn foreign_specs(path: &Path, affinity: &Affinity, timeouts: &Timeouts) -> Result<Vec<RunnerSpec>> {
    let program = Program { path: path.to_owned(), arguments: Vec::new(), environment: Vec::new() };
    let mut runner = program.start(affinity, timeouts).map_err(|lost| no_runner(path, &lost))?;
    let mut specs = Vec::new();
    for provider in 0..=u8::MAX {
        match runner.describe(provider).map_err(|lost| no_runner(path, &lost))? {
            Some(Description { provider: name, state: ProviderRecord::Available { .. } }) => {
                let launch = Arc::new(program.clone());
                specs.push(RunnerSpec { name, launch, provider, found: false });
            }
            Some(Description { provider, state: ProviderRecord::Unavailable { detail, .. } }) => {
                bail!("{}: {provider} cannot run here: {detail}", path.display());
            }
            None => break,
        }
    }
    Ok(specs)
}

fn no_runner(path: &Path, lost: &RunnerError) -> Error {
    anyhow!(
        "{} is not a runner for this cpb: {}; --runner takes a program that speaks cpb's frames, such as a \
         cpb-runner built from the same source",
        path.display(),
        lost.detail
    )
}

/// The latency of a multiplication on the core that most of them measured, if any did.
pub fn multiply_latency(known: &[Discovered]) -> Option<u32> {
    let found: Vec<u32> = known
        .iter()
        .filter_map(|known| known.description.as_ref().ok()?.state.clock())
        .map(|clock| clock.multiply_latency.into())
        .filter(|latency| *latency > 0)
        .collect();
    found.iter().copied().max_by_key(|one| found.iter().filter(|other| *other == one).count())
}

/// Asks all providers at once, because each spends its time starting a process.
fn describe_all(asked: Vec<Asked>, affinity: &Affinity, timeouts: &Timeouts) -> Vec<Discovered> {
    std::thread::scope(|scope| {
        let ask = |asked: Asked| scope.spawn(move || asked.describe(affinity, timeouts));
        let asked: Vec<_> = asked.into_iter().map(ask).collect();
        // A thread that panicked has printed its message; there is nothing to list for it.
        asked.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn describe(spec: RunnerSpec, affinity: &Affinity, timeouts: &Timeouts) -> Discovered {
    let description = spec.launch.start(affinity, timeouts).and_then(|mut runner| {
        runner.describe(spec.provider)?.ok_or_else(|| RunnerError {
            error: cpb_core::Error::Contract,
            detail: "the runner has no such provider".to_owned(),
            again: true,
        })
    });
    Discovered { spec, description }
}

/// Asks one process for all executors; each one is later measured by its own process. Only the first process
/// probes them, so a driver that hangs it costs the list, not the run.
fn describe_interface(
    spec: RunnerSpec,
    affinity: &Affinity,
    timeouts: &Timeouts,
) -> Vec<Discovered> {
    let mut runner = match spec.launch.start(affinity, timeouts) {
        Ok(runner) => runner,
        Err(lost) => return vec![Discovered { spec, description: Err(lost) }],
    };
    let mut known = Vec::new();
    for provider in 0..=u8::MAX {
        let description = match runner.describe(provider) {
            Ok(Some(description)) => description,
            Ok(None) => break,
            Err(lost) => {
                known.push(Discovered { spec, description: Err(lost) });
                break;
            }
        };
        let name = description.provider.clone();
        let launch = spec.launch.serving(&name);
        let spec = RunnerSpec { name, launch, found: true, ..spec.clone() };
        known.push(Discovered { spec, description: Ok(description) });
    }
    known
}
