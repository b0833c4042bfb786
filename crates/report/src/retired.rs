//! Instructions of paths, and published times beside what they predict, in an explanation.

use super::explain_text::what;
use super::format::{large, percent, short, time};
use super::table::{Block, Place};
use cpb_analysis::explain::{CountedPath, Explanation};
use cpb_analysis::paths::Subject;
use cpb_analysis::predict::{Predicted, Prediction};
use cpb_analysis::retired::RetiredLine;
use cpb_analysis::units::Unit;

/// The blocks for a terminal: one for each task, and one for the predictions.
pub(crate) fn blocks(explanation: &Explanation) -> Vec<Block> {
    let mut tasks: Vec<(&Subject, Vec<&CountedPath>)> = Vec::new();
    for path in &explanation.counted {
        match tasks.iter_mut().find(|(subject, _)| **subject == path.subject) {
            Some((_, paths)) => paths.push(path),
            None => tasks.push((&path.subject, vec![path])),
        }
    }
    let mut blocks: Vec<Block> =
        tasks.into_iter().map(|(subject, paths)| task(subject, &paths)).collect();
    if !explanation.predictions.is_empty() {
        blocks.push(predictions(&explanation.predictions));
    }
    blocks
}

fn task(subject: &Subject, paths: &[&CountedPath]) -> Block {
    let columns = ["thread, fixed", "per byte", "CPU, fixed", "per byte"];
    let row = |path: &&CountedPath| {
        let places = [line(path.task.as_ref()), line(path.cpu.as_ref())].concat();
        (path.provider.clone(), places)
    };
    Block {
        heading: format!("instructions of {}", what(subject, 1)),
        columns: columns.map(str::to_owned).into(),
        rows: paths.iter().map(row).collect(),
    }
}

fn line(line: Option<&RetiredLine>) -> Vec<Place> {
    match line {
        Some(line) => vec![
            Place::figure(large(line.fixed.value.0.max(0.0)), String::new()),
            Place::figure(short(line.per_byte.value.0.max(0.0)), String::new()),
        ],
        None => vec![Place::Word("no line"), Place::Blank],
    }
}

/// The words for each prediction's parts.
const PARTS: [&str; 2] = ["fixed", "per byte"];

fn predictions(predictions: &[Prediction]) -> Block {
    let mut rows = Vec::new();
    for prediction in predictions {
        let parts =
            [prediction.fixed.as_ref().map(places), prediction.per_byte.as_ref().map(places)];
        for (part, places) in PARTS.iter().zip(parts) {
            let name = format!("{}, {part}", prediction.published);
            rows.push((name, places.unwrap_or_else(|| vec![Place::Word("not counted")])));
        }
    }
    let machine = predictions.first().map(|first| first.machine.as_str()).unwrap_or_default();
    Block {
        heading: format!("predicted for {machine}"),
        columns: ["instructions", "predicted", "published", "off"].map(str::to_owned).into(),
        rows: rows
            .into_iter()
            .map(|(name, mut places)| {
                places.resize(4, Place::Blank);
                (name, places)
            })
            .collect(),
    }
}

fn places<U: Unit>(part: &Predicted<U>) -> Vec<Place> {
    let figure = |words: String| Place::figure(words, String::new());
    let (low, high) = (time(part.predicted.low), time(part.predicted.high));
    let instructions = part.instructions.number().max(0.0);
    vec![
        figure(if instructions < 1000.0 { short(instructions) } else { large(instructions) }),
        figure(format!("{low} to {high}")),
        figure(time(part.published)),
        match part.off {
            0.0 => Place::Word("within"),
            off if off < 0.0 => figure(format!("{} below", percent(-off))),
            off => figure(format!("{} above", percent(off))),
        },
    ]
}

/// What holds for the blocks, each as a label and a sentence.
pub(crate) fn notes(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if !explanation.counted.is_empty() {
        let words = "instructions an operation of the measuring thread, in user mode and in the kernel, and of the \
                     whole CPU, with interrupts and switches to the idle task: fixed + bytes × per byte";
        notes.push(("note", words.to_owned()));
    }
    let mut add = |label, words: String| {
        if !notes.contains(&(label, words.clone())) {
            notes.push((label, words));
        }
    };
    for prediction in &explanation.predictions {
        for words in &prediction.assumptions {
            add("assumed", words.clone());
        }
    }
    for prediction in &explanation.predictions {
        let by = match &prediction.counted {
            Some(counted) => format!("{} by {counted}", prediction.published),
            None => prediction.published.clone(),
        };
        add("lacks", format!("{by}: {}", prediction.lacks));
    }
    notes
}
