//! Memory reads as one table: widths and patterns down, working sets across.

use super::format::{margin, short};
use super::groups::{Group, way};
use super::table::{Block, Place};
use cpb_analysis::summary::Known;
use cpb_core::Workload;
use cpb_core::memory_read::FAMILY;
use cpb_record::size::Size;
use std::collections::BTreeSet;

/// The legend of the table.
pub(crate) const LEGEND: &str = "MB/s and GB/s are decimal, ± is half of the 95% interval, columns are working sets; ping-pong: \
     half of it in each of two buffers, read alternately; widest: loads of the widest vectors.";

/// Separates groups of cryptography and groups of memory reads.
pub(crate) fn apart<'g, 's>(groups: &[&'g Group<'s>]) -> (Vec<&'g Group<'s>>, Vec<&'g Group<'s>>) {
    groups.iter().partition(|group| group.workload().memory_read().is_none())
}

/// From this rate on, a block uses GB/s.
const LARGE: f64 = 10e9;

/// One block for each provider and way of reading; the heading contains the unit.
pub(crate) fn blocks(groups: &[&Group<'_>]) -> Vec<Block> {
    let mut blocks: Vec<(String, Vec<(&Group<'_>, &str)>)> = Vec::new();
    for group in groups {
        let Workload::MemoryRead(workload) = group.workload() else { continue };
        for provider in &group.providers {
            let way = way(workload, group.threads);
            let heading = match way.as_str() {
                "" => format!("{FAMILY}, {provider}"),
                way => format!("{FAMILY}, {provider}, {way}"),
            };
            match blocks.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, rows)) => rows.push((group, provider)),
                None => blocks.push((heading, vec![(group, provider)])),
            }
        }
    }
    let block = |(heading, rows): (String, Vec<(&Group<'_>, &str)>)| {
        let sizes: BTreeSet<u32> =
            rows.iter().flat_map(|(group, _)| group.sizes.iter().copied()).collect();
        let rates = rows.iter().flat_map(|(group, provider)| {
            let rows = sizes.iter().filter_map(|size| group.row(provider, *size));
            rows.filter_map(|row| Some(row.figures.measured()?.rate?.value.0))
        });
        let (unit, name) = match rates.fold(0.0, f64::max) {
            most if most >= LARGE => (1e9, "GB/s"),
            _ => (1e6, "MB/s"),
        };
        Block {
            heading: format!("{heading}, {name}"),
            columns: sizes.iter().map(|size| Size::from(*size).to_string()).collect(),
            rows: rows.iter().map(|(group, provider)| row(group, provider, &sizes, unit)).collect(),
        }
    };
    blocks.into_iter().map(block).collect()
}

fn row(
    group: &Group<'_>,
    provider: &str,
    sizes: &BTreeSet<u32>,
    unit: f64,
) -> (String, Vec<Place>) {
    let name = match group.workload() {
        Workload::MemoryRead(read) => format!("{} {}", read.width, read.pattern),
        other => other.to_string(),
    };
    let place = |size: &u32| match group.row(provider, *size).map(|row| &row.figures) {
        Some(Known::Measured(figures)) => figures.rate.map_or(Place::Blank, |rate| {
            Place::figure(short(rate.value.0 / unit), margin(rate.precision()))
        }),
        Some(Known::Without(reason)) => Place::Word(reason.short()),
        None => Place::Blank,
    };
    (name, sizes.iter().map(place).collect())
}
