//! Standard output: a result, in the requested form.

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
    /// Print comma-separated values, one line per cell
    #[arg(long, help_heading = "Output")]
    csv: bool,
    /// Print tables in Markdown
    #[arg(long, help_heading = "Output")]
    markdown: bool,
}

/// Prints a record's figures in the requested form, by default as a table.
///
/// # Errors
/// Returns an error if standard output cannot be written.
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

/// Prints a record in the requested form; published tables are shown as printed.
///
/// # Errors
/// Returns an error if standard output cannot be written.
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

/// Prints several records: as text one after the other, as data in one document.
///
/// # Errors
/// Returns an error if standard output cannot be written, or if the records do not fit into one document.
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

/// Columns of this terminal. Without a terminal, tables are 80 columns wide.
pub(super) fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(80, |(width, _)| width.0.into())
}

/// Writes text to standard output, in ASCII if selected.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn print(text: &str) -> Result<()> {
    print_as_it_is(&ascii::shown(text))
}

/// Writes JSON to standard output, in ASCII if selected.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn print_json(text: &str) -> Result<()> {
    print_as_it_is(&ascii::shown_json(text))
}

/// Writes text that declares its own character set.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn print_as_it_is(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Writes coloured text to standard output; colours are removed where they are not wanted.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn print_coloured(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    let text = ascii::shown(text);
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Writes a line to standard error. A closed standard error is ignored.
pub(super) fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", ascii::shown(line));
}

/// Whether to use colour: on terminals, unless the user opted out (no-color.org).
pub(super) fn colour() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}

/// Whether the error is that the reader of our output has gone.
pub(super) fn is_broken_pipe(error: &Error) -> bool {
    let io = error.root_cause().downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
