//! A plan: what to measure and why, as data.
//!
//! A plan file is TOML. Each `[[measure]]` table names algorithms, operations, phases and sizes, each `[[memory-read]]`
//! table widths, patterns and sizes; every sensible combination of them is a workload. Command-line options replace single lists.

use crate::size::Size;
use crate::{names, settings};
use anyhow::{Context, Result, bail};
use cpb_core::memory_read::{BLOCK, Cache, Pattern, Region, Width};
use cpb_core::{
    Algorithm, Checking, CryptoWorkload, DataSet, Depth, Dispatch, KeyUse, Kind,
    MemoryReadWorkload, Operation, Phase, Placement, Unsupported, Workload,
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
    /// The question that this plan answers, for people.
    pub reason: String,
    /// Who is to be measured; empty: everyone who is here.
    #[serde(default)]
    pub providers: Vec<String>,
    /// In how many threads.
    #[serde(default = "one_thread")]
    pub threads: Vec<u8>,
    /// How long the whole run may take, for people: `20s`. Ignored if `precision` is given.
    #[serde(default = "default_budget")]
    pub budget: crate::budget::Seconds,
    /// Measure until each interval's half-width is below this share of the figure: `1%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<crate::budget::Percent>,
    /// Measure more sizes near each crossover, until it is known closely.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refine: bool,
    /// Let each round last this many milliseconds at least: how busy all CPUs are is told in steps
    /// of 10 ms. 0: rounds are as short as timing needs them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted_ms: u32,
    /// How people are shown the result.
    #[serde(default, skip_serializing_if = "Layout::is_default")]
    pub report: Layout,
    /// What is measured of cryptography.
    #[serde(default)]
    pub measure: Vec<Measure>,
    /// And of reads of memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_read: Vec<MemoryReads>,
}

/// How people are shown a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rates at three sizes, who is fastest, what extensions gain.
    #[default]
    Rates,
    /// One column a message size, one block a figure.
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

/// The longest round that a plan may ask for: one that takes longer is a pass too slow to interleave.
const LONGEST_ROUND_MS: u32 = 1_000;

fn one_thread() -> Vec<u8> {
    vec![1]
}

fn default_budget() -> crate::budget::Seconds {
    crate::budget::Seconds(20.0)
}

/// All combinations of some lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measure {
    /// Algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Operations; those that an algorithm does not have are left out. Empty: all it has.
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
    /// Where the result goes.
    #[serde(default = "apart")]
    pub placement: Placement,
    /// This many buffers of different content; 1: one hot buffer.
    #[serde(default = "one_chunk")]
    pub unique: u32,
    /// One key for all messages, or one each.
    #[serde(default = "reused")]
    pub keys: KeyUse,
    /// How many jobs are in flight, when descriptors are built, how completion is noticed.
    #[serde(default = "serial")]
    pub dispatch: DispatchWord,
    /// When answers are checked.
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
    DispatchWord::Serial
}

fn check_after() -> Checking {
    Checking::After
}

/// All combinations of some lists: reads of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemoryReads {
    /// How much a load reads.
    #[serde(default = "all_widths")]
    pub widths: Vec<Width>,
    /// In which order loads follow each other.
    #[serde(default = "all_patterns")]
    pub patterns: Vec<Pattern>,
    /// Working sets.
    pub sizes: Vec<Size>,
    /// Where they are.
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

/// The common ways of dispatch by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DispatchWord {
    /// Build and dispatch job n+1 after job n completes.
    Serial,
    /// Build all, dispatch as fast as the engine accepts, wait for the last.
    AllAtOnce,
    /// Keep this many in flight, building and noticing each.
    Depth(u16),
}

impl From<DispatchWord> for Dispatch {
    fn from(word: DispatchWord) -> Dispatch {
        match word {
            DispatchWord::Serial => Dispatch::SERIAL,
            DispatchWord::AllAtOnce => Dispatch::ALL_AT_ONCE,
            DispatchWord::Depth(depth) => {
                Dispatch { depth: Depth::Jobs(depth), ..Dispatch::SERIAL }
            }
        }
    }
}

/// What the command line may replace in a plan. An empty list replaces nothing.
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
}

/// The operations that some algorithm has.
pub fn operations() -> Vec<Operation> {
    let has = |operation: &&Operation| {
        Algorithm::ALL.iter().any(|algorithm| algorithm.operations().contains(operation))
    };
    Operation::ALL.iter().filter(has).copied().collect()
}

impl Plan {
    /// The plan in a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no plan: the message names the line.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = settings::read(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        Plan::parse(&text).with_context(|| format!("{} is not a plan", path.display()))
    }

    /// A plan that measures nothing: of figures that others made.
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
    /// It is not one, or names something that does not exist.
    pub fn parse(text: &str) -> Result<Plan> {
        let plan: Plan = settings::parse(text)?;
        plan.valid()?;
        Ok(plan)
    }

    /// Applies what the command line says.
    ///
    /// # Errors
    /// A name or a size that does not exist.
    pub fn change(&mut self, changes: &Changes) -> Result<()> {
        let parse = names::list::<Algorithm>;
        let algorithms = parse("algorithm", &changes.algorithms, Algorithm::ALL)?;
        let operations = names::list("operation", &changes.operations, &self::operations())?;
        let phases = names::list("phase", &changes.phases, Phase::ALL)?;
        let sizes: Vec<Size> =
            changes.sizes.iter().map(|size| size.parse()).collect::<Result<_>>()?;
        if !algorithms.is_empty() {
            self.choose(&algorithms);
        }
        if !(algorithms.is_empty() && operations.is_empty() && phases.is_empty()) {
            // Who names one of these means cryptography.
            self.memory_read.clear();
        }
        if !sizes.is_empty() {
            self.memory_read.iter_mut().for_each(|reads| reads.sizes.clone_from(&sizes));
        }
        for measure in &mut self.measure {
            if !operations.is_empty() {
                measure.operations.clone_from(&operations);
            }
            if !phases.is_empty() {
                measure.phases.clone_from(&phases);
            }
            if !sizes.is_empty() {
                measure.sizes.clone_from(&sizes);
            }
        }
        if !changes.providers.is_empty() {
            self.providers = crate::names::whole(&changes.providers);
        }
        if !changes.threads.is_empty() {
            self.threads.clone_from(&changes.threads);
        }
        self.valid()
    }

    /// Keeps `algorithms` only. One that the plan does not have is measured like the plan's first.
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
            // It becomes part of a file's name.
            bail!(
                "name = {:?}: a plan's name is one word of letters, digits, '-', '_' and '.'",
                self.name
            );
        }
        if self.threads.is_empty() {
            bail!("threads = []: nothing would run; name a number from 1 on");
        }
        if self.counted_ms > LONGEST_ROUND_MS {
            bail!("counted-ms = {}: a round lasts {LONGEST_ROUND_MS} at most", self.counted_ms);
        }
        if self.threads.contains(&0) {
            bail!("threads = 0: nothing would run; name a number from 1 on");
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

    /// Sizes that are named, each with the algorithms named with it that have no message so long.
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

    /// Phases that are named, each with the algorithms named with it that are not divided so.
    pub fn undivided(&self) -> BTreeMap<Phase, BTreeSet<Algorithm>> {
        let mut undivided: BTreeMap<Phase, BTreeSet<Algorithm>> = BTreeMap::new();
        for measure in &self.measure {
            let workloads = measure.workloads();
            for &phase in &measure.phases {
                let has = |algorithm: &&Algorithm| {
                    workloads.iter().any(|w| w.algorithm == **algorithm && w.phase == phase)
                };
                let without = measure.algorithms.iter().filter(|algorithm| !has(algorithm));
                // What has no phase at all here lacks an operation or a size.
                let measured = without.filter(|a| workloads.iter().any(|w| w.algorithm == **a));
                undivided.entry(phase).or_default().extend(measured);
            }
        }
        undivided.retain(|_, algorithms| !algorithms.is_empty());
        undivided
    }

    /// Operations that are named and that nothing in the plan has.
    pub fn idle(&self) -> BTreeSet<Operation> {
        let workloads: Vec<CryptoWorkload> =
            self.measure.iter().flat_map(Measure::workloads).collect();
        let operations = self.measure.iter().flat_map(|measure| measure.operations.clone());
        operations.filter(|operation| workloads.iter().all(|w| w.operation != *operation)).collect()
    }

    /// Every sensible combination, in the plan's order, each once.
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

    /// Whether an algorithm has messages of this size, in whatever phase.
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
            // The key schedule knows no message, and what is done with key pairs one of a length of
            // its own: one workload for all sizes.
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
mod tests {
    use super::*;

    const SMALL: &str = r#"
        name = "small"
        reason = "a test"
        [[measure]]
        algorithms = ["aes-128-cbc", "sha-256"]
        sizes = [16, "1K"]
    "#;

    fn ids(plan: &Plan) -> Vec<String> {
        plan.workloads().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_size_that_an_algorithm_does_not_have_is_named() {
        let mut plan = Plan::parse(SMALL).unwrap();
        assert!(plan.untaken().is_empty());
        let sizes = ["16", "100"].map(String::from).to_vec();
        plan.change(&Changes { sizes, ..Changes::default() }).unwrap();
        let untaken: Vec<_> = plan.untaken().into_iter().collect();
        assert_eq!(untaken, [("100".parse().unwrap(), BTreeSet::from([Algorithm::Aes128Cbc]))]);
        assert!(plan.idle().is_empty() && plan.undivided().is_empty());
    }

    #[test]
    fn operations_that_nothing_has_and_phases_that_some_lack_are_told() {
        let mut plan =
            Plan::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/default.toml"))
                .unwrap();
        plan.change(&Changes {
            algorithms: vec!["x25519".into(), "sha-256".into(), "hmac-sha-256".into()],
            operations: vec!["sign".into(), "hash".into(), "mac".into(), "key-agreement".into()],
            phases: vec!["message".into(), "setup".into()],
            ..Changes::default()
        })
        .unwrap();
        assert_eq!(plan.idle(), BTreeSet::from([Operation::Sign]));
        let without = BTreeSet::from([Algorithm::X25519, Algorithm::Sha256]);
        assert_eq!(plan.undivided(), BTreeMap::from([(Phase::Setup, without)]));
    }

    #[test]
    fn a_plan_is_all_sensible_combinations() {
        let plan = Plan::parse(SMALL).unwrap();
        assert_eq!(
            ids(&plan),
            [
                "aes-128-cbc/encrypt/message/16",
                "aes-128-cbc/encrypt/message/1024",
                "aes-128-cbc/decrypt/message/16",
                "aes-128-cbc/decrypt/message/1024",
                "sha-256/hash/message/16",
                "sha-256/hash/message/1024",
            ]
        );
    }

    #[test]
    fn the_command_line_replaces_lists_and_adds_algorithms() {
        let mut plan = Plan::parse(SMALL).unwrap();
        let changes = Changes {
            algorithms: vec!["aes-128-cbc".into(), "hmac-sha-256".into()],
            phases: vec!["setup".into()],
            ..Changes::default()
        };
        plan.change(&changes).unwrap();
        assert_eq!(
            ids(&plan),
            [
                "aes-128-cbc/encrypt/setup/0",
                "aes-128-cbc/decrypt/setup/0",
                "hmac-sha-256/mac/setup/0"
            ]
        );
    }

    #[test]
    fn memory_reads_are_all_combinations_and_have_sizes_of_the_command_line() {
        let text = r#"
            name = "reads"
            reason = "a test"
            [[memory-read]]
            widths = ["8-bit", "widest"]
            sizes = ["4K", "64K"]
            [[memory-read]]
            widths = ["64-bit"]
            patterns = ["linear"]
            sizes = [100, "16K"]
            region = "flash"
            cache = "cache-disabled"
        "#;
        let mut plan = Plan::parse(text).unwrap();
        assert_eq!(
            ids(&plan),
            [
                "memory-read/8-bit/linear/4096",
                "memory-read/8-bit/linear/65536",
                "memory-read/8-bit/ping-pong/4096",
                "memory-read/8-bit/ping-pong/65536",
                "memory-read/widest/linear/4096",
                "memory-read/widest/linear/65536",
                "memory-read/widest/ping-pong/4096",
                "memory-read/widest/ping-pong/65536",
                "memory-read/64-bit/linear/16384/flash/cache-disabled",
            ]
        );
        let sizes = vec!["512".to_owned()];
        plan.change(&Changes { sizes, ..Changes::default() }).unwrap();
        assert_eq!(ids(&plan).len(), 5);
        assert!(Plan::parse(&text.replace("8-bit", "7-bit")).is_err());
        let none = plan.change(&Changes { sizes: vec!["100".to_owned()], ..Changes::default() });
        assert!(none.unwrap_err().to_string().contains("multiples of 512"));
    }

    #[test]
    fn a_plan_that_measures_nothing_is_refused() {
        let mut plan = Plan::parse(SMALL).unwrap();
        let changes = Changes {
            algorithms: vec!["aes-128-cbc".into()],
            sizes: vec!["17".into()],
            ..Changes::default()
        };
        let error = plan.change(&changes).unwrap_err().to_string();
        assert!(error.contains("multiples of 16"), "{error}");
    }

    #[test]
    fn wrong_keys_types_and_names_are_named() {
        for (wrong, word) in [
            ("colour = 1", "colour"),
            ("name = 1", "name"),
            ("name = \"x\"\nreason = \"y\"\nmeasure = 3", "measure"),
            (&SMALL.replace("aes-128-cbc", "aes-128-cbd"), "aes-128-cbd"),
            (&SMALL.replace("16,", "0,"), "size 0"),
            (&SMALL.replace("1K", "1TiB"), "1TiB"),
            (&SMALL.replace("[[", "counted-ms = 1001\n[["), "counted-ms"),
            (&SMALL.replace("[[", "report = \"sideways\"\n[["), "sideways"),
        ] {
            let error = format!("{:#}", Plan::parse(wrong).unwrap_err());
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_plan_of_everything_names_every_algorithm() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/all.toml");
        let workloads = Plan::read(&path).unwrap().workloads();
        for algorithm in Algorithm::ALL {
            for operation in algorithm.operations() {
                let measured = |workload: &Workload| {
                    let Workload::Crypto(workload) = workload else { return false };
                    (workload.algorithm, workload.operation) == (*algorithm, *operation)
                };
                assert!(workloads.iter().any(measured), "{algorithm} {operation}");
            }
        }
    }

    #[test]
    fn every_plan_in_the_repository_is_a_plan() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let plan = Plan::read(&file.unwrap().path()).unwrap();
            let all_measured = plan.idle().is_empty() && plan.untaken().is_empty();
            assert!(all_measured && plan.undivided().is_empty(), "{}", plan.name);
            count += 1;
        }
        assert!(count > 0);
    }
}
