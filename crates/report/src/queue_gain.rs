//! What messages in flight gain, and what they cost: a table for each executor, and the verdict on its queue.

use super::format::{count, evidence_word, short, time};
use super::groups::in_words;
use super::table::{Block, Place};
use cpb_analysis::queue_gain::{AtSize, ENOUGH, Enough, Limit, QueueGain, Way};
use cpb_analysis::ratio::Verdict;
use cpb_analysis::steps::StepCost;
use cpb_analysis::units::{Interval, Times};
use cpb_core::catalog;
use cpb_record::Evidence;
use cpb_record::size::Size;

/// The meaning of the tables.
pub(crate) const LEGEND: &str = "Gain: rate divided by this driver's rate with one message in flight; on an emulated \
     CPU both are as slow as the emulator, so their ratio means something. \
     irq/op: interrupts of the engine per operation; ctx/op: context switches per operation. Latency: from submission to \
     completion, half of the operations. Build, dispatch, completion: where the time of one message at a time goes, until \
     its request is built, until the call that sends it returns, until the sender runs again.";

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
    let alone = ("one message at a time".to_owned(), steps(found));
    let told = parts.into_iter().chain([alone]).filter(|(_, rows)| is_told(rows));
    told.map(|(heading, rows)| Block { heading, columns: columns.clone(), rows }).collect()
}

/// A row for each step of one message at a time: its time, or its share where times mean nothing.
fn steps(found: &QueueGain) -> Rows {
    let Some(way) = one_at_a_time(found) else { return Rows::new() };
    let all = way.cells.iter().map(|cell| cell.and_then(|cell| cell.steps));
    let named: Vec<_> = all.map(|steps| steps.map(|steps| steps.named())).collect();
    let row = |step: usize| {
        let place = |steps: &Option<[(&str, StepCost); 3]>| {
            let Some(steps) = steps else { return Place::default() };
            let (_, cost) = steps[step];
            Place::figure(cost.time.map_or_else(|| percent(cost.share), time), String::new())
        };
        let name = named.iter().flatten().map(|steps| steps[step].0).next()?;
        Some((name.to_owned(), named.iter().map(place).collect()))
    };
    (0..3).filter_map(row).collect()
}

fn one_at_a_time(found: &QueueGain) -> Option<&Way> {
    found.ways.first().filter(|way| way.in_flight == Some(1))
}

fn percent(share: f64) -> String {
    if share < 0.005 { "<1%".to_owned() } else { format!("{:.0}%", 100.0 * share) }
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
    parts.extend(alone(found));
    Some(format!("{}, {task}{kind}: {}", found.executor, parts.join("; ")))
}

/// Where the time of the shortest message goes, one at a time.
fn alone(found: &QueueGain) -> Option<String> {
    let cells = found.sizes.iter().zip(&one_at_a_time(found)?.cells);
    let (size, steps) =
        cells.filter_map(|(size, cell)| Some((size, cell.as_ref()?.steps?))).next()?;
    Some(format!(
        "one at a time, a message of {} spends {} of its time until its request is built, {} until it is sent, and {} \
         until its completion is noticed",
        Size::from(*size),
        percent(steps.build.share),
        percent(steps.dispatch.share),
        percent(steps.completion.share)
    ))
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
    let limit = match enough.limit {
        Some(Limit::Cpu) => ", with the CPU as the limit",
        Some(Limit::Engine) => ", with the engine as the limit",
        None => "",
    };
    match enough.gain.verdict {
        // The verdict is on one message at a time: it is slower.
        Verdict::Slower => format!(
            "at {size} a full queue is {gain} times{interval} as fast as one message at a time, and {depth} {share}{limit}"
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

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_analysis::queue_gain::Limit;
    use cpb_analysis::ratio::{Basis, Ratio};
    use cpb_analysis::steps::StepCosts;
    use cpb_analysis::units::Nanoseconds;
    use cpb_core::{Algorithm, CryptoWorkload, Operation};

    fn found(evidence: Evidence) -> QueueGain {
        let step = |share: f64| StepCost {
            share,
            time: (evidence == Evidence::Hardware).then_some(Nanoseconds(2000.0 * share)),
        };
        let steps = StepCosts {
            operations: 100,
            build: step(0.05),
            dispatch: step(0.35),
            completion: step(0.6),
        };
        let at = AtSize {
            gain: Some(Times(1.0)),
            interval: None,
            interrupts_per_operation: Some(1.0),
            switches_per_operation: Some(1.0),
            latency: None,
            steps: Some(steps),
        };
        let way = |in_flight: Option<u16>, cell: AtSize| Way {
            provider: "kernel:cbc-aes-caam".into(),
            in_flight,
            built_before: in_flight.is_none(),
            notices_last: in_flight.is_none(),
            cells: vec![Some(cell)],
        };
        let full = AtSize { gain: Some(Times(4.0)), steps: None, ..at };
        QueueGain {
            machine: "a board".into(),
            evidence,
            executor: "cbc-aes-caam".into(),
            provider: "kernel:cbc-aes-caam".into(),
            workload: CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 0).into(),
            sizes: vec![16],
            ways: vec![way(Some(1), at), way(None, full)],
            enough: vec![Enough {
                bytes: 16,
                gain: Ratio {
                    value: Times(4.0),
                    interval: Some(Interval { low: Times(3.9), high: Times(4.1) }),
                    verdict: Verdict::Slower,
                    needs: None,
                    metric: Basis::Time,
                    passes: 12,
                },
                in_flight: Some(8),
                limit: Some(Limit::Engine),
            }],
        }
    }

    #[test]
    fn the_verdict_says_what_a_queue_gains_what_limits_it_and_where_the_time_of_one_message_goes() {
        assert_eq!(
            sentence(&found(Evidence::Hardware)).unwrap_or_default(),
            "cbc-aes-caam, aes-128-cbc encrypt: at 16 B a full queue is 4.00 times (3.90–4.10) as fast as one message at a \
             time, and 8 in flight reach 90% of that rate, with the engine as the limit; one at a time, a message of 16 B \
             spends 5% of its time until its request is built, 35% until it is sent, and 60% until its completion is \
             noticed"
        );
    }

    #[test]
    fn steps_are_times_or_shares_where_times_mean_nothing() {
        for (evidence, expected) in [
            (Evidence::Hardware, ["100 ns", "700 ns", "1.20 µs"]),
            (Evidence::Emulated, ["5%", "35%", "60%"]),
        ] {
            let blocks = blocks(&found(evidence));
            let block = blocks.last().expect("blocks");
            assert_eq!(block.heading, "one message at a time");
            let shown = block.rows.iter().map(|(_, places)| match &places[0] {
                Place::Figure { number, .. } => &**number,
                _ => "",
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected);
        }
    }
}
