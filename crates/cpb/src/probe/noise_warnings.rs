//! What spoils the figures, in words: a sentence on what is wrong, a sentence on what to do.
//!
//! A quiet machine that is set up well must not be warned about, or nobody will read warnings.

use cpb_record::evidence::sign;
use cpb_record::{Machine, State};

/// With this share of all CPUs busy, they fight for caches, memory and turbo clocks ...
const BUSY_SHARE: f64 = 0.25;
/// ... but less than this is background noise even on one CPU (a login, a timer) ...
const QUIET_LOAD: f64 = 0.5;
/// ... and more than this is somebody's work, however many CPUs there are.
const BUSY_LOAD: f64 = 2.0;

/// Distance to a zone's limit at which a loaded core gets there within a run: the crypto loop heats
/// a small board by several degrees in a minute.
const NEAR_LIMIT_MILLICELSIUS: i64 = 5_000;

/// Limit where the system tells none: the Raspberry Pi's firmware slows down from 80 degrees, most
/// other chips between 85 and 105.
const USUAL_LIMIT_MILLICELSIUS: i64 = 85_000;

/// The kernel counts steal in USER_HZ, 100 on every architecture cpb runs on (time(7)).
const MILLISECONDS_PER_TICK: u64 = 10;

/// Share of one CPU, over a whole run, that others may use without a word.
const OTHERS: f64 = 0.1;

/// Steal that is worth a word: a tenth of a second, some thousand batches.
const STEAL_TICKS: u64 = 10;

/// What spoils figures that are going to be measured on `cpu` of this machine.
pub fn warnings(machine: &Machine, cpu: usize) -> Vec<String> {
    let state = &machine.state;
    let mut warnings = Vec::new();
    let (lowest, highest) = state.frequency_limits_khz;
    let fixed = lowest == highest && lowest > 0;
    if !["", "performance", "userspace"].contains(&state.governor.as_str()) && !fixed {
        warnings.push(format!(
            "The frequency of CPU {cpu} follows the governor \"{}\", so the clock may change while \
             measuring. Set it with `cpupower frequency-set -g performance`.",
            state.governor
        ));
    }
    let busy = (machine.cpus as f64 * BUSY_SHARE).clamp(QUIET_LOAD, BUSY_LOAD);
    // A high average with nothing running but cpb is the past: a build that has just ended.
    if state.load > busy && state.runnable > 1 {
        let sibling = match machine.siblings.first() {
            Some(other) => format!(
                "; if some must run, take CPU {other} offline, which shares the core with CPU {cpu}"
            ),
            None => String::new(),
        };
        warnings.push(format!(
            "The load is {:.2} on {}, so other programs run at the same time. Stop them (`top` \
             names them) and run again{sibling}.",
            state.load,
            cpus(machine.cpus)
        ));
    }
    warnings.extend(hot(state));
    if state.on_battery {
        warnings
            .push("The machine runs on its battery, which limits clocks. Plug it in.".to_owned());
    }
    if machine.cpus == 1 {
        warnings.push(
            "There is one CPU, which everything else on the machine shares with the measurement. \
             Stop services that are not needed."
                .to_owned(),
        );
    }
    warnings
}

/// What makes this machine's times, or its cycles, worth less: emulation, and a clock that the
/// runner could not sense.
pub fn doubts(machine: &Machine, clock_known: bool) -> Vec<String> {
    if let Some(sign) = sign(machine, clock_known) {
        return vec![format!(
            "The CPU counts as emulated: {sign}. Use this run for right answers and counts only, \
             and measure times on the real machine{}.",
            match sign.starts_with("nothing proves") {
                true => " or in a guest whose firmware tells of KVM",
                false => "",
            }
        )];
    }
    if clock_known {
        return Vec::new();
    }
    vec![match machine.virtualisation.as_str() {
        "" => "The clock of the core could not be sensed, so cycles are not given. Stop other \
               programs, set a fixed frequency and run again; times are not affected."
            .to_owned(),
        hypervisor => format!(
            "The clock of the core could not be sensed in this guest ({hypervisor}), so cycles are \
             not given. Pin its CPUs on the host or measure on the host; times are not affected."
        ),
    }]
}

/// What went wrong on a machine since it was read.
pub fn changes(machine: &Machine, after: &State) -> Vec<String> {
    let before = &machine.state;
    let mut changes = Vec::new();
    let throttled = after.throttled.saturating_sub(before.throttled);
    if throttled > 0 {
        changes.push(format!(
            "The CPU was throttled {} during the run{}. Cool it or run with a lower fixed frequency, \
             and measure again.",
            if throttled == 1 { "once".to_owned() } else { format!("{throttled} times") },
            match after.temperature_millicelsius {
                Some(temperature) => format!(" and is at {}", degrees(temperature)),
                None => String::new(),
            }
        ));
    } else if hot(before).is_none() {
        changes.extend(hot(after));
    }
    let since = |count: fn(&State) -> u64| count(after).saturating_sub(count(before)) as f64;
    let others = since(|state| state.busy) - since(|state| state.own);
    let share = others / since(|state| state.elapsed) * machine.cpus as f64;
    if share > OTHERS {
        changes.push(format!(
            "Other programs used {:.0}% of a CPU during the run. Stop them (`top` names them) and \
             measure again.",
            share * 100.0
        ));
    }
    let steal = after.steal.saturating_sub(before.steal);
    if steal >= STEAL_TICKS {
        changes.push(format!(
            "The hypervisor took {} ms from this machine's CPUs during the run. Measure when the host \
             is idle, or give the guest CPUs of its own.",
            steal.saturating_mul(MILLISECONDS_PER_TICK)
        ));
    }
    if before.frequency_limits_khz != after.frequency_limits_khz {
        let (lowest, highest) = before.frequency_limits_khz;
        let (lowest_now, highest_now) = after.frequency_limits_khz;
        changes.push(format!(
            "The limits of the CPU's frequency changed during the run, from {}-{} MHz to {}-{} \
             MHz. Find what sets them (heat, a power daemon), stop it and measure again.",
            lowest / 1000,
            highest / 1000,
            lowest_now / 1000,
            highest_now / 1000
        ));
    }
    if before.governor != after.governor {
        changes.push(format!(
            "The frequency governor changed during the run, from \"{}\" to \"{}\". Stop the power \
             daemon that did it and measure again.",
            before.governor, after.governor
        ));
    }
    if after.on_battery && !before.on_battery {
        changes.push(
            "The machine went onto its battery during the run. Plug it in and measure again."
                .to_owned(),
        );
    }
    changes
}

fn hot(state: &State) -> Option<String> {
    let temperature = state.temperature_millicelsius?;
    let limit = state.temperature_limit_millicelsius.unwrap_or(USUAL_LIMIT_MILLICELSIUS);
    (temperature >= limit.saturating_sub(NEAR_LIMIT_MILLICELSIUS)).then(|| {
        format!(
            "The chip is at {}, close to the {} at which it slows down. Let it cool, or cool it better.",
            degrees(temperature),
            degrees(limit)
        )
    })
}

fn degrees(millicelsius: i64) -> String {
    format!("{:.0} °C", millicelsius as f64 / 1000.0)
}

fn cpus(count: usize) -> String {
    if count == 1 { "1 CPU".to_owned() } else { format!("{count} CPUs") }
}
