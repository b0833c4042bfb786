//! What explanations say, in words; laid out by [`super::explain`].

use super::groups::heading;
use super::numbers::{percent, short, time};
use crate::analysis::advice::{Advice, Compared, Reason};
use crate::analysis::crossover::{Contest, Crossing};
use crate::analysis::explain::{Explained, Explanation, Scaling, SizeCost};
use crate::analysis::fit::Shape;
use crate::analysis::no_figure::NoFigure;
use crate::analysis::paths::Subject;
use crate::analysis::units::Unit;
use crate::record::Evidence;
use crate::size::Size;

/// So many paths have all their pairs shown; of more, only those that are taken one after the other.
const FEW: usize = 3;
/// Sizes that are this many times apart leave room for costs that do not run straight.
const WIDE: f64 = 4.5;
/// Paths whose figures are known to no more than this cannot be told apart for that reason.
const UNSURE: f64 = 0.1;
/// A check that is this far off the crossover is worth a word.
const APART: f64 = 0.2;

/// Each reason for missing figures once, with the cells that it concerns or how many they are.
fn without(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let mut reasons: Vec<(&NoFigure, Vec<&str>)> = Vec::new();
    for (what, why) in &explanation.without {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(what),
            None => reasons.push((why, vec![what])),
        }
    }
    let words = |(why, cells): (&NoFigure, Vec<&str>)| {
        // What went wrong might have been the best path: it is always named.
        let wrong =
            matches!(why, NoFigure::Failed(_) | NoFigure::WrongAnswer(_) | NoFigure::AllDiscarded);
        let many = cells.len() > FEW && !wrong;
        // Rows as they were printed may hold commas; and of these nothing else tells which they are.
        let (label, cells) = match *why == NoFigure::Repeated {
            true if many => ("left out", format!("{} cells, from {} on", cells.len(), cells[0])),
            true => ("left out", cells.join("; ")),
            false if many => ("no figure", format!("{} cells", cells.len())),
            false => ("no figure", cells.join(", ")),
        };
        (label, format!("{cells}: {why}"))
    };
    reasons.into_iter().map(words).collect()
}

pub(crate) fn title(task: &Explained) -> String {
    let what = what(&task.subject, task.threads);
    let evidence = match task.evidence {
        Evidence::Hardware => "",
        Evidence::Emulated => "; emulated",
        Evidence::Simulated => "; simulated",
        Evidence::Published => "; published, not measured by cpb",
        Evidence::Imported => "; from another tool's log",
    };
    match task.machine.as_str() {
        "" => format!("{what}{evidence}"),
        machine => format!("{what}: {machine}{evidence}"),
    }
}

/// What is done, in words.
pub(crate) fn what(subject: &Subject, threads: u8) -> String {
    match subject {
        Subject::Measured(workload) => heading(workload, threads, false),
        Subject::Published { algorithm, operation, phase } => {
            let what = [Some(algorithm), operation.as_ref()];
            let what: Vec<&str> = what.into_iter().flatten().map(String::as_str).collect();
            match phase {
                Some(phase) => format!("{}, {phase}", what.join(" ")),
                None => what.join(" "),
            }
        }
    }
}

/// A size that was computed: to the byte where that is short, else to three digits.
pub(crate) fn about(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 10_000.0 => format!("{bytes:.0} B"),
        bytes if bytes < 1_048_576.0 => format!("{} KiB", short(bytes / 1024.0)),
        bytes => format!("{} MiB", short(bytes / 1_048_576.0)),
    }
}

pub(crate) fn size(bytes: f64) -> String {
    Size::from(bytes as u32).to_string()
}

fn times(ratio: f64) -> String {
    short(ratio)
}

/// What to do, in parts.
pub(crate) struct Advised {
    /// Whom to take.
    pub(crate) who: String,
    /// At which sizes, as words that follow the name after a space; empty where there is no message.
    pub(crate) sizes: String,
    /// Why.
    pub(crate) why: String,
}

impl Advised {
    /// All of it.
    pub(crate) fn sentence(&self) -> String {
        let Advised { who, sizes, why } = self;
        match sizes.as_str() {
            "" => format!("{who}: {why}"),
            sizes => format!("{who} {sizes}: {why}"),
        }
    }
}

/// Half of the widest interval of the paths that are to be taken, as a share of the figure.
fn widest(advice: &Advice, task: &Explained) -> f64 {
    let taken = task.paths.iter().filter(|costs| advice.take.contains(&costs.provider));
    let inside = |cost: &&SizeCost| (advice.least..=advice.largest).contains(&cost.bytes);
    let shares = taken.flat_map(|costs| &costs.sizes).filter(inside).filter_map(|cost| {
        let interval = cost.time.interval.as_ref()?;
        Some((interval.high.0 - interval.low.0) / 2.0 / cost.time.value.0)
    });
    shares.fold(0.0, f64::max)
}

/// What to do with a range of sizes, and why.
pub(crate) fn advise(advice: &Advice, task: &Explained) -> Advised {
    let widest = widest(advice, task);
    let unsure = advice.reason == Reason::Tie && widest > UNSURE;
    let who = match advice.take.as_slice() {
        [one] => one.clone(),
        many if unsure => many.join(" or "),
        many => format!("{}, whichever you like", many.join(" or ")),
    };
    let all = task.advice.len() == 1;
    let (least, largest) = (size(advice.least.into()), size(advice.largest.into()));
    let from = advice.from.map(|bytes| format!("from {}", about(bytes)));
    let to = advice.to.map(|bytes| format!("up to {}", about(bytes)));
    let sizes = match (from, to) {
        _ if advice.largest == 0 || !task.subject.has_sizes() => String::new(),
        _ if all && advice.least == advice.largest => format!("at {least}"),
        _ if all => format!("at every size, {least} to {largest}"),
        (Some(from), Some(to)) => format!("{from} {to}"),
        (Some(from), None) => format!("{from}, measured up to {largest}"),
        (None, Some(to)) => format!("{to}, measured from {least}"),
        (None, None) if advice.least == advice.largest => format!("at {least}"),
        (None, None) => format!("from {least} to {largest}"),
    };
    let ns = |ns: f64| time(Unit::of(ns));
    let why = match &advice.reason {
        Reason::Only => "there is no other".to_owned(),
        Reason::Tie if unsure => {
            let widest = whole_percent(widest);
            format!("which is faster is not known to within {widest}; measure for longer")
        }
        Reason::Tie => "they differ by less than the noise".to_owned(),
        Reason::Faster { than, least, most } => {
            let (least, most) = (times(*least), times(*most));
            let times = if least == most { least } else { format!("{least} to {most}") };
            format!("it is {times} times as fast as {than}, the next best")
        }
        Reason::Fixed { than, own, other } if *own > 0.0 => {
            let (own, other) = (ns(*own), ns(*other));
            format!("an operation's fixed cost is {own} against {other} of {than}")
        }
        Reason::Fixed { than, other, .. } => {
            format!("it has no fixed cost to speak of, {than} one of {}", ns(*other))
        }
        Reason::PerByte { than, own, other } => {
            let (own, other) = (ns(*own), ns(*other));
            format!("a byte costs {own} against {other} of {than}")
        }
    };
    let spares = advice.spares.as_ref().map(|spares| {
        format!(
            "; {} takes {} times as long but leaves {} of a core free",
            spares.provider,
            times(spares.slower),
            whole_percent(spares.free)
        )
    });
    Advised { who, sizes, why: why + &spares.unwrap_or_default() }
}

pub(crate) fn whole_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

pub(crate) fn notes(task: &Explained) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if let Ok(pairs) = &task.pairs {
        let few = task.paths.len() <= FEW;
        for pair in pairs.iter().filter(|pair| pair.sizes.len() > 1) {
            if few || between_neighbours(pair, &task.advice) {
                notes.push(("crossover", contest(pair, task)));
            }
        }
    }
    for costs in &task.paths {
        let Ok(fit) = &costs.fit else { continue };
        let (worst, at) = (percent(fit.worst), size(fit.worst_bytes));
        let name = &costs.provider;
        match fit.shape {
            Shape::Line => {}
            Shape::Poor => notes.push((
                "poor fit",
                format!("{name}: no line is near its times, the best is off by {worst} at {at}"),
            )),
            Shape::Switch { after, before } => notes.push((
                "switch",
                format!(
                    "{name} changes its costs between {} and {}: another path inside, or another \
                     cache",
                    size(after),
                    size(before)
                ),
            )),
        }
    }
    notes
}

/// What is to be said beside the tasks: a word, and the words to it.
pub(crate) fn remarks(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let scaling = explanation.scaling.iter().map(|scaling| ("threads", threads(scaling)));
    let mut remarks: Vec<(&'static str, String)> = scaling.collect();
    remarks.extend(without(explanation));
    if explanation.alone > 0 {
        let words = match explanation.alone {
            1 => "one task has one path at one size only".to_owned(),
            many => format!("{many} tasks have one path at one size each"),
        };
        let words = format!("{words}: nothing to compare or fit; `cpb show` shows the figures");
        remarks.push(("left out", words));
    }
    remarks.extend(common(explanation).into_iter().map(|words| ("note", words.to_owned())));
    remarks
}

/// What holds for all tasks.
fn common(explanation: &Explanation) -> Vec<&'static str> {
    let fitted = |task: &&Explained| task.paths.iter().any(|costs| costs.fit.is_ok());
    let single = || explanation.tasks.iter().filter(|task| task.single_readings);
    let mut notes = Vec::new();
    if explanation.tasks.iter().any(|task| fitted(&task)) {
        notes.push(
            "time = fixed + bytes × per byte; MB/s: of messages without end; half at: the size that \
             reaches half of that rate; ±: half of the 95% interval",
        );
    }
    if single().any(|task| fitted(&task)) {
        notes.push(
            "published readings are single: their ± is from how the sizes scatter about their line, \
             not from repeated runs",
        );
    }
    if single().any(|task| !fitted(&task)) {
        notes.push(
            "of single readings without a line nothing is known of the noise: within 5% they are \
             called a tie",
        );
    }
    notes
}

/// Whether one of the pair is taken up to where the other is.
fn between_neighbours(pair: &Compared, advice: &[Advice]) -> bool {
    let pair = [&pair.first, &pair.second];
    advice.windows(2).any(|classes| {
        let [small, large] = classes else { return false };
        small.take.iter().any(|one| {
            large
                .take
                .iter()
                .any(|other| one != other && pair.contains(&one) && pair.contains(&other))
        })
    })
}

fn contest(pair: &Compared, task: &Explained) -> String {
    let (Some(least), Some(largest)) = (pair.sizes.first(), pair.sizes.last()) else {
        return String::new();
    };
    let pair_name = format!("{} and {}", pair.first, pair.second);
    match &pair.contest {
        Contest::Tie => format!("{pair_name} cannot be told apart at any size"),
        Contest::Never { faster } => {
            let check = match pair.by_fits.filter(|bytes| bytes > largest) {
                Some(bytes) => format!("; their lines would meet at {}", about(bytes)),
                None => String::new(),
            };
            let (winner, loser) = (pair.name(*faster), pair.name(faster.other()));
            format!(
                "{loser} is never faster than {winner} from {} up to {}{check}",
                size(*least),
                size(*largest)
            )
        }
        Contest::Partly { faster, sure } => {
            let stretches: Vec<String> = sure
                .iter()
                .map(|(from, to)| format!("{} to {}", about(*from), about(*to)))
                .collect();
            format!(
                "{} is faster at {}; elsewhere {pair_name} cannot be told apart",
                pair.name(*faster),
                stretches.join(" and ")
            )
        }
        Contest::Crosses(crossings) => {
            let words: Vec<String> = crossings
                .iter()
                .map(|crossing| crossed(pair, crossing, task.subject.block(), crossings.len()))
                .collect();
            words.join("; ")
        }
    }
}

fn crossed(pair: &Compared, crossing: &Crossing, block: usize, count: usize) -> String {
    let (below, above) = (pair.name(crossing.below), pair.name(crossing.below.other()));
    let at = crossing
        .bytes
        .map_or_else(|| "somewhere".to_owned(), |bytes| format!("at {}", about(bytes)));
    let interval = match (crossing.low, crossing.high) {
        (Some(low), Some(high)) => format!("{} to {}", about(low.floor()), about(high.ceil())),
        (Some(low), None) => format!("{} or more, beyond what was measured", about(low.floor())),
        (None, Some(high)) => format!("{} or less, below what was measured", about(high.ceil())),
        (None, None) => "any size".to_owned(),
    };
    let mut words = format!("{above} overtakes {below} {at} ({interval})");
    if let Some(bytes) = crossing.bytes {
        if count == 1 {
            let threshold = (bytes / block as f64).ceil() * block as f64;
            words += &format!(": let {below} have messages below {threshold:.0} B");
        }
        let above = pair.sizes.iter().position(|size| *size >= bytes).unwrap_or(0);
        if let Some(below) = above.checked_sub(1).map(|place| pair.sizes[place])
            && pair.sizes[above] > WIDE * below
        {
            let (below, above) = (size(below), size(pair.sizes[above]));
            words += &format!("; nothing between {below} and {above} was measured");
        }
        if let Some(check) = pair.by_fits.filter(|fits| (fits / bytes - 1.0).abs() > APART) {
            words += &format!("; by their lines alone it would be at {}", about(check));
        }
    }
    words
}

fn threads(scaling: &Scaling) -> String {
    let rates: Vec<String> = scaling
        .rates
        .iter()
        .skip(1)
        .map(|(threads, ratio)| format!("{}× with {threads}", short(ratio.value.0)))
        .collect();
    let stops = match scaling.stops_at {
        Some(threads) => format!("more than {threads} gain nothing"),
        None => "each more gained something".to_owned(),
    };
    let what = what(&scaling.subject, 1);
    let size = match scaling.subject.has_sizes() {
        true => format!(" at {}", Size::from(scaling.bytes)),
        false => String::new(),
    };
    format!("{} {what}{size}: {}; {stops}", scaling.provider, rates.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::explain::Costs;
    use crate::analysis::fit::NoFit;
    use crate::analysis::uncertain::Bounded;
    use crate::analysis::units::{Interval, Nanoseconds};
    use cpb_core::{Algorithm, CryptoWorkload, Operation};

    #[test]
    fn a_tie_is_one_as_far_as_the_figures_are_known() {
        let costs = |provider: &str, margin: f64| Costs {
            provider: provider.to_owned(),
            fit: Err(NoFit::FewSizes),
            sizes: vec![SizeCost {
                bytes: 64,
                time: Bounded {
                    value: Nanoseconds(100.0),
                    interval: Some(Interval {
                        low: Nanoseconds(100.0 - margin),
                        high: Nanoseconds(100.0 + margin),
                    }),
                },
                cpu: None,
                cpu_share: None,
                cpu_seconds_per_megabyte: None,
            }],
            load: None,
        };
        let advice = Advice {
            least: 64,
            largest: 64,
            from: None,
            to: None,
            take: ["one", "other"].map(str::to_owned).to_vec(),
            reason: Reason::Tie,
            spares: None,
        };
        let words = |margin| {
            let task = Explained {
                machine: String::new(),
                subject: Subject::Measured(CryptoWorkload::new(
                    Algorithm::Sha256,
                    Operation::Hash,
                    64,
                )),
                threads: 1,
                evidence: Evidence::Hardware,
                single_readings: false,
                paths: vec![costs("one", 1.0), costs("other", margin)],
                pairs: Ok(Vec::new()),
                advice: vec![advice.clone()],
            };
            advise(&advice, &task).sentence()
        };
        assert!(words(2.0).starts_with("one or other, whichever you like at 64 B: they differ by"));
        let unsure = "one or other at 64 B: which is faster is not known to within 56%; measure";
        assert!(words(56.0).starts_with(unsure), "{}", words(56.0));
    }
}
