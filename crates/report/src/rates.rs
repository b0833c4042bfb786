//! Blocks of rates: a row for each provider and a column for each size, with cycles and gains.

use super::format::{large, margin, megabytes, short, significant, time};
use super::groups::{Comparisons, Group};
use super::table::{Block, Place};
use anstyle::Style;
use cpb_analysis::summary::{Figures, Known, Row};
use cpb_record::size::Size;
use std::collections::HashMap;

/// The number of sizes side by side.
pub(crate) const SHOWN: usize = 3;

/// The columns for which margins are shown.
#[derive(Clone, Copy)]
pub(crate) struct Margins {
    /// Of rates.
    pub(crate) rate: bool,
    /// Of gains.
    pub(crate) gain: bool,
    /// Of cycles.
    pub(crate) cycles: bool,
}

/// From most to fewest; tried in order until a table fits.
pub(crate) const MARGINS: [Margins; 4] = [
    Margins { rate: true, gain: true, cycles: true },
    Margins { rate: true, gain: true, cycles: false },
    Margins { rate: true, gain: false, cycles: false },
    Margins { rate: false, gain: false, cycles: false },
];

/// How rates are shown.
pub(crate) struct Rates<'a> {
    /// The fastest providers, and the gains of extensions.
    pub(crate) comparisons: &'a Comparisons<'a>,
    /// The style of the fastest figure.
    pub(crate) fastest: Style,
    /// Whether cycles are known for any cell.
    pub(crate) cycles: bool,
    /// Whether any gain is known.
    pub(crate) gains: bool,
    /// Whether to show every provider and every size, not just the smallest, a middle and the largest size.
    pub(crate) all: bool,
    /// The number of providers per group, the fastest first. Variants appear only as their library's gain.
    pub(crate) best: usize,
    /// The names to show for providers.
    pub(crate) labels: &'a HashMap<String, String>,
}

impl Rates<'_> {
    /// Each group as one block, or, if all sizes are shown, as several.
    pub(crate) fn blocks(&self, groups: &[&Group<'_>], margins: Margins) -> Vec<Block> {
        let mut blocks = Vec::new();
        let most = groups.iter().map(|group| match group.has_key_pairs() {
            true => SHOWN,
            false => group.sizes.len().min(SHOWN),
        });
        let most = most.max().unwrap_or(0);
        for group in groups {
            // Sizes that were added near a crossover have figures for its two paths only.
            let common: Vec<u32> = group
                .sizes
                .iter()
                .copied()
                .filter(|size| group.providers.iter().all(|who| group.row(who, *size).is_some()))
                .collect();
            let some = if common.len() < SHOWN { &group.sizes } else { &common };
            let sizes = match some.as_slice() {
                _ if self.all || group.sizes.len() <= SHOWN => group.sizes.clone(),
                some => vec![some[0], some[some.len() / 2], some[some.len() - 1]],
            };
            for sizes in sizes.chunks(SHOWN) {
                blocks.push(self.block(group, sizes, most, margins));
            }
        }
        blocks
    }

    /// Some sizes of a group side by side, with as many columns as `width` says.
    pub(crate) fn block(
        &self,
        group: &Group<'_>,
        sizes: &[u32],
        width: usize,
        margins: Margins,
    ) -> Block {
        let unused = width - sizes.len();
        let largest = *sizes.last().unwrap_or(&0);
        let mut columns = vec![String::new(); unused];
        let in_operations = group.has_key_pairs() && unused >= 2;
        if in_operations {
            columns[unused - 2..].clone_from_slice(&["ops/s", "p99"].map(str::to_owned));
        }
        columns.extend(sizes.iter().map(|size| match size {
            0 => "time".to_owned(),
            size => Size::from(*size).to_string(),
        }));
        if self.cycles {
            columns.push(if largest == 0 { "cycles" } else { "c/byte" }.to_owned());
        }
        if self.gains {
            columns.push("gain".to_owned());
        }
        let row = |provider: &&str| {
            let mut places = vec![Place::Blank; unused];
            let rate = |row| self.rate(row, margins.rate);
            places.extend(
                sizes.iter().map(|size| group.row(provider, *size).map_or(Place::Blank, rate)),
            );
            let row = group.row(provider, largest);
            if let (true, Some(row)) = (in_operations, row) {
                places[unused - 2] = operations(row);
                places[unused - 1] = far(row);
            }
            if self.cycles {
                let figures = row.and_then(|row| row.figures.measured());
                places.push(figures.map_or(Place::Blank, |found| cycles(found, margins.cycles)));
            }
            if self.gains {
                places.push(row.map_or(Place::Blank, |row| self.gain(row, margins.gain)));
            }
            (self.labels.get(*provider).map_or(*provider, String::as_str).to_owned(), places)
        };
        let rows = match self.all {
            true => group.providers.iter().map(row).collect(),
            false => group.ranked().iter().take(self.best).map(row).collect(),
        };
        Block { heading: group.heading.clone(), columns, rows }
    }

    fn rate(&self, row: &Row, with_margin: bool) -> Place {
        let figures = match &row.figures {
            Known::Measured(figures) => figures,
            Known::Without(reason) => return Place::Word(reason.short()),
        };
        let (number, precision) = number(figures);
        let margin = if with_margin { margin(precision) } else { String::new() };
        match self.comparisons.mark(row) {
            Some(mark) => {
                Place::Figure { number: format!("{mark}{number}"), margin, style: self.fastest }
            }
            None => Place::figure(number, margin),
        }
    }

    fn gain(&self, row: &Row, with_margin: bool) -> Place {
        let gain = match self.all {
            true => self.comparisons.gain(row),
            false => self.comparisons.own_gain(row).or_else(|| self.comparisons.gain(row)),
        };
        gain.map_or(Place::Blank, |gain| {
            let margin = if with_margin { margin(gain.precision()) } else { String::new() };
            Place::figure(format!("{}×", short(gain.value.0)), margin)
        })
    }
}

/// A rate (or a time, if there are no bytes) and its precision.
pub(crate) fn number(figures: &Figures) -> (String, Option<f64>) {
    match &figures.rate {
        Some(rate) => (megabytes(rate.value), rate.precision()),
        None => (time(figures.time.value), figures.time.precision()),
    }
}

fn cycles(figures: &Figures, with_margin: bool) -> Place {
    let per_byte = figures
        .cycles_per_byte
        .map(|cycles| (significant(cycles.value.0, 4), cycles.precision()))
        .or_else(|| figures.cycles.map(|cycles| (short(cycles.value.0), cycles.precision())));
    per_byte.map_or(Place::Blank, |(number, precision)| {
        let margin = if with_margin { margin(precision) } else { String::new() };
        Place::figure(number, margin)
    })
}

/// Operations per second, of all threads together.
pub(crate) fn operations(row: &Row) -> Place {
    let measured = row.figures.measured();
    measured.map_or(Place::Blank, |f| Place::figure(per_second(row, f), String::new()))
}

/// The same as text, for a row with these figures.
pub(crate) fn per_second(row: &Row, figures: &Figures) -> String {
    match f64::from(row.threads) * 1e9 / figures.time.value.0 {
        few if few < 999.5 => short(few),
        many => large(many),
    }
}

/// The time that 99 of 100 operations do not exceed, if enough were timed.
pub(crate) fn far(row: &Row) -> Place {
    let latency = row.figures.measured().and_then(|figures| figures.latency.measured());
    let p99 = latency.and_then(|latency| latency.p99);
    p99.map_or(Place::Blank, |p99| Place::figure(time(p99), String::new()))
}
