//! The machine that was measured, and its state.
//!
//! Everything that is stored in files is read below a root, so that a record of any machine can be replayed
//! from a fixture. Everything else is asked of the process itself, in `process`. A missing file gives an
//! empty field and never an error.

mod arm;
mod board;
mod clusters;
mod cpuinfo;
mod files;
mod noise_warnings;
mod process;
#[cfg(test)]
mod tests;
mod virtualisation;

pub use board::{of_board, of_simulated_board};
pub use clusters::{Cluster, clusters};
pub use noise_warnings::{changes, doubts, warnings};

use cpb_record::{Machine, State};
use cpuinfo::Cpuinfo;
use files::Tree;
use process::OwnProcess;
use std::path::Path;

/// Reads `<root>/proc` and `<root>/sys` for the measured `cpu`. With `/` it describes the machine that cpb
/// runs on, and the process itself is asked as well.
pub fn machine(root: &Path, cpu: usize) -> Machine {
    let own = if root == Path::new("/") { OwnProcess::probe() } else { OwnProcess::default() };
    machine_with(root, cpu, own)
}

fn machine_with(root: &Path, cpu: usize, own: OwnProcess) -> Machine {
    let tree = Tree::new(root);
    let info = Cpuinfo::parse(&tree.text("proc/cpuinfo"), cpu);
    let midr = arm::midr(&tree, &info, cpu);
    let kernel_architecture = kernel_architecture(&tree, &info);
    let mut machine = Machine {
        name: tree.line("proc/sys/kernel/hostname"),
        architecture: own.architecture,
        cpu: cpu_name(&info, midr),
        core: core(&tree, &info, midr, cpu),
        features: info.features(),
        microcode: info.field("microcode"),
        cpus: match tree.cpus("sys/devices/system/cpu/online").len() {
            0 => info.processors(),
            online => online,
        },
        siblings: tree
            .cpus(&format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"))
            .into_iter()
            .filter(|sibling| *sibling != cpu)
            .collect(),
        counter_hz: match own.counter_hz {
            0 => tree
                .cells("cpus/timebase-frequency")
                .or_else(|| counter_of_delays(&info, &kernel_architecture))
                .unwrap_or_default(),
            counter => counter,
        },
        board: board(&tree, &info),
        kernel: ["ostype", "osrelease", "version"]
            .map(|name| tree.line(&format!("proc/sys/kernel/{name}")))
            .join(" ")
            .trim()
            .to_owned(),
        libc: own.libc,
        virtualisation: virtualisation::virtualisation(&tree, &info, midr, &own.hypervisor),
        state: state(root, cpu),
        kernel_architecture,
    };
    if machine.architecture.is_empty() {
        machine.architecture = machine.kernel_architecture.clone();
    }
    machine
}

/// Reads the state that may change from `<root>/proc` and `<root>/sys`, for the measured `cpu`.
pub fn state(root: &Path, cpu: usize) -> State {
    let tree = Tree::new(root);
    let of_cpu = format!("sys/devices/system/cpu/cpu{cpu}");
    let cpufreq = |name: &str| tree.number(&format!("{of_cpu}/cpufreq/{name}"));
    let (temperature, limit) = temperature(&tree);
    let (load, time) = (tree.line("proc/loadavg"), tree.line("proc/stat"));
    // "cpu  user nice system idle iowait irq softirq steal ..." (proc_stat(5)).
    let ticks = |word| first_number::<u64>(&time, word).unwrap_or_default();
    let busy = [1, 2, 3, 6, 7].map(ticks).into_iter().fold(0, u64::saturating_add);
    State {
        governor: tree.line(&format!("{of_cpu}/cpufreq/scaling_governor")),
        frequency_khz: cpufreq("scaling_cur_freq").unwrap_or_default(),
        frequency_limits_khz: (
            cpufreq("scaling_min_freq").unwrap_or_default(),
            cpufreq("scaling_max_freq").unwrap_or_default(),
        ),
        throttled: throttled(&tree, &of_cpu),
        temperature_millicelsius: temperature,
        temperature_limit_millicelsius: limit,
        load: first_number::<f64>(&load, 0)
            .filter(|load| load.is_finite() && *load >= 0.0)
            .unwrap_or_default(),
        // "0.20 0.18 0.12 1/80 11206" (proc_loadavg(5)).
        runnable: load
            .split_ascii_whitespace()
            .nth(3)
            .and_then(|tasks| tasks.split('/').next()?.parse().ok())
            .unwrap_or_default(),
        busy,
        own: own_time(&tree.line("proc/self/stat")),
        elapsed: [4, 5, 8].map(ticks).into_iter().fold(busy, u64::saturating_add),
        steal: ticks(8),
        on_battery: on_battery(&tree),
        engine: None,
    }
}

/// CPU time of a process and of its ended children, in clock ticks: fields 14 to 17 of its stat file. They
/// are counted from after the process's name, which may contain anything (proc_pid_stat(5)).
fn own_time(stat: &str) -> u64 {
    let fields = stat.rsplit(')').next().unwrap_or_default();
    (11..=14).filter_map(|word| first_number::<u64>(fields, word)).fold(0, u64::saturating_add)
}

fn first_number<T: std::str::FromStr>(line: &str, word: usize) -> Option<T> {
    line.split_ascii_whitespace().nth(word)?.parse().ok()
}

/// What the kernel itself says takes precedence: qemu-user replaces uname(2) and, in newer versions,
/// /proc/cpuinfo with the emulated values, but passes these files through.
fn kernel_architecture(tree: &Tree, info: &Cpuinfo) -> String {
    // Linux 6.1 and later: Documentation/admin-guide/sysctl/kernel.rst, "arch".
    let arch = tree.line("proc/sys/kernel/arch");
    if !arch.is_empty() {
        return arch;
    }
    // "cpu:type:x86,ven0000...": print_cpu_modalias in drivers/base/cpu.c.
    let modalias = tree.line("sys/devices/system/cpu/modalias");
    if let Some(kind) = modalias.strip_prefix("cpu:type:") {
        return kind.split([',', ':']).next().unwrap_or_default().to_owned();
    }
    info.architecture().to_owned()
}

fn cpu_name(info: &Cpuinfo, midr: Option<u32>) -> String {
    let known = midr.map(arm::name).unwrap_or_default();
    if !known.is_empty() {
        return known;
    }
    ["model name", "Processor", "uarch", "cpu model", "cpu"]
        .map(|key| info.field(key))
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default()
}

/// The frequency of a 32-bit Arm core's counter, which programs cannot read on every core: Linux uses it for
/// short delays and prints twice its megahertz as BogoMIPS (`register_current_timer_delay` in
/// arch/arm/lib/delay.c). The feature `evtstrm` shows that the counter exists.
fn counter_of_delays(info: &Cpuinfo, kernel_architecture: &str) -> Option<u64> {
    let has_counter = kernel_architecture.starts_with("arm")
        && info.features().iter().any(|feature| feature == "evtstrm");
    let bogomips: f64 = info.field("BogoMIPS").parse().ok()?;
    // The cast saturates, and turns a value that is not a number into 0, "not given".
    has_counter.then_some((bogomips * 500_000.0).round() as u64)
}

fn core(tree: &Tree, info: &Cpuinfo, midr: Option<u32>, cpu: usize) -> String {
    let mut core: Vec<String> = Vec::new();
    if let Some(midr) = midr {
        core.push(format!("MIDR {midr:#010x}"));
    }
    for (key, name) in [
        ("cpu family", "family"),
        ("model", "model"),
        ("stepping", "stepping"),
        ("mvendorid", "mvendorid"),
        ("marchid", "marchid"),
        ("mimpid", "mimpid"),
    ] {
        let value = info.field(key);
        if midr.is_none() && !value.is_empty() {
            core.push(format!("{name} {value}"));
        }
    }
    // Intel's hybrid CPUs have one PMU per core type: tools/perf/Documentation/intel-hybrid.txt.
    for (pmu, name) in [("cpu_core", "performance core"), ("cpu_atom", "efficiency core")] {
        if tree.cpus(&format!("sys/devices/{pmu}/cpus")).contains(&cpu) {
            core.push(name.to_owned());
        }
    }
    core.join(" ")
}

fn board(tree: &Tree, info: &Cpuinfo) -> String {
    if let Some(model) = tree.strings("model").into_iter().next() {
        return model;
    }
    // drivers/firmware/dmi-id.c; boards often leave one of the fields blank.
    let mut names: Vec<String> = Vec::new();
    for name in ["sys_vendor", "product_name", "board_name"] {
        let name = tree.line(&format!("sys/class/dmi/id/{name}"));
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => info.field("Hardware"),
        false => names.join(" "),
    }
}

fn throttled(tree: &Tree, of_cpu: &str) -> u64 {
    // arch/x86/kernel/cpu/mce/therm_throt.c (drivers/thermal/intel since 5.11).
    let x86: u64 = ["core_throttle_count", "package_throttle_count"]
        .iter()
        .filter_map(|name| tree.number::<u64>(&format!("{of_cpu}/thermal_throttle/{name}")))
        .fold(0, u64::saturating_add);
    // Bits 16 to 19: under-voltage, frequency capped, throttled, soft limit have occurred
    // (Raspberry Pi documentation, vcgencmd get_throttled).
    let pi = tree.line("sys/devices/platform/soc/soc:firmware/get_throttled");
    let pi = u64::from_str_radix(pi.trim_start_matches("0x"), 16).unwrap_or_default();
    x86.saturating_add(u64::from((pi >> 16 & 0xf).count_ones()))
}

/// The temperature of the hottest zone, and the temperature at which it begins to slow the CPU down.
fn temperature(tree: &Tree) -> (Option<i64>, Option<i64>) {
    // Sensors that do not exist report absurd values.
    let plausible = |millicelsius: &i64| (-50_000..=200_000).contains(millicelsius);
    let mut zones = Vec::new();
    // Documentation/driver-api/thermal/sysfs-api.rst.
    for zone in tree.names("sys/class/thermal") {
        let zone = format!("sys/class/thermal/{zone}");
        let Some(now) = tree.number::<i64>(&format!("{zone}/temp")).filter(plausible) else {
            continue;
        };
        let limit = (0..32)
            .filter(|trip| {
                ["passive", "hot", "critical"]
                    .contains(&tree.line(&format!("{zone}/trip_point_{trip}_type")).as_str())
            })
            .filter_map(|trip| tree.number::<i64>(&format!("{zone}/trip_point_{trip}_temp")))
            // A trip point that is not set is 0 or less.
            .filter(|limit| *limit > 0 && plausible(limit))
            .min();
        zones.push((now, limit));
    }
    // AMD's sensors have no thermal zone. Documentation/hwmon/{coretemp,k10temp}.rst.
    for sensor in tree.names("sys/class/hwmon") {
        let sensor = format!("sys/class/hwmon/{sensor}");
        if !["coretemp", "k10temp"].contains(&tree.line(&format!("{sensor}/name")).as_str()) {
            continue;
        }
        for input in 1..=16 {
            let value = |what| {
                tree.number::<i64>(&format!("{sensor}/temp{input}_{what}")).filter(plausible)
            };
            zones.extend(value("input").map(|now| (now, value("crit"))));
        }
    }
    let hottest = zones.into_iter().max();
    (hottest.map(|zone| zone.0), hottest.and_then(|zone| zone.1))
}

/// Documentation/ABI/testing/sysfs-class-power. A mouse's battery has the scope "Device".
fn on_battery(tree: &Tree) -> bool {
    tree.names("sys/class/power_supply").iter().any(|supply| {
        let field = |name| tree.line(&format!("sys/class/power_supply/{supply}/{name}"));
        field("type") == "Battery" && field("scope") != "Device" && field("status") == "Discharging"
    })
}
