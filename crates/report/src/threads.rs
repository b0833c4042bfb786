//! Blocks of threads: a row for each provider and a column for each number of threads.

use super::format::{margin, short};
use super::groups::{Group, has_key_pairs};
use super::rates::{number, per_second};
use super::table::{Block, Place};
use cpb_analysis::summary::{Known, Row};
use cpb_record::size::Size;

/// The total of several threads and their gain over one, at the largest size.
pub(crate) fn threads(groups: &[Group<'_>]) -> Vec<Block> {
    let fewest = groups.iter().map(|group| group.threads).min().unwrap_or(1);
    let first = groups.iter().filter(|group| group.threads == fewest && !group.meaningless());
    first.filter_map(|first| threads_of(groups, first)).collect()
}

/// The same for the kind of one group; `None` if there is only one number of threads.
pub(crate) fn threads_of(groups: &[Group<'_>], first: &Group<'_>) -> Option<Block> {
    let mut same: Vec<&Group<'_>> = groups.iter().filter(|group| group.same_kind(first)).collect();
    same.sort_by_key(|group| group.threads);
    let &largest = first.sizes.last().filter(|_| same.len() > 1)?;
    let rows = first.providers.iter().map(|provider| {
        let place = |group: &&Group<'_>| {
            group.row(provider, largest).map_or(Place::Blank, rate_and_scaling)
        };
        ((*provider).to_owned(), same.iter().map(place).collect())
    });
    let threads = |threads| match threads {
        1 => "1 thread".to_owned(),
        several => format!("{several} threads"),
    };
    let size = match largest {
        0 => String::new(),
        size => format!(", {}", Size::from(size)),
    };
    Some(Block {
        heading: format!("{}{size}", first.kind()),
        columns: same.iter().map(|group| threads(group.threads)).collect(),
        rows: rows.collect(),
    })
}

fn rate_and_scaling(row: &Row) -> Place {
    match &row.figures {
        Known::Without(reason) => Place::Word(reason.short()),
        Known::Measured(figures) => {
            let (number, precision) = match has_key_pairs(&row.workload) {
                true => (per_second(row, figures) + "/s", figures.time.precision()),
                false => number(figures),
            };
            let gain = figures.scaling.map(|scaling| format!("  {}×", short(scaling.value.0)));
            Place::figure(number, format!("{:<6}{}", margin(precision), gain.unwrap_or_default()))
        }
    }
}
