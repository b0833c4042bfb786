//! Which metrics are meaningful on which kind of evidence.

use cpb_record::Evidence;

/// A metric that a report may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Whether outputs are correct and agree.
    Answers,
    /// The number of events per operation: interrupts, context switches.
    Counts,
    /// Instructions per operation and per byte. They depend on the program, not on the speed of its machine.
    Instructions,
    /// CPU use, and CPU time per byte.
    CpuUse,
    /// Time per operation, or bytes per second.
    Rate,
    /// Core cycles.
    Cycles,
    /// Times of single operations.
    Latency,
    /// The ratio between two workloads of one executor.
    WithinExecutor,
    /// The ratio between two executors, such as software with an extension and an engine.
    AcrossExecutors,
    /// The gain from several threads.
    Scaling,
    /// Spread, intervals, discarded batches.
    Noise,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 11] = [
        Metric::Answers,
        Metric::Counts,
        Metric::Instructions,
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

/// Checks whether `metric` is meaningful on this kind of evidence.
///
/// # Errors
/// Returns the reason if it is not, for users; it begins with the evidence's name.
pub fn meaningful(metric: Metric, evidence: Evidence) -> Result<(), &'static str> {
    use Metric::{AcrossExecutors, Answers, Counts, CpuUse, Cycles, Latency, Noise, Rate, Scaling};
    match (evidence, metric) {
        (_, Answers | Counts | Metric::Instructions | Metric::WithinExecutor) => Ok(()),
        (Evidence::Emulated, Rate | Latency | Scaling) => {
            Err("emulated: the speed of an emulated CPU says nothing about a real one")
        }
        (Evidence::Emulated, CpuUse) => {
            Err("emulated: the load of an emulated CPU says nothing about a real one")
        }
        (Evidence::Emulated, Cycles) => Err("emulated: an emulated CPU has no real clock"),
        (Evidence::Emulated, AcrossExecutors) => {
            Err("emulated: emulation slows the CPU and an engine differently, so their ratio says \
             nothing about a real machine")
        }
        (Evidence::Emulated, Noise) => {
            Err("emulated: the noise of an emulator is not the machine's")
        }
        (Evidence::Simulated, Noise) => Err("simulated: simulated time has no noise"),
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
        assert!(
            !refused(Metric::Answers) && !refused(Metric::Counts) && !refused(Metric::Instructions)
        );
    }
}
