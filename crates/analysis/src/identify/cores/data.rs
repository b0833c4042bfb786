//! The data from which the constants are computed: `cores.toml`, and the sbc-bench project's table, which is built
//! into cpb.

use super::Family;
use crate::identify::Rates;
use crate::units::{BytesPerKilocycle, CyclesPerByte, KilobytesPerSecond, Megahertz};
use cpb_record::{Line, Quantity};
use serde::Deserialize;

const FILE: &str = include_str!("../cores.toml");
const TABLE: &str = include_str!("../../../../../records/armv8-aes.jsonl");

/// The data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) family: Vec<Family>,
    pub(super) core: Vec<CoreData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreData {
    pub(super) name: String,
    pub(super) family: String,
    #[serde(default)]
    pub(super) known_as: Vec<String>,
    #[serde(default)]
    pub(super) table: Option<String>,
    #[serde(default)]
    pub(super) seen: Vec<Seen>,
    #[serde(default)]
    pub(super) stated: Vec<Stated>,
    /// The document that names the family of a core without figures.
    #[serde(default)]
    #[serde(rename = "guide")]
    pub(super) _guide: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
    pub(super) log: String,
    #[serde(rename = "mhz")]
    pub(super) clock: Megahertz,
    #[serde(rename = "openssl")]
    pub(super) _openssl: String,
    /// The rates at 16 bytes and at 16 KiB.
    #[serde(default)]
    pub(super) aes128: Option<[KilobytesPerSecond; 2]>,
    #[serde(default)]
    pub(super) aes192: Option<[KilobytesPerSecond; 2]>,
    pub(super) aes256: [KilobytesPerSecond; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stated {
    pub(super) bits: u16,
    pub(super) cycles_per_byte: CyclesPerByte,
    #[serde(rename = "source")]
    pub(super) _source: String,
}

impl Seen {
    pub(super) fn rates(&self) -> Rates {
        let mut rates = Rates::default();
        for (bits, row) in [(128, self.aes128), (192, self.aes192), (256, Some(self.aes256))] {
            let row = row.into_iter().flatten();
            for (bytes, kilobytes) in [16, 16_384].into_iter().zip(row) {
                rates.insert(bits, bytes, kilobytes.into());
            }
        }
        rates
    }
}

/// A score of the published table, with the core's name there and the machine.
pub(super) struct Scored {
    pub(super) core: String,
    pub(super) machine: String,
    pub(super) score: BytesPerKilocycle,
}

impl File {
    pub(super) fn load() -> File {
        toml::from_str(FILE).expect("cores.toml is part of the program")
    }
}

/// The scores of the published table.
pub(super) fn table() -> Vec<Scored> {
    let lines = TABLE.lines().map(serde_json::from_str::<Line>);
    let scored = lines.filter_map(|line| {
        let Line::Published(cell) = line.expect("a record is part of the program") else {
            return None;
        };
        let (machine, core) = cell.machine.rsplit_once(", ")?;
        let score =
            cell.number(Quantity::KilobytesPerSecond)? / cell.number(Quantity::Megahertz)?;
        let (core, machine) = (core.to_owned(), machine.to_owned());
        Some(Scored { core, machine, score: BytesPerKilocycle(score) })
    });
    scored.collect()
}

/// One reading from which constants are computed, to be compared with the constants of all others.
#[cfg(test)]
pub(in super::super) struct Reading {
    pub(in super::super) core: String,
    pub(in super::super) family: String,
    pub(in super::super) log: String,
    pub(in super::super) row: Option<(String, String)>,
    pub(in super::super) clock: Megahertz,
    pub(in super::super) rates: Rates,
}

#[cfg(test)]
pub(in super::super) fn readings() -> Vec<Reading> {
    let file = File::load();
    let mut readings = Vec::new();
    for core in &file.core {
        let reading = |log: &str, row, clock, rates| Reading {
            core: core.name.clone(),
            family: core.family.clone(),
            log: log.to_owned(),
            row,
            clock,
            rates,
        };
        readings.extend(
            core.seen.iter().map(|seen| reading(&seen.log, None, seen.clock, seen.rates())),
        );
        for row in table().iter().filter(|row| core.table.as_ref() == Some(&row.core)) {
            let mut rates = Rates::default();
            rates.insert(256, 16_384, KilobytesPerSecond(row.score.0 * 1e3).into());
            readings.push(reading(
                "",
                Some((row.core.clone(), row.machine.clone())),
                Megahertz(1000.0),
                rates,
            ));
        }
    }
    readings
}
