//! How a plan says in which way jobs are dispatched.

use cpb_core::{Build, Depth, Dispatch, Notice};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// How jobs are dispatched: by a name, or parameter by parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "dispatch is \"serial\", \"all-at-once\", or a table such as { depth = 4, notice = \"notice-last\" }, \
                 whose depth is a number from 1 or \"ring\""
)]
pub enum DispatchWord {
    /// A common way.
    Named(NamedDispatch),
    /// Any way.
    Queued(Queued),
}

/// The common ways of dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedDispatch {
    /// Build and dispatch job n+1 after job n completes.
    Serial,
    /// Build all jobs, dispatch them as fast as the engine accepts them, and wait for the last.
    AllAtOnce,
}

/// A way of dispatch with each parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queued {
    /// How many jobs are in flight.
    pub depth: QueueDepth,
    /// When descriptors are built.
    #[serde(default = "in_loop", skip_serializing_if = "is_in_loop")]
    pub build: Build,
    /// How completion is noticed.
    #[serde(default = "each", skip_serializing_if = "is_each")]
    pub notice: Notice,
}

/// How many jobs are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QueueDepth {
    /// So many.
    Jobs(NonZeroU16),
    /// As many as the engine's queue holds.
    Full(Ring),
}

/// The word for a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ring {
    /// Every place of the queue.
    Ring,
}

fn in_loop() -> Build {
    Build::InLoop
}

fn is_in_loop(build: &Build) -> bool {
    *build == Build::InLoop
}

fn each() -> Notice {
    Notice::Each
}

fn is_each(notice: &Notice) -> bool {
    *notice == Notice::Each
}

impl From<DispatchWord> for Dispatch {
    fn from(word: DispatchWord) -> Dispatch {
        match word {
            DispatchWord::Named(NamedDispatch::Serial) => Dispatch::SERIAL,
            DispatchWord::Named(NamedDispatch::AllAtOnce) => Dispatch::ALL_AT_ONCE,
            DispatchWord::Queued(Queued { depth, build, notice }) => {
                let depth = match depth {
                    QueueDepth::Jobs(jobs) => Depth::Jobs(jobs.get()),
                    QueueDepth::Full(Ring::Ring) => Depth::Ring,
                };
                Dispatch { build, depth, notice }
            }
        }
    }
}
