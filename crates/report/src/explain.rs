//! An explanation for a terminal: which path to take, its costs, and the crossovers.

use super::explain_text::{
    about, advise, answer, not_recommended, notes, remarks, size, title, whole_percent,
};
use super::format::{margin, megabytes, percent, short, time};
use super::inline_decryption;
use super::retired;
use super::table::{Block, Place, fits, paint, render as table, wrap};
use super::terminal::{
    Styles, write_note, write_one_pass, write_queues, write_styled_note, write_verdict,
};
use cpb_analysis::explain::{Costs, Explained, Explanation, Question};
use cpb_analysis::fit::Line;
use cpb_analysis::uncertain::Bounded;
use cpb_analysis::units::Unit;
use cpb_record::size::Size;
use std::slice;

/// A path whose share of a core is below this leaves time for other work.
pub(crate) const BUSY: f64 = 0.98;

/// Renders for a terminal of `width` columns.
pub fn render(explanation: &Explanation, width: usize, colour: bool) -> String {
    let styles = Styles::new(colour);
    let mut text = String::new();
    for found in &explanation.inline_decryption {
        let style = if found.added.is_empty() { styles.look.faint } else { styles.fastest };
        let words = inline_decryption::sentence(found);
        write_styled_note(&mut text, &inline_decryption::label(found), &words, width, style);
        if let Some(block) = inline_decryption::block(found) {
            text.push('\n');
            text.push_str(&table(&[block], width, styles.look));
        }
    }
    if !explanation.inline_decryption.is_empty() {
        text.push('\n');
    }
    write_one_pass(&mut text, explanation, width);
    write_queues(&mut text, explanation, width, styles);
    if explanation.tasks.len() > 1 {
        write_verdict(&mut text, explanation, width, styles);
    }
    for task in &explanation.tasks {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in wrap(&title(task), width) {
            paint(&mut text, styles.look.heading, &line);
            text.push('\n');
        }
        text.push('\n');
        if let Some((word, words)) = answer(task) {
            write_styled_note(&mut text, word, &words, width, styles.fastest);
        }
        for advice in &task.advice {
            let words = advise(advice, task).sentence();
            write_styled_note(&mut text, "take", &words, width, styles.fastest);
        }
        for words in not_recommended(task) {
            write_styled_note(&mut text, "do not take", &words, width, styles.warning);
        }
        if let Err(why) = &task.pairs {
            write_note(&mut text, "no advice", why, width);
        }
        let mut blocks = Vec::new();
        // Cycles are the first column to be left out if there is not enough room.
        let tried = [true, false].map(|cycles| costs_block(task, cycles));
        blocks
            .extend(tried.into_iter().flatten().find(|block| fits(slice::from_ref(block), width)));
        if blocks.is_empty() {
            blocks.extend(costs_block(task, false));
        }
        blocks.extend(explanation.question.and_then(|question| loads(task, question)));
        for block in blocks {
            if !text.ends_with("\n\n") {
                text.push('\n');
            }
            text.push_str(&table(&[block], width, styles.look));
        }
        let notes = notes(task);
        if !notes.is_empty() {
            text.push('\n');
        }
        for (word, words) in notes {
            write_note(&mut text, word, &words, width);
        }
    }
    for block in retired::blocks(explanation) {
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        text.push_str(&table(&[block], width, styles.look));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    for (word, words) in retired::notes(explanation) {
        write_note(&mut text, word, &words, width);
    }
    for (word, words) in remarks(explanation) {
        write_note(&mut text, word, &words, width);
    }
    for warning in &explanation.warnings {
        write_styled_note(&mut text, "warning", warning, width, styles.warning);
    }
    if text.is_empty() {
        text.push_str("There are no figures to explain.\n");
    }
    text
}

/// The fitted lines if there are any, otherwise times.
pub(crate) fn costs_block(task: &Explained, cycles: bool) -> Option<Block> {
    match task.paths.iter().any(|costs| costs.fit.is_ok()) {
        true => Some(lines_block(task, cycles)),
        false => times_block(task),
    }
}

/// Times at each size, if there are too few sizes for a line.
fn times_block(task: &Explained) -> Option<Block> {
    let mut sizes: Vec<u32> =
        task.paths.iter().flat_map(|costs| &costs.sizes).map(|cost| cost.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let row = |costs: &Costs| {
        let place = |size: &u32| {
            let cost = costs.sizes.iter().find(|cost| cost.bytes == *size);
            cost.map_or(Place::Blank, |cost| match cost.time.interval {
                None => Place::figure(time(cost.time.value), String::new()),
                Some(_) => figure(&cost.time, time),
            })
        };
        (costs.provider.clone(), sizes.iter().map(place).collect())
    };
    let columns = sizes.iter().map(|size| match size {
        0 => String::new(),
        _ if !task.subject.has_sizes() => String::new(),
        size => Size::from(*size).to_string(),
    });
    let (columns, rows) = (columns.collect(), task.paths.iter().map(row).collect());
    (!sizes.is_empty()).then(|| Block { heading: "time".into(), columns, rows })
}

fn lines_block(task: &Explained, with_cycles: bool) -> Block {
    let cycles = with_cycles
        && task.paths.iter().any(|costs| lines(costs).any(|l| l.fixed_cycles.is_some()));
    // If all paths keep a core busy all the time, the column does not help to choose.
    let cpu = task.paths.iter().any(|costs| largest_cpu(costs).is_some_and(|share| share < BUSY));
    let mut columns: Vec<String> = vec!["fixed".into()];
    if cycles {
        columns.push("cycles".into());
    }
    columns.extend(["per byte", "MB/s", "half at"].map(str::to_owned));
    if cpu {
        columns.push("CPU".into());
    }
    let mut rows = Vec::new();
    for costs in &task.paths {
        let cpu_place = || match largest_cpu(costs) {
            Some(share) if cpu => vec![Place::figure(whole_percent(share), String::new())],
            _ if cpu => vec![Place::Blank],
            _ => Vec::new(),
        };
        let name = &costs.provider;
        let found: Vec<&Line> = lines(costs).collect();
        if found.is_empty() {
            let word = if costs.fit.is_ok() { "poor fit" } else { "few sizes" };
            let mut places = vec![Place::Word(word)];
            places.extend(vec![Place::Blank; columns.len() - 1 - usize::from(cpu)]);
            places.extend(cpu_place());
            rows.push((name.clone(), places));
        }
        for (number, line) in found.iter().enumerate() {
            let name = match (found.len(), number) {
                (1, _) => name.clone(),
                (_, 0) => format!("{name}, to {}", size(line.to)),
                _ => format!("{name}, from {}", size(line.from)),
            };
            let mut places = vec![figure(&line.fixed, time)];
            if cycles {
                let place = line.fixed_cycles.as_ref();
                places.push(
                    place.map_or(Place::Blank, |cycles| figure(cycles, |cycles| short(cycles.0))),
                );
            }
            places.push(figure(&line.per_byte, time));
            // Only the last line has a limit for very long messages.
            let last = number + 1 == found.len();
            let rate = line.rate.filter(|_| last);
            let rate = rate.map(|rate| Place::figure(megabytes(rate.value), String::new()));
            places.push(rate.unwrap_or_default());
            let half = line.half_rate.as_ref().filter(|_| found.len() == 1);
            places.push(half.map_or(Place::Blank, |half| figure(half, about)));
            places.extend(cpu_place());
            rows.push((name, places));
        }
    }
    Block { heading: "cost".into(), columns, rows }
}

fn lines(costs: &Costs) -> impl Iterator<Item = &Line> {
    costs.fit.iter().flat_map(|fit| &fit.lines)
}

fn largest_cpu(costs: &Costs) -> Option<f64> {
    costs.sizes.last()?.cpu_share
}

fn figure<U: Unit>(figure: &Bounded<U>, words: impl Fn(U) -> String) -> Place {
    let value = figure.value.number();
    let share = figure
        .interval
        .map(|interval| (interval.high.number() - interval.low.number()) / 2.0 / value.abs());
    if value <= 0.0 {
        return Place::Word("none seen");
    }
    // A larger margin only means that the cost may be zero.
    match share {
        Some(share) if share >= 1.0 => Place::figure(words(figure.value), "±100%".into()),
        share => Place::figure(words(figure.value), margin(share)),
    }
}

/// The cost of an operation at the requested size, and of the requested load.
fn loads(task: &Explained, question: Question) -> Option<Block> {
    if question.rate.is_none() && (question.bytes.is_none() || !task.subject.has_sizes()) {
        return None;
    }
    let asked = || task.paths.iter().filter_map(|costs| costs.asked);
    asked().next()?;
    let tail = asked().any(|cost| cost.p99.is_some());
    let mut columns = vec!["time"];
    if tail {
        columns.push("p99");
    }
    if question.rate.is_some() {
        columns.extend(["of a core", "of the path", "at most"]);
    }
    let share = |share: f64| match share {
        share if share > 1.0 => Place::Word("too slow"),
        share => Place::figure(percent(share), String::new()),
    };
    let row = |costs: &Costs| {
        let Some(cost) = costs.asked else {
            let mut places = vec![Place::Word("not measured")];
            places.resize(columns.len(), Place::Blank);
            return (costs.provider.clone(), places);
        };
        // An interval between two sizes is not centred on the value.
        let first = match cost.time.interval.filter(|_| cost.between.is_some()) {
            Some(bounds) => Place::figure(
                time(cost.time.value),
                format!("{} to {}", time(bounds.low), time(bounds.high)),
            ),
            None => figure(&cost.time, time),
        };
        let mut places = vec![first];
        if tail {
            let p99 = cost.p99.map(|p99| Place::figure(time(p99), String::new()));
            places.push(p99.unwrap_or_default());
        }
        if let Some(load) = &costs.load {
            places.extend([
                load.cpu.map_or(Place::Word("unknown"), share),
                share(load.busy),
                Place::figure(format!("{}/s", short(load.most.0)), String::new()),
            ]);
        }
        (costs.provider.clone(), places)
    };
    let rate = question.rate.map(|rate| format!("{}/s", short(rate.0)));
    let size =
        question.bytes.filter(|_| task.subject.has_sizes()).map(|n| Size::from(n).to_string());
    let heading: Vec<String> = [size, rate].into_iter().flatten().collect();
    let rows = task.paths.iter().map(row).collect();
    Some(Block {
        heading: heading.join(", "),
        columns: columns.into_iter().map(str::to_owned).collect(),
        rows,
    })
}
