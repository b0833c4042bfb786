//! Grades how suitable a machine was for measuring, during a run.

use crate::summary::{Noise, Summary};
use cpb_record::Evidence;
use serde::Serialize;

/// A grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No disturbances.
    Good,
    /// The figures are right, but less precise than they could be.
    Fair,
    /// So much was discarded that the rest may not show the machine's own speed.
    Poor,
    /// Times mean nothing on this machine.
    None,
}

/// A grade with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grade {
    /// The grade.
    pub level: Level,
    /// Disturbances, each with a remedy; for a good grade, the findings.
    pub reasons: Vec<String>,
}

/// Shares of batches whose core was shared or changed its clock. From the first share on, figures are less precise
/// than they could be; from the second on, much less.
const LOST: (f64, f64) = (0.2, 0.5);

/// A clock whose readings differ by more than this share distorts rates.
const STEADY: f64 = 0.1;

/// Grades the machine of a run.
pub fn of(summary: &Summary) -> Grade {
    let evidence = summary.run.evidence;
    if evidence != Evidence::Hardware {
        let reason = match evidence {
            Evidence::Emulated => "emulated CPU: answers and counts are valid, times are not",
            _ => "not measured on a machine",
        };
        return Grade { level: Level::None, reasons: vec![reason.to_owned()] };
    }
    let mut found: Vec<(Level, String)> = Vec::new();
    let mut fine: Vec<String> = Vec::new();
    match &summary.noise {
        None => found.push((Level::Poor, "no batch was undisturbed: stop other programs".into())),
        Some(noise) => judge(noise, &mut found, &mut fine),
    }
    match &summary.clock {
        None if summary.floor.as_ref().is_some_and(|floor| floor.cycles.is_some()) => {}
        None => {
            found.push((Level::Fair, "the core's clock is unknown, so there are no cycles".into()))
        }
        Some(clock) => {
            let (low, high) = (clock.range.low.0, clock.range.high.0);
            let words = format!("{:.2} to {:.2} GHz", low / 1e9, high / 1e9);
            match high / low - 1.0 > STEADY {
                true => found.push((
                    Level::Fair,
                    format!("the clock varies, {words}: compare cycles, or fix the frequency"),
                )),
                false => fine.push(format!("clock {words}")),
            }
        }
    }
    let level = found.iter().map(|(level, _)| *level).max().unwrap_or(Level::Good);
    let reasons = match found.is_empty() {
        true => fine,
        false => found.into_iter().map(|(_, words)| words).collect(),
    };
    Grade { level, reasons }
}

fn judge(noise: &Noise, found: &mut Vec<(Level, String)>, fine: &mut Vec<String>) {
    let share = |count: u64| count as f64 / noise.batches.max(1) as f64;
    let level = |share: f64| if share > LOST.1 { Level::Poor } else { Level::Fair };
    let (crowded, unsteady) = (share(noise.crowded), share(noise.unsteady));
    if crowded > LOST.0 {
        found.push((
            level(crowded),
            format!(
                "{:.0}% of batches shared their core with another thread and were discarded: measure when the \
                 machine is quieter, or for longer",
                crowded * 100.0
            ),
        ));
    }
    if unsteady > LOST.0 {
        found.push((
            level(unsteady),
            format!(
                "{:.0}% of batches were interrupted, or the clock changed in them: stop other programs, fix the \
                 frequency, or measure for longer",
                unsteady * 100.0
            ),
        ));
    }
    if found.is_empty() {
        fine.push(format!("{:.0}% of batches undisturbed", (1.0 - crowded - unsteady) * 100.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{noisy_rounds, record};
    use crate::summary::summarise;
    use cpb_record::Record;

    fn summary(crowded: u64) -> Summary {
        let mut summary = summarise(&record(std::iter::once(noisy_rounds(1, 12, 1000.0, 0.001))));
        if let Some(noise) = &mut summary.noise {
            noise.crowded = noise.batches * crowded / 100;
        }
        summary
    }

    #[test]
    fn a_shared_core_makes_a_machine_a_worse_place_to_measure() {
        assert_eq!(of(&summary(5)).level, Level::Good);
        assert_eq!(of(&summary(30)).level, Level::Fair);
        let poor = of(&summary(60));
        assert_eq!(poor.level, Level::Poor);
        assert!(poor.reasons[0].contains("60% of batches shared their core"), "{poor:?}");
        assert!(poor.reasons[0].contains("quieter"), "each reason has its remedy: {poor:?}");
    }

    #[test]
    fn an_emulated_cpu_is_no_place_to_measure() {
        let mut emulated: Record = record(std::iter::empty());
        emulated.header.evidence = Evidence::Emulated;
        assert_eq!(of(&summarise(&emulated)).level, Level::None);
    }
}
