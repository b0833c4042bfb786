//! Checks whether providers that were given the same messages computed the same output.
//!
//! Known answers catch a provider that is wrong about short messages. The checksums of the outputs of timed rounds
//! catch the rest, above all long messages: they must be the same for all providers.

use crate::missing::NoFigure;
use cpb_core::catalog;
use cpb_core::{Operation, Workload};
use cpb_record::{Cell, Outcome, Record, Round};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Cells whose outputs are not to be trusted, with the reason.
pub fn disagreements(record: &Record) -> HashMap<Cell, NoFigure> {
    let mut workloads: HashMap<Workload, Vec<(&Cell, &[Round])>> = HashMap::new();
    for (cell, outcome) in &record.cells {
        if let Outcome::Measured(rounds) = outcome
            && catalog::computes(&cell.provider)
            && is_a_function(&cell.workload)
        {
            workloads.entry(cell.workload).or_default().push((cell, rounds));
        }
    }
    workloads.values().flat_map(|cells| of_one_workload(cells)).collect()
}

/// Whether the operation's output depends on its input only.
fn is_a_function(workload: &Workload) -> bool {
    !workload.crypto().is_some_and(|workload| {
        matches!(
            workload.operation,
            Operation::Random | Operation::GenerateKey | Operation::Encapsulate | Operation::Sign
        )
    })
}

fn of_one_workload(cells: &[(&Cell, &[Round])]) -> Vec<(Cell, NoFigure)> {
    // A provider has one vote, however many cells it has. A provider that contradicts itself has several.
    let mut votes: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for (cell, rounds) in cells {
        for round in *rounds {
            votes.entry(&round.output).or_default().insert(&cell.provider);
        }
    }
    if votes.len() < 2 {
        return Vec::new();
    }
    let providers: HashSet<&str> = votes.values().flatten().copied().collect();
    let majority = votes
        .iter()
        .find(|(_, voters)| voters.len() * 2 > providers.len())
        .map(|(output, _)| *output);
    let suspect = |rounds: &[Round]| match majority {
        Some(output) => rounds.iter().any(|round| round.output != output),
        None => true,
    };
    let words = match majority {
        Some(_) => "its outputs differ from those of most providers",
        None => "providers disagree on the outputs, and no majority shows which are right",
    };
    let suspects = cells.iter().filter(|(_, rounds)| !rounds.is_empty() && suspect(rounds));
    suspects.map(|(cell, _)| ((*cell).clone(), NoFigure::WrongAnswer(words.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{record, round};

    fn suspects(outputs: &[(&str, &[&str])]) -> Vec<String> {
        let cells = outputs.iter().map(|(provider, outputs)| {
            let rounds = outputs.iter().zip(0..).map(|(output, pass)| {
                let mut round = round(pass, 1, vec![Vec::new()]);
                round.cell.provider = (*provider).into();
                Round { output: (*output).into(), ..round }
            });
            rounds.collect()
        });
        let mut suspects: Vec<String> =
            disagreements(&record(cells)).into_keys().map(|cell| cell.provider).collect();
        suspects.sort();
        suspects
    }

    #[test]
    fn the_minority_is_suspect_and_the_null_provider_has_no_vote() {
        let all =
            |a: &'static [&str]| [("a", a), ("b", &["1"][..]), ("c", &["1"]), ("null", &["0"])];
        assert!(suspects(&all(&["1", "1"])).is_empty());
        assert_eq!(suspects(&all(&["2", "2"])), ["a"]);
        assert_eq!(suspects(&all(&["1", "2"])), ["a"], "it contradicts itself");
    }

    #[test]
    fn two_that_disagree_are_both_suspect() {
        assert_eq!(suspects(&[("a", &["1"]), ("b", &["2"]), ("null", &["1"])]), ["a", "b"]);
    }
}
