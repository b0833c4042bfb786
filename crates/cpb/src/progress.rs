//! The display of a running measurement, on standard error: a bar with the remaining time on a terminal, one
//! line elsewhere, or each line of the record as it is written.

use crate::run::Observer;
use cpb_record::{Check, Line, NotMeasured};
use cpb_report::ascii;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Steps of the bar.
const STEPS: u64 = 1000;

/// How often the bar is drawn: often enough to look alive, rarely enough not to disturb a measurement on the
/// next CPU.
const INTERVAL: Duration = Duration::from_millis(200);

/// Displays a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    verbose: bool,
    drawn: Instant,
}

impl Progress {
    /// Shows nothing if `quiet`, and the written lines if `verbose`.
    pub fn new(quiet: bool, verbose: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet && !verbose).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars(if ascii::is_on() { "== " } else { "━━ " }));
            }
            bar
        });
        if !terminal && !quiet && !verbose {
            say("measuring...");
        }
        Progress { bar, verbose, drawn: Instant::now() - INTERVAL }
    }
}

impl Observer for Progress {
    fn written(&mut self, line: &Line) {
        if !self.verbose {
            return;
        }
        match line {
            Line::Cpb(_) | Line::End(_) | Line::Source(_) | Line::Published(_) => {}
            Line::Check(Check { provider, what, .. }) => {
                say(&format!("written: check {provider} {what}"));
            }
            Line::Round(round) => {
                say(&format!("written: round {} pass={}", round.cell, round.pass))
            }
            Line::NotMeasured(NotMeasured { cell, outcome }) => {
                say(&format!("written: without {cell}: {outcome}"));
            }
            Line::Warning(warning) => say(&format!("written: warning {warning}")),
        }
    }

    fn progress(&mut self, share: f64, left: Duration, doing: &str) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.elapsed() < INTERVAL {
            return;
        }
        self.drawn = Instant::now();
        bar.set_position((share * STEPS as f64) as u64);
        let left = left.as_secs_f64().ceil();
        let time = if share > 0.0 { format!("{left} s left  ") } else { String::new() };
        bar.set_message(ascii::shown(&format!("{time}{doing}")).into_owned());
    }
}

/// An error is ignored: a run must not end because standard error is closed.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", ascii::shown(line));
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
