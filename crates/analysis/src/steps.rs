//! Where the time of a message goes that has the queue to itself: into building its request, into sending it, and until
//! its completion is noticed. Nothing overlaps then, so the three are all of its time.

use crate::evidence_policy::{Metric, meaningful};
use crate::units::Nanoseconds;
use cpb_core::message::ClockDescription;
use cpb_core::sample::Steps;
use cpb_record::{Evidence, Round};
use serde::Serialize;

/// The steps of one message at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepCosts {
    /// How many were timed.
    pub operations: u64,
    /// Until the request is built.
    pub build: StepCost,
    /// From then until the call that sends it returns: all of the work, if a driver does it on the CPU.
    pub dispatch: StepCost,
    /// From then until the sender runs again.
    pub completion: StepCost,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepCost {
    /// Its part of the three.
    pub share: f64,
    /// The mean, with a reading of the clock in it. `None` if times mean nothing.
    pub time: Option<Nanoseconds>,
}

impl StepCosts {
    /// Each step with its name, in order.
    pub fn named(&self) -> [(&'static str, StepCost); 3] {
        [("build", self.build), ("dispatch", self.dispatch), ("completion", self.completion)]
    }
}

/// The steps over all rounds. `None` if no round has any.
pub fn of(rounds: &[Round], clock: &ClockDescription, evidence: Evidence) -> Option<StepCosts> {
    let each = || rounds.iter().filter_map(|round| round.counters.steps);
    let sum = |part: fn(&Steps) -> u64| -> f64 { each().map(|steps| part(&steps) as f64).sum() };
    let operations: u64 = each().map(|steps| steps.operations).sum();
    let [build, dispatch, completion] = [
        sum(|steps| steps.build.0),
        sum(|steps| steps.dispatch.0),
        sum(|steps| steps.completion.0),
    ];
    let all = build + dispatch + completion;
    if operations == 0 || all == 0.0 || clock.frequency == 0 {
        return None;
    }
    let timed = meaningful(Metric::Latency, evidence).is_ok();
    let step = |ticks: f64| StepCost {
        share: ticks / all,
        time: timed.then(|| Nanoseconds(ticks * 1e9 / clock.frequency as f64 / operations as f64)),
    };
    Some(StepCosts {
        operations,
        build: step(build),
        dispatch: step(dispatch),
        completion: step(completion),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use cpb_core::Ticks;

    fn rounds() -> Vec<Round> {
        let mut rounds = fixtures::noisy_rounds(1, 3, 1000.0, 0.01);
        for (round, factor) in rounds.iter_mut().zip([1, 2]) {
            round.counters.steps = Some(Steps {
                operations: 10 * factor,
                build: Ticks(1_000 * factor),
                dispatch: Ticks(3_000 * factor),
                completion: Ticks(4_000 * factor),
            });
        }
        rounds
    }

    fn clock() -> ClockDescription {
        let record = fixtures::record([rounds()].into_iter());
        *record.clock("openssl").expect("a clock")
    }

    #[test]
    fn steps_are_the_mean_of_all_that_were_timed() {
        let clock = ClockDescription { frequency: 1_000_000_000, ..clock() };
        let found = of(&rounds(), &clock, Evidence::Hardware).expect("two rounds have steps");
        assert_eq!(found.operations, 30);
        assert_eq!(found.named().map(|(_, step)| step.share), [0.125, 0.375, 0.5]);
        let times = found.named().map(|(_, step)| step.time.expect("a time").0);
        assert_eq!(times, [100.0, 300.0, 400.0]);
    }

    #[test]
    fn an_emulated_cpu_has_shares_and_no_times() {
        let found = of(&rounds(), &clock(), Evidence::Emulated).expect("steps");
        assert_eq!((found.dispatch.share, found.dispatch.time), (0.375, None));
    }

    #[test]
    fn without_steps_there_is_nothing() {
        assert_eq!(
            of(&fixtures::noisy_rounds(1, 3, 1e3, 0.01), &clock(), Evidence::Hardware),
            None
        );
    }
}
