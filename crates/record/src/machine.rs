//! The machine that was measured, and the state it was in, as records keep them. The command's probe reads them.

use serde::{Deserialize, Serialize};

/// What does not change while cpb runs. A field is empty where the system does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub name: String,
    /// Instruction set that cpb was compiled for: x86_64, aarch64, ...
    pub architecture: String,
    /// Instruction set that the kernel says it runs on. Another family than cpb's: a translator.
    pub kernel_architecture: String,
    /// The CPU's name as the kernel prints it, or of its MIDR on Arm.
    pub cpu: String,
    /// Identification of the core: family, model and stepping, or MIDR; and its type, if CPUs differ.
    pub core: String,
    /// Features that the kernel lists.
    pub features: Vec<String>,
    /// Microcode version.
    pub microcode: String,
    /// Number of CPUs that are online.
    pub cpus: usize,
    /// Other CPUs that are threads of the measured core.
    pub siblings: Vec<usize>,
    /// Frequency of the architecture's counter (CNTFRQ_EL0, RISC-V timebase), in Hz; 0: not told.
    pub counter_hz: u64,
    /// Board or product name.
    pub board: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// C library that cpb runs on.
    pub libc: String,
    /// Hypervisor or emulator, if any.
    pub virtualisation: String,
    /// State before the run.
    pub state: State,
}

/// What may change while cpb runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Frequency governor of the measured CPU.
    pub governor: String,
    /// Current frequency by cpufreq, in kHz; 0 where it is not told. Nominal, not the effective one.
    pub frequency_khz: u64,
    /// Limits of cpufreq, in kHz: lowest and highest.
    pub frequency_limits_khz: (u64, u64),
    /// Thermal throttle events counted so far: core and package on x86; kinds of event seen since
    /// boot on a Raspberry Pi.
    pub throttled: u64,
    /// Temperature of the hottest zone, in thousandths of a degree Celsius.
    pub temperature_millicelsius: Option<i64>,
    /// Temperature at which that zone starts to slow the CPU down, where the system tells.
    pub temperature_limit_millicelsius: Option<i64>,
    /// Load average over one minute.
    pub load: f64,
    /// Programs that ran or were ready to run just then, cpb included; 0 where it is not told.
    pub runnable: u64,
    /// Time that all CPUs together spent at work since boot, in clock ticks of the kernel.
    pub busy: u64,
    /// How much of it this process and its ended children used.
    pub own: u64,
    /// Time that all CPUs together have been there since boot, idle or not, likewise.
    pub elapsed: u64,
    /// Time that the hypervisor took from all CPUs since boot, in clock ticks of the kernel.
    pub steal: u64,
    /// Whether a battery feeds the machine.
    pub on_battery: bool,
}

impl Machine {
    /// What is known of it, for a heading: name, board, CPU, instruction set.
    pub fn words(&self) -> String {
        let known = [&self.name, &self.board, &self.cpu, &self.architecture];
        let known = known.into_iter().map(String::as_str).filter(|word| !word.is_empty());
        known.collect::<Vec<&str>>().join(", ")
    }
}
