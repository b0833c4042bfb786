//! The measured machine and its state, as records store them. The probe in the `cpb` command reads them.

use serde::{Deserialize, Serialize};

/// The properties that do not change while cpb runs. A field is empty if the system does not report it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub name: String,
    /// Instruction set that cpb was compiled for: x86_64, aarch64, ...
    pub architecture: String,
    /// Instruction set that the kernel reports. If its family differs from cpb's, a translator runs cpb.
    pub kernel_architecture: String,
    /// The CPU's name as printed by the kernel, or derived from its MIDR on Arm.
    pub cpu: String,
    /// Identification of the core: family, model and stepping, or MIDR; and the core's type, if the CPUs differ.
    pub core: String,
    /// Features that the kernel lists.
    pub features: Vec<String>,
    /// Microcode version.
    pub microcode: String,
    /// Number of CPUs that are online.
    pub cpus: usize,
    /// Other CPUs that are threads of the measured core.
    pub siblings: Vec<usize>,
    /// Frequency of the architecture's counter (CNTFRQ_EL0, RISC-V timebase), in Hz; 0 if unknown.
    pub counter_hz: u64,
    /// Board or product name.
    pub board: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// The C library that cpb uses.
    pub libc: String,
    /// Hypervisor or emulator, if any.
    pub virtualisation: String,
    /// State before the run.
    pub state: State,
}

/// The properties that may change while cpb runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Frequency governor of the measured CPU.
    pub governor: String,
    /// Current frequency according to cpufreq, in kHz; 0 if unknown. It is nominal, not effective.
    pub frequency_khz: u64,
    /// The limits of cpufreq, in kHz: lowest and highest.
    pub frequency_limits_khz: (u64, u64),
    /// Thermal throttle events counted so far: of core and package on x86; on a Raspberry Pi, the kinds of event seen
    /// since boot.
    pub throttled: u64,
    /// Temperature of the hottest zone, in thousandths of a degree Celsius.
    pub temperature_millicelsius: Option<i64>,
    /// Temperature at which that zone starts to slow the CPU down, if the system reports it.
    pub temperature_limit_millicelsius: Option<i64>,
    /// Load average over one minute.
    pub load: f64,
    /// Programs that were running or ready to run at that moment, cpb included; 0 if unknown.
    pub runnable: u64,
    /// Time that all CPUs together were busy since boot, in clock ticks of the kernel.
    pub busy: u64,
    /// The part of `busy` that this process and its ended children used.
    pub own: u64,
    /// Time that all CPUs together have been online since boot, busy or idle, in the same ticks.
    pub elapsed: u64,
    /// Time that the hypervisor took from all CPUs since boot, in clock ticks of the kernel.
    pub steal: u64,
    /// Whether a battery feeds the machine.
    pub on_battery: bool,
    /// What a guest's engine says that it has done since the guest booted. Only models outside of the guest say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineCount>,
}

/// What an engine has done, by its own count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineCount {
    /// Jobs that ended without an error.
    pub jobs: u64,
    /// Jobs that ended with an error, which wrong authentication tags cause as well.
    pub failed: u64,
    /// Commands of descriptors that these jobs ran.
    pub commands: u64,
    /// Bytes that these jobs loaded to be worked on.
    pub bytes: u64,
    /// How often it raised its interrupt.
    pub interrupts: u64,
    /// The most jobs that one of its rings had at a time: waiting, at work, or finished and not yet removed.
    pub deepest: u32,
    /// The least time of a job that was stated for it, in microseconds; 0 if none was.
    pub job_us: u32,
    /// The chip whose constants were stated for the times of its jobs; empty if none was.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub times_of: String,
}

impl Machine {
    /// The machine in words, for a heading: name, board, CPU, instruction set.
    pub fn words(&self) -> String {
        let known = [&self.name, &self.board, &self.cpu, &self.architecture];
        let known = known.into_iter().map(String::as_str).filter(|word| !word.is_empty());
        known.collect::<Vec<&str>>().join(", ")
    }

    /// The board's name, or, without one, the machine in words.
    pub fn label(&self) -> String {
        if self.board.is_empty() { self.words() } else { self.board.clone() }
    }
}
