//! A record reduced to some of its cells, by algorithm, operation, provider and message length.

use crate::agreement;
use cpb_core::catalog;
use cpb_core::{Algorithm, Error, Phase, Workload};
use cpb_record::{Cell, Checked, NotMeasuredReason, Outcome, Published, Record};
use std::collections::BTreeSet;

/// What to keep, by name. An empty list keeps everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Algorithms.
    pub algorithms: Vec<String>,
    /// Operations.
    pub operations: Vec<String>,
    /// Providers. An interface selects all its executors.
    pub providers: Vec<String>,
    /// Message lengths in bytes. Cells without a length, such as a key setup, are always kept.
    pub sizes: Vec<u32>,
}

impl Selection {
    /// Whether everything is kept.
    pub fn is_everything(&self) -> bool {
        *self == Selection::default()
    }

    /// The record reduced to this selection. The harness's own floor always stays.
    ///
    /// Findings from the whole record stay valid: an output that differs from that of most providers remains a wrong
    /// answer, even if those providers are not selected.
    pub fn of(&self, mut record: Record) -> Record {
        if self.is_everything() {
            return record;
        }
        for (cell, why) in agreement::disagreements(&record) {
            let (error, detail) = (Error::WrongAnswer, why.to_string());
            let place = record.cells.iter_mut().find(|(other, _)| *other == cell);
            if let Some((_, outcome)) = place {
                *outcome = Outcome::NotMeasured(NotMeasuredReason::Failed { error, detail });
            }
        }
        let contents = Contents::of(&record);
        let provider = |name: &str| {
            name == catalog::NULL
                || self.providers.is_empty()
                || self.providers.iter().any(|wanted| contents.is_meant(wanted, name))
        };
        // A wrong answer at a size that is not selected still speaks against its provider.
        let any_size = Selection { sizes: Vec::new(), ..self.clone() };
        for (cell, outcome) in &record.cells {
            let its = provider(&cell.provider) && any_size.has_cell(cell) && !self.has_cell(cell);
            if let Some(why) = wrong_answer(outcome).filter(|_| its) {
                record.warnings.push(format!(
                    "{cell}, which is not selected: wrong answer: {why}. Do not rely on {} for this operation.",
                    cell.provider
                ));
            }
        }
        record.cells.retain(|(cell, _)| provider(&cell.provider) && self.has_cell(cell));
        record.published.retain(|cell| provider(&cell.provider) && self.has_published(cell));
        record.checks.retain(|check| {
            provider(&check.provider)
                && match check.what {
                    Checked::Crypto { algorithm, operation } => {
                        named(&self.algorithms, algorithm.name())
                            && named(&self.operations, operation.name())
                    }
                    Checked::MemoryRead { .. } => self.is_of_any_family(),
                }
        });
        record.header.providers.retain(|name, _| provider(name));
        let published = &record.published;
        record.sources.retain_mut(|source| {
            let its = || published.iter().filter(|cell| cell.table == source.table);
            let paths: BTreeSet<&str> = its().map(|cell| cell.provider.as_str()).collect();
            source.paths.retain(|name, _| paths.contains(name.as_str()));
            !paths.is_empty()
        });
        record
    }

    /// Whether the selection names nothing that only cryptography has.
    fn is_of_any_family(&self) -> bool {
        self.algorithms.is_empty() && self.operations.is_empty()
    }

    fn has_cell(&self, cell: &Cell) -> bool {
        let of_its_size = || self.sizes.contains(&cell.workload.size());
        let is_kept = |workload: &Workload| match workload {
            Workload::Crypto(workload) => {
                let no_length = workload.phase == Phase::Setup
                    || workload.algorithm.fixed_message(workload.operation).is_some();
                named(&self.algorithms, workload.algorithm.name())
                    && named(&self.operations, workload.operation.name())
                    && (self.sizes.is_empty() || no_length || of_its_size())
            }
            // It has neither an algorithm nor an operation.
            _ => self.is_of_any_family() && (self.sizes.is_empty() || of_its_size()),
        };
        cell.provider == catalog::NULL || is_kept(&cell.workload)
    }

    fn has_published(&self, cell: &Published) -> bool {
        let operation = cell.operation.as_deref().unwrap_or_default();
        let of_a_pair = || {
            let algorithm = cell.algorithm.parse::<Algorithm>();
            cell.bytes.is_none() && algorithm.is_ok_and(Algorithm::has_key_pairs)
        };
        let length = || cell.bytes.is_some_and(|bytes| self.sizes.contains(&bytes));
        named(&self.algorithms, &cell.algorithm)
            && named(&self.operations, first_words(operation))
            && (self.sizes.is_empty() || length() || of_a_pair())
    }
}

/// What is wrong with a cell's answers, if anything is.
fn wrong_answer(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::NotMeasured(NotMeasuredReason::Failed { error: Error::WrongAnswer, detail }) => {
            Some(detail)
        }
        _ => None,
    }
}

/// Whether a list is empty or contains a name.
fn named(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|wanted| wanted == name)
}

/// An operation without the conditions that a published table adds, as in `encrypt, in place`.
fn first_words(operation: &str) -> &str {
    operation.split(',').next().unwrap_or(operation).trim()
}

/// What a record contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Algorithms.
    pub algorithms: BTreeSet<String>,
    /// Operations.
    pub operations: BTreeSet<String>,
    /// Providers, without the harness's own floor.
    pub providers: BTreeSet<String>,
    /// Message lengths in bytes, if there are any.
    pub sizes: BTreeSet<u32>,
}

impl Contents {
    /// The contents of one record.
    pub fn of(record: &Record) -> Contents {
        let mut contents = Contents::default();
        let measured = record.cells.iter().filter(|(cell, _)| cell.provider != catalog::NULL);
        for (cell, _) in measured {
            let workload = &cell.workload;
            if let Workload::Crypto(workload) = workload {
                contents.algorithms.insert(workload.algorithm.to_string());
                contents.operations.insert(workload.operation.to_string());
            }
            contents.providers.insert(cell.provider.clone());
            contents.sizes.extend(Some(workload.size()).filter(|bytes| *bytes > 0));
        }
        for cell in &record.published {
            contents.algorithms.insert(cell.algorithm.clone());
            let operation = cell.operation.as_deref().map(first_words);
            contents.operations.extend(operation.map(str::to_owned));
            contents.providers.insert(cell.provider.clone());
            contents.sizes.extend(cell.bytes);
        }
        contents
    }

    /// Adds the contents of another record.
    pub fn extend(&mut self, other: Contents) {
        self.algorithms.extend(other.algorithms);
        self.operations.extend(other.operations);
        self.providers.extend(other.providers);
        self.sizes.extend(other.sizes);
    }

    /// Whether there are no contents.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// Whether `wanted` selects the provider `name`: it is its name, or an interface of which it is an executor.
    pub fn is_meant(&self, wanted: &str, name: &str) -> bool {
        let interface = || {
            let choice = catalog::find(wanted);
            let of_it = name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(':'));
            of_it && choice.is_some_and(|choice| choice.is_interface())
        };
        wanted == name || !self.providers.contains(wanted) && interface()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{record, round};
    use cpb_core::{CryptoWorkload, Operation};

    /// A record of these providers, each at 16 B and 1 KiB of AES-128-CBC, and at key setup.
    fn of(providers: &[&str]) -> Record {
        let workload =
            |message| CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, message);
        let setup = CryptoWorkload { phase: Phase::Setup, ..workload(0) };
        let all = [workload(16), workload(1024), setup];
        record(providers.iter().flat_map(|provider| {
            all.map(|workload| {
                let mut round = round(0, 1, Vec::new());
                round.cell =
                    Cell { provider: (*provider).into(), workload: workload.into(), threads: 1 };
                vec![round]
            })
        }))
    }

    fn cells(record: &Record) -> Vec<String> {
        record.cells.iter().map(|(cell, _)| cell.to_string()).collect()
    }

    #[test]
    fn what_is_asked_for_is_kept_and_so_is_the_floor() {
        let selection = Selection {
            providers: vec!["openssl".into()],
            sizes: vec![1024],
            operations: vec!["encrypt".into()],
            ..Selection::default()
        };
        let kept = selection.of(of(&["null", "openssl", "openssl:nocrypto"]));
        let cells = cells(&kept);
        let own = ["aes-128-cbc/encrypt/message/1024", "aes-128-cbc/encrypt/setup/0"];
        assert!(own.iter().all(|id| cells.contains(&format!("openssl {id}"))), "{cells:?}");
        assert_eq!(cells.iter().filter(|cell| cell.starts_with("null ")).count(), 3);
        assert_eq!(cells.len(), 5);
        assert_eq!(kept.header.providers.keys().collect::<Vec<_>>(), ["null", "openssl"]);
        let absent = Selection { algorithms: vec!["sha-256".into()], ..Selection::default() };
        assert!(Contents::of(&absent.of(of(&["null", "openssl"]))).is_empty());
    }

    #[test]
    fn an_interface_stands_for_its_executors_and_a_library_for_itself() {
        let record = of(&["af_alg:cbc-aes-aesni", "af_alg:virtio", "openssl:nocrypto"]);
        let kept = |name: &str| {
            let selection = Selection { providers: vec![name.into()], ..Selection::default() };
            Contents::of(&selection.of(record.clone())).providers.len()
        };
        assert_eq!([kept("af_alg"), kept("af_alg:virtio"), kept("openssl")], [2, 1, 0]);
    }

    #[test]
    fn a_wrong_output_stays_wrong_where_nobody_is_left_to_compare_it_with() {
        let mut record = of(&["openssl", "mbedtls:c", "mbedtls:accel"]);
        if let Outcome::Measured(rounds) = &mut record.cells[0].1 {
            rounds[0].output = "ff".into();
        }
        let alone = Selection { providers: vec!["openssl".into()], ..Selection::default() };
        let kept = alone.of(record);
        let is_wrong = |place: usize| wrong_answer(&kept.cells[place].1).is_some();
        assert!(is_wrong(0) && !is_wrong(1), "{:?}", kept.cells);
        let others = Selection { sizes: vec![1024], ..Selection::default() }.of(kept);
        let said =
            "openssl aes-128-cbc/encrypt/message/16, which is not selected: wrong answer: its";
        assert!(
            others.warnings.iter().any(|words| words.starts_with(said)),
            "{:?}",
            others.warnings
        );
    }
}
