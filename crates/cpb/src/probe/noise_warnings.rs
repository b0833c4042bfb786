//! Warnings about what spoils figures: one sentence on the problem, one on the remedy.
//!
//! A quiet, well-configured machine must cause no warnings, because frequent warnings are ignored.

use cpb_record::evidence::sign;
use cpb_record::{Machine, State};

/// With this share of all CPUs busy, programs compete for caches, memory and turbo clocks ...
const BUSY_SHARE: f64 = 0.25;
/// ... but less than this is background noise even on one CPU (a login, a timer) ...
const QUIET_LOAD: f64 = 0.5;
/// ... and more than this is real work, however many CPUs there are.
const BUSY_LOAD: f64 = 2.0;

/// The distance to a zone's limit at which a loaded core reaches the limit within a run: the crypto loop
/// heats a small board by several degrees per minute.
const NEAR_LIMIT_MILLICELSIUS: i64 = 5_000;

/// The limit if the system reports none: the Raspberry Pi's firmware slows down from 80 degrees, most other
/// chips between 85 and 105.
const USUAL_LIMIT_MILLICELSIUS: i64 = 85_000;

/// The kernel counts steal in USER_HZ, 100 on every architecture cpb runs on (time(7)).
const MILLISECONDS_PER_TICK: u64 = 10;

/// The share of one CPU, over a whole run, that other programs may use without a warning.
const OTHERS: f64 = 0.1;

/// Steal time that causes a warning: a tenth of a second, some thousand batches.
const STEAL_TICKS: u64 = 10;

/// Warnings about what will spoil figures measured on `cpu` of this machine.
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
    // A high average while only cpb is running is from the past, such as a build that has just ended.
    if state.load > busy && state.runnable > 1 {
        let sibling = match machine.siblings.first() {
            Some(other) => format!(
                "; if some must run, take CPU {other} offline, the SMT sibling of CPU {cpu}"
            ),
            None => String::new(),
        };
        warnings.push(format!(
            "The load is {:.2} on {}, so other programs run at the same time. Stop them (see `top`) and run \
             again{sibling}.",
            state.load,
            cpus(machine.cpus)
        ));
    }
    warnings.extend(hot(state));
    if state.on_battery {
        warnings.push("The machine runs on battery, which limits clocks. Plug it in.".to_owned());
    }
    if machine.cpus == 1 {
        warnings.push(
            "There is only one CPU, which the measurement shares with everything else on the machine. Stop \
             services that are not needed."
                .to_owned(),
        );
    }
    warnings
}

/// Warnings that limit the use of this machine's times or cycles: emulation, and a clock that the runner
/// could not measure.
pub fn doubts(machine: &Machine, clock_known: bool) -> Vec<String> {
    if let Some(sign) = sign(machine, clock_known) {
        return vec![format!(
            "The CPU counts as emulated: {sign}. Use this run only for right answers and counts, and measure \
             times on the real machine{}.",
            match sign.starts_with("nothing proves") {
                true => " or in a guest whose firmware reports KVM",
                false => "",
            }
        )];
    }
    if clock_known {
        return Vec::new();
    }
    vec![match machine.virtualisation.as_str() {
        "" => "The clock of the core could not be measured, so there are no cycles; times are not affected. Stop \
               other programs, set a fixed frequency and run again."
            .to_owned(),
        hypervisor => format!(
            "The clock of the core could not be measured in this guest ({hypervisor}), so there are no cycles; \
             times are not affected. Pin the guest's CPUs on the host, or measure on the host."
        ),
    }]
}

/// Warnings about what happened to a machine since its state was read.
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
            "Other programs used {:.0}% of a CPU during the run. Stop them (see `top`) and \
             measure again.",
            share * 100.0
        ));
    }
    let steal = after.steal.saturating_sub(before.steal);
    if steal >= STEAL_TICKS {
        changes.push(format!(
            "The hypervisor took {} ms from this machine's CPUs during the run. Measure when the host \
             is idle, or dedicate CPUs to the guest.",
            steal.saturating_mul(MILLISECONDS_PER_TICK)
        ));
    }
    if before.frequency_limits_khz != after.frequency_limits_khz {
        let (lowest, highest) = before.frequency_limits_khz;
        let (lowest_now, highest_now) = after.frequency_limits_khz;
        changes.push(format!(
            "The frequency limits of the CPU changed during the run, from {}-{} MHz to {}-{} MHz. Find the cause \
             (heat, a power daemon), stop it and measure again.",
            lowest / 1000,
            highest / 1000,
            lowest_now / 1000,
            highest_now / 1000
        ));
    }
    if before.governor != after.governor {
        changes.push(format!(
            "The frequency governor changed during the run, from \"{}\" to \"{}\". Stop the power \
             daemon that changed it and measure again.",
            before.governor, after.governor
        ));
    }
    if after.on_battery && !before.on_battery {
        changes.push(
            "The machine switched to battery during the run. Plug it in and measure again."
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
            "The chip is at {}, close to the {} at which it slows down. Let it cool down, or improve its cooling.",
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
