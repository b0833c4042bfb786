//! A plan: what to measure and why, as data.
//!
//! A plan file is TOML. Each `[[measure]]` table names algorithms, operations, phases and sizes, and each
//! `[[memory-read]]` table names widths, patterns and sizes. Every valid combination of them is a workload.
//! Command-line options replace single lists.

mod dispatch;

pub use dispatch::{DispatchWord, NamedDispatch, QueueDepth, Queued, Ring};

use crate::size::Size;
use crate::{names, settings};
use anyhow::{Context, Result, bail};
use cpb_core::memory_read::{BLOCK, Cache, Pattern, Region, Width};
use cpb_core::{
    Algorithm, Checking, CryptoWorkload, DataSet, KeyUse, Kind, MemoryReadWorkload, Operation,
    Phase, Placement, Unsupported, Workload,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// What to measure and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// One word for file names and headings.
    pub name: String,
    /// The question that this plan answers, as shown to users.
    pub reason: String,
    /// The providers to measure; if empty, all that are available.
    #[serde(default)]
    pub providers: Vec<String>,
    /// Numbers of threads.
    #[serde(default = "one_thread")]
    pub threads: Vec<u8>,
    /// How long the whole run may take, such as `20s`. Ignored if `precision` is given.
    #[serde(default = "default_budget")]
    pub budget: crate::budget::Seconds,
    /// Measure until each interval's half-width is below this share of the figure: `1%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<crate::budget::Percent>,
    /// Measure more sizes near each crossover, until it is known precisely.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refine: bool,
    /// The minimum duration of each round, in milliseconds. The load of all CPUs is counted in steps of 10 ms. 0
    /// makes rounds as short as timing allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted_ms: u32,
    /// How the result is shown.
    #[serde(default, skip_serializing_if = "Layout::is_default")]
    pub report: Layout,
    /// The cryptographic workloads to measure.
    #[serde(default)]
    pub measure: Vec<Measure>,
    /// The memory reads to measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_read: Vec<MemoryReads>,
}

/// How a result is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rates at three sizes, the fastest provider, the gain from CPU extensions.
    #[default]
    Rates,
    /// One column per message size, one block per figure.
    BySize,
}

impl Layout {
    fn is_default(&self) -> bool {
        *self == Layout::Rates
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The longest round that a plan may ask for. With longer rounds, passes would be too slow to interleave the cells.
const LONGEST_ROUND_MS: u32 = 1_000;

fn one_thread() -> Vec<u8> {
    vec![1]
}

fn default_budget() -> crate::budget::Seconds {
    crate::budget::Seconds(20.0)
}

/// All combinations of several lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measure {
    /// Algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Operations. An algorithm skips those that it does not have. If empty, all that it has.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Phases.
    #[serde(default = "message_phase")]
    pub phases: Vec<Phase>,
    /// Message lengths.
    pub sizes: Vec<Size>,
    /// Bytes of associated data, for AEADs.
    #[serde(default)]
    pub associated: u32,
    /// Where the output is written.
    #[serde(default = "apart")]
    pub placement: Placement,
    /// The number of buffers with different content; 1 means one hot buffer.
    #[serde(default = "one_chunk")]
    pub unique: u32,
    /// One key for all messages, or one key per message.
    #[serde(default = "reused")]
    pub keys: KeyUse,
    /// How many jobs are in flight, when descriptors are built, and how completion is detected.
    #[serde(default = "serial")]
    pub dispatch: DispatchWord,
    /// When outputs are checked.
    #[serde(default = "check_after")]
    pub checking: Checking,
}

fn message_phase() -> Vec<Phase> {
    vec![Phase::Message]
}

fn apart() -> Placement {
    Placement::Apart
}

fn one_chunk() -> u32 {
    1
}

fn reused() -> KeyUse {
    KeyUse::Reused
}

fn serial() -> DispatchWord {
    DispatchWord::Named(NamedDispatch::Serial)
}

fn check_after() -> Checking {
    Checking::After
}

/// All combinations of several lists, for memory reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemoryReads {
    /// The width of a load.
    #[serde(default = "all_widths")]
    pub widths: Vec<Width>,
    /// The order of the loads.
    #[serde(default = "all_patterns")]
    pub patterns: Vec<Pattern>,
    /// Working sets.
    pub sizes: Vec<Size>,
    /// Where the working sets are.
    #[serde(default = "ram")]
    pub region: Region,
    /// The state of the data cache.
    #[serde(default = "cache_filled")]
    pub cache: Cache,
}

fn all_widths() -> Vec<Width> {
    Width::ALL.to_vec()
}

fn all_patterns() -> Vec<Pattern> {
    Pattern::ALL.to_vec()
}

fn ram() -> Region {
    Region::Ram
}

fn cache_filled() -> Cache {
    Cache::Filled
}

impl MemoryReads {
    fn workloads(&self) -> impl Iterator<Item = MemoryReadWorkload> + '_ {
        let pairs =
            self.widths.iter().flat_map(|width| self.patterns.iter().map(move |it| (*width, *it)));
        let all = pairs.flat_map(move |(width, pattern)| {
            self.sizes.iter().map(move |size| MemoryReadWorkload {
                width,
                pattern,
                bytes: size.bytes(),
                region: self.region,
                cache: self.cache,
            })
        });
        all.filter(|workload| workload.valid().is_ok())
    }
}

/// The parts of a plan that the command line can replace. An empty list replaces nothing.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Algorithms by name.
    pub algorithms: Vec<String>,
    /// Operations by name.
    pub operations: Vec<String>,
    /// Phases by name.
    pub phases: Vec<String>,
    /// Sizes such as 16K.
    pub sizes: Vec<String>,
    /// Providers by name.
    pub providers: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<u8>,
    /// Widths of loads, such as 32 or widest.
    pub widths: Vec<String>,
    /// Orders of loads by name.
    pub patterns: Vec<String>,
}

impl Changes {
    /// Whether they select among cryptographic workloads.
    pub fn select_cryptography(&self) -> bool {
        !(self.algorithms.is_empty() && self.operations.is_empty() && self.phases.is_empty())
    }

    /// Whether they select among memory reads.
    pub fn select_memory_reads(&self) -> bool {
        !(self.widths.is_empty() && self.patterns.is_empty())
    }
}

/// Parses widths of loads. A plain number means bits.
fn widths(typed: &[String]) -> Result<Vec<Width>, names::Unknown> {
    let in_full = |text: &String| match text.trim() {
        bits if !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{bits}-bit")
        }
        other => other.to_owned(),
    };
    names::list("width", &typed.iter().map(in_full).collect::<Vec<_>>(), Width::ALL)
}

/// The operations that at least one algorithm has.
pub fn operations() -> Vec<Operation> {
    let has = |operation: &&Operation| {
        Algorithm::ALL.iter().any(|algorithm| algorithm.operations().contains(operation))
    };
    Operation::ALL.iter().filter(has).copied().collect()
}

impl Plan {
    /// Reads a plan from a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a plan. The message names the line.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = settings::read(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        Plan::parse(&text).with_context(|| format!("{} is not a plan", path.display()))
    }

    /// A plan that measures nothing, for figures that were measured elsewhere.
    pub fn of_nothing(name: String, reason: String) -> Plan {
        Plan {
            name,
            reason,
            providers: Vec::new(),
            threads: one_thread(),
            budget: default_budget(),
            precision: None,
            refine: false,
            counted_ms: 0,
            report: Layout::default(),
            measure: Vec::new(),
            memory_read: Vec::new(),
        }
    }

    /// Reads a plan from TOML.
    ///
    /// # Errors
    /// Returns an error if `text` is not a plan or names something that does not exist.
    pub fn parse(text: &str) -> Result<Plan> {
        let plan: Plan = settings::parse(text)?;
        plan.valid()?;
        Ok(plan)
    }

    /// Applies the options of the command line. Options that only one family of workloads has leave out the other
    /// family, unless there are options of both. Returns a sentence about what was left out, if anything was.
    ///
    /// # Errors
    /// Returns an error if a name or a size does not exist, or if options select from a family that the plan does
    /// not have.
    pub fn change(&mut self, changes: &Changes) -> Result<Option<String>> {
        let parse = names::list::<Algorithm>;
        let algorithms = parse("algorithm", &changes.algorithms, Algorithm::ALL)?;
        let operations = names::list("operation", &changes.operations, &self::operations())?;
        let phases = names::list("phase", &changes.phases, Phase::ALL)?;
        let widths = widths(&changes.widths)?;
        let patterns = names::list("pattern", &changes.patterns, Pattern::ALL)?;
        let sizes: Vec<Size> =
            changes.sizes.iter().map(|size| size.parse()).collect::<Result<_>>()?;
        let left_out = self.keep_family(changes)?;
        if !algorithms.is_empty() {
            self.choose(&algorithms);
        }
        let replace = |list: &mut Vec<Size>| {
            if !sizes.is_empty() {
                list.clone_from(&sizes);
            }
        };
        for reads in &mut self.memory_read {
            if !widths.is_empty() {
                reads.widths.clone_from(&widths);
            }
            if !patterns.is_empty() {
                reads.patterns.clone_from(&patterns);
            }
            replace(&mut reads.sizes);
        }
        for measure in &mut self.measure {
            if !operations.is_empty() {
                measure.operations.clone_from(&operations);
            }
            if !phases.is_empty() {
                measure.phases.clone_from(&phases);
            }
            replace(&mut measure.sizes);
        }
        if !changes.providers.is_empty() {
            self.providers = crate::names::whole(&changes.providers);
        }
        if !changes.threads.is_empty() {
            self.threads.clone_from(&changes.threads);
        }
        self.valid()?;
        Ok(left_out)
    }

    /// Removes the family of workloads that the options do not select from, and says so.
    fn keep_family(&mut self, changes: &Changes) -> Result<Option<String>> {
        const CRYPTOGRAPHY: &str = "-a, --operation and --phase";
        const MEMORY_READS: &str = "--width and --pattern";
        let (crypto, reads) = (changes.select_cryptography(), changes.select_memory_reads());
        if crypto && self.measure.is_empty() {
            bail!(
                "the plan {} has only memory reads, and {CRYPTOGRAPHY} select cryptography: use {MEMORY_READS}",
                self.name
            );
        }
        if reads && self.memory_read.is_empty() {
            bail!(
                "the plan {} has no memory reads, from which {MEMORY_READS} select: use `--plan memory-read`",
                self.name
            );
        }
        let number = |workloads: usize, one: &str, several: &str| match workloads {
            1 => format!("1 {one} of the plan was"),
            _ => format!("{workloads} {several} of the plan were"),
        };
        if crypto && !reads && !self.memory_read.is_empty() {
            let them = std::mem::take(&mut self.memory_read);
            let count = them.iter().flat_map(MemoryReads::workloads).count();
            return Ok(Some(format!(
                "{} not measured, because {CRYPTOGRAPHY} select cryptography; with {MEMORY_READS}, both are measured.",
                number(count, "memory read", "memory reads")
            )));
        }
        if reads && !crypto && !self.measure.is_empty() {
            let them = std::mem::take(&mut self.measure);
            let count = them.iter().flat_map(Measure::workloads).count();
            return Ok(Some(format!(
                "{} not measured, because {MEMORY_READS} select memory reads; with {CRYPTOGRAPHY}, both are measured.",
                number(count, "cryptographic workload", "cryptographic workloads")
            )));
        }
        Ok(None)
    }

    /// Keeps only `algorithms`. An algorithm that is not in the plan is measured like the plan's first table.
    fn choose(&mut self, algorithms: &[Algorithm]) {
        let known: Vec<Algorithm> =
            self.measure.iter().flat_map(|measure| measure.algorithms.clone()).collect();
        for measure in &mut self.measure {
            measure.algorithms.retain(|algorithm| algorithms.contains(algorithm));
        }
        let new: Vec<Algorithm> =
            algorithms.iter().copied().filter(|algorithm| !known.contains(algorithm)).collect();
        if let (false, Some(first)) = (new.is_empty(), self.measure.first()) {
            let like_first = Measure { algorithms: new, operations: Vec::new(), ..first.clone() };
            self.measure.push(like_first);
        }
        self.measure.retain(|measure| !measure.algorithms.is_empty());
    }

    fn valid(&self) -> Result<()> {
        let in_a_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !self.name.starts_with(char::is_alphanumeric) || !self.name.chars().all(in_a_word) {
            // The name becomes part of a file name.
            bail!(
                "name = {:?}: a plan's name is one word of letters, digits, '-', '_' and '.'",
                self.name
            );
        }
        if self.threads.is_empty() {
            bail!("threads = []: nothing would run; add a number, 1 or more");
        }
        if self.counted_ms > LONGEST_ROUND_MS {
            bail!("counted-ms = {}: the most is {LONGEST_ROUND_MS}", self.counted_ms);
        }
        if self.threads.contains(&0) {
            bail!("threads = 0: nothing would run; use 1 or more");
        }
        if self.workloads().is_empty() {
            bail!(
                "the plan measures nothing: no algorithm in it has such an operation, phase and \
                 size (block modes take multiples of 16 bytes, DES of 8, XTS 16 or more, records at \
                 most 16 KiB; XTS, CCM and records have no update, hashes no key to set up; key pairs \
                 sign, verify, key-agreement, encapsulate, decapsulate or generate-key, whatever the \
                 size; working sets of memory reads are multiples of {BLOCK} bytes)"
            );
        }
        Ok(())
    }

    /// The sizes in the plan, each with the algorithms in the same table that cannot take messages of that size.
    pub fn untaken(&self) -> BTreeMap<Size, BTreeSet<Algorithm>> {
        let mut untaken: BTreeMap<Size, BTreeSet<Algorithm>> = BTreeMap::new();
        for measure in &self.measure {
            for &size in &measure.sizes {
                let without = measure.algorithms.iter().filter(|a| !measure.takes(**a, size));
                untaken.entry(size).or_default().extend(without);
            }
        }
        untaken.retain(|_, algorithms| !algorithms.is_empty());
        untaken
    }

    /// The sizes in the plan that no working set of a memory read can have.
    pub fn unread(&self) -> BTreeSet<Size> {
        let sizes = self.memory_read.iter().flat_map(|reads| reads.sizes.iter().copied());
        let read = |size: &Size| {
            MemoryReadWorkload::new(Width::Bits8, Pattern::Linear, size.bytes()).valid().is_ok()
        };
        sizes.filter(|size| !read(size)).collect()
    }

    /// The phases in the plan, each with the algorithms in the same table that do not have that phase.
    pub fn undivided(&self) -> BTreeMap<Phase, BTreeSet<Algorithm>> {
        let mut undivided: BTreeMap<Phase, BTreeSet<Algorithm>> = BTreeMap::new();
        for measure in &self.measure {
            let workloads = measure.workloads();
            for &phase in &measure.phases {
                let has = |algorithm: &&Algorithm| {
                    workloads.iter().any(|w| w.algorithm == **algorithm && w.phase == phase)
                };
                let without = measure.algorithms.iter().filter(|algorithm| !has(algorithm));
                // An algorithm without any workload here lacks an operation or a size, not a phase.
                let measured = without.filter(|a| workloads.iter().any(|w| w.algorithm == **a));
                undivided.entry(phase).or_default().extend(measured);
            }
        }
        undivided.retain(|_, algorithms| !algorithms.is_empty());
        undivided
    }

    /// The operations in the plan that no workload has.
    pub fn idle(&self) -> BTreeSet<Operation> {
        let workloads: Vec<CryptoWorkload> =
            self.measure.iter().flat_map(Measure::workloads).collect();
        let operations = self.measure.iter().flat_map(|measure| measure.operations.clone());
        operations.filter(|operation| workloads.iter().all(|w| w.operation != *operation)).collect()
    }

    /// Every valid combination, in the plan's order, without duplicates.
    pub fn workloads(&self) -> Vec<Workload> {
        let mut seen = HashSet::new();
        let crypto = self.measure.iter().flat_map(Measure::workloads).map(Workload::Crypto);
        let reads = self.memory_read.iter().flat_map(MemoryReads::workloads);
        let all = crypto.chain(reads.map(Workload::MemoryRead));
        all.filter(|workload| seen.insert(*workload)).collect()
    }
}

impl Measure {
    fn workloads(&self) -> Vec<CryptoWorkload> {
        let mut all = Vec::new();
        for &algorithm in &self.algorithms {
            for &operation in algorithm.operations() {
                if !self.operations.is_empty() && !self.operations.contains(&operation) {
                    continue;
                }
                for &phase in &self.phases {
                    for size in &self.sizes {
                        all.push(self.workload(algorithm, operation, phase, size.bytes()));
                    }
                }
            }
        }
        all.retain(|workload| workload.valid().is_ok());
        all
    }

    /// Whether an algorithm accepts messages of this size, in any phase.
    fn takes(&self, algorithm: Algorithm, size: Size) -> bool {
        algorithm.operations().iter().any(|&operation| {
            let message = self.workload(algorithm, operation, Phase::Message, size.bytes());
            message.valid() != Err(Unsupported::Length)
        })
    }

    fn workload(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        phase: Phase,
        size: u32,
    ) -> CryptoWorkload {
        let aead = algorithm.shape().kind == Kind::Aead && phase != Phase::Setup;
        CryptoWorkload {
            algorithm,
            operation,
            phase,
            // The key schedule has no message, and key-pair operations have messages of a fixed length, so one
            // workload stands for all sizes.
            message: match algorithm.fixed_message(operation) {
                Some(fixed) => fixed as u32,
                None if phase == Phase::Setup => 0,
                None => size,
            },
            associated: if aead { self.associated } else { 0 },
            placement: self.placement,
            data: match self.unique {
                0 | 1 => DataSet::Same,
                chunks => DataSet::Unique { chunks },
            },
            keys: self.keys,
            dispatch: self.dispatch.into(),
            checking: self.checking,
        }
    }
}

#[cfg(test)]
mod tests;
