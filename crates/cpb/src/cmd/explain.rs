//! `cpb explain`: what the figures of records mean for someone who must choose a path.

use super::{DONE, output};
use crate::analysis::explain::{Question, explain};
use crate::size::Size;
use crate::{report, store};
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb explain cpb-results/default-20260101T120000Z.jsonl\n  \
    cpb explain records/imx6-*.jsonl             published tables\n  \
    cpb explain RECORD --size 390 --rate 2000/s  what your own load takes")]
pub(super) struct Arguments {
    /// The records; published tables of one machine are explained together
    #[arg(required = true)]
    records: Vec<PathBuf>,
    /// The message length of your load: 390, 16K; what is done with key pairs needs none
    #[arg(long, requires = "rate")]
    size: Option<Size>,
    /// How many operations a second your load has: 2000/s
    #[arg(long, value_parser = rate)]
    rate: Option<f64>,
    /// Print everything as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Operations a second, as people write them.
fn rate(text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
    let (number, factor) = match number.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1e3),
        None => (number, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number * factor),
        _ => bail!("rate '{text}': not a number of operations a second such as 2000/s or 2k/s"),
    }
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let records: Vec<_> =
        arguments.records.iter().map(|path| store::read(path)).collect::<Result<_>>()?;
    let bytes = arguments.size.map(|size| size.bytes());
    let question = arguments.rate.map(|rate| Question { bytes, rate });
    let explanation = explain(&records, question);
    if let (Some(Question { bytes: None, .. }), true) =
        (question, explanation.tasks.iter().all(|task| task.subject.has_sizes()))
    {
        bail!("--rate: of messages of which length? Say it with --size, as in `--size 390`");
    }
    let text = if arguments.json {
        serde_json::to_string_pretty(&explanation)? + "\n"
    } else {
        report::explain::render(&explanation, output::width(), output::colour())
    };
    output::print(&text)?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, value) in [("2000/s", 2000.0), ("2k/s", 2000.0), ("1.5", 1.5), (" 7 /s", 7.0)] {
            assert_eq!(rate(text).unwrap(), value, "{text}");
        }
        for wrong in ["", "/s", "0/s", "-1/s", "inf/s", "NaN", "2 per second"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
