//! The known cores: their constants, each computed from figures that name their source.

mod data;

#[cfg(test)]
pub(super) use data::readings;

use data::{CoreData, File, Scored};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A core's constants are known no better than this share, however well its readings agree: clocks are
/// measured minutes before the figures.
const LEAST_SPREAD: f64 = 0.004;

/// What others print was rounded, and measured by other programs at clocks of their own.
const STATED_SPREAD: f64 = 0.02;

/// The cost of a call moves with the version of OpenSSL, its compiler and the kernel: two readings of one
/// core were 10 to 20 % apart.
const LEAST_CALL_SPREAD: f64 = 0.10;

/// All known cores.
#[derive(Clone, Debug)]
pub struct Cores {
    /// Families of cores that cannot be told apart.
    pub families: Vec<Family>,
    /// The cores.
    pub cores: Vec<Core>,
}

/// Cores that share their constants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What cores call it.
    pub id: String,
    /// A name that fits a table.
    pub name: String,
    /// Who belongs to it, and why.
    pub about: String,
}

/// A core, and what AES-CBC is known to do on it.
#[derive(Clone, Debug)]
pub struct Core {
    /// Its name.
    pub name: String,
    /// Its family's id.
    pub family: String,
    /// Other names that systems report.
    known_as: Vec<String>,
    /// Whether somebody has timed AES-256 on it; else its score is its family's.
    pub has_figures: bool,
    /// Thousands of bytes a second for each MHz, by key length in bits.
    pub scores: BTreeMap<u16, Constant>,
    /// How many times as fast as AES-256 a shorter key is, by its length in bits. None: nobody's is known.
    pub gains: BTreeMap<u16, Gains>,
    /// What a call costs, in blocks of AES-256.
    pub call: Option<Constant>,
}

/// How many times as fast as the longest key a shorter one is.
#[derive(Clone, Debug)]
pub enum Gains {
    /// Of this core.
    Own(Constant),
    /// Of others of its family.
    OfFamily(Vec<Constant>),
}

/// A constant, by its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Mean of the readings' logarithms.
    pub ln: f64,
    /// How far a new reading's logarithm may be expected from it.
    pub spread: f64,
    /// So many readings.
    pub readings: usize,
}

/// What constants are computed without, to see how a method fares on what it has not seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut<'a> {
    /// A log.
    pub log: &'a str,
    /// A row of the published table: its core and machine.
    pub row: Option<(&'a str, &'a str)>,
}

impl Cores {
    /// Computes the constants.
    ///
    /// # Panics
    /// The data files, which are part of the program, are not what they should be.
    pub fn load() -> Cores {
        Cores::without(LeftOut::default())
    }

    /// Computes them from less.
    ///
    /// # Panics
    /// As [`Cores::load`].
    pub fn without(left_out: LeftOut<'_>) -> Cores {
        let file = File::load();
        let mut scored = data::table();
        scored.retain(|row| left_out.row != Some((row.core.as_str(), row.machine.as_str())));
        let core = |mut data: CoreData| {
            data.seen.retain(|seen| seen.log != left_out.log);
            core(data, &scored)
        };
        let mut cores: Vec<Core> = file.core.into_iter().map(core).collect();
        let all = cores.clone();
        for core in &mut cores {
            let family: Vec<&Core> =
                all.iter().filter(|other| other.family == core.family).collect();
            if !core.has_figures {
                core.scores.extend(pooled(&family).map(|score| (256, score)));
            }
            for bits in [128, 192] {
                let gains = family.iter().filter_map(|other| match other.gains.get(&bits)? {
                    Gains::Own(gain) => Some(*gain),
                    Gains::OfFamily(_) => None,
                });
                let gains: Vec<Constant> = gains.collect();
                if !gains.is_empty() {
                    core.gains.entry(bits).or_insert(Gains::OfFamily(gains));
                }
            }
        }
        Cores { families: file.family, cores }
    }

    /// The family with this id.
    ///
    /// # Panics
    /// There is none: the data file names one that it does not have.
    pub fn family(&self, id: &str) -> &Family {
        self.families.iter().find(|family| family.id == id).expect("a family of cores.toml")
    }

    /// The core that a system means by `reported`, with or without maker and revision.
    pub fn reported(&self, reported: &str) -> Option<&Core> {
        let reported = plain(reported);
        let is = |name: &String| plain(name) == reported;
        self.cores.iter().find(|core| is(&core.name) || core.known_as.iter().any(is))
    }
}

/// A name as it is compared: without maker, revision and spaces.
fn plain(name: &str) -> String {
    let name = name.split('/').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    let makers = ["arm", "apple", "qualcomm", "nvidia", "phytium"];
    let revision = |word: &str| {
        let mut halves = word.strip_prefix('r').unwrap_or("x").split('p');
        halves.all(|half| !half.is_empty() && half.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let words = name.split([' ', '-', '(']).filter(|word| !word.is_empty());
    words.filter(|word| !makers.contains(word) && !revision(word)).collect::<Vec<&str>>().join(" ")
}

fn core(data: CoreData, scored: &[Scored]) -> Core {
    let mut scores: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    let mut gains: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    let mut calls = Vec::new();
    let mine = scored.iter().filter(|row| data.table.as_ref() == Some(&row.core));
    scores.entry(256).or_default().extend(mine.map(|row| row.score.0));
    for seen in &data.seen {
        let rates = seen.rates();
        for bits in [128, 192, 256] {
            let score = rates.of_long(bits).map(|rate| rate.0 / (seen.clock.0 * 1e3));
            scores.entry(bits).or_default().extend(score);
            gains.entry(bits).or_default().extend(rates.gain(bits));
        }
        calls.extend(rates.call(256));
    }
    let constants = |readings: BTreeMap<u16, Vec<f64>>| -> BTreeMap<u16, Constant> {
        let known = readings.into_iter();
        known.filter_map(|(bits, all)| Some((bits, constant(&all, LEAST_SPREAD)?))).collect()
    };
    let (mut scores, mut gains) = (constants(scores), constants(gains));
    for stated in &data.stated {
        let constant = |ln| Constant { ln, spread: STATED_SPREAD, readings: 1 };
        let ln = (1e3 / stated.cycles_per_byte.0).ln();
        let longest = scores.get(&256).map(|longest| longest.ln);
        scores.entry(stated.bits).or_insert(constant(ln));
        if let Some(longest) = longest {
            gains.entry(stated.bits).or_insert(constant(ln - longest));
        }
    }
    Core {
        name: data.name,
        family: data.family,
        known_as: data.known_as,
        has_figures: scores.contains_key(&256),
        scores,
        gains: gains.into_iter().map(|(bits, own)| (bits, Gains::Own(own))).collect(),
        call: constant(&calls, LEAST_CALL_SPREAD),
    }
}

/// The score that a core of a family may be expected to have.
fn pooled(family: &[&Core]) -> Option<Constant> {
    let scores = family.iter().filter(|core| core.has_figures);
    let scores: Vec<f64> =
        scores.filter_map(|core| Some(core.scores.get(&256)?.ln.exp())).collect();
    constant(&scores, 2.0 * LEAST_SPREAD)
}

/// Of few readings the spread is not known: it is never taken for less than `least`, and a single one's
/// for twice that.
fn constant(readings: &[f64], least: f64) -> Option<Constant> {
    let number = readings.len() as f64;
    let logs: Vec<f64> = readings.iter().map(|reading| reading.ln()).collect();
    let ln = logs.iter().sum::<f64>() / number;
    let squares: f64 = logs.iter().map(|log| (log - ln).powi(2)).sum();
    let spread = match readings.len() {
        0 => return None,
        1 => 2.0 * least,
        _ => (squares / (number - 1.0)).sqrt().max(least),
    };
    Some(Constant { ln, spread, readings: readings.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_a_family_and_a_figure_or_a_document_that_says_which() {
        let file = File::load();
        let (cores, scored) = (Cores::load(), data::table());
        for (data, core) in file.core.iter().zip(&cores.cores) {
            assert!(file.family.iter().any(|family| family.id == data.family), "{}", data.name);
            let known = core.has_figures;
            assert_ne!(known, data._guide.is_some(), "{}: a figure, or else a guide", data.name);
            if let Some(table) = &data.table {
                assert!(scored.iter().any(|row| row.core == *table), "{}: {table}", data.name);
            }
        }
        for family in &file.family {
            assert!(file.core.iter().any(|core| core.family == family.id), "{}", family.id);
        }
    }

    #[test]
    fn constants_agree_with_what_the_table_says_of_its_own() {
        let cores = Cores::load();
        for (name, published) in [
            ("Cortex-A35", 217.0),
            ("Cortex-A57", 359.0),
            ("Cortex-A53", 467.0),
            ("Cortex-A76", 570.0),
        ] {
            let score = cores.reported(name).expect(name).scores[&256].ln.exp();
            assert!((score / published - 1.0).abs() < 0.005, "{name}: {score}");
        }
    }

    #[test]
    fn cores_are_known_by_what_systems_call_them() {
        let cores = Cores::load();
        for (reported, name) in [
            ("Cortex-A55 r2p0", "Cortex-A55"),
            ("Cortex-A55 / r2p0", "Cortex-A55"),
            ("ARM Cortex-A78AE", "Cortex-A78"),
            ("Qualcomm Kryo V2", "Cortex-A53"),
            ("Qualcomm Falkor V1/Kryo", "Falkor V1"),
            ("Neoverse-N1 r3p1", "Neoverse-N1"),
            ("Icestorm (M1)", "Apple Icestorm"),
        ] {
            let core = cores.reported(reported).map(|core| core.name.as_str());
            assert_eq!(core, Some(name), "{reported}");
        }
        for unknown in ["", "Cortex-A510", "Cortex-A7", "-", "ARMv7 Processor rev 4 (v7l)"] {
            assert!(cores.reported(unknown).is_none(), "{unknown}");
        }
    }
}
