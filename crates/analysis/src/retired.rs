//! Instructions that an operation retires, from counts of batches that were run for it.
//!
//! A count depends on the program and its input, not on the speed of the machine. So it is the one cost that an
//! emulated CPU can report: under QEMU's `-icount`, Arm's counters count exactly. The unit of repetition is the pass.
//! The clock's interrupts and, on a real machine, other programs add to the counts of the kernel and of the CPU, and
//! nothing takes from them, so the location of the passes is that of disturbed readings.

use crate::evidence_policy::{Metric, meaningful};
use crate::fit::{self, Sized};
use crate::location::Location;
use crate::uncertain::{Bounded, Uncertain};
use crate::units::{Instructions, InstructionsPerByte, Nanoseconds, Unit};
use cpb_core::message::Retired;
use cpb_record::{Evidence, Outcome, Record, Round};
use serde::Serialize;

/// Instructions of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RetiredPerOperation {
    /// Those of the measuring threads in user mode.
    pub user: Bounded<Instructions>,
    /// Those in the kernel while a measuring thread had the CPU.
    pub kernel: Option<Bounded<Instructions>>,
    /// The sum of both.
    pub task: Option<Bounded<Instructions>>,
    /// All of the threads' CPUs: also interrupts, the work after them, and switches to the idle task and back.
    pub cpu: Option<Bounded<Instructions>>,
}

/// Whose instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Those of the measuring threads in user mode.
    User,
    /// Those in the kernel while a measuring thread had the CPU.
    Kernel,
    /// The sum of both.
    Task,
    /// All of the threads' CPUs.
    Cpu,
}

impl Share {
    fn of(self, retired: &Retired) -> Option<u64> {
        match self {
            Share::User => Some(retired.user),
            Share::Kernel => retired.kernel,
            Share::Task => Some(retired.user.saturating_add(retired.kernel?)),
            Share::Cpu => retired.cpu,
        }
    }
}

/// What the operations of `rounds` retire. `None` if it was not counted, or means nothing.
pub fn of(rounds: &[Round], evidence: Evidence) -> Option<RetiredPerOperation> {
    meaningful(Metric::Instructions, evidence).ok()?;
    let bounded = |share| Some(per_operation(rounds, share)?.bounded());
    Some(RetiredPerOperation {
        user: bounded(Share::User)?,
        kernel: bounded(Share::Kernel),
        task: bounded(Share::Task),
        cpu: bounded(Share::Cpu),
    })
}

/// Instructions of an operation with their error by pass. `None` if a round has no such count.
pub fn per_operation(rounds: &[Round], share: Share) -> Option<Uncertain> {
    let mut rounds: Vec<&Round> = rounds.iter().collect();
    rounds.sort_by_key(|round| round.pass);
    let mut passes: Vec<(u32, f64)> = Vec::new();
    for rounds in rounds.chunk_by(|a, b| a.pass == b.pass) {
        let (mut operations, mut sum) = (0_u64, 0_u64);
        for round in rounds {
            let retired = round.counters.retired.as_ref()?;
            // A foreign record may have any numbers.
            operations = operations.saturating_add(retired.operations);
            sum = sum.saturating_add(share.of(retired)?);
        }
        if operations == 0 {
            return None;
        }
        passes.push((rounds[0].pass, sum as f64 / operations as f64));
    }
    let numbers = passes.iter().map(|(number, _)| *number);
    if passes.iter().all(|(_, value)| *value == 0.0) {
        return (!passes.is_empty()).then(|| Uncertain::single(0.0));
    }
    // A pass of a kernel that did nothing for the operations has no logarithm.
    let logs: Vec<f64> = passes.iter().map(|(_, value)| value.max(LEAST).ln()).collect();
    Some(Uncertain::of_passes(&Location::of(&logs)?, numbers, 0.0))
}

/// The widest share that all counts of some records have: what the whole CPU retires depends least on chance, because
/// work that an interrupt does for a thread is in it whether the thread runs meanwhile or waits.
pub fn widest<'a>(records: impl IntoIterator<Item = &'a Record>) -> Share {
    let mut share = Share::Cpu;
    for (_, outcome) in records.into_iter().flat_map(|record| &record.cells) {
        let Outcome::Measured(rounds) = outcome else { continue };
        for retired in rounds.iter().filter_map(|round| round.counters.retired.as_ref()) {
            if share == Share::Cpu && retired.cpu.is_none() {
                share = Share::Task;
            }
            if share == Share::Task && retired.kernel.is_none() {
                share = Share::User;
            }
        }
    }
    share
}

/// Standard deviation between runs of a thread that does not wait, as a share: a batch of some milliseconds meets one
/// interrupt of the clock more or less, of some thousand instructions.
const SCATTER: f64 = 0.003;

/// The same for a thread that waits for an engine beside its emulator, whose interrupts depend on the host: between two
/// runs, counts of the whole CPU on a CAAM differed by 0.1, 0.3 and 2.9 % at three sizes.
const WAITING_SCATTER: f64 = 0.015;

/// Degrees of freedom of both, which are judged from few runs.
pub(crate) const FREEDOM: usize = 9;

/// A thread that gives its CPU away this often in an operation waits for something.
const WAITS: f64 = 0.1;

/// The standard deviation between runs that the passes of `rounds` do not show, as a share.
pub(crate) fn scatter(rounds: &[Round]) -> f64 {
    let counters = || rounds.iter().map(|round| &round.counters);
    let switches: f64 = counters().map(|counters| f64::from(counters.voluntary)).sum();
    let operations: f64 = counters().map(|counters| counters.operations as f64).sum();
    match switches > WAITS * operations {
        true => WAITING_SCATTER,
        false => SCATTER,
    }
}

/// Stands for no instruction where a logarithm is needed.
const LEAST: f64 = 0.001;

/// Instructions at any size: a fixed number, and a number for each byte.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetiredLine {
    /// Those that do not depend on the size.
    #[serde(rename = "fixed_instructions")]
    pub fixed: Bounded<Instructions>,
    /// Those for each byte.
    #[serde(rename = "instructions_per_byte")]
    pub per_byte: Bounded<InstructionsPerByte>,
}

/// The line through counts by size; with several lines, the first one's fixed number and the last one's number for
/// each byte. `None` with too few sizes, or if the counts are on no line.
pub fn line(counts: &[Sized]) -> Option<RetiredLine> {
    let fit = fit::of(counts, &[]).ok()?;
    let (first, last) = (fit.lines.first()?, fit.lines.last()?);
    Some(RetiredLine { fixed: retyped(&first.fixed), per_byte: retyped(&last.per_byte) })
}

/// Lines are fitted to costs of any unit, and named for the usual one.
fn retyped<U: Unit>(bounded: &Bounded<Nanoseconds>) -> Bounded<U> {
    let of = |value: Nanoseconds| U::of(value.0);
    let interval = bounded
        .interval
        .map(|interval| crate::units::Interval { low: of(interval.low), high: of(interval.high) });
    Bounded { value: of(bounded.value), interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::noisy_rounds;

    fn counted(counts: &[(u64, u64, u64, u64)]) -> Vec<Round> {
        let mut rounds = noisy_rounds(7, counts.len() as u32, 1000.0, 0.01);
        for (round, (operations, user, kernel, cpu)) in rounds.iter_mut().zip(counts) {
            let (kernel, cpu) = (Some(*kernel), Some(*cpu));
            round.counters.retired =
                Some(Retired { operations: *operations, user: *user, kernel, cpu });
        }
        rounds
    }

    #[test]
    fn planted_counts_are_found_whatever_the_number_of_operations() {
        let rounds = counted(&[
            (10, 820, 166_910, 256_170),
            (20, 1640, 333_820, 512_340),
            (30, 2460, 500_730, 768_510),
            (10, 820, 166_910, 256_170),
        ]);
        let found = of(&rounds, Evidence::Emulated).expect("counts");
        let near = |bounded: Option<Bounded<Instructions>>, truth: f64| {
            (bounded.expect("a count").value.0 / truth - 1.0).abs() < 1e-9
        };
        assert!(near(Some(found.user), 82.0) && near(found.kernel, 16_691.0), "{found:?}");
        assert!(near(found.task, 16_773.0) && near(found.cpu, 25_617.0), "{found:?}");
        assert!(found.user.interval.is_some());
    }

    #[test]
    fn a_disturbed_pass_does_not_move_the_count() {
        let mut counts = vec![(10, 820, 166_910, 256_170); 12];
        counts[3] = (10, 820, 186_910, 456_170);
        let found = of(&counted(&counts), Evidence::Emulated).expect("counts");
        assert!((found.cpu.expect("a count").value.0 - 25_617.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn nothing_in_the_kernel_is_a_count_and_a_round_without_one_is_none() {
        let mut rounds = counted(&[(10, 820, 0, 820); 4]);
        let found = of(&rounds, Evidence::Hardware).expect("counts");
        assert_eq!(found.kernel.map(|kernel| kernel.value), Some(Instructions(0.0)));
        rounds[2].counters.retired = None;
        assert_eq!(of(&rounds, Evidence::Hardware), None);
        assert_eq!(of(&[], Evidence::Hardware), None);
    }

    #[test]
    fn a_planted_line_is_found() {
        let at = |bytes: u32| Sized {
            bytes: bytes.into(),
            cost: Uncertain::planted(&[1, 2, 3].map(|n| (n, 9000.0 + 52.0 * f64::from(bytes)))),
        };
        let line = line(&[16, 1024, 16384].map(at)).expect("a line");
        assert!((line.fixed.value.0 - 9000.0).abs() < 1.0, "{line:?}");
        assert!((line.per_byte.value.0 - 52.0).abs() < 0.01, "{line:?}");
    }
}
