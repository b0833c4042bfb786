//! What messages in flight gain, and what they cost: a table for each executor, and the verdict on its queue.

use super::format::{count, evidence_word, short, time};
use super::groups::in_words;
use super::table::{Block, Place};
use cpb_analysis::queue_gain::{AtSize, ENOUGH, Enough, QueueGain, Way};
use cpb_analysis::ratio::Verdict;
use cpb_analysis::units::{Interval, Times};
use cpb_core::catalog;
use cpb_record::Evidence;
use cpb_record::size::Size;

/// The meaning of the tables.
pub(crate) const LEGEND: &str = "Gain: rate divided by this driver's rate with one message in flight; on an emulated \
     CPU both are as slow as the emulator, so their ratio means something. \
     irq/op: interrupts of the engine per operation; ctx/op: context switches per operation. Latency: from submission to \
     completion, half of the operations.";

/// The rows of a block: a way's name and its places.
type Rows = Vec<(String, Vec<Place>)>;

/// The blocks of one executor: gain, interrupts, context switches and latency, by way and size.
pub(crate) fn blocks(found: &QueueGain) -> Vec<Block> {
    let columns: Vec<String> =
        found.sizes.iter().map(|size| Size::from(*size).to_string()).collect();
    let rows = |show: &dyn Fn(&AtSize) -> Option<Place>| -> Rows {
        let row = |way: &Way| {
            let place = |cell: &Option<AtSize>| cell.as_ref().and_then(show).unwrap_or_default();
            (words(way, found), way.cells.iter().map(place).collect::<Vec<_>>())
        };
        found.ways.iter().map(row).collect()
    };
    let figure = |text: String| Place::figure(text, String::new());
    let gain = |cell: &AtSize| Some(figure(short(cell.gain?.0)));
    let heading = format!(
        "{}, {}, {}: gain",
        found.executor,
        in_words(&found.workload, 1),
        evidence_word(found.evidence)
    );
    let parts: [(String, Rows); 4] = [
        (heading, rows(&gain)),
        ("irq/op".into(), rows(&|cell| cell.interrupts_per_operation.map(|n| figure(count(n))))),
        ("ctx/op".into(), rows(&|cell| cell.switches_per_operation.map(|n| figure(count(n))))),
        ("latency".into(), rows(&|cell| cell.latency.map(|latency| figure(time(latency.p50))))),
    ];
    let is_told = |rows: &Rows| {
        rows.iter()
            .any(|(_, places)| places.iter().any(|place| matches!(place, Place::Figure { .. })))
    };
    let told = parts.into_iter().filter(|(_, rows)| is_told(rows));
    told.map(|(heading, rows)| Block { heading, columns: columns.clone(), rows }).collect()
}

fn range(interval: &Interval<Times>) -> String {
    format!("{}–{}", short(interval.low.0), short(interval.high.0))
}

/// A way in words.
fn words(way: &Way, found: &QueueGain) -> String {
    let mut words = match (way.in_flight, way.built_before, way.notices_last) {
        (None, true, true) => vec!["all at once".to_owned()],
        (in_flight, before, last) => {
            let depth =
                in_flight.map_or("full queue".to_owned(), |jobs| format!("{jobs} in flight"));
            let more = [(before, "built before"), (last, "last noticed")];
            let more =
                more.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words.to_owned());
            std::iter::once(depth).chain(more).collect()
        }
    };
    if way.provider != found.provider {
        words.insert(0, way.provider.split(':').next().unwrap_or_default().to_owned());
    }
    words.join(", ")
}

/// The verdict on a queue. `None` if its full depth was not measured, or if nothing is computed.
pub(crate) fn sentence(found: &QueueGain) -> Option<String> {
    if !catalog::computes(&found.provider) {
        return None;
    }
    let (first, last) = (found.enough.first()?, found.enough.last()?);
    let mut parts = vec![at(first)];
    if last.bytes != first.bytes {
        parts.push(at(last));
    }
    let kind = match found.evidence {
        Evidence::Hardware => String::new(),
        other => format!(" ({})", evidence_word(other)),
    };
    let task = in_words(&found.workload, 1);
    Some(format!("{}, {task}{kind}: {}", found.executor, parts.join("; ")))
}

/// What a full queue gains at one size, and how much of it is needed.
fn at(enough: &Enough) -> String {
    let size = Size::from(enough.bytes);
    let interval = enough.gain.interval.map_or_else(String::new, |it| format!(" ({})", range(&it)));
    let gain = short(enough.gain.value.0);
    let depth = match enough.in_flight {
        Some(1) => "one in flight already reaches".to_owned(),
        Some(jobs) => format!("{jobs} in flight reach"),
        None => "no smaller depth that was measured is known to reach".to_owned(),
    };
    let share = format!("{:.0}% of that rate", 100.0 * ENOUGH);
    match enough.gain.verdict {
        // The verdict is on one message at a time: it is slower.
        Verdict::Slower => format!(
            "at {size} a full queue is {gain} times{interval} as fast as one message at a time, and {depth} {share}"
        ),
        Verdict::Faster => {
            format!(
                "at {size} a full queue is slower than one message at a time: {gain} times{interval}"
            )
        }
        Verdict::Tie => format!("at {size} a full queue gains nothing"),
        Verdict::Unknown => {
            format!("at {size} it is not known whether a full queue gains: {gain} times{interval}")
        }
    }
}
