//! What goes to standard output: a result, in the form that was asked for.

use crate::analysis::summary::Summary;
use crate::record::Record;
use crate::report;
use anyhow::{Context, Error, Result};
use clap::Args;
use std::io::{ErrorKind, IsTerminal, Write};

/// The forms of a result.
#[derive(Args, Clone, Debug, Default)]
#[group(multiple = false)]
pub(super) struct Form {
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
    /// Print one line a cell as comma-separated values
    #[arg(long, help_heading = "Output")]
    csv: bool,
    /// Print tables in Markdown
    #[arg(long, help_heading = "Output")]
    markdown: bool,
}

impl Form {
    /// Whether nothing but tables for people was asked for.
    pub(super) fn is_for_people(&self) -> bool {
        !(self.json || self.csv || self.markdown)
    }
}

/// Prints `summary` in the form that was asked for; a table for people if none was.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show(
    summary: &Summary,
    form: &Form,
    options: &report::terminal::Options,
) -> Result<()> {
    let text = if form.json {
        report::json::render(summary)?
    } else if form.csv {
        report::csv::render(summary)?
    } else if form.markdown {
        report::markdown::render(summary)
    } else {
        report::terminal::render(summary, width(), colour(), options)
    };
    print(&text)
}

/// Prints a record's published tables in the form that was asked for.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show_published(record: &Record, form: &Form) -> Result<()> {
    let text = if form.json {
        report::published::render_json(record)?
    } else if form.csv {
        report::published::render_csv(record)?
    } else if form.markdown {
        report::published::render_markdown(record)
    } else {
        report::published::render(record, width())
    };
    print(&text)
}

/// Columns of this terminal: a table in a file is 80 wide, however wide the others are.
pub(super) fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(80, |(width, _)| width.0.into())
}

/// Writes text to standard output.
///
/// # Errors
/// It cannot be written.
pub(super) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Writes text with colours to standard output, which takes them off where they are not wanted.
///
/// # Errors
/// It cannot be written.
pub(super) fn print_coloured(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Writes a line to standard error. A reader that has gone away misses it, and no more happens.
pub(super) fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Colour is for terminals, and for people who want it: see no-color.org.
pub(super) fn colour() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}

/// Whether the reader of our output has gone.
pub(super) fn is_broken_pipe(error: &Error) -> bool {
    let io = error.root_cause().downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
