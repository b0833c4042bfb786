//! What to measure next, so that crossovers are known more closely.
//!
//! Between two measured sizes a crossover is a guess that costs run straight there. So the sizes on
//! either side of it are brought near to it first; what its interval is wide for after that is noise,
//! which more passes at those two sizes make less.

use crate::analysis::advice::Compared;
use crate::analysis::crossover::{Contest, Crossing};
use crate::analysis::explain::{Explained, explain};
use crate::analysis::paths::Subject;
use crate::record::{Cell, Outcome, Record};
use cpb_core::CryptoWorkload;
use std::collections::HashSet;

/// A crossover is known closely if its 95 % interval is narrower than this share of it.
const NARROW: f64 = 0.05;

/// Measured sizes on either side of a crossover are near it if they are at most so many times as far
/// apart. New ones are put a tenth below and a tenth above it.
const NEAR: f64 = 1.25;
const STEP: f64 = 0.1;

/// The cells to measure next; none if each crossover is known closely.
///
/// Crossovers at which the advice changes come first: others are of paths that nobody should take.
pub fn wanted(record: &Record) -> Vec<Cell> {
    let explanation = explain([record], None);
    let lost: HashSet<&Cell> = record
        .cells
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Without(_)))
        .map(|(cell, _)| cell)
        .collect();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for task in &explanation.tasks {
        let (Subject::Measured(workload), Ok(pairs)) = (&task.subject, &task.pairs) else {
            continue;
        };
        for compared in pairs {
            let Contest::Crosses(crossings) = &compared.contest else { continue };
            for crossing in crossings {
                let sizes = next(crossing, &compared.sizes, task.subject.block());
                let list =
                    if is_advised(task, compared, crossing) { &mut first } else { &mut later };
                for size in sizes {
                    let cells = cells(*workload, size, task.threads, compared);
                    // What one path cannot do tells nothing of both.
                    let can = |cell: &Cell| cell.workload.valid().is_ok() && !lost.contains(cell);
                    if cells.iter().all(can) {
                        list.extend(cells);
                    }
                }
            }
        }
    }
    let mut wanted = if first.is_empty() { later } else { first };
    let mut seen = HashSet::new();
    wanted.retain(|cell| seen.insert(cell.clone()));
    wanted
}

/// Both paths at a size: a ratio is of neighbours.
fn cells(workload: CryptoWorkload, message: u32, threads: u8, compared: &Compared) -> [Cell; 2] {
    let cell = move |provider: &String| Cell {
        provider: provider.clone(),
        workload: CryptoWorkload { message, ..workload },
        threads,
    };
    [&compared.first, &compared.second].map(cell)
}

fn is_advised(task: &Explained, compared: &Compared, crossing: &Crossing) -> bool {
    let (below, above) = (compared.name(crossing.below), compared.name(crossing.below.other()));
    task.advice.windows(2).any(|pair| {
        let takes = |place: usize, name: &str| pair[place].take.iter().any(|path| path == name);
        takes(0, below) && takes(1, above)
    })
}

/// The sizes to measure for a crossing between `sizes`; none if it is known closely.
fn next(crossing: &Crossing, sizes: &[f64], block: usize) -> Vec<u32> {
    let Some(bytes) = crossing.bytes else { return Vec::new() };
    let block = block as f64;
    let below = sizes.iter().copied().filter(|size| *size <= bytes).reduce(f64::max);
    let above = sizes.iter().copied().filter(|size| *size > bytes).reduce(f64::min);
    let (Some(below), Some(above)) = (below, above) else { return Vec::new() };
    let mut new: Vec<f64> = [1.0 - STEP, 1.0 + STEP]
        .map(|factor| (bytes * factor / block).round() * block)
        .into_iter()
        .filter(|size| *size > below && *size < above)
        .collect();
    new.dedup();
    if above > NEAR * below && !new.is_empty() {
        return new.into_iter().map(|size| size as u32).collect();
    }
    let width = crossing.low.zip(crossing.high).map(|(low, high)| high - low);
    if width.is_some_and(|width| width <= (NARROW * bytes).max(block)) {
        return Vec::new();
    }
    vec![below as u32, above as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::crossover::Side;
    use crate::analysis::fixtures::{noisy_rounds, record};
    use crate::record::{Reason, Round};
    use cpb_core::{Algorithm, Operation, Unsupported};

    const PLANNED: [u32; 4] = [16, 256, 4096, 16384];

    fn cell(name: &str, size: u32) -> Cell {
        let workload = CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, size);
        Cell { provider: name.into(), workload, threads: 1 }
    }

    /// An engine that is faster from 1500 bytes on, but whose driver takes a slower way above 2 KiB.
    fn cost(cell: &Cell) -> f64 {
        let bytes = f64::from(cell.workload.message);
        match cell.provider.as_str() {
            "openssl" => 100.0 + 20.0 * bytes,
            _ if bytes < 2048.0 => 28_600.0 + bytes,
            _ => 28_600.0 + 2.0 * bytes,
        }
    }

    fn measure(record: &mut Record, cells: Vec<Cell>, first: u32, noise: f64) {
        for cell in cells {
            let mut rounds: Vec<Round> =
                noisy_rounds(u64::from(first + cell.workload.message), 8, cost(&cell), noise);
            for round in &mut rounds {
                round.pass += first;
                round.cell = cell.clone();
            }
            match record.cells.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, Outcome::Measured(known))) => known.extend(rounds),
                _ => record.cells.push((cell, Outcome::Measured(rounds))),
            }
        }
    }

    fn planned() -> Vec<Cell> {
        let both = |size| ["openssl", "mbedtls:c"].map(|name| cell(name, size));
        PLANNED.into_iter().flat_map(both).collect()
    }

    #[test]
    fn a_crossover_is_closed_in_on_and_then_left_alone() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        let mut steps = Vec::new();
        loop {
            let wanted = wanted(&record);
            if wanted.is_empty() {
                break;
            }
            assert!(wanted.iter().all(|cell| cell.workload.message % 16 == 0));
            steps.push(wanted.iter().map(|cell| cell.workload.message).max().unwrap());
            assert!(steps.len() < 6, "{steps:?}");
            measure(&mut record, wanted, 100 * steps.len() as u32, 0.001);
        }
        assert!(!steps.is_empty());
        let explanation = explain([&record], None);
        let Ok(pairs) = &explanation.tasks[0].pairs else { panic!("compared") };
        let Contest::Crosses(found) = &pairs[0].contest else { panic!("{:?}", pairs[0].contest) };
        let bytes = found[0].bytes.unwrap();
        assert!((bytes / 1500.0 - 1.0).abs() < 0.01, "{bytes} after {steps:?}");
    }

    #[test]
    fn noise_asks_for_more_passes_at_the_same_sizes() {
        let crossing = |low, high| Crossing {
            bytes: Some(1500.0),
            low: Some(low),
            high: Some(high),
            below: Side::First,
        };
        let sizes = [16.0, 1360.0, 1648.0, 16384.0];
        assert_eq!(next(&crossing(1400.0, 1600.0), &sizes, 16), [1360, 1648]);
        assert_eq!(next(&crossing(1480.0, 1520.0), &sizes, 16), [0u32; 0]);
        assert_eq!(next(&crossing(1480.0, 1520.0), &[16.0, 16384.0], 16), [1344, 1648]);
        let open = Crossing { high: None, ..crossing(1480.0, 0.0) };
        assert_eq!(next(&open, &sizes, 16), [1360, 1648]);
        // Neighbouring blocks have nothing between them.
        let small = Crossing { bytes: Some(20.0), ..crossing(17.0, 30.0) };
        assert_eq!(next(&small, &[16.0, 32.0], 16), [0u32; 0]);
    }

    #[test]
    fn a_size_that_a_path_cannot_do_is_not_asked_for_again() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        let first = wanted(&record);
        assert!(!first.is_empty());
        let why = Outcome::Without(Reason::Unsupported(Unsupported::Length));
        record.cells.extend(first.iter().map(|cell| (cell.clone(), why.clone())));
        assert!(!wanted(&record).iter().any(|cell| first.contains(cell)));
    }

    #[test]
    fn nothing_is_asked_for_where_a_crossover_means_nothing() {
        let mut record = record(std::iter::empty());
        measure(&mut record, planned(), 0, 0.001);
        record.header.evidence = crate::record::Evidence::Emulated;
        assert_eq!(wanted(&record), []);
    }
}
