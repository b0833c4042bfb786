//! Lines about clocks and the CPUs that they belong to.

use cpb_record::{ClockReading, When};

/// More CPUs than any such machine has.
const MAX_CPU: u32 = 4096;

/// The CPUs and the core's name to which the following readings belong: `Checking cpufreq OPP for cpu4-cpu5
/// (Cortex-A76):`.
pub(super) fn group(text: &str) -> Option<(Vec<u32>, String)> {
    // Without the colon it is a progress message of the tool, which continues with other words.
    let rest = text.strip_prefix("Checking cpufreq OPP")?.trim_end().strip_suffix(':')?;
    let (rest, name) = match rest.split_once('(') {
        Some((rest, name)) => (rest, name.trim_end().trim_end_matches(')')),
        None => (rest, ""),
    };
    let cpus = match rest.split_once("for ") {
        Some((_, list)) => cpus(list.trim()),
        None => Vec::new(),
    };
    Some((cpus, name.trim().to_owned()))
}

/// The CPUs in `cpu0-cpu3`, `cpu11` or `0-3`; empty if `list` has none of these forms.
pub(super) fn cpus(list: &str) -> Vec<u32> {
    let number = |word: &str| word.trim().trim_start_matches("cpu").parse::<u32>().ok();
    let (first, last) = list.split_once('-').unwrap_or((list, list));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last && last < MAX_CPU => (first..=last).collect(),
        _ => Vec::new(),
    }
}

/// Parses a requested and a measured clock: `Cpufreq OPP: 1400    ThreadX: 1200    Measured: 1186
/// (1186.382/1184.314/1185.592)  (-15.3%)`, before 0.7 without the rounded one, or `No cpufreq support available.
/// Measured on cpu1: …`.
pub(super) fn reading(text: &str, when: When, line: u32) -> Option<ClockReading> {
    let (before, measured) = text.split_once("Measured")?;
    let stated = before.trim().strip_prefix("Cpufreq OPP:");
    if stated.is_none() && !before.contains("No cpufreq support") {
        return None;
    }
    let firmware = before.split_once("ThreadX:").map(|(_, word)| word);
    let (_, measured) = measured.split_once(':')?;
    let single = || measured.split_whitespace().next().unwrap_or_default();
    let readings = measured.split(['(', ')']).find(|part| part.contains('/'));
    let readings = readings.unwrap_or_else(single);
    Some(ClockReading {
        when,
        stated_khz: stated.and_then(megahertz),
        firmware_khz: firmware.and_then(megahertz),
        measured_khz: readings.split('/').filter_map(megahertz).collect(),
        line,
    })
}

/// The CPU in `Measured on cpu1: …`, if it is the only one.
pub(super) fn only_cpu(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("Measured on cpu")?;
    rest.split(':').next()?.trim().parse().ok()
}

/// Megahertz in kHz, if a CPU can have that clock.
pub(super) fn megahertz(text: &str) -> Option<u64> {
    let word = text.split_whitespace().next()?;
    let megahertz: f64 = word.parse().ok()?;
    (1.0..20_000.0).contains(&megahertz).then(|| (megahertz * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_s_readings_are_read() {
        let measured = vec![1_186_382, 1_184_314, 1_185_592];
        for (text, stated, firmware) in [
            ("Cpufreq OPP: 1400    Measured: 1186.382/1184.314/1185.592", Some(1_400_000), None),
            (
                "Cpufreq OPP: 1400    ThreadX: 1200    Measured: 1186.382/1184.314/1185.592",
                Some(1_400_000),
                Some(1_200_000),
            ),
            (
                "Cpufreq OPP: 1400    Measured: 1185 (1186.382/1184.314/1185.592)    (-17.2%)",
                Some(1_400_000),
                None,
            ),
            (
                "No cpufreq support available. Measured on cpu1: 1185 MHz (1186.382/1184.314/1185.592)",
                None,
                None,
            ),
            (
                "No cpufreq support available. Measured on cpu1: 1186.382/1184.314/1185.592",
                None,
                None,
            ),
        ] {
            let reading = reading(text, When::Before, 3).expect(text);
            assert_eq!((reading.stated_khz, reading.firmware_khz), (stated, firmware), "{text}");
            assert_eq!(reading.measured_khz, measured, "{text}");
        }
        let none = reading("Cpufreq OPP: 1400    Measured:    0 ()", When::After, 1).expect("one");
        assert_eq!(none.measured_khz, Vec::<u64>::new());
        assert_eq!(reading("  * Measured clockspeed not lower", When::After, 1), None);
    }

    #[test]
    fn groups_name_their_cpus_and_cores() {
        let of = |text| group(text).expect(text);
        assert_eq!(of("Checking cpufreq OPP:"), (vec![], String::new()));
        assert_eq!(of("Checking cpufreq OPP (Cortex-A510):"), (vec![], "Cortex-A510".into()));
        assert_eq!(of("Checking cpufreq OPP for cpu4-cpu5:"), (vec![4, 5], String::new()));
        assert_eq!(
            of("Checking cpufreq OPP for cpu11 (Qualcomm Falkor V1/Kryo):"),
            (vec![11], "Qualcomm Falkor V1/Kryo".into())
        );
        assert_eq!(
            group("Checking cpufreq OPP. Done (results will be available in 16 minutes)."),
            None
        );
        assert!(cpus("cpu9-cpu99999999").is_empty());
        assert!(cpus("cpu5-cpu4").is_empty());
        assert_eq!(only_cpu("No cpufreq support available. Measured on cpu1: 1006 MHz"), Some(1));
    }
}
