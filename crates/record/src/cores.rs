//! The cores behind an imported figure, as far as the log describes them: the names that the system gave them, the
//! clock that it claimed, and the clock that was measured.

use serde::{Deserialize, Serialize};

/// Cores of one type and one clock that a table's figures were measured on. An empty or missing field is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cores {
    /// The numbers of the CPUs.
    pub cpus: Vec<u32>,
    /// The core's name, as the log has it next to the figures.
    pub name: String,
    /// Its revision, for example r2p0.
    pub revision: String,
    /// Names of the machine's other cores. Figures that were not pinned may have been measured on these.
    pub others: Vec<String>,
    /// Whether the figures were pinned to these cores.
    pub pinned: Option<bool>,
    /// Features that the kernel listed.
    pub features: Vec<String>,
    /// The highest clock that the system claims, in kHz.
    pub stated_khz: Option<u64>,
    /// Requested and measured clocks, in the order of the log.
    pub clocks: Vec<ClockReading>,
    /// What else the log measured on these cores.
    #[serde(skip_serializing_if = "CoreContext::is_empty")]
    pub context: CoreContext,
}

/// What a log measured on cores besides the figures. `None` means that the log does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreContext {
    /// The highest clock that the system reported during the measurement, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_khz: Option<u64>,
    /// The highest temperature during the measurement, in thousandths of a degree Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millicelsius: Option<i32>,
    /// Bandwidth of the C library's memcpy, in thousands of bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memcpy_kilobytes_per_second: Option<u64>,
    /// Bandwidth of the C library's memset, in thousands of bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memset_kilobytes_per_second: Option<u64>,
    /// 7-zip's rating of one core, in millions of instructions a second as 7-zip counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seven_zip_mips: Option<u32>,
}

impl CoreContext {
    /// Whether all fields are `None`.
    pub fn is_empty(&self) -> bool {
        *self == CoreContext::default()
    }

    /// The readings as text; empty if the log has none of them.
    pub fn words(&self) -> String {
        let megabytes = |kilobytes: u64| format!("{:.0} MB/s", kilobytes as f64 / 1e3);
        let parts = [
            self.reported_khz.map(|khz| format!("{} MHz reported", khz / 1000)),
            self.millicelsius.map(|milli| format!("{:.0} °C at most", f64::from(milli) / 1e3)),
            self.memcpy_kilobytes_per_second.map(|rate| format!("memcpy {}", megabytes(rate))),
            self.memset_kilobytes_per_second.map(|rate| format!("memset {}", megabytes(rate))),
            self.seven_zip_mips.map(|mips| format!("7-zip {mips} MIPS on one core")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// One clock that was requested, and the readings taken at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// Before or after the figures were measured.
    pub when: When,
    /// The clock requested from the kernel, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_khz: Option<u64>,
    /// The clock that the firmware reported, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_khz: Option<u64>,
    /// The measured clock of each reading, in kHz.
    pub measured_khz: Vec<u64>,
    /// The line number in the log.
    pub line: u32,
}

/// When a clock was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before the figures were measured.
    Before,
    /// After the figures were measured, with the machine warm.
    After,
}

impl ClockReading {
    /// The median reading.
    pub fn measured(&self) -> Option<u64> {
        let mut readings = self.measured_khz.clone();
        readings.sort_unstable();
        readings.get(readings.len() / 2).copied()
    }
}

impl Cores {
    /// The reading at the highest requested clock, before or after the figures were measured.
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
