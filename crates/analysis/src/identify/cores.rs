//! The known cores and their constants, each computed from figures with a source.

mod data;

#[cfg(test)]
pub(super) use data::readings;

use data::{CoreData, File, Scored};
use serde::Deserialize;
use std::collections::BTreeMap;

/// No constant of a core is known more precisely than this share, however well its readings agree, because clocks
/// were measured minutes before the figures.
const LEAST_SPREAD: f64 = 0.004;

/// The scatter of a call's cost if no core has two logs: the one that was seen on two cores.
const UNKNOWN_CALL_SPREAD: f64 = 0.10;

/// Published figures were rounded, and were measured by other programs at different clocks.
const STATED_SPREAD: f64 = 0.02;

/// All known cores.
#[derive(Clone, Debug)]
pub struct Cores {
    /// Families of cores that cannot be told apart.
    pub families: Vec<Family>,
    /// The cores.
    pub cores: Vec<Core>,
    /// The scatter of a call's cost.
    pub calls: CallScatter,
}

/// How much the cost of a call varies between logs of the same core. It depends on the version of OpenSSL, its
/// compiler and the kernel. The scatter is pooled over all cores, because no single core has enough logs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallScatter {
    /// The standard deviation of its logarithm.
    pub spread: f64,
    /// The degrees of freedom: how many differences between logs it was computed from.
    pub freedom: f64,
}

impl CallScatter {
    /// Computes the scatter from the logarithms of each core's logs.
    fn of<'a>(logs: impl Iterator<Item = &'a [f64]>) -> CallScatter {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for logs in logs.filter(|logs| logs.len() > 1) {
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            squares += logs.iter().map(|ln| (ln - mean).powi(2)).sum::<f64>();
            freedom += logs.len() as f64 - 1.0;
        }
        match freedom {
            0.0 => CallScatter { spread: UNKNOWN_CALL_SPREAD, freedom: 1.0 },
            _ => CallScatter { spread: (squares / freedom).sqrt(), freedom },
        }
    }
}

/// Cores that share their constants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The identifier by which cores refer to it.
    pub id: String,
    /// A short name for tables.
    pub name: String,
    /// The cores in it, and the reason.
    pub about: String,
}

/// A core and its known figures for AES-CBC.
#[derive(Clone, Debug)]
pub struct Core {
    /// Its name.
    pub name: String,
    /// Its family's id.
    pub family: String,
    /// Other names that systems report.
    known_as: Vec<String>,
    /// Whether AES-256 was timed on it. If not, its score is its family's.
    pub has_figures: bool,
    /// Thousands of bytes a second for each MHz, by key length in bits.
    pub scores: BTreeMap<u16, Constant>,
    /// How many times as fast as AES-256 a shorter key is, by its length in bits. A key is missing if its gain is
    /// unknown for the whole family.
    pub gains: BTreeMap<u16, Gains>,
    /// The logarithm of the cost of a call, in blocks of AES-256, in each log.
    pub calls: Vec<f64>,
}

/// How many times as fast as the longest key a shorter one is.
#[derive(Clone, Debug)]
pub enum Gains {
    /// Measured on this core.
    Own(Constant),
    /// Measured on other cores of its family.
    OfFamily(Vec<Constant>),
}

/// A constant, as a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Mean of the readings' logarithms.
    pub ln: f64,
    /// The expected deviation of a new reading's logarithm from it.
    pub spread: f64,
    /// The number of readings.
    pub readings: usize,
}

/// Data to leave out of the constants, to test the method on data that it has not seen.
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
    /// Panics if the data files, which are part of the program, are invalid.
    pub fn load() -> Cores {
        Cores::without(LeftOut::default())
    }

    /// Computes the constants without some of the data.
    ///
    /// # Panics
    /// Panics in the same cases as [`Cores::load`].
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
                core.scores.extend(pooled(&family, 256).map(|score| (256, score)));
            }
            for bits in [128, 192] {
                if let Some(score) = pooled(&family, bits) {
                    core.scores.entry(bits).or_insert(score);
                }
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
        let calls = CallScatter::of(cores.iter().map(|core| core.calls.as_slice()));
        Cores { families: file.family, cores, calls }
    }

    /// The family with this id.
    ///
    /// # Panics
    /// Panics if there is no such family: then the data file uses an id that it does not define.
    pub fn family(&self, id: &str) -> &Family {
        self.families.iter().find(|family| family.id == id).expect("a family of cores.toml")
    }

    /// The core that a system calls `reported`, with or without maker and revision.
    pub fn reported(&self, reported: &str) -> Option<&Core> {
        let reported = plain(reported);
        let is = |name: &String| plain(name) == reported;
        self.cores.iter().find(|core| is(&core.name) || core.known_as.iter().any(is))
    }
}

/// A name in the form in which names are compared: without maker, revision and spaces.
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
    let mut calls: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mine = scored.iter().filter(|row| data.table.as_ref() == Some(&row.core));
    scores.entry(256).or_default().extend(mine.map(|row| row.score.0));
    for seen in &data.seen {
        let rates = seen.rates();
        for bits in [128, 192, 256] {
            let score = rates.of_long(bits).map(|rate| rate.0 / (seen.clock.0 * 1e3));
            scores.entry(bits).or_default().extend(score);
            gains.entry(bits).or_default().extend(rates.gain(bits));
        }
        if let Some(blocks) = rates.call(256) {
            calls.entry(&seen.log).or_default().push(blocks.ln());
        }
    }
    // Clusters in one log share OpenSSL and the kernel, so together they are one reading.
    let mean = |logs: &Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
    let calls = calls.values().map(mean).collect();
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
        calls,
    }
}

/// The expected score of a core of this family.
fn pooled(family: &[&Core], bits: u16) -> Option<Constant> {
    let scores = family.iter().filter(|core| core.has_figures);
    let scores: Vec<f64> =
        scores.filter_map(|core| Some(core.scores.get(&bits)?.ln.exp())).collect();
    constant(&scores, 2.0 * LEAST_SPREAD)
}

/// The constant that follows from some readings. The spread of few readings is uncertain, so it is at least `least`,
/// and twice that for a single reading.
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
