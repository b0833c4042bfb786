//! A run: it checks the providers, measures in passes, and writes everything to the record at once.

mod check;

pub use check::known_answers;

use crate::company::Company;
use crate::schedule::{self, Time};
use crate::transport::conversation::Conversation;
use crate::transport::{Affinity, RunnerError, RunnerSpec, Seen, Timeouts};
use anyhow::Result;
use cpb_analysis::estimate::Progress;
use cpb_analysis::refine;
use cpb_analysis::units::Nanoseconds;
use cpb_core::catalog;
use cpb_core::measure::Budget;
use cpb_core::{Error, Workload};
use cpb_record::plan::Plan;
use cpb_record::store::{self, Store};
use cpb_record::{Batch, Cell, Line, NotMeasured, NotMeasuredReason, Round, Times};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Receives the events of a run.
pub trait Observer {
    /// Something was written to the record.
    fn written(&mut self, line: &Line);
    /// The run has got this far, from 0 to 1; `left` is an estimate.
    fn progress(&mut self, share: f64, left: Duration, doing: &str);
}

/// When a run has measured enough.
#[derive(Clone)]
pub struct Enough {
    /// The run ends after this time in any case.
    pub budget: Duration,
    /// The run ends earlier if each cell is known to within this share of its figure.
    pub precision: Option<f64>,
    /// Each cell is measured in at least this many passes, however long they take.
    pub least_passes: u32,
    /// Computes how far the rounds so far have brought each cell.
    pub gauge: Rc<Gauge>,
    /// Whether to measure more sizes where the advice rests on an estimate.
    pub refine: bool,
    /// The run ends when its record has this many batches: see [`schedule::most_passes`].
    pub batches: u64,
}

/// See [`Enough::gauge`].
pub type Gauge = dyn Fn(&HashMap<Cell, Vec<Round>>) -> HashMap<Cell, Progress>;

/// A run in progress.
pub struct Run<'a> {
    /// The providers that are measured.
    pub runners: Vec<RunnerSpec>,
    /// The CPUs that they measure on.
    pub affinity: Affinity,
    /// How long to wait for a runner.
    pub timeouts: Timeouts,
    /// How much of a cell is measured in one pass.
    pub budget: Budget<Duration>,
    /// Receives everything that is written.
    pub store: &'a mut Store,
    /// Receives the events.
    pub watch: &'a mut dyn Observer,
    /// When the run began, and how much time earlier segments used.
    pub began: Instant,
    /// See `began`.
    pub used_before: Duration,
    /// The other cpbs that measure on the same CPUs of this machine.
    pub company: Option<Company>,
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Its time was used, or its precision was reached.
    Complete,
    /// Its record has the maximum number of passes: this many.
    Full(u32),
    /// The user stopped it.
    Interrupted,
    /// The machine that was measured cannot be reached any more.
    CutOff,
}

/// In a run that refines, the share of time for the plan's sizes if the sizes in between need the rest.
const PLANNED: f64 = 0.55;

/// The end of the time for sizes in between. The rest goes to cells that lack passes because other programs
/// had the core.
const UNTIL_SHORT: f64 = 0.8;

/// Sizes in between are measured in this many passes before they decide which sizes come next.
const STEP: u32 = 8;

/// A cell whose passes are discarded is measured in up to this multiple of the passes that it needs. After
/// that it has no figure.
const PATIENCE: u32 = 4;

/// The cell of a lost runner is tried again in this many later passes before it counts as failed.
const RETRIES: u32 = 2;

impl Run<'_> {
    fn stopped(&self) -> bool {
        self.timeouts.stop.load(Ordering::Relaxed)
    }

    fn used(&self) -> Duration {
        self.used_before + self.began.elapsed()
    }

    fn write(&mut self, line: Line) -> Result<()> {
        self.store.append(&line)?;
        self.watch.written(&line);
        Ok(())
    }

    fn without(&mut self, cell: &Cell, outcome: NotMeasuredReason) -> Result<()> {
        self.write(Line::NotMeasured(NotMeasured { cell: cell.clone(), outcome }))
    }

    /// Why the measured machine cannot be reached any more; `None` if it can.
    fn cut_off(&self) -> Option<String> {
        self.runners.iter().find_map(|source| source.launch.lost())
    }

    /// Ends a run that has lost its machine: what was measured is kept, and `cells`, which were not measured,
    /// have failed.
    fn cut<'a>(&mut self, why: &str, cells: impl Iterator<Item = &'a Cell>) -> Result<Ended> {
        for cell in cells {
            self.without(cell, unreached(why))?;
        }
        self.write(Line::Warning(format!("The run was cut off: {why}.")))?;
        Ok(Ended::CutOff)
    }

    fn start(&self, source: &RunnerSpec) -> Result<Conversation, RunnerError> {
        source.launch.start(&self.affinity, &self.timeouts)
    }

    /// Measures `cells`, from pass number `first` on, until `enough`: first all cells; then, if requested,
    /// sizes in between; then cells that lack passes; and all again while there is time.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written or read.
    pub fn measure(
        &mut self,
        cells: Vec<Cell>,
        first: u32,
        known: HashMap<Cell, Vec<Round>>,
        enough: &Enough,
    ) -> Result<Ended> {
        let share = if enough.refine { PLANNED } else { UNTIL_SHORT };
        let part = |share| Enough { budget: enough.budget.mul_f64(share), ..enough.clone() };
        let mut ended = self.passes(cells.clone(), first, known, &part(share), None)?;
        while enough.refine && ended == Ended::Complete && self.has_time(&part(UNTIL_SHORT)) {
            let record = store::read(self.store.path())?;
            let wanted = refine::wanted(&record);
            if wanted.is_empty() {
                break;
            }
            let (known, first) = record.rounds();
            let step = Enough { precision: None, ..part(UNTIL_SHORT) };
            ended = self.passes(wanted.clone(), first, of(known, &wanted), &step, Some(STEP))?;
        }
        let mut all = cells;
        if ended == Ended::Complete && self.has_time(enough) {
            let (known, first) = store::read(self.store.path())?.rounds();
            all.extend(
                known.keys().filter(|cell| !all.contains(cell)).cloned().collect::<Vec<_>>(),
            );
            let progress = (enough.gauge)(&known);
            let precise =
                |found: &Progress| enough.precision.is_some_and(|share| found.is_narrow(share));
            let is_short = |cell: &&Cell| {
                progress.get(*cell).is_some_and(|found| found.is_short() && !precise(found))
            };
            let short: Vec<Cell> = all.iter().filter(is_short).cloned().collect();
            if !short.is_empty() {
                let until = Enough { precision: None, ..enough.clone() };
                ended = self.passes(short.clone(), first, of(known, &short), &until, Some(STEP))?;
            }
        }
        if ended == Ended::Complete && self.has_time(enough) {
            let (known, first) = store::read(self.store.path())?.rounds();
            all.retain(|cell| known.contains_key(cell));
            ended = self.passes(all, first, known, enough, None)?;
        }
        Ok(ended)
    }

    fn has_time(&self, enough: &Enough) -> bool {
        self.used() < enough.budget
    }

    /// Measures `cells` pass by pass, from pass number `first` on, until `enough`, or for `limit` passes.
    fn passes(
        &mut self,
        mut cells: Vec<Cell>,
        first: u32,
        mut known: HashMap<Cell, Vec<Round>>,
        enough: &Enough,
        limit: Option<u32>,
    ) -> Result<Ended> {
        let mut last = Duration::ZERO;
        let most = schedule::most_passes(cells.len(), enough.batches);
        let mut ended = Ended::Complete;
        let mut measured: HashMap<Cell, u32> =
            known.iter().map(|(cell, rounds)| (cell.clone(), rounds.len() as u32)).collect();
        let mut lost_before: HashMap<Cell, (u32, RunnerError)> = HashMap::new();
        for pass in first.. {
            if self.stopped() {
                return Ok(Ended::Interrupted);
            }
            if let Some(share) = enough.precision {
                let wide = wide(&cells, &known, enough, |found| found.is_narrow(share));
                cells.retain(|cell| wide.contains(&group(cell)));
            }
            let time = Time { budget: enough.budget, used: self.used() };
            // Every cell gets its rounds, even if checks and timeouts have used all the time.
            let had = |cell: &Cell| {
                let passes = measured.get(cell).copied().unwrap_or(0);
                passes >= enough.least_passes || lost_before.contains_key(cell)
            };
            let time_left = time.fits(last) || !cells.iter().all(had);
            let lacking = match time_left || limit.is_some() {
                true => Vec::new(),
                false => self.lacking(&cells, &known, &measured, enough),
            };
            let enough_time = time_left || !lacking.is_empty();
            if let Some(why) = self.cut_off() {
                return self.cut(&why, cells.iter().filter(|cell| !measured.contains_key(*cell)));
            }
            let limited = limit.is_some_and(|limit| pass - first >= limit);
            if cells.is_empty() || limited || !enough_time {
                break;
            }
            if pass >= most {
                ended = Ended::Full(most);
                break;
            }
            self.look_for_company()?;
            let begin = Instant::now();
            let now = match lacking.is_empty() {
                true => self.due(&cells, &known, enough, pass),
                false => lacking,
            };
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
                        *measured.entry(cell.clone()).or_default() += 1;
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
                            |cell: &&Cell| measured.contains_key(*cell) || dropped.contains(*cell);
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
        // There was no time left to try these again; they must still appear in the record.
        for (cell, (_, lost)) in lost_before {
            if !measured.contains_key(&cell) {
                self.without(&cell, failed(&lost))?;
            }
        }
        self.look_for_company()?;
        Ok(ended)
    }

    /// Records which other cpbs measure on the same CPUs.
    fn look_for_company(&mut self) -> Result<()> {
        for words in self.company.as_mut().map(Company::newcomers).unwrap_or_default() {
            self.write(Line::Warning(words))?;
        }
        Ok(())
    }

    /// Cells with too few counted passes that have not yet had [`PATIENCE`] times as many passes as they
    /// need. This gives a short run on a busy machine figures as well.
    fn lacking(
        &self,
        cells: &[Cell],
        known: &HashMap<Cell, Vec<Round>>,
        measured: &HashMap<Cell, u32>,
        enough: &Enough,
    ) -> Vec<Cell> {
        let least = enough.least_passes;
        let progress = (enough.gauge)(known);
        let lacks = |cell: &&Cell| {
            let found = progress.get(*cell);
            let patient = measured.get(*cell).is_some_and(|passes| *passes < PATIENCE * least);
            patient && found.is_some_and(|found| !found.hopeless && found.counted < least as usize)
        };
        cells.iter().filter(lacks).cloned().collect()
    }

    /// The cells of a pass. Cells of settled workloads take part only in some passes, unless all are settled.
    /// In a run that gives advice, the same holds for cells that are far behind the fastest of their
    /// workload.
    fn due(
        &self,
        cells: &[Cell],
        known: &HashMap<Cell, Vec<Round>>,
        enough: &Enough,
        pass: u32,
    ) -> Vec<Cell> {
        let begun = cells.iter().any(|cell| known.contains_key(cell));
        if !begun || pass < schedule::SETTLED_FROM && !enough.refine {
            return cells.to_vec();
        }
        let progress = (enough.gauge)(known);
        let wide = wide_groups(cells, &progress, |found| {
            found.passes >= schedule::SETTLED_FROM as usize
                && found.is_narrow(schedule::SETTLED_PRECISION)
        });
        let mut fastest: HashMap<Group, Nanoseconds> = HashMap::new();
        for cell in cells.iter().filter(|cell| catalog::computes(&cell.provider)) {
            if let Some(time) = progress.get(cell).and_then(|found| found.time) {
                let least = fastest.entry(group(cell)).or_insert(time);
                if time < *least {
                    *least = time;
                }
            }
        }
        let is_behind = |cell: &Cell| {
            let least = fastest.get(&group(cell)).copied();
            enough.refine
                && progress.get(cell).is_some_and(|found| {
                    found.counted >= schedule::BEHIND_FROM
                        && found
                            .time
                            .zip(least)
                            .is_some_and(|(time, least)| time > least * schedule::BEHIND)
                })
        };
        let mut groups: HashMap<Group, usize> = HashMap::new();
        let mut due = Vec::new();
        for cell in cells {
            let places = groups.len();
            let place = *groups.entry(group(cell)).or_insert(places);
            let rests = !wide.contains(&group(cell)) || is_behind(cell);
            if !rests || schedule::due(place, pass) {
                due.push(cell.clone());
            }
        }
        if due.is_empty() { cells.to_vec() } else { due }
    }

    /// One round by this pass's runner, which is started when it is first needed.
    fn round(
        &mut self,
        cell: &Cell,
        runners: &mut BTreeMap<String, Option<Conversation>>,
    ) -> Result<Result<Seen, Error>, RunnerError> {
        let source = self.runners.iter().find(|source| source.name == cell.provider);
        let source = source.ok_or_else(|| RunnerError {
            error: Error::Crashed,
            detail: format!("there is no runner for {}", cell.provider),
            again: true,
        })?;
        let place = runners.entry(source.runner()).or_default();
        // Another cell may have crashed the machine on which this runner ran.
        if place.as_ref().is_none_or(Conversation::is_gone) {
            *place = Some(source.launch.start(&self.affinity, &self.timeouts)?);
        }
        let runner = place.as_mut().ok_or_else(|| RunnerError {
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

/// The rounds of the given cells.
fn of(mut known: HashMap<Cell, Vec<Round>>, cells: &[Cell]) -> HashMap<Cell, Vec<Round>> {
    let cells: HashSet<&Cell> = cells.iter().collect();
    known.retain(|cell, _| cells.contains(cell));
    known
}

/// Cells that are measured close together for the sake of their ratios: the providers of a workload.
type Group = (Workload, u8);

fn group(cell: &Cell) -> Group {
    (cell.workload, cell.threads)
}

/// The groups with a cell that is not yet `settled`.
fn wide(
    cells: &[Cell],
    known: &HashMap<Cell, Vec<Round>>,
    enough: &Enough,
    settled: impl Fn(&Progress) -> bool,
) -> HashSet<Group> {
    wide_groups(cells, &(enough.gauge)(known), settled)
}

/// The same, if it is known how far each cell has come.
fn wide_groups(
    cells: &[Cell],
    progress: &HashMap<Cell, Progress>,
    settled: impl Fn(&Progress) -> bool,
) -> HashSet<Group> {
    let wide = |cell: &&Cell| progress.get(*cell).is_none_or(|found| !settled(found));
    cells.iter().filter(wide).map(group).collect()
}

/// The reason for a round that its provider refused. If an earlier round was possible, this is a failure: the
/// device or a permission was removed.
fn refused(error: Error, rounds: usize) -> NotMeasuredReason {
    match (error, rounds) {
        (Error::Unsupported(reason), 0) => NotMeasuredReason::Unsupported(reason),
        (Error::Unsupported(_), 1) => NotMeasuredReason::Failed {
            error,
            detail: "an earlier round could be measured".to_owned(),
        },
        (Error::Unsupported(_), rounds) => {
            let detail = format!("{rounds} earlier rounds could be measured");
            NotMeasuredReason::Failed { error, detail }
        }
        (error, _) => NotMeasuredReason::Failed { error, detail: "in the timed round".to_owned() },
    }
}

fn unreached(why: &str) -> NotMeasuredReason {
    NotMeasuredReason::Failed { error: Error::Crashed, detail: why.to_owned() }
}

fn failed(lost: &RunnerError) -> NotMeasuredReason {
    NotMeasuredReason::Failed { error: lost.error, detail: lost.detail.clone() }
}

fn round_record(cell: &Cell, pass: u32, at: Duration, seen: &Seen) -> Round {
    let batches = |thread: &Vec<cpb_core::Sample>| {
        thread.iter().map(|s| Batch(s.ticks.0, s.before.into(), s.after.into())).collect()
    };
    let in_flight = Times {
        buckets: seen.latency_in_flight.filled().collect(),
        max: seen.latency_in_flight.max.0,
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
        latency_in_flight: (!in_flight.buckets.is_empty()).then_some(in_flight),
        counters: seen.round.counters,
    }
}

/// Every cell of `plan` for these providers. The harness's floor is included once, for the smallest workload.
pub fn cells(plan: &Plan, providers: &[String]) -> Vec<Cell> {
    let workloads = plan.workloads();
    let smallest = workloads.iter().min_by_key(|workload| workload.size()).copied();
    let mut threads = plan.threads.clone();
    let mut seen = HashSet::new();
    threads.retain(|threads| seen.insert(*threads));
    let mut cells = Vec::new();
    for provider in providers {
        let cell = |workload: Workload, threads: u8| Cell {
            provider: provider.clone(),
            workload,
            threads,
        };
        if provider == catalog::NULL {
            cells.extend(smallest.map(|workload| cell(workload, 1)));
            continue;
        }
        let its = |workload: &&Workload| catalog::is_for_workload(provider, workload);
        for workload in workloads.iter().filter(its) {
            cells.extend(threads.iter().map(|threads| cell(*workload, *threads)));
        }
    }
    cells
}
