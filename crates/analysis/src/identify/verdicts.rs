//! Contradictions between clocks, cores, features and figures.

use super::cores::Cores;
use super::{Identified, Implied, Observed, naming};
use crate::units::{BytesPerKilocycle, Cycles, Hertz, Seconds};
use serde::Serialize;

/// Clocks, and bounds, agree if they differ by at most this share.
const AGREE: f64 = 0.03;

/// Two cycles per round of 10, 12 and 14 rounds: 16 bytes in 20, 24 and 28 cycles.
const BOUNDS: [(u16, BytesPerKilocycle); 3] = [
    (128, BytesPerKilocycle(800.0)),
    (192, BytesPerKilocycle(16_000.0 / 24.0)),
    (256, BytesPerKilocycle(16_000.0 / 28.0)),
];

/// No core computes AES-256 with the extension below this score. The slowest known core, Cortex-A35, has 217, and
/// ThunderX2's AES-128 would correspond to 120. Software has 20 to 70.
const SOFTWARE: BytesPerKilocycle = BytesPerKilocycle(100.0);

/// AES-256 of the slowest known core with the extension, Cortex-A35, in records/armv8-aes.jsonl.
const SLOWEST: BytesPerKilocycle = BytesPerKilocycle(217.0);

/// A call that costs more than this, both in time and in cycles, goes to the kernel and from there to an engine or a
/// driver. A library's calls take 20 to 300 cycles.
const KERNEL_TIME: Seconds = Seconds(2e-6);
const KERNEL_CYCLES: Cycles = Cycles(2000.0);

/// For a core whose features do not list AES.
const NO_EXTENSION: &str = "the core has no Crypto Extensions";

/// For a core without suitable figures.
const NO_FIGURE: &str = "no figures for AES-CBC encryption of a stream, as `cpb identify` and \
    `openssl speed` measure it";

/// OpenSSL engines that pass work to the kernel.
const ENGINES: [&str; 4] = ["afalg", "af_alg", "devcrypto", "cryptodev"];

/// With the instructions, AES-256-CBC is at least this many times as fast as without: 4.7 times on x86-64 compared
/// with vector code (bench and README), which is the fastest without the instructions.
const EXTENSION_GAIN: f64 = 1.8;
/// A gain below this counts as no gain.
const NO_GAIN: f64 = 1.2;

/// A contradiction or a remark.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misfit {
    /// Faster than two cycles a round, which no known core reaches: the clock or the core is wrong, or an engine
    /// computed it.
    AboveBound {
        /// Key length in bits.
        bits: u16,
        /// Rate divided by the clock.
        score: BytesPerKilocycle,
        /// The highest possible score.
        bound: BytesPerKilocycle,
    },
    /// A longer key is faster than a shorter one: the rows come from several cores or clocks.
    KeyOrder {
        /// The shorter key.
        bits: u16,
        /// The longer key, which is faster.
        longer: u16,
    },
    /// The stated clock is wrong.
    StatedClock {
        /// The stated clock.
        #[serde(rename = "stated_hz")]
        stated: Hertz,
        /// The actual clock.
        #[serde(rename = "actual_hz")]
        actual: Hertz,
        /// Whether the actual clock was measured; otherwise the figures imply it.
        measured: bool,
    },
    /// The figures imply a higher clock than the measured one, so the measured clock is not theirs.
    MeasuredClock {
        /// The measured clock.
        #[serde(rename = "measured_hz")]
        measured: Hertz,
        /// The clock that the figures imply.
        #[serde(rename = "implied_hz")]
        implied: Hertz,
    },
    /// The figures imply a lower clock than any measured one: the core was throttled while they were measured.
    RanSlower {
        /// The lowest measured clock.
        #[serde(rename = "measured_hz")]
        measured: Hertz,
        /// The clock that the figures imply.
        #[serde(rename = "implied_hz")]
        implied: Hertz,
        /// The reported core, if the figures imply a clock only for that core.
        #[serde(skip_serializing_if = "Option::is_none")]
        reported: Option<String>,
    },
    /// The clock was measured more than once, and changed.
    ClockMoved {
        /// The lowest reading.
        #[serde(rename = "low_hz")]
        low: Hertz,
        /// The highest reading.
        #[serde(rename = "high_hz")]
        high: Hertz,
    },
    /// The system reports a core that the figures do not match.
    AnotherCore {
        /// The reported core.
        reported: String,
        /// Its family.
        family: String,
    },
    /// The system reports a core that is not in the data, so the figures neither confirm nor contradict it.
    NotInData {
        /// The reported core.
        reported: String,
    },
    /// The reported core would need this clock for these figures.
    ReportedNeeds {
        /// The reported core.
        reported: String,
        /// The clock that it would need.
        #[serde(rename = "hz")]
        clock: Hertz,
    },
    /// The features list the extension, but the figures are those of software.
    ExtensionNotUsed,
    /// The figures are those of the extension, but the features do not list it.
    ExtensionNotListed,
    /// Masking the crypto instructions has, or does not have, the effect that the features suggest.
    Extension {
        /// Whether the features list the extension.
        listed: bool,
        /// Rate with the instructions divided by the rate without.
        gain: f64,
        /// Whether features and gain agree; `None` if the gain is inconclusive.
        agree: Option<bool>,
    },
    /// Runs with the same key differ by more than noise.
    RunsApart {
        /// The difference, as a share.
        share: f64,
    },
    /// The figures may come from another type of core.
    NotPinned {
        /// The other types.
        elsewhere: Vec<String>,
    },
}

impl Misfit {
    /// Whether it prevents naming a core.
    pub fn spoils_names(&self) -> bool {
        matches!(self, Misfit::AboveBound { .. } | Misfit::KeyOrder { .. })
    }

    /// Whether something is wrong; otherwise it is only information.
    pub fn is_wrong(&self) -> bool {
        !matches!(
            self,
            Misfit::Extension { agree: Some(true), .. }
                | Misfit::ReportedNeeds { .. }
                | Misfit::NotInData { .. }
        )
    }
}

/// Whether cores of this instruction set can have the Armv8 Crypto Extensions. True if the set is unknown (empty).
fn is_arm(architecture: &str) -> bool {
    architecture.is_empty()
        || architecture.starts_with("arm")
        || architecture.starts_with("aarch64")
}

/// Whether the features list the AES instructions of Arm, x86 or RISC-V. `None` if the features are unknown.
fn lists_aes(observed: &Observed) -> Option<bool> {
    let features = observed.features.as_ref()?;
    Some(features.iter().any(|feature| ["aes", "zkne", "zvkned"].contains(&feature.as_str())))
}

/// The reason why the constants do not apply, or `None` if they do.
pub(super) fn not_applicable(
    observed: &Observed,
    scores: &[(u16, BytesPerKilocycle)],
) -> Option<Implied> {
    let not = |why: String| Some(Implied::NotApplicable { why });
    let accelerator = |why: String| Some(Implied::Accelerator { why });
    if let Some(sign) = &observed.emulated {
        return not(format!("emulated ({sign}): times and clocks mean nothing"));
    }
    if observed.rates.is_empty() {
        return not(match lists_aes(observed) {
            Some(false) if is_arm(&observed.architecture) => NO_EXTENSION.into(),
            _ => NO_FIGURE.into(),
        });
    }
    let tool = observed.tool.to_ascii_lowercase();
    if !of_openssl(&tool) {
        return not(format!("computed by {}, but the constants are for OpenSSL", observed.tool));
    }
    if let Some(engine) = ENGINES.iter().find(|engine| tool.contains(**engine)) {
        return accelerator(format!("computed by OpenSSL's engine {engine}, in the kernel"));
    }
    if let Some(microseconds) = kernel_call(observed) {
        return accelerator(format!(
            "each call costs {microseconds:.0} µs, which fits calls into the kernel and not a library"
        ));
    }
    if !is_arm(&observed.architecture) {
        return not(format!(
            "the constants are for Arm cores, but this is {}",
            observed.architecture
        ));
    }
    if scores.is_empty() && below_any_clock(observed) {
        return not(match lists_aes(observed) {
            Some(false) => NO_EXTENSION.into(),
            _ => format!(
                "no extension: software; the clock is unknown, but the slowest core with the extension is faster \
                 from {:.0} MHz on",
                naming::CLOCKS.0.0 / 1e6
            ),
        });
    }
    let score = scores.last().copied();
    if score.is_some_and(|(_, score)| score < SOFTWARE) {
        return not(match lists_aes(observed) {
            Some(false) => NO_EXTENSION.into(),
            _ => "computed without the Crypto Extensions".into(),
        });
    }
    if lists_aes(observed) == Some(false) && score.is_none() {
        return not(NO_EXTENSION.into());
    }
    // An engine's calls are not as cheap as a library's. So the features are wrong, and a verdict says so.
    let cheap =
        observed.rates.longest_key().is_some_and(|bits| observed.rates.call(bits).is_some());
    if lists_aes(observed) == Some(false) && !cheap {
        return accelerator(
            "as fast as with the extension, which the CPU features do not list".into(),
        );
    }
    let unknown = |why: &str| Some(Implied::Unknown { why: why.into(), candidates: Vec::new() });
    if key_order(observed).is_some() {
        return unknown("a longer key is faster: the rows come from several cores or clocks");
    }
    // A clock that was only stated may be too low.
    if above_bound(scores).is_some() && !observed.measured_clocks.is_empty() {
        return unknown("wrong clock, wrong core or an accelerator");
    }
    None
}

/// Whether the rate is too low for any clock at which cores with the extension are run. Shorter keys are even faster.
fn below_any_clock(observed: &Observed) -> bool {
    let rate = observed.rates.longest_key().and_then(|bits| observed.rates.of_long(bits));
    rate.is_some_and(|rate| rate.0 * 1e3 / naming::CLOCKS.0.0 < SLOWEST.0)
}

/// Whether OpenSSL computed the figures, as far as is known. Tables name only its version.
fn of_openssl(tool: &str) -> bool {
    let version = tool.starts_with(|c: char| c.is_ascii_digit());
    tool.is_empty() || version || tool.contains("openssl")
}

/// The cost of a call in microseconds, if the kernel takes part in it.
fn kernel_call(observed: &Observed) -> Option<f64> {
    let bits = observed.rates.longest_key()?;
    let time = observed.rates.call_time(bits)?;
    let many = naming::highest(observed).is_none_or(|clock| time.0 * clock.0 > KERNEL_CYCLES.0);
    (time > KERNEL_TIME && many).then_some(time.0 * 1e6)
}

fn above_bound(scores: &[(u16, BytesPerKilocycle)]) -> Option<Misfit> {
    // The longest key is the most reliable: the cost of a call does not keep it below its bound.
    scores.iter().rev().find_map(|(bits, score)| {
        let (bits, bound) = BOUNDS.into_iter().find(|bound| bound.0 == *bits)?;
        let above = *score > bound * (1.0 + AGREE);
        above.then_some(Misfit::AboveBound { bits, score: *score, bound })
    })
}

fn key_order(observed: &Observed) -> Option<Misfit> {
    let rate = |bits| observed.rates.of_long(bits);
    [(128, 192), (192, 256), (128, 256)].into_iter().find_map(|(bits, longer)| {
        let slower = rate(bits)? * (1.0 + AGREE) < rate(longer)?;
        slower.then_some(Misfit::KeyOrder { bits, longer })
    })
}

/// How far apart two clocks are, as a share of the second. For a range, the distance to its nearer end.
fn apart(clock: Hertz, (low, high): (Hertz, Hertz)) -> f64 {
    if clock < low { 1.0 - clock / low } else { (clock / high - 1.0).max(0.0) }
}

/// All contradictions and remarks.
pub(super) fn verdicts(observed: &Observed, cores: &Cores, found: &Identified) -> Vec<Misfit> {
    if observed.emulated.is_some() {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    let arm = is_arm(&observed.architecture);
    let judged = matches!(found.implied, Implied::Named(_) | Implied::Unknown { .. });
    if arm && !observed.rates.is_empty() {
        verdicts.extend(key_order(observed));
        let named = matches!(found.implied, Implied::Named(_));
        verdicts.extend(above_bound(&found.scores).filter(|_| !named));
    }
    verdicts.extend(extension(observed, found));
    verdicts.extend(core(observed, cores, &found.implied));
    verdicts.extend(clocks(observed, found));
    if judged && observed.apart > AGREE {
        verdicts.push(Misfit::RunsApart { share: observed.apart });
    }
    if judged && !observed.elsewhere.is_empty() {
        verdicts.push(Misfit::NotPinned { elsewhere: observed.elsewhere.clone() });
    }
    verdicts
}

fn extension(observed: &Observed, found: &Identified) -> Option<Misfit> {
    let listed = lists_aes(observed)?;
    if let Some(gain) = observed.unmasked {
        let agree = match gain {
            gain if gain >= EXTENSION_GAIN => Some(listed),
            gain if gain <= NO_GAIN => Some(!listed),
            _ => None,
        };
        return Some(Misfit::Extension { listed, gain, agree });
    }
    let slow = found.scores.last().is_some_and(|(_, score)| *score < SOFTWARE);
    match found.implied {
        Implied::NotApplicable { .. } if listed && slow && is_arm(&observed.architecture) => {
            Some(Misfit::ExtensionNotUsed)
        }
        Implied::NotApplicable { .. } => None,
        _ if !listed && !slow && !found.scores.is_empty() && is_arm(&observed.architecture) => {
            Some(Misfit::ExtensionNotListed)
        }
        _ => None,
    }
}

fn core(observed: &Observed, cores: &Cores, implied: &Implied) -> Option<Misfit> {
    let Some(reported) = cores.reported(&observed.reported) else {
        let named = matches!(implied, Implied::Named(_)) && !observed.reported.is_empty();
        return named.then(|| Misfit::NotInData { reported: observed.reported.clone() });
    };
    match implied {
        Implied::Named(name) if name.id != reported.family => Some(Misfit::AnotherCore {
            reported: observed.reported.clone(),
            family: cores.family(&reported.family).name.clone(),
        }),
        Implied::Named(name) => {
            let another = name.core.as_ref().filter(|core| **core != reported.name)?;
            let family = format!("{} and not {another}", reported.name);
            Some(Misfit::AnotherCore { reported: observed.reported.clone(), family })
        }
        Implied::Unknown { .. } => {
            let (clock, name) = (naming::clock_of(observed, reported)?, observed.reported.clone());
            let slower = lowest(observed).filter(|lowest| clock.0 < lowest.0 * (1.0 - AGREE));
            Some(match slower {
                Some(measured) => {
                    Misfit::RanSlower { measured, implied: clock, reported: Some(name) }
                }
                None => Misfit::ReportedNeeds { reported: name, clock },
            })
        }
        Implied::NotApplicable { .. } | Implied::Accelerator { .. } => None,
    }
}

/// The lowest measured clock.
fn lowest(observed: &Observed) -> Option<Hertz> {
    naming::range(observed.measured_clocks.iter().copied()).map(|(low, _)| low)
}

fn clocks(observed: &Observed, found: &Identified) -> Vec<Misfit> {
    let mut verdicts = Vec::new();
    if let Some((low, high)) = naming::range(observed.measured_clocks.iter().copied())
        && apart(high, (low, low)) > AGREE
    {
        verdicts.push(Misfit::ClockMoved { low, high });
    }
    if let (Some(measured), Some(range)) = (found.measured_clock, found.implied_clock)
        && apart(measured, range) > AGREE
    {
        let implied = naming::middle(range);
        verdicts.push(match lowest(observed).filter(|lowest| *lowest > range.1) {
            Some(measured) => Misfit::RanSlower { measured, implied, reported: None },
            None => Misfit::MeasuredClock { measured, implied },
        });
    }
    // Where the rate is impossible at the measured clock, that one is in doubt, and not the stated one.
    let possible = observed.measured_clocks.is_empty() || above_bound(&found.scores).is_none();
    if let Some(stated) = observed.stated_clock.filter(|_| possible) {
        let measured = found.measured_clock.map(|clock| ((clock, clock), true));
        let implied = found.implied_clock.map(|range| (range, false));
        let off = measured.into_iter().chain(implied);
        let mut off = off.filter(|(range, _)| apart(stated, *range) > AGREE);
        if let Some((range, measured)) = off.next() {
            let actual = naming::middle(range);
            verdicts.push(Misfit::StatedClock { stated, actual, measured });
        }
    }
    verdicts
}
