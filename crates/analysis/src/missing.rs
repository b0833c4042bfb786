//! Why an expected figure is missing.

use crate::location::LEAST;
use serde::Serialize;
use std::fmt;

/// Why there is no figure. The texts are for readers of a report, who act on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "detail")]
pub enum NoFigure {
    /// The cell cannot be measured here. This is not a failure.
    Unsupported(String),
    /// It should have worked and did not.
    Failed(String),
    /// Its outputs differ from those of the other providers.
    WrongAnswer(String),
    /// Nothing was measured before the run ended.
    NotReached,
    /// The timed operations are too short for the clock.
    BelowResolution,
    /// The core's clock changed in every batch.
    AllDiscarded,
    /// The samples contradict themselves: for example no iterations, or no ticks per second.
    Broken(&'static str),
    /// Too few passes had the core to themselves.
    FewPasses {
        /// The number of passes that gave a figure.
        counted: usize,
        /// The number of measured passes.
        passes: usize,
    },
    /// The system counted nothing from which it could be computed.
    NotCounted,
    /// There is an earlier reading of the same cell, which is used.
    Repeated,
    /// This kind of evidence does not support such a figure.
    Meaningless(&'static str),
}

fn of_passes(counted: usize, passes: usize) -> String {
    format!("{counted} of {} counted", one_or_more(passes))
}

fn one_or_more(passes: usize) -> String {
    match passes {
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    }
}

impl NoFigure {
    /// The reason in one or two words, for tables.
    pub fn short(&self) -> &'static str {
        match self {
            NoFigure::Unsupported(_) => "unsupported",
            NoFigure::Failed(_) => "failed",
            NoFigure::WrongAnswer(_) => "wrong",
            NoFigure::NotReached => "not reached",
            NoFigure::BelowResolution => "too short",
            NoFigure::AllDiscarded => "unsteady",
            NoFigure::Broken(_) => "broken",
            NoFigure::FewPasses { .. } => "few passes",
            NoFigure::NotCounted => "not counted",
            NoFigure::Repeated => "repeated",
            NoFigure::Meaningless(_) => "refused",
        }
    }
}

impl fmt::Display for NoFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoFigure::Unsupported(words) | NoFigure::Failed(words) => f.write_str(words),
            NoFigure::WrongAnswer(words) => f.write_str(words),
            NoFigure::NotReached => f.write_str("the run ended before this cell; raise --budget"),
            NoFigure::BelowResolution => f.write_str("less than ten steps of the clock"),
            NoFigure::AllDiscarded => f.write_str(
                "every batch was interrupted, or the core's clock changed in it; stop \
                 other programs, fix the frequency, or raise --budget",
            ),
            NoFigure::Broken(words) => write!(f, "the samples contain {words}"),
            NoFigure::FewPasses { counted, passes } if counted == passes => {
                write!(f, "only {}, but three are needed: raise --budget", one_or_more(*passes))
            }
            NoFigure::FewPasses { counted, passes } => {
                // The additional passes needed for three to count.
                let more = (LEAST * passes).div_ceil((*counted).max(1)) - passes;
                write!(
                    f,
                    "not enough undisturbed time: {}, but three are needed; this takes about {} more",
                    of_passes(*counted, *passes),
                    one_or_more(more)
                )
            }
            NoFigure::NotCounted => f.write_str("the system did not count it"),
            NoFigure::Repeated => f.write_str(
                "an earlier reading of the same machine, task, path and size is used; `cpb show` \
                 prints both",
            ),
            NoFigure::Meaningless(words) => f.write_str(words),
        }
    }
}
