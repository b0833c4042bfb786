//! What does not fit together: clocks, cores, features, figures.

use super::cores::Cores;
use super::{Identified, Implied, Observed, naming};
use crate::units::{BytesPerKilocycle, Cycles, Hertz, Seconds};
use serde::Serialize;

/// Clocks, and bounds, that differ by no more than this agree.
const AGREE: f64 = 0.03;

/// Two cycles for each of 10, 12 and 14 rounds: 16 bytes in 20, 24 and 28 cycles.
const BOUNDS: [(u16, BytesPerKilocycle); 3] = [
    (128, BytesPerKilocycle(800.0)),
    (192, BytesPerKilocycle(16_000.0 / 24.0)),
    (256, BytesPerKilocycle(16_000.0 / 28.0)),
];

/// Below, nothing computes AES-256 by the extension: the slowest core known has 217 of Cortex-A35's, and
/// ThunderX2's AES-128 would make 120 of it. Software has 20 to 70.
const SOFTWARE: BytesPerKilocycle = BytesPerKilocycle(100.0);

/// A call that costs more than this in time and in cycles goes to the kernel, and from there to an engine
/// or a driver: calls of a library take 20 to 300 cycles.
const KERNEL_TIME: Seconds = Seconds(2e-6);
const KERNEL_CYCLES: Cycles = Cycles(2000.0);

/// Said of a core whose features do not list AES.
const NO_EXTENSION: &str = "the core has no Crypto Extensions";

/// Said where there is nothing to judge by.
const NO_FIGURE: &str = "no figure of AES-CBC encryption of a stream, as `cpb identify` and \
    `openssl speed` measure it";

/// Engines of OpenSSL that hand work to the kernel.
const ENGINES: [&str; 4] = ["afalg", "af_alg", "devcrypto", "cryptodev"];

/// With the instructions AES-256-CBC is at least so many times as fast as without: 4.7 times on x86-64
/// against vector code (bench and README), which is the best there is without.
const EXTENSION_GAIN: f64 = 1.8;
/// And less than this is none.
const NO_GAIN: f64 = 1.2;

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misfit {
    /// Faster than two cycles a round, which no known core is: wrong clock, wrong core or an accelerator.
    AboveBound {
        /// Key length.
        bits: u16,
        /// Rate by clock.
        score: BytesPerKilocycle,
        /// What it should be at most.
        bound: BytesPerKilocycle,
    },
    /// A longer key is faster than a shorter one: rows of several cores or clocks.
    KeyOrder {
        /// The shorter key.
        bits: u16,
        /// The longer one, which is faster.
        longer: u16,
    },
    /// What the system states is not the clock.
    StatedClock {
        /// What it states.
        #[serde(rename = "stated_hz")]
        stated: Hertz,
        /// What it is.
        #[serde(rename = "actual_hz")]
        actual: Hertz,
        /// Whether that was measured; else the figures imply it.
        measured: bool,
    },
    /// The measured clock is not the one that the figures were made at.
    MeasuredClock {
        /// What was measured.
        #[serde(rename = "measured_hz")]
        measured: Hertz,
        /// What the figures imply.
        #[serde(rename = "implied_hz")]
        implied: Hertz,
    },
    /// The clock was measured more than once, and moved.
    ClockMoved {
        /// Lowest.
        #[serde(rename = "low_hz")]
        low: Hertz,
        /// Highest.
        #[serde(rename = "high_hz")]
        high: Hertz,
    },
    /// The system reports a core that the figures are not of.
    AnotherCore {
        /// What it reports.
        reported: String,
        /// The family that it belongs to.
        family: String,
    },
    /// The reported core would have these figures at this clock.
    ReportedNeeds {
        /// What the system reports.
        reported: String,
        /// The clock.
        #[serde(rename = "hz")]
        clock: Hertz,
    },
    /// The features list the extension, and the figures are those of software.
    ExtensionNotUsed,
    /// The figures are those of the extension, and the features do not list it.
    ExtensionNotListed,
    /// Masking the crypto instructions changes as much, or as little, as the features let expect.
    Extension {
        /// Whether the features list it.
        listed: bool,
        /// Rate with over rate without.
        gain: f64,
        /// Whether they agree; none: the gain is neither.
        agree: Option<bool>,
    },
    /// Runs of the same key are far apart.
    RunsApart {
        /// By this share.
        share: f64,
    },
    /// The figures may be of another type of core.
    NotPinned {
        /// The others.
        elsewhere: Vec<String>,
    },
}

impl Misfit {
    /// Whether nothing is named because of it.
    pub fn spoils_names(&self) -> bool {
        matches!(self, Misfit::AboveBound { .. } | Misfit::KeyOrder { .. })
    }

    /// Whether something is wrong; else it is said for information.
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Misfit::Extension { agree: Some(true), .. } | Misfit::ReportedNeeds { .. })
    }
}

/// Whether cores of this instruction set can have the Armv8 Crypto Extensions; empty: who knows.
fn is_arm(architecture: &str) -> bool {
    architecture.is_empty()
        || architecture.starts_with("arm")
        || architecture.starts_with("aarch64")
}

/// The feature that stands for AES instructions on Arm, x86 and RISC-V.
fn lists_aes(observed: &Observed) -> Option<bool> {
    let features = observed.features.as_ref()?;
    Some(features.iter().any(|feature| ["aes", "zkne", "zvkned"].contains(&feature.as_str())))
}

/// Why no constant applies, if none does.
pub(super) fn not_applicable(
    observed: &Observed,
    scores: &[(u16, BytesPerKilocycle)],
) -> Option<Implied> {
    let not = |why: String| Some(Implied::NotApplicable { why });
    let accelerator = |why: String| Some(Implied::Accelerator { why });
    if let Some(sign) = &observed.emulated {
        return not(format!("emulated ({sign}): its time and its clock mean nothing"));
    }
    if observed.rates.is_empty() {
        return not(match lists_aes(observed) {
            Some(false) if is_arm(&observed.architecture) => NO_EXTENSION.into(),
            _ => NO_FIGURE.into(),
        });
    }
    let tool = observed.tool.to_ascii_lowercase();
    if !of_openssl(&tool) {
        return not(format!("computed by {}, and the constants are OpenSSL's", observed.tool));
    }
    if let Some(engine) = ENGINES.iter().find(|engine| tool.contains(**engine)) {
        return accelerator(format!("computed by OpenSSL's engine {engine}, in the kernel"));
    }
    if let Some(microseconds) = kernel_call(observed) {
        return accelerator(format!(
            "each call costs {microseconds:.0} µs, as one into the kernel does and none of a library"
        ));
    }
    if !is_arm(&observed.architecture) {
        return not(format!(
            "the constants are of Arm cores, and this is {}",
            observed.architecture
        ));
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
    // Calls as cheap as a library's come from no engine; the features are wrong, which is said.
    let cheap =
        observed.rates.longest_key().is_some_and(|bits| observed.rates.call(bits).is_some());
    if lists_aes(observed) == Some(false) && !cheap {
        return accelerator("fast as an extension that the features do not list".into());
    }
    let unknown = |why: &str| Some(Implied::Unknown { why: why.into(), candidates: Vec::new() });
    if key_order(observed).is_some() {
        return unknown("a longer key is faster: the rows are of several cores or clocks");
    }
    if above_bound(scores).is_some() {
        return unknown("wrong clock, wrong core or an accelerator");
    }
    None
}

/// Whether OpenSSL computed, as far as is told; tables name its version only.
fn of_openssl(tool: &str) -> bool {
    let version = tool.starts_with(|c: char| c.is_ascii_digit());
    tool.is_empty() || version || tool.contains("openssl")
}

/// What a call costs in microseconds, if the kernel has a part in it.
fn kernel_call(observed: &Observed) -> Option<f64> {
    let bits = observed.rates.longest_key()?;
    let time = observed.rates.call_time(bits)?;
    let many = naming::highest(observed).is_none_or(|clock| time.0 * clock.0 > KERNEL_CYCLES.0);
    (time > KERNEL_TIME && many).then_some(time.0 * 1e6)
}

fn above_bound(scores: &[(u16, BytesPerKilocycle)]) -> Option<Misfit> {
    // The longest key says most: its bound is never missed by a call's cost.
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

/// How far apart two clocks are, as a share of the second; of a range its nearer end.
fn apart(clock: Hertz, (low, high): (Hertz, Hertz)) -> f64 {
    if clock < low { 1.0 - clock / low } else { (clock / high - 1.0).max(0.0) }
}

/// All that does not fit.
pub(super) fn verdicts(observed: &Observed, cores: &Cores, found: &Identified) -> Vec<Misfit> {
    if observed.emulated.is_some() {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    let arm = is_arm(&observed.architecture);
    let judged = matches!(found.implied, Implied::Named(_) | Implied::Unknown { .. });
    if arm && !observed.rates.is_empty() {
        verdicts.extend(key_order(observed));
        verdicts.extend(above_bound(&found.scores));
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
    let reported = cores.reported(&observed.reported)?;
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
        Implied::Unknown { .. } => Some(Misfit::ReportedNeeds {
            reported: observed.reported.clone(),
            clock: naming::clock_of(observed, reported)?,
        }),
        Implied::NotApplicable { .. } | Implied::Accelerator { .. } => None,
    }
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
        verdicts.push(Misfit::MeasuredClock { measured, implied: naming::middle(range) });
    }
    if let Some(stated) = observed.stated_clock {
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
