//! What a log measured besides AES: memory (tinymembench), 7-zip on one core, clocks and temperature while OpenSSL
//! ran.

use super::clock;
use cpb_record::CoreContext;
use std::collections::BTreeMap;

/// The highest number of CPUs that are kept apart.
const MOST: usize = 256;

/// All additional measurements of a log.
#[derive(Debug, Default)]
pub(super) struct Besides {
    /// By the CPU on which it ran; older logs do not name a CPU.
    by_cpu: BTreeMap<Option<u32>, CoreContext>,
    /// The CPU that the following lines belong to.
    cpu: Option<u32>,
    /// Whether 7-zip's rating follows.
    seven_zip: bool,
    health: Health,
}

/// The table of clocks and temperatures while OpenSSL ran.
#[derive(Debug, Default)]
struct Health {
    /// Whether its lines follow.
    open: bool,
    columns: Columns,
    /// The highest clock of each column, in kHz.
    clocks: Vec<u64>,
    millicelsius: Option<i32>,
}

/// What the clocks in a health table belong to.
#[derive(Debug, Default, PartialEq, Eq)]
enum Columns {
    /// All CPUs: `CPU`.
    #[default]
    All,
    /// The clock according to the kernel and the one according to the firmware: `fake/real`.
    FakeAndReal,
    /// The faster cluster, then the slower one: `big.LITTLE`.
    BigAndLittle,
    /// Clusters, each named after its first CPU: `cpu0/cpu4/cpu7`.
    Clusters(Vec<u32>),
}

impl Besides {
    /// Reads any line.
    pub(super) fn line(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("Executing benchmark ") {
            let cpu = rest.split_whitespace().find_map(|word| word.strip_prefix("cpu"));
            self.cpu = cpu.and_then(|cpu| cpu.trim_end_matches(':').parse().ok());
            self.seven_zip = rest.starts_with("single-threaded on cpu");
        } else if let Some(running) = text.strip_prefix("System health while running ") {
            self.health.open = running.starts_with("OpenSSL");
        } else if self.health.open {
            self.health.line(text);
        } else if let Some(rate) = memory(text, &["standard memcpy", "libc memcpy copy"]) {
            self.own(|own| own.memcpy_kilobytes_per_second = Some(rate));
        } else if let Some(rate) = memory(text, &["standard memset", "libc memset fill"]) {
            self.own(|own| own.memset_kilobytes_per_second = Some(rate));
        } else if let Some(rest) = text.strip_prefix("Tot:")
            && std::mem::take(&mut self.seven_zip)
        {
            let rating = rest.split_whitespace().last().and_then(|word| word.parse().ok());
            self.own(|own| own.seven_zip_mips = rating);
        }
    }

    fn own(&mut self, set: impl FnOnce(&mut CoreContext)) {
        if self.by_cpu.len() < MOST || self.by_cpu.contains_key(&self.cpu) {
            set(self.by_cpu.entry(self.cpu).or_default());
        }
    }

    /// The measurements of these CPUs. If the log names no CPU, they are used only if these CPUs are the only
    /// cluster. `faster` is whether they are the faster one of two clusters.
    pub(super) fn of(&self, cpus: &[u32], only: bool, faster: Option<bool>) -> CoreContext {
        let of_one = cpus.iter().find_map(|cpu| self.by_cpu.get(&Some(*cpu)));
        let of_all = self.by_cpu.get(&None).filter(|_| only);
        CoreContext {
            reported_khz: self.health.clock(cpus, only, faster),
            millicelsius: self.health.millicelsius,
            ..of_one.or(of_all).cloned().unwrap_or_default()
        }
    }
}

impl Health {
    fn line(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("Time ") {
            self.columns = Columns::of(rest.split_whitespace().next().unwrap_or_default());
            return;
        }
        let Some((_, clocks)) =
            text.split_once("MHz").map(|(start, _)| start).and_then(|start| start.rsplit_once(' '))
        else {
            // Its rows come after empty lines, and any other text ends them.
            self.open = text.is_empty();
            return;
        };
        for (place, khz) in clocks.split('/').map(clock::megahertz).enumerate().take(MOST) {
            if place >= self.clocks.len() {
                self.clocks.push(0);
            }
            self.clocks[place] = self.clocks[place].max(khz.unwrap_or(0));
        }
        let degrees =
            text.split_whitespace().find_map(|word| word.strip_suffix("°C")?.parse::<f64>().ok());
        // A sensor that is not connected shows -75 °C or 200 °C.
        let sound = degrees.filter(|degrees| (-50.0..150.0).contains(degrees));
        let milli = sound.map(|degrees| (degrees * 1e3).round() as i32);
        self.millicelsius = self.millicelsius.max(milli);
    }

    fn clock(&self, cpus: &[u32], only: bool, faster: Option<bool>) -> Option<u64> {
        let place = match &self.columns {
            Columns::All => only.then_some(0),
            Columns::FakeAndReal => only.then_some(1),
            Columns::BigAndLittle => faster.map(|faster| usize::from(!faster)),
            Columns::Clusters(firsts) => firsts.iter().position(|first| cpus.contains(first)),
        };
        self.clocks.get(place?).copied().filter(|khz| *khz > 0)
    }
}

impl Columns {
    fn of(heading: &str) -> Columns {
        match heading {
            "fake/real" => Columns::FakeAndReal,
            "big.LITTLE" => Columns::BigAndLittle,
            _ => {
                let cpu = |word: &str| word.strip_prefix("cpu")?.parse().ok();
                match heading.split('/').map(cpu).collect() {
                    Some(firsts) => Columns::Clusters(firsts),
                    None => Columns::All,
                }
            }
        }
    }
}

/// The rate of a line of tinymembench, in thousands of bytes a second: ` standard memcpy : 1040.6 MB/s (0.2%)`.
fn memory(text: &str, names: &[&str]) -> Option<u64> {
    let (name, rate) = text.split_once(':')?;
    let rate = rate.split_whitespace().next().filter(|_| names.contains(&name.trim()))?;
    let megabytes: f64 = rate.parse().ok()?;
    (0.0..1e9).contains(&megabytes).then(|| (megabytes * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn besides(lines: &str) -> Besides {
        let mut besides = Besides::default();
        lines.lines().for_each(|line| besides.line(line.trim()));
        besides
    }

    #[test]
    fn each_cluster_has_its_own_figures() {
        let found = besides(
            "Executing benchmark on cpu0 (Cortex-A55):
             standard memcpy                                      :   1040.6 MB/s
             standard memset                                      :   1462.5 MB/s (0.2%)
             Executing benchmark on cpu4 (Cortex-A78):
             libc memcpy copy                                 :   8409.7 MB/s (2)
             Executing benchmark single-threaded on cpu4 (Cortex-A78)
             Tot:             100   3525   3513
             Executing benchmark 3 times multi-threaded on CPUs 0-7
             Tot:             707   2502  17457
             System health while running OpenSSL benchmark:

             Time       cpu0/cpu4    load %cpu %sys %usr %nice %io %irq   Temp
             12:05:45: 1958/2400MHz  1.08  17%   0%  16%   0%   0%   0%  34.6°C
             12:06:02: 1958/2300MHz  1.06  12%   0%  12%   0%   0%   0%  28.8°C

             System health while running 7-zip single core benchmark:
             12:07:02: 1958/2900MHz  1.06  12%   0%  12%   0%   0%   0%  88.8°C",
        );
        let small = found.of(&[0, 1, 2, 3], false, None);
        assert_eq!(
            small.words(),
            "1958 MHz reported, 35 °C at most, memcpy 1041 MB/s, memset 1462 MB/s"
        );
        let large = found.of(&[4, 5], false, None);
        assert_eq!(
            large.words(),
            "2400 MHz reported, 35 °C at most, memcpy 8410 MB/s, 7-zip 3513 MIPS on one core"
        );
        assert_eq!(found.of(&[6], false, None).reported_khz, None);
    }

    #[test]
    fn a_clock_of_the_whole_machine_is_that_of_its_only_cluster() {
        let health = |columns: &str, clocks: &str| {
            besides(&format!(
                "System health while running OpenSSL benchmark:\n\nTime {columns} load\n18:41:22: {clocks}MHz 1.16"
            ))
        };
        let khz = |found: &Besides, only, faster| found.of(&[0], only, faster).reported_khz;
        let all = health("CPU", "1400");
        assert_eq!([khz(&all, true, None), khz(&all, false, None)], [Some(1_400_000), None]);
        let firmware = health("fake/real", "1400/1200");
        assert_eq!(khz(&firmware, true, None), Some(1_200_000));
        let two = health("big.LITTLE", "2400/1800");
        let of = |faster| khz(&two, false, faster);
        assert_eq!(
            [of(Some(true)), of(Some(false)), of(None)],
            [Some(2_400_000), Some(1_800_000), None]
        );
    }
}
