//! Why there is no figure where one was expected.

use crate::location::LEAST;
use serde::Serialize;
use std::fmt;

/// Why there is no figure. Words, because a report's reader acts on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "detail")]
pub enum NoFigure {
    /// The cell cannot be measured here. Not a failure.
    Unsupported(String),
    /// It should have worked and did not.
    Failed(String),
    /// Its outputs are not those of the other providers.
    WrongAnswer(String),
    /// Nothing was measured before the run ended.
    NotReached,
    /// What was timed is too short for the clock.
    BelowResolution,
    /// The core's clock changed in every batch.
    AllDiscarded,
    /// The samples contradict themselves: no iterations, no ticks per second.
    Broken(&'static str),
    /// Too few passes had the core to themselves.
    FewPasses {
        /// So many gave a figure.
        counted: usize,
        /// Of so many that were measured.
        passes: usize,
    },
    /// The system counted nothing that it could be computed from.
    NotCounted,
    /// There is an earlier reading of the same, which is taken.
    Repeated,
    /// The kind of evidence does not carry such a figure.
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
    /// One or two words for a table.
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
            NoFigure::NotReached => f.write_str("the run ended before it; allow more time"),
            NoFigure::BelowResolution => f.write_str("less than ten steps of the clock"),
            NoFigure::AllDiscarded => f.write_str(
                "the core's clock changed or something interrupted in every batch; stop \
                 other programs, fix the frequency, or allow more time",
            ),
            NoFigure::Broken(words) => write!(f, "the samples hold {words}"),
            NoFigure::FewPasses { counted, passes } if counted == passes => {
                write!(f, "only {}; three are needed: allow more time", one_or_more(*passes))
            }
            NoFigure::FewPasses { counted, passes } => {
                // As many again as it takes for three to count.
                let more = (LEAST * passes).div_ceil((*counted).max(1)) - passes;
                write!(
                    f,
                    "not enough undisturbed time: {}, and three are needed; that takes about {} more",
                    of_passes(*counted, *passes),
                    one_or_more(more)
                )
            }
            NoFigure::NotCounted => f.write_str("the system counted nothing of it"),
            NoFigure::Repeated => f.write_str(
                "an earlier reading of the same machine, task, path and size is taken; `cpb show` \
                 prints both",
            ),
            NoFigure::Meaningless(words) => f.write_str(words),
        }
    }
}
