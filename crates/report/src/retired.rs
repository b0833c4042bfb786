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

#[cfg(test)]
mod tests {
    use crate::explain::render;
    use cpb_analysis::explain::{CountedPath, explain};
    use cpb_analysis::paths::Subject;
    use cpb_analysis::predict::{Predicted, Prediction};
    use cpb_analysis::retired::RetiredLine;
    use cpb_analysis::uncertain::Bounded;
    use cpb_analysis::units::{Instructions, InstructionsPerByte, Interval, Nanoseconds};
    use cpb_core::{Algorithm, CryptoWorkload, Operation, Workload};

    #[test]
    fn counts_and_predictions_stand_beside_the_published_times_with_what_was_assumed() {
        let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 0);
        let line = |fixed, per_byte| RetiredLine {
            fixed: Bounded { value: Instructions(fixed), interval: None },
            per_byte: Bounded { value: InstructionsPerByte(per_byte), interval: None },
        };
        let mut explanation = explain([], None);
        explanation.counted.push(CountedPath {
            machine: "a guest".to_owned(),
            subject: Subject::Measured(Workload::Crypto(workload)),
            provider: "af_alg:cbc-aes-caam".to_owned(),
            task: Some(line(16_773.0, 0.5)),
            cpu: None,
            sizes: Vec::new(),
        });
        let predicted = Predicted {
            instructions: Instructions(25_617.0),
            engine: Nanoseconds(11_000.0),
            predicted: Interval { low: Nanoseconds(62_000.0), high: Nanoseconds(88_000.0) },
            published: Nanoseconds(96_800.0),
            off: 0.1,
        };
        explanation.predictions.push(Prediction {
            machine: "i.MX6Q".to_owned(),
            assumptions: vec!["2 to 3 cycles an instruction: a guess".to_owned()],
            algorithm: "aes-128-cbc".to_owned(),
            published: "af_alg".to_owned(),
            counted: Some("af_alg:cbc-aes-caam".to_owned()),
            fixed: Some(predicted),
            per_byte: None,
            lacks: "another kernel".to_owned(),
        });
        let text = render(&explanation, 100, false);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in [
            "af_alg:cbc-aes-caam 16.8k 0.500 no line",
            "af_alg, fixed 25.6k 62.0 µs to 88.0 µs 96.8 µs 10% above",
            "af_alg, per byte not counted",
            "assumed 2 to 3 cycles an instruction: a guess",
            "lacks af_alg by af_alg:cbc-aes-caam: another kernel",
        ] {
            assert!(words.contains(told), "{told}: {text}");
        }
    }
}
