//! libgcrypt's `bench-slope`: the slope of time over message length, without the fixed cost of a call.
//!
//! A heading names the algorithm, and the rows below it name its modes: `CBC enc | 0.858 ns/B 1112 MiB/s 4.87 c/B
//! 5681±1`. Hashes have a single row. `--csv` prints the same as `hash,SHA256,,,,0.585,ns/B,…`. For values below one,
//! three decimals are imprecise: 0.044 ns/B is ±1 %. Cycles are based on a clock that the tool measures itself. On
//! some cores they are up to twice too high (before commit a047a9c7 of 2023), and no version is printed, so they are
//! not used. The number after `±`, or before `Mhz-diff`, is the clock's relative spread in thousandths.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_record::{FlagKind, Printed, Quantity};

pub(super) const FORMAT: Format = Format {
    name: "bench-slope",
    tool: "libgcrypt's bench-slope",
    tells: |line| {
        line.contains("nanosecs/byte") || commas(line, 0).is_some() || row(line, 0).is_some()
    },
    read,
    strict: true,
    one_line: false,
};

const ITS_CLOCK: &str =
    "by a clock that the tool measured itself, up to twice too high on some cores";

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let table = Table { name: "slope".into(), provider: "libgcrypt".into(), ..Table::default() };
    let mut draft = Draft::default();
    let mut family = String::new();
    for line in text.lines() {
        if let Some((name, figures)) = row(&line.text, line.number) {
            // Indented in the file: a mode of the algorithm above. Lines arrive here without leading spaces.
            let mode = name.ends_with(" enc") || name.ends_with(" dec") || name.ends_with(" auth");
            let heading = if mode { format!("{family} {name}") } else { name.to_owned() };
            draft.push(table.cell(&heading, "", done(&heading), figures))?;
        } else if let Some((name, figures)) = commas(&line.text, line.number) {
            draft.push(table.cell(&name, "", done(&name), figures))?;
        } else if let Some((name, heading)) = line.text.split_once('|')
            && heading.contains("nanosecs/byte")
            && !name.trim().is_empty()
        {
            name.trim().clone_into(&mut family);
        }
    }
    if draft.cells.is_empty() {
        bail!("line 1: found no row such as 'CBC enc | 0.858 ns/B 1112 MiB/s 4.87 c/B'");
    }
    draft.sources.push(table.source(
        FORMAT.tool,
        "",
        "its rows".into(),
        &[
            "The cost of each additional byte; the fixed cost of a call is subtracted and not printed.",
            "Three decimals: below 0.1 ns per byte, rounding loses more than 1 %.",
        ],
    ));
    Ok(draft)
}

/// `CBC enc |     0.858 ns/B      1112 MiB/s      4.87 c/B      5681±1`.
fn row(text: &str, line: u32) -> Option<(&str, Vec<Printed>)> {
    let (name, rest) = text.split_once('|')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let fields: Vec<&str> = words.iter().flat_map(|word| word.split('±')).collect();
    Some((name.trim(), figures(&fields, line)?))
}

/// `cipher,AES,CBC enc,,,0.187,ns/B,5100,MiB/s,,c/B`.
fn commas(text: &str, line: u32) -> Option<(String, Vec<Printed>)> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let unit = fields.iter().position(|field| *field == "ns/B")?;
    let (names, rest) = fields.split_at_checked(unit.checked_sub(1)?)?;
    let names: Vec<&str> = names.iter().skip(1).copied().filter(|name| !name.is_empty()).collect();
    Some((names.join(" "), figures(rest, line)?))
}

/// Numbers, each followed by its unit.
fn figures(fields: &[&str], line: u32) -> Option<Vec<Printed>> {
    let of = |unit: &str| {
        let place = fields.iter().position(|field| *field == unit)?;
        let number = fields.get(place.checked_sub(1)?)?;
        number.parse::<f64>().is_ok().then_some(*number)
    };
    let time = printed(Quantity::NanosecondsPerByte, of("ns/B")?, line);
    let sound = time.number().is_some();
    let why = "zero time per byte: below the resolution of three decimals";
    let mut figures = vec![if sound { time } else { flagged(time, FlagKind::Unverified, why) }];
    if let Some(rate) = of("MiB/s") {
        figures.push(printed(Quantity::MebibytesPerSecond, rate, line));
    }
    // `Mhz` follows its number only in CSV.
    let behind =
        fields.iter().position(|field| *field == "c/B").and_then(|place| fields.get(place + 1));
    let clock = behind.filter(|clock| clock.parse::<f64>().is_ok());
    if let Some(cycles) = of("c/B") {
        let cycles = printed(Quantity::CyclesPerByte, cycles, line);
        figures.push(match clock {
            Some(_) => flagged(cycles, FlagKind::Unverified, ITS_CLOCK),
            None => cycles,
        });
    }
    if let Some(clock) = clock {
        let clock = printed(Quantity::Megahertz, clock, line);
        figures.push(flagged(clock, FlagKind::Unverified, ITS_CLOCK));
    }
    Some(figures)
}

/// `AES CBC enc`, `SHA256`: libgcrypt's `AES` is AES-128; `AES192` and `AES256` are named explicitly.
fn done(name: &str) -> Done {
    let mut words: Vec<&str> = name.split_whitespace().collect();
    let operation = match words.last() {
        Some(&"enc") => "encrypt",
        Some(&"dec") => "decrypt",
        Some(&"auth") => "authenticate",
        _ => "",
    };
    if !operation.is_empty() {
        words.pop();
    }
    let joined = words.join("-");
    let joined =
        joined.strip_prefix("AES-").map_or(joined.clone(), |mode| format!("AES128-{mode}"));
    let algorithm = algorithms::ours(&joined);
    let operation = if algorithm.starts_with("sha") { "hash" } else { operation };
    Done { algorithm, operation: operation.to_owned(), ..Done::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_commas_say_the_same() {
        let (name, all) =
            row("CBC enc |     0.858 ns/B      1112 MiB/s      4.87 c/B      5681±1", 1)
                .expect("a row");
        assert_eq!((name, all.len()), ("CBC enc", 4));
        assert_eq!(all[3].printed, "5681");
        let text = "hash,SHA256,,,,0.585,ns/B,1629,MiB/s,3.91,c/B,6671,Mhz,12,Mhz-diff";
        let (name, all) = commas(text, 1).expect("a row");
        assert_eq!((name.as_str(), all.len()), ("SHA256", 4));
        let (_, all) =
            row("ECB enc |     0.187 ns/B      5099 MiB/s         - c/B", 1).expect("a row");
        assert_eq!(all.len(), 2);
        assert!(row("POLY1305 | <<skipped>>", 1).is_none());
        assert_eq!(done("AES CBC enc").algorithm, "aes-128-cbc");
        assert_eq!(done("AES256 GCM-SIV dec").algorithm, "aes-256-gcm-siv");
        assert_eq!(
            (done("SHA256").algorithm, done("SHA256").operation),
            ("sha-256".into(), "hash".into())
        );
    }
}
