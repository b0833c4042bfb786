//! One segment of a run: a new or resumed record, until the run is stopped or complete.

use super::Arguments;
use super::connect::{affinity, connect, cpus};
use super::{own_library, plan};
use crate::cmd::output;
use crate::company::Company;
use crate::discovery::{self, Discovered};
use crate::probe;
use crate::progress::Progress;
use crate::run::{self, Ended, Enough, Gauge, Run};
use crate::schedule;
use crate::target::{Target, Wanted, guest};
use crate::transport::Affinity;
use crate::vectors::Vectors;
use anyhow::{Context, Result, bail};
use cpb_analysis::batches::Scale;
use cpb_analysis::smt::Alone;
use cpb_analysis::{estimate, location};
use cpb_core::catalog;
use cpb_core::kernel::KernelSurvey;
use cpb_core::measure::Budget;
use cpb_core::memory_read::BLOCK;
use cpb_core::message::ClockDescription;
use cpb_core::{Algorithm, Error, Workload};
use cpb_record::Machine;
use cpb_record::budget::{Percent, Seconds};
use cpb_record::evidence;
use cpb_record::plan::{Changes, Plan};
use cpb_record::store::Store;
use cpb_record::{
    Cell, End, Evidence, Header, Line, NotMeasuredReason, Outcome, ProviderRecord, Round, SCHEMA,
};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time limit of a run with `--precision` if no budget is given.
const PRECISION_LIMIT: Duration = Duration::from_secs(600);

/// Why a run in an emulator does not refine; see [`cpb_analysis::evidence_policy`].
const NO_CROSSOVER: &str = "the CPU is emulated and the engine is not, so crossovers mean nothing";

/// A run that takes longer than this multiple of its budget ...
const OVERTIME: f64 = 1.5;
/// ... plus this many seconds prints a note that explains it. The default plan on a slow board must not get there.
const OVERTIME_SECONDS: f64 = 3.0;

/// Everything that is settled before the first measurement.
pub(super) struct Segment {
    target: Box<dyn Target>,
    /// When the target was connected: the boot of a guest does not count as measuring time.
    began: Instant,
    pub(super) store: Store,
    header: Header,
    known: Vec<Discovered>,
    /// Cells that remain to be checked and measured.
    cells: Vec<Cell>,
    past: Past,
}

/// What earlier segments left.
#[derive(Default)]
struct Past {
    rounds: HashMap<Cell, Vec<Round>>,
    /// The number of the next pass.
    next_pass: u32,
    used: Duration,
}

/// How a segment begins.
pub(super) enum Begun {
    /// There is something to measure.
    Ready(Box<Segment>),
    /// The record to resume is complete.
    Complete(PathBuf),
    /// The user stopped the run first.
    Stopped,
}

impl Segment {
    /// Begins with a new record.
    pub(super) fn begin(arguments: &Arguments, stop: &Arc<AtomicBool>) -> Result<Begun> {
        let (mut plan, usual_target) = plan::chosen(arguments)?;
        let changes = plan::changes(arguments);
        let left_out = plan.change(&changes)?;
        plan.precision =
            arguments.precision.or(plan.precision.filter(|_| arguments.budget.is_none()));
        // If the user selects sizes, exactly these are measured.
        plan.refine = arguments.refine || plan.refine && arguments.sizes.size.is_empty();
        match (arguments.budget, plan.precision) {
            (Some(budget), _) => plan.budget = budget,
            (None, Some(_)) => plan.budget = Seconds(PRECISION_LIMIT.as_secs_f64()),
            (None, None) => {}
        }
        if arguments.target.as_deref() == Some("") {
            bail!(
                "--target is empty; write `ssh:HOST`, `lab:GUEST`, `serial:DEVICE` or `CHIP-sim`, or omit the \
                 option to measure this machine"
            );
        }
        let name = arguments.target.clone().unwrap_or(usual_target);
        if name.starts_with(guest::PREFIX) {
            if arguments.refine {
                bail!(
                    "--refine: in a guest of the lab {NO_CROSSOVER}; use --refine on the real machine"
                );
            }
            plan.refine = false;
        }
        let wanted =
            Wanted { cpu: arguments.cpu, threads: &plan.threads, providers: &plan.providers };
        let target = connect(&name, arguments, wanted, stop)?;
        let began = Instant::now();
        let cpus = cpus(target.as_ref(), arguments.cpu, &plan.threads)?;
        let known = target.discover(&plan.providers, &arguments.runner, &affinity(&cpus));
        if stop.load(Ordering::Relaxed) {
            return Ok(Begun::Stopped);
        }
        let known = known?;
        if !known.iter().any(|known| known.available() && known.spec.name != catalog::NULL) {
            let why = known.iter().map(|known| match known.record() {
                ProviderRecord::Unavailable { detail, .. } => {
                    format!("{}: {detail}", known.spec.name)
                }
                ProviderRecord::Available { .. } => String::new(),
            });
            let why: Vec<String> = why.filter(|s| !s.is_empty()).collect();
            if why.is_empty() {
                bail!(
                    "{} is only the floor of the harness, which every run measures; select another \
                     provider as well (`cpb list` shows all)",
                    catalog::NULL
                );
            }
            bail!("none of the providers can run here: {}", why.join("; "));
        }
        if plan::has_usual_algorithms(arguments) && !plan.measure.is_empty() {
            let (affinity, quiet) = (affinity(&cpus), arguments.quiet);
            let its = own_library::algorithms(&known, target.as_ref(), &affinity, quiet)?;
            if !its.is_empty() {
                let algorithms = its.iter().map(|algorithm| algorithm.name().to_owned()).collect();
                // The library does not choose between the families of workloads.
                let memory_read = std::mem::take(&mut plan.memory_read);
                plan.change(&Changes { algorithms, ..changes })?;
                plan.memory_read = memory_read;
            }
        }
        let machine = target.machine(cpus.first().copied().unwrap_or(0))?;
        let mut header = header(plan, name, target.as_ref(), machine, cpus, &known);
        header.warnings.extend(left_out);
        if header.plan.refine && header.evidence == Evidence::Emulated {
            header.plan.refine = false;
            if arguments.refine {
                header.warnings.push(format!("--refine added no sizes: {NO_CROSSOVER}."));
            }
        }
        if discovery::concern_the_kernel(&known) {
            let cpu = header.cpus.first().copied().unwrap_or(0);
            header.kernel = target.kernel(cpu).map(Box::new);
            header.warnings.extend(header.kernel.iter().flat_map(|survey| fallen_back(survey)));
        }
        let path = match &arguments.output {
            Some(path) if path.as_os_str() == "-" => bail!(
                "--output -: a record must be a file, so that a killed run can be resumed; give a file name, \
                 and use --json or --csv for other programs"
            ),
            Some(path) => path.clone(),
            None => default_path(&header),
        };
        let providers: Vec<String> = known
            .iter()
            .filter(|known| known.available())
            .map(|known| known.spec.name.clone())
            .collect();
        let cells = run::cells(&header.plan, &providers);
        if !cells.iter().any(|cell| cell.provider != catalog::NULL) {
            bail!("nothing to measure: {}", nobody_is_for(&providers, &header.plan));
        }
        let store = Store::create(&path, &header)?;
        Ok(Begun::Ready(Box::new(Segment {
            target,
            began,
            store,
            header,
            known,
            cells,
            past: Past::default(),
        })))
    }

    /// Resumes an old record.
    pub(super) fn resume(
        path: &Path,
        arguments: &Arguments,
        stop: &Arc<AtomicBool>,
    ) -> Result<Begun> {
        let (store, record) = Store::resume(path)?;
        if record.end.as_ref().is_some_and(|end| !end.interrupted) {
            return Ok(Begun::Complete(path.to_owned()));
        }
        let mut header = record.header.clone();
        let target = connect(&header.target, arguments, Wanted::default(), stop)?;
        let began = Instant::now();
        let machine = target.machine(header.cpus.first().copied().unwrap_or(0))?;
        let (then, now) = (&header.machine, &machine);
        if (&then.name, &then.cpu, &then.kernel) != (&now.name, &now.cpu, &now.kernel) {
            bail!(
                "{} was measured on {} ({}, {}), but this machine is {} ({}, {}): start a new record here",
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
                "{} was started by cpb {}, but this is cpb {}: start a new record",
                path.display(),
                header.version,
                env!("CARGO_PKG_VERSION")
            );
        }
        // From now on, changes concern this segment, so the state at its beginning is recorded.
        header.machine = machine;
        let wanted: Vec<String> = header.providers.keys().cloned().collect();
        let known = target.discover(&wanted, &arguments.runner, &affinity(&header.cpus));
        if stop.load(Ordering::Relaxed) {
            return Ok(Begun::Stopped);
        }
        let mut known = known.with_context(|| {
            format!("cannot resume {} (is a --runner missing?)", path.display())
        })?;
        for known in &mut known {
            // The name now comes from the record; names that the user selected are in the plan.
            known.spec.found = catalog::find(&known.spec.name)
                .is_some_and(|choice| !choice.variant.is_empty())
                && !header.plan.providers.contains(&known.spec.name);
        }
        for known in &known {
            if let Some(change) = changed(&header, known) {
                bail!(
                    "{}: {change}; figures of both would be mixed: start a new record",
                    path.display()
                );
            }
        }
        let available: Vec<String> = known
            .iter()
            .filter(|known| known.available())
            .map(|known| known.spec.name.clone())
            .collect();
        let mut cells = run::cells(&header.plan, &available);
        // Over ssh, the connection may have been the cause.
        let again = |reason: &NotMeasuredReason| {
            let crashed = matches!(reason, NotMeasuredReason::Failed { error: Error::Crashed, .. });
            crashed && target.loses_connections()
        };
        let settled =
            |outcome: &Outcome| matches!(outcome, Outcome::NotMeasured(reason) if !again(reason));
        cells.retain(|cell| !record.cells.iter().any(|(other, why)| other == cell && settled(why)));
        let (rounds, next_pass) = record.rounds();
        let used = rounds.values().flatten().map(|round| round.at_ms).max().unwrap_or(0);
        let past = Past { rounds, next_pass, used: Duration::from_millis(used) };
        Ok(Begun::Ready(Box::new(Segment { target, began, store, header, known, cells, past })))
    }

    pub(super) fn measure(mut self, arguments: &Arguments) -> Result<Ended> {
        let plan = &self.header.plan;
        let enough = Enough {
            budget: plan.budget.duration(),
            precision: plan.precision.map(|Percent(share)| share),
            least_passes: match self.header.evidence {
                Evidence::Hardware => location::LEAST as u32,
                Evidence::Emulated
                | Evidence::Simulated
                | Evidence::Published
                | Evidence::Imported => 1,
            },
            gauge: gauge(&self.known),
            refine: plan.refine,
            batches: schedule::RECORD_BATCHES,
        };
        let mut company = self.target.is_here().then(|| Company::join(&self.header.cpus, &now()));
        for words in company.as_mut().map(Company::newcomers).unwrap_or_default() {
            output::say(&format!("warning: {words}"));
            self.store.append(&Line::Warning(words))?;
        }
        let mut progress = Progress::new(arguments.quiet, arguments.verbose);
        let mut run = Run {
            runners: self.known.iter().map(|known| known.spec.clone()).collect(),
            affinity: Affinity {
                latency: discovery::multiply_latency(&self.known),
                ..affinity(&self.header.cpus)
            },
            timeouts: self.target.timeouts().clone(),
            budget: Budget {
                counted: Duration::from_millis(plan.counted_ms.into()),
                ..self.target.budget()
            },
            store: &mut self.store,
            watch: &mut progress,
            began: self.began,
            used_before: self.past.used,
            company,
        };
        let Past { rounds, next_pass, used } = self.past;
        let cells = run.check(&Vectors::load()?, self.cells, &rounds)?;
        let ended = run.measure(cells, next_pass, rounds, &enough)?;
        let cpu = self.header.cpus.first().copied().unwrap_or(0);
        let (state, mut warnings) = self.target.end(&self.header.machine, cpu);
        match ended {
            Ended::Complete => {
                warnings.extend(too_long(used + self.began.elapsed(), enough.budget));
            }
            Ended::Full(passes) => {
                let words = full(passes, used + self.began.elapsed(), enough.budget);
                output::say(&words);
                warnings.push(words);
            }
            Ended::Interrupted | Ended::CutOff => {}
        }
        self.store.append(&Line::End(End {
            ended: now(),
            interrupted: matches!(ended, Ended::Interrupted | Ended::CutOff),
            state,
            warnings,
        }))?;
        self.store.sync()?;
        Ok(ended)
    }
}

/// What changed since the record was started: a library that was updated meanwhile or is configured differently.
fn changed(header: &Header, known: &Discovered) -> Option<String> {
    let name = &known.spec.name;
    let (then, now) = (header.providers.get(name)?, known.record());
    let (
        ProviderRecord::Available { version, executor, options, .. },
        ProviderRecord::Available {
            version: new_version, executor: by, options: new_options, ..
        },
    ) = (then, &now)
    else {
        return None;
    };
    let parts = [(version, new_version), (executor, by), (options, new_options)];
    let (then, now) = parts.into_iter().find(|(then, now)| then != now)?;
    Some(format!("{name} was `{then}` and is now `{now}`"))
}

/// Reports a run that could not keep to its time.
fn too_long(used: Duration, budget: Duration) -> Option<String> {
    let [used, budget] = [used, budget].map(|time| time.as_secs_f64());
    (used > OVERTIME * budget + OVERTIME_SECONDS).then(|| {
        format!(
            "The run took {used:.0} s instead of {budget} s, because each cell is measured at least three \
             times. Raise --budget, or select fewer or smaller sizes (-s), fewer algorithms (-a) or fewer \
             providers (-p)."
        )
    })
}

/// The message of a run whose record was full before its time.
fn full(passes: u32, used: Duration, budget: Duration) -> String {
    let [used, budget] = [used, budget].map(|time| time.as_secs_f64());
    format!(
        "The record is full after {passes} passes and {used:.0} s of {budget} s: a record keeps {} batches, or {} per \
         cell if that is more. Start another record to measure more.",
        schedule::RECORD_BATCHES,
        schedule::CELL_BATCHES
    )
}

/// Measures how far each cell has come.
fn gauge(known: &[Discovered]) -> Rc<Gauge> {
    let clocks: HashMap<String, ClockDescription> = known
        .iter()
        .filter_map(|known| Some((known.spec.name.clone(), *known.record().clock()?)))
        .collect();
    Rc::new(move |cells| {
        let clock = |cell: &Cell| clocks.get(&cell.provider);
        let rounds = cells.iter().filter_map(|(cell, rounds)| Some((clock(cell)?, rounds)));
        let alone = Alone::of(rounds.flat_map(|(clock, all)| all.iter().map(move |r| (r, clock))));
        let progress = |(cell, rounds): (&Cell, &Vec<Round>)| {
            let scale = Scale { clock: clock(cell)?, alone };
            Some((cell.clone(), estimate::progress(rounds, scale)))
        };
        cells.iter().filter_map(progress).collect()
    })
}

fn header(
    plan: Plan,
    name: String,
    target: &dyn Target,
    machine: Machine,
    cpus: Vec<usize>,
    known: &[Discovered],
) -> Header {
    let cpu = cpus.first().copied().unwrap_or(0);
    let providers: std::collections::BTreeMap<_, _> =
        known.iter().map(|known| (known.spec.name.clone(), known.record())).collect();
    let clock_known = providers
        .values()
        .filter_map(ProviderRecord::clock)
        .any(|clock| clock.reference_cycles > 0 || clock.counts_cycles);
    let evidence: Evidence = evidence::evidence(&machine, clock_known);
    let mut warnings = probe::doubts(&machine, clock_known);
    warnings.extend(plan.untaken().into_iter().map(|(size, algorithms)| {
        let names: Vec<&str> = algorithms.into_iter().map(Algorithm::name).collect();
        format!(
            "{size} was not measured for {}: no message there can have this length.",
            names.join(", ")
        )
    }));
    warnings.extend(plan.unread().into_iter().map(|size| {
        format!(
            "{size} was not measured for memory reads: working sets are multiples of {BLOCK} bytes."
        )
    }));
    warnings.extend(plan.undivided().into_iter().map(|(phase, algorithms)| {
        let names: Vec<&str> = algorithms.into_iter().map(Algorithm::name).collect();
        format!("Phase {phase} was not measured for {}: it does not exist there.", names.join(", "))
    }));
    warnings.extend(plan.idle().into_iter().map(|operation| {
        format!("{operation} was not measured: no algorithm in the plan has this operation.")
    }));
    if target.has_a_state() {
        warnings.extend(probe::warnings(&machine, cpu));
    }
    Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: now(),
        evidence,
        target: name,
        machine,
        plan,
        cpus,
        providers,
        kernel: None,
        warnings,
    }
}

/// Why a plan measures nothing for these providers although it is not empty: some providers serve only one
/// algorithm, and some algorithms only one provider.
fn nobody_is_for(providers: &[String], plan: &Plan) -> String {
    let for_one = |name: &String| {
        if name == catalog::MEMORY {
            return Some(format!(
                "{name} only measures memory reads: use `--plan memory-read` without -a, --operation and --phase"
            ));
        }
        let mut algorithms = Algorithm::ALL.iter().filter(|a| catalog::is_for(name, **a));
        let only = algorithms.next()?;
        algorithms.next().is_none().then(|| format!("{name} only measures {only}: use `-a {only}`"))
    };
    let of_one = |workload: Workload| {
        let what = match &workload {
            Workload::Crypto(workload) => workload.algorithm.name(),
            _ => "memory reads",
        };
        let mut names = catalog::LIST.iter().map(|entry| entry.name);
        names
            .find(|name| *name != catalog::NULL && catalog::is_for_workload(name, &workload))
            .map(|name| format!("none of these providers has {what}: use `-p {name}`"))
    };
    let mut why: BTreeSet<String> = providers.iter().filter_map(for_one).collect();
    if why.is_empty() {
        why = plan.workloads().into_iter().filter_map(of_one).collect();
    }
    why.into_iter().collect::<Vec<_>>().join("; ")
}

/// Algorithms for which the kernel uses software although a device is present.
fn fallen_back(survey: &KernelSurvey) -> impl Iterator<Item = String> + '_ {
    survey.choices.iter().filter(|choice| choice.fell_back).map(|choice| {
        format!(
            "asked for {}, the kernel uses {}, although {} has a higher priority: it fell back to \
             software (`cpb list --kernel` shows why)",
            choice.name,
            choice.taken.as_deref().unwrap_or("none"),
            choice.preferred
        )
    })
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
