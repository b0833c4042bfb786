//! The checks before measuring: known answers, and which provider supports what.

use super::{Run, failed, refused, unreached};
use crate::transport::RunnerSpec;
use crate::transport::conversation::Conversation;
use crate::vectors::Vectors;
use anyhow::Result;
use cpb_core::catalog;
use cpb_core::check::Finding;
use cpb_core::measure::Budget;
use cpb_core::memory_read::BLOCK;
use cpb_core::sums;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, MemoryReadWorkload, Operation, Unsupported, Workload,
};
use cpb_record::{Cell, Check, Checked, Line, NotMeasuredReason, Round};
use std::collections::HashMap;
use std::time::Duration;

impl Run<'_> {
    /// Tries the known answers that the plan's cells need and drops the cells of providers that gave a wrong
    /// one. Then asks which workloads each provider supports. Returns the cells that can be measured.
    /// `before` are the rounds of earlier segments; their workloads were supported.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn check(
        &mut self,
        vectors: &Vectors,
        cells: Vec<Cell>,
        before: &HashMap<Cell, Vec<Round>>,
    ) -> Result<Vec<Cell>> {
        let mut good = Vec::new();
        for source in self.runners.clone() {
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
            let mut tried: HashMap<Checked, Option<NotMeasuredReason>> = HashMap::new();
            for cell in of_its_algorithms(mine, &source, &mut runner) {
                if let Some(why) = source.launch.lost() {
                    self.without(&cell, unreached(&why))?;
                    continue;
                }
                let Some(what) = Checked::of(&cell.workload) else { continue };
                self.watch.progress(
                    0.0,
                    Duration::ZERO,
                    &format!("checking {} {what}", source.name),
                );
                if let std::collections::hash_map::Entry::Vacant(place) = tried.entry(what) {
                    let (check, reason) = match &mut runner {
                        _ if !catalog::computes(&source.name) => (None, None),
                        Some(process) => known_answers(process, &source, vectors, what),
                        None => (None, Some(not_again())),
                    };
                    let lost = matches!(&reason, Some(NotMeasuredReason::Failed { error, .. })
                        if *error != Error::WrongAnswer);
                    if self.stopped() {
                        // A runner that was killed because the user stopped the run has not failed.
                        break;
                    }
                    // A lost machine says nothing about the provider either.
                    let cut_off = lost && source.launch.lost().is_some();
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
                            Ok(answer) => answer.map_err(NotMeasuredReason::Unsupported),
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
                    Err(NotMeasuredReason::Unsupported(reason)) => {
                        let rounds = before.get(&cell).map_or(0, Vec::len);
                        self.without(&cell, refused(Error::Unsupported(reason), rounds))?;
                    }
                    Err(reason) => self.without(&cell, reason)?,
                }
            }
        }
        Ok(good)
    }
}

/// The cells to check. An executor of an interface serves only some algorithms, and the others are not
/// missing. An executor that the user selected, however, must report that it does not serve the selected
/// algorithms.
fn of_its_algorithms(
    cells: Vec<Cell>,
    source: &RunnerSpec,
    runner: &mut Option<Conversation>,
) -> Vec<Cell> {
    let executor = catalog::find(&source.name).is_some_and(|name| !name.variant.is_empty());
    let Some(process) = runner.as_mut().filter(|_| executor) else { return cells };
    let mut not_its = |cell: &Cell| {
        let answer = process.supports(source.provider, &cell.workload);
        matches!(answer, Ok(Err(Unsupported::Algorithm)))
    };
    let (others, its): (Vec<Cell>, Vec<Cell>) = cells.into_iter().partition(|cell| not_its(cell));
    if its.is_empty() && !source.found { others } else { its }
}

fn not_again() -> NotMeasuredReason {
    let detail = "the runner could not be started again".to_owned();
    NotMeasuredReason::Failed { error: Error::Crashed, detail }
}

/// Tries every known answer of some workloads. The second part of the result is the reason why their cells
/// cannot be measured, if there is one.
pub fn known_answers(
    runner: &mut Conversation,
    source: &RunnerSpec,
    vectors: &Vectors,
    what: Checked,
) -> (Option<Check>, Option<NotMeasuredReason>) {
    let check = Check {
        provider: source.name.clone(),
        what,
        right: 0,
        distinct: 0,
        round_trips: 0,
        unsupported: 0,
        wrong: None,
    };
    match what {
        Checked::Crypto { algorithm, operation } => {
            published_answers(runner, source, vectors, (algorithm, operation), check)
        }
        Checked::MemoryRead { workload } => known_sums(runner, source, workload, check),
    }
}

/// Working sets whose sum is checked: the smallest one, whole pages, and one that is not whole pages.
const SUMMED: [u32; 4] = [BLOCK, 4096, 4096 + BLOCK, 65536];

/// The budget of a round with one operation, which yields no figure.
const ONCE: Budget<Duration> = Budget {
    warmup: Duration::ZERO,
    batch: Duration::ZERO,
    limit: Duration::ZERO,
    batches: 1,
    latencies: 0,
    iterations: 1,
    counted: Duration::ZERO,
};

/// Reads some working sets and compares the runner's answer with the sum computed here.
fn known_sums(
    runner: &mut Conversation,
    source: &RunnerSpec,
    workload: MemoryReadWorkload,
    mut check: Check,
) -> (Option<Check>, Option<NotMeasuredReason>) {
    let mut why_not = None;
    for bytes in SUMMED {
        let read = MemoryReadWorkload { bytes, ..workload };
        let wrong = |mut check: Check, error: Error, detail: String| {
            check.wrong = Some(format!("{read}: {error}"));
            (Some(check), Some(NotMeasuredReason::Failed { error, detail }))
        };
        match runner.round(source.provider, &Workload::MemoryRead(read), &ONCE, 1) {
            Ok(Ok(seen)) if seen.round.output == sums::truth(&read) => check.right += 1,
            Ok(Ok(_)) => return wrong(check, Error::WrongAnswer, read.to_string()),
            Ok(Err(Error::Unsupported(reason))) => {
                check.unsupported += 1;
                why_not = Some(NotMeasuredReason::Unsupported(reason));
            }
            Ok(Err(error)) => return wrong(check, error, read.to_string()),
            Err(lost) => {
                let detail = format!("at {read}: {}", lost.detail);
                return wrong(check, lost.error, detail);
            }
        }
    }
    let reason = if check.right == 0 { why_not } else { None };
    (Some(check), reason)
}

/// Tries the published answers of one algorithm and operation.
fn published_answers(
    runner: &mut Conversation,
    source: &RunnerSpec,
    vectors: &Vectors,
    (algorithm, operation): (Algorithm, Operation),
    mut check: Check,
) -> (Option<Check>, Option<NotMeasuredReason>) {
    // A provider that does not support the algorithm need not report this for each case.
    let usual = algorithm.shape().block.max(algorithm.shortest());
    let length = algorithm.fixed_message(operation).unwrap_or(usual);
    let plain = CryptoWorkload::new(algorithm, operation, length as u32);
    let supported = runner.supports(source.provider, &plain.into());
    if let Ok(Err(reason @ (Unsupported::Algorithm | Unsupported::BuildOption))) = supported {
        check.unsupported = vectors.cases(algorithm, operation).len() as u32;
        return (Some(check), Some(NotMeasuredReason::Unsupported(reason)));
    }
    let mut why_not = None;
    for (id, case) in vectors.cases(algorithm, operation) {
        match runner.check(source.provider, &case) {
            Ok(Finding::Right(_)) => check.right += 1,
            Ok(Finding::Distinct(_)) => check.distinct += 1,
            Ok(Finding::RoundTrip(_)) => check.round_trips += 1,
            Ok(Finding::Unsupported(reason)) => {
                check.unsupported += 1;
                why_not = Some(NotMeasuredReason::Unsupported(reason));
            }
            Ok(Finding::Wrong { phase, placement, error }) => {
                let detail = format!("{id} ({phase}, {placement})");
                check.wrong =
                    Some(format!("{detail}: {}", catalog::error_words(&source.name, error)));
                return (Some(check), Some(NotMeasuredReason::Failed { error, detail }));
            }
            Err(lost) => {
                let detail = format!("at the known answer {id}: {}", lost.detail);
                check.wrong = Some(format!("{id}: {lost}"));
                return (
                    Some(check),
                    Some(NotMeasuredReason::Failed { error: lost.error, detail }),
                );
            }
        }
    }
    let shown = check.right + check.distinct + check.round_trips;
    let reason = if shown == 0 { why_not } else { None };
    (Some(check), reason)
}
