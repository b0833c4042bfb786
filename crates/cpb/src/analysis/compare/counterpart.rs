//! Which task of one record is that of another: trivial among records of cpb's own, and a matter of
//! reading where one is a published table or another tool's log.

use crate::analysis::paths::{Subject, Task, Tasks};
use crate::record::Record;
use cpb_core::CryptoWorkload;
use std::collections::BTreeSet;

/// Whether two subjects are the same task. What a table does not tell fits whatever the other says;
/// the distinctions that are cpb's own must be the plain case beside it.
pub(super) fn same(one: &Subject, other: &Subject) -> bool {
    if let (Subject::Measured(one), Subject::Measured(other)) = (one, other) {
        return one == other;
    }
    let fits = |one: Option<&str>, other: Option<&str>| {
        one.zip(other).is_none_or(|(one, other)| one == other)
    };
    [one, other].into_iter().all(is_plain)
        && one.algorithm() == other.algorithm()
        && fits(one.operation(), other.operation())
        && fits(one.phase(), other.phase())
}

fn is_plain(subject: &Subject) -> bool {
    let Subject::Measured(workload) = subject else { return true };
    let plain = CryptoWorkload::new(workload.algorithm, workload.operation, workload.message);
    *workload == CryptoWorkload { phase: workload.phase, ..plain }
}

/// Which tasks of a record are of the machine of `other`. Of tables of several machines it is the one
/// that has the other's board, or its machine, in its name; all of them, if none has.
pub(super) fn on_the_machine_of(tasks: &Tasks, other: &Record) -> impl Fn(&Task) -> bool {
    let machines: BTreeSet<&str> = tasks.all.iter().map(|task| task.machine.as_str()).collect();
    let board = &other.header.machine.board;
    let published = other.published.iter().map(|cell| cell.machine.as_str());
    let wanted: Vec<String> = published
        .chain((!board.is_empty()).then_some(board.as_str()))
        .map(str::to_lowercase)
        .collect();
    let is_wanted = |machine: &&str| {
        let machine = machine.to_lowercase();
        wanted.iter().any(|wanted| machine.contains(wanted) || wanted.contains(&machine))
    };
    let chosen: Vec<String> = machines.into_iter().filter(is_wanted).map(str::to_owned).collect();
    move |task| chosen.is_empty() || chosen.contains(&task.machine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::{Algorithm, Operation, Phase, Placement};

    fn told(algorithm: &str, operation: Option<&str>, phase: Option<&str>) -> Subject {
        let owned = |word: &str| word.to_owned();
        Subject::Published {
            algorithm: algorithm.into(),
            operation: operation.map(owned),
            phase: phase.map(owned),
        }
    }

    #[test]
    fn a_table_need_not_tell_everything_and_must_not_contradict() {
        let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 0);
        let measured = Subject::Measured(workload);
        let fitting = [(None, None), (Some("encrypt"), None), (None, Some("message"))];
        for (operation, phase) in fitting {
            assert!(same(&told("aes-128-cbc", operation, phase), &measured));
            assert!(same(&measured, &told("aes-128-cbc", operation, phase)));
        }
        assert!(!same(&told("aes-256-cbc", None, None), &measured));
        assert!(!same(&told("aes-128-cbc", Some("decrypt"), None), &measured));
        assert!(!same(&told("aes-128-cbc", None, Some("update")), &measured));
        let odd = CryptoWorkload { placement: Placement::InPlace, ..workload };
        assert!(!same(&told("aes-128-cbc", None, None), &Subject::Measured(odd)));
        let update = Subject::Measured(CryptoWorkload { phase: Phase::Update, ..workload });
        assert!(same(&told("aes-128-cbc", None, Some("update")), &update));
        assert!(!same(&update, &measured));
        assert!(same(&told("des-cbc", None, None), &told("des-cbc", Some("encrypt"), None)));
    }
}
