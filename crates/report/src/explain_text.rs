//! The sentences of explanations; [`super::explain`] lays them out.

use super::format::{percent, short, time};
use super::groups::in_words;
use cpb_analysis::advice::{Advice, Border, LOSS, PathPair, Reason, STAKE};
use cpb_analysis::crossover::{Contest, Crossing};
use cpb_analysis::explain::{Explained, Explanation, PathScaling};
use cpb_analysis::fit::Shape;
use cpb_analysis::missing::NoFigure;
use cpb_analysis::paths::{Subject, WrongPath};
use cpb_analysis::ratio::TIE;
use cpb_analysis::units::{Bytes, Nanoseconds};
use cpb_core::{Algorithm, Operation, Workload};
use cpb_record::Evidence;
use cpb_record::size::Size;

/// Up to this many paths, all pairs are shown; with more, only pairs that are recommended one after the other.
const FEW: usize = 3;

/// Each reason for missing figures once, with its cells or their number.
fn without(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let mut reasons: Vec<(&NoFigure, Vec<&str>)> = Vec::new();
    for (what, why) in &explanation.without {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(what),
            None => reasons.push((why, vec![what])),
        }
    }
    let words = |(why, cells): (&NoFigure, Vec<&str>)| {
        // A path that failed might have been the best one, so it is always named.
        let wrong =
            matches!(why, NoFigure::Failed(_) | NoFigure::WrongAnswer(_) | NoFigure::AllDiscarded);
        let many = cells.len() > FEW && !wrong;
        // Printed row names may contain commas. Nothing else identifies these cells, so at least the first
        // one is named.
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

/// The operation, in words.
pub(crate) fn what(subject: &Subject, threads: u8) -> String {
    match subject {
        Subject::Measured(workload) => in_words(workload, threads),
        Subject::Published { algorithm, operation, phase, .. } => {
            let operation = operation
                .as_deref()
                .or_else(|| is_cipher(algorithm).then_some("(direction unknown)"));
            let what: Vec<&str> = std::iter::once(algorithm.as_str()).chain(operation).collect();
            match phase {
                Some(phase) => format!("{}, {phase}", what.join(" ")),
                None => what.join(" "),
            }
        }
    }
}

/// Whether an algorithm, if it is known, has two directions.
fn is_cipher(algorithm: &str) -> bool {
    algorithm
        .parse::<Algorithm>()
        .is_ok_and(|known| known.operations().contains(&Operation::Decrypt))
}

/// A computed size: exact to the byte if it is short, otherwise with three digits.
pub(crate) fn about(bytes: Bytes) -> String {
    match bytes.0 {
        bytes if bytes < 10_000.0 => format!("{bytes:.0} B"),
        bytes if bytes < 1_048_576.0 => format!("{} KiB", short(bytes / 1024.0)),
        bytes => format!("{} MiB", short(bytes / 1_048_576.0)),
    }
}

pub(crate) fn size(bytes: Bytes) -> String {
    Size::from(bytes.0 as u32).to_string()
}

fn times(ratio: f64) -> String {
    short(ratio)
}

/// How many times as fast a path is as another at several sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Factors {
    /// All factors are near 1: they differ from it by at most this share.
    Tie(f64),
    /// Between these factors, all above 1.
    Faster { least: f64, most: f64 },
    /// As fast at some sizes, and up to this many times as fast at others.
    UpTo(f64),
    /// Slower by this share at some sizes, and up to this many times as fast at others.
    FromSlower { slower: f64, most: f64 },
}

/// A smaller factor would be written as 1.00.
pub(crate) const LEAST_SHOWN: f64 = 1.005;

impl Factors {
    fn of(least: f64, most: f64) -> Factors {
        let off = (1.0 - least).max(most - 1.0);
        match () {
            _ if least >= LEAST_SHOWN => Factors::Faster { least, most },
            _ if off <= TIE => Factors::Tie(off),
            _ if 1.0 - least <= TIE => Factors::UpTo(most),
            _ => Factors::FromSlower { slower: 1.0 - least, most },
        }
    }

    /// The factors in words; `unit` follows a factor.
    fn words(self, unit: &str, than: &str) -> String {
        match self {
            Factors::Tie(off) => format!("as fast as {than}, within {}", lost(off)),
            Factors::UpTo(most) => format!("up to {}{unit} as fast as {than}", times(most)),
            Factors::Faster { least, most } => {
                let (least, most) = (times(least), times(most));
                let range = if least == most { least } else { format!("{least} to {most}") };
                format!("{range}{unit} as fast as {than}")
            }
            Factors::FromSlower { slower, most } => {
                let (slower, most) = (percent(slower), times(most));
                format!("from {slower} slower to {most}{unit} as fast as {than}")
            }
        }
    }
}

/// A recommendation, in parts.
pub(crate) struct Advised {
    /// The recommended paths.
    pub(crate) who: String,
    /// The sizes, as words that follow the name after a space; empty if there is no message.
    pub(crate) sizes: String,
    /// The reason.
    pub(crate) why: String,
}

impl Advised {
    /// The whole sentence.
    pub(crate) fn sentence(&self) -> String {
        let Advised { who, sizes, why } = self;
        match sizes.as_str() {
            "" => format!("{who}: {why}"),
            sizes => format!("{who} {sizes}: {why}"),
        }
    }
}

/// The most names in a list of equivalent paths.
const NAMED: usize = 3;

/// Several equivalent paths.
pub(crate) fn any_of(names: &[String]) -> String {
    match names.len() {
        0..=NAMED => names.join(" or "),
        many => format!("{} or {} others", names[..NAMED - 1].join(", "), many - NAMED + 1),
    }
}

/// Two measured sizes whose ratio is larger than this leave room for a crossover anywhere between them.
const WIDE: f64 = 1.5;

/// Where the recommendation changes. This is an estimate unless sizes close to it were measured; `between`
/// formats the measured sizes around it.
fn at(border: Border, between: impl Fn(&str, &str) -> String) -> String {
    let Border { bytes, low, high, open } = border;
    if !open && f64::from(high) <= WIDE * f64::from(low) {
        return about(bytes);
    }
    format!("about {} ({})", about(bytes), between(&size(low.into()), &size(high.into())))
}

/// The border with a full explanation.
fn at_in_full(border: Border) -> String {
    at(border, |low, high| format!("{low} to {high} not measured"))
}

/// The border in a short form.
fn at_in_short(border: Border) -> String {
    at(border, |low, high| match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    })
}

/// The sizes for which a recommendation holds. Empty if there is no message.
fn range(advice: &Advice, task: &Explained, all: bool) -> String {
    let (least, largest) = (size(advice.least.into()), size(advice.largest.into()));
    let from = advice.from.map(|border| format!("from {}", about(border.bytes)));
    let to = advice.to.map(|border| format!("up to {}", at_in_full(border)));
    match (from, to) {
        _ if advice.largest == 0 || !task.subject.has_sizes() => String::new(),
        _ if all && advice.least == advice.largest => format!("at {least}"),
        _ if all => format!("at every size measured, {least} to {largest}"),
        (Some(from), Some(to)) => format!("{from} {to}"),
        (Some(from), None) => format!("{from} to {largest}"),
        (None, Some(to)) => format!("from {least} {to}"),
        (None, None) => format!("from {least} to {largest}"),
    }
}

/// The recommendation for a range of sizes, and the reason.
pub(crate) fn advise(advice: &Advice, task: &Explained) -> Advised {
    let who = any_of(&advice.take);
    let sizes = range(advice, task, task.advice.len() == 1);
    let why = match &advice.reason {
        Reason::Only if task.wrong.is_empty() => "it is the only path".to_owned(),
        Reason::Only => "it is the only path whose answers are not in doubt".to_owned(),
        Reason::Tie => format!("they differ by at most {}", lost(advice.loss)),
        Reason::Faster { than, least, most } => {
            let factors = Factors::of(*least, *most);
            format!("it is {}", factors.words(" times", &format!("{than}, the next best")))
        }
        Reason::Fixed { than, own, other } if own.0 > 0.0 => {
            let (own, other) = (time(*own), time(*other));
            format!("its fixed cost per operation is {own}, compared with {other} for {than}")
        }
        Reason::Fixed { than, other, .. } => {
            format!("it has almost no fixed cost, compared with {} for {than}", time(*other))
        }
        Reason::PerByte { than, own, other } => {
            let (own, other) = (time(*own), time(*other));
            format!("its cost per byte is {own}, compared with {other} for {than}")
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
    let rivals = advice.rivals.iter().map(|rival| {
        let by = rival.gain.map(|gain| format!(", by up to {}", percent(gain.max(0.0))));
        format!("; {} may be faster{}: measure longer", rival.provider, by.unwrap_or_default())
    });
    let why = why + &spares.unwrap_or_default() + &rivals.collect::<String>();
    Advised { who, sizes, why }
}

/// A loss; below a tenth of a percent it is rounded up to that.
fn lost(loss: f64) -> String {
    if loss < 0.001 { "0.1%".to_owned() } else { percent(loss) }
}

/// The recommendations for a task in a sentence, in as few ranges as the verdict has. `None` without recommendations.
pub(crate) fn verdict(task: &Explained) -> Option<String> {
    let all = task.verdict.len() == 1;
    let refused: Vec<String> =
        not_recommended(task).into_iter().map(|words| format!("; not {words}")).collect();
    let refused = refused.concat();
    let parts: Vec<String> = task
        .verdict
        .iter()
        .map(|advice| {
            let sizes = match (advice.from, advice.to) {
                _ if all || !task.subject.has_sizes() => String::new(),
                (_, Some(to)) => format!(" up to {}", at_in_short(to)),
                (Some(_), None) => " above".to_owned(),
                (None, None) => String::new(),
            };
            let rivals: Vec<String> =
                advice.rivals.iter().map(|rival| rival.provider.clone()).collect();
            let perhaps = match rivals.is_empty() {
                true => String::new(),
                false => format!(" or perhaps {}", any_of(&rivals)),
            };
            format!("{}{perhaps}{sizes}", any_of(&advice.take))
        })
        .collect();
    if parts.is_empty() {
        return (!refused.is_empty()).then(|| format!("no path can be recommended{refused}"));
    }
    let worst = task.verdict.iter().map(|advice| advice.loss).fold(0.0, f64::max);
    let worst = (worst > LOSS).then(|| format!(" (within {} of the fastest)", percent(worst)));
    let most = task.verdict.iter().filter_map(|advice| match &advice.reason {
        Reason::Faster { than, least, most } if all => match Factors::of(*least, *most) {
            Factors::FromSlower { .. } => None,
            factors => Some(format!(", {}", factors.words("×", than))),
        },
        _ => None,
    });
    let most: String = most.collect();
    Some(format!("{}{}{most}{refused}", parts.join(", "), worst.unwrap_or_default()))
}

/// The paths that are not recommended because of wrong answers, with the sizes and the reason; paths with the same
/// reason together.
pub(crate) fn not_recommended(task: &Explained) -> Vec<String> {
    let mut groups: Vec<(&WrongPath, Vec<String>)> = Vec::new();
    for wrong in &task.wrong {
        let same = |(known, _): &&mut (&WrongPath, Vec<String>)| {
            known.sizes == wrong.sizes && known.why == wrong.why
        };
        match groups.iter_mut().find(same) {
            Some((_, names)) => names.push(wrong.provider.clone()),
            None => groups.push((wrong, vec![wrong.provider.clone()])),
        }
    }
    let words = |(wrong, names): (&WrongPath, Vec<String>)| {
        let at = match task.subject.has_sizes() {
            true => format!("at {}, ", sizes_in_words(&wrong.sizes)),
            false => String::new(),
        };
        format!("{}: {at}{}", any_of(&names), wrong.why)
    };
    groups.into_iter().map(words).collect()
}

/// Ascending sizes: all if they are few, otherwise their number and range.
fn sizes_in_words(sizes: &[u32]) -> String {
    let sizes: Vec<String> = sizes.iter().map(|bytes| size((*bytes).into())).collect();
    match sizes.as_slice() {
        [first, .., last] if sizes.len() > NAMED => {
            format!("{} sizes from {first} to {last}", sizes.len())
        }
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// The answer to "which path at this size?" in words.
pub(crate) fn answer(task: &Explained) -> Option<(&'static str, String)> {
    let answer = task.answer.as_ref()?;
    let at = size(answer.bytes.into());
    if answer.take.is_empty() {
        let words = match task.wrong.is_empty() {
            true => "there is only one path",
            false => "no path can be recommended",
        };
        return Some(("at", format!("{at}: {words}")));
    }
    let costs = |name: &String| task.paths.iter().find(|costs| costs.provider == *name)?.asked;
    let best = answer
        .take
        .iter()
        .filter_map(costs)
        .map(|cost| cost.time.value)
        .filter(|time| time.0.is_finite())
        .min_by(Nanoseconds::total_cmp);
    let mut words = match answer.open {
        true => format!(
            "{at}: not known. The advice changes near it, and the wrong path may take {} longer; {} if costs are \
             linear there",
            whole_percent(STAKE),
            any_of(&answer.take)
        ),
        false => format!("{at}: take {}", any_of(&answer.take)),
    };
    if let Some(best) = best {
        words += &format!(", about {} per operation", time(best));
    }
    if !answer.measured {
        let around = answer.take.iter().filter_map(costs).find_map(|cost| cost.between);
        if let Some((low, high)) = around {
            words += &format!(". Interpolated between {} and {}", size(low), size(high));
        }
        if !answer.maybe.is_empty() {
            words += &format!(", and between them {} may be faster", any_of(&answer.maybe));
        }
        if let Subject::Measured(Workload::Crypto(workload)) = &task.subject {
            let (algorithm, operation) = (workload.algorithm, workload.operation);
            let bytes = answer.bytes;
            words += &format!(
                ". To find out: cpb run -a {algorithm} --operation {operation} -s {bytes}"
            );
        }
    }
    Some(("at", words))
}

pub(crate) fn whole_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

pub(crate) fn notes(task: &Explained) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if !task.same.is_empty() {
        let same: Vec<String> =
            task.same.iter().map(|(variant, library)| format!("{variant} and {library}")).collect();
        notes.push(("the same", format!("{}: within 3% at every size", same.join(", "))));
    }
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
                format!("{name}: its times do not follow a line; the best fit is off by {worst} at {at}"),
            )),
            Shape::Switch { after, before } => notes.push((
                "switch",
                format!(
                    "the costs of {name} change between {} and {}: another internal path, or another \
                     cache",
                    size(after),
                    size(before)
                ),
            )),
        }
    }
    notes
}

/// Remarks beside the tasks: a label and the text.
pub(crate) fn remarks(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let scaling = explanation.scaling.iter().map(|scaling| ("threads", threads(scaling)));
    let mut remarks: Vec<(&'static str, String)> = scaling.collect();
    remarks.extend(without(explanation));
    if explanation.alone > 0 {
        let words = match explanation.alone {
            1 => "one task has only one path at one size".to_owned(),
            many => format!("{many} tasks have only one path at one size each"),
        };
        let words = format!("{words}: nothing to compare or fit; `cpb show` shows the figures");
        remarks.push(("left out", words));
    }
    if explanation.memory_reads > 0 && explanation.inline_decryption.is_empty() {
        let words = "memory reads are not alternatives to choose from: `cpb show` shows how fast each is, `cpb \
                     compare` how two records differ";
        remarks.push(("left out", words.to_owned()));
    }
    remarks.extend(common(explanation).into_iter().map(|words| ("note", words.to_owned())));
    remarks
}

/// Remarks that hold for all tasks.
fn common(explanation: &Explanation) -> Vec<&'static str> {
    let fitted = |task: &&Explained| task.paths.iter().any(|costs| costs.fit.is_ok());
    let single = || explanation.tasks.iter().filter(|task| task.single_readings);
    let mut notes = Vec::new();
    if explanation.tasks.iter().any(|task| fitted(&task)) {
        notes.push(
            "time = fixed + bytes × per byte; MB/s: limit for very long messages; half at: size that reaches \
             half of that rate; ±: half of the 95% interval",
        );
    }
    let of_a_log = |task: &&Explained| task.evidence == Evidence::Imported;
    if explanation.tasks.iter().any(|task| of_a_log(&task) && task.paths.len() > 1) {
        notes.push(
            "each figure of a log is one reading, and `openssl speed` may scatter by a third between runs: a \
             break-even size holds only if it is the same in several logs of each path",
        );
    }
    if single().any(|task| fitted(&task)) {
        notes.push(
            "published readings are single values: their ± comes from how the sizes scatter about the fitted \
             line, not from repeated runs",
        );
    }
    if single().any(|task| !fitted(&task)) {
        notes.push(
            "the noise of single readings without a fitted line is unknown: differences below 5% are not \
             distinguished",
        );
    }
    notes
}

/// Whether one path of the pair is recommended directly below the other.
fn between_neighbours(pair: &PathPair, advice: &[Advice]) -> bool {
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

fn contest(pair: &PathPair, task: &Explained) -> String {
    let (Some(least), Some(largest)) = (pair.sizes.first(), pair.sizes.last()) else {
        return String::new();
    };
    let pair_name = format!("{} and {}", pair.first, pair.second);
    match &pair.contest {
        Contest::Tie => format!("{pair_name} tie: within 3% at every size measured"),
        Contest::Unknown => {
            format!(
                "it is unclear at every size whether {} or {} is faster",
                pair.first, pair.second
            )
        }
        Contest::Never { faster } => {
            let check = match pair.by_fits.filter(|bytes| bytes > largest) {
                Some(bytes) => format!("; their lines would meet at {}", about(bytes)),
                None => String::new(),
            };
            let (winner, loser) = (pair.name(*faster), pair.name(faster.other()));
            format!(
                "{loser} is slower than {winner} at each of {} sizes, {} to {}{check}",
                pair.sizes.len(),
                size(*least),
                size(*largest)
            )
        }
        Contest::Partly { faster, sure } => {
            let sure: Vec<u32> = sure.iter().map(|bytes| bytes.0 as u32).collect();
            let at = sizes_in_words(&sure);
            format!(
                "{} is faster than {} at {at}; at the other sizes they tie, or it is unclear",
                pair.name(*faster),
                pair.name(faster.other())
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

fn crossed(pair: &PathPair, crossing: &Crossing, block: usize, count: usize) -> String {
    let (below, above) = (pair.name(crossing.below), pair.name(crossing.below.other()));
    let (low, high) = (size(crossing.low), size(crossing.high));
    let mut words = format!("{above} overtakes {below} between {low} and {high}");
    // Neighbouring block counts leave nothing to estimate.
    if (crossing.high - crossing.low).0 > block as f64 {
        words += &format!(", at {} if costs are linear there", about(crossing.bytes));
    }
    if count == 1 {
        let threshold = (crossing.bytes.0 / block as f64).ceil() * block as f64;
        words += &format!(": use {below} below {threshold:.0} B");
    }
    words
}

fn threads(scaling: &PathScaling) -> String {
    let rates: Vec<String> = scaling
        .rates
        .iter()
        .skip(1)
        .map(|(threads, ratio)| format!("{}× with {threads}", short(ratio.value.0)))
        .collect();
    let stops = match scaling.stops_at {
        Some(threads) => format!("more than {threads} threads gain nothing"),
        None => "each additional thread gained speed".to_owned(),
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

    #[test]
    fn factors_around_one_are_a_tie_in_words() {
        let words = |least, most| Factors::of(least, most).words(" times", "x");
        assert_eq!(words(0.983, 1.02), "as fast as x, within 2.0%");
        assert_eq!(words(1.0, 1.01), "as fast as x, within 1.0%");
        assert_eq!(words(1.0, 1.0), "as fast as x, within 0.1%");
        assert_eq!(words(1.001, 8.9), "up to 8.90 times as fast as x");
        assert_eq!(words(1.01, 1.02), "1.01 to 1.02 times as fast as x");
        assert_eq!(words(1.5, 1.5), "1.50 times as fast as x");
        assert_eq!(words(0.85, 1.4), "from 15% slower to 1.40 times as fast as x");
    }
}
