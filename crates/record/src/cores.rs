//! The cores behind an imported figure, as far as a log tells: what the system called them, which clock
//! it claimed, and which one somebody measured.

use serde::{Deserialize, Serialize};

/// Cores of one type and one clock that a table's figures were made on. Empty and none: not told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cores {
    /// Numbers of the CPUs.
    pub cpus: Vec<u32>,
    /// The core's name, as the log has it beside the figures.
    pub name: String,
    /// Its revision: r2p0.
    pub revision: String,
    /// Names of the machine's other cores, on which figures that were not pinned may have been made.
    pub others: Vec<String>,
    /// Whether the figures were pinned to these cores.
    pub pinned: Option<bool>,
    /// Features that the kernel listed.
    pub features: Vec<String>,
    /// The highest clock that the system claims, in kHz.
    pub stated_khz: Option<u64>,
    /// Clocks that were asked for and measured, in the order of the log.
    pub clocks: Vec<ClockReading>,
}

/// One clock that was asked for, and what was measured then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// Before or after the figures.
    pub when: When,
    /// What the kernel was asked for, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_khz: Option<u64>,
    /// What the firmware said to run at, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_khz: Option<u64>,
    /// What was measured, in kHz, reading by reading.
    pub measured_khz: Vec<u64>,
    /// The line of the file.
    pub line: u32,
}

/// When a clock was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before the figures.
    Before,
    /// After them, with the machine warm.
    After,
}

impl ClockReading {
    /// The middle one of what was measured.
    pub fn measured(&self) -> Option<u64> {
        let mut readings = self.measured_khz.clone();
        readings.sort_unstable();
        readings.get(readings.len() / 2).copied()
    }
}

impl Cores {
    /// The clock measured at the highest one that was asked for, before or after the figures.
    pub fn fastest(&self, when: When) -> Option<&ClockReading> {
        let of = self.clocks.iter().filter(|clock| clock.when == when);
        of.filter(|clock| !clock.measured_khz.is_empty())
            .reduce(|best, clock| if clock.stated_khz > best.stated_khz { clock } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(when: When, stated: u64, measured: &[u64]) -> ClockReading {
        let measured_khz = measured.to_vec();
        ClockReading { when, stated_khz: Some(stated), firmware_khz: None, measured_khz, line: 1 }
    }

    #[test]
    fn the_clock_of_the_figures_is_that_of_the_highest_one_asked_for() {
        let clocks = vec![
            reading(When::Before, 600, &[597]),
            reading(When::Before, 2400, &[2390, 2400, 10]),
            reading(When::Before, 3000, &[]),
            reading(When::After, 2400, &[1200]),
        ];
        let cores = Cores { clocks, ..Cores::default() };
        let measured = |when| cores.fastest(when).and_then(ClockReading::measured);
        assert_eq!(measured(When::Before), Some(2390));
        assert_eq!(measured(When::After), Some(1200));
        assert_eq!(Cores::default().fastest(When::Before), None);
    }
}
