//! `cpb run`: measure this machine and show the result.

use super::{DONE, FAILED, INTERRUPTED, output};
use crate::analysis::batches::Scale;
use crate::analysis::crowding::Alone;
use crate::analysis::{estimate, summary::summarise};
use crate::budget::{Percent, Seconds};
use crate::lab::guest::Guest;
use crate::machine::{self, Machine};
use crate::plan::{Changes, Plan};
use crate::progress::Progress;
use crate::record::{
    Cell, End, Evidence, Header, Line, Outcome, ProviderRecord, Reason, Record, Round, SCHEMA,
};
use crate::report;
use crate::run::{self, Ended, Enough, Narrow, Run};
use crate::schedule;
use crate::sources::{self, Home, Known};
use crate::store::{self, Store};
use crate::transport::{Patience, Place};
use crate::vectors::Vectors;
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_core::Ticks;
use cpb_core::measure::Budget;
use cpb_core::message::ClockDescription;
use cpb_providers::af_alg::Survey;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most time that a run by precision takes if no budget is given.
const PRECISION_LIMIT: Duration = Duration::from_secs(600);

/// Longest wait for an answer of a runner on this machine ...
const ANSWER: Duration = Duration::from_secs(10);
/// ... and of one in a guest, which runs tens of times slower.
const SLOW_ANSWER: Duration = Duration::from_secs(60);

/// What a record that is gone on with has settled.
const SETTLED: [&str; 12] = [
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
    "cpu",
    "output",
];

#[derive(Args)]
#[command(after_help = "Examples:
  cpb run                                    the default plan, about 20 s
  cpb run -a aes-256-gcm -s 16,1K,64K        one algorithm, three sizes
  cpb run -p openssl,mbedtls:c --budget 60s  two providers, more precisely
  cpb run --precision 0.5%                   until every interval is that narrow
  cpb run -a sha-256 --threads 1,2           how it scales
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
    /// Operations: encrypt, decrypt, hash, mac
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    operation: Vec<String>,
    /// Phases: message, message-with-key, update, setup
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "What")]
    phase: Vec<String>,
    /// Numbers of threads, each on a CPU of its own
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", help_heading = "What")]
    #[arg(allow_negative_numbers = true)]
    threads: Vec<u8>,
    /// Measure in a guest of the lab: lab:GUEST (`cpb lab list`)
    #[arg(long, value_name = "TARGET", help_heading = "What", conflicts_with = "runner")]
    target: Option<String>,
    /// Measure the providers of this program, too (it speaks cpb's frames)
    #[arg(long, value_name = "PROGRAM", help_heading = "What")]
    runner: Vec<PathBuf>,

    /// Time for the whole run
    #[arg(long, value_name = "TIME", help_heading = "How")]
    budget: Option<Seconds>,
    /// Measure until each interval's half-width is below this share
    #[arg(long, value_name = "SHARE", help_heading = "How")]
    precision: Option<Percent>,
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
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(Arc::clone(&stop))?;
    let begun = match &arguments.resume {
        Some(path) => Sitting::resume(path, &arguments, &stop),
        None => Sitting::begin(&arguments, &stop),
    };
    let Some(sitting) = (if stop.load(Ordering::Relaxed) { None } else { begun? }) else {
        output::say("stopped before anything was measured");
        return Ok(INTERRUPTED);
    };
    let path = sitting.store.path().to_owned();
    let ended = sitting.measure(&arguments)?;

    let record = store::read(&path)?;
    let summary = summarise(&record);
    let options = report::terminal::Options { all: arguments.all, by_size: false };
    output::show(&summary, &arguments.form, &options)?;
    if !arguments.quiet {
        output::say(&format!("record: {}", path.display()));
    }
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Without(Reason::Failed { .. }));
    Ok(match ended {
        Ended::Interrupted => {
            output::say(&format!("stopped; go on with: {}", go_on(&path, &arguments.runner)));
            INTERRUPTED
        }
        Ended::Complete if record.cells.iter().any(|(_, outcome)| failed(outcome)) => FAILED,
        Ended::Complete => DONE,
    })
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
fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<()> {
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .context("cannot watch for Ctrl-C")
}

/// Everything that is settled before the first measurement.
struct Sitting {
    home: Home,
    /// When it could be reached: a guest's boot is no measuring time.
    began: Instant,
    patience: Patience,
    store: Store,
    header: Header,
    known: Vec<Known>,
    /// Cells that are still to be checked and measured.
    cells: Vec<Cell>,
    /// Rounds of earlier sittings.
    rounds: HashMap<Cell, Vec<Round>>,
    first_pass: u32,
    used: Duration,
}

impl Sitting {
    /// A new record; none if the user stops it first.
    fn begin(arguments: &Arguments, stop: &Arc<AtomicBool>) -> Result<Option<Sitting>> {
        let mut plan = Plan::load(arguments.plan.as_deref())?;
        plan.change(&Changes {
            algorithms: arguments.algorithm.clone(),
            operations: arguments.operation.clone(),
            phases: arguments.phase.clone(),
            sizes: arguments.size.clone(),
            providers: arguments.provider.clone(),
            threads: arguments.threads.clone(),
        })?;
        plan.precision =
            arguments.precision.or(plan.precision.filter(|_| arguments.budget.is_none()));
        match (arguments.budget, plan.precision) {
            (Some(budget), _) => plan.budget = budget,
            (None, Some(_)) => plan.budget = Seconds(PRECISION_LIMIT.as_secs_f64()),
            (None, None) => {}
        }
        if arguments.target.as_deref() == Some("") {
            bail!("an empty --target: it is `lab:GUEST`; without the option it is this machine");
        }
        let target = arguments.target.clone().unwrap_or_default();
        let (home, patience) = reach(&target, arguments, stop)?;
        let began = Instant::now();
        let cpus = cpus(&home, &patience, arguments.cpu, &plan.threads)?;
        let known =
            sources::discover(&plan.providers, &arguments.runner, &home, &place(&cpus), &patience);
        if patience.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let known = known?;
        if !known.iter().any(|known| known.available() && known.source.name != cpb_providers::NULL)
        {
            let why = known.iter().map(|known| match known.record() {
                ProviderRecord::Unavailable { detail, .. } => {
                    format!("{}: {detail}", known.source.name)
                }
                ProviderRecord::Available { .. } => String::new(),
            });
            let why: Vec<String> = why.filter(|s| !s.is_empty()).collect();
            if why.is_empty() {
                bail!(
                    "{} is only the harness's own floor, measured in each run; name another \
                     provider as well (`cpb list` shows all)",
                    cpb_providers::NULL
                );
            }
            bail!("no provider can run here: {}", why.join("; "));
        }
        let machine = home.machine(cpus.first().copied().unwrap_or(0), &patience)?;
        let mut header = header(plan, target, machine, cpus, &known);
        if sources::concern_the_kernel(&known) {
            let cpu = header.cpus.first().copied().unwrap_or(0);
            header.kernel = home.kernel(cpu, &patience).map(Box::new);
            header.warnings.extend(header.kernel.iter().flat_map(|survey| fallen_back(survey)));
        }
        let path = match &arguments.output {
            Some(path) => path.clone(),
            None => default_path(&header),
        };
        let store = Store::create(&path, &header)?;
        let providers: Vec<String> = known
            .iter()
            .filter(|known| known.available())
            .map(|known| known.source.name.clone())
            .collect();
        let cells = run::cells(&header.plan, &providers);
        Ok(Some(Sitting {
            home,
            began,
            patience,
            store,
            header,
            known,
            cells,
            rounds: HashMap::new(),
            first_pass: 0,
            used: Duration::ZERO,
        }))
    }

    /// An old record; none if the user stops it first.
    fn resume(
        path: &Path,
        arguments: &Arguments,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Sitting>> {
        let (store, record) = Store::resume(path)?;
        let Record { header, cells: seen, .. } = record;
        let (home, patience) = reach(&header.target, arguments, stop)?;
        let began = Instant::now();
        let machine = home.machine(header.cpus.first().copied().unwrap_or(0), &patience)?;
        let (then, now) = (&header.machine, &machine);
        if (&then.name, &then.cpu, &then.kernel) != (&now.name, &now.cpu, &now.kernel) {
            bail!(
                "{} was measured on {} ({}, {}), this is {} ({}, {}): begin a new record here",
                path.display(),
                then.name,
                then.cpu,
                then.kernel,
                now.name,
                now.cpu,
                now.kernel
            );
        }
        if header.version != env!("CARGO_PKG_VERSION") {
            bail!(
                "{} was begun by cpb {}, this is {}: begin a new record",
                path.display(),
                header.version,
                env!("CARGO_PKG_VERSION")
            );
        }
        let wanted: Vec<String> = header.providers.keys().cloned().collect();
        let known =
            sources::discover(&wanted, &arguments.runner, &home, &place(&header.cpus), &patience);
        if patience.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut known = known.with_context(|| {
            format!("cannot go on with {} (does it need a --runner?)", path.display())
        })?;
        for known in &mut known {
            // Its name comes from the record now; what the user named is in the plan.
            known.source.found = cpb_providers::find(&known.source.name)
                .is_some_and(|choice| !choice.variant.is_empty())
                && !header.plan.providers.contains(&known.source.name);
        }
        let available: Vec<String> = known
            .iter()
            .filter(|known| known.available())
            .map(|known| known.source.name.clone())
            .collect();
        let mut cells = run::cells(&header.plan, &available);
        let mut rounds: HashMap<Cell, Vec<Round>> = HashMap::new();
        for (cell, outcome) in seen {
            match outcome {
                Outcome::Measured(seen) => _ = rounds.insert(cell, seen),
                Outcome::Without(_) => cells.retain(|other| *other != cell),
            }
        }
        let all = || rounds.values().flatten();
        let first_pass = all().map(|round| round.pass + 1).max().unwrap_or(0);
        let used = Duration::from_millis(all().map(|round| round.at_ms).max().unwrap_or(0));
        Ok(Some(Sitting {
            home,
            began,
            patience,
            store,
            header,
            known,
            cells,
            rounds,
            first_pass,
            used,
        }))
    }

    fn measure(mut self, arguments: &Arguments) -> Result<Ended> {
        let plan = &self.header.plan;
        let enough = Enough {
            budget: plan.budget.duration(),
            precision: plan.precision.map(|Percent(share)| share),
            narrow: narrow(&self.known),
        };
        let mut progress = Progress::new(arguments.quiet, arguments.verbose);
        let mut run = Run {
            sources: self.known.iter().map(|known| known.source.clone()).collect(),
            place: Place {
                latency: sources::multiply_latency(&self.known),
                ..place(&self.header.cpus)
            },
            patience: self.patience.clone(),
            budget: Budget {
                counted: Ticks(u64::from(plan.counted_ms) * 1_000_000),
                ..match self.home {
                    Home::Here => schedule::BUDGET,
                    Home::Guest(_) => schedule::SLOW_BUDGET,
                }
            },
            store: &mut self.store,
            watch: &mut progress,
            began: self.began,
            used_before: self.used,
        };
        let cells = run.check(&Vectors::load()?, self.cells)?;
        let ended = run.measure(cells, self.first_pass, self.rounds, &enough)?;
        let cpu = self.header.cpus.first().copied().unwrap_or(0);
        let (state, warnings) = self.home.end(&self.header.machine, cpu, &self.patience);
        self.store.append(&Line::End(End {
            ended: now(),
            interrupted: ended == Ended::Interrupted,
            state,
            warnings,
        }))?;
        self.store.sync()?;
        Ok(ended)
    }
}

/// Tells the cells whose interval is narrow enough.
fn narrow(known: &[Known]) -> Box<Narrow> {
    let clocks: HashMap<String, ClockDescription> = known
        .iter()
        .filter_map(|known| match known.record() {
            ProviderRecord::Available { clock, .. } => Some((known.source.name.clone(), clock)),
            ProviderRecord::Unavailable { .. } => None,
        })
        .collect();
    Box::new(move |cells, share| {
        let clock = |cell: &Cell| clocks.get(&cell.provider);
        let rounds = cells.iter().filter_map(|(cell, rounds)| Some((clock(cell)?, rounds)));
        let alone = Alone::of(rounds.flat_map(|(clock, all)| all.iter().map(move |r| (r, clock))));
        let narrow = |cell: &Cell, rounds: &[Round]| {
            clock(cell)
                .is_none_or(|clock| estimate::narrow_enough(rounds, Scale { clock, alone }, share))
        };
        let cells = cells.iter().filter(|(cell, rounds)| narrow(cell, rounds));
        cells.map(|(cell, _)| cell.clone()).collect()
    })
}

fn header(
    plan: Plan,
    target: String,
    machine: Machine,
    cpus: Vec<usize>,
    known: &[Known],
) -> Header {
    let cpu = cpus.first().copied().unwrap_or(0);
    let providers: std::collections::BTreeMap<_, _> =
        known.iter().map(|known| (known.source.name.clone(), known.record())).collect();
    let clock_known = providers.values().any(|provider| match provider {
        ProviderRecord::Available { clock, .. } => clock.reference_cycles > 0,
        ProviderRecord::Unavailable { .. } => false,
    });
    let evidence: Evidence = machine::evidence(&machine, clock_known);
    let mut warnings = machine::doubts(&machine, clock_known);
    if target.is_empty() {
        warnings.extend(machine::warnings(&machine, cpu));
    }
    Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: now(),
        evidence,
        target,
        machine,
        plan,
        cpus,
        providers,
        kernel: None,
        warnings,
    }
}

/// Where the kernel runs in software what a device was there for.
fn fallen_back(survey: &Survey) -> impl Iterator<Item = String> + '_ {
    survey.choices.iter().filter(|choice| choice.fell_back).map(|choice| {
        format!(
            "asked for {}, the kernel takes {} although it lists {} with a higher priority: it fell \
             back to software (`cpb list --kernel` says why)",
            choice.name,
            choice.taken.as_deref().unwrap_or("none"),
            choice.preferred
        )
    })
}

/// The machine to measure, and how long to wait for its answers.
fn reach(target: &str, arguments: &Arguments, stop: &Arc<AtomicBool>) -> Result<(Home, Patience)> {
    let named = arguments.timeout.map(|time| time.duration());
    let patience = |usual| Patience { answer: named.unwrap_or(usual), stop: Arc::clone(stop) };
    if target.is_empty() {
        return Ok((Home::Here, patience(ANSWER)));
    }
    let Some(guest) = target.strip_prefix("lab:") else {
        bail!("unknown target '{target}'; it is `lab:GUEST`, and `cpb lab list` shows the guests");
    };
    let say: &dyn Fn(&str) = if arguments.quiet { &|_| () } else { &super::lab::say };
    Ok((Home::Guest(Guest::boot(guest, false, stop, say)?), patience(SLOW_ANSWER)))
}

/// These CPUs, before anything is known of them.
fn place(cpus: &[usize]) -> Place {
    Place { cpus: cpus.to_vec(), latency: None }
}

/// The CPUs to measure on: the chosen one first, then others for more threads.
fn cpus(
    home: &Home,
    patience: &Patience,
    chosen: Option<usize>,
    threads: &[u8],
) -> Result<Vec<usize>> {
    let mut allowed = match home {
        Home::Here => cpb_runner::pin::allowed().context("cannot find out which CPUs there are")?,
        Home::Guest(_) => (0..home.machine(0, patience)?.cpus.max(1)).collect(),
    };
    let list = || allowed.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let first = match chosen {
        Some(cpu) if allowed.contains(&cpu) => cpu,
        Some(cpu) => bail!("no CPU {cpu} for this process; it may use {}", list()),
        None => *allowed.last().context("this process may use no CPU")?,
    };
    let most = threads.iter().copied().max().unwrap_or(1).into();
    if most > allowed.len() {
        bail!(
            "{most} threads need {most} CPUs; this process may use {}: {}",
            allowed.len(),
            list()
        );
    }
    allowed.retain(|cpu| *cpu != first);
    allowed.insert(0, first);
    allowed.truncate(most);
    Ok(allowed)
}

fn default_path(header: &Header) -> PathBuf {
    let stamp: String = header.began.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let base = format!("{}-{stamp}", header.plan.name);
    let folder = Path::new("cpb-results");
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let mut candidates = std::iter::once(base.clone()).chain(numbered);
    let free = candidates.find(|name| !folder.join(format!("{name}.jsonl")).exists());
    folder.join(format!("{}.jsonl", free.unwrap_or(base)))
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
