//! `cryptsetup benchmark`: key derivations, and block ciphers through the kernel (AF_ALG).
//!
//! A row is `aes-xts 256b 3583.5 MiB/s 3708.8 MiB/s`: key length, encryption, decryption. For XTS, half of the key
//! belongs to the cipher. Words are in the user's language, and numbers may have a decimal comma. `N/A` means that
//! there is no figure. The tool counts one buffer too many (cipher_check.c: its repeat counter starts at one), about
//! 1 MiB/s, which matters only at low rates.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_record::{FlagKind, Printed, Quantity};

pub(super) const FORMAT: Format = Format {
    name: "cryptsetup",
    tool: "cryptsetup benchmark",
    tells: |line| derivation(line).is_some() || cipher(line, 0).is_some(),
    read,
    strict: false,
    one_line: false,
};

/// The size of one request (CIPHER_BLOCK_BYTES).
const MESSAGE: u32 = 64 << 10;
/// Below this rate the additional buffer is more than 2 % of it.
const FEW: f64 = 50.0;
const TOO_MANY: &str = "it counts one buffer too many, about 1 MiB/s of this";

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let ciphers = Table { name: "ciphers".into(), provider: "af_alg".into(), ..Table::default() };
    let derivations =
        Table { name: "derivations".into(), provider: "cryptsetup".into(), ..Table::default() };
    let mut draft = Draft::default();
    for line in text.lines() {
        if let Some((name, rate)) = derivation(&line.text) {
            let algorithm = match name.strip_prefix("PBKDF2-") {
                Some(hash) => format!("pbkdf2-{}", algorithms::ours(hash)),
                None => algorithms::ours(name),
            };
            let done = Done { algorithm, operation: "iterate".into(), ..Done::default() };
            let figure = figure(Quantity::OperationsPerSecond, rate, line.number);
            draft.push(derivations.cell(name, "", done, vec![figure]))?;
        } else if let Some((name, key, rates)) = cipher(&line.text, line.number) {
            for (operation, rate) in ["encrypt", "decrypt"].into_iter().zip(rates) {
                let algorithm = algorithm(name, key);
                let done = Done {
                    algorithm,
                    operation: operation.to_owned(),
                    phase: "message",
                    bytes: Some(MESSAGE),
                };
                draft.push(ciphers.cell(&format!("{name} {key}b"), operation, done, vec![rate]))?;
            }
        }
    }
    if draft.cells.is_empty() {
        bail!("line 1: found no row such as 'aes-xts 256b 3583.5 MiB/s 3708.8 MiB/s'");
    }
    for (table, notes) in [
        (
            ciphers,
            ["Through the kernel, 64 KiB per request.", "One buffer too many is counted."]
                .as_slice(),
        ),
        (derivations, &["Iterations per second."]),
    ] {
        if draft.cells.iter().any(|cell| cell.table == table.name) {
            let place = format!("the {}", table.name);
            draft.sources.push(table.source("cryptsetup benchmark", "", place, notes));
        }
    }
    Ok(draft)
}

/// `PBKDF2-sha256    3560529 iterations per second for 256-bit key`.
fn derivation(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_whitespace();
    let (name, rate) = (words.next()?, words.next()?);
    let known = name.starts_with("PBKDF2-") && text.contains("256");
    (known && (rate.parse::<u64>().is_ok() || rate == "N/A")).then_some((name, rate))
}

/// The name, the key length in bits, and both rates.
fn cipher(text: &str, line: u32) -> Option<(&str, u32, [Printed; 2])> {
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "|").collect();
    let (name, key, rest) = match words.as_slice() {
        [name, key, rest @ ..] => (*name, key.strip_suffix('b')?.parse().ok()?, rest),
        _ => return None,
    };
    let rates: Vec<&str> = rest.iter().copied().filter(|word| *word != "MiB/s").collect();
    let [encryption, decryption] = rates.as_slice() else { return None };
    let printed = |rate| figure(Quantity::MebibytesPerSecond, rate, line);
    let number = |rate: &str| rate == "N/A" || rate.replace(',', ".").parse::<f64>().is_ok();
    let known = name.contains('-') && number(encryption) && number(decryption);
    known.then(|| (name, key, [printed(encryption), printed(decryption)]))
}

fn figure(quantity: Quantity, rate: &str, line: u32) -> Printed {
    let figure = printed(quantity, &rate.replace(',', "."), line);
    match figure.number() {
        _ if rate == "N/A" => flagged(figure, FlagKind::Blank, "not available there"),
        None => {
            flagged(figure, FlagKind::Unverified, "a rate cannot be zero, negative or infinite")
        }
        Some(rate) if quantity == Quantity::MebibytesPerSecond && rate < FEW => {
            flagged(figure, FlagKind::Doubtful, TOO_MANY)
        }
        Some(_) => figure,
    }
}

/// `aes-xts` with a key of 256 bits is AES-128 used twice.
fn algorithm(name: &str, key: u32) -> String {
    let (cipher, mode) = name.split_once('-').unwrap_or((name, ""));
    let bits = if mode == "xts" { key / 2 } else { key };
    algorithms::ours(&format!("{cipher}-{bits}-{mode}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_any_language_are_read() {
        let (name, key, rates) = cipher("aes-xts   256b   3583.5 MiB/s   N/A", 1).expect("a row");
        assert_eq!(algorithm(name, key), "aes-128-xts");
        assert_eq!((rates[0].number(), rates[1].number()), (Some(3583.5), None));
        let (.., rates) = cipher("serpent-cbc 128b 87,2 MiB/s 240,1 MiB/s", 1).expect("a row");
        assert_eq!(rates[0].number(), Some(87.2));
        let (.., rates) = cipher("aes-cbc 128b 20.0 MiB/s 21.0 MiB/s", 1).expect("a row");
        assert!(rates.iter().all(|rate| rate.flag.is_some()));
        assert!(
            derivation("PBKDF2-sha256 3560529 Iterationen pro Sekunde, 256-Bit-Schluessel")
                .is_some()
        );
        assert!(cipher("# Algorithm | Key | Encryption | Decryption", 1).is_none());
    }
}
