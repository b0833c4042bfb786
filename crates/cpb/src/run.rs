//! A run: check, then measure in passes, and write down everything as it comes.

use crate::analysis::refine;
use crate::plan::Plan;
use crate::record::{Batch, Cell, Check, Line, Reason, Round, Without};
use crate::schedule::{self, Time};
use crate::store::{self, Store};
use crate::transport::conversation::Conversation;
use crate::transport::{Lost, Patience, Place, Runner, Seen, Source};
use crate::vectors::Vectors;
use anyhow::Result;
use cpb_core::check::Finding;
use cpb_core::measure::Budget;
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Unsupported};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a run tells whoever watches it.
pub trait Watch {
    /// Something was written to the record.
    fn written(&mut self, line: &Line);
    /// So much of the run is over, from 0 to 1; `left` is a guess.
    fn progress(&mut self, share: f64, left: Duration, doing: &str);
}

/// When measuring is enough.
#[derive(Clone)]
pub struct Enough {
    /// After this time, whatever else.
    pub budget: Duration,
    /// Before, if each cell is known to within this share of its figure.
    pub precision: Option<f64>,
    /// The cells whose rounds so far tell their figure to within a share of it.
    pub narrow: Rc<Narrow>,
    /// Whether sizes near a crossover are measured, too, until it is known closely.
    pub refine: bool,
}

/// See [`Enough::narrow`].
pub type Narrow = dyn Fn(&HashMap<Cell, Vec<Round>>, f64) -> HashSet<Cell>;

/// A run that is going on.
pub struct Run<'a> {
    /// Who is measured.
    pub sources: Vec<Source>,
    /// Where they measure.
    pub place: Place,
    /// How long to wait for a runner.
    pub patience: Patience,
    /// How much of a cell is measured in one pass.
    pub budget: Budget,
    /// Where everything is written.
    pub store: &'a mut Store,
    /// Who watches.
    pub watch: &'a mut dyn Watch,
    /// When it began, and how much time earlier sittings used.
    pub began: Instant,
    /// See `began`.
    pub used_before: Duration,
}

/// Why a run came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Its time was used, or its precision reached.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// The machine that was measured cannot be reached any more.
    CutOff,
}

/// Of a run that refines, this share goes to what the plan names, if crossovers need the rest.
const PLANNED: f64 = 0.6;

/// Sizes near a crossover are measured for this long, as a share of the whole, before they tell which
/// ones are nearer: at least for half a second, some ten passes.
const STEP: f64 = 0.04;
const LEAST_STEP: Duration = Duration::from_millis(500);

/// A lost runner's cell is tried again in this many later passes before it counts as failed.
const RETRIES: u32 = 2;

impl Run<'_> {
    fn stopped(&self) -> bool {
        self.patience.stop.load(Ordering::Relaxed)
    }

    fn used(&self) -> Duration {
        self.used_before + self.began.elapsed()
    }

    fn write(&mut self, line: Line) -> Result<()> {
        self.store.append(&line)?;
        self.watch.written(&line);
        Ok(())
    }

    fn without(&mut self, cell: &Cell, outcome: Reason) -> Result<()> {
        self.write(Line::Without(Without { cell: cell.clone(), outcome }))
    }

    /// Why the machine that is measured cannot be reached any more, if it cannot.
    fn cut_off(&self) -> Option<String> {
        self.sources.iter().find_map(Source::cut_off)
    }

    /// Ends a run that has lost its machine: what was measured stays, and `cells`, which were not, have
    /// failed.
    fn cut<'a>(&mut self, why: &str, cells: impl Iterator<Item = &'a Cell>) -> Result<Ended> {
        for cell in cells {
            self.without(cell, unreached(why))?;
        }
        self.write(Line::Warning(format!("The run was cut off: {why}.")))?;
        Ok(Ended::CutOff)
    }

    fn start(&self, source: &Source) -> Result<Conversation, Lost> {
        source.start(&self.place, &self.patience)
    }

    /// Tries the known answers that the plan's cells need and drops the cells of whoever gave a
    /// wrong one; then asks who supports what. Returns the cells that can be measured; `before` are the
    /// rounds of earlier sittings, which could be.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn check(
        &mut self,
        vectors: &Vectors,
        cells: Vec<Cell>,
        before: &HashMap<Cell, Vec<Round>>,
    ) -> Result<Vec<Cell>> {
        let mut good = Vec::new();
        for source in self.sources.clone() {
            let mine: Vec<Cell> =
                cells.iter().filter(|cell| cell.provider == source.name).cloned().collect();
            if mine.is_empty() || self.stopped() {
                continue;
            }
            let mut runner = match self.start(&source) {
                Ok(runner) => Some(runner),
                Err(_) if self.stopped() => break,
                Err(lost) => {
                    for cell in &mine {
                        self.without(cell, failed(&lost))?;
                    }
                    continue;
                }
            };
            let mut tried: HashMap<(Algorithm, Operation), Option<Reason>> = HashMap::new();
            for cell in of_its_algorithms(mine, &source, &mut runner) {
                if let Some(why) = source.cut_off() {
                    self.without(&cell, unreached(&why))?;
                    continue;
                }
                let what = (cell.workload.algorithm, cell.workload.operation);
                self.watch.progress(
                    0.0,
                    Duration::ZERO,
                    &format!("checking {} {}", source.name, what.0),
                );
                if let std::collections::hash_map::Entry::Vacant(place) = tried.entry(what) {
                    let (check, reason) = match &mut runner {
                        _ if !cpb_providers::computes(&source.name) => (None, None),
                        Some(process) => known_answers(process, &source, vectors, what),
                        None => (None, Some(not_again())),
                    };
                    let lost = matches!(&reason, Some(Reason::Failed { error, .. })
                        if *error != Error::WrongAnswer);
                    if self.stopped() {
                        // Lost, if it is, because the user did not want to wait: no finding.
                        break;
                    }
                    // Nor is it one about the provider if its machine is gone.
                    let cut_off = lost && source.cut_off().is_some();
                    if lost && !cut_off {
                        runner = self.start(&source).ok();
                    }
                    place.insert(reason);
                    if let Some(check) = check.filter(|_| !cut_off) {
                        self.write(Line::Check(check))?;
                    }
                }
                let supported = match (&tried[&what], &mut runner) {
                    (Some(reason), _) => Err(reason.clone()),
                    (None, Some(process)) => {
                        match process.supports(source.provider, &cell.workload) {
                            Ok(answer) => answer.map_err(Reason::Unsupported),
                            Err(_) if self.stopped() => break,
                            Err(lost) => {
                                runner = self.start(&source).ok();
                                Err(failed(&lost))
                            }
                        }
                    }
                    (None, None) => Err(not_again()),
                };
                match supported {
                    Ok(()) => good.push(cell),
                    Err(Reason::Unsupported(reason)) => {
                        let rounds = before.get(&cell).map_or(0, Vec::len);
                        self.without(&cell, refused(Error::Unsupported(reason), rounds))?;
                    }
                    Err(reason) => self.without(&cell, reason)?,
                }
            }
        }
        Ok(good)
    }

    /// Measures `cells`, from pass number `first` on, until `enough`; then, if that is wanted, sizes
    /// near their crossovers.
    ///
    /// # Errors
    /// The record cannot be written, or read again.
    pub fn measure(
        &mut self,
        cells: Vec<Cell>,
        first: u32,
        known: HashMap<Cell, Vec<Round>>,
        enough: &Enough,
    ) -> Result<Ended> {
        if !enough.refine {
            return self.passes(cells, first, known, enough);
        }
        let planned = Enough { budget: enough.budget.mul_f64(PLANNED), ..enough.clone() };
        let mut ended = self.passes(cells.clone(), first, known, &planned)?;
        while ended == Ended::Complete && self.used() < enough.budget {
            let record = store::read(self.store.path())?;
            let wanted = refine::wanted(&record);
            let (known, first) = record.rounds();
            if wanted.is_empty() {
                // Nothing is left to close in on, and time is.
                return self.passes(cells, first, known, enough);
            }
            let step = enough.budget.mul_f64(STEP).max(LEAST_STEP);
            let budget = (self.used() + step).min(enough.budget);
            let step = Enough { budget, precision: None, ..enough.clone() };
            let known = known.into_iter().filter(|(cell, _)| wanted.contains(cell)).collect();
            ended = self.passes(wanted, first, known, &step)?;
        }
        Ok(ended)
    }

    /// Measures `cells` pass by pass, from pass number `first` on, until `enough`.
    fn passes(
        &mut self,
        mut cells: Vec<Cell>,
        first: u32,
        mut known: HashMap<Cell, Vec<Round>>,
        enough: &Enough,
    ) -> Result<Ended> {
        let mut last = Duration::ZERO;
        let most = schedule::most_passes(cells.len());
        let mut measured: HashSet<Cell> = known.keys().cloned().collect();
        let mut lost_before: HashMap<Cell, (u32, Lost)> = HashMap::new();
        for pass in first.. {
            if self.stopped() {
                return Ok(Ended::Interrupted);
            }
            if let Some(share) = enough.precision {
                let wide = wide(&cells, &known, enough, share);
                cells.retain(|cell| wide.contains(&group(cell)));
            }
            let time = Time { budget: enough.budget, used: self.used() };
            // Every cell has its turn, even if checks and time-outs have used all the time.
            let had = |cell: &Cell| measured.contains(cell) || lost_before.contains_key(cell);
            let enough_time = time.fits(last) || !cells.iter().all(had);
            if let Some(why) = self.cut_off() {
                return self.cut(&why, cells.iter().filter(|cell| !measured.contains(*cell)));
            }
            if cells.is_empty() || pass >= most || !enough_time {
                break;
            }
            let begin = Instant::now();
            let now = self.due(&cells, &known, enough, pass);
            let mut dropped: HashSet<Cell> = HashSet::new();
            let mut rng = fastrand::Rng::with_seed(u64::from(pass));
            let mut runners: BTreeMap<String, Option<Conversation>> = BTreeMap::new();
            for index in schedule::order(&now, &mut rng) {
                if self.stopped() {
                    return Ok(Ended::Interrupted);
                }
                let cell = now[index].clone();
                let (used, budget) = (self.used(), enough.budget);
                let share = (used.as_secs_f64() / budget.as_secs_f64()).min(1.0);
                self.watch.progress(share, budget.saturating_sub(used), &cell.to_string());
                match self.round(&cell, &mut runners) {
                    Ok(Ok(seen)) => {
                        measured.insert(cell.clone());
                        let round = round_record(&cell, pass, self.used(), &seen);
                        known.entry(cell).or_default().push(round.clone());
                        self.write(Line::Round(round))?;
                    }
                    Ok(Err(error)) => {
                        let rounds = known.get(&cell).map_or(0, Vec::len);
                        self.without(&cell, refused(error, rounds))?;
                        dropped.insert(cell);
                    }
                    Err(_) if self.stopped() => return Ok(Ended::Interrupted),
                    Err(_) if let Some(why) = self.cut_off() => {
                        let settled =
                            |cell: &&Cell| measured.contains(*cell) || dropped.contains(*cell);
                        return self.cut(&why, cells.iter().filter(|cell| !settled(cell)));
                    }
                    Err(lost) => {
                        let times = lost_before.get(&cell).map_or(1, |(times, _)| times + 1);
                        if times > RETRIES || !lost.again {
                            self.without(&cell, failed(&lost))?;
                            lost_before.remove(&cell);
                            dropped.insert(cell);
                        } else {
                            let warning = format!("{cell}: {lost}; the runner was started again");
                            self.write(Line::Warning(warning))?;
                            lost_before.insert(cell, (times, lost));
                        }
                    }
                }
            }
            cells.retain(|cell| !dropped.contains(cell));
            self.store.sync()?;
            last = begin.elapsed();
        }
        // No time was left to try these again: they are not to go missing from the record.
        for (cell, (_, lost)) in lost_before {
            if !measured.contains(&cell) {
                self.without(&cell, failed(&lost))?;
            }
        }
        Ok(Ended::Complete)
    }

    /// The cells of a pass: those whose workload is settled take part in some passes only, unless
    /// all are.
    fn due(
        &self,
        cells: &[Cell],
        known: &HashMap<Cell, Vec<Round>>,
        enough: &Enough,
        pass: u32,
    ) -> Vec<Cell> {
        if pass < schedule::SETTLED_FROM {
            return cells.to_vec();
        }
        let wide = wide(cells, known, enough, schedule::SETTLED_PRECISION);
        let mut groups: Vec<Group> = Vec::new();
        let mut due = Vec::new();
        for cell in cells {
            let group = group(cell);
            if !groups.contains(&group) {
                groups.push(group);
            }
            let place = groups.iter().position(|other| *other == group).unwrap_or(0);
            if wide.contains(&group) || schedule::due(place, pass) {
                due.push(cell.clone());
            }
        }
        if due.is_empty() { cells.to_vec() } else { due }
    }

    /// One round by this pass's runner, started when it is first needed.
    fn round(
        &mut self,
        cell: &Cell,
        runners: &mut BTreeMap<String, Option<Conversation>>,
    ) -> Result<Result<Seen, Error>, Lost> {
        let source = self.sources.iter().find(|source| source.name == cell.provider);
        let source = source.ok_or_else(|| Lost {
            error: Error::Crashed,
            detail: format!("no runner for {}", cell.provider),
            again: true,
        })?;
        let place = runners.entry(source.runner()).or_default();
        // Another cell may have taken the machine along that this runner was on.
        if place.as_ref().is_none_or(Conversation::is_gone) {
            *place = Some(source.start(&self.place, &self.patience)?);
        }
        let runner = place.as_mut().ok_or_else(|| Lost {
            error: Error::Crashed,
            detail: "the runner is gone".to_owned(),
            again: true,
        })?;
        let budget = schedule::budget_of(&cell.workload, self.budget);
        let outcome = runner.round(source.provider, &cell.workload, &budget, cell.threads);
        if outcome.is_err() {
            *place = None;
        }
        outcome
    }
}

/// Cells that are measured together, for their ratios' sake: the providers of a workload.
type Group = (CryptoWorkload, u8);

fn group(cell: &Cell) -> Group {
    (cell.workload, cell.threads)
}

/// The groups with a cell that is not yet known to within `share`.
fn wide(
    cells: &[Cell],
    known: &HashMap<Cell, Vec<Round>>,
    enough: &Enough,
    share: f64,
) -> HashSet<Group> {
    let narrow = (enough.narrow)(known, share);
    cells.iter().filter(|cell| !narrow.contains(cell)).map(group).collect()
}

/// The cells to look at. An executor of an interface is for some algorithms and not for others, and
/// nothing is missing then; but one that was named for others only is to say so.
fn of_its_algorithms(
    cells: Vec<Cell>,
    source: &Source,
    runner: &mut Option<Conversation>,
) -> Vec<Cell> {
    let executor = cpb_providers::find(&source.name).is_some_and(|name| !name.variant.is_empty());
    let Some(process) = runner.as_mut().filter(|_| executor) else { return cells };
    let mut not_its = |cell: &Cell| {
        let answer = process.supports(source.provider, &cell.workload);
        matches!(answer, Ok(Err(Unsupported::Algorithm)))
    };
    let (others, its): (Vec<Cell>, Vec<Cell>) = cells.into_iter().partition(|cell| not_its(cell));
    if its.is_empty() && !source.found { others } else { its }
}

fn not_again() -> Reason {
    let detail = "the runner could not be started again".to_owned();
    Reason::Failed { error: Error::Crashed, detail }
}

/// A round that its provider did not run. What was possible before, and is not any more, has failed: its
/// device was taken away, or a permission.
fn refused(error: Error, rounds: usize) -> Reason {
    match (error, rounds) {
        (Error::Unsupported(reason), 0) => Reason::Unsupported(reason),
        (Error::Unsupported(_), 1) => {
            Reason::Failed { error, detail: "it could be measured in a round before".to_owned() }
        }
        (Error::Unsupported(_), rounds) => {
            let detail = format!("it could be measured in {rounds} rounds before");
            Reason::Failed { error, detail }
        }
        (error, _) => Reason::Failed { error, detail: "in the timed round".to_owned() },
    }
}

fn unreached(why: &str) -> Reason {
    Reason::Failed { error: Error::Crashed, detail: why.to_owned() }
}

fn failed(lost: &Lost) -> Reason {
    Reason::Failed { error: lost.error, detail: lost.detail.clone() }
}

/// Tries every known answer of one algorithm and operation. The second part is why its cells are
/// not to be measured, if so.
pub fn known_answers(
    runner: &mut dyn Runner,
    source: &Source,
    vectors: &Vectors,
    (algorithm, operation): (Algorithm, Operation),
) -> (Option<Check>, Option<Reason>) {
    let mut check = Check {
        provider: source.name.clone(),
        algorithm,
        operation,
        right: 0,
        distinct: 0,
        round_trips: 0,
        unsupported: 0,
        wrong: None,
    };
    // Whoever does not have the algorithm need not say so case by case.
    let usual = algorithm.shape().block.max(algorithm.shortest());
    let length = algorithm.fixed_message(operation).unwrap_or(usual);
    let plain = CryptoWorkload::new(algorithm, operation, length as u32);
    let supported = runner.supports(source.provider, &plain);
    if let Ok(Err(reason @ (Unsupported::Algorithm | Unsupported::BuildOption))) = supported {
        check.unsupported = vectors.cases(algorithm, operation).len() as u32;
        return (Some(check), Some(Reason::Unsupported(reason)));
    }
    let mut why_not = None;
    for (id, case) in vectors.cases(algorithm, operation) {
        match runner.check(source.provider, &case) {
            Ok(Finding::Right(_)) => check.right += 1,
            Ok(Finding::Distinct(_)) => check.distinct += 1,
            Ok(Finding::RoundTrip(_)) => check.round_trips += 1,
            Ok(Finding::Unsupported(reason)) => {
                check.unsupported += 1;
                why_not = Some(Reason::Unsupported(reason));
            }
            Ok(Finding::Wrong { phase, placement, error }) => {
                let detail = format!("{id} ({phase}, {placement})");
                check.wrong = Some(format!("{detail}: {error}"));
                return (Some(check), Some(Reason::Failed { error, detail }));
            }
            Err(lost) => {
                let detail = format!("at the known answer {id}: {}", lost.detail);
                check.wrong = Some(format!("{id}: {lost}"));
                return (Some(check), Some(Reason::Failed { error: lost.error, detail }));
            }
        }
    }
    let shown = check.right + check.distinct + check.round_trips;
    let reason = if shown == 0 { why_not } else { None };
    (Some(check), reason)
}

fn round_record(cell: &Cell, pass: u32, at: Duration, seen: &Seen) -> Round {
    let batches = |thread: &Vec<cpb_core::Sample>| {
        thread.iter().map(|s| Batch(s.ticks.0, s.before.into(), s.after.into())).collect()
    };
    Round {
        cell: cell.clone(),
        pass,
        at_ms: at.as_millis() as u64,
        reference_cycles: seen.reference_cycles,
        iterations: seen.round.iterations,
        output: format!("{:016x}", seen.round.output),
        samples: seen.samples.iter().map(batches).collect(),
        latency: seen.latency.filled().collect(),
        latency_max: seen.latency.max.0,
        counters: seen.round.counters,
    }
}

/// Every cell of `plan` for these providers; the harness's floor once, for the smallest workload.
pub fn cells(plan: &Plan, providers: &[String]) -> Vec<Cell> {
    let workloads = plan.workloads();
    let smallest = workloads.iter().min_by_key(|workload| workload.message).copied();
    let mut threads = plan.threads.clone();
    let mut seen = HashSet::new();
    threads.retain(|threads| seen.insert(*threads));
    let mut cells = Vec::new();
    for provider in providers {
        let cell = |workload: CryptoWorkload, threads: u8| Cell {
            provider: provider.clone(),
            workload,
            threads,
        };
        if provider == cpb_providers::NULL {
            cells.extend(smallest.map(|workload| cell(workload, 1)));
            continue;
        }
        let its = |workload: &&CryptoWorkload| cpb_providers::is_for(provider, workload.algorithm);
        for workload in workloads.iter().filter(its) {
            cells.extend(threads.iter().map(|threads| cell(*workload, *threads)));
        }
    }
    cells
}
