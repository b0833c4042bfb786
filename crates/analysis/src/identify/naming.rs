//! Names a core by probability: for each known core, and for an unknown core, computes how likely it is to produce
//! these figures.
//!
//! This is Bayes' rule over the known families and their cores, plus "another core", with prior probabilities that do
//! not depend on the figures. The logarithm of a core's constant is normally distributed, with the spread of its
//! readings. "Another core" may have any constant that a core with the extension can have. An unknown constant of a
//! core is taken to be like its family's, or like another core's. A core is named if it has nearly all of the
//! probability; otherwise its family, if the family has; otherwise nothing, because unknown is better than wrong.

use super::cores::{CallScatter, Constant, Core, Cores, Gains};
use super::{Implied, Observed};
use crate::units::{BytesPerKilocycle, Hertz};
use serde::Serialize;
use std::f64::consts::TAU;

/// The probability from which a core is named.
const SURE_OF_CORE: f64 = 0.95;
/// The probability from which a family is named.
const SURE_OF_FAMILY: f64 = 0.90;
/// Candidates that are less probable are not listed.
const WORTH_A_WORD: f64 = 0.1;

/// The prior probability of a core that is not in the data.
const ANOTHER: f64 = 0.2;

/// The range of scores of "another core", from ThunderX2 (5.95 cycles a byte for AES-128, OpenSSL's aesv8-armx.pl) to
/// the bound of two cycles a round, with some margin.
const SCORES: (f64, f64) = (100.0, 590.0);
/// How many times as fast AES-128 and AES-192 are if nothing is known: from no faster to more than the number of
/// rounds explains (1.4 and 1.17), as on Cortex-A53.
const GAINS: [(u16, f64, f64); 2] = [(128, 1.15, 2.0), (192, 1.05, 1.40)];
/// Most cores need the same time for each round, so half of the unknown cores do as well: 14 rounds divided by 10 and
/// 12.
const ROUNDS: [(u16, f64); 2] = [(128, 1.40), (192, 14.0 / 12.0)];
const ROUNDS_SPREAD: f64 = 0.015;
/// A known core whose shorter keys have not been timed has another ratio than that in this share of cases.
const ODD_GAIN: f64 = 0.1;
/// The range of a call's cost, in blocks.
const CALLS: (f64, f64) = (0.2, 12.0);

/// The probability that a core whose shorter keys were never timed is like its family.
const LIKE_FAMILY: f64 = 0.7;

/// The probability that a build of OpenSSL or a kernel changes the cost of a call completely.
const ODD_CALL: f64 = 0.1;

/// The clock during the figures was between the clocks that were measured before and after them. This is the
/// probability that it was at one of those readings.
const AT_A_READING: f64 = 0.5;
/// The probability that a stated clock is right if it was not measured; `SLOWER` is the probability that the core ran
/// slower. Otherwise it was overclocked.
const STATED_IS_RIGHT: f64 = 0.6;
const SLOWER: f64 = 0.3;
const LOWEST_SHARE_OF_STATED: f64 = 0.6;
const HIGHEST_SHARE_OF_STATED: f64 = 1.5;
/// The range of clocks if nothing is known: those at which boards run such cores under load. The slowest in our logs,
/// an ESPRESSObin, ran at 790 MHz; the fastest core ran at 4.3 GHz.
pub(super) const CLOCKS: (Hertz, Hertz) = (Hertz(0.6e9), Hertz(6e9));
/// The step through a range of clocks, finer than any core's spread.
const STEP: f64 = 0.002;
const MOST_STEPS: f64 = 2000.0;

/// A named core or family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Name {
    /// The core, if it can be told from its family.
    pub core: Option<String>,
    /// The family's name.
    pub family: String,
    /// The family's members, and what they have in common.
    pub about: String,
    /// Id of the family in the data.
    #[serde(skip)]
    pub id: String,
    /// The probability that the name is right if figures and clocks are what they seem: from 0.9 to 0.99.
    pub confidence: f64,
}

/// A possible family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// A family's name.
    pub family: String,
    /// Its probability.
    pub probability: f64,
    /// The clock that it would have had.
    #[serde(rename = "implied_hz")]
    pub implied_clock: Hertz,
}

/// Names the core that produced the figures.
pub(super) fn name(observed: &Observed, cores: &Cores) -> Implied {
    let unknown = |why: &str| Implied::Unknown { why: why.to_owned(), candidates: Vec::new() };
    if observed.rates.longest_key().is_none() {
        return unknown("no AES-CBC rate at 8 KiB or more");
    }
    let weights: Vec<f64> = cores
        .cores
        .iter()
        .map(|core| prior(core, cores) * likelihood(observed, core, cores.calls))
        .collect();
    let all: f64 = weights.iter().sum::<f64>() + ANOTHER * another(observed);
    if !(all.is_finite() && all > 0.0) {
        return unknown(
            "the ratios between key lengths match no core; rows from several cores or clocks?",
        );
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
        // Data of this size does not support more.
        confidence: sure.min(0.99),
    })
}

/// The prior probability of a core: half with all families equally likely, half with all cores equally likely. A
/// family with many cores is more common, but not in proportion.
fn prior(core: &Core, cores: &Cores) -> f64 {
    let family = cores.cores.iter().filter(|other| other.family == core.family).count() as f64;
    let by_family = 1.0 / (cores.families.len() as f64 * family);
    (1.0 - ANOTHER) * (by_family + 1.0 / cores.cores.len() as f64) / 2.0
}

fn why_unknown(observed: &Observed) -> &'static str {
    match (observed.measured_clocks.is_empty(), observed.stated_clock) {
        (true, None) => "no clock is known, and the ratios between key lengths alone are ambiguous",
        (true, Some(_)) => {
            "the clock was not measured, and the ratios between key lengths alone are ambiguous"
        }
        (false, _) => "the figures match no known core at this clock",
    }
}

/// The measured clock that fits a name best, and the clock that the figures and the name imply, lowest and highest.
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

/// The lowest and the highest clock at which a core, or a core of a family, has this rate with the longest measured
/// key.
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

/// Scores by key length in bits: rates divided by the highest measured clock, or by the stated clock if none was
/// measured.
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

/// The highest measured clock, or the stated one if none was measured.
pub(super) fn highest(observed: &Observed) -> Option<Hertz> {
    let measured = range(observed.measured_clocks.iter().copied()).map(|(_, high)| high);
    measured.or(observed.stated_clock)
}

/// The lowest and the highest of `clocks`. `None` if `clocks` is empty.
pub(super) fn range(clocks: impl Iterator<Item = Hertz> + Clone) -> Option<(Hertz, Hertz)> {
    let low = clocks.clone().map(|clock| clock.0).reduce(f64::min)?;
    Some((Hertz(low), Hertz(clocks.map(|clock| clock.0).reduce(f64::max)?)))
}

/// The geometric mean of two clocks.
pub(super) fn middle((low, high): (Hertz, Hertz)) -> Hertz {
    Hertz((low.0 * high.0).sqrt())
}

/// The clock at which this core has this rate.
pub(super) fn clock_of(observed: &Observed, core: &Core) -> Option<Hertz> {
    let bits = observed.rates.longest_key()?;
    Some(Hertz(observed.rates.of_long(bits)?.0 * 1e3 / core.scores.get(&bits)?.ln.exp()))
}

/// How likely a core is to produce these figures: a density over their logarithms.
fn likelihood(observed: &Observed, core: &Core, calls: CallScatter) -> f64 {
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
            None if only_of_longest => alike_gain(*bits, ln),
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
        match student(&core.calls, calls, ln) {
            Some(density) => (1.0 - ODD_CALL) * density + ODD_CALL * other_call(ln),
            None => other_call(ln),
        }
    });
    score * gains.product::<f64>() * call
}

/// The same density for a core that is not known.
fn another(observed: &Observed) -> f64 {
    let rates = &observed.rates;
    let score = score_density(observed, |_, ln_score| other_score(ln_score));
    let gains =
        GAINS.iter().filter_map(|(bits, ..)| Some(other_gain(*bits, rates.gain(*bits)?.ln())));
    score * gains.product::<f64>() * rates.call(256).map_or(1.0, |blocks| other_call(blocks.ln()))
}

/// The density of the score, averaged over the clocks that the core may have had.
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
            let higher = mean(stated, stated * HIGHEST_SHARE_OF_STATED);
            let overclocked = 1.0 - STATED_IS_RIGHT - SLOWER;
            STATED_IS_RIGHT * at(stated) + SLOWER * lower + overclocked * higher
        }
        _ => mean(CLOCKS.0.0, CLOCKS.1.0),
    }
}

fn normal(constant: &Constant, ln: f64) -> f64 {
    // A new reading is off by as much as those from which the constant was computed.
    let spread = constant.spread * (1.0 + 1.0 / constant.readings as f64).sqrt();
    let z = (ln - constant.ln) / spread;
    (-z * z / 2.0).exp() / (spread * TAU.sqrt())
}

/// The density of a call's cost, given those of other logs. It is Student's, because the scatter is known from few
/// logs and a normal density would trust it too much. `None` without a log.
fn student(logs: &[f64], CallScatter { spread, freedom }: CallScatter, ln: f64) -> Option<f64> {
    let number = logs.len() as f64;
    let mean = (number > 0.0).then(|| logs.iter().sum::<f64>() / number)?;
    let spread = spread * (1.0 + 1.0 / number).sqrt();
    let t = (ln - mean) / spread;
    let tails = (1.0 + t * t / freedom).powf(-(freedom + 1.0) / 2.0);
    Some(tails * peak(freedom) / spread)
}

/// Student's density at 0: from 1/π with one degree of freedom to 1/√τ with many, accurate to 2 % by this
/// approximation of the ratio of two gamma functions (Abramowitz and Stegun, 6.1.47).
fn peak(freedom: f64) -> f64 {
    (1.0 - 1.0 / (4.0 * freedom) + 1.0 / (32.0 * freedom * freedom)) / TAU.sqrt()
}

fn even(ln: f64, low: f64, high: f64) -> f64 {
    if (low.ln()..=high.ln()).contains(&ln) { 1.0 / (high / low).ln() } else { 0.0 }
}

fn other_score(ln: f64) -> f64 {
    even(ln, SCORES.0, SCORES.1)
}

fn other_call(ln: f64) -> f64 {
    // A cost outside the range is no evidence against a core, however large or small.
    even(ln, CALLS.0, CALLS.1).max(1e-3)
}

/// The density for a known core of which only the longest key was timed: an odd ratio is no reason to choose it.
fn alike_gain(bits: u16, ln: f64) -> f64 {
    (1.0 - ODD_GAIN) * usual_gain(bits, ln) + ODD_GAIN * any_gain(bits, ln)
}

fn other_gain(bits: u16, ln: f64) -> f64 {
    (any_gain(bits, ln) + usual_gain(bits, ln)) / 2.0
}

fn any_gain(bits: u16, ln: f64) -> f64 {
    let range = GAINS.iter().find(|range| range.0 == bits);
    range.map_or(0.0, |(_, low, high)| even(ln, *low, *high))
}

fn usual_gain(bits: u16, ln: f64) -> f64 {
    let rounds = ROUNDS.iter().find(|rounds| rounds.0 == bits);
    rounds.map_or(0.0, |(_, gain)| {
        normal(&Constant { ln: gain.ln(), spread: ROUNDS_SPREAD, readings: usize::MAX }, ln)
    })
}
