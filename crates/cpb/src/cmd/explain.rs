//! `cpb explain`: what the figures of records mean for choosing a path.

use super::filter::{Filter, Sizes};
use super::{DONE, output};
use crate::inputs::{self, Told};
use crate::library;
use anyhow::{Result, bail};
use clap::Args;
use cpb_analysis::explain::{Explanation, Question, explain};
use cpb_analysis::predict::predict;
use cpb_analysis::units::OperationsPerSecond;
use cpb_record::size::Size;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb explain cpb-results/default-20260101T120000Z.jsonl\n  \
    cpb explain imx6                             published tables\n  \
    cpb explain software.txt engine.txt          logs of other tools\n  \
    cpb explain software=a.txt engine=b.txt      the same, with named paths\n  \
    cpb explain RECORD --size 390                the path for 390 bytes\n  \
    cpb explain RECORD                           a guest's: instructions, and times that they predict\n  \
    cpb explain BEFORE.jsonl AFTER.jsonl         of plain and encrypted flash: what decryption costs\n  \
    cpb explain RECORD --size 390 --rate 2000/s  the cost of your own load")]
pub(super) struct Arguments {
    /// The records: files, published records from `cpb list records`, or logs of other tools, as FILE or
    /// NAME=FILE. Published tables and logs of the same machine are explained together
    #[arg(required = true)]
    records: Vec<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    told: Told,
    /// Message length to advise on, such as 390 or 16K; with --rate, the length in your load
    #[arg(long)]
    size: Option<Size>,
    /// Operations per second of your load, such as 2000/s
    #[arg(long, value_parser = rate, allow_hyphen_values = true)]
    rate: Option<f64>,
    /// Print everything as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The operations per second that a load may have: from one in several days to more than any machine can do.
const RATES: std::ops::RangeInclusive<f64> = 1e-6..=1e12;

/// Parses operations per second, as people write them.
fn rate(text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
    let (number, factor) = match number.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1e3),
        None => (number, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if RATES.contains(&(number * factor)) => Ok(number * factor),
        Ok(number) if number > 0.0 => {
            bail!(
                "rate '{text}' is out of range: {:e}/s to {:e}/s are allowed",
                RATES.start(),
                RATES.end()
            )
        }
        _ => bail!("rate '{text}' is not a number of operations per second; write 2000/s or 2k/s"),
    }
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let records = inputs::records(&arguments.records, arguments.told)?;
    for (file, record) in &records {
        inputs::check_figures(file, record)?;
    }
    let records = arguments.filter.applied(&Sizes::default(), records)?;
    let records: Vec<_> = records.into_iter().map(|(_, record)| record).collect();
    let bytes = arguments.size.map(|size| size.bytes());
    let asked = bytes.is_some() || arguments.rate.is_some();
    let question =
        asked.then_some(Question { bytes, rate: arguments.rate.map(OperationsPerSecond) });
    let mut explanation = explain(&records, question);
    let given = records.iter().any(|record| !record.published.is_empty());
    if !explanation.counted.is_empty() && !given {
        let published =
            library::published().iter().map(library::read).collect::<Result<Vec<_>>>()?;
        let predicted = records.iter().flat_map(|record| predict(record, &published));
        explanation.predictions = predicted.collect();
    }
    if bytes.is_none()
        && arguments.rate.is_some()
        && explanation.tasks.iter().all(|task| task.subject.has_sizes())
    {
        bail!("--rate needs a message length: add --size, as in `--size 390`");
    }
    if let (Some(size), Some((least, largest))) = (arguments.size, measured(&explanation))
        && !(least..=largest).contains(&size.bytes())
    {
        let [least, largest] = [least, largest].map(Size::from);
        bail!("--size {size} is outside the measured sizes, {least} to {largest}");
    }
    if arguments.json {
        output::print_json(&(serde_json::to_string_pretty(&explanation)? + "\n"))?;
    } else {
        output::print(&cpb_report::explain::render(
            &explanation,
            output::width(),
            output::colour(),
        ))?;
    }
    Ok(DONE)
}

/// The least and the largest message length that was measured. `None` if nothing was measured.
fn measured(explanation: &Explanation) -> Option<(u32, u32)> {
    let tasks = explanation.tasks.iter().filter(|task| task.subject.has_sizes());
    let costs = tasks.flat_map(|task| &task.paths).flat_map(|costs| &costs.sizes);
    let sizes = costs.map(|cost| cost.bytes);
    sizes.clone().min().zip(sizes.max())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, value) in [("2000/s", 2000.0), ("2k/s", 2000.0), ("1.5", 1.5), (" 7 /s", 7.0)] {
            assert_eq!(rate(text).unwrap(), value, "{text}");
        }
        for wrong in
            ["", "/s", "0/s", "-1/s", "inf/s", "NaN", "2 per second", "1e308/s", "1e10k", "1e-99"]
        {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
