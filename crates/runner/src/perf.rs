//! The CPU's own counters of cycles and instructions, if the system allows reading them. Most virtual
//! machines do not.

#[cfg(target_arch = "arm")]
pub(crate) use absent::HardwareCounters;
#[cfg(not(target_arch = "arm"))]
pub(crate) use available::HardwareCounters;

#[cfg(not(target_arch = "arm"))]
mod available {
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};

    /// Cycles and instructions of the calling thread in user mode.
    pub(crate) struct HardwareCounters {
        cycles: Counter,
        instructions: Counter,
    }

    impl HardwareCounters {
        /// Starts counting; `None` if that is not possible.
        pub(crate) fn start() -> Option<Self> {
            let open = |event| Builder::new(event).observe_self().exclude_kernel(true).build().ok();
            let mut counters = HardwareCounters {
                cycles: open(Hardware::CPU_CYCLES)?,
                instructions: open(Hardware::INSTRUCTIONS)?,
            };
            counters.cycles.enable().ok()?;
            counters.instructions.enable().ok()?;
            Some(counters)
        }

        /// Cycles and instructions since the start; `None` if the counters did not run.
        pub(crate) fn stop(mut self) -> Option<(u64, u64)> {
            let counts = (self.cycles.read().ok()?, self.instructions.read().ok()?);
            (counts.0 > 0 && counts.1 > 0).then_some(counts)
        }
    }
}

/// The perf-event2 library does not build for 32-bit Arm.
#[cfg(target_arch = "arm")]
mod absent {
    /// Never constructed.
    pub(crate) enum HardwareCounters {}

    impl HardwareCounters {
        pub(crate) fn start() -> Option<Self> {
            None
        }

        pub(crate) fn stop(self) -> Option<(u64, u64)> {
            match self {}
        }
    }
}
