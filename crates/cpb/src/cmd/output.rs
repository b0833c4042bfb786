//! What goes to standard output: a result, in the form that was asked for.

use anyhow::{Context, Error, Result};
use clap::Args;
use cpb_analysis::explain::explain;
use cpb_analysis::summary::summarise;
use cpb_record::Record;
use cpb_report::ascii;
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

/// Prints a record's figures in the form that was asked for; a table for people if none was.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show(
    record: &Record,
    form: &Form,
    options: &cpb_report::terminal::Options,
) -> Result<()> {
    let summary = summarise(record);
    if form.json {
        return print_json(&cpb_report::json::render(&summary)?);
    }
    let text = if form.csv {
        cpb_report::csv::render(&summary)?
    } else if form.markdown {
        cpb_report::markdown::render(&summary)
    } else {
        cpb_report::terminal::render(&summary, &explain([record], None), width(), colour(), options)
    };
    print(&text)
}

/// Prints a record in the form that was asked for: published tables as they were printed.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show_record(
    record: &Record,
    form: &Form,
    options: &cpb_report::terminal::Options,
) -> Result<()> {
    if record.sources.is_empty() {
        return show(record, form, options);
    }
    if form.json {
        return print_json(&cpb_report::published::render_json(record)?);
    }
    let text = if form.csv {
        cpb_report::published::render_csv(record)?
    } else if form.markdown {
        cpb_report::published::render_markdown(record)
    } else {
        cpb_report::published::render(record, width())
    };
    print(&text)
}

/// Prints several records: one after the other for people, as one document for programs.
///
/// # Errors
/// Standard output cannot be written, or they do not fit into one document.
pub(super) fn show_records(
    records: &[(String, Record)],
    form: &Form,
    options: &cpb_report::terminal::Options,
) -> Result<()> {
    if form.json {
        return print_json(&cpb_report::json::of_records(records)?);
    } else if form.csv {
        return print(&cpb_report::csv::of_records(records)?);
    } else if form.markdown {
        return print(&cpb_report::markdown::of_records(records));
    }
    for (place, (_, record)) in records.iter().enumerate() {
        if place > 0 {
            print("\n")?;
        }
        show_record(record, form, options)?;
    }
    Ok(())
}

/// Columns of this terminal: a table in a file is 80 wide, however wide the others are.
pub(super) fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(80, |(width, _)| width.0.into())
}

/// Writes text to standard output, in ASCII if that is chosen.
///
/// # Errors
/// It cannot be written.
pub(super) fn print(text: &str) -> Result<()> {
    print_as_it_is(&ascii::shown(text))
}

/// Writes JSON likewise.
///
/// # Errors
/// It cannot be written.
pub(super) fn print_json(text: &str) -> Result<()> {
    print_as_it_is(&ascii::shown_json(text))
}

/// Writes what says itself which character set it is in.
///
/// # Errors
/// It cannot be written.
pub(super) fn print_as_it_is(text: &str) -> Result<()> {
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
    let text = ascii::shown(text);
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Writes a line to standard error. A reader that has gone away misses it, and no more happens.
pub(super) fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", ascii::shown(line));
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
