//! A name by what is likeliest: each known core, and a core that is none of them, is asked how likely it
//! made these figures.
//!
//! Bayes' rule over the known families and their cores, alike before anything was seen, and one "another
//! core". A core's constants are normal in their logarithms, as far apart as its readings were. "Another
//! core" may have any constant that a core with the extension can have. What is not known of a core is
//! taken to be like its family's or like another's. A core is named if it has nearly all of the probability, else its family if that has, else
//! nothing: unknown is better than wrong.

use super::cores::{Constant, Core, Cores, Gains};
use super::{Implied, Observed};
use crate::units::{BytesPerKilocycle, Hertz};
use serde::Serialize;
use std::f64::consts::TAU;

/// A core is named from this probability on ...
const SURE_OF_CORE: f64 = 0.95;
/// ... and a family from this one on.
const SURE_OF_FAMILY: f64 = 0.90;
/// Candidates below are not worth a word.
const WORTH_A_WORD: f64 = 0.1;

/// That it is a core which is not in the data, before anything was seen.
const ANOTHER: f64 = 0.2;

/// Ranges of "another core", as logarithms: from ThunderX2 (its 5.95 cycles a byte of AES-128, OpenSSL's
/// aesv8-armx.pl) to two cycles a round, the bound, and somewhat more.
const SCORES: (f64, f64) = (100.0, 590.0);
/// How much faster AES-128 and AES-192 are, if nothing is known: not at all, to beyond what the number of
/// rounds makes of it (1.4 and 1.17), as Cortex-A53 shows.
const GAINS: [(u16, f64, f64); 2] = [(128, 1.15, 2.0), (192, 1.05, 1.40)];
/// Most cores spend the same on each round, so half of the others do, too: 14 rounds over 10 and 12.
const ROUNDS: [(u16, f64); 2] = [(128, 1.40), (192, 14.0 / 12.0)];
const ROUNDS_SPREAD: f64 = 0.015;
/// What a call costs, in blocks.
const CALLS: (f64, f64) = (0.2, 12.0);

/// A core whose shorter keys nobody timed is like its family's in so many cases.
const LIKE_FAMILY: f64 = 0.7;

/// A build of OpenSSL or a kernel may make of the call's cost anything.
const ODD_CALL: f64 = 0.1;

/// Clocks that were measured before and after the figures say where the clock was between them, and more
/// likely at one of them than on its way.
const AT_A_READING: f64 = 0.5;
/// A clock that the system states and nobody measured is right in so many cases; else it is lower.
const STATED_IS_RIGHT: f64 = 0.6;
const LOWEST_SHARE_OF_STATED: f64 = 0.6;
/// Steps in which ranges of clocks are gone through: finer than any core's spread.
const STEP: f64 = 0.002;
const MOST_STEPS: f64 = 2000.0;

/// A core or family that was named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Name {
    /// The core, if it can be told from its family.
    pub core: Option<String>,
    /// The family's name.
    pub family: String,
    /// Its members, and what they have in common.
    pub about: String,
    /// Id of the family in the data.
    #[serde(skip)]
    pub id: String,
    /// How likely the name is right, if figures and clocks are what they seem: from 0.9 to 0.99.
    pub confidence: f64,
}

/// What it may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// A family's name.
    pub family: String,
    /// How likely it is.
    pub probability: f64,
    /// The clock that it would have.
    #[serde(rename = "implied_hz")]
    pub implied_clock: Hertz,
}

/// Names the core that made the figures.
pub(super) fn name(observed: &Observed, cores: &Cores) -> Implied {
    let unknown = |why: &str| Implied::Unknown { why: why.to_owned(), candidates: Vec::new() };
    if observed.rates.longest_key().is_none() {
        return unknown("no rate of AES-CBC at 8 KiB or more");
    }
    let weights: Vec<f64> =
        cores.cores.iter().map(|core| prior(core, cores) * likelihood(observed, core)).collect();
    let all: f64 = weights.iter().sum::<f64>() + ANOTHER * another(observed);
    if !(all.is_finite() && all > 0.0) {
        return unknown("key lengths differ as on no core: rows of several cores or clocks?");
    }
    let of_family = |id: &str| {
        let mine = cores.cores.iter().zip(&weights).filter(|(core, _)| core.family == id);
        mine.map(|(_, weight)| weight).sum::<f64>() / all
    };
    let mut families: Vec<(&str, f64)> =
        cores.families.iter().map(|family| (family.id.as_str(), of_family(&family.id))).collect();
    families.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(id, probability)) = families.first().filter(|best| best.1 >= SURE_OF_FAMILY) else {
        let worth = families.iter().filter(|(_, probability)| *probability >= WORTH_A_WORD);
        let candidate = |(id, probability): &(&str, f64)| {
            let range = implied_clock(observed, cores, id, None)?;
            Some(Candidate {
                family: cores.family(id).name.clone(),
                probability: *probability,
                implied_clock: middle(range),
            })
        };
        return Implied::Unknown {
            why: why_unknown(observed).to_owned(),
            candidates: worth.filter_map(candidate).collect(),
        };
    };
    let family = cores.family(id);
    let mine = cores.cores.iter().zip(&weights).filter(|(core, _)| core.family == id);
    let best = mine.clone().max_by(|a, b| a.1.total_cmp(b.1));
    let alone = mine.count() == 1;
    let core = best.filter(|(_, weight)| alone || **weight / all >= SURE_OF_CORE);
    let sure = core.map_or(probability, |(_, weight)| weight / all);
    Implied::Named(Name {
        core: core.map(|(core, _)| core.name.clone()),
        family: family.name.clone(),
        about: family.about.clone(),
        id: family.id.clone(),
        // More than that no data of this size can promise.
        confidence: sure.min(0.99),
    })
}

/// Before anything was seen: half as if all families were alike, half as if all cores were. A family of
/// many cores is met more often, but not as many times.
fn prior(core: &Core, cores: &Cores) -> f64 {
    let family = cores.cores.iter().filter(|other| other.family == core.family).count() as f64;
    let by_family = 1.0 / (cores.families.len() as f64 * family);
    (1.0 - ANOTHER) * (by_family + 1.0 / cores.cores.len() as f64) / 2.0
}

fn why_unknown(observed: &Observed) -> &'static str {
    match (observed.measured_clocks.is_empty(), observed.stated_clock) {
        (true, None) => "no clock is known, and the shape alone does not tell",
        (true, Some(_)) => "nobody measured the clock, and the shape alone does not tell",
        (false, _) => "the figures are those of no known core at this clock",
    }
}

/// The measured clock that fits a name best, and the clock that figures and name imply, lowest and
/// highest.
pub(super) fn clocks(
    observed: &Observed,
    cores: &Cores,
    name: &Name,
) -> (Option<Hertz>, Option<(Hertz, Hertz)>) {
    let implied = implied_clock(observed, cores, &name.id, name.core.as_deref());
    let measured = observed.measured_clocks.iter().copied();
    let measured = match implied {
        Some(range) => {
            let off = |clock: Hertz| (clock / middle(range)).ln().abs();
            measured.min_by(|a, b| off(*a).total_cmp(&off(*b)))
        }
        None => observed.measured_clocks.first().copied(),
    };
    (measured, implied)
}

/// The clock at which a core, or some core of a family, has this rate of the longest key that it is known
/// for.
fn implied_clock(
    observed: &Observed,
    cores: &Cores,
    family: &str,
    core: Option<&str>,
) -> Option<(Hertz, Hertz)> {
    let mine = cores.cores.iter().filter(|known| known.family == family);
    let mine = mine.filter(|known| core.is_none_or(|core| core == known.name));
    range(mine.filter_map(|core| clock_of(observed, core)))
}

/// Scores by key length in bits: rates by the highest clock that was measured, or else by the stated one.
pub(super) fn scores(observed: &Observed) -> Vec<(u16, BytesPerKilocycle)> {
    let Some(clock) = highest(observed).filter(|clock| clock.0 > 0.0) else {
        return Vec::new();
    };
    let score = |bits| {
        let rate = observed.rates.of_long(bits)?;
        Some((bits, BytesPerKilocycle(rate.0 * 1000.0 / clock.0)))
    };
    [128, 192, 256].into_iter().filter_map(score).collect()
}

/// The highest clock that was measured, or else the one that is stated.
pub(super) fn highest(observed: &Observed) -> Option<Hertz> {
    let measured = range(observed.measured_clocks.iter().copied()).map(|(_, high)| high);
    measured.or(observed.stated_clock)
}

/// The lowest and the highest of some clocks. `None` if there is none.
pub(super) fn range(clocks: impl Iterator<Item = Hertz> + Clone) -> Option<(Hertz, Hertz)> {
    let low = clocks.clone().map(|clock| clock.0).reduce(f64::min)?;
    Some((Hertz(low), Hertz(clocks.map(|clock| clock.0).reduce(f64::max)?)))
}

/// The middle of two clocks, as a ratio.
pub(super) fn middle((low, high): (Hertz, Hertz)) -> Hertz {
    Hertz((low.0 * high.0).sqrt())
}

/// The clock at which this core has this rate.
pub(super) fn clock_of(observed: &Observed, core: &Core) -> Option<Hertz> {
    let bits = observed.rates.longest_key()?;
    Some(Hertz(observed.rates.of_long(bits)?.0 * 1e3 / core.scores.get(&bits)?.ln.exp()))
}

/// How likely a core is to make such figures: a density over their logarithms.
fn likelihood(observed: &Observed, core: &Core) -> f64 {
    let rates = &observed.rates;
    let score = score_density(observed, |bits, ln_score| {
        core.scores
            .get(&bits)
            .map_or_else(|| other_score(ln_score), |score| normal(score, ln_score))
    });
    let gains = GAINS.iter().filter_map(|(bits, ..)| {
        let ln = rates.gain(*bits)?.ln();
        let only_of_longest = rates.longest_key() == Some(256);
        let gains = core.gains.get(bits).filter(|_| only_of_longest);
        Some(match gains {
            None => other_gain(*bits, ln),
            Some(Gains::Own(gain)) => normal(gain, ln),
            Some(Gains::OfFamily(gains)) => {
                let like = gains.iter().map(|gain| normal(gain, ln)).sum::<f64>();
                LIKE_FAMILY * like / gains.len() as f64
                    + (1.0 - LIKE_FAMILY) * other_gain(*bits, ln)
            }
        })
    });
    let call = rates.call(256).map_or(1.0, |blocks| {
        let ln = blocks.ln();
        core.call.map_or_else(
            || other_call(ln),
            |call| (1.0 - ODD_CALL) * normal(&call, ln) + ODD_CALL * other_call(ln),
        )
    });
    score * gains.product::<f64>() * call
}

/// The same of a core that is none of the known.
fn another(observed: &Observed) -> f64 {
    let rates = &observed.rates;
    let score = score_density(observed, |_, ln_score| other_score(ln_score));
    let gains =
        GAINS.iter().filter_map(|(bits, ..)| Some(other_gain(*bits, rates.gain(*bits)?.ln())));
    score * gains.product::<f64>() * rates.call(256).map_or(1.0, |blocks| other_call(blocks.ln()))
}

/// The density of the score, over the clocks that the core may have had; 1 where none is known.
fn score_density(observed: &Observed, density: impl Fn(u16, f64) -> f64) -> f64 {
    let Some(bits) = observed.rates.longest_key() else { return 1.0 };
    let Some(rate) = observed.rates.of_long(bits) else { return 1.0 };
    let at = |hz: f64| density(bits, (rate.0 * 1e3 / hz).ln());
    let mean = |low: f64, high: f64| {
        let steps = ((high / low).ln() / STEP).ceil().clamp(1.0, MOST_STEPS);
        let clocks =
            (0..=steps as u32).map(|step| low * (high / low).powf(f64::from(step) / steps));
        clocks.map(at).sum::<f64>() / (steps + 1.0)
    };
    let measured = &observed.measured_clocks;
    match (range(measured.iter().copied()), observed.stated_clock) {
        (Some((low, high)), _) => {
            let readings = measured.iter().map(|clock| at(clock.0)).sum::<f64>();
            let readings = readings / measured.len() as f64;
            AT_A_READING * readings + (1.0 - AT_A_READING) * mean(low.0, high.0)
        }
        (_, Some(Hertz(stated))) => {
            let lower = mean(stated * LOWEST_SHARE_OF_STATED, stated);
            STATED_IS_RIGHT * at(stated) + (1.0 - STATED_IS_RIGHT) * lower
        }
        _ => 1.0,
    }
}

fn normal(constant: &Constant, ln: f64) -> f64 {
    // A reading of one's own is off by as much as those that the constant was made of.
    let spread = constant.spread * (1.0 + 1.0 / constant.readings as f64).sqrt();
    let z = (ln - constant.ln) / spread;
    (-z * z / 2.0).exp() / (spread * TAU.sqrt())
}

fn even(ln: f64, low: f64, high: f64) -> f64 {
    if (low.ln()..=high.ln()).contains(&ln) { 1.0 / (high / low).ln() } else { 0.0 }
}

fn other_score(ln: f64) -> f64 {
    even(ln, SCORES.0, SCORES.1)
}

fn other_call(ln: f64) -> f64 {
    // However large or small, it says nothing against a core.
    even(ln, CALLS.0, CALLS.1).max(1e-3)
}

fn other_gain(bits: u16, ln: f64) -> f64 {
    let range = GAINS.iter().find(|range| range.0 == bits);
    let anything = range.map_or(0.0, |(_, low, high)| even(ln, *low, *high));
    let rounds = ROUNDS.iter().find(|rounds| rounds.0 == bits);
    let usual = rounds.map_or(0.0, |(_, gain)| {
        normal(&Constant { ln: gain.ln(), spread: ROUNDS_SPREAD, readings: usize::MAX }, ln)
    });
    (anything + usual) / 2.0
}
