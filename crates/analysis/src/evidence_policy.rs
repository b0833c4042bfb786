//! Which figures mean something, by what they rest on.

use cpb_record::Evidence;

/// Something a report may want to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Whether answers are right and agree.
    Answers,
    /// How often something happened for each operation: interrupts, context switches.
    Counts,
    /// How much of the CPUs' time something took, and CPU time for each byte.
    CpuUse,
    /// Time of an operation, or bytes per second.
    Rate,
    /// Cycles of the core.
    Cycles,
    /// Times of single operations.
    Latency,
    /// How two workloads of one executor compare.
    WithinExecutor,
    /// How two executors compare: software with an extension or an engine.
    AcrossExecutors,
    /// What several threads gain.
    Scaling,
    /// Spread, intervals, discarded batches.
    Noise,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 10] = [
        Metric::Answers,
        Metric::Counts,
        Metric::CpuUse,
        Metric::Rate,
        Metric::Cycles,
        Metric::Latency,
        Metric::WithinExecutor,
        Metric::AcrossExecutors,
        Metric::Scaling,
        Metric::Noise,
    ];
}

/// Whether `metric` means something on such evidence; if not, why, for people: the evidence's name
/// comes first.
///
/// # Errors
/// It does not.
pub fn meaningful(metric: Metric, evidence: Evidence) -> Result<(), &'static str> {
    use Metric::{AcrossExecutors, Answers, Counts, CpuUse, Cycles, Latency, Noise, Rate, Scaling};
    match (evidence, metric) {
        (_, Answers | Counts | Metric::WithinExecutor) => Ok(()),
        (Evidence::Emulated, Rate | Latency | Scaling) => {
            Err("emulated: how long an emulated CPU takes says nothing of a real one")
        }
        (Evidence::Emulated, CpuUse) => {
            Err("emulated: how busy an emulated CPU is says nothing of a real one")
        }
        (Evidence::Emulated, Cycles) => Err("emulated: such a CPU has no clock of its own"),
        (Evidence::Emulated, AcrossExecutors) => Err(
            "emulated: a CPU's instructions and an engine are not slowed alike, so their ratio \
             says nothing of a real machine",
        ),
        (Evidence::Emulated, Noise) => {
            Err("emulated: the noise of an emulator is not the machine's")
        }
        (Evidence::Simulated, Noise) => Err("simulated: such time has no noise"),
        (Evidence::Published, Cycles) => {
            Err("published: no reading of the core's clock came with the figures")
        }
        (Evidence::Published, Noise | Latency) => {
            Err("published: the single readings did not come with the figures")
        }
        (Evidence::Imported, Cycles) => {
            Err("imported: no reading of the core's clock came with each figure")
        }
        (Evidence::Imported, Noise | Latency) => {
            Err("imported: the single readings did not come with the figures")
        }
        (_, Rate | Cycles | Latency | AcrossExecutors | Scaling | Noise | CpuUse) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_may_show_everything_and_an_emulator_no_time() {
        for metric in Metric::ALL {
            assert_eq!(meaningful(metric, Evidence::Hardware), Ok(()));
        }
        let refused = |metric| meaningful(metric, Evidence::Emulated).is_err();
        assert!(refused(Metric::Rate) && refused(Metric::Cycles) && refused(Metric::Latency));
        assert!(refused(Metric::CpuUse));
        assert!(refused(Metric::AcrossExecutors) && !refused(Metric::WithinExecutor));
        assert!(!refused(Metric::Answers) && !refused(Metric::Counts));
    }
}
