//! The figures of one operation, each as a plot and as a table with the same numbers.

use super::axis;
use super::marks::Marks;
use super::plot::{self, Crossing, Form, Plot, Point, Series};
use super::shown;
use crate::explain::BUSY;
use crate::format::{margin, share, short, time};
use crate::groups::{Comparisons, Group};
use crate::rates::{Margins, Rates};
use crate::table::{Block, Place};
use crate::threads;
use anstyle::Style;
use cpb_analysis::advice::{Advice, Reason};
use cpb_analysis::estimate::Estimate;
use cpb_analysis::explain::{Costs, Explained, SizeCost};
use cpb_analysis::fit::Line;
use cpb_analysis::latency::Latency;
use cpb_analysis::summary::{Figures, Known};
use cpb_analysis::units::{Nanoseconds, Unit};
use cpb_record::size::Size;
use std::collections::HashMap;

/// The number of points of a fitted line, which is curved on logarithmic axes.
const FIT_POINTS: usize = 16;

/// A quantity that was measured over message length.
#[derive(Debug, Default)]
pub(super) struct Figure {
    /// Its title.
    pub(super) title: &'static str,
    /// An explanation.
    pub(super) words: Option<&'static str>,
    /// Whether its tables need the full width.
    pub(super) wide: bool,
    /// `None` if there is only one size.
    pub(super) plot: Option<Plot>,
    /// The same numbers.
    pub(super) tables: Vec<Block>,
}

/// The columns of sizes.
fn columns(sizes: &[u32]) -> Vec<String> {
    let word = |size: &u32| match size {
        0 => "time".to_owned(),
        size => Size::from(*size).to_string(),
    };
    sizes.iter().map(word).collect()
}

/// Rates of measured cells, or times if there is no message.
pub(super) fn rates(
    group: &Group<'_>,
    comparisons: &Comparisons<'_>,
    explained: Option<&Explained>,
    marks: &Marks,
) -> Figure {
    let measured = || group.rows().filter_map(|row| row.figures.measured());
    let rates = Rates {
        comparisons,
        fastest: Style::new(),
        cycles: measured().any(|figures| figures.cycles.is_some()),
        gains: group.rows().any(|row| comparisons.gain(row).is_some()),
        all: true,
        best: usize::MAX,
        labels: &HashMap::new(),
    };
    let margins = Margins { rate: true, gain: true, cycles: true };
    let heading = if group.sizes == [0] { "Time of an operation" } else { "MB/s" };
    // Tables for key pairs contain operations per second and the percentile as well.
    let more = if group.has_key_pairs() { 2 } else { 0 };
    let table = rates.block(group, &group.sizes, group.sizes.len() + more, margins);
    let points = |figures: &Figures, bytes| Some(point(bytes, figures.rate.as_ref()?, 1e-6));
    let series = of_group(group, explained, marks, points);
    Figure {
        title: "rate",
        plot: Some(rate_plot(&group.heading, series, explained)),
        tables: vec![Block { heading: heading.into(), ..table }],
        ..Figure::default()
    }
}

/// Rates of published readings.
pub(super) fn published_rates(heading: &str, task: &Explained, marks: &Marks) -> Figure {
    let mut sizes: Vec<u32> =
        task.paths.iter().flat_map(|costs| &costs.sizes).map(|cost| cost.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rate = |cost: &SizeCost| {
        let rate = |ns: f64| f64::from(cost.bytes) * 1e3 / ns;
        let ends = cost.time.interval.map(|interval| (rate(interval.high.0), rate(interval.low.0)));
        // An interval of the scatter may reach below zero time; then there is no bound.
        let ends = ends.filter(|(low, high)| 0.0 < *low && low <= high);
        let (low, high) = ends.unzip();
        Point { bytes: cost.bytes, value: rate(cost.time.value.0), low, high, tick: None }
    };
    let first = first(task);
    let mut series = Vec::new();
    let mut rows = Vec::new();
    for costs in &task.paths {
        let place = |size: &u32| {
            let cost = costs.sizes.iter().find(|cost| cost.bytes == *size);
            cost.map_or(Place::Blank, |cost| {
                let point = rate(cost);
                let ends = point.low.zip(point.high);
                let share = ends.map(|(low, high)| (high - low) / 2.0 / point.value);
                let mark = mark(task, &costs.provider, *size);
                let margin = share.map(Some).map_or_else(String::new, margin);
                Place::figure(format!("{mark}{}", short(point.value)), margin)
            })
        };
        rows.push((costs.provider.clone(), sizes.iter().map(place).collect()));
        let Some(mark) = marks.of(&costs.provider) else { continue };
        let (name, points) = (costs.provider.clone(), costs.sizes.iter().map(rate).collect());
        let shown = first.contains(&name.as_str());
        series.push(Series { name, mark, points, curves: curves(costs), shown });
    }
    Figure {
        title: "rate",
        plot: Some(rate_plot(heading, series, Some(task))),
        tables: vec![Block { heading: "MB/s".into(), columns: columns(&sizes), rows }],
        ..Figure::default()
    }
}

/// `*` for the recommended path at a size, `=` for one of several that cannot be distinguished.
fn mark(task: &Explained, provider: &String, size: u32) -> &'static str {
    let holds = |advice: &&Advice| (advice.least..=advice.largest).contains(&size);
    match task.advice.iter().find(holds).filter(|advice| advice.take.contains(provider)) {
        None => "",
        Some(advice) if advice.reason == Reason::Only => "",
        Some(advice) if advice.take.len() > 1 => "=",
        Some(_) => "*",
    }
}

fn rate_plot(heading: &str, series: Vec<Series>, explained: Option<&Explained>) -> Plot {
    Plot {
        title: format!("Rate of {heading} by message length, in MB/s; values in the table below"),
        unit: "MB/s",
        words: axis::number_words,
        form: Form::Lines,
        crossings: explained.map(|task| crossings(task, &series)).unwrap_or_default(),
        series,
    }
}

/// A figure in another unit; `factor` converts it.
fn point<U: Unit>(bytes: u32, estimate: &Estimate<U>, factor: f64) -> Point {
    let interval = estimate.interval;
    Point {
        bytes,
        value: estimate.value.number() * factor,
        low: interval.map(|interval| interval.low.number() * factor),
        high: interval.map(|interval| interval.high.number() * factor),
        tick: None,
    }
}

/// A series for each provider of a group that has points.
fn of_group(
    group: &Group<'_>,
    explained: Option<&Explained>,
    marks: &Marks,
    of: impl Fn(&Figures, u32) -> Option<Point>,
) -> Vec<Series> {
    let first = first_of_group(group);
    let series = group.providers.iter().filter_map(|provider| {
        let points: Vec<Point> = group
            .sizes
            .iter()
            .filter_map(|size| of(group.row(provider, *size)?.figures.measured()?, *size))
            .collect();
        let mut costs = explained.iter().flat_map(|task| &task.paths);
        let costs = costs.find(|costs| costs.provider == *provider);
        let curves = costs.map(curves).unwrap_or_default();
        let (name, mark) = ((*provider).to_owned(), marks.of(provider)?);
        let shown = first.contains(provider);
        (!points.is_empty()).then_some(Series { name, mark, points, curves, shown })
    });
    series.collect()
}

/// The paths of a group that are drawn initially.
fn first_of_group<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let time = |provider: &str, size: u32| {
        Some((size, group.row(provider, size)?.figures.measured()?.time.value))
    };
    let times = |provider: &'a str| {
        (provider, group.sizes.iter().filter_map(|size| time(provider, *size)).collect())
    };
    shown::first(&group.providers.iter().map(|provider| times(provider)).collect::<Vec<_>>())
}

/// The paths of a task that are drawn initially.
fn first(task: &Explained) -> Vec<&str> {
    let time = |cost: &SizeCost| (cost.bytes, cost.time.value);
    let times = task
        .paths
        .iter()
        .map(|costs| (costs.provider.as_str(), costs.sizes.iter().map(time).collect()));
    shown::first(&times.collect::<Vec<_>>())
}

/// Fitted costs as rates in MB/s, from the smallest size to the largest.
fn curves(costs: &Costs) -> Vec<Vec<(f64, f64)>> {
    let curve = |line: &Line| {
        let step = |number: usize| {
            let share = number as f64 / (FIT_POINTS - 1) as f64;
            let bytes = line.from * (line.to / line.from).powf(share);
            (bytes.0, bytes.0 * 1e3 / line.at(bytes).0)
        };
        (0..FIT_POINTS).map(step).filter(|(_, rate)| rate.is_finite() && *rate > 0.0).collect()
    };
    costs
        .fit
        .iter()
        .flat_map(|fit| &fit.lines)
        .filter(|line| line.from.0 > 0.0)
        .map(curve)
        .collect()
}

/// The crossovers from one recommended path to the next.
fn crossings(task: &Explained, series: &[Series]) -> Vec<Crossing> {
    let crossing = |advice: &Advice| {
        let border = advice.to?;
        let taken = series.iter().find(|series| advice.take.contains(&series.name));
        let value = taken.and_then(|series| series.at(border.bytes)).unwrap_or(0.0);
        let interval = (border.low.into(), border.high.into());
        Some(Crossing { bytes: border.bytes, value, interval })
    };
    task.advice.iter().filter_map(crossing).collect()
}

/// Core cycles per byte; `None` without a known clock.
pub(super) fn cycles(
    group: &Group<'_>,
    explained: Option<&Explained>,
    marks: &Marks,
) -> Option<Figure> {
    let of = |figures: &Figures, bytes| Some(point(bytes, figures.cycles_per_byte.as_ref()?, 1.0));
    let mut series = of_group(group, explained, marks, of);
    if series.is_empty() {
        return None;
    }
    for series in &mut series {
        series.curves = cycles_curves(series, group);
    }
    let table = by_size("core cycles per byte", group, |figures| {
        figures.cycles_per_byte.map_or(Place::Blank, |cycles| {
            Place::figure(short(cycles.value.0), margin(cycles.precision()))
        })
    });
    Some(Figure {
        title: "cycles per byte",
        words: Some("Cycles do not change when the core's clock does."),
        plot: Some(Plot {
            title: format!("Core cycles per byte of {} by message length", group.heading),
            unit: "core cycles per byte",
            words: axis::number_words,
            form: Form::Lines,
            series,
            crossings: Vec::new(),
        }),
        tables: vec![table],
        ..Figure::default()
    })
}

/// The curves of rates, converted to cycles per byte. The product of the two is the core's clock: it is taken
/// from the measured sizes, and interpolated between them.
fn cycles_curves(series: &Series, group: &Group<'_>) -> Vec<Vec<(f64, f64)>> {
    let clock = |point: &Point| {
        let figures = group.row(&series.name, point.bytes)?.figures.measured()?;
        Some((f64::from(point.bytes), figures.rate?.value.0 / 1e6 * point.value))
    };
    let clocks: Vec<(f64, f64)> = series.points.iter().filter_map(clock).collect();
    let cycles =
        |(bytes, rate): &(f64, f64)| Some((*bytes, plot::between(&clocks, *bytes)? / rate));
    let curves = series.curves.iter().map(|curve| curve.iter().filter_map(cycles).collect());
    curves.filter(|curve: &Vec<_>| curve.len() > 1).collect()
}

/// Times of single operations; `None` if the clock is too coarse.
pub(super) fn latency(group: &Group<'_>, marks: &Marks) -> Option<Figure> {
    let of = |figures: &Figures, bytes| {
        let latency = figures.latency.measured()?;
        let [p90, p99] = [latency.p90, latency.p99].map(|ns| ns.map(|ns| ns.0));
        Some(Point { bytes, value: latency.p50.0, low: None, high: p99.or(p90), tick: p90 })
    };
    let series = of_group(group, None, marks, of);
    if series.is_empty() {
        return None;
    }
    let table = |heading, part: fn(&Latency) -> Option<Nanoseconds>| {
        by_size(heading, group, |figures| match &figures.latency {
            Known::Measured(latency) => {
                part(latency).map_or(Place::Blank, |ns| Place::figure(time(ns), String::new()))
            }
            Known::Without(reason) => Place::Word(reason.short()),
        })
    };
    let queued = |heading, part: fn(&Latency) -> Option<Nanoseconds>| {
        by_size(heading, group, |figures| {
            let found = figures.latency_in_flight.as_ref().and_then(part);
            found.map_or(Place::Blank, |ns| Place::figure(time(ns), String::new()))
        })
    };
    // The other percentiles are in the table of every figure at the end of the page.
    let mut tables = vec![
        table("p50: half of the operations take at most", |latency| Some(latency.p50)),
        table("p99: 99 of 100 take at most", |latency| latency.p99),
    ];
    if group.has_latency_in_flight() {
        tables.extend([
            queued("p50 with others in flight, from submission to completion", |found| {
                Some(found.p50)
            }),
            queued("p99 with others in flight", |found| found.p99),
        ]);
    }
    Some(Figure {
        title: "latency",
        words: Some(
            "Single operations. Marker: the median; tick: 90 of 100 take at most this; end: 99 of 100.",
        ),
        plot: Some(Plot {
            title: format!("Latency of single operations of {} by message length", group.heading),
            unit: "time of one operation: p50, p90, p99",
            words: axis::time_words,
            form: Form::Bars,
            series,
            crossings: Vec::new(),
        }),
        tables,
        ..Figure::default()
    })
}

/// A table with a row for each provider of a group and a column for each size.
fn by_size(heading: &str, group: &Group<'_>, of: impl Fn(&Figures) -> Place) -> Block {
    let row = |provider: &&str| {
        let place = |size: &u32| {
            let figures = group.row(provider, *size).and_then(|row| row.figures.measured());
            figures.map_or(Place::Blank, |figures| of(figures))
        };
        ((*provider).to_owned(), group.sizes.iter().map(place).collect())
    };
    let rows = group.providers.iter().map(row).collect();
    Block { heading: heading.into(), columns: columns(&group.sizes), rows }
}

/// The CPU time of operations; `None` if it was not counted.
pub(super) fn cpu(heading: &str, task: &Explained, marks: &Marks) -> Option<Figure> {
    let mut sizes: Vec<u32> =
        task.paths.iter().flat_map(|costs| &costs.sizes).map(|cost| cost.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let table = |heading: &str, words: fn(&SizeCost) -> Option<String>| {
        let row = |costs: &Costs| {
            let place = |size: &u32| {
                let cost = costs.sizes.iter().find(|cost| cost.bytes == *size);
                cost.and_then(words).map_or(Place::Blank, |w| Place::figure(w, String::new()))
            };
            (costs.provider.clone(), sizes.iter().map(place).collect())
        };
        let rows = task.paths.iter().map(row).collect();
        Block { heading: heading.into(), columns: columns(&sizes), rows }
    };
    let costs = || task.paths.iter().flat_map(|costs| &costs.sizes);
    // Operations with key pairs have no cost per byte.
    if !task.subject.has_sizes() || !costs().any(|cost| cost.cpu_share.is_some()) {
        return None;
    }
    let milliseconds = |cost: &SizeCost| cost.cpu_seconds_per_megabyte.map(|s| s.0 * 1e3);
    let first = first(task);
    let series = task.paths.iter().filter_map(|costs| {
        let point = |cost: &SizeCost| {
            let value = milliseconds(cost)?;
            Some(Point { bytes: cost.bytes, value, low: None, high: None, tick: None })
        };
        let points: Vec<Point> = costs.sizes.iter().filter_map(point).collect();
        let (name, mark) = (costs.provider.clone(), marks.of(&costs.provider)?);
        let shown = first.contains(&name.as_str());
        (!points.is_empty()).then_some(Series { name, mark, points, curves: Vec::new(), shown })
    });
    let busy = costs().all(|cost| cost.cpu_share.is_none_or(|share| share >= BUSY));
    let words = match busy {
        true => "Every path keeps its core busy all the time: the faster one costs less CPU time.",
        false => {
            "CPU time of the thread that requests the operations, and the share of its core that it keeps \
             busy."
        }
    };
    let mut tables = vec![table("CPU ms per MB", |cost| {
        cost.cpu_seconds_per_megabyte.map(|seconds| short(seconds.0 * 1e3))
    })];
    if !busy {
        tables.push(table("share of a core", |cost| cost.cpu_share.map(share)));
    }
    Some(Figure {
        title: "CPU cost",
        words: Some(words),
        plot: (!busy).then(|| Plot {
            title: format!("CPU time per megabyte of {heading} by message length"),
            unit: "CPU ms per MB",
            words: axis::number_words,
            form: Form::Lines,
            series: series.collect(),
            crossings: Vec::new(),
        }),
        tables,
        ..Figure::default()
    })
}

/// The total of several threads, at the largest size; `None` if there is only one number of threads.
pub(super) fn threads(groups: &[Group<'_>], group: &Group<'_>) -> Option<Figure> {
    let table = threads::threads_of(groups, group)?;
    Some(Figure {
        title: "threads",
        words: Some(
            "The total of all threads (MB/s, or operations for key pairs), and the speed-up over the fewest.",
        ),
        tables: vec![table],
        ..Figure::default()
    })
}
