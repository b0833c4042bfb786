//! `openssl speed` (1.0.2 to 3.6): its progress lines, its tables, and `-mr`.
//!
//! - A progress line has the count and the time: `Doing X for 3s on 16 size blocks: 12 X's in 3.00s`, in later
//!   versions `X ops for`. A table has the resulting rates. The importer combines the two.
//! - Without `-elapsed` the time is CPU time in user mode, which does not include work in the kernel or in an engine:
//!   a time of 0.00 s, a rate of `infk`. The count still belongs to the nominal wall-clock time, because an alarm
//!   ends the loop. So a cell has a figure if its count was printed.
//! - `-mr` prints bytes a second, and does not say whether `-elapsed` was given. `-multi` prints the sum over
//!   processes, without the heading of its table.
//! - Ciphers process one step of an endless message (phase `update`), hashes and MACs a whole message. Only the
//!   command shows whether `-decrypt` was given.
//! - Progress goes to stderr and tables to stdout, so a log may have only one of them, or the tables first if the two
//!   were saved apart. Progress below tables is of the same call if its algorithms, sizes and rates are in the tables.

mod call;
mod command;
mod doing;
mod machine_readable;
mod public;
mod separators;

use super::draft::Draft;
use super::speed_table;
use super::text::{Line, Text};
use super::{Format, Options};
use anyhow::{Result, bail};
use call::Call;
use command::typed;
use public::Heading;
use std::collections::VecDeque;

pub(super) const FORMAT: Format =
    Format { name: "openssl", tool: "openssl speed", tells, read, strict: true, one_line: false };

/// The highest number of measurements of one call; all algorithms at six sizes are some hundreds.
const MOST: usize = 50_000;
/// The highest number of rows for key-pair operations of one call; version 3.6 prints about a hundred.
const MOST_PUBLIC: usize = 500;
/// The first line that openssl prints on stderr if it was given -elapsed.
const ELAPSED: &str = "You have chosen to measure elapsed time";

/// The beginning of the first line on stdout, since 3.0.
const VERSION: &str = "version:";

fn tells(line: &str) -> bool {
    doing::line(line, 0).is_some()
        || speed_table::heading(line).is_some()
        || machine_readable::tells(line)
        || Heading::of(line).is_some()
        || line.starts_with(ELAPSED)
}

fn read(text: &Text, options: &Options) -> Result<Draft> {
    let mut calls: Vec<Call> = Vec::new();
    let mut heading = None;
    let mut draft = Draft::default();
    let mut progress = false;
    let mut next = Call::default();
    // Calls of a line with several commands whose output has not begun.
    let mut waiting: VecDeque<Call> = VecDeque::new();
    let lines: Vec<Line<'_>> = text.lines().collect();
    for (place, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        // The first lines of a call, unless they are the stderr of the call whose tables came before.
        let begins =
            |next: &Call| !(next.lacks_progress() && next.has_progress_in(&lines[place..]));
        if let Some(word) = separators::found(text) {
            bail!(
                "line {}: {word} has a separator or a comma that openssl speed does not print; write numbers as it \
                 does, such as 28353.13k",
                line.number
            );
        }
        if next.counts.len() + next.rows.len() > MOST || next.public.len() > MOST_PUBLIC {
            bail!("line {}: more measurements than one command makes", line.number);
        }
        if let Some(typed) = typed(text) {
            let all =
                typed.calls.iter().map(|call| Call::of_command(typed.host, call, line.number));
            waiting = all.collect();
            begin(&mut calls, &mut next, &mut waiting);
        } else if text.starts_with(ELAPSED) {
            if !next.is_fresh() && begins(&next) {
                begin(&mut calls, &mut next, &mut waiting);
            }
            next.elapsed = true;
            progress = true;
        } else if text.to_lowercase().starts_with("engine \"") && !next.is_empty() && begins(&next)
        {
            // The first line of the next call, without its command.
            begin(&mut calls, &mut next, &mut waiting);
            next.property(text);
        } else if text.to_lowercase().starts_with("invalid engine") {
            if !next.is_fresh() {
                begin(&mut calls, &mut next, &mut waiting);
            }
            next.engine.clear();
            draft.warn(format!(
                "Line {}: openssl could not load the engine, so these are figures of software.",
                line.number
            ));
        } else if let Some(doing) = doing::line(text, line.number) {
            if next.has_table() {
                next.tables_first |= next.lacks_progress();
                if !(next.tables_first && next.has(&doing)) {
                    begin(&mut calls, &mut next, &mut waiting);
                }
            }
            next.told = true;
            next.counts.push(doing);
        } else if text.starts_with("Doing ") {
            progress = true;
            draft.warn(format!("Line {} is cut off and gives no figure.", line.number));
        } else if next.tables_first && (tells(text) || text.starts_with(VERSION)) {
            begin(&mut calls, &mut next, &mut waiting);
            next.sizes = speed_table::heading(text).unwrap_or_default();
            heading = Heading::of(text);
            next.property(text);
        } else if let Some(sizes) = speed_table::heading(text) {
            next.sizes = sizes;
        } else if speed_table::is_cut_heading(text) {
            draft.warn(format!("Line {} is a heading that is cut off.", line.number));
        } else if let Some(found) = Heading::of(text) {
            heading = Some(found);
        } else if let Some(row) = heading.as_ref().and_then(|found| found.row(text, line.number)) {
            next.public.push(row);
        } else if let Some(row) = speed_table::row(text, line.number) {
            next.rows.push(row);
        } else if machine_readable::line(text, line.number, &mut next) {
        } else if let Some(row) = next.rows.last_mut() {
            let room = next.sizes.len().max(1) - row.rates.len().min(next.sizes.len().max(1));
            row.rates.extend(speed_table::continued(text, line.number).into_iter().take(room));
            next.property(text);
        } else {
            next.property(text);
        }
    }
    keep(&mut calls, next);
    if let Some(call) = waiting.front() {
        draft.warn(format!(
            "Line {} has more commands than the log has results; cpb assigns them in their order.",
            call.line
        ));
    }
    let several = calls.len() > 1;
    for (place, mut call) in calls.into_iter().enumerate() {
        call.elapsed |= options.elapsed;
        call.direction = call.direction.or(options.direction);
        let table = if several { format!("speed-{}", place + 1) } else { "speed".to_owned() };
        call.add(&mut draft, table)?;
    }
    match draft.cells.is_empty() {
        true => Err(without_figures(&draft, progress)),
        false => Ok(draft),
    }
}

/// Why a log has no figure, and the remedy.
fn without_figures(draft: &Draft, progress: bool) -> anyhow::Error {
    let warnings = draft.warnings.join(" ");
    let warnings = if warnings.is_empty() { String::new() } else { format!("{warnings} ") };
    let why = match progress {
        true => {
            "the file contains only lines of stderr, without results; log both streams: \
                 `openssl speed ... > log 2>&1`"
        }
        false => "found no figures of openssl speed: no row, no line 'Doing ...', no line of -mr",
    };
    anyhow::anyhow!("{warnings}line 1: {why}")
}

/// Ends a call, and begins the next one: the next of a line with several, or one whose command is not in the log.
fn begin(calls: &mut Vec<Call>, next: &mut Call, waiting: &mut VecDeque<Call>) {
    let first = waiting.pop_front().unwrap_or_default();
    keep(calls, std::mem::replace(next, first));
}

/// Keeps a call unless it is empty.
fn keep(calls: &mut Vec<Call>, call: Call) {
    if !call.is_empty() {
        calls.push(call);
    }
}
