//! Which runners there are: those that cpb carries, one process a provider, and foreign programs
//! that speak the same frames.

use crate::agent::{About, Listed};
use crate::board::Board;
use crate::lab::guest::Guest;
use crate::own;
use crate::probe;
use crate::remote::Remote;
use crate::transport::agent::{Afar, Inside};
use crate::transport::process::Program;
use crate::transport::{Description, Lost, Patience, Place, Runner, Source, Way};
use anyhow::{Context, Error, Result, anyhow, bail};
use cpb_core::catalog;
use cpb_core::kernel::KernelSurvey;
use cpb_record::NO_ANSWER;
use cpb_record::ProviderRecord;
use cpb_record::names;
use cpb_record::{Machine, State};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

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
            Ok(Description::Unavailable { reason, detail, .. }) => {
                ProviderRecord::Unavailable { reason: *reason, detail: detail.clone() }
            }
            Err(lost) => ProviderRecord::Unavailable {
                reason: cpb_core::Unsupported::Device,
                detail: self
                    .silent()
                    .unwrap_or_else(|| format!("its runner does not start: {}", lost.detail)),
            },
        }
    }

    /// For a provider that gave no answer in time, how long it had: it may be here, and slow.
    pub fn silent(&self) -> Option<String> {
        let lost = self.description.as_ref().err()?;
        let silent = lost.detail.starts_with(NO_ANSWER);
        silent.then(|| format!("{}; --timeout allows a slow machine more", lost.detail))
    }

    /// Whether it can be measured.
    pub fn available(&self) -> bool {
        matches!(self.description, Ok(Description::Available { .. }))
    }
}

/// The providers called `wanted` (all, if empty), asked who they are, the harness's floor first. An
/// interface's name stands for all its executors on this machine.
///
/// Where nobody is named, interfaces and installed libraries that are not here are left out, the
/// latter's masked variants, and of an interface's executors those that nobody would take: see
/// [`cpb_providers::kernel_crypto::usual`].
///
/// # Errors
/// A name that does not exist, or a foreign runner that does not answer.
pub fn discover(
    wanted: &[String],
    foreign: &[PathBuf],
    home: &Home,
    place: &Place,
    patience: &Patience,
) -> Result<Vec<Known>> {
    if let Home::Board(board) = home {
        return board.providers(wanted, patience);
    }
    let program = std::env::current_exe().context("cannot find cpb's own executable")?;
    let about = home.about(place, patience)?;
    let wanted = names::whole(wanted);
    let wanted: Vec<&str> = wanted.iter().map(|name| name.trim()).collect();
    let mut asked = own_sources(&about.providers, &wanted, |name| home.way(&program, name));
    let mut names: Vec<String> = about.providers.iter().map(|listed| listed.name.clone()).collect();
    // For a machine that ssh leads to, it names the cpb that is there already.
    let foreign = if matches!(home, Home::Remote(_)) { &[] } else { foreign };
    for path in foreign {
        for source in foreign_sources(path, place, patience)? {
            names.push(source.name.clone());
            // Foreign runners were named on the command line: they are always wanted.
            asked.push(Asked::Provider(source));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        bail!("two runners call a provider {}; give the foreign one another name", twice.1);
    }
    let fixed = |name: &&&str| catalog::find(name).is_none_or(|c| c.variant.is_empty());
    let fixed: Vec<String> = wanted.iter().filter(fixed).map(ToString::to_string).collect();
    names::places("provider", &fixed, &names)?;

    let mut known = describe_all(asked, place, patience);
    if wanted.is_empty() {
        leave_out_the_unusual(&mut known, &about);
    }
    let mut seen = std::collections::HashSet::new();
    known.retain(|known| seen.insert(known.source.name.clone()));
    Ok(known)
}

/// Whether there are providers of all these names, in any cpb.
///
/// # Errors
/// The first that there is none of.
pub fn known(wanted: &[String]) -> Result<()> {
    let wanted = names::whole(wanted);
    let fixed: Vec<String> =
        wanted.into_iter().filter(|name| catalog::find(name.trim()).is_none()).collect();
    let listed: Vec<&str> = catalog::LIST.iter().map(|entry| entry.name).collect();
    names::places("provider", &fixed, &listed)?;
    Ok(())
}

/// The machine whose providers are asked.
pub enum Home {
    /// This one.
    Here,
    /// A guest of the lab.
    Guest(Arc<Guest>),
    /// A machine that ssh leads to.
    Remote(Arc<Remote>),
    /// A board without an operating system.
    Board(Box<Board>),
}

/// What the cpb of a machine has to offer.
struct Offers {
    providers: Vec<Listed>,
    /// See [`cpb_providers::kernel_crypto::usual`].
    usual: Box<dyn Fn() -> Vec<String>>,
}

impl Home {
    fn about(&self, place: &Place, patience: &Patience) -> Result<Offers> {
        match self {
            Home::Here => Ok(Offers {
                providers: Listed::own(),
                usual: Box::new(|| cpb_providers::kernel_crypto::usual(Path::new("/"))),
            }),
            Home::Guest(_) | Home::Remote(_) => {
                let cpu = place.cpus.first().copied().unwrap_or(0);
                let about = self.ask(cpu, patience)?;
                let usual = about.usual;
                Ok(Offers { providers: about.providers, usual: Box::new(move || usual.clone()) })
            }
            Home::Board(_) => bail!("a board has no list of providers"),
        }
    }

    /// What another machine says of itself.
    fn ask(&self, cpu: usize, patience: &Patience) -> Result<About> {
        match self {
            Home::Guest(guest) => guest.about(cpu, patience.answer),
            Home::Remote(remote) => remote.about(cpu, patience.answer),
            Home::Here | Home::Board(_) => bail!("there is no agent on this machine"),
        }
    }

    /// The CPUs that may be measured.
    ///
    /// # Errors
    /// They cannot be found out.
    pub fn cpus(&self, patience: &Patience) -> Result<Vec<usize>> {
        match self {
            Home::Here => {
                cpb_runner::pin::allowed().context("cannot find out which CPUs there are")
            }
            Home::Board(_) => Ok(vec![0]),
            Home::Guest(_) | Home::Remote(_) => Ok(self.ask(0, patience)?.cpus),
        }
    }

    /// Whether it is a real machine with a system: what its state spoils, its user can mend.
    pub fn has_a_state(&self) -> bool {
        matches!(self, Home::Here | Home::Remote(_))
    }

    /// The machine, as it is now.
    ///
    /// # Errors
    /// A guest gives no answer.
    pub fn machine(&self, cpu: usize, patience: &Patience) -> Result<Machine> {
        match self {
            Home::Here => Ok(probe::machine(Path::new("/"), cpu)),
            Home::Guest(_) | Home::Remote(_) => Ok(self.ask(cpu, patience)?.machine),
            Home::Board(board) => Ok(board.machine.clone()),
        }
    }

    /// What its kernel's crypto offers. None if it gives no answer.
    pub fn kernel(&self, cpu: usize, patience: &Patience) -> Option<KernelSurvey> {
        match self {
            Home::Here => own_survey(patience.answer),
            Home::Guest(_) | Home::Remote(_) => Some(self.ask(cpu, patience).ok()?.kernel),
            Home::Board(_) => None,
        }
    }

    /// The state at the end of a run that began with `before`, and what spoiled the figures
    /// meanwhile. A guest that is dead by then has no state any more.
    pub fn end(&self, before: &Machine, cpu: usize, patience: &Patience) -> (State, Vec<String>) {
        let guest = match self {
            Home::Here => {
                let state = probe::state(Path::new("/"), cpu);
                let changes = probe::changes(before, &state);
                return (state, changes);
            }
            Home::Board(_) => return Default::default(),
            Home::Remote(remote) => {
                let mut warnings = remote.warnings().to_vec();
                // Without a connection there is nobody to ask.
                let reached = remote.lost().is_none();
                let now = reached.then(|| self.machine(cpu, patience).ok()).flatten();
                let state = now.map(|machine| machine.state);
                if let Some(state) = &state {
                    warnings.extend(probe::changes(before, state));
                }
                return (state.unwrap_or_default(), warnings);
            }
            Home::Guest(guest) => guest,
        };
        // Its load and its clocks mean nothing.
        let mut warnings = Vec::new();
        if guest.deaths() > 0 {
            let times = if guest.deaths() == 1 { "once" } else { "more than once" };
            warnings.push(format!("The guest died {times} and was booted again."));
        }
        let state = guest.is_alive().then(|| self.machine(cpu, patience).ok()).flatten();
        (state.map(|machine| machine.state).unwrap_or_default(), warnings)
    }

    fn way(&self, program: &Path, name: &str) -> Way {
        match self {
            Home::Here => Way::Program(own::runner(program, name)),
            Home::Guest(guest) => {
                let machine = Afar::Guest(Arc::clone(guest));
                Way::Inside(Inside { machine, provider: name.to_owned() })
            }
            Home::Remote(remote) => {
                let machine = Afar::Remote(Arc::clone(remote));
                Way::Inside(Inside { machine, provider: name.to_owned() })
            }
            Home::Board(board) => Way::Board(board.line.clone()),
        }
    }
}

/// Who is asked.
enum Asked {
    /// One provider.
    Provider(Source),
    /// All executors of an interface: the process that is asked first is told the interface's name.
    Interface(Source),
}

/// Those of a cpb's own providers, `listed`, that `wanted` names, in the order of the list.
fn own_sources(listed: &[Listed], wanted: &[&str], way: impl Fn(&str) -> Way) -> Vec<Asked> {
    let own = |name: &str| {
        let way = way(name);
        Source { name: name.to_owned(), way, provider: 0, found: false }
    };
    let mut asked = Vec::new();
    for Listed { name: entry, interface } in listed {
        if wanted.is_empty() || wanted.contains(&entry.as_str()) || entry == catalog::NULL {
            let source = own(entry);
            asked.push(if *interface { Asked::Interface(source) } else { Asked::Provider(source) });
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

/// This machine's, taken by a process of its own: it tries drivers, and the host calls none.
fn own_survey(answer: Duration) -> Option<KernelSurvey> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["list", "--kernel", "--json"]).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, text) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        // Nobody listens any more if it took too long.
        let _ = sender.send(read.map(|_| text));
    });
    let text = text.recv_timeout(answer);
    // It has closed its output and ends, or hangs: no reason to wait for a driver's sake.
    let _ = child.kill();
    std::thread::spawn(move || child.wait());
    serde_json::from_str::<KernelSurvey>(&text.ok()?.ok()?)
        .ok()
        .map(KernelSurvey::of_known_algorithms)
}

/// Whether what the kernel's crypto offers matters to a record of these providers.
pub fn concern_the_kernel(known: &[Known]) -> bool {
    known.iter().any(|known| {
        catalog::find(&known.source.name).is_some_and(|choice| choice.entry.is_interface())
    })
}

/// Drops what a user who named nobody does not want to read about.
fn leave_out_the_unusual(known: &mut Vec<Known>, about: &Offers) {
    let mut usual = None;
    known.retain(|known| {
        let Some(choice) = catalog::find(&known.source.name) else { return true };
        if choice.entry.is_installed() {
            // Of those that are installed, each as applications get it.
            return known.available() && !choice.entry.name.contains(':');
        }
        if !choice.entry.is_interface() {
            return true;
        }
        if choice.is_interface() || choice.entry.name == catalog::CRYPTODEV {
            // What cryptodev has is what the kernel itself would take.
            return !choice.is_interface();
        }
        let usual = usual.get_or_insert_with(|| (about.usual)());
        usual.iter().any(|name| name == choice.variant)
    });
}

/// One source for each provider that the program at `path` has.
fn foreign_sources(path: &Path, place: &Place, patience: &Patience) -> Result<Vec<Source>> {
    let program = Program { path: path.to_owned(), arguments: Vec::new(), environment: Vec::new() };
    let mut runner = program.start(place, patience).map_err(|lost| no_runner(path, &lost))?;
    let mut sources = Vec::new();
    for provider in 0..=u8::MAX {
        match runner.describe(provider).map_err(|lost| no_runner(path, &lost))? {
            Some(Description::Available { provider: name, .. }) => {
                let way = Way::Program(program.clone());
                sources.push(Source { name, way, provider, found: false });
            }
            Some(Description::Unavailable { provider, detail, .. }) => {
                bail!("{}: {provider} cannot run here: {detail}", path.display());
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
fn describe_all(asked: Vec<Asked>, place: &Place, patience: &Patience) -> Vec<Known> {
    std::thread::scope(|scope| {
        let ask = |asked: Asked| {
            scope.spawn(move || match asked {
                Asked::Provider(source) => vec![describe(source, place, patience)],
                Asked::Interface(source) => describe_interface(source, place, patience),
            })
        };
        let asked: Vec<_> = asked.into_iter().map(ask).collect();
        // A thread that panicked has said so; there is nothing to list for it.
        asked.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn describe(source: Source, place: &Place, patience: &Patience) -> Known {
    let description = source.start(place, patience).and_then(|mut runner| {
        runner.describe(source.provider)?.ok_or_else(|| Lost {
            error: cpb_core::Error::Contract,
            detail: "the runner has no such provider".to_owned(),
            again: true,
        })
    });
    Known { source, description }
}

/// Asks one process for all executors; each is measured by a process of its own. Only that process
/// tries them: a driver that hangs the one who asks costs the list, not the run.
fn describe_interface(source: Source, place: &Place, patience: &Patience) -> Vec<Known> {
    let mut runner = match source.start(place, patience) {
        Ok(runner) => runner,
        Err(lost) => return vec![Known { source, description: Err(lost) }],
    };
    let mut known = Vec::new();
    for provider in 0..=u8::MAX {
        let description = match runner.describe(provider) {
            Ok(Some(description)) => description,
            Ok(None) => break,
            Err(lost) => {
                known.push(Known { source, description: Err(lost) });
                break;
            }
        };
        let (Description::Available { provider: name, .. }
        | Description::Unavailable { provider: name, .. }) = &description;
        let (way, name) = (source.way.serving(name), name.clone());
        let source = Source { name, way, found: true, ..source.clone() };
        known.push(Known { source, description: Ok(description) });
    }
    known
}
