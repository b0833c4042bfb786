//! Blocks of latencies: a row for each provider and size and a column for each percentile.

use super::format::time;
use super::groups::Group;
use super::table::{Block, Place};
use cpb_analysis::latency::Latency;
use cpb_analysis::missing::NoFigure;
use cpb_analysis::summary::Known;
use cpb_record::size::Size;

/// Times of single operations, followed by times of operations with others in flight; `None` if the clock is
/// too coarse.
pub(crate) fn latencies(group: &Group<'_>) -> Option<Block> {
    let mut rows = Vec::new();
    let cells = group
        .providers
        .iter()
        .flat_map(|provider| group.sizes.iter().filter_map(|size| group.row(provider, *size)));
    for row in cells {
        let Some(figures) = row.figures.measured() else { continue };
        let places = match &figures.latency {
            Known::Without(NoFigure::NotReached) => continue,
            Known::Without(reason) => {
                vec![Place::Word(reason.short()), Place::Blank, Place::Blank, Place::Blank]
            }
            Known::Measured(found) => percentiles(found),
        };
        let name = match row.workload.bytes() as u32 {
            0 => row.provider.clone(),
            size => format!("{} {}", row.provider, Size::from(size)),
        };
        let queued = figures.latency_in_flight.as_ref().map(percentiles);
        let queued = queued.map(|places| (format!("{name}, in flight"), places));
        rows.push((name, places));
        rows.extend(queued);
    }
    let told = |(_, places): &(String, Vec<Place>)| matches!(places[0], Place::Figure { .. });
    let columns = ["p50", "p90", "p99", "longest"].map(str::to_owned).to_vec();
    let heading = format!("{}, one operation", group.heading);
    rows.iter().any(told).then_some(Block { heading, columns, rows })
}

fn percentiles(found: &Latency) -> Vec<Place> {
    [Some(found.p50), found.p90, found.p99, Some(found.max)]
        .map(|ns| ns.map_or(Place::Blank, |ns| Place::figure(time(ns), String::new())))
        .to_vec()
}
