//! Groups of cells that differ only in provider and size.

use cpb_analysis::comparison::{Comparison, is_variant_of};
use cpb_analysis::missing::NoFigure;
use cpb_analysis::ratio::Ratio;
use cpb_analysis::summary::{Known, Row, Summary};
use cpb_core::catalog;
use cpb_core::memory_read::{Cache, FAMILY, Region};
use cpb_core::{CryptoWorkload, DataSet, Depth, Dispatch, MemoryReadWorkload, Phase, Workload};
use std::collections::{HashMap, HashSet};

/// Cells with the same algorithm, operation and variant; for memory reads, with the same width and pattern.
pub(crate) struct Group<'a> {
    /// The workload with a size of 0.
    kind: Workload,
    /// The number of threads.
    pub(crate) threads: u8,
    /// Its heading.
    pub(crate) heading: String,
    /// Message lengths or working sets, ascending; 0 for key schedules and operations with key pairs.
    pub(crate) sizes: Vec<u32>,
    /// The providers, in the order of the list of providers.
    pub(crate) providers: Vec<&'a str>,
    rows: HashMap<(&'a str, u32), &'a Row>,
}

impl<'a> Group<'a> {
    /// The cell of a provider at a size.
    pub(crate) fn row(&self, provider: &str, size: u32) -> Option<&'a Row> {
        self.rows.get(&(provider, size)).copied()
    }

    /// All its cells, in no particular order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.rows.values().copied()
    }

    /// Its workload, with a size of 0.
    pub(crate) fn workload(&self) -> &Workload {
        &self.kind
    }

    /// Whether operations per second are shown instead of a rate.
    pub(crate) fn has_key_pairs(&self) -> bool {
        has_key_pairs(&self.kind)
    }

    /// Whether a provider has times of operations with others in flight.
    pub(crate) fn has_latency_in_flight(&self) -> bool {
        let figures = |row: &'a Row| row.figures.measured();
        self.rows().filter_map(figures).any(|figures| figures.latency_in_flight.is_some())
    }

    /// Whether this differs from the other only in the number of threads.
    pub(crate) fn same_kind(&self, other: &Group<'_>) -> bool {
        self.kind == other.kind
    }

    /// The heading without the number of threads.
    pub(crate) fn kind(&self) -> String {
        in_words(&self.kind, 1)
    }

    /// Whether the kind of evidence leaves nothing to show.
    pub(crate) fn meaningless(&self) -> bool {
        let mut figures = self.rows.values().map(|row| &row.figures);
        figures.all(|figures| matches!(figures, Known::Without(NoFigure::Meaningless(_))))
    }
}

/// All groups, in the plan's order. The null provider is left out because it has no rate.
pub(crate) fn groups(summary: &Summary) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(Workload, u8), usize> = HashMap::new();
    let mut phases: HashMap<_, HashSet<Phase>> = HashMap::new();
    for CryptoWorkload { algorithm, operation, phase, .. } in
        summary.cells.iter().filter_map(|row| row.workload.crypto())
    {
        phases.entry((*algorithm, *operation)).or_default().insert(*phase);
    }
    for row in summary.cells.iter().filter(|row| row.provider != catalog::NULL) {
        let kind = row.workload.with_size(0);
        let heading = match &kind {
            Workload::Crypto(crypto) => {
                let phases_vary = phases[&(crypto.algorithm, crypto.operation)].len() > 1;
                heading(crypto, row.threads, phases_vary)
            }
            kind => in_words(kind, row.threads),
        };
        let place = *places.entry((kind, row.threads)).or_insert_with(|| {
            groups.push(Group {
                kind,
                threads: row.threads,
                heading,
                sizes: Vec::new(),
                providers: Vec::new(),
                rows: HashMap::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[place];
        let size = row.workload.bytes() as u32;
        if let Err(place) = group.sizes.binary_search(&size) {
            group.sizes.insert(place, size);
        }
        if !group.providers.contains(&row.provider.as_str()) {
            group.providers.push(&row.provider);
        }
        group.rows.insert((&row.provider, size), row);
    }
    for group in &mut groups {
        // A stable sort: providers unknown to this build keep their order at the end.
        group.providers.sort_by_key(|name| catalog::place(name));
    }
    groups
}

/// Whether the workload uses key pairs.
pub(crate) fn has_key_pairs(workload: &Workload) -> bool {
    workload.crypto().is_some_and(|workload| workload.algorithm.has_key_pairs())
}

/// The operation of any family, in words; differences from the plain case follow after a comma.
pub(crate) fn in_words(workload: &Workload, threads: u8) -> String {
    match workload {
        Workload::Crypto(workload) => heading(workload, threads, false),
        Workload::MemoryRead(workload) => read_heading(workload, threads),
        _ => workload.to_string(),
    }
}

/// A memory read in words, without its working set.
fn read_heading(workload: &MemoryReadWorkload, threads: u8) -> String {
    let way = way(workload, threads);
    let comma = if way.is_empty() { "" } else { ", " };
    format!("{FAMILY} {} {}{comma}{way}", workload.width, workload.pattern)
}

/// How a read differs from the plain case: location of the memory, cache, number of threads.
pub(crate) fn way(workload: &MemoryReadWorkload, threads: u8) -> String {
    let mut words = Vec::new();
    if workload.region != Region::Ram {
        words.push(workload.region.to_string());
    }
    if workload.cache != Cache::Filled {
        words.push(workload.cache.name().replace('-', " "));
    }
    if threads > 1 {
        words.push(format!("{threads} threads"));
    }
    words.join(", ")
}

/// Differences from the plain case, in words.
fn heading(kind: &CryptoWorkload, threads: u8, phases_vary: bool) -> String {
    let mut words = vec![format!("{} {}", kind.algorithm, kind.operation)];
    if phases_vary || kind.phase != Phase::Message {
        words.push(kind.phase.name().replace('-', " "));
    }
    if kind.associated > 0 {
        words.push(format!("{} B associated", kind.associated));
    }
    let plain = CryptoWorkload::new(kind.algorithm, kind.operation, 0);
    if kind.placement != plain.placement {
        words.push(kind.placement.name().replace('-', " "));
    }
    if let DataSet::Unique { chunks } = kind.data {
        words.push(format!("{chunks} buffers"));
    }
    if kind.keys != plain.keys {
        words.push(kind.keys.name().replace('-', " "));
    }
    match (kind.dispatch, kind.dispatch.depth) {
        (Dispatch::SERIAL, _) => {}
        (Dispatch::ALL_AT_ONCE, _) => words.push("all at once".to_owned()),
        (_, Depth::Jobs(depth)) => words.push(format!("{depth} in flight")),
        (_, Depth::Ring) => words.push("ring full".to_owned()),
    }
    if kind.checking != plain.checking {
        words.push("checked each".to_owned());
    }
    if threads > 1 {
        words.push(format!("{threads} threads"));
    }
    words.join(", ")
}

impl<'a> Group<'a> {
    /// Providers by how far they are from the fastest over all sizes, fastest first. Variants whose library
    /// is included as well are left out, because the library's gain shows them.
    pub(crate) fn ranked(&self) -> Vec<&'a str> {
        let time =
            |name: &str, size: u32| Some(self.row(name, size)?.figures.measured()?.time.value.0);
        let folded = |variant: &str| {
            let beside = |name: &&&str| self.rows().any(|row| row.provider == ***name);
            self.providers.iter().filter(beside).any(|name| is_variant_of(variant, name))
        };
        let lost = |name: &str| {
            let logs: Vec<f64> = self
                .sizes
                .iter()
                .filter_map(|size| {
                    let times = self.providers.iter().filter_map(|other| time(other, *size));
                    Some((time(name, *size)? / times.fold(f64::INFINITY, f64::min)).ln())
                })
                .collect();
            // Providers without a figure come last.
            if logs.is_empty() {
                f64::INFINITY
            } else {
                logs.iter().sum::<f64>() / logs.len() as f64
            }
        };
        let names = self.providers.iter().copied().filter(|name| !folded(name));
        let mut ranked: Vec<(&str, f64)> = names.map(|name| (name, lost(name))).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.into_iter().map(|(name, _)| name).collect()
    }
}

/// Comparisons, indexed by cell.
pub(crate) struct Comparisons<'a> {
    fastest: HashMap<(Workload, u8), &'a Comparison>,
    gains: HashMap<(Workload, u8, &'a str), &'a Ratio>,
    /// By the provider with extensions: its gain over its first variant.
    folded: HashMap<(Workload, u8, &'a str), &'a Ratio>,
}

impl<'a> Comparisons<'a> {
    /// Of a summary.
    pub(crate) fn of(summary: &'a Summary) -> Comparisons<'a> {
        let mut all =
            Comparisons { fastest: HashMap::new(), gains: HashMap::new(), folded: HashMap::new() };
        for found in &summary.comparisons {
            all.fastest.insert((found.workload, found.threads), found);
            for gain in &found.gains {
                let cell = (found.workload, found.threads, gain.masked.as_str());
                all.gains.insert(cell, &gain.ratio);
                let library = (found.workload, found.threads, gain.extended.as_str());
                all.folded.entry(library).or_insert(&gain.ratio);
            }
        }
        all
    }

    /// `*` for the fastest provider; `=` for one that ties with others as the fastest; `?` for one that may
    /// be the fastest, and for the fastest one if the others are all unclear.
    pub(crate) fn mark(&self, row: &Row) -> Option<char> {
        let Comparison { fastest, unknown, .. } = self.fastest.get(&(row.workload, row.threads))?;
        if unknown.iter().any(|(name, _)| *name == row.provider) {
            return Some('?');
        }
        let mark = match (fastest.len(), unknown.len()) {
            (1, 0) => '*',
            (1, _) => '?',
            _ => '=',
        };
        fastest.contains(&row.provider).then_some(mark)
    }

    /// The gain of this cell by extensions, over its library without them.
    pub(crate) fn own_gain(&self, row: &Row) -> Option<&'a Ratio> {
        self.folded.get(&(row.workload, row.threads, row.provider.as_str())).copied()
    }

    /// The gain of extensions over this cell.
    pub(crate) fn gain(&self, row: &Row) -> Option<&'a Ratio> {
        self.gains.get(&(row.workload, row.threads, row.provider.as_str())).copied()
    }
}
