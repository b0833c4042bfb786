//! Finds the counterparts of tasks and machines in two records. Between two records of cpb this is trivial. If one is
//! a published table or another tool's log, names have to be interpreted.

use crate::paths::{Subject, Task, Tasks};
use cpb_core::{CryptoWorkload, Workload};
use cpb_record::Record;
use std::collections::BTreeSet;

/// Whether two subjects are the same task. A detail that a table does not state matches anything. Where only cpb
/// makes a distinction, its subject must have the default.
pub(super) fn same(one: &Subject, other: &Subject) -> bool {
    if let (Subject::Measured(one), Subject::Measured(other)) = (one, other) {
        return one == other;
    }
    let fits = |one: Option<&str>, other: Option<&str>| {
        one.zip(other).is_none_or(|(one, other)| one == other)
    };
    // The sum of several processes is compared with no other number of them.
    let processes = |subject: &Subject| {
        subject
            .operation()
            .and_then(|words| words.split_once("sum of "))
            .map(|(_, sum)| sum.to_owned())
    };
    [one, other].into_iter().all(is_plain)
        && processes(one) == processes(other)
        && one.algorithm() == other.algorithm()
        && fits(one.operation(), other.operation())
        && fits(one.phase(), other.phase())
}

fn is_plain(subject: &Subject) -> bool {
    let Subject::Measured(workload) = subject else { return true };
    // Tables contain only cryptography.
    let Workload::Crypto(workload) = workload else { return false };
    let plain = CryptoWorkload::new(workload.algorithm, workload.operation, workload.message);
    *workload == CryptoWorkload { phase: workload.phase, ..plain }
}

/// The machine that a task of `record` was measured on, by a name that other records may use. A board is named after
/// itself, not after the machine that it is connected to.
pub(super) fn machine<'a>(record: &'a Record, task: &'a Task) -> &'a str {
    let board = &record.header.machine.board;
    match &task.subject {
        Subject::Measured(_) if !board.is_empty() => board,
        _ => &task.machine,
    }
}

/// All machines of `record`, given its tasks.
pub(super) fn machines<'a>(record: &'a Record, tasks: &'a Tasks) -> BTreeSet<&'a str> {
    tasks.all.iter().map(|task| machine(record, task)).collect()
}

/// The pairs of machines of two records that are the same machine.
pub(super) struct Machines<'a> {
    /// Machines of the first and the second record.
    pairs: BTreeSet<(&'a str, &'a str)>,
    /// The machines of each record without a counterpart.
    alone: [Vec<&'a str>; 2],
}

impl<'a> Machines<'a> {
    /// Machines with equal names are the same. Of the rest, two are the same if one name contains the other. If each
    /// record has only one machine, the two are taken to be the same.
    pub(super) fn of([firsts, seconds]: [BTreeSet<&'a str>; 2]) -> Machines<'a> {
        let mut pairs: BTreeSet<(&str, &str)> =
            firsts.intersection(&seconds).map(|name| (*name, *name)).collect();
        let lower = |name: &&'a str| (*name, name.to_lowercase());
        let others: Vec<_> = seconds.difference(&firsts).map(lower).collect();
        for (name, lower_name) in firsts.difference(&seconds).map(lower) {
            let alike = |(_, other): &&(&str, String)| {
                contains(&lower_name, other) || contains(other, &lower_name)
            };
            pairs.extend(others.iter().filter(alike).map(|(other, _)| (name, *other)));
        }
        if let (true, Some(first), Some(second)) =
            (firsts.len() == 1 && seconds.len() == 1, firsts.first(), seconds.first())
        {
            pairs.insert((first, second));
        }
        let known: [BTreeSet<&str>; 2] = [
            pairs.iter().map(|(first, _)| *first).collect(),
            pairs.iter().map(|(_, second)| *second).collect(),
        ];
        let alone = [firsts.difference(&known[0]), seconds.difference(&known[1])]
            .map(|names| names.copied().collect());
        Machines { pairs, alone }
    }

    /// Whether these two machines of the first and the second record are the same.
    pub(super) fn are(&self, first: &str, second: &str) -> bool {
        self.pairs.contains(&(first, second))
    }

    /// The machines without a counterpart, of the first and of the second record.
    pub(super) fn alone(&self) -> &[Vec<&'a str>; 2] {
        &self.alone
    }

    /// The name of a pair of machines; `None` if there is no other pair.
    pub(super) fn name(&self, first: &str, second: &str) -> Option<String> {
        match self.pairs.len() {
            0 | 1 => None,
            _ if first == second => Some(first.to_owned()),
            _ => Some(format!("{second} / {first}")),
        }
    }
}

/// Whether a name contains another one without splitting a number: cpu10 does not contain cpu1.
fn contains(long: &str, short: &str) -> bool {
    let digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let (first, last) = (short.chars().next(), short.chars().next_back());
    first.is_some()
        && long.match_indices(short).any(|(start, _)| {
            let before = long[..start].chars().next_back();
            let after = long[start + short.len()..].chars().next();
            !(digit(before) && digit(first) || digit(last) && digit(after))
        })
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
            has_sizes: true,
        }
    }

    #[test]
    fn a_table_need_not_tell_everything_and_must_not_contradict() {
        let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 0);
        let measured = Subject::Measured(workload.into());
        let fitting = [(None, None), (Some("encrypt"), None), (None, Some("message"))];
        for (operation, phase) in fitting {
            assert!(same(&told("aes-128-cbc", operation, phase), &measured));
            assert!(same(&measured, &told("aes-128-cbc", operation, phase)));
        }
        assert!(!same(&told("aes-256-cbc", None, None), &measured));
        assert!(!same(&told("aes-128-cbc", Some("decrypt"), None), &measured));
        assert!(!same(&told("aes-128-cbc", None, Some("update")), &measured));
        let odd = CryptoWorkload { placement: Placement::InPlace, ..workload };
        assert!(!same(&told("aes-128-cbc", None, None), &Subject::Measured(odd.into())));
        let update = Subject::Measured(CryptoWorkload { phase: Phase::Update, ..workload }.into());
        assert!(same(&told("aes-128-cbc", None, Some("update")), &update));
        assert!(!same(&update, &measured));
        assert!(same(&told("des-cbc", None, None), &told("des-cbc", Some("encrypt"), None)));
    }

    fn pairs(firsts: &[&str], seconds: &[&str]) -> String {
        let machines = Machines::of([firsts, seconds].map(|names| names.iter().copied().collect()));
        let pairs: Vec<String> =
            machines.pairs.iter().map(|(first, second)| format!("{first} = {second}")).collect();
        format!("{}; alone: {:?} {:?}", pairs.join(", "), machines.alone[0], machines.alone[1])
    }

    #[test]
    fn machines_are_told_by_their_names_and_only_single_ones_without() {
        let boards = ["MIMXRT1060-EVK", "MIMXRT1170-EVK"];
        let found = [
            pairs(&boards, &boards),
            pairs(&boards, &["imxrt1060-evk"]),
            pairs(&boards, &["imxrt1050-evk"]),
            pairs(&["a board, cpu1"], &["a board, cpu1, Cortex-A55", "a board, cpu10"]),
            pairs(&["a board", "a board, cpu0"], &["a board, cpu0"]),
            pairs(&["before"], &["after"]),
            pairs(&[], &["after"]),
        ];
        let expected = [
            r#"MIMXRT1060-EVK = MIMXRT1060-EVK, MIMXRT1170-EVK = MIMXRT1170-EVK; alone: [] []"#,
            r#"MIMXRT1060-EVK = imxrt1060-evk; alone: ["MIMXRT1170-EVK"] []"#,
            r#"; alone: ["MIMXRT1060-EVK", "MIMXRT1170-EVK"] ["imxrt1050-evk"]"#,
            r#"a board, cpu1 = a board, cpu1, Cortex-A55; alone: [] ["a board, cpu10"]"#,
            r#"a board, cpu0 = a board, cpu0; alone: ["a board"] []"#,
            r#"before = after; alone: [] []"#,
            r#"; alone: [] ["after"]"#,
        ];
        assert_eq!(found, expected);
    }
}
